/* Numerical kernels against plain loops and closed forms, at odd sizes. RUN: np=1 */
#include "weft/math/kernels.h"
#include "weft/math/linear.h"
#include "weft/math/optim.h"

#include "tap.h"

static uint8_t *random_bytes(size_t n, uint64_t key)
{
    uint8_t *q = WEFT_NEW(mem, uint8_t, n);
    for (size_t i = 0; i < n; i++) q[i] = (uint8_t)random_bits(key << 32 | i);
    return q;
}

/* ---- sums ---- */

static void test_fix(void)
{
    double x[1000];
    double bound = 0;
    for (int i = 0; i < 1000; i++) {
        x[i] = ldexp(weft_rng_unit(random_bits((uint64_t)i)) - 0.5, i % 40 - 20);
        bound += fabs(x[i]);
    }
    int scale = weft_fix_scale(bound);
    int64_t up = 0, down = 0;
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        up += weft_fix(x[i], scale);
        down += weft_fix(x[999 - i], scale);
        sum += x[i];
    }
    ok(up == down, "fixed sums do not depend on their order");
    is_near(weft_unfix(up, scale), sum, 1000 * ldexp(bound, -61), "fixed sums are sums");
    ok(weft_fix_scale(0) == 0, "a bound of zero has scale zero");
    ok(weft_fix(2.4, 0) == 2 && weft_fix(2.6, 0) == 3 && weft_fix(-2.6, 0) == -3 &&
           weft_fix(-2.4, 0) == -2 && weft_fix(0.7, 1) == 1 && weft_fix(0.8, 1) == 2,
       "a number becomes the nearest multiple of the unit");
}

static void test_exact(void)
{
    enum { N = 37, TIMES = 500 };
    double up[N] = {0}, down[N] = {0}, sum[N] = {0};
    int scale = weft_exact_scale(0.5 * TIMES);
    for (uint64_t t = 0; t < TIMES; t++) {
        weft_exact_add(N, random_reals(N, 100 + t), scale, up);
        weft_exact_add(N, random_reals(N, 99 + TIMES - t), scale, down);
        const real *x = random_reals(N, 100 + t);
        for (int i = 0; i < N; i++) sum[i] += (double)x[i];
    }
    double worst = 0;
    for (int i = 0; i < N; i++) worst = worse(worst, fabs(ldexp(up[i], -scale) - sum[i]));
    ok(memcmp(up, down, sizeof up) == 0, "exact sums do not depend on their order");
    is_near(worst, 0, TIMES * ldexp(1, -scale), "exact sums are sums");
    const real x[] = {2.4F, 2.6F, -2.4F, -2.6F};
    double whole[4] = {0};
    weft_exact_add(4, x, 0, whole);
    ok(whole[0] == 2 && whole[1] == 3 && whole[2] == -2 && whole[3] == -3,
       "of numbers rounded to the nearest multiple of the unit");
}

/* ---- products of integers ---- */

static void test_u8s8(int n, int k, int m)
{
    int lda = k + 3, ldc = m + 5;
    size_t ldb = (size_t)k + 1;
    uint8_t *a = random_bytes((size_t)n * lda, 11);
    memset(a, 255, (size_t)k); /* the largest sums */
    int8_t *b = WEFT_NEW(mem, int8_t, (size_t)m * ldb);
    int32_t *start = WEFT_NEW(mem, int32_t, m),
            *c = WEFT_NEW(mem, int32_t, (size_t)n * ldc);
    for (int j = 0; j < m; j++) {
        start[j] = (int32_t)(random_bits((uint64_t)j) & 0xffff) - 1000;
        for (int i = 0; i < k; i++)
            b[j * ldb + i] =
                (int8_t)(j == 0 ? WEFT_S8_MAX
                                : (int)(random_bits((uint64_t)(j * k + i)) % 33) - 16);
    }
    weft_s8 packed;
    weft_s8_pack(&packed, k, m, b, ldb, start,
                 weft_arena_alloc(mem, 1, weft_s8_bytes(k, m)));
    weft_u8s8(n, a, lda, &packed, c, ldc);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            int32_t sum = start[j];
            for (int l = 0; l < k; l++) sum += a[i * lda + l] * b[j * ldb + l];
            wrong += sum != c[i * ldc + j];
        }
        for (int j = m; j < ldc; j++) wrong += c[i * ldc + j] != 0;
    }
    ok(wrong == 0, "bytes times small integers are exact: %d x %d x %d", n, k, m);
}

