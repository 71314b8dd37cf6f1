/* What the files of task fmap share. Private to it. */
#ifndef WEFT_TASK_FMAP_FMAP_H
#define WEFT_TASK_FMAP_FMAP_H

#include "weft/model/model.h"
#include "weft/space/scores.h"
#include "weft/task/task.h"

/* Units of resource: fits, iterations of a fit, training rows of a fit. */
enum { FMAP_FITS, FMAP_ITERATIONS, FMAP_ROWS };

/* The rows that a model is fitted to, those of train, and scored on. */
typedef struct fmap_fold {
    weft_data *data;
    void *map;            /* the feature map's instance; arms are copies of it */
    weft_answers answers; /* of the training rows */
    const double *class;  /* [classes] weights of classes that are part of answers.weight;
                             NULL: none are */
    int64_t key;          /* added to the numbers of rows in the keys of their draws */
    int64_t held;         /* rows that folds before it hold out */
} fmap_fold;

/* Section [fmap]. */
typedef struct fmap_options {
    const char *feature_name, *model_name;
    int validation, score, unit; /* score: weft_measure; unit of resource */
    int64_t folds;
    double slack;
} fmap_options;

typedef struct fmap_task {
    fmap_options opts;
    const weft_feature *feature;
    const weft_model *model;
    void *map;    /* that of the first fold */
    void *solver; /* the model's instance; trials have copies of it */
    weft_env env;
    int64_t nstat, columns; /* columns at full size */
    int outputs;
    int64_t each;               /* numbers of a fold's fit in a state */
    weft_truth valid;           /* of all rows of validation, where the score asks for it */
    int64_t npieces;            /* doubles of the state of a fit in pieces, else 0 */
    int nfold;                  /* 1 without folds */
    fmap_fold *fold;            /* [nfold] of the job: all[], or those of a sample */
    fmap_fold *all;             /* [nfold] with all rows */
    struct fmap_sample *sample; /* NULL: jobs fit all rows */
    double copied;              /* bytes of this rank's rows in them */
    int apart;                  /* 1: a rank fits some of the folds alone: fmap_own_folds */
    weft_team *alone;           /* a team of only this rank; NULL until needed */
    struct fmap_early *early;   /* fits that were done before their jobs */
} fmap_task;

/* The maps of a job in a fold: instances with the options of their configurations, and
 * cumulated probabilities for draws.
 */
typedef struct fmap_arms {
    const fmap_fold *fold;
    int k;
    const void *solver; /* the model's instance with the options of the trial */
    const void **arm;   /* [k] */
    double *p, *cum;    /* [k] probabilities, cumulated */
} fmap_arms;

/* ---- folds.c: one division into train and valid rows, or one for each fold; maps ---- */

/* Sets up the folds, and for each the feature map, of which all together may use `memory`
 * bytes of this rank. ECONF, EDATA, ELIMIT. Collective. */
WEFT_CHECKED weft_status fmap_folds_open(fmap_task *fmap, double memory);
/* The folds [*first, *first + n) that a rank fits and scores, n being returned: all, or,
 * where they are apart, about as many as other ranks. */
int fmap_own_folds(const fmap_task *fmap, int rank, int *first);
/* Has fmap->fold be the folds of so many training rows each, or all that there are, until
 * the next fmap->fold = fmap->all. ELIMIT. Collective. */
WEFT_CHECKED weft_status fmap_sample_take(fmap_task *fmap, double rows);
/* 1: rows of the part are scored by the fold that holds them out; 0: by all. */
int fmap_is_held(const fmap_task *fmap, weft_part part);
/* Rows of a part that are scored, and what is known of them, on every rank, owned by mem:
 * those that are held out fold by fold. Collective. */
int64_t fmap_distinct(const fmap_task *fmap, weft_part part);
weft_truth fmap_truth(const fmap_task *fmap, weft_part part, weft_arena *mem);
/* Rows of a part, over all folds. */
double fmap_rows(const fmap_task *fmap, weft_part part);
/* The map of configuration conf[dim] in a fold. */
const void *fmap_arm(const fmap_task *fmap, const fmap_fold *fold, const double *conf,
                     weft_arena *mem);
/* The model by configuration conf[dim]. */
const void *fmap_solver(const fmap_task *fmap, const double *conf, weft_arena *mem);
fmap_arms fmap_arms_new(const fmap_task *fmap, int fold, const weft_mix *mix,
                        weft_arena *mem);
/* The map that each local row of a part draws: a function of (seed, trial, round, sample).
 * In later passes the uniform number is shifted by `shift`. NULL if there is only one map.
 */
