/* Points with several objectives: see weft/space/front.h. */
#include "weft/space/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point while it is sorted. */
struct ranked {
    weft_point point;
    int front;
    double far; /* squared distance to those that stand before it */
};

static double value(const weft_point *point, int i)
{
    return point->x ? point->x[i] : 0;
}

int weft_point_dominates(const weft_point *a, const weft_point *b, int m)
{
    int better = 0;
    for (int i = 0; i < m; i++) {
        if (value(a, i) > value(b, i)) return 0;
        better |= value(a, i) < value(b, i);
    }
    return better;
}

/* ---- fronts ---- */

void weft_front_of(int64_t n, const weft_point *point, int m, int *front)
{
    WEFT_SCRATCH(tmp);
    int64_t *above = WEFT_NEW(tmp, int64_t, n), left = n; /* that dominate it */
    for (int64_t i = 0; i < n; i++) {
        front[i] = -1;
        for (int64_t j = 0; j < n; j++)
            above[i] += weft_point_dominates(&point[j], &point[i], m);
    }
    for (int k = 0; left > 0; k++) {
        for (int64_t i = 0; i < n; i++)
            if (front[i] < 0 && above[i] == 0) front[i] = k;
        for (int64_t i = 0; i < n; i++) {
            if (front[i] != k) continue;
            left--;
            for (int64_t j = 0; j < n; j++)
                above[j] -= weft_point_dominates(&point[i], &point[j], m);
        }
    }
}

/* ---- order ---- */

static int by_excess(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->point.excess < b->point.excess || a->point.excess > b->point.excess)
        return a->point.excess < b->point.excess ? -1 : 1;
    if (a->front != b->front) return a->front < b->front ? -1 : 1;
    return (a->point.id > b->point.id) - (a->point.id < b->point.id);
}

/* Sorts by excess, front and id. */
static void sort_fronts(int64_t n, struct ranked *ranked, int m, weft_arena *tmp)
{
    qsort(ranked, (size_t)n, sizeof *ranked, by_excess);
    weft_point *point = WEFT_NEW(tmp, weft_point, n);
    int *front = WEFT_NEW(tmp, int, n);
    for (int64_t i = 0; i < n; i++) point[i] = ranked[i].point;
    for (int64_t first = 0, next; first < n; first = next) {
        next = first + 1;
        while (next < n && !(point[next].excess > point[first].excess)) next++;
        if (isfinite(point[first].excess))
            weft_front_of(next - first, point + first, m, front + first);
    }
    for (int64_t i = 0; i < n; i++) ranked[i].front = front[i];
    qsort(ranked, (size_t)n, sizeof *ranked, by_excess);
}

/* 1 / (largest - smallest) of an objective; 0: all are equal. */
static double scale_of(int64_t n, const struct ranked *ranked, int i)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < n; k++) {
        low = fmin(low, value(&ranked[k].point, i));
        high = fmax(high, value(&ranked[k].point, i));
    }
    return high > low && isfinite(high - low) ? 1 / (high - low) : 0;
}

static double squared(const weft_point *a, const weft_point *b, int m, const double *scale)
{
    double sum = 0;
    for (int i = 0; i < m; i++) {
        double by = scale[i] > 0 ? (value(a, i) - value(b, i)) * scale[i] : 0;
        sum += by * by;
    }
    return sum;
}

/* Brings ranked[at], behind those that were placed, to the place `to`. */
static void place(struct ranked *ranked, int64_t to, int64_t at)
{
    struct ranked own = ranked[at];
    memmove(ranked + to + 1, ranked + to, (size_t)(at - to) * sizeof own);
    ranked[to] = own;
}

/* Sorts a front, which is in the order of ids, as an epsilon-net. */
static void spread(int64_t n, struct ranked *ranked, int m, weft_arena *tmp)
{
    double *scale = WEFT_NEW(tmp, double, m);
    for (int i = 0; i < m; i++) scale[i] = scale_of(n, ranked, i);
    int64_t best = 0;
    for (int64_t k = 0; k < n; k++) {
        ranked[k].far = INFINITY;
        if (value(&ranked[k].point, 0) < value(&ranked[best].point, 0)) best = k;
    }
    for (int64_t to = 0; to < n; to++) {
        place(ranked, to, best);
        best = to + 1;
        for (int64_t k = to + 1; k < n; k++) {
            double far = squared(&ranked[k].point, &ranked[to].point, m, scale);
            if (far < ranked[k].far) ranked[k].far = far;
            if (ranked[k].far > ranked[best].far) best = k;
        }
    }
}