static void test_gram(int n, int along, int m, int p)
{
    int columns = m + p + 7, rows = n > columns ? n : columns;
    size_t ld = (size_t)(along ? n + 2 : columns), ldg = (size_t)p + 3;
    size_t step = along ? 1 : ld, next = along ? ld : 1;
    const uint8_t *q = random_bytes((size_t)rows * (ld + 1), 12), *b = q + 3 * next;
    int32_t *g = WEFT_NEW(mem, int32_t, (size_t)m * ldg);
    g[0] = 5;
    weft_u8_gram(n, along, m, q, ld, p, b, ld, g, ldg, mem);
    g[0] -= 5;
    int wrong = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < p; j++) {
            int32_t sum = 0;
            for (int l = 0; l < n; l++)
                sum += (q[l * step + i * next] - 128) * (b[l * step + j * next] - 128);
            wrong += sum != g[i * ldg + j];
        }
    ok(wrong == 0, "Gram matrices are exact: n %d, %d x %d, along %d", n, m, p, along);
}

/* ---- narrow products ---- */

static void test_narrow(int n, int d, int c)
{
    size_t ldq = (size_t)d + 9, ldw = (size_t)d + 1, ldz = (size_t)n + 2;
    const uint8_t *q = random_bytes((size_t)n * ldq, 13);
    const real *w = random_reals((size_t)c * ldw, 14);
    real *z = WEFT_NEW(mem, real, c * ldz), *g = random_reals((size_t)c * ldw, 15);
    const real *g0 = random_reals((size_t)c * ldw, 15);
    weft_u8_times(n, d, q, ldq, c, w, ldw, z, ldz);
    weft_u8_trans(n, d, q, ldq, c, z, ldz, g, ldw);
    /* rounding of a sum of k products of random sign: 4 sqrt(k) units of its size */
    double unit = sizeof(real) == 4 ? 6e-8 : 1.1e-16;
    double worst_z = 0, worst_g = 0, most = 0;
    for (int j = 0; j < c; j++)
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int k = 0; k < d; k++)
                sum += (q[i * ldq + k] - 128) * (double)w[j * ldw + k];
            worst_z = worse(worst_z, fabs(sum - (double)z[j * ldz + i]));
            most = worse(most, fabs((double)z[j * ldz + i]));
        }
    for (int j = 0; j < c; j++)
        for (int k = 0; k < d; k++) {
            double sum = (double)g0[j * ldw + k];
            for (int i = 0; i < n; i++)
                sum += (q[i * ldq + k] - 128) * (double)z[j * ldz + i];
            worst_g = worse(worst_g, fabs(sum - (double)g[j * ldw + k]));
        }
    is_near(worst_z, 0, 4 * unit * 64 * d, "times is F w: %d x %d, %d classes", n, d, c);
    is_near(worst_g, 0, 4 * unit * 128 * most * n, "trans is F^T z: %d x %d, %d classes", n,
            d, c);
    real *alone = WEFT_NEW(mem, real, c);
    int same = 1;
    for (int i = 0; i < n; i++) {
        weft_u8_times(1, d, q + i * ldq, ldq, c, w, ldw, alone, 1);
        for (int j = 0; j < c; j++) same &= alone[j] == z[j * ldz + i];
    }
    ok(same, "a row of times depends on that row alone: %d x %d, %d classes", n, d, c);
}

/* ---- cosines and transforms ---- */

/* Largest distance of q from 128 + 127 cos(2 pi (scale x + offset)). */
static double cosine_error(int n, double scale, int is_int)
{
    double pi = acos(-1);
    int32_t *xi = WEFT_NEW(mem, int32_t, n);
    float *xf = WEFT_NEW(mem, float, n), *offset = WEFT_NEW(mem, float, n);
    uint8_t *q = WEFT_NEW(mem, uint8_t, n + 1);
    q[n] = 77;
    for (int i = 0; i < n; i++) {
        xi[i] = (int32_t)(random_bits((uint64_t)i) >> 40) - (1 << 23);
        xf[i] = (float)xi[i] / 7;
        offset[i] = (float)weft_rng_unit(random_bits((uint64_t)(n + i)));
    }
    if (is_int)
        weft_cos_u8_i32(n, xi, scale, offset, q);
    else
        weft_cos_u8_f32(n, xf, scale, offset, q);
    double worst = q[n] == 77 ? 0 : INFINITY;
    for (int i = 0; i < n; i++) {
        double turns = (is_int ? xi[i] : (double)xf[i]) * scale + (double)offset[i];
        double exact = 128 + 127 * cos(2 * pi * (turns - rint(turns)));
        worst = worse(worst, fabs(q[i] - exact));
    }
    return worst;
}

