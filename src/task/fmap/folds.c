/* Folds of task fmap: each has data of its own, and a feature map that learns from its
 * training rows alone. With `resource = rows` a job has folds of the first of these rows in
 * an order of its own, so that more rows have the fewer among them. The maps of a job in a
 * fold, and which of them each sample draws. */
#include "fmap.h"
#include "weft/base/random.h"
#include "weft/data/data.h"

#include <math.h>
#include <string.h>

/* Of so many rows of train and valid, or fewer, each fold is fitted by one rank: blocks of
 * WEFT_BLOCK rows are too few to be shared, and messages take longer than they save. */
enum { FEW = 16 * WEFT_BLOCK };

/* The sample of training rows that jobs with `resource = rows` were fitted to last. */
struct fmap_sample {
    const weft_folds *folds;
    const int64_t *order; /* of the training rows */
    double memory;        /* bytes of this rank for each fold's map */
    int64_t rows;         /* of each fold; 0: none was taken yet */
    weft_arena *mem;      /* of what is its own */
    fmap_fold *fold;      /* [nfold] */
};

/* ---- folds ---- */

/* Deals rows, or groups of rows, to the folds. */
static weft_status deal_rows(const fmap_task *fmap, weft_folds *folds)
{
    const weft_env *env = &fmap->env;
    const int32_t *group = weft_folds_groups(&folds->all, env->mem);
    int64_t most = weft_folds_most(folds->n, group);
    if (fmap->opts.folds < 2 || fmap->opts.folds > most)
        return weft_fail(WEFT_ECONF,
                         "fmap.folds = %lld with %lld %s for training and validation; "
                         "expected 2 folds to one a %s, or 0",
                         (long long)fmap->opts.folds, (long long)most,
                         group ? "groups of samples" : "samples",
                         group ? "group" : "sample");
    folds->held_by =
        weft_folds_deal(folds->n, group, fmap->opts.folds, env->seed, env->mem);
    return WEFT_OK;
}

/* Sparse rows are fitted by single ranks ahead of their jobs: fit.c. */
static void set_apart(fmap_task *fmap, weft_folds *folds)
{
    int ranks = fmap->env.team->size, busy = ranks < fmap->nfold ? ranks : fmap->nfold;
    if (ranks == 1 || fmap->feature->sparse || folds->n > FEW) return;
    fmap->apart = 1;
    folds->team = &folds->alone;
    weft_log(WEFT_INFO,
             "%lld rows are too few to be shared: %d of %d ranks fit %d folds beside each "
             "other",
             (long long)folds->n, busy, ranks, fmap->nfold);
}

int fmap_own_folds(const fmap_task *fmap, int rank, int *first)
{
    int ranks = fmap->env.team->size;
    *first = 0;
    if (!fmap->apart) return fmap->nfold;
    *first = fmap->nfold * rank / ranks;
    return fmap->nfold * (rank + 1) / ranks - *first;
}

static weft_status divide_rows(fmap_task *fmap, weft_folds *folds, double memory)
{
    const weft_env *env = &fmap->env;
    TRY(weft_agree(deal_rows(fmap, folds), env->team));
    set_apart(fmap, folds);
    fmap->copied = fmap->nfold * weft_folds_bytes(folds);
    if (fmap->copied > memory / 2)
        return weft_fail(WEFT_ELIMIT,
                         "fmap.folds = %lld copies the rows of %s as often, which takes "
                         "%.3g GB a rank; run.memory leaves %.3g GB: take fewer folds or "
                         "allow more",
                         (long long)fmap->opts.folds, env->data->path, fmap->copied / 1e9,
                         memory / 1e9);
    int64_t held = 0;
    for (int f = 0; f < fmap->nfold; f++) {
        weft_data *data = WEFT_NEW(env->mem, weft_data, 1);
        weft_folds_take(folds, f, data, env->mem);
        fmap->fold[f] = (fmap_fold){.data = data, .key = f * folds->n, .held = held};
        held += data->part[WEFT_VALID].total;
    }
    return WEFT_OK;
}

/* A map of the fold's rows, for `maps` configurations, owned by mem. */
static weft_status set_map(fmap_task *fmap, fmap_fold *fold, int64_t maps, double memory,
                           weft_arena *mem)
{
    const weft_env *env = &fmap->env;
    const weft_feature *feature = fmap->feature;
    const weft_rows *train = &fold->data->part[WEFT_TRAIN];
    fold->answers = (weft_answers){.classes = fold->data->classes,
                                   .label = train->label,
                                   .target = train->target,
                                   .weight = train->weight};
    if (env->balanced && !env->scoring) {
        double *class = WEFT_NEW(mem, double, fold->data->classes);
        fold->answers.weight = weft_data_balance(fold->data, class, mem);
        fold->class = class;
    }
    fold->map = weft_arena_alloc(mem, 1, feature->kind.size);
    TRY(weft_conf_bind(env->conf, &feature->kind, fold->map));
    weft_source rows = weft_data_source(fold->data);
    return feature->setup(fold->map, &rows, memory, maps, env->seed, mem);
}

