/* Tables of the run file, one dataset for each column: jobs and arms, the rounds of jobs
 * with the probabilities after each, who did a job when, what jobs printed, configurations,
 * and the clients that the winner was scored on. */
#include "result.h"
#include "weft/base/conf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A column of a table whose rows are structs of 8-byte numbers. */
struct field {
    const char *name, *about, *unit;
    size_t at;
    int whole; /* 1: int64_t, 0: double */
};

#define WHOLE(type, m, about, unit)                                                        \
    {                                                                                      \
#m, about, unit, offsetof(type, m), 1                                              \
    }
#define NUMBER(type, m, about, unit)                                                       \
    {                                                                                      \
#m, about, unit, offsetof(type, m), 0                                              \
    }

/* Writes the columns of rows[n], each `bytes` long, into a group. */
static weft_status put_columns(weft_h5 *file, const char *group, const struct field *column,
                               int nc, const void *rows, size_t bytes, int64_t n)
{
    int64_t *buffer = WEFT_NEW(file->mem, int64_t, n);
    for (int i = 0; i < nc; i++) {
        for (int64_t r = 0; r < n; r++)
            memcpy(&buffer[r], (const char *)rows + (size_t)r * bytes + column[i].at,
                   sizeof *buffer);
        const char *name = weft_arena_text(file->mem, "/%s/%s", group, column[i].name);
        TRY(weft_h5_put(file, name, column[i].whole ? WEFT_H5_I64 : WEFT_H5_F64, 1, &n,
                        buffer, 0, column[i].about, column[i].unit));
    }
    return WEFT_OK;
}

/* Writes x[n][columns of the table] into a group that exists, and the table as its
 * attribute `key`. */
static weft_status put_table(weft_h5 *file, const char *group, const char *key,
                             const weft_metric *table, const double *x, int64_t n)
{
    int columns = weft_metrics_count(table);
    double *buffer = WEFT_NEW(file->mem, double, n);
    for (int i = 0; i < columns; i++) {
        for (int64_t r = 0; r < n; r++) buffer[r] = x[r * columns + i];
        TRY(weft_h5_put(file, weft_arena_text(file->mem, "/%s/%s", group, table[i].name),
                        WEFT_H5_F64, 1, &n, buffer, 0, table[i].about, table[i].unit));
    }
    return weft_h5_put_attr(file, weft_arena_text(file->mem, "/%s", group), key,
                            weft_metrics_text(table, file->mem));
}

