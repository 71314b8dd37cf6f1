/* The starts of a run that was stopped and resumed: when the search went on, with how many
 * teams. They are records of the journals, so that what is divided by time is divided by
 * that of all starts. */
#include "run_private.h"

#include <math.h>
#include <string.h>

int weft_time_read(const weft_record *r, weft_time *time)
{
    if (r->tag != TAG_TIME || !r->data || r->bytes != sizeof *time) return 0;
    memcpy(time, r->data, sizeof *time);
    return isfinite(time->at) && time->at >= 0 && time->teams >= 0;
}

weft_status weft_trace_lasted(weft_trace *t, double seconds)
{
    weft_time time = {.at = seconds};
    weft_status st = weft_journal_add(&t->journal, TAG_TIME, &time, sizeof time);
    return weft_trace_stuck(t, st);
}

weft_status weft_trace_start(weft_trace *t, int teams, double setup)
{
    weft_time *all = WEFT_NEW(t->mem, weft_time, t->ntime + 1);
    if (t->ntime > 0) memcpy(all, t->time, (size_t)t->ntime * sizeof *all);
    weft_time *own = &all[t->ntime];
    *own = (weft_time){.at = weft_trace_ended(t), .setup = setup, .teams = teams};
    t->time = all;
    t->ntime++;
    weft_status st = WEFT_OK;
    if (t->world->rank == 0) st = weft_journal_add(&t->journal, TAG_TIME, own, sizeof *own);
    return weft_agree(weft_trace_stuck(t, st), t->world);
}

weft_starts weft_starts_sum(const weft_time *time, int64_t n, const weft_history *h)
{
    weft_starts all = {.teams = 1};
    double at = 0;
    for (int64_t i = 0; i < h->n; i++)
        if (h->event[i].team >= all.teams) all.teams = (int)h->event[i].team + 1;
    all.most = all.teams;
    for (int64_t i = 0; i < n; i++) {
        if (time[i].teams == 0) continue;
        all.team_seconds += all.teams * fmax(time[i].at - at, 0);
        at = time[i].at;
        all.teams = (int)time[i].teams;
        if (all.teams > all.most) all.most = all.teams;
        all.setup += time[i].setup;
        all.n++;
    }
    all.team_seconds += all.teams * fmax(h->seconds - at, 0);
    return all;
}
