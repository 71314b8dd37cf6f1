/* Objectives and limits: see weft/space/goals.h. */
#include "weft/space/goals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS  " \t"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS  "0123456789"
#define BEHIND  1e300 /* an excess beyond all sums of excesses */

/* ---- names ---- */

/* A name, and the blanks around it; NULL: there is none. */
static const char *read_name(const char **at, weft_arena *mem)
{
    *at += strspn(*at, BLANKS);
    size_t n = strspn(*at, LETTERS) > 0 ? strspn(*at, LETTERS DIGITS ".-/") : 0;
    const char *name = n > 0 ? weft_arena_text(mem, "%.*s", (int)n, *at) : NULL;
    *at += n;
    *at += strspn(*at, BLANKS);
    return name;
}

/* 1: a comma, or the end, which *at moves behind. */
static int ends(const char **at)
{
    int end = **at == ',' || **at == '\0';
    *at += **at == ',';
    return end;
}

/* The place of a name, maybe of a new one. ECONF: there is no room. */
static weft_status place_of(weft_goals *goals, const char *key, const char *name, int *at)
{
    for (*at = 0; *at < goals->n; ++*at)
        if (strcmp(goals->goal[*at].name, name) == 0) return WEFT_OK;
    if (strcmp(name, "excess") == 0 || strcmp(name, "front") == 0)
        return weft_fail(WEFT_ECONF,
                         "run.%s: %s is a column of the run file; use another "
                         "name",
                         key, name);
    if (goals->n == WEFT_MAX_GOALS)
        return weft_fail(WEFT_ECONF, "run.%s: expected at most %d names in all", key,
                         WEFT_MAX_GOALS);
    goals->goal[goals->n++] = (weft_goal){.name = name, .sign = 1};
    return WEFT_OK;
}

static weft_status read_objectives(weft_goals *goals, const char *text, weft_arena *mem)
{
    for (const char *at = text; goals->n == 0 || *at || at[-1] == ',';) {
        at += strspn(at, BLANKS);
        int large = *at == '-';
        at += large;
        const char *name = read_name(&at, mem);
        if (!name || !ends(&at))
            return weft_fail(WEFT_ECONF,
                             "run.objectives = %s: expected names of numbers with commas "
                             "between, such as `loss, bytes, -accuracy`",
                             text);
        int i, before = goals->n;
        TRY(place_of(goals, "objectives", name, &i));
        if (i < before)
            return weft_fail(WEFT_ECONF, "run.objectives = %s: %s stands there twice", text,
                             name);
        goals->goal[i].sign = large ? -1 : 1;
        if (goals->n == 1 && (large || strcmp(name, "loss") != 0))
            return weft_fail(
                WEFT_ECONF,
                "run.objectives = %s: it begins with `loss`, which is what the "
                "task minimises; expected `loss, %s`",
                text, text);
    }
    if (goals->n == 1)
        return weft_fail(WEFT_ECONF,
                         "run.objectives = %s is one objective, which a search has anyway; "
                         "expected several, or leave it out",
                         text);
    goals->objectives = goals->n;
    return WEFT_OK;
}

static weft_status read_limits(weft_goals *goals, const char *text, weft_arena *mem)
{
    for (const char *at = text; at == text || *at || at[-1] == ',';) {
        char *end = NULL;
        const char *name = read_name(&at, mem);
        int side = strncmp(at, "<=", 2) == 0 ? 1 : strncmp(at, ">=", 2) == 0 ? -1 : 0;
        double limit = side != 0 ? strtod(at + 2, &end) : NAN;
        if (end) end += strspn(end, BLANKS);
        const char *rest = end;
        if (!name || side == 0 || !isfinite(limit) || end == at + 2 || !ends(&rest))
            return weft_fail(
                WEFT_ECONF,
                "run.limits = %s: expected names, <= or >=, and a number, with "
                "commas between, such as `bytes <= 1e6, accuracy >= 0.9`",
                text);
        at = rest;
        int i;
        TRY(place_of(goals, "limits", name, &i));
        if (goals->goal[i].side != 0)
            return weft_fail(WEFT_ECONF, "run.limits = %s: %s stands there twice", text,
                             name);
        goals->goal[i].side = side;
        goals->goal[i].limit = limit;
    }
    return WEFT_OK;
}

