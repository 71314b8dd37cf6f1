/* Points with several objectives, all of them minimised: which dominate which, in which
 * order they are the best, and how much they dominate together. Deterministic; sums are in
 * a fixed order. All functions are local. */
#ifndef LIBWEFT_SPACE_FRONT_H
#define LIBWEFT_SPACE_FRONT_H

#include "weft/base/base.h"

typedef struct weft_point {
    int64_t id;      /* decides between points that are equal otherwise; differs */
    double excess;   /* 0: within all limits; INFINITY: the training diverged */
    const double *x; /* [m] borrowed; NULL: not known, all 0 */
} weft_point;

/* 1: a is not worse than b in any objective, and better in one. */
int weft_point_dominates(const weft_point *a, const weft_point *b, int m);
/* The front of each of point[n], whatever its excess: 0 if none dominates it; k, if one of
 * front k - 1 does and none of later fronts. Into front[n]. Cost O(n^2 m). Deb, Pratap,
 * Agarwal, Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE
 * Trans. Evolutionary Computation 6, 2002. */
void weft_front_of(int64_t n, const weft_point *point, int m, int *front);
/* Sorts point[n], the best first: by excess; those of equal excess by front; those of a
 * front as an epsilon-net: the one with the least first objective, then the one farthest
 * from all before it, and so on, distances being Euclidean in objectives that are scaled to
 * 0 .. 1 over the front. What is equal in all that, and what diverged, by id. Cost O(n^2
 * m). Schmucker, Donini, Zafar, Salinas, Archambeau, "Multi-objective asynchronous
 * successive halving", 2021; Clarkson, "Nearest-neighbor searching and metric space
 * dimensions", 2006. */
void weft_front_order(int64_t n, weft_point *point, int m);
/* The volume of what is dominated by a point and dominates reference[m]; points that do not
 * dominate that add nothing, nor do those with an excess. Exact up to rounding, by slices
 * along the last objective. Cost O(n log n) for m = 2, n times as much for each further
 * objective. */
double weft_front_volume(int64_t n, const weft_point *point, int m,
                         const double *reference);
/* Sorts point[n] so that the first `good` are those that motpe takes for good: by excess
 * and front; of the front that does not fit as a whole those that add most to the volume,
 * one after the other, with the reference 1.1 (worst - best) + best of all of finite
 * excess. Cost O(good n) volumes. Ozaki, Tanigaki, Watanabe, Nomura, Onishi,
 * "Multiobjective tree-structured Parzen estimator", JAIR 73, 2022. */
void weft_front_choose(int64_t n, weft_point *point, int m, int64_t good);

#endif
