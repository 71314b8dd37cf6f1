/* Labelled sets split over clients when they are packed: each row occurs once; sizes and
 * classes of clients by each rule; the same split every time; what is refused.
 * RUN: np=1 np=2 */
#include "counted.h"

enum { CLASSES = 10, VALID_ROWS = 500, TEST_ROWS = 700 };

static int main_class(const int64_t *count)
{
    int best = 0;
    for (int k = 1; k < CLASSES; k++)
        if (count[k] > count[best]) best = k;
    return best;
}

static void test_each_row_once(const char *words, const char *what)
{
    if (!ok(made(words), "%s: packed", what)) return;
    struct found found[WEFT_NPART] = {look(WEFT_TRAIN), look(WEFT_VALID), look(WEFT_TEST)};
    ok(found[0].wrong + found[1].wrong + found[2].wrong == 0,
       "%s: each row goes to one client", what);
    ok(!found[0].sorted, "%s: in random order", what);
    ok(data.clients->n == 30 && data.part[0].total == 20000 &&
           data.part[1].total == VALID_ROWS && data.part[2].total == TEST_ROWS &&
           data.clients->channels == 1 && data.clients->height == 2 &&
           data.clients->width == 3,
       "%s: the file knows clients, rows and image", what);
    int even = 1, slack = strstr(words, "shards") ? 4 : 1;
    for (int p = 0; p < WEFT_NPART; p++) even &= found[p].most - found[p].least <= slack;
    ok(even, "%s: clients have equally many rows, to within %d", what, slack);
}

/* ---- rules ---- */

static void test_iid(void)
{
    make("clients=20");
    struct found found = look(WEFT_TRAIN);
    double square = 0;
    for (int64_t c = 0; c < 20; c++)
        for (int k = 0; k < CLASSES; k++)
            square +=
                ((double)found.count[c][k] - 100) * ((double)found.count[c][k] - 100) / 100;
    /* Pearson's statistic of a table of margins that are all given: 19 x 9 degrees of
     * freedom, deviation sqrt(2 x 171) = 18.5. */
    ok(fabs(square - 171) < 4 * 18.5, "clients = N alone is iid (chi-square %.0f of 171)",
       square);
}

/* alpha -> 0: a client has one class, until that has no rows left. Clients draw in turn, so
 * as long as t n_k rows of every class k are there, n_k clients having it, all t draws of a
 * client are of its class. */
static void test_one_class(int uneven)
{
    int64_t clients = 200;
    make(uneven ? "clients=200 partition=dirichlet alpha=1e-7 uneven=yes"
                : "clients=200 partition=dirichlet alpha=1e-7");
    struct found found = look(WEFT_TRAIN);
    int64_t having[CLASSES] = {0}, least = 100, turns = 100, of_class;
    for (int64_t c = 0; c < clients; c++) {
        int k = main_class(found.count[c]);
        having[k]++;
        least = found.count[c][k] < least ? found.count[c][k] : least;
    }
    for (int k = 0; k < CLASSES; k++)
        if (having[k] * turns > found.all[k]) turns = found.all[k] / having[k];
    of_class = having[CLASSES - 1];
    ok(found.wrong == 0 && least >= turns && turns > 50,
       "alpha -> 0: clients have one class, until it runs out (%lld of 100 rows, %lld)",
       (long long)turns, (long long)least);
    /* of_class is binomial with the share of the class: 1/10, or 10/55. */
    double share = uneven ? 10.0 / 55 : 0.1;
    ok(fabs((double)of_class - 200 * share) < 4 * sqrt(200 * share * (1 - share)),
       "drawn by the classes' shares (%lld of 200 have the last)", (long long)of_class);
}

/* Dirichlet(alpha p): the variance of a class's share among n draws is
 * p (1 - p) (1 / n + (1 - 1 / n) / (1 + alpha)); drawing without replacement from a finite
 * set makes it smaller, by at most the factor 1 - clients' share of the rows. */
