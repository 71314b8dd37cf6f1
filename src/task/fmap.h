/* What the files of task fmap share. Private to it. */
#ifndef WEFT_FMAP_H
#define WEFT_FMAP_H

#include "weft/task.h"

typedef struct fmap {
    const char *feature_name, *model_name;
    int validation, by_error, pieces;
    double slack;
    const weft_feature *feature;
    const weft_model *model;
    void *map;    /* the feature map's instance; arms are copies of it */
    void *solver; /* the model's instance; trials have copies of it */
    weft_env env;
    int64_t nstat, columns; /* columns at full size */
    int outputs;
    int64_t npieces;          /* doubles of the state of a fit in pieces, else 0 */
    weft_team *alone;         /* a team of only this rank; NULL until needed */
    struct fmap_early *early; /* fits that were done before their jobs */
} fmap;

/* The maps of a job: instances with the options of their configurations, and cumulated
 * probabilities for draws.
 */
typedef struct fmap_arms {
    int k;
    const void *solver; /* the model's instance with the options of the trial */
    const void **arm;   /* [k] */
    double *p, *cum;    /* [k] probabilities, cumulated */
} fmap_arms;

/* The map of configuration conf[dim]. */
const void *fmap_arm(const fmap *t, const double *conf, weft_arena *mem);
/* The model by configuration conf[dim]. */
const void *fmap_solver(const fmap *t, const double *conf, weft_arena *mem);
fmap_arms fmap_arms_new(const fmap *t, const weft_mix *m, weft_arena *mem);
/* The map that each local row of a part draws: a function of (seed, trial, round, sample).
 * In later passes the uniform number is shifted by `shift`. NULL if there is only one map.
 */
const int *fmap_draw(const fmap *t, const weft_job *job, const fmap_arms *a, weft_part part,
                     double shift, weft_arena *mem);
/* All local rows of a part by the arms. */
weft_request fmap_request(const fmap *t, const weft_job *job, const fmap_arms *a,
                          weft_part part);

/* ---- scores ---- */

/* Sums over the samples of each arm: losses in units of 2^-scale, wrong answers, samples.
 */
typedef struct fmap_tally {
    int64_t *loss, *wrong, *count; /* [k] each, one after the other */
    int scale;
} fmap_tally;

/* Sums of the arms, zero. */
fmap_tally fmap_tally_new(const fmap *t, const fmap_arms *a, weft_part part, int passes,
                          weft_arena *mem);
/* Each sample of the part is scored by as many maps as there are passes: those that it
 * draws by systematic sampling, so by different ones where none has more than a share
 * 1 / passes of the probability. Collective. */
void fmap_score_split(fmap *t, const weft_job *job, const fmap_arms *a, real *x,
                      weft_part part, int passes, fmap_tally *s, weft_arena *tmp);
/* Each sample of the part is scored by every map that is alive, or by all that a job asks
 * for; maps that share work are taken one after the other. Collective. */
void fmap_score_full(fmap *t, const weft_job *job, const fmap_arms *a, real *x,
                     weft_part part, fmap_tally *s, weft_arena *tmp);
/* Mean loss and error under the mixture; adds the sums over ranks. Collective. */
void fmap_tally_close(fmap *t, const fmap_arms *a, int split, fmap_tally *s, double *loss,
                      double *error);

/* ---- fits ---- */

/* Sets npieces. ECONF: the model cannot be fitted in pieces. */
weft_status fmap_pieces_setup(fmap *t);
/* A fit that was done before its job. */
typedef struct fmap_early {
    int64_t job; /* -1: none, x may be reused */
    real *x;     /* [nstat + outputs (columns + 1)] */
    weft_fitted fitted;
    int owner;   /* rank that fitted it */
    double cost; /* cost for the assignment to ranks: entries of the matrix */
    struct fmap_early *next;
} fmap_early;

/* weft_task.ahead: fits of single maps, each done by one rank, in parallel, as many as
 * memory allows. Collective. */
void fmap_ahead(void *self, int n, const weft_job *const *job);
/* Returns 1 if the job's fit was done ahead, with its part of the state x and its result.
 */
int fmap_was_ahead(fmap *t, const weft_job *job, real *x, weft_fitted *fitted);
/* Fits the shared model to the training samples, each seen through the map it draws; or, in
 * pieces, does as many iterations of it as the job's resource says, none where that is 0.
 * Where the maps leave no features, the fit counts as diverged; EDATA: and there is only
 * one configuration. Collective. */
WEFT_CHECKED weft_status fmap_fit(fmap *t, const weft_job *job, const fmap_arms *a,
                                  weft_state *state, weft_fitted *fitted);

#endif
