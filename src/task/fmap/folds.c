/* Folds of task fmap: each has data of its own, and a feature map that learns from its
 * training rows alone. */
#include "folds.h"
#include "weft/folds.h"

#include <string.h>

/* Deals rows, or groups of rows, to the folds. */
static weft_status deal(const fmap_task *fmap, weft_folds *folds)
{
    const weft_env *env = &fmap->env;
    const int32_t *group;
    TRY(weft_folds_groups(&folds->all, &group, env->mem));
    int64_t most = weft_folds_most(folds->n, group);
    if (fmap->folds < 2 || fmap->folds > most)
        return weft_fail(WEFT_ECONF,
                         "fmap.folds = %lld with %lld %s for training and validation; "
                         "expected 2 folds to one a %s, or 0",
                         (long long)fmap->folds, (long long)most,
                         group ? "groups of samples" : "samples",
                         group ? "group" : "sample");
    folds->held_by = weft_folds_deal(folds->n, group, fmap->folds, env->seed, env->mem);
    return WEFT_OK;
}

static weft_status divide(fmap_task *fmap, double memory)
{
    const weft_env *env = &fmap->env;
    weft_folds *folds = WEFT_NEW(env->mem, weft_folds, 1);
    TRY(weft_folds_open(folds, env->data, env->mem));
    TRY(weft_agree(deal(fmap, folds), env->team));
    fmap->copied = fmap->nfold * weft_folds_bytes(folds);
    if (fmap->copied > memory / 2)
        return weft_fail(WEFT_ELIMIT,
                         "fmap.folds = %lld copies the rows of %s as often, which takes "
                         "%.3g GB a rank; run.memory leaves %.3g GB: take fewer folds or "
                         "allow more",
                         (long long)fmap->folds, env->data->path, fmap->copied / 1e9,
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

static weft_status set_map(fmap_task *fmap, fmap_fold *fold, double memory)
{
    const weft_env *env = &fmap->env;
    const weft_feature *feature = fmap->feature;
    const weft_rows *train = &fold->data->part[WEFT_TRAIN];
    fold->answers = (weft_answers){.classes = fold->data->classes,
                                   .label = train->label,
                                   .target = train->target,
                                   .weight = train->weight};
    if (env->balanced && !env->scoring) {
        double *class = WEFT_NEW(env->mem, double, fold->data->classes);
        fold->answers.weight = weft_data_balance(fold->data, class, env->mem);
        fold->class = class;
    }
    fold->map = weft_arena_alloc(env->mem, 1, feature->kind.size);
    TRY(weft_conf_bind(env->conf, &feature->kind, fold->map));
    weft_source rows = weft_data_source(fold->data);
    int64_t maps = env->whole ? 1 : env->space->count;
    return feature->setup(fold->map, &rows, memory, maps, env->seed, env->mem);
}

/* Maps of sparse rows keep nothing between requests; what others keep, all folds keep. */
weft_status fmap_folds_open(fmap_task *fmap, double memory)
{
    const weft_env *env = &fmap->env;
    fmap->nfold = fmap->folds > 0 ? (int)fmap->folds : 1;
    fmap->fold = WEFT_NEW(env->mem, fmap_fold, fmap->nfold);
    for (int f = 0; f < fmap->nfold; f++) fmap->fold[f].data = env->data;
    int own = fmap->folds > 0 && !env->scoring; /* other data are scored by all folds */
    if (own) TRY(divide(fmap, memory));
    int maps = own ? fmap->nfold : 1;
    double each = (memory - fmap->copied) / (fmap->feature->sparse ? 1 : maps);
    for (int f = 0; f < maps; f++) TRY(set_map(fmap, &fmap->fold[f], each));
    for (int f = maps; f < fmap->nfold; f++) fmap->fold[f] = fmap->fold[0];
    return WEFT_OK;
}

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
        const weft_data *data = fmap->fold[f].data;
        size_t rows = (size_t)data->part[part].total;
        weft_arena *tmp = weft_arena_new();
        memcpy(label + at, weft_data_labels(data, part, tmp), rows * sizeof *label);
        if (train->target)
            memcpy(target + at * m, weft_data_targets(data, part, tmp),
                   rows * (size_t)m * sizeof *target);
        if (train->weight)
            memcpy(weight + at, weft_data_weights(data, part, tmp), rows * sizeof *weight);
        weft_arena_free(tmp);
        at += (int64_t)rows;
    }
    return (weft_truth){.label = label,
                        .target = train->target ? target : NULL,
                        .weight = train->weight ? weight : NULL};
}
