/* The loops of kernel.h in plain C: what the others are verified against, and what runs on
 * CPUs that have no table of their own. */
#include "kernel.h"

#include <math.h>
#include <string.h>

#define V             real
#define W             1
#define LOAD(p)       (*(p))
#define STORE(p, v)   (*(p) = (v))
#define ZERO          0
#define SET(x)        (x)
#define FMA(a, b, c)  ((a) * (b) + (c))
#define SUM(v)        (v)
#define BYTES(p)      ((real)(*(p)-128))
#define F             float
#define FW            1
#define FLOAD(p)      (*(p))
#define FSTORE(p, v)  (*(p) = (v))
#define FADD(a, b)    ((a) + (b))
#define FSUB(a, b)    ((a) - (b))
#define FSET(x)       (x)
#define FFMA(a, b, c) ((a) * (b) + (c))
#undef KEEP
#define KEEP(v)         ((void)(v))
#define SHORT_STAGES(v) (v)
#include "kernel_simd.h"

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

static uint8_t cosine(double turns)
{
    const double pi = 3.14159265358979323846;
    return (uint8_t)(128 + lrint(127 * cos(2 * pi * (turns - rint(turns)))));
}

static void cos_i32(int n, const int32_t *x, double scale, const float *offset, uint8_t *q)
{
    for (int i = 0; i < n; i++) q[i] = cosine(x[i] * scale + (double)offset[i]);
}

static void cos_f32(int n, const float *x, double scale, const float *offset, uint8_t *q)
{
    for (int i = 0; i < n; i++) q[i] = cosine((double)x[i] * scale + (double)offset[i]);
}

/* Products and cells with vectors of 16 bytes, which GCC and Clang make of whatever the CPU
 * has. */
#undef V
#undef W
#undef LOAD
#undef STORE
#undef ZERO
#undef SET
#undef F
#undef FW
#undef FLOAD
#undef FSTORE
#undef FSET
typedef real V __attribute__((vector_size(16)));
typedef float F __attribute__((vector_size(16)));
enum { W = 16 / sizeof(real) };
#define TILE_ROWS        6
#define FW               4
#define ADD(a, b)        ((a) + (b))
#define LOAD(p)          load(p)
#define STORE(p, v)      store(p, v)
#define ZERO             SET(0)
#define FLOAD(p)         FLOADN(p, FW)
#define FSTORE(p, v)     FSTOREN(p, v, FW)
#define FLOADN(p, n)     load_n(p, n)
#define FSTOREN(p, v, n) store_n(p, v, n)
#define FMIN(a, b)       choose((a) < (b), a, b)
#define FMAX(a, b)       choose((a) > (b), a, b)

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

#ifndef WEFT_DOUBLE
typedef int32_t mask __attribute__((vector_size(16)));

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
#endif

#include "kernel_cell.h"
#include "kernel_gemm.h"

const weft_kernel weft_kernel_plain = {
    .name = "plain",
    .works = works,
    .wide = WIDE,
    .u8s8 = u8s8,
    .gram = gram,
    .lanes = W,
    .rows = TILE_ROWS,
    .tile = tile_rows,
    .strip = tile_strip,
    .spin = spin,
    .cell = cell,
    .cell_back = cell_back,
    .cos_i32 = cos_i32,
    .cos_f32 = cos_f32,
    .times = times,
    .trans = trans,
    .fwht = fwht,
    .gather16 = gather16,
};
