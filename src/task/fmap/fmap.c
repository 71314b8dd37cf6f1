/* Task fmap: one shared linear model over many feature maps. A job is one fit: every
 * training sample draws its map from the mixture, the model is fitted to all of them, and
 * the maps are scored on the validation samples, which are divided among them (`split`),
 * scored by each (`full`), or by as many of them as cost little beside the fit (`auto`). k
 * = 1 is an ordinary fit of one map, which can also be divided into jobs of some iterations
 * each (`resource = iterations`), or be of some of the training rows first and then, anew,
 * of more (`resource = rows`). With folds a job has a fit for each, whose scores on
 * what they hold out are summed. State of a trial: for each fold [statistics of the
 * features][weights, class-major][intercepts], and in doubles what a fit in pieces goes on
 * from, or how many rows it is to be of. Khodak, Li, Roberts, Balcan, Talwalkar,
 * "Weight-sharing beyond neural architecture search", SysML 2019. */
#include "fmap.h"
#include "task/parts.h"
#include "weft/base/base.h"
#include "weft/math/linear.h"
#include "weft/registry.h"

#include <math.h>
#include <string.h>

enum { AUTO, SPLIT, FULL };

/* Largest cost of scoring in a round, as a fraction of the fit; and a sufficient number of
 * samples per map, with which the standard error of its error rate is at most 0.5 / sqrt
 * 400, 2.5 points. */
#define SCORING 0.3
#define TELL    400

static const weft_opt fmap_opts[] = {
    WEFT_TEXT_OPT("feature", fmap_task, opts.feature_name, "rff",
                  "feature map: rff or nystrom (rows of numbers), ngram (documents)"),
    WEFT_TEXT_OPT("model", fmap_task, opts.model_name, "ridge",
                  "linear model: ridge, logistic or svm"),
    WEFT_CHOICE_OPT(
        "validation", fmap_task, opts.validation, "auto", "auto|split|full",
        "validation samples: divided among the maps (split), all scored by each map "
        "(full), or by as many maps as cost little beside the fit (auto)"),
    WEFT_CHOICE_OPT("score", fmap_task, opts.score, "accuracy", WEFT_MEASURES,
                    "score by which maps are compared: " WEFT_MEASURES_ABOUT
                    "Maps that share a fit have it of their own validation rows each; with "
                    "folds it is of all that they hold out. Of equal scores the lower mean "
                    "loss wins"),
    WEFT_CHOICE_OPT(
        "resource", fmap_task, opts.unit, "fits", "fits|iterations|rows",
        "unit of resource: a fit to its optimum; an iteration of ridge's conjugate "
        "gradients, so that schedules can stop fits of one map early; or a training row: "
        "a map is fitted to some rows of each class, and anew to more if it goes on"),
    WEFT_LONG_OPT("folds", fmap_task, opts.folds, "0", 0, 1000,
                  "cross-validation over the train and valid parts in that many folds, "
                  "each with a fit of its own; groups of rows stay whole; 0: none"),
    WEFT_REAL_OPT(
        "slack", fmap_task, opts.slack, "3", 1, 1000,
        "tolerance of fits shared by several maps, as a multiple of the model's own"),
    {0},
};

#define PASSES 40 /* products with the training matrix that a fit is assumed to need */

/* Default resource in iterations: the number that a fit is assumed to need. */
static int64_t fmap_resource(const void *self)
{
    const fmap_task *fmap = self;
    return fmap->opts.unit == FMAP_ITERATIONS ? PASSES : 1;
}

/* Rows for training, of each of the folds at least. */
static int64_t fmap_most(const void *self, const char *data)
{
    const fmap_task *fmap = self;
    int64_t rows[WEFT_NPART] = {0}, classes;
    if (fmap->opts.unit != FMAP_ROWS) return 0;
    WEFT_SCRATCH(tmp);
    if (weft_data_sizes(data, rows, &classes, tmp) != WEFT_OK) return 0;
    int64_t all = rows[WEFT_TRAIN] + rows[WEFT_VALID], held = fmap->opts.folds;
    return held > 0 ? all - (all + held - 1) / held : rows[WEFT_TRAIN];
}

static double fmap_refit(const void *self, const weft_result *res)
{
    const fmap_task *fmap = self;
    return fmap->opts.unit == FMAP_ITERATIONS ? res->resource : 1;
}

