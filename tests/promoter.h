/* For tests of the scheduler: a tuner that promotes and copies trials by the order of the
 * results, a task with jobs of very different durations, and runs of both. */
#ifndef WEFT_TEST_PROMOTER_H
#define WEFT_TEST_PROMOTER_H

#include "durations.h"
#include "scratch.h"

#include <signal.h>

enum { NSTATE = 40, NTRIAL = 14, TOP = 3, MAX_JOBS = 100, NEVER = -1 };

/* Mistakes of a tuner. */
enum {
    NONE,
    BY_ARRIVAL,  /* goes by the order in which jobs were done here */
    BY_TEAM,     /* asks what depends on the team */
    BY_TIME,     /* and on the clock */
    BY_ADDRESS,  /* and on an address */
    UNFINISHED,  /* goes on with a trial whose job is not told */
    INDEX_ZERO,  /* counts no jobs */
    AFTER_LAST,  /* goes on after the last job */
    AFTER_ENDED, /* goes on with a trial that it called ended */
    NUMBERS,     /* leaves numbers of trials out */
    NMISTAKE
};

static const char *const mistakes[NMISTAKE] = {"none",
                                               "an order of arrival",
                                               "a decision by team",
                                               "a decision by time",
                                               "a decision by address",
                                               "a promotion of an unfinished trial",
                                               "an index that is always 0",
                                               "a job after the last one",
                                               "a job of a trial that was ended",
                                               "trials that are not numbered"};

/* ---- a toy task ---- */

struct toy {
    weft_team *team;
    int bound;
    int steps;           /* done by this instance */
    int stop;            /* raise SIGTERM in this step */
    int order[MAX_JOBS]; /* of jobs: when they were done here, 0: not */
};

static void toy_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)self, (void)job;
    size->nx = NSTATE;
}

static void toy_start(const void *self, const weft_job *job, weft_state *state)
{
    (void)self;
    state->x[1] = (real)job->mix.conf[0];
}

static double toy_seconds(const void *self, const weft_job *job, double before)
{
    (void)before;
    return known_duration(job, ((const struct toy *)self)->bound);
}

/* The state is a trail of the jobs that it went through; the loss depends on it. */
static weft_status toy_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    (void)unit, (void)row;
    struct toy *toy = self;
    double one = toy->team->rank == 0;
    weft_sum_f64(toy->team, &one, 1, 1);
    state->x[0] += (real)one;
    state->x[1] = (real)(0.7 * (double)state->x[1] + uniform(job->trial, job->index, 2));
    state->x[2 + (int)state->x[0] % (NSTATE - 2)] = (real)job->id;
    res->loss = job->trial % 7 == 3 ? (double)NAN : (double)state->x[1];
    if (job->trial == 5) res->loss = INFINITY;
    res->cost = duration(job);
    toy->order[job->id % MAX_JOBS] = ++toy->steps;
    if (toy->steps == toy->stop) raise(SIGTERM);
    return WEFT_OK;
}

static const weft_task toy_task = {
    .kind = {.name = "toy", .size = sizeof(struct toy)},
    .nstate = toy_nstate,
    .winner = {.tensors = toy_tensors},
    .start = toy_start,
    .affinity = toy_affinity,
    .cost = toy_cost,
    .timing = {.seconds = toy_seconds},
    .step = toy_step,
};

/* ---- an asynchronous tuner ---- */

struct runner {
    int jobs, flying, out, promoted; /* jobs: asked; promoted: from its level */
    double loss;
};

/* Half of those that are told at a level, whenever they are, go on to the next; every
 * fourth new trial copies the best one so far. */
struct promoter {
    int mistake;
    int64_t n, told;
    uint64_t order; /* hash of the tells */
    const struct toy *task;
    int team;
    weft_mix mix;
    struct runner trial[NTRIAL];
};

static int is_better(const struct promoter *promoter, int a, int b)
{
    double x = promoter->trial[a].loss, y = promoter->trial[b].loss;
    return b < 0 || x < y || (!(x > y) && a < b);
}

/* The best that is at rest after `level` jobs, or -1; *n: those told at that level. */
static int best_at(const struct promoter *promoter, int level, int *n, int *promoted)
{
    int best = -1;
    *n = *promoted = 0;
    for (int i = 0; i < promoter->n; i++) {
        const struct runner *runner = &promoter->trial[i];
        if (runner->jobs < level || (runner->jobs == level && runner->flying)) continue;
        ++*n;
        *promoted += runner->jobs > level;
        if (runner->jobs == level && !runner->flying && !runner->out &&
            is_better(promoter, i, best))
            best = i;
    }
    return best;
}

static int next_promotion(const struct promoter *promoter)
{
    for (int level = TOP - 1; level > 0; level--) {
        int n, promoted;
        int best = best_at(promoter, level, &n, &promoted);
        if (best >= 0 && promoted < n / 2) return best;
    }
    return -1;
}

static int64_t copied(const struct promoter *promoter)
{
    int best = -1;
    for (int i = 0; i < promoter->n; i++) {
        const struct runner *runner = &promoter->trial[i];
        if (runner->jobs - runner->flying < 1 || runner->jobs == TOP || runner->out)
            continue;
        if (is_better(promoter, i, best)) best = i;
    }
    return best;
}

