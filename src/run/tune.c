/* A tuning run from its configuration to its run file, started, resumed or given more. */
#include "host/host.h"
#include "run.h"
#include "rundir/rundir.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/math/kernels.h"
#include "weft/run/run.h"
#include "weft/store/file.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define MEASURE 0.01 /* seconds for measuring the rate that is logged */

/* ---- the log of a start ---- */

static void tell_disk(const char *output)
{
    WEFT_SCRATCH(tmp);
    const char *dir = weft_file_dir(output, tmp);
    weft_disk disk;
    if (weft_disk_look(dir, &disk) == WEFT_OK)
        weft_log(WEFT_INFO, "files: %s is on %s, %.3g GB free", dir,
                 *disk.type ? disk.type : "an unknown file system", disk.free / 1e9);
}

/* Warns if locks do not keep a second process from the run; of locks that the file system
 * does not have at all the journal has warned. Collective. */
static void try_locks(const weft_run *run, const weft_placement *placement)
{
    weft_team *team = run->world;
    weft_lock *found = WEFT_NEW(run->mem, weft_lock, team->size);
    if (!run->place.dir || team->size == 1) return;
    if (weft_locks_try(run->place.dir, team, found, run->mem) != WEFT_OK)
        return; /* who writes, tells */
    if (team->rank == 0 && found[0] != WEFT_LOCK_NONE)
        weft_locks_warn(run->place.dir, found, placement, team->size);
}

static void log_placements(const weft_run *run, const weft_placement *placement,
                           const char *hosts)
{
    int size = run->world->size;
    double least = placement[0].sgemm;
    for (int i = 1; i < size; i++) least = fmin(least, placement[i].sgemm);
    weft_log(
        WEFT_INFO,
        "weft %s: %d rank%s on %s; OpenBLAS %s, %d thread%s a rank, sgemm %.3g GFLOP/s%s; "
        "kernel %s",
        WEFT_VERSION, size, size == 1 ? "" : "s", hosts, placement[0].blas,
        placement[0].threads, placement[0].threads == 1 ? "" : "s", least,
        size > 1 ? " or more" : "", weft_cpu_kernel());
    int ranks = weft_placement_ranks(placement, size, 0);
    const char *room = "";
    if (placement[0].room < placement[0].memory)
        room = weft_arena_text(run->mem, " in this job's share of %.3g GB",
                               placement[0].room / 1e9);
    weft_log(WEFT_INFO,
             "memory: %.3g GB a rank allowed, the host has %.3g GB, %.3g GB free, for %d "
             "rank%s%s",
             run->opts.limits.memory, placement[0].memory / 1e9,
             placement[0].available / 1e9, ranks, ranks == 1 ? "" : "s", room);
    if (run->world->rank > 0) return;
    weft_placements_warn(placement, size, run->opts.limits.memory * 1e9);
    tell_disk(run->opts.output);
}

/* Logs ranks and hosts with their memory and disk, and what is searched by what; warns of
 * what makes the run slow or unsafe. Collective over world. */
static void greet(const weft_run *run, const weft_placement *placement, const char *hosts)
{
    log_placements(run, placement, hosts);
    try_locks(run, placement);
    if (run->teams > 1) weft_log(WEFT_INFO, "%d teams do jobs side by side", run->teams);
    if (run->teams < run->opts.teams)
        weft_log(WEFT_WARN, "run.teams = %d, but there are %d ranks: %d teams",
                 run->opts.teams, run->world->size, run->teams);
    if (!weft_search_waits(&run->search) && run->teams > run->opts.workers)
        weft_log(WEFT_WARN,
                 "run.workers = %lld: no more jobs than that are in flight, and the other "
                 "teams idle",
                 (long long)run->opts.workers);
    weft_log(WEFT_INFO, "task %s%s%s, tuner %s: about %lld jobs", run->opts.task,
             *run->opts.data ? " on " : "", run->opts.data, weft_run_method(run),
             (long long)weft_search_jobs(&run->search));
    if (run->space.dim == 0 && strcmp(run->opts.sampler, "space") != 0)
        weft_log(WEFT_WARN,
                 "run.sampler = %s has nothing to choose: no option has a range, so that "
                 "all trials are alike",
                 run->opts.sampler);
    if (*run->told.defaults)
        weft_log(WEFT_INFO, "defaults of the task: %s", run->told.defaults);
    if (*run->told.unread)
        weft_log(WEFT_INFO, "not read in this run: %s", run->told.unread);
}

