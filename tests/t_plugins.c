/* Properties of every feature map and linear model of the registry: consistent products of
 * one matrix, fits that improve, the same bits on any number of ranks. Each runs with its
 * default options on small data of every form that it takes.
 * RUN: np=1 np=3 */
#include "weft/model/model.h"

#include "in_memory.h"

enum { N = 300, VALID = 90, D = 6, LENGTH = 12, WORDS = 60, CLASSES = 3 };

static double unit(int i, int k, int stream)
{
    return weft_rng_unit(
        weft_rng_at(9, WEFT_RNG_TEST, (uint64_t)i, (uint64_t)k, (uint64_t)stream).v[0]);
}

/* ---- data ---- */

static uint8_t byte[N + VALID][D];
static float number[N + VALID][D];
static uint32_t word[N + VALID][LENGTH];
static int64_t offset[N + 1];
static int32_t label[N + VALID];

/* Rows and documents that tell their class, but not quite. */
static void make_samples(int classes)
{
    for (int i = 0; i < N + VALID; i++) {
        label[i] = (int32_t)(unit(i, 0, 0) * classes);
        for (int k = 0; k < D; k++) {
            byte[i][k] = (uint8_t)(100 * unit(i, k, 1) + (k % classes == label[i]) * 90);
            number[i][k] = (float)byte[i][k] / 64;
        }
        for (int k = 0; k < LENGTH; k++) {
            int w = (int)(unit(i, k, 2) * WORDS);
            word[i][k] = (uint32_t)(k % 3 == 0 ? w / classes * classes + label[i] : w);
        }
    }
    for (int i = 0; i <= N; i++) offset[i] = (int64_t)i * LENGTH;
}

static void make_words(weft_data *data)
{
    uint64_t *hash = WEFT_NEW(mem, uint64_t, WORDS + CLASSES);
    uint8_t *stop = WEFT_NEW(mem, uint8_t, WORDS + CLASSES);
    for (int i = 0; i < WORDS + CLASSES; i++) {
        const char *text = printed("word%d", i);
        hash[i] = weft_hash(text, strlen(text), 0);
    }
    for (int k = 0; k < WEFT_NTOK; k++)
        data->vocab[k] =
            (weft_vocab){.n = WORDS + CLASSES, .hash = hash, .lower = hash, .stop = stop};
}

static weft_data make_data(weft_form form, int classes)
{
    make_samples(classes);
    weft_data data = data_of(form, classes);
    make_words(&data);
    for (int p = 0; p < 2; p++) {
        weft_rows *rows = deal_rows(&data, p, p ? VALID : N, form == WEFT_TOKENS ? 0 : D);
        int64_t at = p * N + rows->first;
        rows->label = label + at;
        rows->byte = form == WEFT_BYTES ? byte[at] : NULL;
        rows->value = form == WEFT_REALS ? number[at] : NULL;
        for (int k = 0; k < WEFT_NTOK && form == WEFT_TOKENS; k++) {
            rows->offset[k] = offset;
            rows->end[k] = offset + 1;
            rows->token[k] = word[at];
        }
    }
    return data;
}

static void *bound(const weft_kind *kind, const char *options)
{
    return bound_with(kind, options, '\n');
}

/* ---- feature maps ---- */

struct made {
    const weft_feature *feature;
    weft_data *data;
    void *self;
    real *stat;
};

/* The matrix of a part, every row by one of two arms that are alike. */
static weft_matrix matrix_of(const struct made *made, weft_part part, double size, int arms)
{
    int64_t n = made->data->part[part].n;
    int *which = WEFT_NEW(mem, int, n);
    for (int64_t i = 0; i < n; i++) which[i] = (int)(i % arms);
    const void *arm[2] = {made->self, made->self};
    const int64_t id[2] = {4, 4};
    weft_request request = {.part = part,
                            .n = n,
                            .arm = arms > 1 ? which : NULL,
                            .narm = arms,
                            .arms = arm,
                            .id = id,
                            .size = size,
                            .seed = 7};
    weft_matrix matrix;
    made->feature->matrix(made->self, &request, part == WEFT_TRAIN, made->stat, &matrix,
                          mem);
    return matrix;
}

