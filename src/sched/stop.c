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
    if (s->naside == s->teams) why = larger(why, WEFT_WHY_BROKEN);
    if (s->peers) why = larger(why, weft_peers_left(s->peers));
    return why;
}

/* "7 jobs" or "7 jobs and 120 of 800 rounds of another" */
static const char *progress_text(const weft_sched *s, int64_t done, int64_t units,
                                 weft_arena *mem)
{
    const long long jobs = (long long)s->known;
    if (done == 0) return weft_arena_text(mem, "%lld jobs", jobs);
    return weft_arena_text(mem, "%lld jobs and %lld of %lld rounds of another", jobs,
                           (long long)done, (long long)units);
}

/* The stop of a run whose programs fail on all teams. */
static weft_status broken(const weft_sched *s, const char *path)
{
    return weft_fail(WEFT_STOP,
                     "stopped after %lld jobs: programs fail here, also that of job %lld, "
                     "which succeeded "
                     "before; mend what they need (variables, modules, files) and go on "
                     "with `weft resume "
                     "%s%s`, %s",
                     (long long)s->known, (long long)s->example.job.id, path,
                     s->unsure > 0 ? " --retry-failed" : "",
                     s->unsure > 0 ? "because failures before were recorded"
                                   : "for no failure of this start was recorded");
}

weft_status weft_stop_now(weft_sched *s, int why, int64_t done, int64_t units)
{
    const char *path = s->trace ? s->trace->path : "RUN.h5";
    weft_arena *tmp = weft_arena_new();
    const char *text = progress_text(s, done, units, tmp), *reason;
    s->why = why;
    s->part = done;
    s->parts = units;
    if (why == WEFT_WHY_BROKEN) {
        weft_arena_free(tmp);
        return broken(s, path);
    }
    if (why > WEFT_WHY_SIGNAL)
        reason = weft_arena_text(tmp, "signal %d", why - WEFT_WHY_SIGNAL);
    else if (why == WEFT_WHY_LIMIT)
        reason = weft_arena_text(tmp, "time_limit = %g s", s->time_limit);
    else
        reason = "another team";
    weft_status st =
        weft_fail(WEFT_STOP, "stopped by %s after %s; go on with `weft resume %s`", reason,
                  text, path);
    weft_arena_free(tmp);
    return st;
}
