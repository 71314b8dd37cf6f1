/* Least squares in its principal directions: the effect of gradient flow, gradient descent
 * and ridge regression on each of them, and the risk. Private to task flow, and to its
 * test. Letters are those of the paper: S = X^T X / n = V diag(s) V^T, beta_0 the
 * coefficients that made the responses y = X beta_0 + noise of variance sigma^2. Ali,
 * Kolter, Tibshirani, "A continuous-time view of early stopping for least squares", AISTATS
 * 2019. */
#ifndef WEFT_TASK_FLOW_FLOW_H
#define WEFT_TASK_FLOW_FLOW_H

#include "weft/data.h"

/* The problem. */
typedef struct flow_problem {
    int64_t p, n;    /* features, samples */
    int m;           /* principal directions: p, or min(p, n) of data */
    double *s;       /* [m] eigenvalues of S, falling; below rounding: 0 */
    double *c;       /* [m] (v_i^T beta_0)^2; 0 where s is, on data */
    double variance; /* sigma^2 */
    double weight;   /* of a direction in the loss: 0: 1, estimation; 1: s_i, prediction */
} flow_problem;

typedef enum flow_method { FLOW_FLOW, FLOW_DESCENT, FLOW_RIDGE } flow_method;

/* A configuration. */
typedef struct flow_setting {
    int64_t method;   /* flow_method */
    double step;      /* e */
    double lambda;    /* penalty */
    int64_t features; /* principal directions that are fitted, the largest s first; 0: all
                       */
} flow_setting;

/* Training rows of a packed data set, with centred columns, in the basis of its principal
 * directions. */
typedef struct flow_data {
    const weft_data *data;
    weft_team *team;
    int64_t d;        /* columns of the data */
    int64_t response; /* column that is the response; -1: the label */
    int64_t p, n;
    int dual;       /* 1: n < p, eigenvectors of X X^T */
    double largest; /* magnitude of a feature */
    double *mean;   /* [d] of the columns, and of the response: */
    double mean_y;
    double unit;    /* s_1, before all are divided by it; 1 where they are not */
    double *vector; /* [m][m], rows are eigenvectors; rank 0 of the team only */
    double *z;      /* [m] v_i^T X^T y / n */
} flow_data;

#endif
