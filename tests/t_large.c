/* The cost of a federation depends on the clients that take part, not on their total
 * number: 10^12 clients are packed, opened, set up, trained and evaluated in seconds.
 * RUN: np=1 np=2 */
#include "toy.h"

static const char most[] = "clients=1000000000000 samples=6 spread=0 d=5 classes=3";

/* The sizes of all clients, added up one by one. */
static void test_sizes(const char *option)
{
    weft_data data;
    weft_status st = pack(&weft_reader_synthetic, "federated=generated", "g.h5", option);
    if (st == WEFT_OK) st = weft_data_open(&data, at("g.h5"), &world, mem);
    if (!ok(st == WEFT_OK, "clients are generated with %s", option)) return;
    weft_sizes sum[WEFT_NPART] = {{0}};
    int good = 1;
    for (int64_t c = 0; c < data.clients->n; c++)
        for (int p = 0; p < WEFT_NPART; p++)
            weft_sizes_add(&sum[p], weft_client_count(data.clients, c, (weft_part)p));
    for (int p = 0; p < WEFT_NPART; p++) {
        const weft_sizes *sizes = &data.clients->size[p];
        good &= sizes->total == sum[p].total && sizes->most == sum[p].most &&
                sizes->total == data.part[p].total;
        is_near(sizes->square, sum[p].square, 0, "squares of the sizes of part %d", p);
    }
    ok(good, "totals and the largest client of each part are known");
    weft_data_close(&data);
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_sizes("clients=500 spread=1 samples=20");
    test_sizes("clients=500 spread=0 samples=20");
    struct toy *toy = WEFT_NEW(mem, struct toy, 1);
    weft_status st = pack(&weft_reader_synthetic, "federated=generated", "most.h5", most);
    if (st == WEFT_OK) st = weft_data_open(&toy->data, at("most.h5"), &world, mem);
    ok(st == WEFT_OK && toy->data.clients->n == 1000000000000 &&
           toy->data.part[WEFT_TRAIN].total == 4000000000000,
       "10^12 clients are packed and opened");
    const struct stand *stand =
        trained(toy,
                "[fed]\ncohort = 20\neval_clients = 20\nselect = eval\n"
                "[client]\nbatch = 65536\n[device]\nspeed = lognormal\n"
                "sample_seconds = 1\n",
                1, 2);
    is_near(in_row(fed, stand->row[1], "clients"), 20, 0, "20 of them train");
    ok(isfinite(stand->res.loss) && isfinite(stand->res.bound), "20 of them are evaluated");
    ok(fed->timing.seconds(stand->self, &stand->job, 0) > 0,
       "the time of their rounds is foretold");
    return tap_end();
}
