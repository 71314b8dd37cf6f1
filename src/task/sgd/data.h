/* The samples of task sgd. */
#ifndef WEFT_TASK_SGD_DATA_H
#define WEFT_TASK_SGD_DATA_H

#include "sgd.h"

/* Opens the data on this rank only, with vectors of words, and sets shape. EFILE, EDATA,
 * ECONF. Collective. */
WEFT_CHECKED weft_status sgd_open(sgd_task *sgd);
/* The part of a row, and its class. */
int sgd_part_of(const sgd_task *sgd, int64_t row);
int32_t sgd_label_of(const sgd_task *sgd, int64_t row);
/* 1: samples are weighted by their class, at least in some configurations; the option that
 * asks for that. */
int sgd_balances(const sgd_task *sgd);
const char *sgd_balance_key(const sgd_task *sgd);
/* The words word[n] of a row; of a pair n counts those of both sentences. */
const uint32_t *sgd_words_of(const sgd_task *sgd, int64_t row, int *n);
/* A row and its number of words. */
typedef struct sgd_length {
    int64_t row;
    int words, place;
} sgd_length;
/* The rows row[n] by decreasing length, those of equal length in their order. */
void sgd_sort_by_length(const sgd_task *sgd, int n, const int64_t *row, sgd_length *out);
/* Room for batches of up to `most` samples. */
sgd_work sgd_work_new(const sgd_task *sgd, const sgd_model *model, int most,
                      weft_arena *tmp);
/* What is known of rows, not of characters; owned by mem. */
weft_truth sgd_truth(const sgd_task *sgd, const sgd_rows *rows, weft_arena *mem);
/* 1: the network, by its data, has an answer of each row. */
int sgd_answers(const sgd_task *sgd);
/* 1: rows have weights. */
int sgd_weighs(const sgd_task *sgd);
/* The samples row[n] in the tables of k; weight [classes] or NULL. */
weft_batch sgd_batch(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int n,
                     const int64_t *row, const double *weight);

#endif
