/* `weft report` of several runs for people: a line a run, then means and intervals of each
 * method. */
#include "summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A column of the comparison: a fact, or a score of a part. */
struct column {
    const weft_fact *fact;
    int at; /* of the fact in values; part of the score */
    const weft_metric *score;
    const char *title;
    int text;
};

static const char *number_cell(double x, double scale, int digits, weft_arena *tmp)
{
    return isnan(x) ? "-" : weft_arena_text(tmp, "%.*f", digits, scale * x);
}

static const char *cell(const struct column *column, const weft_summary *summary,
                        weft_arena *tmp)
{
    if (column->score) {
        int share = weft_metric_is_share(column->score);
        return number_cell(weft_summary_score(summary, column->at, column->score->name),
                           share ? 100 : 1, share ? 2 : 5, tmp);
    }
    const weft_value *value = &summary->value[column->at];
    if (column->text && !value->text && strcmp(column->fact->name, "winner") == 0)
        return weft_summary_value(summary, "no_winner")->text ? "none" : "";
    if (column->text) return value->text ? weft_config_brief(value->text, tmp) : "";
    if (column->fact->type == WHOLE)
        return weft_arena_text(tmp, "%lld", (long long)value->whole);
    return number_cell(value->number, 1, 2, tmp);
}

/* 1 if some run has that score of the part. */
static int is_scored(const weft_summary *summary, int n, int part, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!isnan(weft_summary_score(&summary[i], part, name))) return 1;
    return 0;
}

/* The scores of all parts that at least one run has: those that are shares, or all if there
 * are none. */
static int score_columns(const weft_summary *summary, int n, struct column *column,
                         weft_arena *tmp)
{
    const weft_metric *table = weft_summary_scores(summary, n, tmp);
    int count = 0, shares = 0;
    for (int i = 0; table[i].name; i++)
        for (int p = 0; p < WEFT_NPART; p++)
            shares |=
                weft_metric_is_share(&table[i]) && is_scored(summary, n, p, table[i].name);
    for (int p = 0; p < WEFT_NPART; p++)
        for (int i = 0; table[i].name; i++) {
            if (!table[i].title || weft_metric_is_share(&table[i]) != shares ||
                !is_scored(summary, n, p, table[i].name))
                continue;
            column[count++] = (struct column){
                .at = p,
                .score = &table[i],
                .title = weft_arena_text(tmp, "%s %s", weft_part_name[p], table[i].title)};
        }
    return count;
}

/* Scores follow the number of ranks. */
static int columns_of(const weft_summary *summary, int n, struct column *column,
                      weft_arena *tmp)
{
    int count = 0;
    for (int i = 0; i < WEFT_NFACT; i++) {
        const weft_fact *fact = &weft_facts[i];
        if (!fact->title) continue;
        column[count++] = (struct column){
            .fact = fact, .at = i, .title = fact->title, .text = fact->type == TEXT};
        if (strcmp(fact->name, "ranks") == 0)
            count += score_columns(summary, n, column + count, tmp);
    }
    return count;
}

/* Cells of rows x columns, columns as wide as their widest cell; texts flush left, numbers
 * flush right. */
struct grid {
    int rows, columns;
    const char **cell; /* [rows][columns] */
    const int *text;   /* [columns] 1: texts */
};

static struct grid grid_new(int rows, int columns, const int *text, weft_arena *tmp)
{
    return (struct grid){rows, columns, WEFT_NEW(tmp, const char *, rows *columns), text};
}

static void print_grid(const struct grid *table)
{
    for (int i = 0; i < table->rows; i++)
        for (int k = 0; k < table->columns; k++) {
            int width = 0;
            for (int r = 0; r < table->rows; r++) {
                int own = (int)strlen(table->cell[r * table->columns + k]);
                if (own > width) width = own;
            }
            printf("%s%*s%s", k > 0 ? "  " : "", table->text[k] ? -width : width,
                   table->cell[i * table->columns + k],
                   k == table->columns - 1 ? "\n" : "");
        }
}

