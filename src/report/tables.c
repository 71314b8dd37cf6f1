/* `weft report --csv` and `--json`: runs, or by `--trials` a row for each trial, for other
 * programs. The configuration of a trial has a column for each axis of the search, of the
 * axis' own type. */
#include "report.h"
#include "weft/base/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

/* ---- values ---- */

/* One value of a table: nothing, a text, a whole number, a number, or 0 or 1 for false and
 * true. */
struct cell {
    enum { CELL_NONE, CELL_TEXT, CELL_WHOLE, CELL_NUMBER, CELL_TRUTH } is;
    const char *text;
    int64_t whole;
    double number;
};

static struct cell number_cell(double x)
{
    return (struct cell){.is = isnan(x) ? CELL_NONE : CELL_NUMBER, .number = x};
}

static struct cell whole_cell(int64_t x)
{
    return (struct cell){.is = CELL_WHOLE, .whole = x};
}

static struct cell text_cell(const char *x)
{
    return (struct cell){.is = CELL_TEXT, .text = x};
}

/* Texts in quotes, numbers in full precision; nothing is empty. */
static void csv_cell(struct cell cell)
{
    switch (cell.is) {
    case CELL_NONE: return;
    case CELL_TEXT: weft_csv_quote(stdout, cell.text); return;
    case CELL_WHOLE: printf("%lld", (long long)cell.whole); return;
    case CELL_NUMBER: printf("%.17g", cell.number); return;
    default: printf("%s", cell.whole ? "true" : "false");
    }
}

static void json_text(yajl_gen g, const char *text)
{
    yajl_gen_string(g, (const unsigned char *)text, strlen(text));
}

/* NAN and infinity, which JSON does not have, are null. */
static void json_number(yajl_gen g, double x)
{
    if (isfinite(x))
        yajl_gen_double(g, x);
    else
        yajl_gen_null(g);
}

static void json_cell(yajl_gen g, struct cell cell)
{
    switch (cell.is) {
    case CELL_NONE: yajl_gen_null(g); return;
    case CELL_TEXT: json_text(g, cell.text); return;
    case CELL_WHOLE: yajl_gen_integer(g, cell.whole); return;
    case CELL_NUMBER: json_number(g, cell.number); return;
    default: yajl_gen_bool(g, cell.whole != 0);
    }
}

/* A name and its value, of an object. */
static void json_entry(yajl_gen g, const char *name, struct cell cell)
{
    json_text(g, name);
    json_cell(g, cell);
}

static void write_json(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    fwrite(text, 1, n, stdout);
}

/* Begins an array, which is the whole output. */
static yajl_gen json_begin(void)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    weft_check(g != NULL, "no memory for JSON");
    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_config(g, yajl_gen_print_callback, write_json, NULL);
    yajl_gen_array_open(g);
    return g;
}

static void json_end(yajl_gen g)
{
    yajl_gen_array_close(g);
    yajl_gen_free(g);
}

/* ---- runs ---- */

/* A fact as it was read; "" and NAN are nothing. */
static struct cell fact_cell(int type, const weft_value *value)
{
    if (type == TEXT && value->text) return text_cell(value->text);
    if (type == WHOLE && value->known) return whole_cell(value->whole);
    return type == NUMBER ? number_cell(value->number) : (struct cell){0};
}

/* "12 3;4 5": a row for each class. */
static void csv_confusion(const weft_confusion *confusion)
{
    int64_t m = confusion->classes;
    putchar(',');
    for (int64_t i = 0; i < m * m; i++)
        printf("%s%.17g", i == 0 ? "" : i % m == 0 ? ";" : " ", confusion->rows[i]);
}

/* One line per run; numbers in full precision, empty where there is none. */
void weft_report_csv(const weft_summary *summary, int n, const weft_methods *methods,
                     weft_arena *tmp)
{
    const weft_metric *score = weft_summary_scores(summary, n, tmp);
    printf("run,settings");
    for (int c = 0; c < WEFT_NFACT; c++) printf(",%s", weft_facts[c].name);
    for (int p = 0; p < WEFT_NPART; p++)
        for (int c = 0; score[c].name; c++)
            printf(",%s_%s", weft_part_name[p], score[c].name);
    printf(",confusion");
    for (int t = 0; t < WEFT_NTIME; t++)
        printf(",%s_min,%s_mean,%s_max", weft_time_names[t], weft_time_names[t],
               weft_time_names[t]);
    printf("\n");
    for (int i = 0; i < n; i++) {
        csv_cell(text_cell(summary[i].path));
        putchar(',');
        csv_cell(text_cell(weft_methods_settings(methods, i)));
        for (int c = 0; c < WEFT_NFACT; c++) {
            putchar(',');
            csv_cell(fact_cell(weft_facts[c].type, &summary[i].value[c]));
        }
        for (int p = 0; p < WEFT_NPART; p++)
            for (int c = 0; score[c].name; c++) {
                putchar(',');
                csv_cell(number_cell(weft_summary_score(&summary[i], p, score[c].name)));
            }
        csv_confusion(&summary[i].confusion);
        for (int t = 0; t < WEFT_NTIME; t++)
            printf(",%.17g,%.17g,%.17g", summary[i].times[t][0], summary[i].times[t][1],
                   summary[i].times[t][2]);
        printf("\n");
    }
}

