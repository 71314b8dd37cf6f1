/* `weft report` of several runs for people: a line a run, then means and intervals of each
 * method. Runs are of one method that differ in nothing but seed, names of files and
 * limits. */
#include "report.h"
#include "sched/sched.h"
#include "weft/base/conf.h"
#include "weft/math/linear.h"
#include "weft/registry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- options ---- */

/* 1 if the option tells nothing of the method: a name, the seed, or what no result depends
 * on. The data are told apart by their digest. */
static int is_aside(const weft_entry *entry)
{
    if (strcmp(entry->section, weft_run_kind.name) != 0) return 0;
    if (strcmp(entry->key, "seed") == 0 || strcmp(entry->key, "output") == 0) return 1;
    for (const weft_opt *opt = weft_run_kind.opts; opt->name; opt++)
        if (opt->role == WEFT_PER_SESSION && weft_opt_is(opt, entry->key)) return 1;
    return 0;
}

static const weft_opt *option_among(const weft_kind *const *kind, const char *section,
                                    const char *key)
{
    for (; kind && *kind; kind++)
        for (const weft_opt *opt = (*kind)->opts; opt->name; opt++)
            if (strcmp((*kind)->name, section) == 0 && weft_opt_is(opt, key)) return opt;
    return NULL;
}

/* NULL where the user chooses the keys. */
static const weft_opt *option_of(const char *section, const char *key)
{
    const weft_kind *const own[] = {&weft_run_kind, &weft_space_kind, NULL};
    const weft_kind *const *const lists[] = {own,
                                             weft_task_kinds,
                                             weft_feature_kinds,
                                             weft_model_kinds,
                                             weft_net_kinds,
                                             weft_algorithm_kinds,
                                             weft_tuner_kinds,
                                             weft_sampler_kinds,
                                             weft_mixing_kinds};
    const weft_opt *opt = NULL;
    for (int i = 0; !opt && i < WEFT_COUNT(lists); i++)
        opt = option_among(lists[i], section, key);
    for (int i = 0; !opt && weft_tasks[i]; i++)
        opt = option_among(weft_tasks[i]->parts, section, key);
    return opt;
}

/* As an input file has it, numbers and words in one form: 0.1 for 1e-1. */
static const char *in_one_form(const weft_opt *opt, const char *text, weft_arena *mem)
{
    char shown[256];
    double value;
    if (!opt || opt->type == WEFT_TEXT || weft_opt_parse(opt, text, &value) != WEFT_OK)
        return text;
    weft_opt_show(opt, value, shown, sizeof shown);
    return weft_arena_text(mem, "%s", shown);
}

/* The options of all runs: names "section.key", and their values by run, NULL where a run
 * does not set it. */
struct settings {
    weft_names names;
    const char ***value; /* [names][runs] */
    const char **usual;  /* [names] the default; NULL: none */
    int64_t room, roomusual;
    int runs;
    weft_arena *mem;
};

static void put_setting(struct settings *all, const char *section, const char *key, int run,
                        const char *value)
{
    const weft_opt *opt = option_of(section, key);
    int64_t n = all->names.n;
    int64_t at =
        weft_names_find(&all->names, weft_arena_text(all->mem, "%s.%s", section, key));
    if (at == n) {
        WEFT_GROW(all->mem, all->value, n, &all->room);
        WEFT_GROW(all->mem, all->usual, n, &all->roomusual);
        all->value[at] = WEFT_NEW(all->mem, const char *, all->runs);
        all->usual[at] = opt ? in_one_form(opt, opt->def, all->mem) : NULL;
    }
    all->value[at][run] = in_one_form(opt, value, all->mem);
}

static weft_status take_settings(struct settings *all, const weft_summary *summary, int run)
{
    weft_conf conf;
    weft_conf_init(&conf, all->mem);
    TRY(weft_conf_text(&conf, summary->path, summary->config));
    for (int e = 0; e < conf.n; e++) {
        const weft_entry *entry = &conf.entry[e];
        if (!is_aside(entry))
            put_setting(all, entry->section, entry->key, run, entry->value);
    }
    const char *data = weft_summary_value(summary, "data")->text;
    const char *digest = weft_summary_value(summary, "data_digest")->text;
    if (data && digest)
        put_setting(all, "run", "data", run,
                    weft_arena_text(all->mem, "%s %s", digest, data));
    return WEFT_OK;
}

/* ---- methods ---- */

/* The data are told apart by the first word, their digest. */
static int is_same(const struct settings *all, int64_t name, int run, int other)
{
    const char *a = all->value[name][run], *b = all->value[name][other];
    if (!a) a = all->usual[name];
    if (!b) b = all->usual[name];
    if (!a || !b) return a == b;
    if (strcmp(all->names.name[name], "run.data") != 0) return strcmp(a, b) == 0;
    size_t n = strcspn(a, " ");
    return n == strcspn(b, " ") && strncmp(a, b, n) == 0;
}

