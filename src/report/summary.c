/* What `weft report` reads of a run file. */
#include "summary.h"
#include "result/unfinished.h"
#include "rundir/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const weft_fact weft_facts[WEFT_NFACT] = {
    {.name = "task", .object = "/", .key = "task", .type = TEXT, .title = "task"},
    {.name = "tuner", .object = "/", .key = "tuner", .type = TEXT, .title = "tuner"},
    {.name = "sampler", .object = "/", .key = "sampler", .type = TEXT, .title = "sampler"},
    {.name = "mixing", .object = "/", .key = "mixing", .type = TEXT, .title = "mixing"},
    {.name = "data", .object = "/", .key = "data", .type = TEXT},
    {.name = "data_digest", .object = "/", .key = "data_digest", .type = TEXT},
    {.name = "seed", .object = "/", .key = "seed", .type = WHOLE, .title = "seed"},
    {.name = "configs", .object = "/", .key = "configs", .type = WHOLE, .title = "configs"},
    {.name = "rounds", .object = "/", .key = "rounds", .type = WHOLE},
    {.name = "jobs", .object = "/", .key = "jobs", .type = WHOLE, .title = "jobs"},
    {.name = "ranks", .object = "/", .key = "ranks", .type = WHOLE, .title = "ranks"},
    {.name = "teams", .object = "/", .key = "teams", .type = WHOLE},
    {.name = "most_teams", .object = "/timeline", .key = "most_teams", .type = WHOLE},
    {.name = "starts", .object = "/", .key = "starts", .type = WHOLE},
    {.name = "hosts", .object = "/", .key = "hosts", .type = TEXT},
    {.name = "version", .object = "/", .key = "version", .type = TEXT},
    {.name = "compiler", .object = "/", .key = "compiler", .type = TEXT},
    {.name = "real", .object = "/", .key = "real", .type = TEXT},
    {.name = "kernel", .object = "/", .key = "kernel", .type = TEXT},
    {.name = "blas", .object = "/", .key = "blas", .type = TEXT},
    {.name = "started", .object = "/", .key = "started", .type = TEXT},
    {.name = "optimum", .object = "/", .key = "optimum", .type = NUMBER},
    {.name = "setup_seconds", .object = "/", .key = "setup_seconds", .type = NUMBER},
    {.name = "search_seconds",
     .object = "/",
     .key = "search_seconds",
     .type = NUMBER,
     .title = "search s",
     .scale = 1,
     .digits = 2},
    {.name = "refit_seconds", .object = "/", .key = "refit_seconds", .type = NUMBER},
    {.name = "test_seconds", .object = "/", .key = "test_seconds", .type = NUMBER},
    {.name = "seconds",
     .object = "/",
     .key = "seconds",
     .type = NUMBER,
     .title = "all s",
     .scale = 1,
     .digits = 2},
    {.name = "workers", .object = "/timeline", .key = "workers", .type = WHOLE},
    {.name = "overhead", .object = "/timeline", .key = "overhead", .type = NUMBER},
    {.name = "makespan", .object = "/timeline", .key = "makespan", .type = NUMBER},
    {.name = "utilisation", .object = "/timeline", .key = "utilisation", .type = NUMBER},
    {.name = "team_utilisation",
     .object = "/timeline",
     .key = "team_utilisation",
     .type = NUMBER},
    {.name = "winner_trial", .object = "/winner", .key = "trial", .type = WHOLE},
    {.name = "winner_config", .object = "/winner", .key = "id", .type = WHOLE},
    {.name = "winner", .object = "/winner", .key = "text", .type = TEXT, .title = "winner"},
    {.name = "no_winner", .object = "/", .key = "no_winner", .type = TEXT},
    {.name = "unfinished", .object = "/", .key = "unfinished", .type = TEXT},
    {.name = "digest", .object = "/", .key = "digest", .type = TEXT, .title = "digest"},
};

const char *const weft_time_names[WEFT_NTIME] = {"compute", "wait",  "comm",
                                                 "io",      "bytes", "memory"};
