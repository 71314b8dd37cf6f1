/* Task fmap against sums in doubles: samples draw maps from the mixture, one ridge model is
 * fitted to all of them, and maps are scored on all validation samples or on those they
 * draw. Features come from the feature map, which has its own test.
 *
 * RUN: np=1 np=2 np=3 */
#include "weft/registry.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "measured.h"
#include "tap.h"

enum { N = 400, VALID = 150, D = 9, C = 3, F = 20, K = 3, W = C * (F + 1), SEED = 11 };
enum { TRIAL = 2, ROUND = 5 };

static weft_team team;
static weft_arena *mem;
static int ntrain = N; /* training rows, of N */
static float value[N + VALID][D];
static int32_t label[N + VALID];
static const weft_task *const task = &weft_task_fmap;

static void make_data(weft_data *data)
{
    for (int i = 0; i < N + VALID; i++) {
        label[i] = (int32_t)(weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)i, 99, 0).v[0] % C);
        for (int d = 0; d < D; d++) {
            double z[4];
            const weft_rng4 r = weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)i, (uint64_t)d, 0);
            weft_rng_normal(&r, z);
            value[i][d] = (float)(0.6 * z[0] + (d % C == label[i]));
        }
    }
    *data = (weft_data){
        .form = WEFT_REALS, .classes = C, .path = "test", .mem = mem, .team = &team};
    const int64_t total[2] = {ntrain, VALID};
    for (int p = 0; p < 2; p++) {
        weft_rows *rows = &data->part[p];
        rows->total = total[p];
        rows->d = D;
        weft_deal(total[p], team.rank, team.size, &rows->first, &rows->n);
        rows->value = value[p * N + rows->first];
        rows->label = label + p * N + rows->first;
    }
}

/* ---- the task ----------------------------------------------------------------------- */

typedef struct stand {
    weft_data data;
    void *self;
    weft_conf conf;
    weft_space space;
    weft_job job;
    weft_result res;
    weft_state state;
} stand;

static const char fixed[] = "[fmap]\nfeature = rff\nmodel = ridge\n"
                            "[rff]\nfeatures = 20\nkernel = gaussian | laplacian\n"
                            "gamma = log 0.02 .. 2\n"
                            "[ridge]\nalpha = 2\ntol = 1e-10\n[space]\nconfigs = 3\n";

/* The task with further options and the probabilities p[K] of its three maps. */
static weft_status set_up(stand *s, const char *options, const double *p)
{
    make_data(&s->data);
    s->self = weft_arena_get(mem, 1, task->kind.size);
    weft_conf_init(&s->conf, mem);
    const weft_kind *tuned[WEFT_MOST_TUNED];
    int n = 0;
    weft_status st = weft_conf_text(&s->conf, "test", fixed);
    char *text = weft_arena_text(mem, "%s", options), *rest = text;
    for (char *word; st == WEFT_OK && (word = strtok_r(rest, " ", &rest));)
        st = weft_conf_set(&s->conf, word);
    if (st == WEFT_OK) st = weft_conf_bind(&s->conf, &task->kind, s->self);
    if (st == WEFT_OK) st = task->tuned(s->self, tuned, &n);
    if (st == WEFT_OK) st = weft_space_read(&s->space, &s->conf, tuned, n, 1, mem);
    const weft_env env = {.team = &team,
                          .conf = &s->conf,
                          .data = &s->data,
                          .space = &s->space,
                          .seed = SEED,
                          .memory = 1e9,
                          .mem = mem};
    if (st == WEFT_OK) st = task->setup(s->self, &env);
    TRY(st);
    const weft_mix mix = weft_mix_new(K, s->space.dim, mem);
    s->job = weft_job_new(TRIAL, 1, &mix);
    s->job.index = ROUND;
    for (int i = 0; i < K; i++) {
        weft_space_get(&s->space, i, s->job.mix.conf + i * s->space.dim);
        s->job.mix.id[i] = i;
        s->job.mix.logp[i] = log(p[i]);
    }
    s->res = result_of(task, K, mem);
    s->state = weft_state_new(task, s->self, &s->job, mem);
    return WEFT_OK;
}

static stand *stand_up(const char *options, const double *p)
{
    stand *s = WEFT_NEW(mem, stand, 1);
    weft_check(set_up(s, options, p) == WEFT_OK, "%s", weft_error());
    return s;
}

