/* Direct solution of the centred ridge system by ScaLAPACK: primal, F_c^T F_c + alpha I,
 * where there are no more columns than rows; else dual, (F_c F_c^T + alpha I) a = y_c, w =
 * F_c^T a. The matrix is centred in double, panel by panel, before it is rounded; iterative
 * refinement on residuals in double corrects the error of the factor, which is in `real`
 * precision. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., SIAM
 * 2002, chapter 12. */
#include "ridge.h"

#include <math.h>
#include <string.h>

/* Largest number of refinement steps; each is a pass over F, much cheaper than a
 * factorization. */
enum { REFINEMENTS = 5 };

struct direct {
    ridge_system *system;
    weft_grid *grid;
    real *b; /* [c][order] right side of a step, then its solution */
    /* the dual system */
    int64_t first;    /* position of this rank's rows among all */
    double *row_mean; /* [total] F m: means of the rows of F F^T */
    double mean2;     /* m . m */
    double *a;        /* [c][total] */
    double *e;        /* [c][total] y_c - F_c w - alpha a */
    real *z, *fw;     /* [c][f->n] */
    double *sum;      /* [c] of the rows of a */
};

/* ---- primal ---- */

static void primal_panel(void *ctx, int64_t r0, int64_t nr, int64_t c0, int64_t nc,
                         double *a)
{
    const ridge_system *system = ((const struct direct *)ctx)->system;
    system->matrix->gram(system->matrix, 0, r0, nr, c0, nc, a);
    for (int64_t i = 0; i < nr; i++)
        for (int64_t j = 0; j < nc; j++)
            a[i * nc + j] += (r0 + i == c0 + j ? system->alpha : 0) -
                             system->total * system->mean[r0 + i] * system->mean[c0 + j];
}

/* x += A^-1 r. */
static void primal_step(struct direct *direct, double *x, const double *r)
{
    int64_t n = direct->system->c * direct->system->matrix->d;
    for (int64_t i = 0; i < n; i++) direct->b[i] = (real)r[i];
    weft_grid_solve(direct->grid, direct->system->c, direct->b);
    for (int64_t i = 0; i < n; i++) x[i] += (double)direct->b[i];
}

/* ---- dual ---- */

static void dual_panel(void *ctx, int64_t r0, int64_t nr, int64_t c0, int64_t nc, double *a)
{
    const struct direct *direct = ctx;
    direct->system->matrix->gram(direct->system->matrix, 1, r0, nr, c0, nc, a);
    for (int64_t i = 0; i < nr; i++)
        for (int64_t j = 0; j < nc; j++)
            a[i * nc + j] += (r0 + i == c0 + j ? direct->system->alpha : 0) +
                             direct->mean2 - direct->row_mean[r0 + i] -
                             direct->row_mean[c0 + j];
}

/* e = y_c - F_c w - alpha a. Collective. */
static void dual_residual(struct direct *direct, const double *x)
{
    const ridge_system *system = direct->system;
    const weft_matrix *matrix = system->matrix;
    for (int64_t i = 0; i < system->c * matrix->d; i++) system->rounded[i] = (real)x[i];
    matrix->times(matrix, system->c, system->rounded, direct->fw);
    memset(direct->e, 0, (size_t)(system->c * matrix->total) * sizeof *direct->e);
    for (int j = 0; j < system->c; j++) {
        double shift = 0;
        for (int64_t k = 0; k < matrix->d; k++)
            shift += system->mean[k] * (double)system->rounded[j * matrix->d + k];
        for (int64_t i = 0; i < matrix->n; i++) {
            int64_t at = j * matrix->total + direct->first + i;
            double y = ridge_target(system, i, j) - system->target_mean[j];
            direct->e[at] = y - ((double)direct->fw[j * matrix->n + i] - shift) -
                            system->alpha * direct->a[at];
        }
    }
    weft_join_f64(matrix->team, direct->e, (size_t)(system->c * matrix->total));
}

