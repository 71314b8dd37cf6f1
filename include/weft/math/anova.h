/* Which variables of a function its variance is due to, and which of them good points have
 * in common. All functions are local. */
#ifndef LIBWEFT_MATH_ANOVA_H
#define LIBWEFT_MATH_ANOVA_H

#include "weft/math/trees.h"

/* The variance of each tree of a forest, divided among its variables. With f(x) the value
 * of the leaf in which x is, x uniform on [0, 1] for numbers and equally likely for the
 * levels of categories, and f_U(x_U) its mean over all variables but U, whole = V(f),
 * one[a] = V(f_a),  two[a, b] = V(f_ab) - V(f_a) - V(f_b), the last at least 0. Hutter,
 * Hoos, Leyton-Brown, "An efficient approach for assessing hyperparameter importance", ICML
 * 2014. */
typedef struct weft_anova {
    int dim, ntree;
    double *whole; /* [ntree] */
    double *one;   /* [dim][ntree] */
    double *two;   /* [dim (dim - 1) / 2][ntree] of axes a < b in row weft_anova_pair(a, b);
                      NULL: not asked for */
} weft_anova;

/* b (b - 1) / 2 + a */
int weft_anova_pair(int a, int b);
/* Fills *anova, owned by mem; pairs 1: with `two`. The sums run in the order of leaves and
 * cuts. Cost of a tree with m leaves O(m dim log m); with pairs, O(m dim^2 + the product of
 * both axes' cuts, at most m^2 / 2 over all pairs). */
void weft_anova_find(weft_anova *anova, const weft_trees *trees, int pairs,
                     weft_arena *mem);
/* The mean over the trees with a variance of the share row[ntree] / whole[ntree], and its
 * quantiles 0.05 and 0.95 over them; all NAN where no tree has a variance. row   of `one`
 * or `two`. Returns the number of such trees. */
int weft_anova_share(const weft_anova *anova, const double *row, double *mean, double *low,
                     double *high, weft_arena *tmp);
/* What a forest says of n places x[n] of a variable, 0 .. 1 of a number, levels of a
 * category: y[j] has the mean over trees of f_axis(x[j]), and its quantiles 0.05 and 0.95
 * over them. Cost of a tree with m leaves O(m (dim + log m) + n log m). Friedman, "Greedy
 * function approximation", 2001 (partial dependence, here on the uniform distribution). */
void weft_anova_curve(const weft_trees *trees, int axis, int n, const double *x,
                      double (*y)[3], weft_arena *tmp);

/* How much the n points of x[n], places 0 .. steps - 1 of one variable, that are good
 * differ from all, by PED-ANOVA: alpha^2 / beta times sum_j p_j (q_j / p_j - 1)^2, p and q
 * densities on the places of all points that have the variable and of the good ones among
 * them, each estimated by a kernel on every place that occurs, of Scott's width, and one of
 * weight 1 for the whole range; alpha and beta the shares of good ones and of all that have
 * it. category 1: places without an order. A place < 0: the point does not have the
 * variable. 0 where there are no good ones, or fewer than two points have it. Watanabe,
 * Bansal, Hutter, "PED-ANOVA: efficiently quantifying hyperparameter importance in
 * arbitrary subspaces", IJCAI 2023; the details, and variables that not all points have, as
 * in Optuna
 * 5. Cost O(n + steps^2). */
double weft_anova_good(int n, const int *x, const char *good, int steps, int category,
                       weft_arena *tmp);

#endif
