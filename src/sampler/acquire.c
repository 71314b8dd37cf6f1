/* The acquisition function, and the mixed-integer evolution strategy that maximises them;
 * see forest.h. */
#include "forest.h"
#include "learn.h"

#include <math.h>
#include <string.h>

/* ---- the acquisition function ---- */

/* log Phi(z); for very negative z by the first terms of its asymptotic series. */
static double log_cdf(double z)
{
    double far = -30, log_sqrt_2pi = 0.91893853320467274178;
    if (z > far) return log(weft_normal_cdf(z));
    return -0.5 * z * z - log(-z) - log_sqrt_2pi + log1p(-1 / (z * z));
}

double weft_gain_log(double mean, double sd, double t)
{
    double least = 1e-10;
    if (!(sd >= least)) return -INFINITY;
    return log_cdf((sd * sd * t - mean) / sd) - (mean + 1) * t + sd * sd * t * t / 2;
}

double weft_gain_spread(double spread, const weft_rng4 *rng)
{
    double most = 22.36; /* exp(t^2 / 2) is finite */
    double z[2];
    weft_rng_normal_pair(rng, z);
    return fmin(exp(spread * z[0]), most);
}

/* ---- the evolution strategy ---- */

/* Every individual has its own step size for each real number and integer and one mutation
 * rate for its categories; these are inherited, and mutated before the values. */

/* Values x[dim], step sizes step[dim] of numbers and integers, mutation rate of
 * categories. */
struct individual {
    double *x, *step;
    double rate, value;
};

struct strategy {
    const weft_mies *mies;
    int count[3];              /* number of axes of each gene type */
    double all[3], own[3];     /* tau, tau' of each gene type */
    struct individual *parent; /* [parents] */
    struct individual *child;  /* [children] */
    double *points;            /* [children][dim] */
    double *values;            /* [children] */
};

double weft_mies_reflect(double x, double lo, double hi)
{
    if (!(hi > lo)) return lo;
    double y = fmod(fabs((x - lo) / (hi - lo)), 2);
    if (y > 1) y = 2 - y;
    return lo + y * (hi - lo);
}

double weft_mies_step(double q, double unit, double other)
{
    double psi = 1 - q / (1 + sqrt(1 + q * q)), scale = log1p(-psi);
    if (!(psi < 1)) return 0;
    return floor(log1p(-unit) / scale) - floor(log1p(-other) / scale);
}

static weft_rng4 random_at(const weft_mies *mies, int64_t generation, int i, int a)
{
    return weft_rng_at(mies->seed, WEFT_RNG_TUNER, mies->key, (uint64_t)generation,
                       (uint64_t)i * (uint64_t)(mies->dim + 2) + (uint64_t)a);
}

static double first_step(const weft_mies *mies, int a)
{
    double share = 0.05; /* fraction of the range */
    if (mies->gene[a] == WEFT_GENE_REAL) return share;
    return fmax(1, share * (mies->levels[a] - 1));
}

static double draw_level(int levels, double unit)
{
    return fmin(floor(unit * levels), levels - 1);
}

/* ---- populations ---- */

static struct individual *individuals(int n, int dim, weft_arena *tmp)
{
    struct individual *all = WEFT_NEW(tmp, struct individual, n);
    for (int i = 0; i < n; i++)
        all[i] = (struct individual){.x = WEFT_NEW(tmp, double, dim),
                                     .step = WEFT_NEW(tmp, double, dim)};
    return all;
}

static void draw_individual(const struct strategy *strategy, int64_t generation, int i,
                            struct individual *individual)
{
    const weft_mies *mies = strategy->mies;
    individual->rate =
        strategy->count[WEFT_GENE_LEVEL] > 0 ? 1. / strategy->count[WEFT_GENE_LEVEL] : 0;
    for (int a = 0; a < mies->dim; a++) {
        weft_rng4 rng = random_at(mies, generation, i, a);
        double unit = weft_rng_unit(rng.v[0]);
        individual->x[a] =
            mies->gene[a] == WEFT_GENE_REAL ? unit : draw_level(mies->levels[a], unit);
        individual->step[a] = first_step(mies, a);
    }
}

/* Step sizes become sigma exp(tau N + tau' N_i), tau = 1 / sqrt(2 n), tau' = 1 / sqrt(2
 * sqrt n) and, if n = 1, tau' = 0. */
static void learning_rates(struct strategy *strategy)
{
    for (int g = 0; g < 3; g++) {
        strategy->all[g] = 1 / sqrt(2. * strategy->count[g]);
        strategy->own[g] =
            strategy->count[g] > 1 ? 1 / sqrt(2 * sqrt(strategy->count[g])) : 0;
    }
}

