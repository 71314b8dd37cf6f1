/* For tests of the scheduler: a tuner that promotes and copies trials by the order of the
 * results, a task with jobs of very different durations, and runs of both. */
#ifndef WEFT_TEST_PROMOTER_H
#define WEFT_TEST_PROMOTER_H

#include "durations.h"
#include "host/signals.h"
#include "rundir/journals.h"
#include "rundir/open.h"
#include "sched/cache.h"
#include "scratch.h"
#include "weft/clock.h"
#include "whole.h"

#include <signal.h>
#include <unistd.h>

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
    struct toy *t = self;
    double one = t->team->rank == 0;
    weft_sum_f64(t->team, &one, 1, 1);
    state->x[0] += (real)one;
    state->x[1] = (real)(0.7 * (double)state->x[1] + uniform(job->trial, job->index, 2));
    state->x[2 + (int)state->x[0] % (NSTATE - 2)] = (real)job->id;
    res->loss = job->trial % 7 == 3 ? (double)NAN : (double)state->x[1];
    if (job->trial == 5) res->loss = INFINITY;
    res->cost = duration(job);
    t->order[job->id % MAX_JOBS] = ++t->steps;
    if (t->steps == t->stop) raise(SIGTERM);
    return WEFT_OK;
}

static const weft_task toy_task = {.kind = {.name = "toy", .size = sizeof(struct toy)},
                                   .nstate = toy_nstate,
                                   .tensors = toy_tensors,
                                   .start = toy_start,
                                   .affinity = toy_affinity,
                                   .cost = toy_cost,
                                   .seconds = toy_seconds,
                                   .step = toy_step};

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

static int is_better(const struct promoter *p, int a, int b)
{
    double x = p->trial[a].loss, y = p->trial[b].loss;
    return b < 0 || x < y || (!(x > y) && a < b);
}

/* The best that is at rest after `level` jobs, or -1; *n: those told at that level. */
static int best_at(const struct promoter *p, int level, int *n, int *promoted)
{
    int best = -1;
    *n = *promoted = 0;
    for (int i = 0; i < p->n; i++) {
        const struct runner *r = &p->trial[i];
        if (r->jobs < level || (r->jobs == level && r->flying)) continue;
        ++*n;
        *promoted += r->jobs > level;
        if (r->jobs == level && !r->flying && !r->out && is_better(p, i, best)) best = i;
    }
    return best;
}

static int next_promotion(const struct promoter *p)
{
    for (int level = TOP - 1; level > 0; level--) {
        int n, promoted;
        int best = best_at(p, level, &n, &promoted);
        if (best >= 0 && promoted < n / 2) return best;
    }
    return -1;
}

static int64_t copied(const struct promoter *p)
{
    int best = -1;
    for (int i = 0; i < p->n; i++) {
        const struct runner *r = &p->trial[i];
        if (r->jobs - r->flying < 1 || r->jobs == TOP || r->out) continue;
        if (is_better(p, i, best)) best = i;
    }
    return best;
}

static int mistaken_trial(const struct promoter *p)
{
    for (int i = 0; i < p->n; i++) {
        const struct runner *r = &p->trial[i];
        if (p->mistake == UNFINISHED && r->flying) return i;
        if (p->mistake == AFTER_LAST && r->jobs == TOP && !r->flying) return i;
        if (p->mistake == AFTER_ENDED && r->out && !r->flying) return i;
    }
    return -1;
}

