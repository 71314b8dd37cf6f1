/* What a search records, and what earlier starts have recorded. */
#ifndef WEFT_RUNDIR_JOURNALS_H
#define WEFT_RUNDIR_JOURNALS_H

#include "rundir.h"
#include "weft/job.h"

/* Starts a run: checks that `bytes` of disk space are free and records the configuration.
 * EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_rundir_begin(weft_rundir *rundir, const char *conf,
                                           const char *data, double bytes);

/* Records the configuration of a run that is given more, which holds from now on. EFILE.
 * Collective over world. */
WEFT_CHECKED weft_status weft_rundir_grow(weft_rundir *rundir, const char *conf);

/* Opens the journal of one of several teams; called by its leader. That of team 0 is open
 * already. EFILE. */
WEFT_CHECKED weft_status weft_rundir_join(weft_rundir *rundir, int team);

/* Closes it again. */
void weft_rundir_leave(weft_rundir *rundir);

/* Records a job record, given with its packed form; called by a leader. The record survives
 * the end of this process. EFILE. */
WEFT_CHECKED weft_status weft_rundir_add(weft_rundir *rundir, const weft_job_record *record,
                                         const void *packed, size_t bytes);

/* If the journals have the record of that job, of a search that was made longer under any
 * id, fills the rest of the record and sets *found to 1. EFILE: the journal has another job
 * with that id. */
WEFT_CHECKED weft_status weft_rundir_find(weft_rundir *rundir, weft_job_record *record,
                                          int *found, weft_arena *mem);

/* Adds records of a run that was complete, [n] packed, of these bytes, to a journal that
 * has just begun. EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_rundir_restore(weft_rundir *rundir, int64_t n,
                                             const void *const *packed,
                                             const int64_t *bytes);

/* The last time in the journals: when a job ended, was checkpointed or the search was
 * stopped, in real seconds of the search. */
double weft_rundir_ended(const weft_rundir *rundir);

/* The tickets of the results in the journals, increasing, in *ticket, owned by mem; returns
 * their number. */
int64_t weft_rundir_tickets(const weft_rundir *rundir, const int64_t **ticket,
                            weft_arena *mem);

#endif