/* Divides each method by the values of an option, and tells these where they differ. */
static void divide_by(const struct settings *all, int64_t name, weft_methods *methods,
                      const char **text)
{
    const char *key = all->names.name[name], **value = all->value[name];
    int same = 1, n = 0, *first = WEFT_NEW(all->mem, int, all->runs);
    for (int r = 1; r < all->runs; r++) same &= is_same(all, name, 0, r);
    if (same) return;
    int *of = WEFT_NEW(all->mem, int, all->runs);
    for (int r = 0; r < all->runs; r++) {
        int m = 0;
        while (m < n && !(methods->of[first[m]] == methods->of[r] &&
                          is_same(all, name, first[m], r)))
            m++;
        if (m == n) first[n++] = r;
        of[r] = m;
        if (!value[r]) continue;
        const char *shown =
            strcmp(key, "run.data") == 0 ? strchr(value[r], ' ') + 1 : value[r];
        text[r] = weft_arena_text(all->mem, "%s%s%s=%s", text[r], *text[r] ? " " : "", key,
                                  shown);
    }
    methods->of = of;
    methods->n = n;
}

weft_status weft_methods_find(const weft_summary *summary, int n, weft_methods *methods,
                              weft_arena *mem)
{
    *methods = (weft_methods){.n = 0};
    const char *task = weft_summary_value(summary, "task")->text;
    for (int r = 1; r < n; r++)
        if (strcmp(weft_summary_value(&summary[r], "task")->text, task) != 0)
            return WEFT_OK;
    struct settings all = {.names = {.mem = mem}, .runs = n, .mem = mem};
    for (int r = 0; r < n; r++) TRY(take_settings(&all, &summary[r], r));
    methods->n = 1;
    methods->of = WEFT_NEW(mem, int, n);
    const char **text = WEFT_NEW(mem, const char *, n);
    for (int r = 0; r < n; r++) text[r] = "";
    for (int64_t name = 0; name < all.names.n; name++) divide_by(&all, name, methods, text);
    methods->settings = WEFT_NEW(mem, const char *, methods->n);
    for (int r = n - 1; r >= 0; r--) methods->settings[methods->of[r]] = text[r];
    return WEFT_OK;
}

const char *weft_methods_settings(const weft_methods *methods, int run)
{
    return methods->n > 0 ? methods->settings[methods->of[run]] : "";
}

/* ---- runs ---- */

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

static const char *cell_of(const struct column *column, const weft_summary *summary,
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
                i < 0 ? column[k].title : cell_of(&column[k], &summary[i], tmp);
        }
    }
    print_grid(&table);
}

/* ---- means of methods ---- */

/* 1 if an earlier run of the method has the seed of run r. */
static int is_again(const weft_methods *methods, const weft_summary *summary, int r)
{
    int64_t seed = weft_summary_value(&summary[r], "seed")->whole;
    for (int i = 0; i < r; i++)
        if (methods->of[i] == methods->of[r] &&
            weft_summary_value(&summary[i], "seed")->whole == seed)
            return 1;
    return 0;
}

/* The mean of x over the runs of a method, of which there is one each seed, without NAN,
 * and half its 95 % interval by Student's t; NAN of fewer than two. Returns the number of
 * runs. x   [n] */
static int mean_of(const weft_methods *methods, int method, const weft_summary *summary,
                   int n, const double *x, double *mean, double *half)
{
    int count = 0;
    double sum = 0, around = 0;
    *mean = *half = NAN;
    for (int pass = 0; pass < 2; pass++)
        for (int r = 0; r < n; r++) {
            if (methods->of[r] != method || isnan(x[r]) || is_again(methods, summary, r))
                continue;
            if (pass == 0) {
                sum += x[r];
                *mean = sum / ++count;
            } else {
                around += (x[r] - *mean) * (x[r] - *mean);
            }
        }
    if (count > 1) *half = weft_student(count - 1) * sqrt(around / (count - 1) / count);
    return count;
}

/* "12.34 +- 0.56", the mean over the runs of a method. */
static const char *mean_cell(const weft_summary *summary, int n,
                             const weft_methods *methods, int method, const double *x,
                             int digits, weft_arena *tmp)
{
    double mean, half;
    mean_of(methods, method, summary, n, x, &mean, &half);
    if (isnan(mean)) return "-";
    const char *text = weft_arena_text(tmp, "%.*f", digits, mean);
    return isnan(half) ? text : weft_arena_text(tmp, "%s +- %.*f", text, digits, half);
}

/* Fills a column: a score, shown as in the lines of runs, or what the rounds took. */
static void fill_column(struct grid *table, int at, const weft_summary *summary, int n,
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
        if (column[k].score)
            fill_column(&table, at++, summary, n, methods, &column[k], NULL, tmp);
    for (int i = 0; i < WEFT_NSPENDING; i++)
        if (is_spent(summary, n, &weft_spendings[i]))
            fill_column(&table, at++, summary, n, methods, NULL, &weft_spendings[i], tmp);
    double *one = WEFT_NEW(tmp, double, n), mean, half;
    table.cell[0] = "method";
    table.cell[1] = "seeds";
    table.cell[at] = "settings that differ; means with 95 % intervals over seeds";
    for (int m = 0; m < methods->n; m++) {
        const char **row = table.cell + (m + 1) * columns;
        row[0] = weft_arena_text(tmp, "%d", m + 1);
        row[1] =
            weft_arena_text(tmp, "%d", mean_of(methods, m, summary, n, one, &mean, &half));
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
