/* An epoch, and scores. */
#ifndef WEFT_TASK_SGD_STEP_H
#define WEFT_TASK_SGD_STEP_H

#include "sgd.h"

/* Does epoch number h->epochs, from 1, of the network w, slots[m->slots][m->n] of fold f;
 * *good 0: it diverged. WEFT_STOP: it was left before its end. Collective. */
WEFT_CHECKED weft_status sgd_epoch(sgd *t, const sgd_model *m, int f, sgd_head *h, real *w,
                                   real *slots, int *good);
void sgd_sums_add(sgd_sums *to, const sgd_sums *s); /* to += s. */
/* The score that sgd.score names; INFINITY where the loss is not finite. */
double sgd_sums_score(const sgd *t, const sgd_sums *s);
/* The sums of weights w on rows, exact on any number of ranks. Collective. */
sgd_sums sgd_score_rows(sgd *t, const sgd_model *m, const sgd_rows *rows, const real *w);

#endif