static void test_variance(double alpha, double *out)
{
    enum { N = 100, EACH = 200 };
    make(printed("clients=100 partition=dirichlet alpha=%g seed=5", alpha));
    struct found found = look(WEFT_TRAIN);
    double sum = 0;
    for (int64_t c = 0; c < N; c++)
        for (int k = 0; k < CLASSES; k++) {
            double share = (double)found.count[c][k] / EACH - 0.1;
            sum += share * share / (N * CLASSES);
        }
    *out = sum / (0.1 * 0.9 * (1.0 / EACH + (1 - 1.0 / EACH) / (1 + alpha)));
}

static void test_dirichlet(void)
{
    double ratio;
    test_one_class(0);
    test_one_class(1);
    /* 100 x 9 free shares: relative deviation sqrt(2 / 900) = 0.047 where they are nearly
     * normal; Beta(0.1, 0.9) of alpha = 1 has kurtosis 8, so 0.09, and classes run out. */
    test_variance(1e9, &ratio);
    ok(fabs(ratio - 1) < 4 * 0.047, "alpha large: as drawn from all rows (%.3f)", ratio);
    test_variance(10, &ratio);
    ok(fabs(ratio - 1) < 0.25, "alpha = 10: shares vary as Dirichlet's (%.3f)", ratio);
    test_variance(1, &ratio);
    ok(fabs(ratio - 1) < 0.25, "alpha = 1: shares vary as Dirichlet's (%.3f)", ratio);
}

/* Deviation of the logarithms of sizes. */
static double deviation(const int64_t *size, int64_t n)
{
    double sum = 0, square = 0;
    for (int64_t c = 0; c < n; c++) {
        double x = log((double)size[c]);
        sum += x;
        square += x * x;
    }
    double mean = sum / (double)n;
    return sqrt(square / (double)n - mean * mean);
}

/* 200 clients of 100 rows in the mean. log size: deviation 0.5 in both laws, whose error is
 * 1/sqrt(2 x 200) of it for a normal and sqrt(8/(4 x 200)) for an exponential; skewness of
 * an exponential is 2: the median of sizes is below exp(mean of logs). */
static void test_sizes(const char *law, double slack)
{
    for (int rule = 0; rule < 2; rule++) {
        make(printed("clients=200 partition=%s sizes=%s deviation=0.5",
                     rule ? "iid" : "dirichlet alpha=10", law));
        struct found train = look(WEFT_TRAIN), test = look(WEFT_TEST);
        double sd = deviation(train.size, 200);
        ok(train.wrong + test.wrong == 0, "%s sizes: each row goes to one client", law);
        ok(fabs(sd - 0.5) < 4 * slack * 0.5, "of deviation 0.5 in the logarithm (%.3f)",
           sd);
        int64_t away = 0;
        for (int64_t c = 0; c < 200; c++)
            away += fabs((double)test.size[c] - (double)train.size[c] * TEST_ROWS / 20000) >
                    1.1;
        ok(away == 0, "in the same proportions in each part (%lld not)", (long long)away);
    }
}

/* Classes run out for all at the same time: small clients and large ones have shares of
 * classes that vary as those of Dirichlet. */
static void test_sizes_shares(void)
{
    make("clients=200 partition=dirichlet alpha=1e9 sizes=lognormal");
    struct found found = look(WEFT_TRAIN);
    double chi = 0;
    for (int64_t c = 0; c < 200; c++) {
        double even = (double)found.size[c] / CLASSES;
        for (int k = 0; k < CLASSES; k++) {
            double more = (double)found.count[c][k] - even;
            chi += more * more / even;
        }
    }
    /* 199 x 9 degrees of freedom, deviation sqrt(2 x 1791) = 59.8 */
    ok(fabs(chi - 1791) < 4 * 59.8, "clients of unequal sizes have all classes (%.0f)",
       chi);
}

/* The same clients have the same classes in each part. */
static void test_parts_alike(const char *words, double least)
{
    make(words);
    struct found train = look(WEFT_TRAIN), test = look(WEFT_TEST);
    int64_t known = 0;
    for (int64_t c = 0; c < data.clients->n; c++)
        for (int k = 0; k < CLASSES; k++)
            if (train.count[c][k] > 0) known += test.count[c][k];
    ok((double)known >= least * TEST_ROWS,
       "%s: test rows are of classes that the client trains on (%.3f)", words,
       (double)known / TEST_ROWS);
}

