/* Random Fourier features: inner products against both kernels, products of the matrix
 * against plain loops in double, the same bits on any number of ranks. Data are a few
 * hundred small random images; every rank takes its rows of them.
 * RUN: np=1 np=2 np=3 */

#include "products.h"

enum { N = 700, VALID = 300, D = 77, CLASSES = 3 };
enum { GAUSSIAN, LAPLACIAN };
enum { NONE, MINMAX, L2, STANDARD };

static uint8_t all_bytes[N + VALID][D];
static float all_values[N + VALID][D];

/* An instance with the options given as "key=value key=value". */
static void *instance(const char *options)
{
    return bound_with(&weft_feature_rff.kind, options, ' ');
}

/* A copy of the instance with other options, as a task makes of it. */
static void *arm(const void *self, int kernel, double gamma, int preprocess)
{
    void *a = weft_arena_alloc(mem, 1, weft_feature_rff.kind.size);
    memcpy(a, self, weft_feature_rff.kind.size);
    const char *name[] = {"kernel", "gamma", "preprocess"};
    const double value[] = {kernel, gamma, preprocess};
    for (int i = 0; i < 3; i++)
        for (const weft_opt *opt = weft_feature_rff.kind.opts; opt->name; opt++)
            if (weft_opt_is(opt, name[i])) weft_opt_set(opt, a, value[i]);
    return a;
}

/* Smooth images, so that distances differ; columns have different ranges. */
static void make_data(weft_data *data, weft_form form)
{
    for (int i = 0; i < N + VALID; i++)
        for (int k = 0; k < D; k++) {
            double shade = 110 + 60 * sin(0.37 * (i % 40) + 0.05 * k);
            all_bytes[i][k] =
                (uint8_t)(shade + (50 + k % 30) * (uniform_of(5, i, k) - 0.5));
            all_values[i][k] = (float)all_bytes[i][k] / 255;
        }
    *data = data_of(form, CLASSES);
    for (int p = 0; p < 2; p++) {
        weft_rows *rows = deal_rows(data, p, p ? VALID : N, D);
        int64_t at = p * N + rows->first;
        if (form == WEFT_BYTES)
            rows->byte = all_bytes[at];
        else
            rows->value = all_values[at];
    }
}

/* Bytes whose columns' ranges differ by more than can be rounded to small integers. */
static void make_steep(weft_data *data)
{
    make_data(data, WEFT_BYTES);
    for (int i = 0; i < N + VALID; i++)
        for (int k = 0; k < D; k += 5) all_bytes[i][k] = 100 + all_bytes[i][k] % 4;
}

static int64_t maps = 2; /* whose matrices are made, as set_up says */

static void *set_up(weft_data *data, const char *options, double memory)
{
    void *self = instance(options);
    weft_source rows = weft_data_source(data);
    must(weft_feature_rff.setup(self, &rows, memory, maps, 7, mem));
    return self;
}

static weft_matrix matrix_of(void *self, const weft_data *data, weft_part part,
                             const void **arms, int narm, const int *which, double size,
                             int fit, real *stat)
{
    weft_request request = {.part = part,
                            .n = data->part[part].n,
                            .arm = which,
                            .narm = narm,
                            .arms = arms,
                            .size = size,
                            .seed = 7};
    weft_matrix matrix;
    weft_feature_rff.matrix(self, &request, fit, stat, &matrix, mem);
    return matrix;
}

/* ---- kernels ---- */

/* Preprocessed training rows, as textbooks have it. */
static double *preprocessed(int preprocess)
{
    double *x = WEFT_NEW(mem, double, N *D);
    for (int e = 0; e < N * D; e++) x[e] = all_bytes[e / D][e % D] / 255.0;
    for (int i = 0; i < N && preprocess == L2; i++) {
        double sum = 0;
        for (int k = 0; k < D; k++) sum += x[i * D + k] * x[i * D + k];
        for (int k = 0; k < D; k++) x[i * D + k] /= sqrt(sum);
    }
    for (int k = 0; k < D && (preprocess == MINMAX || preprocess == STANDARD); k++) {
        double sum = 0, square = 0, low = 1, high = 0;
        for (int i = 0; i < N; i++) {
            sum += x[i * D + k] / N;
            low = fmin(low, x[i * D + k]);
            high = fmax(high, x[i * D + k]);
        }
        for (int i = 0; i < N; i++)
            square += (x[i * D + k] - sum) * (x[i * D + k] - sum) / N;
        for (int i = 0; i < N; i++)
            x[i * D + k] = preprocess == MINMAX ? (x[i * D + k] - low) / (high - low)
                                                : (x[i * D + k] - sum) / sqrt(square);
    }
    return x;
}

