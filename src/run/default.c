/* The input file for a data set where none is given: rules, from what the rows are and how
 * many there are, to one of the plans in inputs/plans, whose README says how facts of the
 * data fill it. What the rules are from: analysis/notes/tables.md. */
#include "run.h"
#include "weft/run/run.h"
#include "weft/store/h5.h"

#include <stdio.h>
#include <string.h>

enum {
    FEW = 300,       /* rows with ten folds, at most */
    SOME = 2000,     /* rows with five, at most */
    MANY = 5000,     /* rows with three; beyond, one validation part is enough */
    EXACT = 8000,    /* rows whose kernel is computed, at most */
    SHORT = 2000000, /* words of all training documents for which 2^22 bins are enough */
    EVALUATED = 500, /* clients of an evaluation, at most */
    MOST_FACTS = 16
};

struct fact {
    const char *name, *text;
    double value; /* 0: it is no number */
};

struct plan {
    const weft_data *data;
    int n;
    struct fact fact[MOST_FACTS];
    const char *text;
    weft_arena *mem;
};

/* ---- facts ---- */

static void note(struct plan *plan, const char *name, double value, const char *text)
{
    weft_check(plan->n < MOST_FACTS, "too many facts for a plan: %s", name);
    plan->fact[plan->n++] = (struct fact){name, text, value};
}

static void note_count(struct plan *plan, const char *name, int64_t count)
{
    note(plan, name, (double)count, weft_arena_text(plan->mem, "%lld", (long long)count));
}

/* NULL: the data have no fact of the name[n]. */
static const struct fact *find_fact(const struct plan *plan, const char *name, size_t n)
{
    for (int i = 0; i < plan->n; i++)
        if (strlen(plan->fact[i].name) == n && strncmp(plan->fact[i].name, name, n) == 0)
            return &plan->fact[i];
    return NULL;
}

/* ---- lines ---- */

/* What stands for "{NAME}", "{NUMBER/NAME}" or "{at most NUMBER NAME}". */
static const char *value_of(const struct plan *plan, const char *word, size_t n)
{
    double number = 0;
    int begin = 0, share = 0, most = 0;
    const char *all = weft_arena_text(plan->mem, "%.*s", (int)n, word);
    if (sscanf(all, "%lf/%n", &number, &share) == 1 && share > 0) begin = share;
    if (sscanf(all, "at most %lf %n", &number, &most) == 1 && most > 0) begin = most;
    const struct fact *fact = find_fact(plan, all + begin, strlen(all + begin));
    if (!fact) weft_die("a plan needs {%s}, which is not known", all);
    if (share > 0) return weft_arena_text(plan->mem, "%.2g", number / fact->value);
    if (most > 0 && fact->value > number) return weft_arena_text(plan->mem, "%.0f", number);
    return fact->text;
}

/* The text[n] with its words in braces replaced. */
static const char *fill(const struct plan *plan, const char *text, size_t n)
{
    const char *out = "", *end = text + n;
    for (const char *at = text; at < end;) {
        size_t plain = strcspn(at, "{");
        if (plain > (size_t)(end - at)) plain = (size_t)(end - at);
        out = weft_arena_text(plan->mem, "%s%.*s", out, (int)plain, at);
        at += plain;
        if (at == end) break;
        size_t word = strcspn(at, "}");
        out = weft_arena_text(plan->mem, "%s%s", out, value_of(plan, at + 1, word - 1));
        at += word + 1;
    }
    return out;
}

/* Adds a line of a plan, unless it is for other data: "key = value" and its reason, if it
 * has one, in a column of its own. */
static void add_line(struct plan *plan, const char *line, size_t n)
{
    size_t word = strcspn(line, " ?\n"), own;
    if (line[word] == '?') {
        if (!find_fact(plan, line, word)) return;
        line += word + 2;
        n -= word + 2;
    }
    const char *why = strstr(line, " ; ");
    if (!why || why >= line + n) {
        plan->text = weft_arena_text(plan->mem, "%s%s\n", plan->text, fill(plan, line, n));
        return;
    }
    for (own = (size_t)(why - line); line[own - 1] == ' ';) own--;
    why += 3;
    plan->text =
        weft_arena_text(plan->mem, "%s%-23s ; %s\n", plan->text, fill(plan, line, own),
                        fill(plan, why, (size_t)(line + n - why)));
}

static void write_plan(struct plan *plan, const char *name)
{
    const weft_plan *from = weft_plans;
    while (from->name && strcmp(from->name, name) != 0) from++;
    if (!from->name) weft_die("there is no plan inputs/plans/%s.ini", name);
    plan->text = "";
    for (const char *at = from->text; *at;) {
        size_t n = strcspn(at, "\n");
        add_line(plan, at, n);
        at += n + 1;
    }
}

