/* Scores of samples by maps. */
#ifndef WEFT_TASK_FMAP_SCORE_H
#define WEFT_TASK_FMAP_SCORE_H

#include "fmap.h"

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
/* Adds the scores of the classes from those of the model's outputs, numbers as they are, to
 * a mean of so many. */
void fmap_add_scores(const fmap_task *fmap, const double *output, int of, double *score);

/* The loss in the units that it is told in: a squared error in that of the target, where
 * there is one. */
double fmap_loss(const fmap_task *fmap, double loss);

/* As weft_task.predict; with folds the mean of what they say. Collective. */
WEFT_CHECKED weft_status fmap_predict(fmap_task *fmap, const weft_job *job, real *x,
                                      weft_part part, weft_predictions *out,
                                      weft_arena *mem);

#endif
