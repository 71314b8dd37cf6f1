/* For the contract of samplers in a search: a wrapper of a sampler that checks in which
 * order and of what it is told, jobs in flight included, and can make its proposals
 * wrong. */
#ifndef WEFT_TEST_WATCHED_H
#define WEFT_TEST_WATCHED_H

#include "weft/sampler/sampler.h"

#include <math.h>
#include <string.h>

enum { WATCHED_TRIALS = 200, WATCHED_DIM = 4 };

/* Mistakes of a sampler. */
enum { SOUND, EXTRA, MISSING, OUTSIDE, FRACTION, NWRONG };
static const char *const wrongs[NWRONG] = {
    "nothing", "a value of an axis that is not there", "no value of an axis that is there",
    "a value beyond the axis", "a fraction on an axis of whole numbers"};

typedef struct watched_trial {
    double conf[WATCHED_DIM];
    double resource;
    int in_flight;
} watched_trial;

struct watched {
    int placed; /* 1: the schedule changes what is proposed */
    const weft_sampler *own;
    void *self;
    const weft_space *space;
    int wrong;
    const char *fault; /* what is not kept, the first; NULL: all is */
    int proposed;      /* 1: `proposal` is that of the next new trial */
    double proposal[WATCHED_DIM];
    int64_t first, n;
    watched_trial trial[WATCHED_TRIALS];
};

static inline void watched_fault(struct watched *watched, int good, const char *what)
{
    if (!good && !watched->fault) watched->fault = what;
}

static inline size_t watched_bytes(const struct watched *watched)
{
    return (size_t)watched->space->dim * sizeof(double);
}

static inline weft_status watched_setup(void *self, const weft_space *space, uint64_t seed,
                                        weft_arena *own)
{
    struct watched *watched = self;
    watched->space = space;
    return watched->own->setup(watched->self, space, seed, own);
}

static inline void watched_distort(const struct watched *watched, double *conf)
{
    for (int a = 0; a < watched->space->dim; a++) {
        const weft_axis *axis = &watched->space->axis[a];
        int active = weft_space_is_active(watched->space, conf, a);
        int whole = axis->opt->type == WEFT_INT;
        if (watched->wrong == EXTRA && !active) conf[a] = axis->lo;
        if (watched->wrong == MISSING && active && whole) conf[a] = NAN;
        if (watched->wrong == OUTSIDE && active) conf[a] = axis->hi + 1;
        if (watched->wrong == FRACTION && active && whole) conf[a] = axis->lo + 0.5;
    }
}

static inline void watched_propose(void *self, int64_t n, double *conf)
{
    struct watched *watched = self;
    watched_fault(watched, watched->n == 0 || n == watched->first + watched->n,
                  "proposals are of the next trial");
    watched_fault(watched, !watched->proposed, "a proposal is asked for once");
    watched->own->propose(watched->self, n, conf);
    watched_distort(watched, conf);
    memcpy(watched->proposal, conf, watched_bytes(watched));
    watched->proposed = 1;
}

static inline void watched_pending(void *self, int64_t n, const double *conf,
                                   double resource)
{
    struct watched *watched = self;
    if (watched->n == 0) watched->first = n;
    int64_t at = n - watched->first;
    watched_fault(watched, at >= 0 && at <= watched->n && at < WATCHED_TRIALS,
                  "trials are in flight in the order of their numbers");
    if (watched->fault) return;
    watched_trial *trial = &watched->trial[at];
    if (at == watched->n) {
        watched->n++;
        int same = watched->proposed && !watched->placed;
        memcpy(trial->conf, same ? watched->proposal : conf, watched_bytes(watched));
        watched->proposed = 0;
    }
    watched_fault(watched, memcmp(trial->conf, conf, watched_bytes(watched)) == 0,
                  "a trial in flight has the configuration that was proposed");
    watched_fault(watched, !trial->in_flight, "a trial has one job in flight");
    watched_fault(watched, resource > trial->resource, "a job adds resource");
    trial->resource = resource;
    trial->in_flight = watched->own->told != NULL; /* others are not told */
    if (watched->own->pending) watched->own->pending(watched->self, n, conf, resource);
}

static inline void watched_told(void *self, int64_t n, const weft_observation *seen)
{
    struct watched *watched = self;
    int64_t at = n - watched->first;
    watched_fault(watched, at >= 0 && at < watched->n && watched->trial[at].in_flight,
                  "results are of trials in flight");
    if (watched->fault) return;
    watched_trial *trial = &watched->trial[at];
    trial->in_flight = 0;
    watched_fault(watched, memcmp(trial->conf, seen->conf, watched_bytes(watched)) == 0,
                  "a result has the configuration of its trial");
    watched_fault(watched,
                  !(seen->resource < trial->resource || seen->resource > trial->resource),
                  "and the resource that was asked for");
    watched_fault(watched, !isnan(seen->loss), "no loss is NaN");
    watched->own->told(watched->self, n, seen);
}

static inline weft_sampler watched_sampler(const weft_sampler *own)
{
    weft_sampler sampler = *own;
    sampler.setup = watched_setup;
    sampler.propose = watched_propose;
    sampler.pending = watched_pending;
    if (sampler.told) sampler.told = watched_told;
    if (sampler.enough) sampler.enough = NULL;
    return sampler;
}

#endif
