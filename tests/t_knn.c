/* Answers of a client's nearest neighbours among its own training samples: against the sums
 * in doubles over all of them; where they are the network's, or the label of a sample that
 * was stored; what is refused.
 * RUN: np=1 np=2 np=3 */
#include "toy.h"

enum { N = 6, ROUNDS = 4 };

static const char *options(const char *knn, const char *more)
{
    return printed("[fed]\nalgorithm = knn\ncohort = 3\nscore = loss\n%s"
                   "[client]\nlr = 0.1\nbatch = 4\nepochs = 2\n[knn]\n%s",
                   more, knn);
}

static struct toy *six_clients(void)
{
    int64_t count[N][WEFT_NPART] = {{12, 4, 3}, {7, 3, 2}, {16, 5, 2},
                                    {0, 2, 2},  {9, 6, 3}, {150, 4, 90}};
    return toy_new(N, count);
}

/* ---- in doubles ---- */

struct stored {
    double square;
    int64_t i;
};

static int nearer(const void *left, const void *right)
{
    const struct stored *a = left, *b = right;
    if (a->square < b->square || a->square > b->square)
        return a->square < b->square ? -1 : 1;
    return a->i < b->i ? -1 : 1;
}

/* p[C] = shares of the labels of the k training samples nearest to x. Returns how many
 * there are. */
static int64_t by_neighbours(const struct toy *toy, int c, const double *x, int64_t k,
                             double sigma, double *p)
{
    static struct stored all[512];
    int64_t n = toy->count[c][WEFT_TRAIN];
    for (int64_t i = 0; i < n; i++) {
        all[i] = (struct stored){0, i};
        for (int d = 0; d < D; d++) {
            double off = x[d] - toy->x[c][i * D + d];
            all[i].square += off * off;
        }
    }
    qsort(all, (size_t)n, sizeof *all, nearer);
    double total = 0;
    memset(p, 0, C * sizeof *p);
    if (k > n) k = n;
    for (int64_t i = 0; i < k; i++) {
        double e = exp(-sqrt(all[i].square) / sigma);
        p[toy->label[c][all[i].i]] += e;
        total += e;
    }
    for (int j = 0; j < C && k > 0; j++) p[j] /= total;
    return k;
}

static struct sums mixed(const struct toy *toy, int c, weft_part part, const double *w,
                         int64_t k, double lambda, double sigma)
{
    struct sums sums = {0};
    int64_t first = first_of(toy, c, part);
    for (int64_t i = first; i < first + toy->count[c][part]; i++) {
        const double *x = toy->x[c] + i * D;
        double p[C], z[C], total = 0;
        int best = 0;
        double share = by_neighbours(toy, c, x, k, sigma, p) > 0 ? lambda : 0;
        for (int j = 0; j < C; j++) {
            z[j] = w[C * D + j];
            for (int d = 0; d < D; d++) z[j] += w[j * D + d] * x[d];
            total += exp(z[j]);
        }
        for (int j = 0; j < C; j++) {
            p[j] = share * p[j] + (1 - share) * exp(z[j]) / total;
            if (p[j] > p[best]) best = j;
        }
        sums.loss -= log(p[toy->label[c][i]]);
        sums.wrong += best != toy->label[c][i];
        sums.n++;
    }
    return sums;
}

static struct sums all_mixed(const struct toy *toy, const double *w, int64_t k,
                             double lambda, double sigma)
{
    struct sums all = {0};
    for (int c = 0; c < toy->n; c++) {
        struct sums sums = mixed(toy, c, WEFT_TEST, w, k, lambda, sigma);
        all.loss += sums.loss;
        all.wrong += sums.wrong;
        all.n += sums.n;
    }
    return all;
}

static void test_sums(struct toy *toy)
{
    static const struct {
        int k;
        double lambda, sigma;
    } row[] = {{1, 0.5, 1}, {3, 0.7, 0.2}, {10, 0.3, 1}, {40, 0.9, 5}, {1000, 0.6, 2}};
    for (int i = 0; i < (int)LEN(row); i++) {
        struct stand *stand =
            trained(toy,
                    options(printed("k = %d\nlambda = %g\nsigma = %g\n", row[i].k,
                                    row[i].lambda, row[i].sigma),
                            ""),
                    1, ROUNDS);
        double w[W];
        wide(stand->state.x, w);
        struct sums want = all_mixed(toy, w, row[i].k, row[i].lambda, row[i].sigma);
        weft_scores told = scored(stand, WEFT_TEST);
        is_near(score_of(fed, &told, "personal_loss"), want.loss / want.n, 2e-6,
                "%d neighbours, lambda %g, sigma %g: the loss of the sums in doubles",
                row[i].k, row[i].lambda, row[i].sigma);
        is_near(score_of(fed, &told, "personal_error"), want.wrong / want.n, 1e-12,
                "and the errors");
    }
}

/* ---- where they are something else ---- */

static void test_none(struct toy *toy)
{
    struct stand *knn =
        trained(toy, options("lambda = 0\n", "score_both = yes\n"), 1, ROUNDS);
    struct stand *avg = trained(toy,
                                "[fed]\ncohort = 3\nscore = loss\nscore_weights = global\n"
                                "[client]\nlr = 0.1\nbatch = 4\nepochs = 2\n",
                                1, ROUNDS);
    ok(memcmp(knn->state.x, avg->state.x, W * sizeof *avg->state.x) == 0,
       "it trains as fedavg, to the bit");
    is_near(knn->res.loss, avg->res.loss, 0, "at lambda 0 its rounds have fedavg's score");
    weft_scores told = scored(knn, WEFT_TEST), other = scored(avg, WEFT_TEST);
    ok(score_of(fed, &told, "personal_loss") == score_of(fed, &other, "loss") &&
           score_of(fed, &told, "personal_error") == score_of(fed, &other, "error"),
       "and so has the winner, to the bit");
}

