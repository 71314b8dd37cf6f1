/* When a search was started, with how many teams, checkpointed and stopped: records of the
 * journals. */
#include "times.h"
#include "journals.h"
#include "records.h"

#include <math.h>
#include <string.h>

int weft_time_read(const weft_record *r, weft_time *time)
{
    if (r->tag != TAG_TIME || !r->data || r->bytes != sizeof *time) return 0;
    memcpy(time, r->data, sizeof *time);
    return isfinite(time->at) && time->at >= 0 && time->teams >= 0;
}

weft_status weft_rundir_lasted(weft_rundir *t, double seconds)
{
    weft_time time = {.at = seconds};
    weft_status st = weft_journal_add(&t->journal, TAG_TIME, &time, sizeof time);
    return weft_rundir_stuck(t, st);
}

weft_status weft_rundir_start(weft_rundir *t, int teams, double setup)
{
    weft_time *all = WEFT_NEW(t->mem, weft_time, t->ntime + 1);
    if (t->ntime > 0) memcpy(all, t->time, (size_t)t->ntime * sizeof *all);
    weft_time *own = &all[t->ntime];
    *own = (weft_time){.at = weft_rundir_ended(t), .setup = setup, .teams = teams};
    t->time = all;
    t->ntime++;
    weft_status st = WEFT_OK;
    if (t->world->rank == 0) st = weft_journal_add(&t->journal, TAG_TIME, own, sizeof *own);
    return weft_agree(weft_rundir_stuck(t, st), t->world);
}