static void json_confusion(yajl_gen g, const weft_confusion *confusion)
{
    int64_t m = confusion->classes;
    if (m == 0) return;
    json_text(g, "classes");
    yajl_gen_array_open(g);
    for (int64_t k = 0; k < m; k++) json_text(g, confusion->name[k]);
    yajl_gen_array_close(g);
    json_text(g, "confusion");
    yajl_gen_array_open(g);
    for (int64_t k = 0; k < m; k++) {
        yajl_gen_array_open(g);
        for (int64_t j = 0; j < m; j++) json_number(g, confusion->rows[k * m + j]);
        yajl_gen_array_close(g);
    }
    yajl_gen_array_close(g);
}

static void json_facts(yajl_gen g, const weft_summary *summary, const char *settings)
{
    json_entry(g, "run", text_cell(summary->path));
    json_entry(g, "settings", text_cell(settings));
    for (int c = 0; c < WEFT_NFACT; c++)
        json_entry(g, weft_facts[c].name,
                   fact_cell(weft_facts[c].type, &summary->value[c]));
    for (int p = 0; p < WEFT_NPART; p++)
        for (int c = 0; c < WEFT_MAX_SCORES && summary->scores[c].name; c++) {
            char name[128];
            snprintf(name, sizeof name, "%s_%s", weft_part_name[p],
                     summary->scores[c].name);
            json_entry(g, name, number_cell(summary->score[p].metric[c]));
        }
    json_confusion(g, &summary->confusion);
    json_text(g, "times");
    yajl_gen_map_open(g);
    for (int t = 0; t < WEFT_NTIME; t++) {
        json_text(g, weft_time_names[t]);
        yajl_gen_array_open(g);
        for (int i = 0; i < 3; i++) json_number(g, summary->times[t][i]);
        yajl_gen_array_close(g);
    }
    yajl_gen_map_close(g);
}

