/* How well classes are predicted, beside loss and error. All functions are local. */
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
/* The class with the largest of score[classes], the first of equal ones. */
int weft_predicted(int classes, const double *score);

#endif