/* ---- a run ---- */

/* Checks that a run may have more resource than it was begun with. */
static weft_status check_grown(const weft_run *run, const weft_rundir *rundir)
{
    if (!weft_run_may_grow(run))
        return weft_fail(WEFT_ECONF,
                         "%s cannot be given more: it is of several jobs, or of one "
                         "whose units depend on its length, as folds do; start another "
                         "run by `weft tune`",
                         rundir->path);
    if (rundir->past.done == 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s has done its only job, and its winner is still to be scored; end "
                     "it by `weft resume %s`, then give it more",
                     rundir->path, rundir->path);
}

/* "device.file=SUM ": what is in a file that an option names; 0: the value names none. */
static const char *sum_of(const weft_entry *entry, weft_arena *mem)
{
    uint64_t sum;
    if (weft_tree_sum(entry->value, &sum) != WEFT_OK) sum = 0;
    return weft_arena_text(mem, "%s.%s=%016llx ", entry->section, entry->key,
                           (unsigned long long)sum);
}

/* Those of all options that the run reads. */
static const char *sums_of(const weft_run *run)
{
    const char *text = "";
    for (int i = 0; i < run->conf->n; i++) {
        const weft_entry *entry = &run->conf->entry[i];
        if (!entry->names_file) continue;
        text = weft_arena_text(run->mem, "%s%s", text, sum_of(entry, run->mem));
    }
    return text;
}

/* Checks that a resumed run finds the files that its options name as they were. */
static weft_status check_files(const weft_run *run, const weft_rundir *rundir)
{
    if (!rundir->about.files) return WEFT_OK;
    const char *begun = weft_arena_text(run->mem, "%s ", rundir->about.files);
    for (int i = 0; i < run->conf->n; i++) {
        const weft_entry *entry = &run->conf->entry[i];
        if (!entry->names_file || strstr(begun, sum_of(entry, run->mem))) continue;
        return weft_fail(
            WEFT_EDATA,
            "%s.%s = %s is not the file that %s was begun with; put that back, "
            "or begin anew by `weft tune --force`",
            entry->section, entry->key, entry->value, rundir->path);
    }
    return WEFT_OK;
}

/* Checks that need task and data; a resumed run must have the same data. Collective. */
static weft_status check_open(const weft_run *run, const weft_rundir *rundir)
{
    if (rundir->grown && run->begun.growth == WEFT_MORE_RESOURCE)
        TRY(check_grown(run, rundir));
    if (run->opts.limits.disk > 0 && run->task->traits.files)
        return weft_fail(
            WEFT_ECONF,
            "run.disk = %g: task %s repeats jobs only where a directory was lost; "
            "leave it out",
            run->opts.limits.disk, run->opts.task);
    TRY(weft_agree(run->world->rank == 0 ? check_files(run, rundir) : WEFT_OK, run->world));
    const char *begun = rundir->about.data;
    if (!begun || strcmp(begun, run->data.digest) == 0) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s is not the data set that %s was begun with (digest %s, "
                     "expected %s); put that back, or begin anew by `weft tune --force`",
                     run->data.path, rundir->path, run->data.digest, begun);
}

/* Records the start of a run, unless it is resumed. Collective. */
static weft_status begin_run(const weft_run *run, weft_rundir *rundir, const char *config)
{
    /* Space for three states (of the best trial, of the present one and its successor), the
     * run file, and for each team a checkpoint and its replacement; what clients keep is
     * shared by states, and in the run file. */
    const weft_state size = weft_run_state(run);
    double states = 4 + (run->task->units ? 2 * run->teams : 0);
    double space =
        states * weft_state_bytes(&size) + 1e6 + 2 * weft_state_kept_bytes(&size);
    weft_tables tables = weft_run_tables(run);
    rundir->tables = weft_tables_text(&tables, run->mem);
    if (!rundir->about.files) rundir->about.files = sums_of(run);
    if (!rundir->conf) return weft_rundir_begin(rundir, config, run->data.digest, space);
    return rundir->grown ? weft_rundir_grow(rundir, rundir->grown) : WEFT_OK;
}

