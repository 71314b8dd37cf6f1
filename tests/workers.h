/* Simulated workers for tests of schedules: W workers in virtual time, losses from a
 * function. A job starts when a worker is free and ends after its cost; results are told
 * by (end, job), and after each all free workers ask. The contract of schedules is checked
 * on the way. */
#ifndef WEFT_TEST_WORKERS_H
#define WEFT_TEST_WORKERS_H

#include "weft/tune/tune.h"

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
    double guess; /* error rate of guesses; 0: losses are none */
    int watch;    /* 1: asks of every trial after every result whether it ended */
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
static inline weft_status sim_setup(struct sim *sim, const char *axes, weft_arena *mem)
{
    weft_conf conf;
    const weft_kind *kinds[] = {&sim_kind};
    weft_conf_init(&conf, mem);
    sim->self = weft_arena_alloc(mem, 1, sim->tuner->kind.size);
    sim->space = WEFT_NEW(mem, weft_space, 1);
    TRY(weft_conf_text(&conf, "sim",
                       weft_arena_text(mem, "[space]\nconfigs = %lld\n%s\n[%s]\n%s\n",
                                       (long long)sim->configs,
                                       axes ? axes : "[knobs]\nx = 0 .. 1",
                                       sim->tuner->kind.name, sim->options)));
    TRY(weft_space_read(sim->space, &conf, kinds, 1, 7, mem));
    TRY(weft_conf_bind(&conf, &sim->tuner->kind, sim->self));
    sim->space->guess = sim->guess;
    return sim->tuner->setup(sim->self, sim->space, sim->seed, mem);
}

static inline void sim_fault(struct sim *sim, int good, const char *what)
{
    if (!good && !sim->fault) sim->fault = what;
}

/* What is wrong with a job. */
static inline void sim_check_job(struct sim *sim, const weft_job *job)
{
    sim_fault(sim, job->trial >= 0 && job->trial <= sim->trials && job->from < sim->trials,
              "trials are numbered as they are first asked for");
    if (sim->fault) return;
    const struct sim_trial *trial = &sim->trial[job->trial];
    int starts = job->trial == sim->trials;
    sim_fault(sim, job->resource > 0, "a job has resource");
    sim_fault(sim, job->index == (starts ? 0 : trial->jobs), "index counts a trial's jobs");
    sim_fault(sim, starts || sim->sim_job[trial->last].told >= 0,
              "a trial goes on once it is told");
    sim_fault(sim, starts || !trial->closed, "a trial that is closed does not go on");
    sim_fault(sim, starts || job->from < 0, "a trial that goes on copies nobody");
    if (job->from < 0) return;
    sim_fault(sim, !sim->trial[job->from].closed, "a trial that is closed is not copied");
    sim_fault(sim,
              sim->trial[job->from].jobs > 1 ||
                  sim->sim_job[sim->trial[job->from].last].told >= 0,
              "a trial that is copied was told");
}

static inline void sim_start(struct sim *sim, const weft_job *job, double now)
{
    sim_check_job(sim, job);
    if (sim->fault) return;
    struct sim_trial *trial = &sim->trial[job->trial];
    sim_job *s = &sim->sim_job[sim->n];
    double before = trial->jobs > 0 ? sim->sim_job[trial->last].resource : 0;
    *s = (sim_job){
        .job = *job, .start = now, .resource = before + job->resource, .told = -1};
    s->job.id = sim->n;
    s->loss = sim->loss(sim, s);
    s->end = now + (sim->cost ? sim->cost(sim, s) : job->resource);
    sim->end = fmax(sim->end, s->end);
    sim->spent += job->resource;
    trial->jobs++;
    trial->last = sim->n++;
    sim->trials += job->trial == sim->trials;
    sim->flying++;
}

static inline void sim_ask(struct sim *sim, double now, weft_asked *asked)
{
    for (*asked = WEFT_JOB; sim->flying < sim->workers && !sim->fault;) {
        weft_job job = weft_job_new(0, 0, NULL);
        *asked = sim->tuner->ask(sim->self, &job);
        if (*asked != WEFT_JOB) return;
        sim_fault(sim, sim->n < sim->max_jobs, "it ends");
        if (!sim->fault) sim_start(sim, &job, now);
    }
}

