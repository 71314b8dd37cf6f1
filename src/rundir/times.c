/* When a search was started, with how many teams, checkpointed and stopped: records of the
 * journals. */
#include "times.h"
#include "journals.h"
#include "records.h"

#include <math.h>
#include <string.h>

int weft_time_read(const weft_record *record, weft_time *time)
{
    if (record->tag != TAG_TIME || !record->data || record->bytes != sizeof *time) return 0;
    memcpy(time, record->data, sizeof *time);
    return isfinite(time->at) && time->at >= 0 && time->teams >= 0;
}

weft_status weft_rundir_lasted(weft_rundir *rundir, double seconds)
{
    if (!rundir->commit) return WEFT_OK;
    weft_time time = {.at = seconds};
    weft_status st = weft_journal_add(&rundir->journal, TAG_TIME, &time, sizeof time);
    return weft_rundir_stuck(rundir, st);
}

weft_status weft_rundir_start(weft_rundir *rundir, int teams, double setup)
{
    weft_time *all = WEFT_NEW(rundir->mem, weft_time, rundir->ntime + 1);
    if (rundir->ntime > 0) memcpy(all, rundir->time, (size_t)rundir->ntime * sizeof *all);
    weft_time *own = &all[rundir->ntime];
    *own = (weft_time){.at = weft_rundir_ended(rundir), .setup = setup, .teams = teams};
    rundir->time = all;
    rundir->ntime++;
    weft_status st = WEFT_OK;
    if (rundir->world->rank == 0)
        st = weft_journal_add(&rundir->journal, TAG_TIME, own, sizeof *own);
    return weft_agree(weft_rundir_stuck(rundir, st), rundir->world);
}
