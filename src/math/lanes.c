/* Small models side by side in the lanes of a vector; the loops are those of the table for
 * this CPU. */
#include "kernel.h"

int weft_lanes(void)
{
    return weft_kernel_best()->lanes;
}

void weft_lanes_load(int64_t d, const float *const *row, real *x)
{
    weft_kernel_best()->lanes_load(d, row, x);
}

void weft_lanes_gather(int64_t n, const real *const *row, real *x)
{
    weft_kernel_best()->lanes_gather(n, row, x);
}

void weft_lanes_scatter(int64_t n, const real *x, real *const *row)
{
    weft_kernel_best()->lanes_scatter(n, x, row);
}

void weft_lanes_times(const weft_lanes_product *product)
{
    weft_kernel_best()->lanes_times(product);
}

void weft_lanes_step(const weft_lanes_move *move, int64_t n, real *g)
{
    weft_kernel_best()->lanes_step(move, n, g);
}

void weft_lanes_within(int64_t n, const real *w, const real *from, const double *most,
                       int *within)
{
    weft_kernel_best()->lanes_within(n, w, from, most, within);
}

void weft_lanes_add(int64_t n, const real *w, const real *from, const real *weight,
                    const int *use, int scale, double *sum)
{
    weft_kernel_best()->lanes_add(n, w, from, weight, use, scale, sum);
}

void weft_lanes_blend(int64_t n, const real *share, const real *own, const real *w,
                      real *at)
{
    weft_kernel_best()->lanes_blend(n, share, own, w, at);
}

void weft_lanes_slope(int64_t n, const real *own, const real *w, const real *g,
                      double *slope)
{
    weft_kernel_best()->lanes_slope(n, own, w, g, slope);
}

void weft_lanes_softmax(int c, const real *z, const int32_t *label, const double *share,
                        real *dz, double *loss, int *wrong)
{
    weft_kernel_best()->lanes_softmax(c, z, label, share, dz, loss, wrong);
}
