/* The search as a loop: its settings, jobs in flight and told, teams, states of trials, and
 * which job wins. */
#ifndef WEFT_SCHED_SCHED_H
#define WEFT_SCHED_SCHED_H

#include "rundir/rundir.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/par/par.h"
#include "weft/space/goals.h"
#include "weft/space/job.h"
#include "weft/task/state.h"
#include "weft/task/task.h"
#include "weft/tune/search.h"

typedef struct weft_limits {
    double memory;     /* GB a rank may use */
    double disk;       /* GB of disk space for the states of waiting trials; 0: no limit */
    double time_limit; /* seconds; 0 = none */
    double target;     /* stop when a trial that may win has a loss of at most this; 0 =
                          never */
    double checkpoint; /* seconds between checkpoints of a job made of rounds */
    double watchdog;   /* seconds without progress after which a rank is named; 0 = none */
} weft_limits;

/* Section [run] of an input file. */
typedef struct weft_run_opts {
    const char *task, *tuner, *sampler, *mixing, *data, *start, *output;
    int64_t seed;
    weft_limits limits;
    int scale;       /* a weft_scale */
    int balanced;    /* run.class_weights */
    int teams;       /* number of teams of ranks, which do jobs in parallel */
    int64_t workers; /* number of simulated workers in virtual time */
    int clock;       /* 0: virtual, 1: wall */
    double overhead; /* virtual seconds per job for asking and telling */
    int refit;       /* 1: train the winner once more, on train and valid */
    int test;        /* 1: score the winner on the test part */
    const char *objectives, *within; /* run.objectives, run.limits */
} weft_run_opts;
extern const weft_kind weft_run_kind;

/* ---- which job wins ---- */

/* What decides which of two jobs is better. */
typedef struct weft_merit {
    int wins; /* its weft_eligibility */
    double resource;
    weft_rank rank; /* with the job as id */
} weft_merit;

/* Positive if a is better. Criteria in this order: a job that may win is better than one
 * that may not, and of two that may not the later one; a finite loss is better than an
 * infinite one; less excess of limits; the larger resource, unless one of the jobs has
 * WEFT_WINS_LOSS; the better rank. */
int weft_merit_compare(const weft_merit *a, const weft_merit *b);

/* 1 if job a is better than job b by weft_merit_compare. */
int weft_job_record_beats(const weft_job_record *a, const weft_job_record *b);

/* For qsort: records by the ids of their jobs. */
int weft_job_record_compare(const void *a, const void *b);

/* The winning arm of a job's mixture: the most probable one after the job, of equally
 * probable ones that of the best weft_result_rank_of. */
int weft_winner_arm(const weft_job_record *record);

/* The winning configuration, into conf[dim]: that of the winning arm; for a product of
 * simplexes, composed of the winning entry of each block, likewise. */
void weft_winner_conf(const weft_job_record *record, double *conf);

/* ---- jobs in flight ---- */

/* The state of a trial, with the arena that owns it. */
typedef struct weft_own_state {
    weft_state state;
    weft_arena *mem; /* NULL: no state */
} weft_own_state;

typedef struct weft_cached weft_cached; /* a state that is stored */

/* A job in flight: asked for and not told yet. */
typedef struct weft_flight {
    weft_job_record record; /* record.end: the end; before the result is known, the earliest
                              possible end */
    double seconds;         /* lower bound of its duration, virtual */
    int known;              /* 1: its result, and so its end, is known */
    int replayed;           /* 1: from a journal */
    weft_cached *parent;    /* the state that it begins with; NULL: a new one */
    double before;          /* total resource of its trial when it begins */
    double given;         /* when it was handed over to be done elsewhere; 0: it was not */
    weft_cached *own;     /* the state after it, once the result is known */
    weft_own_state state; /* the state after it, in memory, if there is no run directory */
    int near; /* -1: of the jobs that this team does first; 1: of those that it does last */
    int64_t sweep, affinity;
    double flops;     /* expected operations: expensive jobs are done first */
    int64_t place[2]; /* index in each of the two heaps below; -1: not there */
    struct weft_flight *next;
} weft_flight;

