/* Task fmap against sums in doubles: samples draw maps from the mixture, one ridge model
 * is fitted to all of them, and maps are scored on all validation samples or on those that
 * drew them. Features come from a feature map with its own test.
 * RUN: np=1 np=2 np=3 */
#include "fmap_stand.h"
#include "results.h"
#include "weft/space/scores.h"

/* ---- the same in doubles ---- */

/* Features of all rows of a part by each map, [K][total][F]. */
static double *features(const struct stand *stand, weft_part part)
{
    size_t cells = (size_t)stand->data.part[part].total * F;
    double *x = WEFT_NEW(mem, double, K *cells);
    for (int a = 0; a < K; a++)
        memcpy(x + (size_t)a * cells,
               rff_table(stand->data, part, stand->conf, &stand->space,
                         stand->job.mix.conf + a * stand->space.dim, SEED),
               cells * sizeof *x);
    return x;
}

/* The map that row i draws: the first whose cumulated probability exceeds the draw, which
 * is moved on by `shift` of the unit interval. */
static int drawn(const struct stand *stand, weft_purpose purpose, int i, double shift)
{
    double unit = weft_rng_unit(weft_rng_at(SEED, purpose, TRIAL, ROUND, (uint64_t)i).v[0]);
    unit = unit + shift < 1 ? unit + shift : unit + shift - 1;
    double sum = 0;
    for (int a = 0; a < K - 1; a++) {
        sum += exp(stand->job.mix.logp[a]);
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
            double factor = a[r][p] / a[p][p];
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
        double off = score[c] - (c == y ? 1 : -1);
        loss += off * off;
        if (score[c] > score[best]) best = c;
    }
    *wrong = best != y;
    return loss;
}

/* ---- tests ---- */

/* The weights fit the training rows, each by the map it draws. */
static void check_fit(const struct stand *stand, const char *what)
{
    const double *all = features(stand, WEFT_TRAIN), *x[N];
    double exact[W], worst = 0;
    for (int i = 0; i < N; i++)
        x[i] = all + ((size_t)drawn(stand, WEFT_RNG_ASSIGN, i, 0) * N + (size_t)i) * F;
    least_squares(x, exact);
    for (int i = 0; i < W; i++)
        worst = worse(worst, fabs((double)weights(stand)[i] - exact[i]));
    is_near(worst, 0, 2e-4, "%s: weights solve the normal equations of the drawn maps",
            what);
}

/* Whether a row is scored by a map in one of so many passes of draws; in 0 passes: all are.
 */
static int scores(const struct stand *stand, int passes, int i, int a)
{
    for (int e = 0; e < passes; e++)
        if (drawn(stand, WEFT_RNG_VALID, i, (double)e / passes) == a) return 1;
    return passes == 0 && stand->job.mix.logp[a] > -INFINITY;
}

/* Sums by map: of rows that draw it in one of the passes, or of all rows. */
static void check_scores(const struct stand *stand, int passes, const char *what)
{
    const double *all = features(stand, WEFT_VALID);
    double loss[K] = {0}, wrong[K] = {0}, count[K] = {0}, worst = 0;
    double mean = 0, error = 0;
    int same = 1;
    for (int i = 0; i < VALID; i++)
        for (int a = 0; a < K; a++) {
            double p = exp(stand->job.mix.logp[a]);
            if (!scores(stand, passes, i, a)) continue;
            int bad;
            double one = loss_of(weights(stand), all + ((size_t)a * VALID + (size_t)i) * F,
                                 label[N + i], &bad);
            loss[a] += one;
            wrong[a] += bad;
            count[a]++;
            mean += (passes ? 1. / passes : p) * one / VALID;
            error += (passes ? 1. / passes : p) * bad / VALID;
        }
    for (int a = 0; a < K; a++) {
        worst = worse(worst, fabs(loss[a] - stand->res.arm_loss[a]) / VALID);
        same &= wrong[a] == stand->res.arm_wrong[a] && count[a] == stand->res.arm_count[a];
    }
    is_near(worst, 0, 1e-5, "%s: losses by map", what);
    ok(same, "%s: wrong answers and samples by map", what);
    is_near(measured(task, &stand->res, "valid_loss"), mean, 1e-5,
            "%s: mean loss under the mixture", what);
    is_near(measured(task, &stand->res, "valid_error"), error, 1e-12,
            "%s: error under the mixture", what);
}

