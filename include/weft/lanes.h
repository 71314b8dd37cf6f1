/* Several small models at once, one in each lane of a vector register. */
#ifndef WEFT_LANES_H
#define WEFT_LANES_H

#include "weft/optim.h"

#include <stddef.h>
#include <stdint.h>

/* Models of equal shape, one in each of the weft_lanes() lanes of a vector register: arrays
 * are [...][lanes]. Each lane has the same bits as the functions above for a single
 * model. */
int weft_lanes(void);

enum { WEFT_MAX_LANES = 64 / sizeof(real) };

/* Fills x[d][lanes] from rows of d numbers, one for each lane; NULL: zeros. */
void weft_lanes_load(int64_t d, const float *const *row, real *x);
/* The same from rows of weights, none of which is NULL; and back. */
void weft_lanes_gather(int64_t n, const real *const *row, real *x);
void weft_lanes_scatter(int64_t n, const real *x, real *const *row);

/* A step of weft_sgd_step with s[lanes] on w[n][lanes] where live[lane] is true, by the
 * gradient plus `drift`; the other lanes of w stay. first 1: the first step of all lanes,
 * from the weights `start`; w is only written. sound[lane] is set to 0 where the step
 * returns 0. */
typedef struct weft_lanes_move {
    const weft_sgd *sgd;
    const int *live;
    int first;
    real *w, *velocity;
    const real *start, *anchor; /* anchor: read where mu > 0 */
    const real *drift;          /* NULL: nothing is added */
    int *sound;
} weft_lanes_move;
/* Makes the step by g[n][lanes]. */
void weft_lanes_step(const weft_lanes_move *move, int64_t n, real *g);

/* In every lane c[i][j] = (add 1: +=; -1: = 0 +) sum over e < k of a[i][e] b[j][e], in the
 * order of e, from zero, as weft_packed_times and weft_outer sum: a[i][e] is the vector of
 * lanes at i a_row + e a_k, b[j][e] that at j b_column + e b_k, c[i][j] that at i ldc + j.
 */
typedef struct weft_lanes_product {
    int n, m, k; /* 0 <= i < n, 0 <= j < m */
    const real *a, *b;
    size_t a_row, a_k, b_column, b_k; /* in vectors */
    int add;
    real *c;
    size_t ldc;
    const weft_lanes_move *move; /* not NULL: c is a part of move->w, which makes the step
                                    by the sums, a part of its gradient; add is -1, and no
                                    live lane clips */
} weft_lanes_product;
void weft_lanes_times(const weft_lanes_product *product);

/* within[lane]: 1 if all numbers of w - from, [n][lanes], are finite and within
 * +-most[lane]. */
void weft_lanes_within(int64_t n, const real *w, const real *from, const double *most,
                       int *within);
/* sum[n] += weft_exact_add of (w - from) weight[lane] for each lane where use[lane]. */
void weft_lanes_add(int64_t n, const real *w, const real *from, const real *weight,
                    const int *use, int scale, double *sum);
/* at = share[lane] own + (1 - share[lane]) w, all [n][lanes]. */
void weft_lanes_blend(int64_t n, const real *share, const real *own, const real *w,
                      real *at);
/* slope[lane] = sum over i < n of (own[i] - w[i]) g[i], in the order of i. */
void weft_lanes_slope(int64_t n, const real *own, const real *w, const real *g,
                      double *slope);
/* Softmax of z[c][lanes], one sample a lane: loss[lane] = -log softmax(z)[label[lane]];
 * wrong[lane]: 1 if another class has the largest z, the first of equal ones, or the loss
 * is NaN; dz = share[lane] (softmax(z) - onehot(label)), 0 where share is 0, unless NULL;
 * dz is not z. The bits are those of weft_softmax_terms. */
void weft_lanes_softmax(int c, const real *z, const int32_t *label, const double *share,
                        real *dz, double *loss, int *wrong);

#endif
