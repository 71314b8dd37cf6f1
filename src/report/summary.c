/* What `weft report` reads of a run file. */
#include "report.h"
#include "rundir/rundir.h"
#include "weft/store/file.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const weft_fact weft_facts[WEFT_NFACT] = {
    {.name = "task", .type = TEXT, .title = "task"},
    {.name = "tuner", .type = TEXT, .title = "tuner"},
    {.name = "sampler", .type = TEXT, .title = "sampler"},
    {.name = "mixing", .type = TEXT, .title = "mixing"},
    {.name = "data", .type = TEXT},
    {.name = "data_digest", .type = TEXT},
    {.name = "seed", .type = WHOLE, .title = "seed"},
    {.name = "configs", .type = WHOLE, .title = "configs"},
    {.name = "rounds", .type = WHOLE},
    {.name = "jobs", .type = WHOLE, .title = "jobs"},
    {.name = "ranks", .type = WHOLE, .title = "ranks"},
    {.name = "teams", .type = WHOLE},
    {.name = "most_teams", .type = WHOLE, .object = "/timeline"},
    {.name = "starts", .type = WHOLE},
    {.name = "hosts", .type = TEXT},
    {.name = "version", .type = TEXT},
    {.name = "compiler", .type = TEXT},
    {.name = "real", .type = TEXT},
    {.name = "kernel", .type = TEXT},
    {.name = "blas", .type = TEXT},
    {.name = "started", .type = TEXT},
    {.name = "optimum", .type = NUMBER},
    {.name = "setup_seconds", .type = NUMBER},
    {.name = "search_seconds", .type = NUMBER, .title = "search s"},
    {.name = "refit_seconds", .type = NUMBER},
    {.name = "test_seconds", .type = NUMBER},
    {.name = "seconds", .type = NUMBER, .title = "all s"},
    {.name = "workers", .type = WHOLE, .object = "/timeline"},
    {.name = "overhead", .type = NUMBER, .object = "/timeline"},
    {.name = "makespan", .type = NUMBER, .object = "/timeline"},
    {.name = "utilisation", .type = NUMBER, .object = "/timeline"},
    {.name = "team_utilisation", .type = NUMBER, .object = "/timeline"},
    {.name = "winner_trial", .type = WHOLE, .object = "/winner", .key = "trial"},
    {.name = "winner_config", .type = WHOLE, .object = "/winner", .key = "id"},
    {.name = "winner", .type = TEXT, .object = "/winner", .key = "text", .title = "winner"},
    {.name = "measure", .type = TEXT, .object = "/winner"},
    {.name = "refitted", .type = WHOLE, .object = "/winner"},
    {.name = "no_winner", .type = TEXT},
    {.name = "clients_worst_error",
     .type = NUMBER,
     .object = "/clients",
     .key = "worst_error"},
    {.name = "clients_median_error",
     .type = NUMBER,
     .object = "/clients",
     .key = "median_error"},
    {.name = "clients_best_error",
     .type = NUMBER,
     .object = "/clients",
     .key = "best_error"},
    {.name = "clients_std_error", .type = NUMBER, .object = "/clients", .key = "std_error"},
    {.name = "kept_clients", .type = WHOLE, .object = "/winner/kept", .key = "rows"},
    {.name = "kept_numbers", .type = WHOLE, .object = "/winner/kept", .key = "numbers"},
    {.name = "kept_bytes", .type = NUMBER, .object = "/winner/kept", .key = "bytes"},
    {.name = "privacy_epsilon", .type = NUMBER},
    {.name = "privacy_epsilon_weights", .type = NUMBER},
    {.name = "privacy_epsilon_scores", .type = NUMBER},
    {.name = "privacy_delta", .type = NUMBER},
    {.name = "privacy_sampling", .type = TEXT},
    {.name = "privacy_noise", .type = NUMBER},
    {.name = "privacy_score_noise", .type = NUMBER},
    {.name = "privacy_rounds", .type = WHOLE},
    {.name = "privacy_scored", .type = WHOLE},
    {.name = "privacy_evaluations", .type = WHOLE},
    {.name = "unfinished", .type = TEXT},
    {.name = "digest", .type = TEXT, .title = "digest"},
};

