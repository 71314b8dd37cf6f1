/* Labelled sets split over clients when they are packed: each row occurs once; sizes and
 * classes of clients by each rule; the same split every time; what is refused.
 * RUN: np=1 np=2 */
#include "packing.h"

enum { CLASSES = 10, D = 6, VALID_ROWS = 500, TEST_ROWS = 700 };

/* A set whose rows are (row, part, 0, ...): row i of a part has class i % 10, or, where
 * uneven, class k in proportion to k + 1. */
struct counted {
    int64_t rows;
    int uneven;
};

static const weft_opt options[] = {
    WEFT_LONG_OPT("rows", struct counted, rows, "20000", 1, 1e9, "training rows"),
    WEFT_BOOL_OPT("uneven", struct counted, uneven, "no", "classes"),
    {0},
};

static int32_t label_of(const struct counted *counted, int64_t i)
{
    if (!counted->uneven) return (int32_t)(i % CLASSES);
    int32_t k = 0;
    for (int64_t at = i % 55; at > k; k++) at -= k + 1;
    return k;
}

static weft_status counted_read(const void *self, const char *source, weft_pack *pack)
{
    static const char *const name[CLASSES] = {"0", "1", "2", "3", "4",
                                              "5", "6", "7", "8", "9"};
    const struct counted *counted = self;
    const int64_t rows[WEFT_NPART] = {counted->rows, VALID_ROWS, TEST_ROWS};
    (void)source;
    weft_pack_classes(pack, CLASSES, name);
    weft_pack_split(pack, "as counted");
    TRY(weft_pack_matrix(pack, WEFT_REALS, D, rows));
    weft_pack_image(pack, 1, 2, 3);
    for (int part = 0; part < WEFT_NPART; part++)
        for (int64_t i = 0; i < rows[part]; i++) {
            double x[D] = {(double)i, part};
            int32_t label = label_of(counted, i);
            TRY(weft_pack_rows(pack, 1, x, &label));
        }
    return WEFT_OK;
}

static const weft_reader reader = {.kind = {.name = "counted",
                                            .about = "rows that know their number",
                                            .size = sizeof(struct counted),
                                            .opts = options},
                                   .read = counted_read};

static int made(const char *words)
{
    return packed(&reader, "nowhere", words);
}

/* Which must succeed. */
static void make(const char *words)
{
    weft_check(made(words), "%s", weft_error());
}

/* ---- what clients have ---- */

/* What was found in a federation. */
struct found {
    int64_t wrong;             /* rows that are lost, doubled or changed */
    int64_t least, most;       /* rows of a client, by part */
    int64_t (*count)[CLASSES]; /* [clients] rows of each class */
    int64_t all[CLASSES];      /* over clients */
    int sorted;                /* 1: some client's rows are in the source's order */
};

static struct found look(weft_part part, int64_t rows, const struct counted *counted)
{
    weft_clients *clients = data.clients;
    struct found found = {.least = INT64_MAX};
    found.count = weft_arena_alloc(mem, (size_t)clients->n, sizeof *found.count);
    uint8_t *seen = WEFT_NEW(mem, uint8_t, rows);
    for (int64_t c = 0; c < clients->n; c++) {
        weft_samples own = samples(c, part);
        int rising = own.n > 2;
        for (int64_t i = 0; i < own.n; i++) {
            const float *x = own.x + i * D;
            int64_t row = (int64_t)x[0];
            int good = row >= 0 && row < rows && !seen[row] && x[1] == (float)part &&
                       own.label[i] == label_of(counted, row);
            found.wrong += !good;
            if (good) seen[row] = 1;
            rising &= i == 0 || x[0] > x[-D];
            found.count[c][own.label[i]]++;
            found.all[own.label[i]]++;
        }
        found.sorted |= rising;
        found.least = own.n < found.least ? own.n : found.least;
        found.most = own.n > found.most ? own.n : found.most;
    }
    for (int64_t i = 0; i < rows; i++) found.wrong += !seen[i];
    return found;
}

static int classes_of(const int64_t *count)
{
    int n = 0;
    for (int k = 0; k < CLASSES; k++) n += count[k] > 0;
    return n;
}

static int main_class(const int64_t *count)
{
    int best = 0;
    for (int k = 1; k < CLASSES; k++)
        if (count[k] > count[best]) best = k;
    return best;
}