static void digest_job(const struct stand *stand)
{
    digest(weft_hash(weights(stand), W * sizeof(real), result_hash(&stand->res, 0)));
}

/* What the rows scored by map a are said to be, and are: by the task's own weights, in
 * double. Returns their number. */
static int rows_of_map(const struct stand *stand, int passes, int a, double (*score)[C],
                       int32_t *known)
{
    const double *all = features(stand, WEFT_VALID);
    const real *w = weights(stand);
    int n = 0;
    for (int e = 0; e < (passes ? passes : 1); e++)
        for (int i = 0; i < VALID; i++) {
            const double *x = all + ((size_t)a * VALID + (size_t)i) * F;
            if (passes && drawn(stand, WEFT_RNG_VALID, i, (double)e / passes) != a)
                continue;
            for (int c = 0; c < C; c++) {
                score[n][c] = (double)w[C * F + c];
                for (int k = 0; k < F; k++) score[n][c] += (double)w[c * F + k] * x[k];
            }
            known[n++] = label[N + i];
        }
    return n;
}

/* Each map has the measure of its own rows, the job their mean under the mixture. */
static void test_measure(weft_measure measure, const char *options, int passes,
                         const double *p, double near)
{
    static double score[K * VALID][C];
    static int32_t known[K * VALID];
    struct stand *stand = stand_up(options, p);
    run(stand);
    double worst = 0, mean = 0;
    for (int a = 0; a < K; a++) {
        weft_predictions said = {.classes = C, .score = score[0]};
        weft_truth truth = {.label = known};
        if (!(p[a] > 0)) {
            ok(isnan(weft_result_score(&stand->res, a)), "%s: no score of map %d", options,
               a);
            continue;
        }
        said.n = rows_of_map(stand, passes, a, score, known);
        double want = weft_measure_of(measure, &said, &truth);
        worst = worse(worst, fabs(want - weft_result_score(&stand->res, a)));
        mean += p[a] * want;
    }
    is_near(worst, 0, near, "%s: scores of maps are of their own rows", options);
    is_near(stand->res.loss, mean, near, "%s: their mean is told", options);
    digest_job(stand);
}

static void test_mixture(const char *options, const double *p, const char *what)
{
    struct stand *stand = stand_up(options, p);
    run(stand);
    check_fit(stand, what);
    check_scores(stand, strstr(options, "full") == NULL, what);
    int by_loss = strstr(options, "score=loss") != NULL;
    ok(stand->res.loss ==
           measured(task, &stand->res, by_loss ? "valid_loss" : "valid_error"),
       "%s: tuners get the %s", what, by_loss ? "loss" : "error");
    digest_job(stand);
}

/* Without a choice, no more maps score a row than cost 0.3 of the fit: all of them here,
 * two where there are more rows for validation than for training. */
static void test_auto(void)
{
    const double even[K] = {1. / 3, 1. / 3, 1. / 3};
    struct stand *stand = stand_up("", even);
    run(stand);
    check_scores(stand, 0, "auto, cheap");
    ntrain = 100;
    stand = stand_up("", even);
    run(stand);
    check_scores(stand, 2, "auto, costly");
    digest_job(stand);
    ntrain = 40;
    stand = stand_up("", even);
    run(stand);
    check_scores(stand, 1, "auto, costlier");
    ntrain = N;
}

/* Operations of a job with so many rows of validation data, for 100 times as many of
 * training. */
static double work(const char *validation, int64_t valid)
{
    const double even[K] = {1. / 3, 1. / 3, 1. / 3};
    struct stand *stand = stand_up(printed("fmap.validation=%s", validation), even);
    stand->data.part[WEFT_VALID].total = valid;
    stand->data.part[WEFT_TRAIN].total = 100 * valid;
    weft_cost cost = {0};
    task->cost(stand->self, &stand->job, &cost);
    return cost.flops;
}

