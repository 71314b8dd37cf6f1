/* What samplers learn from: the trials and results that they were told, with the positions
 * of values on the axes; see learn.h. */
#include "learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- axes ---- */

static int is_sorted(const weft_axis *axis)
{
    int up = 1, down = 1;
    for (int i = 1; i < axis->nvalue; i++) {
        up &= axis->value[i] > axis->value[i - 1];
        down &= axis->value[i] < axis->value[i - 1];
    }
    return up || down;
}

static weft_axis_type type_of(const weft_axis *axis)
{
    double most = 1e6; /* more values than this are treated as real: kernels are at least
                          0.01 wide */
    if (axis->nvalue)
        return weft_axis_is_ordered(axis) && is_sorted(axis) ? WEFT_AXIS_DISCRETE
                                                             : WEFT_AXIS_CATEGORY;
    if (axis->opt->type == WEFT_REAL || axis->hi - axis->lo > most) return WEFT_AXIS_REAL;
    return WEFT_AXIS_DISCRETE;
}

void weft_axis_cell(const weft_axis *axis, double value, double *lo, double *hi)
{
    if (axis->nvalue) {
        int at = weft_axis_index(axis, value);
        *lo = (double)at / axis->nvalue;
        *hi = (double)(at + 1) / axis->nvalue;
        return;
    }
    double first = axis->lo - 0.5, last = axis->hi + 0.5;
    if (!(last > first)) return;
    if (axis->log) {
        double length = log(last / first);
        *lo = log((value - 0.5) / first) / length;
        *hi = log((value + 0.5) / first) / length;
        return;
    }
    *lo = (value - 0.5 - first) / (last - first);
    *hi = (value + 0.5 - first) / (last - first);
}

double weft_past_place(const weft_past *past, int a, double value)
{
    const weft_axis *axis = &past->space->axis[a];
    return past->type[a] == WEFT_AXIS_CATEGORY ? weft_axis_index(axis, value)
                                               : weft_axis_unit(axis, value);
}

double weft_past_value(const weft_past *past, int a, double at)
{
    const weft_axis *axis = &past->space->axis[a];
    return past->type[a] == WEFT_AXIS_CATEGORY ? axis->value[(int)at]
                                               : weft_axis_value(axis, at);
}

/* ---- trials and results ---- */

void weft_past_setup(weft_past *past, const weft_space *space, weft_arena *mem)
{
    *past = (weft_past){
        .space = space, .type = WEFT_NEW(mem, weft_axis_type, space->dim), .mem = mem};
    for (int a = 0; a < space->dim; a++) past->type[a] = type_of(&space->axis[a]);
}

void weft_past_pending(void *self, int64_t number, const double *conf, double resource)
{
    weft_past *past = self;
    (void)resource;
    size_t dim = (size_t)past->space->dim;
    if (past->n == 0) past->first = number;
    int64_t at = number - past->first;
    weft_check(at >= 0 && at <= past->n, "trial %lld comes out of turn", (long long)number);
    if (at == past->n) {
        WEFT_GROW(past->mem, past->trial, past->n++, &past->room);
        past->trial[at].conf = WEFT_NEW(past->mem, double, dim);
        if (dim > 0) memcpy(past->trial[at].conf, conf, dim * sizeof *conf);
    }
    past->flying += !past->trial[at].in_flight;
    past->trial[at].in_flight = 1;
}

/* The level of a resource, made if there is none yet. */
static weft_past_level *level_of(weft_past *past, double resource)
{
    int64_t at = past->nlevel;
    while (at > 0 && past->level[at - 1].resource > resource) at--;
    if (at > 0 && !(past->level[at - 1].resource < resource)) return &past->level[at - 1];
    WEFT_GROW(past->mem, past->level, past->nlevel, &past->roomlevel);
    memmove(past->level + at + 1, past->level + at,
            (size_t)(past->nlevel++ - at) * sizeof *past->level);
    past->level[at] = (weft_past_level){.resource = resource};
    return &past->level[at];
}

static int other_of(const weft_past *past, weft_rank rank)
{
    return past->trial[rank.id].other;
}

/* Sets level->result from level->told. */
static void merge(const weft_past *past, weft_past_level *level)
{
    const weft_rank *told = level->told;
    level->result = level->told;
    if (other_of(past, told[0]) == other_of(past, told[level->n - 1])) return;
    level->result = WEFT_NEW(past->mem, weft_rank, level->room);
    for (int64_t i = 0, end; i < level->n; i = end) {
        for (end = i; end < level->n;)
            if (other_of(past, told[end++]) != other_of(past, told[i])) {
                end--;
                break;
            }
        for (int64_t j = i; j < end; j++) {
            double loss = ((double)(j - i) + 0.5) / (double)(end - i);
            level->result[j] =
                weft_rank_of(told[j].loss < INFINITY ? loss : INFINITY, 0, told[j].id);
        }
    }
    qsort(level->result, (size_t)level->n, sizeof *level->result, weft_rank_compare);
}