/* c vectors of n numbers, those of all ranks being one sequence. */
static real *vectors(int c, int64_t n, int64_t first, int stream)
{
    real *x = WEFT_NEW(mem, real, c * n);
    for (int j = 0; j < c; j++)
        for (int64_t i = 0; i < n; i++)
            x[j * n + i] = (real)(unit((int)(first + i), j, stream) - 0.5);
    return x;
}

static double inner(int64_t n, const real *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)a[i] * b[i];
    return sum;
}

static void check_products(const weft_matrix *matrix, int64_t first, const char *what)
{
    enum { COLUMNS = 2 };
    size_t cells = (size_t)(COLUMNS * matrix->d);
    const real *w = vectors(COLUMNS, matrix->d, 0, 3),
               *h = vectors(COLUMNS, matrix->n, first, 5);
    real *z = WEFT_NEW(mem, real, COLUMNS * matrix->n);
    double *g = WEFT_NEW(mem, double, cells), *both = WEFT_NEW(mem, double, cells);
    matrix->times(matrix, COLUMNS, w, z);
    matrix->trans(matrix, COLUMNS, h, g);
    double sum[2] = {0}, size = 0;
    for (int64_t i = 0; i < COLUMNS * matrix->n; i++) sum[0] += (double)h[i] * (double)z[i];
    weft_sum_f64(&world, sum, 1, 1e6);
    sum[1] = inner((int64_t)cells, w, g);
    for (size_t i = 0; i < cells; i++) size += fabs((double)w[i] * g[i]);
    is_near(sum[0], sum[1], 1e-5 * size, "%s: <h, F w> is <F^T h, w>", what);

    for (int64_t i = 0; i < COLUMNS * matrix->n; i++) z[i] *= h[i];
    matrix->trans(matrix, COLUMNS, z, g);
    matrix->normal(matrix, COLUMNS, w, h, 0, both);
    double worst = 0, most = 0;
    for (size_t i = 0; i < cells; i++) {
        worst = worse(worst, fabs(g[i] - both[i]));
        most = worse(most, fabs(g[i]));
    }
    is_near(worst, 0, 1e-4 * most, "%s: normal is times and trans", what);
    digest(weft_hash(both, cells * sizeof *both, 0));
}

static void check_feature(const struct made *made, const char *what)
{
    const weft_feature *feature = made->feature;
    int64_t d = feature->columns(made->self, 1), half = feature->columns(made->self, 0.5);
    ok(1 <= half && half <= d, "%s: half of the features is not more than all", what);
    for (int part = WEFT_TRAIN; part <= WEFT_VALID; part++) {
        const weft_rows *rows = &made->data->part[part];
        weft_matrix matrix = matrix_of(made, (weft_part)part, 1, 1);
        weft_matrix g = matrix_of(made, (weft_part)part, 1, 2);
        weft_matrix s = matrix_of(made, (weft_part)part, 0.5, 1);
        ok(matrix.n == rows->n && matrix.total == rows->total && matrix.d == d &&
               s.d == half,
           "%s: the sizes of part %d", what, part);
        const real *w = vectors(1, d, 0, 5);
        real *a = WEFT_NEW(mem, real, matrix.n), *b = WEFT_NEW(mem, real, matrix.n);
        matrix.times(&matrix, 1, w, a);
        g.times(&g, 1, w, b);
        ok(memcmp(a, b, (size_t)matrix.n * sizeof *a) == 0,
           "%s: rows of two maps that are alike are the rows of one", what);
        ok(matrix.trans || part != WEFT_TRAIN, "%s: rows of training have all products",
           what);
        if (matrix.trans) check_products(&matrix, rows->first, what);
    }
    double flops, bytes, entries;
    feature->estimate(made->self, made->self, N, 1, &flops, &bytes, &entries);
    ok(flops > 0 && bytes > 0 && entries > 0, "%s: a plan can be made", what);
}

/* ---- models ---- */

struct score {
    double loss, wrong;
};

