/* Matrix products and LSTM cells against plain loops, at odd sizes.
 * RUN: np=1 */
#include "weft/math/kernels.h"

#include "tap.h"

/* ---- products of reals ---- */

/* Half a unit for each of k sums, which stay below 8. */
static double rounding(int k)
{
    return (sizeof(real) == 4 ? 6e-8 : 1.1e-16) * (k + 8) / 2;
}

static void test_panels(int n, int k, int m, int trans)
{
    size_t lda = (size_t)k + 3, ldb = (size_t)(trans ? k : m) + 1;
    size_t ldc = (size_t)m + 2;
    const real *a = random_reals(n * lda, 31);
    const real *b = random_reals((size_t)(trans ? m : k) * ldb, 32);
    const real *c0 = random_reals(n * ldc, 33);
    real *c = random_reals(n * ldc, 33), *row = WEFT_NEW(mem, real, m);
    weft_packed packed;
    weft_packed_pack(&packed, k, m, b, ldb, trans,
                     weft_arena_alloc(mem, 1, weft_packed_bytes(k, m)));
    weft_packed_times(n, a, lda, &packed, 1, c, ldc);
    double worst = 0;
    int beyond = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            double sum = (double)c0[i * ldc + j];
            for (int e = 0; e < k; e++)
                sum +=
                    (double)a[i * lda + e] * (double)b[trans ? j * ldb + e : e * ldb + j];
            worst = worse(worst, fabs(sum - (double)c[i * ldc + j]));
        }
        for (size_t j = (size_t)m; j < ldc; j++)
            beyond += c[i * ldc + j] != c0[i * ldc + j];
    }
    is_near(worst, 0, rounding(k), "panels %d x %d x %d, trans %d", n, k, m, trans);
    ok(beyond == 0, "and nothing beyond");
    weft_packed_times(n, a, lda, &packed, 0, c, ldc);
    weft_packed_times(1, a + (n - 1) * lda, lda, &packed, 0, row, ldc);
    ok(memcmp(row, c + (n - 1) * ldc, (size_t)m * sizeof *row) == 0,
       "a row of the product depends on that row alone");
}

static void test_outer(int n, int k, int m, int add)
{
    size_t lda = (size_t)k + 3, ldb = (size_t)m + 1, ldg = (size_t)m + 2;
    const real *a = random_reals(n * lda, 34), *b = random_reals(n * ldb, 35);
    real *g = random_reals(k * ldg, 36);
    const real *g0 = random_reals(k * ldg, 36);
    weft_outer(n, k, a, lda, m, b, ldb, add, g, ldg, mem);
    double worst = 0;
    int beyond = 0;
    for (int i = 0; i < k; i++) {
        for (int j = 0; j < m; j++) {
            double sum = add ? (double)g0[i * ldg + j] : 0;
            for (int e = 0; e < n; e++)
                sum += (double)a[e * lda + i] * (double)b[e * ldb + j];
            worst = worse(worst, fabs(sum - (double)g[i * ldg + j]));
        }
        for (size_t j = (size_t)m; j < ldg; j++)
            beyond += g[i * ldg + j] != g0[i * ldg + j];
    }
    is_near(worst, 0, rounding(n), "outer %d x %d x %d, add %d", n, k, m, add);
    ok(beyond == 0, "and nothing beyond");
}

/* ---- cells of an LSTM ---- */

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* How much x is off, relative to what it should be, where a float can hold that. */
static double off(real x, double expected)
{
    return fabs(expected) < 1e-30 ? 0 : fabs((double)x - expected) / fabs(expected);
}

/* Arguments from 1e-4 to 60, either sign; c = 0 + i g keeps the digits of both. */
static void test_cells(int h)
{
    size_t ldz = 4 * (size_t)h + 3;
    double tolerance = sizeof(real) == 4 ? 4e-7 : 1e-15;
    real *z = WEFT_NEW(mem, real, ldz), *zero = WEFT_NEW(mem, real, 4 * h);
    real *x = WEFT_NEW(mem, real, 4 * h), *c = WEFT_NEW(mem, real, h + 1);
    real *y = WEFT_NEW(mem, real, h + 1);
    for (int j = 0; j < 4 * h; j++) {
        x[j] = (real)((random_bits((uint64_t)j) & 1 ? 1 : -1) *
                      pow(10, 5.778 * weft_rng_unit(random_bits(900 + (uint64_t)j)) - 4));
        z[j] = x[j];
    }
    const real *plus[] = {zero};
    c[h] = y[h] = z[4 * h] = 7;
    weft_cells cells = {
        .n = 1, .h = h, .z = z, .ldz = ldz, .c = c, .y = y, .ld = (size_t)h + 1};
    weft_cells_forward(&cells, plus);
    double worst = 0;
    for (int j = 0; j < h; j++) {
        double i = sigmoid((double)x[j]), g = tanh((double)x[2 * h + j]);
        double o = sigmoid((double)x[3 * h + j]);
        worst = worse(worst, off(z[j], i));
        worst = worse(worst, off(z[h + j], sigmoid((double)x[h + j])));
        worst = worse(worst, off(z[2 * h + j], g));
        worst = worse(worst, off(z[3 * h + j], o));
        worst = worse(worst, off(c[j], i * g) / 3);
        worst = worse(worst, off(y[j], o * tanh(i * g)) / 5);
    }
    is_near(worst, 0, tolerance, "cells of %d units keep their digits", h);
    ok(c[h] == 7 && y[h] == 7 && z[4 * h] == 7, "and write nothing beyond");
}

