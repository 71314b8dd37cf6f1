/* Fits of single maps, done before their jobs. */
#ifndef WEFT_TASK_FMAP_AHEAD_H
#define WEFT_TASK_FMAP_AHEAD_H

#include "fmap.h"

/* A fit that was done before its job. */
typedef struct fmap_early {
    int64_t job; /* -1: none, x may be reused */
    int fold;
    real *x; /* [each] */
    weft_fitted fitted;
    int owner;   /* rank that fitted it */
    double cost; /* cost for the assignment to ranks: entries of the matrix */
    struct fmap_early *next;
} fmap_early;

/* weft_task.ahead: fits of single maps, each done by one rank, in parallel, as many as
 * memory allows. Collective. */
void fmap_ahead(void *self, int n, const weft_job *const *job);
/* Returns 1 if the job's fit in a fold was done ahead, with its part of the state x and its
 * result. */
int fmap_was_ahead(fmap_task *fmap, const weft_job *job, const fmap_fold *fold, real *x,
                   weft_fitted *fitted);

#endif
