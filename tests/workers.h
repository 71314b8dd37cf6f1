/* Simulated workers for tests of schedules: W workers in virtual time, losses from a
 * function. A job starts when a worker is free and ends after its cost; results are told
 * by (end, job), and after each all free workers ask. The contract of schedules is checked
 * on the way. */
#ifndef WEFT_TEST_WORKERS_H
#define WEFT_TEST_WORKERS_H

#include "weft/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct sim;

typedef struct sim_job {
    weft_job job;
    double resource; /* of the trial after it */
    double start, end, loss;
    int64_t told; /* results before its own; -1: not told yet */
} sim_job;

struct sim {
    const weft_tuner *tuner;
    const char *options; /* ini text of the schedule's section */
    int64_t configs;
    int workers;
    int64_t max_jobs; /* more are a fault */
    uint64_t seed;
    int watch; /* 1: asks of every trial after every result whether it ended */
    double (*loss)(struct sim *c, const sim_job *s); /* called when the job starts */
    void (*told)(struct sim *c, const sim_job *s);   /* NULL: nothing to do */
    double (*cost)(struct sim *c, const sim_job *s); /* NULL: the resource of the job */
    void *own;                                       /* of the functions */
    /* what happened */
    void *self;
    weft_space *space;
    sim_job *sim_job; /* [n] by job */
    int64_t n, tells, flying, trials, free;
    double end;        /* of the last job */
    double spent;      /* resource of all jobs */
    int64_t held;      /* trials that were not closed, at most at a time */
    const char *fault; /* of the schedule; NULL: none */
    struct sim_trial {
        int64_t jobs, last; /* asked; its last job, -1: none */
        int closed;
    } * trial; /* [trials] */
};

