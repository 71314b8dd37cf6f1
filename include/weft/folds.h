/* Data sets that are made of the rows of another: those of a fold, for cross-validation
 * over the train and valid parts, or both parts as one. */
#ifndef WEFT_FOLDS_H
#define WEFT_FOLDS_H

#include "weft/data.h"

/* The rows of the train and valid parts, on every rank. */
typedef struct weft_folds {
    weft_data *base;        /* whose test rows every fold has; borrowed */
    weft_data all;          /* all rows; closed with base, until when *this must last */
    weft_team alone;        /* of this rank */
    int64_t n;              /* rows of both parts: those of train, then those of valid */
    const int64_t *held_by; /* [n] fold that holds the row out; to be set before one is
                               taken */
    /* WEFT_TOKENS: tokens of row i are token[offset[i] .. offset[i+1]-1] */
    const uint32_t *token[WEFT_NTOK];
    const int64_t *offset[WEFT_NTOK];
} weft_folds;

/* The fold, of `folds`, that holds out each of n rows; owned by mem. Without groups row
 * order[i], in the order of the rows' keyed random numbers, is held out by fold i mod
 * `folds`, cost O(n log n). group[n], of rows, or NULL: whole groups are held out, the
 * largest first, those of one size in the order of their keyed random numbers, each by the
 * fold that has the fewest rows until then; cost O(n log n + groups folds). */
const int64_t *weft_folds_deal(int64_t n, const int32_t *group, int64_t folds,
                               uint64_t seed, weft_arena *mem);
/* How many folds there can be: groups that have rows, or n where group is NULL. */
int64_t weft_folds_most(int64_t n, const int32_t *group);
/* Takes whole groups of the rows row[n] in the order of their keyed random numbers, as long
 * as they come nearer to a share of n, at least the smallest; puts their rows first, else
 * in the order that rows have, and returns how many these are. group: by the numbers in
 * row. Cost O(n log n). */
int64_t weft_folds_share(int64_t n, int64_t *row, const int32_t *group, double share,
                         uint64_t seed);
/* An order of n rows every beginning of which has each class in its share, within a row, by
 * chance; label[n], 0 .. classes - 1. Owned by mem. Cost O(n log n). */
const int64_t *weft_folds_order(int64_t n, const int32_t *label, int classes, uint64_t seed,
                                weft_arena *mem);
/* The groups of the rows of the train and valid parts of data that are open on this rank
 * alone, those of train first, owned by mem; *group NULL: there are none. Warns where rows
 * were packed in groups that the file does not keep. EFILE. */
WEFT_CHECKED weft_status weft_folds_groups(weft_data *all, const int32_t **group,
                                           weft_arena *mem);

/* Opens the file of base, no federation, for folds, or for all rows as one. Columns and
 * classes are those of base. EFILE, EDATA. Collective over base->team. Memory: of documents
 * a copy of their tokens on each rank; else that of the rows that were moved in base. */
WEFT_CHECKED weft_status weft_folds_open(weft_folds *folds, weft_data *base,
                                         weft_arena *mem);
/* Makes *data of the rows that a fold does not hold out as the train part, in the order of
 * the file, those that it does as the valid part, and the test part of base; fold -1: all
 * rows for training, and no valid part. The rows are dealt to the ranks of base->team as
 * those of a file are. Valid as long as base is open. Cost and memory: a copy of this
 * rank's rows, of documents their places. */
void weft_folds_take(const weft_folds *folds, int64_t fold, weft_data *data,
                     weft_arena *mem);
/* Replaces the training rows of *data, base or a fold, by the rows row[n] of both parts, in
 * that order. Collective over base->team. Cost and memory: a copy of this rank's rows. */
void weft_folds_sample(const weft_folds *folds, int64_t n, const int64_t *row,
                       weft_data *data, weft_arena *mem);
/* Bytes of this rank's copies of one fold, about. */
double weft_folds_bytes(const weft_folds *folds);

#endif