typedef struct weft_flights {
    weft_arena *mem;
    int wall;                /* 1: results are told in the order of their tickets */
    int64_t ticket;          /* the next ticket to be told; tickets of lost results are
                                skipped: */
    const int64_t *past;     /* [npast] tickets of earlier sessions, increasing */
    int64_t npast, spent;    /* number of these that were told */
    int64_t most, workers;   /* number of workers; of these, number that have had a job */
    double now, overhead;    /* virtual time; virtual seconds per job */
    weft_heap ends;          /* weft_flight *: all jobs in flight */
    weft_heap deals;         /* of these, those that this team may claim */
    int64_t sweep, affinity; /* of the last job that the team took */
    int64_t *idle;           /* [nidle] workers that have had a job and are free */
    int64_t nidle, roomidle;
    weft_flight *unused;
} weft_flights;

/* Starts at virtual time 0. workers: their number; 0: unlimited. For clock = wall then set
 * flights->wall, flights->past and flights->npast, and call weft_flights_due. */
void weft_flights_setup(weft_flights *flights, int64_t workers, double overhead,
                        weft_arena *mem);
/* Sets the ticket of the result that is to be told next. */
void weft_flights_due(weft_flights *flights);
/* Job i of ends.n in flight, in any order. */
weft_flight *weft_flights_at(const weft_flights *flights, int64_t i);
/* 1 if a worker is free. */
int weft_flights_idle(const weft_flights *flights);
/* A free worker starts a job that takes at least `seconds`. Cost O(log n) with n jobs in
 * flight, as for all functions below. */
weft_flight *weft_flights_start(weft_flights *flights, const weft_job *job, double seconds);
/* Tells that the result of a job is known, so that it need not be done. */
void weft_flights_known(weft_flights *flights, weft_flight *flight);
/* Queues a job to be done, in the order of flight->affinity and flight->flops. */
void weft_flights_queue(weft_flights *flights, weft_flight *flight);
/* The job that is to be done next, which stays in the queue; NULL: none. */
weft_flight *weft_flights_first(const weft_flights *flights);
/* Removes from the queue, and returns, the job that is to be done next, or with skip > 0
 * that which comes so many jobs after it, around the queue; NULL: none. Cost O(skip log
 * n). */
weft_flight *weft_flights_take(weft_flights *flights, int64_t skip);
/* Removes this job from the queue: the one that the team's leader took. */
void weft_flights_took(weft_flights *flights, weft_flight *flight);
/* Removes this job from the queue, if it is there: another team does it. */
void weft_flights_leave(weft_flights *flights, weft_flight *flight);
/* The job whose result is to be told next; NULL: results are missing, or none is in flight.
 */
weft_flight *weft_flights_next(weft_flights *flights);
/* To be called when that result is told: advances virtual time to flight->record.end and
 * frees the worker. *flight stays valid until the next start. */
void weft_flights_end(weft_flights *flights, weft_flight *flight);

/* ---- a search ---- */

typedef struct weft_early weft_early; /* a result that came before its job was asked for */

typedef struct weft_queue {
    int64_t n; /* jobs that were told; sorted by id at the end of the search */
    weft_job_record *record; /* [n] */
    weft_job_record winner;  /* the best of these, if n > 0 */
    int64_t known;           /* jobs whose results are known, told or not */
    int64_t replayed;        /* of these, from the journal */
    double ran;              /* jobs that were done in this session, of some only a part */
    weft_job_record best;    /* best of the jobs whose results are known, if known > 0 */
    weft_flights flights;    /* at the end flights.now is the virtual duration of the
                                search */
    int64_t asked;
    weft_flight **job; /* [asked] jobs in flight by id; NULL: told */
    int64_t *row;      /* [asked] index in record of a job that was told */
    weft_early *early;
    int64_t room, roomjob, roomrow; /* of record, job, row */
} weft_queue;

