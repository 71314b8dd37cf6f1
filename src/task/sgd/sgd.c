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
#include "data.h"
#include "model.h"
#include "opts.h"
#include "step.h"
#include "weft/registry.h"
#include "words.h"

#include <math.h>
#include <string.h>

#define NORMAL_95 1.95996398454005 /* 97.5 % quantile of N(0, 1) */

/* ---- setup ---- */

static const weft_choice sgd_choices[] = {{"model", weft_net_kinds}, {0}};

static weft_status sgd_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    sgd *t = self;
    TRY(weft_net_find(t->net_name, &t->net));
    kind[0] = &t->net->kind;
    kind[1] = &sgd_train_kind;
    *n = 2;
    return WEFT_OK;
}

/* Bytes of a rank: the state, gradients of the pieces and their sum. */
static double memory_of(const sgd *t, const sgd_model *m)
{
    double gradient = (double)sgd_gradient_size(t, m, m->train.batch);
    return (double)sizeof(real) *
           ((double)sgd_state_size(t, m) + gradient * (t->parts + 1));
}

/* ELIMIT if weights, gradients of the pieces and their sums exceed the memory. */
static weft_status check_memory(const sgd *t)
{
    weft_arena *tmp = weft_arena_new();
    sgd_model m = {0};
    weft_status st = sgd_model_largest(t, tmp, &m);
    weft_arena_free(tmp);
    TRY(st);
    double bytes = memory_of(t, &m);
    if (bytes <= t->env.memory) return WEFT_OK;
    return weft_fail(
        WEFT_ELIMIT,
        "sgd.model = %s has up to %lld weights, whose training in %d pieces "
        "takes %.3g GB; run.memory allows %g GB a rank: make the model smaller, "
        "or allow more",
        t->net_name, (long long)m.n, t->parts, bytes / 1e9, t->env.memory / 1e9);
}

/* Warns of ranks that do not help. */
static void check_ranks(const sgd *t)
{
    int ranks = t->env.team->size;
    if (t->env.scoring || t->parts >= ranks) return;
    weft_log(WEFT_WARN,
             "sgd.parts = %d, but teams have %d ranks, of which %d compute no gradients of "
             "their own; set run.teams so that teams have at most %d, or sgd.parts = %d, "
             "which changes last bits",
             t->parts, ranks, ranks - t->parts, t->parts, ranks);
}

/* ECONF: options that have no effect with the others. */
static weft_status check_unused(const sgd *t)
{
    if (t->folds == 0 && (t->fold >= 0 || t->literal))
        return weft_fail(WEFT_ECONF,
                         "sgd.%s has no effect without sgd.folds; set sgd.folds, or take "
                         "it out",
                         t->literal ? "literal = yes" : "fold");
    if (t->env.data->form == WEFT_TOKENS) return WEFT_OK;
    return weft_word_unused(&t->words, "sgd", t->env.data->path);
}

static weft_status sgd_setup(void *self, const weft_env *env)
{
    sgd *t = self;
    t->env = *env;
    t->each = 1;
    t->asked = 0;
    t->fixed = weft_arena_alloc(env->mem, 1, t->net->kind.size);
    TRY(weft_conf_bind(env->conf, &t->net->kind, t->fixed));
    TRY(weft_conf_bind(env->conf, &sgd_train_kind, &t->train));
    TRY(check_unused(t));
    TRY(sgd_open(t));
    TRY(sgd_divide(t));
    check_ranks(t);
    return check_memory(t);
}

/* ---- state ---- */

/* The network of a job, whose configuration was checked at setup. */
static sgd_model model_of(const sgd *t, const weft_job *job, weft_arena *mem)
{
    sgd_model m;
    weft_status st = sgd_model_new(t, job->mix.dim > 0 ? job->mix.conf : NULL, mem, &m);
    if (st != WEFT_OK) weft_die("%s", weft_error());
    return m;
}

static void sgd_nstate(const void *self, const weft_job *job, weft_state *size)
{
    const sgd *t = self;
    weft_arena *tmp = weft_arena_new();
    sgd_model m = {0};
    if (job)
        m = model_of(t, job, tmp);
    else if (sgd_model_largest(t, tmp, &m) != WEFT_OK)
        weft_die("%s", weft_error());
    size->nx = sgd_state_size(t, &m);
    size->naux = (int64_t)t->nfold * SGD_HEAD;
    weft_arena_free(tmp);
}