static void test_cosine(void)
{
    const double scale[] = {1e-9, 1.234e-6, 0.9e-4, 1.1e-3};
    for (int s = 0; s < 4; s++) /* |scale x| up to 9228 */
        for (int is_int = 0; is_int < 2; is_int++)
            is_near(cosine_error(10007, scale[s], is_int), 0, 0.5 + 127 * 2e-6,
                    "cosines are rounded to nearest: scale %g, %s", scale[s],
                    is_int ? "integers" : "floats");
}

static void test_fwht(int n)
{
    float *x = WEFT_NEW(mem, float, n), *y = WEFT_NEW(mem, float, n);
    for (int i = 0; i < n; i++) x[i] = y[i] = (float)(int)(random_bits((uint64_t)i) & 255);
    weft_fwht(n, y);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        float sum = 0; /* whole numbers below 2^24: exact */
        for (int j = 0; j < n; j++)
            sum += __builtin_parity((unsigned)(i & j)) ? -x[j] : x[j];
        wrong += sum != y[i];
    }
    ok(wrong == 0, "the Walsh-Hadamard transform of %d numbers is its matrix's product", n);
}

static void test_gather(void)
{
    const real *x = random_reals(50 * 16, 16);
    float table[50 * 16], value[200], sum[16], expect[16];
    uint32_t at[200];
    for (int i = 0; i < 50 * 16; i++) table[i] = (float)x[i];
    for (int l = 0; l < 16; l++) sum[l] = expect[l] = (float)l;
    for (int e = 0; e < 200; e++) {
        at[e] = (uint32_t)(random_bits((uint64_t)e) % 50);
        value[e] = (float)(e % 7) - 3;
        for (int l = 0; l < 16; l++)
            expect[l] += value[e] * table[at[e] * 16 + (uint32_t)l];
    }
    weft_gather16(200, at, value, table, sum);
    double worst = 0;
    for (int l = 0; l < 16; l++)
        worst = worse(worst, fabs((double)sum[l] - (double)expect[l]));
    is_near(worst, 0, 200 * 1.5 * 1.2e-7 * 16, "sixteen rows gather what each would alone");
}

/* Columns in any number: whole strips, single vectors, what is left. */
static void test_add_rows(int d)
{
    enum { N = 200, ROWS = 50, LD = 151 };
    const real *x = random_reals(ROWS * LD, 17), *value = random_reals(N, 18);
    real sum[LD];
    double expect[LD], worst = 0;
    uint32_t at[N];
    for (int j = 0; j < LD; j++) expect[j] = (double)(sum[j] = (real)j);
    for (int e = 0; e < N; e++) at[e] = (uint32_t)(random_bits((uint64_t)e) % ROWS);
    for (int e = 0; e < N; e++)
        for (int j = 0; j < d; j++)
            expect[j] += (double)value[e] * (double)x[at[e] * LD + (uint32_t)j];
    weft_add_rows(N, at, value, d, x, LD, sum);
    for (int j = 0; j < LD; j++) worst = worse(worst, fabs((double)sum[j] - expect[j]));
    is_near(worst, 0, N * (LD + 20) * (sizeof(real) == 4 ? 0x1p-24 : 0x1p-53),
            "%d columns of rows are added, the others stay", d);
}

static long double odds(long double t, long double c)
{
    return logl(t / (c - t));
}

/* By bisection on the derivative, which increases. */
static double best_dual(double c, double q, double m, double a)
{
    long double lo = 1e-14L * c, hi = c - lo, t = 0;
    for (int k = 0; k < 300; k++) {
        t = (lo + hi) / 2;
        if (q * (t - a) + m + odds(t, c) > 0)
            hi = t;
        else
            lo = t;
    }
    return (double)t;
}

/* To 8 digits, or to 3e-16 c, to which c - t is rounded. Rows of any length, margins of any
 * size, dual variables at the ends and within: the best ones, and the row's part of the gap
 * where it is small. */
