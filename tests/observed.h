/* For the contract of schedules on the scheduler: a toy task with jobs of very different
 * durations, and a wrapper of a schedule that observes it and can make it faulty. */
#ifndef WEFT_TEST_OBSERVED_H
#define WEFT_TEST_OBSERVED_H

#include "checker.h"
#include "durations.h"

#include <signal.h>

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
    const weft_mix *mix = &job->mix;
    double loss = 0;
    for (int b = 0; b < mix->nblock; b++) {
        double sum = 0;
        for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++) {
            double x = mix->conf[(size_t)i * (size_t)mix->dim];
            res->arm_count[i] = res->logp[i] > -INFINITY ? 10 : 0;
            res->arm_loss[i] = res->arm_count[i] * x;
            res->arm_wrong[i] = res->arm_count[i] * (x > 0.5);
            loss += exp(res->logp[i]) * x;
            if (job->update.schedule) res->logp[i] -= 0.3 * x;
            sum += exp(res->logp[i]);
        }
        for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
            if (job->update.schedule) res->logp[i] -= log(sum);
    }
    return loss;
}

/* The state is a trail of the jobs that it went through; the loss depends on it. */
static weft_status toy_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    struct toy *toy = self;
    double one = toy->team->rank == 0, *own = &res->loss;
    (void)unit, (void)row;
    weft_sum_f64(toy->team, &one, 1, 1);
    state->x[0] += (real)one;
    state->x[1] = (real)(0.7 * (double)state->x[1] + uniform(job->trial, job->index, 2));
    state->x[2 + (int)state->x[0] % (NSTATE - 2)] = (real)(10 * job->trial + job->index);
    *own = score(job, res) + 0.2 * (double)state->x[1];
    if (job->trial % 7 == 3) *own = NAN;
    if (job->trial == 5) *own = INFINITY;
    if (toy->plain) *own = 1 / (double)(1 + job->trial);
    res->cost = duration(job);
    toy->order[job->id % MAX_JOBS] = ++toy->steps;
    if (toy->steps == toy->stop) raise(SIGTERM);
    return WEFT_OK;
}

static const weft_task toy_task = {
    .kind = {.name = "toy", .size = sizeof(struct toy)},
    .traits = {.moves = 1},
    .nstate = toy_nstate,
    .winner = {.tensors = toy_tensors},
    .affinity = toy_affinity,
    .cost = toy_cost,
    .timing = {.seconds = toy_seconds},
    .step = toy_step,
};

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

static weft_status observed_setup(void *self, const weft_space *space, uint64_t seed,
                                  weft_arena *own)
{
    struct observed *observed = self;
    TRY(observed->own->setup(observed->self, space, seed, own));
    observed->checked = checker_new(observed->own->shared, MAX_JOBS, own);
    if (observed->own->extent)
        observed->own->extent(observed->self, &observed->checked.extent);
    for (const weft_opt *opt = observed->own->kind.opts; opt && opt->name; opt++)
        if (strcmp(opt->name, "max_resource") == 0)
            observed->checked.bound = weft_opt_value(opt, observed->self);
    return WEFT_OK;
}

static int observed_ended(const void *self, int64_t trial)
{
    const struct observed *observed = self;
    return observed->fault != ENDED_NEVER && observed->own->ended &&
           observed->own->ended(observed->self, trial);
}

/* Of the members that a mistake may change. */
static void count_job(struct observed *observed, const weft_job *job)
{
    int64_t what[] = {job->trial, job->from,        job->index, (int64_t)job->resource,
                      job->last,  job->eligibility, job->mix.k};
    uint64_t hash = weft_hash(what, sizeof what, 0);
    observed->jobs = weft_hash(&hash, sizeof hash, observed->jobs);
    observed->set += hash;
}

/* Whoever copies, copies one that is better than most. */
static void check_copy(struct observed *observed, const weft_job *job)
{
    const struct checker *checker = &observed->checked;
    double sum = 0, n = 0;
    if (!observed->plain || checker->shared || job->from < 0) return;
    for (int64_t i = 0; i < checker->trials; i++)
        if (checker->trial[i].jobs > checker->trial[i].flying) {
            sum += checker->trial[i].loss;
            n++;
        }
    checker_fault(&observed->checked, n < 2 || checker->trial[job->from].loss < sum / n,
                  "the better ones are copied");
}

