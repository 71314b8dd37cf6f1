/* Landmarks of the Nystrom feature map and the kernel between them and rows. */
#include "nystrom.h"
#include "rff.h"
#include "weft/gemm.h"
#include "weft/logistic.h"

#include <math.h>
#include <string.h>

/* stat: m, shift[d], scale[d], z[m][d]. */
int64_t nystrom_reals(int64_t d, int64_t landmarks)
{
    return 1 + (2 + landmarks) * d;
}

/* Shift and scale of columns, mean and deviation as of random Fourier features. */
static void standardise(const nystrom_shared *shared, weft_part part, real *shift,
                        real *scale, weft_arena *tmp)
{
    int d = shared->d;
    rff_shared columns = {.data = shared->data, .d = d};
    real *own = WEFT_NEW(tmp, real, 4 * d);
    double raw = shared->data->form == WEFT_BYTES ? 1.0 / 255 : 1;
    rff_fit(&columns, part, own, tmp);
    memcpy(shift, own, (size_t)d * sizeof *shift);
    for (int k = 0; k < d; k++)
        scale[k] = (real)(own[d + k] > 0 ? 1 / (double)own[d + k] : raw);
}

/* Landmarks are all rows, or as many as are asked for, at equal distances. */
void nystrom_fit(const nystrom_shared *shared, weft_part part, int64_t landmarks,
                 real *stat, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    const weft_rows *rows = &shared->data->part[part];
    int d = shared->d;
    int64_t m = rows->total < landmarks ? rows->total : landmarks;
    double *z = WEFT_NEW(tmp, double, m *d);
    real *x = WEFT_NEW(tmp, real, d), *to = stat + 1 + 2 * d;
    memset(stat, 0, (size_t)nystrom_reals(d, landmarks) * sizeof *stat);
    stat[0] = (real)m;
    standardise(shared, part, stat + 1, stat + 1 + d, tmp);
    nystrom_basis view = {.d = d, .shift = stat + 1, .scale = stat + 1 + d};
    for (int64_t l = 0; l < m; l++) {
        int64_t i = l * rows->total / m - rows->first;
        if (i < 0 || i >= rows->n) continue;
        nystrom_rows(&view, rows, i, 1, x);
        for (int k = 0; k < d; k++) z[l * d + k] = (double)x[k];
    }
    weft_join_f64(shared->data->team, z, (size_t)(m * d));
    for (int64_t e = 0; e < m * d; e++) to[e] = (real)z[e];
    weft_arena_reset(tmp, mark);
}

/* An odd number of cache lines, so that rows do not share cache sets. */
size_t nystrom_apart(int64_t m)
{
    size_t line = 64 / sizeof(real);
    return (((size_t)m + line - 1) / line | 1) * line;
}

void nystrom_pack(int k, int m, const real *b, size_t ldb, void *mem)
{
    for (int j = 0; j < m; j += WEFT_WHOLE)
        weft_deep_pack(k, m, j, m - j < WEFT_WHOLE ? m - j : WEFT_WHOLE,
                       b + (size_t)j * ldb, ldb, mem);
}

nystrom_basis nystrom_basis_of(const nystrom_shared *shared, const real *stat,
                               weft_arena *mem)
{
    int d = shared->d;
    nystrom_basis basis = {.m = (int64_t)stat[0],
                           .d = d,
                           .shift = stat + 1,
                           .scale = stat + 1 + d,
                           .z = stat + 1 + 2 * d};
    int m = (int)basis.m;
    basis.ld = nystrom_apart(m);
    basis.length2 = WEFT_NEW(mem, double, m);
    basis.across = WEFT_NEW(mem, real, (size_t)m * d);
    basis.packed = weft_arena_alloc(mem, 1, weft_packed_bytes(d, m));
    for (int j = 0; j < m; j++)
        for (int k = 0; k < d; k++) {
            double x = (double)basis.z[(size_t)j * d + k];
            basis.length2[j] += x * x;
            basis.across[(size_t)k * m + j] = (real)x;
        }
    nystrom_pack(d, m, basis.z, (size_t)d, basis.packed);
    return basis;
}

