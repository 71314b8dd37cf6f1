/* Random forests for regression on configurations. */
#ifndef WEFT_SAMPLER_TREES_H
#define WEFT_SAMPLER_TREES_H

#include "weft/base.h"

/* Features of a point: numbers, or levels 0 .. 63 of a category. */
typedef struct weft_trees_rule {
    int trees;
    int tries; /* features that a split chooses from, of dim, by chance */
    int leaf;  /* draws in a leaf at least */
} weft_trees_rule;

typedef struct weft_tree_node {
    union {
        double most;   /* of a number: what is more goes right */
        uint64_t left; /* of a category: levels that go left, by bits */
    } cut;
    int32_t feature; /* of a leaf 0 */
    int32_t child;   /* left one, the right one after it; of a leaf itself */
} weft_tree_node;

typedef struct weft_trees {
    int dim, ntree;
    const int *levels; /* [dim] of a category; 0: a number. Borrowed. */
    int *start;        /* [ntree + 1] first node of a tree */
    int *depth;        /* [ntree] */
    weft_tree_node *node;
    double *value; /* [nodes] mean of what is below */
} weft_trees;

/* A forest on n points x[n][dim] with values y[n]. Each tree has n points drawn with
 * replacement; a node is split where the sum of squares falls most, of numbers in the
 * middle between neighbours, of categories with the levels in the order of their means
 * (which has the best of all splits: Breiman, Friedman, Olshen, Stone, "Classification and
 * regression trees", 1984, theorem 4.5), the first of equals, down to leaves of rule->leaf
 * draws or of one value. Random numbers are keyed by (seed, tree), so no tree depends on
 * another. Arrays are of mem. Local. Cost O(trees dim n log n). Breiman, "Random forests",
 * Machine Learning 45, 2001. */
void weft_trees_grow(weft_trees *f, const weft_trees_rule *rule, int n, int dim,
                     const int *levels, const double *x, const double *y, uint64_t seed,
                     weft_arena *mem);
/* Mean and sample variance (divisor trees - 1) of what the trees say of m points x[m][dim].
 * Local. Cost O(m trees depth), points side by side in each tree. */
void weft_trees_ask(const weft_trees *f, int m, const double *x, double *mean,
                    double *variance);
/* What tree t says of a point. Local. */
double weft_tree_ask(const weft_trees *f, int t, const double *x);

#endif
