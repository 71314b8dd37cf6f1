/* The mixtures of all trials of a search: what their entries are, and the log-probabilities
 * that each trial's had at the end of its last job. Used by the mixings that move them. */
#ifndef WEFT_MIXING_NEAR_H
#define WEFT_MIXING_NEAR_H

#include "weft/mixing.h"

typedef struct weft_near {
    /* options, WEFT_NEAR_OPTS */
    int64_t k, levels;
    double eps;
    /* set by weft_near_setup */
    const weft_space *sp;
    uint64_t seed;
    int whole;     /* 1: the entries are all configurations of the space */
    weft_mix mix;  /* made last */
    double *begin; /* [k] log-probabilities of a new trial */
    int64_t nslot, roomslot, nfree, roomfree, roomof;
    double *slot;  /* [nslot][k] log-probabilities of the trials that go on */
    int64_t *free; /* [nfree] slots of no trial */
    int64_t *of;   /* [trial] 1 + its slot; 0: it has none */
    weft_arena *mem;
} weft_near;

/* The options, for the table and the conditions of a mixing whose instance has a member
 * `near`. */
#define WEFT_NEAR_OPTS(type)                                                               \
    {"k",                                                                                  \
     WEFT_LONG,                                                                            \
     offsetof(type, near.k),                                                               \
     "0",                                                                                  \
     0,                                                                                    \
     100000,                                                                               \
     NULL,                                                                                 \
     "configurations of a mixture, the centre and k - 1 neighbours; 0: number of trials",  \
     0},                                                                                   \
        {"eps",                                                                            \
         WEFT_REAL,                                                                        \
         offsetof(type, near.eps),                                                         \
         "0.1",                                                                            \
         0,                                                                                \
         1,                                                                                \
         NULL,                                                                             \
         "how far neighbours go, as a share of each axis",                                 \
         0},                                                                               \
    {                                                                                      \
        "levels", WEFT_LONG, offsetof(type, near.levels), "0", 0, 1000, NULL,              \
            "grid points of each option, drawn one by one, in place of neighbours; 0: "    \
            "off",                                                                         \
            0                                                                              \
    }
#define WEFT_NEAR_WHEN                                                                     \
    {"k", "levels", "0"},                                                                  \
    {                                                                                      \
        "eps", "levels", "0"                                                               \
    }

/* A trial's mixture is its configuration and k - 1 neighbours, in the axes that may differ
 * between samples; with `levels` a product of the grids of these axes; with env->whole
 * that. `name` is the mixing's. ECONF: there is nothing to draw; ELIMIT: too many numbers.
 * Local. */
WEFT_CHECKED weft_status weft_near_setup(weft_near *t, const char *name,
                                         const weft_mixing_env *env);
/* Fills job->mix; as weft_mixing.make. Ids are the trial's own, k to a trial; of the whole
 * space the numbers of its configurations. Local. */
void weft_near_make(weft_near *t, const double *conf, weft_job *job);
void weft_near_told(weft_near *t, const weft_result *res); /* as weft_mixing.told */
void weft_near_forget(weft_near *t, int64_t trial);        /* as weft_mixing.forget */

#endif
