/* The run file: what a run was, every job and every arm of it in columns, the
 * configurations, the winner with its weights, and where the time went. Written at the end,
 * by rank 0, under a temporary name. Called by tune.c. */
#include "run_private.h"

#include <cblas.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* A column of a table whose rows are structs of 8-byte numbers. */
typedef struct column {
    const char *name, *about, *unit;
    size_t at;
    int whole; /* 1: int64_t, 0: double */
} column;

typedef struct event_row {
    int64_t job, trial, from, round, k, alive, iterations;
    double resource, size, loss, valid_loss, valid_error, train_loss, cost, seconds,
        residual;
} event_row;

#define WHOLE(type, m, about, unit)                                                        \
    {                                                                                      \
#m, about, unit, offsetof(type, m), 1                                              \
    }
#define NUMBER(type, m, about, unit)                                                       \
    {                                                                                      \
#m, about, unit, offsetof(type, m), 0                                              \
    }

static const column event_columns[] = {
    WHOLE(event_row, job, "job, in the order asked", "id"),
    WHOLE(event_row, trial, "trial: whose weights were trained", "id"),
    WHOLE(event_row, from, "trial whose weights a new trial copied; -1: afresh", "id"),
    WHOLE(event_row, round, "how often the trial was trained before", "count"),
    WHOLE(event_row, k, "configurations in the mixture", "count"),
    WHOLE(event_row, alive, "configurations with a probability above 0", "count"),
    WHOLE(event_row, iterations, "of the fit", "count"),
    NUMBER(event_row, resource, "given to the trial in all", "the task's unit"),
    NUMBER(event_row, size, "share of the full number of features", "1"),
    NUMBER(event_row, loss, "what the tuner was told: mean validation score of the mixture",
           "loss, or error rate where score = accuracy"),
    NUMBER(event_row, valid_loss, "mean validation loss under the mixture", "loss"),
    NUMBER(event_row, valid_error, "share of wrong answers under the mixture", "1"),
    NUMBER(event_row, train_loss, "objective of the fit per training sample", "loss"),
    NUMBER(event_row, cost, "as the task accounts for it", "the task's unit"),
    NUMBER(event_row, seconds, "that the job took", "s"),
    NUMBER(event_row, residual, "relative residual of the fit", "1"),
};

typedef struct arm_row {
    int64_t job, config;
    double p, loss, error, count;
} arm_row;

static const column arm_columns[] = {
    WHOLE(arm_row, job, "job", "id"),
    WHOLE(arm_row, config, "configuration, by its index in the space: /configs/id", "id"),
    NUMBER(arm_row, p, "probability in the job's mixture", "1"),
    NUMBER(arm_row, loss, "mean validation loss; nan where not scored", "loss"),
    NUMBER(arm_row, error, "share of wrong answers; nan where not scored", "1"),
    NUMBER(arm_row, count, "validation samples scored", "count"),
};

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* Writes the columns of rows[n], each `bytes` long, into a group. */
static weft_status put_columns(weft_h5 *f, const char *group, const column *c, int nc,
                               const void *rows, size_t bytes, int64_t n)
{
    int64_t *buffer = WEFT_NEW(f->mem, int64_t, n);
    for (int i = 0; i < nc; i++) {
        for (int64_t r = 0; r < n; r++)
            memcpy(&buffer[r], (const char *)rows + (size_t)r * bytes + c[i].at,
                   sizeof *buffer);
        const char *name = weft_arena_text(f->mem, "/%s/%s", group, c[i].name);
        TRY(weft_h5_put(f, name, c[i].whole ? WEFT_H5_I64 : WEFT_H5_F64, 1, &n, buffer, 0,
                        c[i].about, c[i].unit));
    }
    return WEFT_OK;
}

/* ---- parts of the file -------------------------------------------------------------- */

static weft_status put_events(weft_h5 *f, const weft_sched *s)
{
    event_row *row = WEFT_NEW(f->mem, event_row, s->n);
    for (int64_t i = 0; i < s->n; i++) {
        const weft_event *e = &s->event[i];
        row[i] = (event_row){.job = e->job.id,
                             .trial = e->job.trial,
                             .from = e->job.from,
                             .round = e->job.round,
                             .k = e->job.mix.k,
                             .alive = weft_mix_alive(&e->job.mix),
                             .iterations = e->res.iterations,
                             .resource = e->res.resource,
                             .size = e->job.size,
                             .loss = e->res.loss,
                             .valid_loss = e->res.valid_loss,
                             .valid_error = e->res.valid_error,
                             .train_loss = e->res.train_loss,
                             .cost = e->res.cost,
                             .seconds = e->seconds,
                             .residual = e->res.residual};
    }
    return put_columns(f, "events", event_columns, COUNT(event_columns), row, sizeof *row,
                       s->n);
}

