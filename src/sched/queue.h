/* The jobs of a search, in flight and told. */
#ifndef WEFT_SCHED_QUEUE_H
#define WEFT_SCHED_QUEUE_H

#include "flight.h"

typedef struct weft_sched weft_sched;

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
    weft_early *early, *spare;
    int64_t room, roomjob, roomrow; /* of record, job, row */
} weft_queue;

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
/* Takes it out, good until the next is kept; NULL: there is none. */
const void *weft_queue_take(weft_sched *sched, int64_t job);
/* Notes that the result of a job is known. */
void weft_queue_known(weft_sched *sched, weft_flight *flight);
/* Notes that it is told; returns 1 if it is the best so far. */
int weft_queue_told(weft_sched *sched, const weft_job_record *record);
/* Frees the worker of a job that was told. *f stays valid until the next start. */
void weft_queue_leave(weft_queue *queue, weft_flight *flight);
/* Sorts the jobs that were told by id. */
void weft_queue_end(weft_queue *queue);

#endif
