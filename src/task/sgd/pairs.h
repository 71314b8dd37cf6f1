/* Sentences and their translations as the samples of task sgd. */
#ifndef WEFT_TASK_SGD_PAIRS_H
#define WEFT_TASK_SGD_PAIRS_H

#include "sgd.h"

/* Sets first, shape and pairs. */
void sgd_pairs_open(sgd_task *sgd);
/* The rows that have a reference, which alone can be scored; owned by mem. */
sgd_rows sgd_pairs_referred(const sgd_task *sgd, const sgd_rows *rows, weft_arena *mem);
/* Leaves words out of the n sources of a batch, row[n], of a language to itself, each with
 * probability train.noise, but never all: what is left is to be completed, where a whole
 * sentence would be copied, and other directions with it. Keyed by step and row. Vincent et
 * al., "Extracting and composing robust features with denoising autoencoders", ICML 2008;
 * for words, Lample et al., "Unsupervised machine translation using monolingual corpora
 * only", ICLR 2018. */
void sgd_pairs_thin(const sgd_task *sgd, const sgd_model *model, sgd_work *work,
                    int64_t step, int n, const int64_t *row);
/* Sample i of a batch. */
void sgd_pairs_put(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int i,
                   int64_t row);

#endif
