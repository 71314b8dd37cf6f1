/* The loops of kernel.h over whole vectors, written once for all widths. Included by the
 * kernel_*.c after they have defined
 *   V, W             vector of W reals
 *   STEP             vectors that hold 64 bytes
 *   LOAD STORE ZERO SET ADD, FMA(a, b, c) = a b + c, rounded once; FMA1 of single numbers
 *   SUM(v)           sum of its numbers: halves are added, then their halves
 *   BYTES(p)         vector of p[i] - 128
 *   F, FW            vector of FW floats
 *   FLOAD FSTORE FADD FSUB FSET FFMA  as for reals
 *   FLOADN FSTOREN   of the first n numbers; the rest zero, or left alone
 *   FMIN FMAX        b where one is no number
 *   FROUND(v)        to the nearest whole number, ties to even
 *   SHORT_STAGES(v)  the stages of the Walsh-Hadamard transform within one vector
 *   KEEP(v)          makes the compiler hold v in a register from here on
 *   TILE_ROWS        most rows of a tile of a product, 6 or 14, as registers allow
 * The bits of a result do not depend on these: a dot product is summed in LANES numbers,
 * however many vectors these are, and all other sums run in the order of their terms. */
#include "weft/base/base.h"
#include <stddef.h>
#include <stdint.h>

/* Rows and classes of a tile of times, whose sums stay in registers, and columns that are
 * taken at a time, so that w stays in the first-level cache. */
#if STEP == 1
enum { TIMES_ROWS = 2, TIMES_MOST = 5, PIECE = 256 };
#else
enum { TIMES_ROWS = 3, TIMES_MOST = 2, PIECE = 512 };
#endif

enum {
    LANES = STEP * W, /* numbers that a dot product is summed in */
    BAND = 30,        /* rows taken at a time by times, a multiple of TIMES_ROWS */
    GROUP = 10,       /* classes taken at a time by times */
    ROWS = 128,       /* rows taken at a time by trans */
    STRIP = 2 * W,    /* columns of a tile of trans */
    TRANS_MOST = 5    /* classes of a tile of trans */
};

/* Loads limit the speed as much as multiplications do: each vector is loaded once; those of
 * the rows or of the classes, whichever are fewer, are held in registers, and KEEP keeps
 * the current other one in a register. part[rows][GROUP][STEP], vectors to be summed, += x
 * w^T over d columns of x[rows][PIECE].
 */
INLINE void times_tile(int rows, int classes, int d, const real *x, const real *w,
                       size_t ldw, V *part)
{
    V sum[TIMES_ROWS][TIMES_MOST][STEP];
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < classes; j++)
            for (int v = 0; v < STEP; v++) sum[r][j][v] = part[(r * GROUP + j) * STEP + v];
    for (int k = 0; k < d; k += LANES)
        for (int v = 0; v < STEP; v++) {
            const real *xv = x + k + v * W, *wv = w + k + v * W;
            V held[TIMES_MOST > TIMES_ROWS ? TIMES_MOST : TIMES_ROWS];
            if (rows < classes) {
                for (int r = 0; r < rows; r++) held[r] = LOAD(xv + r * PIECE);
                for (int j = 0; j < classes; j++) {
                    V one = LOAD(wv + (size_t)j * ldw);
                    KEEP(one);
                    for (int r = 0; r < rows; r++)
                        sum[r][j][v] = FMA(held[r], one, sum[r][j][v]);
                }
            } else {
                for (int j = 0; j < classes; j++) held[j] = LOAD(wv + (size_t)j * ldw);
                for (int r = 0; r < rows; r++) {
                    V one = LOAD(xv + r * PIECE);
                    KEEP(one);
                    for (int j = 0; j < classes; j++)
                        sum[r][j][v] = FMA(one, held[j], sum[r][j][v]);
                }
            }
        }
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < classes; j++)
            for (int v = 0; v < STEP; v++) part[(r * GROUP + j) * STEP + v] = sum[r][j][v];
}