static int mistaken_trial(const struct promoter *promoter)
{
    for (int i = 0; i < promoter->n; i++) {
        const struct runner *runner = &promoter->trial[i];
        if (promoter->mistake == UNFINISHED && runner->flying) return i;
        if (promoter->mistake == AFTER_LAST && runner->jobs == TOP && !runner->flying)
            return i;
        if (promoter->mistake == AFTER_ENDED && runner->out && !runner->flying) return i;
    }
    return -1;
}

static weft_asked promoter_ask(void *self, weft_job *job)
{
    struct promoter *promoter = self;
    int i = mistaken_trial(promoter);
    if (i < 0) i = next_promotion(promoter);
    int64_t from = -1;
    if (i < 0) {
        if (promoter->n == NTRIAL) return promoter->told < 2 ? WEFT_WAIT : WEFT_DONE;
        if (promoter->n % 4 == 3) from = copied(promoter);
        i = (int)promoter->n++;
        promoter->trial[i].loss = INFINITY;
    }
    struct runner *runner = &promoter->trial[i];
    promoter->mix.id[0] = i;
    promoter->mix.conf[0] = uniform(i, 1000, 3);
    if (promoter->mistake == BY_TEAM) promoter->mix.conf[0] += promoter->team;
    if (promoter->mistake == BY_TIME) promoter->mix.conf[0] += weft_now();
    if (promoter->mistake == BY_ADDRESS)
        promoter->mix.conf[0] += (double)((uintptr_t)promoter / 64);
    *job = weft_job_new(promoter->mistake == NUMBERS ? 2 * i : i, 1 << runner->jobs,
                        &promoter->mix);
    job->from = from;
    job->index = promoter->mistake == INDEX_ZERO ? 0 : runner->jobs;
    job->last = ++runner->jobs == TOP;
    job->eligibility = WEFT_WINS_LOSS;
    runner->flying = 1;
    return WEFT_JOB;
}

static void promoter_tell(void *self, const weft_result *res)
{
    struct promoter *promoter = self;
    struct runner *runner = &promoter->trial[res->trial];
    runner->flying = 0;
    runner->loss = res->loss;
    if (promoter->mistake == BY_ARRIVAL)
        runner->loss = -promoter->task->order[res->job % MAX_JOBS];
    runner->out = !isfinite(res->loss);
    promoter->told++;
    promoter->order = weft_hash(&res->job, sizeof res->job, promoter->order);
    promoter->order = weft_hash(&res->loss, sizeof res->loss, promoter->order);
}

static int promoter_ended(const void *self, int64_t trial)
{
    return ((const struct promoter *)self)->trial[trial].out;
}

static int64_t promoter_jobs(const void *self)
{
    (void)self;
    return 2 * NTRIAL;
}

static const weft_tuner promoter_tuner = {
    .kind = {.name = "promoter", .size = sizeof(struct promoter)},
    .shared = WEFT_SHARES_SPACE, /* it makes its own mixtures */
    .ask = promoter_ask,
    .tell = promoter_tell,
    .jobs = promoter_jobs,
    .ended = promoter_ended};

/* ---- a run ---- */

/* How a run is made; path NULL: without a trace. */
struct setting {
    int64_t workers;
    int teams, bound, mistake;
    int fresh; /* 2: replaces what is there; 0: goes on with it */
    const char *path;
    double overhead, target, disk;
    int wall;
};

struct bench {
    weft_arena *mem;
    weft_team own;
    struct toy task;
    struct promoter tuner;
    weft_search search;
    weft_sched sched;
    weft_rundir trace;
};

static weft_status prepare(struct bench *bench, const struct setting *how)
{
    *bench = (struct bench){.mem = weft_arena_new()};
    weft_team *team = team_of(&world, how->teams, &bench->own);
    bench->task = (struct toy){.team = team, .stop = NEVER, .bound = how->bound};
    bench->tuner =
        (struct promoter){.mistake = how->mistake,
                          .task = &bench->task,
                          .team = weft_team_of(world.size, how->teams, world.rank),
                          .mix = weft_mix_new(1, 1, bench->mem)};
    bench->search = (weft_search){.tuner = &promoter_tuner, .tuner_self = &bench->tuner};
    bench->sched = (weft_sched){.world = &world,
                                .team = team,
                                .teams = how->teams,
                                .task = &toy_task,
                                .task_self = &bench->task,
                                .search = &bench->search,
                                .limits.checkpoint = 60,
                                .limits.target = how->target,
                                .workers = how->workers,
                                .overhead = how->overhead,
                                .limits.disk = how->disk / 1e9,
                                .wall = how->wall,
                                .mem = bench->mem};
    return open_trace(&bench->sched, how->path, how->fresh, &bench->trace);
}

static struct bench current; /* also where its run died */

/* To the end; 0 where that fails. *jobs: told. */
static uint64_t run_out(const struct setting *how, int64_t *jobs)
{
    struct bench *bench = &current;
    weft_status st = prepare(bench, how);
    if (st == WEFT_OK) st = weft_sched_run(&bench->sched);
    uint64_t found = st == WEFT_OK ? run_digest(&bench->sched, bench->tuner.order) : 0;
    *jobs = bench->sched.queue.n;
    end_run(&bench->sched, st == WEFT_OK);
    return found;
}

/* Runs until this rank has done `at` jobs. */
static weft_status run_until(const struct setting *how, int at)
{
    struct bench bench;
    weft_status st = prepare(&bench, how);
    bench.task.stop = at;
    st = run_prepared(st, &bench.sched);
    end_run(&bench.sched, st == WEFT_OK);
    return st;
}

#endif