/* One row for each arm of each job that was alive or scored. */
static weft_status put_arms(weft_h5 *f, const weft_sched *s)
{
    int64_t room = 0, n = 0;
    for (int64_t i = 0; i < s->n; i++) room += s->event[i].job.mix.k;
    arm_row *row = WEFT_NEW(f->mem, arm_row, room);
    for (int64_t i = 0; i < s->n; i++) {
        const weft_mix *m = &s->event[i].job.mix;
        const weft_result *r = &s->event[i].res;
        for (int a = 0; a < m->k; a++) {
            if (!(m->z[a] > -INFINITY) && !(r->arm_count[a] > 0)) continue;
            const double samples = r->arm_count[a] > 0 ? r->arm_count[a] : NAN;
            row[n++] = (arm_row){.job = s->event[i].job.id,
                                 .config = m->id[a],
                                 .p = exp(m->z[a]),
                                 .loss = r->arm_loss[a] / samples,
                                 .error = r->arm_wrong[a] / samples,
                                 .count = r->arm_count[a]};
        }
    }
    return put_columns(f, "arms", arm_columns, COUNT(arm_columns), row, sizeof *row, n);
}

/* The configurations that took part, by rising id: each trial's are those of its jobs. */
static weft_status put_configs(weft_h5 *f, const weft_run *r, const weft_sched *s)
{
    int64_t most = 0, n = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int a = 0; a < s->event[i].job.mix.k; a++)
            if (s->event[i].job.mix.id[a] >= most) most = s->event[i].job.mix.id[a] + 1;
    const double **conf = WEFT_NEW(f->mem, const double *, most);
    for (int64_t i = 0; i < s->n; i++) {
        const weft_mix *m = &s->event[i].job.mix;
        for (int a = 0; a < m->k; a++) conf[m->id[a]] = m->conf + (size_t)a * m->dim;
    }
    const int dim = r->space.dim;
    int64_t *id = WEFT_NEW(f->mem, int64_t, most);
    double *value = WEFT_NEW(f->mem, double, (size_t)most *dim);
    const char **text = WEFT_NEW(f->mem, const char *, most);
    for (int64_t i = 0; i < most; i++) {
        if (!conf[i]) continue;
        char shown[1024];
        weft_space_show(&r->space, conf[i], shown, sizeof shown);
        text[n] = weft_arena_text(f->mem, "%s", shown);
        if (dim > 0) memcpy(value + n * dim, conf[i], (size_t)dim * sizeof *value);
        id[n++] = i;
    }
    const char **axis = WEFT_NEW(f->mem, const char *, dim);
    for (int i = 0; i < dim; i++) {
        char name[128];
        weft_opt_name(r->space.axis[i].opt, name, sizeof name);
        axis[i] = weft_arena_text(f->mem, "%s.%s", r->space.axis[i].section, name);
    }
    const int64_t shape[2] = {n, dim};
    TRY(weft_h5_put(f, "/configs/id", WEFT_H5_I64, 1, &n, id, 0, "index in the space",
                    "id"));
    TRY(weft_h5_put(f, "/configs/value", WEFT_H5_F64, 2, shape, value, 0,
                    "one row a configuration, one column an axis; choices by index",
                    "the option's own"));
    TRY(weft_h5_put_texts(f, "/configs/text", text, n,
                          "the configurations as one would write"));
    return weft_h5_put_texts(f, "/configs/axis", axis, dim, "names of the axes");
}

/* The key under which the configuration gives an option: it may be a synonym. */
static const char *key_of(const weft_conf *c, const weft_axis *a, weft_arena *mem)
{
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->entry[i].section, a->section) == 0 &&
            weft_opt_is(a->opt, c->entry[i].key))
            return c->entry[i].key;
    char name[128];
    weft_opt_name(a->opt, name, sizeof name);
    return weft_arena_text(mem, "%s", name);
}

/* The configuration of the run with the winner's values in place of the ranges: an input
 * file that trains this one. Owned by mem. */
static weft_status settle(const weft_outcome *o, const double *conf, weft_arena *mem,
                          const char **text)
{
    weft_conf c;
    weft_conf_init(&c, mem);
    TRY(weft_conf_text(&c, "run", o->config));
    const weft_space *sp = &o->run->space;
    for (int i = 0; i < sp->dim; i++) {
        const weft_axis *a = &sp->axis[i];
        char value[128];
        if (a->opt->type == WEFT_CHOICE || a->opt->type == WEFT_BOOL)
            weft_opt_show(a->opt, conf[i], value, sizeof value);
        else
            snprintf(value, sizeof value, "%.17g", conf[i]);
        TRY(weft_conf_set(
            &c, weft_arena_text(mem, "%s.%s=%s", a->section, key_of(&c, a, mem), value)));
    }
    TRY(weft_conf_set(&c, "space.source=random"));
    *text = weft_conf_echo(&c, mem);
    return WEFT_OK;
}

