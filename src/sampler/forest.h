/* The parts of a search by a random forest (weft/math/trees.h): acquisition functions of
 * its predictions, and the evolution strategy that maximises them. */
#ifndef WEFT_SAMPLER_FOREST_H
#define WEFT_SAMPLER_FOREST_H

#include "weft/base/base.h"
#include "weft/base/random.h"
#include "weft/math/trees.h"

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
