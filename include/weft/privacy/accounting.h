/* What releases of clients' data cost: (epsilon, delta) differential privacy of whatever is
 * computed from all of them together, by client. A release is a sum over the clients of a
 * cohort, each clipped to a length, with Gaussian noise. */
#ifndef WEFT_PRIVACY_ACCOUNTING_H
#define WEFT_PRIVACY_ACCOUNTING_H

#include "weft/base/base.h"

/* How the clients of a release are chosen. The bound of one does not hold for another. */
typedef enum weft_sampling {
    WEFT_SAMPLED_EACH,  /* each by itself, with the same probability; neighbours: one client
                      more  or less */
    WEFT_SAMPLED_FIXED, /* a fixed number without replacement; neighbours: one client is
                   another, which moves a sum by up to twice the length */
    WEFT_SAMPLED_TREE /* each at most once between two restarts of a tree, whose prefix sums
                 are released; neighbours: one client more or less */
} weft_sampling;

/* Equal releases. */
typedef struct weft_release {
    weft_sampling sampling;
    double share; /* probability of a client, or clients drawn / all, 0 .. 1; not of
                     trees */
    double noise; /* s.d. of the noise / the most that a neighbour moves the sum; 0: none */
    int64_t times; /* releases; of trees: restarts in which a client takes part */
    int64_t steps; /* of trees: sums between two restarts */
} weft_release;

/* The epsilon of the n kinds of releases together at a delta: INFINITY where one has no
 * noise. Of Poisson sampling alone by the privacy loss distribution (connect the dots:
 * Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022), else, or where a grid of 2^20 points
 * would have steps above 1, by weft_epsilon_renyi. Scratch from tmp: up to 200 MB. Cost:
 * less than a second for a few kinds. */
double weft_epsilon(int n, const weft_release *release, double delta, weft_arena *tmp);

/* The same by Renyi divergences, a larger bound (Mironov, Talwar, Zhang 2019; without
 * replacement: Wang, Balle, Kasiviswanathan 2019, theorem 27; trees: Kairouz et al. 2021,
 * appendix D; to epsilon: Canonne, Kamath, Steinke 2020, proposition 12). */
double weft_epsilon_renyi(int n, const weft_release *release, double delta);

#endif