static int sgd_tensors(const void *self, const weft_job *job,
                       weft_tensor out[WEFT_MAX_TENSORS])
{
    const sgd *t = self;
    weft_arena *tmp = weft_arena_new();
    sgd_model m = model_of(t, job, tmp);
    int n = 1;
    if (t->nfold == 1)
        n = t->net->tensors(m.self, out);
    else
        out[0] = (weft_tensor){"weights", 0, 2, {t->nfold, m.n}};
    weft_arena_free(tmp);
    return n;
}

static void sgd_word_weights(const void *self, const weft_job *job, weft_word_weights *out)
{
    const sgd *t = self;
    weft_arena *tmp = weft_arena_new();
    weft_table table = model_of(t, job, tmp).table;
    weft_arena_free(tmp);
    if (table.rows > 0)
        *out = (weft_word_weights){.vocab = &t->own.vocab[t->words.tokenizer],
                                   .table = table,
                                   .networks = t->nfold};
}

/* The weights of fold f that are scored, that are trained, and what the optimizer keeps. */
static real *kept_of(const sgd_model *m, int f, real *x)
{
    return x + f * m->n;
}

static real *trained_of(const sgd *t, const sgd_model *m, int f, real *x)
{
    return x + ((m->copies - 1) * t->nfold + f) * m->n;
}

static real *slots_of(const sgd *t, const sgd_model *m, int f, real *x)
{
    return x + (m->copies * t->nfold + f * m->slots) * m->n;
}

static sgd_head *head_of(int f, double *aux)
{
    return (sgd_head *)(aux + f * SGD_HEAD);
}

static void sgd_start(const void *self, const weft_job *job, weft_state *state)
{
    const sgd *t = self;
    weft_arena *tmp = weft_arena_new();
    sgd_model m = model_of(t, job, tmp);
    for (int f = 0; f < t->nfold; f++) {
        uint64_t fold = (uint64_t)(t->fold < 0 ? f : t->fold);
        weft_rng4 r = weft_rng_at(t->env.seed, WEFT_RNG_WEIGHTS, fold, 0, 2);
        real *w = trained_of(t, &m, f, state->x);
        t->net->init(m.self, fold == 0 ? t->env.seed : r.v[0], w);
        memmove(kept_of(&m, f, state->x), w, (size_t)m.n * sizeof *w);
        *head_of(f, state->aux) = (sgd_head){.trial = -1, .best = INFINITY};
    }
    weft_arena_free(tmp);
}

static int64_t sgd_resource(const void *self)
{
    (void)self;
    return 25;
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
    const sgd *t = self;
    if (t->patience == 0) return job->resource;
    return before > 0 || epochs_of(job) == 0 ? 0 : 1;
}

static weft_price sgd_price(const void *self)
{
    (void)self;
    return WEFT_PRICE_OPERATIONS;
}

static int64_t sgd_units(const void *self, const weft_job *job)
{
    const sgd *t = self;
    int64_t epochs = epochs_of(job);
    return t->nfold * (epochs > 0 ? epochs : 1);
}

static void sgd_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const sgd *t = self;
    weft_arena *tmp = weft_arena_new();
    sgd_model m = model_of(t, job, tmp);
    double flops = t->net->flops(m.self), ranks = t->env.team->size;
    double steps = 0, samples = 0;
    double words = fmin(m.train.batch * t->shape.length, (double)m.table.rows);
    double moved = (double)m.table.at + words * m.table.d; /* weights of a step */
    for (int f = 0; f < t->nfold; f++) {
        double n = (double)t->at[f].train.n, batch = fmin(m.train.batch, n);
        double own = t->steps > 0 ? (double)t->steps : ceil(n / batch);
        steps += own;
        samples += own * batch + (double)t->at[f].dev.n / 3;
    }
    *out = (weft_cost){
        .flops = job->resource * (samples * flops + steps * 10.0 * moved),
        .bytes = ranks > 1 ? job->resource * steps * moved * sizeof(real) * ranks : 0,
        .memory = memory_of(t, &m)};
    weft_arena_free(tmp);
}

/* ---- work ---- */

/* Scores the weights after an epoch on the development part, and stores them if they are
 * the ones to keep. Returns 0 if their loss is not finite. */
