/* Loops that are mostly exponentials and logarithms: cells of an LSTM, softmax, dual
 * variables of logistic regression. By the macros of kernel_simd.h, for all widths;
 * included after kernel_double.h and kernel_lanes.h. */
#include "weft/math/kernels.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* ---- cells of an LSTM ---- */

/* For REAL=double the numbers are taken one by one with the C library's functions.
 *
 * exp: x = n log 2 + r, |r| <= log(2)/2, e^r - 1 = r + r^2 q(r) with q of degree 4
 * (minimax, error 5e-9), so that e^x - 1 keeps its digits near zero, and tanh with it. */

#ifdef WEFT_DOUBLE
INLINE real sigmoid(real x)
{
    return 1 / (1 + exp(-x));
}

static void tanh_of(int n, real *x)
{
    for (int j = 0; j < n; j++) x[j] = tanh(x[j]);
}

static void cells_forward(const weft_cells *cells, const real *const *plus)
{
    int h = cells->h;
    for (int i = 0; i < cells->n; i++) {
        real *z = cells->z + (size_t)i * cells->ldz;
        for (int j = 0; j < h; j++) {
            size_t at = (size_t)i * cells->ld + j;
            real in = sigmoid(z[j] + plus[i][j]);
            real forget = sigmoid(z[h + j] + plus[i][h + j]);
            real update = tanh(z[2 * h + j] + plus[i][2 * h + j]);
            real out = sigmoid(z[3 * h + j] + plus[i][3 * h + j]);
            real c = in * update + (cells->before ? forget * cells->before[at] : 0);
            z[j] = in;
            z[h + j] = forget;
            z[2 * h + j] = update;
            z[3 * h + j] = out;
            cells->c[at] = c;
            cells->y[at] = out * tanh(c);
        }
    }
}

static void cells_backward(const weft_cells *cells, const real *dy, real *dc,
                           real *const *into)
{
    int h = cells->h;
    for (int i = 0; i < cells->n; i++) {
        real *z = cells->z + (size_t)i * cells->ldz;
        for (int j = 0; j < h; j++) {
            size_t at = (size_t)i * cells->ld + j;
            real in = z[j], forget = z[h + j], update = z[2 * h + j];
            real out = z[3 * h + j], top = tanh(cells->c[at]);
            real d = dc[at] + dy[at] * out * (1 - top * top);
            z[j] = d * update * in * (1 - in);
            z[h + j] = cells->before ? d * cells->before[at] * forget * (1 - forget) : 0;
            z[2 * h + j] = d * in * (1 - update * update);
            z[3 * h + j] = dy[at] * top * out * (1 - out);
            dc[at] = d * forget;
            for (int g = 0; g < 4; g++) into[i][g * h + j] += z[g * h + j];
        }
    }
}

#else

typedef uint32_t bits __attribute__((vector_size(4 * FW)));

/* e^x = scale + scale less, e^x - 1 = (scale - 1) + scale less; |x| is cut at 87. */
struct power {
    F scale, less;
};

INLINE struct power power_of(F x)
{
    const F round = FSET(12582912); /* 1.5 2^23: the sum's last bits are a whole number */
    x = FMAX(FSET(-87), FMIN(FSET(87), x));
    const F whole = FFMA(x, FSET(1.44269504f), round), n = whole - round;
    F r = FFMA(n, FSET(-0.693359375f), x);
    r = FFMA(n, FSET(2.12194440e-4f), r);
    F q = FFMA(r, FSET(0.00139504916f), FSET(0.0083688898f));
    q = FFMA(r, q, FSET(0.041666206f));
    q = FFMA(r, q, FSET(0.166665182f));
    q = FFMA(r, q, FSET(0.5f));
    return (struct power){(F)(((bits)whole << 23) + (bits)FSET(1)), FFMA(r * r, q, r)};
}

INLINE F sigmoid(F x)
{
    struct power power = power_of(-x);
    return FSET(1) / (FFMA(power.scale, power.less, power.scale) + FSET(1));
}

INLINE F tanhyp(F x)
{
    struct power power = power_of(x + x);
    const F u = FFMA(power.scale, power.less, power.scale - FSET(1));
    return u / (u + FSET(2));
}

