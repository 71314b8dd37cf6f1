/* Predictions of single rows. */
#ifndef WEFT_TASK_SGD_PREDICT_H
#define WEFT_TASK_SGD_PREDICT_H

#include "sgd.h"

/* Probabilities of the classes of rows, or numbers: means over the networks x[nets]. ECONF:
 * there is not one answer a row. Collective. */
WEFT_CHECKED weft_status sgd_predict(const sgd_task *sgd, const sgd_model *model,
                                     const sgd_rows *rows, int nets, const real *x,
                                     weft_predictions *out, weft_arena *mem);
/* The joint measure of one network on rows. Collective. */
double sgd_measure(const sgd_task *sgd, weft_measure measure, const sgd_model *model,
                   const sgd_rows *rows, const real *x);
/* How well the means over the networks of the folds are on rows: the scores behind loss and
 * error, confusion and fit, owned by mem; nothing where there is not one answer a row.
 * Collective. */
void sgd_judge(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
               const real *x, weft_scores *out, weft_arena *mem);

#endif
