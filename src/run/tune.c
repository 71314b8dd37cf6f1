/* A tuning run from its configuration to its run file, started or resumed. */
#include "conclude.h"
#include "greet.h"
#include "host/host.h"
#include "keys.h"
#include "longer.h"
#include "result/result.h"
#include "rundir/rundir.h"
#include "sched/sched.h"
#include "setup.h"
#include "start.h"
#include "weft/clock.h"
#include "weft/file.h"
#include "weft/log.h"
#include "weft/run.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define MEASURE 0.01 /* seconds for measuring the rate that is logged */

static int teams_are_typed(const weft_run *run)
{
    const weft_entry *entry = weft_conf_find(run->conf, "run", "teams");
    return entry && weft_conf_is_typed(entry);
}

/* Checks that a run may have more resource than it was begun with. */
static weft_status check_grown(const weft_run *run, const weft_rundir *rundir)
{
    if (!weft_run_may_grow(run))
        return weft_fail(WEFT_ECONF,
                         "%s cannot be given more: it is of several jobs, or of one "
                         "whose units depend on its length, as folds do; start another "
                         "run by `weft tune`",
                         rundir->path);
    if (rundir->ndone == 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s has done its only job, and its winner is still to be scored; end "
                     "it by `weft resume %s`, then give it more",
                     rundir->path, rundir->path);
}

/* Checks that need task and data; a resumed run must have the same data. */
static weft_status check_open(const weft_run *run, const weft_rundir *rundir)
{
    if (rundir->grown && run->growth == WEFT_MORE_RESOURCE) TRY(check_grown(run, rundir));
    if (run->opts.disk > 0 && run->task->files)
        return weft_fail(WEFT_ECONF,
                         "run.disk = %g: the directories of task %s cannot be recomputed; "
                         "leave it out",
                         run->opts.disk, run->opts.task);
    const char *origin = weft_run_origin(run);
    size_t data = strlen(run->data.digest);
    if (!rundir->data || strncmp(rundir->data, origin, strlen(rundir->data)) == 0)
        return WEFT_OK;
    if (strncmp(rundir->data, origin, data) == 0)
        return weft_fail(WEFT_EDATA,
                         "run.start = %s has not the weights that %s was begun with; put "
                         "these back, or begin anew by `weft tune --force`",
                         run->opts.start, rundir->path);
    return weft_fail(WEFT_EDATA,
                     "%s is not the data set that %s was begun with (digest %s, "
                     "expected %s); put that back, or begin anew by `weft tune --force`",
                     run->data.path, rundir->path, run->data.digest, rundir->data);
}

/* Records the start of a run, unless it is resumed. Collective. */
static weft_status begin(const weft_run *run, weft_rundir *rundir, const char *config)
{
    /* Space for three states (of the best trial, of the present one and its successor), the
     * run file, and for each team a checkpoint and its replacement; what clients keep is
     * shared by states, and in the run file. */
    double state = weft_run_state_bytes(run);
    double space = (4 + (run->task->units ? 2 * run->teams : 0)) * state + 1e6 +
                   2 * weft_run_kept_bytes(run);
    weft_tables tables = weft_run_tables(run);
    rundir->tables = weft_tables_text(&tables, run->mem);
    if (!rundir->conf)
        return weft_rundir_begin(rundir, config, weft_run_origin(run), space);
    return rundir->grown ? weft_rundir_grow(rundir, rundir->grown) : WEFT_OK;
}