const char *weft_time_text(int64_t seconds, weft_arena *mem)
{
    time_t t = (time_t)seconds;
    struct tm utc;
    char text[32] = "";
    if (gmtime_r(&t, &utc)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return weft_arena_text(mem, "%s", text);
}

static int64_t all_jobs(const weft_history *history)
{
    return history->n + history->nflight;
}

static const weft_job_record *job_at(const weft_history *history, int64_t i)
{
    return i < history->n ? &history->record[i] : &history->flight[i - history->n];
}

/* ---- members ---- */

/* Column of the last error that all members have; -1: none. */
static int error_column(const weft_members *members)
{
    const weft_metric *table = members->table;
    int columns = weft_metrics_count(table);
    for (int i = columns - 1; i >= 0; i--)
        if (weft_metric_is_share(&table[i]) && !isnan(members->score[i])) return i;
    return -1;
}

static weft_status put_spread(weft_h5 *file, const char *group, const weft_members *members)
{
    const weft_metric *table = members->table;
    int columns = weft_metrics_count(table), at = error_column(members);
    int64_t n = members->n, tenth = (n + 9) / 10;
    if (at < 0) return WEFT_OK;
    double *x = WEFT_NEW(file->mem, double, n), sum = 0, worst = 0, best = 0, square = 0;
    for (int64_t i = 0; i < n; i++) x[i] = members->score[i * columns + at];
    weft_sort_f64(n, x);
    for (int64_t i = 0; i < n; i++) sum += x[i];
    for (int64_t i = 0; i < n; i++)
        square += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
    for (int64_t i = 0; i < tenth; i++) {
        best += x[i];
        worst += x[n - 1 - i];
    }
    TRY(weft_h5_put_attr(file, group, "error_column", table[at].name));
    TRY(weft_h5_put_num(file, group, "worst_error", worst / (double)tenth));
    TRY(weft_h5_put_num(file, group, "median_error", (x[(n - 1) / 2] + x[n / 2]) / 2));
    TRY(weft_h5_put_num(file, group, "best_error", best / (double)tenth));
    return weft_h5_put_num(file, group, "std_error", sqrt(square / (double)n));
}

weft_status weft_members_put(weft_h5 *file, const char *group,
                             const weft_scores score[WEFT_NPART])
{
    int part = score[WEFT_TEST].members ? WEFT_TEST : WEFT_VALID;
    const weft_members *members = score[part].members;
    if (!members) return WEFT_OK;
    const char *path = weft_arena_text(file->mem, "/%s", group);
    const char *number = weft_arena_text(file->mem, "%s/number", path);
    TRY(weft_h5_put(file, number, WEFT_H5_I64, 1, &members->n, members->number, 0,
                    "among those of the data", "count"));
    if (members->name)
        TRY(weft_h5_put_texts(file, weft_arena_text(file->mem, "%s/name", path),
                              members->name, members->n, "in the data"));
    TRY(weft_h5_put(file, weft_arena_text(file->mem, "%s/count", path), WEFT_H5_F64, 1,
                    &members->n, members->count, 0, "predictions scored", "count"));
    TRY(put_table(file, group, "scores", members->table, members->score, members->n));
    TRY(weft_h5_put_attr(file, path, "part", weft_part_name[part]));
    return put_spread(file, path, members);
}

/* ---- rounds ---- */

typedef struct round_row {
    int64_t job, trial, unit;
    weft_spent spent;
} round_row;

#define SPENT(m, about)                                                                    \
    {                                                                                      \
#m, about, "s", offsetof(round_row, spent) + offsetof(weft_spent, m), 0            \
    }

static const struct field round_columns[] = {
    WHOLE(round_row, job, "job that the round was part of: row of /events, if it is done",
          "id"),
    WHOLE(round_row, trial, "trial: whose weights were trained", "id"),
    WHOLE(round_row, unit, "round of the trial, 1, 2 ...", "count"),
    SPENT(wall, "real time: mean over the ranks of the team"),
    SPENT(compute, "of the real time, computing and reading"),
    SPENT(wait, "of the real time, waiting for slower ranks"),
    SPENT(comm, "of the real time, in collectives"),
};

static int64_t rounds_of(const weft_history *history, int64_t i)
{
    return i < history->n ? history->record[i].nunit : history->flight[i - history->n].done;
}

/* Number of rounds that the weights of each job had been trained before it. Events are in
 * the order of jobs. */
static int64_t *rounds_before(const weft_history *history, weft_arena *mem)
{
    int64_t all = all_jobs(history), most = 0;
    for (int64_t i = 0; i < all; i++)
        if (job_at(history, i)->job.id >= most) most = job_at(history, i)->job.id + 1;
    int64_t *after = WEFT_NEW(mem, int64_t, most), *before = WEFT_NEW(mem, int64_t, all);
    for (int64_t i = 0; i < all; i++) {
        const weft_job_record *record = job_at(history, i);
        before[i] = record->parent < 0 ? 0 : after[record->parent];
        after[record->job.id] = before[i] + rounds_of(history, i);
    }
    return before;
}

static weft_status put_round_rows(weft_h5 *file, const weft_history *history, int64_t n)
{
    int ncolumn = weft_metrics_count(history->tables.rows);
    const int64_t *before = rounds_before(history, file->mem);
    round_row *row = WEFT_NEW(file->mem, round_row, n), *at = row;
    double *x = WEFT_NEW(file->mem, double, n *ncolumn), *to = x;
    for (int64_t i = 0; i < all_jobs(history); i++) {
        const weft_job_record *record = job_at(history, i);
        int64_t rounds = rounds_of(history, i);
        for (int64_t u = 0; u < rounds; u++)
            *at++ = (round_row){.job = record->job.id,
                                .trial = record->job.trial,
                                .unit = before[i] + u + 1,
                                .spent = record->spent[u]};
        int64_t numbers = rounds * ncolumn;
        if (numbers > 0) memcpy(to, record->row, (size_t)numbers * sizeof *to);
        to += numbers;
    }
    TRY(put_columns(file, "rounds", round_columns, WEFT_COUNT(round_columns), row,
                    sizeof *row, n));
    return put_table(file, "rounds", "columns", history->tables.rows, x, n);
}

/* Mixtures of jobs have different sizes; rows have the length of the largest. */
static weft_status put_mix(weft_h5 *file, const weft_history *history, int64_t n, int most)
{
    int64_t all = all_jobs(history);
    double *p = WEFT_NEW(file->mem, double, n *most), *at = p;
    int64_t *config = WEFT_NEW(file->mem, int64_t, all * most);
    for (int64_t i = 0; i < all; i++) {
        const weft_job_record *record = job_at(history, i);
        int k = record->job.mix.k;
        for (int a = 0; a < most; a++)
            config[i * most + a] = a < k ? record->job.mix.id[a] : -1;
        for (int64_t u = 0; u < rounds_of(history, i); u++)
            for (int a = 0; a < most; a++)
                *at++ = a < k ? exp(record->logp[u * k + a]) : (double)NAN;
    }
    const int64_t p_shape[2] = {n, most}, config_shape[2] = {all, most};
    TRY(weft_h5_put(
        file, "/mix/p", WEFT_H5_F64, 2, p_shape, p, 1,
        "probability of each configuration after each round: one row per row of "
        "/rounds, columns as in /mix/config[job]; nan where a job has fewer",
        "1"));
    return weft_h5_put(
        file, "/mix/config", WEFT_H5_I64, 2, config_shape, config, 1,
        "configurations of each job's mixture, by their index in the space "
        "(/configs/id): one row per job, first those of /events; -1 where it has "
        "fewer",
        "id");
}

/* Writes /rounds and /mix if jobs consist of rounds. */
static weft_status put_rounds(weft_h5 *file, const weft_history *history)
{
    int64_t n = 0;
    int most = 0;
    for (int64_t i = 0; i < all_jobs(history); i++) {
        n += rounds_of(history, i);
        if (job_at(history, i)->job.mix.k > most) most = job_at(history, i)->job.mix.k;
    }
    if (n == 0) return WEFT_OK;
    TRY(put_round_rows(file, history, n));
    return most > 1 ? put_mix(file, history, n, most) : WEFT_OK;
}

/* ---- timeline ---- */

typedef struct timeline_row {
    int64_t job, trial, parent, worker, team;
    double start, end, began, ended;
} timeline_row;

static const struct field timeline_columns[] = {
    WHOLE(timeline_row, job, "job: row of /events", "id"),
    WHOLE(timeline_row, trial, "trial: whose weights were trained", "id"),
    WHOLE(timeline_row, parent,
          "job after which its weights were continued or copied; -1: new weights", "id"),
    WHOLE(timeline_row, worker, "simulated worker that did it", "id"),
    WHOLE(timeline_row, team, "team of ranks that did it", "id"),
    NUMBER(timeline_row, start, "virtual time at which the worker asked for it",
           "virtual s"),
    NUMBER(timeline_row, end, "virtual time at which its result was told", "virtual s"),
    NUMBER(timeline_row, began,
           "real time at which the team started it, since the start of the "
           "search, over all sessions",
           "s"),
    NUMBER(timeline_row, ended, "real time at which the team finished it", "s"),
};

static weft_status put_timeline(weft_h5 *file, const weft_history *history)
{
    timeline_row *row = WEFT_NEW(file->mem, timeline_row, history->n);
    double busy = 0, real_busy = 0;
    for (int64_t i = 0; i < history->n; i++) {
        const weft_job_record *record = &history->record[i];
        row[i] = (timeline_row){.job = record->job.id,
                                .trial = record->job.trial,
                                .parent = record->parent,
                                .worker = record->worker,
                                .team = record->team,
                                .start = record->start,
                                .end = record->end,
                                .began = record->began,
                                .ended = record->began + record->seconds};
        busy += record->end - record->start - history->overhead;
        real_busy += record->seconds;
    }
    TRY(put_columns(file, "timeline", timeline_columns, WEFT_COUNT(timeline_columns), row,
                    sizeof *row, history->n));
    TRY(weft_h5_put_long(file, "/timeline", "workers", history->workers));
    TRY(weft_h5_put_long(file, "/timeline", "most_teams", history->starts.most));
    TRY(weft_h5_put_num(file, "/timeline", "overhead", history->overhead));
    TRY(weft_h5_put_num(file, "/timeline", "makespan", history->makespan));
    TRY(weft_h5_put_num(
        file, "/timeline", "utilisation",
        history->makespan > 0 ? busy / ((double)history->workers * history->makespan) : 0));
    /* of jobs that are done elsewhere, how many are at once */
    return weft_h5_put_num(file, "/timeline", "team_utilisation",
                           history->seconds > 0 ? real_busy / history->starts.team_seconds
                                                : 0);
}

/* ---- the measurements in the notes of results ---- */

enum { MOST_NAMES = 1024 }; /* names */

struct metrics {
    weft_names names;
    double *value[MOST_NAMES]; /* [names.n][jobs] */
    int left_out;              /* 1: there are more names */
};

/* Where the jobs' values of that name are; NULL: there are too many names. */
static double *column_of(struct metrics *metrics, const char *name, int64_t jobs,
                         weft_arena *mem)
{
    int64_t i = weft_names_index(&metrics->names, name);
    if (i >= 0) return metrics->value[i];
    metrics->left_out |= metrics->names.n == MOST_NAMES;
    if (metrics->names.n == MOST_NAMES) return NULL;
    double *value = metrics->value[weft_names_find(&metrics->names, name)] =
        WEFT_NEW(mem, double, jobs);
    for (int64_t k = 0; k < jobs; k++) value[k] = NAN;
    return value;
}

const char *weft_dataset_name(const char *group, const char *name, weft_arena *mem)
{
    char *path = weft_arena_text(mem, "%s%s", group, name);
    for (char *c = path + strlen(group); *c; c++)
        if (*c == '/') *c = '.';
    return path;
}

/* Writes /metrics, one dataset for each name in the notes of results, if there are notes.
 */
static weft_status put_metrics(weft_h5 *file, const weft_history *history)
{
    struct metrics *metrics = WEFT_NEW(file->mem, struct metrics, 1);
    metrics->names.mem = file->mem;
    for (int64_t i = 0; i < history->n; i++)
        for (const char *at = history->record[i].res.note; at && *at;) {
            size_t name = strcspn(at, "="), word = strcspn(at, " ");
            const char *text = weft_arena_text(file->mem, "%.*s", (int)name, at);
            double *to = column_of(metrics, weft_dataset_name("", text, file->mem),
                                   history->n, file->mem);
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
                 MOST_NAMES);
    return WEFT_OK;
}

/* ---- jobs, arms and configurations ---- */

typedef struct event_row {
    int64_t job, trial, from, round, rounds, last, wins, k, alive;
    double resource, loss, bound, cost, seconds, regret;
} event_row;

static const struct field event_columns[] = {
    WHOLE(event_row, job, "job, in the order asked", "id"),
    WHOLE(event_row, trial, "trial: whose weights were trained", "id"),
    WHOLE(event_row, from, "trial whose weights a new trial copied; -1: none", "id"),
    WHOLE(event_row, round, "number of earlier jobs that trained the trial", "count"),
    WHOLE(event_row, rounds, "rounds of the job: rows of /rounds", "count"),
    WHOLE(event_row, last, "1: the last that the trial could have", "0 or 1"),
    WHOLE(event_row, wins,
          "eligibility to win: 0 only if no other job can, 1 by resource, then loss, "
          "2 by loss",
          "choice"),
    WHOLE(event_row, k, "configurations in the mixture", "count"),
    WHOLE(event_row, alive, "configurations with a probability above 0", "count"),
    NUMBER(event_row, resource, "total that the trial was given", "the task's unit"),
    NUMBER(event_row, loss,
           "score that the tuner was told, under the mixture: mean validation loss, or "
           "error rate if the task's option score says so; fed: clients that "
           "diverged or missed the deadline count as the worst",
           "loss or 1"),
    NUMBER(event_row, bound,
           "half the width of the 95 % interval of the score: for the last weights if "
           "clients were evaluated at the end, else for the mean over the rounds pooled; "
           "0: the score is exact; nan: not known",
           "loss or 1"),
    NUMBER(event_row, cost, "cost of the job as the task counts it", "the task's unit"),
    NUMBER(event_row, seconds, "real time of the job", "s"),
    NUMBER(event_row, regret,
           "first metric of the job minus its optimum over the space; nan if the "
           "task does not know the optimum",
           "loss"),
};

typedef struct arm_row {
    int64_t job, config;
    double p, after, loss, error, score, count;
} arm_row;

static const struct field arm_columns[] = {
    WHOLE(arm_row, job, "job", "id"),
    WHOLE(arm_row, config, "configuration, by its index in the space: /configs/id", "id"),
    NUMBER(arm_row, p, "probability in the job's mixture", "1"),
    NUMBER(arm_row, after, "probability in the mixture after the job", "1"),
    NUMBER(arm_row, loss, "mean validation loss; nan: not scored", "loss"),
    NUMBER(arm_row, error, "share of wrong answers; nan: not scored", "1"),
    NUMBER(arm_row, score,
           "loss or error, by which configurations are compared; nan: not scored",
           "loss or 1"),
    NUMBER(arm_row, count, "validation samples scored", "count"),
};

static weft_status put_events(weft_h5 *file, const weft_history *history)
{
    int nmetric = weft_metrics_count(history->tables.metrics);
    event_row *row = WEFT_NEW(file->mem, event_row, history->n);
    double *metric = WEFT_NEW(file->mem, double, history->n *nmetric);
    for (int64_t i = 0; i < history->n; i++) {
        const weft_job_record *record = &history->record[i];
        row[i] = (event_row){
            .job = record->job.id,
            .trial = record->job.trial,
            .from = record->job.from,
            .round = record->job.index,
            .rounds = record->nunit,
            .last = record->job.last,
            .wins = record->job.eligibility,
            .k = record->job.mix.k,
            .alive = weft_mix_alive(&record->job.mix),
            .resource = record->res.resource,
            .loss = record->res.loss,
            .bound = record->res.bound,
            .cost = record->res.cost,
            .seconds = record->seconds,
            .regret = nmetric > 0 ? record->res.metric[0] - history->optimum : NAN};
        if (nmetric > 0)
            memcpy(metric + i * nmetric, record->res.metric,
                   (size_t)nmetric * sizeof *metric);
    }
    if (!isnan(history->optimum))
        TRY(weft_h5_put_num(file, "/", "optimum", history->optimum));
    TRY(put_columns(file, "events", event_columns, WEFT_COUNT(event_columns), row,
                    sizeof *row, history->n));
    return put_table(file, "events", "metrics", history->tables.metrics, metric,
                     history->n);
}

/* Writes /objectives, if there are any, or limits. */
static weft_status put_objectives(weft_h5 *file, const weft_history *history)
{
    const weft_goals *goals = history->goals;
    int64_t n = history->n;
    if (!goals || goals->n == 0) return WEFT_OK;
    double *x = WEFT_NEW(file->mem, double, n);
    int64_t *front = WEFT_NEW(file->mem, int64_t, n);
    for (int g = 0; g < goals->n; g++) {
        for (int64_t i = 0; i < n; i++) {
            const weft_aims *aims = &history->record[i].res.aims;
            x[i] = g < aims->n ? goals->goal[g].sign * aims->x[g] : NAN;
        }
        TRY(weft_h5_put(file,
                        weft_dataset_name("/objectives/", goals->goal[g].name, file->mem),
                        WEFT_H5_F64, 1, &n, x, 0,
                        "of the trial after the job, in the rows of /events", "its own"));
    }
    for (int64_t i = 0; i < n; i++) x[i] = history->record[i].res.aims.excess;
    TRY(weft_h5_put(file, "/objectives/excess", WEFT_H5_F64, 1, &n, x, 0,
                    "sum of the shares of limits that are exceeded; inf: diverged", "1"));
    TRY(weft_h5_put_attr(file, "/objectives", "objectives", history->opts->objectives));
    TRY(weft_h5_put_attr(file, "/objectives", "limits", history->opts->within));
    if (goals->objectives == 0) return WEFT_OK;
    weft_goals_front(goals, n, history->record, front, file->mem);
    return weft_h5_put(file, "/objectives/front", WEFT_H5_I64, 1, &n, front, 0,
                       "1: the last job of a trial within the limits, which no other such "
                       "dominates",
                       "0 or 1");
}

/* One row for each arm of each job that was not eliminated or was scored. */
static weft_status put_arms(weft_h5 *file, const weft_history *history)
{
    int64_t room = 0, n = 0;
    for (int64_t i = 0; i < history->n; i++) room += history->record[i].job.mix.k;
    arm_row *row = WEFT_NEW(file->mem, arm_row, room);
    for (int64_t i = 0; i < history->n; i++) {
        const weft_mix *mix = &history->record[i].job.mix;
        const weft_result *res = &history->record[i].res;
        for (int a = 0; a < mix->k; a++) {
            if (!(mix->logp[a] > -INFINITY) && !(res->arm_count[a] > 0)) continue;
            double samples = res->arm_count[a] > 0 ? res->arm_count[a] : NAN;
            row[n++] = (arm_row){.job = history->record[i].job.id,
                                 .config = mix->id[a],
                                 .p = exp(mix->logp[a]),
                                 .after = exp(res->logp[a]),
                                 .loss = res->arm_loss[a] / samples,
                                 .error = res->arm_wrong[a] / samples,
                                 .score = weft_result_score(res, a),
                                 .count = res->arm_count[a]};
        }
    }
    return put_columns(file, "arms", arm_columns, WEFT_COUNT(arm_columns), row, sizeof *row,
                       n);
}

/* "real", "integer", "boolean", or the words that the values are indices of: "nb|sif". */
static const char *type_of(const weft_opt *opt, weft_arena *mem)
{
    if (opt->type == WEFT_BOOL) return "boolean";
    if (opt->type == WEFT_REAL) return "real";
    if (opt->type != WEFT_CHOICE && opt->type != WEFT_WORDS) return "integer";
    const char *words = "";
    int n = 1;
    for (const char *c = opt->words; *c; c++) n += *c == '|';
    for (int i = 0; i < n; i++) {
        char word[128];
        weft_opt_show(opt, i, word, sizeof word);
        words = weft_arena_text(mem, "%s%s%s", words, i > 0 ? "|" : "", word);
    }
    return words;
}

static weft_status put_axes(weft_h5 *file, const weft_tables *tables)
{
    const char **name = WEFT_NEW(file->mem, const char *, tables->dim);
    const char **type = WEFT_NEW(file->mem, const char *, tables->dim);
    for (int i = 0; i < tables->dim; i++) {
        char text[128];
        weft_axis_name(&tables->axis[i], text, sizeof text);
        name[i] = weft_arena_text(file->mem, "%s", text);
        type[i] = type_of(tables->axis[i].opt, file->mem);
    }
    TRY(weft_h5_put_texts(file, "/configs/axis", name, tables->dim, "names of the axes"));
    return weft_h5_put_texts(file, "/configs/type", type, tables->dim,
                             "real, integer, boolean, or the words of a choice by index");
}

/* All configurations that occur in jobs, by increasing id. */
static weft_status put_configs(weft_h5 *file, const weft_history *history)
{
    int64_t most = 0, n = 0, jobs = all_jobs(history);
    const weft_mix **mix = WEFT_NEW(file->mem, const weft_mix *, jobs);
    for (int64_t i = 0; i < jobs; i++) {
        mix[i] = &job_at(history, i)->job.mix;
        for (int a = 0; a < mix[i]->k; a++)
            if (mix[i]->id[a] >= most) most = mix[i]->id[a] + 1;
    }
    const double **conf = WEFT_NEW(file->mem, const double *, most);
    for (int64_t i = 0; i < jobs; i++)
        for (int a = 0; a < mix[i]->k; a++)
            conf[mix[i]->id[a]] = mix[i]->conf + (size_t)a * mix[i]->dim;
    int dim = history->tables.dim;
    int64_t *id = WEFT_NEW(file->mem, int64_t, most);
    double *value = WEFT_NEW(file->mem, double, (size_t)most *dim);
    const char **text = WEFT_NEW(file->mem, const char *, most);
    for (int64_t i = 0; i < most; i++) {
        if (!conf[i]) continue;
        char shown[1024];
        weft_axes_show(history->tables.axis, dim, conf[i], shown, sizeof shown);
        text[n] = weft_arena_text(file->mem, "%s", shown);
        if (dim > 0) memcpy(value + n * dim, conf[i], (size_t)dim * sizeof *value);
        id[n++] = i;
    }
    int64_t shape[2] = {n, dim};
    TRY(weft_h5_put(file, "/configs/id", WEFT_H5_I64, 1, &n, id, 0, "index in the space",
                    "id"));
    TRY(weft_h5_put(
        file, "/configs/value", WEFT_H5_F64, 2, shape, value, 0,
        "one row per configuration, one column per axis; choices by index; NaN: "
        "the axis does not exist there",
        "the option's own"));
    TRY(weft_h5_put_texts(file, "/configs/text", text, n, "the configurations as text"));
    return put_axes(file, &history->tables);
}

weft_status weft_history_put(weft_h5 *file, const weft_history *history)
{
    TRY(put_events(file, history));
    TRY(put_metrics(file, history));
    TRY(put_objectives(file, history));
    TRY(put_rounds(file, history));
    TRY(put_timeline(file, history));
    TRY(put_arms(file, history));
    return put_configs(file, history);
}

weft_starts weft_starts_sum(const weft_time *time, int64_t n, const weft_history *history)
{
    weft_starts all = {.teams = 1};
    double at = 0;
    for (int64_t i = 0; i < history->n; i++)
        if (history->record[i].team >= all.teams)
            all.teams = (int)history->record[i].team + 1;
    all.most = all.teams;
    for (int64_t i = 0; i < n; i++) {
        if (time[i].teams == 0) continue;
        all.team_seconds += all.teams * fmax(time[i].at - at, 0);
        at = time[i].at;
        all.teams = (int)time[i].teams;
        if (all.teams > all.most) all.most = all.teams;
        all.setup += time[i].setup;
        all.n++;
    }
    all.team_seconds += all.teams * fmax(history->seconds - at, 0);
    return all;
}