/* x = F_c^T a = F^T a - m sum(a). Collective. */
static void dual_weights(struct direct *direct, double *x)
{
    const ridge_system *system = direct->system;
    const weft_matrix *matrix = system->matrix;
    for (int j = 0; j < system->c; j++) {
        const double *a = direct->a + j * matrix->total;
        direct->sum[j] = 0;
        for (int64_t i = 0; i < matrix->total; i++) direct->sum[j] += a[i];
        for (int64_t i = 0; i < matrix->n; i++)
            direct->z[j * matrix->n + i] = (real)a[direct->first + i];
    }
    matrix->trans(matrix, system->c, direct->z, x);
    for (int j = 0; j < system->c; j++)
        for (int64_t k = 0; k < matrix->d; k++)
            x[j * matrix->d + k] -= direct->sum[j] * system->mean[k];
}

/* a += (K + alpha I)^-1 e, rounded to reals because F^T is applied to reals; x = F_c^T
 * a. */
static void dual_step(struct direct *direct, double *x)
{
    int64_t n = direct->system->c * direct->system->matrix->total;
    dual_residual(direct, x);
    for (int64_t i = 0; i < n; i++) direct->b[i] = (real)direct->e[i];
    weft_grid_solve(direct->grid, direct->system->c, direct->b);
    for (int64_t i = 0; i < n; i++)
        direct->a[i] = (double)(real)(direct->a[i] + (double)direct->b[i]);
    dual_weights(direct, x);
    direct->system->passes++;
}

/* Positions of the rows, their means, memory for vectors over rows. Collective. */
static void dual_setup(struct direct *direct)
{
    ridge_system *system = direct->system;
    const weft_matrix *matrix = system->matrix;
    int64_t *rows = WEFT_NEW(system->tmp, int64_t, matrix->team->size);
    rows[matrix->team->rank] = matrix->n;
    weft_sum_i64(matrix->team, rows, (size_t)matrix->team->size);
    for (int rank = 0; rank < matrix->team->rank; rank++) direct->first += rows[rank];
    direct->a = WEFT_NEW(system->tmp, double, system->c * matrix->total);
    direct->e = WEFT_NEW(system->tmp, double, system->c * matrix->total);
    direct->z = WEFT_NEW(system->tmp, real, system->c * matrix->n);
    direct->fw = WEFT_NEW(system->tmp, real, system->c * matrix->n);
    direct->sum = WEFT_NEW(system->tmp, double, system->c);
    direct->row_mean = WEFT_NEW(system->tmp, double, matrix->total);
    direct->mean2 = ridge_dot(matrix->d, system->mean, system->mean);
    for (int64_t k = 0; k < matrix->d; k++) system->rounded[k] = (real)system->mean[k];
    matrix->times(matrix, 1, system->rounded, direct->fw);
    for (int64_t i = 0; i < matrix->n; i++)
        direct->row_mean[direct->first + i] = (double)direct->fw[i];
    weft_join_f64(matrix->team, direct->row_mean, (size_t)matrix->total);
}

/* ---- both ---- */

/* Refines as long as the residual halves. Collective. */
static double refine(struct direct *direct, int dual, double *x, double *r)
{
    ridge_system *system = direct->system;
    size_t bytes = (size_t)(system->c * system->matrix->d) * sizeof *x;
    double *best = WEFT_NEW(system->tmp, double, system->c * system->matrix->d);
    double residual = 1, before = INFINITY;
    memset(x, 0, bytes);
    memcpy(r, system->rhs, bytes);
    while (residual < before / 2 && system->iterations < REFINEMENTS) {
        before = residual;
        memcpy(best, x, bytes);
        if (dual) dual_step(direct, x);
        if (!dual) primal_step(direct, x, r);
        ridge_round(system, x);
        residual = ridge_residual(system, x, r);
        system->iterations++;
    }
    if (residual < before) return residual;
    memcpy(x, best, bytes);
    return ridge_residual(system, x, r);
}

double ridge_cholesky(ridge_system *system, double *x, double *r)
{
    WEFT_REWIND(system->tmp);
    int dual = system->matrix->d > system->matrix->total;
    int64_t order = dual ? system->matrix->total : system->matrix->d;
    struct direct direct = {.system = system};
    if (dual) dual_setup(&direct);
    direct.b = WEFT_NEW(system->tmp, real, system->c * order);
    int64_t minor;
    direct.grid =
        weft_grid_factor(system->matrix->team, order, dual ? dual_panel : primal_panel,
                         &direct, system->tmp, &minor);
    double residual = minor == 0 ? refine(&direct, dual, x, r) : NAN;
    weft_grid_free(direct.grid);
    return residual;
}
