/* When a search was started, checkpointed and stopped. */
#ifndef WEFT_RUNDIR_TIMES_H
#define WEFT_RUNDIR_TIMES_H

#include "rundir.h"

/* 1 if the record is a time, *time. */
int weft_time_read(const weft_record *record, weft_time *time);

/* Records a start of the run, which goes on at weft_rundir_ended. EFILE. Collective over
 * world. */
WEFT_CHECKED weft_status weft_rundir_start(weft_rundir *rundir, int teams, double setup);

/* Records that the search has lasted that long, unless it is over, when leaders have left
 * their journals; called by a leader. EFILE. */
WEFT_CHECKED weft_status weft_rundir_lasted(weft_rundir *rundir, double seconds);

#endif
