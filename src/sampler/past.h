/* History of a sampler that learns: its trials, and their results by resource. Losses of
 * different resources are not comparable, so a sampler learns from the results of a single
 * one, the largest that has enough results. */
#ifndef WEFT_SAMPLER_PAST_H
#define WEFT_SAMPLER_PAST_H

#include "weft/mix.h"
#include "weft/sampler.h"

typedef struct weft_past_trial {
    double *conf;  /* [dim] NAN for axes that it does not have */
    int in_flight; /* 1: in flight: a job is asked for and not told */
} weft_past_trial;

typedef struct weft_past_result {
    weft_rank rank; /* with the index in weft_past.trial as id */
    double seconds;
} weft_past_result;

/* The results of one resource. */
typedef struct weft_past_level {
    double resource;
    int64_t n, room;
    weft_past_result *result; /* [n] the best first */
} weft_past_level;

typedef struct weft_past {
    const weft_space *space;
    weft_arena *mem;
    int64_t n, room;
    weft_past_trial *trial; /* [n] in the order of their numbers */
    int64_t first;          /* number of trial[0] */
    int64_t nlevel, roomlevel;
    weft_past_level *level; /* [nlevel] by increasing resource */
} weft_past;

/* No trials, no results. sp and mem are borrowed; what comes is owned by mem. */
void weft_past_setup(weft_past *past, const weft_space *space, weft_arena *mem);
/* To be called by `pending` and `told` of a sampler. weft_past_pending returns 1 if the
 * trial is new: it is then trial[n - 1]. Cost O(results of its level). */
int weft_past_pending(weft_past *past, int64_t number, const double *conf);
void weft_past_told(weft_past *past, int64_t number, const weft_observation *observed);
/* The results of the largest resource with at least `enough` results; NULL: no resource has
 * so many. */
const weft_past_level *weft_past_highest(const weft_past *past, int64_t enough);

/* The losses of one resource scaled to 0 .. 1, y[n], in the order of its results; those of
 * diverged trials count as the worst other. 0 where all are equal. */
void weft_past_scaled(const weft_past_level *level, double *y);
/* The same for their ranks; those of equal losses are the mean of theirs. */
void weft_past_ranked(const weft_past_level *level, double *y);

/* Sets conf[dim] to NAN for the axes that the configuration does not have. */
void weft_past_prune(const weft_space *space, double *conf);

/* ---- axes as samplers treat them ---- */

typedef enum weft_axis_type {
    WEFT_AXIS_REAL,     /* a real number, its position in 0 .. 1 on the axis */
    WEFT_AXIS_DISCRETE, /* a discrete number, each value with its own interval of 0 .. 1:
                        integers, and lists that increase or decrease */
    WEFT_AXIS_CATEGORY  /* a value without an order */
} weft_axis_type;

/* Integers with very many values are treated as reals. */
weft_axis_type weft_axis_type_of(const weft_axis *axis);
/* The interval lo .. hi of 0 .. 1 of a value of a WEFT_AXIS_DISCRETE axis. */
void weft_axis_cell(const weft_axis *axis, double value, double *lo, double *hi);

#endif
