/* Densities on configurations: sums of kernels, each a product over axes. */
#ifndef WEFT_SAMPLER_PRODUCT_H
#define WEFT_SAMPLER_PRODUCT_H

#include "weft/arena.h"
#include "weft/rng.h"

/* Factors of n kernels on one axis. */
typedef struct weft_product_axis {
    int levels; /* of a category; 0: a number on [0, 1] */
    double *mu; /* [n] centre, or level; level -1: the same probability for all levels */
    /* numbers */
    int density;   /* 1: the kernels of weft_product_joint are densities; 0: all have the
                      height of one with sigma 1, so that wide ones have more mass */
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

/* A density with all numbers 0, to be filled in; arrays are owned by mem. */
weft_product weft_product_new(int dim, int64_t n, weft_arena *mem);
/* Fills in shares and widths; mu and levels must be set. Shares are equal. Widths follow
 * the normal reference rule, h = 1.06 sd n^(-1 / (4 + dim)), at least `least`; the kernel
 * of a category is that of Aitchison and Aitken: 1 - h for its own level, the rest divided
 * equally among the others. As KDEMultivariate of statsmodels. */
void weft_product_reference(weft_product *product, double least);
/* Fills in shares and widths of kernels on m = n - 1 trials, the oldest first, and of the
 * wide kernel, which is the last; levels, `density` and mu[m] must be set, mu NAN where a
 * trial lacks the axis: it has the wide kernel there, N(1/2, 1) or equal probabilities of
 * levels. The others have sigma = 0.2 m^(-1 / (4 + dim)), at least 1 / min(100, m + 2);
 * numbers are truncated to [0, 1]. Shares are by age, as those of weft_parzen_weight. A
 * density is sqrt(2 pi) times as large for every number without an interval, which ratios
 * of densities do not show. As Optuna's multivariate estimator. */
void weft_product_joint(weft_product *product);
/* A draw from kernel j of weft_product_joint on one axis: a position, or a level. */
double weft_product_draw(const weft_product_axis *axis, int64_t j, const weft_rng4 *rng);
/* Logarithm of the density at x[dim]; at least log(1e-300). Cost O(n dim). */
double weft_product_log(weft_product *product, const weft_product_point *point);

#endif