/* Those that get most are better than the others. */
static void check_best(struct observed *observed)
{
    struct checker *checker = &observed->checked;
    double max_resource = 0, sum[2] = {0}, n[2] = {0};
    if (!observed->plain || checker->shared != WEFT_SHARES_NOTHING ||
        observed->own->explore)
        return;
    for (int64_t i = 0; i < checker->trials; i++)
        max_resource = fmax(max_resource, checker->trial[i].resource);
    for (int64_t i = 0; i < checker->trials; i++) {
        int top = checker->trial[i].resource >= max_resource;
        sum[top] += checker->trial[i].loss;
        n[top]++;
    }
    checker_fault(checker, n[0] < 1 || sum[1] / n[1] < sum[0] / n[0],
                  "the better ones go on");
}

/* When all results are told. */
static void close_records(struct observed *observed)
{
    checker_done(&observed->checked, observed->own->jobs(observed->self));
    check_best(observed);
}

static void distort(struct observed *observed, weft_job *job)
{
    if (observed->fault == INDEX_ZERO) job->index = 0;
    if (observed->fault == LAST_NEVER) job->last = 0;
    if (observed->fault == RESOURCE) job->resource *= 2;
    if (observed->fault == NEVER_WINS) job->eligibility = WEFT_WINS_LAST;
}

static weft_asked observed_ask(void *self, weft_job *job)
{
    struct observed *observed = self;
    struct checker *checker = &observed->checked;
    if (checker->fault) return WEFT_DONE;
    weft_asked asked = WEFT_JOB;
    int again = observed->fault == UNFINISHED && checker->jobs == 2 &&
                checker->trial[observed->before.trial].flying;
    if (!again) asked = observed->own->ask(observed->self, job);
    int more = observed->fault == ENDLESS && asked == WEFT_DONE;
    if (again || more) {
        *job = observed->before;
        job->trial = more ? checker->trials : job->trial;
        job->index = more ? 0 : job->index + 1;
        job->from = -1;
        asked = WEFT_JOB;
    }
    if (asked != WEFT_JOB) return asked;
    distort(observed, job);
    check_copy(observed, job);
    checker_ask(checker, job);
    count_job(observed, job);
    observed->before = *job;
    return checker->fault ? WEFT_DONE : WEFT_JOB;
}

static double told_loss(struct observed *observed, const weft_result *res)
{
    double seed = 0;
    switch (observed->fault) {
    case WORST: return -res->loss;
    case BY_TELLS: return (double)observed->checked.jobs;
    case BY_ARRIVAL: return -observed->task->order[res->job % MAX_JOBS];
    case BY_TEAM: return observed->team % 2 ? -res->loss : res->loss;
    case BY_TIME: seed = weft_now(); break;
    case BY_ADDRESS: return observed->second ? -res->loss : res->loss;
    default: return res->loss;
    }
    return weft_rng_unit(weft_hash(&seed, sizeof seed, (uint64_t)res->job));
}

static void observed_tell(void *self, const weft_result *res)
{
    struct observed *observed = self;
    weft_result own = *res;
    observed->order = weft_hash(&res->job, sizeof res->job, observed->order);
    observed->order = weft_hash(&res->loss, sizeof res->loss, observed->order);
    checker_tell(&observed->checked, res);
    own.loss = told_loss(observed, res);
    observed->own->tell(observed->self, &own);
    for (int64_t i = 0; i < observed->checked.trials; i++) {
        kept_trial *trial = &observed->checked.trial[i];
        int ended = !trial->flying && observed_ended(observed, i);
        observed->jobs += (uint64_t)ended;
        trial->closed |= ended;
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
    const struct observed *observed = self;
    observed->own->explore(observed->self, trial, from, conf);
}

static void observed_place(void *self, int64_t trial, double *conf)
{
    struct observed *observed = self;
    observed->own->place(observed->self, trial, conf);
}

static int64_t observed_first(const void *self)
{
    const struct observed *observed = self;
    return observed->own->first(observed->self);
}

static void observed_extent(const void *self, weft_extent *out)
{
    const struct observed *observed = self;
    observed->own->extent(observed->self, out);
}

static weft_tuner observed_tuner(const weft_tuner *own)
{
    weft_tuner tuner = *own;
    tuner.setup = observed_setup;
    tuner.ask = observed_ask;
    tuner.tell = observed_tell;
    tuner.jobs = observed_jobs;
    tuner.ended = observed_ended;
    if (tuner.explore) tuner.explore = observed_explore;
    if (tuner.place) tuner.place = observed_place;
    if (tuner.first) tuner.first = observed_first;
    if (tuner.extent) tuner.extent = observed_extent;
    return tuner;
}

#endif
