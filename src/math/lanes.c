/* Small models side by side in the lanes of a vector; the loops are those of the table for
 * this CPU. Called by networks and by task fed. */
#include "kernel.h"

int weft_lanes(void)
{
    return weft_kernel_best()->lanes;
}

void weft_lanes_load(int64_t d, const float *const *row, real *x)
{
    weft_kernel_best()->lanes_load(d, row, x);
}

void weft_lanes_times(const weft_lanes_product *p)
{
    weft_kernel_best()->lanes_times(p);
}

void weft_lanes_step(const weft_sgd *s, const int *live, int64_t n, int first, real *w,
                     real *g, real *velocity, const real *anchor, double *norm)
{
    weft_kernel_best()->lanes_step(s, live, n, first, w, g, velocity, anchor, norm);
}

void weft_lanes_change(int64_t n, const real *w, const real *from, const double *most,
                       real *change, int *within)
{
    weft_kernel_best()->lanes_change(n, w, from, most, change, within);
}

void weft_lanes_add(int64_t n, const real *x, const real *weight, const int *use, int scale,
                    double *sum)
{
    weft_kernel_best()->lanes_add(n, x, weight, use, scale, sum);
}

void weft_lanes_softmax(int c, const real *z, const int32_t *label, const double *share,
                        real *dz, double *loss, int *wrong)
{
    weft_kernel_best()->lanes_softmax(c, z, label, share, dz, loss, wrong);
}