static struct ranked *rank_all(int64_t n, const weft_point *point, int m, weft_arena *tmp)
{
    struct ranked *ranked = WEFT_NEW(tmp, struct ranked, n);
    for (int64_t i = 0; i < n; i++) ranked[i].point = point[i];
    if (n > 0) sort_fronts(n, ranked, m, tmp);
    return ranked;
}

/* The end of the front that begins there. */
static int64_t front_end(int64_t n, const struct ranked *ranked, int64_t first)
{
    int64_t next = first + 1;
    while (next < n && ranked[next].front == ranked[first].front &&
           !(ranked[next].point.excess > ranked[first].point.excess))
        next++;
    return next;
}

void weft_front_order(int64_t n, weft_point *point, int m)
{
    WEFT_SCRATCH(tmp);
    struct ranked *ranked = rank_all(n, point, m, tmp);
    for (int64_t first = 0, next; first < n; first = next) {
        next = front_end(n, ranked, first);
        if (isfinite(ranked[first].point.excess))
            spread(next - first, ranked + first, m, tmp);
    }
    for (int64_t i = 0; i < n; i++) point[i] = ranked[i].point;
}

/* ---- volume ---- */

/* Of x[n], each of which dominates the reference; `tmp` has the slices. */
static double volume(int64_t n, const double *const *x, int m, const double *reference,
                     weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    weft_placed *slice = WEFT_NEW(tmp, weft_placed, n);
    const double **lower = WEFT_NEW(tmp, const double *, n);
    double sum = 0, least = INFINITY;
    for (int64_t i = 0; i < n; i++) slice[i] = (weft_placed){x[i][m - 1], i};
    weft_sort_rising(n, slice);
    for (int64_t i = 0; i < n; i++) {
        double end = i + 1 < n ? slice[i + 1].value : reference[m - 1];
        lower[i] = x[slice[i].at];
        least = fmin(least, lower[i][0]);
        if (!(end > slice[i].value)) continue;
        sum +=
            (end - slice[i].value) *
            (m == 2 ? reference[0] - least : volume(i + 1, lower, m - 1, reference, tmp));
    }
    return sum;
}

double weft_front_volume(int64_t n, const weft_point *point, int m, const double *reference)
{
    WEFT_SCRATCH(tmp);
    const double **x = WEFT_NEW(tmp, const double *, n);
    int64_t inside = 0;
    for (int64_t i = 0; i < n; i++) {
        int all = point[i].x && !(point[i].excess > 0);
        for (int k = 0; k < m && all; k++) all = point[i].x[k] < reference[k];
        if (all) x[inside++] = point[i].x;
    }
    return inside > 0 ? volume(inside, x, m, reference, tmp) : 0;
}

/* ---- motpe ---- */

/* The reference of the points of finite excess, into reference[m]. */
static void refer(int64_t n, const struct ranked *ranked, int m, double *reference)
{
    for (int i = 0; i < m; i++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t k = 0; k < n && isfinite(ranked[k].point.excess); k++) {
            low = fmin(low, value(&ranked[k].point, i));
            high = fmax(high, value(&ranked[k].point, i));
        }
        reference[i] = low + 1.1 * (high - low);
    }
}

/* Brings the `good` points of ranked[n] that add most to the volume to the front, one after
 * the other. */
static void cut(int64_t n, struct ranked *ranked, int m, int64_t good,
                const double *reference, weft_arena *tmp)
{
    weft_point *chosen = WEFT_NEW(tmp, weft_point, good);
    for (int64_t to = 0; to < good; to++) {
        int64_t best = to;
        double most = -INFINITY;
        for (int64_t k = to; k < n; k++) {
            chosen[to] = ranked[k].point;
            chosen[to].excess = 0; /* all are of one excess */
            double all = weft_front_volume(to + 1, chosen, m, reference);
            if (!(all > most)) continue;
            most = all;
            best = k;
        }
        place(ranked, to, best);
        chosen[to] = ranked[to].point;
        chosen[to].excess = 0;
    }
}

void weft_front_choose(int64_t n, weft_point *point, int m, int64_t good)
{
    WEFT_SCRATCH(tmp);
    struct ranked *ranked = rank_all(n, point, m, tmp);
    double *reference = WEFT_NEW(tmp, double, m);
    refer(n, ranked, m, reference);
    for (int64_t first = 0, next; first < n && first < good; first = next) {
        next = front_end(n, ranked, first);
        if (next > good && isfinite(ranked[first].point.excess))
            cut(next - first, ranked + first, m, good - first, reference, tmp);
    }
    for (int64_t i = 0; i < n; i++) point[i] = ranked[i].point;
}