weft_status weft_goals_read(weft_goals *goals, const char *objectives, const char *limits,
                            weft_arena *mem)
{
    *goals = (weft_goals){.n = 0};
    if (*objectives) TRY(read_objectives(goals, objectives, mem));
    return *limits ? read_limits(goals, limits, mem) : WEFT_OK;
}

/* ---- where they are measured ---- */

/* 1: numbers of rounds that add up. */
static int is_spent(const weft_metric *row)
{
    return strcmp(row->unit, "bytes") == 0 || strcmp(row->unit, "s") == 0 ||
           strcmp(row->unit, "J") == 0;
}

/* The names that can be chosen. */
static const char *known(const weft_measured *task, weft_arena *tmp)
{
    const char *text = task->timed ? "loss, seconds" : "loss";
    if (task->pays) text = weft_arena_text(tmp, "%s, epsilon", text);
    if (task->keeps) text = weft_arena_text(tmp, "%s, model_bytes", text);
    for (int i = 0; task->metrics && task->metrics[i].name; i++)
        text = weft_arena_text(tmp, "%s, %s", text, task->metrics[i].name);
    for (int i = 0; task->rows && task->rows[i].name; i++)
        if (is_spent(&task->rows[i]))
            text = weft_arena_text(tmp, "%s, %s", text, task->rows[i].name);
    return text;
}

static weft_status fail_name(const weft_goal *goal, const weft_measured *task)
{
    WEFT_SCRATCH(tmp);
    weft_status st = weft_fail(WEFT_ECONF,
                               "run.objectives or run.limits: task %s measures no %s; "
                               "expected one of %s",
                               task->name, goal->name, known(task, tmp));
    return st;
}

static weft_status find_one(weft_goal *goal, const weft_measured *task)
{
    char valid[128];
    snprintf(valid, sizeof valid, "valid_%s", goal->name);
    int metric = weft_metrics_find(task->metrics, goal->name);
    if (metric < 0) metric = weft_metrics_find(task->metrics, valid);
    int row = weft_metrics_find(task->rows, goal->name);
    if (row >= 0 && !is_spent(&task->rows[row])) row = -1;
    goal->column = metric >= 0 ? metric : row;
    int seconds = strcmp(goal->name, "seconds") == 0;
    if (strcmp(goal->name, "loss") == 0)
        goal->source = WEFT_GOAL_LOSS;
    else if (seconds && task->wall)
        goal->source = WEFT_GOAL_REAL;
    else if (metric >= 0)
        goal->source = WEFT_GOAL_METRIC;
    else if (row >= 0)
        goal->source = WEFT_GOAL_ROWS;
    else if (seconds && task->timed)
        goal->source = WEFT_GOAL_COST;
    else if (task->pays && strcmp(goal->name, "epsilon") == 0)
        goal->source = WEFT_GOAL_EPSILON;
    else if (task->keeps && strcmp(goal->name, "model_bytes") == 0)
        goal->source = WEFT_GOAL_MODEL;
    else if (task->tells)
        goal->source = WEFT_GOAL_TOLD;
    else
        return fail_name(goal, task);
    return WEFT_OK;
}

weft_status weft_goals_find(weft_goals *goals, const weft_measured *task)
{
    for (int i = 0; i < goals->n; i++) TRY(find_one(&goals->goal[i], task));
    return WEFT_OK;
}

int weft_goals_ask(const weft_goals *goals, weft_goal_source source)
{
    for (int i = 0; i < goals->n; i++)
        if (goals->goal[i].source == source) return 1;
    return 0;
}

/* ---- values ---- */

