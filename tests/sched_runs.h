/* What runs of the scheduler in tests have in common: toy tasks, teams, traces, ends. */
#ifndef WEFT_TEST_SCHED_RUNS_H
#define WEFT_TEST_SCHED_RUNS_H

#include "host/host.h"
#include "rundir/rundir.h"
#include "sched/sched.h"
#include "weft/math/linear.h"
#include "weft/task/state.h"

#include "tap.h"

static void toy_nstate(const void *self, const weft_job *job, weft_state *size);

/* All of x is one tensor. */
static int toy_tensors(const void *self, const weft_job *job,
                       weft_tensor out[WEFT_MAX_TENSORS])
{
    weft_state state = {0};
    (void)job;
    toy_nstate(self, NULL, &state);
    out[0] = (weft_tensor){.name = "w", .nd = 1, .dims = {state.nx}};
    return 1;
}

/* The team of this rank, of so many of the world; own: where it is put, if there are
 * several. */
static inline weft_team *team_of(weft_team *all, int teams, weft_team *own)
{
    if (teams > 1) weft_team_split(all, teams, own);
    return teams > 1 ? own : all;
}

/* Opens the trace of a run, if it has a path: fresh 2: replaces what is there; 0: goes on
 * with it. */
static inline weft_status open_trace(weft_sched *sched, const char *path, int fresh,
                                     weft_rundir *trace)
{
    if (!path) return WEFT_OK;
    TRY(weft_rundir_open(trace, path, fresh, sched->world, sched->mem));
    sched->rundir = trace;
    return fresh ? weft_rundir_begin(trace, "[toy]\n", "digest", 1e4) : WEFT_OK;
}

/* Frees what a run had; done 1: to its end. */
static inline void end_run(weft_sched *sched, int done)
{
    weft_cache_free(sched);
    weft_sleep(sched->world); /* another team may be reading the winner's state */
    if (sched->rundir) weft_rundir_close(sched->rundir, done);
    if (sched->team != sched->world) weft_team_free(sched->team);
    weft_arena_free(sched->mem);
}

/* Runs what was prepared until it ends or a signal stops it. */
static inline weft_status run_prepared(weft_status prepared, weft_sched *sched)
{
    weft_signals_catch();
    weft_status st = prepared == WEFT_OK ? weft_sched_run(sched) : prepared;
    weft_signals_free();
    return st;
}

#endif
