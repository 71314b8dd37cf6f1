/* Nystrom features: inner products against exact kernels, scores of rows against sums of
 * kernels, products of the matrix against plain loops in double, the same bits on any
 * number of ranks. Data are a few hundred rows of numbers; every rank takes its share.
 * RUN: np=1 np=2 np=3 */

#include "products.h"

enum { N = 300, D = 7, CLASSES = 3, FEW = 50 };
enum { GAUSSIAN, LAPLACIAN };
static const double jitter = 0x1p-13;

static float value[N][D];

/* Columns of numbers of different sizes, one of 0 and 1, most of which are 0, one constant.
 * The valid part has the same rows as that of training. */
static void make_data(weft_data *data)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < D; k++) {
            double u = uniform_of(3, i, k);
            value[i][k] = (float)(k == 0 ? u > 0.9 : k == 1 ? 5 : u * pow(10, k - 3));
        }
    *data = data_of(WEFT_REALS, CLASSES);
    for (int p = 0; p < 2; p++) {
        weft_rows *rows = deal_rows(data, p, N, D);
        rows->value = value[rows->first];
    }
}

static void *instance(const char *options)
{
    return bound_with(&weft_feature_nystrom.kind, options, ' ');
}

static void *set_up(weft_data *data, const char *options, double memory)
{
    void *self = instance(options);
    weft_source rows = weft_data_source(data);
    must(weft_feature_nystrom.setup(self, &rows, memory, 2, 7, mem));
    return self;
}

static weft_matrix matrix_of(void *self, const weft_data *data, weft_part part, int fit,
                             real *stat)
{
    const void **arm = WEFT_NEW(mem, const void *, 1);
    *arm = self;
    weft_request request = {
        .part = part, .n = data->part[part].n, .narm = 1, .arms = arm, .size = 1};
    weft_matrix matrix;
    weft_feature_nystrom.matrix(self, &request, fit, stat, &matrix, mem);
    weft_check(!matrix.empty, "%s", matrix.empty ? matrix.empty : "");
    return matrix;
}

/* Standardised rows, as the documentation has it. */
static double *standardised(void)
{
    double *x = WEFT_NEW(mem, double, N *D);
    for (int k = 0; k < D; k++) {
        double mean = 0, variance = 0;
        for (int i = 0; i < N; i++) mean += (double)value[i][k] / N;
        for (int i = 0; i < N; i++)
            variance += ((double)value[i][k] - mean) * ((double)value[i][k] - mean) / N;
        double width = k == 0 ? 0.5 : k == 1 ? 1 : sqrt(variance);
        for (int i = 0; i < N; i++) x[i * D + k] = ((double)value[i][k] - mean) / width;
    }
    return x;
}

static double kernel(int kind, double gamma, int linear, const double *x, const double *y)
{
    double apart = 0, product = 0;
    for (int k = 0; k < D; k++) {
        double gap = fabs(x[k] - y[k]);
        apart += kind == GAUSSIAN ? gap * gap : gap;
        product += x[k] * y[k];
    }
    return exp(-gamma * apart) + (linear ? product / D : 0);
}

/* Scores by weights F^T c are the sums of kernels with the training rows times c. */
static void check_scores(void *self, const weft_data *data, const weft_matrix *train,
                         real *stat, const double *k, const char *what)
{
    const weft_rows *rows = &data->part[WEFT_TRAIN];
    real *c = WEFT_NEW(mem, real, N), *w = WEFT_NEW(mem, real, train->d),
         *z = WEFT_NEW(mem, real, rows->n);
    double *g = WEFT_NEW(mem, double, train->d), worst = 0;
    for (int i = 0; i < N; i++) c[i] = (real)sin(1.3 * i);
    train->trans(train, 1, c + rows->first, g);
    for (int64_t j = 0; j < train->d; j++) w[j] = (real)g[j];
    train->finish(train, 1, w);
    weft_matrix scored = matrix_of(self, data, WEFT_VALID, 0, stat);
    scored.times(&scored, 1, w, z);
    for (int64_t i = 0; i < rows->n; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) sum += k[(rows->first + i) * N + j] * (double)c[j];
        worst = worse(worst, fabs(sum - (double)z[i]));
    }
    is_near(worst, 0, 2e-3, "%s: scores are sums of kernels", what);
}

/* Returns a digest of what must not depend on the number of ranks. */
static uint64_t check_exact(const char *what, int kind, double gamma, int linear)
{
    size_t mark = weft_arena_mark(mem);
    weft_data data;
    make_data(&data);
    void *self = set_up(&data, what, 1e9);
    real *stat = WEFT_NEW(mem, real, weft_feature_nystrom.nstat(self));
    int64_t first = data.part[WEFT_TRAIN].first;
    weft_matrix matrix = matrix_of(self, &data, WEFT_TRAIN, 1, stat);
    const double *f = table_of(&matrix, NULL, first), *x = standardised();
    double *k = WEFT_NEW(mem, double, N *N), worst = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int64_t e = 0; e < matrix.d; e++)
                sum += f[i * matrix.d + e] * f[j * matrix.d + e];
            k[i * N + j] = kernel(kind, gamma, linear, x + i * D, x + j * D);
            worst = worse(worst, fabs(sum - k[i * N + j] * (i == j ? 1 + jitter : 1)));
        }
    is_near(worst, 0, 2e-5, "%s: inner products are the kernel", what);
    check_scores(self, &data, &matrix, stat, k, what);
    product_test test = product_test_new(&matrix, f, first, CLASSES, what);
    test.bound = linear ? 4 : 1.1;
    check_times(&test, first);
    uint64_t key = check_sums(&test, check_trans(&test, 0));
    weft_arena_reset(mem, mark);
    return key;
}