static void run(stand *s)
{
    weft_check(task->step(s->self, &s->job, 0, &s->state, NULL, &s->res) == WEFT_OK, "%s",
               weft_error());
}

/* The model's weights and intercepts in the state. */
static const real *weights(const stand *s)
{
    return s->state.x + s->state.nx - W;
}

/* ---- the same in doubles ------------------------------------------------------------ */

/* Features of all rows of a part by each map, [K][total][F]. */
static double *features(const stand *s, weft_part part)
{
    const weft_feature *rff = &weft_feature_rff;
    const weft_rows *rows = &s->data.part[part];
    const size_t cells = (size_t)rows->total * F;
    double *x = WEFT_NEW(mem, double, K *cells);
    void *own = weft_arena_get(mem, 1, rff->kind.size);
    weft_data data = s->data;
    weft_conf conf = s->conf;
    const weft_source rows_of_all = weft_data_source(&data);
    weft_status st = weft_conf_bind(&conf, &rff->kind, own);
    if (st == WEFT_OK) st = rff->setup(own, &rows_of_all, 1e9, SEED, mem);
    weft_check(st == WEFT_OK, "%s", weft_error());
    real *stat = WEFT_NEW(mem, real, rff->nstat(own));
    real *w = WEFT_NEW(mem, real, F), *z = WEFT_NEW(mem, real, rows->n);
    for (int a = 0; a < K; a++) {
        void *arm = weft_arena_get(mem, 1, rff->kind.size);
        memcpy(arm, own, rff->kind.size);
        weft_space_put(&s->space, s->job.mix.conf + a * s->space.dim, &rff->kind, arm);
        const void *one = arm;
        weft_request q = {.part = WEFT_TRAIN,
                          .n = data.part[WEFT_TRAIN].n,
                          .narm = 1,
                          .arms = &one,
                          .size = 1,
                          .seed = SEED};
        weft_matrix f;
        rff->matrix(own, &q, 1, stat, &f, mem);
        q.part = part;
        q.n = rows->n;
        rff->matrix(own, &q, 0, stat, &f, mem);
        for (int k = 0; k < F; k++) {
            w[k] = 1;
            f.times(&f, 1, w, z);
            w[k] = 0;
            for (int64_t i = 0; i < rows->n; i++)
                x[(size_t)a * cells + (size_t)(rows->first + i) * F + k] = (double)z[i];
        }
    }
    weft_sum_f64(&team, x, K * cells, 2.0 * F);
    return x;
}

/* The map that row i draws: the first whose cumulated probability exceeds the draw, which
 * is moved on by `shift` of the unit interval. */
static int drawn(const stand *s, weft_purpose purpose, int i, double shift)
{
    double unit = weft_rng_unit(weft_rng_at(SEED, purpose, TRIAL, ROUND, (uint64_t)i).v[0]);
    unit = unit + shift < 1 ? unit + shift : unit + shift - 1;
    double sum = 0;
    for (int a = 0; a < K - 1; a++) {
        sum += exp(s->job.mix.logp[a]);
        if (unit < sum) return a;
    }
    return K - 1;
}

/* Least squares on targets +-1 with penalty 2 |w|^2 and free intercepts: normal equations,
 * Gauss-Jordan. x[N][F] into w[W]. */
static void least_squares(const double *const *x, double *w)
{
    enum { M = F + 1 };
    static double a[M][M + C];
    memset(a, 0, sizeof a);
    for (int i = 0; i < N; i++) {
        double row[M];
        memcpy(row, x[i], F * sizeof *row);
        row[F] = 1;
        for (int r = 0; r < M; r++) {
            for (int c = 0; c < M; c++) a[r][c] += row[r] * row[c];
            for (int c = 0; c < C; c++) a[r][M + c] += row[r] * (label[i] == c ? 1 : -1);
        }
    }
    for (int r = 0; r < F; r++) a[r][r] += 2;
    for (int p = 0; p < M; p++)
        for (int r = 0; r < M; r++) {
            const double factor = a[r][p] / a[p][p];
            for (int c = p; r != p && c < M + C; c++) a[r][c] -= factor * a[p][c];
        }
    for (int c = 0; c < C; c++) {
        for (int k = 0; k < F; k++) w[c * F + k] = a[k][M + c] / a[k][k];
        w[C * F + c] = a[F][M + c] / a[F][F];
    }
}

