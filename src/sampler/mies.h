/* The mixed-integer evolution strategy, which maximises any function of numbers, integers
 * and categories together. Li, Emmerich, Eggermont, Back, Schutz, Dijkstra, Reiber, "Mixed
 * integer evolution strategies for parameter optimization", Evolutionary Computation 21,
 * 2013. */
#ifndef WEFT_SAMPLER_MIES_H
#define WEFT_SAMPLER_MIES_H

#include "weft/base.h"

typedef enum weft_gene { WEFT_GENE_REAL, WEFT_GENE_WHOLE, WEFT_GENE_LEVEL } weft_gene;

typedef struct weft_mies {
    int dim;
    const weft_gene *gene; /* [dim] */
    const int *levels; /* [dim] a whole number is 0 .. levels-1, so is a level; reals are
                          0 .. 1 */
    int parents, children; /* (mu, lambda): the best children are the next parents */
    int64_t generations;   /* of all populations together */
    int64_t stall;      /* a new population after so many without a better one; 0: never */
    uint64_t seed, key; /* of random numbers */
    /* Values of m points x[m][dim]; the larger, the better; not NAN. */
    void (*value)(void *own, int m, const double *x, double *value);
    void *own;
} weft_mies;

/* The best point that was ever tried into best[dim]; returns its value. Local. Cost of
 * children values a generation. */
double weft_mies_run(const weft_mies *m, double *best, weft_arena *tmp);
/* x folded into lo .. hi, as by mirrors at both ends. Local. */
double weft_mies_reflect(double x, double lo, double hi);
/* The difference of two geometric numbers by four units in [0, 1): a step whose mean size
 * is q. Local. */
double weft_mies_step(double q, double unit, double other);

#endif
