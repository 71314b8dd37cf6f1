/* Truncated Newton method for linear models with a loss of the margin, on any matrix of
 * features: conjugate gradients on the Newton system, then a line search on the scores
 * (Lin, Weng, Keerthi, JMLR 9, 2008, with a search in place of the trust region).
 * Vectors over columns, last the intercept, are equal on all ranks. Outputs do not depend
 * on each other; those that still need a product with the matrix share one, which reads
 * its entries once for all of them.
 *
 * The hinge is smoothed: it is a parabola over a width below margin 1, which is reduced
 * until the two objectives differ by less than the tolerance. The smooth objective is lower
 * everywhere, so that the difference at its optimum bounds the loss of accuracy. */
#include "model.h"

#include <math.h>
#include <string.h>

enum {
    LARGE = 1 << 21,  /* weights of outputs that are fitted together, at most: 200 MB */
    MAX_CG = 200,     /* largest number of conjugate gradient iterations of a Newton step */
    MIN_HINGE_CG = 16 /* smallest number for the hinge, whose first iterations predict the
                         rest poorly */
};

/* Vectors over columns: weights, gradient, step, residual, direction v, H v; F^T curve; P,
 * by which residuals are scaled: see scale_columns. */
enum { W, G, S, R, V, HV, T, P, VECTORS };
/* Vectors over rows: scores of the weights and of the step. */
enum { SCORE, ALONG, ROWS };

/* A class against the rest. */
struct output {
    double best;          /* objective of the best constant */
    double width;         /* of the smoothed hinge */
    double *y;            /* [n] +1, -1 */
    double *x[VECTORS];   /* [d+1] */
    double *row[ROWS];    /* [n] */
    real *curve;          /* [n] second derivatives of the losses at the weights */
    struct descent done;  /* by the iterations of a step */
    double rr, remaining; /* residual . P residual; what the step still lacks */
    double value, lost;   /* smooth objective; of the hinge's what is beyond it */
    int steps;            /* at this width */
    weft_fitted *fitted;
};

/* The outputs that take part in a product. */
struct set {
    int n;
    struct output *of[DUAL_WIDE];
};

struct newton {
    const margin_problem *problem;
    const weft_matrix *matrix;
    const double *weight; /* [n] of the losses: C times that of the row */
    /* for products of up to `outputs` vectors, and twice as many in trans */
    real *columns, *rows; /* [outputs][d], [2 outputs][n] */
    double *products;     /* [2 outputs][d] */
    int passes;
};