/* Squared loss of a validation row's features by the task's own weights. */
static double loss_of(const real *w, const double *x, int y, int *wrong)
{
    double loss = 0, score[C];
    int best = 0;
    for (int c = 0; c < C; c++) {
        score[c] = (double)w[C * F + c];
        for (int k = 0; k < F; k++) score[c] += (double)w[c * F + k] * x[k];
        const double off = score[c] - (c == y ? 1 : -1);
        loss += off * off;
        if (score[c] > score[best]) best = c;
    }
    *wrong = best != y;
    return loss;
}

/* ---- tests -------------------------------------------------------------------------- */

/* The weights fit the training rows, each by the map it draws. */
static void check_fit(const stand *s, const char *what)
{
    const double *all = features(s, WEFT_TRAIN), *x[N];
    double exact[W], worst = 0;
    for (int i = 0; i < N; i++)
        x[i] = all + ((size_t)drawn(s, WEFT_RNG_ASSIGN, i, 0) * N + (size_t)i) * F;
    least_squares(x, exact);
    for (int i = 0; i < W; i++)
        worst = worse(worst, fabs((double)weights(s)[i] - exact[i]));
    is_near(worst, 0, 2e-4, "%s: weights solve the normal equations of the drawn maps",
            what);
}

/* Whether a row is scored by a map in one of so many passes of draws; in 0 passes: all are.
 */
static int scores(const stand *s, int passes, int i, int a)
{
    for (int e = 0; e < passes; e++)
        if (drawn(s, WEFT_RNG_VALID, i, (double)e / passes) == a) return 1;
    return passes == 0 && (s->job.mix.logp[a] > -INFINITY || s->job.score_eliminated);
}

/* Sums by map: of rows that draw it in one of the passes, or of all rows. */
static void check_scores(const stand *s, int passes, const char *what)
{
    const double *all = features(s, WEFT_VALID);
    double loss[K] = {0}, wrong[K] = {0}, count[K] = {0}, worst = 0;
    double mean = 0, error = 0;
    int same = 1;
    for (int i = 0; i < VALID; i++)
        for (int a = 0; a < K; a++) {
            const double p = exp(s->job.mix.logp[a]);
            if (!scores(s, passes, i, a)) continue;
            int bad;
            const double one = loss_of(
                weights(s), all + ((size_t)a * VALID + (size_t)i) * F, label[N + i], &bad);
            loss[a] += one;
            wrong[a] += bad;
            count[a]++;
            mean += (passes ? 1. / passes : p) * one / VALID;
            error += (passes ? 1. / passes : p) * bad / VALID;
        }
    for (int a = 0; a < K; a++) {
        worst = worse(worst, fabs(loss[a] - s->res.arm_loss[a]) / VALID);
        same &= wrong[a] == s->res.arm_wrong[a] && count[a] == s->res.arm_count[a];
    }
    is_near(worst, 0, 1e-5, "%s: losses by map", what);
    ok(same, "%s: wrong answers and samples by map", what);
    is_near(measured(task, &s->res, "valid_loss"), mean, 1e-5,
            "%s: mean loss under the mixture", what);
    is_near(measured(task, &s->res, "valid_error"), error, 1e-12,
            "%s: error under the mixture", what);
}

static void digest_of(const stand *s)
{
    size_t n;
    const void *packed = weft_result_pack(&s->res, &n, mem);
    digest(weft_hash(weights(s), W * sizeof(real), weft_hash(packed, n, 0)));
}

static void test_mixture(const char *options, int all, const double *p, const char *what)
{
    stand *s = stand_up(options, p);
    s->job.score_eliminated = all;
    run(s);
    check_fit(s, what);
    check_scores(s, strstr(options, "full") == NULL, what);
    const int by_loss = strstr(options, "score=loss") != NULL;
    ok(s->res.loss == measured(task, &s->res, by_loss ? "valid_loss" : "valid_error"),
       "%s: tuners get the %s", what, by_loss ? "loss" : "error");
    digest_of(s);
}

/* Without a choice, no more maps score a row than cost 0.3 of the fit: all of them here,
 * two where there are more rows for validation than for training. */
