/* The mixtures of all trials of a search: their entries, and what is stored of each trial
 * that may continue, as the log-probabilities at the end of its last job. Used by the
 * mixings that update them. */
#ifndef WEFT_MIXING_NEAR_H
#define WEFT_MIXING_NEAR_H

#include "weft/mixing/mixing.h"

typedef struct weft_near {
    /* options, WEFT_NEAR_OPTS */
    int64_t k, levels;
    double eps, alpha;
    /* set by weft_near_setup */
    const weft_space *space;
    uint64_t seed;
    int whole;     /* 1: the entries are all configurations of the space */
    weft_mix mix;  /* the last one made */
    double *begin; /* [k] log-probabilities of a new trial */
    double **of;   /* [roomof] by trial that may continue: what is stored of it; or NULL */
    double **free; /* [nfree] of those that do not */
    int64_t roomof, nfree, roomfree, nstored;
    weft_arena *mem;
} weft_near;

/* Rows for the option table, and the conditions, of a mixing whose instance begins with a
 * member `near`. */
#define WEFT_NEAR_OPTS(object)                                                             \
    WEFT_LONG_OPT("k", object, near.k, "0", 0, 100000,                                     \
                  "configurations of a mixture, the centre and k - 1 neighbours; 0: "      \
                  "number of trials"),                                                     \
        WEFT_REAL_OPT("eps", object, near.eps, "0.1", 0, 1,                                \
                      "largest distance of neighbours, as a share of each axis"),          \
        WEFT_LONG_OPT("levels", object, near.levels, "0", 0, 1000,                         \
                      "grid points of each option, drawn one by one, in place of "         \
                      "neighbours; 0: off"),                                               \
        WEFT_REAL_OPT("alpha", object, near.alpha, "0.1", 1e-9, 0.5,                       \
                      "racing: bound of the probability that the best configuration of a " \
                      "mixture is ever eliminated")
extern const weft_when weft_near_when[];

/* Sets up for mixtures of a trial's configuration and k - 1 neighbours, which differ in the
 * axes that may differ between samples; with `levels`, for products of the grids of these
 * axes; if env->whole is given, for that mixture. `name`: of the mixing, for messages.
 * ECONF: no axis may differ between samples; ELIMIT: too many entries. */
WEFT_CHECKED weft_status weft_near_setup(weft_near *near, const char *name,
                                         const weft_mixing_env *env);
/* Fills job->mix as weft_mixing.make does. The ids of entries are unique, k for each trial;
 * for the mixture of the whole space they are the numbers of its configurations. */
void weft_near_make(weft_near *near, const double *conf, weft_job *job);
/* What is stored of a trial; NULL: nothing is, also where trial < 0. */
double *weft_near_stored(const weft_near *near, int64_t trial);
/* The same; where nothing is yet, numbers to be filled: near->nstored, which is k unless
 * the mixing sets it after weft_near_setup. */
double *weft_near_store(weft_near *near, int64_t trial);
/* `told`, which stores the log-probabilities, and `forget` of a mixing that begins with its
 * weft_near. */
void weft_near_told(void *self, const weft_result *res);
void weft_near_forget(void *self, int64_t trial);

#endif
