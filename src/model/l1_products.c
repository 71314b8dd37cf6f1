/* Logistic regression with an L1 penalty by products with any matrix, for rows that are not
 * sparse; see l1.c. Accelerated proximal gradients (Beck, Teboulle, SIAM J. Imaging Sci. 2,
 * 2009) with a search for the step and a restart where the momentum points uphill
 * (O'Donoghue, Candes, Found. Comput. Math. 15, 2015). Vectors over columns, last the
 * intercept, are equal on all ranks. */
#include "model.h"

#include <math.h>

struct gradients {
    const margin_problem *problem;
    const weft_matrix *matrix;
    double *y, *weight, *sum;  /* [n] 1 or -1; C times the weight of the row; scratch */
    double *at, *z, *z_before; /* [n] scores of v, of w, of the previous w */
    double *v, *w, *old, *g;   /* [d+1] point of the gradient; weights; previous weights;
                                  sum_i a_i y_i x_ij at v */
    real *narrow, *row;        /* [d], [n] for products */
    double bound, curvature;   /* highest lower bound; estimated curvature of the loss */
    int passes;
};

/* C sum_i of the losses at scores z. Collective. */
static double loss_at(struct gradients *gradients, const double *z)
{
    for (int64_t i = 0; i < gradients->matrix->n; i++)
        gradients->sum[i] =
            gradients->weight[i] * margin_loss(MARGIN_LOGISTIC, gradients->y[i] * z[i]);
    return margin_sum(gradients->matrix, gradients->sum);
}

/* Gradient and lower bound at v. Collective. */
static void slope(struct gradients *gradients)
{
    int64_t n = gradients->matrix->n, d = gradients->matrix->d;
    double most = 1;
    for (int64_t i = 0; i < n; i++) {
        gradients->sum[i] =
            -gradients->weight[i] * gradients->y[i] *
            margin_slope(MARGIN_LOGISTIC, gradients->y[i] * gradients->at[i]);
        gradients->row[i] = (real)gradients->sum[i];
    }
    gradients->matrix->trans(gradients->matrix, 1, gradients->row, gradients->g);
    gradients->passes++;
    gradients->g[d] = margin_sum(gradients->matrix, gradients->sum);
    for (int64_t j = 0; j <= d; j++) most = fmax(most, fabs(gradients->g[j]));
    margin_problem row = *gradients->problem;
    for (int64_t i = 0; i < n; i++) {
        row.c = gradients->weight[i];
        gradients->sum[i] =
            row.c > 0 ? margin_conj(&row, fabs(gradients->sum[i]) / most) : 0;
    }
    gradients->bound =
        fmax(gradients->bound, -margin_sum(gradients->matrix, gradients->sum));
}

/* w <- minimum of the quadratic model with curvature gradients->curvature, which is doubled
 * until the model is an upper bound of the loss at w; `at_v` is the loss at v. Returns the
 * objective at w. Collective. */
static double step(struct gradients *gradients, double at_v)
{
    int64_t n = gradients->matrix->n, d = gradients->matrix->d;
    for (;; gradients->curvature *= 2) {
        double linear = 0, square = 0, size = 0;
        for (int64_t j = 0; j <= d; j++) {
            double to = gradients->v[j] + gradients->g[j] / gradients->curvature;
            gradients->w[j] = copysign(fmax(fabs(to) - 1 / gradients->curvature, 0), to);
            double by = gradients->w[j] - gradients->v[j];
            linear -= gradients->g[j] * by;
            square += by * by;
            size += fabs(gradients->w[j]);
        }
        for (int64_t j = 0; j < d; j++) gradients->narrow[j] = (real)gradients->w[j];
        gradients->matrix->times(gradients->matrix, 1, gradients->narrow, gradients->row);
        gradients->passes++;
        for (int64_t i = 0; i < n; i++)
            gradients->z[i] = (double)gradients->row[i] + gradients->w[d];
        double loss = loss_at(gradients, gradients->z), rounding = 1e-7 * fabs(at_v);
        if (!(loss > at_v + linear + 0.5 * gradients->curvature * square + rounding))
            return size + loss;
    }
}

