/* Folds of task fmap: each has the rows that the rule says, on any number of ranks; its
 * fit solves the normal equations of its training rows, in doubles; scores are sums over
 * all that is held out. As many folds as rows: the closed form of leaving one out.
 * RUN: np=1 np=2 np=3 */

#include "folds_stand.h"

/* ---- the same in doubles ---- */

static int outputs_of(const struct stand *stand)
{
    int classes = stand->rows.classes;
    return classes == 2 && !stand->data.target_scale ? 1 : classes;
}

/* Features of all rows by map a, [n][M], the last one 1. */
static double *features(struct stand *stand, int a)
{
    double *x = WEFT_NEW(mem, double, stand->rows.n *M), *to = x;
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++) {
        const double *own = rff_table(stand->data, (weft_part)p, stand->conf, &stand->space,
                                      stand->job.mix.conf + a * stand->space.dim, SEED);
        for (int64_t i = 0; i < stand->data.part[p].total; i++, to += M) {
            memcpy(to, own + i * F, F * sizeof *to);
            to[F] = 1;
        }
    }
    return x;
}

/* The inverse of a[M][M], positive definite, by Gauss-Jordan. */
static void invert(double a[M][M])
{
    for (int p = 0; p < M; p++) {
        double pivot = 1 / a[p][p];
        a[p][p] = 1;
        for (int c = 0; c < M; c++) a[p][c] *= pivot;
        for (int r = 0; r < M; r++) {
            double factor = a[r][p];
            if (r == p) continue;
            a[r][p] = 0;
            for (int c = 0; c < M; c++) a[r][c] -= factor * a[p][c];
        }
    }
}

/* The weighted normal equations of the rows with in[i], penalty 0.5 |w|^2 without the
 * intercept: the inverse of their matrix, and w[outputs][M]. */
static void solve(const struct stand *stand, const double *const *x, const int *in,
                  double inverse[M][M], double *w)
{
    const struct rows *rows = &stand->rows;
    int outputs = outputs_of(stand);
    memset(inverse, 0, M * sizeof *inverse);
    for (int r = 0; r < F; r++) inverse[r][r] = 0.5;
    for (int i = 0; i < rows->n; i++)
        for (int r = 0; r < M && in[i]; r++)
            for (int c = 0; c < M; c++)
                inverse[r][c] += rows->weight[i] * x[i][r] * x[i][c];
    invert(inverse);
    memset(w, 0, (size_t)(outputs * M) * sizeof *w);
    for (int i = 0; i < rows->n; i++)
        for (int c = 0; c < outputs && in[i]; c++)
            for (int r = 0; r < M; r++)
                for (int s = 0; s < M; s++)
                    w[c * M + r] +=
                        inverse[r][s] * rows->weight[i] * x[i][s] *
                        rows->y[i * rows->classes + (outputs == 1 ? rows->classes - 1 : c)];
}

/* Squared error of row i, in the units of the task's loss. */
static double error_of(const struct stand *stand, const double *w, const double *x, int i)
{
    const struct rows *rows = &stand->rows;
    int outputs = outputs_of(stand);
    double sum = 0;
    for (int c = 0; c < outputs; c++) {
        double off = -rows->y[i * rows->classes + (outputs == 1 ? rows->classes - 1 : c)];
        for (int j = 0; j < M; j++) off += w[c * M + j] * x[j];
        sum += off * off;
    }
    return stand->data.target_scale ? sum * pow(stand->data.target_scale[0], 2) : sum;
}

/* The fold that holds each row out. */
static int *folds_of(const struct stand *stand)
{
    int64_t n = stand->rows.n, *order = WEFT_NEW(mem, int64_t, n);
    int *fold = WEFT_NEW(mem, int, n);
    weft_shuffle(n, SEED, order, mem);
    for (int64_t i = 0; i < n; i++) fold[order[i]] = (int)(i % stand->folds);
    return fold;
}

/* The map that a row draws in a fold, of k that are equally likely. */
static int drawn(const struct stand *stand, weft_purpose purpose, int fold, int place)
{
    uint64_t key = (uint64_t)(fold * stand->rows.n + place);
    int k = stand->job.mix.k;
    return k > 1 ? (int)(k * weft_rng_unit(weft_rng_at(SEED, purpose, 0, 0, key).v[0])) : 0;
}

