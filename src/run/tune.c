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

static int teams_are_typed(const weft_run *r)
{
    const weft_entry *e = weft_conf_find(r->conf, "run", "teams");
    return e && weft_conf_is_typed(e);
}

/* Checks that need task and data; a resumed run must have the same data. */
static weft_status check_open(const weft_run *r, const weft_rundir *t)
{
    if (r->opts.disk > 0 && r->task->files)
        return weft_fail(WEFT_ECONF,
                         "run.disk = %g: the directories of task %s cannot be recomputed; "
                         "leave it out",
                         r->opts.disk, r->opts.task);
    if (!t->conf || strcmp(t->data, r->data.digest) == 0) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s is not the data set that %s was begun with (digest %s, "
                     "expected %s); put that back, or begin anew by `weft tune --force`",
                     r->opts.data, t->path, r->data.digest, t->data);
}

/* Records the start of a run, unless it is resumed. Collective. */
static weft_status begin(const weft_run *r, weft_rundir *t, const char *config)
{
    /* Space for three states (of the best trial, of the present one and its successor), the
     * run file, and for each team a checkpoint and its replacement. */
    double state = weft_run_state_bytes(r);
    double space = (4 + (r->task->units ? 2 * r->teams : 0)) * state + 1e6;
    weft_tables tables = weft_run_tables(r);
    t->tables = weft_tables_text(&tables, r->mem);
    return t->conf ? WEFT_OK : weft_rundir_begin(t, config, r->data.digest, space);
}

static weft_sched sched_of(weft_run *r, weft_rundir *t)
{
    return (weft_sched){.world = r->world,
                        .team = r->team,
                        .teams = r->teams,
                        .task = r->task,
                        .task_self = r->task_self,
                        .search = &r->search,
                        .rundir = t,
                        .time_limit = r->opts.time_limit,
                        .target = r->opts.target,
                        .checkpoint = r->opts.checkpoint,
                        .workers = weft_search_waits(&r->search) ? 0 : r->opts.workers,
                        .wall = r->opts.clock,
                        .overhead = r->opts.overhead,
                        .disk = 1e9 * r->opts.disk,
                        .mem = r->mem};
}

/* Has the journals kept if jobs failed. */
static void note_failures(const weft_sched *s, weft_rundir *t)
{
    t->won = (weft_won){s->queue.winner.job.trial, s->queue.winner.job.id};
    if (!isfinite(s->queue.winner.res.loss)) t->won = (weft_won){-1, -1};
    for (int64_t i = 0; i < s->queue.n; i++)
        t->keeps |= !isfinite(s->queue.record[i].res.loss);
}

/* Does a run whose configuration is bound. */
static weft_status do_run(weft_run *r, weft_rundir *t, const weft_placement *placement,
                          int *begun)
{
    double start = weft_now();
    TRY(weft_run_divide(r, t->conf && !teams_are_typed(r)));
    weft_outcome o = {.config = t->conf ? t->conf : weft_conf_echo(r->conf, r->mem),
                      .hosts = weft_hosts(placement, r->world->size, r->mem)};
    r->dir = t->dir;
    r->failed = weft_place_failed(t->path, r->mem);
    if (r->opts.time_limit > 0) r->deadline = start + r->opts.time_limit;
    TRY(weft_run_open(r, r->opts.data));
    weft_run_greet(r, placement, o.hosts);
    TRY(check_open(r, t));
    if (!r->task->files) weft_watchdog_start(r->world, r->opts.watchdog, t->dir);
    TRY(begin(r, t, o.config));
    *begun = 1;
    TRY(weft_rundir_start(t, r->teams, weft_now() - start));
    if (t->ndone > 0)
        weft_log(WEFT_INFO, "resumed: %lld jobs are done already", (long long)t->ndone);

    weft_sched s = sched_of(r, t);
    weft_status st = weft_sched_run(&s);
    if (st == WEFT_OK) st = weft_run_conclude(r, &s, t, &o);
    if (r->task->probe) note_failures(&s, t);
    weft_cache_free(&s);
    return st;
}