static weft_asked promoter_ask(void *self, weft_job *job)
{
    struct promoter *p = self;
    int i = mistaken_trial(p);
    if (i < 0) i = next_promotion(p);
    int64_t from = -1;
    if (i < 0) {
        if (p->n == NTRIAL) return p->told < 2 ? WEFT_WAIT : WEFT_DONE;
        if (p->n % 4 == 3) from = copied(p);
        i = (int)p->n++;
        p->trial[i].loss = INFINITY;
    }
    struct runner *r = &p->trial[i];
    p->mix.id[0] = i;
    p->mix.conf[0] = uniform(i, 1000, 3);
    if (p->mistake == BY_TEAM) p->mix.conf[0] += p->team;
    if (p->mistake == BY_TIME) p->mix.conf[0] += weft_now();
    if (p->mistake == BY_ADDRESS) p->mix.conf[0] += (double)((uintptr_t)p / 64);
    *job = weft_job_new(p->mistake == NUMBERS ? 2 * i : i, 1 << r->jobs, &p->mix);
    job->from = from;
    job->index = p->mistake == INDEX_ZERO ? 0 : r->jobs;
    job->last = ++r->jobs == TOP;
    job->eligibility = WEFT_WINS_LOSS;
    r->flying = 1;
    return WEFT_JOB;
}

static void promoter_tell(void *self, const weft_result *res)
{
    struct promoter *p = self;
    struct runner *r = &p->trial[res->trial];
    r->flying = 0;
    r->loss = res->loss;
    if (p->mistake == BY_ARRIVAL) r->loss = -p->task->order[res->job % MAX_JOBS];
    r->out = !isfinite(res->loss);
    p->told++;
    p->order = weft_hash(&res->job, sizeof res->job, p->order);
    p->order = weft_hash(&res->loss, sizeof res->loss, p->order);
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

static weft_status prepare(struct bench *b, const struct setting *how)
{
    *b = (struct bench){.mem = weft_arena_new()};
    if (how->teams > 1) weft_team_split(&world, how->teams, &b->own);
    weft_team *team = how->teams > 1 ? &b->own : &world;
    b->task = (struct toy){.team = team, .stop = NEVER, .bound = how->bound};
    b->tuner = (struct promoter){.mistake = how->mistake,
                                 .task = &b->task,
                                 .team = weft_team_of(world.size, how->teams, world.rank),
                                 .mix = weft_mix_new(1, 1, b->mem)};
    b->search = (weft_search){.tuner = &promoter_tuner, .tuner_self = &b->tuner};
    b->sched = (weft_sched){.world = &world,
                            .team = team,
                            .teams = how->teams,
                            .task = &toy_task,
                            .task_self = &b->task,
                            .search = &b->search,
                            .checkpoint = 60,
                            .target = how->target,
                            .workers = how->workers,
                            .overhead = how->overhead,
                            .disk = how->disk,
                            .wall = how->wall,
                            .mem = b->mem};
    if (!how->path) return WEFT_OK;
    TRY(weft_rundir_open(&b->trace, how->path, how->fresh, &world, b->mem));
    b->sched.rundir = &b->trace;
    return how->fresh ? weft_rundir_begin(&b->trace, "[toy]\n", "digest", 1e4) : WEFT_OK;
}

static void finish(struct bench *b, int done)
{
    weft_cache_free(&b->sched);
    weft_sleep(&world); /* another team may be reading the winner's state */
    if (b->sched.rundir) weft_rundir_close(&b->trace, done);
    if (b->sched.team == &b->own) weft_team_free(&b->own);
    weft_arena_free(b->mem);
}

static struct bench current; /* also where its run died */

/* To the end; 0 where that fails. *jobs: told. */
static uint64_t run_out(const struct setting *how, int64_t *jobs)
{
    struct bench *b = &current;
    weft_status st = prepare(b, how);
    if (st == WEFT_OK) st = weft_sched_run(&b->sched);
    uint64_t found = st == WEFT_OK ? run_digest(&b->sched, b->tuner.order) : 0;
    *jobs = b->sched.queue.n;
    finish(b, st == WEFT_OK);
    return found;
}

/* Runs until this rank has done `at` jobs. */
static weft_status run_until(const struct setting *how, int at)
{
    struct bench b;
    weft_status st = prepare(&b, how);
    b.task.stop = at;
    weft_signals_catch();
    if (st == WEFT_OK) st = weft_sched_run(&b.sched);
    weft_signals_free();
    finish(&b, st == WEFT_OK);
    return st;
}

#endif
