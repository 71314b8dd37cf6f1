/* Task sgd: a network trained by steps of minibatches on one data set, or on the samples of
 * all clients of a federation together, by all ranks of a team. A job is some epochs of one
 * configuration; its score is that on the development part, which also decides when a
 * training that no longer improves is stopped and which epoch's weights are kept. In
 * cross-validation a trial has a network for each fold, which a job takes one after the
 * other, and the score is pooled over them; the held-out samples of each fold are scored
 * too, but not used for stopping or selection. State of a trial: x = [folds][weights that
 * are scored], if the best are kept also [folds][weights of the last epoch], then
 * [folds][vectors of the optimizer]; aux = a sgd_head for each fold. */
#include "sgd.h"
#include "weft/base/base.h"
#include "weft/registry.h"

#include <math.h>
#include <string.h>

#define NORMAL_95 1.95996398454005 /* 97.5 % quantile of N(0, 1) */

static const weft_opt sgd_opts[] = {
    WEFT_TEXT_OPT("model", sgd_task, opts.net_name, "mlp",
                  "network that is trained; `weft list nets`"),
    WEFT_WORD_OPTS(sgd_task, words),
    WEFT_CHOICE_OPT("target", sgd_task, opts.target, "last", "last|all",
                    "text: characters of a window that are predicted: the last, or all"),
    WEFT_CHOICE_OPT("score", sgd_task, opts.score, "accuracy", WEFT_MEASURES,
                    "score on the development part that is minimised and stops "
                    "training: " WEFT_MEASURES_ABOUT
                    "The last four take another pass over the rows. With folds, the mean "
                    "over their parts. Of equal scores the lower mean "
                    "loss wins"),
    WEFT_CHOICE_OPT(
        "keep", sgd_task, opts.keep, "best", "best|last",
        "weights that are scored: of the epoch that was best on the development part, or "
        "of the last. A training that diverged has the loss infinity in either case"),
    WEFT_LONG_OPT("patience", sgd_task, opts.patience, "0", 0, 1e9,
                  "epochs without improvement on the development part after which training "
                  "stops; 0: it does not. If it does, a job lasts as many virtual seconds "
                  "as epochs trained, on average over folds"),
    WEFT_LONG_OPT(
        "steps", sgd_task, opts.steps, "0", 0, 1e12,
        "steps per epoch, the unit of resource; 0: as many as process each sample once"),
    WEFT_REAL_OPT("dev", sgd_task, opts.dev, "0", 0, 0.9,
                  "share of the training samples that is the development part; 0: the "
                  "valid part of the data, or with folds a tenth"),
    WEFT_LONG_OPT("folds", sgd_task, opts.folds, "0", 0, 1000,
                  "cross-validation over the train and valid parts in that many folds, "
                  "each with a network of its own; groups of rows stay whole; 0: none"),
    WEFT_LONG_OPT("fold", sgd_task, opts.fold, "-1", -1, 999,
                  "the fold that is trained, from 0; -1: all"),
    WEFT_BOOL_OPT("literal", sgd_task, opts.literal, "no",
                  "with folds: the development part is what is held out, as in published "
                  "programs that stop and select on their test folds"),
    WEFT_INT_OPT(
        "parts", sgd_task, opts.parts, "4", 1, 4096,
        "pieces into which a batch is divided for the ranks. Their gradients are summed "
        "exactly: results depend on the pieces, not on the number of ranks"),
    {0},
};

/* What is measured, by the numbers of the tables' rows. */
enum {
    VALID_LOSS,
    VALID_ERROR,
    TRAIN_LOSS,
    BEST_EPOCH,
    EPOCHS,
    FOLD_ERROR,
    FOLD_HALF,
    FOLD_LOSS
};
static const weft_metric sgd_metrics[] = {
    {"valid_loss", "mean loss on the development part, of the weights that are kept",
     "loss", NULL},
    {"valid_error", "share of wrong answers on the development part" WEFT_ERROR_OF_NUMBERS,
     "1", "error %"},
    {"train_loss", "mean over the samples of the last epoch, as they were trained on",
     "loss", NULL},
    {"best_epoch", "epoch whose weights are kept; mean over folds", "count", NULL},
    {"epochs", "epochs trained; mean over folds", "count", NULL},
    {"fold_error", "share of wrong answers on what the folds hold out; nan: no folds", "1",
     "held out %"},
    {"fold_half", "half the width of the 95 % interval of fold_error", "1", NULL},
    {"fold_loss", "mean loss on what the folds hold out", "loss", NULL},
    {0}};