/* Weights in the state of fold f: w[outputs][F], then intercepts. */
static const real *weights_of(const struct stand *stand, int f)
{
    int64_t each = stand->state.nx / stand->folds;
    return stand->state.x + (f + 1) * each - (int64_t)outputs_of(stand) * M;
}

/* 1: the class of row i has not the largest score. */
static int is_wrong(const struct stand *stand, const double *w, const double *x, int i)
{
    int classes = stand->rows.classes, best = 0;
    double most = -INFINITY;
    for (int c = 0; c < classes; c++) {
        double score = 0;
        for (int j = 0; j < M; j++) score += w[c * M + j] * x[j];
        if (score > most) best = c;
        most = fmax(most, score);
    }
    return !(stand->rows.y[i * classes + best] > 0);
}

/* Wrong answers, and rows, of each class, by their weights. */
struct counts {
    double wrong[K], rows[K];
};

/* Adds a row to the counts of the map that it drew. */
static void count_row(const struct stand *stand, const double *w, const double *x, int i,
                      struct counts *counts)
{
    int c = 0;
    double weight = stand->rows.weight[i];
    if (stand->data.target_scale) return;
    while (!(stand->rows.y[i * stand->rows.classes + c] > 0)) c++;
    counts->wrong[c] += weight * is_wrong(stand, w, x, i);
    counts->rows[c] += weight;
}

/* The measures of a result are those of the counts of each map. */
static void check_counts(const struct stand *stand, const struct counts *counts,
                         const char *what)
{
    int k = stand->job.mix.k;
    double error = 0, rows = 0;
    for (int a = 0; a < k; a++) {
        double balanced = 0, wrong = 0, own = 0;
        for (int c = 0; c < K; c++) {
            balanced += counts[a].wrong[c] / counts[a].rows[c] / K;
            wrong += counts[a].wrong[c];
            own += counts[a].rows[c];
        }
        if (strstr(what, "balanced"))
            is_near(k > 1 ? stand->res.arm_score[a] : stand->res.loss, balanced, 1e-9,
                    "%s: the measure is of all rows of map %d", what, a);
        is_near(stand->res.arm_wrong[a], wrong, 1e-6 * own,
                "%s: the wrong answers of map %d count as their rows weigh", what, a);
        error += wrong;
        rows += own;
    }
    is_near(measured(task, &stand->res, "valid_error"), error / rows, 1e-6,
            "%s: the error is of all that is held out", what);
}

/* Each fold solves its equations, and what is held out is scored. */
static void check_folds(struct stand *stand, const char *what)
{
    const struct rows *rows = &stand->rows;
    int k = stand->job.mix.k, outputs = outputs_of(stand), *fold = folds_of(stand);
    double *all[K], sum = 0, weight = 0, worst = 0;
    struct counts counts[K] = {0};
    static double inverse[M][M], w[K * M];
    const double *x[MOST];
    int in[MOST], map[MOST];
    for (int a = 0; a < k; a++) all[a] = features(stand, a);
    for (int f = 0; f < stand->folds; f++) {
        int place[2] = {0};
        for (int i = 0; i < rows->n; i++) {
            int held = fold[i] == f;
            in[i] = !held;
            map[i] =
                drawn(stand, held ? WEFT_RNG_VALID : WEFT_RNG_ASSIGN, f, place[held]++);
            x[i] = all[map[i]] + i * M;
        }
        solve(stand, x, in, inverse, w);
        const real *own = weights_of(stand, f);
        for (int c = 0; c < outputs; c++) {
            for (int j = 0; j < F; j++)
                worst = worse(worst, fabs((double)own[c * F + j] - w[c * M + j]));
            worst = worse(worst, fabs((double)own[outputs * F + c] - w[c * M + F]));
        }
        for (int i = 0; i < rows->n; i++) {
            if (in[i]) continue;
            sum += rows->weight[i] * error_of(stand, w, x[i], i);
            weight += rows->weight[i];
            count_row(stand, w, x[i], i, &counts[map[i]]);
        }
    }
    if (!stand->data.target_scale) check_counts(stand, counts, what);
    is_near(worst, 0, 2e-4, "%s: the weights of each fold solve its normal equations",
            what);
    is_near(measured(task, &stand->res, "valid_loss") / (sum / weight), 1, 1e-4,
            "%s: the loss is of all that is held out", what);
    double count = 0;
    for (int a = 0; a < k; a++) count += stand->res.arm_count[a];
    is_near(count, weight, 1e-6 * weight, "%s: every row is scored once", what);
}

