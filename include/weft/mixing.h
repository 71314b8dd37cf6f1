/* Mixings: what the samples (clients) of a trial draw their configuration from, and how
 * that distribution moves. A mixing knows neither what resource a schedule gives a trial
 * nor where the trial's configuration comes from. It moves the axes that may differ between
 * the samples of a trial (WEFT_PER_SAMPLE) and no others. */
#ifndef WEFT_MIXING_H
#define WEFT_MIXING_H

#include "weft/space.h"

/* What a mixing is set up with. */
typedef struct weft_mixing_env {
    const weft_space *space;
    const weft_mix
        *whole; /* all configurations, for a schedule of one trial with one mixture; NULL:
                   each trial has a mixture of its own around its configuration */
    int64_t trials;  /* that the schedule begins; 0: not known */
    double resource; /* of a trial at most; 0: not known */
    uint64_t seed;
    weft_arena *mem; /* lives as long as the mixing */
} weft_mixing_env;

typedef struct weft_mixing {
    weft_kind kind;
    int moves; /* 1: it asks the task to move mixtures by job->update; 0: one configuration
                  a trial */
    /* Its options are filled already. ECONF, ELIMIT. */
    weft_status (*setup)(void *self, const weft_mixing_env *env);
    /* Fills job->mix and job->update of a job whose other members are set. conf[dim] is the
     * configuration of its trial, `id` its number; NULL and -1 where env->whole is given.
     * A new trial, also a copy (job->from >= 0), begins with the mixture of its own
     * configuration; a trial that goes on begins with the log-probabilities at the end of
     * its last job. The mixture is borrowed from the mixing until its next make. */
    void (*make)(void *self, int64_t id, const double *conf, weft_job *job);
    /* Takes the log-probabilities after a job. NULL: they stay. */
    void (*told)(void *self, const weft_result *res);
    /* No later job continues this trial. NULL: nothing is kept. */
    void (*forget)(void *self, int64_t trial);
} weft_mixing;

/* The mixing of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_mixing_find(const char *name, const weft_mixing **out);

#endif
