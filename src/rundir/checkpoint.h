/* Checkpoints of jobs in flight. */
#ifndef WEFT_RUNDIR_CHECKPOINT_H
#define WEFT_RUNDIR_CHECKPOINT_H

#include "rundir.h"
#include "weft/job.h"
#include "weft/state.h"

/* Name of the file of a job's checkpoint. Owned by mem. */
const char *weft_checkpoint_name(const weft_rundir *rundir, int64_t job, weft_arena *mem);

/* Writes a checkpoint of a job in flight: its record with record->done rows, and the state
 * after them. EFILE. */
WEFT_CHECKED weft_status weft_checkpoint_write(const weft_rundir *rundir,
                                               const weft_job_record *record,
                                               const weft_state *state);

/* Reads a checkpoint. If there is none, e and state stay as before the first unit;
 * likewise if it is of another trial, and with a warning if it, or what it says is kept, is
 * damaged, or of another job of this one.
 * Arrays that the record does not have are allocated from mem. */
void weft_checkpoint_read(const weft_rundir *rundir, weft_job_record *record,
                          weft_state *state, weft_arena *mem);

/* Removes the checkpoint that a job may have, with the next commit. By a leader. */
void weft_checkpoint_drop(weft_rundir *rundir, const weft_job_record *record);

/* Reads the record of a checkpoint of the run `run` (weft_rundir_identify) without task and
 * state: its rows are those of the units done. Returns 0 if there is none, or it is damaged
 * or of another run. Owned by mem. */
int weft_checkpoint_peek(const char *path, uint64_t run, weft_job_record *record,
                         weft_arena *mem);

#endif