static void test_dual(double c)
{
    enum { N = 16 };
    const double lengths[] = {0, 1e-6, 0.1, 1, 30, 1e3, 1e6};
    double worst = 0, off = 0;
    for (int l = 0; l < 7; l++) {
        for (int e = 0; e < 400; e++) {
            double q = lengths[l] / c, m[N], a[N], best[N], share[N];
            for (int k = 0; k < N; k++) {
                uint64_t r = random_bits((uint64_t)(e * N + k));
                double p = exp(-(double)(r % 997) / 30);
                m[k] = ((double)(r / 997 % 4001) - 2000) / (k % 4 ? 100 : 5);
                a[k] = k % 3 ? c * (k % 2 ? p / 2 : 1 - p / 2) : 0;
                if (k == N - 1) a[k] = c / (1 + exp(m[k] + 1e-3));
            }
            memcpy(best, a, sizeof a);
            weft_logistic_best(N, c, q, m, best, share);
            for (int k = 0; k < N; k++) {
                double t = best_dual(c, q, m[k], a[k]), near = t < c / 2 ? t : c - t;
                worst = worse(worst, fabs(best[k] - t) / (near + 1e-8 * c));
            }
            double conj[N], loss[N];
            weft_logistic_terms(N, c, m, a, conj, loss);
            double part = loss[N - 1] + conj[N - 1] + a[N - 1] * m[N - 1];
            if (fabs(m[N - 1]) < 5) off = worse(off, fabs(share[N - 1] / part - 1));
        }
    }
    ok(worst < 3e-8, "C = %g: the best dual variables (%.1e)", c, worst);
    ok(off < 1e-3, "C = %g: the part of the gap (%.1e)", c, off);
}

/* A sparse row against vectors side by side: each number is a sum in the order of entries.
 */
static void test_sparse(void)
{
    enum { D = 90, N = 70 };
    uint32_t column[N];
    float value[N];
    const int64_t first[] = {0, 3, N};
    weft_sparse x = {.n = 2, .first = first, .column = column, .value = value};
    int same = 1;
    for (int e = 0; e < N; e++) {
        column[e] = (uint32_t)(e * 37 % D);
        value[e] = (float)(random_bits((uint64_t)e) % 2001) / 777 - 1;
    }
    for (int wide = 4; wide <= WEFT_SPARSE_WIDE; wide += 4) {
        real w[D * WEFT_SPARSE_WIDE], scale[WEFT_SPARSE_WIDE];
        double z[WEFT_SPARSE_WIDE];
        for (int i = 0; i < D * wide; i++)
            w[i] = (real)(random_bits((uint64_t)i) % 999) / 333;
        for (int k = 0; k < wide; k++) scale[k] = (real)(k - 7) / 3;
        weft_sparse_dots(&x, 1, wide, w, z);
        for (int k = 0; k < wide; k++) {
            real sum = 0;
            for (int e = 3; e < N; e++)
                sum += w[column[e] * (uint32_t)wide + (uint32_t)k] * (real)value[e];
            same &= !(fabs((double)sum - z[k]) > 0);
        }
        real after[D * WEFT_SPARSE_WIDE];
        memcpy(after, w, sizeof after);
        weft_sparse_adds(&x, 1, wide, scale, after);
        for (int e = 3; e < N; e++)
            for (int k = 0; k < wide; k++)
                w[column[e] * (uint32_t)wide + (uint32_t)k] += scale[k] * (real)value[e];
        same &= memcmp(after, w, (size_t)(D * wide) * sizeof *w) == 0;
    }
    ok(same, "a sparse row times, and added to, 4 to 32 vectors side by side");
}

/* The terms of the gap, and that lanes do not depend on their company. */
static void test_terms(double c)
{
    enum { N = 8 };
    double worst = 0;
    int same = 1;
    for (int e = 0; e < 2000; e++) {
        double m[N], a[N], conj[N], loss[N], best[N], share[N];
        for (int k = 0; k < N; k++) {
            uint64_t r = random_bits((uint64_t)(e * N + k));
            m[k] = ((double)(r % 4001) - 2000) / (k % 4 ? 100 : 2);
            a[k] = k % 3 ? c * (double)(r / 4001 % 1000) / 999 : 0;
        }
        weft_logistic_terms(N, c, m, a, conj, loss);
        for (int k = 0; k < N; k++) {
            long double t = fmaxl(1e-14L * c, fminl(a[k], c - 1e-14L * c)), p = t / c;
            double conjugate = (double)(t * logl(p) + (c - t) * log1pl(-p));
            double l =
                (double)(c * (m[k] > 0 ? log1pl(expl(-m[k])) : log1pl(expl(m[k])) - m[k]));
            worst = worse(worst, fabs(conj[k] - conjugate) / c);
            worst = worse(worst, fabs(loss[k] - l) / (c * (1 + fabs(m[k]))));
        }
        memcpy(best, a, sizeof a);
        weft_logistic_best(N, c, 2 / c, m, best, share);
        for (int k = 0; k < N; k++) {
            double mk[N] = {m[k]}, ak[N] = {a[k]}, own[N];
            weft_logistic_best(N, c, 2 / c, mk, ak, own);
            same &= memcmp(ak, best + k, sizeof *ak) == 0;
            same &= memcmp(own, share + k, sizeof *own) == 0;
        }
    }
    ok(worst < 1e-15, "C = %g: the conjugate and the loss (%.1e)", c, worst);
    ok(same, "C = %g: an output's dual variable does not depend on the others", c);
}

