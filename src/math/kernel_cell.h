/* Cells of an LSTM, written once for all widths. Included by the kernel_*.c after they have
 * defined
 *   F, FW                   vector of FW floats
 *   FLOAD FSTORE FSET FFMA  as for kernel_simd.h
 *   FMIN(a, b), FMAX(a, b)  b where one is no number
 *   FLOADN(p, n), FSTOREN(p, v, n)  the first n numbers; the rest zero, or left alone
 * For REAL=double the numbers are taken one by one with the C library's functions.
 *
 * exp: x = n log 2 + r, |r| <= log(2)/2, e^r - 1 = r + r^2 q(r) with q of degree 4
 * (minimax, error 5e-9), so that e^x - 1 keeps its digits near zero, and tanh with it. */

#ifdef WEFT_DOUBLE
#include "weft/cells.h"

#include <math.h>
#include <stdint.h>

INLINE real sigmoid(real x)
{
    return 1 / (1 + exp(-x));
}

static void tanh_of(int n, real *x)
{
    for (int j = 0; j < n; j++) x[j] = tanh(x[j]);
}

static void cell(const weft_cells *cells, const real *const *plus)
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

static void cell_back(const weft_cells *cells, const real *dy, real *dc, real *const *into)
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

static void cell(const weft_cells *cells, const real *const *plus)
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

static void cell_back(const weft_cells *cells, const real *dy, real *dc, real *const *into)
{
    int even = cells->h / FW * FW;
    for (int i = 0; i < cells->n; i++) {
        for (int j = 0; j < even; j += FW) back_part(cells, dy, dc, into[i], i, j, FW);
        if (even < cells->h) back_part(cells, dy, dc, into[i], i, even, cells->h - even);
    }
}

#endif