void nystrom_rows(const nystrom_basis *basis, const weft_rows *rows, int64_t i, int n,
                  real *x)
{
    int d = basis->d;
    for (int64_t e = 0; e < (int64_t)n * d; e++) {
        int k = (int)(e % d);
        real value =
            rows->byte ? (real)rows->byte[i * d + e] : (real)rows->value[i * d + e];
        x[e] = (value - basis->shift[k]) * basis->scale[k];
    }
}

/* z[m] = -gamma |x - z_j|^2 of the first m landmarks, given the products x . z_j. */
static void gaussian(const nystrom_map *map, const nystrom_basis *basis, int64_t m,
                     const real *x, const real *product, real *z)
{
    double length2 = 0;
    for (int k = 0; k < basis->d; k++) length2 += (double)x[k] * (double)x[k];
    for (int64_t j = 0; j < m; j++) {
        double apart = length2 + basis->length2[j] - 2 * (double)product[j];
        z[j] = (real)(apart > 0 ? -map->gamma * apart : 0);
    }
}

/* z[m] = -gamma |x - z_j|_1. */
static void laplacian(const nystrom_map *map, const nystrom_basis *basis, int64_t m,
                      const real *x, real *z)
{
    enum { TILE = 1024 };
    for (int64_t j0 = 0; j0 < m; j0 += TILE) {
        int n = (int)(m - j0 < TILE ? m - j0 : TILE);
        memset(z + j0, 0, (size_t)n * sizeof *z);
        for (int k = 0; k < basis->d; k++) {
            const real *to = basis->across + (size_t)k * (size_t)basis->m + j0;
            real own = x[k];
            for (int j = 0; j < n; j++) {
                real apart = own - to[j];
                z[j0 + j] += apart < 0 ? -apart : apart;
            }
        }
        for (int j = 0; j < n; j++) z[j0 + j] *= (real)-map->gamma;
    }
}

/* k[m] of a row, given its products with the landmarks; z[m + 1] is scratch. */
static void kernel_row(const nystrom_map *map, const nystrom_basis *basis, int64_t m,
                       const real *x, const real *product, real *z, real *k)
{
    double top, sum;
    if (map->kernel == NYSTROM_GAUSSIAN)
        gaussian(map, basis, m, x, product, z);
    else
        laplacian(map, basis, m, x, z);
    z[m] = 0; /* the largest, so that z is not shifted */
    weft_softmax_many((int)m + 1, z, z, &top, &sum);
    for (int64_t j = 0; j < m; j++)
        k[j] = map->linear ? z[j] + product[j] / (real)basis->d : z[j];
}

void nystrom_kernel(const nystrom_map *map, const nystrom_basis *basis, int n,
                    const real *x, int64_t first, real *to, size_t ld, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp), d = (size_t)basis->d, m = (size_t)basis->m;
    int products = map->kernel == NYSTROM_GAUSSIAN || map->linear;
    real *product = WEFT_NEW(tmp, real, WEFT_BLOCK * m), *z = WEFT_NEW(tmp, real, m + 1);
    for (int r = 0; r < n; r += WEFT_BLOCK) {
        int rows = n - r < WEFT_BLOCK ? n - r : WEFT_BLOCK;
        int64_t need = first < 0 ? basis->m : first + r + rows;
        if (products)
            weft_deep_times(rows, x + (size_t)r * d, d, basis->d, (int)m, basis->packed,
                            product, m);
        for (int i = 0; i < rows; i++)
            kernel_row(map, basis, need, x + (size_t)(r + i) * d, product + (size_t)i * m,
                       z, to + (size_t)(r + i) * ld);
    }
    weft_arena_reset(tmp, mark);
}