static int judge(sgd *t, const sgd_model *m, int f, sgd_head *h, real *x, double *row)
{
    const real *w = trained_of(t, m, f, x);
    sgd_sums dev = sgd_score_rows(t, m, &t->at[f].dev, w);
    row[SGD_ROW_LOSS] = dev.loss / dev.count;
    row[SGD_ROW_ERROR] = dev.wrong / dev.count;
    double score = sgd_sums_score(t, &dev);
    int better = score < h->best;
    if (better) {
        h->best = score;
        h->best_epoch = h->epochs;
    }
    if (better || t->keep == SGD_KEEP_LAST) {
        h->dev = dev;
        memmove(kept_of(m, f, x), w, (size_t)m->n * sizeof *w);
    }
    if (t->patience > 0 && h->epochs - h->best_epoch >= (double)t->patience) h->stopped = 1;
    return isfinite(dev.loss);
}

/* Does one epoch of fold f, unless its training has ended. */
static weft_status train(sgd *t, const sgd_model *m, int f, sgd_head *h, real *x,
                         double *row)
{
    int good;
    if (h->stopped > 0) return WEFT_OK;
    h->epochs++;
    TRY(sgd_epoch(t, m, f, h, trained_of(t, m, f, x), slots_of(t, m, f, x), &good));
    if (good) {
        good = judge(t, m, f, h, x, row);
        row[SGD_ROW_SAMPLES] = h->train_count;
        row[SGD_ROW_TRAIN] = h->train_loss / h->train_count;
    }
    if (good) return WEFT_OK;
    h->stopped = 2;
    row[SGD_ROW_DIVERGED] = 1;
    if (t->warned++ == 0)
        weft_log(WEFT_WARN,
                 "trial %.0f diverged in epoch %.0f; train.lr may be too high, or numbers "
                 "of the data too large",
                 h->trial, h->epochs);
    return WEFT_OK;
}

/* Half the width of the 95 % interval of an error rate. */
static double half_width(const sgd_sums *s)
{
    double p = s->wrong / s->count;
    return NORMAL_95 * sqrt(p * (1 - p) / s->count);
}

/* Fills the result from all folds. If the training of one diverged, the loss is INFINITY,
 * whatever weights are kept: those that a later job would go on with are ruined. */
static void conclude(const sgd *t, const weft_job *job, double *aux, weft_result *res)
{
    sgd_sums dev = {0}, held = {0};
    double loss = 0, count = 0, best = 0, epochs = 0, trained = 0;
    int diverged = 0;
    for (int f = 0; f < t->nfold; f++) {
        sgd_head *h = head_of(f, aux);
        sgd_sums_add(&dev, &h->dev);
        sgd_sums_add(&held, &h->held);
        loss += h->train_loss;
        count += h->train_count;
        best += h->best_epoch / t->nfold;
        epochs += h->epochs / t->nfold;
        trained += h->epochs - h->begun;
        h->begun = 0;
        diverged |= h->stopped > 1;
    }
    double *m = res->metric;
    m[SGD_VALID_LOSS] = dev.loss / dev.count;
    m[SGD_VALID_ERROR] = dev.wrong / dev.count;
    m[SGD_TRAIN_LOSS] = loss / count;
    m[SGD_BEST_EPOCH] = best;
    m[SGD_EPOCHS] = epochs;
    if (held.count > 0) {
        m[SGD_FOLD_ERROR] = held.wrong / held.count;
        m[SGD_FOLD_HALF] = half_width(&held);
        m[SGD_FOLD_LOSS] = held.loss / held.count;
    }
    res->by_error = t->score == SGD_ERROR;
    res->loss = diverged ? INFINITY : sgd_sums_score(t, &dev);
    res->bound = res->by_error && isfinite(res->loss) ? half_width(&dev) : (double)NAN;
    res->cost = t->patience > 0 ? trained / t->nfold : job->resource;
    res->arm_loss[0] = dev.loss;
    res->arm_wrong[0] = dev.wrong;
    res->arm_count[0] = dev.count;
}

/* What was computed from samples counts only if they could be read. */
static weft_status sgd_sound(const sgd *t)
{
    const weft_clients *f = t->env.data->clients;
    return weft_agree(f ? weft_client_sound(f) : weft_data_sound(&t->own), t->env.team);
}