static const char *fmap_single(const void *self)
{
    const fmap_task *fmap = self;
    return fmap->opts.unit == FMAP_ROWS   ? "fmap.resource = rows"
           : fmap->opts.unit == FMAP_FITS ? NULL
                                          : "fmap.resource = iterations";
}

static const weft_choice fmap_choices[] = {
    {"feature", weft_feature_kinds}, {"model", weft_model_kinds}, {0}};

static weft_status fmap_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    fmap_task *fmap = self;
    TRY(weft_feature_find(fmap->opts.feature_name, &fmap->feature));
    TRY(weft_model_find(fmap->opts.model_name, &fmap->model));
    kind[0] = &fmap->feature->kind;
    kind[1] = &fmap->model->kind;
    *n = 2;
    return WEFT_OK;
}

/* Training rows of the largest fit, as far as they are known before the folds are. */
static int64_t rows_of_fit(const fmap_task *fmap)
{
    const weft_rows *part = fmap->env.data->part;
    return part[WEFT_TRAIN].total + (fmap->opts.folds > 0 ? part[WEFT_VALID].total : 0);
}

/* Memory of fits with so many columns beside the matrix, bytes per rank. ELIMIT. */
static weft_status fit_memory(const fmap_task *fmap, int64_t columns, double allowed,
                              double *bytes)
{
    *bytes = 0;
    if (!fmap->feature->gram || !fmap->model->memory) return WEFT_OK;
    weft_matrix matrix = {.d = columns, .total = rows_of_fit(fmap), .team = fmap->env.team};
    return fmap->model->memory(fmap->solver, &matrix, allowed, bytes);
}

/* Checks the score that is asked for. ECONF, EDATA. Collective. */
static weft_status measure_setup(fmap_task *fmap)
{
    const weft_data *data = fmap->env.data;
    weft_measure measure = (weft_measure)fmap->opts.score;
    if (fmap->env.scoring || fmap->env.whole) return WEFT_OK;
    int64_t *count = WEFT_NEW(fmap->env.mem, int64_t, data->classes);
    if (weft_measure_joint(measure))
        fmap->valid = fmap_truth(fmap, WEFT_VALID, fmap->env.mem);
    for (int64_t i = 0; weft_measure_joint(measure) && i < fmap_distinct(fmap, WEFT_VALID);
         i++)
        count[fmap->valid.label[i]]++;
    return weft_measure_check(measure, "fmap.score", data->path, data->classes,
                              data->target_scale ? NULL : count, data->class_name);
}

static weft_status fmap_setup(void *self, const weft_env *env)
{
    fmap_task *fmap = self;
    if (env->data->clients != NULL || env->data->form == WEFT_CHARS)
        return weft_fail(WEFT_EDATA,
                         "%s is a federation, and task fmap selects feature maps on one "
                         "data set; use task fed, or pack without clients",
                         env->data->path);
    if (env->whole) fmap->opts.folds = 0;
    if (fmap->opts.folds > 0 && env->scaled)
        return weft_fail(
            WEFT_ECONF,
            "fmap.folds = %lld and run.scale: columns would be scaled by rows "
            "that folds hold out, too; take run.scale out, and let the feature "
            "map do it, as rff.preprocess = standard does",
            (long long)fmap->opts.folds);
    fmap->env = *env;
    fmap->map = weft_arena_alloc(env->mem, 1, fmap->feature->kind.size);
    fmap->solver = weft_arena_alloc(env->mem, 1, fmap->model->kind.size);
    TRY(weft_conf_bind(env->conf, &fmap->feature->kind, fmap->map));
    TRY(weft_conf_bind(env->conf, &fmap->model->kind, fmap->solver));
    fmap->columns = fmap->feature->columns(fmap->map, 1.0);
    double taken;
    TRY(fit_memory(fmap, fmap->columns, env->memory, &taken));
    TRY(fmap_folds_open(fmap, env->memory - taken));
    fmap->map = fmap->fold->map;
    fmap->nstat = fmap->feature->nstat(fmap->map);
    fmap->outputs = fmap->model->outputs(env->data->classes);
    fmap->each = fmap->nstat + fmap->outputs * (fmap->columns + 1);
    if (env->data->target_scale && !fmap->model->numbers)
        return weft_fail(
            WEFT_ECONF,
            "%s has numbers to predict, and fmap.model = %s learns classes; "
            "choose fmap.model = ridge, or task sgd with sgd.model = linear or "
            "mlp",
            env->data->path, fmap->opts.model_name);
    if (!fmap->feature->gram && fmap->model->gramless)
        TRY(fmap->model->gramless(fmap->solver));
    if (fmap->fold->answers.weight && fmap->model->weighs)
        TRY(fmap->model->weighs(fmap->solver));
    TRY(measure_setup(fmap));
    return fmap->opts.unit == FMAP_ITERATIONS ? fmap_pieces_setup(fmap) : WEFT_OK;
}

