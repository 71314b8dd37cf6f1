/* Reasons to stop a search before its end. */
#ifndef WEFT_SCHED_STOP_H
#define WEFT_SCHED_STOP_H

#include "sched.h"

/* Reasons for which the search of a team ends; of several teams' reasons the largest
 * holds. */
enum {
    WEFT_WHY_OVER = 1, /* all results are told */
    WEFT_WHY_LIMIT,    /* time limit */
    WEFT_WHY_BROKEN,   /* all teams are set aside */
    WEFT_WHY_FAILED,   /* EFILE and the like */
    WEFT_WHY_LEFT,     /* those who do the jobs are gone */
    WEFT_WHY_SIGNAL    /* plus the signal's number */
};

/* The reason that this rank knows for which the team must stop; 0: none. */
int weft_stop_seen(const weft_sched *sched);

/* Returns WEFT_STOP with a message that gives the reason sched->why, and that so many jobs
 * are done. */
WEFT_CHECKED weft_status weft_stop_tell(const weft_sched *sched, int64_t jobs);
/* Sets the reason and returns WEFT_STOP with a message that gives the reason and the
 * progress: `done` of the `units` units of the job in flight. */
WEFT_CHECKED weft_status weft_stop_now(weft_sched *sched, int why, int64_t done,
                                       int64_t units);

#endif