static void sample_setup(fmap_task *fmap, const weft_folds *folds, double memory)
{
    const weft_env *env = &fmap->env;
    WEFT_SCRATCH(tmp);
    const weft_rows *part = folds->all.part;
    int64_t train = part[WEFT_TRAIN].n, n = folds->held_by ? folds->n : train;
    int32_t *label = WEFT_NEW(tmp, int32_t, folds->n);
    memcpy(label, part[WEFT_TRAIN].label, (size_t)train * sizeof *label);
    memcpy(label + train, part[WEFT_VALID].label,
           (size_t)(folds->n - train) * sizeof *label);
    fmap->sample = WEFT_NEW(env->mem, struct fmap_sample, 1);
    *fmap->sample =
        (struct fmap_sample){.folds = folds,
                             .order = weft_folds_order(n, label, env->seed, env->mem),
                             .memory = memory,
                             .mem = weft_arena_within(env->mem),
                             .fold = WEFT_NEW(env->mem, fmap_fold, fmap->nfold)};
}

/* Maps of sparse rows keep nothing between requests; what others keep, all folds keep. */
weft_status fmap_folds_open(fmap_task *fmap, double memory)
{
    const weft_env *env = &fmap->env;
    fmap->nfold = fmap->opts.folds > 0 ? (int)fmap->opts.folds : 1;
    fmap->fold = fmap->all = WEFT_NEW(env->mem, fmap_fold, fmap->nfold);
    for (int f = 0; f < fmap->nfold; f++) fmap->fold[f].data = env->data;
    int own =
        fmap->opts.folds > 0 && !env->scoring; /* other data are scored by all folds */
    int samples = fmap->opts.unit == FMAP_ROWS && !env->scoring && !env->whole;
    weft_folds *folds = WEFT_NEW(env->mem, weft_folds, 1);
    if (own || samples) TRY(weft_folds_open(folds, env->data, env->mem));
    if (own) TRY(divide_rows(fmap, folds, memory));
    int apart = own ? fmap->nfold : 1;
    double each = (memory - fmap->copied) / (fmap->feature->sparse ? 1 : apart);
    int64_t maps = env->whole || samples ? 1 : env->space->count;
    for (int f = 0; f < apart; f++)
        TRY(set_map(fmap, &fmap->fold[f], maps, each, env->mem));
    for (int f = apart; f < fmap->nfold; f++) fmap->fold[f] = fmap->fold[0];
    if (samples) sample_setup(fmap, folds, each);
    return WEFT_OK;
}

/* ---- samples of rows ---- */

/* The rows of a fold's sample, in the order of the file; returns their number. */
static int64_t choose_rows(const struct fmap_sample *sample, int fold, int64_t most,
                           int64_t *row, weft_arena *tmp)
{
    const weft_folds *folds = sample->folds;
    int64_t training = folds->held_by ? folds->n : folds->all.part[WEFT_TRAIN].n, n = 0;
    char *in = WEFT_NEW(tmp, char, folds->n);
    for (int64_t i = 0; i < training && n < most; i++) {
        int64_t at = sample->order[i];
        in[at] = !folds->held_by || folds->held_by[at] != fold;
        n += in[at];
    }
    n = 0;
    for (int64_t i = 0; i < training; i++)
        if (in[i]) row[n++] = i;
    return n;
}

static weft_status sample_fold(fmap_task *fmap, int f, int64_t rows, weft_arena *tmp)
{
    struct fmap_sample *sample = fmap->sample;
    weft_data *data = WEFT_NEW(sample->mem, weft_data, 1);
    int64_t *row = WEFT_NEW(tmp, int64_t, sample->folds->n);
    *data = *fmap->all[f].data;
    int64_t n = choose_rows(sample, f, rows, row, tmp);
    weft_folds_sample(sample->folds, n, row, data, sample->mem);
    sample->fold[f] = fmap->all[f];
    sample->fold[f].data = data;
    return set_map(fmap, &sample->fold[f], fmap->env.space->count, sample->memory,
                   sample->mem);
}

weft_status fmap_sample_take(fmap_task *fmap, double rows)
{
    struct fmap_sample *sample = fmap->sample;
    int64_t n = (int64_t)fmin(floor(rows + 0.5), (double)sample->folds->n);
    fmap->fold = sample->fold;
    if (n == sample->rows) return WEFT_OK;
    weft_arena_reset(sample->mem, 0);
    weft_status st = WEFT_OK;
    for (int f = 0; f < fmap->nfold && st == WEFT_OK; f++) {
        WEFT_SCRATCH(tmp);
        st = sample_fold(fmap, f, n, tmp);
    }
    st = weft_agree(st, fmap->env.team);
    sample->rows = st == WEFT_OK ? n : 0;
    return st;
}