static void test_exact(void)
{
    digest(check_exact("landmarks=320 kernel=gaussian gamma=0.1", GAUSSIAN, 0.1, 0));
    digest(check_exact("landmarks=300 kernel=laplacian gamma=0.2", LAPLACIAN, 0.2, 0));
    digest(check_exact("landmarks=400 kernel=laplacian gamma=0.02 linear=yes", LAPLACIAN,
                       0.02, 1));
}

/* Fewer landmarks than rows: every sixth row. */
static void test_few(void)
{
    weft_data data;
    make_data(&data);
    void *self = set_up(&data, "landmarks=50 kernel=laplacian gamma=0.1", 1e9);
    real *stat = WEFT_NEW(mem, real, weft_feature_nystrom.nstat(self));
    int64_t first = data.part[WEFT_TRAIN].first;
    weft_matrix matrix = matrix_of(self, &data, WEFT_TRAIN, 1, stat);
    const double *f = table_of(&matrix, NULL, first), *x = standardised();
    double worst = 0, above = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, k = kernel(LAPLACIAN, 0.1, 0, x + i * D, x + j * D);
            for (int64_t e = 0; e < matrix.d; e++)
                sum += f[i * matrix.d + e] * f[j * matrix.d + e];
            if (i % 6 == 0) worst = worse(worst, fabs(sum - k));
            if (i == j) above = fmax(above, sum - k);
        }
    is_near(worst, 0, 2e-3, "inner products with landmarks are the kernel");
    ok(above < 1e-4, "no row is longer than its kernel says: by %g", above);
    weft_matrix scored = matrix_of(self, &data, WEFT_VALID, 0, stat);
    const double *again = table_of(&scored, &matrix, first);
    double differ = 0;
    for (int64_t e = 0; e < N * matrix.d; e++) differ = fmax(differ, fabs(f[e] - again[e]));
    is_near(differ, 0, 1e-4, "rows that are scored have the features of training");
    product_test test = product_test_new(&matrix, f, first, CLASSES, "few");
    test.bound = 1.1;
    check_times(&test, first);
    digest(check_sums(&test, check_trans(&test, 0)));
}

/* So many rows that nearly all look alike to a kernel that its factor in floats needs a
 * larger diagonal; scores by F^T c, sum c = 1, are 1 whatever that is. */
static void test_singular(void)
{
    enum { MANY = 3300, TWO = 2 };
    size_t mark = weft_arena_mark(mem);
    weft_data data;
    make_data(&data);
    float *x = WEFT_NEW(mem, float, MANY *TWO);
    for (int e = 0; e < MANY * TWO; e++)
        x[e] = (float)weft_rng_unit(weft_rng_at(3, WEFT_RNG_TEST, (uint64_t)e, 0, 1).v[0]);
    for (int p = 0; p < 2; p++) {
        weft_rows *rows = deal_rows(&data, p, MANY, TWO);
        rows->value = x + rows->first * TWO;
    }
    void *self = set_up(&data, "landmarks=3300 kernel=gaussian gamma=1e-7", 1e9);
    real *stat = WEFT_NEW(mem, real, weft_feature_nystrom.nstat(self));
    weft_matrix matrix = matrix_of(self, &data, WEFT_TRAIN, 1, stat);
    real *c = WEFT_NEW(mem, real, matrix.n), *w = WEFT_NEW(mem, real, MANY);
    double *g = WEFT_NEW(mem, double, MANY), worst = 0;
    for (int64_t i = 0; i < matrix.n; i++) c[i] = (real)1 / MANY;
    matrix.trans(&matrix, 1, c, g);
    for (int j = 0; j < MANY; j++) w[j] = (real)g[j];
    double *once = WEFT_NEW(mem, double, MANY), *twice = WEFT_NEW(mem, double, MANY);
    matrix.normal(&matrix, 1, w, NULL, 0, once);
    matrix.times(&matrix, 1, w, c);
    matrix.trans(&matrix, 1, c, twice);
    ok(memcmp(once, twice, MANY * sizeof *once) == 0,
       "one pass over many rows has the bits of two");
    digest(weft_hash(once, MANY * sizeof *once, 0));
    matrix.finish(&matrix, 1, w);
    weft_matrix scored = matrix_of(self, &data, WEFT_VALID, 0, stat);
    scored.times(&scored, 1, w, c);
    for (int64_t i = 0; i < scored.n; i++) worst = worse(worst, fabs((double)c[i] - 1));
    is_near(worst, 0, 1e-2, "a kernel that is singular in floats is factored, too");
    digest(weft_hash(g, MANY * sizeof *g, 0));
    weft_arena_reset(mem, mark);
}

static void test_refused(void)
{
    weft_data data;
    make_data(&data);
    weft_source rows = weft_data_source(&data);
    ok(weft_feature_nystrom.setup(instance("landmarks=300"), &rows, 3e5, 2, 7, mem) ==
               WEFT_ELIMIT &&
           says("nystrom.landmarks = 300"),
       "too many landmarks for the memory: %s", weft_error());
    rows.form = WEFT_TOKENS;
    ok(weft_feature_nystrom.setup(instance("landmarks=20"), &rows, 1e9, 2, 7, mem) ==
               WEFT_ECONF &&
           says("feature = ngram"),
       "documents are refused: %s", weft_error());
}

MAIN(ranks, test_exact, test_few, test_singular, test_refused)
