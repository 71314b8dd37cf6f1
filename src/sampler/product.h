/* Densities on configurations: sums of kernels, each a product over the axes of a group. */
#ifndef WEFT_SAMPLER_PRODUCT_H
#define WEFT_SAMPLER_PRODUCT_H

#include "weft/base.h"

/* Factors of n kernels on one axis. */
typedef struct weft_product_axis {
    int levels; /* of a category; 0: a number on [0, 1] */
    double *mu; /* [n] middle, or level; a level of -1 gives all levels the same */
    /* numbers */
    double *sigma; /* [n] */
    double *part;  /* [n] factor of exp(-z^2 / 2), or of the probability of an interval */
    /* categories */
    double same, other; /* probability of a kernel's own level, of each other one */
} weft_product_axis;

typedef struct weft_product {
    int dim;
    int64_t n;
    double *share;           /* [n] of the kernels; sum 1 */
    weft_product_axis *axis; /* [dim] */
    double *factor, *power;  /* [n] scratch */
} weft_product;

/* Where a density is asked for, on one axis. */
typedef struct weft_product_point {
    double at; /* on [0, 1]; a level; NAN: it has no such axis, which then does not count */
    double lo, hi; /* lo < hi: the probability of this interval instead, of a number */
} weft_product_point;

/* All zeros, to be filled in; arrays are of mem. Local. */
weft_product weft_product_new(int dim, int64_t n, weft_arena *mem);
/* Gives n kernels on mu, of equal shares, densities whose widths follow the normal
 * reference rule, h = 1.06 sd n^(-1 / (4 + dim)), at least `least`; a category's kernel has
 * 1 - h on its own level and the rest evenly on the others, as Aitchison and Aitken's. mu
 * and levels are given. statsmodels' KDEMultivariate. Local. */
void weft_product_refer(weft_product *p, double least);
/* Log of the density at x[dim]; at least log(1e-300). Cost O(n dim). Local. */
double weft_product_log(weft_product *p, const weft_product_point *x);

#endif
