/* Sums over the answers of all rows, exact. Private to src/model. */
#ifndef WEFT_MODEL_ANSWERS_H
#define WEFT_MODEL_ANSWERS_H

#include "weft/model.h"

/* Sum of the weights of all rows. Collective. */
double answers_total(const weft_matrix *matrix, const weft_answers *answers);
/* The same of the rows of each class: count[answers->classes]. Collective. */
void answers_count(const weft_matrix *matrix, const weft_answers *answers, double *count,
                   weft_arena *tmp);
/* Mean and variance of the numbers: [answers->classes]. Collective. */
void answers_moments(const weft_matrix *matrix, const weft_answers *answers, double *mean,
                     double *variance, weft_arena *tmp);

#endif