const char *const weft_time_units[WEFT_NTIME] = {"s", "s", "s", "s", "GB", "GB"};

static weft_status read_times(weft_h5 *f, weft_summary *s)
{
    for (int i = 0; i < WEFT_NTIME; i++) {
        const char *name = weft_arena_text(f->mem, "/times/%s", weft_time_names[i]);
        TRY(weft_h5_read_rows(f, name, WEFT_H5_F64, 1, 0, 3, s->times[i]));
    }
    return WEFT_OK;
}

static weft_status read_fact(weft_h5 *f, const weft_fact *what, weft_value *v)
{
    v->number = NAN;
    if (!weft_h5_has(f, weft_arena_text(f->mem, "%s@%s", what->object, what->key)))
        return WEFT_OK;
    v->known = 1;
    switch (what->type) {
    case TEXT: return weft_h5_read_attr(f, what->object, what->key, &v->text);
    case WHOLE: return weft_h5_read_long(f, what->object, what->key, &v->whole);
    default: return weft_h5_read_num(f, what->object, what->key, &v->number);
    }
}

/* ---- columns ---- */

/* Columns that are read one after the other; st keeps the first failure. */
typedef struct columns {
    weft_h5 *f;
    const char *group;
    int64_t n;
    weft_status st;
} columns;

static columns columns_open(weft_h5 *f, const char *group, const char *first)
{
    columns c = {.f = f, .group = group};
    int nd;
    int64_t dims[4] = {0};
    c.st = weft_h5_shape(f, weft_arena_text(f->mem, "/%s/%s", group, first), &nd, dims);
    c.n = dims[0];
    return c;
}

static int64_t *whole(columns *c, const char *name)
{
    int64_t *x = WEFT_NEW(c->f->mem, int64_t, c->n);
    const char *path = weft_arena_text(c->f->mem, "/%s/%s", c->group, name);
    if (c->st == WEFT_OK) c->st = weft_h5_read_rows(c->f, path, WEFT_H5_I64, 1, 0, c->n, x);
    return x;
}

static double *number(columns *c, const char *name)
{
    double *x = WEFT_NEW(c->f->mem, double, c->n);
    const char *path = weft_arena_text(c->f->mem, "/%s/%s", c->group, name);
    if (c->st == WEFT_OK) c->st = weft_h5_read_rows(c->f, path, WEFT_H5_F64, 1, 0, c->n, x);
    return x;
}

static weft_status read_arms(weft_h5 *f, weft_arms *a)
{
    columns c = columns_open(f, "arms", "job");
    a->n = c.n;
    a->job = whole(&c, "job");
    a->config = whole(&c, "config");
    a->p = number(&c, "p");
    a->after = number(&c, "after");
    a->loss = number(&c, "loss");
    a->error = number(&c, "error");
    a->score = number(&c, "score");
    a->count = number(&c, "count");
    return c.st;
}

static weft_status read_table(weft_h5 *f, const char *object, const char *key,
                              const weft_metric **table)
{
    const char *text;
    TRY(weft_h5_read_attr(f, object, key, &text));
    *table = weft_metrics_parse(text, f->mem);
    return WEFT_OK;
}

static weft_status read_jobs(weft_h5 *f, weft_jobs *j)
{
    columns c = columns_open(f, "events", "job");
    j->n = c.n;
    j->job = whole(&c, "job");
    j->trial = whole(&c, "trial");
    j->rounds = whole(&c, "rounds");
    j->wins = whole(&c, "wins");
    j->resource = number(&c, "resource");
    j->size = number(&c, "size");
    j->loss = number(&c, "loss");
    j->bound = number(&c, "bound");
    j->seconds = number(&c, "seconds");
    TRY(c.st);
    TRY(read_table(f, "/events", "metrics", &j->metrics));
    for (int i = 0; j->metrics[i].name; i++) j->metric[i] = number(&c, j->metrics[i].name);
    return c.st;
}

static double sum(columns *c, const char *name)
{
    const double *x = number(c, name);
    double all = 0;
    for (int64_t r = 0; r < c->n; r++) all += x[r];
    return all;
}