enum { ROW_LOSS, ROW_ERROR, ROW_TRAIN, ROW_FOLD, ROW_SAMPLES, ROW_DIVERGED };
static const weft_metric sgd_columns[] = {
    {"valid_loss", "mean loss on the development part after the epoch", "loss", NULL},
    {"valid_error", "share of wrong answers on the development part after the epoch", "1",
     NULL},
    {"train_loss", "mean over the samples of the epoch, as they were trained on", "loss",
     NULL},
    {"fold", "number of the fold", "index", NULL},
    {"samples", "samples trained on", "count", "samples"},
    {"diverged", "1: the training diverged", "0 or 1", "diverged"},
    {0}};

static const weft_metric sgd_scores[] = {
    {"loss",
     "mean loss; with folds, over their networks, and in place of valid what each holds "
     "out",
     "loss", "loss"},
    {"error", "share of wrong answers, of the same samples" WEFT_ERROR_OF_NUMBERS, "1",
     "error %"},
    WEFT_QUALITY_SCORES,
    WEFT_TEXT_SCORES, /* means over directions */
    {0}};

static const weft_kind *const sgd_parts[] = {&sgd_train_kind, &weft_context_kind, NULL};

/* ---- setup ---- */

static const weft_choice sgd_choices[] = {{"model", weft_net_kinds}, {0}};

static weft_status sgd_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    sgd_task *sgd = self;
    TRY(weft_net_find(sgd->opts.net_name, &sgd->net));
    kind[0] = &sgd->net->kind;
    kind[1] = &sgd_train_kind;
    kind[2] = &weft_context_kind;
    *n = 3;
    return WEFT_OK;
}

/* Warns of ranks that do not help. */
static void check_ranks(const sgd_task *sgd)
{
    int ranks = sgd->env.team->size;
    if (sgd->env.scoring || sgd->opts.parts >= ranks) return;
    weft_log(WEFT_WARN,
             "sgd.parts = %d, but teams have %d ranks, of which %d compute no gradients of "
             "their own; set run.teams so that teams have at most %d, or sgd.parts = %d, "
             "which changes last bits",
             sgd->opts.parts, ranks, ranks - sgd->opts.parts, sgd->opts.parts, ranks);
}

/* ECONF: options that have no effect with the others. */
static weft_status check_unused(const sgd_task *sgd)
{
    if (sgd->opts.folds == 0 && (sgd->opts.fold >= 0 || sgd->opts.literal))
        return weft_fail(WEFT_ECONF,
                         "sgd.%s has no effect without sgd.folds; set sgd.folds, or take "
                         "it out",
                         sgd->opts.literal ? "literal = yes" : "fold");
    if (!sgd->env.scoring) TRY(sgd_check_noise(sgd));
    if (sgd->env.data->form == WEFT_TOKENS) return WEFT_OK;
    return weft_word_unused(&sgd->words, "sgd", sgd->env.data->path);
}

/* Options of a winner that is trained on all rows: none is left that it could be scored on,
 * or stopped by. */
static void take_whole(sgd_task *sgd)
{
    sgd->opts.folds = sgd->opts.patience = 0;
    sgd->opts.fold = -1;
    sgd->opts.literal = 0;
    sgd->opts.dev = 0;
    sgd->opts.keep = SGD_KEEP_LAST;
    sgd->opts.score = WEFT_BY_LOSS;
}

static weft_status sgd_setup(void *self, const weft_env *env)
{
    sgd_task *sgd = self;
    sgd->env = *env;
    sgd->source = weft_forms[env->data->form]->written ? &sgd_pairs
                  : env->data->clients                 ? &sgd_pooled
                                                       : &sgd_own;
    sgd->each = 1;
    sgd->unit = 1;
    sgd->asked = 0;
    sgd->fixed = weft_arena_alloc(env->mem, 1, sgd->net->kind.size);
    TRY(weft_conf_bind(env->conf, &sgd->net->kind, sgd->fixed));
    TRY(weft_conf_bind(env->conf, &sgd_train_kind, &sgd->train));
    TRY(weft_conf_bind(env->conf, &weft_context_kind, &sgd->context));
    if (env->whole) take_whole(sgd);
    TRY(check_unused(sgd));
    TRY(sgd_open(sgd));
    TRY(sgd_divide(sgd));
    check_ranks(sgd);
    if (sgd->source->check) TRY(sgd->source->check(sgd));
    return sgd_check_memory(sgd);
}

