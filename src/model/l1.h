/* Logistic regression with an L1 penalty, called by margin.c. Private to src/model.
 *     min |w|_1 + |b| + sum_i C_i log(1 + exp(-y_i (x_i . w + b))),
 * of which C_i / (1 + exp(m_i)) at margins m_i, scaled down by s until no column's
 * |sum_i a_i y_i x_ij|, nor |sum_i a_i y_i|, is more than 1, gives a lower bound:
 * - sum_i conj(s a_i). The gap between the two ends a fit. */
#ifndef WEFT_MODEL_L1_H
#define WEFT_MODEL_L1_H

#include "dual.h"

/* Columns that can have a weight; equal ones are one, which has the weights of all. */
typedef struct l1_columns {
    int64_t n, d;   /* rows; columns */
    int64_t *first; /* [d+1] name[first[j]] .. name[first[j+1]-1] are the columns of the
                       matrix that are column j, increasing */
    int64_t *name;  /* [first[d]] */
    int64_t *start; /* [d+1] entries of column j: start[j] .. start[j+1] - 1, rows
                       increasing */
    uint32_t *row;  /* [start[d]] */
    float *value;   /* [start[d]] */
    double *square; /* [d] sum of the squares of a column's entries */
    double *weight; /* [n] of the losses of rows, beside C */
    double most;    /* largest of these */
} l1_columns;

/* The columns of the rows, which have `d`, with sum_i C_i |x_ij| > 1, C_i being C times the
 * weight of a row: all others have weight 0, since no a_i is more than C_i. Cost: sorts as
 * many hashes as there are columns. */
l1_columns *l1_columns_of(const margin_problem *problem, const dual_rows *rows, int64_t d,
                          weft_arena *mem);
/* Fits one output to all rows, starting from zero; w[d] over the matrix's columns;
 * out->objective is the sum over samples. Cost: a Newton step reads all columns once and
 * those of the working set ten times, more often where C is large: then 20 to 100 times,
 * and there are 30 to 100 steps. */
void l1_fit(const margin_problem *problem, const l1_columns *columns, const int32_t *label,
            const margin_output *output, int64_t d, real *w, real *intercept,
            weft_fitted *out, weft_arena *tmp);
/* The same on any matrix, by products, starting from w. Collective. */
void l1_products_fit(const margin_problem *problem, const weft_matrix *matrix,
                     const weft_answers *answers, const margin_output *output, real *w,
                     real *intercept, weft_fitted *out, weft_arena *tmp);

#endif