/* v <- w + b (w - previous w), and the scores likewise. */
static void extrapolate(struct gradients *gradients, double b)
{
    for (int64_t j = 0; j <= gradients->matrix->d; j++) {
        gradients->v[j] = gradients->w[j] + b * (gradients->w[j] - gradients->old[j]);
        gradients->old[j] = gradients->w[j];
    }
    for (int64_t i = 0; i < gradients->matrix->n; i++) {
        gradients->at[i] = gradients->z[i] + b * (gradients->z[i] - gradients->z_before[i]);
        gradients->z_before[i] = gradients->z[i];
    }
}

static int momentum_ascends(const struct gradients *gradients)
{
    double along = 0;
    for (int64_t j = 0; j <= gradients->matrix->d; j++)
        along +=
            (gradients->v[j] - gradients->w[j]) * (gradients->w[j] - gradients->old[j]);
    return along > 0;
}

static struct gradients start(const margin_fits *fit, weft_arena *tmp)
{
    enum { ROWS = 5 };
    const weft_matrix *matrix = fit->matrix;
    struct gradients gradients = {
        .problem = fit->problem, .matrix = matrix, .bound = -INFINITY};
    int64_t n = matrix->n, d = matrix->d + 1;
    double *rows = WEFT_NEW(tmp, double, ROWS *n), *columns = WEFT_NEW(tmp, double, 4 * d);
    double **row[ROWS] = {&gradients.y, &gradients.sum, &gradients.at, &gradients.z,
                          &gradients.z_before};
    double **column[] = {&gradients.v, &gradients.w, &gradients.old, &gradients.g};
    for (int k = 0; k < ROWS; k++) *row[k] = rows + k * n;
    for (int k = 0; k < 4; k++) *column[k] = columns + k * d;
    gradients.narrow = WEFT_NEW(tmp, real, matrix->d);
    gradients.row = WEFT_NEW(tmp, real, n);
    gradients.curvature = 1e-3 * fit->problem->c * (double)matrix->total;
    margin_signs(n, fit->answers->label, fit->output->one, gradients.y);
    gradients.weight = margin_weights(fit->problem, fit->answers, n, tmp);
    return gradients;
}

void l1_products_fit(const margin_fits *fit, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    const margin_problem *problem = fit->problem;
    weft_fitted *out = fit->out;
    real *w = fit->w;
    int64_t n = fit->matrix->n, d = fit->matrix->d;
    struct gradients gradients = start(fit, tmp);
    for (int64_t j = 0; j < d; j++) gradients.v[j] = gradients.old[j] = (double)w[j];
    gradients.v[d] = gradients.old[d] = (double)*fit->intercept;
    fit->matrix->times(fit->matrix, 1, w, gradients.row);
    for (int64_t i = 0; i < n; i++)
        gradients.at[i] = gradients.z_before[i] = (double)gradients.row[i] + gradients.v[d];
    double weight = 1;
    out->residual = INFINITY;
    while (out->iterations < problem->limit && out->residual > problem->tol) {
        slope(&gradients);
        double at_v = loss_at(&gradients, gradients.at);
        out->objective = isfinite(at_v) ? step(&gradients, at_v) : at_v;
        out->residual = margin_relative_gap(problem, fit->output->objective, out->objective,
                                            out->objective - gradients.bound);
        out->iterations++;
        double next =
            momentum_ascends(&gradients) ? 1 : 0.5 * (1 + sqrt(1 + 4 * weight * weight));
        extrapolate(&gradients, next > 1 ? (weight - 1) / next : 0);
        weight = next;
        gradients.curvature *= 0.9;
    }
    for (int64_t j = 0; j < d; j++) w[j] = (real)gradients.w[j];
    *fit->intercept = (real)gradients.w[d];
    out->passes += gradients.passes + 1;
}
