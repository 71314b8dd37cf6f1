/* For the contract of schedules on the scheduler: a toy task with jobs of very different
 * durations, and a wrapper of a schedule that observes it and can make it faulty. */
#ifndef WEFT_TEST_OBSERVED_H
#define WEFT_TEST_OBSERVED_H

#include "checker.h"
#include "durations.h"
#include "sched/sched.h"
#include "weft/clock.h"
#include "whole.h"

#include <signal.h>
#include <string.h>

enum { NSTATE = 8, MAX_JOBS = 100 };

/* ---- mistakes ---- */

enum {
    NONE,
    INDEX_ZERO,
    LAST_NEVER,
    ENDED_NEVER,
    RESOURCE,
    WORST,
    NEVER_WINS,
    BY_TELLS,
    BY_ARRIVAL,
    UNFINISHED,
    ENDLESS,
    BY_TEAM,
    BY_TIME,
    BY_ADDRESS,
    NFAULT
};
static const char *const faults[NFAULT] = {"nothing",
                                           "an index that is always 0",
                                           "no last job",
                                           "no trial that ended",
                                           "twice the resource",
                                           "the worst kept in place of the best",
                                           "no job that may win",
                                           "elimination by the order of results",
                                           "elimination by order of arrival",
                                           "a promotion of an unfinished trial",
                                           "no end",
                                           "a decision by team",
                                           "a decision by time",
                                           "a decision by address"};

/* ---- a toy task ---- */

struct toy {
    weft_team *team;
    int bound, plain;    /* plain 1: later trials have lower losses, by number alone */
    int steps, stop;     /* raise SIGTERM in this step */
    int order[MAX_JOBS]; /* of jobs: when they were done here */
};

static void toy_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)self, (void)job;
    size->nx = NSTATE;
}

static double toy_seconds(const void *self, const weft_job *job, double before)
{
    (void)before;
    return known_duration(job, ((const struct toy *)self)->bound);
}

/* Moves the probabilities of those that are left, as a mixing asks; scores all. */
static double score(const weft_job *job, weft_result *res)
{
    const weft_mix *m = &job->mix;
    double loss = 0;
    for (int b = 0; b < m->nblock; b++) {
        double sum = 0;
        for (int i = weft_mix_off(m, b); i < weft_mix_off(m, b + 1); i++) {
            double x = m->conf[(size_t)i * (size_t)m->dim];
            res->arm_count[i] = res->logp[i] > -INFINITY ? 10 : 0;
            res->arm_loss[i] = res->arm_count[i] * x;
            res->arm_wrong[i] = res->arm_count[i] * (x > 0.5);
            loss += exp(res->logp[i]) * x;
            if (job->update.schedule) res->logp[i] -= 0.3 * x;
            sum += exp(res->logp[i]);
        }
        for (int i = weft_mix_off(m, b); i < weft_mix_off(m, b + 1); i++)
            if (job->update.schedule) res->logp[i] -= log(sum);
    }
    return loss;
}

/* The state is a trail of the jobs that it went through; the loss depends on it. */
static weft_status toy_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    struct toy *t = self;
    double one = t->team->rank == 0, *own = &res->loss;
    (void)unit, (void)row;
    weft_sum_f64(t->team, &one, 1, 1);
    state->x[0] += (real)one;
    state->x[1] = (real)(0.7 * (double)state->x[1] + uniform(job->trial, job->index, 2));
    state->x[2 + (int)state->x[0] % (NSTATE - 2)] = (real)(10 * job->trial + job->index);
    *own = score(job, res) + 0.2 * (double)state->x[1];
    if (job->trial % 7 == 3) *own = NAN;
    if (job->trial == 5) *own = INFINITY;
    if (t->plain) *own = 1 / (double)(1 + job->trial);
    res->cost = duration(job);
    t->order[job->id % MAX_JOBS] = ++t->steps;
    if (t->steps == t->stop) raise(SIGTERM);
    return WEFT_OK;
}

static const weft_task toy_task = {.kind = {.name = "toy", .size = sizeof(struct toy)},
                                   .moves = 1,
                                   .nstate = toy_nstate,
                                   .tensors = toy_tensors,
                                   .affinity = toy_affinity,
                                   .cost = toy_cost,
                                   .seconds = toy_seconds,
                                   .step = toy_step};

/* ---- a schedule that is observed ---- */

/* Passes on what the schedule of the registry says, with a mistake, and keeps its records.
 */
struct observed {
    const weft_tuner *own;
    void *self;
    int fault, team, plain;
    const struct toy *task;
    int second;      /* 1: it lies at another address than in the run before */
    weft_job before; /* the last that it asked */
    struct checker checked;
    uint64_t order, jobs, set; /* hashes: of tells; of jobs, in order and not */
};

static weft_status observed_setup(void *self, const weft_space *sp, uint64_t seed,
                                  weft_arena *own)
{
    struct observed *w = self;
    TRY(w->own->setup(w->self, sp, seed, own));
    w->checked = (struct checker){.shared = w->own->shared, .max_jobs = MAX_JOBS};
    if (w->own->extent) w->own->extent(w->self, &w->checked.extent);
    for (const weft_opt *o = w->own->kind.opts; o && o->name; o++)
        if (strcmp(o->name, "max_resource") == 0)
            w->checked.bound = weft_opt_value(o, w->self);
    return WEFT_OK;
}

static int observed_ended(const void *self, int64_t trial)
{
    const struct observed *w = self;
    return w->fault != ENDED_NEVER && w->own->ended && w->own->ended(w->self, trial);
}