static weft_status sgd_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    sgd *t = self;
    if (job->mix.k > 1)
        return weft_fail(WEFT_ECONF,
                         "task sgd trains one configuration at a time, and this tuner asks "
                         "for mixtures of them; choose run.tuner = random, sha, hyperband, "
                         "asha or pbt, and run.mixing = none");
    weft_arena *tmp = weft_arena_new();
    sgd_model m = model_of(t, job, tmp);
    int64_t epochs = epochs_of(job), each = epochs > 0 ? epochs : 1;
    int f = (int)(unit / each);
    sgd_head *h = head_of(f, state->aux);
    if (fabs(h->trial - (double)job->trial) >
        0) { /* its weights are new or copied from another trial */
        h->trial = (double)job->trial;
        h->stopped = 0;
        h->best_epoch = h->epochs;
    }
    if (unit % each == 0) h->begun = h->epochs;
    if (unit == 0) t->each = 1; /* steps of another configuration take another time */
    row[SGD_ROW_LOSS] = row[SGD_ROW_ERROR] = row[SGD_ROW_TRAIN] = NAN;
    row[SGD_ROW_FOLD] = (double)(t->fold < 0 ? f : t->fold);
    weft_status st = WEFT_OK;
    if (epochs > 0)
        st = train(t, &m, f, h, state->x, row);
    else if (!(h->dev.count > 0))
        judge(t, &m, f, h, state->x, row);
    if (st == WEFT_OK && unit % each + 1 == each && t->at[f].held.n > 0)
        h->held = sgd_score_rows(t, &m, &t->at[f].held, kept_of(&m, f, state->x));
    if (st == WEFT_OK && unit + 1 == sgd_units(t, job)) conclude(t, job, state->aux, res);
    weft_arena_free(tmp);
    return st == WEFT_OK ? sgd_sound(t) : st;
}

/* The rows of a part. */
static sgd_rows rows_of(const sgd *t, weft_part part, weft_arena *mem)
{
    int64_t n = t->first[part + 1] - t->first[part];
    int64_t *row = WEFT_NEW(mem, int64_t, n);
    for (int64_t i = 0; i < n; i++) row[i] = t->first[part] + i;
    return (sgd_rows){n, row};
}

/* With folds, means over their networks; but their networks were trained on the valid part,
 * too, and are scored on what each holds out in its place. */
static weft_status sgd_score(void *self, const weft_job *job, const real *x, weft_part part,
                             weft_scores *out)
{
    sgd *t = self;
    weft_arena *tmp = weft_arena_new();
    sgd_model m = model_of(t, job, tmp);
    int folds = t->folds > 0 && part == WEFT_VALID;
    if (folds && !t->at)
        weft_log(WEFT_WARN, "with sgd.folds the winner was trained on the valid part of "
                            "its own data, too: its valid scores are of unseen samples "
                            "on other data alone");
    int held = folds && t->at;
    sgd_rows all = rows_of(t, part, tmp);
    sgd_sums sum = {0};
    for (int f = 0; f < t->nfold; f++) {
        sgd_sums one = sgd_score_rows(t, &m, held ? &t->at[f].held : &all, x + f * m.n);
        sgd_sums_add(&sum, &one);
    }
    *out = weft_scores_none();
    out->metric[0] = sum.loss / sum.count;
    out->metric[1] = sum.wrong / sum.count;
    out->count = held ? sum.count : sum.count / t->nfold;
    weft_arena_free(tmp);
    return sgd_sound(t);
}

const weft_task weft_task_sgd = {
    .kind = {.name = "sgd",
             .about = "a network trained by minibatches on one data set",
             .size = sizeof(sgd),
             .opts = sgd_opts},
    .parts = sgd_parts,
    .tuner = "asha",
    .resource = sgd_resource,
    .metrics = sgd_metrics,
    .rows = sgd_columns,
    .scores = sgd_scores,
    .lost = "which rate or range is so large that all trainings diverge",
    .choices = sgd_choices,
    .tuned = sgd_tuned,
    .setup = sgd_setup,
    .nstate = sgd_nstate,
    .tensors = sgd_tensors,
    .words = sgd_word_weights,
    .start = sgd_start,
    .cost = sgd_cost,
    .seconds = sgd_seconds,
    .price = sgd_price,
    .units = sgd_units,
    .step = sgd_step,
    .score = sgd_score,
};