static void test_auto(void)
{
    const double even[K] = {1. / 3, 1. / 3, 1. / 3};
    stand *s = stand_up("", even);
    run(s);
    check_scores(s, 0, "auto, cheap");
    ntrain = 100;
    s = stand_up("", even);
    run(s);
    check_scores(s, 2, "auto, costly");
    digest_of(s);
    ntrain = 40;
    s = stand_up("", even);
    run(s);
    check_scores(s, 1, "auto, costlier");
    ntrain = N;
}

/* Operations of a job with so many rows of validation data, for 100 times as many of
 * training. */
static double work(const char *validation, int64_t valid)
{
    const double even[K] = {1. / 3, 1. / 3, 1. / 3};
    stand *s = stand_up(weft_arena_text(mem, "fmap.validation=%s", validation), even);
    s->data.part[WEFT_VALID].total = valid;
    s->data.part[WEFT_TRAIN].total = 100 * valid;
    weft_cost cost = {0};
    task->cost(s->self, &s->job, &cost);
    return cost.flops;
}

/* And no more maps than give each 400 samples. */
static void test_enough(void)
{
    for (int64_t valid = 300; valid <= 1200; valid += 300) {
        const double one = work("split", valid), all = work("full", valid);
        const double passes = 1 + (K - 1) * (work("auto", valid) - one) / (all - one);
        const double want = fmin(ceil(400. * K / (double)valid), K);
        is_near(passes, want, 1e-6, "%d rows: each is scored by %g of three maps",
                (int)valid, want);
    }
}

static void test_score_only(void)
{
    const double p[K] = {0.5, 0.3, 0.2};
    stand *s = stand_up("fmap.validation=split", p);
    run(s);
    const uint64_t before = weft_state_hash(&s->state);
    s->job.resource = 0;
    s->job.index++;
    run(s);
    ok(weft_state_hash(&s->state) == before, "a job of no resource leaves the weights");
    weft_scores scores;
    weft_check(task->score(s->self, &s->job, s->state.x, WEFT_VALID, &scores) == WEFT_OK,
               "%s", weft_error());
    is_near(score_of(task, &scores, "loss"), measured(task, &s->res, "valid_loss"), 1e-12,
            "and scores as a winner is scored");
    ok(score_of(task, &scores, "error") == measured(task, &s->res, "valid_error") &&
           scores.count == VALID,
       "error and samples too");
}

/* A fit that maps share may stop early; one of a single map may not. */
static void test_slack(void)
{
    const double mixed[K] = {0.5, 0.3, 0.2};
    stand *tight = stand_up("fmap.slack=1 ridge.tol=1e-6", mixed);
    stand *loose = stand_up("fmap.slack=300 ridge.tol=1e-6", mixed);
    run(tight);
    run(loose);
    ok(measured(task, &tight->res, "residual") <= 1e-3 &&
           measured(task, &tight->res, "iterations") >
               measured(task, &loose->res, "iterations"),
       "slack %g takes %d iterations, 1 takes %d", 300.0,
       (int)measured(task, &loose->res, "iterations"),
       (int)measured(task, &tight->res, "iterations"));
    loose->job.mix.k = 1;
    loose->job.mix.logp[0] = 0;
    run(loose);
    ok(measured(task, &loose->res, "residual") <= 1e-3,
       "the fit of a single map keeps the model's tolerance");
}

/* ---- fits in pieces ----------------------------------------------------------------- */

#define PIECES "fmap.resource=iterations fmap.score=loss "

/* A trial of map 0 or 1 alone. */
static stand *alone(const char *options, int map)
{
    const double even[K] = {1. / 3, 1. / 3, 1. / 3};
    stand *s = stand_up(options, even);
    s->job.mix = weft_mix_new(1, s->space.dim, mem);
    weft_space_get(&s->space, map, s->job.mix.conf);
    s->job.mix.id[0] = map;
    s->res = result_of(task, 1, mem);
    return s;
}

static void go_on(stand *s, int iterations)
{
    s->job.resource = iterations;
    run(s);
    s->job.index++;
}

static const real *model_of(const stand *s)
{
    weft_tensor t[WEFT_MOST_TENSORS];
    const int n = task->tensors(s->self, &s->job, t);
    return s->state.x + t[n - 2].at;
}