INLINE F some(const float *p, int n)
{
    return n == FW ? FLOAD(p) : FLOADN(p, n);
}

INLINE void keep(float *p, F v, int n)
{
    if (n == FW)
        FSTORE(p, v);
    else
        FSTOREN(p, v, n);
}

static void tanh_of(int n, float *x)
{
    int even = n / FW * FW;
    for (int j = 0; j < even; j += FW) FSTORE(x + j, tanhyp(FLOAD(x + j)));
    if (even < n) FSTOREN(x + even, tanhyp(FLOADN(x + even, n - even)), n - even);
}

/* Units j .. j + n of row i. */
INLINE void cell_part(const weft_cells *cells, const float *plus, int i, int j, int n)
{
    float *z = cells->z + (size_t)i * cells->ldz + j;
    size_t h = (size_t)cells->h, at = (size_t)i * cells->ld + j;
    const F in = sigmoid(some(z, n) + some(plus + j, n));
    const F forget = sigmoid(some(z + h, n) + some(plus + h + j, n));
    const F update = tanhyp(some(z + 2 * h, n) + some(plus + 2 * h + j, n));
    const F out = sigmoid(some(z + 3 * h, n) + some(plus + 3 * h + j, n));
    F c = in * update;
    if (cells->before) c = FFMA(forget, some(cells->before + at, n), c);
    keep(z, in, n);
    keep(z + h, forget, n);
    keep(z + 2 * h, update, n);
    keep(z + 3 * h, out, n);
    keep(cells->c + at, c, n);
    keep(cells->y + at, out * tanhyp(c), n);
}

static void cells_forward(const weft_cells *cells, const real *const *plus)
{
    int even = cells->h / FW * FW;
    for (int i = 0; i < cells->n; i++) {
        for (int j = 0; j < even; j += FW) cell_part(cells, plus[i], i, j, FW);
        if (even < cells->h) cell_part(cells, plus[i], i, even, cells->h - even);
    }
}

INLINE void put(float *z, float *into, F d, int n)
{
    keep(z, d, n);
    keep(into, some(into, n) + d, n);
}

INLINE void back_part(const weft_cells *cells, const float *dy, float *dc, float *into,
                      int i, int j, int n)
{
    const F one = FSET(1);
    float *z = cells->z + (size_t)i * cells->ldz + j;
    size_t h = (size_t)cells->h, at = (size_t)i * cells->ld + j;
    const F in = some(z, n), forget = some(z + h, n);
    const F update = some(z + 2 * h, n), out = some(z + 3 * h, n);
    const F top = tanhyp(some(cells->c + at, n)), dyn = some(dy + at, n);
    const F d = FFMA(dyn * out, one - top * top, some(dc + at, n));
    const F before = cells->before ? some(cells->before + at, n) : FSET(0);
    put(z, into + j, d * update * in * (one - in), n);
    put(z + h, into + h + j, d * before * forget * (one - forget), n);
    put(z + 2 * h, into + 2 * h + j, d * in * (one - update * update), n);
    put(z + 3 * h, into + 3 * h + j, dyn * top * out * (one - out), n);
    keep(dc + at, d * forget, n);
}

static void cells_backward(const weft_cells *cells, const real *dy, real *dc,
                           real *const *into)
{
    int even = cells->h / FW * FW;
    for (int i = 0; i < cells->n; i++) {
        for (int j = 0; j < even; j += FW) back_part(cells, dy, dc, into[i], i, j, FW);
        if (even < cells->h) back_part(cells, dy, dc, into[i], i, even, cells->h - even);
    }
}

#endif

/* ---- softmax and its cross-entropy ---- */

/* Of one sample or of one in each lane; a lane has the bits of a sample alone. For many
 * classes, a softmax in the precision of the model. */

/* exp x for x <= 0; NaN stays. */
INLINE D soft_exp(D x)
{
    return wide_pick((DBITS)(x == x), wide_exp(x), x);
}

/* log x for x >= 1; NaN stays. */
INLINE D soft_log(D x)
{
    return wide_pick((DBITS)(x == x), wide_log(x), x);
}

