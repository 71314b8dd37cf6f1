/* Simulated workers for tests of schedules: W workers in virtual time, losses from a
 * function. A job starts when a worker is free and ends after its cost; results are told
 * by (end, job), and after each all free workers ask. The contract of schedules is checked
 * on the way. */
#ifndef WEFT_TEST_WORKERS_H
#define WEFT_TEST_WORKERS_H

#include "checker.h"

#include "tap.h"

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
    int64_t n, tells, flying, trials;
    double end;        /* of the last job */
    double spent;      /* resource of all jobs */
    int64_t held;      /* trials that were not closed, at most at a time */
    const char *fault; /* of the schedule; NULL: none */
    struct checker checked;
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
static const weft_kind sim_kind = WEFT_KIND("knobs", sim_axes, sim_opts, "to turn");

/* Reads the space and the options and sets the schedule up. */
static inline weft_status sim_setup(struct sim *sim, const char *axes)
{
    weft_conf conf;
    const weft_kind *kinds[] = {&sim_kind};
    weft_conf_init(&conf, mem);
    sim->self = weft_arena_alloc(mem, 1, sim->tuner->kind.size);
    sim->space = WEFT_NEW(mem, weft_space, 1);
    TRY(weft_conf_text(&conf, "sim",
                       printed("[space]\nconfigs = %lld\n%s\n[%s]\n%s\n",
                               (long long)sim->configs, axes ? axes : "[knobs]\nx = 0 .. 1",
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

static inline void sim_start(struct sim *sim, const weft_job *job, double now)
{
    checker_ask(&sim->checked, job);
    sim_fault(sim, !sim->checked.fault, sim->checked.fault);
    if (sim->fault) return;
    sim_job *s = &sim->sim_job[sim->n];
    *s = (sim_job){.job = *job,
                   .start = now,
                   .resource = sim->checked.trial[job->trial].resource,
                   .told = -1};
    s->job.id = sim->n++;
    s->loss = sim->loss(sim, s);
    s->end = now + (sim->cost ? sim->cost(sim, s) : job->resource);
    sim->end = fmax(sim->end, s->end);
    sim->spent += job->resource;
    sim->trials = sim->checked.trials;
    sim->flying++;
}

static inline void sim_ask(struct sim *sim, double now, weft_asked *asked)
{
    for (*asked = WEFT_JOB; sim->flying < sim->workers && !sim->fault;) {
        weft_job job = weft_job_new(0, 0, NULL);
        *asked = sim->tuner->ask(sim->self, &job);
        if (*asked != WEFT_JOB) return;
        sim_start(sim, &job, now);
    }
}

static inline void sim_tell(struct sim *sim, sim_job *job)
{
    double arm[WEFT_ARM_COLUMNS] = {0};
    weft_result res = weft_result_in(1, arm);
    res.job = job->job.id;
    res.trial = job->job.trial;
    res.resource = job->resource;
    res.loss = job->loss;
    job->told = sim->tells++;
    sim->flying--;
    if (sim->told) sim->told(sim, job);
    checker_tell(&sim->checked, &res);
    sim->tuner->tell(sim->self, &res);
}

/* Asks which trials ended; counts those that did not. */
static inline void sim_watch(struct sim *sim)
{
    int64_t held = 0;
    for (int64_t i = 0; i < sim->trials; i++) {
        kept_trial *trial = &sim->checked.trial[i];
        int ended = sim->tuner->ended && sim->tuner->ended(sim->self, i);
        sim_fault(sim, !ended || !trial->flying, "a trial ends when it is told");
        trial->closed |= ended;
        held += !trial->closed || trial->flying;
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
static inline void sim_work(struct sim *sim)
{
    sim->sim_job = WEFT_NEW(mem, sim_job, sim->max_jobs);
    sim->checked = checker_new(WEFT_SHARES_NOTHING, sim->max_jobs, mem);
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
    if (!sim->watch) return;
    sim_watch(sim);
    checker_done(&sim->checked, sim->tuner->jobs(sim->self));
    sim_fault(sim, !sim->checked.fault, sim->checked.fault);
}

/* Sets up and works; what the schedule does wrong is a fault. */
static inline void sim_run(struct sim *sim, const char *axes)
{
    must(sim_setup(sim, axes));
    sim_work(sim);
}

/* What the options of a schedule and axes are refused with. */
static inline void sim_refused(const weft_tuner *tuner, const char *options,
                               const char *axes, const char *part)
{
    struct sim sim = {.tuner = tuner, .options = options};
    ok(sim_setup(&sim, axes) == WEFT_ECONF && says(part), "refused: %s", weft_error());
}

static inline const char *sim_said(const struct sim *sim)
{
    return sim->fault ? sim->fault : "no fault";
}

/* ---- losses and costs ---- */

static inline double sim_unit(const struct sim *sim, const sim_job *job, uint64_t what)
{
    weft_rng4 rng = weft_rng_at(sim->seed, WEFT_RNG_TEST, (uint64_t)job->job.trial,
                                (uint64_t)job->job.index, what);
    return weft_rng_unit(rng.v[0]);
}

/* Curves that cross. */
static inline double crossing(struct sim *sim, const sim_job *job)
{
    (void)sim;
    int64_t i = job->job.trial;
    return (double)((5 * i + 3) % 27) + (double)(7 * i % 27) / job->resource;
}

static inline double uneven(struct sim *sim, const sim_job *job)
{
    return job->job.resource * exp(4 * sim_unit(sim, job, 1) - 2);
}

/* ---- what happened ---- */

/* "time:trial@resource ..." of all jobs, or without times. */
static inline const char *sim_trace(const struct sim *sim, int times)
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
static inline const char *sim_rungs(const struct sim *sim, double low, double eta)
{
    const char *text = "";
    for (double at = low;; at *= eta) {
        long long n = 0;
        for (int64_t i = 0; i < sim->n; i++) n += fabs(sim->sim_job[i].resource - at) < 0.5;
        if (n == 0) return text;
        text = printed("%s%s%lld", text, *text ? "," : "", n);
    }
}

#endif
