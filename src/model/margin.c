/* Two-class and one-against-rest fits with a loss of the margin: labels, outputs, scores.
 */
#include "model.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 2 };
/* Of the curvature: see too_shared. On sentences of SST both take about the same time. */
#define OWN_SHARE 0.1

int margin_outputs(int classes)
{
    return classes == 2 ? 1 : classes;
}

/* Slope of the penalised loss of a constant b; at 0 under L1 the subgradient of least
 * magnitude. */
static double constant_slope(const margin_problem *problem, double positives,
                             double negatives, double b)
{
    double slope = problem->c * (positives * margin_slope(problem->kind, b) -
                                 negatives * margin_slope(problem->kind, -b));
    if (!problem->l1) return b + slope;
    if (b == 0) return fabs(slope) <= 1 ? 0 : slope;
    return (b > 0 ? 1 : -1) + slope;
}

/* The output of class `one`, with so many samples of it and of all other classes, by
 * bisection on the slope in b, which increases, and has the sign of b for |b| > 1 + C n. */
static margin_output output_of(const margin_problem *problem, int one, double positives,
                               double negatives)
{
    double hi = 1 + problem->c * (positives + negatives), lo = -hi, b = 0;
    while (b > lo && b < hi) {
        double slope = constant_slope(problem, positives, negatives, b);
        if (slope == 0) break;
        if (slope > 0)
            hi = b;
        else
            lo = b;
        b = 0.5 * (lo + hi);
    }
    double loss = positives * margin_loss(problem->kind, b) +
                  negatives * margin_loss(problem->kind, -b),
           penalty = problem->l1 ? fabs(b) : 0.5 * b * b;
    return (margin_output){.one = one,
                           .constant = positives <= 0 || negatives <= 0,
                           .b = b,
                           .objective = penalty + problem->c * loss};
}

/* `n` of the outputs, from number `from` on. */
static margin_fits some_of(const margin_fits *fits, int from, int n)
{
    margin_fits some = *fits;
    some.n = n;
    some.output += from;
    some.w += from * fits->matrix->d;
    some.intercept += from;
    some.out += from;
    return some;
}

/* With hinge loss, rows of no or few entries make the intercept's equation discontinuous,
 * so that Newton steps on it may not converge: an output that did not converge with several
 * groups is fitted again with all rows in one partition, where every visit updates the
 * intercept. */
static void fit_one_partition(const margin_fits *fit, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    weft_fitted before = *fit->out;
    margin_problem remaining = *fit->problem;
    weft_matrix whole = *fit->matrix;
    margin_fits again = *fit;
    whole.group = NULL;
    remaining.limit -= before.iterations;
    if (remaining.limit <= 0) return;
    again.problem = &remaining;
    dual_fit(&again, dual_rows_of(fit->problem, &whole, fit->answers, 1, tmp), tmp);
    fit->out->iterations += before.iterations;
    fit->out->passes += before.passes;
}

/* An output whose class has all samples or none: its fit is the best constant. */
static void fit_constant(const margin_fits *fit)
{
    memset(fit->w, 0, (size_t)fit->matrix->d * sizeof *fit->w);
    *fit->intercept = (real)fit->output->b;
    fit->out->objective = fit->output->objective;
    fit->out->residual = 0;
}

/* Newton steps for the outputs which[n], over the columns of a compact matrix. They start
 * from zero where a result is worse than the best constant. Collective. */