static double distance(const double *x, const double *y, int kernel)
{
    double sum = 0;
    for (int k = 0; k < D; k++) {
        double gap = fabs(x[k] - y[k]);
        sum += kernel == GAUSSIAN ? gap * gap : gap;
    }
    return sum;
}

/* Mean and largest error of phi.phi over pairs of rows. A product of two features has
 * variance at most 1/D about the kernel; the largest of 300 pairs of them stays within 5
 * deviations, the root mean square within 1.5. Rounding to bytes adds 1/127 of a deviation.
 */
static void check_kernel(void *self, const weft_data *data, int kernel, int preprocess,
                         double tail, const char *what)
{
    size_t mark = weft_arena_mark(mem);
    const double *x = preprocessed(preprocess);
    double gamma = 1 / distance(x, x + 20 * D, kernel); /* kernels of about 1/e */
    const void *a = arm(self, kernel, gamma, preprocess);
    real *stat = WEFT_NEW(mem, real, weft_feature_rff.nstat(self));
    weft_matrix matrix = matrix_of(self, data, WEFT_TRAIN, &a, 1, NULL, 1, 1, stat);
    enum { PAIRS = 300 };
    double worst = 0, square = 0, bias = 0, low = 1, high = 0;
    double *g = WEFT_NEW(mem, double, N);
    for (int i = 0; i < 3; i++) {
        matrix.gram(&matrix, 1, 10 * i, 1, 0, N, g);
        for (int j = 100; j < 100 + PAIRS / 3; j++) {
            double exact = exp(-gamma * distance(x + 10 * i * D, x + j * D, kernel));
            worst = worse(worst, fabs(g[j] - exact));
            square += (g[j] - exact) * (g[j] - exact) / PAIRS;
            bias += (g[j] - exact) / PAIRS;
            low = fmin(low, exact);
            high = fmax(high, exact);
        }
    }
    double deviation = 1 / sqrt((double)matrix.d);
    note("%s, kernel %d, preprocess %d: kernels %.2f..%.2f, error rms %.4f, mean %.4f, "
         "largest %.4f",
         what, kernel, preprocess, low, high, sqrt(square), bias, worst);
    is_near(worst, 0, 5 * deviation + tail, "phi.phi is kernel %d of preprocessing %d (%s)",
            kernel, preprocess, what);
    is_near(sqrt(square), 0, 1.5 * deviation + tail, "and so on average");
    weft_arena_reset(mem, mark);
}

static void test_kernels(void)
{
    weft_data bytes, reals;
    make_data(&bytes, WEFT_BYTES);
    void *dense = set_up(&bytes, "features=20000", 1e9);
    for (int kernel = 0; kernel < 2; kernel++)
        for (int p = 0; p < 4; p++) check_kernel(dense, &bytes, kernel, p, 0, "bytes");
    void *fast = set_up(&bytes, "features=20000 projection=structured", 1e9);
    for (int p = 0; p < 4; p++) check_kernel(fast, &bytes, GAUSSIAN, p, 0, "structured");
    make_data(&reals, WEFT_REALS);
    void *floats = set_up(&reals, "features=20000", 1e9);
    for (int kernel = 0; kernel < 2; kernel++)
        for (int p = 0; p < 4; p++) check_kernel(floats, &reals, kernel, p, 0, "reals");
    make_steep(&bytes);
    void *steep = set_up(&bytes, "features=20000", 1e9);
    for (int kernel = 0; kernel < 2; kernel++)
        for (int p = 0; p < 4; p++)
            check_kernel(steep, &bytes, kernel, p, 0, "steep bytes");
}

