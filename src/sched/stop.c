/* Reasons to stop a search before its end: a signal, the time limit, or that another team
 * has stopped. Checked between jobs and between their units. */
#include "stop.h"
#include "host/signals.h"

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int weft_stop_seen(const weft_sched *s)
{
    int signal = weft_signals_seen();
    int why = signal > 0 ? WEFT_WHY_SIGNAL + signal : 0;
    if (s->time_limit > 0 && s->worked && weft_now() - s->begun >= s->time_limit)
        why = larger(why, WEFT_WHY_LIMIT);
    if (s->broken) why = larger(why, WEFT_WHY_BROKEN);
    if (s->crew.peers) why = larger(why, weft_peers_left(s->crew.peers));
    return why;
}

/* "7 jobs" or "7 jobs and 120 of 800 rounds of another" */
static const char *progress_text(const weft_sched *s, int64_t jobs, weft_arena *mem)
{
    if (s->part == 0) return weft_arena_text(mem, "%lld jobs", (long long)jobs);
    return weft_arena_text(mem, "%lld jobs and %lld of %lld rounds of another",
                           (long long)jobs, (long long)s->part, (long long)s->parts);
}

weft_status weft_stop_tell(const weft_sched *s, int64_t jobs)
{
    if (s->why == WEFT_WHY_BROKEN)
        return weft_fail(WEFT_STOP, "stopped after %lld jobs: %s", (long long)jobs,
                         s->broken);
    const char *path = s->rundir ? s->rundir->path : "RUN.h5";
    weft_arena *tmp = weft_arena_new();
    const char *reason = "another team";
    if (s->why > WEFT_WHY_SIGNAL)
        reason = weft_arena_text(tmp, "signal %d", s->why - WEFT_WHY_SIGNAL);
    else if (s->why == WEFT_WHY_LIMIT)
        reason = weft_arena_text(tmp, "time_limit = %g s", s->time_limit);
    weft_status st =
        weft_fail(WEFT_STOP, "stopped by %s after %s; go on with `weft resume %s`", reason,
                  progress_text(s, jobs, tmp), path);
    weft_arena_free(tmp);
    return st;
}

weft_status weft_stop_now(weft_sched *s, int why, int64_t done, int64_t units)
{
    s->why = why;
    s->part = done;
    s->parts = units;
    return weft_stop_tell(s, s->queue.known);
}