/* ---- state ---- */

static void sgd_nstate(const void *self, const weft_job *job, weft_state *size)
{
    const sgd_task *sgd = self;
    WEFT_SCRATCH(tmp);
    sgd_model model = {0};
    if (job)
        model = sgd_model_of(sgd, job, tmp);
    else if (sgd_model_largest(sgd, tmp, &model) != WEFT_OK)
        weft_die("%s", weft_error());
    size->nx = sgd_state_size(sgd, &model);
    size->naux = (int64_t)sgd->nfold * SGD_HEAD;
}

static int sgd_tensors(const void *self, const weft_job *job,
                       weft_tensor out[WEFT_MAX_TENSORS])
{
    const sgd_task *sgd = self;
    WEFT_SCRATCH(tmp);
    sgd_model model = sgd_model_of(sgd, job, tmp);
    int n = 1;
    if (sgd->nfold == 1)
        n = model.contexts ? weft_contexts_tensors(model.contexts, out)
                           : sgd->net->tensors(model.self, out);
    else
        out[0] = (weft_tensor){"weights", 0, 2, {sgd->nfold, model.n}};
    return n;
}

static void sgd_by_client(const void *self, const weft_job *job, char by[WEFT_MAX_TENSORS])
{
    const sgd_task *sgd = self;
    WEFT_SCRATCH(tmp);
    sgd_model model = sgd_model_of(sgd, job, tmp);
    if (model.contexts && model.contexts->alike)
        weft_contexts_by_language(model.contexts, by);
}

static int sgd_known(const void *self, const weft_job *job,
                     weft_tensor out[WEFT_MAX_TENSORS])
{
    const sgd_task *sgd = self;
    return sgd->source->known ? sgd->source->known(sgd, job, out) : 0;
}

static void sgd_word_weights(const void *self, const weft_job *job, weft_word_weights *out)
{
    const sgd_task *sgd = self;
    WEFT_SCRATCH(tmp);
    weft_table table = sgd_model_of(sgd, job, tmp).table;
    if (table.rows > 0)
        *out = (weft_word_weights){.vocab = &sgd->own.vocab[sgd->words.tokenizer],
                                   .table = table,
                                   .networks = sgd->nfold};
}

/* The weights of fold f that are scored, that are trained, and what the optimizer keeps. */
static real *kept_of(const sgd_model *model, int f, real *x)
{
    return x + f * model->n;
}

static real *trained_of(const sgd_task *sgd, const sgd_model *model, int f, real *x)
{
    return x + ((model->copies - 1) * sgd->nfold + f) * model->n;
}

static real *slots_of(const sgd_task *sgd, const sgd_model *model, int f, real *x)
{
    return x + (model->copies * sgd->nfold + f * model->slots) * model->n;
}

static sgd_head *head_of(int f, double *aux)
{
    return (sgd_head *)(aux + f * SGD_HEAD);
}

static void sgd_start(const void *self, const weft_job *job, weft_state *state)
{
    const sgd_task *sgd = self;
    WEFT_SCRATCH(tmp);
    sgd_model model = sgd_model_of(sgd, job, tmp);
    for (int f = 0; f < sgd->nfold; f++) {
        uint64_t fold = (uint64_t)(sgd->opts.fold < 0 ? f : sgd->opts.fold);
        weft_rng4 rng = weft_rng_at(sgd->env.seed, WEFT_RNG_WEIGHTS, fold, 0, 2);
        real *w = trained_of(sgd, &model, f, state->x);
        if (model.contexts)
            weft_contexts_init(model.contexts, sgd->env.seed, w);
        else
            sgd->net->init(model.self, fold == 0 ? sgd->env.seed : rng.v[0], w);
        memmove(kept_of(&model, f, state->x), w, (size_t)model.n * sizeof *w);
        *head_of(f, state->aux) = (sgd_head){.trial = -1, .best = INFINITY};
    }
}