static void fmap_nstate(const void *self, const weft_job *job, weft_state *size)
{
    const fmap_task *fmap = self;
    (void)job;
    size->nx = fmap->nfold * fmap->each;
    size->naux = fmap->sample ? 1 : fmap->nfold * fmap->npieces;
}

static int fmap_tensors(const void *self, const weft_job *job,
                        weft_tensor out[WEFT_MAX_TENSORS])
{
    const fmap_task *fmap = self;
    int64_t d = fmap->feature->columns(fmap->map, job->feature_fraction);
    int n = 0;
    if (fmap->nfold > 1) out[n++] = (weft_tensor){"folds", 0, 2, {fmap->nfold, fmap->each}};
    if (n > 0) return n;
    if (fmap->nstat > 0) out[n++] = (weft_tensor){"statistics", 0, 1, {fmap->nstat}};
    out[n++] = (weft_tensor){"weights", fmap->nstat, 2, {fmap->outputs, d}};
    out[n++] =
        (weft_tensor){"intercepts", fmap->nstat + fmap->outputs * d, 1, {fmap->outputs}};
    return n;
}

/* The cost of a job, estimated by its feature map and not measured, so that it and
 * decisions based on it are the same on every machine. */
struct work {
    double fit, pass; /* operations: of the fit; of scoring each validation sample once */
    double memory;    /* bytes of the matrix, over all ranks */
    int maps;         /* maps that the job asks to be scored */
};

static struct work work_of(const fmap_task *fmap, const weft_job *job,
                           const fmap_arms *arms)
{
    double train = fmap_rows(fmap, WEFT_TRAIN), valid = fmap_rows(fmap, WEFT_VALID);
    if (fmap->sample) train = fmin(train, job->resource * fmap->nfold);
    double passes = fmap->opts.unit == FMAP_ITERATIONS ? job->resource + 2 : PASSES;
    struct work work = {0};
    for (int i = 0; i < arms->k; i++) {
        work.maps += arms->p[i] > 0;
        if (!(arms->p[i] > 0)) continue;
        double flops, bytes, n;
        fmap->feature->estimate(arms->fold->map, arms->arm[i], train, job->feature_fraction,
                                &flops, &bytes, &n);
        work.fit += arms->p[i] * (flops + passes * 4 * n * fmap->outputs);
        work.memory += arms->p[i] * bytes / fmap->nfold;
        fmap->feature->estimate(arms->fold->map, arms->arm[i], valid, job->feature_fraction,
                                &flops, &bytes, &n);
        work.pass += arms->p[i] * (flops + 2 * n * fmap->outputs);
    }
    return work;
}

/* The number of maps by which each validation sample is scored. With few samples per map
 * the scores are too imprecise to rank maps, and scoring is often cheap compared with a
 * fit, which processes every sample many times: auto takes as many maps per sample as give
 * each map TELL samples, if that costs at most the fraction SCORING of the fit; at least
 * one (split validation) and at most all (full). */
static int passes_of(const fmap_task *fmap, const struct work *work)
{
    if (fmap->opts.validation == SPLIT) return 1;
    if (fmap->opts.validation == FULL) return work->maps;
    double samples = fmap_rows(fmap, WEFT_VALID);
    if (!(samples > 0)) return 1; /* of a winner that is trained on all rows */
    double wanted = fmin(ceil(TELL * work->maps / samples), work->maps);
    return (int)fmax(1, fmin(wanted, floor(SCORING * work->fit / work->pass)));
}

enum { VALID_LOSS, VALID_ERROR, TRAIN_LOSS, RESIDUAL, ITERATIONS };
static const weft_metric fmap_metrics[] = {
    {"valid_loss", "mean validation loss under the mixture", "loss", NULL},
    {"valid_error", "share of wrong answers under the mixture" WEFT_ERROR_OF_NUMBERS, "1",
     "error %"},
    {"train_loss", "objective of the fit per training sample; mean over folds", "loss",
     NULL},
    {"residual", "relative residual of the fit; largest of the folds", "1", NULL},
    {"iterations", "iterations of the fit; mean over folds", "count", NULL},
    {0}};

