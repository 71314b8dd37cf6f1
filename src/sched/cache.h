/* The states of trials that later jobs begin with, or that win. */
#ifndef WEFT_SCHED_CACHE_H
#define WEFT_SCHED_CACHE_H

#include "sched.h"

/* Sets up sched->cache. */
void weft_cache_setup(weft_sched *sched);
/* The state that a new job begins with: that of its trial, or of the trial that it copies,
 * after the last told job; NULL: a new one. It is kept until the job is told. Ends the
 * program if the tuner violates its contract. */
weft_cached *weft_cache_pin(weft_sched *sched, const weft_job *job);

/* Reads that state; if it was removed because of sched->disk, or its file is lost, repeats
 * the jobs that led to it. Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_cache_load(weft_sched *sched, const weft_job *job,
                                         weft_cached *parent, weft_state *state);

/* Total resource of its trial; parent NULL: 0. */
double weft_cache_resource(const weft_cached *parent);

/* The job after which it is the state; parent NULL: -1. */
int64_t weft_cache_job(const weft_cached *parent);

/* Stores the state after a job that this team has done if record.kept is 1, or holds it on
 * rank 0 and makes record.kept WEFT_HELD; frees it elsewhere. Collective over team. EFILE.
 */
WEFT_CHECKED weft_status weft_cache_keep(weft_sched *sched, weft_flight *flight,
                                         weft_own_state *own);

/* Makes flight->own when the result of a job is known. */
void weft_cache_known(weft_sched *sched, weft_flight *flight);

/* To be called when a job is told; `leads` 1: it is the best so far. Removes states that
 * are no longer needed. */
void weft_cache_told(weft_sched *sched, weft_flight *flight, int leads);

/* Removes the states of trials that the tuner now reports as ended. Cost: amortised O(1)
 * per result. */
void weft_cache_ended(weft_sched *sched);

/* If the states that wait for a later job take more than sched->disk, removes those with
 * the highest losses that no job in flight begins with, until the rest takes 9/10 of it. To
 * be called when all free workers have asked. */
void weft_cache_bound(weft_sched *sched);

/* The state after a job that is known, with its record, if it may still be needed; NULL: it
 * is not. */
weft_cached *weft_cache_find(weft_sched *sched, int64_t job,
                             const weft_job_record **record);
/* The states that a later job may begin with, (*newest)[n] unless it is NULL; returns n. */
int64_t weft_cache_newest(weft_sched *sched, weft_cached ***newest);
/* That of the best trial so far; NULL: no job was told. */
weft_cached *weft_cache_won(weft_sched *sched);

/* Writes the states that are in memory only; when the search ends or stops. By rank 0.
 * EFILE. */
WEFT_CHECKED weft_status weft_cache_stop(weft_sched *sched);

/* Loads the winner's state, which is valid until weft_cache_free. Collective over team. */
WEFT_CHECKED weft_status weft_cache_winner(weft_sched *sched, const weft_state **state);

/* 1: the winner's state, once it is loaded, has a directory. By rank 0 of the world. */
int weft_cache_has_files(const weft_sched *sched);

/* Frees the states in memory; their files stay. */
void weft_cache_free(weft_sched *sched);

#endif
