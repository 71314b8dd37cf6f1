/* The state of a fit with an L1 penalty (l1.c), and the part of a Newton step that changes
 * all weights that are not 0 together (l1_cg.c). Private to src/model. */
#ifndef WEFT_MODEL_L1_CG_H
#define WEFT_MODEL_L1_CG_H

#include "l1.h"

#define L1_DAMPING 1e-12 /* added to the second derivative in every weight */

/* The weights that are not 0, of columns in the order of the working set, then the
 * intercept if it is not 0. */
typedef struct l1_support {
    int64_t n;
    int64_t *place;   /* [n] index in the working set; -1: the intercept */
    double *from;     /* [n] weights before */
    double *fall;     /* [n] minus the derivative of the model there */
    double *change;   /* [n] changes that conjugate gradients propose */
    double *residual; /* [n] minus the derivative at from + change */
    double *way;      /* [n] direction of a search; changes that it takes */
    double *bend;     /* [n] second derivatives times way */
    double *along;    /* [rows] change of score by way */
} l1_support;

/* A fit of one output. A step changes weights by `step` and the intercept by `shift`; its
 * model is the quadratic one of the losses at the weights before, plus the penalty. */
struct lasso {
    const margin_problem *problem;
    const l1_columns *columns;
    const margin_output *asked;
    double *y;                     /* [n] 1 or -1 */
    double *score;                 /* [n] x_i . w + b */
    double *a;                     /* [n] a_i y_i */
    double *curve;                 /* [n] second derivative of a row's loss */
    double *along;                 /* [n] change of score by the step; while it is sought,
                                      without that by the shift */
    double *w, *g, *slopes;        /* [d] weights; sum_i a_i y_i x_ij; scratch */
    int64_t *candidates, *working; /* columns that may have a weight; working set */
    int64_t ncandidates, nworking;
    double b, shift;               /* intercept; its change by the step */
    double slope, curvature;       /* of the model in the intercept, without the penalty */
    double *step, *second, *cross; /* [d] by place in the working set: change of a weight;
                                  second derivatives in it; in it and the intercept */
    l1_support support;
    double floor;                /* added to q (1 - q) */
    double objective, best, gap; /* primal; highest lower bound; gap of this step */
    int passes;                  /* over the working set */
};

/* Room for the support of a fit to these columns. Owned by tmp. */
l1_support l1_support_new(const l1_columns *columns, weft_arena *tmp);
/* Reduces the model of a step over the weights that are not 0, all others fixed: changes
 * step, shift, along and slope. Weights that would change their sign become 0. Returns the
 * decrease, 0 if none was found. Cost: at most 30 products with the columns of the
 * support, and 22 with their transposes. */
double l1_minimise_support(struct lasso *lasso);

#endif
