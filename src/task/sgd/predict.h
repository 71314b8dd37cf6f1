/* Predictions of single rows. */
#ifndef WEFT_TASK_SGD_PREDICT_H
#define WEFT_TASK_SGD_PREDICT_H

#include "sgd.h"

/* Probabilities of the classes of rows: means over the networks x of the folds. ECONF: the
 * network or its data have no rows of one answer each. Collective. */
WEFT_CHECKED weft_status sgd_predict(const sgd_task *sgd, const sgd_model *model,
                                     const sgd_rows *rows, const real *x,
                                     weft_predictions *out, weft_arena *mem);

#endif