static void newton_some(const margin_fits *fits, const weft_matrix *compact,
                        const uint32_t *column, int n, const int *which, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int64_t d = fits->matrix->d, m = compact->d;
    margin_problem remaining = *fits->problem;
    margin_output output[DUAL_WIDE];
    weft_fitted out[DUAL_WIDE];
    real *v = WEFT_NEW(tmp, real, n * (m + 1)), *b = v + n * m;
    for (int k = 0; k < n; k++) {
        const real *w = fits->w + which[k] * d;
        output[k] = fits->output[which[k]];
        out[k] = fits->out[which[k]];
        int left = fits->problem->limit - out[k].iterations;
        remaining.limit = left < remaining.limit ? left : remaining.limit;
        int starts = out[k].residual <= 1;
        for (int64_t j = 0; j < m && starts; j++) v[k * m + j] = w[column[j]];
        b[k] = starts ? fits->intercept[which[k]] : 0;
        out[k].objective = out[k].residual = 0;
    }
    newton_fit(&(margin_fits){&remaining, compact, fits->answers, n, output, v, b, out},
               tmp);
    for (int k = 0; k < n; k++) {
        real *w = fits->w + which[k] * d;
        memset(w, 0, (size_t)d * sizeof *w);
        for (int64_t j = 0; j < m; j++) w[column[j]] = v[k * m + j];
        fits->intercept[which[k]] = b[k];
        fits->out[which[k]] = out[k];
    }
}

/* Newton steps for the outputs which[n] over the columns that occur: the weights of all
 * others are 0. Collective. */
static void fit_newton(const margin_fits *fits, int n, const int *which, weft_arena *tmp)
{
    if (n == 0) return;
    WEFT_REWIND(tmp);
    uint32_t *column;
    const weft_matrix compact = compact_new(fits->matrix, n, &column, tmp);
    int wide = newton_wide(&compact);
    for (int from = 0; from < n; from += wide)
        newton_some(fits, &compact, column, n - from < wide ? n - from : wide, which + from,
                    tmp);
}

/* 1 if dual ascent of several outputs would take more time than Newton steps: it does where
 * rows share few columns, at most COLUMNS a row in all, and where little of the dual
 * objective's curvature is in single dual variables, so that it needs many epochs. That
 * part is the squares of entries in columns that no other row has, and the curvature of the
 * conjugate loss, at least 4 / C. Collective. */
static int too_shared(const margin_problem *problem, const dual_rows *rows, weft_arena *tmp)
{
    if (problem->kind != MARGIN_LOGISTIC || !rows->single_norm2) return 0;
    if (rows->d >= COLUMNS * rows->total) return 0;
    WEFT_REWIND(tmp);
    double *norm2 = WEFT_NEW(tmp, double, rows->x.n);
    for (int64_t i = 0; i < rows->x.n; i++) norm2[i] = weft_sparse_norm2(&rows->x, i);
    double shared = weft_sum_exact(rows->team, norm2, rows->x.n, rows->total),
           own = weft_sum_exact(rows->team, rows->single_norm2, rows->x.n, rows->total) +
                 4 * (double)rows->total / problem->c;
    return own < OWN_SHARE * (own + shared);
}

/* Fits outputs to sparse rows: by dual ascent, then, where that did not solve them, by
 * Newton steps. */
static void fit_rows(const margin_fits *fits, const dual_rows *rows, weft_arena *tmp)
{
    const margin_problem *problem = fits->problem;
    weft_fitted *out = fits->out;
    int unsolved[DUAL_WIDE], n = 0;
    if (too_shared(problem, rows, tmp))
        for (int k = 0; k < fits->n; k++) out[k].residual = INFINITY;
    else
        dual_fit(fits, rows, tmp);
    int epochs = out[0].iterations, passes = out[0].passes;
    for (int k = 0; k < fits->n; k++) {
        if (fits->output[k].constant || out[k].residual <= problem->tol) continue;
        if (rows->groups > 1 && problem->kind == MARGIN_HINGE) {
            const margin_fits one = some_of(fits, k, 1);
            fit_one_partition(&one, tmp);
        }
        if (!(out[k].residual <= problem->tol) && out[k].iterations < problem->limit)
            unsolved[n++] = k;
    }
    fit_newton(fits, n, unsolved, tmp);
    for (int k = 1; k < fits->n; k++) { /* what all share counts once */
        out[k].iterations -= epochs;
        out[k].passes -= passes;
    }
}

/* Adds the fit of an output to that of all. */
static void add_fitted(weft_fitted *out, const weft_fitted *each)
{
    out->iterations += each->iterations;
    out->passes += each->passes;
    out->objective += each->objective;
    out->residual = fmax(out->residual, each->residual);
}

