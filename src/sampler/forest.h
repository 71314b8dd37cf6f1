/* The parts of a search by a random forest: the forest, acquisition functions of its
 * predictions, and the evolution strategy that maximises them. */
#ifndef WEFT_SAMPLER_FOREST_H
#define WEFT_SAMPLER_FOREST_H

#include "weft/base/base.h"
#include "weft/base/random.h"

/* ---- random forests for regression on configurations ---- */

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
/* Mean and sample variance (divisor trees - 1) over the trees' predictions for m points
 * x[m][dim]; tmp holds scratch. Cost O(m trees depth). */
void weft_trees_ask(const weft_trees *trees, int m, const double *x, double *mean,
                    double *variance, weft_arena *tmp);

/* ---- the acquisition function ---- */

/* Logarithm of the moment-generating function of the improvement below 0 of a point with
 * prediction N(mean, sd^2),
 *     Phi((sd^2 t - mean) / sd) exp(-(mean + 1) t + sd^2 t^2 / 2),
 * for a temperature 0 < t <= 22.36; a larger t gives more weight to a high sd. -INFINITY if
 * sd < 1e-10. Wang, van Stein, Emmerich, Back, "A new acquisition function for Bayesian
 * optimization based on the moment-generating function", SMC 2017. */
double weft_gain_log(double mean, double sd, double t);

/* The temperature of one of several proposals at a time: exp(spread z), z ~ N(0, 1) by the
 * random numbers r, at most 22.36. van Stein, Wang, Back, 2018. */
double weft_gain_spread(double spread, const weft_rng4 *rng);

/* ---- the mixed-integer evolution strategy ---- */

/* Maximises any function of numbers, integers and categories together. Li, Emmerich,
 * Eggermont, Back, Schutz, Dijkstra, Reiber, "Mixed integer evolution strategies for
 * parameter optimization", Evolutionary Computation 21, 2013. */

typedef enum weft_gene { WEFT_GENE_REAL, WEFT_GENE_WHOLE, WEFT_GENE_LEVEL } weft_gene;

typedef struct weft_mies {
    int dim;
    const weft_gene *gene; /* [dim] */
    const int *levels; /* [dim] integers and category levels are 0 .. levels-1; reals are 0
                          .. 1 */
    int parents, children; /* (mu, lambda): the best children are the next parents */
    int64_t generations;   /* total over all restarts */
    int64_t stall;      /* restart with a new population after so many without improvement;
                           0: never */
    uint64_t seed, key; /* of random numbers */
    /* Computes value[m] of the points x[m][dim], which are maximised; not NAN. */
    void (*value)(void *own, int m, const double *x, double *value);
    void *own;
} weft_mies;

/* Writes the best point of all evaluated ones to best[dim]; returns its value. Cost:
 * `children` evaluations a generation. */
double weft_mies_run(const weft_mies *mies, double *best, weft_arena *tmp);
/* x folded into lo .. hi by reflection at both ends. */
double weft_mies_reflect(double x, double lo, double hi);
/* The difference of two geometrically distributed integers, from two uniform random numbers
 * in [0, 1): a step of mean size q. */
double weft_mies_step(double q, double unit, double other);

#endif
