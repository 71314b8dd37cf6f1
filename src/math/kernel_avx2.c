/* The loops of kernel.h for CPUs with AVX2 and FMA.
 *
 * u8s8: vpmaddubsw multiplies 32 bytes and adds neighbours in 16 bits; with |b| <= 16 four
 * of them fit (4 * 2 * 255 * 16 = 32640) before vpmaddwd widens the sum to 32 bits. That
 * makes 128 multiplications in nine instructions, five of them on the multipliers: three
 * times the rate of float FMAs, and exact. gram: both factors have 8 bits and a sign, so
 * they are widened when packed; vpmaddwd. */
#include "kernel.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define F               __m256
#define FW              8
#define FLOAD(p)        _mm256_loadu_ps(p)
#define FSTORE(p, v)    _mm256_storeu_ps(p, v)
#define FADD(a, b)      _mm256_add_ps(a, b)
#define FSUB(a, b)      _mm256_sub_ps(a, b)
#define FSET(x)         _mm256_set1_ps(x)
#define FFMA(a, b, c)   _mm256_fmadd_ps(a, b, c)
#define SHORT_STAGES(v) short_stages(v)

/* Stages of strides 1, 2 and 4: neighbour plus, or minus, itself. */
INLINE __m256 short_stages(__m256 x)
{
    __m256 s1 = _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1);
    __m256 s2 = _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1);
    __m256 s4 = _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1);
    x = _mm256_fmadd_ps(x, s1, _mm256_permute_ps(x, 0xb1));
    x = _mm256_fmadd_ps(x, s2, _mm256_permute_ps(x, 0x4e));
    return _mm256_fmadd_ps(x, s4, _mm256_permute2f128_ps(x, x, 1));
}

#define STEP 2

#ifdef WEFT_DOUBLE
#define V             __m256d
#define W             4
#define LOAD(p)       _mm256_loadu_pd(p)
#define STORE(p, v)   _mm256_storeu_pd(p, v)
#define ZERO          _mm256_setzero_pd()
#define SET(x)        _mm256_set1_pd(x)
#define FMA(a, b, c)  _mm256_fmadd_pd(a, b, c)
#define FMA1(a, b, c) fma(a, b, c)
#define ADD(a, b)     _mm256_add_pd(a, b)

INLINE real SUM(__m256d v)
{
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

INLINE __m256d BYTES(const uint8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    __m128i q = _mm_cvtepu8_epi32(_mm_cvtsi32_si128(four));
    return _mm256_cvtepi32_pd(_mm_sub_epi32(q, _mm_set1_epi32(128)));
}
#else
#define V             __m256
#define W             8
#define LOAD(p)       _mm256_loadu_ps(p)
#define STORE(p, v)   _mm256_storeu_ps(p, v)
#define ZERO          _mm256_setzero_ps()
#define SET(x)        _mm256_set1_ps(x)
#define FMA(a, b, c)  _mm256_fmadd_ps(a, b, c)
#define FMA1(a, b, c) fmaf(a, b, c)
#define ADD(a, b)     _mm256_add_ps(a, b)

INLINE real SUM(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

INLINE __m256 BYTES(const uint8_t *p)
{
    __m256i q = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(q, _mm256_set1_epi32(128)));
}
#endif

#define TILE_ROWS        6
#define FMIN(a, b)       _mm256_min_ps(a, b)
#define FMAX(a, b)       _mm256_max_ps(a, b)
#define FLOADN(p, n)     _mm256_maskload_ps(p, first(n))
#define FSTOREN(p, v, n) _mm256_maskstore_ps(p, first(n), v)

/* The first n of a vector. */
INLINE __m256i first(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

#define FROUND(v) _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

#define OWN_BYTES
INLINE void cos_store(__m256 y, uint8_t *q)
{
    const __m256i v = _mm256_cvtps_epi32(y);
    __m128i s = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_xor_si128(_mm_packs_epi16(s, s), _mm_set1_epi8(-128));
    _mm_storel_epi64((__m128i *)(void *)q, s);
}

#include "kernel_double.h"
#include "kernel_gemm.h"
#include "kernel_lanes.h"

#include "kernel_exp.h"
#include "kernel_simd.h"
#include "kernel_sparse.h"

enum { WIDE = 16, VECTORS = WIDE / 8 };

static int works(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

INLINE __m256i load(const void *p)
{
    return _mm256_load_si256((const __m256i *)p);
}

INLINE __m256i broadcast(const void *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm256_set1_epi32(four);
}

/* c += sum, row by row. */
INLINE void add_tile(__m256i sum[WEFT_TILE][VECTORS], int32_t *c, size_t ldc)
{
    UNROLL for (int r = 0; r < WEFT_TILE; r++) UNROLL for (int v = 0; v < VECTORS; v++)
    {
        __m256i *to = (__m256i *)(void *)(c + (size_t)r * ldc + 8 * v);
        _mm256_storeu_si256(to, _mm256_add_epi32(_mm256_loadu_si256(to), sum[r][v]));
    }
}

static void u8s8(int groups, const uint8_t *const *a, const int8_t *b, int32_t *c,
                 size_t ldc)
{
    __m256i ones = _mm256_set1_epi16(1);
    __m256i sum[WEFT_TILE][VECTORS] = {{{0}}};
    for (int g = 0; g < groups; g++) {
        __m256i s[WEFT_TILE][VECTORS];
        UNROLL for (int k = 0; k < WEFT_GROUP; k += 4)
        {
            __m256i b0 = load(b + k * WIDE), b1 = load(b + k * WIDE + 32);
            UNROLL for (int r = 0; r < WEFT_TILE; r++)
            {
                __m256i x = broadcast(a[r] + g * WEFT_GROUP + k);
                __m256i p0 = _mm256_maddubs_epi16(x, b0);
                __m256i p1 = _mm256_maddubs_epi16(x, b1);
                s[r][0] = k ? _mm256_add_epi16(s[r][0], p0) : p0;
                s[r][1] = k ? _mm256_add_epi16(s[r][1], p1) : p1;
                KEEP(s[r][0]);
                KEEP(s[r][1]);
            }
        }
        UNROLL for (int r = 0; r < WEFT_TILE; r++) UNROLL for (int v = 0; v < VECTORS; v++)
            sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_madd_epi16(s[r][v], ones));
        b += WEFT_GROUP * WIDE;
    }
    add_tile(sum, c, ldc);
}

static void gram(int pairs, const int16_t *a, const int16_t *b, int32_t *c, size_t ldc)
{
    __m256i sum[WEFT_TILE][VECTORS] = {{{0}}};
    for (int k = 0; k < pairs; k++) {
        __m256i b0 = load(b), b1 = load(b + 16);
        UNROLL for (int r = 0; r < WEFT_TILE; r++)
        {
            __m256i x = broadcast(a + 2 * r);
            sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(x, b0));
            sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(x, b1));
            KEEP(sum[r][0]);
            KEEP(sum[r][1]);
        }
        a += 2 * WEFT_TILE;
        b += 2 * WIDE;
    }
    add_tile(sum, c, ldc);
}

const weft_kernel weft_kernel_avx2 = WEFT_KERNEL("avx2");
