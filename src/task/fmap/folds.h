/* The data of task fmap: one division into train and valid rows, or one for each fold. */
#ifndef WEFT_TASK_FMAP_FOLDS_H
#define WEFT_TASK_FMAP_FOLDS_H

#include "fmap.h"

/* Sets up the folds, and for each the feature map, of which all together may use `memory`
 * bytes of this rank. ECONF, EDATA, ELIMIT. Collective. */
WEFT_CHECKED weft_status fmap_folds_open(fmap_task *fmap, double memory);
/* The sample of training rows that jobs with `resource = rows` were fitted to last. */
struct fmap_sample {
    const struct weft_folds *folds;
    const int64_t *order; /* of the training rows */
    double memory;        /* bytes of this rank for each fold's map */
    int64_t rows;         /* of each fold; 0: none was taken yet */
    weft_arena *mem;      /* of what is its own */
    fmap_fold *fold;      /* [nfold] */
};
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

#endif