/* ---- products ---- */

static uint64_t hash(uint64_t key, const void *x, size_t bytes)
{
    return weft_hash(x, bytes, key);
}

/* Products of the matrix against loops over its table; returns a digest of what must not
 * depend on the number of ranks. */
static uint64_t check_products(const weft_matrix *matrix, int64_t first, const char *what)
{
    size_t mark = weft_arena_mark(mem);
    const double *x = table_of(matrix, NULL, first);
    product_test test = product_test_new(matrix, x, first, CLASSES, what);
    check_times(&test, first);
    uint64_t key = check_gram(&test, check_sums(&test, check_trans(&test, 0)));
    weft_arena_reset(mem, mark);
    return key;
}

/* Four arms of all kinds, dealt to the rows. */
static const void **four_arms(const void *self)
{
    const void **a = WEFT_NEW(mem, const void *, 4);
    a[0] = arm(self, GAUSSIAN, 0.05, NONE);
    a[1] = arm(self, LAPLACIAN, 0.02, STANDARD);
    a[2] = arm(self, GAUSSIAN, 0.5, L2);
    a[3] = arm(self, LAPLACIAN, 0.3, MINMAX);
    return a;
}

static int *deal_arms(const weft_data *data, weft_part part)
{
    const weft_rows *rows = &data->part[part];
    int *which = WEFT_NEW(mem, int, rows->n);
    for (int64_t i = 0; i < rows->n; i++) which[i] = (int)((rows->first + i) * 7 % 4);
    return which;
}

static uint64_t mixed(const char *options, weft_form form, double memory, const char *what)
{
    weft_data data;
    make_data(&data, form);
    void *self = set_up(&data, options, memory);
    real *stat = WEFT_NEW(mem, real, weft_feature_rff.nstat(self));
    weft_matrix f = matrix_of(self, &data, WEFT_TRAIN, four_arms(self), 4,
                              deal_arms(&data, WEFT_TRAIN), 1, 1, stat);
    uint64_t key = check_products(&f, data.part[WEFT_TRAIN].first, what);
    weft_matrix v = matrix_of(self, &data, WEFT_VALID, four_arms(self), 4,
                              deal_arms(&data, WEFT_VALID), 0.5, 0, stat);
    ok(v.d == 62 && v.total == VALID, "%s: half of the features of the validation rows",
       what);
    return hash(key, stat, (size_t)weft_feature_rff.nstat(self) * sizeof *stat);
}

static void test_products(void)
{
    uint64_t key = mixed("features=123", WEFT_BYTES, 1e9, "bytes");
    digest(key);
    digest(mixed("features=123 projection=structured", WEFT_BYTES, 1e9, "structured"));
    digest(mixed("features=123", WEFT_REALS, 1e9, "reals"));
    double short_memory = 4.0 * WEFT_BLOCK * 128;
    ok(mixed("features=123", WEFT_BYTES, short_memory, "little memory") == key,
       "features made anew in every product are the same");
    maps = 1;
    ok(mixed("features=123", WEFT_BYTES, 1e9, "a map alone") == key,
       "so are those of a map that is the only one");
    maps = 2;
}

/* Bytes of a matrix per entry, for each number of maps. */
static double bytes_of_entry(int64_t n)
{
    weft_data data;
    double flops, bytes, entries;
    make_data(&data, WEFT_BYTES);
    maps = n;
    void *self = set_up(&data, "features=123", 1e9);
    maps = 2;
    weft_feature_rff.estimate(self, arm(self, GAUSSIAN, 0.05, NONE), N, 1, &flops, &bytes,
                              &entries);
    return bytes / entries;
}

static void test_memory(void)
{
    double one = bytes_of_entry(1), two = bytes_of_entry(2);
    ok(!(one > 1) && two > 4, "a map alone takes %g byte a feature, of two each %g", one,
       two);
}

/* So many features that rows are used many at a time; all stored, then three blocks.
 * Columns at the ends of tiles against sums of the products of rows. */
