/* Products of a dense matrix of features against plain loops in double. */
#ifndef WEFT_TEST_PRODUCTS_H
#define WEFT_TEST_PRODUCTS_H

#include "in_memory.h"

/* A matrix, its rows of all ranks in double, and vectors to multiply it by. */
typedef struct product_test {
    const weft_matrix *f;
    const double *x;    /* [total][d] */
    real *w;            /* [c][d] */
    real *all, *h;      /* [c][total]; of this rank's rows, [c][n] */
    double *wx;         /* [c][total] x w */
    double unit, bound; /* rounding of a term; largest feature */
    int c;              /* vectors */
    weft_arena *mem;    /* scratch */
    const char *what;
} product_test;

/* Sums of d or total terms below sqrt(2/d), each rounded like a real; in double the loops
 * here round in the same way, and exact sums are in units of 2^-51 of their bound. */
static inline product_test product_test_new(const weft_matrix *matrix, const double *x,
                                            int64_t first, int c, const char *what)
{
    int64_t d = matrix->d, n = matrix->n, total = matrix->total;
    product_test test = {.f = matrix, .x = x, .c = c, .mem = mem, .what = what};
    test.w = WEFT_NEW(mem, real, c * d);
    test.all = WEFT_NEW(mem, real, c * total);
    test.h = WEFT_NEW(mem, real, c * n);
    test.wx = WEFT_NEW(mem, double, c *total);
    test.unit = sizeof(real) == 4 ? 4 * 6e-8 : 64 * 1.2e-16;
    test.bound = sqrt(2 / (double)d);
    for (int64_t e = 0; e < c * d; e++) test.w[e] = (real)(sin(1.7 * (double)e));
    for (int64_t e = 0; e < c * total; e++) test.all[e] = (real)(cos(2.3 * (double)e));
    for (int j = 0; j < c; j++)
        for (int64_t i = 0; i < n; i++) test.h[j * n + i] = test.all[j * total + first + i];
    for (int j = 0; j < c; j++)
        for (int64_t i = 0; i < total; i++)
            for (int64_t k = 0; k < d; k++)
                test.wx[j * total + i] += test.x[i * d + k] * (double)test.w[j * d + k];
    return test;
}

static inline void check_times(const product_test *test, int64_t first)
{
    const weft_matrix *matrix = test->f;
    real *z = WEFT_NEW(test->mem, real, test->c * matrix->n);
    double worst = 0;
    matrix->times(matrix, test->c, test->w, z);
    for (int j = 0; j < test->c; j++)
        for (int64_t i = 0; i < matrix->n; i++)
            worst = worse(worst, fabs(test->wx[j * matrix->total + first + i] -
                                      (double)z[j * matrix->n + i]));
    /* the table itself is rounded to real */
    is_near(worst, 0, test->unit * test->bound * (double)matrix->d, "%s: times",
            test->what);
}

/* Of g = F^T (h * (F w)) this rank's columns alone. */
static inline void check_own(const product_test *test, const real *h, const double *g,
                             const char *name)
{
    const weft_matrix *matrix = test->f;
    int64_t first, count;
    double *own = WEFT_NEW(test->mem, double, test->c * matrix->d);
    matrix->normal(matrix, test->c, test->w, h, 1, own);
    weft_deal(matrix->d, matrix->team->rank, matrix->team->size, &first, &count);
    int same = 1;
    for (int j = 0; j < test->c; j++)
        same &= memcmp(own + j * matrix->d + first, g + j * matrix->d + first,
                       (size_t)count * sizeof *g) == 0;
    ok(same, "%s: %s, own columns alone, has the same bits", test->what, name);
}

static inline uint64_t check_trans(const product_test *test, uint64_t key)
{
    const weft_matrix *matrix = test->f;
    static const char *const name[] = {"trans", "normal", "normal, weighted"};
    int64_t d = matrix->d, total = matrix->total;
    double *g = WEFT_NEW(test->mem, double, test->c *d);
    for (int step = 0; step < 3; step++) {
        if (step == 0)
            matrix->trans(matrix, test->c, test->h, g);
        else
            matrix->normal(matrix, test->c, test->w, step == 1 ? NULL : test->h, 0, g);
        if (step > 0) check_own(test, step == 1 ? NULL : test->h, g, name[step]);
        key = weft_hash(g, (size_t)(test->c * d) * sizeof *g, key);
        double worst = 0;
        for (int j = 0; j < test->c; j++)
            for (int64_t k = 0; k < d; k++) {
                double expect = 0;
                for (int64_t i = 0; i < total; i++)
                    expect += test->x[i * d + k] *
                              (step == 0 ? 1 : test->wx[j * total + i]) *
                              (step == 1 ? 1 : (double)test->all[j * total + i]);
                worst = worse(worst, fabs(expect - g[j * d + k]));
            }
        double factor = step ? test->bound * (double)d : 1;
        is_near(worst, 0, test->unit * test->bound * (double)total * factor, "%s: %s",
                test->what, name[step]);
    }
    return key;
}

static inline uint64_t check_sums(const product_test *test, uint64_t key)
{
    const weft_matrix *matrix = test->f;
    double *sum = WEFT_NEW(test->mem, double, matrix->d), worst = 0;
    matrix->sums(matrix, sum);
    key = weft_hash(sum, (size_t)matrix->d * sizeof *sum, key);
    for (int64_t k = 0; k < matrix->d; k++) {
        double s = 0;
        for (int64_t i = 0; i < matrix->total; i++) s += test->x[i * matrix->d + k];
        worst = worse(worst, fabs(s - sum[k]));
    }
    is_near(worst, 0, test->unit * test->bound * (double)matrix->total, "%s: sums",
            test->what);
    return key;
}

static inline uint64_t check_gram(const product_test *test, uint64_t key)
{
    enum { R0 = 3, NR = 21, C0 = 40, NC = 57 };
    const weft_matrix *matrix = test->f;
    const double *x = test->x;
    int64_t d = matrix->d, total = matrix->total;
    double *a = WEFT_NEW(test->mem, double, NR *NC);
    for (int dual = 0; dual < 2; dual++) {
        matrix->gram(matrix, dual, R0, NR, C0, NC, a);
        key = weft_hash(a, NR * NC * sizeof *a, key);
        double worst = 0;
        for (int r = 0; r < NR; r++)
            for (int k = 0; k < NC; k++) {
                double expect = 0;
                for (int64_t i = 0; i < (dual ? d : total); i++)
                    expect += dual ? x[(R0 + r) * d + i] * x[(C0 + k) * d + i]
                                   : x[i * d + R0 + r] * x[i * d + C0 + k];
                worst = worse(worst, fabs(expect - a[r * NC + k]));
            }
        is_near(worst, 0, test->unit * test->bound * (double)(total + d),
                "%s: gram, dual %d", test->what, dual);
    }
    return key;
}

#endif
