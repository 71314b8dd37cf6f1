/* Densities on configurations: sums of kernels, each a product over axes. */
#ifndef WEFT_SAMPLER_PRODUCT_H
#define WEFT_SAMPLER_PRODUCT_H

#include "weft/base.h"

/* Factors of n kernels on one axis. */
typedef struct weft_product_axis {
    int levels; /* of a category; 0: a number on [0, 1] */
    double *mu; /* [n] centre, or level; level -1: the same probability for all levels */
    /* numbers */
    double *sigma; /* [n] */
    double *part;  /* [n] factor of exp(-z^2 / 2), or of the probability of an interval */
    /* categories */
    double same, other; /* probability of a kernel's own level, and of each other level */
} weft_product_axis;

typedef struct weft_product {
    int dim;
    int64_t n;
    double *share;           /* [n] [n] weights of the kernels; sum 1 */
    weft_product_axis *axis; /* [dim] */
    double *factor, *power;  /* [n] scratch */
} weft_product;

/* One coordinate of the point at which a density is evaluated. */
typedef struct weft_product_point {
    double at;     /* position in [0, 1], or level; NAN: the axis does not exist and is left
                      out */
    double lo, hi; /* if lo < hi: the probability of this interval of a number is taken
                      instead */
} weft_product_point;

/* A density with all numbers 0, to be filled in; arrays are owned by mem. Local. */
weft_product weft_product_new(int dim, int64_t n, weft_arena *mem);
/* Fills in shares and widths; mu and levels must be set. Shares are equal. Widths follow
 * the normal reference rule, h = 1.06 sd n^(-1 / (4 + dim)), at least `least`; the kernel
 * of a category is that of Aitchison and Aitken: 1 - h for its own level, the rest divided
 * equally among the others. As KDEMultivariate of statsmodels. Local. */
void weft_product_reference(weft_product *p, double least);
/* Logarithm of the density at x[dim]; at least log(1e-300). Cost O(n dim). Local. */
double weft_product_log(weft_product *p, const weft_product_point *x);

#endif
