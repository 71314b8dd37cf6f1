/* Quantiles of Student's distribution. */
#ifndef WEFT_STUDENT_H
#define WEFT_STUDENT_H

/* t with P(|T| < t) = 0.95, Student's distribution of `degrees` >= 1. Cost O(degrees). */
double weft_student(int degrees);

#endif