static void mutate_axis(const struct strategy *strategy, int a, const double all[2],
                        const weft_rng4 *rng, struct individual *individual)
{
    const weft_mies *mies = strategy->mies;
    int n = strategy->count[mies->gene[a]];
    double z[2];
    if (mies->gene[a] == WEFT_GENE_LEVEL) {
        if (weft_rng_unit(rng->v[1]) < individual->rate)
            individual->x[a] = draw_level(mies->levels[a], weft_rng_unit(rng->v[2]));
        return;
    }
    weft_rng_normal_pair(rng, z);
    individual->step[a] *= exp(strategy->all[mies->gene[a]] * all[mies->gene[a]] +
                               strategy->own[mies->gene[a]] * z[0]);
    if (mies->gene[a] == WEFT_GENE_REAL) {
        individual->step[a] = fmin(individual->step[a], 1);
        individual->x[a] =
            weft_mies_reflect(individual->x[a] + individual->step[a] * z[1], 0, 1);
        return;
    }
    individual->step[a] = fmin(fmax(individual->step[a], 1), mies->levels[a]);
    double by = weft_mies_step(individual->step[a] / n, weft_rng_unit(rng->v[2]),
                               weft_rng_unit(rng->v[3]));
    double to = weft_mies_reflect(individual->x[a] + by, -0.5, mies->levels[a] - 0.5);
    individual->x[a] = fmin(fmax(floor(to + 0.5), 0), mies->levels[a] - 1);
}

/* Makes a child of two parents: each value is from one or the other, step sizes and rate
 * are their means. */
static void recombine(const struct strategy *strategy, int64_t generation, int i,
                      struct individual *individual)
{
    const weft_mies *mies = strategy->mies;
    weft_rng4 pick = random_at(mies, generation, i, mies->dim);
    weft_rng4 rng = random_at(mies, generation, i, mies->dim + 1);
    const struct individual *one =
        &strategy->parent[(int)(weft_rng_unit(pick.v[0]) * mies->parents)];
    const struct individual *two =
        &strategy->parent[(int)(weft_rng_unit(pick.v[1]) * mies->parents)];
    int n = strategy->count[WEFT_GENE_LEVEL];
    double all[4];
    (n > 0 ? weft_rng_normal : weft_rng_normal_pair)(&rng,
                                                     all); /* all[2] is of categories */
    individual->rate = (one->rate + two->rate) / 2;
    if (n > 0) {
        double p = individual->rate;
        individual->rate = 1 / (1 + (1 - p) / p * exp(-all[2] / sqrt(2. * n)));
        individual->rate = fmin(fmax(individual->rate, 1. / (3 * n)), 0.5);
    }
    for (int a = 0; a < mies->dim; a++) {
        weft_rng4 own = random_at(mies, generation, i, a);
        /* the last bit of a word is not used by weft_rng_unit */
        individual->x[a] = own.v[0] & 1 ? two->x[a] : one->x[a];
        individual->step[a] = (one->step[a] + two->step[a]) / 2;
        mutate_axis(strategy, a, all, &own, individual);
    }
}

static void evaluate(struct strategy *strategy, int n, struct individual *all)
{
    size_t dim = (size_t)strategy->mies->dim;
    for (int i = 0; i < n; i++)
        memcpy(strategy->points + (size_t)i * dim, all[i].x,
               dim * sizeof *strategy->points);
    strategy->mies->value(strategy->mies->own, n, strategy->points, strategy->values);
    for (int i = 0; i < n; i++) all[i].value = strategy->values[i];
}

/* Moves the `keep` best of n to the front, equal ones in their order. */
static void select_best(int n, int keep, struct individual *all)
{
    for (int i = 0; i < keep && i < n; i++) {
        int best = i;
        for (int j = i + 1; j < n; j++)
            if (all[j].value > all[best].value) best = j;
        struct individual individual = all[best];
        for (int j = best; j > i; j--) all[j] = all[j - 1];
        all[i] = individual;
    }
}

/* ---- run ---- */

static void keep_best(const weft_mies *mies, const struct individual *individual,
                      double *value, double *best)
{
    if (!(individual->value > *value)) return;
    *value = individual->value;
    memcpy(best, individual->x, (size_t)mies->dim * sizeof *best);
}

double weft_mies_run(const weft_mies *mies, double *best, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int most = mies->children > mies->parents ? mies->children : mies->parents;
    struct strategy strategy = {.mies = mies,
                                .parent = individuals(most, mies->dim, tmp),
                                .child = individuals(most, mies->dim, tmp),
                                .points =
                                    WEFT_NEW(tmp, double, (size_t)most *(size_t)mies->dim),
                                .values = WEFT_NEW(tmp, double, most)};
    double value = -INFINITY, own = -INFINITY;
    int64_t since = 0;
    for (int a = 0; a < mies->dim; a++) strategy.count[mies->gene[a]]++;
    learning_rates(&strategy);
    for (int64_t g = 0; g < mies->generations; g++) {
        int anew = g == 0 || (mies->stall > 0 && since >= mies->stall);
        int n = anew ? mies->parents : mies->children;
        for (int i = 0; i < n; i++)
            (anew ? draw_individual : recombine)(&strategy, g, i, &strategy.child[i]);
        evaluate(&strategy, n, strategy.child);
        select_best(n, mies->parents, strategy.child);
        if (g == 0) memcpy(best, strategy.child[0].x, (size_t)mies->dim * sizeof *best);
        keep_best(mies, &strategy.child[0], &value, best);
        since = anew || strategy.child[0].value > own ? 0 : since + 1;
        own = anew ? strategy.child[0].value : fmax(own, strategy.child[0].value);
        struct individual *swap = strategy.parent;
        strategy.parent = strategy.child;
        strategy.child = swap;
    }
    return value;
}