const char *const weft_time_names[WEFT_NTIME] = {"compute", "wait",  "comm",
                                                 "io",      "bytes", "memory"};
const char *const weft_time_units[WEFT_NTIME] = {"s", "s", "s", "s", "GB", "GB"};

static weft_status read_times(weft_h5 *file, weft_summary *summary)
{
    for (int i = 0; i < WEFT_NTIME; i++) {
        const char *name = weft_arena_text(file->mem, "/times/%s", weft_time_names[i]);
        TRY(weft_h5_read_rows(file, name, WEFT_H5_F64, 1, 0, 3, summary->times[i]));
    }
    return WEFT_OK;
}

static weft_status read_fact(weft_h5 *file, const weft_fact *what, weft_value *value)
{
    const char *object = what->object ? what->object : "/";
    const char *key = what->key ? what->key : what->name;
    value->number = NAN;
    if (!weft_h5_has(file, weft_arena_text(file->mem, "%s@%s", object, key)))
        return WEFT_OK;
    value->known = 1;
    switch (what->type) {
    case TEXT: return weft_h5_read_attr(file, object, key, &value->text);
    case WHOLE: return weft_h5_read_long(file, object, key, &value->whole);
    default: return weft_h5_read_num(file, object, key, &value->number);
    }
}

/* ---- columns ---- */

/* Columns that are read one after the other; st keeps the first failure. */
struct columns {
    weft_h5 *file;
    const char *group;
    int64_t n;
    weft_status st;
};

static struct columns columns_open(weft_h5 *file, const char *group, const char *first)
{
    struct columns columns = {.file = file, .group = group};
    const char *path = weft_arena_text(file->mem, "/%s/%s", group, first);
    columns.st = weft_h5_length(file, path, &columns.n);
    return columns;
}

/* One of numbers of 8 bytes. */
static void *column(struct columns *columns, const char *name, weft_h5type type)
{
    void *x = weft_arena_alloc(columns->file->mem, (size_t)columns->n, 8);
    const char *path = weft_arena_text(columns->file->mem, "/%s/%s", columns->group, name);
    if (columns->st == WEFT_OK)
        columns->st = weft_h5_read_rows(columns->file, path, type, 1, 0, columns->n, x);
    return x;
}

static int64_t *whole(struct columns *columns, const char *name)
{
    return column(columns, name, WEFT_H5_I64);
}

static double *number(struct columns *columns, const char *name)
{
    return column(columns, name, WEFT_H5_F64);
}

static weft_status read_arms(weft_h5 *file, weft_arms *arms)
{
    struct columns columns = columns_open(file, "arms", "job");
    arms->n = columns.n;
    arms->job = whole(&columns, "job");
    arms->config = whole(&columns, "config");
    arms->p = number(&columns, "p");
    arms->after = number(&columns, "after");
    arms->loss = number(&columns, "loss");
    arms->error = number(&columns, "error");
    arms->score = number(&columns, "score");
    arms->count = number(&columns, "count");
    return columns.st;
}

static weft_status read_table(weft_h5 *file, const char *object, const char *key,
                              const weft_metric **table)
{
    const char *text;
    TRY(weft_h5_read_attr(file, object, key, &text));
    *table = weft_metrics_parse(text, file->mem);
    return WEFT_OK;
}

/* The column of a number that programs printed, which leaves the names of a run's own
 * columns to these, as in weft.read. */
static const char *unlike(weft_h5 *file, const weft_summary *summary, const char *name)
{
    static const char *const own[] = {"run", "config", "jobs", "state", "excess", "front"};
    weft_arena *mem = file->mem;
    int taken = weft_h5_has(file, weft_arena_text(mem, "/events/%s", name)) ||
                weft_h5_has(file, weft_arena_text(mem, "/timeline/%s", name));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        taken |= strcmp(name, own[i]) == 0;
    for (int64_t a = 0; a < summary->dim; a++) taken |= strcmp(name, summary->axis[a]) == 0;
    return taken ? weft_arena_text(mem, "printed.%s", name) : name;
}

