/* Ridge regression against normal equations solved directly, and against scikit-learn
 * (tests/gold/ridge.py). Features come from a small dense matrix; every rank takes its
 * rows of it.
 * RUN: np=1 np=2 np=3 np=4 */
#include "weft/conf.h"
#include "weft/exact.h"
#include "weft/hash.h"
#include "weft/model.h"
#include "weft/par.h"
#include "weft/registry.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* ---- a dense matrix ---- */

typedef struct dense {
    int64_t first; /* this rank's rows of x */
    double *x;     /* [total][d] */
    double most;   /* largest magnitude in x */
    weft_arena *mem;
} dense;

static void dense_times(const weft_matrix *f, int c, const real *w, real *z)
{
    const dense *m = f->self;
    for (int64_t i = 0; i < f->n; i++)
        for (int j = 0; j < c; j++) {
            double sum = 0;
            for (int64_t k = 0; k < f->d; k++)
                sum += m->x[(m->first + i) * f->d + k] * (double)w[j * f->d + k];
            z[j * f->n + i] = (real)sum;
        }
}

/* Blocks of rows are summed in double, blocks exactly. */
static void dense_trans(const weft_matrix *f, int c, const real *z, double *g)
{
    const dense *m = f->self;
    size_t mark = weft_arena_mark(m->mem);
    double bound =
        weft_largest(f->team, z, (size_t)(c * f->n)) * m->most * (double)f->total;
    int scale = weft_fix_scale(bound);
    int64_t *sum = WEFT_NEW(m->mem, int64_t, c * f->d);
    for (int j = 0; j < c && isfinite(bound); j++)
        for (int64_t k = 0; k < f->d; k++)
            for (int64_t b = 0; b < f->n; b += WEFT_BLOCK) {
                double block = 0;
                for (int64_t i = b; i < f->n && i < b + WEFT_BLOCK; i++)
                    block += m->x[(m->first + i) * f->d + k] * (double)z[j * f->n + i];
                sum[j * f->d + k] += weft_fix(block, scale);
            }
    weft_sum_whole(f->team, sum, (size_t)(c * f->d), scale, bound, g);
    weft_arena_reset(m->mem, mark);
}

/* Columns of others are not there, so that a model that reads them is found. */
static void dense_normal(const weft_matrix *f, int c, const real *w, const real *h, int own,
                         double *g)
{
    const dense *m = f->self;
    size_t mark = weft_arena_mark(m->mem);
    real *z = WEFT_NEW(m->mem, real, c * f->n);
    dense_times(f, c, w, z);
    for (int64_t i = 0; h && i < c * f->n; i++) z[i] *= h[i];
    dense_trans(f, c, z, g);
    int64_t first = 0, count = f->d;
    if (own) weft_deal(f->d, f->team->rank, f->team->size, &first, &count);
    for (int64_t k = 0; k < c * f->d; k++)
        if (k % f->d < first || k % f->d >= first + count) g[k] = NAN;
    weft_arena_reset(m->mem, mark);
}

static void dense_sums(const weft_matrix *f, double *sum)
{
    const dense *m = f->self;
    for (int64_t k = 0; k < f->d; k++) {
        sum[k] = 0;
        for (int64_t i = 0; i < f->total; i++) sum[k] += m->x[i * f->d + k];
    }
}

static void dense_gram(const weft_matrix *f, int dual, int64_t r0, int64_t nr, int64_t c0,
                       int64_t nc, double *a)
{
    const dense *m = f->self;
    int64_t terms = dual ? f->d : f->total, along = dual ? 1 : f->d,
            across = dual ? f->d : 1;
    for (int64_t i = 0; i < nr; i++)
        for (int64_t j = 0; j < nc; j++) {
            double sum = 0;
            for (int64_t k = 0; k < terms; k++)
                sum += m->x[(r0 + i) * across + k * along] *
                       m->x[(c0 + j) * across + k * along];
            a[i * nc + j] = sum;
        }
}

