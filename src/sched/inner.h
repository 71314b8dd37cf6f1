/* What the files of the scheduler share. */
#ifndef WEFT_SCHED_INNER_H
#define WEFT_SCHED_INNER_H

#include "sched.h"

/* ---- jobs ---- */

/* Starts at virtual time 0, with the tickets of earlier sessions. */
void weft_queue_setup(weft_sched *sched);
/* The job in flight with that id; NULL: not asked for, or told. */
weft_flight *weft_queue_flight(const weft_queue *queue, int64_t job);
/* A free worker starts a job, which takes at least `seconds`. */
weft_flight *weft_queue_start(weft_sched *sched, const weft_job *job, double seconds);
/* 1 if the state after a job may be needed by later jobs, or as the winner's. */
int weft_queue_needs(const weft_sched *sched, const weft_job_record *record);
/* Keeps the packed result of another team, of a job that is not asked for here yet. */
void weft_queue_keep(weft_sched *sched, int64_t job, const void *record, size_t bytes);
/* Takes it out; NULL: there is none. */
const void *weft_queue_take(weft_sched *sched, int64_t job);
/* Notes that the result of a job is known. */
void weft_queue_known(weft_sched *sched, weft_flight *flight);
/* Notes that it is told; returns 1 if it is the best so far. */
int weft_queue_told(weft_sched *sched, const weft_job_record *record);
/* Frees the worker of a job that was told. *flight stays valid until the next start. */
void weft_queue_leave(weft_queue *queue, weft_flight *flight);
/* Sorts the jobs that were told by id. */
void weft_queue_end(weft_queue *queue);

/* ---- reasons to stop ---- */

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

/* Returns WEFT_STOP with a message that gives the reason sched->session.why, and that so
 * many jobs are done. */
WEFT_CHECKED weft_status weft_stop_tell(const weft_sched *sched, int64_t jobs);
/* Sets the reason and returns WEFT_STOP with a message that gives the reason and the
 * progress: `done` of the `units` units of the job in flight. */
WEFT_CHECKED weft_status weft_stop_now(weft_sched *sched, int why, int64_t done,
                                       int64_t units);

/* ---- one job on one team ---- */

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

/* Repeats a job that was told, to restore the state after it, *out: from its checkpoint,
 * else from the state `from`; NULL: a new one. Collective over team. WEFT_STOP; EFILE if
 * the hash of the state differs, or if a later job of a trial has neither. */
WEFT_CHECKED weft_status weft_job_again(weft_sched *sched, const weft_job_record *told,
                                        const weft_state *from, weft_own_state *out);

/* 1: such a repetition was stopped and has a checkpoint. Collective over team. */
int weft_job_is_begun(const weft_sched *sched, const weft_job_record *told);

/* Shows that a job is done. */
void weft_show_job(weft_sched *sched, const weft_job_record *record);

/* ---- messages between leaders, beside results ---- */

/* Whose turn a job is that a team has claimed. */
typedef struct weft_claimed {
    int taken; /* 1: another team's */
    int hops;  /* how often it was handed on */
    int tries; /* how often it has failed */
    int begun; /* 1: a program was started */
} weft_claimed;

/* What a team tells the others. */
typedef struct weft_notice {
    enum {
        WEFT_CLAIMED, /* it does the job */
        WEFT_HANDED,  /* it hands the job on */
        WEFT_ASIDE,   /* it is set aside, after turn.tries failures that are recorded */
        WEFT_WANTED,  /* it needs the state after the job, which `team` has */
        WEFT_GIVEN,   /* it has saved that state, */
        WEFT_LOST     /* or has it no more */
    } what;
    int64_t job, team;
    weft_claimed turn;
} weft_notice;

/* To all other leaders, if there are any. */
void weft_notice_send(const weft_sched *sched, weft_notice notice);

/* ---- states of trials, on disk or in the memory of programs that teams keep
 * (weft/task/state.h) ---- */

/* The state of a trial after a job. */
struct weft_cached {
    weft_state_id id; /* under which it is stored */
    int64_t job;      /* that led to it */
    double resource;  /* total of the trial */
    int users;        /* pins: its job until it is told, jobs in flight that begin with it,
                         the best trial */
    int newest;       /* 1: after its trial's last told job, and a later job may need it */
    int64_t team;     /* that wrote it */
    double files;     /* bytes of what is kept, at most */
    int kept;   /* 1: it was written, or is in memory without a run directory; WEFT_HELD */
    int gone;   /* 1: removed because of the bound */
    int saved;  /* 1: of those in the memory of a program: it is on disk, */
    int loose;  /* or the team whose program had it was asked for it */
    int here;   /* 1: written in this session, so that its file may not be visible
                   yet */
    int64_t at; /* index in sched->own.cache->newest, if newest is 1 */
    weft_own_state
        own; /* without a run directory, or on rank 0 while it is held; else empty */
    weft_cached *next;
};

