/* The contexts of samples, by which networks have weights: the direction of a sentence and
 * its translation, or the client that a sample of a federation belongs to. */
#ifndef WEFT_TASK_SGD_CONTEXTS_H
#define WEFT_TASK_SGD_CONTEXTS_H

#include "sgd.h"
#include "weft/shuffle.h"

/* Numbers of contexts, 0 where samples have none; that of a row. */
int sgd_context_count(const sgd_task *sgd);
int sgd_context_of(const sgd_task *sgd, int64_t row);
weft_context sgd_context(const sgd_task *sgd, int number);
/* The layout of the weights by context; NULL: samples have no contexts, or one set of
 * weights does for all. ECONF. */
WEFT_CHECKED weft_status sgd_contexts_new(const sgd_task *sgd,
                                          const weft_context_options *options,
                                          const sgd_model *model, weft_arena *mem,
                                          weft_contexts **out);
/* context.form as it is for the data. */
int sgd_context_form(const sgd_task *sgd, int form);
/* Gives clients without training rows the mean of what others have, of w[model->n]. */
void sgd_contexts_fill(const sgd_task *sgd, const sgd_model *model, const sgd_rows *train,
                       real *w);
/* Warns of clients with no or few training rows. */
void sgd_contexts_warn(const sgd_task *sgd, const sgd_model *model);
/* The weights of the network for a context, theta[contexts->theta]; w itself where the
 * model has no contexts. */
const real *sgd_theta(const sgd_task *sgd, const sgd_model *model, const real *w,
                      int context, real *theta);

/* Batches of a pass over the rows, which have one context each. */
int64_t sgd_context_batches(const sgd_task *sgd, int64_t batch, const sgd_rows *rows);
/* Orders the shuffled rows of a pass by these, and sets end[..], their ends; they are in a
 * random order keyed by `key`, too. Cost O(n + contexts). */
void sgd_context_order(const sgd_task *sgd, int64_t batch, const sgd_rows *rows,
                       const weft_rng_row *key, int64_t *order, int64_t *end);
/* The end of the batch in which place `from` of a pass is. */
int64_t sgd_context_end(const int64_t *end, int64_t from);

/* Rows in blocks of at most `most`, of one context each where the model has contexts: block
 * b is row[cut[b]] .. row[cut[b + 1] - 1]; row[i] stands at place[i] in `rows`. */
typedef struct sgd_blocks {
    int64_t n, *cut, *row, *place;
} sgd_blocks;
sgd_blocks sgd_blocks_new(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                          int64_t most, weft_arena *mem);

#endif
