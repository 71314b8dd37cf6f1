/* Random matrices of rff against their distributions, far into the tails, and features
 * against the same matrix in double: the mean is the kernel for very small and large gamma
 * and for few inputs.
 * RUN: np=1 */
#include "weft/data/data.h"

#include "feature/rff.h"
#include "tap.h"

enum { ROWS = 12, SEED = 7 };

static const double pi = 3.14159265358979323846;

/* ---- distributions ---- */

/* Share of |z| above a cut; of Cauchy's, whose mean of any number is again Cauchy. */
static double above_cut(int family, double cut)
{
    return family == RFF_NORMAL ? erfc(cut / sqrt(2)) : atan(1 / cut) * 2 / pi;
}

/* Counts above cuts are binomial: within 4 deviations. */
static void check_tail(int family, double seen, double n, double cut, const char *what)
{
    double share = above_cut(family, cut);
    is_near(seen, n * share, 4 * sqrt(n * share * (1 - share)), "%s beyond %g: 1 in %.3g",
            what, cut, 1 / share);
}

static void test_distribution(int family)
{
    enum { CUTS = 8, INPUTS = 3072, COLUMNS = 16000 };
    static const double cuts[2][CUTS] = {{0.1, 0.3, 0.6745, 1, 1.5, 2, 3, 3.5},
                                         {0.01, 1, 10, 50, 1e2, 1e4, 1e5, 1e6}};
    const double *cut = cuts[family == RFF_CAUCHY];
    rff_shared shared = {.mem = mem, .seed = SEED, .columns = COLUMNS, .d = INPUTS};
    rff_tables(&shared);
    double entries[CUTS] = {0}, sums[CUTS] = {0}, positive = 0;
    float *z = WEFT_NEW(mem, float, INPUTS);
    for (int64_t j = 0; j < COLUMNS; j++) {
        rff_column(&shared, family, j, z);
        double sum = 0;
        for (int i = 0; i < INPUTS; i++) {
            double size = fabs((double)z[i]);
            sum += (double)z[i];
            positive += z[i] > 0;
            for (int k = 0; k < CUTS && size > cut[k]; k++) entries[k]++;
        }
        sum = fabs(sum) / (family == RFF_NORMAL ? sqrt(INPUTS) : INPUTS);
        for (int k = 0; k < CUTS && sum > cut[k]; k++) sums[k]++;
    }
    const char *name = family == RFF_NORMAL ? "normal" : "Cauchy";
    double n = (double)COLUMNS * INPUTS;
    is_near(positive, n / 2, 2 * sqrt(n), "half of the %s entries are positive", name);
    for (int k = 0; k < CUTS; k++) {
        check_tail(family, entries[k], n, cut[k], printed("%s entries", name));
        if (COLUMNS * above_cut(family, cut[k]) > 5)
            check_tail(family, sums[k], COLUMNS, cut[k],
                       printed("sums of a column of %s entries", name));
    }
}

/* ---- features ---- */

struct set {
    weft_data data;
    int d;
    double *x; /* [ROWS][d] 0..1 */
};

/* Rows whose neighbours are near. */
static struct set *make_set(int d, weft_form form)
{
    struct set *set = WEFT_NEW(mem, struct set, 1);
    uint8_t *bytes = WEFT_NEW(mem, uint8_t, ROWS * d);
    float *values = WEFT_NEW(mem, float, ROWS *d);
    set->d = d;
    set->x = WEFT_NEW(mem, double, ROWS *d);
    for (int e = 0; e < ROWS * d; e++) {
        double shade = 128 + 100 * sin(0.15 * (e / d) + 7 * uniform_of(5, (e % d), 0));
        bytes[e] = (uint8_t)shade;
        values[e] = (float)bytes[e] / 255;
        set->x[e] = bytes[e] / 255.0;
    }
    set->data =
        (weft_data){.form = form, .classes = 2, .path = "test", .mem = mem, .team = &world};
    set->data.part[WEFT_TRAIN] = (weft_rows){.total = ROWS,
                                             .n = ROWS,
                                             .d = d,
                                             .byte = form == WEFT_BYTES ? bytes : NULL,
                                             .value = form == WEFT_BYTES ? NULL : values};
    return set;
}

static struct rff *make_map(struct set *set, int kernel, double gamma, int preprocess,
                            int features)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    struct rff *rff = weft_arena_alloc(mem, 1, sizeof *rff);
    must(weft_conf_bind(&conf, &weft_feature_rff.kind, rff));
    rff->kernel = kernel;
    rff->gamma = gamma;
    rff->preprocess = preprocess;
    rff->features = features;
    weft_source rows = weft_data_source(&set->data);
    must(weft_feature_rff.setup(rff, &rows, 1e9, 2, SEED, mem));
    for (int i = 0; i < ROWS && preprocess == RFF_L2; i++) {
        double sum = 0;
        for (int k = 0; k < set->d; k++)
            sum += set->x[i * set->d + k] * set->x[i * set->d + k];
        for (int k = 0; k < set->d; k++) set->x[i * set->d + k] /= sqrt(sum);
    }
    return rff;
}