static weft_matrix dense_new(weft_team *t, dense *m, int64_t total, int64_t d,
                             weft_arena *mem)
{
    weft_matrix f = {.total = total,
                     .d = d,
                     .team = t,
                     .times = dense_times,
                     .trans = dense_trans,
                     .normal = dense_normal,
                     .sums = dense_sums,
                     .gram = dense_gram,
                     .self = m};
    weft_deal(total, t->rank, t->size, &m->first, &f.n);
    m->x = WEFT_NEW(mem, double, total *d);
    m->mem = weft_arena_new();
    return f;
}

/* ---- problems ---- */

typedef struct problem {
    weft_matrix f;
    dense *m;       /* what f is made of */
    int32_t *all;   /* [total] labels */
    int32_t *label; /* this rank's */
    int classes;
} problem;

/* Integers over 256, by a rule that tests/gold/ridge.py repeats. */
static problem problem_new(weft_team *t, int64_t total, int64_t d, int classes,
                           weft_arena *mem)
{
    problem p = {.m = WEFT_NEW(mem, dense, 1), .classes = classes};
    p.f = dense_new(t, p.m, total, d, mem);
    p.all = WEFT_NEW(mem, int32_t, total);
    for (int64_t i = 0; i < total; i++) {
        for (int64_t k = 0; k < d; k++)
            p.m->x[i * d + k] =
                (double)((i * i * (k + 3) + 17 * i * (k + 1) + 7 * k * k) % 1009 - 300) /
                256;
        p.all[i] = (int32_t)((i * i * 5 + i * 3 + i / 7) % 11 % classes);
    }
    p.m->most = 3;
    p.label = p.all + p.m->first;
    return p;
}

/* ---- the naive solution ---- */

/* a[n][n] x = b[n] by elimination with pivots; x in b. */
static void eliminate(int64_t n, double *a, double *b)
{
    for (int64_t j = 0; j < n; j++) {
        int64_t pivot = j;
        for (int64_t i = j; i < n; i++)
            if (fabs(a[i * n + j]) > fabs(a[pivot * n + j])) pivot = i;
        for (int64_t k = 0; k < n; k++) {
            double swap = a[j * n + k];
            a[j * n + k] = a[pivot * n + k];
            a[pivot * n + k] = swap;
        }
        double swap = b[j];
        b[j] = b[pivot];
        b[pivot] = swap;
        for (int64_t i = j + 1; i < n; i++) {
            double factor = a[i * n + j] / a[j * n + j];
            for (int64_t k = j; k < n; k++) a[i * n + k] -= factor * a[j * n + k];
            b[i] -= factor * b[j];
        }
    }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t k = i + 1; k < n; k++) b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
}

/* Weights and, last, the intercept of one class: normal equations with a column of ones
 * that is not penalised. w[d+1]. Returns the objective. */
static double naive(const problem *p, int class, double alpha, double *w, weft_arena *mem)
{
    int64_t d = p->f.d, n = d + 1;
    double *a = WEFT_NEW(mem, double, n *n), *row = WEFT_NEW(mem, double, n);
    memset(w, 0, (size_t)n * sizeof *w);
    for (int64_t i = 0; i < p->f.total; i++) {
        memcpy(row, p->m->x + i * d, (size_t)d * sizeof *row);
        row[d] = 1;
        for (int64_t k = 0; k < n; k++) {
            w[k] += row[k] * (p->all[i] == class ? 1 : -1);
            for (int64_t l = 0; l < n; l++) a[k * n + l] += row[k] * row[l];
        }
    }
    for (int64_t k = 0; k < d; k++) a[k * n + k] += alpha;
    eliminate(n, a, w);
    double objective = 0;
    for (int64_t i = 0; i < p->f.total; i++) {
        double e = (p->all[i] == class ? 1 : -1) - w[d];
        for (int64_t k = 0; k < d; k++) e -= p->m->x[i * d + k] * w[k];
        objective += e * e;
    }
    for (int64_t k = 0; k < d; k++) objective += alpha * w[k] * w[k];
    return objective;
}