static void test_long(void)
{
    enum { LONG = 17000, COLUMNS = 5 };
    static const int64_t column[] = {0, 2047, 2048, 16383, LONG - 1};
    weft_data data;
    make_data(&data, WEFT_BYTES);
    const char *options = printed("features=%d projection=structured", LONG);
    uint64_t key[2];
    for (int i = 0; i < 2; i++) {
        size_t mark = weft_arena_mark(mem);
        void *self = set_up(&data, options, (i ? 4. : 700.) * WEFT_BLOCK * LONG);
        const void *a = arm(self, GAUSSIAN, 0.05, NONE);
        real *stat = WEFT_NEW(mem, real, weft_feature_rff.nstat(self));
        weft_matrix matrix = matrix_of(self, &data, WEFT_TRAIN, &a, 1, NULL, 1, 1, stat);
        real *w = WEFT_NEW(mem, real, LONG), *one = WEFT_NEW(mem, real, LONG);
        real *z = WEFT_NEW(mem, real, matrix.n), *x = WEFT_NEW(mem, real, matrix.n);
        double *g = WEFT_NEW(mem, double, LONG), sum[COLUMNS] = {0}, worst = 0, most = 0;
        for (int k = 0; k < LONG; k++) w[k] = (real)sin(1.7 * k);
        matrix.times(&matrix, 1, w, z);
        matrix.normal(&matrix, 1, w, NULL, 0, g);
        for (int c = 0; c < COLUMNS; c++) {
            one[column[c]] = 1;
            matrix.times(&matrix, 1, one, x);
            one[column[c]] = 0;
            for (int64_t r = 0; r < matrix.n; r++) sum[c] += (double)x[r] * (double)z[r];
        }
        weft_sum_f64(&world, sum, COLUMNS, 1e3);
        for (int c = 0; c < COLUMNS; c++) {
            worst = worse(worst, fabs(sum[c] - g[column[c]]));
            most = fmax(most, fabs(sum[c]));
        }
        is_near(worst / most, 0, 1e-5, "normal of %d features", LONG);
        key[i] = hash(0, g, LONG * sizeof *g);
        weft_arena_reset(mem, mark);
    }
    ok(key[1] == key[0], "the same where rows are made anew in every product");
    digest(key[0]);
}

/* Features of a row have square sum 1, whose 300,000 bytes do not fit 32 bits. */
static void test_wide(void)
{
    enum { ROWS = 8, WIDE = 300000 };
    weft_data data;
    make_data(&data, WEFT_BYTES);
    deal_rows(&data, WEFT_TRAIN, ROWS, D);
    void *self = set_up(&data, printed("features=%d", WIDE), 1e9);
    const void *a = arm(self, GAUSSIAN, 0.05, NONE);
    real *stat = WEFT_NEW(mem, real, weft_feature_rff.nstat(self));
    weft_matrix matrix = matrix_of(self, &data, WEFT_TRAIN, &a, 1, NULL, 1, 1, stat);
    double g[ROWS * ROWS], worst = 0;
    matrix.gram(&matrix, 1, 0, ROWS, 0, ROWS, g);
    for (int i = 0; i < ROWS; i++) worst = worse(worst, fabs(g[i * ROWS + i] - 1));
    is_near(worst, 0, 0.01, "inner products over %d columns do not overflow", WIDE);
}

/* ---- sharing ---- */

static uint64_t bits_of(const weft_matrix *matrix, int64_t first)
{
    size_t mark = weft_arena_mark(mem);
    uint64_t key = hash(0, table_of(matrix, NULL, first),
                        (size_t)(matrix->total * matrix->d) * sizeof(double));
    weft_arena_reset(mem, mark);
    return key;
}

/* One request after the other: single arms, mixtures, all or half of the features. Returns
 * the bits of each. */