static inline void sim_tell(struct sim *sim, sim_job *job)
{
    double none[5] = {0};
    weft_result res = {.job = job->job.id,
                       .trial = job->job.trial,
                       .resource = job->resource,
                       .loss = job->loss,
                       .k = 1,
                       .arm_loss = none,
                       .arm_wrong = none + 1,
                       .arm_count = none + 2,
                       .arm_score = none + 3,
                       .logp = none + 4};
    job->told = sim->tells++;
    sim->flying--;
    if (sim->told) sim->told(sim, job);
    if (job->job.last) sim->trial[job->job.trial].closed = 1;
    sim->tuner->tell(sim->self, &res);
}

/* Asks which trials ended; counts those that did not. */
static inline void sim_watch(struct sim *sim)
{
    int64_t held = 0;
    for (int64_t i = 0; i < sim->trials; i++) {
        struct sim_trial *trial = &sim->trial[i];
        int ended = sim->tuner->ended && sim->tuner->ended(sim->self, i);
        sim_fault(sim, !ended || sim->sim_job[trial->last].told >= 0,
                  "a trial ends when it is told");
        trial->closed |= ended;
        held += !trial->closed;
    }
    sim->held = held > sim->held ? held : sim->held;
}

/* The job in flight that ends first; of several the one asked first. */
static inline sim_job *sim_next(struct sim *sim, int64_t *from)
{
    sim_job *next = NULL;
    while (*from < sim->n && sim->sim_job[*from].told >= 0) ++*from;
    for (int64_t i = *from; i < sim->n; i++)
        if (sim->sim_job[i].told < 0 && (!next || sim->sim_job[i].end < next->end))
            next = &sim->sim_job[i];
    return next;
}

/* Works to the end. `mem` holds what happened. */
static inline void sim_work(struct sim *sim, weft_arena *mem)
{
    sim->sim_job = WEFT_NEW(mem, sim_job, sim->max_jobs);
    sim->trial = WEFT_NEW(mem, struct sim_trial, sim->max_jobs + 1);
    weft_asked asked;
    int64_t from = 0;
    sim_ask(sim, 0, &asked);
    for (sim_job *job = sim_next(sim, &from); job && !sim->fault;
         job = sim_next(sim, &from)) {
        sim_tell(sim, job);
        if (sim->watch) sim_watch(sim);
        sim_ask(sim, job->end, &asked);
    }
    sim_fault(sim, asked == WEFT_DONE, "it says when it is done");
    sim_fault(sim, sim->tuner->jobs(sim->self) == sim->n,
              "it asks as many jobs as it says");
    if (sim->watch) sim_watch(sim);
    for (int64_t i = 0; sim->watch && i < sim->trials; i++)
        sim_fault(sim, sim->trial[i].closed, "every trial is closed at the end");
}

/* Sets up and works; what the schedule does wrong is a fault. */
static inline void sim_run(struct sim *sim, const char *axes, weft_arena *mem)
{
    weft_check(sim_setup(sim, axes, mem) == WEFT_OK, "%s", weft_error());
    sim_work(sim, mem);
}

/* "time:trial@resource ..." of all jobs, or without times. */
static inline const char *sim_trace(const struct sim *sim, int times, weft_arena *mem)
{
    enum { ROOM = 60 };
    char *text = weft_arena_alloc(mem, (size_t)(sim->n * ROOM + 1), 1), *at = text;
    for (int64_t i = 0; i < sim->n; i++) {
        at += snprintf(at, 2, "%s", i ? " " : "");
        if (times) at += snprintf(at, ROOM / 2, "%.9g:", sim->sim_job[i].start);
        at += snprintf(at, ROOM / 2, "%lld@%g", (long long)sim->sim_job[i].job.trial,
                       sim->sim_job[i].resource);
    }
    return text;
}

/* Jobs that end at each resource low eta^k, "27,9,3,1", as far as there are any. */
static inline const char *sim_rungs(const struct sim *sim, double low, double eta,
                                    weft_arena *mem)
{
    const char *text = "";
    for (double at = low;; at *= eta) {
        long long n = 0;
        for (int64_t i = 0; i < sim->n; i++) n += fabs(sim->sim_job[i].resource - at) < 0.5;
        if (n == 0) return text;
        text = weft_arena_text(mem, "%s%s%lld", text, *text ? "," : "", n);
    }
}

#endif
