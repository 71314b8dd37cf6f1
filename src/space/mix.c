/* Mixtures of configurations: draw, step, halve. Probabilities are kept as
 * logarithms, so that a long run of steps neither under- nor overflows. */
#include "weft/mix.h"
#include "weft/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

weft_mix weft_mix_new(int k, int dim, weft_arena *mem)
{
    weft_check(k > 0 && dim >= 0, "mixture of %d configurations of %d numbers", k, dim);
    weft_mix mix = {.k = k, .dim = dim, .nblock = 1};
    mix.id = WEFT_NEW(mem, int64_t, k);
    mix.conf = WEFT_NEW(mem, double, (size_t)k *(size_t)dim);
    mix.logp = WEFT_NEW(mem, double, k);
    for (int i = 0; i < k; i++) {
        mix.id[i] = i;
        mix.logp[i] = -log(k);
    }
    return mix;
}

int weft_mix_off(const weft_mix *mix, int b)
{
    return mix->nblock > 1 ? mix->off[b] : b * mix->k;
}

void weft_mix_divide(weft_mix *mix, int nblock, const int *off, const int *axis)
{
    weft_check(nblock > 0 && nblock <= WEFT_MAX_BLOCKS && off[0] == 0 &&
                   off[nblock] == mix->k,
               "mixture of %d configurations in %d blocks", mix->k, nblock);
    mix->nblock = nblock;
    mix->off = off;
    mix->axis = axis;
    for (int b = 0; b < nblock; b++)
        for (int i = off[b]; i < off[b + 1]; i++) mix->logp[i] = -log(off[b + 1] - off[b]);
}

void weft_mix_copy(weft_mix *to, const weft_mix *from)
{
    weft_check(to->k == from->k && to->dim == from->dim,
               "copy of a mixture of another shape");
    to->nblock = from->nblock;
    to->off = from->off;
    to->axis = from->axis;
    memcpy(to->id, from->id, (size_t)from->k * sizeof *to->id);
    memcpy(to->logp, from->logp, (size_t)from->k * sizeof *to->logp);
    if (from->dim > 0)
        memcpy(to->conf, from->conf,
               (size_t)from->k * (size_t)from->dim * sizeof *to->conf);
}

/* ---- draws ---- */

static int alive(const weft_mix *mix, int i)
{
    return mix->logp[i] > -INFINITY;
}

/* The last entry of block b that is not eliminated: it gets the part of the unit interval
 * that rounding errors leave. */
static int last_alive(const weft_mix *mix, int b)
{
    int first = weft_mix_off(mix, b);
    int i = weft_mix_off(mix, b + 1) - 1;
    while (i > first && !alive(mix, i)) i--;
    return i;
}

void weft_mix_cumulate(const weft_mix *mix, double *cum)
{
    for (int b = 0; b < mix->nblock; b++) {
        int last = last_alive(mix, b);
        double sum = 0;
        for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++) {
            sum += exp(mix->logp[i]);
            cum[i] = i < last ? fmin(sum, 1) : 1;
        }
    }
}

int weft_mix_find(const double *cum, int k, double unit)
{
    int lo = 0, hi = k - 1; /* first i with cum[i] > unit lies in lo..hi */
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (cum[mid] > unit)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static int draw_of(const weft_mix *mix, int b, double unit)
{
    int last = last_alive(mix, b);
    double sum = 0;
    for (int i = weft_mix_off(mix, b); i < last; i++) {
        sum += exp(mix->logp[i]);
        if (sum > unit) return i;
    }
    return last;
}

int weft_mix_draw(const weft_mix *mix, double unit)
{
    weft_check(mix->nblock == 1, "one draw from %d blocks", mix->nblock);
    return draw_of(mix, 0, unit);
}

void weft_mix_pick(const weft_mix *mix, const double *unit, int *pick)
{
    for (int b = 0; b < mix->nblock; b++) pick[b] = draw_of(mix, b, unit[b]);
}

/* The entry with the largest z of block b, of equal ones the first. */
static int mode_of(const weft_mix *mix, int b)
{
    int best = weft_mix_off(mix, b);
    for (int i = best + 1; i < weft_mix_off(mix, b + 1); i++)
        if (mix->logp[i] > mix->logp[best]) best = i;
    return best;
}

void weft_mix_best(const weft_mix *mix, int *pick)
{
    for (int b = 0; b < mix->nblock; b++) pick[b] = mode_of(mix, b);
}

void weft_mix_compose(const weft_mix *mix, const int *pick, double *conf)
{
    size_t dim = (size_t)mix->dim;
    if (dim > 0) memcpy(conf, mix->conf + (size_t)pick[0] * dim, dim * sizeof *conf);
    for (int b = 1; b < mix->nblock; b++)
        conf[mix->axis[b]] = mix->conf[(size_t)pick[b] * dim + (size_t)mix->axis[b]];
}

/* ---- moves ---- */

/* z <- z - log sum exp z in each block */
static void normalise(weft_mix *mix)
{
    for (int b = 0; b < mix->nblock; b++) {
        int from = weft_mix_off(mix, b), to = weft_mix_off(mix, b + 1);
        double top = mix->logp[mode_of(mix, b)];
        double sum = 0;
        for (int i = from; i < to; i++) sum += exp(mix->logp[i] - top);
        /* in this order: added to a large top, the logarithm would be rounded away */
        for (int i = from; i < to; i++) mix->logp[i] = mix->logp[i] - top - log(sum);
    }
}

void weft_mix_step(weft_mix *mix, double eta, const double *grad)
{
    for (int i = 0; i < mix->k; i++)
        if (alive(mix, i)) mix->logp[i] -= eta * grad[i];
    normalise(mix);
}

void weft_mix_halve(weft_mix *mix, const weft_rank *rank, int keep, int flat)
{
    weft_check(keep > 0 && mix->nblock == 1, "halving of %d blocks that keeps %d",
               mix->nblock, keep);
    weft_arena *tmp = weft_arena_new();
    weft_rank *order = WEFT_NEW(tmp, weft_rank, mix->k);
    int n = 0;
    for (int i = 0; i < mix->k; i++)
        if (alive(mix, i)) order[n++] = rank[i];
    qsort(order, (size_t)n, sizeof *order, weft_rank_compare);
    for (int e = keep; e < n; e++) mix->logp[order[e].id] = -INFINITY;
    for (int e = 0; flat && e < keep && e < n; e++) mix->logp[order[e].id] = 0;
    weft_arena_free(tmp);
    normalise(mix);
}

int weft_mix_alive(const weft_mix *mix)
{
    int n = 0;
    for (int i = 0; i < mix->k; i++) n += alive(mix, i);
    return n;
}

double weft_mix_entropy(const weft_mix *mix)
{
    double sum = 0;
    for (int i = 0; i < mix->k; i++)
        if (alive(mix, i)) sum -= exp(mix->logp[i]) * mix->logp[i];
    return sum;
}
