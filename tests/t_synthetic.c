/* Built-in federations: generated clients. RUN: np=1 np=2 np=3 */
#include "scratch.h"

static weft_data data;

static int made(const char *what, const char *out, const char *options)
{
    weft_status st = pack(&weft_reader_synthetic, what, out, options);
    if (st == WEFT_OK) st = weft_data_open(&data, at(out), &world, mem);
    if (st != WEFT_OK) fprintf(stderr, "# %s\n", weft_error());
    return st == WEFT_OK;
}

static weft_samples samples_of(int64_t c, weft_part part)
{
    weft_samples samples;
    must(weft_client_read(data.clients, c, part, &samples, mem));
    return samples;
}

/* ---- generated clients ---- */

#define SOME "clients=300 d=20 classes=4 samples=12 seed=3 alpha=0.3 beta=2"

/* Digest of what the clients have, asked for in another order on each rank. */
static uint64_t digest_clients(int64_t clients)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < clients; i++) {
        size_t mark = weft_arena_mark(mem);
        int64_t c = (i + 7 * world.rank) % clients;
        for (int p = 0; p < WEFT_NPART; p++) {
            int part = (p + world.rank) % WEFT_NPART;
            weft_samples samples = samples_of(c, (weft_part)part);
            uint64_t key = (uint64_t)(c * WEFT_NPART + part);
            sum +=
                weft_hash(samples.x,
                          (size_t)(samples.n * data.clients->d) * sizeof *samples.x, key) ^
                weft_hash(samples.label, (size_t)samples.n * sizeof *samples.label, key);
        }
        weft_arena_reset(mem, mark);
    }
    return sum;
}

static void test_generated(void)
{
    if (!ok(made("federated=generated", "g.h5", SOME), "clients are generated")) return;
    uint64_t sum = digest_clients(300), root = sum;
    weft_bcast(&world, &root, sizeof root, 0);
    int64_t total[WEFT_NPART];
    for (int p = 0; p < WEFT_NPART; p++) total[p] = data.part[p].total;
    weft_data_close(&data);
    ok(sum == root, "whatever is asked for first, and by which rank");
    ok(made("federated=stored", "s.h5", SOME) && digest_clients(300) == sum &&
           data.part[0].total == total[0] && data.part[1].total == total[1] &&
           data.part[2].total == total[2],
       "and are the same bits when they are stored");
    digest(sum);
    weft_data_close(&data);
}

/* Mean samples of a client, least, and clients that differ from the one before. */
static void test_sizes(void)
{
    enum { N = 20000 };
    if (!ok(made("federated=generated", "g.h5", "clients=20000 samples=100 spread=0.5"),
            "20,000 clients are generated"))
        return;
    double sum = 0;
    int64_t least = 1000, known[WEFT_NPART] = {0};
    for (int64_t c = 0; c < N; c++) {
        int64_t n = 0;
        for (int p = 0; p < WEFT_NPART; p++) {
            int64_t k = weft_client_count(data.clients, c, (weft_part)p);
            known[p] += k;
            n += k;
        }
        sum += (double)n;
        least = n < least ? n : least;
    }
    /* A lognormal size of mean 100 has the deviation 100 sqrt(exp(0.25) - 1) = 53.3. */
    ok(fabs(sum / N - 100) < 4 * 53.3 / sqrt(N), "of 100 samples on average (%.2f)",
       sum / N);
    ok(least >= 5 && known[0] == data.part[0].total && known[1] == data.part[1].total &&
           known[2] == data.part[2].total,
       "of 5 at least; the parts hold the totals");
    weft_data_close(&data);
}

/* Share of samples of one half of the clients that a linear model labels right, found from
 * the other half by the perceptron's rule. It errs on a few: those near a border. */
static double common_model(int classes, int d)
{
    enum { EPOCHS = 30 };
    double *w = WEFT_NEW(mem, double, classes *(d + 1));
    int64_t right = 0, all = 0, half = data.clients->n / 2;
    for (int64_t i = 0; i < (EPOCHS + 1) * half; i++) {
        size_t mark = weft_arena_mark(mem);
        int train = i < EPOCHS * half;
        weft_samples samples = samples_of(train ? i % half : i % half + half, WEFT_TRAIN);
        for (int64_t k = 0; k < samples.n; k++) {
            const float *x = samples.x + k * d;
            int best = 0, label = samples.label[k];
            double most = -INFINITY;
            for (int c = 0; c < classes; c++) {
                double sum = w[c * (d + 1) + d];
                for (int j = 0; j < d; j++) sum += w[c * (d + 1) + j] * (double)x[j];
                if (sum > most) best = c;
                most = worse(most, sum);
            }
            if (!train) right += best == label;
            if (!train) all++;
            for (int j = 0; j <= d && train && best != label; j++) {
                w[label * (d + 1) + j] += j < d ? (double)x[j] : 1;
                w[best * (d + 1) + j] -= j < d ? (double)x[j] : 1;
            }
        }
        weft_arena_reset(mem, mark);
    }
    return (double)right / (double)all;
}

static void test_alpha(void)
{
    double right[2] = {0};
    const char *const option[] = {"clients=400 d=5 classes=3 alpha=0",
                                  "clients=400 d=5 classes=3 alpha=100"};
    for (int i = 0; i < 2; i++) {
        weft_check(made("federated=generated", "g.h5", option[i]), "%s", weft_error());
        right[i] = common_model(3, 5);
        weft_data_close(&data);
    }
    ok(right[0] > 0.9, "alpha = 0: one linear model for all (%.3f)", right[0]);
    ok(right[1] < 0.6, "alpha = 100: none (%.3f)", right[1]);
}

static void test_million(void)
{
    double start = processor_seconds();
    if (!ok(made("federated=generated", "m.h5", "clients=1000000 d=20 samples=8"),
            "a million clients are registered"))
        return;
    struct stat info;
    weft_check(stat(at("m.h5"), &info) == 0, "no file");
    ok(processor_seconds() - start < 10, "at once");
    ok(info.st_size < 100000, "in %lld bytes", (long long)info.st_size);
    weft_samples a = samples_of(999999, WEFT_TRAIN), b = samples_of(999998, WEFT_TRAIN);
    ok(a.n > 0 && b.n > 0 && a.x[0] != b.x[0], "and are distinct");
    weft_data_close(&data);
}

static void test_refused(void)
{
    const weft_reader *reader = &weft_reader_synthetic;
    fails(pack(reader, "federated=sored", "x.h5", ""), WEFT_ECONF, "federated=sored",
          "federated=stored", "an unknown federation");
    fails(pack(reader, "federated=leaf", "x.h5", ""), WEFT_ECONF, "leaf_synthetic.py",
          "weft pack leaf", "LEAF's, which a program makes");
    fails(pack(reader, "federated=stored", "x.h5", "classes=1"), WEFT_ECONF, "classes = 1",
          "two", "one class");
    fails(pack(reader, "federated=generated", "x.h5", "valid=0.6 test=0.5"), WEFT_ECONF,
          "valid", "test", "no training share");
    fails(pack(reader, "federated=stored", "x.h5", "partition=iid clients=5"), WEFT_ECONF,
          "clients of its own", "partition", "a partition of clients");
    fails(pack(reader, "federated=generated", "x.h5", "partition=iid clients=5"),
          WEFT_ECONF, "clients of its own", "partition",
          "a partition of generated clients");
    fails(pack(reader, "federated=generated", "x.h5", "clents=5"), WEFT_ECONF, "clents",
          "clients", "a key misspelt");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    return TESTS(test_generated, test_sizes, test_alpha, test_million, test_refused);
}