/* The same, of any size. */
static void times_tile_of(int rows, int classes, int d, const real *x, const real *w,
                          size_t ldw, V *part)
{
#define TIMES_CASE(r, c)                                                                   \
    case (r)*TIMES_MOST + (c): times_tile(r, c, d, x, w, ldw, part); return;
    switch (rows * TIMES_MOST + classes) {
        TIMES_CASE(1, 1)
        TIMES_CASE(1, 2)
        TIMES_CASE(2, 1)
        TIMES_CASE(2, 2)
#if STEP == 1
        TIMES_CASE(1, 3)
        TIMES_CASE(1, 4) TIMES_CASE(1, 5) TIMES_CASE(2, 3) TIMES_CASE(2, 4) TIMES_CASE(2, 5)
#else
        TIMES_CASE(3, 1) TIMES_CASE(3, 2)
#endif
    }
}

/* How many of c classes the next tile takes: the last two share evenly. */
static int share(int c, int most)
{
    return c <= most ? c : c < 2 * most ? (c + 1) / 2 : most;
}

/* One piece of columns for up to TIMES_ROWS rows: bytes to reals, then tiles of classes. */
static void times_piece(int rows, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                        size_t ldw, V *part)
{
    real x[TIMES_ROWS * PIECE];
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < d; k += W)
            STORE(x + r * PIECE + k, BYTES(q + (size_t)r * ldq + k));
    for (int j = 0, m; j < c; j += m) {
        m = share(c - j, TIMES_MOST);
        times_tile_of(rows, m, d, x, w + (size_t)j * ldw, ldw, part + j * STEP);
    }
}

static real sum_lanes(V *v)
{
    for (int half = STEP / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) v[i] += v[i + half];
    return SUM(v[0]);
}

/* Up to BAND rows by up to GROUP classes. */
static void times_group(int n, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                        size_t ldw, real *z, size_t ldz)
{
    V part[BAND * GROUP * STEP];
    int even = d / LANES * LANES;
    for (int e = 0; e < BAND * GROUP * STEP; e++) part[e] = ZERO;
    for (int k = 0; k < even; k += PIECE)
        for (int i = 0; i < n; i += TIMES_ROWS)
            times_piece(least(TIMES_ROWS, n - i), least(PIECE, even - k),
                        q + (size_t)i * ldq + k, ldq, c, w + k, ldw,
                        part + i * GROUP * STEP);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < c; j++) {
            real sum = sum_lanes(part + (i * GROUP + j) * STEP);
            for (int k = even; k < d; k++)
                sum += (real)(q[(size_t)i * ldq + k] - 128) * w[(size_t)j * ldw + k];
            z[(size_t)j * ldz + i] = sum;
        }
}

static void u8_times(int n, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                     size_t ldw, real *z, size_t ldz)
{
    for (int j = 0; j < c; j += GROUP)
        for (int i = 0; i < n; i += BAND)
            times_group(n - i < BAND ? n - i : BAND, d, q + (size_t)i * ldq, ldq,
                        c - j < GROUP ? c - j : GROUP, w + (size_t)j * ldw, ldw,
                        z + (size_t)j * ldz + i, ldz);
}

/* g[j][0..STRIP) += sum over n rows x[n][STRIP] z[j][i]. */
INLINE void trans_tile(int classes, int n, const real *x, const real *z, size_t ldz,
                       real *g, size_t ldg)
{
    V sum[TRANS_MOST][2];
    for (int j = 0; j < classes; j++)
        for (int v = 0; v < 2; v++) sum[j][v] = LOAD(g + (size_t)j * ldg + v * W);
    for (int i = 0; i < n; i++) {
        const V x0 = LOAD(x + i * STRIP), x1 = LOAD(x + i * STRIP + W);
        for (int j = 0; j < classes; j++) {
            const V zi = SET(z[(size_t)j * ldz + i]);
            sum[j][0] = FMA(x0, zi, sum[j][0]);
            sum[j][1] = FMA(x1, zi, sum[j][1]);
        }
    }
    for (int j = 0; j < classes; j++)
        for (int v = 0; v < 2; v++) STORE(g + (size_t)j * ldg + v * W, sum[j][v]);
}

static void trans_tile_of(int classes, int n, const real *x, const real *z, size_t ldz,
                          real *g, size_t ldg)
{
#define TRANS_CASE(c)                                                                      \
    case c: trans_tile(c, n, x, z, ldz, g, ldg); return;
    switch (classes) {
        TRANS_CASE(1) TRANS_CASE(2) TRANS_CASE(3) TRANS_CASE(4) TRANS_CASE(5)
    }
}

