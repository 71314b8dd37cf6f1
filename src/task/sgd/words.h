/* The rows of a table of words in an epoch. */
#ifndef WEFT_TASK_SGD_WORDS_H
#define WEFT_TASK_SGD_WORDS_H

#include "sgd.h"

/* Numbers of the gradient of a batch, at most. */
int64_t sgd_gradient_size(const sgd_task *sgd, const sgd_model *model, int64_t batch);
/* For an epoch of `steps` steps of that many samples, whose gradients are in p. */
sgd_words sgd_words_new(const sgd_task *sgd, const sgd_model *model,
                        const sgd_pieces *pieces, int64_t batch, int64_t steps,
                        weft_arena *tmp);
/* The words of the samples row[n] take their places. */
void sgd_words_seat(sgd_words *words, const sgd_task *sgd, int n, const int64_t *row);
/* 1 if this rank steps the row of the word that has that place. */
int sgd_words_own(const sgd_words *words, int place);
/* The rows of these words take the steps that they are owed, and all ranks get them.
 * Collective. */
void sgd_words_settle(sgd_words *words, const sgd_model *model, real *w, real *slots);
/* The step at this pace of this rank's rows of these words; g[n][table.d] is undefined
 * afterwards. */
void sgd_words_step(sgd_words *words, const sgd_model *model, weft_pace pace, real *w,
                    real *g, real *slots);
/* All rows take the steps that they are owed, and all ranks get them; to be called after
 * the last step. Collective. */
void sgd_words_end(sgd_words *words, const sgd_model *model, real *w, real *slots);

#endif