/* ---- fits ---- */

static const weft_model *const model = &weft_model_ridge;

static void *ridge_new(const char *options, weft_arena *mem)
{
    weft_conf c;
    weft_conf_init(&c, mem);
    void *self = weft_arena_alloc(mem, 1, model->kind.size);
    char *text = weft_arena_text(mem, "[ridge]\n%s\n", options);
    if (weft_conf_text(&c, "t_ridge", text) || weft_conf_bind(&c, &model->kind, self))
        weft_die("%s", weft_error());
    return self;
}

static weft_answers answers_of(const problem *p)
{
    return (weft_answers){.classes = p->classes, .label = p->label};
}

static weft_fitted fit(const problem *p, const char *options, real *w, weft_arena *mem)
{
    weft_fitted out;
    weft_answers y = answers_of(p);
    model->fit(ridge_new(options, mem), &p->f, &y, 1, w, &out, mem);
    return out;
}

static int64_t nweight(const problem *p)
{
    return p->classes * (p->f.d + 1);
}

/* Largest difference from the naive solution, relative to its largest weight. */
static double error(const problem *p, double alpha, const real *w, double *objective,
                    weft_arena *mem)
{
    int64_t d = p->f.d;
    double *exact = WEFT_NEW(mem, double, d + 1);
    double worst = 0, most = 0;
    *objective = 0;
    for (int j = 0; j < p->classes; j++) {
        *objective += naive(p, j, alpha, exact, mem) / (double)p->f.total;
        for (int64_t k = 0; k <= d; k++) {
            double found = k < d ? (double)w[j * d + k] : (double)w[p->classes * d + j];
            worst = worse(worst, fabs(found - exact[k]));
            most = worse(most, fabs(exact[k]));
        }
    }
    return worst / most;
}

static void check(const problem *p, const char *what, const char *options, double alpha,
                  weft_arena *mem)
{
    real *w = WEFT_NEW(mem, real, nweight(p));
    weft_fitted out = fit(p, options, w, mem);
    double objective;
    double e = error(p, alpha, w, &objective, mem);
    note("%s: error %.1e, residual %.1e, %d iterations, %d passes", what, e, out.residual,
         out.iterations, out.passes);
    ok(!out.diverged && e < 2e-5, "%s: weights are those of the normal equations to 2e-5",
       what);
    ok(out.residual < 1e-5, "%s: the residual is below 1e-5", what);
    is_near(out.objective, objective, 1e-6 * objective, "%s: the objective is right", what);
}

static const char tight[] = "solver = cg\ntol = 1e-13", direct[] = "solver = cholesky";

static void test_closed(weft_team *t, weft_arena *mem)
{
    problem tall = problem_new(t, 1500, 40, 4, mem);
    check(&tall, "cg", tight, 0.5, mem);
    check(&tall, "cholesky", direct, 0.5, mem);
    problem wide = problem_new(t, 600, 700, 3, mem);
    check(&wide, "cg, more columns than rows", "solver = cg\ntol = 1e-13\nalpha = 50", 50,
          mem);
    check(&wide, "dual cholesky", "solver = cholesky\nalpha = 50", 50, mem);
    problem two = problem_new(t, 900, 70, 2, mem);
    check(&two, "two classes by cg", tight, 0.5, mem);
    check(&two, "two classes by cholesky", direct, 0.5, mem);
    weft_arena_free(tall.m->mem);
    weft_arena_free(wide.m->mem);
    weft_arena_free(two.m->mem);
}

