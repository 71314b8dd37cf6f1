/* The loops of kernel.h for 64-bit ARM: vectors of 16 bytes (NEON), which all such CPUs
 * have. A second table differs in u8s8 alone, for CPUs with integer dot products (Graviton
 * from 2 on, Grace; not A64FX).
 *
 * u8s8: with |b| <= 16 the products of four numbers fit 16 bits (4 * 255 * 16 = 16320), to
 * which bytes are widened; sums are widened once a group. sdot adds products of bytes with
 * a sign to sums of 32 bits: a - 128 takes part, and 128 times the sum of b is added. */
#include "kernel.h"

#include <arm_neon.h>
#include <math.h>
#include <string.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

#define F                float32x4_t
#define FW               4
#define FLOAD(p)         vld1q_f32(p)
#define FSTORE(p, v)     vst1q_f32(p, v)
#define FLOADN(p, n)     load_n(p, n)
#define FSTOREN(p, v, n) store_n(p, v, n)
#define FADD(a, b)       vaddq_f32(a, b)
#define FSUB(a, b)       vsubq_f32(a, b)
#define FSET(x)          vdupq_n_f32(x)
#define FFMA(a, b, c)    vfmaq_f32(c, a, b)
#define FMIN(a, b)       vbslq_f32(vcltq_f32(a, b), a, b)
#define FMAX(a, b)       vbslq_f32(vcgtq_f32(a, b), a, b)
#define FROUND(v)        vrndnq_f32(v)
#define SHORT_STAGES(v)  short_stages(v)

#define STEP      4
#define TILE_ROWS 14

INLINE float32x4_t load_n(const float *p, int n)
{
    float32x4_t v = FSET(0);
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
}

INLINE void store_n(float *p, float32x4_t v, int n)
{
    memcpy(p, &v, (size_t)n * sizeof *p);
}

/* Stages of strides 1 and 2: neighbour plus, or minus, itself. */
INLINE float32x4_t short_stages(float32x4_t x)
{
    const float32x4_t s1 = {1, -1, 1, -1}, s2 = {1, 1, -1, -1};
    x = vfmaq_f32(vrev64q_f32(x), x, s1);
    return vfmaq_f32(vextq_f32(x, x, 2), x, s2);
}

#ifdef WEFT_DOUBLE
#define V             float64x2_t
#define W             2
#define LOAD(p)       vld1q_f64(p)
#define STORE(p, v)   vst1q_f64(p, v)
#define ZERO          vdupq_n_f64(0)
#define SET(x)        vdupq_n_f64(x)
#define FMA(a, b, c)  vfmaq_f64(c, a, b)
#define FMA1(a, b, c) fma(a, b, c)
#define ADD(a, b)     vaddq_f64(a, b)

INLINE real SUM(float64x2_t v)
{
    return v[0] + v[1];
}

INLINE float64x2_t BYTES(const uint8_t *p)
{
    return (float64x2_t){(double)(p[0] - 128), (double)(p[1] - 128)};
}
#else
#define V             float32x4_t
#define W             4
#define LOAD(p)       vld1q_f32(p)
#define STORE(p, v)   vst1q_f32(p, v)
#define ZERO          vdupq_n_f32(0)
#define SET(x)        vdupq_n_f32(x)
#define FMA(a, b, c)  vfmaq_f32(c, a, b)
#define FMA1(a, b, c) fmaf(a, b, c)
#define ADD(a, b)     vaddq_f32(a, b)

INLINE real SUM(float32x4_t v)
{
    return (v[0] + v[2]) + (v[1] + v[3]);
}

INLINE float32x4_t BYTES(const uint8_t *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    const uint16x8_t q = vmovl_u8(vcreate_u8(four));
    return vsubq_f32(vcvtq_f32_u32(vmovl_u16(vget_low_u16(q))), vdupq_n_f32(128));
}
#endif

#include "kernel_double.h"
#include "kernel_gemm.h"
#include "kernel_lanes.h"

#include "kernel_exp.h"
#include "kernel_simd.h"
#include "kernel_sparse.h"

enum { WIDE = 8, VECTORS = WIDE / 4 };

static int works(void)
{
    return 1;
}

INLINE int32x4_t broadcast(const void *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return vdupq_n_s32(four);
}

/* c += sum, row by row. */
INLINE void add_tile(int32x4_t sum[WEFT_TILE][VECTORS], int32_t *c, size_t ldc)
{
    UNROLL for (int r = 0; r < WEFT_TILE; r++) UNROLL for (int v = 0; v < VECTORS; v++)
    {
        int32_t *to = c + (size_t)r * ldc + 4 * v;
        vst1q_s32(to, vaddq_s32(vld1q_s32(to), sum[r][v]));
    }
}