/* ---- tables ---- */

/* Rows, or groups of rows, of train and valid. Collective over the data's team. */
static int64_t count_units(const struct plan *plan, int64_t rows)
{
    const weft_data *data = plan->data;
    if (data->groups == 0) return rows;
    int64_t *size = WEFT_NEW(plan->mem, int64_t, data->groups), units = 0;
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++)
        for (int64_t i = 0; i < data->part[p].n; i++) size[data->part[p].group[i]]++;
    weft_sum_i64(data->team, size, (size_t)data->groups);
    for (int64_t g = 0; g < data->groups; g++) units += size[g] > 0;
    return units;
}

/* Folds where rows are few, for a validation part of few rows tells configurations apart by
 * chance. */
static void note_folds(struct plan *plan, int64_t rows)
{
    int64_t folds = rows <= FEW ? 10 : rows <= SOME ? 5 : 3;
    int64_t units = count_units(plan, rows);
    if (folds > units) folds = units;
    if (rows <= MANY && folds > 1)
        note_count(plan, "folds", folds);
    else
        note(plan, "whole", 0, "");
    note(plan, "it", 0, plan->data->groups > 0 ? "its group" : "it");
}

static void plan_table(struct plan *plan)
{
    const weft_data *data = plan->data;
    int64_t rows = data->part[WEFT_TRAIN].total + data->part[WEFT_VALID].total;
    double columns = (double)data->part[WEFT_TRAIN].d;
    int numbers = data->target_scale != NULL;
    note(plan, "what", 0,
         data->channels > 0 ? "images"
         : numbers          ? "a table with numbers to predict"
                            : "a table with classes");
    note(plan, numbers ? "numbers" : "classes", 0, "");
    note(plan, rows <= EXACT ? "few" : "many", 0, "");
    note(plan, "columns", columns, weft_arena_text(plan->mem, "%g", columns));
    note_count(plan, "rows", rows);
    note_count(plan, "valid", data->part[WEFT_VALID].total);
    note_folds(plan, rows);
    write_plan(plan, "table");
}

/* ---- texts, federations ---- */

static weft_status plan_texts(struct plan *plan, weft_data *data)
{
    int64_t n;
    const char *set = weft_arena_text(plan->mem, "/%s/%s/token", weft_part_name[WEFT_TRAIN],
                                      weft_tok_name[WEFT_TOK_SPLIT]);
    TRY(weft_h5_length(&data->file, set, &n));
    double words = (double)n; /* of the training documents */
    note(plan, "words", words, weft_arena_text(plan->mem, "%.3g", words));
    note_count(plan, "bins", words > SHORT ? 24 : 22);
    write_plan(plan, "texts");
    return WEFT_OK;
}

/* Of many clients of images, texts or running text, or of rows of sites, which may differ.
 */
static void plan_federation(struct plan *plan)
{
    const weft_data *data = plan->data;
    const weft_clients *clients = data->owners ? data->owners : data->clients;
    const char *form = data->form == WEFT_CHARS ? "running"
                       : data->owners           ? "documents"
                       : clients->channels > 0  ? "images"
                                                : NULL;
    note_count(plan, "clients", clients->n);
    note_count(plan, "evaluated", clients->n > EVALUATED ? EVALUATED : 0);
    if (form) note(plan, form, 0, "");
    write_plan(plan, form ? "devices" : "sites");
}

/* ---- the plan ---- */

static weft_status choose_plan(struct plan *plan, weft_data *data)
{
    plan->data = data;
    TRY(weft_run_check_rows(data));
    note(plan, "data", 0, data->path);
    if (weft_forms[data->form]->plan) {
        note_count(plan, "languages", data->classes - 1); /* the last is their pieces' */
        write_plan(plan, weft_forms[data->form]->plan);
    } else if (data->clients || data->owners) {
        plan_federation(plan);
    } else if (data->form == WEFT_TOKENS) {
        return plan_texts(plan, data);
    } else if (data->channels > 0 && !data->target_scale) {
        write_plan(plan, "images");
    } else {
        plan_table(plan);
    }
    return WEFT_OK;
}

weft_status weft_run_default(const char *path, weft_team *team, const char **text,
                             weft_arena *mem)
{
    weft_data data;
    struct plan plan = {.mem = mem};
    TRY(weft_data_open(&data, path, team, mem));
    weft_status st = weft_agree(choose_plan(&plan, &data), team);
    weft_data_close(&data);
    *text = plan.text;
    return st;
}