static weft_sched sched_of(weft_run *run, weft_rundir *rundir)
{
    return (weft_sched){.world = run->world,
                        .team = run->team,
                        .teams = run->teams,
                        .task = run->task,
                        .task_self = run->task_self,
                        .given = run->given,
                        .search = &run->search,
                        .rundir = rundir,
                        .limits = run->opts.limits,
                        .goals = &run->goals,
                        .workers = weft_search_waits(&run->search) ? 0 : run->opts.workers,
                        .wall = run->opts.clock,
                        .overhead = run->opts.overhead,
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
    TRY(weft_run_divide(run,
                        (rundir->conf || more) && !weft_run_typed(run, "run", "teams")));
    const char *config = rundir->grown ? rundir->grown : rundir->conf;
    weft_outcome outcome = {.config = config ? config : weft_conf_echo(run->conf, run->mem),
                            .hosts = weft_hosts(placement, run->world->size, run->mem)};
    run->place.dir = rundir->dir;
    run->place.failed = weft_place_failed(rundir->path, run->mem);
    if (run->opts.limits.time_limit > 0)
        run->begun.deadline = start + run->opts.limits.time_limit;
    TRY(weft_run_open(run, run->opts.data));
    greet(run, placement, outcome.hosts);
    TRY(check_open(run, rundir));
    if (!run->task->traits.files)
        weft_watchdog_start(run->world, run->opts.limits.watchdog, rundir->dir);
    TRY(begin_run(run, rundir, outcome.config));
    *begun = 1;
    rundir->files = run->task->traits.files;
    rundir->by_id = rundir->files || run->task->remote.trade;
    if (more) TRY(weft_more_restore(more, rundir));
    if (more && more->n == 0)
        weft_log(WEFT_INFO, "the run is complete and is given more: its %lld rounds stay",
                 (long long)more->record.done);
    TRY(weft_rundir_start(rundir, run->teams, weft_now() - start));
    if (rundir->past.done > 0)
        weft_log(WEFT_INFO, "%s: %lld jobs are done already",
                 more ? "the run is complete and goes on" : "resumed",
                 (long long)rundir->past.done);

    weft_sched sched = sched_of(run, rundir);
    weft_status st = weft_sched_run(&sched);
    if (st == WEFT_OK && rundir->longer && sched.queue.replayed < rundir->past.done)
        weft_log(WEFT_INFO,
                 "the longer search asked for %lld of the %lld jobs that were done: with "
                 "more trials others went on",
                 (long long)sched.queue.replayed, (long long)rundir->past.done);
    if (st == WEFT_OK) st = weft_run_conclude(run, &sched, rundir, &outcome);
    if (run->task->remote.probe) note_failures(&sched, rundir);
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
    WEFT_SCRATCH(mem);
    weft_run run;
    weft_rundir rundir;
    const char *directory = NULL;
    weft_signals_catch();
    weft_status st = weft_run_bind(&run, conf, 1, world, mem);
    if (st == WEFT_OK) st = weft_directory_begin(&directory, run.opts.output, world, mem);
    if (st == WEFT_OK) st = weft_agree(weft_place_apart(run.opts.output, conf), world);
    if (st == WEFT_OK)
        st = weft_agree(
            weft_place_best(run.opts.output, force ? 2 : 1, run.task->traits.files), world);
    if (st == WEFT_OK)
        st = weft_rundir_open(&rundir, run.opts.output, force ? WEFT_REPLACE : WEFT_BEGIN,
                              world, mem);
    rundir.directory = directory;
    if (st == WEFT_OK) st = do_run_and_close(&run, &rundir, NULL);
    weft_signals_free();
    return st;
}

/* ---- longer searches ---- */

/* A longer search is done as one that was so long from its beginning: its schedule is told
 * the results that the shorter one has, whenever it asks for one of its jobs. That is of
 * use where it begins with the same jobs. Two searches, which see no data, tell whether it
 * does. */

/* A search that is set up and has asked for its first job. */
struct beginning {
    weft_run run;
    int64_t jobs; /* of the search, as far as known */
    uint64_t first;
};

static weft_status begin_search(struct beginning *search, const char *name,
                                const char *text, weft_team *world, weft_arena *mem)
{
    weft_conf *conf = WEFT_NEW(mem, weft_conf, 1);
    weft_run *run = &search->run;
    weft_job job = weft_job_new(0, 0, NULL);
    weft_conf_init(conf, mem);
    TRY(weft_agree(weft_conf_text(conf, name, text), world));
    TRY(weft_run_bind(run, conf, 0, world, mem));
    TRY(weft_agree(
        weft_search_setup(&run->search, &run->space, (uint64_t)run->opts.seed, mem),
        world));
    search->jobs = weft_search_jobs(&run->search);
    if (weft_search_ask(&run->search, &job) == WEFT_JOB)
        search->first = weft_job_hash(&job);
    return WEFT_OK;
}

/* Why more of what was typed gives no more jobs: the search has no axes, or grows by other
 * keys, "; `weft resume RUN.h5 hyperband.repeats=N` makes it longer". */
static const char *why_no_longer(const char *run, const struct beginning *was,
                                 weft_arena *mem)
{
    const weft_tuner *tuner = was->run.search.tuner;
    if (was->run.space.dim == 0) return ", for no option has a range";
    const char *keys = "";
    for (const char *at = tuner->grows; *at; at += strspn(at, " ")) {
        int n = (int)strcspn(at, " ");
        keys = weft_arena_text(mem, "%s%s%.*s=N", keys, *keys ? " or " : "", n, at);
        at += n;
    }
    return weft_arena_text(
        mem, ", for run.tuner = %s%s; `weft resume %s` makes it longer by %s",
        tuner->kind.name,
        was->run.space.source == 0 ? "" : " has all that space.source lists", run, keys);
}

static weft_status compare_searches(const char *name, const struct beginning *was,
                                    const struct beginning *beginning, weft_arena *mem)
{
    const weft_tuner *tuner = was->run.search.tuner;
    if (!tuner->grows)
        return weft_fail(
            WEFT_ECONF,
            "%s cannot be made longer: run.tuner = %s %s; start another run by "
            "`weft tune`",
            name, tuner->kind.name,
            tuner->shared ? "trains all configurations of [space] together, so that with "
                            "more of them already its first job is another"
                          : "has as many trials as its own options say, which decide "
                            "about each other from the first");
    if (beginning->jobs <= was->jobs)
        return weft_fail(WEFT_ECONF, "%s would have no more jobs than its %lld%s", name,
                         (long long)was->jobs, why_no_longer(name, was, mem));
    if (beginning->first == was->first) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s cannot be made longer: with more trials the first job of "
                     "run.tuner = %s is another, so that nothing that was done would be "
                     "used; start another run by `weft tune`",
                     name, tuner->kind.name);
}