/* Largest difference of the weights of two trials. */
static double apart(const stand *a, const stand *b)
{
    double most = 0;
    for (int i = 0; i < W; i++)
        most = worse(most, fabs((double)model_of(a)[i] - (double)model_of(b)[i]));
    return most;
}

static void test_split(void)
{
    static const int part[][6] = {{9}, {4, 5}, {1, 1, 1, 1, 1, 4}, {3, 0, 6}};
    stand *one = NULL;
    for (int k = 0; k < 4; k++) {
        stand *s = alone(PIECES, 0);
        for (int i = 0; i < 6; i++)
            if (part[k][i] > 0 || i < 3) go_on(s, part[k][i]);
        if (k == 0) one = s;
        ok(weft_state_hash(&one->state) == weft_state_hash(&s->state) &&
               one->res.loss == s->res.loss,
           "iterations in division %d give the bits of one job", k);
        if (k == 0) digest(weft_state_hash(&s->state));
    }
}

/* The path ends at the fit; pieces beyond it change nothing. */
static void test_path(void)
{
    stand *s = alone(PIECES, 0), *whole = alone("ridge.tol=1e-12", 0);
    go_on(whole, 1);
    double loss = INFINITY, residual = INFINITY;
    int falls = 1;
    for (int i = 0; i < 6; i++) {
        go_on(s, 1);
        falls &= measured(task, &s->res, "train_loss") < loss &&
                 measured(task, &s->res, "residual") < residual;
        falls &= measured(task, &s->res, "iterations") == 1;
        loss = measured(task, &s->res, "train_loss");
        residual = measured(task, &s->res, "residual");
    }
    ok(falls, "objective and residual fall with each iteration");
    go_on(s, 300);
    ok(measured(task, &s->res, "iterations") < 100, "nothing is left after %d iterations",
       6 + (int)measured(task, &s->res, "iterations"));
    is_near(apart(s, whole), 0, 1e-4, "the path ends at the fit");
    const real last = model_of(s)[0];
    go_on(s, 10);
    ok(measured(task, &s->res, "iterations") == 0 && model_of(s)[0] == last,
       "and stays there");
}

/* Weights that were copied from a trial of another map, or the same one. */
static void test_copied(void)
{
    stand *s = alone(PIECES, 0), *other = alone("ridge.tol=1e-12", 1);
    go_on(s, 5);
    s->job.trial++;
    weft_space_get(&s->space, 1, s->job.mix.conf);
    s->job.mix.id[0] = 1;
    go_on(s, 200);
    go_on(other, 1);
    is_near(apart(s, other), 0, 1e-4, "weights of another map lead to the map's own fit");
}

static void refuses(const char *options, const char *word)
{
    const double even[K] = {1. / 3, 1. / 3, 1. / 3};
    stand s = {0};
    const weft_status st = set_up(&s, options, even);
    ok(st == WEFT_ECONF && strstr(weft_error(), word), "%s is refused, naming %s", options,
       word);
}

static void test_pieces(void)
{
    test_split();
    test_path();
    test_copied();
    refuses(PIECES "fmap.model=logistic", "fmap.model = ridge");
    refuses(PIECES "ridge.solver=cholesky", "ridge.solver = cg");
}

int main(int argc, char **argv)
{
    if (weft_par_start(&argc, &argv, &team) != WEFT_OK) return EXIT_FAILURE;
    weft_log_set(WEFT_ERROR, team.rank);
    mem = weft_arena_new();
    const double even[K] = {1. / 3, 1. / 3, 1. / 3}, uneven[K] = {0.6, 0.1, 0.3},
                 less[K] = {0.75, 0, 0.25};
    test_mixture("fmap.validation=split", 0, even, "split");
    test_mixture("fmap.validation=split", 0, uneven, "split, uneven");
    test_mixture("fmap.validation=full", 0, uneven, "full");
    test_mixture("fmap.validation=full fmap.score=loss", 0, less, "full, one eliminated");
    test_mixture("fmap.validation=full", 1, less, "all scored, one eliminated");
    test_mixture("fmap.validation=split rff.preprocess=standard fmap.score=loss", 0, uneven,
                 "standardised");
    test_auto();
    test_enough();
    test_score_only();
    test_slack();
    test_pieces();
    const int failed = tap_done();
    weft_arena_free(mem);
    weft_par_end(&team);
    return failed;
}
