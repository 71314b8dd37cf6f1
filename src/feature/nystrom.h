/* Private to nystrom*.c: the parts of the Nystrom feature map. */
#ifndef WEFT_NYSTROM_H
#define WEFT_NYSTROM_H

#include "weft/feature.h"

enum { NYSTROM_GAUSSIAN, NYSTROM_LAPLACIAN }; /* kernel */

/* The instance: options, which differ between configurations, and what all share. */
typedef struct nystrom_map {
    int kernel, linear;
    double gamma;
    int64_t landmarks;
    struct nystrom_shared *shared; /* set by setup */
} nystrom_map;

/* Landmarks z_1 .. z_m, standardised as all rows, and the factor L of their kernel:
 * L L^T = K + NYSTROM_JITTER diag(K), K_ij = k(z_i, z_j), or more of the diagonal. */
typedef struct nystrom_basis {
    int64_t m;
    int d;
    const real *shift, *scale; /* [d] x' = (x - shift) scale */
    const real *z;             /* [m][d] */
    real *across;              /* [d][m] the same by columns */
    double *length2;           /* [m] |z_i|^2 */
    void *packed;              /* z for weft_deep_times */
    real *factor;              /* [m][ld] L, rows of 0 beyond; of training rows alone */
    size_t ld;
} nystrom_basis;

typedef struct nystrom_shared {
    const weft_source *data;
    int d;
} nystrom_shared;

/* Share of itself by which the diagonal of K is larger, so that a factor in floats exists;
 * 8 times as much, 64 and so on where it does not. */
#define NYSTROM_JITTER 0x1p-13

/* ---- nystrom_kernel.c ---- */

/* Statistics of the rows of a part, those of all ranks, with so many landmarks at most:
 * stat[nystrom_reals(d, landmarks)]. Collective. */
int64_t nystrom_reals(int64_t d, int64_t landmarks);
void nystrom_fit(const nystrom_shared *shared, weft_part part, int64_t landmarks,
                 real *stat, weft_arena *tmp);
/* Distance of rows of so many features. */
size_t nystrom_apart(int64_t m);
/* All m columns b[m][ldb] of k numbers by weft_deep_pack. */
void nystrom_pack(int k, int m, const real *b, size_t ldb, void *mem);
/* The basis of such statistics, without the factor. */
nystrom_basis nystrom_basis_of(const nystrom_shared *shared, const real *stat,
                               weft_arena *mem);
/* x'[n][d] of rows [i, i + n) of this rank. */
void nystrom_rows(const nystrom_basis *basis, const weft_rows *rows, int64_t i, int n,
                  real *x);
/* to[n][ld] = k(x_i, z_j), j < m, for standardised rows x[n][d]; of rows that are the
 * landmarks from `first` on those with j < first + i + 1 at least; first -1: they are not.
 * An entry depends on its row and landmark alone. Cost n m d, and n m exponentials. */
void nystrom_kernel(const nystrom_map *map, const nystrom_basis *basis, int n,
                    const real *x, int64_t first, real *to, size_t ld, weft_arena *tmp);

/* ---- nystrom_factor.c ---- */

/* Turns the m + more rows of a[m + more][ld], of which the first hold the lower triangle of
 * a symmetric matrix A, and the others rows B, into L of A = L L^T and B L^-T, in blocks of
 * columns. 0: A is not positive definite. The same bits on all CPUs. Cost m^3 / 3 +
 * more m^2. */
int nystrom_factor(int64_t m, int64_t more, real *a, size_t ld, weft_arena *tmp);
/* a[m] = L^-T w. */
void nystrom_solve(const nystrom_basis *basis, const real *w, real *a, weft_arena *tmp);

/* ---- nystrom_matrix.c ---- */

/* A matrix of d columns, of which those from m on are 0. */
typedef struct nystrom_matrix {
    const nystrom_map *map;
    nystrom_basis basis;
    const weft_rows *rows;
    const real *f;  /* [n][ld] the features of training rows; of others NULL */
    int64_t lower;  /* features of row i from lower + i + 1 on are 0 */
    double largest; /* magnitude of these features, on all ranks */
} nystrom_matrix;

void nystrom_matrix_vtable(weft_matrix *matrix);

#endif