/* Of the members that a mistake may change. */
static void count_job(struct observed *w, const weft_job *job)
{
    int64_t what[] = {job->trial, job->from,        job->index, (int64_t)job->resource,
                      job->last,  job->eligibility, job->mix.k};
    uint64_t hash = weft_hash(what, sizeof what, 0);
    w->jobs = weft_hash(&hash, sizeof hash, w->jobs);
    w->set += hash;
}

/* Whoever copies, copies one that is better than most. */
static void check_copy(struct observed *w, const weft_job *job)
{
    const struct checker *k = &w->checked;
    double sum = 0, n = 0;
    if (!w->plain || k->shared || job->from < 0) return;
    for (int64_t i = 0; i < k->trials; i++)
        if (k->trial[i].jobs > k->trial[i].flying) {
            sum += k->trial[i].loss;
            n++;
        }
    checker_fault(&w->checked, n < 2 || k->trial[job->from].loss < sum / n,
                  "the better ones are copied");
}

/* Those that get most are better than the others. */
static void check_best(struct observed *w)
{
    struct checker *k = &w->checked;
    double max_resource = 0, sum[2] = {0}, n[2] = {0};
    if (!w->plain || k->shared != WEFT_SHARES_NOTHING || w->own->explore) return;
    for (int64_t i = 0; i < k->trials; i++)
        max_resource = fmax(max_resource, k->trial[i].resource);
    for (int64_t i = 0; i < k->trials; i++) {
        int top = k->trial[i].resource >= max_resource;
        sum[top] += k->trial[i].loss;
        n[top]++;
    }
    checker_fault(k, n[0] < 1 || sum[1] / n[1] < sum[0] / n[0], "the better ones go on");
}

/* When all results are told. */
static void close_records(struct observed *w)
{
    checker_done(&w->checked, w->own->jobs(w->self));
    check_best(w);
}

static void distort(struct observed *w, weft_job *job)
{
    if (w->fault == INDEX_ZERO) job->index = 0;
    if (w->fault == LAST_NEVER) job->last = 0;
    if (w->fault == RESOURCE) job->resource *= 2;
    if (w->fault == NEVER_WINS) job->eligibility = WEFT_WINS_LAST;
}

static weft_asked observed_ask(void *self, weft_job *job)
{
    struct observed *w = self;
    struct checker *k = &w->checked;
    if (k->fault) return WEFT_DONE;
    weft_asked asked = WEFT_JOB;
    int again = w->fault == UNFINISHED && k->jobs == 2 && k->trial[w->before.trial].flying;
    if (!again) asked = w->own->ask(w->self, job);
    int more = w->fault == ENDLESS && asked == WEFT_DONE;
    if (again || more) {
        *job = w->before;
        job->trial = more ? k->trials : job->trial;
        job->index = more ? 0 : job->index + 1;
        job->from = -1;
        asked = WEFT_JOB;
    }
    if (asked != WEFT_JOB) return asked;
    distort(w, job);
    check_copy(w, job);
    checker_ask(k, job);
    count_job(w, job);
    w->before = *job;
    return k->fault ? WEFT_DONE : WEFT_JOB;
}

static double told_loss(struct observed *w, const weft_result *res)
{
    double seed = 0;
    switch (w->fault) {
    case WORST: return -res->loss;
    case BY_TELLS: return (double)w->checked.jobs;
    case BY_ARRIVAL: return -w->task->order[res->job % MAX_JOBS];
    case BY_TEAM: return w->team % 2 ? -res->loss : res->loss;
    case BY_TIME: seed = weft_now(); break;
    case BY_ADDRESS: return w->second ? -res->loss : res->loss;
    default: return res->loss;
    }
    return weft_rng_unit(weft_hash(&seed, sizeof seed, (uint64_t)res->job));
}

static void observed_tell(void *self, const weft_result *res)
{
    struct observed *w = self;
    weft_result own = *res;
    w->order = weft_hash(&res->job, sizeof res->job, w->order);
    w->order = weft_hash(&res->loss, sizeof res->loss, w->order);
    checker_tell(&w->checked, res);
    own.loss = told_loss(w, res);
    w->own->tell(w->self, &own);
    for (int64_t i = 0; i < w->checked.trials; i++) {
        kept_trial *t = &w->checked.trial[i];
        int ended = !t->flying && observed_ended(w, i);
        w->jobs += (uint64_t)ended;
        t->closed |= ended;
    }
}

static int64_t observed_jobs(const void *self)
{
    return ((const struct observed *)self)
        ->own->jobs(((const struct observed *)self)->self);
}

static void observed_explore(const void *self, int64_t trial, const double *from,
                             double *conf)
{
    const struct observed *w = self;
    w->own->explore(w->self, trial, from, conf);
}

static int64_t observed_first(const void *self)
{
    const struct observed *w = self;
    return w->own->first(w->self);
}

static void observed_extent(const void *self, weft_extent *out)
{
    const struct observed *w = self;
    w->own->extent(w->self, out);
}

static weft_tuner observed_tuner(const weft_tuner *own)
{
    weft_tuner t = *own;
    t.setup = observed_setup;
    t.ask = observed_ask;
    t.tell = observed_tell;
    t.jobs = observed_jobs;
    t.ended = observed_ended;
    if (t.explore) t.explore = observed_explore;
    if (t.first) t.first = observed_first;
    if (t.extent) t.extent = observed_extent;
    return t;
}

#endif
