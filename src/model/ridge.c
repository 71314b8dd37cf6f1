/* Model ridge: least squares on targets +1 (own class) and -1, one-against-all, or on
 * numbers, with a penalty alpha |w|^2 on the weights and none on the intercepts. Minimises
 * sum over outputs of |y - F w - b|^2 + alpha |w|^2. Solved by block conjugate gradients
 * (ridge_cg.c) or Cholesky (ridge_cholesky.c) on the centred normal equations (ridge.h). */
#include "ridge.h"

#include <math.h>

enum { CG, CHOLESKY };

struct ridge {
    double alpha, tol;
    int solver, iterations;
};

/* At the default tolerance the accuracy on new images was within 0.2 points of the exact
 * solution for each of 64 maps of CIFAR-10 (inputs/cifar64.tsv, 2,000 features), 0.004 on
 * average; at 1e-4 within 0.1, for more products. */
static const weft_opt ridge_opts[] = {
    WEFT_REAL_OPT("alpha", struct ridge, alpha, "0.5", 0, 1e15,
                  "coefficient of the penalty on squared weights; the errors are summed, "
                  "not averaged",
                  .role = WEFT_PER_TRIAL),
    WEFT_CHOICE_OPT("solver", struct ridge, solver, "cg", "cg/auto|cholesky",
                    "cg: iterative, same bits on any ranks; cholesky: exact, by ScaLAPACK, "
                    "where the feature map has a Gram matrix"),
    WEFT_REAL_OPT(
        "tol", struct ridge, tol, "1e-3", 0, 1,
        "tolerance of cg: estimated share of the optimum's gain over a constant "
        "that may be missing; of numbers, of their squared error, if that is less",
        .role = WEFT_PER_TRIAL),
    WEFT_INT_OPT("iterations", struct ridge, iterations, "500", 1, 1e6,
                 "largest number of iterations of cg"),
    {0},
};

/* ---- the centred system ---- */

/* Weights of the rows, once for each of c products; NULL: 1. */
static const real *weights_of(const ridge_system *system)
{
    int64_t n = system->matrix->n;
    const double *weight = system->y->weight;
    if (!weight) return NULL;
    real *to = WEFT_NEW(system->tmp, real, system->c * n);
    for (int64_t i = 0; i < system->c * n; i++) to[i] = (real)weight[i % n];
    return to;
}

/* Sums S_j of the features of class j, by 0/1 targets, which keep byte features exact; then
 * F_c^T y_c = 2 (S_j - n_j/n S) of the sums S over all classes. Collective. */
static void set_rhs(ridge_system *system, const double *count, const double *sum)
{
    const weft_matrix *matrix = system->matrix;
    const int32_t *label = system->y->label;
    size_t mark = weft_arena_mark(system->tmp);
    real *z = WEFT_NEW(system->tmp, real, system->c * matrix->n);
    for (int64_t i = 0; i < matrix->n; i++)
        if (label[i] < system->c)
            z[label[i] * matrix->n + i] = system->weight ? system->weight[i] : 1;
    matrix->trans(matrix, system->c, z, system->rhs);
    weft_arena_reset(system->tmp, mark);
    for (int j = 0; j < system->c; j++) {
        double share = count[j] / system->total;
        double *x = system->rhs + j * matrix->d;
        for (int64_t k = 0; k < matrix->d; k++) x[k] = 2 * (x[k] - share * sum[k]);
    }
}

/* Targets +-1. Collective. */
static void set_classes(ridge_system *system, const double *sum)
{
    double *count = WEFT_NEW(system->tmp, double, system->outputs);
    answers_count(system->matrix, system->y, count, system->tmp);
    for (int j = 0; j < system->outputs; j++) {
        double y = system->target_mean[j] = 2 * count[j] / system->total - 1;
        system->variance[j] = 1 - y * y;
    }
    set_rhs(system, count, sum);
}

/* Targets that are numbers. Collective. */
static void set_numbers(ridge_system *system)
{
    const weft_matrix *matrix = system->matrix;
    WEFT_REWIND(system->tmp);
    real *z = WEFT_NEW(system->tmp, real, system->c * matrix->n);
    answers_moments(matrix, system->y, system->target_mean, system->variance, system->tmp);
    for (int j = 0; j < system->c; j++)
        for (int64_t i = 0; i < matrix->n; i++) {
            double weight = system->weight ? (double)system->weight[i] : 1;
            z[j * matrix->n + i] =
                (real)(weight * (ridge_target(system, i, j) - system->target_mean[j]));
        }
    matrix->trans(matrix, system->c, z, system->rhs);
}

