/* The gains of an iterative descent so far, and an estimate of those to come. Private to
 * src/model. */
#ifndef WEFT_MODEL_DESCENT_H
#define WEFT_MODEL_DESCENT_H

/* Objectives are sums in double: a gain below this share of the objective of the best
 * constant model is rounding. */
#define DESCENT_MIN_GAIN 1e-12

enum { DESCENT_WINDOW = 16, DESCENT_HISTORY = 2 * DESCENT_WINDOW + 1 };

/* Starts at zeros. */
struct descent {
    double gained[DESCENT_HISTORY]; /* total after step i at i modulo DESCENT_HISTORY */
    int steps;
};

/* A step lowered the objective by `less`. */
void descent_add(struct descent *descent, double less);
double descent_gained(const struct descent *descent);
/* Estimate of what all further steps will gain: the gains of the last third of the steps
 * (at most WINDOW) and of as many before them, continued as a geometric series. In
 * conjugate gradients these sums are squared errors in the energy norm (Hestenes, Stiefel,
 * 1952; Strakos, Tichy, ETNA 13, 2002). INFINITY before the second step and where gains do
 * not fall. */
double descent_remaining(const struct descent *descent);

#endif
