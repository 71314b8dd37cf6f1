/* Partitions of benchmarks: sizes of clients by a Dirichlet distribution, a number of
 * classes a client, pachinko allocation.
 * RUN: np=1 np=2 */
#include "counted.h"

/* ---- quantity: sizes by Dirichlet(alpha, ..., alpha) ---- */

/* The share of a client of n has variance (n - 1) / (n^2 (n alpha + 1)). */
static void test_quantity_variance(double alpha, double slack)
{
    enum { N = 2000, ROWS = 200000 };
    make(printed("rows=200000 clients=2000 partition=quantity alpha=%g seed=3", alpha));
    struct found found = look(WEFT_TRAIN);
    double sum = 0, least = ROWS;
    for (int64_t c = 0; c < N; c++) {
        double share = ((double)found.size[c] - 1) / (ROWS - N);
        sum += (share - 1.0 / N) * (share - 1.0 / N) / N;
        least = fmin(least, (double)found.size[c]);
    }
    double ratio = sum / ((N - 1.0) / ((double)N * N * (N * alpha + 1)));
    ok(found.wrong == 0, "quantity, alpha %g: each row goes to one client", alpha);
    ok(least >= 1, "who has one or more");
    ok(fabs(ratio - 1) < slack, "sizes vary as Dirichlet's (%.3f)", ratio);
}

/* With alpha = 1 the share of a client has P(share > s) = (1 - s)^(n - 1): ten bins that
 * are equally likely, 9 degrees of freedom, of which 99.9 % are below 27.9. */
static void test_quantity_shares(void)
{
    enum { N = 2000, ROWS = 600000, BINS = 10 };
    make("rows=600000 clients=2000 partition=quantity alpha=1");
    struct found train = look(WEFT_TRAIN), test = look(WEFT_TEST);
    double bin[BINS] = {0}, chi = 0, away = 0;
    for (int64_t c = 0; c < N; c++) {
        double share = ((double)train.size[c] - 1) / (ROWS - N);
        int i = (int)(BINS * pow(1 - share, N - 1));
        bin[i < BINS ? i : BINS - 1]++;
        away += fabs((double)test.size[c] - 700 * share) > 1.01;
    }
    for (int i = 0; i < BINS; i++)
        chi += (bin[i] - N / BINS) * (bin[i] - N / BINS) / (N / BINS);
    ok(chi < 27.9, "alpha = 1: shares are those of Dirichlet (chi-square %.1f of 9)", chi);
    ok(away == 0, "which are the same in each part (%.0f not)", away);
}

/* Classes are mixed: 99 x 9 degrees of freedom. */
static void test_quantity_classes(void)
{
    make("clients=100 partition=quantity alpha=2 min_samples=50");
    struct found found = look(WEFT_TRAIN);
    double chi = 0;
    int64_t least = INT64_MAX;
    for (int64_t c = 0; c < 100; c++) {
        double each = (double)found.size[c] / 10;
        least = found.size[c] < least ? found.size[c] : least;
        for (int k = 0; k < 10; k++)
            chi += ((double)found.count[c][k] - each) * ((double)found.count[c][k] - each) /
                   each;
    }
    ok(fabs(chi - 891) < 4 * sqrt(2 * 891), "of all classes alike (chi-square %.0f of 891)",
       chi);
    ok(least >= 50, "each has min_samples (%lld)", (long long)least);
}

static void test_quantity(void)
{
    /* a square of shares has relative deviation sqrt((kurtosis - 1) / 2000), where a gamma
     * variate has kurtosis 3 + 6 / alpha */
    test_quantity_variance(5, 4 * sqrt(3.2 / 2000));
    test_quantity_variance(0.5, 4 * sqrt(14.0 / 2000));
    test_quantity_shares();
    test_quantity_classes();
}

/* ---- labels: k classes a client ---- */

/* Client c has class c mod K, each class is cut evenly among those that have it. */
static void test_labels_exact(int n, int k, const char *more)
{
    make(printed("clients=%d partition=labels labels=%d %s", n, k, more));
    int classes = data.classes, other = 0, missing = 0;
    struct found part[WEFT_NPART] = {look(WEFT_TRAIN), look(WEFT_VALID), look(WEFT_TEST)};
    int64_t wrong = part[0].wrong + part[1].wrong + part[2].wrong, uneven = 0, apart = 0;
    for (int64_t c = 0; c < n; c++) {
        other += classes_of(part[0].count[c]) != k;
        for (int i = (int)c % classes; i < classes; i += n)
            missing += part[0].count[c][i] == 0;
        for (int i = 0; i < classes; i++)
            apart +=
                part[0].count[c][i] == 0 && part[1].count[c][i] + part[2].count[c][i] > 0;
    }
    for (int p = 0; p < WEFT_NPART; p++)
        for (int i = 0; i < classes; i++) {
            int64_t least = INT64_MAX, most = 0;
            for (int64_t c = 0; c < n; c++) {
                int64_t rows = part[p].count[c][i];
                if (part[0].count[c][i] == 0) continue;
                least = rows < least ? rows : least;
                most = rows > most ? rows : most;
            }
            uneven += most - least > 1;
        }
    ok(wrong == 0, "labels %d of %d, %d clients: each row goes to one", k, classes, n);
    ok(other == 0, "who has rows of %d classes", k);
    ok(missing == 0, "client c of class c mod %d, or of c, c + %d, ...", classes, n);
    ok(uneven == 0, "a class is cut evenly");
    ok(apart == 0, "for validation and test they have no other classes");
}

