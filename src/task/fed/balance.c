/* Weights of the classes of a federation, from counts summed over its clients. */
#include "balance.h"
#include "worker.h"

/* Adds the labels of this rank's clients. EFILE. */
static weft_status count_labels(const fed_task *fed, weft_part part, int64_t *count)
{
    const fed_group *group = &fed->old;
    int64_t first, n;
    weft_deal(group->n, fed->env.team->rank, fed->env.team->size, &first, &n);
    for (int64_t i = first; i < first + n; i++) {
        weft_arena *tmp = weft_arena_new();
        weft_samples samples;
        int64_t client = group->client ? group->client[i] : i;
        weft_status st = weft_client_read(fed->clients, client, part, &samples, tmp);
        for (int64_t j = 0; j < samples.n && st == WEFT_OK; j++) count[samples.label[j]]++;
        weft_arena_free(tmp);
        TRY(st);
    }
    return weft_client_sound(fed->clients);
}

static weft_status weigh(fed_task *fed, weft_part part, double **weight)
{
    int classes = fed->env.data->classes;
    int64_t *count = WEFT_NEW(fed->env.mem, int64_t, classes);
    *weight = WEFT_NEW(fed->env.mem, double, classes);
    TRY(weft_agree(count_labels(fed, part, count), fed->env.team));
    weft_sum_i64(fed->env.team, count, (size_t)classes);
    weft_class_weights(classes, count, *weight);
    return WEFT_OK;
}

weft_status fed_balance(fed_task *fed)
{
    int balanced = fed->score == FED_BALANCED;
    const weft_data *data = fed->env.data;
    if (fed->env.scoring || (!balanced && !fed->env.balanced)) return WEFT_OK;
    const char *key = balanced ? "fed.score = balanced" : "run.class_weights = balanced";
    const char *lacks = fed_worker_trains(fed)         ? "those of a worker are not known"
                        : data->form == WEFT_CHARS     ? "characters of text have none"
                        : data->form == WEFT_SENTENCES ? "sentences have none"
                                                       : NULL;
    if (lacks)
        return weft_fail(WEFT_ECONF,
                         "%s counts the samples of classes, and %s; leave it out", key,
                         lacks);
    if (balanced && fed->algorithm->neighbours)
        return weft_fail(WEFT_ECONF,
                         "%s is of the answers of a network alone, and fed.algorithm = %s "
                         "mixes them with those of samples; choose error or loss",
                         key, fed->algorithm_name);
    if (fed->env.balanced) TRY(weigh(fed, WEFT_TRAIN, &fed->train_class));
    return balanced ? weigh(fed, WEFT_VALID, &fed->valid_class) : WEFT_OK;
}
