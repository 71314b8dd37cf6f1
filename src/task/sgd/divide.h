/* The training, development and held-out samples of task sgd. */
#ifndef WEFT_TASK_SGD_DIVIDE_H
#define WEFT_TASK_SGD_DIVIDE_H

#include "sgd.h"

/* Divides the rows into folds. ECONF, EDATA. */
WEFT_CHECKED weft_status sgd_divide(sgd_task *sgd);

#endif
