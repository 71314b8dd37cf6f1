/* A run of the scheduler on a toy task whose state records the jobs that it went through.
 */
#ifndef WEFT_TEST_TOY_RUN_H
#define WEFT_TEST_TOY_RUN_H

#include "machine.h"
#include "parts.h"
#include "sched_runs.h"
#include "toy_axis.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

enum { NSTATE = 5 }; /* jobs done, their trail, sum of losses, first trial, 0 */

/* ---- a toy task ---- */

struct toy {
    double gamma;
    weft_team *team;
    const weft_space *space;
    int steps;   /* done by this instance */
    int stop_at; /* raise SIGTERM in this step; -1: never */
    int costly;  /* 1: a job costs as many operations as its first configuration is large */
    int64_t order[64];
};

static const weft_kind toy_kind = WEFT_KIND("toy", struct toy, toy_opts, "a toy");

static void toy_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)self, (void)job;
    size->nx = NSTATE;
}

static void toy_start(const void *self, const weft_job *job, weft_state *state)
{
    (void)self;
    state->x[3] = (real)job->trial;
}

/* Odd configurations come after even ones. */
static int64_t toy_affinity(const void *self, const weft_job *job)
{
    (void)self;
    return job->mix.k > 1 ? -1 : job->mix.id[0] % 2;
}

static weft_status toy_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    (void)unit, (void)row;
    struct toy *toy = self;
    if (toy->steps < 64) toy->order[toy->steps] = job->id;
    state->x[0] += 1;
    state->x[1] = (real)(0.5 * (double)state->x[1] + (double)job->id);
    double share[64] = {0}, sum = 0; /* of each arm, by the rank that it falls to */
    for (int i = 0; i < job->mix.k; i++) {
        double miss = fabs(job->mix.conf[i] - 3);
        if (i % toy->team->size == toy->team->rank) share[i] = exp(job->mix.logp[i]) * miss;
        res->arm_count[i] = job->mix.logp[i] > -INFINITY ? 10 : 0;
        res->arm_loss[i] = 10 * miss;
        res->arm_wrong[i] = miss > 1 ? 5 : 1;
    }
    weft_sum_f64(toy->team, share, (size_t)job->mix.k, 1000);
    for (int i = 0; i < job->mix.k; i++) sum += share[i];
    res->loss = sum + 1 / (double)(1 + job->index);
    res->metric[0] = 0.5;
    state->x[2] += (real)sum;
    res->cost = job->resource;
    if (toy->steps++ == toy->stop_at) raise(SIGTERM);
    return WEFT_OK;
}

static void toy_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const struct toy *toy = self;
    *out = (weft_cost){.flops = toy->costly ? job->mix.conf[0] : 1};
}

static weft_status toy_score(void *self, const weft_job *job, const weft_state *state,
                             weft_part part, weft_scores *out)
{
    (void)self, (void)job, (void)part;
    *out = (weft_scores){.metric = {(double)state->x[2]}};
    return WEFT_OK;
}

static const weft_metric toy_metrics[] = {{"half", "always", "1", NULL}, {0}},
                         toy_scores[] = {{"loss", "a sum", "1", "loss"}, {0}};

static const weft_task toy_task = {
    .kind = {.name = "toy", .size = sizeof(struct toy)},
    .traits = {.metrics = toy_metrics, .scores = toy_scores},
    .nstate = toy_nstate,
    .winner = {.tensors = toy_tensors, .score = toy_score},
    .start = toy_start,
    .affinity = toy_affinity,
    .cost = toy_cost,
    .step = toy_step,
};

/* ---- a run ---- */

struct bench {
    weft_arena *mem;
    weft_team *team;
    weft_space space;
    struct toy task;
    weft_search search;
    weft_sched sched;
    weft_rundir trace;
};

/* Sets up a run of a tuner; path NULL: without a trace. */
static weft_status prepare(struct bench *bench, const weft_tuner *tuner, const char *path,
                           int fresh)
{
    *bench = (struct bench){.mem = weft_arena_new(), .team = &world};
    weft_conf conf;
    weft_conf_init(&conf, bench->mem);
    TRY(weft_conf_text(&conf, "test", "[space]\nconfigs = 8\n[toy]\ngamma = 0 .. 10\n"));
    const weft_kind *kind = &toy_kind;
    TRY(weft_space_read(&bench->space, &conf, &kind, 1, 7, bench->mem));
    bench->task = (struct toy){.team = &world, .space = &bench->space, .stop_at = -1};
    TRY(search_bind(&bench->search, tuner, &conf));
    TRY(weft_search_setup(&bench->search, &bench->space, 1, bench->mem));
    bench->sched = (weft_sched){.world = &world,
                                .team = &world,
                                .teams = 1,
                                .limits.checkpoint = 60,
                                .task = &toy_task,
                                .task_self = &bench->task,
                                .search = &bench->search,
                                .mem = bench->mem};
    return open_trace(&bench->sched, path, fresh, &bench->trace);
}

/* Sets up a run and runs it to its end, or until SIGTERM stops it in step stop_at; -1: in
 * none. */
static inline weft_status run_to(struct bench *bench, const weft_tuner *tuner,
                                 const char *path, int fresh, int stop_at)
{
    weft_status st = prepare(bench, tuner, path, fresh);
    bench->task.stop_at = stop_at;
    return run_prepared(st, &bench->sched);
}

/* A run of ws_sha; *sum: the digest of one that came to its end, else 0. */
static inline weft_status run_until(const char *path, int fresh, int stop_at, uint64_t *sum)
{
    struct bench bench;
    weft_status st = run_to(&bench, &weft_tuner_ws_sha, path, fresh, stop_at);
    *sum = st == WEFT_OK ? sched_digest(&bench.sched) : 0;
    end_run(&bench.sched, 0);
    return st;
}

#endif
