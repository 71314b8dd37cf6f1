/* Values of a task's metrics by name. */
#ifndef WEFT_TESTS_MEASURED_H
#define WEFT_TESTS_MEASURED_H

#include "weft/task.h"

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
    return number_of(task->metrics, res->metric, name);
}

static inline double in_row(const weft_task *task, const double *row, const char *name)
{
    return number_of(task->rows, row, name);
}

static inline double score_of(const weft_task *task, const weft_scores *scores,
                              const char *name)
{
    return number_of(task->scores, scores->metric, name);
}

/* A result with room for what the task measures. */
static inline weft_result result_of(const weft_task *task, int k, weft_arena *arena)
{
    return weft_result_new(k, weft_metrics_count(task->metrics), arena);
}

#endif