const int *fmap_draw(const fmap_task *fmap, const weft_job *job, const fmap_arms *arms,
                     weft_part part, double shift, weft_arena *mem);
/* All local rows of a part by the arms. */
weft_request fmap_request(const fmap_task *fmap, const weft_job *job, const fmap_arms *arms,
                          weft_part part);

/* ---- fit.c: the fit that the maps of a job share ---- */

/* Sets npieces. ECONF: the model cannot be fitted in pieces. */
WEFT_CHECKED weft_status fmap_pieces_setup(fmap_task *fmap);
/* Fits the shared model to the training samples of a fold, each seen through the map it
 * draws; or, in pieces, does as many iterations of it as the job's resource says, none
 * where that is 0. Where the maps leave no features, the fit counts as diverged; EDATA: and
 * there is only one configuration. Collective. */
WEFT_CHECKED weft_status fmap_fit(fmap_task *fmap, const weft_job *job,
                                  const fmap_arms *arms, real *x, double *aux,
                                  weft_fitted *fitted);
/* A fit that was done before its job. */
typedef struct fmap_early {
    int64_t job; /* -1: none, x may be reused */
    int fold;
    real *x; /* [each] */
    weft_fitted fitted;
    int owner;   /* rank that fitted it */
    double cost; /* cost for the assignment to ranks: entries of the matrix */
    struct fmap_early *next;
} fmap_early;

/* weft_task.ahead: fits of single maps, each done by one rank, in parallel, as many as
 * memory allows. Collective. */
void fmap_ahead(void *self, int n, const weft_job *const *job);

/* ---- score.c: scores of samples by maps ---- */

/* Sums over the samples of each arm, by their weights: losses in units of 2^-scale; wrong
 * answers, of numbers squared errors over the variance of the training targets, and
 * samples, in units of 2^-unit. */
typedef struct fmap_tally {
    int64_t *loss, *wrong, *count; /* [k] each, one after the other */
    int scale, unit;
    int passes, full; /* maps that score a sample; 1: all */
    double bound;     /* losses, and squared errors, above it are replaced by it */
    int64_t rows;     /* that are scored, on all ranks */
    int held;         /* 1: each by the fold that holds it out; 0: by all folds */
    double *score;    /* [passes][rows][classes] scores of each row by the map, mean of the
                         folds, */
    int32_t *arm;     /* [passes][rows] that it had; NULL: they are not kept */
} fmap_tally;

/* Sums of the arms, zero, over the rows of all folds, each scored by so many of `maps`.
 * Collective. */
fmap_tally fmap_tally_new(const fmap_task *fmap, const fmap_arms *arms, weft_part part,
                          int passes, int maps, weft_arena *mem);
/* Has scores kept, for measures of all rows together. */
void fmap_tally_keep(const fmap_task *fmap, fmap_tally *tally, weft_arena *mem);
/* Each sample of the part of a fold is scored by tally->passes maps: those that it
 * draws by systematic sampling, so by different ones where none has more than a share
 * 1 / passes of the probability. Collective. */
void fmap_score_split(fmap_task *fmap, const weft_job *job, const fmap_arms *arms, real *x,
                      weft_part part, fmap_tally *tally, weft_arena *tmp);
/* Each sample of the part of a fold is scored by every map that is alive, or by all that a
 * job asks for; maps that share work are taken one after the other. Collective. */
void fmap_score_full(fmap_task *fmap, const weft_job *job, const fmap_arms *arms, real *x,
                     weft_part part, fmap_tally *tally, weft_arena *tmp);
/* Mean loss and error under the mixture; adds the sums over ranks. Collective. */
void fmap_tally_close(fmap_task *fmap, const fmap_arms *arms, int split, fmap_tally *tally,
                      double *loss, double *error);

/* After that: the measure of each map on its own rows, of which all is told; NAN of a map
 * without. measured[k]. Cost: a double for each score kept, gathered by all ranks.
 * Collective. */
void fmap_tally_measure(fmap_task *fmap, weft_measure measure, const weft_truth *truth,
                        fmap_tally *tally, int k, double *measured);
/* What the one map of a job says of all rows, whose scores were kept. Collective. */
weft_predictions fmap_tally_said(fmap_task *fmap, fmap_tally *tally);

/* The loss in the units that it is told in: a squared error in that of the target, where
 * there is one. */
double fmap_loss(const fmap_task *fmap, double loss);

/* As weft_task.winner.predict; with folds the mean of what they say. Collective. */
WEFT_CHECKED weft_status fmap_predict(fmap_task *fmap, const weft_job *job, real *x,
                                      weft_part part, weft_predictions *out,
                                      weft_arena *mem);

#endif