static weft_matrix matrix_of(struct rff *rff)
{
    const void *arm = rff;
    weft_request request = {
        .part = WEFT_TRAIN, .n = ROWS, .narm = 1, .arms = &arm, .size = 1, .seed = SEED};
    weft_matrix matrix;
    real *stat = WEFT_NEW(mem, real, weft_feature_rff.nstat(rff));
    weft_feature_rff.matrix(rff, &request, 1, stat, &matrix, mem);
    return matrix;
}

/* Largest difference of features from cosines of double products with the same matrix, in
 * steps of a byte. Entries of up to 32 meet bytes in units of 2. */
static void check_features(weft_form form, double gamma, int preprocess)
{
    enum { FEATURES = 3000, D = 300 };
    struct set *set = make_set(D, form);
    struct rff *rff = make_map(set, RFF_LAPLACIAN, gamma, preprocess, FEATURES);
    weft_matrix matrix = matrix_of(rff);
    const rff_matrix *m = matrix.self;
    float *z = WEFT_NEW(mem, float, D);
    double worst = 0;
    for (int64_t j = 0; j < FEATURES; j++) {
        rff_column(rff->shared, RFF_CAUCHY, j, z);
        for (int i = 0; i < ROWS; i++) {
            double phase = 0, size = 0;
            for (int k = 0; k < D; k++) {
                double rounded = fabsf(z[k]) > 32 || form == WEFT_REALS
                                     ? (double)z[k]
                                     : 2 * rint((double)z[k] / 2);
                phase += gamma * rounded * set->x[i * D + k];
                size += gamma * fabs(rounded * set->x[i * D + k]);
            }
            double exact = 127 * cos(phase + 2 * pi * (double)rff->shared->offset[j]);
            double gap = fabs(m->q[(size_t)i * m->ldq + j] - 128 - exact);
            worst = fmax(worst, gap - 127 * 1e-6 * size); /* sums in float */
        }
    }
    is_near(worst, 0, 0.501,
            "%s, gamma %g, preprocessing %d: features are cosines, rounded to bytes",
            form == WEFT_BYTES ? "bytes" : "reals", gamma, preprocess);
}

/* (f(x) - f(y))^2 is 1 - kernel on average over features, within 4 deviations of the mean.
 * Bytes of features add less than a quarter of a step squared; a Cauchy matrix of integers,
 * for 64 and more bytes, takes t^2/6 of every input's t = gamma |x - y|. */
static void check_mean(int d, weft_form form, int kernel, double gamma, int preprocess)
{
    enum { FEATURES = 100000 };
    size_t mark = weft_arena_mark(mem);
    struct set *set = make_set(d, form);
    weft_matrix matrix = matrix_of(make_map(set, kernel, gamma, preprocess, FEATURES));
    const rff_matrix *m = matrix.self;
    const int row[] = {1, 3, 11};
    for (int e = 0; e < 3; e++) {
        double distance = 0, sum = 0, square = 0, squares = 0;
        for (int k = 0; k < d; k++) {
            double gap = set->x[k] - set->x[row[e] * d + k];
            distance += kernel == RFF_LAPLACIAN ? fabs(gap) : gap * gap;
            squares += gamma * gamma * gap * gap;
        }
        for (int64_t j = 0; j < FEATURES; j++) {
            double gap = (m->q[j] - m->q[(size_t)row[e] * m->ldq + j]) / 127.0;
            sum += gap * gap / FEATURES;
            square += gap * gap * gap * gap / FEATURES;
        }
        double deviation = sqrt((square - sum * sum) / FEATURES);
        double exact = exp(-gamma * distance);
        double rounding = form == WEFT_BYTES && d >= 64 ? exact * squares / 6 : 0;
        is_near(1 - sum, exact, 4 * deviation + 0.25 / (127 * 127) + rounding,
                "%d %s, kernel %d, gamma %g, preprocessing %d: features give %.5f", d,
                form == WEFT_BYTES ? "bytes" : "reals", kernel, gamma, preprocess, 1 - sum);
    }
    weft_arena_reset(mem, mark);
}

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    test_distribution(RFF_NORMAL);
    test_distribution(RFF_CAUCHY);
    const weft_form forms[] = {WEFT_BYTES, WEFT_REALS};
    for (int e = 0; e < 2; e++) {
        for (int p = RFF_NONE; p <= RFF_L2; p += RFF_L2 - RFF_NONE)
            for (double gamma = 1e-4; gamma < 2; gamma *= 100)
                check_features(forms[e], gamma, p);
        for (double gamma = 1e-4; gamma < 2; gamma *= 10)
            check_mean(300, forms[e], RFF_LAPLACIAN, gamma, RFF_L2);
        for (int kernel = 0; kernel < 2; kernel++)
            for (double gamma = 0.5; gamma < 10; gamma *= 2)
                check_mean(2, forms[e], kernel, gamma, RFF_NONE);
    }
    return tap_end();
}
