/* For the contract of samplers in a search: a wrapper of a sampler that checks in which
 * order and of what it is told, jobs in flight included, and can make its proposals
 * wrong. */
#ifndef WEFT_TEST_WATCHED_H
#define WEFT_TEST_WATCHED_H

#include "weft/sampler.h"

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
    double resource, seconds;
    int in_flight;
} watched_trial;

struct watched {
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

static inline void watched_fault(struct watched *w, int good, const char *what)
{
    if (!good && !w->fault) w->fault = what;
}

static inline size_t watched_bytes(const struct watched *w)
{
    return (size_t)w->space->dim * sizeof(double);
}

static inline weft_status watched_setup(void *self, const weft_space *sp, uint64_t seed,
                                        weft_arena *own)
{
    struct watched *w = self;
    w->space = sp;
    return w->own->setup(w->self, sp, seed, own);
}

static inline void watched_distort(const struct watched *w, double *conf)
{
    for (int a = 0; a < w->space->dim; a++) {
        const weft_axis *axis = &w->space->axis[a];
        int active = weft_space_is_active(w->space, conf, a);
        int whole = axis->opt->type == WEFT_INT;
        if (w->wrong == EXTRA && !active) conf[a] = axis->lo;
        if (w->wrong == MISSING && active && whole) conf[a] = NAN;
        if (w->wrong == OUTSIDE && active) conf[a] = axis->hi + 1;
        if (w->wrong == FRACTION && active && whole) conf[a] = axis->lo + 0.5;
    }
}

static inline void watched_propose(void *self, int64_t n, double *conf)
{
    struct watched *w = self;
    watched_fault(w, w->n == 0 || n == w->first + w->n, "proposals are of the next trial");
    watched_fault(w, !w->proposed, "a proposal is asked for once");
    w->own->propose(w->self, n, conf);
    watched_distort(w, conf);
    memcpy(w->proposal, conf, watched_bytes(w));
    w->proposed = 1;
}

static inline void watched_pending(void *self, int64_t n, const double *conf,
                                   double resource)
{
    struct watched *w = self;
    if (w->n == 0) w->first = n;
    int64_t at = n - w->first;
    watched_fault(w, at >= 0 && at <= w->n && at < WATCHED_TRIALS,
                  "trials are in flight in the order of their numbers");
    if (w->fault) return;
    watched_trial *t = &w->trial[at];
    if (at == w->n) {
        w->n++;
        memcpy(t->conf, w->proposed ? w->proposal : conf, watched_bytes(w));
        w->proposed = 0;
    }
    watched_fault(w, memcmp(t->conf, conf, watched_bytes(w)) == 0,
                  "a trial in flight has the configuration that was proposed");
    watched_fault(w, !t->in_flight, "a trial has one job in flight");
    watched_fault(w, resource > t->resource, "a job adds resource");
    t->resource = resource;
    t->in_flight = w->own->told != NULL; /* others are not told */
    if (w->own->pending) w->own->pending(w->self, n, conf, resource);
}

static inline void watched_told(void *self, int64_t n, const weft_observation *seen)
{
    struct watched *w = self;
    int64_t at = n - w->first;
    watched_fault(w, at >= 0 && at < w->n && w->trial[at].in_flight,
                  "results are of trials in flight");
    if (w->fault) return;
    watched_trial *t = &w->trial[at];
    t->in_flight = 0;
    watched_fault(w, memcmp(t->conf, seen->conf, watched_bytes(w)) == 0,
                  "a result has the configuration of its trial");
    watched_fault(w, !(seen->resource < t->resource || seen->resource > t->resource),
                  "and the resource that was asked for");
    watched_fault(w, seen->seconds > t->seconds, "its seconds grow from job to job");
    watched_fault(w, !isnan(seen->loss), "no loss is NaN");
    t->seconds = seen->seconds;
    w->own->told(w->self, n, seen);
}

static inline weft_sampler watched_sampler(const weft_sampler *own)
{
    weft_sampler s = *own;
    s.setup = watched_setup;
    s.propose = watched_propose;
    s.pending = watched_pending;
    if (s.told) s.told = watched_told;
    if (s.enough) s.enough = NULL;
    return s;
}

#endif