static int64_t sgd_resource(const void *self)
{
    (void)self;
    return 25;
}

/* As many epochs as were best, where the best weights are kept. */
static double sgd_refit(const void *self, const weft_result *res)
{
    const sgd_task *sgd = self;
    double epochs = res->metric[sgd->opts.keep == SGD_KEEP_BEST ? BEST_EPOCH : EPOCHS];
    return isfinite(epochs) ? fmax(floor(epochs + 0.5), 1) : res->resource;
}

static int64_t epochs_of(const weft_job *job)
{
    return job->resource >= 1 ? (int64_t)job->resource : 0;
}

/* With patience, jobs are charged for the epochs that they train, which are known when they
 * end: at least one of a new trial, none of a trial that has stopped. Without patience the
 * charge is the resource, as divergence alone ends a training early then, and is not worth
 * that teams wait for results whose times could have been known. */
static double sgd_seconds(const void *self, const weft_job *job, double before)
{
    const sgd_task *sgd = self;
    if (sgd->opts.patience == 0) return job->resource;
    return before > 0 || epochs_of(job) == 0 ? 0 : 1;
}

static int64_t sgd_units(const void *self, const weft_job *job)
{
    const sgd_task *sgd = self;
    int64_t epochs = epochs_of(job);
    return sgd->nfold * (epochs > 0 ? epochs : 1);
}

/* Of several folds one is trained after the other, each in all epochs. Schedules of rates
 * have a horizon of their own. */
static int sgd_grows(const void *self)
{
    const sgd_task *sgd = self;
    return sgd->opts.folds == 0 || sgd->opts.fold >= 0;
}

/* ---- work ---- */

/* Scores the weights after an epoch on the development part, and stores them if they are
 * the ones to keep. Returns 0 if their loss is not finite. */
static int judge(sgd_task *sgd, const sgd_model *model, int f, sgd_head *head, real *x,
                 double *row)
{
    const real *w = trained_of(sgd, model, f, x);
    weft_measure measure = (weft_measure)sgd->opts.score;
    sgd_sums dev = sgd_score_rows(sgd, model, &sgd->at[f].dev, w);
    row[ROW_LOSS] = dev.loss / dev.count;
    row[ROW_ERROR] = dev.wrong / dev.count;
    if (weft_measure_joint(measure))
        dev.measured = dev.count * sgd_measure(sgd, measure, model, &sgd->at[f].dev, w);
    double score = sgd_sums_score(sgd, &dev);
    int better = score < head->best;
    if (better) {
        head->best = score;
        head->best_epoch = head->epochs;
    }
    if (better || sgd->opts.keep == SGD_KEEP_LAST) {
        head->dev = dev;
        memmove(kept_of(model, f, x), w, (size_t)model->n * sizeof *w);
    }
    if (sgd->opts.patience > 0 &&
        head->epochs - head->best_epoch >= (double)sgd->opts.patience)
        head->stopped = 1;
    return isfinite(dev.loss);
}

/* Does one epoch of fold f, unless its training has ended. */
static weft_status train(sgd_task *sgd, const sgd_model *model, int f, sgd_head *head,
                         real *x, double *row)
{
    int good;
    if (head->stopped > 0) return WEFT_OK;
    head->epochs++;
    TRY(sgd_epoch(sgd, model, f, head, trained_of(sgd, model, f, x),
                  slots_of(sgd, model, f, x), &good));
    if (good) {
        good = judge(sgd, model, f, head, x, row);
        row[ROW_SAMPLES] = head->train_count;
        row[ROW_TRAIN] = head->train_loss / head->train_count;
    }
    if (good) return WEFT_OK;
    head->stopped = 2;
    row[ROW_DIVERGED] = 1;
    if (sgd->warned++ == 0)
        weft_log(WEFT_WARN,
                 "trial %.0f diverged in epoch %.0f; train.lr may be too high, or numbers "
                 "of the data too large",
                 head->trial, head->epochs);
    return WEFT_OK;
}

/* Half the width of the 95 % interval of an error rate; NAN: of numbers. */
static double half_width(const sgd_task *sgd, const sgd_sums *sums)
{
    double p = sums->wrong / sums->count;
    if (sgd->shape.numbers) return NAN;
    return NORMAL_95 * sqrt(p * (1 - p) / sums->count);
}