typedef struct sim_axes {
    double x, y;
    int n, c, size;
} sim_axes;
static const weft_opt sim_opts[] = {
    WEFT_REAL_OPT("x", sim_axes, x, "0", -1, 100, "a number", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("y", sim_axes, y, "0", -1, 100, "another", .role = WEFT_PER_TRIAL),
    WEFT_INT_OPT("n", sim_axes, n, "1", 1, 99, "a whole number", .role = WEFT_PER_TRIAL),
    WEFT_CHOICE_OPT("c", sim_axes, c, "p", "p|q|r", "a choice", .role = WEFT_PER_TRIAL),
    WEFT_INT_OPT("size", sim_axes, size, "1", 1, 99, "of weights", .role = WEFT_SHAPE),
    {0},
};
static const weft_kind sim_kind = {"knobs", "to turn", sizeof(sim_axes), sim_opts, NULL};

/* Reads the space and the options and sets the schedule up. */
static inline weft_status sim_setup(struct sim *c, const char *axes, weft_arena *mem)
{
    weft_conf conf;
    const weft_kind *kinds[] = {&sim_kind};
    weft_conf_init(&conf, mem);
    c->self = weft_arena_alloc(mem, 1, c->tuner->kind.size);
    c->space = WEFT_NEW(mem, weft_space, 1);
    TRY(weft_conf_text(&conf, "sim",
                       weft_arena_text(mem, "[space]\nconfigs = %lld\n%s\n[%s]\n%s\n",
                                       (long long)c->configs,
                                       axes ? axes : "[knobs]\nx = 0 .. 1",
                                       c->tuner->kind.name, c->options)));
    TRY(weft_space_read(c->space, &conf, kinds, 1, 7, mem));
    TRY(weft_conf_bind(&conf, &c->tuner->kind, c->self));
    return c->tuner->setup(c->self, c->space, c->seed, mem);
}

static inline void sim_fault(struct sim *c, int good, const char *what)
{
    if (!good && !c->fault) c->fault = what;
}

/* What is wrong with a job. */
static inline void sim_check_job(struct sim *c, const weft_job *job)
{
    sim_fault(c, job->trial >= 0 && job->trial <= c->trials && job->from < c->trials,
              "trials are numbered as they are first asked for");
    if (c->fault) return;
    const struct sim_trial *t = &c->trial[job->trial];
    int starts = job->trial == c->trials;
    sim_fault(c, job->resource > 0, "a job has resource");
    sim_fault(c, job->index == (starts ? 0 : t->jobs), "index counts a trial's jobs");
    sim_fault(c, starts || c->sim_job[t->last].told >= 0,
              "a trial goes on once it is told");
    sim_fault(c, starts || !t->closed, "a trial that is closed does not go on");
    sim_fault(c, starts || job->from < 0, "a trial that goes on copies nobody");
    if (job->from < 0) return;
    sim_fault(c, !c->trial[job->from].closed, "a trial that is closed is not copied");
    sim_fault(
        c, c->trial[job->from].jobs > 1 || c->sim_job[c->trial[job->from].last].told >= 0,
        "a trial that is copied was told");
}

static inline void sim_start(struct sim *c, const weft_job *job, double now)
{
    sim_check_job(c, job);
    if (c->fault) return;
    struct sim_trial *t = &c->trial[job->trial];
    sim_job *s = &c->sim_job[c->n];
    double before = t->jobs > 0 ? c->sim_job[t->last].resource : 0;
    *s = (sim_job){
        .job = *job, .start = now, .resource = before + job->resource, .told = -1};
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

static inline void sim_ask(struct sim *c, double now, weft_asked *asked)
{
    for (*asked = WEFT_JOB; c->flying < c->workers && !c->fault;) {
        weft_job job = weft_job_new(0, 0, NULL);
        *asked = c->tuner->ask(c->self, &job);
        if (*asked != WEFT_JOB) return;
        sim_fault(c, c->n < c->max_jobs, "it ends");
        if (!c->fault) sim_start(c, &job, now);
    }
}

static inline void sim_tell(struct sim *c, sim_job *s)
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
static inline void sim_watch(struct sim *c)
{
    int64_t held = 0;
    for (int64_t i = 0; i < c->trials; i++) {
        struct sim_trial *t = &c->trial[i];
        int ended = c->tuner->ended && c->tuner->ended(c->self, i);
        sim_fault(c, !ended || c->sim_job[t->last].told >= 0,
                  "a trial ends when it is told");
        t->closed |= ended;
        held += !t->closed;
    }
    c->held = held > c->held ? held : c->held;
}

/* The job in flight that ends first; of several the one asked first. */
static inline sim_job *sim_next(struct sim *c, int64_t *from)
{
    sim_job *next = NULL;
    while (*from < c->n && c->sim_job[*from].told >= 0) ++*from;
    for (int64_t i = *from; i < c->n; i++)
        if (c->sim_job[i].told < 0 && (!next || c->sim_job[i].end < next->end))
            next = &c->sim_job[i];
    return next;
}

/* Works to the end. `mem` holds what happened. */
static inline void sim_work(struct sim *c, weft_arena *mem)
{
    c->sim_job = WEFT_NEW(mem, sim_job, c->max_jobs);
    c->trial = WEFT_NEW(mem, struct sim_trial, c->max_jobs + 1);
    weft_asked asked;
    int64_t from = 0;
    sim_ask(c, 0, &asked);
    for (sim_job *s = sim_next(c, &from); s && !c->fault; s = sim_next(c, &from)) {
        sim_tell(c, s);
        if (c->watch) sim_watch(c);
        sim_ask(c, s->end, &asked);
    }
    sim_fault(c, asked == WEFT_DONE, "it says when it is done");
    sim_fault(c, c->tuner->jobs(c->self) == c->n, "it asks as many jobs as it says");
    if (c->watch) sim_watch(c);
    for (int64_t i = 0; c->watch && i < c->trials; i++)
        sim_fault(c, c->trial[i].closed, "every trial is closed at the end");
}

/* Sets up and works; what the schedule does wrong is a fault. */
static inline void sim_run(struct sim *c, const char *axes, weft_arena *mem)
{
    weft_check(sim_setup(c, axes, mem) == WEFT_OK, "%s", weft_error());
    sim_work(c, mem);
}

/* "time:trial@resource ..." of all jobs, or without times. */
static inline const char *sim_trace(const struct sim *c, int times, weft_arena *mem)
{
    enum { ROOM = 60 };
    char *text = weft_arena_alloc(mem, (size_t)(c->n * ROOM + 1), 1), *at = text;
    for (int64_t i = 0; i < c->n; i++) {
        at += snprintf(at, 2, "%s", i ? " " : "");
        if (times) at += snprintf(at, ROOM / 2, "%.9g:", c->sim_job[i].start);
        at += snprintf(at, ROOM / 2, "%lld@%g", (long long)c->sim_job[i].job.trial,
                       c->sim_job[i].resource);
    }
    return text;
}

/* Jobs that end at each resource low eta^k, "27,9,3,1", as far as there are any. */
static inline const char *sim_rungs(const struct sim *c, double low, double eta,
                                    weft_arena *mem)
{
    const char *text = "";
    for (double at = low;; at *= eta) {
        long long n = 0;
        for (int64_t i = 0; i < c->n; i++) n += fabs(c->sim_job[i].resource - at) < 0.5;
        if (n == 0) return text;
        text = weft_arena_text(mem, "%s%s%lld", text, *text ? "," : "", n);
    }
}

#endif