enum { LOSS, ERROR, QUALITY };
static const weft_metric fmap_scores[] = {
    {"loss",
     "mean loss; of numbers, mean squared error; with folds, over their models, and in "
     "place of valid what each holds out",
     "loss", "loss"},
    {"error", "share of wrong answers" WEFT_ERROR_OF_NUMBERS, "1", "error %"},
    WEFT_QUALITY_SCORES,
    {0}};

/* What was computed from rows counts only if they could be read. */
static weft_status fmap_sound(const fmap_task *fmap)
{
    return weft_agree(weft_data_sound(fmap->env.data), fmap->env.team);
}

/* Numbers to predict, over which losses are means; 1: classes. */
static int targets_of(const fmap_task *fmap)
{
    return fmap->fold->answers.target ? fmap->fold->answers.classes : 1;
}

/* A job in a fold: the maps are fitted and scored. Collective, unless folds are apart. */
static weft_status do_fold(fmap_task *fmap, const weft_job *job, int f, weft_state *state,
                           fmap_tally *tally, weft_fitted *fitted)
{
    WEFT_SCRATCH(tmp);
    fmap_arms arms = fmap_arms_new(fmap, f, &job->mix, tmp);
    real *x = state->x + f * fmap->each;
    weft_status st = fmap_fit(fmap, job, &arms, x, state->aux + f * fmap->npieces, fitted);
    (tally->full ? fmap_score_full : fmap_score_split)(fmap, job, &arms, x, WEFT_VALID,
                                                       tally, tmp);
    return st;
}

/* All ranks get x, which has `bytes` of each fold. Collective. */
static void join_folds(const fmap_task *fmap, void *x, size_t bytes)
{
    weft_team *team = fmap->env.team;
    WEFT_SCRATCH(tmp);
    size_t *count = WEFT_NEW(tmp, size_t, team->size);
    int first;
    for (int r = 0; r < team->size; r++)
        count[r] = (size_t)fmap_own_folds(fmap, r, &first) * bytes;
    if (bytes > 0) weft_join_bytes(team, x, count);
}

/* A job in all folds. *fitted gets the sums of their objectives and iterations, and the
 * largest residual. Collective. */
static weft_status do_folds(fmap_task *fmap, const weft_job *job, weft_state *state,
                            fmap_tally *tally, weft_fitted *fitted)
{
    WEFT_SCRATCH(tmp);
    weft_fitted *one = WEFT_NEW(tmp, weft_fitted, fmap->nfold);
    weft_status st = WEFT_OK;
    int first, n = fmap_own_folds(fmap, fmap->env.team->rank, &first);
    for (int f = first; f < first + n && st == WEFT_OK; f++)
        st = do_fold(fmap, job, f, state, tally, &one[f]);
    if (fmap->apart) {
        st = weft_agree(st, fmap->env.team);
        join_folds(fmap, state->x, (size_t)fmap->each * sizeof *state->x);
        join_folds(fmap, state->aux, (size_t)fmap->npieces * sizeof *state->aux);
        join_folds(fmap, one, sizeof *one);
    }
    for (int f = 0; f < fmap->nfold; f++) {
        fitted->objective += one[f].objective;
        fitted->iterations += one[f].iterations;
        fitted->diverged |= one[f].diverged;
        if (f == 0 || one[f].residual > fitted->residual)
            fitted->residual = one[f].residual;
    }
    return st;
}

/* The score of the job and its maps; 0 where all rows are fitted, so that none is left to
 * score. Collective. */
static void tell(fmap_task *fmap, const fmap_arms *arms, fmap_tally *tally,
                 weft_result *res)
{
    weft_measure measure = (weft_measure)fmap->opts.score;
    double *m = res->metric, sum = 0, shares = 0;
    res->by_error = measure != WEFT_BY_LOSS;
    if (fmap->env.whole) return;
    res->loss = m[res->by_error ? VALID_ERROR : VALID_LOSS];
    if (measure == WEFT_BY_LOG_ERROR)
        res->loss = log(fmax(res->loss, 0.5 / (double)tally->rows));
    if (!weft_measure_joint(measure)) return;
    fmap_tally_measure(fmap, measure, &fmap->valid, tally, arms->k, res->arm_score);
    for (int i = 0; i < arms->k; i++) {
        if (!(res->arm_count[i] > 0)) continue;
        sum += arms->p[i] * res->arm_score[i];
        shares += arms->p[i];
    }
    res->loss = shares > 0 ? sum / shares : INFINITY;
}

