/* `weft report --csv` and `--json`: runs for other programs. */
#include "report.h"
#include "result/result.h"
#include "weft/base/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

/* ---- values ---- */

/* One value of a table: nothing, a text, a whole number or a number. */
struct cell {
    enum { CELL_NONE, CELL_TEXT, CELL_WHOLE, CELL_NUMBER } is;
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
    default: printf("%.17g", cell.number);
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
    default: json_number(g, cell.number);
    }
}

static void write_json(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    fwrite(text, 1, n, stdout);
}

/* ---- runs ---- */

/* A name and its value. */
struct entry {
    const char *name;
    struct cell cell;
};

enum { MOST_ENTRIES = 2 + WEFT_NFACT + WEFT_NPART * WEFT_MAX_METRICS };

/* A fact as it was read; "" and NAN are nothing. */
static struct cell fact_cell(int type, const weft_value *value)
{
    if (type == TEXT && value->text) return text_cell(value->text);
    if (type == WHOLE && value->known) return whole_cell(value->whole);
    return type == NUMBER ? number_cell(value->number) : (struct cell){0};
}

/* Facts of a run and its scores of that table; returns their number. */
static int entries_of(const weft_summary *summary, const char *settings,
                      const weft_metric *score, struct entry *entry, weft_arena *tmp)
{
    int n = 0;
    entry[n++] = (struct entry){"run", text_cell(summary->path)};
    entry[n++] = (struct entry){"settings", text_cell(settings)};
    for (int i = 0; i < WEFT_NFACT; i++)
        entry[n++] = (struct entry){weft_facts[i].name,
                                    fact_cell(weft_facts[i].type, &summary->value[i])};
    for (int p = 0; p < WEFT_NPART; p++)
        for (int i = 0; score[i].name; i++)
            entry[n++] = (struct entry){
                weft_arena_text(tmp, "%s_%s", weft_part_name[p], score[i].name),
                number_cell(weft_summary_score(summary, p, score[i].name))};
    return n;
}

/* "12 3;4 5": a row for each class. */
static void csv_confusion(const weft_confusion *confusion)
{
    int64_t m = confusion->classes;
    putchar(',');
    for (int64_t i = 0; i < m * m; i++)
        printf("%s%.17g", i == 0 ? "" : i % m == 0 ? ";" : " ", confusion->rows[i]);
}

void weft_report_csv(const weft_summary *summary, int n, const weft_methods *methods,
                     weft_arena *tmp)
{
    static const char *const spread[] = {"min", "mean", "max"};
    const weft_metric *score = weft_summary_scores(summary, n, tmp);
    for (int i = -1; i < n; i++) { /* first the names */
        struct entry entry[MOST_ENTRIES];
        const weft_summary *run = &summary[i < 0 ? 0 : i];
        int count = entries_of(run, i < 0 ? "" : weft_methods_settings(methods, i), score,
                               entry, tmp);
        for (int k = 0; k < count; k++) {
            if (k > 0) putchar(',');
            if (i < 0) printf("%s", entry[k].name);
            if (i >= 0) csv_cell(entry[k].cell);
        }
        if (i < 0) printf(",confusion");
        if (i >= 0) csv_confusion(&run->confusion);
        for (int k = 0; k < 3 * WEFT_NTIME; k++) {
            if (i < 0) printf(",%s_%s", weft_time_names[k / 3], spread[k % 3]);
            if (i >= 0) printf(",%.17g", run->times[k / 3][k % 3]);
        }
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

static void json_times(yajl_gen g, const weft_summary *summary)
{
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

/* A column of a table of jobs or arms, of whole numbers, numbers or texts. */
struct column {
    const char *name;
    const int64_t *whole;
    const double *number;
    const char *const *text;
};

/* An array with an object for each of n rows. */
static void json_table(yajl_gen g, const char *name, int64_t n, const struct column *column,
                       int columns)
{
    json_text(g, name);
    yajl_gen_array_open(g);
    for (int64_t i = 0; i < n; i++) {
        yajl_gen_map_open(g);
        for (int k = 0; k < columns; k++) {
            const struct column *one = &column[k];
            json_text(g, one->name);
            json_cell(g, one->text    ? text_cell(one->text[i])
                         : one->whole ? whole_cell(one->whole[i])
                                      : number_cell(one->number[i]));
        }
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
}

static void json_jobs(yajl_gen g, const weft_jobs *jobs)
{
    struct column column[7 + WEFT_MAX_METRICS] = {
        {"job", .whole = jobs->job},         {"trial", .whole = jobs->trial},
        {"rounds", .whole = jobs->rounds},   {"resource", .number = jobs->resource},
        {"loss", .number = jobs->loss},      {"bound", .number = jobs->bound},
        {"seconds", .number = jobs->seconds}};
    int n = 7;
    for (int m = 0; jobs->metrics[m].name; m++)
        column[n++] = (struct column){jobs->metrics[m].name, .number = jobs->metric[m]};
    json_table(g, "jobs_done", jobs->n, column, n);
}

static void json_arms(yajl_gen g, const weft_summary *summary, weft_arena *tmp)
{
    const weft_arms *arms = &summary->arms;
    const char **text = WEFT_NEW(tmp, const char *, arms->n);
    for (int64_t i = 0; i < arms->n; i++)
        text[i] = weft_summary_config(summary, arms->config[i]);
    const struct column column[] = {
        {"job", .whole = arms->job},      {"config", .whole = arms->config},
        {"text", .text = text},           {"p", .number = arms->p},
        {"after", .number = arms->after}, {"loss", .number = arms->loss},
        {"error", .number = arms->error}, {"count", .number = arms->count}};
    json_table(g, "arms", arms->n, column, WEFT_COUNT(column));
}

void weft_report_json(const weft_summary *summary, int n, const weft_methods *methods,
                      weft_arena *tmp)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    weft_check(g != NULL, "no memory for JSON");
    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_config(g, yajl_gen_print_callback, write_json, NULL);
    yajl_gen_array_open(g);
    for (int i = 0; i < n; i++) {
        struct entry entry[MOST_ENTRIES];
        int count = entries_of(&summary[i], weft_methods_settings(methods, i),
                               summary[i].scores, entry, tmp);
        yajl_gen_map_open(g);
        for (int k = 0; k < count; k++) {
            json_text(g, entry[k].name);
            json_cell(g, entry[k].cell);
        }
        json_confusion(g, &summary[i].confusion);
        json_times(g, &summary[i]);
        json_jobs(g, &summary[i].jobs);
        json_arms(g, &summary[i], tmp);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    yajl_gen_free(g);
}
