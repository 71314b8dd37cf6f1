/* A tuning run from its configuration to its run file, started or resumed. */
#include "conclude.h"
#include "greet.h"
#include "host/hosts.h"
#include "host/signals.h"
#include "host/watchdog.h"
#include "keys.h"
#include "rundir/directory.h"
#include "rundir/formats.h"
#include "rundir/journals.h"
#include "rundir/open.h"
#include "rundir/place.h"
#include "rundir/retry.h"
#include "rundir/times.h"
#include "sched/cache.h"
#include "setup.h"
#include "weft/run.h"

#include <math.h>
#include <string.h>

#define MEASURE 0.01 /* seconds for measuring the rate that is logged */

static int teams_are_typed(const weft_run *run)
{
    const weft_entry *entry = weft_conf_find(run->conf, "run", "teams");
    return entry && weft_conf_is_typed(entry);
}

/* Checks that need task and data; a resumed run must have the same data. */
static weft_status check_open(const weft_run *run, const weft_rundir *rundir)
{
    if (run->opts.disk > 0 && run->task->files)
        return weft_fail(WEFT_ECONF,
                         "run.disk = %g: the directories of task %s cannot be recomputed; "
                         "leave it out",
                         run->opts.disk, run->opts.task);
    if (!rundir->conf || strcmp(rundir->data, run->data.digest) == 0) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s is not the data set that %s was begun with (digest %s, "
                     "expected %s); put that back, or begin anew by `weft tune --force`",
                     run->opts.data, rundir->path, run->data.digest, rundir->data);
}

/* Records the start of a run, unless it is resumed. Collective. */
static weft_status begin(const weft_run *run, weft_rundir *rundir, const char *config)
{
    /* Space for three states (of the best trial, of the present one and its successor), the
     * run file, and for each team a checkpoint and its replacement. */
    double state = weft_run_state_bytes(run);
    double space = (4 + (run->task->units ? 2 * run->teams : 0)) * state + 1e6;
    weft_tables tables = weft_run_tables(run);
    rundir->tables = weft_tables_text(&tables, run->mem);
    return rundir->conf ? WEFT_OK
                        : weft_rundir_begin(rundir, config, run->data.digest, space);
}

static weft_sched sched_of(weft_run *run, weft_rundir *rundir)
{
    return (weft_sched){.world = run->world,
                        .team = run->team,
                        .teams = run->teams,
                        .task = run->task,
                        .task_self = run->task_self,
                        .search = &run->search,
                        .rundir = rundir,
                        .time_limit = run->opts.time_limit,
                        .target = run->opts.target,
                        .checkpoint = run->opts.checkpoint,
                        .workers = weft_search_waits(&run->search) ? 0 : run->opts.workers,
                        .wall = run->opts.clock,
                        .overhead = run->opts.overhead,
                        .disk = 1e9 * run->opts.disk,
                        .mem = run->mem};
}

/* Has the journals kept if jobs failed. */
static void note_failures(const weft_sched *sched, weft_rundir *rundir)
{
    rundir->won = (weft_won){sched->queue.winner.job.trial, sched->queue.winner.job.id};
    if (!isfinite(sched->queue.winner.res.loss)) rundir->won = (weft_won){-1, -1};
    for (int64_t i = 0; i < sched->queue.n; i++)
        rundir->keeps |= !isfinite(sched->queue.record[i].res.loss);
}

/* Does a run whose configuration is bound. */
static weft_status do_run(weft_run *run, weft_rundir *rundir,
                          const weft_placement *placement, int *begun)
{
    double start = weft_now();
    TRY(weft_run_divide(run, rundir->conf && !teams_are_typed(run)));
    weft_outcome outcome = {.config = rundir->conf ? rundir->conf
                                                   : weft_conf_echo(run->conf, run->mem),
                            .hosts = weft_hosts(placement, run->world->size, run->mem)};
    run->dir = rundir->dir;
    run->failed = weft_place_failed(rundir->path, run->mem);
    if (run->opts.time_limit > 0) run->deadline = start + run->opts.time_limit;
    TRY(weft_run_open(run, run->opts.data));
    weft_run_greet(run, placement, outcome.hosts);
    TRY(check_open(run, rundir));
    if (!run->task->files) weft_watchdog_start(run->world, run->opts.watchdog, rundir->dir);
    TRY(begin(run, rundir, outcome.config));
    *begun = 1;
    TRY(weft_rundir_start(rundir, run->teams, weft_now() - start));
    if (rundir->ndone > 0)
        weft_log(WEFT_INFO, "resumed: %lld jobs are done already",
                 (long long)rundir->ndone);

    weft_sched sched = sched_of(run, rundir);
    weft_status st = weft_sched_run(&sched);
    if (st == WEFT_OK) st = weft_run_conclude(run, &sched, rundir, &outcome);
    if (run->task->probe) note_failures(&sched, rundir);
    weft_cache_free(&sched);
    return st;
}

