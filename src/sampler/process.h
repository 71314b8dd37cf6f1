/* Searches by a Gaussian process, which the samplers gp and mobster share: what it learns
 * from, and the configuration of the largest acquisition. All functions are local. */
#ifndef WEFT_SAMPLER_PROCESS_H
#define WEFT_SAMPLER_PROCESS_H

#include "gauss.h"
#include "learn.h"

/* A point of the process. */
typedef struct weft_process_point {
    int64_t trial; /* index in past.trial */
    double share;  /* its resource, of that which is predicted; in 0 .. 1 */
} weft_process_point;

typedef struct weft_process_result {
    int64_t trial;
    double resource;
} weft_process_result;

/* The state of such a sampler. */
typedef struct weft_process {
    weft_past past;
    int curves; /* 1: learns from all resources; 0: from the largest that has enough */
    uint64_t seed;
    int *levels; /* [dim] levels of a category; 0: a number */
    char *rules; /* [dim] 1: other axes exist by its value */
    int64_t ntold, roomtold;
    weft_process_result *told; /* [ntold] in the order in which they came */
    /* the process, which is kept from one proposal to the next, and the same as if it were
     * made anew */
    weft_gauss gauss;
    int64_t roomrow;
    weft_process_point *row; /* [gauss.n] its points */
    double fit_resource;     /* what theta was learnt from: */
    int64_t fit_results;     /* the first results of that resource; of all with curves */
    /* what it learns from, chosen when there were `chosen` trials; those since are added */
    int64_t chosen, begun;     /* trials then, and those that it has seen */
    int64_t known, npoint;     /* results, and all: the others are believed */
    weft_process_point *point; /* [npoint] */
    double *y;                 /* [npoint] scaled losses, and what is believed */
    weft_arena *kept;
    int64_t design; /* option: initial trials, and the results that are enough */
} weft_process;

/* The results of a process, and the last trials without a result at the resource that is
 * predicted, of which it believes what it predicts (kriging believer). */
enum { WEFT_PROCESS_RESULTS = 1000, WEFT_PROCESS_BELIEVED = 200 };

/* The functions of a weft_sampler; with curves and the name of the sampler, from which its
 * draws come. */
void weft_process_setup(weft_process *process, const char *name, int curves,
                        const weft_space *space, uint64_t seed, weft_arena *mem);
void weft_process_told(void *self, int64_t number, const weft_observation *observed);
int64_t weft_process_enough(const void *self, const char **option);
/* The configuration that no trial has of the largest log expected improvement on the least
 * mean of what is known, found from random configurations and from some near the best
 * trials, by a quasi-Newton method on real axes and by trials of other values on the
 * others; the first `design` are a Latin hypercube. Snoek, Larochelle, Adams, "Practical
 * Bayesian optimization of machine learning algorithms", NIPS 2012; Ament et al., NeurIPS
 * 2023 (the logarithm); Garrido-Merchan, Hernandez-Lobato, "Dealing with categorical and
 * integer-valued variables in Bayesian optimization with Gaussian processes",
 * Neurocomputing 380, 2020 (covariances of rounded values). */
void weft_process_propose(void *self, int64_t number, double *conf);

/* ---- what both files need ---- */

/* Learns for the proposal of trial `number` from the results at the resource of `level`,
 * with curves from those of all up to it, and sets point, y, known and npoint. With many
 * trials in flight results are chosen for several proposals at a time (weft_past_turns), to
 * which each of these is added, and fewer of them. Cost O(n^2) for each new one of n,
 * O(150^3) for each step of a fit. */
void weft_process_learn(weft_process *process, const weft_past_level *level,
                        int64_t number);
/* The point x[gauss.width] of a configuration at that share of the resource. */
void weft_process_place(const weft_process *process, const double *conf, double share,
                        double *x);

#endif
