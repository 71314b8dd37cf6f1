/* The log lines of a run that starts: ranks and hosts, memory, disk, what is searched. */
#include "greet.h"
#include "host/hosts.h"
#include "host/locks.h"
#include "setup.h"
#include "weft/math.h"

#include <math.h>
#include <string.h>

/* Logs the file system of the run file. */
static void tell_disk(const char *output)
{
    weft_arena *tmp = weft_arena_new();
    const char *dir = weft_file_dir(output, tmp);
    weft_disk d;
    if (weft_disk_look(dir, &d) == WEFT_OK)
        weft_log(WEFT_INFO, "files: %s is on %s, %.3g GB free", dir,
                 *d.type ? d.type : "an unknown file system", d.free / 1e9);
    weft_arena_free(tmp);
}

/* Warns if locks do not keep a second process from the run; of locks that the file system
 * does not have at all the journal has warned. Collective. */
static void try_locks(const weft_run *r, const weft_placement *s)
{
    weft_team *t = r->world;
    weft_lock *found = WEFT_NEW(r->mem, weft_lock, t->size);
    if (!r->dir || t->size == 1) return;
    if (weft_locks_try(r->dir, t, found, r->mem) != WEFT_OK) return; /* who writes, tells */
    if (t->rank == 0 && found[0] != WEFT_LOCK_NONE)
        weft_locks_warn(r->dir, found, s, t->size);
}

static void log_placements(const weft_run *r, const weft_placement *s, const char *hosts)
{
    int size = r->world->size;
    double least = s[0].sgemm;
    for (int i = 1; i < size; i++) least = fmin(least, s[i].sgemm);
    weft_log(
        WEFT_INFO,
        "weft %s: %d rank%s on %s; OpenBLAS %s, %d thread%s a rank, sgemm %.3g GFLOP/s%s; "
        "kernel %s",
        WEFT_VERSION, size, size == 1 ? "" : "s", hosts, s[0].blas, s[0].threads,
        s[0].threads == 1 ? "" : "s", least, size > 1 ? " or more" : "", weft_cpu_kernel());
    int ranks = weft_placement_ranks(s, size, 0);
    const char *room = "";
    if (s[0].room < s[0].memory)
        room = weft_arena_text(r->mem, " in this job's share of %.3g GB", s[0].room / 1e9);
    weft_log(WEFT_INFO,
             "memory: %.3g GB a rank allowed, the host has %.3g GB, %.3g GB free, for %d "
             "rank%s%s",
             r->opts.memory, s[0].memory / 1e9, s[0].available / 1e9, ranks,
             ranks == 1 ? "" : "s", room);
    if (r->world->rank > 0) return;
    weft_placements_warn(s, size, r->opts.memory * 1e9);
    tell_disk(r->opts.output);
}

void weft_run_greet(const weft_run *r, const weft_placement *s, const char *hosts)
{
    log_placements(r, s, hosts);
    try_locks(r, s);
    if (r->teams > 1) weft_log(WEFT_INFO, "%d teams do jobs side by side", r->teams);
    if (r->teams < r->opts.teams)
        weft_log(WEFT_WARN, "run.teams = %d, but there are %d ranks: %d teams",
                 r->opts.teams, r->world->size, r->teams);
    if (!weft_search_waits(&r->search) && r->teams > r->opts.workers)
        weft_log(WEFT_WARN,
                 "run.workers = %lld: no more jobs than that are in flight, and the other "
                 "teams idle",
                 (long long)r->opts.workers);
    weft_log(WEFT_INFO, "task %s%s%s, tuner %s: about %lld jobs", r->opts.task,
             *r->opts.data ? " on " : "", r->opts.data, weft_run_method(r),
             (long long)weft_search_jobs(&r->search));
    if (r->space.dim == 0 && strcmp(r->opts.sampler, "space") != 0)
        weft_log(WEFT_WARN,
                 "run.sampler = %s has nothing to choose: no option has a range, so that "
                 "all trials are alike",
                 r->opts.sampler);
    if (*r->defaults) weft_log(WEFT_INFO, "defaults of the task: %s", r->defaults);
    if (*r->unread) weft_log(WEFT_INFO, "not read in this run: %s", r->unread);
}