/* Fills the result from all folds. If the training of one diverged, the loss is INFINITY,
 * whatever weights are kept: those that a later job would go on with are ruined. */
static void conclude(const sgd_task *sgd, const weft_job *job, double *aux,
                     weft_result *res)
{
    sgd_sums dev = {0}, held = {0};
    double loss = 0, count = 0, best = 0, epochs = 0, trained = 0;
    int diverged = 0;
    for (int f = 0; f < sgd->nfold; f++) {
        sgd_head *head = head_of(f, aux);
        sgd_sums_add(&dev, &head->dev);
        sgd_sums_add(&held, &head->held);
        loss += head->train_loss;
        count += head->train_count;
        best += head->best_epoch / sgd->nfold;
        epochs += head->epochs / sgd->nfold;
        trained += head->epochs - head->begun;
        head->begun = 0;
        diverged |= head->stopped > 1;
    }
    double *m = res->metric;
    m[VALID_LOSS] = dev.loss / dev.count;
    m[VALID_ERROR] = dev.wrong / dev.count;
    m[TRAIN_LOSS] = loss / count;
    m[BEST_EPOCH] = best;
    m[EPOCHS] = epochs;
    if (held.count > 0) {
        m[FOLD_ERROR] = held.wrong / held.count;
        m[FOLD_HALF] = half_width(sgd, &held);
        m[FOLD_LOSS] = held.loss / held.count;
    }
    int joint = weft_measure_joint((weft_measure)sgd->opts.score);
    res->by_error = joint || sgd->opts.score == WEFT_BY_ACCURACY;
    res->loss = diverged ? INFINITY : sgd_sums_score(sgd, &dev);
    int known = sgd->opts.score == WEFT_BY_ACCURACY && isfinite(res->loss);
    res->bound = known ? half_width(sgd, &dev) : (double)NAN;
    res->cost = sgd->opts.patience > 0 ? trained / sgd->nfold : job->resource;
    res->arm_loss[0] = dev.loss;
    res->arm_wrong[0] = dev.wrong;
    if (joint) res->arm_score[0] = dev.measured / dev.count;
    res->arm_count[0] = dev.count;
}

/* What was computed from samples counts only if they could be read. */
static weft_status sgd_sound(const sgd_task *sgd)
{
    return weft_agree(weft_data_sound(sgd->opened ? &sgd->own : sgd->env.data),
                      sgd->env.team);
}

static weft_status sgd_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    sgd_task *sgd = self;
    if (job->mix.k > 1)
        return weft_fail(WEFT_ECONF,
                         "task sgd trains one configuration at a time, and this tuner asks "
                         "for mixtures of them; choose run.tuner = random, sha, hyperband, "
                         "asha or pbt, and run.mixing = none");
    WEFT_SCRATCH(tmp);
    sgd_model model = sgd_model_of(sgd, job, tmp);
    int64_t epochs = epochs_of(job), each = epochs > 0 ? epochs : 1;
    int f = (int)(unit / each);
    sgd_head *head = head_of(f, state->aux);
    if (fabs(head->trial - (double)job->trial) >
        0) {                 /* its weights are new or copied from another trial */
        if (head->trial < 0) /* or those of run.start, which are what is scored */
            memmove(trained_of(sgd, &model, f, state->x), kept_of(&model, f, state->x),
                    (size_t)model.n * sizeof *state->x);
        head->trial = (double)job->trial;
        head->stopped = 0;
        head->best_epoch = head->epochs;
    }
    if (unit % each == 0) head->begun = head->epochs;
    if (unit == 0) sgd->each = 1; /* steps of another configuration take another time */
    row[ROW_LOSS] = row[ROW_ERROR] = row[ROW_TRAIN] = NAN;
    row[ROW_FOLD] = (double)(sgd->opts.fold < 0 ? f : sgd->opts.fold);
    weft_status st = WEFT_OK;
    if (epochs > 0)
        st = train(sgd, &model, f, head, state->x, row);
    else if (!(head->dev.count > 0))
        judge(sgd, &model, f, head, state->x, row);
    if (st == WEFT_OK && unit % each + 1 == each && sgd->at[f].held.n > 0)
        head->held =
            sgd_score_rows(sgd, &model, &sgd->at[f].held, kept_of(&model, f, state->x));
    if (st == WEFT_OK && unit + 1 == sgd_units(sgd, job))
        conclude(sgd, job, state->aux, res);
    return st == WEFT_OK ? sgd_sound(sgd) : st;
}

