/* Shared by the solvers of ridge regression. Private to src/model/ridge*.c.
 *
 * The intercept is not penalised, so it drops out of the centred system
 *     (F_c^T F_c + alpha I) w = F_c^T y_c,   F_c = F - 1 m^T, m the means of the columns,
 * with F_c^T F_c = F^T F - n m m^T. The targets of all classes add up to a constant, so the
 * centred ones and the weights add up to zero: only classes - 1 systems are solved. Where
 * targets are numbers, there is a system for each. Where rows have weights, all sums over
 * rows, n and F_c^T F_c among them, are weighted.
 * Vectors over columns are replicated and equal to the bit on all ranks, but for those of
 * an iteration of conjugate gradients (ridge_block.h). */
#ifndef RIDGE_H
#define RIDGE_H

#include "weft/model.h"

typedef struct ridge_system {
    const weft_matrix *matrix;
    const weft_answers *y;
    const real *weight; /* [c][f->n] of the rows, for products; NULL: 1 */
    double total;       /* rows over all ranks; the sum of their weights */
    int c;              /* systems */
    int outputs; /* c + 1 of classes, the last one minus the sum of the others; or c */
    double alpha;
    double tol;          /* share of each class's gain that may be missing in cg */
    int limit;           /* iterations */
    double *mean;        /* [d] of the columns of F */
    double *target_mean; /* [outputs] */
    double *variance;    /* [outputs] of the targets */
    double *rhs;         /* [c][d] F_c^T y_c */
    double scale;        /* |F_c^T y_c| over all classes */
    real *rounded;       /* [c][d] vectors that F multiplies */
    int iterations, passes;
    weft_arena *tmp;
} ridge_system;

/* q = (F_c^T F_c + alpha I) v for p <= c vectors, v[p][d] rounded to reals. Collective. */
void ridge_product(ridge_system *system, int p, const double *v, double *q);
/* q += alpha v - n (m . v) m in the columns first .. end-1, which makes q = F^T F v that
 * product; along = m . v. */
void ridge_centre(const ridge_system *system, int64_t first, int64_t end, double along,
                  const double *v, double *q);
/* What output j is to be of row i. */
double ridge_target(const ridge_system *system, int64_t i, int j);
/* r = F_c^T y_c - (F_c^T F_c + alpha I) w; returns |r| / |F_c^T y_c| over all classes.
 * Collective. */
double ridge_residual(ridge_system *system, const double *w, double *r);
double ridge_dot(int64_t n, const double *a, const double *b); /* summed in a fixed order */
/* Frobenius norm of x[c][d] and of minus the sum of its rows, which is the last class;
 * norms are compared with each other alone. */
double ridge_norm(const ridge_system *system, const double *x);
/* Rounds x to reals, which the model stores. */
void ridge_round(const ridge_system *system, double *x);

/* Solvers: x[c][d] in: the start, out: the solution, rounded to reals; r[c][d] out: its
 * recomputed residual. Both return the relative residual, NAN if there is no solution.
 * Collective. */
double ridge_cg(ridge_system *system, double *x, double *r);
double ridge_cholesky(ridge_system *system, double *x, double *r);

/* At most so many iterations of cg, fewer where the residual vanishes, on x[c][d], its
 * recursive residual r[c][d] and the np directions p[c][d], reals; np < 0: starts at x.
 * Returns the number of directions. The bits do not depend on how iterations are divided
 * into calls. Collective. */
int ridge_cg_continue(ridge_system *system, int iterations, double *x, double *r, int np,
                      double *p);

#endif
