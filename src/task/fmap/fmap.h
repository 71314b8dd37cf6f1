/* What the files of task fmap share. Private to it. */
#ifndef WEFT_TASK_FMAP_FMAP_H
#define WEFT_TASK_FMAP_FMAP_H

#include "weft/measure.h"
#include "weft/model.h"
#include "weft/task.h"

struct weft_folds; /* weft/folds.h */

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

typedef struct fmap_task {
    const char *feature_name, *model_name;
    int validation, score, unit; /* score: weft_measure; unit of resource */
    int64_t folds;
    double slack;
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

#endif
