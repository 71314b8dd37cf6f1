/* Linear models, fitted to the optimum of their objective on a feature matrix. Functions
 * are local unless said to be collective. */
#ifndef LIBWEFT_MODEL_MODEL_H
#define LIBWEFT_MODEL_MODEL_H

#include "weft/feature/feature.h"

/* How a fit ended. */
typedef struct weft_fitted {
    int iterations;   /* of the outer loop */
    int passes;       /* products with the matrix */
    double objective; /* per training sample */
    double residual;  /* ridge: |F^T(y - F w - b) - alpha w| / |F^T y|; else (objective -
                         optimum) / (objective of the best constant score - optimum), of the
                         worst output: a bound by dual ascent, an estimate by Newton steps */
    int diverged;     /* 1: not finite or not positive definite */
} weft_fitted;

/* What is to be said of the local rows of a matrix. */
typedef struct weft_answers {
    int classes;          /* or numbers of a row */
    const int32_t *label; /* [n] 0 .. classes-1 */
    const double *target; /* [n][classes] numbers in place of classes; NULL: classes */
    const double *weight; /* [n] of the loss of a row; NULL: 1 */
} weft_answers;

/* A loss with its solver. Weights are class-major: w[outputs][d], then intercepts
 * [outputs]. */
typedef struct weft_model {
    weft_kind kind;
    int serial;  /* 1: sparse rows of one group are fitted by one rank whatever the size of
                    the team, and from zero whatever w is */
    int numbers; /* 1: answers may be numbers, whose squared error is the loss */
    int (*outputs)(int classes); /* rows of w: classes, or 1 for two classes */
    /* ECONF, with the reason, if the options select a solver that takes no weights of rows.
     * NULL: all take them, where rows are not sparse. */
    weft_status (*weighs)(const void *self);
    /* ECONF likewise, if it needs Gram matrices, which the feature map has not. NULL: none
     * does. */
    weft_status (*gramless)(const void *self);
    /* Fits w (in: the start, which dual ascent ignores; zeros are always allowed) to the
     * answers y, up to `slack` >= 1 times the tolerance of the options. A
     * class to which no sample or every sample belongs gets the best constant score.
     * Collective, same bits on any number of ranks unless the solver says otherwise. */
    void (*fit)(const void *self, const weft_matrix *matrix, const weft_answers *answers,
                double slack, real *w, weft_fitted *out, weft_arena *tmp);
    /* The same fit in pieces, NULL where the model has no such solver.
     * divisible: ECONF, with the reason, if the options select another solver.
     * piece_size: number of doubles passed from piece to piece for d columns; only y's
     * members classes and target, NULL or not, are used. piece: the
     * next `iterations` of its solver, fewer when it has converged to rounding; a
     * tolerance is not used. state[piece_size] in and out; state[0] = -1 before the
     * first piece, when the rest is the start: zeros, or the weights of another fit. w
     * out: the weights after these iterations. The bits do not depend on how iterations
     * are divided into pieces. Collective, same bits on any number of ranks. */
    weft_status (*divisible)(const void *self);
    int64_t (*piece_size)(int64_t d, const weft_answers *answers);
    void (*piece)(const void *self, const weft_matrix *matrix, const weft_answers *answers,
                  int iterations, double *state, real *w, weft_fitted *out,
                  weft_arena *tmp);
    /* Loss of one sample with scores s[outputs] and label y; *wrong = 1 if argmax is not y.
     */
    double (*loss)(const void *self, int classes, const double *s, int y, int *wrong);
    /* Probability, before they are scaled to a sum of 1, of the class that has score s, or
     * of class 1 of two. NULL: scores are no probabilities. */
    double (*chance)(double s);
    double (*bound)(const void *self, int classes); /* losses above this bound are replaced
                                                       by it, so that sums can be exact */
    /* Memory of a fit on a rank beside a few vectors for each output (dual ascent of many
     * outputs: of 16 outputs at a time, and a copy of this rank's entries): *bytes for a
     * matrix with Gram matrices of d columns and `total` rows over the team (only these
     * members of it are set). NULL: none. ridge, solver = cholesky: weft_grid_bytes(min(d,
     * total), size). ELIMIT where it is more than `allowed`. */
    weft_status (*memory)(const void *self, const weft_matrix *matrix, double allowed,
                          double *bytes);
} weft_model;

#endif
