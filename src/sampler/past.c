/* The trials and results that a sampler was told; see past.h. */
#include "past.h"

#include <math.h>
#include <string.h>

void weft_past_setup(weft_past *p, const weft_space *sp, weft_arena *mem)
{
    *p = (weft_past){.space = sp, .mem = mem};
}

int weft_past_pending(weft_past *p, int64_t number, const double *conf)
{
    size_t dim = (size_t)p->space->dim;
    if (p->n == 0) p->first = number;
    int64_t at = number - p->first;
    weft_check(at >= 0 && at <= p->n, "trial %lld comes out of turn", (long long)number);
    int new = at == p->n;
    if (new) {
        p->trial = weft_grow(p->mem, p->trial, sizeof *p->trial, p->n++, &p->room);
        p->trial[at].conf = WEFT_NEW(p->mem, double, dim);
        if (dim > 0) memcpy(p->trial[at].conf, conf, dim * sizeof *conf);
    }
    p->trial[at].in_flight = 1;
    return new;
}

/* The level of a resource, made if there is none yet. */
static weft_past_level *level_of(weft_past *p, double resource)
{
    int64_t at = p->nlevel;
    while (at > 0 && p->level[at - 1].resource > resource) at--;
    if (at > 0 && !(p->level[at - 1].resource < resource)) return &p->level[at - 1];
    p->level = weft_grow(p->mem, p->level, sizeof *p->level, p->nlevel, &p->roomlevel);
    memmove(p->level + at + 1, p->level + at,
            (size_t)(p->nlevel++ - at) * sizeof *p->level);
    p->level[at] = (weft_past_level){.resource = resource};
    return &p->level[at];
}

void weft_past_told(weft_past *p, int64_t number, const weft_observation *observed)
{
    weft_past_level *l = level_of(p, observed->resource);
    int64_t trial = number - p->first;
    weft_check(trial >= 0 && trial < p->n && p->trial[trial].in_flight,
               "told of trial %lld, which has no job", (long long)number);
    p->trial[trial].in_flight = 0;
    l->result = weft_grow(p->mem, l->result, sizeof *l->result, l->n, &l->room);
    weft_rank rank = weft_rank_of(observed->loss, observed->tie, trial);
    int64_t at = l->n++;
    for (; at > 0 && weft_rank_before(rank, l->result[at - 1].rank); at--)
        l->result[at] = l->result[at - 1];
    l->result[at] = (weft_past_result){rank, observed->seconds};
}

const weft_past_level *weft_past_highest(const weft_past *p, int64_t enough)
{
    for (int64_t i = p->nlevel - 1; i >= 0; i--)
        if (p->level[i].n >= enough) return &p->level[i];
    return NULL;
}

void weft_past_scaled(const weft_past_level *l, double *y)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < l->n; i++) {
        double loss = l->result[i].rank.loss;
        if (!isfinite(loss)) continue;
        low = fmin(low, loss);
        high = fmax(high, loss);
    }
    for (int64_t i = 0; i < l->n; i++) {
        double loss = fmin(fmax(l->result[i].rank.loss, low), high);
        y[i] = high > low ? (loss - low) / (high - low) : 0;
    }
}

void weft_past_ranked(const weft_past_level *l, double *y)
{
    weft_past_scaled(l, y);
    double first = 0, rank = 0;
    for (int64_t i = 0, next; i < l->n; i = next) {
        for (next = i + 1; next < l->n && !(y[next] > y[i]);) next++;
        rank = (double)(i + next - 1) / 2;
        if (i == 0) first = rank;
        for (int64_t j = i; j < next; j++) y[j] = rank;
    }
    for (int64_t i = 0; i < l->n; i++)
        y[i] = rank > first ? (y[i] - first) / (rank - first) : 0;
}

void weft_past_prune(const weft_space *sp, double *conf)
{
    for (int i = 0; i < sp->dim; i++)
        if (!weft_space_is_active(sp, conf, sp->order[i])) conf[sp->order[i]] = NAN;
}

/* ---- axes ---- */

/* 1: the values of a list increase or decrease. */
static int is_sorted(const weft_axis *a)
{
    int up = 1, down = 1;
    for (int i = 1; i < a->nvalue; i++) {
        up &= a->value[i] > a->value[i - 1];
        down &= a->value[i] < a->value[i - 1];
    }
    return up || down;
}

weft_axis_type weft_axis_type_of(const weft_axis *a)
{
    double most = 1e6; /* more values than this are treated as real: kernels are at least
                          0.01 wide */
    if (a->nvalue)
        return weft_axis_is_ordered(a) && is_sorted(a) ? WEFT_AXIS_DISCRETE
                                                       : WEFT_AXIS_CATEGORY;
    if (a->opt->type == WEFT_REAL || a->hi - a->lo > most) return WEFT_AXIS_REAL;
    return WEFT_AXIS_DISCRETE;
}

void weft_axis_cell(const weft_axis *a, double value, double *lo, double *hi)
{
    if (a->nvalue) {
        int at = weft_axis_index(a, value);
        *lo = (double)at / a->nvalue;
        *hi = (double)(at + 1) / a->nvalue;
        return;
    }
    double first = a->lo - 0.5, last = a->hi + 0.5;
    if (!(last > first)) return;
    if (a->log) {
        double length = log(last / first);
        *lo = log((value - 0.5) / first) / length;
        *hi = log((value + 0.5) / first) / length;
        return;
    }
    *lo = (value - 0.5 - first) / (last - first);
    *hi = (value + 0.5 - first) / (last - first);
}