/* What the note of a result has of that name; NAN: nothing. */
static double told(const char *note, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = note; at && *at;) {
        if (strncmp(at, name, n) == 0 && at[n] == '=') return strtod(at + n + 1, NULL);
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return NAN;
}

static double row_sum(const weft_job_record *record, int column)
{
    double sum = 0;
    for (int64_t i = 0; i < record->nunit; i++)
        sum += record->row[i * record->ncolumn + column];
    return sum;
}

/* As it is measured; `past`: of the trial before the job. */
static double measure(const weft_goal *goal, const weft_job_record *record, double past,
                      const weft_after *after)
{
    double of;
    switch (goal->source) {
    case WEFT_GOAL_LOSS: return record->res.loss;
    case WEFT_GOAL_METRIC: return record->res.metric[goal->column];
    case WEFT_GOAL_ROWS: return past + row_sum(record, goal->column);
    case WEFT_GOAL_TOLD: return told(record->res.note, goal->name);
    case WEFT_GOAL_COST: return past + record->res.cost;
    case WEFT_GOAL_EPSILON: return after->epsilon;
    case WEFT_GOAL_MODEL: return after->model_bytes;
    default:
        of = told(record->res.note, goal->name);
        return isnan(of) ? past + record->seconds : of;
    }
}

double weft_goal_excess(const weft_goal *goal, double x)
{
    double beyond = goal->side * (x - goal->limit);
    if (goal->side == 0 || !(beyond > 0)) return 0;
    return fabs(goal->limit) > 0 ? beyond / fabs(goal->limit) : beyond;
}

const char *weft_goals_measure(const weft_goals *goals, weft_job_record *record,
                               const weft_job_record *before, const weft_after *after,
                               weft_arena *mem)
{
    const char *lacks = NULL;
    weft_aims *aims = &record->res.aims;
    *aims = (weft_aims){.n = goals->n, .x = WEFT_NEW(mem, double, goals->n)};
    int sound = isfinite(record->res.loss);
    for (int i = 0; i < goals->n; i++) {
        const weft_goal *goal = &goals->goal[i];
        int goes_on = before && before->res.aims.n == goals->n;
        double past = goes_on ? goal->sign * before->res.aims.x[i] : 0;
        double x = sound ? measure(goal, record, past, after) : INFINITY;
        if (!lacks && isnan(x)) lacks = goal->name;
        aims->x[i] = sound ? goal->sign * x : INFINITY;
        aims->excess += sound ? weft_goal_excess(goal, x) : INFINITY;
    }
    return lacks;
}

weft_point weft_result_point(const weft_result *res, int guesses, int m)
{
    double excess = guesses ? BEHIND : fmin(res->aims.excess, BEHIND);
    return (weft_point){.id = res->trial,
                        .excess = isfinite(res->loss) ? excess : INFINITY,
                        .x = res->aims.n >= m ? res->aims.x : NULL};
}

void weft_goals_front(const weft_goals *goals, int64_t n, const weft_job_record *record,
                      int64_t *front, weft_arena *tmp)
{
    int m = goals->objectives;
    int64_t size = 0, most = 0;
    for (int64_t i = 0; i < n; i++)
        if (record[i].job.trial >= most) most = record[i].job.trial + 1;
    int64_t *last = WEFT_NEW(tmp, int64_t, most);
    for (int64_t i = 0; i < n; i++) last[record[i].job.trial] = i;
    weft_point *point = WEFT_NEW(tmp, weft_point, n);
    for (int64_t i = 0; i < n; i++) {
        weft_point own = weft_result_point(&record[i].res, 0, m);
        own.id = i;
        front[i] = 0;
        if (last[record[i].job.trial] == i && !(own.excess > 0)) point[size++] = own;
    }
    int *of = WEFT_NEW(tmp, int, size);
    weft_front_of(size, point, m, of);
    for (int64_t i = 0; i < size; i++) front[point[i].id] = of[i] == 0;
}