/* The numbers that programs printed, under names of their own. */
static weft_status read_printed(weft_h5 *file, weft_summary *summary)
{
    weft_jobs *jobs = &summary->jobs;
    const char *names;
    if (!weft_h5_has(file, "/events@printed")) return WEFT_OK;
    TRY(weft_h5_read_attr(file, "/events", "printed", &names));
    for (const char *c = names; *c; c++) jobs->nprinted += *c == '\n';
    jobs->printed = WEFT_NEW(file->mem, const char *, jobs->nprinted);
    jobs->number = WEFT_NEW(file->mem, double *, jobs->nprinted);
    struct columns columns = {.file = file, .group = "metrics", .n = jobs->n};
    for (int64_t i = 0; i < jobs->nprinted; i++, names = strchr(names, '\n') + 1) {
        const char *name =
            weft_arena_text(file->mem, "%.*s", (int)strcspn(names, "\n"), names);
        jobs->printed[i] = unlike(file, summary, name);
        jobs->number[i] = number(&columns, name);
    }
    return columns.st;
}

/* Of each job of a run with objectives or limits. */
static weft_status read_objectives(weft_h5 *file, weft_jobs *jobs)
{
    const char *objectives, *limits;
    if (!weft_h5_has(file, "/objectives/excess")) return WEFT_OK;
    TRY(weft_h5_read_attr(file, "/objectives", "objectives", &objectives));
    TRY(weft_h5_read_attr(file, "/objectives", "limits", &limits));
    TRY(weft_goals_read(&jobs->goals, objectives, limits, file->mem));
    struct columns columns = {.file = file, .group = "objectives", .n = jobs->n};
    jobs->excess = number(&columns, "excess");
    if (jobs->goals.objectives > 0) jobs->front = whole(&columns, "front");
    for (int i = 0; i < jobs->goals.n; i++) {
        const char *name = weft_dataset_name("", jobs->goals.goal[i].name, file->mem);
        jobs->goal[i] = number(&columns, name);
    }
    return columns.st;
}

static weft_status read_jobs(weft_h5 *file, weft_jobs *jobs)
{
    struct columns columns = columns_open(file, "events", "job");
    jobs->n = columns.n;
    jobs->job = whole(&columns, "job");
    jobs->trial = whole(&columns, "trial");
    jobs->rounds = whole(&columns, "rounds");
    jobs->wins = whole(&columns, "wins");
    if (weft_h5_has(file, "/events/last")) jobs->last = whole(&columns, "last");
    jobs->resource = number(&columns, "resource");
    jobs->loss = number(&columns, "loss");
    jobs->bound = number(&columns, "bound");
    jobs->seconds = number(&columns, "seconds");
    TRY(columns.st);
    TRY(read_table(file, "/events", "metrics", &jobs->metrics));
    for (int i = 0; jobs->metrics[i].name; i++)
        jobs->metric[i] = number(&columns, jobs->metrics[i].name);
    TRY(columns.st);
    return read_objectives(file, jobs);
}

static double sum_of(int64_t n, const double *x)
{
    double all = 0;
    for (int64_t r = 0; r < n; r++) all += x[r];
    return all;
}

/* The last number in the rows of the last job; NAN: there is none. */
static double last_of(int64_t n, const double *x, const int64_t *job)
{
    for (int64_t r = n - 1; r >= 0 && job[r] == job[n - 1]; r--)
        if (!isnan(x[r])) return x[r];
    return NAN;
}