static void test_fits(void)
{
    const char *number = "label=y drop=k weight=n valid=0.3 test=0.2",
               *class = "label=k drop=y,n valid=0.2 test=0.1",
               *weighted = "label=k drop=y weight=n valid=0.2 test=0.1";
    check_folds(stand_up(number, "fmap.folds=4", 1), "numbers with weights");
    check_folds(stand_up(class, "fmap.folds=5", 1), "classes");
    check_folds(stand_up(class, "fmap.folds=5 fmap.score=balanced", 1), "balanced");
    check_folds(stand_up(class, "fmap.folds=3 fmap.validation=split fmap.slack=1", K),
                "maps that share the fit of a fold");
    check_folds(stand_up(weighted, "fmap.folds=5 fmap.score=balanced", 1),
                "balanced by weights");
    check_folds(
        stand_up(weighted, "fmap.folds=3 fmap.validation=split fmap.score=balanced", K),
        "maps balanced by weights");
}

/* Ranks fit the folds of so few rows beside each other: what they tell each other of a job
 * is its state and sums of scores, however many steps the fits take. */
static void test_messages(void)
{
    struct stand *stand = WEFT_NEW(mem, struct stand, 1);
    must(set_up(stand, "label=k drop=y,n", "fmap.folds=6 rff.features=100", 1));
    double before = world.times.bytes;
    run(stand);
    double sent = world.times.bytes - before, most = (double)stand->state.nx * sizeof(real);
    weft_max_f64(&world, &sent, 1);
    ok(measured(task, &stand->res, "iterations") > 10 && sent < most + 2000,
       "a job of six folds sends at most its state, %g of %g bytes", sent, most);
}

/* e_i / (1 - h_ii), e the residuals of the fit to all rows and h the matrix that maps
 * their answers to what it says of them. */
static void test_leave_one_out(void)
{
    struct stand *stand =
        stand_up("label=y drop=k,n valid=0.3 test=0.6", printed("fmap.folds=%d", 72), 1);
    const struct rows *rows = &stand->rows;
    static double inverse[M][M], w[M];
    const double *x[MOST], *all = features(stand, 0);
    int in[MOST];
    double sum = 0;
    for (int i = 0; i < rows->n; i++) {
        x[i] = all + i * M;
        in[i] = 1;
    }
    solve(stand, x, in, inverse, w);
    for (int i = 0; i < rows->n; i++) {
        double h = 0;
        for (int r = 0; r < M; r++)
            for (int c = 0; c < M; c++) h += x[i][r] * inverse[r][c] * x[i][c];
        sum += error_of(stand, w, x[i], i) / pow(1 - h, 2);
    }
    ok(rows->n == stand->folds, "there are as many folds as rows, %d", rows->n);
    is_near(measured(task, &stand->res, "valid_loss") / (sum / rows->n), 1, 2e-4,
            "their loss is that of leaving one out, by the fit to all rows");
}

/* Mean, deviation, least and largest of each column, of the fold's training rows. */
static void test_statistics(void)
{
    struct stand *stand =
        stand_up("label=k drop=y,n", "fmap.folds=3 rff.preprocess=standard", 1);
    const struct rows *rows = &stand->rows;
    const int *fold = folds_of(stand);
    double worst = 0, apart = 0;
    for (int f = 0; f < 3; f++) {
        const real *stat = stand->state.x + f * (stand->state.nx / 3);
        for (int j = 0; j < D; j++) {
            double sum = 0, square = 0, least = INFINITY, most = -INFINITY, n = 0;
            for (int i = 0; i < rows->n; i++) {
                double one = rows->x[i * D + j];
                if (fold[i] == f) continue;
                n++;
                sum += one;
                square += one * one;
                least = fmin(least, one);
                most = fmax(most, one);
            }
            double want[] = {sum / n, sqrt(square / n - sum / n * sum / n), least, most};
            for (int s = 0; s < 4; s++)
                worst = worse(worst, fabs((double)stat[s * D + j] / want[s] - 1));
            apart = fmax(apart, fabs((double)(stat[j] - stand->state.x[j])));
        }
    }
    is_near(worst, 0, 1e-4, "columns are scaled by the training rows of each fold");
    ok(apart > 0.01, "which are others in each");
}

