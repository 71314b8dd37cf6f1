/* The fit that the maps of a job share. */
#ifndef WEFT_TASK_FMAP_FIT_H
#define WEFT_TASK_FMAP_FIT_H

#include "fmap.h"

/* Sets npieces. ECONF: the model cannot be fitted in pieces. */
weft_status fmap_pieces_setup(fmap_task *fmap);
/* Fits the shared model to the training samples of a fold, each seen through the map it
 * draws; or, in pieces, does as many iterations of it as the job's resource says, none
 * where that is 0. Where the maps leave no features, the fit counts as diverged; EDATA: and
 * there is only one configuration. Collective. */
WEFT_CHECKED weft_status fmap_fit(fmap_task *fmap, const weft_job *job,
                                  const fmap_arms *arms, real *x, double *aux,
                                  weft_fitted *fitted);

#endif