/* Sums over rounds. */
static weft_status read_rounds(weft_h5 *f, weft_summary *s)
{
    static const char *const spent[] = {"wall", "compute", "wait", "comm"};
    if (!weft_h5_has(f, "/rounds")) return WEFT_OK;
    columns c = columns_open(f, "rounds", "job");
    s->rounds = c.n;
    for (int i = 0; i < 4; i++) s->spent[i] = sum(&c, spent[i]);
    TRY(c.st);
    TRY(read_table(f, "/rounds", "columns", &s->rows));
    for (int i = 0; s->rows[i].name; i++) s->row_sum[i] = sum(&c, s->rows[i].name);
    return c.st;
}

/* ---- the whole file ---- */

static weft_status read_all(weft_h5 *f, weft_summary *s)
{
    TRY(weft_run_format(f, 0));
    TRY(weft_h5_verify(f));
    for (int i = 0; i < WEFT_NFACT; i++) TRY(read_fact(f, &weft_facts[i], &s->value[i]));
    int done = !weft_h5_has(f, "/@unfinished");
    if (done) TRY(read_times(f, s));
    TRY(weft_h5_read_texts(f, "/configs/text", &s->text, &s->nconfig));
    s->id = WEFT_NEW(f->mem, int64_t, s->nconfig);
    TRY(weft_h5_read_rows(f, "/configs/id", WEFT_H5_I64, 1, 0, s->nconfig, s->id));
    TRY(read_jobs(f, &s->jobs));
    TRY(read_rounds(f, s));
    if (done && weft_h5_has(f, "/winner")) TRY(weft_winner_scores(f, &s->scores, s->score));
    return read_arms(f, &s->arms);
}

/* Writes a temporary run file, reads it and removes it. */
static weft_status read_unfinished(weft_summary *s, weft_arena *mem)
{
    const char *dir = getenv("TMPDIR");
    char *path = weft_arena_text(mem, "%s/weft-report-XXXXXX", dir && *dir ? dir : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return weft_fail(WEFT_EFILE,
                         "cannot make a file %s; set TMPDIR to a directory "
                         "that may be written",
                         path);
    close(fd);
    weft_h5 f;
    weft_status st = weft_run_snapshot(s->path, path, 0);
    if (st == WEFT_OK) st = weft_h5_open(&f, path, mem);
    if (st == WEFT_OK) {
        st = read_all(&f, s);
        weft_h5_close(&f);
    }
    unlink(path);
    return st;
}

weft_status weft_summary_read(weft_summary *s, const char *path, weft_arena *mem)
{
    weft_h5 f;
    static const weft_metric none[] = {{0}};
    *s = (weft_summary){.path = path, .scores = none, .rows = none};
    if (weft_run_is_unfinished(path)) return read_unfinished(s, mem);
    TRY(weft_run_file(&f, path, mem));
    weft_status st = read_all(&f, s);
    weft_h5_close(&f);
    return st;
}

const weft_value *weft_summary_value(const weft_summary *s, const char *name)
{
    for (int i = 0; i < WEFT_NFACT; i++)
        if (strcmp(weft_facts[i].name, name) == 0) return &s->value[i];
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

int64_t weft_summary_place(const weft_summary *s, int64_t id)
{
    return weft_last_below(s->nconfig, s->id, id);
}

const char *weft_summary_config(const weft_summary *s, int64_t id)
{
    return s->nconfig > 0 ? s->text[weft_summary_place(s, id)] : "";
}

double weft_summary_score(const weft_summary *s, int part, const char *name)
{
    int i = weft_metrics_find(s->scores, name);
    return i < 0 ? (double)NAN : s->score[part].metric[i];
}

const weft_metric *weft_summary_scores(const weft_summary *s, int n, weft_arena *mem)
{
    weft_metric *all = WEFT_NEW(mem, weft_metric, WEFT_MAX_METRICS + 1);
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; s[i].scores[k].name && count < WEFT_MAX_METRICS; k++)
            if (weft_metrics_find(all, s[i].scores[k].name) < 0)
                all[count++] = s[i].scores[k];
    return all;
}