/* Loss, slope and curvature at margin m. */
static double loss_at(const struct newton *newton, double width, double m, double *slope,
                      double *curve)
{
    *slope = *curve = 0;
    if (newton->problem->kind == MARGIN_LOGISTIC) {
        double e = exp(-fabs(m)), q = m > 0 ? e / (1 + e) : 1 / (1 + e);
        *slope = -q;
        *curve = q * (1 - q);
        return margin_loss(MARGIN_LOGISTIC, m);
    }
    double gap = 1 - m;
    if (newton->problem->kind == MARGIN_SQUARED) width = INFINITY;
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

/* Vector `from` of each output as reals, for a product. */
static void round_columns(struct newton *newton, const struct set *set, int from)
{
    int64_t d = newton->matrix->d;
    for (int k = 0; k < set->n; k++)
        for (int64_t j = 0; j < d; j++)
            newton->columns[k * d + j] = (real)set->of[k]->x[from][j];
}

/* Row vector `to` of each output <- F x + x[d], x its vector `from`. */
static void scores(struct newton *newton, const struct set *set, int from, int to)
{
    int64_t n = newton->matrix->n, d = newton->matrix->d;
    round_columns(newton, set, from);
    newton->matrix->times(newton->matrix, set->n, newton->columns, newton->rows);
    for (int k = 0; k < set->n; k++)
        for (int64_t i = 0; i < n; i++)
            set->of[k]->row[to][i] =
                (double)newton->rows[k * n + i] + set->of[k]->x[from][d];
    newton->passes++;
}

/* Losses of rows at w + t step, and their slopes and curvatures along it: x[3][n]. */
static void line_losses(const struct newton *newton, const struct output *output, double t,
                        double *x)
{
    int64_t n = newton->matrix->n;
    const double *score = output->row[SCORE], *along = output->row[ALONG];
    for (int64_t i = 0; i < n; i++) {
        double g, h, m = output->y[i] * (score[i] + t * along[i]);
        double c = newton->weight[i];
        x[i] = c * loss_at(newton, output->width, m, &g, &h);
        x[n + i] = c * g * output->y[i] * along[i];
        x[2 * n + i] = c * h * along[i] * along[i];
    }
}

/* Derivatives of the losses at the weights: u[n] the first ones and, behind them, the
 * second, which become the output's curve; their sums are the intercept's in G and T.
 * Collective. */
static void derivatives(const struct newton *newton, struct output *output, double *u)
{
    double *h = u + newton->matrix->n, sum[2];
    for (int64_t i = 0; i < newton->matrix->n; i++) {
        loss_at(newton, output->width, output->y[i] * output->row[SCORE][i], &u[i], &h[i]);
        u[i] *= newton->weight[i] * output->y[i];
        h[i] *= newton->weight[i];
        output->curve[i] = (real)h[i];
    }
    margin_sums(newton->matrix, 2, u, sum);
    output->x[G][newton->matrix->d] = sum[0];
    output->x[T][newton->matrix->d] = sum[1];
}

/* Gradients at the weights, second derivatives of the losses, and F^T of these.
 * Collective. */
static void gradients(struct newton *newton, const struct set *set, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int64_t n = newton->matrix->n, d = newton->matrix->d;
    double *u = WEFT_NEW(tmp, double, 2 * n);
    for (int k = 0; k < set->n; k++) {
        derivatives(newton, set->of[k], u);
        for (int64_t i = 0; i < n; i++) newton->rows[2 * k * n + i] = (real)u[i];
        memcpy(newton->rows + (2 * k + 1) * n, set->of[k]->curve,
               (size_t)n * sizeof *newton->rows);
    }
    newton->matrix->trans(newton->matrix, 2 * set->n, newton->rows, newton->products);
    newton->passes++;
    for (int k = 0; k < set->n; k++) {
        double *const *x = set->of[k]->x;
        memcpy(x[G], newton->products + 2 * k * d, (size_t)d * sizeof *x[G]);
        memcpy(x[T], newton->products + (2 * k + 1) * d, (size_t)d * sizeof *x[T]);
        for (int64_t j = 0; j <= d; j++) x[G][j] += x[W][j];
    }
}

/* P of the outputs, given their curves. Not of the hinge, whose curves change too much from
 * step to step: gains of scaled iterations would say little of what remains. Collective. */
static void scale_columns(struct newton *newton, const struct set *set)
{
    int64_t n = newton->matrix->n, d = newton->matrix->d;
    if (!newton->matrix->rows || newton->problem->kind == MARGIN_HINGE) return;
    for (int k = 0; k < set->n; k++)
        memcpy(newton->rows + k * n, set->of[k]->curve, (size_t)n * sizeof *newton->rows);
    compact_squares(newton->matrix, set->n, newton->rows, newton->products);
    newton->passes++;
    for (int k = 0; k < set->n; k++) {
        double *const *x = set->of[k]->x;
        for (int64_t j = 0; j < d; j++) x[P][j] = 1 / (1 + newton->products[k * d + j]);
        x[P][d] = 1 / (1 + x[T][d]);
    }
}

/* HV = v + F^T (curve * (F v + v_d)), likewise for the intercept. Collective. */
static void hessians(struct newton *newton, const struct set *set)
{
    int64_t n = newton->matrix->n, d = newton->matrix->d;
    round_columns(newton, set, V);
    for (int k = 0; k < set->n; k++)
        memcpy(newton->rows + k * n, set->of[k]->curve, (size_t)n * sizeof *newton->rows);
    newton->matrix->normal(newton->matrix, set->n, newton->columns, newton->rows, 0,
                           newton->products);
    newton->passes++;
    for (int k = 0; k < set->n; k++) {
        const double *v = set->of[k]->x[V], *t = set->of[k]->x[T];
        double *h = set->of[k]->x[HV];
        for (int64_t j = 0; j < d; j++)
            h[j] = newton->products[k * d + j] + (v[j] + v[d] * t[j]);
        h[d] = v[d] * (1 + t[d]) + dot(d, t, v);
    }
}

static void step_begin(struct output *output, int64_t d)
{
    double *const *x = output->x;
    for (int64_t j = 0; j < d; j++) {
        x[S][j] = 0;
        x[R][j] = -x[G][j];
        x[V][j] = x[R][j] * x[P][j];
    }
    output->done = (struct descent){0};
    output->rr = dot(d, x[R], x[V]);
    output->remaining = 0.5 * dot(d, x[R], x[R]);
}

/* An iteration of conjugate gradients, HV being there. */
static void step_iterate(struct output *output, int64_t d)
{
    double *const *x = output->x;
    double a = output->rr / dot(d, x[V], x[HV]), old = output->rr;
    double size = 0;
    descent_add(&output->done, 0.5 * a * old);
    output->rr = 0;
    for (int64_t j = 0; j < d; j++) {
        x[S][j] += a * x[V][j];
        x[R][j] -= a * x[HV][j];
        size += x[R][j] * x[R][j];
        output->rr += x[R][j] * x[R][j] * x[P][j];
    }
    for (int64_t j = 0; j < d; j++)
        x[V][j] = x[R][j] * x[P][j] + output->rr / old * x[V][j];
    output->remaining = fmin(0.5 * size, descent_remaining(&output->done));
}

/* S = about -H^-1 g, such that at most a tenth of the gain of the quadratic model is
 * missing, as estimated from the gains of the iterations or, since H - I is positive
 * semidefinite, bounded by the residual. Collective. */
static void newton_steps(struct newton *newton, const struct set *set)
{
    int64_t d = newton->matrix->d + 1;
    int least = newton->problem->kind == MARGIN_HINGE ? MIN_HINGE_CG : 0;
    double first[DUAL_WIDE];
    struct set going = *set;
    for (int k = 0; k < set->n; k++) {
        step_begin(set->of[k], d);
        first[k] = set->of[k]->rr;
    }
    for (int i = 0; i < MAX_CG; i++) {
        int n = 0;
        for (int k = 0; k < going.n; k++) {
            struct output *output = going.of[k];
            int forced = i < least && output->rr > DESCENT_MIN_GAIN * first[k];
            if (!forced && !(output->remaining > 0.1 * descent_gained(&output->done)))
                continue;
            first[n] = first[k];
            going.of[n++] = output;
        }
        going.n = n;
        if (n == 0) break;
        hessians(newton, &going);
        for (int k = 0; k < n; k++) step_iterate(going.of[k], d);
    }
}

/* A search along the step of an output: at w + t step, t between lo and hi. */
struct line {
    double t, lo, hi;
    double ww, ws, ss; /* products of weights and step */
};

/* The next t, given the sums of line_losses at this one; 0: this one is the minimum. Sets
 * the objective. */
static int line_next(struct line *line, const double sum[3], double *value)
{
    double t = line->t, slope = line->ws + t * line->ss + sum[1], curve = line->ss + sum[2];
    *value = 0.5 * line->ww + t * line->ws + 0.5 * t * t * line->ss + sum[0];
    if (fabs(slope) <= 1e-3 * curve * t) return 0;
    *(slope > 0 ? &line->hi : &line->lo) = t;
    line->t = t - slope / curve;
    if (!(line->t > line->lo && line->t < line->hi))
        line->t = isfinite(line->hi) ? 0.5 * (line->lo + line->hi) : 2 * t;
    return 1;
}

/* Moves the weights of outputs to the minimum along their steps. Collective. */
static void line_searches(struct newton *newton, const struct set *set, weft_arena *tmp)
{
    enum { LIMIT = 30 };
    WEFT_REWIND(tmp);
    int64_t n = newton->matrix->n, d = newton->matrix->d + 1;
    double *x = WEFT_NEW(tmp, double, 3 * n * set->n), sum[3 * DUAL_WIDE];
    struct line line[DUAL_WIDE];
    int going[DUAL_WIDE], left = set->n;
    for (int k = 0; k < set->n; k++) {
        double *const *v = set->of[k]->x;
        line[k] = (struct line){.t = 1,
                                .hi = INFINITY,
                                .ww = dot(d, v[W], v[W]),
                                .ws = dot(d, v[W], v[S]),
                                .ss = dot(d, v[S], v[S])};
        going[k] = k;
    }
    for (int step = 0; step < LIMIT && left > 0; step++) {
        int some = left;
        for (int k = 0; k < some; k++)
            line_losses(newton, set->of[going[k]], line[going[k]].t, x + 3 * k * n);
        margin_sums(newton->matrix, 3 * some, x, sum);
        left = 0;
        for (int k = 0; k < some; k++)
            if (line_next(&line[going[k]], sum + 3 * k, &set->of[going[k]]->value))
                going[left++] = going[k];
    }
    for (int k = 0; k < set->n; k++)
        for (int64_t j = 0; j < d; j++)
            set->of[k]->x[W][j] += line[k].t * set->of[k]->x[S][j];
}

/* A Newton step of each output; its residual is what the next one may gain. Collective. */
static void minimise(struct newton *newton, const struct set *set, weft_arena *tmp)
{
    scores(newton, set, W, SCORE);
    gradients(newton, set, tmp);
    scale_columns(newton, set);
    newton_steps(newton, set);
    scores(newton, set, S, ALONG);
    line_searches(newton, set, tmp);
    for (int k = 0; k < set->n; k++) {
        struct output *output = set->of[k];
        output->steps++;
        output->fitted->iterations++;
        output->fitted->residual =
            margin_relative_gap(newton->problem, output->best, output->value,
                                descent_gained(&output->done) + output->remaining);
    }
}

/* Difference between the sums of hinge and smoothed hinge losses at the weights.
 * Collective. */
static double smoothing(struct newton *newton, struct output *output, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    double *x = WEFT_NEW(tmp, double, newton->matrix->n), g, h;
    struct set one = {.n = 1, .of = {output}};
    scores(newton, &one, W, SCORE);
    for (int64_t i = 0; i < newton->matrix->n; i++) {
        double m = output->y[i] * output->row[SCORE][i];
        x[i] = newton->weight[i] *
               (margin_loss(MARGIN_HINGE, m) - loss_at(newton, output->width, m, &g, &h));
    }
    double sum = margin_sum(newton->matrix, x);
    return sum;
}

/* 1 if the output is fitted: a step gains at most a tenth of the tolerance, and the hinge
 * is smooth over a width that is small enough; if it is not, that becomes smaller.
 * Collective. */
static int fitted(struct newton *newton, struct output *output, weft_arena *tmp)
{
    const margin_problem *problem = newton->problem;
    weft_fitted *out = output->fitted;
    if (out->residual > 0.1 * problem->tol && output->steps < problem->limit)
        return 0; /* a NaN ends it, too */
    if (problem->kind != MARGIN_HINGE) return 1;
    output->lost = smoothing(newton, output, tmp);
    out->residual += margin_relative_gap(problem, output->best,
                                         output->value + output->lost, output->lost);
    output->width *= 0.25;
    output->steps = 0;
    return !(out->residual > problem->tol && output->width > 1e-6);
}

static void output_new(const struct newton *newton, const margin_fits *fits, int k,
                       struct output *output, weft_arena *tmp)
{
    int64_t n = newton->matrix->n, d = newton->matrix->d;
    *output = (struct output){
        .best = fits->output[k].objective, .width = 1, .fitted = &fits->out[k]};
    output->y = WEFT_NEW(tmp, double, n);
    output->curve = WEFT_NEW(tmp, real, n);
    for (int i = 0; i < VECTORS; i++) output->x[i] = WEFT_NEW(tmp, double, d + 1);
    for (int i = 0; i < ROWS; i++) output->row[i] = WEFT_NEW(tmp, double, n);
    margin_signs(n, fits->answers->label, fits->output[k].one, output->y);
    for (int64_t j = 0; j < d; j++) output->x[W][j] = (double)fits->w[k * d + j];
    for (int64_t j = 0; j <= d; j++) output->x[P][j] = 1;
    output->x[W][d] = (double)fits->intercept[k];
}

int newton_wide(const weft_matrix *matrix)
{
    int64_t most = LARGE / (matrix->d > 0 ? matrix->d : 1);
    return most < 1 ? 1 : most > DUAL_WIDE ? DUAL_WIDE : (int)most;
}

void newton_fit(const margin_fits *fits, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int64_t n = fits->matrix->n, d = fits->matrix->d;
    struct newton newton = {.problem = fits->problem,
                            .matrix = fits->matrix,
                            .weight = margin_weights(fits->problem, fits->answers, n, tmp),
                            .columns = WEFT_NEW(tmp, real, fits->n * d),
                            .rows = WEFT_NEW(tmp, real, 2 * fits->n * n),
                            .products = WEFT_NEW(tmp, double, 2 * fits->n * d)};
    struct output *output = WEFT_NEW(tmp, struct output, fits->n);
    struct set set = {0};
    for (int k = 0; k < fits->n; k++) {
        if (fits->output[k].constant) continue;
        output_new(&newton, fits, k, &output[k], tmp);
        set.of[set.n++] = &output[k];
    }
    while (set.n > 0) {
        minimise(&newton, &set, tmp);
        int left = 0;
        for (int k = 0; k < set.n; k++)
            if (!fitted(&newton, set.of[k], tmp)) set.of[left++] = set.of[k];
        set.n = left;
    }
    for (int k = 0; k < fits->n; k++) {
        if (fits->output[k].constant) continue;
        for (int64_t j = 0; j < d; j++) fits->w[k * d + j] = (real)output[k].x[W][j];
        fits->intercept[k] = (real)output[k].x[W][d];
        fits->out[k].objective += output[k].value + output[k].lost;
    }
    fits->out[0].passes += newton.passes;
}