static weft_status read_rounds(weft_h5 *file, weft_summary *summary)
{
    static const char *const spent[] = {"wall", "compute", "wait", "comm"};
    if (!weft_h5_has(file, "/rounds")) return WEFT_OK;
    struct columns columns = columns_open(file, "rounds", "job");
    summary->rounds = columns.n;
    const int64_t *job = whole(&columns, "job");
    summary->row_trial = whole(&columns, "trial");
    for (int i = 0; i < 4; i++)
        summary->spent[i] = sum_of(columns.n, number(&columns, spent[i]));
    TRY(columns.st);
    TRY(read_table(file, "/rounds", "columns", &summary->rows));
    for (int i = 0; summary->rows[i].name; i++) {
        double *x = number(&columns, summary->rows[i].name);
        if (strcmp(summary->rows[i].name, "step") == 0) summary->step = x;
        if (strcmp(summary->rows[i].name, "loss") == 0) summary->lost = x;
        summary->row_sum[i] = sum_of(columns.n, x);
        summary->row_last[i] = last_of(columns.n, x, job);
    }
    return columns.st;
}

static weft_status read_configs(weft_h5 *file, weft_summary *summary)
{
    TRY(weft_h5_read_texts(file, "/configs/text", &summary->text, &summary->nconfig));
    int64_t n = summary->nconfig;
    summary->id = WEFT_NEW(file->mem, int64_t, n);
    TRY(weft_h5_read_rows(file, "/configs/id", WEFT_H5_I64, 1, 0, n, summary->id));
    TRY(weft_h5_read_texts(file, "/configs/axis", &summary->axis, &summary->dim));
    if (!weft_h5_has(file, "/configs/type")) return WEFT_OK;
    TRY(weft_h5_read_texts(file, "/configs/type", &summary->type, &summary->dim));
    summary->conf = WEFT_NEW(file->mem, double, n * summary->dim);
    return weft_h5_read_rows(file, "/configs/value", WEFT_H5_F64, summary->dim, 0, n,
                             summary->conf);
}

/* ---- the whole file ---- */

static weft_status read_all(weft_h5 *file, weft_summary *summary)
{
    TRY(weft_run_format(file, 0));
    TRY(weft_h5_verify(file));
    for (int i = 0; i < WEFT_NFACT; i++)
        TRY(read_fact(file, &weft_facts[i], &summary->value[i]));
    TRY(weft_h5_read_attr(file, "/", "config", &summary->config));
    int done = !weft_h5_has(file, "/@unfinished");
    if (done) TRY(read_times(file, summary));
    TRY(read_configs(file, summary));
    TRY(read_jobs(file, &summary->jobs));
    TRY(read_printed(file, summary));
    TRY(read_rounds(file, summary));
    if (done && weft_h5_has(file, "/winner"))
        TRY(weft_winner_scores(file, &summary->scores, summary->score));
    TRY(weft_confusion_read(&summary->confusion, file));
    return read_arms(file, &summary->arms);
}

/* Writes a temporary run file, reads it and removes it, with what was left by others that
 * were killed. */
static weft_status read_unfinished(weft_summary *summary, weft_arena *mem)
{
    const char *dir = getenv("TMPDIR");
    const char *name = weft_arena_text(mem, "%s/weft-report", dir && *dir ? dir : "/tmp");
    const char *path = weft_file_temp(name, mem);
    weft_file_sweep(name, 0);
    unlink(path); /* of a process that had the number of this one */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600); /* others may write there */
    if (fd < 0)
        return weft_fail(WEFT_EFILE,
                         "cannot make a file %s; set TMPDIR to a directory "
                         "that may be written",
                         path);
    close(fd);
    weft_h5 file;
    weft_status st = weft_run_snapshot(summary->path, path);
    if (st == WEFT_OK) st = weft_h5_open(&file, path, mem);
    if (st == WEFT_OK) {
        st = read_all(&file, summary);
        weft_h5_close(&file);
    }
    unlink(path);
    return st;
}