/* Columns 3 constant, 5 equal to 4, 6 minus twice 4. */
static void test_degenerate(weft_team *t, weft_arena *mem)
{
    problem p = problem_new(t, 700, 12, 3, mem);
    int64_t d = p.f.d;
    for (int64_t i = 0; i < p.f.total; i++) {
        double *x = p.m->x + i * d;
        x[3] = 1;
        x[5] = x[4];
        x[6] = -2 * x[4];
    }
    p.m->most = 6;
    check(&p, "dependent columns by cg", tight, 0.5, mem);
    check(&p, "dependent columns by cholesky", direct, 0.5, mem);
    real *w = WEFT_NEW(mem, real, nweight(&p));
    weft_fitted out = fit(&p, tight, w, mem);
    ok(fabs((double)w[3]) < 1e-6, "a constant column has no weight");
    is_near(w[5], w[4], 1e-6, "equal columns have equal weights");
    out = fit(&p, "solver = cholesky\nalpha = 0", w, mem);
    ok(out.diverged, "cholesky of a singular matrix is reported");
    out = fit(&p, "solver = cg\nalpha = 0\ntol = 1e-10", w, mem);
    ok(!out.diverged && out.residual <= 1e-4,
       "cg solves a singular system that has solutions, to %.1e", out.residual);
    memset(p.all, 0, (size_t)p.f.total * sizeof *p.all);
    out = fit(&p, "", w, mem);
    ok(!out.diverged && out.residual == 0 && w[3 * d] == 1 && w[3 * d + 1] == -1 &&
           w[0] == 0,
       "where all labels are equal the intercepts say it all");
    weft_arena_free(p.m->mem);
}

/* The intercept takes up what is added to a column. */
static void test_intercept(weft_team *t, weft_arena *mem)
{
    problem p = problem_new(t, 800, 10, 3, mem);
    int64_t d = p.f.d, n = nweight(&p);
    real *w = WEFT_NEW(mem, real, n), *shifted = WEFT_NEW(mem, real, n);
    fit(&p, tight, w, mem);
    for (int64_t i = 0; i < p.f.total; i++) p.m->x[i * d + 2] += 4;
    p.m->most = 7;
    fit(&p, tight, shifted, mem);
    double worst = 0;
    for (int64_t i = 0; i < p.classes * d; i++)
        worst = worse(worst, fabs((double)(shifted[i] - w[i])));
    ok(worst < 1e-5, "a shift of a column leaves the weights alone");
    is_near(shifted[3 * d], w[3 * d] - 4 * w[2], 1e-5,
            "and moves the intercept by its weight");
    weft_arena_free(p.m->mem);
}

static void test_start(weft_team *t, weft_arena *mem)
{
    problem p = problem_new(t, 1500, 60, 5, mem);
    int64_t n = nweight(&p);
    real *cold = WEFT_NEW(mem, real, n), *warm = WEFT_NEW(mem, real, n);
    weft_fitted first = fit(&p, "tol = 1e-10\nsolver = cg", cold, mem);
    memcpy(warm, cold, (size_t)n * sizeof *warm);
    weft_fitted out = fit(&p, "tol = 1e-4\nsolver = cg", warm, mem);
    ok(out.iterations == 0 && memcmp(warm, cold, (size_t)n * sizeof *warm) == 0,
       "a start at the solution stays there");
    for (int64_t i = 0; i < n; i++) warm[i] *= (real)1.01;
    out = fit(&p, "tol = 1e-10\nsolver = cg", warm, mem);
    ok(out.iterations < first.iterations && out.residual <= 1e-4,
       "a start near the solution takes %d of %d iterations", out.iterations,
       first.iterations);
    for (int64_t i = 0; i < n; i++) warm[i] = (real)(i % 3 ? 1e6 : NAN);
    out = fit(&p, "tol = 1e-10\nsolver = cg", warm, mem);
    ok(memcmp(warm, cold, (size_t)n * sizeof *warm) == 0, "a useless start is not used");
    memset(warm, 0, (size_t)n * sizeof *warm);
    out = fit(&p, "tol = 0\niterations = 2\nsolver = cg", warm, mem);
    ok(out.iterations == 2 && out.residual > 0 && out.residual < 1,
       "iterations end at their limit");
    memset(warm, 0, (size_t)n * sizeof *warm);
    weft_answers y = answers_of(&p);
    model->fit(ridge_new("tol = 1e-10\nsolver = cg", mem), &p.f, &y, 1e7, warm, &out, mem);
    ok(out.iterations < first.iterations && out.residual > first.residual,
       "with slack, a fit ends sooner");
    digest(weft_hash(cold, (size_t)n * sizeof *cold, 0));
    weft_arena_free(p.m->mem);
}