static double softmax_terms(int c, const real *z, double top, real *e, double *sum)
{
    double all = 0;
    for (int k = 0; k < c; k += DW) {
        double part[DW];
        int n = least(DW, c - k);
        D x = wide_all(0);
        if (n == DW) x = half_widen(half_load(z + k)) - top;
        for (int l = 0; n < DW && l < n; l++) x[l] = (double)z[k + l] - top;
        x = soft_exp(x);
        memcpy(part, &x, sizeof x);
        for (int l = 0; l < n; l++) {
            all += part[l];
            if (e) e[k + l] = (real)part[l];
        }
    }
    *sum = all;
    return soft_log(wide_all(all))[0];
}

/* ---- softmax of many classes ---- */

/* Sums side by side, a multiple of the numbers of any vector. */
enum { MANY = 16 };

#ifdef WEFT_DOUBLE
#define MOST(a, b) lane_choose((lane_bits)((a) > (b)), a, b)

INLINE V many_exp(V x)
{
    return (V)soft_exp((D)x);
}
#else
#define MOST(a, b) FMAX(a, b)

INLINE V many_exp(V x)
{
    const struct power power = power_of(x);
    return FFMA(power.scale, power.less, power.scale);
}
#endif

/* The first number, or a larger one. */
static real largest(int n, const real *x)
{
    V tops = SET(x[0]);
    real part[W], top;
    int i = 0;
    for (; i + W <= n; i += W) tops = MOST(LOAD(x + i), tops);
    STORE(part, tops);
    top = part[0];
    for (int l = 1; l < W; l++) top = part[l] > top ? part[l] : top;
    for (; i < n; i++) top = x[i] > top ? x[i] : top;
    return top;
}

INLINE void many_part(const real *z, V top, real *e, D sum[MANY / DW])
{
    UNROLL_ROWS for (int k = 0; k < MANY; k += W) STORE(e + k, many_exp(LOAD(z + k) - top));
    UNROLL_ROWS for (int k = 0; k < MANY; k += DW) sum[k / DW] +=
        half_widen(half_load(e + k));
}

/* Behind the last class e^-inf, which is less than the last digit of a sum. */
static double softmax_many(int c, const real *z, real *e, double *top, double *sum)
{
    const real most = largest(c, z);
    D part[MANY / DW];
    double lane[MANY];
    real rest[MANY];
    int even = c / MANY * MANY;
    memset(part, 0, sizeof part);
    for (int k = 0; k < even; k += MANY)
        many_part(z + k, SET(most), e ? e + k : rest, part);
    if (even < c) {
        size_t bytes = (size_t)(c - even) * sizeof *z;
        for (int k = 0; k < MANY; k++) rest[k] = -(real)INFINITY;
        memcpy(rest, z + even, bytes);
        many_part(rest, SET(most), rest, part);
        if (e) memcpy(e + even, rest, bytes);
    }
    memcpy(lane, part, sizeof lane);
    for (int half = MANY / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) lane[k] += lane[k + half];
    *top = (double)most;
    *sum = lane[0];
    return soft_log(wide_all(*sum))[0];
}

/* ---- softmax in lanes ---- */

/* The samples of DW lanes. */
INLINE void softmax_part(int c, const real *z, const int32_t *label, const double *share,
                         real *dz, double *loss, int *wrong)
{
    D top = half_widen(half_load(z)), best = wide_all(0), own = top, sum = wide_all(0), at;
    const D rate = wide_load(share);
    for (int l = 0; l < DW; l++) at[l] = label[l];
    for (int j = 1; j < c; j++) {
        const D x = half_widen(half_load(z + j * W));
        const DBITS above = (DBITS)(x > top);
        top = wide_pick(above, x, top);
        best = wide_pick(above, wide_all(j), best);
        own = wide_pick((DBITS)(at == wide_all(j)), x, own);
    }
    for (int j = 0; j < c; j++) {
        const D e = soft_exp(half_widen(half_load(z + j * W)) - top);
        sum += e;
        if (!dz) continue;
        const HALF small = wide_round(e);
        memcpy(dz + j * W, &small, sizeof small);
    }
    const D all = soft_log(sum) + top - own;
    memcpy(loss, &all, sizeof all);
    for (int l = 0; l < DW; l++) wrong[l] = best[l] != at[l] || all[l] != all[l];
    if (!dz) return;
    const HALF times = wide_round(rate / sum), less = wide_round(rate);
    const half_bits live = (half_bits)(less > 0);
    for (int j = 0; j < c; j++) {
        HALF d = half_load(dz + j * W) * times;
        const half_bits is = __builtin_convertvector((DBITS)(at == wide_all(j)), half_bits);
        d = (HALF)((is & (half_bits)(d - less)) | (~is & (half_bits)d));
        d = (HALF)(live & (half_bits)d);
        memcpy(dz + j * W, &d, sizeof d);
    }
}

