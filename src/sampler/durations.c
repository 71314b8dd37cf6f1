/* Durations predicted from those of earlier trials by the main effects of the axes; see
 * durations.h. */
#include "durations.h"

#include "normal.h"

#include <math.h>

/* The results that have an axis. */
struct effect {
    int levels; /* of a category; 0: a number */
    int64_t n;
    double *at;          /* [n] positions */
    double *narrow;      /* [n] 1 / h */
    double *one;         /* [n] 1 */
    double *y;           /* [n] logarithms of seconds without their mean */
    double *sum, *count; /* [levels] of y; of results */
};

struct weft_durations {
    const weft_space *space;
    struct effect *axis; /* [dim] */
};

int weft_durations_observed(const weft_past_level *level, double *y)
{
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < level->n; i++) {
        double s = level->result[i].seconds;
        if (s > 0) least = fmin(least, s);
        most = fmax(most, s);
    }
    for (int64_t i = 0; i < level->n; i++)
        y[i] = most > 0 ? log(fmax(level->result[i].seconds, least) / least) : 0;
    return most > least;
}

/* Removes the mean of y[n]. */
static void centre(int64_t n, double *y)
{
    double mean = 0;
    for (int64_t i = 0; i < n; i++) mean += y[i] / (double)n;
    for (int64_t i = 0; i < n; i++) y[i] -= mean;
}

static void learn_axis(const weft_past *past, const weft_past_level *level, int a,
                       const double *y, struct effect *effect, weft_arena *mem)
{
    const weft_axis *axis = &past->space->axis[a];
    double magnitude = 0.2; /* width of a kernel for a single result */
    int levels = weft_axis_type_of(axis) == WEFT_AXIS_CATEGORY ? axis->nvalue : 0;
    double *all = WEFT_NEW(mem, double, 4 * level->n + 2 * levels);
    *effect = (struct effect){.levels = levels,
                              .at = all,
                              .narrow = all + level->n,
                              .one = all + 2 * level->n,
                              .y = all + 3 * level->n,
                              .sum = all + 4 * level->n,
                              .count = all + 4 * level->n + levels};
    for (int64_t i = 0; i < level->n; i++) {
        double value = past->trial[level->result[i].rank.id].conf[a];
        if (isnan(value)) continue;
        effect->at[effect->n] =
            levels ? weft_axis_index(axis, value) : weft_axis_unit(axis, value);
        effect->y[effect->n++] = y[i];
    }
    centre(effect->n, effect->y);
    for (int64_t i = 0; i < effect->n; i++) {
        effect->narrow[i] = pow((double)effect->n, 0.2) / magnitude;
        effect->one[i] = 1;
        if (levels == 0) continue;
        effect->sum[(int)effect->at[i]] += effect->y[i];
        effect->count[(int)effect->at[i]]++;
    }
}

weft_durations *weft_durations_new(const weft_past *past, const weft_past_level *level,
                                   weft_arena *mem)
{
    double *y = WEFT_NEW(mem, double, level->n);
    if (!weft_durations_observed(level, y)) return NULL;
    weft_durations *durations = WEFT_NEW(mem, weft_durations, 1);
    durations->space = past->space;
    durations->axis = WEFT_NEW(mem, struct effect, past->space->dim);
    for (int a = 0; a < past->space->dim; a++)
        learn_axis(past, level, a, y, &durations->axis[a], mem);
    return durations;
}

double weft_durations_effect(const weft_durations *durations, int a, double value)
{
    const struct effect *effect = &durations->axis[a];
    if (isnan(value)) return 0;
    if (effect->levels) {
        int c = weft_axis_index(&durations->space->axis[a], value);
        return effect->sum[c] / (1 + effect->count[c]);
    }
    double x = weft_axis_unit(&durations->space->axis[a], value);
    return weft_bumps(effect->n, effect->at, effect->narrow, effect->y, x) /
           (1 + weft_bumps(effect->n, effect->at, effect->narrow, effect->one, x));
}

double weft_durations_log(const weft_durations *durations, const double *conf)
{
    double sum = 0;
    for (int a = 0; a < durations->space->dim; a++)
        sum += weft_durations_effect(durations, a, conf[a]);
    return sum;
}

double weft_durations_gain(double ratio, double good, double cost)
{
    double most = 700; /* exp is finite */
    return -log(good + (1 - good) * exp(fmin(-ratio, most))) - cost;
}