static void ask_many(weft_data *data, double memory, int n, uint64_t *bits)
{
    int64_t first = data->part[WEFT_TRAIN].first;
    void *self = set_up(data, "features=70", memory);
    real *stat = WEFT_NEW(mem, real, weft_feature_rff.nstat(self));
    const void **four = four_arms(self);
    int *which = deal_arms(data, WEFT_TRAIN);
    for (int i = 0; i < n; i++) {
        int kernel = i / 3 % 2, preprocess = i % 2 ? L2 : i / 6 ? STANDARD : NONE;
        const void *one = arm(self, kernel, 0.01 * (i + 1), preprocess);
        double size = i % 3 == 1 ? 0.5 : 1;
        for (int64_t r = 0; r < data->part[WEFT_TRAIN].n; r++)
            which[r] = (which[r] + i) % 4;
        weft_matrix matrix =
            i % 4 == 3 ? matrix_of(self, data, WEFT_TRAIN, four, 4, which, size, 1, stat)
                       : matrix_of(self, data, WEFT_TRAIN, &one, 1, NULL, size, 1, stat);
        bits[i] = bits_of(&matrix, first);
    }
}

/* With room for the products of all rows by all types, by two of them, of a part of the
 * rows, of none. The bits of the first are also those of any number of ranks. */
static void check_kept(weft_data *data, const char *what)
{
    enum { ASKED = 24 };
    double cell = data->form == WEFT_BYTES ? 1 : sizeof(float);
    double features = N * (70. + 64), rows = cell * (N + VALID) * D;
    double product = 4. * 70 * N;
    double two = 2.2 * 4 * 70 * (N + VALID) / 0.75; /* beside random matrices */
    uint64_t all[ASKED], both[ASKED], some[ASKED], none[ASKED];
    ask_many(data, 1e9, ASKED, all);
    ask_many(data, (features + rows + two) / 0.9, ASKED, both);
    ask_many(data, (features + rows + 0.4 * product) / 0.9, ASKED, some);
    ask_many(data, 4.0 * WEFT_BLOCK * 70, ASKED, none);
    ok(memcmp(all, none, sizeof all) == 0,
       "%s: products that are kept give the same features", what);
    ok(memcmp(both, none, sizeof both) == 0, "%s: and so do those of two types", what);
    ok(memcmp(some, none, sizeof some) == 0, "%s: and so do those of some rows", what);
    for (int i = 0; i < ASKED; i++) digest(all[i]);
}

static void test_kept(void)
{
    weft_data data;
    make_data(&data, WEFT_BYTES);
    check_kept(&data, "bytes");
    make_steep(&data);
    check_kept(&data, "steep bytes");
    make_data(&data, WEFT_REALS);
    check_kept(&data, "reals");
}

static void test_nested(void)
{
    weft_data data;
    make_data(&data, WEFT_BYTES);
    int64_t first = data.part[WEFT_TRAIN].first;
    void *self = set_up(&data, "features=70", 1e9);
    real *stat = WEFT_NEW(mem, real, weft_feature_rff.nstat(self));
    const void *a = arm(self, LAPLACIAN, 0.02, STANDARD);
    weft_matrix matrix = matrix_of(self, &data, WEFT_TRAIN, &a, 1, NULL, 1, 1, stat);
    weft_matrix half = matrix_of(self, &data, WEFT_TRAIN, &a, 1, NULL, 0.5, 1, stat);
    const double *big = table_of(&matrix, NULL, first),
                 *small = table_of(&half, NULL, first);
    double scale = sqrt((double)matrix.d / (double)half.d);
    double worst = 0;
    for (int64_t k = 0; k < N * half.d; k++)
        worst =
            worse(worst, fabs(small[k] - scale * big[k / half.d * matrix.d + k % half.d]));
    is_near(worst, 0, 1e-6, "fewer features are the first of all");
}

static void test_refusals(void)
{
    weft_data data;
    make_data(&data, WEFT_BYTES);
    void *self = instance("features=1000000");
    weft_source rows = weft_data_source(&data);
    ok(weft_feature_rff.setup(self, &rows, 1e8, 2, 7, mem) == WEFT_ELIMIT,
       "memory too short is refused");
    rows.form = WEFT_TOKENS;
    ok(weft_feature_rff.setup(self, &rows, 1e12, 2, 7, mem) == WEFT_ECONF,
       "documents are refused");
}

MAIN(ranks, test_kernels, test_products, test_memory, test_long, test_wide, test_kept,
     test_nested, test_refusals)