/* Test samples that are copies of training samples of the client, of which the last is the
 * first with another label. */
static void test_copies(void)
{
    int64_t count[3][WEFT_NPART] = {{12, 4, 8}, {7, 3, 6}, {150, 5, 80}};
    struct toy *toy = toy_made(3, count);
    for (int c = 0; c < 3; c++) {
        for (int64_t i = 0; i < count[c][WEFT_TEST]; i++) {
            int64_t to = first_of(toy, c, WEFT_TEST) + i;
            memcpy(toy->x[c] + to * D, toy->x[c] + i * D, D * sizeof(double));
            toy->label[c][to] = toy->label[c][i];
        }
        int64_t last = count[c][WEFT_TRAIN] - 1;
        memcpy(toy->x[c] + last * D, toy->x[c], D * sizeof(double));
        toy->label[c][last] = (toy->label[c][0] + 1) % C;
    }
    toy_open(toy);
    struct stand *stand = trained(toy, options("k = 1\nlambda = 1\n", ""), 1, ROUNDS);
    weft_scores told = scored(stand, WEFT_TEST);
    ok(score_of(fed, &told, "error") > 0, "the network errs on samples that it has seen");
    is_near(
        score_of(fed, &told, "personal_error"), 0, 0,
        "one neighbour alone, which is the sample itself, of equals the first, does not");
    is_near(score_of(fed, &told, "personal_loss"), 0, 0, "and its loss is 0");
}

/* Two training samples stand at one place, a third at that of the test sample: with it the
 * first of the two counts. The validation sample is where the two are, whose classes are
 * equally likely. */
static void test_ties(void)
{
    int64_t count[1][WEFT_NPART] = {{3, 1, 1}};
    struct toy *toy = toy_made(1, count);
    for (int i = 0; i < 3; i++) {
        memcpy(toy->x[0] + i * D, toy->x[0] + 4 * D, D * sizeof(double));
        if (i < 2) toy->x[0][i * D] = 0;
        toy->label[0][i] = i;
    }
    toy->x[0][2 * D] = toy->x[0][4 * D] = 1;
    memcpy(toy->x[0] + 3 * D, toy->x[0], D * sizeof(double));
    toy->label[0][3] = toy->label[0][4] = 0;
    toy_open(toy);
    struct stand *stand = trained(
        toy, "[fed]\nalgorithm = knn\ncohort = 1\n[knn]\nk = 2\nlambda = 1\n", 1, 1);
    weft_scores told = scored(stand, WEFT_TEST);
    is_near(score_of(fed, &told, "personal_loss"), log(1 + exp(1)), 1e-6,
            "of two equally near the first is a neighbour");
    told = scored(stand, WEFT_VALID);
    is_near(score_of(fed, &told, "personal_error"), 0, 0,
            "of two equally likely classes the first is the answer");
}

/* Samples so far from zero that products of floats do not tell how far they are apart. */
static void test_far(void)
{
    int64_t count[1][WEFT_NPART] = {{150, 1, 90}};
    struct toy *toy = toy_made(1, count);
    for (int i = 0; i < 241 * D; i++) toy->x[0][i] = (float)(toy->x[0][i] + 2000);
    toy_open(toy);
    struct stand *stand = trained(
        toy,
        "[fed]\nalgorithm = knn\ncohort = 1\n[client]\nlr = 0\n[knn]\nk = 5\nlambda = 1\n",
        1, 1);
    const double w[W] = {0};
    struct sums want = all_mixed(toy, w, 5, 1, 1);
    weft_scores told = scored(stand, WEFT_TEST);
    is_near(score_of(fed, &told, "personal_error"), want.wrong / want.n, 1e-12,
            "the nearest of samples that are far away are those in doubles");
}

/* A network whose answer to the test sample is no number, of the first class. */
static void test_no_number(void)
{
    int64_t count[1][WEFT_NPART] = {{8, 1, 1}};
    struct toy *toy = toy_made(1, count);
    for (int d = 0; d < D; d++) toy->x[0][9 * D + d] = d % 2 ? 3e38 : -3e38;
    toy->label[0][9] = 0;
    toy_open(toy);
    struct stand *stand = trained(toy, "[fed]\nalgorithm = knn\ncohort = 1\n", 1, 1);
    for (int i = 0; i < W; i++) stand->state.x[i] *= 1e6f;
    weft_scores told = scored(stand, WEFT_TEST);
    is_near(score_of(fed, &told, "personal_error"), 1, 0, "no number is a wrong answer");
}

static void test_new(struct toy *toy)
{
    const char *few = options("k = 3\nlambda = 0.5\n", "new_clients = 0.4\n");
    struct stand *stand = trained(toy, few, 1, ROUNDS);
    weft_scores told = scored(stand, WEFT_TEST);
    ok(isfinite(score_of(fed, &told, "adapted_loss")) &&
           score_of(fed, &told, "adapted_loss") != score_of(fed, &told, "new_loss"),
       "new clients answer by neighbours, too");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    struct toy *toy = six_clients();
    test_sums(toy);
    test_none(toy);
    test_copies();
    test_ties();
    test_far();
    test_no_number();
    test_new(toy);
    stand_refused(toy, options("k = 0\n", ""), "knn.k");
    stand_refused(toy, options("lambda = -0.1\n", ""), "knn.lambda");
    stand_refused(toy, options("lambda = 1.5\n", ""), "knn.lambda");
    stand_refused(toy, options("sigma = 0\n", ""), "knn.sigma");
    return tap_end();
}
