/* Tasks as tests set them up, and values of their metrics by name. */
#ifndef WEFT_TESTS_MEASURED_H
#define WEFT_TESTS_MEASURED_H

#include "weft/task/task.h"

#include "tap.h"

static inline double number_of(const weft_metric *table, const double *x, const char *name)
{
    int i = weft_metrics_find(table, name);
    weft_check(i >= 0, "no metric %s", name);
    return x[i];
}

/* Of a result, of a row, and of scores. */
static inline double measured(const weft_task *task, const weft_result *res,
                              const char *name)
{
    return number_of(task->traits.metrics, res->metric, name);
}

static inline double in_row(const weft_task *task, const double *row, const char *name)
{
    return number_of(task->traits.rows, row, name);
}

static inline double score_of(const weft_task *task, const weft_scores *scores,
                              const char *name)
{
    return number_of(task->traits.scores, scores->metric, name);
}

/* A result with room for what the task measures. */
static inline weft_result result_of(const weft_task *task, int k)
{
    return weft_result_new(k, weft_metrics_count(task->traits.metrics), mem);
}

/* Reads the input `text`, and "SECTION.KEY=VALUE ..." after it. */
static inline weft_status read_input(weft_conf *conf, const char *text,
                                     const char *settings)
{
    weft_conf_init(conf, mem);
    TRY(weft_conf_text(conf, "test", text));
    char *rest = printed("%s", settings);
    for (char *word; (word = strtok_r(rest, " ", &rest));) TRY(weft_conf_set(conf, word));
    return WEFT_OK;
}

/* Binds the task's options, reads its space and sets the task up; env: all but these two.
 */
static inline weft_status open_task(const weft_task *task, void *self, weft_conf *conf,
                                    weft_space *space, weft_env env)
{
    const weft_kind *tuned[WEFT_MAX_TUNED];
    int n = 0;
    env.conf = conf;
    env.space = space;
    TRY(weft_conf_bind(conf, &task->kind, self));
    TRY(task->tuned(self, tuned, &n));
    TRY(weft_space_read(space, conf, tuned, n, 1, env.mem));
    return task->setup(self, &env);
}

/* On data, with all ranks. */
static inline weft_status open_on(const weft_task *task, void *self, weft_conf *conf,
                                  weft_space *space, weft_data *data, uint64_t seed)
{
    return open_task(
        task, self, conf, space,
        (weft_env){.team = &world, .data = data, .seed = seed, .memory = 1e9, .mem = mem});
}

/* A mixture of the first k configurations, of equal probability. */
static inline weft_mix first_configs(const weft_space *space, int k)
{
    weft_mix mix = weft_mix_new(k, space->dim, mem);
    for (int i = 0; i < k; i++) weft_space_config(space, i, mix.conf + i * space->dim);
    return mix;
}

#endif
