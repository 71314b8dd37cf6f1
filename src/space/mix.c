/* Mixtures of configurations: draw, step, halve, pack. Probabilities are kept as
 * logarithms, so that a long run of steps neither under- nor overflows. Called by tasks,
 * which draw, and by tuners, which step and halve. */
#include "weft/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

weft_mix weft_mix_new(int k, int dim, weft_arena *mem)
{
    weft_check(k > 0 && dim >= 0, "mixture of %d configurations of %d numbers", k, dim);
    weft_mix m = {.k = k, .dim = dim, .nblock = 1};
    m.id = WEFT_NEW(mem, int64_t, k);
    m.conf = WEFT_NEW(mem, double, (size_t)k *(size_t)dim);
    m.z = WEFT_NEW(mem, double, k);
    for (int i = 0; i < k; i++) {
        m.id[i] = i;
        m.z[i] = -log(k);
    }
    return m;
}

void weft_mix_copy(weft_mix *to, const weft_mix *from)
{
    weft_check(to->k == from->k && to->dim == from->dim,
               "copy of a mixture of another shape");
    memcpy(to->id, from->id, (size_t)from->k * sizeof *to->id);
    memcpy(to->z, from->z, (size_t)from->k * sizeof *to->z);
    if (from->dim > 0)
        memcpy(to->conf, from->conf,
               (size_t)from->k * (size_t)from->dim * sizeof *to->conf);
}

static int alive(const weft_mix *m, int i)
{
    return m->z[i] > -INFINITY;
}

/* Last one alive: it takes what rounding leaves of the unit interval. */
static int last_alive(const weft_mix *m)
{
    int i = m->k - 1;
    while (i > 0 && !alive(m, i)) i--;
    return i;
}

void weft_mix_cumulate(const weft_mix *m, double *cum)
{
    const int last = last_alive(m);
    double sum = 0;
    for (int i = 0; i < m->k; i++) {
        sum += exp(m->z[i]);
        cum[i] = i < last ? fmin(sum, 1) : 1;
    }
}

int weft_mix_find(const double *cum, int k, double unit)
{
    int lo = 0, hi = k - 1; /* first i with cum[i] > unit lies in lo..hi */
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (cum[mid] > unit)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

int weft_mix_draw(const weft_mix *m, double unit)
{
    const int last = last_alive(m);
    double sum = 0;
    for (int i = 0; i < last; i++) {
        sum += exp(m->z[i]);
        if (sum > unit) return i;
    }
    return last;
}

/* z <- z - log sum exp z */
static void normalise(weft_mix *m)
{
    const double top = m->z[weft_mix_mode(m)];
    double sum = 0;
    for (int i = 0; i < m->k; i++) sum += exp(m->z[i] - top);
    for (int i = 0; i < m->k; i++) m->z[i] -= top + log(sum);
}

void weft_mix_step(weft_mix *m, double eta, const double *grad)
{
    for (int i = 0; i < m->k; i++)
        if (alive(m, i)) m->z[i] -= eta * grad[i];
    normalise(m);
}

/* A configuration alive, to be sorted by (loss, id, index). */
typedef struct entrant {
    double loss;
    int64_t id;
    int i;
} entrant;

static int by_loss(const void *left, const void *right)
{
    const entrant *a = left, *b = right;
    if (a->loss != b->loss) return a->loss < b->loss ? -1 : 1;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return a->i - b->i;
}

void weft_mix_halve(weft_mix *m, const double *loss, int keep, int flat)
{
    weft_check(keep > 0, "halving that keeps %d", keep);
    weft_arena *tmp = weft_arena_new();
    entrant *order = WEFT_NEW(tmp, entrant, m->k);
    int n = 0;
    for (int i = 0; i < m->k; i++)
        if (alive(m, i))
            order[n++] = (entrant){isnan(loss[i]) ? INFINITY : loss[i], m->id[i], i};
    qsort(order, (size_t)n, sizeof *order, by_loss);
    for (int e = keep; e < n; e++) m->z[order[e].i] = -INFINITY;
    for (int e = 0; flat && e < keep && e < n; e++) m->z[order[e].i] = 0;
    weft_arena_free(tmp);
    normalise(m);
}

int weft_mix_alive(const weft_mix *m)
{
    int n = 0;
    for (int i = 0; i < m->k; i++) n += alive(m, i);
    return n;
}

int weft_mix_mode(const weft_mix *m)
{
    int best = 0;
    for (int i = 1; i < m->k; i++)
        if (m->z[i] > m->z[best]) best = i;
    return best;
}

size_t weft_mix_bytes(const weft_mix *m)
{
    return 8 * (2 + (size_t)m->k * (2 + (size_t)m->dim));
}

static char *put(char *to, const void *from, size_t n)
{
    if (n > 0) memcpy(to, from, n);
    return to + n;
}

void weft_mix_pack(const weft_mix *m, void *to)
{
    const int64_t shape[2] = {m->k, m->dim};
    const size_t k = (size_t)m->k;
    char *at = put(to, shape, sizeof shape);
    at = put(at, m->id, k * sizeof *m->id);
    at = put(at, m->z, k * sizeof *m->z);
    put(at, m->conf, k * (size_t)m->dim * sizeof *m->conf);
}
