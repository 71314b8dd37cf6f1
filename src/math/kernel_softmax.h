/* Softmax and its cross-entropy, of one sample or of one in each lane; a lane has the bits
 * of a sample alone. For many classes, a softmax in the precision of the model. Written
 * once for all widths; included by the kernel_*.c after kernel_cell.h, kernel_lanes.h and
 * kernel_double.h. */
#include "weft/real.h"
#include <stddef.h>
#include <stdint.h>

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

static double softmax(int c, const real *z, double top, real *e, double *sum)
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

/* ---- many classes ---- */

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

/* ---- lanes ---- */

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
