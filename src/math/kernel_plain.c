/* The loops of kernel.h for CPUs that have no table of their own, and the reference for the
 * others, which must have the same bits. Vectors have 16 bytes, which GCC and Clang map to
 * the CPU's. A CPU without fused multiplication and addition is made to round as if it had
 * one, which takes about ten times as long as two roundings. */
#include "kernel.h"

#include <math.h>
#include <string.h>

typedef real V __attribute__((vector_size(16)));
typedef float F __attribute__((vector_size(16)));
typedef int32_t mask __attribute__((vector_size(16)));

enum { W = 16 / sizeof(real), FW = 4 };

#define STEP             4
#define TILE_ROWS        6
#define LOAD(p)          load(p)
#define STORE(p, v)      store(p, v)
#define ZERO             SET(0)
#define ADD(a, b)        ((a) + (b))
#define FLOAD(p)         load_n(p, FW)
#define FSTORE(p, v)     store_n(p, v, FW)
#define FLOADN(p, n)     load_n(p, n)
#define FSTOREN(p, v, n) store_n(p, v, n)
#define FADD(a, b)       ((a) + (b))
#define FSUB(a, b)       ((a) - (b))
#define FMIN(a, b)       choose((a) < (b), a, b)
#define FMAX(a, b)       choose((a) > (b), a, b)
#define FFMA(a, b, c)    fused(a, b, c)
#define FROUND(v)        round_all(v)
#define SHORT_STAGES(v)  short_stages(v)
#undef KEEP
#define KEEP(v) ((void)(v))

/* ---- vectors ---- */

INLINE V load(const real *p)
{
    V v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store(real *p, V v)
{
    memcpy(p, &v, sizeof v);
}

INLINE V SET(real x)
{
    return x - (V){0};
}

INLINE F FSET(float x)
{
    return x - (F){0};
}

INLINE F load_n(const float *p, int n)
{
    F v = {0};
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
}

INLINE void store_n(float *p, F v, int n)
{
    memcpy(p, &v, (size_t)n * sizeof *p);
}

INLINE F choose(mask which, F a, F b)
{
    return (F)((which & (mask)a) | (~which & (mask)b));
}

INLINE F round_all(F v)
{
    for (int i = 0; i < FW; i++) v[i] = rintf(v[i]);
    return v;
}

INLINE V BYTES(const uint8_t *p)
{
    V v;
    for (int i = 0; i < W; i++) v[i] = (real)(p[i] - 128);
    return v;
}

/* Stages of strides 1 and 2. */
INLINE F short_stages(F x)
{
    const F y = {x[0] + x[1], x[0] - x[1], x[2] + x[3], x[2] - x[3]};
    return (F){y[0] + y[2], y[1] + y[3], y[0] - y[2], y[1] - y[3]};
}

/* ---- a b + c, rounded once ---- */

#ifdef __FP_FAST_FMAF
INLINE F fused(F a, F b, F c)
{
    for (int i = 0; i < FW; i++) c[i] = fmaf(a[i], b[i], c[i]);
    return c;
}
#else
typedef float two __attribute__((vector_size(8)));
typedef double pair __attribute__((vector_size(16)));
typedef int64_t bits64 __attribute__((vector_size(16)));

/* Products of floats are exact in double. Where the sum is not, its last bit is set,
 * by the sign of the rounding error (rounding to odd): rounded once more, to float, the
 * result is as if rounded once. Boldo, Melquiond, "Emulation of a FMA and correctly rounded
 * sums: proved algorithms using rounding to odd", IEEE Trans. Computers 57, 2008. */
INLINE pair fused_pair(pair a, pair b, pair c)
{
    pair p = a * b, sum = p + c, back = sum - p;
    pair lost = (p - (sum - back)) + (c - back);
    bits64 s = (bits64)sum, inexact = (lost < 0) | (lost > 0);
    bits64 down = ((bits64)lost ^ s) < 0, even = inexact & ~s & 1;
    return (pair)(s + ((even ^ down) - down));
}

#define HALF(v, at) __builtin_convertvector(((two){(v)[at], (v)[(at) + 1]}), pair)

INLINE F fused(F a, F b, F c)
{
    pair low = fused_pair(HALF(a, 0), HALF(b, 0), HALF(c, 0));
    pair high = fused_pair(HALF(a, 2), HALF(b, 2), HALF(c, 2));
    two l = __builtin_convertvector(low, two), h = __builtin_convertvector(high, two);
    return (F){l[0], l[1], h[0], h[1]};
}
#endif

#ifdef WEFT_DOUBLE
#define FMA1(a, b, c) fma(a, b, c)

INLINE V FMA(V a, V b, V c)
{
    for (int i = 0; i < W; i++) c[i] = fma(a[i], b[i], c[i]);
    return c;
}

INLINE real SUM(V v)
{
    return v[0] + v[1];
}
#else
#define FMA(a, b, c)  fused(a, b, c)
#define FMA1(a, b, c) fused(FSET(a), FSET(b), FSET(c))[0]

INLINE real SUM(V v)
{
    return (v[0] + v[2]) + (v[1] + v[3]);
}
#endif

#include "kernel_double.h"
#include "kernel_gemm.h"
#include "kernel_lanes.h"

#include "kernel_exp.h"
#include "kernel_simd.h"
#include "kernel_sparse.h"

/* ---- integers ---- */

enum { WIDE = WEFT_WIDE }; /* so that any table can be compared with it */

static int works(void)
{
    return 1;
}

static void u8s8(int groups, const uint8_t *const *a, const int8_t *b, int32_t *c,
                 size_t ldc)
{
    for (int k = 0; k < groups * WEFT_GROUP; k++)
        for (int r = 0; r < WEFT_TILE; r++)
            for (int j = 0; j < WIDE; j++)
                c[(size_t)r * ldc + j] += a[r][k] * b[(k / 4 * WIDE + j) * 4 + k % 4];
}

static void gram(int pairs, const int16_t *a, const int16_t *b, int32_t *c, size_t ldc)
{
    for (int k = 0; k < 2 * pairs; k++)
        for (int r = 0; r < WEFT_TILE; r++)
            for (int j = 0; j < WIDE; j++)
                c[(size_t)r * ldc + j] += a[(k / 2 * WEFT_TILE + r) * 2 + k % 2] *
                                          b[(k / 2 * WIDE + j) * 2 + k % 2];
}

const weft_kernel weft_kernel_plain = WEFT_KERNEL("plain");
