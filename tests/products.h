/* Products of a dense matrix of features against plain loops in double. */
#ifndef WEFT_TEST_PRODUCTS_H
#define WEFT_TEST_PRODUCTS_H

#include "weft/feature.h"
#include "weft/hash.h"

#include <string.h>

#include "tap.h"

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
static inline product_test product_test_new(const weft_matrix *f, const double *x,
                                            int64_t first, int c, const char *what,
                                            weft_arena *mem)
{
    int64_t d = f->d, n = f->n, total = f->total;
    product_test t = {.f = f, .x = x, .c = c, .mem = mem, .what = what};
    t.w = WEFT_NEW(mem, real, c * d);
    t.all = WEFT_NEW(mem, real, c * total);
    t.h = WEFT_NEW(mem, real, c * n);
    t.wx = WEFT_NEW(mem, double, c *total);
    t.unit = sizeof(real) == 4 ? 4 * 6e-8 : 64 * 1.2e-16;
    t.bound = sqrt(2 / (double)d);
    for (int64_t e = 0; e < c * d; e++) t.w[e] = (real)(sin(1.7 * (double)e));
    for (int64_t e = 0; e < c * total; e++) t.all[e] = (real)(cos(2.3 * (double)e));
    for (int j = 0; j < c; j++)
        for (int64_t i = 0; i < n; i++) t.h[j * n + i] = t.all[j * total + first + i];
    for (int j = 0; j < c; j++)
        for (int64_t i = 0; i < total; i++)
            for (int64_t k = 0; k < d; k++)
                t.wx[j * total + i] += t.x[i * d + k] * (double)t.w[j * d + k];
    return t;
}

static inline void check_times(const product_test *t, int64_t first)
{
    const weft_matrix *f = t->f;
    real *z = WEFT_NEW(t->mem, real, t->c * f->n);
    double worst = 0;
    f->times(f, t->c, t->w, z);
    for (int j = 0; j < t->c; j++)
        for (int64_t i = 0; i < f->n; i++)
            worst = worse(worst,
                          fabs(t->wx[j * f->total + first + i] - (double)z[j * f->n + i]));
    /* the table itself is rounded to real */
    is_near(worst, 0, t->unit * t->bound * (double)f->d, "%s: times", t->what);
}

/* Of g = F^T (h * (F w)) this rank's columns alone. */
static inline void check_own(const product_test *t, const real *h, const double *g,
                             const char *name)
{
    const weft_matrix *f = t->f;
    int64_t first, count;
    double *own = WEFT_NEW(t->mem, double, t->c * f->d);
    f->normal(f, t->c, t->w, h, 1, own);
    weft_deal(f->d, f->team->rank, f->team->size, &first, &count);
    int same = 1;
    for (int j = 0; j < t->c; j++)
        same &= memcmp(own + j * f->d + first, g + j * f->d + first,
                       (size_t)count * sizeof *g) == 0;
    ok(same, "%s: %s, own columns alone, has the same bits", t->what, name);
}

static inline uint64_t check_trans(const product_test *t, uint64_t key)
{
    const weft_matrix *f = t->f;
    static const char *const name[] = {"trans", "normal", "normal, weighted"};
    int64_t d = f->d, total = f->total;
    double *g = WEFT_NEW(t->mem, double, t->c *d);
    for (int step = 0; step < 3; step++) {
        if (step == 0)
            f->trans(f, t->c, t->h, g);
        else
            f->normal(f, t->c, t->w, step == 1 ? NULL : t->h, 0, g);
        if (step > 0) check_own(t, step == 1 ? NULL : t->h, g, name[step]);
        key = weft_hash(g, (size_t)(t->c * d) * sizeof *g, key);
        double worst = 0;
        for (int j = 0; j < t->c; j++)
            for (int64_t k = 0; k < d; k++) {
                double expect = 0;
                for (int64_t i = 0; i < total; i++)
                    expect += t->x[i * d + k] * (step == 0 ? 1 : t->wx[j * total + i]) *
                              (step == 1 ? 1 : (double)t->all[j * total + i]);
                worst = worse(worst, fabs(expect - g[j * d + k]));
            }
        double factor = step ? t->bound * (double)d : 1;
        is_near(worst, 0, t->unit * t->bound * (double)total * factor, "%s: %s", t->what,
                name[step]);
    }
    return key;
}

static inline uint64_t check_sums(const product_test *t, uint64_t key)
{
    const weft_matrix *f = t->f;
    double *sum = WEFT_NEW(t->mem, double, f->d), worst = 0;
    f->sums(f, sum);
    key = weft_hash(sum, (size_t)f->d * sizeof *sum, key);
    for (int64_t k = 0; k < f->d; k++) {
        double s = 0;
        for (int64_t i = 0; i < f->total; i++) s += t->x[i * f->d + k];
        worst = worse(worst, fabs(s - sum[k]));
    }
    is_near(worst, 0, t->unit * t->bound * (double)f->total, "%s: sums", t->what);
    return key;
}

static inline uint64_t check_gram(const product_test *t, uint64_t key)
{
    enum { R0 = 3, NR = 21, C0 = 40, NC = 57 };
    const weft_matrix *f = t->f;
    const double *x = t->x;
    int64_t d = f->d, total = f->total;
    double *a = WEFT_NEW(t->mem, double, NR *NC);
    for (int dual = 0; dual < 2; dual++) {
        f->gram(f, dual, R0, NR, C0, NC, a);
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
        is_near(worst, 0, t->unit * t->bound * (double)(total + d), "%s: gram, dual %d",
                t->what, dual);
    }
    return key;
}

#endif