/* Does a run; keeps the run directory if it was started and did not complete. */
static weft_status do_run_and_close(weft_run *run, weft_rundir *rundir)
{
    int begun = rundir->conf != NULL;
    const weft_placement *placement = weft_placements(run->world, MEASURE, run->mem);
    weft_status st = do_run(run, rundir, placement, &begun);
    weft_placements_leave(placement, run->world);
    weft_watchdog_stop();
    weft_rundir_close(rundir, st == WEFT_OK || st == WEFT_ENONE || !begun);
    weft_run_close(run);
    return st;
}

weft_status weft_run_tune(weft_conf *conf, int force, weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_run run;
    weft_rundir rundir;
    const char *directory = NULL;
    weft_signals_catch();
    weft_status st = weft_run_bind(&run, conf, 1, world, mem);
    if (st == WEFT_OK) st = weft_directory_begin(&directory, run.opts.output, world, mem);
    if (st == WEFT_OK) st = weft_agree(weft_place_apart(run.opts.output, conf), world);
    if (st == WEFT_OK)
        st = weft_agree(weft_place_best(run.opts.output, force ? 2 : 1, run.task->files),
                        world);
    if (st == WEFT_OK)
        st = weft_rundir_open(&rundir, run.opts.output, force ? WEFT_REPLACE : WEFT_BEGIN,
                              world, mem);
    rundir.directory = directory;
    if (st == WEFT_OK) st = do_run_and_close(&run, &rundir);
    weft_signals_free();
    weft_arena_free(mem);
    return st;
}

static weft_status retry(const weft_run *run, weft_rundir *rundir)
{
    if (run->task->probe) return weft_retry_mark(rundir);
    return weft_fail(WEFT_ECONF,
                     "%s: --retry-failed is for programs, and run.task = %s runs none: a "
                     "training that diverged does so again",
                     rundir->path, run->opts.task);
}

/* Goes on with a run whose journals were read. Collective over world. */
static weft_status go_on(weft_rundir *rundir, int how, int n, char *const *assignment)
{
    weft_run run;
    weft_conf conf;
    const char *before = NULL;
    weft_conf_init(&conf, rundir->mem);
    weft_status st = weft_conf_text(
        &conf, weft_arena_text(rundir->mem, "%s/journal", rundir->dir), rundir->conf);
    const weft_entry *output = weft_conf_find(&conf, "run", "output");
    if (st == WEFT_OK)
        st = weft_directory_resume(rundir, output ? output->value : "", &before);
    for (int i = 0; st == WEFT_OK && i < n; i++)
        st = weft_run_change(&conf,
                             weft_directory_typed(assignment[i], before, rundir->mem));
    if (st == WEFT_OK) st = weft_run_bind(&run, &conf, 0, rundir->world, rundir->mem);
    if (st == WEFT_OK)
        st = weft_agree(weft_place_apart(rundir->path, &conf), rundir->world);
    if (st == WEFT_OK && how == WEFT_RETRY) st = retry(&run, rundir);
    if (st == WEFT_OK)
        st = do_run_and_close(&run, rundir);
    else
        weft_rundir_close(rundir, 0);
    weft_directory_leave(before);
    return st;
}

/* Leaves a complete run, also after a start that was to repeat its failed jobs and ended
 * before that. Collective over world. */
static weft_status leave(weft_rundir *rundir)
{
    weft_status st = WEFT_OK;
    weft_log(WEFT_INFO, "%s is complete; remaining files beside it are removed",
             rundir->path);
    if (rundir->keeps && rundir->world->rank == 0)
        st = weft_place_keep(rundir->path, rundir->won.trial, rundir->won.job);
    st = weft_agree(st, rundir->world);
    weft_rundir_close(rundir, st == WEFT_OK);
    if (st == WEFT_OK && rundir->world->rank == 0)
        st = weft_winner_find(rundir->path, rundir->mem);
    return weft_agree(st, rundir->world);
}

weft_status weft_run_resume(const char *path, int again, int n, char *const *assignment,
                            weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_rundir rundir;
    weft_signals_catch();
    int how = again ? WEFT_RETRY : WEFT_RESUME;
    weft_status st = weft_rundir_open(&rundir, path, how, world, mem);
    if (st == WEFT_OK)
        st = rundir.done ? leave(&rundir) : go_on(&rundir, how, n, assignment);
    weft_signals_free();
    weft_arena_free(mem);
    return st;
}