/* Fits the outputs at the same time (rows NULL: rows are not sparse), and adds them to
 * *out. */
static void fit_outputs(const margin_fits *fits, const dual_rows *rows, weft_fitted *out,
                        weft_arena *tmp)
{
    weft_fitted each[DUAL_WIDE] = {{0}};
    margin_fits own = *fits;
    own.out = each;
    if (rows)
        fit_rows(&own, rows, tmp);
    else
        newton_fit(&own, tmp);
    for (int k = 0; k < own.n; k++) {
        const margin_fits one = some_of(&own, k, 1);
        if (one.output->constant) fit_constant(&one);
        add_fitted(out, one.out);
    }
}

/* With the L1 penalty, one output after the other; sparse rows are all on one rank, which
 * fits. */
static void fit_l1(const margin_fits *fits, weft_fitted *out, weft_arena *tmp)
{
    const weft_matrix *matrix = fits->matrix;
    weft_matrix whole = *matrix;
    whole.group = NULL;
    const dual_rows *rows =
        matrix->rows ? dual_rows_of(fits->problem, &whole, fits->answers, 1, tmp) : NULL;
    int mine = rows && rows->first < rows->last;
    const l1_columns *columns =
        mine ? l1_columns_of(fits->problem, rows, matrix->d, tmp) : NULL;
    for (int k = 0; k < fits->n; k++) {
        weft_fitted each = {0};
        margin_fits one = some_of(fits, k, 1);
        one.out = &each;
        if (one.output->constant)
            fit_constant(&one);
        else if (!rows)
            l1_products_fit(&one, tmp);
        else if (mine)
            l1_fit(&one, columns, rows->label, tmp);
        if (rows) weft_bcast(matrix->team, &each, sizeof each, 0);
        add_fitted(out, &each);
    }
    if (rows)
        weft_bcast(matrix->team, fits->w,
                   (size_t)(fits->n * (matrix->d + 1)) * sizeof *fits->w, 0);
}

void margin_fit(const margin_problem *problem, const weft_matrix *matrix,
                const weft_answers *answers, real *w, weft_fitted *out, weft_arena *tmp)
{
    int outputs = margin_outputs(answers->classes);
    WEFT_REWIND(tmp);
    double *count = WEFT_NEW(tmp, double, answers->classes),
           total = answers_total(matrix, answers);
    const dual_rows *rows = matrix->rows && !problem->l1
                                ? dual_rows_of(problem, matrix, answers, outputs, tmp)
                                : NULL;
    margin_output *output = WEFT_NEW(tmp, margin_output, outputs);
    const margin_fits all = {.problem = problem,
                             .matrix = matrix,
                             .answers = answers,
                             .n = outputs,
                             .output = output,
                             .w = w,
                             .intercept = w + (int64_t)outputs * matrix->d};
    answers_count(matrix, answers, count, tmp);
    for (int k = 0; k < outputs; k++) {
        int one = outputs == 1 ? 1 : k;
        output[k] = output_of(problem, one, count[one], total - count[one]);
    }
    *out = (weft_fitted){0};
    if (problem->l1) fit_l1(&all, out, tmp);
    int wide = rows ? DUAL_WIDE : newton_wide(matrix);
    for (int k = 0; k < outputs && !problem->l1; k += wide) {
        const margin_fits some = some_of(&all, k, outputs - k < wide ? outputs - k : wide);
        fit_outputs(&some, rows, out, tmp);
    }
    out->objective /= total;
    out->diverged = !isfinite(out->objective);
}

double margin_score(margin_kind kind, int classes, const double *s, int y, int *wrong)
{
    if (classes == 2) {
        *wrong = (s[0] > 0) != (y == 1);
        return margin_loss(kind, y == 1 ? s[0] : -s[0]);
    }
    double sum = 0;
    int best = 0;
    for (int k = 0; k < classes; k++) {
        if (s[k] > s[best]) best = k;
        sum += margin_loss(kind, k == y ? s[k] : -s[k]);
    }
    *wrong = best != y;
    return sum;
}
