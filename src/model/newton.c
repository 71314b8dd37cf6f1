/* Truncated Newton method for linear models with a loss of the margin, on any matrix of
 * features: conjugate gradients on the Newton system, then a line search on the scores
 * (Lin, Weng, Keerthi, JMLR 9, 2008, with a search in place of the trust region).
 * Vectors over columns, last the intercept, are equal on all ranks.
 *
 * The hinge is smoothed: it is a parabola over a width below margin 1, which is reduced
 * until the two objectives differ by less than the tolerance. The smooth objective is lower
 * everywhere, so that the difference at its optimum bounds the loss of accuracy. */
#include <math.h>
#include <string.h>

#include "descent.h"
#include "dual.h"

enum {
    MAX_CG = 200,     /* largest number of conjugate gradient iterations of a Newton step */
    MIN_HINGE_CG = 16 /* smallest number for the hinge, whose first iterations predict the
                         rest poorly */
};

struct newton {
    const margin_problem *problem;
    const weft_matrix *matrix;
    double best;          /* objective of the best constant */
    double width;         /* of the smoothed hinge */
    const double *y;      /* [n] +1, -1 */
    const double *weight; /* [n] of the losses: C times that of the row */
    double *w, *g, *s, *r, *v,
        *h;                /* [d+1] weights, gradient, step, residual, direction, H v */
    double *t;             /* [d] F^T curve */
    double *score, *along; /* [n] of w and of the step */
    real *rounded, *row, *curve; /* [d], [n], [n] for products */
    int passes;
};

