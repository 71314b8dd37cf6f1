/* Sentences and their translations as the samples of task sgd. */
#ifndef WEFT_TASK_SGD_PAIRS_H
#define WEFT_TASK_SGD_PAIRS_H

#include "sgd.h"
#include "weft/shuffle.h"

/* Sets first, shape and pairs. */
void sgd_pairs_open(sgd_task *sgd);
/* The direction of a row. */
int sgd_direction(const sgd_task *sgd, int64_t row);
/* Orders the shuffled rows of a pass so that batches have one direction each, and sets
 * end[..], the ends of the batches in it, which are in a random order keyed by `key`, too:
 * sgd_pairs_batches. Cost O(n + batches). */
void sgd_pairs_order(const sgd_task *sgd, int64_t batch, const sgd_rows *rows,
                     const weft_rng_row *key, int64_t *order, int64_t *end);
/* The end of the batch in which place `from` of a pass is. */
int64_t sgd_pairs_end(const int64_t *end, int64_t from);
/* Batches of a pass over the rows. */
int64_t sgd_pairs_batches(const sgd_task *sgd, int64_t batch, const sgd_rows *rows);
/* The weights of the network for a direction, theta[contexts->theta]; w itself where the
 * task has no contexts. */
const real *sgd_theta(const sgd_task *sgd, const sgd_model *model, const real *w,
                      int direction, real *theta);
weft_context sgd_context(const sgd_task *sgd, int direction);
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