weft_status weft_summary_read(weft_summary *summary, const char *path, weft_arena *mem)
{
    weft_h5 file;
    static const weft_metric none[] = {{0}};
    const weft_summary empty = {.path = path, .scores = none, .rows = none};
    *summary = empty;
    if (weft_run_is_unfinished(path)) {
        weft_status st = read_unfinished(summary, mem);
        if (weft_run_is_unfinished(path)) return st;
        *summary = empty; /* the run has ended since: its directory was just removed */
    }
    TRY(weft_run_file(&file, path, mem));
    weft_status st = read_all(&file, summary);
    weft_h5_close(&file);
    return st;
}

const weft_value *weft_summary_value(const weft_summary *summary, const char *name)
{
    for (int i = 0; i < WEFT_NFACT; i++)
        if (strcmp(weft_facts[i].name, name) == 0) return &summary->value[i];
    weft_die("no fact %s", name);
}

int64_t weft_last_below(int64_t n, const int64_t *x, int64_t most)
{
    int64_t lo = 0, hi = n;
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (x[mid] <= most)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

int64_t weft_summary_place(const weft_summary *summary, int64_t id)
{
    return weft_last_below(summary->nconfig, summary->id, id);
}

const char *weft_summary_config(const weft_summary *summary, int64_t id)
{
    return summary->nconfig > 0 ? summary->text[weft_summary_place(summary, id)] : "";
}

weft_rank weft_arms_rank(const weft_arms *arms, int64_t i)
{
    return weft_rank_of(arms->score[i], arms->loss[i], i);
}

const int64_t *weft_summary_likeliest(const weft_summary *summary, weft_arena *mem)
{
    const weft_arms *arms = &summary->arms;
    const weft_jobs *jobs = &summary->jobs;
    int64_t *likeliest = WEFT_NEW(mem, int64_t, jobs->n);
    for (int64_t i = 0; i < jobs->n; i++) likeliest[i] = -1;
    for (int64_t i = 0; i < arms->n && jobs->n > 0; i++) {
        int64_t *best = &likeliest[weft_last_below(jobs->n, jobs->job, arms->job[i])];
        if (*best < 0 || arms->after[i] > arms->after[*best] ||
            (!(arms->after[i] < arms->after[*best]) &&
             weft_rank_before(weft_arms_rank(arms, i), weft_arms_rank(arms, *best))))
            *best = i;
    }
    return likeliest;
}

double weft_summary_score(const weft_summary *summary, int part, const char *name)
{
    int i = weft_metrics_find(summary->scores, name);
    return i < 0 ? (double)NAN : summary->score[part].metric[i];
}

const weft_spending weft_spendings[WEFT_NSPENDING] = {
    {"bytes", "GB", 1e9}, {"s", "virtual hours", 3600}, {"J", "kJ", 1000}};

double weft_summary_spent(const weft_summary *summary, const weft_spending *spending)
{
    double sum = 0;
    for (int i = 0; summary->rows[i].name; i++)
        if (strcmp(summary->rows[i].unit, spending->unit) == 0) sum += summary->row_sum[i];
    return sum / spending->scale;
}

const weft_metric *weft_summary_scores(const weft_summary *summary, int n, weft_arena *mem)
{
    weft_metric *all = WEFT_NEW(mem, weft_metric, WEFT_MAX_METRICS + 1);
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; summary[i].scores[k].name && count < WEFT_MAX_METRICS; k++)
            if (weft_metrics_find(all, summary[i].scores[k].name) < 0)
                all[count++] = summary[i].scores[k];
    return all;
}

const char *weft_config_brief(const char *text, weft_arena *tmp)
{
    const char *out = "";
    for (const char *at = text; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " "), name = strcspn(at, "= ");
        char *end = NULL, number[32] = "";
        double x = name < n ? strtod(at + name + 1, &end) : 0;
        snprintf(number, sizeof number, "%.4g", x);
        int shorter = end == at + n && name + 1 + strlen(number) < n;
        out = weft_arena_text(tmp, "%s%s%.*s%s", out, *out ? " " : "",
                              (int)(shorter ? name + 1 : n), at, shorter ? number : "");
        at += n;
    }
    return out;
}