/* Backward against the formulas, two samples that are added to one row. */
static void test_cells_back(int h)
{
    size_t ld = (size_t)h + 1, ldz = 4 * (size_t)h + 3;
    real *z = random_reals(2 * ldz, 41), *before = random_reals(2 * ld, 42);
    real *c = WEFT_NEW(mem, real, 2 * ld), *y = WEFT_NEW(mem, real, 2 * ld);
    real *dy = random_reals(2 * ld, 43), *dc = random_reals(2 * ld, 44);
    const real *dc0 = random_reals(2 * ld, 44), *x = random_reals(4 * h, 45);
    const real *plus[] = {x, x};
    real *sum = WEFT_NEW(mem, real, 4 * h), *into[] = {sum, sum};
    weft_cells cells = {2, h, z, ldz, before, c, y, ld};
    weft_cells_forward(&cells, plus);
    real *gate = WEFT_NEW(mem, real, 2 * ldz);
    memcpy(gate, z, 2 * ldz * sizeof *z);
    weft_cells_backward(&cells, dy, dc, into);
    double worst = 0;
    for (int r = 0; r < 2; r++)
        for (int j = 0; j < h; j++) {
            size_t at = r * ld + j;
            double i = (double)gate[r * ldz + j], f = (double)gate[r * ldz + h + j];
            double u = (double)gate[r * ldz + 2 * h + j];
            double o = (double)gate[r * ldz + 3 * h + j];
            double top = tanh(i * u + f * (double)before[at]);
            double d = (double)dc0[at] + (double)dy[at] * o * (1 - top * top);
            const double dz[] = {d * u * i * (1 - i), d * (double)before[at] * f * (1 - f),
                                 d * i * (1 - u * u), (double)dy[at] * top * o * (1 - o)};
            worst = worse(worst, fabs((double)y[at] - o * top));
            worst = worse(worst, fabs((double)dc[at] - d * f));
            for (int g = 0; g < 4; g++) {
                double both = (double)z[g * h + j] + (double)z[ldz + g * h + j];
                worst = worse(worst, fabs((double)z[r * ldz + g * h + j] - dz[g]));
                worst = worse(worst, fabs((double)sum[g * h + j] - both));
            }
        }
    is_near(worst, 0, sizeof(real) == 4 ? 4e-7 : 1e-15, "gradients of %d cells", h);
}

static void test_extremes(void)
{
    const real value[] = {(real)INFINITY, (real)-INFINITY, (real)NAN, (real)1000,
                          (real)-1000};
    int wrong = 0;
    for (int v = 0; v < 5; v++) {
        real z[4] = {1, 1, 1, 1}, c, y;
        const real zero[4] = {0}, *plus[] = {zero};
        z[v == 2 ? 3 : 2] = value[v];
        weft_cells cells = {1, 1, z, 4, NULL, &c, &y, 1};
        weft_cells_forward(&cells, plus);
        double sign = value[v] > 0 ? 1 : -1;
        wrong += v == 2 ? !isnan(y) : fabs((double)c - sign * sigmoid(1)) > 1e-6;
    }
    ok(wrong == 0, "cells saturate, and pass on what is no number");
}

int main(void)
{
    tap_begin();
    note("kernel %s", weft_cpu_kernel());
    static const int size[][3] = {{1, 1, 1},      {3, 7, 5},     {14, 64, 32}, {29, 33, 50},
                                  {10, 100, 400}, {130, 40, 81}, {64, 200, 16}};
    for (int i = 0; i < 7; i++) {
        for (int trans = 0; trans < 2; trans++)
            test_panels(size[i][0], size[i][1], size[i][2], trans);
        test_outer(size[i][0], size[i][1], size[i][2], 0);
        test_outer(size[i][0], size[i][1], size[i][2], 1);
    }
    test_outer(500, 15, 47, 0);
    test_outer(500, 15, 47, 1);
    for (int h = 1; h < 60; h += 1 + h / 3) test_cells(h);
    test_cells(4000);
    for (int h = 1; h < 60; h += 1 + h / 2) test_cells_back(h);
    test_extremes();
    return tap_end();
}
