/* Sparse rows against vectors side by side: an entry takes one or two lines of cache for
 * all of them. Vectors are written out, because compilers do not vectorise sums over
 * operands that are not contiguous; they have 16 bytes, which all CPUs support, since
 * memory bounds the speed. Called by model/dual.c. */
#include <string.h>

#include "kernel.h"

enum {
    QUAD = 16 / sizeof(real),
    LINE = 64 / sizeof(real), /* of cache */
    AHEAD = 24                /* entries fetched before their use */
};

typedef real quad __attribute__((vector_size(16)));

INLINE quad load(const real *p)
{
    quad v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE quad all(real x)
{
    quad v = {0};
    for (int k = 0; k < QUAD; k++) v[k] = x;
    return v;
}

INLINE void dots(const weft_sparse *x, int64_t i, int wide, const real *w, double *z)
{
    quad sum[WEFT_SPARSE_WIDE / QUAD] = {{0}};
    int64_t end = x->first[i + 1];
    for (int64_t e = x->first[i]; e < end; e++) {
        const real *at = w + (int64_t)x->column[e] * wide;
        quad value = all((real)x->value[e]);
        if (e + AHEAD < end) {
            const real *later = w + (int64_t)x->column[e + AHEAD] * wide;
            UNROLL
            for (int k = 0; k < wide; k += LINE) __builtin_prefetch(later + k);
        }
        UNROLL
        for (int k = 0; k < wide / QUAD; k++) sum[k] += load(at + k * QUAD) * value;
    }
    for (int k = 0; k < wide; k++) z[k] = (double)sum[k / QUAD][k % QUAD];
}

INLINE void adds(const weft_sparse *x, int64_t i, int wide, const real *scale, real *w)
{
    quad by[WEFT_SPARSE_WIDE / QUAD];
    for (int k = 0; k < wide / QUAD; k++) by[k] = load(scale + k * QUAD);
    for (int64_t e = x->first[i]; e < x->first[i + 1]; e++) {
        real *at = w + (int64_t)x->column[e] * wide;
        quad value = all((real)x->value[e]);
        UNROLL
        for (int k = 0; k < wide / QUAD; k++) {
            quad v = load(at + k * QUAD) + by[k] * value;
            memcpy(at + k * QUAD, &v, sizeof v);
        }
    }
}

#define WIDTHS(DO) DO(4) DO(8) DO(12) DO(16) DO(20) DO(24) DO(28) DO(32)

void weft_sparse_dots(const weft_sparse *x, int64_t i, int wide, const real *w, double *z)
{
#define DOTS(width)                                                                        \
    case width: dots(x, i, width, w, z); return;
    switch (wide) {
        WIDTHS(DOTS)
    default: z[0] = weft_sparse_dot(x, i, w);
    }
}

void weft_sparse_adds(const weft_sparse *x, int64_t i, int wide, const real *scale, real *w)
{
#define ADDS(width)                                                                        \
    case width: adds(x, i, width, scale, w); return;
    switch (wide) {
        WIDTHS(ADDS)
    default: weft_sparse_add(x, i, scale[0], w);
    }
}
