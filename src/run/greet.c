/* The log lines of a run that starts: ranks and hosts, memory, disk, what is searched. */
#include "greet.h"
#include "host/host.h"
#include "setup.h"
#include "weft/cpu.h"
#include "weft/file.h"
#include "weft/log.h"

#include <math.h>
#include <string.h>

/* Logs the file system of the run file. */
static void tell_disk(const char *output)
{
    weft_arena *tmp = weft_arena_new();
    const char *dir = weft_file_dir(output, tmp);
    weft_disk disk;
    if (weft_disk_look(dir, &disk) == WEFT_OK)
        weft_log(WEFT_INFO, "files: %s is on %s, %.3g GB free", dir,
                 *disk.type ? disk.type : "an unknown file system", disk.free / 1e9);
    weft_arena_free(tmp);
}

/* Warns if locks do not keep a second process from the run; of locks that the file system
 * does not have at all the journal has warned. Collective. */
static void try_locks(const weft_run *run, const weft_placement *placement)
{
    weft_team *team = run->world;
    weft_lock *found = WEFT_NEW(run->mem, weft_lock, team->size);
    if (!run->dir || team->size == 1) return;
    if (weft_locks_try(run->dir, team, found, run->mem) != WEFT_OK)
        return; /* who writes, tells */
    if (team->rank == 0 && found[0] != WEFT_LOCK_NONE)
        weft_locks_warn(run->dir, found, placement, team->size);
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
             run->opts.memory, placement[0].memory / 1e9, placement[0].available / 1e9,
             ranks, ranks == 1 ? "" : "s", room);
    if (run->world->rank > 0) return;
    weft_placements_warn(placement, size, run->opts.memory * 1e9);
    tell_disk(run->opts.output);
}

void weft_run_greet(const weft_run *run, const weft_placement *placement, const char *hosts)
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
    if (*run->defaults) weft_log(WEFT_INFO, "defaults of the task: %s", run->defaults);
    if (*run->unread) weft_log(WEFT_INFO, "not read in this run: %s", run->unread);
}
