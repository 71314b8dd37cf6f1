/* The scheduler of a search. */
#ifndef WEFT_SCHED_SCHED_H
#define WEFT_SCHED_SCHED_H

#include "queue.h"
#include "rundir/rundir.h"
#include "weft/par.h"
#include "weft/search.h"
#include "weft/task.h"

/* This team, and its connection to the others. */
typedef struct weft_crew {
    int group;           /* this rank's team, 0 .. teams - 1 */
    weft_peers *peers;   /* connection to the other leaders; NULL: not a leader, or one
                            team */
    weft_claims *claims; /* claims of jobs, likewise */
    const char *who;     /* "team 1 on n2" in lines of the log, likewise */
    int64_t ticket;      /* the ticket after this team's last one */
    int64_t recorded;    /* jobs that this team has recorded since the start */
    int rested;          /* 1: the team has had nothing to do since its last job, */
    double since;        /* since then; 0: it has */
} weft_crew;

typedef struct weft_trust weft_trust; /* whether failures of this team's jobs count */
typedef struct weft_cache weft_cache; /* the states of trials */
typedef struct weft_lent weft_lent;   /* states that other teams are asked for */

/* A search. The caller sets the first group of members, the others to zero; each of these
 * belongs to one file, which alone changes it. */
typedef struct weft_sched {
    weft_team *world; /* all ranks */
    weft_team *team;  /* this rank's team; the world if teams is 1 */
    int teams;
    const weft_task *task;
    void *task_self;  /* set up for the team */
    const real *from; /* [nfrom] weights in the place of those that the task starts
                         a trial with; NULL: none */
    int64_t nfrom;
    const weft_kept *from_kept; /* likewise what clients keep; NULL: nothing */
    weft_search *search;        /* after setup; each rank has its own copy, and all make the
                                   same calls */
    weft_rundir *rundir;        /* NULL: nothing is kept on disk, one team only */
    double time_limit, target;  /* as in weft_run_opts */
    double checkpoint;          /* seconds between checkpoints of a job */
    int64_t workers;            /* simulated workers; 0: unlimited */
    int wall;        /* 1: results are told in the order in which they arrive, not
                        in virtual time */
    double overhead; /* virtual seconds per job for asking and telling */
    double disk;     /* bytes on disk for states of waiting trials; 0: no limit */
    weft_arena *mem;

    double begun, before; /* sched.c: start of this session; seconds of earlier sessions */
    double seconds;       /* of the search, over all sessions, at its end */
    weft_queue queue;     /* queue.c: jobs in flight and told */
    weft_crew crew;       /* teams.c */
    weft_trust *trust;    /* trust.c */
    weft_cache *cache;    /* cache.c */
    weft_lent *lent;      /* lend.c */
    const char *broken;   /* trust.c: why no team can do a job; NULL: some can */
    int worked;          /* job.c: 1: the team did a unit in this session. The time limit is
                            not applied before that, so that a chain of short sessions ends */
    int why;             /* stop.c: reason to stop, see weft_stop_seen */
    int64_t part, parts; /* of a job that was stopped: units done, and all; 0: none */
    double shown;        /* progress.c: time at which progress was last shown */
} weft_sched;

/* Runs the search to its end. WEFT_STOP: stopped by a signal or the time limit. Collective
 * over world. */
WEFT_CHECKED weft_status weft_sched_run(weft_sched *sched);

#endif