/* Sums and means of the scores, and of the fits. Collective. */
static void conclude(fmap_task *fmap, const fmap_arms *arms, fmap_tally *tally,
                     const weft_fitted *fitted, weft_result *res)
{
    double *m = res->metric;
    fmap_tally_close(fmap, arms, !tally->full, tally, &m[VALID_LOSS], &m[VALID_ERROR]);
    for (int i = 0; i < arms->k; i++) {
        res->arm_loss[i] = fmap_loss(fmap, weft_unfix(tally->loss[i], tally->scale));
        res->arm_wrong[i] = weft_unfix(tally->wrong[i], tally->unit);
        res->arm_count[i] = weft_unfix(tally->count[i], tally->unit);
    }
    tell(fmap, arms, tally, res);
    if (fitted->diverged) res->loss = INFINITY;
    m[TRAIN_LOSS] = fmap_loss(fmap, fitted->objective / fmap->nfold / targets_of(fmap));
    m[RESIDUAL] = fitted->residual;
    m[ITERATIONS] = (double)fitted->iterations / fmap->nfold;
}

/* A job with rows fits all that its trial has, those of earlier jobs once more. */
static double fmap_seconds(const void *self, const weft_job *job, double before)
{
    const fmap_task *fmap = self;
    return fmap->opts.unit == FMAP_ROWS && job->resource > 0 ? before + job->resource
                                                             : job->resource;
}

static weft_status fmap_step(void *self, const weft_job *job, int64_t unit,
                             weft_state *state, double *row, weft_result *res)
{
    fmap_task *fmap = self;
    (void)unit;
    (void)row;
    weft_check(fmap->opts.unit == FMAP_FITS || job->mix.k == 1, "%d maps", job->mix.k);
    if (fmap->sample) TRY(fmap_sample_take(fmap, state->aux[0] += job->resource));
    WEFT_SCRATCH(tmp);
    fmap_arms arms = fmap_arms_new(fmap, 0, &job->mix, tmp);
    struct work work = work_of(fmap, job, &arms);
    fmap_tally tally =
        fmap_tally_new(fmap, &arms, WEFT_VALID, passes_of(fmap, &work), work.maps, tmp);
    if (weft_measure_joint((weft_measure)fmap->opts.score))
        fmap_tally_keep(fmap, &tally, tmp);
    weft_fitted fitted = {0};
    weft_status st = do_folds(fmap, job, state, &tally, &fitted);
    conclude(fmap, &arms, &tally, &fitted, res);
    res->cost = fmap_seconds(fmap, job, fmap->sample ? state->aux[0] - job->resource : 0);
    fmap->fold = fmap->all;
    TRY(st);
    return fmap_sound(fmap);
}

/* With folds, means over their models, and in place of valid what each holds out; but of
 * other data all score the valid part. */
static weft_status fmap_score(void *self, const weft_job *job, const weft_state *state,
                              weft_part part, weft_scores *out)
{
    fmap_task *fmap = self;
    const real *x = state->x;
    if (fmap->nfold > 1 && part == WEFT_VALID && !fmap_is_held(fmap, part))
        weft_log(WEFT_WARN,
                 "with fmap.folds the winner was fitted to the valid part of its "
                 "own data, too: its valid scores are of unseen samples on other "
                 "data alone");
    WEFT_SCRATCH(tmp);
    fmap_arms arms = fmap_arms_new(fmap, 0, &job->mix, tmp);
    weft_state own = weft_state_new(&weft_task_fmap, fmap, job, tmp);
    memcpy(own.x, x, (size_t)own.nx * sizeof *x);
    fmap_tally tally = fmap_tally_new(fmap, &arms, part, 1, 0, tmp);
    int said = arms.k == 1 && weft_quality_fits(tally.rows, fmap->env.data->classes);
    if (said) fmap_tally_keep(fmap, &tally, tmp);
    int first = 0, n = fmap->nfold;
    if (tally.held) n = fmap_own_folds(fmap, fmap->env.team->rank, &first);
    for (int f = first; f < first + n; f++) {
        fmap_arms maps = fmap_arms_new(fmap, f, &job->mix, tmp);
        fmap_score_split(fmap, job, &maps, own.x + f * fmap->each, part, &tally, tmp);
    }
    *out = weft_scores_none();
    out->count = (double)tally.rows;
    fmap_tally_close(fmap, &arms, 1, &tally, &out->metric[LOSS], &out->metric[ERROR]);
    if (said) {
        weft_predictions predictions = fmap_tally_said(fmap, &tally);
        weft_truth truth = fmap_truth(fmap, part, tmp);
        weft_scores_judge(&predictions, &truth, QUALITY, out, fmap->env.mem);
    }
    return fmap_sound(fmap);
}

