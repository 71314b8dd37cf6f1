/* Sparse rows against vectors side by side: an entry takes one or two lines of cache for
 * all of them. Written once for all CPUs; included by the kernel_*.c, which define FW, the
 * floats of a vector. Vectors are written out, because compilers do not vectorise sums over
 * operands that are not contiguous. Wide ones matter although memory bounds the speed: the
 * fewer instructions an entry takes, the more entries a CPU reads ahead. A number is a sum
 * in the order of entries, without fused operations: its bits do not depend on FW. */
#include "weft/math/linear.h"

enum {
    QUAD = 16 / sizeof(real),
    PAIR = 32 / sizeof(real),
    FULL = 4 * FW / sizeof(real),
    MOST = WEFT_SPARSE_WIDE / FULL,
    LINE = 64 / sizeof(real), /* of cache */
    AHEAD = 24                /* entries fetched before their use */
};

typedef real quad_vector __attribute__((vector_size(16)));
typedef real pair_vector __attribute__((vector_size(32)));
typedef real full_vector __attribute__((vector_size(4 * FW)));

/* One number of each vector. */
typedef struct sparse_numbers {
    full_vector full[MOST];
    pair_vector pair;
    quad_vector quad;
} sparse_numbers;

/* `wide` numbers as vectors: full ones first, then one of 32 bytes if left, then of 16. */
#define FULLS(wide)    ((wide) / FULL)
#define PAIR_AT(wide)  (FULLS(wide) * FULL)
#define HAS_PAIR(wide) (FULL > PAIR && (wide)-PAIR_AT(wide) >= PAIR)
#define QUAD_AT(wide)  (PAIR_AT(wide) + HAS_PAIR(wide) * PAIR)
#define HAS_QUAD(wide) ((wide) > QUAD_AT(wide))

INLINE void sparse_load(int wide, const real *p, sparse_numbers *numbers)
{
    UNROLL
    for (int k = 0; k < FULLS(wide); k++)
        memcpy(&numbers->full[k], p + k * FULL, sizeof numbers->full[k]);
    if (HAS_PAIR(wide)) memcpy(&numbers->pair, p + PAIR_AT(wide), sizeof numbers->pair);
    if (HAS_QUAD(wide)) memcpy(&numbers->quad, p + QUAD_AT(wide), sizeof numbers->quad);
}

INLINE void sparse_store(int wide, const sparse_numbers *numbers, real *p)
{
    UNROLL
    for (int k = 0; k < FULLS(wide); k++)
        memcpy(p + k * FULL, &numbers->full[k], sizeof numbers->full[k]);
    if (HAS_PAIR(wide)) memcpy(p + PAIR_AT(wide), &numbers->pair, sizeof numbers->pair);
    if (HAS_QUAD(wide)) memcpy(p + QUAD_AT(wide), &numbers->quad, sizeof numbers->quad);
}

/* sum += v x */
INLINE void sparse_add_times(int wide, const sparse_numbers *numbers, real x,
                             sparse_numbers *sum)
{
    UNROLL
    for (int k = 0; k < FULLS(wide); k++) sum->full[k] += numbers->full[k] * x;
    if (HAS_PAIR(wide)) sum->pair += numbers->pair * x;
    if (HAS_QUAD(wide)) sum->quad += numbers->quad * x;
}

INLINE void dots_of(int wide, const weft_sparse *x, int64_t i, const real *w, double *z)
{
    sparse_numbers sum = {.full = {{0}}}, numbers = sum;
    const uint32_t *column = x->column;
    const float *value = x->value;
    int64_t end = x->first[i + 1];
    for (int64_t e = x->first[i]; e < end; e++) {
        if (e + AHEAD < end) {
            const real *later = w + (int64_t)column[e + AHEAD] * wide;
            UNROLL
            for (int k = 0; k < wide; k += LINE) __builtin_prefetch(later + k);
        }
        sparse_load(wide, w + (int64_t)column[e] * wide, &numbers);
        sparse_add_times(wide, &numbers, (real)value[e], &sum);
    }
    real out[WEFT_SPARSE_WIDE];
    sparse_store(wide, &sum, out);
    for (int k = 0; k < wide; k++) z[k] = (double)out[k];
}

INLINE void adds_of(int wide, const weft_sparse *x, int64_t i, const real *scale, real *w)
{
    sparse_numbers factors = {.full = {{0}}}, numbers = factors;
    const uint32_t *column = x->column;
    const float *value = x->value;
    int64_t end = x->first[i + 1];
    sparse_load(wide, scale, &factors);
    for (int64_t e = x->first[i]; e < end; e++) {
        real *at = w + (int64_t)column[e] * wide;
        sparse_load(wide, at, &numbers);
        sparse_add_times(wide, &factors, (real)value[e], &numbers);
        sparse_store(wide, &numbers, at);
    }
}

#define WIDTHS(DO) DO(4) DO(8) DO(12) DO(16) DO(20) DO(24) DO(28) DO(32)

static void sparse_dots(const weft_sparse *x, int64_t i, int wide, const real *w, double *z)
{
#define DOTS(width)                                                                        \
    case width: dots_of(width, x, i, w, z); return;
    switch (wide) {
        WIDTHS(DOTS)
    }
}

static void sparse_adds(const weft_sparse *x, int64_t i, int wide, const real *scale,
                        real *w)
{
#define ADDS(width)                                                                        \
    case width: adds_of(width, x, i, scale, w); return;
    switch (wide) {
        WIDTHS(ADDS)
    }
}
