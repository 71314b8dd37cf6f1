/* Built-in federations: generated clients. RUN: np=1 np=2 np=3 */
#include "packing.h"

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
            weft_samples own = samples(c, (weft_part)part);
            uint64_t key = (uint64_t)(c * WEFT_NPART + part);
            sum +=
                weft_hash(own.x, (size_t)(own.n * data.clients->d) * sizeof *own.x, key) ^
                weft_hash(own.label, (size_t)own.n * sizeof *own.label, key);
        }
        weft_arena_reset(mem, mark);
    }
    return sum;
}

static void test_generated(void)
{
    if (!ok(packed(&weft_reader_synthetic, "federated=generated", SOME),
            "clients are generated"))
        return;
    uint64_t sum = digest_clients(300), root = sum;
    weft_bcast(&world, &root, sizeof root, 0);
    int64_t total[WEFT_NPART];
    for (int p = 0; p < WEFT_NPART; p++) total[p] = data.part[p].total;
    ok(sum == root, "whatever is asked for first, and by which rank");
    ok(packed(&weft_reader_synthetic, "federated=stored", SOME) &&
           digest_clients(300) == sum && data.part[0].total == total[0] &&
           data.part[1].total == total[1] && data.part[2].total == total[2],
       "and are the same bits when they are stored");
    digest(sum);
}

/* Mean samples of a client, least, and clients that differ from the one before. */
static void test_sizes(void)
{
    enum { N = 20000 };
    if (!ok(packed(&weft_reader_synthetic, "federated=generated",
                   "clients=20000 samples=100 spread=0.5"),
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
        weft_samples own = samples(train ? i % half : i % half + half, WEFT_TRAIN);
        for (int64_t k = 0; k < own.n; k++) {
            const float *x = own.x + k * d;
            int best = 0, label = own.label[k];
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
        weft_check(packed(&weft_reader_synthetic, "federated=generated", option[i]), "%s",
                   weft_error());
        right[i] = common_model(3, 5);
    }
    ok(right[0] > 0.9, "alpha = 0: one linear model for all (%.3f)", right[0]);
    ok(right[1] < 0.6, "alpha = 100: none (%.3f)", right[1]);
}

static void test_million(void)
{
    double start = processor_seconds();
    if (!ok(packed(&weft_reader_synthetic, "federated=generated",
                   "clients=1000000 d=20 samples=8"),
            "a million clients are registered"))
        return;
    struct stat info;
    weft_check(stat(at("d.h5"), &info) == 0, "no file");
    ok(processor_seconds() - start < 10, "at once");
    ok(info.st_size < 100000, "in %lld bytes", (long long)info.st_size);
    weft_samples a = samples(999999, WEFT_TRAIN), b = samples(999998, WEFT_TRAIN);
    ok(a.n > 0 && b.n > 0 && a.x[0] != b.x[0], "and are distinct");
}

static void test_refused(void)
{
    static const char *const bad[][5] = {
        {"sored", "", "federated=sored", "federated=stored", "an unknown federation"},
        {"stored", "classes=1", "classes = 1", "two", "one class"},
        {"generated", "valid=0.6 test=0.5", "valid", "test", "no training share"},
        {"stored", "partition=iid clients=5", "clients of its own", "partition",
         "a partition of clients"},
        {"generated", "partition=iid clients=5", "clients of its own", "partition",
         "a partition of generated clients"},
        {"generated", "clents=5", "clents", "clients", "a key misspelt"}};
    for (size_t i = 0; i < LEN(bad); i++)
        refuses(&weft_reader_synthetic, printed("federated=%s", bad[i][0]), bad[i][1],
                WEFT_ECONF, bad[i][2], bad[i][3], bad[i][4]);
}

MAIN(scratch, test_generated, test_sizes, test_alpha, test_million, test_refused)