void weft_past_told(void *self, int64_t number, const weft_observation *observed)
{
    weft_past *past = self;
    weft_past_level *level = level_of(past, observed->resource);
    int64_t trial = number - past->first;
    weft_check(trial >= 0 && trial < past->n && past->trial[trial].in_flight,
               "told of trial %lld, which has no job", (long long)number);
    past->flying--;
    past->trial[trial].in_flight = 0;
    past->trial[trial].other = observed->other;
    WEFT_GROW(past->mem, level->told, level->n, &level->room);
    weft_rank rank = weft_rank_of(observed->loss, observed->tie, trial);
    if (observed->res) {
        rank.excess = observed->res->aims.excess;
        WEFT_GROW(past->mem, level->point, level->n, &level->roompoint);
        level->point[level->n] =
            weft_result_point(observed->res, 0, past->space->objectives);
        level->point[level->n].id = trial;
    }
    int64_t at = level->n++;
    for (; at > 0; at--) {
        int other = other_of(past, level->told[at - 1]);
        if (other < observed->other ||
            (other == observed->other && !weft_rank_before(rank, level->told[at - 1])))
            break;
        level->told[at] = level->told[at - 1];
    }
    level->told[at] = rank;
    merge(past, level);
}

const weft_past_level *weft_past_highest(const weft_past *past, int64_t enough)
{
    for (int64_t i = past->nlevel - 1; i >= 0; i--)
        if (past->level[i].n >= enough) return &past->level[i];
    return NULL;
}

int64_t weft_past_turns(const weft_past *past)
{
    enum { EACH = 32 };
    int64_t turns = past->flying / EACH;
    if (past->flying < WEFT_CROWD) return 1;
    return turns < WEFT_MOST_TURNS ? turns : WEFT_MOST_TURNS;
}

void weft_past_scaled(const weft_past_level *level, double *y)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < level->n; i++) {
        double loss = level->result[i].loss;
        if (!isfinite(loss) || level->result[i].excess > 0) continue;
        low = fmin(low, loss);
        high = fmax(high, loss);
    }
    for (int64_t i = 0; i < level->n; i++) {
        double loss = fmin(fmax(level->result[i].loss, low), high);
        if (level->result[i].excess > 0) loss = high;
        y[i] = high > low ? (loss - low) / (high - low) : 0;
    }
}

void weft_past_ranked(const weft_past_level *level, double *y)
{
    weft_past_scaled(level, y);
    double first = 0, rank = 0;
    for (int64_t i = 0, next; i < level->n; i = next) {
        for (next = i + 1; next < level->n && !(y[next] > y[i]);) next++;
        rank = (double)(i + next - 1) / 2;
        if (i == 0) first = rank;
        for (int64_t j = i; j < next; j++) y[j] = rank;
    }
    for (int64_t i = 0; i < level->n; i++)
        y[i] = rank > first ? (y[i] - first) / (rank - first) : 0;
}

void weft_past_prune(const weft_space *space, double *conf)
{
    for (int i = 0; i < space->dim; i++)
        if (!weft_space_is_active(space, conf, space->order[i]))
            conf[space->order[i]] = NAN;
}

/* ---- proposals ---- */

void weft_past_design(const weft_past *past, uint64_t seed, int64_t at, int64_t points,
                      double *conf)
{
    const weft_space *space = past->space;
    int64_t *order = WEFT_NEW(past->mem, int64_t, points);
    for (int a = 0; a < space->dim; a++) {
        uint64_t key = weft_axis_key(&space->axis[a]);
        weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_TUNER, (uint64_t)at, key, 0);
        weft_shuffle(points, seed + key, order, past->mem);
        double unit = past->type[a] == WEFT_AXIS_CATEGORY ? 0.5 : weft_rng_unit(rng.v[0]);
        conf[a] =
            weft_axis_value(&space->axis[a], ((double)order[at] + unit) / (double)points);
    }
    weft_past_prune(space, conf);
}

int weft_past_knows(const weft_past *past, const double *conf)
{
    int dim = past->space->dim;
    for (int64_t i = 0; i < past->n; i++) {
        int a = 0;
        for (; a < dim; a++) {
            double b = past->trial[i].conf[a];
            if (fabs(conf[a] - b) > 0 || isnan(conf[a]) != isnan(b)) break;
        }
        if (a == dim) return 1;
    }
    return 0;
}

/* ---- beliefs ---- */

void weft_sampler_believe(const weft_space *space, int64_t n, uint64_t seed, uint64_t key,
                          double *conf)
{
    const double forget = 5, sd = 0.25;
    seed = weft_hash("near", 4, seed);
    double unit = weft_rng_unit(weft_rng_at(seed, WEFT_RNG_TUNER, key, 0, 0).v[0]);
    if (!(unit < forget / (forget + (double)n))) return;
    for (int a = 0; a < space->dim; a++) {
        const weft_axis *axis = &space->axis[a];
        if (!axis->has_near || isnan(conf[a])) continue;
        weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_TUNER, key, weft_axis_key(axis), 1);
        double at = weft_normal_between(weft_axis_unit(axis, axis->near), sd,
                                        weft_rng_unit(rng.v[0]));
        conf[a] = n == 0 ? axis->near : weft_axis_value(axis, at);
    }
    weft_space_settle(space, seed, key, conf);
}
