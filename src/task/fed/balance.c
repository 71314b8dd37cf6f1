/* Weights of the classes of a federation, from counts summed over its clients. */
#include "balance.h"
#include "predict.h"
#include "weft/measure.h"
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

/* The samples of each class. */
static weft_status count_classes(const fed_task *fed, weft_part part, int64_t **count)
{
    int classes = fed->env.data->classes;
    *count = WEFT_NEW(fed->env.mem, int64_t, classes);
    TRY(weft_agree(count_labels(fed, part, *count), fed->env.team));
    weft_sum_i64(fed->env.team, *count, (size_t)classes);
    return WEFT_OK;
}

static weft_status weigh(fed_task *fed, weft_part part, double **weight)
{
    int classes = fed->env.data->classes;
    int64_t *count;
    *weight = WEFT_NEW(fed->env.mem, double, classes);
    TRY(count_classes(fed, part, &count));
    weft_class_weights(classes, count, *weight);
    return WEFT_OK;
}

/* ECONF, EDATA: the data, the network or other options do not give the measure of all
 * samples that is asked for. */
static weft_status check_measure(const fed_task *fed)
{
    const weft_data *data = fed->env.data;
    const char *name = fed->score == FED_F1 ? "f1" : "auc";
    weft_measure measure = fed->score == FED_F1 ? WEFT_BY_F1 : WEFT_BY_AUC;
    int64_t *count, rows = fed->clients->size[WEFT_VALID].total;
    if (data->form == WEFT_CHARS || !fed_answers(fed) || fed->algorithm->neighbours)
        return weft_fail(WEFT_ECONF,
                         "fed.score = %s is of the class that a network says of each "
                         "sample, which %s does not; choose error or loss",
                         name,
                         data->form == WEFT_CHARS     ? "a network on characters"
                         : fed->algorithm->neighbours ? fed->algorithm_name
                                                      : fed->net_name);
    if (fed->select != FED_EVAL || fed->eval_clients != 0 ||
        fed->score_weights != FED_GLOBAL || fed->fresh.n > 0)
        return weft_fail(WEFT_ECONF,
                         "fed.score = %s is of the samples of all clients by weights "
                         "before training: give fed.select = eval, fed.eval_clients = 0 "
                         "and fed.score_weights = global, without fed.new_clients",
                         name);
    if (!weft_quality_fits(rows, data->classes))
        return weft_fail(WEFT_ELIMIT,
                         "fed.score = %s keeps the scores of %lld validation samples, "
                         "which are too many; choose balanced or loss",
                         name, (long long)rows);
    TRY(count_classes(fed, WEFT_VALID, &count));
    return weft_measure_check(measure, "fed.score", data->path, data->classes, count,
                              data->class_name);
}

weft_status fed_balance(fed_task *fed)
{
    int balanced = fed->score == FED_BALANCED;
    const weft_data *data = fed->env.data;
    if (!fed->env.scoring && fed_is_joint(fed)) TRY(check_measure(fed));
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
