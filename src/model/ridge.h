/* What the solvers of ridge regression share. Private to src/model/ridge*.c.
 *
 * The intercept is not penalised, so it drops out of the centred system
 *     (F_c^T F_c + alpha I) w = F_c^T y_c,   F_c = F - 1 m^T, m the means of the columns,
 * with F_c^T F_c = F^T F - n m m^T. The targets of all classes add up to a constant, so the
 * centred ones and the weights add up to zero: only classes - 1 systems are solved.
 * Vectors over columns are replicated and equal to the bit on all ranks. */
#ifndef RIDGE_H
#define RIDGE_H

#include "weft/model.h"

typedef struct ridge_system {
    const weft_matrix *f;
    const int32_t *label; /* [f->n] */
    int c;                /* systems: classes less one */
    double alpha;
    double tol;          /* share of each class's gain that cg may lack */
    int limit;           /* iterations */
    double *mean;        /* [d] of the columns of F */
    double *target_mean; /* [c+1] */
    double *rhs;         /* [c][d] F_c^T y_c */
    double scale;        /* |F_c^T y_c| over all classes */
    real *narrow;        /* [c][d] scratch of ridge_product */
    int iterations, passes;
    weft_arena *tmp;
} ridge_system;

/* q = (F_c^T F_c + alpha I) v for p <= c vectors, v[p][d] rounded to reals. Collective. */
void ridge_product(ridge_system *s, int p, const double *v, double *q);
/* r = F_c^T y_c - (F_c^T F_c + alpha I) w; returns |r| over all classes, relative to that
 * of F_c^T y_c. Collective. */
double ridge_residual(ridge_system *s, const double *w, double *r);
double ridge_dot(int64_t n, const double *a, const double *b); /* summed in a fixed order */
/* Frobenius norm of x[c][d] and of minus the sum of its rows, which is the last class. */
double ridge_norm(const ridge_system *s, const double *x);
/* x rounded to what the model keeps. */
void ridge_round(const ridge_system *s, double *x);

/* Solvers: x[c][d] in: the start, out: the solution, rounded to reals; r[c][d] out: its
 * residual, recomputed. Return the relative residual, NAN if there is no solution.
 * Collective. */
double ridge_cg(ridge_system *s, double *x, double *r);
double ridge_cholesky(ridge_system *s, double *x, double *r);

/* `most` iterations of cg, fewer where nothing is left, on x[c][d], its residual r[c][d] as
 * the recursion has it, and the np directions p[c][d]; np < 0: begins at x. Returns the
 * number of directions. However iterations are divided into calls, the bits are the same.
 * Collective. */
int ridge_cg_more(ridge_system *s, int most, double *x, double *r, int np, double *p);

#endif