static void test_shards(int uneven)
{
    enum { N = 50, S = 2 };
    make(uneven ? "clients=50 partition=shards shards=2 uneven=yes"
                : "clients=50 partition=shards shards=2");
    struct found found = look(WEFT_TRAIN);
    int most = 0, all = 0;
    for (int64_t c = 0; c < N; c++) {
        int n = classes_of(found.count[c]);
        most = n > most ? n : most;
        all += n;
    }
    /* 10 classes of 2000 rows are 10 shards each; uneven ones have borders within shards,
     * one less than classes. */
    int borders = uneven ? CLASSES - 1 : 0;
    ok(found.wrong == 0 && most <= (uneven ? 2 * S : S) && all <= N * S + borders,
       "shards: a client has at most %d classes (%d), all together %d (%d)",
       uneven ? 2 * S : S, most, N * S + borders, all);
}

/* ---- the whole ---- */

static void test_same_again(void)
{
    same_again("iid");
    same_again("dirichlet");
    same_again("shards");
}

static void test_few_rows(void)
{
    make("clients=1000 partition=dirichlet rows=1000");
    struct found r = look(WEFT_TRAIN), v = look(WEFT_VALID);
    ok(r.wrong == 0 && r.least == 1 && r.most == 1, "clients may have one row");
    ok(v.wrong == 0 && v.least == 0, "they may have none for validation");
    ok(made("rows=100") && data.clients == NULL, "without clients there is no federation");
}

static void test_refused(void)
{
    static const char *const bad[][4] = {
        {"clients=20001", "20001", "20000", "more clients than rows"},
        {"clients=10 min_samples=2001", "min_samples = 2001", "fewer clients",
         "more samples than there are"},
        {"clients=10 partition=dirichlet alpha=0", "alpha = 0", "above 0", "alpha = 0"},
        {"clients=10 partition=dirichlet alpha=-1", "alpha", "-1", "a negative alpha"},
        {"clients=1000 partition=shards shards=21", "21000", "20000",
         "more shards than rows"},
        {"clients=10 partition=shards sizes=power", "partition = shards", "leave out sizes",
         "shards of unequal sizes"},
        {"clients=10 partition=pathological", "pathological", "iid, dirichlet, shards",
         "an unknown partition"},
        {"partition=iid", "partition", "clients = N", "a partition over nobody"},
        {"clints=10", "clints", "clients", "a misspelt key"}};
    for (size_t i = 0; i < LEN(bad); i++)
        refuses(&reader, "", bad[i][0], WEFT_ECONF, bad[i][1], bad[i][2], bad[i][3]);
    const char *csv = write_text("t.csv", "1,2,3,4,5,6,a\n1,2,3,4,5,6,b\n");
    refuses(&weft_reader_dense, csv, "shape=1x2x2", WEFT_ECONF, "1x2x2", "have 6",
            "a shape of another size");
    refuses(&weft_reader_dense, csv, "shape=2x3", WEFT_ECONF, "2x3", "3x32x32",
            "a shape without channels");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_each_row_once("clients=30 partition=iid", "iid");
    test_each_row_once("clients=30 partition=dirichlet alpha=0.3 uneven=yes", "dirichlet");
    test_each_row_once("clients=30 partition=shards shards=4 uneven=yes", "shards");
    test_sizes("lognormal", 0.05);
    test_sizes("power", 0.1);
    test_sizes_shares();
    make("clients=200 sizes=power deviation=2 min_samples=30");
    ok(look(WEFT_TRAIN).least >= 30, "each has min_samples, however unequal");
    test_iid();
    test_dirichlet();
    test_parts_alike("clients=50 partition=dirichlet alpha=0.5", 0.9);
    test_parts_alike("clients=50 partition=shards", 0.99);
    test_shards(0);
    test_shards(1);
    return TESTS(test_same_again, test_few_rows, test_refused);
}