static void lanes_softmax(int c, const real *z, const int32_t *label, const double *share,
                          real *dz, double *loss, int *wrong)
{
    for (int l = 0; l < W; l += DW)
        softmax_part(c, z + l, label + l, share + l, dz ? dz + l : NULL, loss + l,
                     wrong + l);
}

/* ---- dual variables of logistic regression ---- */

/* Those of one row for several outputs in the lanes of a vector: model/loss.c has the
 * formulas for one. */

/* The next t, given the derivative g there: Newton's step, which changes t where the
 * quadratic term dominates the derivative, else its odds t / u, by a factor near exp(-r)
 * that is positive. */
INLINE D dual_newton(double c, double q, D t, D g, D *r)
{
    const D u = c - t, v = t * u, move = g / (c + q * v);
    *r = c * move;
    const D size = wide_abs(*r), ratio = 1 + size + 0.5 * size * size;
    const DBITS down = (DBITS)(g > 0);
    const D a = wide_pick(down, t, t * ratio), b = wide_pick(down, u * ratio, u);
    return wide_pick((DBITS)(q * v > c), t - move * v, c * a / (a + b));
}

/* DW dual variables, as weft_logistic_best. A lane that has ended is left alone, so that
 * its bits do not depend on the others'. */
INLINE void best_part(double c, double q, const double *margin, double *a, double *share)
{
    enum { STEPS = 60 };
    const double edge = 1e-14 * c;
    const D m = wide_load(margin), before = wide_load(a), e = wide_exp(m);
    const DBITS old = (DBITS)(before > 0);
    D lo = wide_all(edge), hi = wide_all(c - edge);
    D t = wide_pick(old, before, c / (1 + e + c * q / (1 + wide_abs(m))));
    t = wide_cut(t, lo, hi);
    DBITS open = ~(DBITS){0};
    for (int k = 0; k < STEPS && wide_any(open); k++) {
        const D g = q * (t - before) + m + wide_log(t / (c - t));
        if (k == 0) {
            const D part = wide_pick(old, 0.5 * (t - c / (1 + e)) * g, wide_all(c));
            memcpy(share, &part, sizeof part);
        }
        hi = wide_pick((DBITS)(g > 0), t, hi);
        lo = wide_pick((DBITS)(g > 0), lo, t);
        D r, next = dual_newton(c, q, t, g, &r);
        const DBITS inside = (DBITS)(next > lo) & (DBITS)(next < hi);
        next = wide_pick(inside, next, 0.5 * (lo + hi));
        const D near = 1e-8 * wide_least(t, c - t);
        const DBITS ends =
            (inside & (DBITS)(wide_abs(r) <= 1e-4)) | (DBITS)(wide_abs(next - t) <= near);
        t = wide_pick(open, next, t);
        open &= ~ends;
    }
    memcpy(a, &t, sizeof t);
}

static void logistic_best(int n, double c, double q, const double *m, double *a,
                          double *share)
{
    for (int k = 0; k < n; k += DW) best_part(c, q, m + k, a + k, share + k);
}

static void logistic_terms(int n, double c, const double *m, const double *a, double *conj,
                           double *loss)
{
    const double edge = 1e-14 * c;
    for (int k = 0; k < n; k += DW) {
        const D mk = wide_load(m + k);
        const D t = wide_cut(wide_load(a + k), wide_all(edge), wide_all(c - edge));
        const D p = t / c, less = wide_pick((DBITS)(mk < 0), -mk, wide_all(0));
        const D conjugate = t * wide_log(p) + (c - t) * wide_log(1 - p);
        const D l = c * (less + wide_log(1 + wide_exp(-wide_abs(mk))));
        memcpy(conj + k, &conjugate, sizeof conjugate);
        memcpy(loss + k, &l, sizeof l);
    }
}