/* Loss, slope and curvature at margin m. */
static double loss_at(const struct newton *newton, double m, double *slope, double *curve)
{
    *slope = *curve = 0;
    if (newton->problem->kind == MARGIN_LOGISTIC) {
        double e = exp(-fabs(m)), q = m > 0 ? e / (1 + e) : 1 / (1 + e);
        *slope = -q;
        *curve = q * (1 - q);
        return margin_loss(MARGIN_LOGISTIC, m);
    }
    double gap = 1 - m,
           width = newton->problem->kind == MARGIN_SQUARED ? INFINITY : newton->width;
    if (gap <= 0) return 0;
    if (gap > width) {
        *slope = -1;
        return gap - 0.5 * width;
    }
    double unit = newton->problem->kind == MARGIN_SQUARED ? 2 : 1 / width;
    *slope = -unit * gap;
    *curve = unit;
    return 0.5 * unit * gap * gap;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* z[n] = F x + x[d]. */
static void scores(struct newton *newton, const double *x, double *z)
{
    for (int64_t j = 0; j < newton->matrix->d; j++) newton->rounded[j] = (real)x[j];
    newton->matrix->times(newton->matrix, 1, newton->rounded, newton->row);
    for (int64_t i = 0; i < newton->matrix->n; i++)
        z[i] = (double)newton->row[i] + x[newton->matrix->d];
    newton->passes++;
}

/* g[d] = F^T x; returns the sum of x. */
static double transpose(struct newton *newton, const double *x, double *g)
{
    for (int64_t i = 0; i < newton->matrix->n; i++) newton->row[i] = (real)x[i];
    newton->matrix->trans(newton->matrix, 1, newton->row, g);
    newton->passes++;
    return margin_sum(newton->matrix, x);
}

/* Objective, slope and curvature of it along the step at w + t step. Collective. */
static double line_objective(const struct newton *newton, double t, double *slope,
                             double *curve, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t n = newton->matrix->n, d = newton->matrix->d + 1;
    double *x = WEFT_NEW(tmp, double, 3 * n);
    for (int64_t i = 0; i < n; i++) {
        double g, h, m = newton->y[i] * (newton->score[i] + t * newton->along[i]);
        double c = newton->weight[i];
        x[i] = c * loss_at(newton, m, &g, &h);
        x[n + i] = c * g * newton->y[i] * newton->along[i];
        x[2 * n + i] = c * h * newton->along[i] * newton->along[i];
    }
    double ww = dot(d, newton->w, newton->w), ws = dot(d, newton->w, newton->s),
           ss = dot(d, newton->s, newton->s);
    *slope = ws + t * ss + margin_sum(newton->matrix, x + n);
    *curve = ss + margin_sum(newton->matrix, x + 2 * n);
    double value = 0.5 * ww + t * ws + 0.5 * t * t * ss + margin_sum(newton->matrix, x);
    weft_arena_reset(tmp, mark);
    return value;
}

/* Gradient at w into newton->g, second derivatives of the losses into newton->curve, F^T of
 * these into newton->t. Collective. */
static void gradient(struct newton *newton, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t n = newton->matrix->n, d = newton->matrix->d;
    double *u = WEFT_NEW(tmp, double, n), *h = WEFT_NEW(tmp, double, n);
    for (int64_t i = 0; i < n; i++) {
        loss_at(newton, newton->y[i] * newton->score[i], &u[i], &h[i]);
        u[i] *= newton->weight[i] * newton->y[i];
        h[i] *= newton->weight[i];
        newton->curve[i] = (real)h[i];
    }
    newton->g[d] = transpose(newton, u, newton->g);
    newton->t[d] = transpose(newton, h, newton->t);
    for (int64_t j = 0; j <= d; j++) newton->g[j] += newton->w[j];
    weft_arena_reset(tmp, mark);
}

/* h = v + F^T (curve * (F v + v_d)), likewise for the intercept. Collective. */
static void hessian(struct newton *newton, const double *v, double *h)
{
    int64_t d = newton->matrix->d;
    for (int64_t j = 0; j < d; j++) newton->rounded[j] = (real)v[j];
    newton->matrix->normal(newton->matrix, 1, newton->rounded, newton->curve, 0, h);
    newton->passes++;
    for (int64_t j = 0; j < d; j++) h[j] += v[j] + v[d] * newton->t[j];
    h[d] = v[d] * (1 + newton->t[d]) + dot(d, newton->t, v);
}

/* newton->s = about -H^-1 g, such that at most a tenth of the gain of the quadratic model
 * is missing, as estimated from the gains of the iterations or, since H - I is positive
 * semidefinite, bounded by the residual. Returns the gain of the exact step. Collective. */
static double newton_step(struct newton *newton)
{
    struct descent done = {0};
    int64_t d = newton->matrix->d + 1;
    for (int64_t j = 0; j < d; j++) {
        newton->s[j] = 0;
        newton->v[j] = newton->r[j] = -newton->g[j];
    }
    double rr = dot(d, newton->r, newton->r), remaining = 0.5 * rr;
    double negligible = DESCENT_MIN_GAIN * rr;
    int min_steps = newton->problem->kind == MARGIN_HINGE ? MIN_HINGE_CG : 0;
    for (int k = 0; k < MAX_CG; k++) {
        int forced = k < min_steps && rr > negligible;
        if (!forced && !(remaining > 0.1 * descent_gained(&done))) break;
        hessian(newton, newton->v, newton->h);
        double a = rr / dot(d, newton->v, newton->h), old = rr;
        descent_add(&done, 0.5 * a * rr);
        for (int64_t j = 0; j < d; j++) {
            newton->s[j] += a * newton->v[j];
            newton->r[j] -= a * newton->h[j];
        }
        rr = dot(d, newton->r, newton->r);
        for (int64_t j = 0; j < d; j++)
            newton->v[j] = newton->r[j] + rr / old * newton->v[j];
        remaining = fmin(0.5 * rr, descent_remaining(&done));
    }
    return descent_gained(&done) + remaining;
}

/* Moves w to the minimum along newton->s. Returns the objective there. Collective. */
static double line_search(struct newton *newton, weft_arena *tmp)
{
    double t = 1, lo = 0, hi = INFINITY, slope, curve, value = 0;
    for (int k = 0; k < 30; k++) {
        value = line_objective(newton, t, &slope, &curve, tmp);
        if (fabs(slope) <= 1e-3 * curve * t) break;
        if (slope > 0)
            hi = t;
        else
            lo = t;
        double next = t - slope / curve;
        if (!(next > lo && next < hi)) next = isfinite(hi) ? 0.5 * (lo + hi) : 2 * t;
        t = next;
    }
    for (int64_t j = 0; j <= newton->matrix->d; j++) newton->w[j] += t * newton->s[j];
    return value;
}

/* Minimises the smooth objective until a step gains at most a tenth of the tolerance.
 * Returns the objective. Collective. */
static double minimise(struct newton *newton, weft_fitted *out, weft_arena *tmp)
{
    double value = INFINITY;
    for (int k = 0; k < newton->problem->limit; k++) {
        scores(newton, newton->w, newton->score);
        gradient(newton, tmp);
        double gain = newton_step(newton);
        scores(newton, newton->s, newton->along);
        value = line_search(newton, tmp);
        out->iterations++;
        out->residual = margin_relative_gap(newton->problem, newton->best, value, gain);
        if (!(out->residual > 0.1 * newton->problem->tol)) break; /* a NaN, too */
    }
    return value;
}

/* Difference between the sums of hinge and smoothed hinge losses at w. Collective. */
static double smoothing(struct newton *newton, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    double *x = WEFT_NEW(tmp, double, newton->matrix->n), g, h;
    scores(newton, newton->w, newton->score);
    for (int64_t i = 0; i < newton->matrix->n; i++) {
        double m = newton->y[i] * newton->score[i];
        x[i] =
            newton->weight[i] * (margin_loss(MARGIN_HINGE, m) - loss_at(newton, m, &g, &h));
    }
    double sum = margin_sum(newton->matrix, x);
    weft_arena_reset(tmp, mark);
    return sum;
}

void newton_fit(const margin_problem *problem, const weft_matrix *matrix,
                const weft_answers *answers, const margin_output *output, real *w,
                real *intercept, weft_fitted *out, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t n = matrix->n, d = matrix->d;
    double *y = WEFT_NEW(tmp, double, n), *weight = WEFT_NEW(tmp, double, n),
           *v = WEFT_NEW(tmp, double, 7 * (d + 1));
    struct newton newton = {.problem = problem,
                            .matrix = matrix,
                            .best = output->objective,
                            .width = 1,
                            .y = y,
                            .weight = weight};
    double **part[] = {&newton.w, &newton.g, &newton.s, &newton.r,
                       &newton.v, &newton.h, &newton.t};
    for (int j = 0; j < 7; j++) *part[j] = v + j * (d + 1);
    newton.score = WEFT_NEW(tmp, double, n);
    newton.along = WEFT_NEW(tmp, double, n);
    newton.rounded = WEFT_NEW(tmp, real, d);
    newton.row = WEFT_NEW(tmp, real, n);
    newton.curve = WEFT_NEW(tmp, real, n);
    for (int64_t i = 0; i < n; i++) {
        y[i] = answers->label[i] == output->one ? 1 : -1;
        weight[i] = problem->c * (answers->weight ? answers->weight[i] : 1);
    }
    for (int64_t j = 0; j < d; j++) newton.w[j] = (double)w[j];
    newton.w[d] = (double)*intercept;
    double value, lost = 0;
    do {
        value = minimise(&newton, out, tmp);
        if (problem->kind != MARGIN_HINGE) break;
        lost = smoothing(&newton, tmp);
        out->residual += margin_relative_gap(problem, newton.best, value + lost, lost);
        newton.width *= 0.25;
    } while (out->residual > problem->tol && newton.width > 1e-6);
    for (int64_t j = 0; j < d; j++) w[j] = (real)newton.w[j];
    *intercept = (real)newton.w[d];
    out->objective += value + lost;
    out->passes += newton.passes;
    weft_arena_reset(tmp, mark);
}
