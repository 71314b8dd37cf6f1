/* Small models computed together in vector lanes have the bits of models computed alone:
 * products, steps and sums of every kernel table, gradients and scores of networks, rounds
 * and evaluations of unequal clients under mixtures of all options.
 * RUN: np=1 np=2 np=3 */
#include "toy.h"

#include "math/kernel.h"
#include "task/fed/cohort.h"
#include "task/fed/lanes.h"
#include "task/fed/local.h"
#include "task/fed/round.h"
#include "task/fed/turns.h"
#include "weft/exact.h"
#include "weft/hash.h"

enum { MAX_L = WEFT_MAX_LANES };

static real random_at(uint64_t i, uint64_t j)
{
    return (real)(2 * weft_rng_unit(weft_rng_at(9, WEFT_RNG_TEST, i, j, 0).v[0]) - 1);
}

static real *randoms(uint64_t key, int64_t n)
{
    real *x = WEFT_NEW(mem, real, n);
    for (int64_t i = 0; i < n; i++) x[i] = random_at(key, (uint64_t)i);
    return x;
}

static int same(const real *a, const real *b, int64_t n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* ---- loops ---- */

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

static weft_sgd options_of(int l, int clip)
{
    return (weft_sgd){.lr = 0.1 * (l + 1),
                      .momentum = l % 3 == 1 ? 0.9 : 0,
                      .weight_decay = l % 4 == 2 ? 0.01 : 0,
                      .mu = l % 2 ? 0.3 : 0,
                      .clip = clip && l % 3 ? 5.0 * (l + 1) : 0};
}

static void lane_of(const real *x, int64_t n, int lanes, int l, real *to)
{
    for (int64_t i = 0; i < n; i++) to[i] = x[i * lanes + l];
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
        double log_sum = kernel->softmax(c, own, top, own, &sum),
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

static void test_loops(void)
{
    const weft_kernel *const table[] = {
        &weft_kernel_plain,
#if defined(__x86_64__)
        &weft_kernel_avx2,
        &weft_kernel_avx512
#endif
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t mark = weft_arena_mark(mem);
        if (!table[i]->works()) {
            skip(7, "this CPU has no such loops");
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
        weft_arena_reset(mem, mark);
    }
}

/* ---- networks ---- */

enum { INPUTS = 41, CLASSES = 19 };

/* Batches of 0 to `most` rows, one a lane. */
static weft_lane_batch batches(int most)
{
    int lanes = weft_lanes();
    const float **x = WEFT_NEW(mem, const float *, most *lanes);
    int32_t *label = WEFT_NEW(mem, int32_t, most * lanes);
    int *count = WEFT_NEW(mem, int, lanes);
    for (int l = 0; l < lanes; l++) {
        count[l] = l == 0 ? most : l * 7 % (most + 1);
        for (int i = 0; i < count[l]; i++) {
            float *row = WEFT_NEW(mem, float, INPUTS);
            for (int j = 0; j < INPUTS; j++)
                row[j] = (float)random_at(21, (uint64_t)((l * most + i) * INPUTS + j));
            x[i * lanes + l] = row;
            label[i * lanes + l] = (l + i) % CLASSES;
        }
    }
    return (weft_lane_batch){.n = most, .count = count, .x = x, .label = label};
}

/* The batch of one lane. */
static weft_batch alone(const weft_lane_batch *batch, int l)
{
    int lanes = weft_lanes();
    const float **row = WEFT_NEW(mem, const float *, batch->n);
    int32_t *label = WEFT_NEW(mem, int32_t, batch->n);
    for (int i = 0; i < batch->count[l]; i++) {
        row[i] = batch->x[i * lanes + l];
        label[i] = batch->label[i * lanes + l];
    }
    return (weft_batch){.n = batch->count[l], .x = row, .label = label};
}

static void *net_new(const char *name, const char *options, const weft_net **net)
{
    weft_shape shape = {.form = WEFT_REALS, .d = INPUTS, .classes = CLASSES};
    weft_conf *conf = WEFT_NEW(mem, weft_conf, 1);
    weft_conf_init(conf, mem);
    weft_check(weft_net_find(name, net) == WEFT_OK &&
                   weft_conf_text(conf, "test", options) == WEFT_OK,
               "%s", weft_error());
    void *self = weft_arena_alloc(mem, 1, (*net)->kind.size);
    weft_check(weft_conf_bind(conf, &(*net)->kind, self) == WEFT_OK &&
                   (*net)->setup(self, &shape) == WEFT_OK,
               "%s", weft_error());
    return self;
}

/* A step while the gradient is computed beside one by the whole gradient; lane 1 begins
 * with a weight that is infinite. */
static int moves_are_right(const weft_net *net, const void *self, void *work,
                           const weft_lane_batch *batch, int first)
{
    int lanes = weft_lanes(), sound[2][MAX_L];
    int64_t n = net->nweight(self);
    weft_sgd sgd[MAX_L];
    weft_score sum[MAX_L] = {{0}};
    real *w[2], *velocity[2], *g = WEFT_NEW(mem, real, n * lanes);
    real *start = randoms(22, n * lanes), *anchor = randoms(25, n * lanes),
         *drift = randoms(26, n * lanes);
    start[1] = INFINITY;
    for (int l = 0; l < lanes; l++) {
        sgd[l] = options_of(l, 0);
        sound[0][l] = sound[1][l] = 1;
    }
    for (int i = 0; i < 2; i++) {
        w[i] = randoms(23, n * lanes);
        w[i][1] = INFINITY;
        velocity[i] = randoms(24, n * lanes);
        weft_lanes_move move = {sgd,   batch->count, first, w[i],    velocity[i],
                                start, anchor,       drift, sound[i]};
        net->lanes_grad(self, work, first ? start : w[i], batch, g, i ? &move : NULL, sum);
        if (i == 0) weft_lanes_step(&move, n, g);
        for (int64_t e = 1; e < n * lanes; e += lanes) w[i][e] = velocity[i][e] = 0;
    }
    if (sound[0][0] != 1 || sound[0][1] != (batch->count[1] == 0)) return 0;
    return same(w[0], w[1], n * lanes) && same(velocity[0], velocity[1], n * lanes) &&
           memcmp(sound[0], sound[1], (size_t)lanes * sizeof(int)) == 0;
}

static void test_net(const char *name, const char *options, int most)
{
    int lanes = weft_lanes();
    const weft_net *net;
    void *self = net_new(name, options, &net);
    int64_t n = net->nweight(self);
    void *work = net->work(self, most, mem), *beside = net->lanes_work(self, most, mem);
    weft_lane_batch batch = batches(most);
    const real *w = randoms(20, n * lanes);
    real *g = WEFT_NEW(mem, real, n * lanes), *one[3];
    weft_score score[MAX_L] = {{0}};
    int good = 1;
    for (int i = 0; i < 3; i++) one[i] = WEFT_NEW(mem, real, n);
    net->lanes_grad(self, beside, w, &batch, g, NULL, score);
    net->lanes_score(self, beside, w, &batch, score);
    for (int l = 0; l < lanes; l++) {
        weft_batch own = alone(&batch, l);
        weft_score sum = {0};
        if (own.n == 0) continue;
        lane_of(w, n, lanes, l, one[0]);
        lane_of(g, n, lanes, l, one[1]);
        net->grad(self, work, one[0], &own, 0, 0, one[2], &sum);
        net->score(self, work, one[0], &own, &sum);
        good &= same(one[1], one[2], n) && memcmp(&sum, &score[l], sizeof sum) == 0;
    }
    ok(good, "%s: gradients and scores of batches of up to %d", name, most);
    good = moves_are_right(net, self, beside, &batch, 1);
    ok(good && moves_are_right(net, self, beside, &batch, 0), "%s: and steps", name);
}

/* ---- rounds ---- */

static struct stand *trained_so(struct toy *toy, const char *options, int k, int rounds,
                                int one)
{
    struct stand *stand = WEFT_NEW(mem, struct stand, 1);
    weft_check(stand_up(stand, toy, options, k) == WEFT_OK, "%s", weft_error());
    fed_task *own = stand->self;
    weft_check(own->work.lanes != NULL, "no lanes");
    if (one) own->work.lanes = NULL;
    units(stand, rounds, 0, rounds);
    return stand;
}

/* 40 clients of 0 to 39 training samples. */
static struct toy *unequal(void)
{
    int64_t count[40][WEFT_NPART];
    for (int c = 0; c < 40; c++) {
        count[c][WEFT_TRAIN] = c % 13 == 5 ? 0 : 3 + 5 * c % 37;
        count[c][WEFT_VALID] = c % 11 == 3 ? 0 : 1 + 7 * c % 26;
        count[c][WEFT_TEST] = 1 + c % 4;
    }
    return toy_new(40, count);
}

static void test_rounds(const char *what, const char *options, int k)
{
    struct toy *toy = unequal();
    const struct stand *stand[2];
    for (int one = 0; one < 2; one++) stand[one] = trained_so(toy, options, k, 4, one);
    ok(same(stand[0]->state.x, stand[1]->state.x, stand[0]->state.nx),
       "%s: the same weights", what);
    ok(memcmp(stand[0]->state.aux, stand[1]->state.aux, WEFT_KEPT_MARK * sizeof(double)) ==
           0,
       "%s: the same kept", what);
    ok(memcmp(stand[0]->row, stand[1]->row, 4 * sizeof stand[0]->row[0]) == 0,
       "%s: the same record", what);
    digest(weft_hash(stand[0]->state.x, (size_t)stand[0]->state.nx * sizeof(real), 0));
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_loops();
    test_net("linear", "", 7);
    test_net("linear", "", 64);
    test_net("mlp", "[mlp]\nhidden = 33\n", 10);
    test_net("mlp", "[mlp]\nhidden = 21,35\n", 25);
    test_rounds("plain FedAvg", "[fed]\ncohort = 20\n[client]\nlr = 0.3\nbatch = 4\n", 1);
    test_rounds("every option",
                "[fed]\ncohort = 40\nscore_both = yes\nmax_valid = 17\neval_clients = 0\n"
                "eval_every = 2\n[client]\nlr = 0.01 .. 0.5\nmomentum = 0 .. 0.9\n"
                "mu = 0 .. 1\nweight_decay = 0 .. 0.1\nclip = 0 .. 3\nbatch = 1 .. 9\n"
                "epochs = 1 .. 4\n",
                7);
    test_rounds("a perceptron, of which some lanes diverge and some drop units",
                "[fed]\nmodel = mlp\ncohort = 30\n[mlp]\nhidden = 20,6\n"
                "[client]\nlr = log 0.1 .. 1e6\ndropout = 0 | 0.3\nbatch = 3\n"
                "max_samples = 11\nepochs = 2\nmax_change = 3\n",
                6);
    static const char *const algorithm[] = {"scaffold", "feddyn", "fednova",
                                            "ditto",    "local",  "fedper",
                                            "fedrep",   "apfl",   "cpg"};
    for (size_t i = 0; i < sizeof algorithm / sizeof *algorithm; i++)
        test_rounds(algorithm[i],
                    weft_arena_text(mem,
                                    "[fed]\nalgorithm = %s\nmodel = mlp\ncohort = 30\n"
                                    "score_both = yes\neval_clients = 0\neval_every = 2\n"
                                    "new_clients = 0.2\n[mlp]\nhidden = 9\n"
                                    "[client]\nlr = log 0.01 .. 100\nmomentum = 0 .. 0.9\n"
                                    "mu = 0 .. 1\nweight_decay = 0 .. 0.1\nclip = 0 | 3\n"
                                    "batch = 3\nepochs = 1 .. 3\nmax_change = 30\n"
                                    "[ditto]\nlr = log 0.01 .. 1\nepochs = 0 .. 2\n"
                                    "[fedrep]\nepochs = 1 | 2\n"
                                    "[apfl]\nshare = 0 .. 1\nrate = 0 .. 3\n",
                                    algorithm[i]),
                    5);
    return scratch_end();
}
