/* Simulated workers for tests of schedules: W workers in virtual time, losses from a
 * function. A job starts when a worker is free and ends after its cost; results are told
 * by (end, job), and after each all free workers ask. The contract of schedules is checked
 * on the way. */
#ifndef WEFT_TEST_WORKERS_H
#define WEFT_TEST_WORKERS_H

#include "weft/tune.h"

#include <math.h>
#include <string.h>

typedef struct crew crew;

typedef struct shift {
    weft_job job;
    double resource; /* of the trial after it */
    double start, end, loss;
    int64_t told; /* results before its own; -1: not told yet */
} shift;

struct crew {
    const weft_tuner *tuner;
    const char *options; /* ini text of the schedule's section */
    int64_t configs;
    int workers;
    int64_t most; /* jobs: more are a fault */
    uint64_t seed;
    int watch; /* 1: asks of every trial after every result whether it ended */
    double (*loss)(crew *c, const shift *s); /* called when the job starts */
    void (*told)(crew *c, const shift *s);   /* NULL: nothing to do */
    double (*cost)(crew *c, const shift *s); /* NULL: the resource of the job */
    void *own;                               /* of the functions */
    /* what happened */
    void *self;
    weft_space *space;
    shift *shift; /* [n] by job */
    int64_t n, tells, flying, trials, free;
    double end;        /* of the last job */
    double spent;      /* resource of all jobs */
    int64_t held;      /* trials that were not closed, at most at a time */
    const char *fault; /* of the schedule; NULL: none */
    struct crew_trial {
        int64_t jobs, last; /* asked; its last job, -1: none */
        int closed;
    } * trial; /* [trials] */
};

typedef struct crew_axes {
    double x, y;
    int n, c, size;
} crew_axes;
static const weft_opt crew_opts[] = {
    {"x", WEFT_REAL, offsetof(crew_axes, x), "0", -1, 100, NULL, "a number",
     WEFT_PER_TRIAL},
    {"y", WEFT_REAL, offsetof(crew_axes, y), "0", -1, 100, NULL, "another", WEFT_PER_TRIAL},
    {"n", WEFT_INT, offsetof(crew_axes, n), "1", 1, 99, NULL, "a whole number",
     WEFT_PER_TRIAL},
    {"c", WEFT_CHOICE, offsetof(crew_axes, c), "p", 0, 0, "p|q|r", "a choice",
     WEFT_PER_TRIAL},
    {"size", WEFT_INT, offsetof(crew_axes, size), "1", 1, 99, NULL, "of weights",
     WEFT_SHAPE},
    {0}};
static const weft_kind crew_kind = {"knobs", "to turn", sizeof(crew_axes), crew_opts, NULL};

/* Reads the space and the options and sets the schedule up. */
static inline weft_status crew_setup(crew *c, const char *axes, weft_arena *mem)
{
    weft_conf conf;
    const weft_kind *kinds[] = {&crew_kind};
    weft_conf_init(&conf, mem);
    c->self = weft_arena_alloc(mem, 1, c->tuner->kind.size);
    c->space = WEFT_NEW(mem, weft_space, 1);
    TRY(weft_conf_text(&conf, "crew",
                       weft_arena_text(mem, "[space]\nconfigs = %lld\n%s\n[%s]\n%s\n",
                                       (long long)c->configs,
                                       axes ? axes : "[knobs]\nx = 0 .. 1",
                                       c->tuner->kind.name, c->options)));
    TRY(weft_space_read(c->space, &conf, kinds, 1, 7, mem));
    TRY(weft_conf_bind(&conf, &c->tuner->kind, c->self));
    return c->tuner->setup(c->self, c->space, c->seed, mem);
}

static inline void crew_fault(crew *c, int good, const char *what)
{
    if (!good && !c->fault) c->fault = what;
}

/* What is wrong with a job. */
static inline void crew_check_job(crew *c, const weft_job *job)
{
    crew_fault(c, job->trial >= 0 && job->trial <= c->trials && job->from < c->trials,
               "trials are numbered as they are first asked for");
    if (c->fault) return;
    const struct crew_trial *t = &c->trial[job->trial];
    int starts = job->trial == c->trials;
    crew_fault(c, job->resource > 0, "a job has resource");
    crew_fault(c, job->index == (starts ? 0 : t->jobs), "index counts a trial's jobs");
    crew_fault(c, starts || c->shift[t->last].told >= 0, "a trial goes on once it is told");
    crew_fault(c, starts || !t->closed, "a trial that is closed does not go on");
    crew_fault(c, starts || job->from < 0, "a trial that goes on copies nobody");
    if (job->from < 0) return;
    crew_fault(c, !c->trial[job->from].closed, "a trial that is closed is not copied");
    crew_fault(c,
               c->trial[job->from].jobs > 1 || c->shift[c->trial[job->from].last].told >= 0,
               "a trial that is copied was told");
}

