/* Private to src/model: what the solvers of ridge regression share.
 *
 * The intercept is not penalised, so it drops out of the centred system
 *     (F_c^T F_c + alpha I) w = F_c^T y_c,   F_c = F - 1 m^T, m the means of the columns,
 * with F_c^T F_c = F^T F - n m m^T. The targets of all classes add up to a constant, so the
 * centred ones and the weights add up to zero: only classes - 1 systems are solved. Where
 * targets are numbers, there is a system for each. Where rows have weights, all sums over
 * rows, n and F_c^T F_c among them, are weighted.
 * Vectors over columns are replicated and equal to the bit on all ranks, but for those of
 * an iteration of conjugate gradients (block_space). */
#ifndef WEFT_MODEL_RIDGE_H
#define WEFT_MODEL_RIDGE_H

#include "model.h"

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

/* Block vectors of the conjugate gradients: few long vectors over the columns of F,
 * x[p][d]. From DEALT blocks of WEFT_BLOCK columns on, each rank has its own columns of
 * them, those of weft_deal(d, rank, size), and the others are undefined; with fewer, all
 * ranks have all and compute the same. Sums over columns are made of the sums of blocks,
 * which all ranks add in the order of the blocks: the bits do not depend on ranks. */
typedef struct block_space {
    int64_t d, first, end; /* columns; this rank has first .. end-1 */
    int dealt;             /* 1: not all */
    weft_team *team;
    weft_arena *tmp;
} block_space;

/* The space of vectors over d columns, and the columns that this rank of the team has. t
 * and tmp are borrowed. */
block_space block_space_new(weft_team *team, int64_t d, weft_arena *tmp);

/* Sums over columns that are joined together: n of each block. */
typedef struct block_sums {
    int n;
    double *of; /* [blocks][n] */
} block_sums;

/* Zeros, in tmp. */
block_sums block_sums_new(const block_space *space, int n);
/* Sums at .. at + p c - 1 of the own blocks: a b^T of a[p][d] and b[c][d]. */
void block_inner(const block_space *space, block_sums *sums, int at, int p, const double *a,
                 int c, const double *b);
/* Sums at .. at + c: a_j . b_j of a[c][d] and b[c][d]; the last is that of class c, minus
 * the sum of the others. */
void block_classes(const block_space *space, block_sums *sums, int at, int c,
                   const double *a, const double *b);
/* total[n] over all columns. Collective. */
void block_total(const block_space *space, const block_sums *sums, double *total);

/* y[c][d] += sign g^T x of g[p][c] and x[p][d], without the terms where g is 0. */
void block_combine(const block_space *space, int p, double sign, const double *g,
                   const double *x, int c, double *y);
/* Orthonormal vectors p that span z[c][d], which is used up, rounded to reals; vectors that
 * are shorter than 1e-6 of their length after orthogonalisation, zero or not finite are
 * left out. Returns their number; rounded[c][d] gets all their columns. Collective. */
int block_basis(const block_space *space, int c, double *z, double *p, real *rounded);
/* All ranks get all columns of x[c][d]. Collective. */
void block_share(const block_space *space, int c, double *x);

#endif
