/* `weft report --trials`: a row for each trial, for other programs. Its configuration has a
 * column for each axis of the search, of the axis' own type. */
#include "print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- trials ---- */

/* A trial, by its last job. */
typedef struct trial_row {
    const weft_summary *summary;
    int64_t trial, jobs, at; /* at: its last job, in of->jobs */
    int64_t arm;             /* the likeliest of that job's mixture; -1: none */
    double seconds;          /* of all its jobs */
    double most;             /* resource of a trial of the run */
} trial_row;

static int by_trial(const void *pa, const void *pb)
{
    const trial_row *a = pa, *b = pb;
    if (a->trial != b->trial) return a->trial < b->trial ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

/* The trials of a run by number, without those that have no job yet; row[jobs]. */
static int64_t find_trials(const weft_summary *summary, trial_row *row, weft_arena *tmp)
{
    const weft_jobs *jobs = &summary->jobs;
    const int64_t *likeliest = weft_summary_likeliest(summary, tmp);
    int64_t n = 0;
    double most = 0;
    for (int64_t i = 0; i < jobs->n; i++) most = fmax(most, jobs->resource[i]);
    for (int64_t i = 0; i < jobs->n; i++)
        row[i] = (trial_row){summary,      jobs->trial[i],   1,   i,
                             likeliest[i], jobs->seconds[i], most};
    if (jobs->n > 0) qsort(row, (size_t)jobs->n, sizeof *row, by_trial);
    for (int64_t i = 0; i < jobs->n; i++) {
        trial_row *last = n > 0 ? &row[n - 1] : NULL;
        if (!last || last->trial != row[i].trial) {
            row[n++] = row[i];
            continue;
        }
        row[i].jobs += last->jobs;
        row[i].seconds += last->seconds;
        *last = row[i];
    }
    return n;
}

/* What became of it: it is finished if it was trained for the most resource of the run, or
 * has won, too. */
static const char *state_of(const trial_row *row)
{
    const weft_jobs *jobs = &row->summary->jobs;
    const weft_value *won = weft_summary_value(row->summary, "winner_trial");
    if (!isfinite(jobs->loss[row->at])) return "failed";
    if (jobs->last[row->at]) return "finished";
    if (weft_summary_value(row->summary, "unfinished")->text) return "running";
    if (won->known && won->whole == row->trial) return "finished";
    return jobs->resource[row->at] < row->most ? "stopped" : "finished";
}

/* ---- columns ---- */

enum { RUN, TRIAL, CONFIG, JOBS, JOB, STATE, RESOURCE, LOSS, SECONDS, NFIXED };
static const char *const fixed[NFIXED] = {"run",   "trial",    "config", "jobs",   "job",
                                          "state", "resource", "loss",   "seconds"};

/* Names of all columns: the fixed ones, then metrics, numbers that programs printed, and
 * axes that any run has. */
struct columns {
    const char **name;
    int64_t n, room;
    int64_t printed, axes; /* the first of them */
    weft_arena *mem;
};

static void add(struct columns *all, int64_t first, const char *name)
{
    for (int64_t i = first; i < all->n; i++)
        if (strcmp(all->name[i], name) == 0) return;
    all->name = weft_regrow(all->mem, all->name, sizeof *all->name, all->n, &all->room);
    all->name[all->n++] = name;
}

static struct columns find_columns(const weft_summary *summary, int n, weft_arena *tmp)
{
    struct columns all = {.mem = tmp};
    for (int i = 0; i < NFIXED; i++) add(&all, 0, fixed[i]);
    for (int i = 0; i < n; i++)
        for (int m = 0; summary[i].jobs.metrics[m].name; m++)
            add(&all, NFIXED, summary[i].jobs.metrics[m].name);
    all.printed = all.n;
    for (int i = 0; i < n; i++)
        for (int64_t m = 0; m < summary[i].jobs.nprinted; m++)
            add(&all, all.printed, summary[i].jobs.printed[m]);
    all.axes = all.n;
    for (int i = 0; i < n; i++)
        for (int64_t a = 0; a < summary[i].dim; a++)
            add(&all, all.axes, summary[i].axis[a]);
    return all;
}

/* ---- cells ---- */

static weft_cell number(double x)
{
    return (weft_cell){.is = isnan(x) ? WEFT_CELL_NONE : WEFT_CELL_NUMBER, .number = x};
}

static weft_cell whole(int64_t x)
{
    return (weft_cell){.is = WEFT_CELL_WHOLE, .whole = x};
}

static weft_cell text(const char *x)
{
    return (weft_cell){.is = WEFT_CELL_TEXT, .text = x};
}

/* 1 if every word of "16|32" is a number. */
static int are_numbers(const char *words)
{
    for (const char *at = words;; at++) {
        char *end;
        strtod(at, &end);
        if (end == at || !strchr("|", *end)) return 0;
        if (!*end) return 1;
        at = end;
    }
}

/* Word i of "a|b|c". */
static weft_cell word(const char *words, double i, weft_arena *tmp)
{
    const char *at = words;
    for (; i > 0 && strchr(at, '|'); i--) at = strchr(at, '|') + 1;
    if (are_numbers(words)) return number(strtod(at, NULL));
    return text(weft_arena_text(tmp, "%.*s", (int)strcspn(at, "|"), at));
}

#define MOST 9e15 /* of the whole numbers that doubles hold exactly */

static weft_cell axis_cell(const trial_row *row, const char *name, weft_arena *tmp)
{
    const weft_summary *summary = row->summary;
    int64_t a = 0;
    while (a < summary->dim && strcmp(summary->axis[a], name) != 0) a++;
    if (a == summary->dim || row->arm < 0 || summary->nconfig == 0) return (weft_cell){0};
    int64_t config = weft_summary_place(summary, summary->arms.config[row->arm]);
    double x = summary->conf[config * summary->dim + a];
    if (isnan(x)) return (weft_cell){0};
    if (strcmp(summary->type[a], "real") == 0 || !(fabs(x) < MOST)) return number(x);
    if (strcmp(summary->type[a], "integer") == 0) return whole((int64_t)x);
    if (strcmp(summary->type[a], "boolean") == 0)
        return (weft_cell){.is = WEFT_CELL_TRUTH, .whole = x != 0};
    return word(summary->type[a], x, tmp);
}

static weft_cell fixed_cell(const trial_row *row, int64_t column)
{
    const weft_jobs *jobs = &row->summary->jobs;
    switch (column) {
    case RUN: return text(row->summary->path);
    case TRIAL: return whole(row->trial);
    case CONFIG:
        return row->arm < 0 ? (weft_cell){0} : whole(row->summary->arms.config[row->arm]);
    case JOBS: return whole(row->jobs);
    case JOB: return whole(jobs->job[row->at]);
    case STATE: return text(state_of(row));
    case RESOURCE: return number(jobs->resource[row->at]);
    case LOSS: return number(jobs->loss[row->at]);
    default: return number(row->seconds);
    }
}

static weft_cell cell_of(const trial_row *row, const struct columns *all, int64_t column,
                         weft_arena *tmp)
{
    if (column < NFIXED) return fixed_cell(row, column);
    if (column >= all->axes) return axis_cell(row, all->name[column], tmp);
    const weft_jobs *jobs = &row->summary->jobs;
    if (column < all->printed) {
        int m = weft_metrics_find(jobs->metrics, all->name[column]);
        return m < 0 ? (weft_cell){0} : number(jobs->metric[m][row->at]);
    }
    for (int64_t m = 0; m < jobs->nprinted; m++)
        if (strcmp(jobs->printed[m], all->name[column]) == 0)
            return number(jobs->number[m][row->at]);
    return (weft_cell){0};
}

/* ---- printing ---- */

static void print_csv(const trial_row *row, int64_t n, const struct columns *all,
                      weft_arena *tmp)
{
    for (int64_t c = 0; c < all->n; c++) {
        if (c > 0) putchar(',');
        weft_csv_cell(text(all->name[c]));
    }
    printf("\n");
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < all->n; c++) {
            if (c > 0) putchar(',');
            weft_csv_cell(cell_of(&row[i], all, c, tmp));
        }
        printf("\n");
    }
}

