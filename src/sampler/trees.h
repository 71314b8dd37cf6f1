/* Random forests for regression on configurations. */
#ifndef WEFT_SAMPLER_TREES_H
#define WEFT_SAMPLER_TREES_H

#include "weft/arena.h"

#include <string.h>

/* Features of a point: numbers, or levels 0 .. 63 of a category. */
typedef struct weft_trees_rule {
    int trees;
    int tries; /* number of features, chosen at random, that are tried for a split */
    int leaf;  /* least number of draws in a leaf */
    int alone; /* 1: a category is split in one level and all others; 0: in two sets of
                  levels */
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
} weft_trees;

/* Grows a forest on n points x[n][dim] with values y[n]. Each tree is grown on n points
 * drawn with replacement. A node is split where the sum of squared residuals decreases
 * most, of equal splits at the first: numbers halfway between neighbouring values,
 * categories with the levels in the order of their means (the best split is among these:
 * Breiman, Friedman, Olshen, Stone, "Classification and regression trees", 1984, theorem
 * 4.5) or, if rule->alone, between one level and all others, as features of one level each
 * would be, but tried together; down to leaves of rule->leaf draws or with a single value.
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
/* Mean and sample variance (divisor trees - 1) over the trees' predictions for m points
 * x[m][dim]; tmp holds scratch. Cost O(m trees depth). */
void weft_trees_ask(const weft_trees *trees, int m, const double *x, double *mean,
                    double *variance, weft_arena *tmp);
/* Mean and sample variance of the trees' predictions from their sum and their sum of
 * squares, both less the value of the first tree's root. */
void weft_trees_moments(const weft_trees *trees, double sum, double square, double *mean,
                        double *variance);
/* An integer that increases with a number; the same for 0 and -0. */
static inline uint64_t weft_trees_increasing(double x)
{
    uint64_t bits, sign = (uint64_t)1 << 63;
    x += 0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

#endif