/* The class beside c mod K is any other, equally likely: 8 degrees of freedom. */
static void test_labels_others(void)
{
    enum { N = 1800, K = 10 };
    make("clients=1800 partition=labels labels=2 seed=7");
    struct found found = look(WEFT_TRAIN);
    double step[K] = {0}, chi = 0;
    for (int64_t c = 0; c < N; c++)
        for (int k = 0; k < K; k++)
            if (found.count[c][k] > 0 && k != c % K) step[(k - c % K + K) % K]++;
    for (int i = 1; i < K; i++) chi += (step[i] - 200) * (step[i] - 200) / 200;
    ok(chi < 26.1, "the others are drawn at random (chi-square %.1f of 8)", chi);
}

static void test_labels(void)
{
    test_labels_exact(50, 1, "");
    test_labels_exact(50, 2, "");
    test_labels_exact(30, 7, "rows=19990");
    test_labels_exact(25, 10, "");
    test_labels_exact(20, 10, "kinds=100");
    test_labels_exact(50, 2, "kinds=100");
    test_labels_others();
}

/* ---- pachinko ---- */

enum { GROUPS = 20, MEASURES = 5 };

static double square(double x)
{
    return x * x;
}

/* Sums of squares of a client's shares of groups, of classes, and within its main group. */
static void add_squares(const int64_t *count, double *sum)
{
    int64_t in[GROUPS] = {0}, all = 0;
    int main = 0;
    for (int k = 0; k < MOST; k++) in[k % GROUPS] += count[k];
    for (int g = 0; g < GROUPS; g++) {
        all += in[g];
        if (in[g] > in[main]) main = g;
        sum[0] += in[g] > 0;
    }
    for (int g = 0; g < GROUPS; g++) sum[2] += square((double)in[g] / (double)all);
    for (int k = 0; k < MOST; k++) {
        sum[1] += count[k] > 0;
        sum[3] += square((double)count[k] / (double)all);
        if (k % GROUPS == main) sum[4] += square((double)count[k] / (double)in[main]);
    }
}

/* As many clients and rows as TFF's CIFAR-100 has, beside tests/gold/pachinko.py. */
static void test_pachinko_gold(void)
{
    enum { N = 500 };
    make("kinds=100 groups=20 rows=40000 valid=10000 test=10000 clients=500 "
         "partition=pachinko alpha=0.1");
    struct found part[WEFT_NPART] = {look(WEFT_TRAIN), look(WEFT_VALID), look(WEFT_TEST)};
    double sum[MEASURES] = {0}, mean, deviation;
    int64_t other = 0;
    for (int64_t c = 0; c < N; c++) {
        other += part[0].size[c] + part[1].size[c] != 100 || part[2].size[c] != 20;
        add_squares(part[0].count[c], sum);
    }
    ok(part[0].wrong + part[1].wrong + part[2].wrong == 0,
       "pachinko: each row goes to one client");
    ok(other == 0, "500 clients have 100 of 50000 rows, and 20 of 10000");
    FILE *file = fopen("tests/gold/pachinko.txt", "r");
    char name[32];
    for (int i = 0; i < MEASURES; i++) {
        weft_check(file && fscanf(file, "%31s %lf %lf", name, &mean, &deviation) == 3,
                   "tests/gold/pachinko.txt ends early");
        ok(fabs(sum[i] / N - mean) < 5 * deviation, "%s a client, %.4f, as of NumPy, %.4f",
           name, sum[i] / N, mean);
    }
    fclose(file);
}

/* Of groups of equal shares each has as many rows, of however many classes and whatever
 * their shares are: the first clients of many, 3 degrees of freedom each. */
static void test_pachinko_groups(int kinds)
{
    enum { N = 400, FIRST = 40, OF = 4 };
    double chi = 0;
    make(printed("kinds=%d groups=4 rows=40000 clients=400 partition=pachinko alpha=1e9 "
                 "beta=0.5",
                 kinds));
    struct found found = look(WEFT_TRAIN);
    for (int64_t c = 0; c < FIRST; c++)
        for (int g = 0; g < OF; g++) {
            double in = 0;
            for (int k = g; k < kinds; k += OF) in += (double)found.count[c][k];
            chi += square(in - N / 16.0) / (N / 16.0);
        }
    ok(fabs(chi - 120) < 4 * sqrt(2 * 120.0),
       "%d classes: shares of groups are not those of classes (chi-square %.0f of 120)",
       kinds, chi);
}

/* Few of many rows are drawn by each of few clients, so that nothing runs out: the share of
 * a group has variance p (1 - p) (1 / n + (1 - 1 / n) / (1 + groups alpha)), that of a
 * class within its group, in all large groups, about that of Dirichlet(beta, ..., beta). */