/* And no more maps than give each 400 samples. */
static void test_enough(void)
{
    for (int64_t valid = 300; valid <= 1200; valid += 300) {
        double one = work("split", valid), all = work("full", valid);
        double passes = 1 + (K - 1) * (work("auto", valid) - one) / (all - one);
        double want = fmin(ceil(400. * K / (double)valid), K);
        is_near(passes, want, 1e-6, "%d rows: each is scored by %g of three maps",
                (int)valid, want);
    }
}

static void test_score_only(void)
{
    const double p[K] = {0.5, 0.3, 0.2};
    struct stand *stand = stand_up("fmap.validation=split", p);
    run(stand);
    uint64_t before = weft_state_hash(&stand->state);
    is_near(stand->res.cost, stand->job.resource, 0, "a job costs its resource");
    stand->job.resource = 0;
    stand->job.index++;
    run(stand);
    ok(weft_state_hash(&stand->state) == before, "a job of no resource leaves the weights");
    is_near(stand->res.cost, 0, 0, "and costs nothing");
    weft_scores scores;
    must(task->winner.score(stand->self, &stand->job, &stand->state, WEFT_VALID, &scores));
    is_near(score_of(task, &scores, "loss"), measured(task, &stand->res, "valid_loss"),
            1e-12, "and scores as a winner is scored");
    ok(score_of(task, &scores, "error") == measured(task, &stand->res, "valid_error") &&
           scores.count == VALID,
       "error and samples too");
}

/* Once more where each row's class is what the model says of it. */
static void test_log_error(void)
{
    const double one[K] = {1, 0, 0};
    struct stand *stand = stand_up("fmap.score=log_error", one);
    run(stand);
    is_near(stand->res.loss, log(measured(task, &stand->res, "valid_error")), 1e-14,
            "a logarithm of the error rate is told");
    const double *x = features(stand, WEFT_VALID);
    for (int i = 0; i < VALID; i++)
        for (int y = 0, wrong; y < C; y++) {
            loss_of(weights(stand), x + i * F, y, &wrong);
            if (!wrong) label[N + i] = y;
        }
    stand->job.resource = 0;
    stand->job.index++;
    run(stand);
    is_near(stand->res.loss, log(0.5 / VALID), 1e-14, "no error counts as half of one");
}

/* Weights that are no numbers have the largest loss that counts. */
static void test_nan(void)
{
    const double one[K] = {1, 0, 0};
    struct stand *stand = stand_up("fmap.score=loss", one);
    run(stand);
    double before = stand->res.loss;
    for (int64_t i = 0; i < stand->state.nx; i++) stand->state.x[i] = NAN;
    stand->job.resource = 0;
    stand->job.index++;
    run(stand);
    ok(isfinite(stand->res.loss) && stand->res.loss > before,
       "a loss that is no number is a large one, %g", stand->res.loss);
}

/* A fit that maps share may stop early; one of a single map may not. */
static void test_slack(void)
{
    const double mixed[K] = {0.5, 0.3, 0.2};
    struct stand *tight = stand_up("fmap.slack=1 ridge.tol=1e-6", mixed);
    struct stand *loose = stand_up("fmap.slack=300 ridge.tol=1e-6", mixed);
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

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    const double even[K] = {1. / 3, 1. / 3, 1. / 3}, uneven[K] = {0.6, 0.1, 0.3},
                 less[K] = {0.75, 0, 0.25};
    test_mixture("fmap.validation=split", even, "split");
    test_mixture("fmap.validation=split", uneven, "split, uneven");
    test_mixture("fmap.validation=full", uneven, "full");
    test_mixture("fmap.validation=full fmap.score=loss", less, "full, one eliminated");
    test_mixture("fmap.validation=split rff.preprocess=standard fmap.score=loss", uneven,
                 "standardised");
    test_measure(WEFT_BY_F1, "fmap.validation=split fmap.score=f1", 1, uneven, 1e-12);
    test_measure(WEFT_BY_BALANCED, "fmap.validation=full fmap.score=balanced", 0, less,
                 1e-12);
    test_measure(WEFT_BY_AUC, "fmap.validation=split fmap.score=auc", 1, even, 1e-3);
    ntrain = 100;
    test_measure(WEFT_BY_F1, "fmap.score=f1", 2, even, 1e-12);
    ntrain = N;
    return TESTS(test_auto, test_enough, test_score_only, test_log_error, test_nan,
                 test_slack);
}
