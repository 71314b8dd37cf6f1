/* The scheduler of a search. */
#ifndef WEFT_SCHED_SCHED_H
#define WEFT_SCHED_SCHED_H

#include "flight.h"
#include "rundir/rundir.h"
#include "weft/search.h"

/* A result of another team for a job that this team's tuner has not asked for yet. */
typedef struct weft_early {
    int64_t job;
    char *record; /* [room] packed */
    size_t room;
    struct weft_early *next;
} weft_early;

/* Whose turn a job is that a team has claimed. */
typedef struct weft_claimed {
    int taken; /* 1: another team's */
    int hops;  /* how often it was handed on */
    int tries; /* how often it has failed */
    int begun; /* 1: a program was started */
} weft_claimed;
#define WEFT_DOUBTS                                                                        \
    3 /* jobs that a team fails at before it waits for one that succeeds                   \
       */

/* The scheduler of a search. The caller sets the first group of members, the others to
 * zero. */
typedef struct weft_sched {
    weft_team *world; /* all ranks */
    weft_team *team;  /* this rank's team; the world if teams is 1 */
    int teams;
    const weft_task *task;
    void *task_self;           /* set up for the team */
    weft_search *search;       /* after setup; each rank has its own copy, and all make the
                                  same calls */
    weft_trace *trace;         /* NULL: nothing is kept on disk, one team only */
    double time_limit, target; /* as in weft_run_opts */
    double checkpoint;         /* seconds between checkpoints of a job */
    int64_t workers;           /* simulated workers; 0: unlimited */
    int wall;                  /* 1: results are told in the order in which they arrive, not
                                  in virtual time */
    double overhead;           /* virtual seconds per job for asking and telling */
    double disk;               /* bytes on disk for states of waiting trials; 0: no limit */
    weft_arena *mem;

    int64_t n;              /* jobs that were told; sorted by id at the end of
                               weft_sched_run */
    weft_job_record *event; /* [n] */
    weft_job_record winner; /* the best of these, if n > 0 */
    int64_t known;          /* jobs whose results are known, told or not */
    int64_t recorded;       /* jobs that this team has recorded since the start */
    int64_t part, parts;    /* of a job that was stopped: units done, and all; 0: none */
    int64_t replayed;       /* of these, from the journal */
    double seconds;         /* of the search, over all sessions */
    weft_flights flights;   /* at the end flights.now is the virtual duration of the
                               search */

    int64_t asked, room, roomjob; /* room of event; of job */
    weft_flight **job;            /* [asked] jobs in flight by id; NULL: told */
    int64_t *row;                 /* [asked] index in event of a job that was told */
    int64_t roomrow;
    double begun, before; /* start of this session; seconds of earlier sessions */
    double ran;           /* jobs that were done in this session, of some only a part */
    double shown;         /* time at which progress was last shown */
    weft_job_record best; /* best of the jobs whose results are known, if known > 0 */
    int group;            /* this rank's team, 0 .. teams - 1 */
    weft_peers *peers;    /* connection to the other leaders; NULL: not a leader, or one
                             team */
    weft_claims *claims;  /* claims of jobs, likewise */
    weft_early *early, *taken; /* taken: those that were found, for their memory */
    weft_claimed *turn;        /* [nturn] by job */
    int64_t nturn, roomturn;
    int rested;     /* 1: the team has had nothing to do since its last job */
    int64_t ticket; /* the ticket after this team's last one */
    /* whether failures of this team's jobs count (trust.c) */
    const char *who; /* "team 1 on n2" in lines of the log; NULL: not a leader, or one
                        team */
    int64_t trust,
        span;           /* failures that are still believed; how many are after a success */
    int streak, unsure; /* failures since the last success that counted; of these, those of
                           teams that are set aside */
    int works;          /* 1: a job of the run has succeeded: */
    weft_job_record example; /* the shortest one that began a trial */
    int aside, naside;       /* 1: this team is set aside; number of teams that are */
    int64_t *handed;         /* [nhanded] jobs that are this team's turn */
    int64_t nhanded, roomhanded;
    int64_t doubted[WEFT_DOUBTS]; /* [ndoubted] jobs that it failed at while no job of the
                                     run had succeeded */
    int ndoubted;
    int worked;        /* 1: the team did a unit in this session. The time limit is not
                        * applied before that, so that a chain of short sessions ends */
    int why;           /* reason to stop, see weft_stop_seen */
    weft_trial *trial; /* [ntrial] */
    int64_t ntrial, roomtrial;
    weft_cached *won;     /* state of the best trial so far */
    weft_cached **newest; /* [nnewest] states that a later job may begin with */
    int64_t nnewest, roomnewest, unchecked;
    double kept; /* their size in bytes */
    weft_cached *unused;
} weft_sched;

/* Runs the search to its end. WEFT_STOP: stopped by a signal or the time limit. Collective
 * over world. */
WEFT_CHECKED weft_status weft_sched_run(weft_sched *s);

/* Enters a result, of this or another team, which is now known. */
void weft_sched_enter(weft_sched *s, weft_flight *f);

/* 1 if the state after a job may be needed by later jobs, or as the winner's. */
int weft_sched_needs(const weft_sched *s, const weft_job_record *e);

#endif