static void u8_trans(int n, int d, const uint8_t *q, size_t ldq, int c, const real *z,
                     size_t ldz, real *g, size_t ldg)
{
    real x[ROWS * STRIP];
    int even = d / STRIP * STRIP;
    for (int i = 0; i < n; i += ROWS) {
        int rows = n - i < ROWS ? n - i : ROWS;
        for (int k = 0; k < even; k += STRIP) {
            for (int r = 0; r < rows; r++)
                for (int v = 0; v < STRIP; v += W)
                    STORE(x + r * STRIP + v, BYTES(q + (size_t)(i + r) * ldq + k + v));
            for (int j = 0, m; j < c; j += m) {
                m = share(c - j, TRANS_MOST);
                trans_tile_of(m, rows, x, z + (size_t)j * ldz + i, ldz,
                              g + (size_t)j * ldg + k, ldg);
            }
        }
    }
    for (int j = 0; j < c; j++)
        for (int k = even; k < d; k++) {
            real sum = g[(size_t)j * ldg + k];
            for (int i = 0; i < n; i++)
                sum =
                    FMA1((real)(q[(size_t)i * ldq + k] - 128), z[(size_t)j * ldz + i], sum);
            g[(size_t)j * ldg + k] = sum;
        }
}

/* Two stages at once, of strides h and 2h, h >= FW. */
static void fwht_pair(int n, int h, float *x)
{
    for (int at = 0; at < n; at += 4 * h)
        for (int i = at; i < at + h; i += FW) {
            const F a = FLOAD(x + i), b = FLOAD(x + i + h);
            const F c = FLOAD(x + i + 2 * h), d = FLOAD(x + i + 3 * h);
            const F s = FADD(a, b), t = FSUB(a, b), u = FADD(c, d), v = FSUB(c, d);
            FSTORE(x + i, FADD(s, u));
            FSTORE(x + i + h, FADD(t, v));
            FSTORE(x + i + 2 * h, FSUB(s, u));
            FSTORE(x + i + 3 * h, FSUB(t, v));
        }
}

static void fwht_stage(int n, int h, float *x)
{
    for (int at = 0; at < n; at += 2 * h)
        for (int i = at; i < at + h; i += FW) {
            const F a = FLOAD(x + i), b = FLOAD(x + i + h);
            FSTORE(x + i, FADD(a, b));
            FSTORE(x + i + h, FSUB(a, b));
        }
}

static void fwht(int n, float *x)
{
    if (n < FW) { /* shorter than a vector */
        for (int h = 1; h < n; h *= 2)
            for (int i = 0; i < n; i++)
                if ((i & h) == 0) {
                    float a = x[i], b = x[i + h];
                    x[i] = a + b;
                    x[i + h] = a - b;
                }
        return;
    }
    for (int i = 0; i < n; i += FW) FSTORE(x + i, SHORT_STAGES(FLOAD(x + i)));
    int h = FW;
    for (; 4 * h <= n; h *= 4) fwht_pair(n, h, x);
    if (h < n) fwht_stage(n, h, x);
}

static void gather16(int n, const uint32_t *at, const float *value, const float *x,
                     float *sum)
{
    F s[16 / FW];
    for (int v = 0; v < 16 / FW; v++) s[v] = FLOAD(sum + v * FW);
    for (int e = 0; e < n; e++) {
        const F a = FSET(value[e]);
        for (int v = 0; v < 16 / FW; v++)
            s[v] = FFMA(a, FLOAD(x + (size_t)at[e] * 16 + v * FW), s[v]);
    }
    for (int v = 0; v < 16 / FW; v++) FSTORE(sum + v * FW, s[v]);
}

/* `vectors` of them stay in registers during the loop over rows. */
INLINE void add_strip(int vectors, int n, const uint32_t *at, const real *value,
                      const real *x, size_t ldx, real *sum)
{
    V s[4];
    UNROLL for (int v = 0; v < vectors; v++) s[v] = LOAD(sum + v * W);
    for (int e = 0; e < n; e++) {
        const V a = SET(value[e]);
        const real *row = x + at[e] * ldx;
        UNROLL for (int v = 0; v < vectors; v++) s[v] = FMA(a, LOAD(row + v * W), s[v]);
    }
    UNROLL for (int v = 0; v < vectors; v++) STORE(sum + v * W, s[v]);
}

