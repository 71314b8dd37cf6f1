/* Whether a job that failed has failed by itself. */
#ifndef WEFT_SCHED_TRUST_H
#define WEFT_SCHED_TRUST_H

#include "sched.h"

/* Whose turn a job is that a team has claimed. */
typedef struct weft_claimed {
    int taken; /* 1: another team's */
    int hops;  /* how often it was handed on */
    int tries; /* how often it has failed */
    int begun; /* 1: a program was started */
} weft_claimed;

/* Sets up sched->trust. */
void weft_trust_begin(weft_sched *sched);

/* To be called when a result is known. */
void weft_trust_known(weft_sched *sched, const weft_job_record *record);

/* Whose turn the job is; valid until the next call. */
weft_claimed *weft_trust_turn(weft_sched *sched, int64_t job);

/* Removes from the list, and returns, a job that was handed to this team; NULL: none. */
weft_flight *weft_trust_handed(weft_sched *sched);

/* Removes this job from the list: the one that the team's leader took. */
void weft_trust_took(weft_sched *sched, int64_t job);

/* 1 if this team is to do no other jobs. */
int weft_trust_waits(const weft_sched *sched);

/* Takes a message of another team if it is one about trust; 0 if not. */
int weft_trust_notice(weft_sched *sched, const weft_message *message);

/* To be called when this team has done a job. *counts 0: it has failed, perhaps not by
 * itself; it is handed on, and nothing is to be recorded. ECONF: no team can start the
 * program. WEFT_STOP, EFILE. Collective over team. */
WEFT_CHECKED weft_status weft_trust_ended(weft_sched *sched, const weft_job_record *record,
                                          int *counts);

#endif