static void print_json(const trial_row *row, int64_t n, const struct columns *all,
                       weft_arena *tmp)
{
    yajl_gen g = weft_json_begin();
    for (int64_t i = 0; i < n; i++) {
        yajl_gen_map_open(g);
        for (int64_t c = 0; c < all->n; c++) {
            weft_json_text(g, all->name[c]);
            weft_json_cell(g, cell_of(&row[i], all, c, tmp));
        }
        yajl_gen_map_close(g);
    }
    weft_json_end(g);
}

weft_status weft_trials_print(const weft_summary *summary, int n, int json, weft_arena *tmp)
{
    int64_t jobs = 0, rows = 0;
    for (int i = 0; i < n; i++) {
        if (!summary[i].jobs.last || !summary[i].type)
            return weft_fail(WEFT_EFILE,
                             "%s was written by an older version of weft, without the "
                             "types of its axes; `weft report --json` prints its jobs and "
                             "configurations",
                             summary[i].path);
        jobs += summary[i].jobs.n;
    }
    trial_row *row = WEFT_NEW(tmp, trial_row, jobs);
    for (int i = 0; i < n; i++) rows += find_trials(&summary[i], row + rows, tmp);
    struct columns all = find_columns(summary, n, tmp);
    if (json)
        print_json(row, rows, &all, tmp);
    else
        print_csv(row, rows, &all, tmp);
    return WEFT_OK;
}