/* Sums of the columns, by the weights of rows. Collective. */
static void set_sums(const ridge_system *system, double *sum)
{
    if (system->weight)
        system->matrix->trans(system->matrix, 1, system->weight, sum);
    else
        system->matrix->sums(system->matrix, sum);
}

static int systems_of(const weft_answers *answers)
{
    return answers->target ? answers->classes : answers->classes - 1;
}

/* Collective. */
static ridge_system system_new(const struct ridge *ridge, const weft_matrix *matrix,
                               const weft_answers *answers, weft_arena *tmp)
{
    ridge_system system = {.matrix = matrix,
                           .y = answers,
                           .total = answers_total(matrix, answers),
                           .c = systems_of(answers),
                           .outputs = answers->classes,
                           .alpha = ridge->alpha,
                           .tol = ridge->tol,
                           .limit = ridge->iterations,
                           .passes = 1,
                           .tmp = tmp};
    system.weight = weights_of(&system);
    system.mean = WEFT_NEW(tmp, double, matrix->d);
    system.target_mean = WEFT_NEW(tmp, double, system.outputs);
    system.variance = WEFT_NEW(tmp, double, system.outputs);
    system.rhs = WEFT_NEW(tmp, double, system.c * matrix->d);
    system.rounded = WEFT_NEW(tmp, real, system.c * matrix->d);
    double *sum = WEFT_NEW(tmp, double, matrix->d);
    set_sums(&system, sum);
    if (answers->target)
        set_numbers(&system);
    else
        set_classes(&system, sum);
    system.scale = ridge_norm(&system, system.rhs);
    for (int64_t k = 0; k < matrix->d; k++) system.mean[k] = sum[k] / system.total;
    return system;
}

/* Objective per sample from the solution and its residual: per output
 * |y_c - F_c w|^2 + alpha |w|^2 = |y_c|^2 - w . (rhs + r). The last class is minus the sum
 * of the others. */
static double objective(const ridge_system *system, const double *x, const double *r)
{
    int64_t d = system->matrix->d;
    double sum = 0;
    for (int j = 0; j < system->outputs; j++) sum += system->total * system->variance[j];
    for (int64_t k = 0; k < d; k++) {
        double x_last = 0, b_last = 0;
        for (int j = 0; j < system->c; j++) {
            double xj = x[j * d + k], bj = system->rhs[j * d + k] + r[j * d + k];
            sum -= xj * bj;
            x_last -= xj;
            b_last -= bj;
        }
        if (system->outputs > system->c) sum -= x_last * b_last;
    }
    return sum / system->total;
}

/* Writes the solution as weights and intercepts of all outputs. */
static void unpack(const ridge_system *system, const double *x, real *w)
{
    int64_t d = system->matrix->d;
    real *last = w + system->c * d, *intercept = w + system->outputs * d;
    for (int64_t k = 0; k < d; k++) {
        double sum = 0;
        for (int j = 0; j < system->c; j++) {
            w[j * d + k] = (real)x[j * d + k];
            sum += x[j * d + k];
        }
        if (system->outputs > system->c) last[k] = (real)-sum;
    }
    for (int j = 0; j < system->outputs; j++) {
        double b = system->target_mean[j];
        for (int64_t k = 0; k < d; k++) b -= system->mean[k] * (double)w[j * d + k];
        intercept[j] = (real)b;
    }
}

/* ---- the model ---- */

/* Writes the weights w from the solution x[c][d], whose residual r[c][d] has this relative
 * norm, and fills *out. */
static void store_solution(const ridge_system *system, const double *x, const double *r,
                           double residual, real *w, weft_fitted *out)
{
    *out = (weft_fitted){.iterations = system->iterations,
                         .passes = system->passes,
                         .objective = objective(system, x, r),
                         .residual = residual,
                         .diverged = !isfinite(residual)};
    unpack(system, x, w);
}

