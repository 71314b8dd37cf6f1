/* Public functions that call the loops chosen for the CPU. */
#include "kernel.h"
#include "weft/bytes.h"
#include "weft/logistic.h"
#include "weft/project.h"

void weft_cos_u8_i32(int n, const int32_t *x, double scale, const float *offset, uint8_t *q)
{
    weft_kernel_best()->cos_i32(n, x, scale, offset, q);
}

void weft_cos_u8_f32(int n, const float *x, double scale, const float *offset, uint8_t *q)
{
    weft_kernel_best()->cos_f32(n, x, scale, offset, q);
}

void weft_u8_times(int n, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                   size_t ldw, real *z, size_t ldz)
{
    weft_kernel_best()->times(n, d, q, ldq, c, w, ldw, z, ldz);
}

void weft_u8_trans(int n, int d, const uint8_t *q, size_t ldq, int c, const real *z,
                   size_t ldz, real *g, size_t ldg)
{
    weft_kernel_best()->trans(n, d, q, ldq, c, z, ldz, g, ldg);
}

void weft_fwht(int n, float *x)
{
    weft_kernel_best()->fwht(n, x);
}

void weft_gather16(int n, const uint32_t *at, const float *value, const float *x,
                   float *sum)
{
    weft_kernel_best()->gather16(n, at, value, x, sum);
}

void weft_add_rows(int n, const uint32_t *at, const real *value, int d, const real *x,
                   size_t ldx, real *sum)
{
    weft_kernel_best()->add_rows(n, at, value, d, x, ldx, sum);
}

void weft_logistic_best(int n, double c, double q, const double *m, double *a,
                        double *share)
{
    weft_kernel_best()->logistic_best(n, c, q, m, a, share);
}

void weft_logistic_terms(int n, double c, const double *m, const double *a, double *conj,
                         double *loss)
{
    weft_kernel_best()->logistic_terms(n, c, m, a, conj, loss);
}

double weft_softmax_terms(int c, const real *z, double top, real *e, double *sum)
{
    return weft_kernel_best()->softmax(c, z, top, e, sum);
}

double weft_softmax_many(int c, const real *z, real *e, double *top, double *sum)
{
    return weft_kernel_best()->softmax_many(c, z, e, top, sum);
}

void weft_cells_forward(const weft_cells *cells, const real *const *plus)
{
    weft_kernel_best()->cell(cells, plus);
}

void weft_cells_backward(const weft_cells *cells, const real *dy, real *dc,
                         real *const *into)
{
    weft_kernel_best()->cell_back(cells, dy, dc, into);
}

void weft_tanh(int n, real *x)
{
    weft_kernel_best()->tanh_of(n, x);
}
