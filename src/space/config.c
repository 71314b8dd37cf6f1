/* The configurations of a space: those of a list, points of a grid, random draws. */
#include "axis.h"
#include "weft/hash.h"
#include "weft/rng.h"

#include <math.h>
#include <string.h>

enum { RANDOM }; /* the first of the choices of space.source */

static void random_config(const weft_space *space, int64_t i, double *conf)
{
    for (int a = 0; a < space->dim; a++) {
        weft_rng4 rng = weft_rng_at((uint64_t)space->seed, WEFT_RNG_SPACE, (uint64_t)i,
                                    weft_axis_key(&space->axis[a]), 0);
        conf[a] = weft_axis_draw(&space->axis[a], weft_rng_unit(rng.v[0]));
    }
    weft_space_settle(space, 0, 0, conf);
}

double weft_space_resample(const weft_space *space, int a, double unit)
{
    return weft_axis_draw(&space->axis[a], unit);
}

/* The last axis changes fastest. */
static void grid_config(const weft_space *space, int64_t i, double *conf)
{
    for (int a = space->dim - 1; a >= 0; a--) {
        int64_t n = weft_axis_levels(&space->axis[a], space->levels);
        conf[a] = weft_axis_point(&space->axis[a], i % n, n);
        i /= n;
    }
}

void weft_space_config(const weft_space *space, int64_t i, double *conf)
{
    weft_check(i >= 0 && (space->source == RANDOM || i < space->count),
               "configuration %lld of %lld", (long long)i, (long long)space->count);
    if (i < space->listed)
        memcpy(conf, space->list + i * space->dim, (size_t)space->dim * sizeof *conf);
    else if (space->source == RANDOM)
        random_config(space, i, conf);
    else
        grid_config(space, i, conf);
}

void weft_space_defaults(const weft_space *space, double *conf)
{
    for (int a = 0; a < space->dim; a++) {
        const weft_axis *axis = &space->axis[a];
        double value;
        if (axis->opt->own) continue;
        weft_check(weft_opt_parse(axis->opt, axis->opt->def, &value) == WEFT_OK,
                   "default of %s: %s", axis->opt->name, weft_error());
        conf[a] = axis->nvalue > 0 ? axis->value[weft_axis_index(axis, value)]
                                   : fmin(fmax(value, axis->lo), axis->hi);
    }
    weft_space_settle(space, (uint64_t)space->seed, 0, conf);
}

void weft_space_perturb(const weft_space *space, const double *centre, double eps,
                        uint64_t seed, int64_t i, double *conf)
{
    size_t bytes = (size_t)space->dim * sizeof *conf;
    if (bytes > 0) memcpy(conf, centre, bytes);
    if (i == 0) return;
    uint64_t place = weft_hash(centre, bytes, 0);
    for (int a = 0; a < space->dim; a++) {
        const weft_axis *axis = &space->axis[a];
        if (axis->opt->role != WEFT_PER_SAMPLE || isnan(centre[a])) continue;
        weft_rng4 rng =
            weft_rng_at(seed, WEFT_RNG_TUNER, place, (uint64_t)i, weft_axis_key(axis));
        conf[a] = weft_axis_near(axis, centre[a], eps, weft_rng_unit(rng.v[0]));
    }
    weft_space_settle(space, seed, weft_hash(&i, sizeof i, place), conf);
}