/* ---- scores, predictions ---- */

/* Of the test part: loss and scores are means over the folds' models. */
static void test_winner(void)
{
    struct stand *stand = stand_up("label=k drop=y,n", "fmap.folds=3", 1);
    weft_scores scores;
    weft_predictions said, one;
    double loss = 0, worst = 0;
    int64_t each = stand->state.nx / 3;
    weft_check(
        task->winner.score(stand->self, &stand->job, &stand->state, WEFT_VALID, &scores) ==
                WEFT_OK &&
            score_of(task, &scores, "loss") == measured(task, &stand->res, "valid_loss") &&
            scores.count == stand->rows.n,
        "%s", weft_error());
    must(task->winner.score(stand->self, &stand->job, &stand->state, WEFT_TEST, &scores));
    must(task->winner.predict(stand->self, &stand->job, &stand->state, WEFT_TEST, &said,
                              mem));
    double *mean = WEFT_NEW(mem, double, said.n *said.classes);
    for (int f = 0; f < 3; f++) {
        struct stand alone = *stand;
        weft_scores own;
        alone.state = weft_state_new(task, stand->self, &stand->job, mem);
        for (int g = 0; g < 3; g++)
            memcpy(alone.state.x + g * each, stand->state.x + f * each,
                   (size_t)each * sizeof(real));
        must(task->winner.score(alone.self, &alone.job, &alone.state, WEFT_TEST, &own));
        must(task->winner.predict(alone.self, &alone.job, &alone.state, WEFT_TEST, &one,
                                  mem));
        loss += score_of(task, &own, "loss") / 3;
        for (int64_t i = 0; i < said.n * said.classes; i++) mean[i] += one.score[i] / 3;
    }
    for (int64_t i = 0; i < said.n * said.classes; i++)
        worst = worse(worst, fabs(said.score[i] - mean[i]));
    is_near(score_of(task, &scores, "loss"), loss, 1e-9,
            "the loss of the test part is the mean over the folds' models");
    ok(scores.count == (double)stand->data.part[WEFT_TEST].total, "of its rows");
    is_near(worst, 0, 1e-9, "so is what the winner says of a row");
}

/* ---- pieces ---- */

static void test_pieces(void)
{
    const char *const options = "fmap.folds=3 fmap.resource=iterations",
                      *const table = "label=k drop=y,n";
    struct stand *whole = WEFT_NEW(mem, struct stand, 1),
                 *parts = WEFT_NEW(mem, struct stand, 1);
    must(set_up(whole, table, options, 1));
    must(set_up(parts, table, options, 1));
    whole->job.resource = 7;
    run(whole);
    parts->job.resource = 3;
    run(parts);
    double after = parts->res.loss;
    parts->job.resource = 4;
    parts->job.index++;
    run(parts);
    ok(weft_state_hash(&whole->state) == weft_state_hash(&parts->state) &&
           !(fabs(after - whole->res.loss) < 1e-9),
       "3 and 4 iterations of all folds are 7");
    is_near(measured(task, &whole->res, "iterations"), 7, 0,
            "which is the mean over the folds");
}

static void test_refused(void)
{
    struct stand stand = {0};
    static const char *const bad[] = {"fmap.folds=1", "fmap.folds=163"};
    for (int i = 0; i < 2; i++)
        fails(set_up(&stand, "label=k drop=y,n", bad[i], 1), WEFT_ECONF, "fmap.folds",
              "with 162 samples", bad[i]);
}

MAIN(scratch, test_fits, test_messages, test_leave_one_out, test_statistics, test_winner,
     test_pieces, test_refused)