static weft_status fmap_predicts(void *self, const weft_job *job, const weft_state *state,
                                 weft_part part, weft_predictions *out, weft_arena *mem)
{
    fmap_task *fmap = self;
    WEFT_SCRATCH(tmp);
    weft_state own = weft_state_new(&weft_task_fmap, fmap, job, tmp);
    memcpy(own.x, state->x, (size_t)own.nx * sizeof *own.x);
    weft_status st = fmap_predict(fmap, job, own.x, part, out, mem);
    return st == WEFT_OK ? fmap_sound(fmap) : st;
}

static int64_t fmap_affinity(const void *self, const weft_job *job)
{
    const fmap_task *fmap = self;
    if (job->mix.k > 1) return -1;
    WEFT_SCRATCH(tmp);
    int64_t a =
        fmap->feature->affinity(fmap->map, fmap_arm(fmap, fmap->fold, job->mix.conf, tmp));
    return a;
}

/* Operations of a fit of a map to the rows of train and valid, in pieces of an iteration of
 * it. */
static double again_of(const fmap_task *fmap, const weft_job *job, const fmap_arms *arms)
{
    const weft_rows *part = fmap->env.data->part;
    double rows = (double)(part[WEFT_TRAIN].total + part[WEFT_VALID].total), flops, bytes,
           n;
    fmap->feature->estimate(arms->fold->map, arms->arm[0], rows, job->feature_fraction,
                            &flops, &bytes, &n);
    double pass = 4 * n * fmap->outputs;
    return fmap->opts.unit == FMAP_ITERATIONS ? pass : flops + PASSES * pass;
}

/* Making the matrices and products with the training matrix; sums of d columns; memory of
 * the matrix, of vectors, and of what the model factors. Of folds that are apart each is on
 * one rank. */
static void fmap_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const fmap_task *fmap = self;
    double ranks = fmap->apart ? 1 : fmap->env.team->size,
           d = (double)fmap->columns * job->feature_fraction;
    WEFT_SCRATCH(tmp);
    fmap_arms arms = fmap_arms_new(fmap, 0, &job->mix, tmp);
    struct work work = work_of(fmap, job, &arms);
    int passes = passes_of(fmap, &work);
    *out = (weft_cost){
        .again = again_of(fmap, job, &arms),
        .flops = work.fit + passes * work.pass,
        .bytes = ranks > 1 ? fmap->nfold * PASSES * 8 * d * fmap->outputs * ranks : 0,
        .passes = fmap->nfold * PASSES};
    double factor;
    weft_status any = fit_memory(fmap, (int64_t)d, INFINITY, &factor);
    out->memory = work.memory / ranks + 8 * 6 * d * fmap->outputs +
                  (any == WEFT_OK ? factor : 0) + fmap->copied;
}

const weft_task weft_task_fmap = {
    .kind = WEFT_KIND("fmap", fmap_task, fmap_opts,
                      "select a feature map: a linear model shared by many maps"),
    .traits = {.numbers = 1,
               .balances = 1,
               .metrics = fmap_metrics,
               .scores = fmap_scores,
               .lost = "which range of the model or the feature map is so large that all "
                       "fits diverge"},
    .tuner = "ws_sha",
    .plan = {.resource = fmap_resource, .most = fmap_most, .single = fmap_single},
    .winner = {.refit = fmap_refit,
               .tensors = fmap_tensors,
               .score = fmap_score,
               .predict = fmap_predicts},
    .choices = fmap_choices,
    .tuned = fmap_tuned,
    .setup = fmap_setup,
    .nstate = fmap_nstate,
    .affinity = fmap_affinity,
    .cost = fmap_cost,
    .timing = {.seconds = fmap_seconds, .repeats = 1},
    .ahead = fmap_ahead,
    .step = fmap_step,
};