/* s[rows][columns in pairs] of one group: of each column two lanes, of even and odd k. */
INLINE void u8s8_group(const uint8_t *const *a, int at, const int8_t *b,
                       int16x8_t s[WEFT_TILE][2 * VECTORS])
{
    UNROLL for (int k = 0; k < WEFT_GROUP; k += 4)
    {
        int16x8_t wide[2 * VECTORS];
        UNROLL for (int v = 0; v < 2 * VECTORS; v++) wide[v] =
            vmovl_s8(vld1_s8(b + k * WIDE + 8 * v));
        UNROLL for (int r = 0; r < WEFT_TILE; r++)
        {
            const uint8x8_t four =
                vreinterpret_u8_s32(vget_low_s32(broadcast(a[r] + at + k)));
            const int16x8_t x = vreinterpretq_s16_u16(vmovl_u8(four));
            UNROLL for (int v = 0; v < 2 * VECTORS; v++)
            {
                s[r][v] = k ? vmlaq_s16(s[r][v], x, wide[v]) : vmulq_s16(x, wide[v]);
                KEEP(s[r][v]);
            }
        }
    }
}

static void u8s8(int groups, const uint8_t *const *a, const int8_t *b, int32_t *c,
                 size_t ldc)
{
    int32x4_t sum[WEFT_TILE][2 * VECTORS] = {{{0}}};
    for (int g = 0; g < groups; g++, b += WEFT_GROUP * WIDE) {
        int16x8_t s[WEFT_TILE][2 * VECTORS];
        u8s8_group(a, g * WEFT_GROUP, b, s);
        UNROLL for (int r = 0; r < WEFT_TILE; r++)
            UNROLL for (int v = 0; v < 2 * VECTORS; v++) sum[r][v] =
                vpadalq_s16(sum[r][v], s[r][v]);
    }
    int32x4_t whole[WEFT_TILE][VECTORS];
    UNROLL for (int r = 0; r < WEFT_TILE; r++) UNROLL for (int v = 0; v < VECTORS; v++)
        whole[r][v] = vpaddq_s32(sum[r][2 * v], sum[r][2 * v + 1]);
    add_tile(whole, c, ldc);
}

static void gram(int pairs, const int16_t *a, const int16_t *b, int32_t *c, size_t ldc)
{
    int32x4_t sum[WEFT_TILE][VECTORS] = {{{0}}};
    for (int k = 0; k < pairs; k++, a += 2 * WEFT_TILE, b += 2 * WIDE) {
        const int16x8x2_t two = vld2q_s16(b);
        UNROLL for (int r = 0; r < WEFT_TILE; r++) UNROLL for (int e = 0; e < 2; e++)
        {
            const int16_t x = a[2 * r + e];
            sum[r][0] = vmlal_n_s16(sum[r][0], vget_low_s16(two.val[e]), x);
            sum[r][1] = vmlal_n_s16(sum[r][1], vget_high_s16(two.val[e]), x);
            KEEP(sum[r][0]);
            KEEP(sum[r][1]);
        }
    }
    add_tile(sum, c, ldc);
}

const weft_kernel weft_kernel_neon = WEFT_KERNEL("neon");

/* ---- integer dot products ---- */

static int has_dot(void)
{
#if defined(__linux__) && defined(HWCAP_ASIMDDP)
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
    return 0;
#endif
}

/* sum += of each four bytes the dot product. In assembly, as not every compiler has it
 * where the rest of the file may not use it. */
INLINE int32x4_t sdot(int32x4_t sum, int8x16_t x, int8x16_t y)
{
    __asm__(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.16b"
            : "+w"(sum)
            : "w"(x), "w"(y));
    return sum;
}

static void dot_u8s8(int groups, const uint8_t *const *a, const int8_t *b, int32_t *c,
                     size_t ldc)
{
    const int8x16_t ones = vdupq_n_s8(1), flip = vdupq_n_s8(-128);
    int32x4_t sum[WEFT_TILE][VECTORS] = {{{0}}}, all[VECTORS] = {{0}};
    for (int k = 0; k < groups * WEFT_GROUP; k += 4, b += 4 * WIDE) {
        int8x16_t wide[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++)
        {
            wide[v] = vld1q_s8(b + 16 * v);
            all[v] = sdot(all[v], ones, wide[v]);
        }
        UNROLL for (int r = 0; r < WEFT_TILE; r++)
        {
            const int8x16_t x = veorq_s8(vreinterpretq_s8_s32(broadcast(a[r] + k)), flip);
            UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] =
                sdot(sum[r][v], x, wide[v]);
        }
    }
    UNROLL for (int r = 0; r < WEFT_TILE; r++) UNROLL for (int v = 0; v < VECTORS; v++)
        sum[r][v] = vaddq_s32(sum[r][v], vshlq_n_s32(all[v], 7));
    add_tile(sum, c, ldc);
}

const weft_kernel weft_kernel_dotprod = WEFT_KERNEL_BY("dotprod", has_dot, dot_u8s8);
