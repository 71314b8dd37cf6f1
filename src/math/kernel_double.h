/* Vectors of doubles, their exponentials and logarithms. Written once for all widths;
 * included by the kernel_*.c, which define FW, the floats of a vector. Only operations that
 * round the same way on all CPUs: no fused ones. */
#include "weft/base/base.h"
#include <stdint.h>

enum { DW = FW / 2 };
typedef double D __attribute__((vector_size(8 * DW)));
typedef uint64_t DBITS __attribute__((vector_size(8 * DW)));

/* 1.5 2^52: the last bits of a sum with it are a whole number. */
#define WHOLE 0x1.8p52
/* log 2 in two parts; products of the first with exponents are exact. */
#define LOG2_HIGH 0x1.62e42feep-1
#define LOG2_LOW  0x1.a39ef35793c76p-33

INLINE D wide_all(double x)
{
    return x - (D){0};
}

INLINE D wide_load(const double *p)
{
    D v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Where a lane of `which` is all ones a, else b. */
INLINE D wide_pick(DBITS which, D a, D b)
{
    return (D)((which & (DBITS)a) | (~which & (DBITS)b));
}

INLINE D wide_abs(D x)
{
    return (D)((DBITS)x & (UINT64_MAX >> 1));
}

INLINE D wide_least(D a, D b)
{
    return wide_pick((DBITS)(a < b), a, b);
}

/* x cut to lo .. hi. */
INLINE D wide_cut(D x, D lo, D hi)
{
    x = wide_pick((DBITS)(x > lo), x, lo);
    return wide_least(x, hi);
}

/* x > 0, not subnormal: x = 2^e f, 1/sqrt(2) <= f < sqrt(2), log f = 2 artanh s with s = (f
 * - 1) / (f + 1), whose terms from s^21 on are below 1e-16 of it. */
INLINE D wide_log(D x)
{
    const uint64_t least = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
    const DBITS i = (DBITS)x + (one - least);
    const D e = (D)((i >> 52) + (DBITS)wide_all(WHOLE)) - (WHOLE + 1023);
    const D f = (D)((i & (UINT64_MAX >> 12)) + least);
    const D s = (f - 1) / (f + 1), s2 = s * s;
    D sum = wide_all(2.0 / 19);
    UNROLL_ROWS
    for (int k = 17; k >= 3; k -= 2) sum = sum * s2 + 2.0 / k;
    return e * LOG2_HIGH + (e * LOG2_LOW + (2 * s + s * (s2 * sum)));
}

/* x is cut to +-700. Taylor's series at |r| <= log(2)/2, whose terms from r^13 on are below
 * 2e-16. */
INLINE D wide_exp(D x)
{
    x = wide_cut(x, wide_all(-700), wide_all(700));
    const D whole = x * 0x1.71547652b82fep0 + WHOLE, n = whole - WHOLE;
    const D r = x - n * LOG2_HIGH - n * LOG2_LOW;
    D sum = wide_all(1);
    UNROLL_ROWS
    for (int k = 12; k >= 1; k--) sum = sum * r * (1.0 / k) + 1;
    return (D)((DBITS)sum + ((DBITS)whole << 52));
}

INLINE int wide_any(DBITS which)
{
    uint64_t any = 0;
    for (int k = 0; k < DW; k++) any |= which[k];
    return any != 0;
}

/* DW numbers of a model, and their bits. */
typedef real HALF __attribute__((vector_size(DW * sizeof(real))));
#ifdef WEFT_DOUBLE
typedef int64_t half_bits __attribute__((vector_size(sizeof(HALF))));
#else
typedef int32_t half_bits __attribute__((vector_size(sizeof(HALF))));
#endif

INLINE HALF half_load(const real *p)
{
    HALF v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE D half_widen(HALF v)
{
    return __builtin_convertvector(v, D);
}

INLINE HALF wide_round(D v)
{
    return __builtin_convertvector(v, HALF);
}
