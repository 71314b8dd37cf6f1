/* Reasons to stop a search before its end: a signal, the time limit, or that another team
 * has stopped. Checked between jobs and between their units. */
#include "stop.h"
#include "host/signals.h"
#include "weft/clock.h"

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int weft_stop_seen(const weft_sched *sched)
{
    int signal = weft_signals_seen();
    int why = signal > 0 ? WEFT_WHY_SIGNAL + signal : 0;
    if (sched->time_limit > 0 && sched->worked &&
        weft_now() - sched->begun >= sched->time_limit)
        why = larger(why, WEFT_WHY_LIMIT);
    if (sched->broken) why = larger(why, WEFT_WHY_BROKEN);
    if (sched->crew.peers) why = larger(why, weft_peers_left(sched->crew.peers));
    return why;
}

/* "7 jobs" or "7 jobs and 120 of 800 rounds of another" */
static const char *progress_text(const weft_sched *sched, int64_t jobs, weft_arena *mem)
{
    if (sched->part == 0) return weft_arena_text(mem, "%lld jobs", (long long)jobs);
    return weft_arena_text(mem, "%lld jobs and %lld of %lld rounds of another",
                           (long long)jobs, (long long)sched->part,
                           (long long)sched->parts);
}

weft_status weft_stop_tell(const weft_sched *sched, int64_t jobs)
{
    if (sched->why == WEFT_WHY_BROKEN)
        return weft_fail(WEFT_STOP, "stopped after %lld jobs: %s", (long long)jobs,
                         sched->broken);
    const char *path = sched->rundir ? sched->rundir->path : "RUN.h5";
    weft_arena *tmp = weft_arena_new();
    const char *reason = "another team";
    if (sched->why > WEFT_WHY_SIGNAL)
        reason = weft_arena_text(tmp, "signal %d", sched->why - WEFT_WHY_SIGNAL);
    else if (sched->why == WEFT_WHY_LEFT)
        reason = "the end of the program that does the jobs";
    else if (sched->why == WEFT_WHY_LIMIT)
        reason = weft_arena_text(tmp, "time_limit = %g s", sched->time_limit);
    weft_status st = weft_fail(WEFT_STOP, "stopped by %s after %s; go on with `weft %s %s`",
                               reason, progress_text(sched, jobs, tmp),
                               sched->task->trade ? "serve" : "resume", path);
    weft_arena_free(tmp);
    return st;
}

weft_status weft_stop_now(weft_sched *sched, int why, int64_t done, int64_t units)
{
    sched->why = why;
    sched->part = done;
    sched->parts = units;
    return weft_stop_tell(sched, sched->queue.known);
}
