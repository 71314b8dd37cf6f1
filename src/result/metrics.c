/* The measurements in the notes of results, in the run file: one dataset for each name, one
 * row for each job. */
#include "metrics.h"
#include "columns.h"
#include "weft/log.h"
#include "weft/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 }; /* names */

struct metrics {
    weft_names names;
    double *value[MOST]; /* [names.n][jobs] */
    int left_out;        /* 1: there are more names */
};

/* Where the jobs' values of that name are; NULL: there are too many names. */
static double *column_of(struct metrics *metrics, const char *name, int64_t jobs,
                         weft_arena *mem)
{
    int64_t i = weft_names_index(&metrics->names, name);
    if (i >= 0) return metrics->value[i];
    metrics->left_out |= metrics->names.n == MOST;
    if (metrics->names.n == MOST) return NULL;
    double *value = metrics->value[weft_names_find(&metrics->names, name)] =
        WEFT_NEW(mem, double, jobs);
    for (int64_t k = 0; k < jobs; k++) value[k] = NAN;
    return value;
}

/* Name of the dataset, with slashes replaced, which HDF5 takes as separators of groups. */
static const char *dataset_name(const char *text, size_t n, weft_arena *mem)
{
    char *name = weft_arena_text(mem, "%.*s", (int)n, text);
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '.';
    return name;
}

weft_status weft_put_metrics(weft_h5 *file, const weft_history *history)
{
    struct metrics *metrics = WEFT_NEW(file->mem, struct metrics, 1);
    metrics->names.mem = file->mem;
    for (int64_t i = 0; i < history->n; i++)
        for (const char *at = history->record[i].res.note; at && *at;) {
            size_t name = strcspn(at, "="), word = strcspn(at, " ");
            double *to = column_of(metrics, dataset_name(at, name, file->mem), history->n,
                                   file->mem);
            if (to && name < word) to[i] = strtod(at + name + 1, NULL);
            at += word + strspn(at + word, " ");
        }
    const char *all = "";
    for (int i = 0; i < metrics->names.n; i++) {
        all = weft_arena_text(file->mem, "%s%s\n", all, metrics->names.name[i]);
        TRY(weft_h5_put(
            file, weft_arena_text(file->mem, "/metrics/%s", metrics->names.name[i]),
            WEFT_H5_F64, 1, &history->n, metrics->value[i], 0,
            "last value that the job printed, in the rows of /events; nan: not printed",
            "its own"));
    }
    TRY(weft_h5_put_attr(file, "/events", "printed", all));
    if (metrics->left_out)
        weft_log(WEFT_WARN,
                 "the jobs printed numbers of more than %d names; /metrics has the first",
                 MOST);
    return WEFT_OK;
}