static void print_runs(const weft_summary *summary, int n, const struct column *column,
                       int count, const weft_methods *methods, weft_arena *tmp)
{
    int shown = methods->n > 0; /* the number of the method */
    int *text = WEFT_NEW(tmp, int, count + 2);
    struct grid table = grid_new(n + 1, count + 1 + shown, text, tmp);
    text[0] = 1;
    for (int i = -1; i < n; i++) {
        const char **row = table.cell + (i + 1) * table.columns;
        row[0] = i < 0 ? "run" : summary[i].path;
        if (shown)
            row[1] = i < 0 ? "method" : weft_arena_text(tmp, "%d", methods->of[i] + 1);
        for (int k = 0; k < count; k++) {
            text[k + 1 + shown] = column[k].text;
            row[k + 1 + shown] =
                i < 0 ? column[k].title : cell(&column[k], &summary[i], tmp);
        }
    }
    print_grid(&table);
}

/* ---- methods ---- */

/* "12.34 +- 0.56", the mean over the runs of a method. */
static const char *mean_cell(const weft_summary *summary, int n,
                             const weft_methods *methods, int method, const double *x,
                             int digits, weft_arena *tmp)
{
    double mean, half;
    weft_methods_mean(methods, method, summary, n, x, &mean, &half);
    if (isnan(mean)) return "-";
    const char *text = weft_arena_text(tmp, "%.*f", digits, mean);
    return isnan(half) ? text : weft_arena_text(tmp, "%s +- %.*f", text, digits, half);
}

/* Fills a column: a score, shown as in the lines of runs, or what the rounds took. */
static void fill(struct grid *table, int at, const weft_summary *summary, int n,
                 const weft_methods *methods, const struct column *column,
                 const weft_spending *spending, weft_arena *tmp)
{
    double *x = WEFT_NEW(tmp, double, n);
    int share = column && weft_metric_is_share(column->score);
    for (int i = 0; i < n; i++)
        x[i] = column ? (share ? 100 : 1) *
                            weft_summary_score(&summary[i], column->at, column->score->name)
                      : weft_summary_spent(&summary[i], spending);
    table->cell[at] = column ? column->title : spending->title;
    for (int m = 0; m < methods->n; m++)
        table->cell[(m + 1) * table->columns + at] =
            mean_cell(summary, n, methods, m, x, column ? (share ? 2 : 5) : 3, tmp);
}

static int is_spent(const weft_summary *summary, int n, const weft_spending *spending)
{
    for (int i = 0; i < n; i++)
        if (weft_summary_spent(&summary[i], spending) > 0) return 1;
    return 0;
}

/* Means over the runs of a method and their 95 % intervals. */
static void print_methods(const weft_summary *summary, int n, const struct column *column,
                          int count, const weft_methods *methods, weft_arena *tmp)
{
    int columns = 3, at = 2;
    for (int k = 0; k < count; k++) columns += column[k].score != NULL;
    for (int i = 0; i < WEFT_NSPENDING; i++)
        columns += is_spent(summary, n, &weft_spendings[i]);
    int *text = WEFT_NEW(tmp, int, columns);
    text[columns - 1] = 1;
    struct grid table = grid_new(methods->n + 1, columns, text, tmp);
    for (int k = 0; k < count; k++)
        if (column[k].score) fill(&table, at++, summary, n, methods, &column[k], NULL, tmp);
    for (int i = 0; i < WEFT_NSPENDING; i++)
        if (is_spent(summary, n, &weft_spendings[i]))
            fill(&table, at++, summary, n, methods, NULL, &weft_spendings[i], tmp);
    double *one = WEFT_NEW(tmp, double, n), mean, half;
    table.cell[0] = "method";
    table.cell[1] = "seeds";
    table.cell[at] = "settings that differ; means with 95 % intervals over seeds";
    for (int m = 0; m < methods->n; m++) {
        const char **row = table.cell + (m + 1) * columns;
        row[0] = weft_arena_text(tmp, "%d", m + 1);
        row[1] = weft_arena_text(
            tmp, "%d", weft_methods_mean(methods, m, summary, n, one, &mean, &half));
        row[at] = *methods->settings[m] ? methods->settings[m] : "-";
    }
    printf("\n");
    print_grid(&table);
}

void weft_report_comparison(const weft_summary *summary, int n, const weft_methods *methods,
                            weft_arena *tmp)
{
    struct column column[WEFT_NFACT + WEFT_NPART * WEFT_MAX_METRICS];
    int count = columns_of(summary, n, column, tmp);
    print_runs(summary, n, column, count, methods, tmp);
    if (methods->n > 0) print_methods(summary, n, column, count, methods, tmp);
}