/* This team, and its connection to the others. */
typedef struct weft_crew {
    int group;           /* this rank's team, 0 .. teams - 1 */
    weft_peers *peers;   /* connection to the other leaders; NULL: not a leader, or one
                            team */
    weft_claims *claims; /* claims of jobs, likewise */
    const char *who;     /* "team 1 on n2" in lines of the log, likewise */
    int64_t ticket;      /* the ticket after this team's last one */
    int64_t recorded;    /* jobs that this team has recorded since the start */
    int64_t tries;       /* jobs that this team has tried to claim */
    int rested;          /* 1: the team has had nothing to do since its last job, */
    double since;        /* since then; 0: it has */
} weft_crew;

/* What trials begin with in the place of what the task starts them with. */
typedef struct weft_given {
    const real *x; /* [n] weights; NULL: none */
    int64_t n;
    const weft_kept *kept; /* what clients keep; NULL: nothing */
} weft_given;

typedef struct weft_trust weft_trust; /* whether failures of this team's jobs count */
typedef struct weft_cache weft_cache; /* the states of trials */
typedef struct weft_lent weft_lent;   /* states that other teams are asked for */

/* This start of the search. */
typedef struct weft_session {
    double begun, before; /* start; seconds of earlier ones */
    double seconds;       /* of the search, over all sessions, at its end */
    int worked;           /* 1: the team did a unit. The time limit is not applied before
                             that, so that a chain of short sessions ends */
    const char *broken;   /* trust.c: why no team can do a job; NULL: some can */
    int why;              /* job.c: reason to stop, see weft_stop_seen */
    int64_t part, parts;  /* of a job that was stopped: units done, and all; 0: none */
    double shown;         /* job.c: time at which progress was last shown */
} weft_session;

/* A search. The caller sets the first group of members, the others to zero; each of these
 * belongs to one file, which alone changes it. */
typedef struct weft_sched {
    weft_team *world; /* all ranks */
    weft_team *team;  /* this rank's team; the world if teams is 1 */
    int teams;
    const weft_task *task;
    void *task_self;     /* set up for the team */
    weft_given given;    /* to the trials */
    weft_search *search; /* after setup; each rank has its own copy, and all make the
                            same calls */
    weft_rundir *rundir; /* NULL: nothing is kept on disk, one team only */
    weft_limits limits;
    const weft_goals *goals; /* what is measured of each result */
    int64_t workers;         /* simulated workers; 0: unlimited */
    int wall;                /* 1: results are told in the order in which they arrive, not
                                in virtual time */
    double overhead;         /* virtual seconds per job for asking and telling */
    weft_arena *mem;

    weft_session session;
    weft_queue queue; /* queue.c: jobs in flight and told */
    weft_crew crew;   /* sched.c */
    struct {
        weft_trust *trust; /* trust.c */
        weft_cache *cache; /* cache.c */
        weft_lent *lent;   /* lend.c */
    } own;
} weft_sched;

/* Runs the search to its end. WEFT_STOP: stopped by a signal or the time limit. Collective
 * over world. */
WEFT_CHECKED weft_status weft_sched_run(weft_sched *sched);

/* Ends the search of this team, with its status `st`, and waits for the other teams.
 * Returns the common status. Collective over world. */
WEFT_CHECKED weft_status weft_teams_end(weft_sched *sched, weft_status st);

/* ---- the winner's state, and jobs beside the search ---- */

/* Loads the winner's state, which is valid until weft_cache_free. Collective over team. */
WEFT_CHECKED weft_status weft_cache_winner(weft_sched *sched, const weft_state **state);

/* 1: the winner's state, once it is loaded, has a directory. By rank 0 of the world. */
int weft_cache_has_files(const weft_sched *sched);

/* Frees the states in memory; their files stay. */
void weft_cache_free(weft_sched *sched);

/* Does a job that the search does not have, from the start of a trial or its checkpoint;
 * the time is not the search's. *out is the state after it, to be freed by weft_own_drop;
 * *loss as in weft_result, NAN where nothing was scored. Collective over team. WEFT_STOP,
 * EFILE. */
WEFT_CHECKED weft_status weft_job_alone(weft_sched *sched, const weft_job *job,
                                        weft_own_state *out, double *loss);

/* Frees a state, and removes what its clients kept. */
void weft_own_drop(weft_own_state *own);

/* Shows which share of the scores of a part this rank has done, and tells the watchdog that
 * it goes on. */
void weft_show_scored(double share);

#endif