static weft_status put_scores(weft_h5 *f, const weft_outcome *o)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        if (isnan(o->loss[p])) continue;
        const char *part = weft_part_name[p];
        TRY(weft_h5_put_num(f, "/winner", weft_arena_text(f->mem, "%s_loss", part),
                            o->loss[p]));
        TRY(weft_h5_put_num(f, "/winner", weft_arena_text(f->mem, "%s_error", part),
                            o->error[p]));
    }
    return WEFT_OK;
}

static weft_status put_winner(weft_h5 *f, const weft_outcome *o)
{
    const weft_event *e = &o->sched->winner;
    const int arm = weft_winner_arm(e);
    const int64_t dim = e->job.mix.dim;
    const double *conf = e->job.mix.conf + (size_t)arm * (size_t)dim;
    char text[1024];
    weft_space_show(&o->run->space, conf, text, sizeof text);
    const char *config;
    TRY(settle(o, conf, f->mem, &config));
    TRY(weft_h5_put(f, "/winner/value", WEFT_H5_F64, 1, &dim, conf, 0,
                    "its configuration; axes in /configs/axis", "the option's own"));
    const weft_winner w = {.config = config,
                           .text = text,
                           .size = e->job.size,
                           .id = e->job.mix.id[arm],
                           .job = e->job.id,
                           .trial = e->job.trial,
                           .round = e->job.round,
                           .n = o->nstate,
                           .state = o->state};
    TRY(weft_winner_put(&w, f));
    return put_scores(f, o);
}

static weft_status put_times(weft_h5 *f, const weft_outcome *o)
{
    static const struct {
        const char *name, *about, *unit;
    } what[] = {
        {"/times/compute", "computing, reading and writing: min, mean, max over ranks",
         "s"},
        {"/times/wait", "waiting for slower ranks: min, mean, max over ranks", "s"},
        {"/times/comm", "in collectives: min, mean, max over ranks", "s"},
        {"/times/bytes", "handed to collectives: min, mean, max over ranks", "bytes"},
        {"/times/memory", "most memory held: min, mean, max over ranks", "bytes"},
    };
    const int64_t three = 3;
    for (int i = 0; i < COUNT(what); i++)
        TRY(weft_h5_put(f, what[i].name, WEFT_H5_F64, 1, &three, o->times[i], 0,
                        what[i].about, what[i].unit));
    return WEFT_OK;
}

/* What a run was: attributes of the file. */
static weft_status put_head(weft_h5 *f, const weft_outcome *o)
{
    const weft_run *r = o->run;
    const time_t began = (time_t)o->began;
    struct tm utc;
    char started[32] = "", digest[17];
    if (gmtime_r(&began, &utc))
        strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)o->digest);
    const struct {
        const char *key, *text;
    } texts[] = {
        {"format", WEFT_RUN_FORMAT},
        {"version", WEFT_VERSION},
        {"compiler", WEFT_COMPILER},
        {"real", sizeof(real) == 8 ? "double" : "float"},
        {"kernel", weft_cpu_kernel()},
        {"blas", openblas_get_corename()},
        {"hosts", o->hosts},
        {"task", r->opts.task},
        {"tuner", r->opts.tuner},
        {"data", r->opts.data},
        {"data_digest", r->data.digest},
        {"started", started},
        {"config", o->config},
        {"digest", digest},
    };
    const struct {
        const char *key;
        double x;
    } numbers[] = {
        {"setup_seconds", o->setup},
        {"search_seconds", o->search},
        {"refit_seconds", o->refit},
        {"test_seconds", o->test},
        {"seconds", o->setup + o->search + o->test},
    };
    for (int i = 0; i < COUNT(texts); i++)
        TRY(weft_h5_put_attr(f, "/", texts[i].key, texts[i].text));
    for (int i = 0; i < COUNT(numbers); i++)
        TRY(weft_h5_put_num(f, "/", numbers[i].key, numbers[i].x));
    TRY(weft_h5_put_long(f, "/", "ranks", r->team->size));
    TRY(weft_h5_put_long(f, "/", "blas_threads", openblas_get_num_threads()));
    TRY(weft_h5_put_long(f, "/", "seed", r->opts.seed));
    TRY(weft_h5_put_long(f, "/", "configs", r->space.count));
    return weft_h5_put_long(f, "/", "jobs", o->sched->n);
}

weft_status weft_run_write(const char *path, const weft_outcome *o)
{
    weft_arena *mem = weft_arena_new();
    weft_h5 f;
    weft_status st = weft_h5_create(&f, path, mem);
    if (st == WEFT_OK) {
        st = put_head(&f, o);
        if (st == WEFT_OK) st = put_events(&f, o->sched);
        if (st == WEFT_OK) st = put_arms(&f, o->sched);
        if (st == WEFT_OK) st = put_configs(&f, o->run, o->sched);
        if (st == WEFT_OK) st = put_winner(&f, o);
        if (st == WEFT_OK) st = put_times(&f, o);
        if (st == WEFT_OK) st = weft_h5_commit(&f);
        weft_h5_close(&f);
    }
    weft_arena_free(mem);
    return st;
}
