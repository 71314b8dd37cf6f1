/* Block vectors of the conjugate gradients of ridge regression: few long vectors over the
 * columns of F, x[p][d]. From DEALT blocks of WEFT_BLOCK columns on, each rank has its own
 * columns of them, those of weft_deal(d, rank, size), and the others are undefined; with
 * fewer, all ranks have all and compute the same. Sums over columns are made of the sums of
 * blocks, which all ranks add in the order of the blocks: the bits do not depend on ranks.
 * Private to src/model/ridge*.c. */
#ifndef RIDGE_BLOCK_H
#define RIDGE_BLOCK_H

#include "weft/team.h"

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
