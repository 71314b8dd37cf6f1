/* The weights that a client's training can change. */
#ifndef WEFT_TASK_FED_OWN_H
#define WEFT_TASK_FED_OWN_H

#include "fed.h"

/* For the network of fed->model. */
fed_own fed_own_new(const fed_task *fed, weft_arena *mem);
/* The weights that training on `own` can change or that `scored` reads (n 0: nothing); all
 * of them with weight decay, which changes the vectors of all words. */
void fed_own_choose(fed_task *fed, const fed_training *options, const weft_samples *own,
                    const weft_samples *scored);
/* These of from[nweight], in work.anchor where they are some. */
const real *fed_own_take(const fed_task *fed, const real *from);
/* weft_exact_add of x[own->n] to these of sum[nweight]. */
void fed_own_add(const fed_own *own, const real *x, int scale, double *sum);

/* The part of the weights that a course changes: from the first tensor that is not fixed to
 * the last. */
typedef struct fed_span {
    int64_t from, end;
    int frozen; /* fixed tensors before it */
    int holes;  /* 1: it has fixed tensors */
} fed_span;
/* fixed  [tensors] 1: it is; NULL: none, and the weights are those of work.own */
fed_span fed_span_of(const fed_task *fed, const char *fixed);

#endif
