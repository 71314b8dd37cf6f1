/* The exact sum of the gradients of a batch. */
#ifndef WEFT_TASK_SGD_SUM_H
#define WEFT_TASK_SGD_SUM_H

#include "sgd.h"

/* For gradients of at most `room` numbers. Collective. */
sgd_pieces sgd_pieces_new(const sgd_task *sgd, const sgd_model *model, int64_t room,
                          weft_arena *tmp);
/* pieces->out = the exact sum of all pieces over all ranks, each with its share of the
 * batch: of the weights before the table this rank's part, of the rows those of its words.
 * Returns 0 where a number is not finite, on all ranks. Collective. */
int sgd_pieces_sum(const sgd_task *sgd, sgd_pieces *pieces, const sgd_words *words);
/* The weights x[table.at], of which each rank has its own part, for all ranks.
 * Collective. */
void sgd_pieces_join(const sgd_task *sgd, const sgd_pieces *pieces, real *x);

#endif
