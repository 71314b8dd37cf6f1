/* Logistic regression with an L1 penalty by products with any matrix, for rows that are not
 * sparse; see l1.h. Accelerated proximal gradients (Beck, Teboulle, SIAM J. Imaging Sci. 2,
 * 2009) with a search for the step and a restart where the momentum points uphill
 * (O'Donoghue, Candes, Found. Comput. Math. 15, 2015). Vectors over columns, last the
 * intercept, are equal on all ranks. */
#include <math.h>

#include "l1.h"

typedef struct gradients {
    const margin_problem *p;
    const weft_matrix *f;
    double *y, *sum;           /* [n] 1 or -1; scratch */
    double *at, *z, *z_before; /* [n] scores of v, of w, of the previous w */
    double *v, *w, *old, *g;   /* [d+1] point of the gradient; weights; previous weights;
                                  sum_i a_i y_i x_ij at v */
    real *narrow, *row;        /* [d], [n] for products */
    double bound, curvature;   /* highest lower bound; estimated curvature of the loss */
    int passes;
} gradients;

/* C sum_i of the losses at scores z. Collective. */
static double loss_at(gradients *s, const double *z)
{
    for (int64_t i = 0; i < s->f->n; i++)
        s->sum[i] = s->p->c * margin_loss(MARGIN_LOGISTIC, s->y[i] * z[i]);
    return margin_sum(s->f, s->sum);
}

/* Gradient and lower bound at v. Collective. */
static void slope(gradients *s)
{
    int64_t n = s->f->n, d = s->f->d;
    double most = 1;
    for (int64_t i = 0; i < n; i++) {
        s->sum[i] = -s->p->c * s->y[i] * margin_slope(MARGIN_LOGISTIC, s->y[i] * s->at[i]);
        s->row[i] = (real)s->sum[i];
    }
    s->f->trans(s->f, 1, s->row, s->g);
    s->passes++;
    s->g[d] = margin_sum(s->f, s->sum);
    for (int64_t j = 0; j <= d; j++) most = fmax(most, fabs(s->g[j]));
    for (int64_t i = 0; i < n; i++) s->sum[i] = margin_conj(s->p, fabs(s->sum[i]) / most);
    s->bound = fmax(s->bound, -margin_sum(s->f, s->sum));
}

/* w <- minimum of the quadratic model with curvature s->curvature, which is doubled until
 * the model is an upper bound of the loss at w; `at_v` is the loss at v. Returns the
 * objective at w. Collective. */
static double step(gradients *s, double at_v)
{
    int64_t n = s->f->n, d = s->f->d;
    for (;; s->curvature *= 2) {
        double linear = 0, square = 0, size = 0;
        for (int64_t j = 0; j <= d; j++) {
            double to = s->v[j] + s->g[j] / s->curvature;
            s->w[j] = copysign(fmax(fabs(to) - 1 / s->curvature, 0), to);
            double by = s->w[j] - s->v[j];
            linear -= s->g[j] * by;
            square += by * by;
            size += fabs(s->w[j]);
        }
        for (int64_t j = 0; j < d; j++) s->narrow[j] = (real)s->w[j];
        s->f->times(s->f, 1, s->narrow, s->row);
        s->passes++;
        for (int64_t i = 0; i < n; i++) s->z[i] = (double)s->row[i] + s->w[d];
        double loss = loss_at(s, s->z), rounding = 1e-7 * fabs(at_v);
        if (!(loss > at_v + linear + 0.5 * s->curvature * square + rounding))
            return size + loss;
    }
}

/* v <- w + b (w - previous w), and the scores likewise. */
static void extrapolate(gradients *s, double b)
{
    for (int64_t j = 0; j <= s->f->d; j++) {
        s->v[j] = s->w[j] + b * (s->w[j] - s->old[j]);
        s->old[j] = s->w[j];
    }
    for (int64_t i = 0; i < s->f->n; i++) {
        s->at[i] = s->z[i] + b * (s->z[i] - s->z_before[i]);
        s->z_before[i] = s->z[i];
    }
}

static int momentum_ascends(const gradients *s)
{
    double along = 0;
    for (int64_t j = 0; j <= s->f->d; j++)
        along += (s->v[j] - s->w[j]) * (s->w[j] - s->old[j]);
    return along > 0;
}

static gradients start(const margin_problem *problem, const weft_matrix *matrix,
                       const int32_t *label, int one, weft_arena *tmp)
{
    gradients s = {.p = problem, .f = matrix, .bound = -INFINITY};
    int64_t n = matrix->n, d = matrix->d + 1;
    double *rows = WEFT_NEW(tmp, double, 5 * n), *columns = WEFT_NEW(tmp, double, 4 * d);
    double **row[] = {&s.y, &s.sum, &s.at, &s.z, &s.z_before};
    double **column[] = {&s.v, &s.w, &s.old, &s.g};
    for (int k = 0; k < 5; k++) *row[k] = rows + k * n;
    for (int k = 0; k < 4; k++) *column[k] = columns + k * d;
    s.narrow = WEFT_NEW(tmp, real, matrix->d);
    s.row = WEFT_NEW(tmp, real, n);
    s.curvature = 1e-3 * problem->c * (double)matrix->total;
    for (int64_t i = 0; i < n; i++) s.y[i] = label[i] == one ? 1 : -1;
    return s;
}

void l1_products_fit(const margin_problem *problem, const weft_matrix *matrix,
                     const int32_t *label, const margin_output *of, real *w,
                     real *intercept, weft_fitted *out, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t n = matrix->n, d = matrix->d;
    gradients s = start(problem, matrix, label, of->one, tmp);
    for (int64_t j = 0; j < d; j++) s.v[j] = s.old[j] = (double)w[j];
    s.v[d] = s.old[d] = (double)*intercept;
    matrix->times(matrix, 1, w, s.row);
    for (int64_t i = 0; i < n; i++) s.at[i] = s.z_before[i] = (double)s.row[i] + s.v[d];
    double weight = 1;
    out->residual = INFINITY;
    while (out->iterations < problem->limit && out->residual > problem->tol) {
        slope(&s);
        double at_v = loss_at(&s, s.at);
        out->objective = isfinite(at_v) ? step(&s, at_v) : at_v;
        out->residual = margin_relative_gap(problem, of->objective, out->objective,
                                            out->objective - s.bound);
        out->iterations++;
        double next = momentum_ascends(&s) ? 1 : 0.5 * (1 + sqrt(1 + 4 * weight * weight));
        extrapolate(&s, next > 1 ? (weight - 1) / next : 0);
        weight = next;
        s.curvature *= 0.9;
    }
    for (int64_t j = 0; j < d; j++) w[j] = (real)s.w[j];
    *intercept = (real)s.w[d];
    out->passes += s.passes + 1;
    weft_arena_reset(tmp, mark);
}
