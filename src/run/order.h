/* How many jobs of a search can be done in parallel. */
#ifndef WEFT_RUN_ORDER_H
#define WEFT_RUN_ORDER_H

#include "weft/arena.h"

/* ---- parallelism, for a plan ---- */

typedef struct weft_order_job {
    int64_t id, after; /* number of results that were told before it was asked for */
    double work;       /* operations */
} weft_order_job;

/* The order in which a search asks for jobs and is told their results. All members that are
 * not marked "given" start at zero. */
typedef struct weft_order {
    weft_arena *mem;
    int wall;   /* given; 1: results are told in the order in which they arrive */
    int costly; /* given; 1: of jobs that are asked expected operations: expensive jobs are
                   done first */
    int64_t n, room;
    weft_order_job *job; /* [n] by id */
    int64_t told, roomtell;
    int64_t *tell; /* [told] jobs */
    int64_t most;  /* largest number of jobs that were asked for and not told */
} weft_order;

/* Records that the next job is asked for, with `work` operations; that a job is told. */
void weft_order_ask(weft_order *order, double work);
void weft_order_tell(weft_order *order, int64_t job);

/* The fraction of the total time that `teams` equal teams would be busy, if all operations
 * took the same time: 1 for one team. Cost O(n teams). */
double weft_order_busy(const weft_order *order, int teams);

#endif
