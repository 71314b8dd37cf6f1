/* Sparse rows: product with a vector and addition to one. */
#include <string.h>

#include "kernel.h"

double weft_sparse_dot(const weft_sparse *x, int64_t i, const real *w)
{
    const uint32_t *column = x->column;
    const float *value = x->value;
    int64_t e = x->first[i], end = x->first[i + 1];
    real s0 = 0, s1 = 0, s2 = 0,
         s3 = 0; /* four sums: additions need not wait for each other */
    for (; e + 3 < end; e += 4) {
        s0 += w[column[e]] * (real)value[e];
        s1 += w[column[e + 1]] * (real)value[e + 1];
        s2 += w[column[e + 2]] * (real)value[e + 2];
        s3 += w[column[e + 3]] * (real)value[e + 3];
    }
    for (; e < end; e++) s0 += w[column[e]] * (real)value[e];
    return (double)(s0 + s1) + (double)(s2 + s3);
}

void weft_sparse_dots(const weft_sparse *x, int64_t i, int wide, const real *w, double *z)
{
    if (wide == 1)
        z[0] = weft_sparse_dot(x, i, w);
    else
        weft_kernel_best()->sparse_dots(x, i, wide, w, z);
}

void weft_sparse_adds(const weft_sparse *x, int64_t i, int wide, const real *scale, real *w)
{
    if (wide > 1) {
        weft_kernel_best()->sparse_adds(x, i, wide, scale, w);
        return;
    }
    for (int64_t e = x->first[i]; e < x->first[i + 1]; e++)
        w[x->column[e]] += scale[0] * (real)x->value[e];
}

void weft_sparse_fetch(const weft_sparse *x, int64_t i)
{
    enum { AHEAD = 128, LINE = 16 }; /* entries; entries in a line of cache */
    int64_t e = x->first[i], n = x->first[i + 1] - e;
    for (int64_t k = 0; k < n && k < AHEAD; k += LINE) {
        __builtin_prefetch(x->column + e + k);
        __builtin_prefetch(x->value + e + k);
    }
}

double weft_sparse_norm2(const weft_sparse *x, int64_t i)
{
    double sum = 0;
    for (int64_t e = x->first[i]; e < x->first[i + 1]; e++)
        sum += (double)x->value[e] * (double)x->value[e];
    return sum;
}

double weft_sparse_largest(const weft_sparse *x)
{
    int32_t most = 0, bits; /* floats without sign are in the order of their bits */
    float largest;
    for (int64_t e = 0; e < x->first[x->n]; e++) {
        memcpy(&bits, &x->value[e], sizeof bits);
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
    }
    memcpy(&largest, &most, sizeof largest);
    return (double)largest;
}