static void test_each_row_once(const char *words, const char *what, int uneven)
{
    struct counted counted = {.uneven = uneven};
    if (!ok(made(words), "%s: packed", what)) return;
    struct found found[WEFT_NPART] = {look(WEFT_TRAIN, 20000, &counted),
                                      look(WEFT_VALID, VALID_ROWS, &counted),
                                      look(WEFT_TEST, TEST_ROWS, &counted)};
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
    struct counted counted = {.rows = 0};
    make("clients=20");
    struct found found = look(WEFT_TRAIN, 20000, &counted);
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
    struct counted counted = {.uneven = uneven};
    int64_t clients = 200;
    make(uneven ? "clients=200 partition=dirichlet alpha=1e-7 uneven=yes"
                : "clients=200 partition=dirichlet alpha=1e-7");
    struct found found = look(WEFT_TRAIN, 20000, &counted);
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
    struct counted counted = {.rows = 0};
    enum { N = 100, EACH = 200 };
    make(printed("clients=100 partition=dirichlet alpha=%g seed=5", alpha));
    struct found found = look(WEFT_TRAIN, 20000, &counted);
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

/* Mean and deviation of x, sum over clients of a function of their rows. */
static void moments(const int64_t (*count)[CLASSES], int64_t n, double *mean, double *sd)
{
    double sum = 0, square = 0;
    for (int64_t c = 0; c < n; c++) {
        int64_t rows = 0;
        for (int k = 0; k < CLASSES; k++) rows += count[c][k];
        double x = log((double)rows);
        sum += x;
        square += x * x;
    }
    *mean = sum / (double)n;
    *sd = sqrt(square / (double)n - *mean * *mean);
}

/* 200 clients of 100 rows in the mean. log size: deviation 0.5 in both laws, whose error is
 * 1/sqrt(2 x 200) of it for a normal and sqrt(8/(4 x 200)) for an exponential; skewness of
 * an exponential is 2: the median of sizes is below exp(mean of logs). */
static void test_sizes(const char *law, double slack)
{
    struct counted counted = {.rows = 0};
    for (int rule = 0; rule < 2; rule++) {
        make(printed("clients=200 partition=%s sizes=%s deviation=0.5",
                     rule ? "iid" : "dirichlet alpha=10", law));
        struct found train = look(WEFT_TRAIN, 20000, &counted),
                     test = look(WEFT_TEST, TEST_ROWS, &counted);
        double mean, sd;
        moments((const int64_t(*)[CLASSES])train.count, 200, &mean, &sd);
        ok(train.wrong + test.wrong == 0, "%s sizes: each row goes to one client", law);
        ok(fabs(sd - 0.5) < 4 * slack * 0.5, "of deviation 0.5 in the logarithm (%.3f)",
           sd);
        int64_t away = 0;
        for (int64_t c = 0; c < 200; c++) {
            int64_t rows[2] = {0, 0};
            for (int k = 0; k < CLASSES; k++) {
                rows[0] += train.count[c][k];
                rows[1] += test.count[c][k];
            }
            away += fabs((double)rows[1] - (double)rows[0] * TEST_ROWS / 20000) > 1.1;
        }
        ok(away == 0, "in the same proportions in each part (%lld not)", (long long)away);
    }
}

/* Classes run out for all at the same time: small clients and large ones have shares of
 * classes that vary as those of Dirichlet. */
static void test_sizes_shares(void)
{
    struct counted counted = {.rows = 0};
    make("clients=200 partition=dirichlet alpha=1e9 sizes=lognormal");
    struct found found = look(WEFT_TRAIN, 20000, &counted);
    double chi = 0;
    for (int64_t c = 0; c < 200; c++) {
        double rows = 0;
        for (int k = 0; k < CLASSES; k++) rows += (double)found.count[c][k];
        for (int k = 0; k < CLASSES; k++) {
            double more = (double)found.count[c][k] - rows / CLASSES;
            chi += more * more / (rows / CLASSES);
        }
    }
    /* 199 x 9 degrees of freedom, deviation sqrt(2 x 1791) = 59.8 */
    ok(fabs(chi - 1791) < 4 * 59.8, "clients of unequal sizes have all classes (%.0f)",
       chi);
}

/* The same clients have the same classes in each part. */
static void test_parts_alike(const char *words, double least)
{
    struct counted counted = {.rows = 0};
    make(words);
    struct found train = look(WEFT_TRAIN, 20000, &counted),
                 test = look(WEFT_TEST, TEST_ROWS, &counted);
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
    struct counted counted = {.uneven = uneven};
    enum { N = 50, S = 2 };
    make(uneven ? "clients=50 partition=shards shards=2 uneven=yes"
                : "clients=50 partition=shards shards=2");
    struct found found = look(WEFT_TRAIN, 20000, &counted);
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

static const char *digest_of(const char *words)
{
    make(words);
    return data.digest;
}

static void test_same_again(void)
{
    static const char *const rule[] = {"iid", "dirichlet", "shards"};
    for (int i = 0; i < 3; i++) {
        const char *words = printed("clients=17 partition=%s", rule[i]);
        const char *a = digest_of(words), *b = digest_of(words),
                   *c = digest_of(printed("%s seed=1", words));
        ok(strcmp(a, b) == 0 && strcmp(a, c) != 0,
           "%s: the same at every packing, another by another seed", rule[i]);
    }
}

static void test_few_rows(void)
{
    struct counted counted = {.rows = 0};
    make("clients=1000 partition=dirichlet rows=1000");
    struct found r = look(WEFT_TRAIN, 1000, &counted),
                 v = look(WEFT_VALID, VALID_ROWS, &counted);
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
    test_each_row_once("clients=30 partition=iid", "iid", 0);
    test_each_row_once("clients=30 partition=dirichlet alpha=0.3 uneven=yes", "dirichlet",
                       1);
    test_each_row_once("clients=30 partition=shards shards=4 uneven=yes", "shards", 1);
    test_sizes("lognormal", 0.05);
    test_sizes("power", 0.1);
    test_sizes_shares();
    struct counted counted = {.rows = 0};
    make("clients=200 sizes=power deviation=2 min_samples=30");
    ok(look(WEFT_TRAIN, 20000, &counted).least >= 30,
       "each has min_samples, however unequal");
    test_iid();
    test_dirichlet();
    test_parts_alike("clients=50 partition=dirichlet alpha=0.5", 0.9);
    test_parts_alike("clients=50 partition=shards", 0.99);
    test_shards(0);
    test_shards(1);
    return TESTS(test_same_again, test_few_rows, test_refused);
}
