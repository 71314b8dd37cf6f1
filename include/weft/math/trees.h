/* Random forests for regression on points of numbers and categories. All functions are
 * local. */
#ifndef LIBWEFT_MATH_TREES_H
#define LIBWEFT_MATH_TREES_H

#include "weft/base/base.h"

#include <stdint.h>

enum { WEFT_TREE_LEVELS = 64 }; /* of a category, with that of points without it */
/* Features of a point: numbers, or levels 0 .. 63 of a category. */
typedef struct weft_trees_rule {
    int trees;
    int tries; /* number of features, chosen at random, that are tried for a split */
    int leaf;  /* least number of draws in a leaf */
} weft_trees_rule;

typedef struct weft_tree_node {
    uint64_t cut;    /* number: the bits of the largest value that goes left, made to
                        increase with it; category: set of the levels that go left; in a
                        leaf all ones */
    int32_t feature; /* feature that is split; 0 in a leaf */
    int32_t child;   /* left child, which the right one follows; in a leaf the node
                        itself */
} weft_tree_node;

typedef struct weft_trees {
    int dim, ntree;
    const int *levels; /* [dim] number of levels of a category; 0: a number. Borrowed */
    int *start;        /* [ntree + 1] first node of a tree */
    weft_tree_node *node;
    double *value; /* [nodes] mean of the values in the node */
    int *count;    /* [nodes] draws in the node */
} weft_trees;

/* Grows a forest on n points x[n][dim] with values y[n]. Each tree is grown on n points
 * drawn with replacement. A node is split where the sum of squared residuals decreases
 * most, of equal splits at the first: numbers halfway between neighbouring values,
 * categories with the levels in the order of their means (the best split is among these:
 * Breiman, Friedman, Olshen, Stone, "Classification and regression trees", 1984, theorem
 * 4.5); down to leaves of rule->leaf draws or with a single value.
 * Random numbers are keyed by (seed, tree), so that no tree depends on another. Arrays are
 * owned by mem. Cost O(trees dim n log n). Breiman, "Random forests", Machine Learning
 * 45, 2001. */
void weft_trees_grow(weft_trees *trees, const weft_trees_rule *rule, int n, int dim,
                     const int *levels, const double *x, const double *y, uint64_t seed,
                     weft_arena *mem);
/* Grows a forest anew from one that was grown by the same rule and seed on the first n of
 * `all` points x[all][dim]: the values y[n .. all-1] become those that it predicts, and
 * count as the others do. Cost as that of weft_trees_grow. Ginsbourger, Le Riche,
 * Carraro, "Kriging is well-suited to parallelize optimization", 2010 (kriging
 * believer). */
void weft_trees_believe(weft_trees *trees, const weft_trees_rule *rule, int n, int all,
                        const double *x, double *y, uint64_t seed, weft_arena *mem);
/* Adds a point x[dim] with the value that the forest predicts for it: the mean of its leaf
 * in each tree moves as if the point had been drawn once more, and no node is split. So the
 * trees agree more where points were added. Cost O(trees depth). */
void weft_trees_add(weft_trees *trees, const double *x, weft_arena *tmp);
/* Mean and sample variance (divisor trees - 1) over the trees' predictions for m points
 * x[m][dim]; tmp holds scratch. Cost O(m trees depth). */
void weft_trees_ask(const weft_trees *trees, int m, const double *x, double *mean,
                    double *variance, weft_arena *tmp);
/* The mean, at each of the n points x[n][dim] on which a forest was grown by that seed,
 * over the trees that were grown without the point; NAN where all have it. mean[n]. Cost
 * O(n trees depth). Breiman, 2001 (out of bag). */
void weft_trees_unseen(const weft_trees *trees, int n, const double *x, uint64_t seed,
                       double *mean, weft_arena *tmp);
/* The largest number that goes left at the cut of a node that splits numbers. */
double weft_trees_cut(uint64_t cut);

#endif
