/* The loops of kernel.h for CPUs with AVX-512 and its integer dot products (VNNI): vpdpbusd
 * adds 64 products of bytes to sums of 32 bits, vpdpwssd 32 products of 16 bits. */
#include "kernel.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define F               __m512
#define FW              16
#define FLOAD(p)        _mm512_loadu_ps(p)
#define FSTORE(p, v)    _mm512_storeu_ps(p, v)
#define FADD(a, b)      _mm512_add_ps(a, b)
#define FSUB(a, b)      _mm512_sub_ps(a, b)
#define FSET(x)         _mm512_set1_ps(x)
#define FFMA(a, b, c)   _mm512_fmadd_ps(a, b, c)
#define SHORT_STAGES(v) short_stages(v)

/* A float 1 with the sign bit of every number in `mask` set. */
INLINE __m512 signs(__mmask16 mask)
{
    return _mm512_mask_blend_ps(mask, _mm512_set1_ps(1), _mm512_set1_ps(-1));
}

/* Stages of strides 1, 2, 4 and 8: neighbour plus, or minus, itself. */
INLINE __m512 short_stages(__m512 x)
{
    x = _mm512_fmadd_ps(x, signs(0xaaaa), _mm512_permute_ps(x, 0xb1));
    x = _mm512_fmadd_ps(x, signs(0xcccc), _mm512_permute_ps(x, 0x4e));
    x = _mm512_fmadd_ps(x, signs(0xf0f0), _mm512_shuffle_f32x4(x, x, 0xb1));
    return _mm512_fmadd_ps(x, signs(0xff00), _mm512_shuffle_f32x4(x, x, 0x4e));
}

#define STEP 1

#ifdef WEFT_DOUBLE
#define V             __m512d
#define W             8
#define LOAD(p)       _mm512_loadu_pd(p)
#define STORE(p, v)   _mm512_storeu_pd(p, v)
#define ZERO          _mm512_setzero_pd()
#define SET(x)        _mm512_set1_pd(x)
#define FMA(a, b, c)  _mm512_fmadd_pd(a, b, c)
#define FMA1(a, b, c) fma(a, b, c)
#define ADD(a, b)     _mm512_add_pd(a, b)

INLINE real SUM(__m512d v)
{
    __m256d h = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(h), _mm256_extractf128_pd(h, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

INLINE __m512d BYTES(const uint8_t *p)
{
    __m256i q = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
    return _mm512_cvtepi32_pd(_mm256_sub_epi32(q, _mm256_set1_epi32(128)));
}
#else
#define V             __m512
#define W             16
#define LOAD(p)       _mm512_loadu_ps(p)
#define STORE(p, v)   _mm512_storeu_ps(p, v)
#define ZERO          _mm512_setzero_ps()
#define SET(x)        _mm512_set1_ps(x)
#define FMA(a, b, c)  _mm512_fmadd_ps(a, b, c)
#define FMA1(a, b, c) fmaf(a, b, c)
#define ADD(a, b)     _mm512_add_ps(a, b)

INLINE real SUM(__m512 v)
{
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

INLINE __m512 BYTES(const uint8_t *p)
{
    __m512i q = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(q, _mm512_set1_epi32(128)));
}
#endif

#define TILE_ROWS        14
#define FMIN(a, b)       _mm512_min_ps(a, b)
#define FMAX(a, b)       _mm512_max_ps(a, b)
#define FROUND(v)        _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT)
#define FLOADN(p, n)     _mm512_maskz_loadu_ps(first(n), p)
#define FSTOREN(p, v, n) _mm512_mask_storeu_ps(p, first(n), v)

/* The first n of a vector. */
INLINE __mmask16 first(int n)
{
    return (__mmask16)((1u << n) - 1);
}

#include "kernel_double.h"
#include "kernel_gemm.h"
#include "kernel_lanes.h"

#include "kernel_exp.h"
#include "kernel_simd.h"
#include "kernel_sparse.h"

enum { WIDE = 48, VECTORS = WIDE / 16 };

static int works(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("fma");
}

INLINE __m512i broadcast(const void *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm512_set1_epi32(four);
}

INLINE __m512i load(const void *p)
{
    return _mm512_load_si512(p);
}

/* c += sum, row by row. */
INLINE void add_tile(__m512i sum[WEFT_TILE][VECTORS], int32_t *c, size_t ldc)
{
    UNROLL for (int r = 0; r < WEFT_TILE; r++) UNROLL for (int v = 0; v < VECTORS; v++)
    {
        int32_t *to = c + (size_t)r * ldc + 16 * v;
        _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_loadu_si512(to), sum[r][v]));
    }
}

static void u8s8(int groups, const uint8_t *const *a, const int8_t *b, int32_t *c,
                 size_t ldc)
{
    __m512i sum[WEFT_TILE][VECTORS];
    UNROLL for (int r = 0; r < WEFT_TILE; r++) UNROLL for (int v = 0; v < VECTORS; v++)
        sum[r][v] = _mm512_setzero_si512();
    for (int k = 0; k < groups * WEFT_GROUP; k += 4) {
        __m512i bv[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) bv[v] = load(b + k * WIDE + 64 * v);
        UNROLL for (int r = 0; r < WEFT_TILE; r++)
        {
            __m512i x = broadcast(a[r] + k);
            UNROLL for (int v = 0; v < VECTORS; v++)
            {
                sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], x, bv[v]);
                KEEP(sum[r][v]);
            }
        }
    }
    add_tile(sum, c, ldc);
}

static void gram(int pairs, const int16_t *a, const int16_t *b, int32_t *c, size_t ldc)
{
    __m512i sum[WEFT_TILE][VECTORS];
    UNROLL for (int r = 0; r < WEFT_TILE; r++) UNROLL for (int v = 0; v < VECTORS; v++)
        sum[r][v] = _mm512_setzero_si512();
    for (int k = 0; k < pairs; k++) {
        __m512i bv[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) bv[v] = load(b + 32 * v);
        UNROLL for (int r = 0; r < WEFT_TILE; r++)
        {
            __m512i x = broadcast(a + 2 * r);
            UNROLL for (int v = 0; v < VECTORS; v++)
            {
                sum[r][v] = _mm512_dpwssd_epi32(sum[r][v], x, bv[v]);
                KEEP(sum[r][v]);
            }
        }
        a += 2 * WEFT_TILE;
        b += 2 * WIDE;
    }
    add_tile(sum, c, ldc);
}

const weft_kernel weft_kernel_avx512 = WEFT_KERNEL("avx512");