/* Means over the training samples. */
static struct score score_of(const weft_model *model, const void *self,
                             const weft_matrix *matrix, const struct made *made,
                             const real *w)
{
    int classes = made->data->classes, outputs = model->outputs(classes);
    double most = model->bound(self, classes);
    real *z = WEFT_NEW(mem, real, outputs * matrix->n);
    matrix->times(matrix, outputs, w, z);
    double sum[2] = {0};
    int fair = 1;
    for (int64_t i = 0; i < matrix->n; i++) {
        double s[CLASSES];
        for (int j = 0; j < outputs; j++)
            s[j] = (double)z[j * matrix->n + i] + (double)w[outputs * matrix->d + j];
        int wrong = -1;
        double loss =
            model->loss(self, classes, s, made->data->part[WEFT_TRAIN].label[i], &wrong);
        fair &= loss >= 0 && (wrong == 0 || wrong == 1);
        sum[0] += loss < most ? loss : most;
        sum[1] += wrong;
    }
    weft_sum_f64(&world, sum, 2, most * N);
    ok(fair, "%s: losses are not negative, answers right or wrong", model->kind.name);
    return (struct score){sum[0] / N, sum[1] / N};
}

/* Returns the share of training samples that are wrong after the fit. */
static double check_model(const weft_model *model, const struct made *made, const char *on)
{
    const char *what = printed("%s on %s", model->kind.name, on);
    int classes = made->data->classes, outputs = model->outputs(classes);
    void *self = bound(&model->kind, "");
    weft_matrix matrix = matrix_of(made, WEFT_TRAIN, 1, 1);
    int64_t n = outputs * (matrix.d + 1);
    real *w = WEFT_NEW(mem, real, n), *loose = WEFT_NEW(mem, real, n);
    struct score before = score_of(model, self, &matrix, made, w);
    weft_fitted fit = {0}, early = {0};
    weft_answers answers = {.classes = classes,
                            .label = made->data->part[WEFT_TRAIN].label};
    model->fit(self, &matrix, &answers, 1, w, &fit, mem);
    struct score after = score_of(model, self, &matrix, made, w);
    ok(!fit.diverged && isfinite(fit.objective) && fit.iterations > 0 &&
           fit.residual >= 0 && fit.residual < 0.1,
       "%s: the fit ends, residual %.1e", what, fit.residual);
    ok(after.loss < before.loss,
       "%s: the loss falls, %.0f %% of the training samples wrong", what,
       100 * after.wrong);
    model->fit(self, &matrix, &answers, 10, loose, &early, mem);
    ok(!early.diverged && early.iterations <= fit.iterations,
       "%s: ten times the tolerance takes no more iterations", what);
    digest(weft_hash(w, (size_t)n * sizeof *w, 0));
    return after.wrong;
}

/* ---- all of the registry ---- */

/* least[model]: the smallest share of wrong answers so far. */
static void test_feature(const weft_feature *feature, double *least)
{
    static const char *const name[] = {
        [WEFT_BYTES] = "bytes", [WEFT_REALS] = "reals", [WEFT_TOKENS] = "documents"};
    static const weft_form form[] = {WEFT_BYTES, WEFT_REALS, WEFT_TOKENS};
    int taken = 0;
    for (int e = 0; e < 3; e++)
        for (int classes = 2; classes <= CLASSES; classes++) {
            size_t mark = weft_arena_mark(mem);
            weft_data data = make_data(form[e], classes);
            struct made made = {.feature = feature, .data = &data};
            made.self = bound(&feature->kind, "");
            weft_source rows = weft_data_source(&data);
            weft_status st = feature->setup(made.self, &rows, 1e9, 2, 7, mem);
            const char *what =
                printed("%s of %s, %d classes", feature->kind.name, name[form[e]], classes);
            if (st != WEFT_OK) {
                ok(says(data.path), "%s: refused, naming the data", what);
                weft_arena_reset(mem, mark);
                continue;
            }
            taken++;
            made.stat = WEFT_NEW(mem, real, feature->nstat(made.self));
            check_feature(&made, what);
            for (int k = 0; weft_models[k]; k++)
                least[k] = fmin(least[k], check_model(weft_models[k], &made, what));
            weft_arena_reset(mem, mark);
        }
    ok(taken > 0, "%s takes data of some form", feature->kind.name);
}

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    enum { MOST = 32 };
    double least[MOST];
    for (int k = 0; k < MOST; k++) least[k] = 1;
    for (int i = 0; weft_features[i]; i++) test_feature(weft_features[i], least);
    for (int k = 0; weft_models[k]; k++)
        ok(least[k] < 0.05, "%s learns: %.1f %% wrong at best", weft_models[k]->kind.name,
           100 * least[k]);
    return tap_end();
}