/* Default options; bits do not depend on ranks. */
static void test_ranks(weft_team *t, weft_arena *mem)
{
    problem p = problem_new(t, 3000, 150, 10, mem);
    int64_t n = nweight(&p);
    real *w = WEFT_NEW(mem, real, n), *v = WEFT_NEW(mem, real, n);
    weft_fitted out = fit(&p, "", w, mem), exact = fit(&p, direct, v, mem);
    double constant = 0;
    for (int j = 0; j < p.classes; j++) {
        double sum = 0;
        for (int64_t i = 0; i < p.f.total; i++) sum += p.all[i] == j;
        constant += 4 * (sum / (double)p.f.total) * (1 - sum / (double)p.f.total);
    }
    double lacks = (out.objective - exact.objective) / (constant - exact.objective);
    ok(lacks >= 0 && lacks <= 1e-3, "the default fit lacks %.1e of the gain", lacks);
    digest(weft_hash(w, (size_t)n * sizeof *w, 0));
    digest(weft_hash(&out.objective, sizeof out.objective, 0));
    digest(weft_hash(&out.residual, sizeof out.residual, 0));
    weft_arena_free(p.m->mem);
}

/* The state of a fit of `iterations` iterations, some of them in another piece. */
static double *pieces(const problem *p, int some, int iterations, real *w, weft_arena *mem)
{
    weft_fitted out;
    const void *self = ridge_new("", mem);
    weft_answers y = answers_of(p);
    double *state = WEFT_NEW(mem, double, model->piece_size(p->f.d, &y));
    state[0] = -1;
    if (some) model->piece(self, &p->f, &y, some, state, w, &out, mem);
    model->piece(self, &p->f, &y, iterations - some, state, w, &out, mem);
    return state;
}

/* So many columns that ranks deal block vectors out. */
static void test_wide(weft_team *t, weft_arena *mem)
{
    enum { ROWS = 60, COLUMNS = 17000, CLASSES = 4 };
    problem p = problem_new(t, ROWS, COLUMNS, CLASSES, mem);
    weft_answers y = answers_of(&p);
    int64_t n = nweight(&p), size = model->piece_size(COLUMNS, &y);
    real *w = WEFT_NEW(mem, real, n), *v = WEFT_NEW(mem, real, n);
    weft_fitted out = fit(&p, "", w, mem);
    ok(out.iterations > 2 && !out.diverged, "%d columns: a fit ends", COLUMNS);
    digest(weft_hash(w, (size_t)n * sizeof *w, 0));
    digest(weft_hash(&out.objective, sizeof out.objective, 0));
    weft_fitted exact = fit(&p, "solver = cholesky\nalpha = 50", v, mem);
    out = fit(&p, "solver = cg\ntol = 1e-13\nalpha = 50", w, mem);
    double worst = 0, most = 0;
    for (int64_t i = 0; i < n; i++) {
        worst = worse(worst, fabs((double)(w[i] - v[i])));
        most = worse(most, fabs((double)v[i]));
    }
    ok(worst <= 2e-5 * most && out.residual < 1e-5,
       "its weights are those of the factor, to %.1e", worst / most);
    is_near(out.objective, exact.objective, 1e-6 * exact.objective, "so is its objective");
    memset(w, 0, (size_t)n * sizeof *w);
    memset(v, 0, (size_t)n * sizeof *v);
    double *whole = pieces(&p, 0, 7, w, mem), *parts = pieces(&p, 3, 7, v, mem);
    ok(memcmp(whole, parts, (size_t)size * sizeof *whole) == 0 &&
           memcmp(w, v, (size_t)n * sizeof *w) == 0,
       "two pieces have the bits of the whole");
    digest(weft_hash(whole, (size_t)size * sizeof *whole, 0));
    weft_arena_free(p.m->mem);
}