/* Does a run; keeps the run directory if it was started and did not complete. */
static weft_status do_run_and_close(weft_run *r, weft_rundir *t)
{
    int begun = t->conf != NULL;
    const weft_placement *placement = weft_placements(r->world, MEASURE, r->mem);
    weft_status st = do_run(r, t, placement, &begun);
    weft_placements_leave(placement, r->world);
    weft_watchdog_stop();
    weft_rundir_close(t, st == WEFT_OK || st == WEFT_ENONE || !begun);
    weft_run_close(r);
    return st;
}

weft_status weft_run_tune(weft_conf *conf, int force, weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_run r;
    weft_rundir t;
    const char *directory = NULL;
    weft_signals_catch();
    weft_status st = weft_run_bind(&r, conf, 1, world, mem);
    if (st == WEFT_OK) st = weft_directory_begin(&directory, r.opts.output, world, mem);
    if (st == WEFT_OK) st = weft_agree(weft_place_apart(r.opts.output, conf), world);
    if (st == WEFT_OK)
        st =
            weft_agree(weft_place_best(r.opts.output, force ? 2 : 1, r.task->files), world);
    if (st == WEFT_OK)
        st = weft_rundir_open(&t, r.opts.output, force ? WEFT_REPLACE : WEFT_BEGIN, world,
                              mem);
    t.directory = directory;
    if (st == WEFT_OK) st = do_run_and_close(&r, &t);
    weft_signals_free();
    weft_arena_free(mem);
    return st;
}

static weft_status retry(const weft_run *r, weft_rundir *t)
{
    if (r->task->probe) return weft_retry_mark(t);
    return weft_fail(WEFT_ECONF,
                     "%s: --retry-failed is for programs, and run.task = %s runs none: a "
                     "training that diverged does so again",
                     t->path, r->opts.task);
}

/* Goes on with a run whose journals were read. Collective over world. */
static weft_status go_on(weft_rundir *t, int how, int n, char *const *assignment)
{
    weft_run r;
    weft_conf conf;
    const char *before = NULL;
    weft_conf_init(&conf, t->mem);
    weft_status st =
        weft_conf_text(&conf, weft_arena_text(t->mem, "%s/journal", t->dir), t->conf);
    const weft_entry *output = weft_conf_find(&conf, "run", "output");
    if (st == WEFT_OK) st = weft_directory_resume(t, output ? output->value : "", &before);
    for (int i = 0; st == WEFT_OK && i < n; i++)
        st = weft_run_change(&conf, weft_directory_typed(assignment[i], before, t->mem));
    if (st == WEFT_OK) st = weft_run_bind(&r, &conf, 0, t->world, t->mem);
    if (st == WEFT_OK) st = weft_agree(weft_place_apart(t->path, &conf), t->world);
    if (st == WEFT_OK && how == WEFT_RETRY) st = retry(&r, t);
    if (st == WEFT_OK)
        st = do_run_and_close(&r, t);
    else
        weft_rundir_close(t, 0);
    weft_directory_leave(before);
    return st;
}

/* Leaves a complete run, also after a start that was to repeat its failed jobs and ended
 * before that. Collective over world. */
static weft_status leave(weft_rundir *t)
{
    weft_status st = WEFT_OK;
    weft_log(WEFT_INFO, "%s is complete; remaining files beside it are removed", t->path);
    if (t->keeps && t->world->rank == 0)
        st = weft_place_keep(t->path, t->won.trial, t->won.job);
    st = weft_agree(st, t->world);
    weft_rundir_close(t, st == WEFT_OK);
    if (st == WEFT_OK && t->world->rank == 0) st = weft_winner_find(t->path, t->mem);
    return weft_agree(st, t->world);
}

weft_status weft_run_resume(const char *path, int again, int n, char *const *assignment,
                            weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_rundir t;
    weft_signals_catch();
    int how = again ? WEFT_RETRY : WEFT_RESUME;
    weft_status st = weft_rundir_open(&t, path, how, world, mem);
    if (st == WEFT_OK) st = t.done ? leave(&t) : go_on(&t, how, n, assignment);
    weft_signals_free();
    weft_arena_free(mem);
    return st;
}