static void test_pachinko_shares(void)
{
    enum { N = 400, EACH = 100, OF = 4 };
    const double alpha = 2, p = 1.0 / OF, n = EACH;
    double sum = 0, chi = 0;
    make("kinds=8 groups=4 rows=40000 clients=400 partition=pachinko alpha=2 beta=1e9");
    struct found found = look(WEFT_TRAIN);
    for (int64_t c = 0; c < N / 2; c++)
        for (int g = 0; g < OF; g++) {
            double a = (double)found.count[c][g], b = (double)found.count[c][g + OF];
            sum += square((a + b) / n - p) / (N / 2 * OF);
            chi += square(a - b) / fmax(a + b, 1);
        }
    double ratio = sum / (p * (1 - p) * (1 / n + (1 - 1 / n) / (1 + OF * alpha)));
    ok(fabs(ratio - 1) < 0.25, "before rows run out groups vary as Dirichlet's (%.3f)",
       ratio);
    ok(fabs(chi - 800) < 4 * sqrt(2 * 800.0),
       "with a large beta classes of a group are alike (chi-square %.0f of 800)", chi);
    make("kinds=8 groups=4 rows=40000 clients=400 partition=pachinko alpha=1e9 beta=1e-7");
    found = look(WEFT_TRAIN);
    int64_t both = 0;
    for (int64_t c = 0; c < N / 4; c++)
        for (int g = 0; g < OF; g++)
            both += found.count[c][g] > 0 && found.count[c][g + OF] > 0;
    ok(both == 0, "with a small one a client has one class of each (%lld more)",
       (long long)both);
    test_pachinko_groups(8);
    test_pachinko_groups(5);
}

/* Clients of the same shares in each part: test rows are of groups that are trained on. */
static void test_pachinko_parts(void)
{
    make("kinds=20 groups=4 test=5000 clients=20 partition=pachinko alpha=0.3 "
         "sizes=lognormal");
    struct found train = look(WEFT_TRAIN), test = look(WEFT_TEST);
    double known = 0, away = 0;
    for (int64_t c = 0; c < 20; c++) {
        away +=
            fabs((double)test.size[c] - ((double)train.size[c] - 1) * 5000 / 19980) > 1.1;
        for (int k = 0; k < 20; k++)
            if (train.count[c][k] > 0) known += (double)test.count[c][k];
    }
    ok(away == 0, "sizes are by a law (%.0f not)", away);
    ok(known > 4750, "test rows are of classes that the client trains on (%.0f of 5000)",
       known);
}

/* ---- the whole ---- */

static void test_same_again(void)
{
    same_again("quantity");
    same_again("labels");
    same_again("pachinko");
}

static void test_refused(void)
{
    static const char *const bad[][4] = {
        {"clients=20001 partition=quantity", "clients = 20001", "20000",
         "quantity: more clients than rows"},
        {"clients=10 partition=quantity alpha=0", "alpha = 0 where quantity", "above 0",
         "quantity: alpha = 0"},
        {"clients=10 partition=quantity sizes=power", "partition = quantity",
         "leave out sizes", "quantity: sizes by two laws"},
        {"clients=10 partition=labels sizes=power", "partition = labels", "leave out sizes",
         "labels: sizes of their own"},
        {"clients=10 partition=labels labels=11", "labels = 11", "10 classes",
         "labels: more than there are"},
        {"clients=10 partition=labels kinds=100", "clients = 10 of labels = 2",
         "100 classes", "labels: classes that nobody has"},
        {"clients=49 partition=labels kinds=100", "clients = 49 of labels = 2",
         "more of either", "labels: two classes that nobody has"},
        {"clients=100 partition=labels labels=9 rows=800",
         "class 0 has 80 training rows for", "fewer clients",
         "labels: a class of too few rows"},
        {"clients=100 partition=labels min_samples=195", "client", "min_samples = 195",
         "labels: clients of too few rows"},
        {"clients=10 partition=pachinko", "partition = pachinko", "dirichlet",
         "pachinko: classes without groups"},
        {"clients=10 groups=2 partition=pachinko alpha=0", "alpha = 0 where pachinko",
         "above 0", "pachinko: alpha = 0"},
        {"clients=10 groups=2 partition=pachinko beta=0", "beta = 0", "above 0",
         "pachinko: beta = 0"},
        {"clients=10 partition=dirichlet beta=2", "beta = 2", "partition = pachinko",
         "beta without effect"},
        {"clients=10 labels=3", "labels = 3", "partition = labels",
         "labels without effect"},
        {"clients=10 partition=iid alpha=2", "alpha = 2", "partition = dirichlet",
         "alpha without effect"}};
    for (size_t i = 0; i < LEN(bad); i++)
        refuses(&reader, "", bad[i][0], WEFT_ECONF, bad[i][1], bad[i][2], bad[i][3]);
}

MAIN(scratch, test_quantity, test_labels, test_pachinko_gold, test_pachinko_shares,
     test_pachinko_parts, test_same_again, test_refused)