static inline void crew_start(crew *c, const weft_job *job, double now)
{
    crew_check_job(c, job);
    if (c->fault) return;
    struct crew_trial *t = &c->trial[job->trial];
    shift *s = &c->shift[c->n];
    double before = t->jobs > 0 ? c->shift[t->last].resource : 0;
    *s = (shift){.job = *job, .start = now, .resource = before + job->resource, .told = -1};
    s->job.id = c->n;
    s->loss = c->loss(c, s);
    s->end = now + (c->cost ? c->cost(c, s) : job->resource);
    c->end = fmax(c->end, s->end);
    c->spent += job->resource;
    t->jobs++;
    t->last = c->n++;
    c->trials += job->trial == c->trials;
    c->flying++;
}

static inline void crew_ask(crew *c, double now, weft_asked *asked)
{
    for (*asked = WEFT_JOB; c->flying < c->workers && !c->fault;) {
        weft_job job = weft_job_new(0, 0, NULL);
        *asked = c->tuner->ask(c->self, &job);
        if (*asked != WEFT_JOB) return;
        crew_fault(c, c->n < c->most, "it ends");
        if (!c->fault) crew_start(c, &job, now);
    }
}

static inline void crew_tell(crew *c, shift *s)
{
    double none[4] = {0};
    weft_result res = {.job = s->job.id,
                       .trial = s->job.trial,
                       .resource = s->resource,
                       .loss = s->loss,
                       .k = 1,
                       .arm_loss = none,
                       .arm_wrong = none + 1,
                       .arm_count = none + 2,
                       .logp = none + 3};
    s->told = c->tells++;
    c->flying--;
    if (c->told) c->told(c, s);
    if (s->job.last) c->trial[s->job.trial].closed = 1;
    c->tuner->tell(c->self, &res);
}

/* Asks which trials ended; counts those that did not. */
static inline void crew_watch(crew *c)
{
    int64_t held = 0;
    for (int64_t i = 0; i < c->trials; i++) {
        struct crew_trial *t = &c->trial[i];
        int ended = c->tuner->ended && c->tuner->ended(c->self, i);
        crew_fault(c, !ended || c->shift[t->last].told >= 0,
                   "a trial ends when it is told");
        t->closed |= ended;
        held += !t->closed;
    }
    c->held = held > c->held ? held : c->held;
}

/* The job in flight that ends first; of several the one asked first. */
static inline shift *crew_next(crew *c, int64_t *from)
{
    shift *next = NULL;
    while (*from < c->n && c->shift[*from].told >= 0) ++*from;
    for (int64_t i = *from; i < c->n; i++)
        if (c->shift[i].told < 0 && (!next || c->shift[i].end < next->end))
            next = &c->shift[i];
    return next;
}

/* Works to the end. `mem` holds what happened. */
static inline void crew_work(crew *c, weft_arena *mem)
{
    c->shift = WEFT_NEW(mem, shift, c->most);
    c->trial = WEFT_NEW(mem, struct crew_trial, c->most + 1);
    weft_asked asked;
    int64_t from = 0;
    crew_ask(c, 0, &asked);
    for (shift *s = crew_next(c, &from); s && !c->fault; s = crew_next(c, &from)) {
        crew_tell(c, s);
        if (c->watch) crew_watch(c);
        crew_ask(c, s->end, &asked);
    }
    crew_fault(c, asked == WEFT_DONE, "it says when it is done");
    crew_fault(c, c->tuner->jobs(c->self) == c->n, "it asks as many jobs as it says");
    if (c->watch) crew_watch(c);
    for (int64_t i = 0; c->watch && i < c->trials; i++)
        crew_fault(c, c->trial[i].closed, "every trial is closed at the end");
}

/* Sets up and works; what the schedule does wrong is a fault. */
static inline void crew_run(crew *c, const char *axes, weft_arena *mem)
{
    weft_check(crew_setup(c, axes, mem) == WEFT_OK, "%s", weft_error());
    crew_work(c, mem);
}

/* "time:trial@resource ..." of all jobs, or without times. */
static inline const char *crew_trace(const crew *c, int times, weft_arena *mem)
{
    enum { MOST = 60 };
    char *text = weft_arena_alloc(mem, (size_t)(c->n * MOST + 1), 1), *at = text;
    for (int64_t i = 0; i < c->n; i++) {
        at += snprintf(at, 2, "%s", i ? " " : "");
        if (times) at += snprintf(at, MOST / 2, "%.9g:", c->shift[i].start);
        at += snprintf(at, MOST / 2, "%lld@%g", (long long)c->shift[i].job.trial,
                       c->shift[i].resource);
    }
    return text;
}

/* Jobs that end at each resource low eta^k, "27,9,3,1", as far as there are any. */
static inline const char *crew_rungs(const crew *c, double low, double eta, weft_arena *mem)
{
    const char *text = "";
    for (double at = low;; at *= eta) {
        long long n = 0;
        for (int64_t i = 0; i < c->n; i++) n += fabs(c->shift[i].resource - at) < 0.5;
        if (n == 0) return text;
        text = weft_arena_text(mem, "%s%s%lld", text, *text ? "," : "", n);
    }
}

#endif
