/* Block vectors of ridge regression: sums over columns against plain loops, orthonormal
 * bases of vectors that nearly or wholly depend on each other, the same bits on any number
 * of ranks, whether ranks deal columns out or not. RUN: np=1 np=2 np=3 np=4 */
#include "model/ridge.h"

#include "tap.h"

enum { C = 9, DEALT = 17000, SMALL = 1500 };

static double normal(int j, int64_t k)
{
    return normal_of(3, j, k, 0);
}

static double *block_new(int64_t d)
{
    double *z = WEFT_NEW(mem, double, C *d);
    for (int j = 0; j < C; j++)
        for (int64_t k = 0; k < d; k++) z[j * d + k] = normal(j, k);
    return z;
}

static double dot(int64_t d, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t k = 0; k < d; k++) sum += a[k] * b[k];
    return sum;
}

static void test_sums(int64_t d)
{
    block_space space = block_space_new(&world, d, mem);
    ok(space.dealt == (world.size > 1 && d == DEALT), "%d columns are %sdealt out", (int)d,
       space.dealt ? "" : "not ");
    double *a = block_new(d), *b = a + 3 * d, g[10], worst = 0, last = 0;
    block_sums sums = block_sums_new(&space, 10);
    block_inner(&space, &sums, 0, 3, a, 2, b);
    block_classes(&space, &sums, 6, 3, a, b);
    block_total(&space, &sums, g);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 2; j++)
            worst = worse(worst, fabs(g[i * 2 + j] - dot(d, a + i * d, b + j * d)));
        worst = worse(worst, fabs(g[6 + i] - dot(d, a + i * d, b + i * d)));
        for (int j = 0; j < 3; j++) last += dot(d, a + i * d, b + j * d);
    }
    ok(worst < 1e-9 && fabs(g[9] - last) < 1e-9, "sums over columns are those of a loop");
    digest(weft_hash(g, sizeof g, 0));
    double *y = WEFT_NEW(mem, double, 2 * d);
    block_combine(&space, 3, -1, g, a, 2, y);
    block_share(&space, 2, y);
    worst = 0;
    for (int64_t k = 0; k < d; k++)
        for (int j = 0; j < 2; j++)
            worst = worse(worst, fabs(y[j * d + k] + g[j] * a[k] + g[2 + j] * a[d + k] +
                                      g[4 + j] * a[2 * d + k]));
    ok(worst < 1e-9, "combinations of all columns reach all ranks");
    digest(weft_hash(y, (size_t)(2 * d) * sizeof *y, 0));
}

/* The basis of z, whose number is known, against z itself. */
static void check_basis(int64_t d, double *z, int expect, const char *what)
{
    block_space space = block_space_new(&world, d, mem);
    double *used = WEFT_NEW(mem, double, C *d), *p = WEFT_NEW(mem, double, C *d);
    double *left = WEFT_NEW(mem, double, d);
    real *rounded = WEFT_NEW(mem, real, C * d);
    memcpy(used, z, (size_t)(C * d) * sizeof *used);
    int n = block_basis(&space, C, used, p, rounded);
    block_share(&space, n, p);
    double slant = 0, missed = 0, other = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            slant = worse(slant, fabs(dot(d, p + i * d, p + j * d) - (i == j)));
    for (int64_t e = 0; e < n * d; e++)
        other = worse(other, fabs(p[e] - (double)rounded[e]));
    for (int i = 0; i < C; i++) {
        double length = sqrt(dot(d, z + i * d, z + i * d));
        if (!(length > 0) || !isfinite(length)) continue;
        for (int64_t k = 0; k < d; k++) left[k] = z[i * d + k] / length;
        for (int twice = 0; twice < 2; twice++)
            for (int j = 0; j < n; j++) {
                double along = dot(d, p + j * d, left);
                for (int64_t k = 0; k < d; k++) left[k] -= along * p[j * d + k];
            }
        missed = worse(missed, sqrt(dot(d, left, left)));
    }
    ok(n == expect && slant < 5e-7 && missed < 2e-6 && other <= 0,
       "%s: %d directions, orthonormal to %.0e, that span the vectors to %.0e", what, n,
       slant, missed);
    digest(weft_hash(rounded, (size_t)(n * d) * sizeof *rounded, 0));
}

/* Each vector but the first is the one before it and a share of another. */
static double *chain(int64_t d, double share)
{
    double *z = block_new(d);
    for (int j = 1; j < C; j++)
        for (int64_t k = 0; k < d; k++)
            z[j * d + k] = z[(j - 1) * d + k] + share * z[j * d + k];
    return z;
}

static void test_basis(int64_t d)
{
    check_basis(d, block_new(d), C, "independent vectors");
    check_basis(d, chain(d, 1e-2), C, "a chain of vectors 1e-2 apart");
    check_basis(d, chain(d, 1e-5), C, "a chain of vectors 1e-5 apart");
    check_basis(d, chain(d, 1e-8), 1, "vectors that differ by rounding of reals");
    double *z = block_new(d);
    for (int j = 0; j < C; j++)
        for (int64_t k = 0; k < d; k++) z[j * d + k] *= pow(10, 30 * (j - 4));
    check_basis(d, z, C, "vectors of lengths from 1e-120 to 1e120");
    z = block_new(d);
    for (int64_t k = 0; k < d; k++) {
        z[d + k] = 0;
        z[3 * d + k] = -2 * z[k];
        z[4 * d + k] = z[k] + z[2 * d + k];
        z[5 * d + k] = z[8 * d + k] + 3e-6 * z[5 * d + k];
    }
    check_basis(d, z, C - 3, "a zero, a multiple, a sum and one 3e-6 from another");
    z = block_new(d);
    z[4 * d + d / 2] = NAN;
    check_basis(d, z, C - 1, "one that is not finite");
    for (int j = 0; j < C; j++)
        for (int64_t k = 0; k < d; k++) z[j * d + k] = j == 4 ? NAN : 0;
    check_basis(d, z, 0, "zeros and NAN");
}

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    const int64_t size[] = {SMALL, DEALT};
    for (int i = 0; i < 2; i++) {
        test_sums(size[i]);
        test_basis(size[i]);
    }
    return tap_end();
}