/* The rows of a part. */
static sgd_rows rows_of(const sgd_task *sgd, weft_part part, weft_arena *mem)
{
    int64_t n = sgd->first[part + 1] - sgd->first[part];
    int64_t *row = WEFT_NEW(mem, int64_t, n);
    for (int64_t i = 0; i < n; i++) row[i] = sgd->first[part] + i;
    return (sgd_rows){n, row};
}

/* With folds, means over their networks; but their networks were trained on the valid part,
 * too, and are scored on what each holds out in its place. */
static weft_status sgd_score(void *self, const weft_job *job, const weft_state *state,
                             weft_part part, weft_scores *out)
{
    sgd_task *sgd = self;
    const real *x = state->x;
    WEFT_SCRATCH(tmp);
    sgd_model model = sgd_model_of(sgd, job, tmp);
    int folds = sgd->opts.folds > 0 && part == WEFT_VALID;
    if (folds && !sgd->at)
        weft_log(WEFT_WARN, "with sgd.folds the winner was trained on the valid part of "
                            "its own data, too: its valid scores are of unseen samples "
                            "on other data alone");
    int held = folds && sgd->at;
    sgd_rows all = rows_of(sgd, part, tmp);
    if (sgd->source->scored) all = sgd->source->scored(sgd, &all, tmp);
    sgd_sums sum = {0};
    int64_t rows = 0;
    for (int f = 0; f < sgd->nfold; f++) {
        const sgd_rows *own = held ? &sgd->at[f].held : &all;
        sgd_sums one = sgd_score_rows(sgd, &model, own, x + f * model.n);
        sgd_sums_add(&sum, &one);
        rows += own->n;
    }
    *out = weft_scores_none();
    out->metric[0] = sum.loss / sum.count;
    out->metric[1] = sum.wrong / sum.count;
    double count = sgd_weighs(sgd) ? (double)rows : sum.count;
    out->count = held ? count : count / sgd->nfold;
    if (sgd->source->score && part != WEFT_TRAIN)
        sgd->source->score(sgd, &model, part, &all, x, out);
    else if (!held && !sgd->source->score)
        sgd_judge(sgd, &model, &all, x, out, sgd->env.mem);
    return sgd_sound(sgd);
}

static weft_status sgd_predicts(void *self, const weft_job *job, const weft_state *state,
                                weft_part part, weft_predictions *out, weft_arena *mem)
{
    sgd_task *sgd = self;
    WEFT_SCRATCH(tmp);
    sgd_model model = sgd_model_of(sgd, job, tmp);
    sgd_rows rows = rows_of(sgd, part, tmp);
    weft_status st = WEFT_OK;
    if (sgd->source->say)
        sgd->source->say(sgd, &model, part, &rows, state->x, out, mem);
    else
        st = sgd_predict(sgd, &model, &rows, sgd->nfold, state->x, out, mem);
    return st == WEFT_OK ? sgd_sound(sgd) : st;
}

const weft_task weft_task_sgd = {
    .kind = WEFT_KIND("sgd", sgd_task, sgd_opts,
                      "a network trained by minibatches on one data set"),
    .traits = {.numbers = 1,
               .scaled = 1,
               .balances = 1,
               .defaults = 1,
               .metrics = sgd_metrics,
               .rows = sgd_columns,
               .scores = sgd_scores,
               .members = "directions",
               .lost = "which rate or range is so large that all trainings diverge"},
    .parts = sgd_parts,
    .tuner = "asha",
    .plan = {.resource = sgd_resource, .grows = sgd_grows},
    .winner = {.refit = sgd_refit,
               .tensors = sgd_tensors,
               .by_client = sgd_by_client,
               .known = sgd_known,
               .words = sgd_word_weights,
               .score = sgd_score,
               .predict = sgd_predicts},
    .choices = sgd_choices,
    .tuned = sgd_tuned,
    .setup = sgd_setup,
    .nstate = sgd_nstate,
    .start = sgd_start,
    .cost = sgd_cost,
    .timing = {.seconds = sgd_seconds},
    .units = sgd_units,
    .step = sgd_step,
};
