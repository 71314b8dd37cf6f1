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

typedef struct direct {
    ridge_system *s;
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
} direct;

/* ---- primal ---- */

static void primal_panel(void *ctx, int64_t r0, int64_t nr, int64_t c0, int64_t nc,
                         double *a)
{
    const ridge_system *system = ((const direct *)ctx)->s;
    system->f->gram(system->f, 0, r0, nr, c0, nc, a);
    for (int64_t i = 0; i < nr; i++)
        for (int64_t j = 0; j < nc; j++)
            a[i * nc + j] +=
                (r0 + i == c0 + j ? system->alpha : 0) -
                (double)system->f->total * system->mean[r0 + i] * system->mean[c0 + j];
}

/* x += A^-1 r. */
static void primal_step(direct *m, double *x, const double *r)
{
    int64_t n = m->s->c * m->s->f->d;
    for (int64_t i = 0; i < n; i++) m->b[i] = (real)r[i];
    weft_grid_solve(m->grid, m->s->c, m->b);
    for (int64_t i = 0; i < n; i++) x[i] += (double)m->b[i];
}

/* ---- dual ---- */

static void dual_panel(void *ctx, int64_t r0, int64_t nr, int64_t c0, int64_t nc, double *a)
{
    const direct *m = ctx;
    m->s->f->gram(m->s->f, 1, r0, nr, c0, nc, a);
    for (int64_t i = 0; i < nr; i++)
        for (int64_t j = 0; j < nc; j++)
            a[i * nc + j] += (r0 + i == c0 + j ? m->s->alpha : 0) + m->mean2 -
                             m->row_mean[r0 + i] - m->row_mean[c0 + j];
}

/* e = y_c - F_c w - alpha a. Collective. */
static void dual_residual(direct *m, const double *x)
{
    const ridge_system *system = m->s;
    const weft_matrix *matrix = system->f;
    for (int64_t i = 0; i < system->c * matrix->d; i++) system->rounded[i] = (real)x[i];
    matrix->times(matrix, system->c, system->rounded, m->fw);
    memset(m->e, 0, (size_t)(system->c * matrix->total) * sizeof *m->e);
    for (int j = 0; j < system->c; j++) {
        double shift = 0;
        for (int64_t k = 0; k < matrix->d; k++)
            shift += system->mean[k] * (double)system->rounded[j * matrix->d + k];
        for (int64_t i = 0; i < matrix->n; i++) {
            int64_t at = j * matrix->total + m->first + i;
            double y = (system->label[i] == j ? 1 : -1) - system->target_mean[j];
            m->e[at] =
                y - ((double)m->fw[j * matrix->n + i] - shift) - system->alpha * m->a[at];
        }
    }
    weft_join_f64(matrix->team, m->e, (size_t)(system->c * matrix->total));
}

/* x = F_c^T a = F^T a - m sum(a). Collective. */
static void dual_weights(direct *m, double *x)
{
    const ridge_system *system = m->s;
    const weft_matrix *matrix = system->f;
    for (int j = 0; j < system->c; j++) {
        const double *a = m->a + j * matrix->total;
        m->sum[j] = 0;
        for (int64_t i = 0; i < matrix->total; i++) m->sum[j] += a[i];
        for (int64_t i = 0; i < matrix->n; i++)
            m->z[j * matrix->n + i] = (real)a[m->first + i];
    }
    matrix->trans(matrix, system->c, m->z, x);
    for (int j = 0; j < system->c; j++)
        for (int64_t k = 0; k < matrix->d; k++)
            x[j * matrix->d + k] -= m->sum[j] * system->mean[k];
}

/* a += (K + alpha I)^-1 e, rounded to reals because F^T is applied to reals; x = F_c^T
 * a. */
static void dual_step(direct *m, double *x)
{
    int64_t n = m->s->c * m->s->f->total;
    dual_residual(m, x);
    for (int64_t i = 0; i < n; i++) m->b[i] = (real)m->e[i];
    weft_grid_solve(m->grid, m->s->c, m->b);
    for (int64_t i = 0; i < n; i++) m->a[i] = (double)(real)(m->a[i] + (double)m->b[i]);
    dual_weights(m, x);
    m->s->passes++;
}

/* Positions of the rows, their means, memory for vectors over rows. Collective. */
static void dual_setup(direct *m)
{
    ridge_system *system = m->s;
    const weft_matrix *matrix = system->f;
    int64_t *rows = WEFT_NEW(system->tmp, int64_t, matrix->team->size);
    rows[matrix->team->rank] = matrix->n;
    weft_sum_i64(matrix->team, rows, (size_t)matrix->team->size);
    for (int rank = 0; rank < matrix->team->rank; rank++) m->first += rows[rank];
    m->a = WEFT_NEW(system->tmp, double, system->c * matrix->total);
    m->e = WEFT_NEW(system->tmp, double, system->c * matrix->total);
    m->z = WEFT_NEW(system->tmp, real, system->c * matrix->n);
    m->fw = WEFT_NEW(system->tmp, real, system->c * matrix->n);
    m->sum = WEFT_NEW(system->tmp, double, system->c);
    m->row_mean = WEFT_NEW(system->tmp, double, matrix->total);
    m->mean2 = ridge_dot(matrix->d, system->mean, system->mean);
    for (int64_t k = 0; k < matrix->d; k++) system->rounded[k] = (real)system->mean[k];
    matrix->times(matrix, 1, system->rounded, m->fw);
    for (int64_t i = 0; i < matrix->n; i++) m->row_mean[m->first + i] = (double)m->fw[i];
    weft_join_f64(matrix->team, m->row_mean, (size_t)matrix->total);
}

/* ---- both ---- */

/* Refines as long as the residual halves. Collective. */
static double refine(direct *m, int dual, double *x, double *r)
{
    ridge_system *system = m->s;
    size_t bytes = (size_t)(system->c * system->f->d) * sizeof *x;
    double *best = WEFT_NEW(system->tmp, double, system->c * system->f->d);
    double residual = 1, before = INFINITY;
    memset(x, 0, bytes);
    memcpy(r, system->rhs, bytes);
    while (residual < before / 2 && system->iterations < REFINEMENTS) {
        before = residual;
        memcpy(best, x, bytes);
        if (dual) dual_step(m, x);
        if (!dual) primal_step(m, x, r);
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
    size_t mark = weft_arena_mark(system->tmp);
    int dual = system->f->d > system->f->total;
    int64_t order = dual ? system->f->total : system->f->d;
    direct m = {.s = system};
    if (dual) dual_setup(&m);
    m.b = WEFT_NEW(system->tmp, real, system->c * order);
    int64_t minor;
    m.grid = weft_grid_factor(system->f->team, order, dual ? dual_panel : primal_panel, &m,
                              system->tmp, &minor);
    double residual = minor == 0 ? refine(&m, dual, x, r) : NAN;
    weft_grid_free(m.grid);
    weft_arena_reset(system->tmp, mark);
    return residual;
}
