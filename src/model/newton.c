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

typedef struct newton {
    const margin_problem *p;
    const weft_matrix *f;
    double best;     /* objective of the best constant */
    double width;    /* of the smoothed hinge */
    const double *y; /* [n] +1, -1 */
    double *w, *g, *s, *r, *v,
        *h;                /* [d+1] weights, gradient, step, residual, direction, H v */
    double *t;             /* [d] F^T curve */
    double *score, *along; /* [n] of w and of the step */
    real *rounded, *row, *curve; /* [d], [n], [n] for products */
    int passes;
} newton;

/* Loss, slope and curvature at margin m. */
static double loss_at(const newton *s, double m, double *slope, double *curve)
{
    *slope = *curve = 0;
    if (s->p->kind == MARGIN_LOGISTIC) {
        double e = exp(-fabs(m)), q = m > 0 ? e / (1 + e) : 1 / (1 + e);
        *slope = -q;
        *curve = q * (1 - q);
        return margin_loss(MARGIN_LOGISTIC, m);
    }
    double gap = 1 - m, width = s->p->kind == MARGIN_SQUARED ? INFINITY : s->width;
    if (gap <= 0) return 0;
    if (gap > width) {
        *slope = -1;
        return gap - 0.5 * width;
    }
    double unit = s->p->kind == MARGIN_SQUARED ? 2 : 1 / width;
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
static void scores(newton *s, const double *x, double *z)
{
    for (int64_t j = 0; j < s->f->d; j++) s->rounded[j] = (real)x[j];
    s->f->times(s->f, 1, s->rounded, s->row);
    for (int64_t i = 0; i < s->f->n; i++) z[i] = (double)s->row[i] + x[s->f->d];
    s->passes++;
}

/* g[d] = F^T x; returns the sum of x. */
static double transpose(newton *s, const double *x, double *g)
{
    for (int64_t i = 0; i < s->f->n; i++) s->row[i] = (real)x[i];
    s->f->trans(s->f, 1, s->row, g);
    s->passes++;
    return margin_sum(s->f, x);
}

/* Objective, slope and curvature of it along the step at w + t step. Collective. */
static double line_objective(const newton *s, double t, double *slope, double *curve,
                             weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t n = s->f->n, d = s->f->d + 1;
    double *x = WEFT_NEW(tmp, double, 3 * n), c = s->p->c;
    for (int64_t i = 0; i < n; i++) {
        double g, h, m = s->y[i] * (s->score[i] + t * s->along[i]);
        x[i] = c * loss_at(s, m, &g, &h);
        x[n + i] = c * g * s->y[i] * s->along[i];
        x[2 * n + i] = c * h * s->along[i] * s->along[i];
    }
    double ww = dot(d, s->w, s->w), ws = dot(d, s->w, s->s), ss = dot(d, s->s, s->s);
    *slope = ws + t * ss + margin_sum(s->f, x + n);
    *curve = ss + margin_sum(s->f, x + 2 * n);
    double value = 0.5 * ww + t * ws + 0.5 * t * t * ss + margin_sum(s->f, x);
    weft_arena_reset(tmp, mark);
    return value;
}

/* Gradient at w into s->g, second derivatives of the losses into s->curve, F^T of these
 * into s->t. Collective. */
static void gradient(newton *s, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t n = s->f->n, d = s->f->d;
    double *u = WEFT_NEW(tmp, double, n), *h = WEFT_NEW(tmp, double, n);
    for (int64_t i = 0; i < n; i++) {
        loss_at(s, s->y[i] * s->score[i], &u[i], &h[i]);
        u[i] *= s->p->c * s->y[i];
        h[i] *= s->p->c;
        s->curve[i] = (real)h[i];
    }
    s->g[d] = transpose(s, u, s->g);
    s->t[d] = transpose(s, h, s->t);
    for (int64_t j = 0; j <= d; j++) s->g[j] += s->w[j];
    weft_arena_reset(tmp, mark);
}

/* h = v + F^T (curve * (F v + v_d)), likewise for the intercept. Collective. */
static void hessian(newton *s, const double *v, double *h)
{
    int64_t d = s->f->d;
    for (int64_t j = 0; j < d; j++) s->rounded[j] = (real)v[j];
    s->f->normal(s->f, 1, s->rounded, s->curve, 0, h);
    s->passes++;
    for (int64_t j = 0; j < d; j++) h[j] += v[j] + v[d] * s->t[j];
    h[d] = v[d] * (1 + s->t[d]) + dot(d, s->t, v);
}

/* s->s = about -H^-1 g, such that at most a tenth of the gain of the quadratic model is
 * missing, as estimated from the gains of the iterations or, since H - I is positive
 * semidefinite, bounded by the residual. Returns the gain of the exact step. Collective. */
static double newton_step(newton *s)
{
    descent done = {0};
    int64_t d = s->f->d + 1;
    for (int64_t j = 0; j < d; j++) {
        s->s[j] = 0;
        s->v[j] = s->r[j] = -s->g[j];
    }
    double rr = dot(d, s->r, s->r), remaining = 0.5 * rr;
    double negligible = DESCENT_MIN_GAIN * rr;
    int min_steps = s->p->kind == MARGIN_HINGE ? MIN_HINGE_CG : 0;
    for (int k = 0; k < MAX_CG; k++) {
        int forced = k < min_steps && rr > negligible;
        if (!forced && !(remaining > 0.1 * descent_gained(&done))) break;
        hessian(s, s->v, s->h);
        double a = rr / dot(d, s->v, s->h), old = rr;
        descent_add(&done, 0.5 * a * rr);
        for (int64_t j = 0; j < d; j++) {
            s->s[j] += a * s->v[j];
            s->r[j] -= a * s->h[j];
        }
        rr = dot(d, s->r, s->r);
        for (int64_t j = 0; j < d; j++) s->v[j] = s->r[j] + rr / old * s->v[j];
        remaining = fmin(0.5 * rr, descent_remaining(&done));
    }
    return descent_gained(&done) + remaining;
}

/* Moves w to the minimum along s->s. Returns the objective there. Collective. */
static double line_search(newton *s, weft_arena *tmp)
{
    double t = 1, lo = 0, hi = INFINITY, slope, curve, value = 0;
    for (int k = 0; k < 30; k++) {
        value = line_objective(s, t, &slope, &curve, tmp);
        if (fabs(slope) <= 1e-3 * curve * t) break;
        if (slope > 0)
            hi = t;
        else
            lo = t;
        double next = t - slope / curve;
        if (!(next > lo && next < hi)) next = isfinite(hi) ? 0.5 * (lo + hi) : 2 * t;
        t = next;
    }
    for (int64_t j = 0; j <= s->f->d; j++) s->w[j] += t * s->s[j];
    return value;
}

/* Minimises the smooth objective until a step gains at most a tenth of the tolerance.
 * Returns the objective. Collective. */
static double minimise(newton *s, weft_fitted *out, weft_arena *tmp)
{
    double value = INFINITY;
    for (int k = 0; k < s->p->limit; k++) {
        scores(s, s->w, s->score);
        gradient(s, tmp);
        double gain = newton_step(s);
        scores(s, s->s, s->along);
        value = line_search(s, tmp);
        out->iterations++;
        out->residual = margin_relative_gap(s->p, s->best, value, gain);
        if (!(out->residual > 0.1 * s->p->tol)) break; /* a NaN, too */
    }
    return value;
}

/* Difference between the sums of hinge and smoothed hinge losses at w. Collective. */
static double smoothing(newton *s, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    double *x = WEFT_NEW(tmp, double, s->f->n), g, h;
    scores(s, s->w, s->score);
    for (int64_t i = 0; i < s->f->n; i++) {
        double m = s->y[i] * s->score[i];
        x[i] = s->p->c * (margin_loss(MARGIN_HINGE, m) - loss_at(s, m, &g, &h));
    }
    double sum = margin_sum(s->f, x);
    weft_arena_reset(tmp, mark);
    return sum;
}

void newton_fit(const margin_problem *problem, const weft_matrix *matrix,
                const int32_t *label, const margin_output *output, real *w, real *intercept,
                weft_fitted *out, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t n = matrix->n, d = matrix->d;
    double *y = WEFT_NEW(tmp, double, n), *v = WEFT_NEW(tmp, double, 7 * (d + 1));
    newton s = {.p = problem, .f = matrix, .best = output->objective, .width = 1, .y = y};
    double **part[] = {&s.w, &s.g, &s.s, &s.r, &s.v, &s.h, &s.t};
    for (int j = 0; j < 7; j++) *part[j] = v + j * (d + 1);
    s.score = WEFT_NEW(tmp, double, n);
    s.along = WEFT_NEW(tmp, double, n);
    s.rounded = WEFT_NEW(tmp, real, d);
    s.row = WEFT_NEW(tmp, real, n);
    s.curve = WEFT_NEW(tmp, real, n);
    for (int64_t i = 0; i < n; i++) y[i] = label[i] == output->one ? 1 : -1;
    for (int64_t j = 0; j < d; j++) s.w[j] = (double)w[j];
    s.w[d] = (double)*intercept;
    double value, lost = 0;
    do {
        value = minimise(&s, out, tmp);
        if (problem->kind != MARGIN_HINGE) break;
        lost = smoothing(&s, tmp);
        out->residual += margin_relative_gap(problem, s.best, value + lost, lost);
        s.width *= 0.25;
    } while (out->residual > problem->tol && s.width > 1e-6);
    for (int64_t j = 0; j < d; j++) w[j] = (real)s.w[j];
    *intercept = (real)s.w[d];
    out->objective += value + lost;
    out->passes += s.passes;
    weft_arena_reset(tmp, mark);
}