/* Numbers that a job does not have are null. */
static void json_jobs(yajl_gen g, const weft_jobs *jobs)
{
    const struct {
        const char *name;
        const int64_t *whole;
        const double *number;
    } member[] = {
        {"job", jobs->job, NULL},         {"trial", jobs->trial, NULL},
        {"rounds", jobs->rounds, NULL},   {"resource", NULL, jobs->resource},
        {"loss", NULL, jobs->loss},       {"bound", NULL, jobs->bound},
        {"seconds", NULL, jobs->seconds},
    };
    json_text(g, "jobs_done");
    yajl_gen_array_open(g);
    for (int64_t i = 0; i < jobs->n; i++) {
        yajl_gen_map_open(g);
        for (int m = 0; m < WEFT_COUNT(member); m++)
            json_entry(g, member[m].name,
                       member[m].whole ? whole_cell(member[m].whole[i])
                                       : number_cell(member[m].number[i]));
        for (int m = 0; jobs->metrics[m].name; m++)
            json_entry(g, jobs->metrics[m].name, number_cell(jobs->metric[m][i]));
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
}

static void json_arms(yajl_gen g, const weft_summary *summary)
{
    json_text(g, "arms");
    yajl_gen_array_open(g);
    for (int64_t i = 0; i < summary->arms.n; i++) {
        yajl_gen_map_open(g);
        json_entry(g, "job", whole_cell(summary->arms.job[i]));
        json_entry(g, "config", whole_cell(summary->arms.config[i]));
        json_entry(g, "text",
                   text_cell(weft_summary_config(summary, summary->arms.config[i])));
        json_entry(g, "p", number_cell(summary->arms.p[i]));
        json_entry(g, "after", number_cell(summary->arms.after[i]));
        json_entry(g, "loss", number_cell(summary->arms.loss[i]));
        json_entry(g, "error", number_cell(summary->arms.error[i]));
        json_entry(g, "count", number_cell(summary->arms.count[i]));
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
}

/* An array with one object a run. */
void weft_report_json(const weft_summary *summary, int n, const weft_methods *methods)
{
    yajl_gen g = json_begin();
    for (int i = 0; i < n; i++) {
        yajl_gen_map_open(g);
        json_facts(g, &summary[i], weft_methods_settings(methods, i));
        json_jobs(g, &summary[i].jobs);
        json_arms(g, &summary[i]);
        yajl_gen_map_close(g);
    }
    json_end(g);
}

/* ---- trials ---- */

/* A trial, by its last job. */
struct trial_row {
    const weft_summary *summary;
    int64_t trial, jobs, at; /* at: its last job, in of->jobs */
    int64_t arm;             /* the likeliest of that job's mixture; -1: none */
    double seconds;          /* of all its jobs */
    double most;             /* resource of a trial of the run */
};

static int by_trial(const void *pa, const void *pb)
{
    const struct trial_row *a = pa, *b = pb;
    if (a->trial != b->trial) return a->trial < b->trial ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

/* The trials of a run by number, without those that have no job yet; row[jobs]. */
static int64_t find_trials(const weft_summary *summary, struct trial_row *row,
                           weft_arena *tmp)
{
    const weft_jobs *jobs = &summary->jobs;
    const int64_t *likeliest = weft_summary_likeliest(summary, tmp);
    int64_t n = 0;
    double most = 0;
    for (int64_t i = 0; i < jobs->n; i++) most = fmax(most, jobs->resource[i]);
    for (int64_t i = 0; i < jobs->n; i++)
        row[i] = (struct trial_row){summary,      jobs->trial[i],   1,   i,
                                    likeliest[i], jobs->seconds[i], most};
    if (jobs->n > 0) qsort(row, (size_t)jobs->n, sizeof *row, by_trial);
    for (int64_t i = 0; i < jobs->n; i++) {
        struct trial_row *last = n > 0 ? &row[n - 1] : NULL;
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
static const char *state_of(const struct trial_row *row)
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

/* Names of all columns: the fixed ones, then metrics, numbers that programs printed,
 * objectives and limits, and axes that any run has. */
struct columns {
    const char **name;
    int64_t n, room;
    int64_t printed, goals, axes; /* the first of them */
    weft_arena *mem;
};

static void add_column(struct columns *all, int64_t first, const char *name)
{
    for (int64_t i = first; i < all->n; i++)
        if (strcmp(all->name[i], name) == 0) return;
    WEFT_REGROW(all->mem, all->name, all->n, &all->room);
    all->name[all->n++] = name;
}

/* Objectives and limits that have no column yet, the excess of limits, and whether a trial
 * is on the front. */
static void add_goals(struct columns *all, const weft_jobs *jobs)
{
    for (int g = 0; g < jobs->goals.n; g++) add_column(all, 0, jobs->goals.goal[g].name);
    if (jobs->goals.n > 0) add_column(all, all->goals, "excess");
    if (jobs->front) add_column(all, all->goals, "front");
}

static struct columns find_columns(const weft_summary *summary, int n, weft_arena *tmp)
{
    struct columns all = {.mem = tmp};
    for (int i = 0; i < NFIXED; i++) add_column(&all, 0, fixed[i]);
    for (int i = 0; i < n; i++)
        for (int m = 0; summary[i].jobs.metrics[m].name; m++)
            add_column(&all, NFIXED, summary[i].jobs.metrics[m].name);
    all.printed = all.n;
    for (int i = 0; i < n; i++)
        for (int64_t m = 0; m < summary[i].jobs.nprinted; m++)
            add_column(&all, all.printed, summary[i].jobs.printed[m]);
    all.goals = all.n;
    for (int i = 0; i < n; i++) add_goals(&all, &summary[i].jobs);
    all.axes = all.n;
    for (int i = 0; i < n; i++)
        for (int64_t a = 0; a < summary[i].dim; a++)
            add_column(&all, all.axes, summary[i].axis[a]);
    return all;
}

/* ---- cells ---- */

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
static struct cell word_cell(const char *words, double i, weft_arena *tmp)
{
    const char *at = words;
    for (; i > 0 && strchr(at, '|'); i--) at = strchr(at, '|') + 1;
    if (are_numbers(words)) return number_cell(strtod(at, NULL));
    return text_cell(weft_arena_text(tmp, "%.*s", (int)strcspn(at, "|"), at));
}

#define MOST 9e15 /* of the whole numbers that doubles hold exactly */

/* A value of axis a, of the axis' own type. */
static struct cell value_cell(const weft_summary *summary, int64_t a, double x,
                              weft_arena *tmp)
{
    if (isnan(x)) return (struct cell){0};
    if (strcmp(summary->type[a], "real") == 0 || !(fabs(x) < MOST)) return number_cell(x);
    if (strcmp(summary->type[a], "integer") == 0) return whole_cell((int64_t)x);
    if (strcmp(summary->type[a], "boolean") == 0)
        return (struct cell){.is = CELL_TRUTH, .whole = x != 0};
    return word_cell(summary->type[a], x, tmp);
}

void weft_csv_value(const weft_summary *summary, int64_t a, double x, weft_arena *tmp)
{
    csv_cell(value_cell(summary, a, x, tmp));
}

static struct cell axis_cell(const struct trial_row *row, const char *name, weft_arena *tmp)
{
    const weft_summary *summary = row->summary;
    int64_t a = 0;
    while (a < summary->dim && strcmp(summary->axis[a], name) != 0) a++;
    if (a == summary->dim || row->arm < 0 || summary->nconfig == 0) return (struct cell){0};
    int64_t config = weft_summary_place(summary, summary->arms.config[row->arm]);
    return value_cell(summary, a, summary->conf[config * summary->dim + a], tmp);
}

static struct cell fixed_cell(const struct trial_row *row, int64_t column)
{
    const weft_jobs *jobs = &row->summary->jobs;
    switch (column) {
    case RUN: return text_cell(row->summary->path);
    case TRIAL: return whole_cell(row->trial);
    case CONFIG:
        return row->arm < 0 ? (struct cell){0}
                            : whole_cell(row->summary->arms.config[row->arm]);
    case JOBS: return whole_cell(row->jobs);
    case JOB: return whole_cell(jobs->job[row->at]);
    case STATE: return text_cell(state_of(row));
    case RESOURCE: return number_cell(jobs->resource[row->at]);
    case LOSS: return number_cell(jobs->loss[row->at]);
    default: return number_cell(row->seconds);
    }
}

/* An objective or a limit, also in the place of what else has its name, as in weft.read. */
static int is_goal(const struct trial_row *row, const struct columns *all, int64_t column,
                   struct cell *cell)
{
    const weft_jobs *jobs = &row->summary->jobs;
    const char *name = all->name[column];
    if (column < LOSS) return 0;
    for (int g = 0; g < jobs->goals.n; g++)
        if (strcmp(jobs->goals.goal[g].name, name) == 0) {
            *cell = number_cell(jobs->goal[g][row->at]);
            return 1;
        }
    if (column < all->goals) return 0;
    if (jobs->goals.n > 0 && strcmp(name, "excess") == 0)
        *cell = number_cell(jobs->excess[row->at]);
    if (jobs->front && strcmp(name, "front") == 0)
        *cell = (struct cell){.is = CELL_TRUTH, .whole = jobs->front[row->at]};
    return 1;
}

static struct cell trial_cell(const struct trial_row *row, const struct columns *all,
                              int64_t column, weft_arena *tmp)
{
    struct cell cell = {0};
    if (column >= all->axes) return axis_cell(row, all->name[column], tmp);
    if (is_goal(row, all, column, &cell)) return cell;
    if (column < NFIXED) return fixed_cell(row, column);
    const weft_jobs *jobs = &row->summary->jobs;
    if (column < all->printed) {
        int m = weft_metrics_find(jobs->metrics, all->name[column]);
        return m < 0 ? (struct cell){0} : number_cell(jobs->metric[m][row->at]);
    }
    for (int64_t m = 0; m < jobs->nprinted; m++)
        if (strcmp(jobs->printed[m], all->name[column]) == 0)
            return number_cell(jobs->number[m][row->at]);
    return (struct cell){0};
}

/* ---- printing ---- */

static void print_csv(const struct trial_row *row, int64_t n, const struct columns *all,
                      weft_arena *tmp)
{
    for (int64_t c = 0; c < all->n; c++) {
        if (c > 0) putchar(',');
        csv_cell(text_cell(all->name[c]));
    }
    printf("\n");
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < all->n; c++) {
            if (c > 0) putchar(',');
            csv_cell(trial_cell(&row[i], all, c, tmp));
        }
        printf("\n");
    }
}

static void print_json(const struct trial_row *row, int64_t n, const struct columns *all,
                       weft_arena *tmp)
{
    yajl_gen g = json_begin();
    for (int64_t i = 0; i < n; i++) {
        yajl_gen_map_open(g);
        for (int64_t c = 0; c < all->n; c++) {
            json_entry(g, all->name[c], trial_cell(&row[i], all, c, tmp));
        }
        yajl_gen_map_close(g);
    }
    json_end(g);
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
    struct trial_row *row = WEFT_NEW(tmp, struct trial_row, jobs);
    for (int i = 0; i < n; i++) rows += find_trials(&summary[i], row + rows, tmp);
    struct columns all = find_columns(summary, n, tmp);
    if (json)
        print_json(row, rows, &all, tmp);
    else
        print_csv(row, rows, &all, tmp);
    return WEFT_OK;
}
