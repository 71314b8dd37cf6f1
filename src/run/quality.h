/* How well classes or numbers are predicted, beside loss and error. All functions are
 * local. */
#ifndef WEFT_RUN_QUALITY_H
#define WEFT_RUN_QUALITY_H

#include "weft/scores.h"

/* Of the classes that have rows: */
typedef struct weft_quality {
    double balanced; /* mean over the classes of the share of their rows that is wrong */
    double f1;       /* mean over the classes of 2 TP / (2 TP + FP + FN) */
    double auc;      /* probability that a row of a class has a larger score for it than one
                        of another class, ties half; mean over the classes, class 1 alone of
                        two; NAN: only one class has rows */
    int64_t *confusion; /* [classes][classes] rows of a class by the class predicted */
} weft_quality;

/* Of predictions for rows of classes label[predictions->n]. Memory from mem. Cost O(n log
 * n) a class.
 */
weft_quality weft_quality_of(const weft_predictions *predictions, const int32_t *label,
                             weft_arena *mem);
/* Of a target: */
typedef struct weft_fit_quality {
    double mse; /* mean squared error, by the weights of the rows, in units of its square */
    double r2;  /* 1 - mse over the variance of the targets of these rows; NAN: it is 0 */
} weft_fit_quality;

/* Of the numbers predicted for target k of rows
 * target[predictions->n][predictions->classes] with these weights (NULL: 1). As
 * scikit-learn's mean_squared_error and r2_score. Cost O(n). */
weft_fit_quality weft_fit_quality_of(const weft_predictions *predictions,
                                     const double *target, const double *weight, int k);
/* The class with the largest of score[classes], the first of equal ones. */
int weft_predicted(int classes, const double *score);

#endif