static void ridge_fit(const void *self, const weft_matrix *matrix,
                      const weft_answers *answers, double slack, real *w, weft_fitted *out,
                      weft_arena *tmp)
{
    const struct ridge *ridge = self;
    WEFT_REWIND(tmp);
    ridge_system system = system_new(ridge, matrix, answers, tmp);
    system.tol *= slack;
    int64_t n = system.c * matrix->d;
    double *x = WEFT_NEW(tmp, double, n);
    double *r = WEFT_NEW(tmp, double, n);
    double residual = 0;
    if (system.scale > 0) {
        for (int64_t i = 0; i < n; i++) x[i] = (double)w[i];
        residual = (ridge->solver == CHOLESKY ? ridge_cholesky : ridge_cg)(&system, x, r);
    }
    store_solution(&system, x, r, residual, w, out);
}

/* The state of a fit in pieces: number of directions (-1: none yet), then x, r and p,
 * [c][d]. */
static int64_t ridge_piece_size(int64_t d, const weft_answers *answers)
{
    return 1 + 3 * systems_of(answers) * d;
}

static void ridge_piece(const void *self, const weft_matrix *matrix,
                        const weft_answers *answers, int iterations, double *state, real *w,
                        weft_fitted *out, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    ridge_system system = system_new(self, matrix, answers, tmp);
    int64_t n = system.c * matrix->d;
    double *x = state + 1, *r = x + n, *p = r + n;
    if (system.scale > 0)
        state[0] = ridge_cg_continue(&system, iterations, x, r, (int)state[0], p);
    double residual = system.scale > 0 ? ridge_norm(&system, r) / system.scale : 0;
    store_solution(&system, x, r, residual, w, out);
}

/* ECONF unless the solver is cg. */
static weft_status needs_cg(const struct ridge *ridge, const char *why)
{
    return ridge->solver == CG ? WEFT_OK : weft_fail(WEFT_ECONF, "%s", why);
}

static weft_status ridge_divisible(const void *self)
{
    return needs_cg(self, "fmap.resource = iterations needs ridge.solver = cg: a "
                          "factorization cannot be done in pieces");
}

static weft_status ridge_weighs(const void *self)
{
    return needs_cg(self, "ridge.solver = cholesky takes no weights of rows; use "
                          "ridge.solver = cg");
}

static weft_status ridge_gramless(const void *self)
{
    return needs_cg(self, "ridge.solver = cholesky needs the Gram matrices of "
                          "fmap.feature = rff; use ridge.solver = cg");
}

static int ridge_outputs(int classes)
{
    return classes;
}

static double ridge_loss(const void *self, int classes, const double *s, int y, int *wrong)
{
    (void)self;
    double loss = 0;
    int best = 0;
    for (int j = 0; j < classes; j++) {
        double e = s[j] - (j == y ? 1 : -1);
        loss += e * e;
        if (s[j] > s[best]) best = j;
    }
    *wrong = best != y;
    return loss;
}

/* For scores up to 3 in magnitude; those of a fit are about -1 .. 1. */
static double ridge_bound(const void *self, int classes)
{
    (void)self;
    return 16.0 * classes;
}

/* Memory of the factor, of the smaller of the primal and dual systems as in
 * ridge_cholesky. */
static weft_status ridge_memory(const void *self, const weft_matrix *matrix, double allowed,
                                double *bytes)
{
    const struct ridge *ridge = self;
    int64_t order = matrix->d < matrix->total ? matrix->d : matrix->total;
    *bytes = ridge->solver == CHOLESKY ? weft_grid_bytes(order, matrix->team->size) : 0;
    if (*bytes <= allowed) return WEFT_OK;
    return weft_fail(
        WEFT_ELIMIT,
        "ridge.solver = cholesky needs %.3g GB a rank for %lld features of %lld rows "
        "(order "
        "%lld, ranks %d), run.memory allows %.3g GB: use ridge.solver = cg, allow more, or "
        "take more ranks",
        *bytes / 1e9, (long long)matrix->d, (long long)matrix->total, (long long)order,
        matrix->team->size, allowed / 1e9);
}

WEFT_PLUGIN(model, ridge) = {
    .kind = WEFT_KIND("ridge", struct ridge, ridge_opts,
                      "least squares, of numbers or of +-1 for each class"),
    .numbers = 1,
    .outputs = ridge_outputs,
    .weighs = ridge_weighs,
    .gramless = ridge_gramless,
    .fit = ridge_fit,
    .divisible = ridge_divisible,
    .piece_size = ridge_piece_size,
    .piece = ridge_piece,
    .loss = ridge_loss,
    .bound = ridge_bound,
    .memory = ridge_memory,
};
