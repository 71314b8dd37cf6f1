/* An epoch, and scores. */
#ifndef WEFT_TASK_SGD_STEP_H
#define WEFT_TASK_SGD_STEP_H

#include "sgd.h"

/* Does epoch number head->epochs, from 1, of the network w, slots[model->slots][model->n]
 * of fold f; *good 0: it diverged. WEFT_STOP: it was left before its end. Collective. */
WEFT_CHECKED weft_status sgd_epoch(sgd_task *sgd, const sgd_model *model, int f,
                                   sgd_head *head, real *w, real *slots, int *good);
void sgd_sums_add(sgd_sums *to, const sgd_sums *sums); /* to += s. */
/* The score that sgd.score names; INFINITY where the loss is not finite. */
double sgd_sums_score(const sgd_task *sgd, const sgd_sums *sums);
/* The sums of weights w on rows, without `measured`, the same bits on any number of ranks.
 * Collective. */
sgd_sums sgd_score_rows(sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                        const real *w);

#endif