static weft_sched sched_of(weft_run *run, weft_rundir *rundir)
{
    return (weft_sched){.world = run->world,
                        .team = run->team,
                        .teams = run->teams,
                        .task = run->task,
                        .task_self = run->task_self,
                        .from = run->from,
                        .nfrom = run->nfrom,
                        .from_kept = run->from_kept,
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

/* Does a run whose configuration is bound. more: what it goes on from where it was
 * complete, or NULL. */
static weft_status do_run(weft_run *run, weft_rundir *rundir, const weft_more *more,
                          const weft_placement *placement, int *begun)
{
    double start = weft_now();
    TRY(weft_run_divide(run, (rundir->conf || more) && !teams_are_typed(run)));
    const char *config = rundir->grown ? rundir->grown : rundir->conf;
    weft_outcome outcome = {.config = config ? config : weft_conf_echo(run->conf, run->mem),
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
    if (more) TRY(weft_more_restore(more, rundir));
    if (more && more->n == 0)
        weft_log(WEFT_INFO, "the run is complete and is given more: its %lld rounds stay",
                 (long long)more->record.done);
    TRY(weft_rundir_start(rundir, run->teams, weft_now() - start));
    if (rundir->ndone > 0)
        weft_log(WEFT_INFO, "%s: %lld jobs are done already",
                 more ? "the run is complete and goes on" : "resumed",
                 (long long)rundir->ndone);

    rundir->by_id = run->task->files || run->task->trade;
    weft_sched sched = sched_of(run, rundir);
    weft_status st = weft_sched_run(&sched);
    if (st == WEFT_OK && rundir->longer && sched.queue.replayed < rundir->ndone)
        weft_log(WEFT_INFO,
                 "the longer search asked for %lld of the %lld jobs that were done: with "
                 "more trials others went on",
                 (long long)sched.queue.replayed, (long long)rundir->ndone);
    if (st == WEFT_OK) st = weft_run_conclude(run, &sched, rundir, &outcome);
    if (run->task->probe) note_failures(&sched, rundir);
    weft_cache_free(&sched);
    return st;
}

/* Does a run; keeps the run directory if it was started and did not complete. */
static weft_status do_run_and_close(weft_run *run, weft_rundir *rundir,
                                    const weft_more *more)
{
    int begun = rundir->conf != NULL;
    const weft_placement *placement = weft_placements(run->world, MEASURE, run->mem);
    weft_status st = do_run(run, rundir, more, placement, &begun);
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
    if (st == WEFT_OK) st = do_run_and_close(&run, &rundir, NULL);
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

/* What is typed for a start that resumes a run. */
struct changes {
    int n;
    char *const *assignment; /* [n] */
};

/* What the assignments give more of. ECONF: of two things. */
static weft_status find_growth(const struct changes *typed, weft_growth *growth,
                               weft_arena *mem)
{
    *growth = WEFT_STAYS;
    for (int i = 0; i < typed->n; i++) {
        weft_growth one = weft_run_grows(typed->assignment[i], mem);
        if (one != WEFT_STAYS && *growth != WEFT_STAYS && one != *growth)
            return weft_fail(WEFT_ECONF,
                             "%s: a run is given more resource or more trials, "
                             "one after the other; leave this out",
                             typed->assignment[i]);
        if (one != WEFT_STAYS) *growth = one;
    }
    return WEFT_OK;
}

/* Puts what is typed in the place of what the run was begun with; rundir->grown is then the
 * configuration of a run that is given more. */
static weft_status change(weft_conf *conf, weft_rundir *rundir, const struct changes *typed,
                          const char *before)
{
    weft_conf kept;
    weft_conf_init(&kept, rundir->mem);
    TRY(weft_conf_text(&kept, rundir->path, weft_conf_echo(conf, rundir->mem)));
    int grown = 0;
    for (int i = 0; i < typed->n; i++) {
        const char *one = weft_directory_typed(typed->assignment[i], before, rundir->mem);
        TRY(weft_run_change(conf, one, &grown));
        if (weft_run_grows(one, rundir->mem) != WEFT_STAYS) TRY(weft_conf_set(&kept, one));
    }
    if (grown) rundir->grown = weft_conf_echo(&kept, rundir->mem);
    return WEFT_OK;
}

/* Goes on with a run whose configuration is `config`. Collective over world. */
static weft_status go_on(weft_rundir *rundir, int how, const struct changes *typed,
                         const weft_more *more, const char *config)
{
    weft_run run;
    weft_conf conf;
    const char *before = NULL;
    weft_conf_init(&conf, rundir->mem);
    weft_status st = weft_conf_text(
        &conf, weft_arena_text(rundir->mem, "%s/journal", rundir->dir), config);
    const weft_entry *output = weft_conf_find(&conf, "run", "output");
    if (st == WEFT_OK)
        st = weft_directory_resume(rundir, output ? output->value : "", &before);
    if (st == WEFT_OK) st = change(&conf, rundir, typed, before);
    weft_growth growth = WEFT_STAYS;
    if (st == WEFT_OK) st = find_growth(typed, &growth, rundir->mem);
    if (st == WEFT_OK && more && !rundir->grown) { /* as after a kill at its very end */
        weft_log(WEFT_INFO, "%s is complete, and has %s already", rundir->path,
                 more->n > 0 ? "so many" : "that resource");
        weft_rundir_close(rundir, 1);
        weft_directory_leave(before);
        return WEFT_OK;
    }
    if (st == WEFT_OK && rundir->grown && growth == WEFT_MORE_JOBS)
        st = weft_run_check_longer(rundir->path, config, rundir->grown, rundir->world,
                                   rundir->mem);
    if (st == WEFT_OK) st = weft_run_bind(&run, &conf, 0, rundir->world, rundir->mem);
    run.growth = growth;
    if (st == WEFT_OK)
        st = weft_agree(weft_place_apart(rundir->path, &conf), rundir->world);
    if (st == WEFT_OK && how == WEFT_RETRY) st = retry(&run, rundir);
    if (st == WEFT_OK)
        st = do_run_and_close(&run, rundir, more);
    else
        weft_rundir_close(rundir, more != NULL);
    weft_directory_leave(before);
    return st;
}

/* 1 if the run is complete, and no journal is left; where it is given more (`grows`), also
 * if a start that did so was killed before it began. Collective over world. */
static int is_complete(const char *path, int grows, weft_team *world, weft_arena *mem)
{
    const char *dir = weft_place_dir(path, mem);
    int journal = weft_file_is(weft_rundir_journal(dir, 0, mem));
    int complete =
        weft_file_is(path) && (!journal || (grows && !weft_rundir_is_begun(dir, mem)));
    weft_bcast(world, &complete, sizeof complete, 0);
    return complete;
}

/* Gives a complete run more: a run directory is made again, in which its job has a
 * checkpoint after its last unit, or its jobs are recorded. The run file stays until it is
 * replaced. Collective over world. */
static weft_status extend(const char *path, const struct changes *typed, weft_growth growth,
                          weft_team *world, weft_arena *mem)
{
    weft_more more;
    weft_rundir rundir;
    weft_status st =
        weft_agree(weft_more_read(&more, path, growth == WEFT_MORE_JOBS, mem), world);
    if (st == WEFT_OK) st = weft_rundir_open(&rundir, path, WEFT_EXTEND, world, mem);
    if (st == WEFT_OK) {
        rundir.directory = more.directory;
        rundir.data = more.data;
        st = go_on(&rundir, WEFT_RESUME, typed, &more, more.config);
    }
    weft_more_close(&more);
    return st;
}

/* Removes what a kill has left of the directory of a complete run, also after a start that
 * was to repeat its failed jobs and ended before that. Collective over world. */
static weft_status leave(weft_rundir *rundir)
{
    weft_status st = WEFT_OK;
    if (rundir->keeps && rundir->world->rank == 0)
        st = weft_place_keep(rundir->path, rundir->won.trial, rundir->won.job);
    st = weft_agree(st, rundir->world);
    weft_rundir_close(rundir, st == WEFT_OK);
    return st;
}

/* Removes what else a kill has left beside a complete run, and says that it is. EFILE: it
 * is no run. ENONE: it has no winner. */
static weft_status tell_complete(const char *path, const struct changes *typed,
                                 weft_arena *mem)
{
    weft_status st = weft_winner_find(path, mem);
    if (st != WEFT_OK && st != WEFT_ENONE) return st;
    rmdir(weft_place_dir(path, mem));
    weft_file_sweep(path, 0);
    if (typed->n == 0) weft_log(WEFT_INFO, "%s is complete", path);
    for (int i = 0; i < typed->n; i++)
        weft_log(WEFT_WARN, "%s is complete, so that %s has no effect", path,
                 typed->assignment[i]);
    return st;
}

weft_status weft_run_resume(const char *path, int again, int n, char *const *assignment,
                            weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_rundir rundir;
    const struct changes typed = {n, assignment};
    weft_signals_catch();
    int how = again ? WEFT_RETRY : WEFT_RESUME;
    weft_growth growth;
    weft_status st = weft_agree(find_growth(&typed, &growth, mem), world);
    int complete = !again && is_complete(path, growth != WEFT_STAYS, world, mem);
    if (st == WEFT_OK && !complete) {
        st = weft_rundir_open(&rundir, path, how, world, mem);
        complete = st == WEFT_OK && rundir.done;
        if (st == WEFT_OK)
            st = complete ? leave(&rundir) : go_on(&rundir, how, &typed, NULL, rundir.conf);
    }
    if (st == WEFT_OK && complete)
        st = growth != WEFT_STAYS
                 ? extend(path, &typed, growth, world, mem)
                 : weft_agree(world->rank == 0 ? tell_complete(path, &typed, mem) : WEFT_OK,
                              world);
    weft_signals_free();
    weft_arena_free(mem);
    return st;
}
