/* The data of task fmap: one division into train and valid rows, or one for each fold. */
#ifndef WEFT_TASK_FMAP_FOLDS_H
#define WEFT_TASK_FMAP_FOLDS_H

#include "fmap.h"

/* Sets up the folds, and for each the feature map, of which all together may use `memory`
 * bytes of this rank. ECONF, EDATA, ELIMIT. Collective. */
WEFT_CHECKED weft_status fmap_folds_open(fmap_task *fmap, double memory);
/* 1: rows of the part are scored by the fold that holds them out; 0: by all. */
int fmap_is_held(const fmap_task *fmap, weft_part part);
/* Rows of a part that are scored, and what is known of them, on every rank, owned by mem:
 * those that are held out fold by fold. Collective. */
int64_t fmap_distinct(const fmap_task *fmap, weft_part part);
weft_truth fmap_truth(const fmap_task *fmap, weft_part part, weft_arena *mem);
/* Rows of a part, over all folds. */
double fmap_rows(const fmap_task *fmap, weft_part part);

#endif
