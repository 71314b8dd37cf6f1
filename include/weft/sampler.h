/* Samplers: where the configuration of a new trial comes from. A sampler knows neither what
 * resource a schedule gives a trial nor what the clients of a trial draw from. All
 * functions are local. */
#ifndef WEFT_SAMPLER_H
#define WEFT_SAMPLER_H

#include "weft/space.h"

/* The result of a job, as a sampler sees it. */
typedef struct weft_seen {
    const double *conf; /* [dim] configuration, or the centre of the mixture; borrowed */
    double resource;    /* of the trial in all */
    double seconds;     /* virtual ones that the trial took in all */
    double loss;        /* INFINITY where it diverged, never NaN */
} weft_seen;

/* A deterministic function of its seed and of what it was told, in order. Trials are known
 * by their number n: 0, 1, 2 ... in the order proposed. Random numbers are keyed by (seed,
 * WEFT_RNG_TUNER, n, axis, draw), so that a proposal does not depend on how many draws
 * others took. */
typedef struct weft_sampler {
    weft_kind kind;
    /* Its options are filled already. `mem` lives as long as the sampler. */
    weft_status (*setup)(void *self, const weft_space *sp, uint64_t seed, weft_arena *mem);
    /* The configuration of trial n, in the units of the options, into conf[dim]. */
    void (*propose)(void *self, int64_t n, double *conf);
    /* A job of trial n ended. NULL: it does not learn, so that its proposals do not depend
     * on results. A sampler that learns needs space.source = random. */
    void (*told)(void *self, int64_t n, const weft_seen *seen);
    /* Trial n, with that configuration or a mixture around it, is being trained up to
     * `resource` in all. Called for every job when it is asked for, and so first for each
     * trial in the order of their numbers, copies of other trials included. NULL: as for
     * told. */
    void (*pending)(void *self, int64_t n, const double *conf, double resource);
} weft_sampler;

/* The sampler of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_sampler_find(const char *name, const weft_sampler **out);

#endif
