/* Samplers: choose the configuration of a new trial. A sampler knows neither the resources
 * that a schedule is going to give a trial nor the mixture that its clients draw from. All
 * functions are local. */
#ifndef LIBWEFT_SAMPLER_SAMPLER_H
#define LIBWEFT_SAMPLER_SAMPLER_H

#include "weft/space/job.h"
#include "weft/space/space.h"

/* The result of a job, as a sampler sees it. */
typedef struct weft_observation {
    const double *conf; /* [dim] configuration of the trial, or the centre of its mixture;
                           borrowed */
    double resource;    /* total of the trial so far */
    double loss;        /* INFINITY if it diverged, never NaN */
    double tie;         /* decides between equal losses: weft_result_tie */
    int other; /* 0, or the number of other data that the loss is of, as weft_known.other */
    const weft_result *res; /* borrowed, but for its aims */
} weft_observation;

/* A deterministic function of its seed and of the results that it was told, in their order.
 * Trials are identified by their number n: 0, 1, 2 ... in the order proposed; those that
 * were known before have the numbers before these. Random
 * numbers are keyed by (seed, WEFT_RNG_TUNER, n, axis, draw), so that a proposal does not
 * depend on how many random numbers other proposals used. */
typedef struct weft_sampler {
    weft_kind kind;
    /* Called once, with the options filled in. `mem` lives as long as the sampler.
     * ECONF. */
    weft_status (*setup)(void *self, const weft_space *space, uint64_t seed,
                         weft_arena *mem);
    /* Writes the configuration of trial n to conf[dim], in the units of the options; NAN
     * for axes that it does not have: axes are set in space->order, each if
     * weft_space_is_active, such as by weft_space_resample. */
    void (*propose)(void *self, int64_t n, double *conf);
    /* Called after each job of trial n. NULL: the sampler does not learn, and its proposals
     * do not depend on results. A sampler that learns is refused unless space.source is
     * random; one that does not, but draws configurations of its own, refuses the other
     * sources in setup. */
    void (*told)(void *self, int64_t n, const weft_observation *observed);
    /* Called for each job when it is asked for: trial n, with that configuration or a
     * mixture around it, is going to be trained up to a total of `resource`. First calls
     * for trials come in the order of their numbers, copies of other trials included. NULL:
     * as for told. */
    void (*pending)(void *self, int64_t n, const double *conf, double resource);
    /* The number of results of one resource from which on it learns, and the name of the
     * option that sets it. NULL: as for told. */
    int64_t (*enough)(const void *self, const char **option);
    int curves; /* 1: it learns from all resources together */
    int fronts; /* 1: it learns from several objectives (front.h) */
} weft_sampler;

/* Has a proposal follow what is believed of axes, of which n trials are known. With the
 * probability 5 / (5 + n) each axis with `near` that the configuration has gets the value
 * at a draw from N(u, 0.25^2), truncated to 0 .. 1, of its position (weft_axis_unit), u
 * being that of `near`; without trials, `near` itself. So 5 ln(1 + n / 5) proposals of n
 * follow beliefs, 13 of 60. A function of (seed, key, axis). The normal distribution is
 * that of PriorBand (Mallik et al., NeurIPS 2023), where the belief's share depends on how
 * well it does; that it fades as trials come is of pi-BO (Hvarfner et al., ICLR 2022). */
void weft_sampler_believe(const weft_space *space, int64_t n, uint64_t seed, uint64_t key,
                          double *conf);

#endif