static void add_rows(int n, const uint32_t *at, const real *value, int d, const real *x,
                     size_t ldx, real *sum)
{
    int j = 0;
    for (; j + 4 * W <= d; j += 4 * W) add_strip(4, n, at, value, x + j, ldx, sum + j);
    for (; j + W <= d; j += W) add_strip(1, n, at, value, x + j, ldx, sum + j);
    for (; j < d; j++)
        for (int e = 0; e < n; e++) sum[j] = FMA1(value[e], x[at[e] * ldx + j], sum[j]);
}

/* ---- cosines ---- */

/* The argument is in turns, reduced to [-1/2, 1/2] by two FMAs, then cos(2 pi r) = sin(2 pi
 * (1/4 - |r|)) by an odd polynomial of degree 7 (minimax on [-1/4, 1/4], error 6e-7), its
 * coefficients times 127. */

/* A scale in two floats, so that products with it are reduced as if by a double. */
struct turns {
    F high, low;
};

INLINE struct turns turns_of(double scale)
{
    float high = (float)scale;
    return (struct turns){FSET(high), FSET((float)(scale - (double)high))};
}

/* 127 cos(2 pi (x scale + offset)). */
INLINE F cosine(F x, struct turns turns, F offset)
{
    const F whole = FROUND(x * turns.high);
    F r = FFMA(x, turns.high, -whole) + FFMA(x, turns.low, offset);
    r = r - FROUND(r);
    const F z = FSET(0.25f) - FMAX(r, -r), y = z * z;
    F p = FFMA(FSET(-9016.16603f), y, FSET(10330.2776f));
    p = FFMA(p, y, FSET(-5249.81708f));
    p = FFMA(p, y, FSET(797.961834f));
    return p * z;
}

typedef int32_t F_WHOLE __attribute__((vector_size(4 * FW)));

/* q <- the bytes of FW features y; NaN becomes 0. The file before may have a way of its
 * own. */
#ifndef OWN_BYTES
typedef uint8_t F_BYTES __attribute__((vector_size(FW)));

INLINE void cos_store(F y, uint8_t *q)
{
    const F_WHOLE number = (F_WHOLE)(y == y);
    const F known = (F)((F_WHOLE)y & number);
    const F_WHOLE whole = __builtin_convertvector(FROUND(known), F_WHOLE) + 128;
    const F_BYTES bytes = __builtin_convertvector(whole & number, F_BYTES);
    memcpy(q, &bytes, sizeof bytes);
}
#endif

INLINE void cos_part(F x, struct turns turns, const float *offset, uint8_t *q)
{
    cos_store(cosine(x, turns, FLOAD(offset)), q);
}

/* FW numbers x, which are whole or floats. */
INLINE F cos_load(const char *x, int whole)
{
    F_WHOLE v;
    memcpy(&v, x, sizeof v);
    return whole ? __builtin_convertvector(v, F) : (F)v;
}

INLINE void cos_all(int n, const void *numbers, int whole, double scale,
                    const float *offset, uint8_t *q)
{
    const struct turns turns = turns_of(scale);
    const char *x = numbers;
    char rest[4 * FW] = {0};
    float offsets[FW] = {0};
    uint8_t bytes[FW];
    int i = 0;
    for (; i + FW <= n; i += FW)
        cos_part(cos_load(x + 4 * i, whole), turns, offset + i, q + i);
    size_t left = (size_t)(n - i);
    memcpy(rest, x + 4 * i, 4 * left);
    memcpy(offsets, offset + i, left * sizeof *offset);
    cos_part(cos_load(rest, whole), turns, offsets, bytes);
    memcpy(q + i, bytes, left);
}

static void cos_u8_f32(int n, const float *x, double scale, const float *offset, uint8_t *q)
{
    cos_all(n, x, 0, scale, offset, q);
}

static void cos_u8_i32(int n, const int32_t *x, double scale, const float *offset,
                       uint8_t *q)
{
    cos_all(n, x, 1, scale, offset, q);
}