/* ---- rows ---- */

double fmap_rows(const fmap_task *fmap, weft_part part)
{
    double rows = 0;
    for (int f = 0; f < fmap->nfold; f++)
        rows += (double)fmap->fold[f].data->part[part].total;
    return rows;
}

int fmap_is_held(const fmap_task *fmap, weft_part part)
{
    return part == WEFT_VALID && !fmap->env.scoring;
}

int64_t fmap_distinct(const fmap_task *fmap, weft_part part)
{
    if (fmap_is_held(fmap, part)) return (int64_t)fmap_rows(fmap, part);
    return fmap->env.data->part[part].total;
}

weft_truth fmap_truth(const fmap_task *fmap, weft_part part, weft_arena *mem)
{
    int64_t n = fmap_distinct(fmap, part), m = fmap->env.data->classes, at = 0;
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    double *target = WEFT_NEW(mem, double, n *m), *weight = WEFT_NEW(mem, double, n);
    const weft_rows *train = &fmap->fold->data->part[WEFT_TRAIN];
    for (int f = 0; f < (fmap_is_held(fmap, part) ? fmap->nfold : 1); f++) {
        const weft_data *data =
            fmap_is_held(fmap, part) ? fmap->fold[f].data : fmap->env.data;
        size_t rows = (size_t)data->part[part].total;
        WEFT_SCRATCH(tmp);
        memcpy(label + at, weft_data_labels(data, part, tmp), rows * sizeof *label);
        if (train->target)
            memcpy(target + at * m, weft_data_targets(data, part, tmp),
                   rows * (size_t)m * sizeof *target);
        if (train->weight)
            memcpy(weight + at, weft_data_weights(data, part, tmp), rows * sizeof *weight);
        at += (int64_t)rows;
    }
    return (weft_truth){.label = label,
                        .target = train->target ? target : NULL,
                        .weight = train->weight ? weight : NULL};
}

/* ---- maps ---- */

/* A copy of an instance, with the options of configuration conf[dim]. */
static const void *configured(const fmap_task *fmap, const weft_kind *kind,
                              const void *options, const double *conf, weft_arena *mem)
{
    void *own = weft_arena_alloc(mem, 1, kind->size);
    memcpy(own, options, kind->size);
    weft_space_put(fmap->env.space, conf, kind, own);
    return own;
}

const void *fmap_arm(const fmap_task *fmap, const fmap_fold *fold, const double *conf,
                     weft_arena *mem)
{
    return configured(fmap, &fmap->feature->kind, fold->map, conf, mem);
}

const void *fmap_solver(const fmap_task *fmap, const double *conf, weft_arena *mem)
{
    return configured(fmap, &fmap->model->kind, fmap->solver, conf, mem);
}

fmap_arms fmap_arms_new(const fmap_task *fmap, int fold, const weft_mix *mix,
                        weft_arena *mem)
{
    fmap_arms arms = {.fold = &fmap->fold[fold], .k = mix->k};
    arms.solver = fmap_solver(fmap, mix->conf, mem);
    arms.arm = WEFT_NEW(mem, const void *, mix->k);
    arms.p = WEFT_NEW(mem, double, mix->k);
    arms.cum = WEFT_NEW(mem, double, mix->k);
    for (int i = 0; i < mix->k; i++) {
        arms.arm[i] = fmap_arm(fmap, arms.fold, mix->conf + (size_t)i * mix->dim, mem);
        arms.p[i] = exp(mix->logp[i]);
    }
    weft_mix_cumulate(mix, arms.cum);
    return arms;
}

const int *fmap_draw(const fmap_task *fmap, const weft_job *job, const fmap_arms *arms,
                     weft_part part, double shift, weft_arena *mem)
{
    if (arms->k == 1) return NULL;
    const weft_rows *rows = &arms->fold->data->part[part];
    int64_t first = arms->fold->key + rows->first;
    weft_purpose purpose = part == WEFT_TRAIN ? WEFT_RNG_ASSIGN : WEFT_RNG_VALID;
    int *arm = WEFT_NEW(mem, int, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        weft_rng4 rng = weft_rng_at(fmap->env.seed, purpose, (uint64_t)job->trial,
                                    (uint64_t)job->index, (uint64_t)(first + i));
        double unit = weft_rng_unit(rng.v[0]) + shift;
        arm[i] = weft_mix_find(arms->cum, arms->k, unit < 1 ? unit : unit - 1);
    }
    return arm;
}

weft_request fmap_request(const fmap_task *fmap, const weft_job *job, const fmap_arms *arms,
                          weft_part part)
{
    return (weft_request){.part = part,
                          .n = arms->fold->data->part[part].n,
                          .narm = arms->k,
                          .arms = arms->arm,
                          .id = job->mix.id,
                          .size = job->feature_fraction,
                          .seed = fmap->env.seed};
}