/* Lines of tests/gold/ridge.txt: class, weights, intercept. */
static void test_gold(weft_team *t, weft_arena *mem)
{
    problem p = problem_new(t, 1000, 20, 4, mem);
    int64_t d = p.f.d;
    real *a = WEFT_NEW(mem, real, nweight(&p)), *b = WEFT_NEW(mem, real, nweight(&p));
    fit(&p, tight, a, mem);
    fit(&p, direct, b, mem);
    FILE *gold = fopen("tests/gold/ridge.txt", "r");
    weft_check(gold, "tests/gold/ridge.txt is missing: run tests in the top directory");
    double worst = 0, x;
    int64_t n = 0;
    for (; n < nweight(&p) && fscanf(gold, "%lf", &x) == 1; n++) {
        int64_t j = n / (d + 1), k = n % (d + 1);
        int64_t at = k < d ? j * d + k : p.classes * d + j;
        worst = worse(worst, worse(fabs((double)a[at] - x), fabs((double)b[at] - x)));
    }
    fclose(gold);
    ok(n == nweight(&p) && worst < 1e-5, "both solvers agree with scikit-learn to 1e-5");
    weft_arena_free(p.m->mem);
}

/* What a factor takes is known before it is made, by the smaller of the two systems. */
static void test_memory(weft_team *t, weft_arena *mem)
{
    const void *factor = ridge_new(direct, mem), *cg = ridge_new("", mem);
    weft_matrix f = {.d = 100000, .total = 30000, .team = t};
    double bytes, small;
    ok(model->memory(factor, &f, INFINITY, &bytes) == WEFT_OK &&
           model->memory(cg, &f, 1, &small) == WEFT_OK && small <= 0,
       "cg needs no memory to speak of");
    is_near(bytes, 9e8 * sizeof(real) / t->size + 16 * 512 * 3e4, 1,
            "the factor of the dual system is of the rows' order");
    weft_status st = model->memory(factor, &f, 1e8, &small);
    ok(st == WEFT_ELIMIT && strstr(weft_error(), "100000 features") &&
           strstr(weft_error(), "run.memory") && strstr(weft_error(), "ridge.solver = cg"),
       "a factor that does not fit is refused");
}

static void test_loss(weft_arena *mem)
{
    const void *self = ridge_new("", mem);
    const double score[3] = {0.5, 0.25, -1};
    int wrong;
    is_near(model->loss(self, 3, score, 0, &wrong), 0.25 + 1.5625, 1e-12,
            "the loss is the squared distance from the targets");
    ok(wrong == 0, "the largest score is the answer");
    model->loss(self, 3, score, 1, &wrong);
    ok(wrong == 1 && model->outputs(2) == 2, "another label is wrong");
    ok(model->bound(self, 3) > model->loss(self, 3, score, 2, &wrong),
       "the bound is a bound");
}

int main(int argc, char **argv)
{
    weft_team world;
    if (weft_par_start(&argc, &argv, &world) != WEFT_OK) return 1;
    weft_arena *mem = weft_arena_new();
    test_closed(&world, mem);
    test_degenerate(&world, mem);
    test_intercept(&world, mem);
    test_start(&world, mem);
    test_ranks(&world, mem);
    test_wide(&world, mem);
    test_gold(&world, mem);
    test_memory(&world, mem);
    test_loss(mem);
    weft_arena_free(mem);
    int status = tap_done();
    weft_par_end(&world);
    return status;
}
