/* Mixings: make the mixture of configurations from which the samples (clients) of a trial
 * draw, and determine how its probabilities change. A mixing knows neither the resource
 * that a schedule gives a trial nor the origin of the trial's configuration. The
 * configurations of a mixture differ only in axes that may differ between the samples of a
 * trial (WEFT_PER_SAMPLE). All functions are local. */
#ifndef LIBWEFT_MIXING_MIXING_H
#define LIBWEFT_MIXING_MIXING_H

#include "weft/space/job.h"
#include "weft/space/space.h"

/* Arguments of setup. */
typedef struct weft_mixing_env {
    const weft_space *space;
    const weft_mix *whole; /* the mixture of all configurations, if the schedule has one
                              trial that is shared by the whole space; NULL: each trial has
                              its own mixture around its configuration */
    int64_t trials;        /* number of trials that the schedule starts; 0: not known */
    double resource;       /* largest total resource of a trial; 0: not known */
    uint64_t seed;
    weft_arena *mem; /* lives as long as the mixing */
} weft_mixing_env;

typedef struct weft_mixing {
    weft_kind kind;
    int moves; /* 1: it sets job->update, by which the task changes the mixture every round;
                  0: each trial has one configuration */
    /* Called once, with the options filled in. ECONF, ELIMIT. */
    weft_status (*setup)(void *self, const weft_mixing_env *env);
    /* Fills job->mix and job->update of a job whose other members are set. conf[dim] is the
     * configuration of its trial, `id` the number of that configuration; NULL and -1 if
     * env->whole is given. A new trial, also a copy (job->from >= 0), starts with the
     * probabilities of a new mixture around its own configuration, or if the mixing says so
     * with the entries of its source; a trial that continues starts with the
     * log-probabilities at the end of its last job. The mixture is borrowed from the mixing
     * until the next call of make. */
    void (*make)(void *self, int64_t id, const double *conf, weft_job *job);
    /* Stores the log-probabilities after a job, or changes the entries by their scores.
     * NULL: nothing changes. */
    void (*told)(void *self, const weft_result *res);
    /* Frees what is stored for a trial that no later job continues. NULL: nothing is
     * stored. */
    void (*forget)(void *self, int64_t trial);
} weft_mixing;

#endif
