/* Jobs in flight, with their queues: by virtual end, and by the order in which they are
 * done. Private to run and its tests. */
#ifndef WEFT_RUN_FLIGHT_H
#define WEFT_RUN_FLIGHT_H

#include "weft/heap.h"
#include "weft/job.h"
#include "weft/state.h"

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
 * frees the worker. *f stays valid until the next start. */
void weft_flights_end(weft_flights *flights, weft_flight *flight);

#endif
