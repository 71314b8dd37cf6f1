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
static inline double measured(const weft_task *t, const weft_result *r, const char *name)
{
    return number_of(t->metrics, r->metric, name);
}

static inline double in_row(const weft_task *t, const double *row, const char *name)
{
    return number_of(t->rows, row, name);
}

static inline double score_of(const weft_task *t, const weft_scores *s, const char *name)
{
    return number_of(t->scores, s->metric, name);
}

/* A result with room for what the task measures. */
static inline weft_result result_of(const weft_task *t, int k, weft_arena *mem)
{
    return weft_result_new(k, weft_metrics_count(t->metrics), mem);
}

#endif
