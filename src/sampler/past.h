/* What a sampler that learns was told: its trials, and their results by resource. Losses of
 * different resources do not compare, so a sampler learns from the results of one: those of
 * the largest that enough trials were given. */
#ifndef WEFT_SAMPLER_PAST_H
#define WEFT_SAMPLER_PAST_H

#include "weft/sampler.h"

typedef struct weft_past_trial {
    double *conf; /* [dim] NAN where it has no such axis */
    int flying;   /* 1: a job is asked and not told */
} weft_past_trial;

typedef struct weft_past_result {
    double loss, seconds;
    int64_t trial; /* by its place among the trials */
} weft_past_result;

/* The results of one resource. */
typedef struct weft_past_level {
    double resource;
    int64_t n, room;
    weft_past_result *result; /* [n] by (loss, trial) */
} weft_past_level;

typedef struct weft_past {
    const weft_space *space;
    weft_arena *mem;
    int64_t n, room;
    weft_past_trial *trial; /* [n] in the order of their numbers */
    int64_t first;          /* number of trial[0] */
    int64_t nlevel, roomlevel;
    weft_past_level *level; /* [nlevel] of rising resource */
} weft_past;

void weft_past_setup(weft_past *p, const weft_space *sp, weft_arena *mem);
/* What pending and told of a sampler say. pending returns 1 where the trial is new: it is
 * then trial[n - 1]. Cost O(results of its level). Local. */
int weft_past_pending(weft_past *p, int64_t number, const double *conf);
void weft_past_told(weft_past *p, int64_t number, const weft_seen *seen);
/* The results of the largest resource that at least `enough` trials have; NULL: there are
 * not so many of any. Local. */
const weft_past_level *weft_past_highest(const weft_past *p, int64_t enough);

/* NAN into conf[dim] for the axes that the configuration does not have. Local. */
void weft_past_prune(const weft_space *sp, double *conf);

/* ---- how samplers see an axis ------------------------------------------------------- */

typedef enum weft_sight {
    WEFT_SEES_REAL,    /* a number, on 0 .. 1 of the axis */
    WEFT_SEES_WHOLE,   /* a number of which only some are there, each in its own interval of
                          0 .. 1: integers, lists that rise or fall */
    WEFT_SEES_CATEGORY /* one of some values without an order */
} weft_sight;

/* Integers with very many values are treated as reals. Local. */
weft_sight weft_axis_sight(const weft_axis *a);
/* The index of a value in the axis' list. Local. */
int weft_axis_index(const weft_axis *a, double value);
/* The interval lo .. hi of 0 .. 1 that belongs to a value of an axis of whole ones. Local.
 */
void weft_axis_cell(const weft_axis *a, double value, double *lo, double *hi);

#endif
