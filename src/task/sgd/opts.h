/* The options of task sgd, and what it measures. */
#ifndef WEFT_TASK_SGD_OPTS_H
#define WEFT_TASK_SGD_OPTS_H

#include "sgd.h"

extern const weft_opt sgd_opts[];
/* What is measured, in the order of the enums. */
extern const weft_metric sgd_metrics[], sgd_columns[], sgd_scores[];
enum {
    SGD_VALID_LOSS,
    SGD_VALID_ERROR,
    SGD_TRAIN_LOSS,
    SGD_BEST_EPOCH,
    SGD_EPOCHS,
    SGD_FOLD_ERROR,
    SGD_FOLD_HALF,
    SGD_FOLD_LOSS
};
enum {
    SGD_ROW_LOSS,
    SGD_ROW_ERROR,
    SGD_ROW_TRAIN,
    SGD_ROW_FOLD,
    SGD_ROW_SAMPLES,
    SGD_ROW_DIVERGED
};
enum { SGD_SCORE_BLEU = 6, SGD_SCORE_CHRF };
extern const weft_kind sgd_train_kind;
extern const weft_kind *const sgd_parts[];

/* ECONF: train.noise is given, and no sentences are to be translated into their own
 * language. */
WEFT_CHECKED weft_status sgd_check_noise(const sgd_task *sgd);
/* Options of a winner that is trained on all rows: none is left that it could be scored on,
 * or stopped by. */
void sgd_take_whole(sgd_task *sgd);
/* As weft_task.refit: as many epochs as were best, where the best weights are kept. */
double sgd_refit(const void *self, const weft_result *res);

#endif
