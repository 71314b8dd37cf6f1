/* Loops over small models in vector lanes have the bits of those over a single model:
 * products, steps, sums, blends and softmax of every kernel table.
 * RUN: np=1 */
#include "vector_lanes.h"

#include "math/kernel.h"
#include "weft/math/linear.h"

static real fused(real a, real b, real c)
{
#ifdef WEFT_DOUBLE
    return fma(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}

static int products_are_right(const weft_kernel *kernel)
{
    enum { ROWS = 11, M = 13, K = 70 };
    int lanes = kernel->lanes;
    const real *a = randoms(1, ROWS * K * lanes), *b = randoms(2, M * K * lanes);
    int good = 1;
    for (int add = -1; add <= 1; add++)
        for (int k = 1; k <= K; k += 23) {
            real *c = randoms(3, ROWS * M * lanes), *was = randoms(3, ROWS * M * lanes);
            weft_lanes_product product = {.n = ROWS,
                                          .m = M,
                                          .k = k,
                                          .a = a,
                                          .a_row = K,
                                          .a_k = 1,
                                          .b = b,
                                          .b_column = 1,
                                          .b_k = M,
                                          .add = add,
                                          .c = c,
                                          .ldc = M};
            kernel->lanes_times(&product);
            for (int i = 0; i < ROWS * M * lanes; i++) {
                int l = i % lanes, row = i / lanes / M, column = i / lanes % M;
                real sum = 0;
                for (int e = 0; e < k; e++)
                    sum = fused(a[(row * K + e) * lanes + l],
                                b[(e * M + column) * lanes + l], sum);
                real want = add == 1 ? was[i] + sum : add == 0 ? sum : 0 + sum;
                good &= same(&want, &c[i], 1);
            }
        }
    return good;
}

static int rows_are_turned(const weft_kernel *kernel)
{
    enum { COLUMNS = 37 };
    int lanes = kernel->lanes;
    float x[MAX_L][COLUMNS];
    const float *row[MAX_L];
    real *to = randoms(4, COLUMNS * lanes);
    for (int l = 0; l < lanes; l++) {
        row[l] = l % 5 == 3 ? NULL : x[l];
        for (int j = 0; j < COLUMNS; j++)
            x[l][j] = (float)random_at(5, (uint64_t)(l * 64 + j));
    }
    kernel->lanes_load(COLUMNS, row, to);
    int good = 1;
    for (int i = 0; i < COLUMNS * lanes; i++) {
        real want = row[i % lanes] ? (real)row[i % lanes][i / lanes] : 0;
        good &= same(&want, &to[i], 1);
    }
    return good;
}

/* Rows of weights become lanes, and lanes rows. */
static int weights_are_turned(const weft_kernel *kernel)
{
    enum { COLUMNS = 37 };
    int lanes = kernel->lanes;
    const real *x = randoms(8, COLUMNS * lanes), *row[MAX_L];
    real *beside = WEFT_NEW(mem, real, COLUMNS * lanes), *to[MAX_L];
    real *back = WEFT_NEW(mem, real, COLUMNS * lanes);
    for (int l = 0; l < lanes; l++) {
        row[l] = x + l * COLUMNS;
        to[l] = back + l * COLUMNS;
    }
    kernel->lanes_gather(COLUMNS, row, beside);
    kernel->lanes_scatter(COLUMNS, beside, to);
    int good = same(x, back, COLUMNS * lanes);
    for (int i = 0; i < COLUMNS * lanes; i++)
        good &= same(&row[i % lanes][i / lanes], &beside[i], 1);
    return good;
}

enum { N = 2085, SCALE = 30 }; /* more than two pieces, and a rest */

/* Models in lanes, and each of them alone. */
struct models {
    const weft_kernel *kernel;
    int lanes;
    weft_sgd s[MAX_L];
    const real *anchor;       /* [N][lanes] */
    const real *drift;        /* [N][lanes] */
    real *w, *velocity;       /* [N][lanes] */
    real *own, *own_velocity; /* [lanes][N] */
    real *g, *from;           /* [N] of one lane */
};

static struct models models_new(const weft_kernel *kernel, int clip)
{
    int lanes = kernel->lanes;
    struct models models = {
        .kernel = kernel, .lanes = lanes, .anchor = randoms(6, N * lanes)};
    models.drift = randoms(7, N * lanes);
    real **array[] = {&models.w, &models.velocity, &models.own, &models.own_velocity,
                      &models.g, &models.from};
    for (int i = 0; i < 6; i++) *array[i] = WEFT_NEW(mem, real, N * lanes);
    for (int l = 0; l < lanes; l++) {
        models.s[l] = options_of(l, clip);
        lane_of(models.anchor, N, lanes, l, models.own + l * N);
    }
    return models;
}

/* Step t, which lanes l = t mod 4 leave out, but for the first. */
static int step_is_right(struct models *models, int t)
{
    uint64_t key = (uint64_t)(10 + t);
    const real *g = randoms(key, N * models->lanes);
    real *changed = randoms(key, N * models->lanes);
    int live[MAX_L], sound[MAX_L], good = 1;
    for (int l = 0; l < models->lanes; l++) {
        live[l] = t == 0 || l % 4 != t;
        sound[l] = 1;
    }
    weft_lanes_move move = {.sgd = models->s,
                            .live = live,
                            .first = t == 0,
                            .w = models->w,
                            .velocity = models->velocity,
                            .start = models->anchor,
                            .anchor = models->anchor,
                            .drift = t == 2 ? models->drift : NULL,
                            .sound = sound};
    models->kernel->lanes_step(&move, N, changed);
    for (int l = 0; l < models->lanes; l++) {
        if (!live[l]) continue;
        lane_of(models->drift, N, models->lanes, l, models->from);
        lane_of(g, N, models->lanes, l, models->g);
        for (int64_t i = 0; t == 2 && i < N; i++) models->g[i] += models->from[i];
        lane_of(models->anchor, N, models->lanes, l, models->from);
        good &= sound[l] == weft_sgd_step(&models->s[l], N, t == 0, models->own + l * N,
                                          models->g, models->own_velocity + l * N,
                                          models->from);
    }
    for (int l = 0; l < models->lanes; l++) {
        lane_of(models->w, N, models->lanes, l, models->g);
        good &= same(models->g, models->own + l * N, N);
    }
    return good;
}

static int sums_are_right(struct models *models)
{
    real weight[MAX_L];
    double most[MAX_L], *sum = WEFT_NEW(mem, double, N), *want = WEFT_NEW(mem, double, N);
    int within[MAX_L], use[MAX_L], good = 1;
    for (int l = 0; l < models->lanes; l++) {
        weight[l] = (real)(l + 3);
        use[l] = l % 4 != 1;
        most[l] = l == 2 ? 0.001 : 1e5;
    }
    models->kernel->lanes_within(N, models->w, models->anchor, most, within);
    models->kernel->lanes_add(N, models->w, models->anchor, weight, use, SCALE, sum);
    for (int l = 0; l < models->lanes; l++) {
        lane_of(models->anchor, N, models->lanes, l, models->from);
        for (int i = 0; i < N; i++)
            models->g[i] = (models->own[l * N + i] - models->from[i]) * weight[l];
        if (use[l]) weft_exact_add(N, models->g, SCALE, want);
        good &= within[l] == (l != 2);
    }
    return good && memcmp(sum, want, N * sizeof *sum) == 0;
}

/* Blends of two models, and slopes of the loss between them, which are sums in order. */
static int blends_are_right(const weft_kernel *kernel)
{
    int lanes = kernel->lanes, good = 1;
    const real *own = randoms(30, N * lanes), *w = randoms(31, N * lanes),
               *g = randoms(32, N * lanes), *share = randoms(33, lanes);
    real *at = WEFT_NEW(mem, real, N * lanes);
    double slope[MAX_L], want[MAX_L] = {0};
    kernel->lanes_blend(N, share, own, w, at);
    kernel->lanes_slope(N, own, w, g, slope);
    for (int i = 0; i < N * lanes; i++) {
        real blend = share[i % lanes] * own[i] + (1 - share[i % lanes]) * w[i];
        good &= same(&blend, &at[i], 1);
        want[i % lanes] += ((double)own[i] - (double)w[i]) * (double)g[i];
    }
    return good && memcmp(slope, want, (size_t)lanes * sizeof *slope) == 0;
}

static int steps_are_right(const weft_kernel *kernel, int clip)
{
    struct models models = models_new(kernel, clip);
    int good = 1;
    for (int t = 0; t < 4; t++) good &= step_is_right(&models, t);
    return good && sums_are_right(&models);
}

/* Softmax of a sample in each lane beside that of the lane alone, and beside the formula in
 * higher precision; some logits are far apart, not finite or equal, and some lanes have no
 * sample. */
static int softmax_is_right(const weft_kernel *kernel, int c)
{
    int lanes = kernel->lanes, good = 1, wrong[MAX_L];
    real *z = randoms(20, c * lanes), *dz = WEFT_NEW(mem, real, c * lanes);
    real *own = WEFT_NEW(mem, real, c);
    double share[MAX_L], loss[MAX_L];
    int32_t label[MAX_L];
    for (int l = 0; l < lanes; l++) {
        label[l] = (int32_t)(7 * l % c);
        share[l] = l % 4 == 3 ? 0 : 1.0 / (1 + l);
        for (int j = 0; j < c; j++) z[j * lanes + l] *= (real)(l % 5 == 1 ? 500 : 5);
    }
    if (lanes > 2) z[(c - 1) * lanes + 2] = NAN;
    if (lanes > 4) z[(c / 2) * lanes + 4] = INFINITY;
    if (lanes > 5) z[5] = z[(c - 1) * lanes + 5] = 9;
    kernel->lanes_softmax(c, z, label, share, dz, loss, wrong);
    for (int l = 0; l < lanes; l++) {
        lane_of(z, c, lanes, l, own);
        int best = 0;
        for (int j = 1; j < c; j++) best = own[j] > own[best] ? j : best;
        double top = (double)own[best], mine = (double)own[label[l]], sum;
        long double all = 0;
        for (int j = 0; j < c; j++) all += expl((long double)own[j] - (long double)top);
        double log_sum = kernel->softmax_terms(c, own, top, own, &sum),
               want = log_sum + top - mine;
        good &=
            memcmp(&want, &loss[l], sizeof want) == 0 || (isnan(want) && isnan(loss[l]));
        good &= isnan(want) ? all != all : fabsl(logl(all) - (long double)log_sum) < 1e-15L;
        good &= wrong[l] == (best != label[l] || isnan(want));
        for (int j = 0; j < c; j++) {
            real d = own[j] * (real)(share[l] / sum);
            if (j == label[l]) d -= (real)share[l];
            if (!(share[l] > 0)) d = 0;
            good &=
                same(&d, &dz[j * lanes + l], 1) || (isnan(d) && isnan(dz[j * lanes + l]));
        }
    }
    return good;
}

/* Softmax of many classes beside the formula in higher precision, and beside the plain
 * loops to the bit; classes far below the top, equal ones, and NaN. */
static int many_is_right(const weft_kernel *kernel, int c, int spread)
{
    const double near = sizeof(real) == sizeof(double) ? 1e-14 : 5e-7;
    real *z = randoms(30, c), *e = WEFT_NEW(mem, real, c), *plain = WEFT_NEW(mem, real, c);
    double top, sum, plain_top, plain_sum, most = -INFINITY;
    long double all = 0;
    int good = 1;
    for (int j = 0; j < c; j++) z[j] *= (real)spread;
    if (spread == 500) z[c - 1] = z[c / 2];
    if (spread == 7) z[c / 3] = NAN;
    for (int j = 0; j < c; j++) most = fmax(most, (double)z[j]);
    for (int j = 0; j < c; j++) all += expl((long double)z[j] - (long double)most);
    double log_sum = kernel->softmax_many(c, z, e, &top, &sum);
    double want = weft_kernel_plain.softmax_many(c, z, plain, &plain_top, &plain_sum);
    if (all != all) return log_sum != log_sum && sum != sum && want != want;
    for (int j = 0; j < c; j++) {
        double exact = exp((double)z[j] - top);
        good &=
            fabs((double)e[j] - exact) <= near * exact * (1 + most - (double)z[j]) + 2e-38;
    }
    good &= top == most && fabsl(logl(all) - (long double)log_sum) < near;
    good &= same(plain, e, c) && log_sum == want && sum == plain_sum && top == plain_top;
    good &= kernel->softmax_many(c, z, NULL, &top, &sum) == want;
    return good & (kernel->softmax_many(c, z, z, &top, &sum) == want) & same(z, plain, c);
}

static void test_loops(void)
{
    const weft_kernel *const table[] = {WEFT_KERNELS};
    for (size_t i = 0; i < LEN(table); i++) {
        size_t mark = weft_arena_mark(mem);
        if (!table[i]->works()) {
            skip(8, "this CPU has no such loops");
            continue;
        }
        ok(products_are_right(table[i]), "%s: products", table[i]->name);
        ok(rows_are_turned(table[i]), "%s: rows into lanes", table[i]->name);
        ok(weights_are_turned(table[i]), "%s: weights, and back", table[i]->name);
        for (int clip = 0; clip < 2; clip++)
            ok(steps_are_right(table[i], clip), "%s: steps, changes and sums%s",
               table[i]->name, clip ? " with clipped gradients" : "");
        ok(blends_are_right(table[i]), "%s: blends and their slopes", table[i]->name);
        int good = 1;
        for (int c = 1; c < 40; c++) good &= softmax_is_right(table[i], c);
        ok(good, "%s: softmax of 1 to 39 classes", table[i]->name);
        good = 1;
        for (int c = 1; c < 100; c++)
            good &= many_is_right(table[i], c, 1) & many_is_right(table[i], c, 500) &
                    many_is_right(table[i], c, 7);
        ok(good, "%s: softmax of many classes, 1 to 99", table[i]->name);
        weft_arena_reset(mem, mark);
    }
}

MAIN(scratch, test_loops)