/* Checks that the search of the configuration `after`, a text, begins as that of `before`
 * and has more jobs. run: name of its file. ECONF. Collective over world. */
static weft_status check_longer(const char *run, const char *before, const char *after,
                                weft_team *world, weft_arena *mem)
{
    struct beginning was = {0}, beginning = {0};
    const weft_level level = weft_log_level();
    weft_log_set(WEFT_ERROR, world->rank);
    weft_status st = begin_search(&was, run, before, world, mem);
    if (st == WEFT_OK) st = begin_search(&beginning, run, after, world, mem);
    weft_log_set(level, world->rank);
    TRY(st);
    return weft_agree(compare_searches(run, &was, &beginning, mem), world);
}

/* ---- resumed runs ---- */

static weft_status retry(const weft_run *run, weft_rundir *rundir)
{
    if (run->task->remote.probe) return weft_retry_mark(rundir);
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

/* What the assignments give more of. ECONF: of two things, or one is no assignment. */
static weft_status find_growth(const struct changes *typed, weft_growth *growth,
                               weft_arena *mem)
{
    weft_conf form; /* they are assignments, each of another key */
    weft_conf_init(&form, mem);
    *growth = WEFT_STAYS;
    for (int i = 0; i < typed->n; i++) {
        TRY(weft_conf_set(&form, typed->assignment[i]));
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
        st = check_longer(rundir->path, config, rundir->grown, rundir->world, rundir->mem);
    if (st == WEFT_OK) st = weft_run_bind(&run, &conf, 0, rundir->world, rundir->mem);
    run.begun.growth = growth;
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
        rundir.about.data = more.data;
        rundir.about.files = more.files;
        st = go_on(&rundir, WEFT_RESUME, typed, &more, more.config);
    }
    weft_winner_close(&more.winner);
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
    WEFT_SCRATCH(mem);
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
    return st;
}