typedef struct weft_trial {
    weft_cached *told; /* state after its last told job; NULL: none, or no longer needed */
    int64_t jobs;      /* told */
    int in_flight;     /* its jobs in flight: several only if they do not train */
} weft_trial;

struct weft_cache {
    weft_trial *trial; /* [ntrial] */
    int64_t ntrial, roomtrial;
    weft_cached *won;     /* state of the best trial so far */
    weft_cached **newest; /* [nnewest] states that a later job may begin with */
    int64_t nnewest, roomnewest;
    int64_t unchecked; /* results since the last weft_cache_ended that looked */
    double kept;       /* size of the newest states in bytes */
    weft_cached *unused;
};

/* The state that a new job begins with: that of its trial, or of the trial that it copies,
 * after the last told job; NULL: a new one. It is kept until the job is told. Ends the
 * program if the tuner violates its contract. */
weft_cached *weft_cache_pin(weft_sched *sched, const weft_job *job);

/* Reads that state; if it was removed because of 1e9 * sched->limits.disk, or its file is
 * lost, repeats the jobs that led to it. Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_cache_load(weft_sched *sched, const weft_job *job,
                                         weft_cached *parent, weft_state *state);

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

/* If the states that wait for a later job take more than 1e9 * sched->limits.disk, removes
 * those with the highest losses that no job in flight begins with, until the rest takes
 * 9/10 of it. To be called when all free workers have asked. */
void weft_cache_bound(weft_sched *sched);

/* The state after a job that is known, with its record, if it may still be needed; NULL: it
 * is not. */
weft_cached *weft_cache_find(weft_sched *sched, int64_t job,
                             const weft_job_record **record);

/* Writes the states that are in memory only; when the search ends or stops. By rank 0.
 * EFILE. */
WEFT_CHECKED weft_status weft_cache_stop(weft_sched *sched);

/* Saves a state that this rank's program may have; 1 if it is on disk. By a leader. */
int weft_cached_save(const weft_sched *sched, weft_cached *cached);

/* 1: states are in the memory of programs: the first rank of a team asks its own. */
int weft_held_is_on(const weft_sched *sched);

/* Such a state is no longer needed. By a leader. */
void weft_held_forget(const weft_sched *sched, int64_t trial, int64_t job);

/* ---- states in the memory of programs that are saved ---- */

/* For the order in which a team does its jobs: -1: its program has the state that the job
 * begins with; 1: another team's has; 0: else. */
int weft_lend_near(const weft_sched *sched, const weft_cached *parent);

/* Saves what later jobs may begin with; before a stop. By a leader. */
void weft_lend_save_all(weft_sched *sched);

/* Saves the winner's, at the end of a search: all teams then know whether it is on disk.
 * Collective over world. */
void weft_lend_save_winner(weft_sched *sched);

/* Saves the states with the highest losses, and has the program forget them, where it has
 * more than it should. By a leader. */
void weft_lend_bound(weft_sched *sched);

/* Asks the team whose program has the state that a job begins with, which this team has
 * claimed, to save it. By a leader. */
void weft_lend_want(weft_sched *sched, const weft_flight *flight);

/* 1: a job waits for that. */
int weft_lend_waits(weft_sched *sched);

/* Removes from the jobs that wait for that, and returns, one that need not wait any more;
 * NULL: none. By a leader. */
weft_flight *weft_lend_came(weft_sched *sched);

/* Takes a notice of another team about states. */
void weft_lend_notice(weft_sched *sched, const weft_notice *notice);

/* ---- trust ---- */

/* Sets up sched->own.trust. */
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

/* Takes a notice of another team about trust. */
void weft_trust_notice(weft_sched *sched, const weft_notice *notice);

/* To be called when this team has done a job. *counts 0: it has failed, perhaps not by
 * itself; it is handed on, and nothing is to be recorded. ECONF: no team can start the
 * program. WEFT_STOP, EFILE. Collective over team. */
WEFT_CHECKED weft_status weft_trust_ended(weft_sched *sched, const weft_job_record *record,
                                          int *counts);

#endif