/* A row by any number of rows, columns in any blocks. */
static void test_deep(int n, int m, int k)
{
    size_t lda = (size_t)k + 5, ldb = (size_t)k + 1, ldc = (size_t)m + 2;
    const real *a = random_reals(n * lda, 17), *b = random_reals(m * ldb, 18);
    real *c = WEFT_NEW(mem, real, n * ldc), *some = WEFT_NEW(mem, real, n * ldc);
    void *packed = weft_arena_alloc(mem, 1, weft_packed_bytes(k, m));
    for (int j = 0; j < m; j += WEFT_WHOLE)
        weft_deep_pack(k, m, j, m - j < WEFT_WHOLE ? m - j : WEFT_WHOLE, b + j * ldb, ldb,
                       packed);
    weft_deep_times(n, a, lda, k, m, packed, c, ldc);
    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int e = 0; e < k; e++)
                sum += (double)a[i * lda + e] * (double)b[j * ldb + e];
            worst = worse(worst, fabs(sum - (double)c[i * ldc + j]));
        }
    /* k roundings, half a unit each, of sums of about sqrt(k)/12: six deviations */
    double unit = sizeof(real) == 4 ? 6e-8 : 1.1e-16;
    is_near(worst, 0, unit * k / 2, "a deep product: %d x %d x %d", n, k, m);
    int same = 1;
    for (int rows = 1; rows < n; rows += 1 + rows / 4) {
        weft_deep_times(rows, a + lda * (n - rows), lda, k, m, packed, some, ldc);
        for (int i = 0; i < rows; i++)
            same &= memcmp(some + i * ldc, c + (n - rows + i) * ldc, m * sizeof *c) == 0;
    }
    int last = (m - 1) / WEFT_WHOLE * WEFT_WHOLE;
    weft_deep_pack(k, m - last, 0, m - last, b + last * ldb, ldb, packed);
    weft_deep_times(n, a, lda, k, m - last, packed, some, ldc);
    for (int i = 0; i < n; i++)
        same &= memcmp(some + i * ldc, c + i * ldc + last, (m - last) * sizeof *c) == 0;
    ok(same, "has the same rows in any company and columns in any block");
}

int main(void)
{
    tap_begin();
    note("kernel %s", weft_cpu_kernel());
    test_fix();
    test_exact();
    test_u8s8(1, 1, 1);
    test_u8s8(7, 37, 5);
    test_u8s8(13, 1100, 67);
    test_u8s8(256, 512, 128);
    for (int along = 0; along < 2; along++) {
        test_gram(1, along, 1, 1);
        test_gram(101, along, 19, 33);
        test_gram(1030, along, 250, 70);
    }
    test_narrow(1, 3, 1);
    test_narrow(5, 31, 2);
    test_narrow(67, 1037, 10);
    for (int c = 3; c < 14; c += 1 + c % 3) test_narrow(67, 331, c);
    test_narrow(256, 640, 7);
    test_cosine();
    for (int n = 1; n <= 2048; n *= 2) test_fwht(n);
    test_gather();
    for (int d = 1; d < 151; d = 2 * d + 3) test_add_rows(d);
    test_sparse();
    for (double c = 1e-3; c < 1e4; c *= 1e3) {
        test_dual(c);
        test_terms(c);
    }
    test_deep(1, 1, 1);
    test_deep(67, 70, 50);
    test_deep(130, 101, 1203);
    ok(weft_cpu_sgemm(0.05) > 0.1, "sgemm has a rate");
    ok(weft_cpu_stream(0.05) > 0.1, "memory has a rate");
    return tap_end();
}
