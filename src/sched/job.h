/* One job on one team. */
#ifndef WEFT_SCHED_JOB_H
#define WEFT_SCHED_JOB_H

#include "sched.h"

/* Fills the state before the first job of a trial. Collective over team. EFILE. */
WEFT_CHECKED weft_status weft_trial_start(const weft_sched *sched, const weft_job *job,
                                          weft_state *state);

/* Makes the state that a job begins with, that of `parent` (NULL: a new one). Collective
 * over team. WEFT_STOP, EFILE. */
typedef weft_status weft_job_begins(weft_sched *sched, const weft_job *job,
                                    weft_cached *parent, weft_state *state);

/* Does a job, from its start or its last checkpoint. *out is the state after it, whose
 * memory the caller frees. Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_job_run(weft_sched *sched, weft_flight *flight,
                                      weft_job_begins *begins, weft_own_state *out);

/* Gives what is kept in a state its directory on the first rank; aside 1, 2: one of this
 * team alone, while the state is made again. */
void weft_job_place(const weft_sched *sched, int64_t trial, int64_t job, int aside,
                    weft_state *state);

/* Frees a state, and removes what its clients kept. */
void weft_own_drop(weft_own_state *own);

/* 1: such a repetition was stopped and has a checkpoint. Collective over team. */
int weft_job_is_begun(const weft_sched *sched, const weft_job_record *told);

/* Repeats a job that was told, to restore the state after it, *out: from its checkpoint,
 * else from the state `from`; NULL: a new one. Collective over team. WEFT_STOP; EFILE if
 * the hash of the state differs, or if a later job of a trial has neither. */
WEFT_CHECKED weft_status weft_job_again(weft_sched *sched, const weft_job_record *told,
                                        const weft_state *from, weft_own_state *out);

/* Does a job that the search does not have, from the start of a trial or its checkpoint;
 * the time is not the search's. *out is the state after it, to be freed by weft_own_drop;
 * *loss as in weft_result, NAN where nothing was scored. Collective over team. WEFT_STOP,
 * EFILE. */
WEFT_CHECKED weft_status weft_job_alone(weft_sched *sched, const weft_job *job,
                                        weft_own_state *out, double *loss);

#endif
