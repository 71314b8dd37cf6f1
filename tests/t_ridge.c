/* Ridge regression against normal equations solved directly, and against scikit-learn
 * (tests/gold/ridge.py). Features come from a small dense matrix; every rank takes its
 * rows of it.
 * RUN: np=1 np=2 np=3 np=4 */

#include "dense.h"

/* ---- problems ---- */

struct problem {
    weft_matrix f;
    struct dense *m; /* what f is made of */
    int32_t *all;    /* [total] labels */
    int32_t *label;  /* this rank's */
    int classes;
};

/* Integers over 256, by a rule that tests/gold/ridge.py repeats. */
static struct problem problem_new(int64_t total, int64_t d, int classes)
{
    struct problem problem = {.m = WEFT_NEW(mem, struct dense, 1), .classes = classes};
    problem.f = dense_new(problem.m, total, d);
    problem.all = WEFT_NEW(mem, int32_t, total);
    for (int64_t i = 0; i < total; i++) {
        for (int64_t k = 0; k < d; k++)
            problem.m->x[i * d + k] =
                (double)((i * i * (k + 3) + 17 * i * (k + 1) + 7 * k * k) % 1009 - 300) /
                256;
        problem.all[i] = (int32_t)((i * i * 5 + i * 3 + i / 7) % 11 % classes);
    }
    problem.m->most = 3;
    problem.label = problem.all + problem.m->first;
    return problem;
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
static double naive(const struct problem *problem, int class, double alpha, double *w)
{
    int64_t d = problem->f.d, n = d + 1;
    double *a = WEFT_NEW(mem, double, n *n), *row = WEFT_NEW(mem, double, n);
    memset(w, 0, (size_t)n * sizeof *w);
    for (int64_t i = 0; i < problem->f.total; i++) {
        memcpy(row, problem->m->x + i * d, (size_t)d * sizeof *row);
        row[d] = 1;
        for (int64_t k = 0; k < n; k++) {
            w[k] += row[k] * (problem->all[i] == class ? 1 : -1);
            for (int64_t l = 0; l < n; l++) a[k * n + l] += row[k] * row[l];
        }
    }
    for (int64_t k = 0; k < d; k++) a[k * n + k] += alpha;
    eliminate(n, a, w);
    double objective = 0;
    for (int64_t i = 0; i < problem->f.total; i++) {
        double e = (problem->all[i] == class ? 1 : -1) - w[d];
        for (int64_t k = 0; k < d; k++) e -= problem->m->x[i * d + k] * w[k];
        objective += e * e;
    }
    for (int64_t k = 0; k < d; k++) objective += alpha * w[k] * w[k];
    return objective;
}

/* ---- fits ---- */

static const weft_model *const model = &weft_model_ridge;

static void *ridge_new(const char *options)
{
    return bound_with(&model->kind, options, '\n');
}

static weft_answers answers_of(const struct problem *problem)
{
    return (weft_answers){.classes = problem->classes, .label = problem->label};
}

static weft_fitted fit(const struct problem *problem, const char *options, real *w)
{
    weft_fitted out;
    weft_answers answers = answers_of(problem);
    model->fit(ridge_new(options), &problem->f, &answers, 1, w, &out, mem);
    return out;
}

static int64_t nweight(const struct problem *problem)
{
    return problem->classes * (problem->f.d + 1);
}

/* Largest difference from the naive solution, relative to its largest weight. */
static double error(const struct problem *problem, double alpha, const real *w,
                    double *objective)
{
    int64_t d = problem->f.d;
    double *exact = WEFT_NEW(mem, double, d + 1);
    double worst = 0, most = 0;
    *objective = 0;
    for (int j = 0; j < problem->classes; j++) {
        *objective += naive(problem, j, alpha, exact) / (double)problem->f.total;
        for (int64_t k = 0; k <= d; k++) {
            double found =
                k < d ? (double)w[j * d + k] : (double)w[problem->classes * d + j];
            worst = worse(worst, fabs(found - exact[k]));
            most = worse(most, fabs(exact[k]));
        }
    }
    return worst / most;
}

static void check(const struct problem *problem, const char *what, const char *options,
                  double alpha)
{
    real *w = WEFT_NEW(mem, real, nweight(problem));
    weft_fitted out = fit(problem, options, w);
    double objective;
    double e = error(problem, alpha, w, &objective);
    note("%s: error %.1e, residual %.1e, %d iterations, %d passes", what, e, out.residual,
         out.iterations, out.passes);
    ok(!out.diverged && e < 2e-5, "%s: weights are those of the normal equations to 2e-5",
       what);
    ok(out.residual < 1e-5, "%s: the residual is below 1e-5", what);
    is_near(out.objective, objective, 1e-6 * objective, "%s: the objective is right", what);
}

static const char tight[] = "solver = cg\ntol = 1e-13", direct[] = "solver = cholesky";

static void test_closed(void)
{
    struct problem tall = problem_new(1500, 40, 4);
    check(&tall, "cg", tight, 0.5);
    check(&tall, "cholesky", direct, 0.5);
    struct problem wide = problem_new(600, 700, 3);
    check(&wide, "cg, more columns than rows", "solver = cg\ntol = 1e-13\nalpha = 50", 50);
    check(&wide, "dual cholesky", "solver = cholesky\nalpha = 50", 50);
    struct problem two = problem_new(900, 70, 2);
    check(&two, "two classes by cg", tight, 0.5);
    check(&two, "two classes by cholesky", direct, 0.5);
}

/* Columns 3 constant, 5 equal to 4, 6 minus twice 4. */
static void test_degenerate(void)
{
    struct problem problem = problem_new(700, 12, 3);
    int64_t d = problem.f.d;
    for (int64_t i = 0; i < problem.f.total; i++) {
        double *x = problem.m->x + i * d;
        x[3] = 1;
        x[5] = x[4];
        x[6] = -2 * x[4];
    }
    problem.m->most = 6;
    check(&problem, "dependent columns by cg", tight, 0.5);
    check(&problem, "dependent columns by cholesky", direct, 0.5);
    real *w = WEFT_NEW(mem, real, nweight(&problem));
    weft_fitted out = fit(&problem, tight, w);
    ok(fabs((double)w[3]) < 1e-6, "a constant column has no weight");
    is_near(w[5], w[4], 1e-6, "equal columns have equal weights");
    out = fit(&problem, "solver = cholesky\nalpha = 0", w);
    ok(out.diverged, "cholesky of a singular matrix is reported");
    out = fit(&problem, "solver = cg\nalpha = 0\ntol = 1e-10", w);
    ok(!out.diverged && out.residual <= 1e-4,
       "cg solves a singular system that has solutions, to %.1e", out.residual);
    memset(problem.all, 0, (size_t)problem.f.total * sizeof *problem.all);
    out = fit(&problem, "", w);
    ok(!out.diverged && out.residual == 0 && w[3 * d] == 1 && w[3 * d + 1] == -1 &&
           w[0] == 0,
       "where all labels are equal the intercepts say it all");
}

/* The intercept takes up what is added to a column. */
static void test_intercept(void)
{
    struct problem problem = problem_new(800, 10, 3);
    int64_t d = problem.f.d, n = nweight(&problem);
    real *w = WEFT_NEW(mem, real, n), *shifted = WEFT_NEW(mem, real, n);
    fit(&problem, tight, w);
    for (int64_t i = 0; i < problem.f.total; i++) problem.m->x[i * d + 2] += 4;
    problem.m->most = 7;
    fit(&problem, tight, shifted);
    double worst = 0;
    for (int64_t i = 0; i < problem.classes * d; i++)
        worst = worse(worst, fabs((double)(shifted[i] - w[i])));
    ok(worst < 1e-5, "a shift of a column leaves the weights alone");
    is_near(shifted[3 * d], w[3 * d] - 4 * w[2], 1e-5,
            "and moves the intercept by its weight");
}

static void test_start(void)
{
    struct problem problem = problem_new(1500, 60, 5);
    int64_t n = nweight(&problem);
    real *cold = WEFT_NEW(mem, real, n), *warm = WEFT_NEW(mem, real, n);
    weft_fitted first = fit(&problem, "tol = 1e-10\nsolver = cg", cold);
    memcpy(warm, cold, (size_t)n * sizeof *warm);
    weft_fitted out = fit(&problem, "tol = 1e-4\nsolver = cg", warm);
    ok(out.iterations == 0 && memcmp(warm, cold, (size_t)n * sizeof *warm) == 0,
       "a start at the solution stays there");
    for (int64_t i = 0; i < n; i++) warm[i] *= (real)1.01;
    out = fit(&problem, "tol = 1e-10\nsolver = cg", warm);
    ok(out.iterations < first.iterations && out.residual <= 1e-4,
       "a start near the solution takes %d of %d iterations", out.iterations,
       first.iterations);
    for (int64_t i = 0; i < n; i++) warm[i] = (real)(i % 3 ? 1e6 : NAN);
    out = fit(&problem, "tol = 1e-10\nsolver = cg", warm);
    ok(memcmp(warm, cold, (size_t)n * sizeof *warm) == 0, "a useless start is not used");
    memset(warm, 0, (size_t)n * sizeof *warm);
    out = fit(&problem, "tol = 0\niterations = 2\nsolver = cg", warm);
    ok(out.iterations == 2 && out.residual > 0 && out.residual < 1,
       "iterations end at their limit");
    memset(warm, 0, (size_t)n * sizeof *warm);
    weft_answers answers = answers_of(&problem);
    model->fit(ridge_new("tol = 1e-10\nsolver = cg"), &problem.f, &answers, 1e7, warm, &out,
               mem);
    ok(out.iterations < first.iterations && out.residual > first.residual,
       "with slack, a fit ends sooner");
    digest(weft_hash(cold, (size_t)n * sizeof *cold, 0));
}

/* Default options; bits do not depend on ranks. */
static void test_ranks(void)
{
    struct problem problem = problem_new(3000, 150, 10);
    int64_t n = nweight(&problem);
    real *w = WEFT_NEW(mem, real, n), *v = WEFT_NEW(mem, real, n);
    weft_fitted out = fit(&problem, "", w), exact = fit(&problem, direct, v);
    double constant = 0;
    for (int j = 0; j < problem.classes; j++) {
        double sum = 0;
        for (int64_t i = 0; i < problem.f.total; i++) sum += problem.all[i] == j;
        constant +=
            4 * (sum / (double)problem.f.total) * (1 - sum / (double)problem.f.total);
    }
    double lacks = (out.objective - exact.objective) / (constant - exact.objective);
    ok(lacks >= 0 && lacks <= 1e-3, "the default fit lacks %.1e of the gain", lacks);
    digest(weft_hash(w, (size_t)n * sizeof *w, 0));
    digest(weft_hash(&out.objective, sizeof out.objective, 0));
    digest(weft_hash(&out.residual, sizeof out.residual, 0));
}

/* The state of a fit of `iterations` iterations, some of them in another piece. */
static double *pieces(const struct problem *problem, int some, int iterations, real *w)
{
    weft_fitted out;
    const void *self = ridge_new("");
    weft_answers answers = answers_of(problem);
    double *state = WEFT_NEW(mem, double, model->piece_size(problem->f.d, &answers));
    state[0] = -1;
    if (some) model->piece(self, &problem->f, &answers, some, state, w, &out, mem);
    model->piece(self, &problem->f, &answers, iterations - some, state, w, &out, mem);
    return state;
}

/* So many columns that ranks deal block vectors out. */
static void test_wide(void)
{
    enum { ROWS = 60, COLUMNS = 17000, CLASSES = 4 };
    struct problem problem = problem_new(ROWS, COLUMNS, CLASSES);
    weft_answers answers = answers_of(&problem);
    int64_t n = nweight(&problem), size = model->piece_size(COLUMNS, &answers);
    real *w = WEFT_NEW(mem, real, n), *v = WEFT_NEW(mem, real, n);
    weft_fitted out = fit(&problem, "", w);
    ok(out.iterations > 2 && !out.diverged, "%d columns: a fit ends", COLUMNS);
    digest(weft_hash(w, (size_t)n * sizeof *w, 0));
    digest(weft_hash(&out.objective, sizeof out.objective, 0));
    weft_fitted exact = fit(&problem, "solver = cholesky\nalpha = 50", v);
    out = fit(&problem, "solver = cg\ntol = 1e-13\nalpha = 50", w);
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
    double *whole = pieces(&problem, 0, 7, w), *parts = pieces(&problem, 3, 7, v);
    ok(memcmp(whole, parts, (size_t)size * sizeof *whole) == 0 &&
           memcmp(w, v, (size_t)n * sizeof *w) == 0,
       "two pieces have the bits of the whole");
    digest(weft_hash(whole, (size_t)size * sizeof *whole, 0));
}

/* Lines of tests/gold/ridge.txt: class, weights, intercept. */
static void test_gold(void)
{
    struct problem problem = problem_new(1000, 20, 4);
    int64_t d = problem.f.d;
    real *a = WEFT_NEW(mem, real, nweight(&problem)),
         *b = WEFT_NEW(mem, real, nweight(&problem));
    fit(&problem, tight, a);
    fit(&problem, direct, b);
    FILE *gold = gold_of("ridge.txt");
    double worst = 0, x;
    int64_t n = 0;
    for (; n < nweight(&problem) && fscanf(gold, "%lf", &x) == 1; n++) {
        int64_t j = n / (d + 1), k = n % (d + 1);
        int64_t at = k < d ? j * d + k : problem.classes * d + j;
        worst = worse(worst, worse(fabs((double)a[at] - x), fabs((double)b[at] - x)));
    }
    fclose(gold);
    ok(n == nweight(&problem) && worst < 1e-5,
       "both solvers agree with scikit-learn to 1e-5");
}

/* What a factor takes is known before it is made, by the smaller of the two systems. */
static void test_memory(void)
{
    const void *factor = ridge_new(direct), *cg = ridge_new("");
    weft_matrix matrix = {.d = 100000, .total = 30000, .team = &world};
    double bytes, small;
    ok(model->memory(factor, &matrix, INFINITY, &bytes) == WEFT_OK &&
           model->memory(cg, &matrix, 1, &small) == WEFT_OK && small <= 0,
       "cg needs no memory to speak of");
    is_near(bytes, 9e8 * sizeof(real) / world.size + 16 * 512 * 3e4, 1,
            "the factor of the dual system is of the rows' order");
    weft_status st = model->memory(factor, &matrix, 1e8, &small);
    ok(st == WEFT_ELIMIT && says("100000 features") && says("run.memory") &&
           says("ridge.solver = cg"),
       "a factor that does not fit is refused");
}

static void test_loss(void)
{
    const void *self = ridge_new("");
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

MAIN(ranks, test_closed, test_degenerate, test_intercept, test_start, test_ranks, test_wide,
     test_gold, test_memory, test_loss)
