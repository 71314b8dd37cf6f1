/* Two-class and one-against-rest fits with a loss of the margin: labels, outputs, scores.
 */
#include "model.h"

#include <math.h>
#include <string.h>

int margin_outputs(int classes)
{
    return classes == 2 ? 1 : classes;
}

/* Penalty on a weight or intercept. */
static double penalty_of(const margin_problem *problem, double w)
{
    return problem->l1 ? fabs(w) : 0.5 * w * w;
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
                  negatives * margin_loss(problem->kind, -b);
    return (margin_output){.one = one,
                           .constant = positives <= 0 || negatives <= 0,
                           .b = b,
                           .objective = penalty_of(problem, b) + problem->c * loss};
}

/* With hinge loss, rows of no or few entries make the intercept's equation discontinuous,
 * so that Newton steps on it may not converge: an output that did not converge with several
 * groups is fitted again with all rows in one partition, where every visit updates the
 * intercept. */
static void fit_one_partition(const margin_problem *problem, const weft_matrix *matrix,
                              const weft_answers *answers, const margin_output *output,
                              real *w, real *intercept, weft_fitted *out, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    weft_fitted before = *out;
    margin_problem remaining = *problem;
    weft_matrix whole = *matrix;
    whole.group = NULL;
    remaining.limit -= before.iterations;
    if (remaining.limit <= 0) return;
    const dual_rows *rows = dual_rows_of(problem, &whole, answers, 1, tmp);
    dual_fit(&remaining, rows, 1, output, matrix->d, w, intercept, out, tmp);
    out->iterations += before.iterations;
    out->passes += before.passes;
    weft_arena_reset(tmp, mark);
}

/* An output whose class has all samples or none: its fit is the best constant. */
static void fit_constant(const margin_output *output, int64_t d, real *w, real *intercept,
                         weft_fitted *out)
{
    memset(w, 0, (size_t)d * sizeof *w);
    *intercept = (real)output->b;
    out->objective = output->objective;
    out->residual = 0;
}

/* Newton steps for an output that dual ascent did not solve; they start from its result,
 * unless that is worse than the best constant. */
static void fit_newton(const margin_problem *problem, const weft_matrix *matrix,
                       const weft_answers *answers, const margin_output *output, real *w,
                       real *intercept, weft_fitted *out, weft_arena *tmp)
{
    margin_problem remaining = *problem;
    if (out->residual > 1 || !isfinite(out->residual)) {
        memset(w, 0, (size_t)matrix->d * sizeof *w);
        *intercept = 0;
    }
    remaining.limit -= out->iterations;
    if (remaining.limit <= 0) return;
    out->objective = out->residual = 0;
    newton_fit(&remaining, matrix, answers, 1, output, w, intercept, out, tmp);
}

/* Completes an output after dual ascent. */
static void fit_one(const margin_problem *problem, const weft_matrix *matrix,
                    const dual_rows *rows, const weft_answers *answers,
                    const margin_output *output, real *w, real *intercept, weft_fitted *out,
                    weft_arena *tmp)
{
    if (rows->groups > 1 && problem->kind == MARGIN_HINGE &&
        !(out->residual <= problem->tol))
        fit_one_partition(problem, matrix, answers, output, w, intercept, out, tmp);
    if (!(out->residual <= problem->tol))
        fit_newton(problem, matrix, answers, output, w, intercept, out, tmp);
}

/* Adds the fit of an output to that of all. */
static void add_fitted(weft_fitted *out, const weft_fitted *each)
{
    out->iterations += each->iterations;
    out->passes += each->passes;
    out->objective += each->objective;
    out->residual = fmax(out->residual, each->residual);
}

/* Fits `outputs` outputs at the same time (rows NULL: rows are not sparse). What they share
 * is counted once. */
static void fit_outputs(const margin_problem *problem, const weft_matrix *matrix,
                        const dual_rows *rows, const weft_answers *answers, int outputs,
                        const margin_output *output, real *w, real *intercept,
                        weft_fitted *out, weft_arena *tmp)
{
    weft_fitted each[DUAL_WIDE] = {{0}};
    int64_t d = matrix->d;
    if (rows)
        dual_fit(problem, rows, outputs, output, d, w, intercept, each, tmp);
    else
        newton_fit(problem, matrix, answers, outputs, output, w, intercept, each, tmp);
    int epochs = rows ? each[0].iterations : 0, passes = rows ? each[0].passes : 0;
    out->iterations += epochs;
    out->passes += passes;
    for (int k = 0; k < outputs; k++) {
        if (output[k].constant)
            fit_constant(&output[k], d, w + k * d, &intercept[k], &each[k]);
        else if (rows)
            fit_one(problem, matrix, rows, answers, &output[k], w + k * d, &intercept[k],
                    &each[k], tmp);
        each[k].iterations -= epochs;
        each[k].passes -= passes;
        add_fitted(out, &each[k]);
    }
}

/* With the L1 penalty, one output after the other; sparse rows are all on one rank, which
 * fits. */
static void fit_l1(const margin_problem *problem, const weft_matrix *matrix,
                   const weft_answers *answers, int outputs, const margin_output *output,
                   real *w, real *intercept, weft_fitted *out, weft_arena *tmp)
{
    weft_matrix whole = *matrix;
    whole.group = NULL;
    const dual_rows *rows =
        matrix->rows ? dual_rows_of(problem, &whole, answers, 1, tmp) : NULL;
    int mine = rows && rows->first < rows->last;
    const l1_columns *columns = mine ? l1_columns_of(problem, rows, matrix->d, tmp) : NULL;
    for (int k = 0; k < outputs; k++) {
        weft_fitted each = {0};
        if (output[k].constant)
            fit_constant(&output[k], matrix->d, w + k * matrix->d, &intercept[k], &each);
        else if (!rows)
            l1_products_fit(problem, matrix, answers, &output[k], w + k * matrix->d,
                            &intercept[k], &each, tmp);
        else if (mine)
            l1_fit(problem, columns, rows->label, &output[k], matrix->d, w + k * matrix->d,
                   &intercept[k], &each, tmp);
        if (rows) weft_bcast(matrix->team, &each, sizeof each, 0);
        add_fitted(out, &each);
    }
    if (rows)
        weft_bcast(matrix->team, w, (size_t)(outputs * (matrix->d + 1)) * sizeof *w, 0);
}

void margin_fit(const margin_problem *problem, const weft_matrix *matrix,
                const weft_answers *answers, real *w, weft_fitted *out, weft_arena *tmp)
{
    int outputs = margin_outputs(answers->classes);
    real *intercept = w + (int64_t)outputs * matrix->d;
    size_t mark = weft_arena_mark(tmp);
    const dual_rows *rows = matrix->rows && !problem->l1
                                ? dual_rows_of(problem, matrix, answers, outputs, tmp)
                                : NULL;
    double *count = WEFT_NEW(tmp, double, answers->classes),
           total = answers_total(matrix, answers);
    margin_output *output = WEFT_NEW(tmp, margin_output, outputs);
    answers_count(matrix, answers, count, tmp);
    for (int k = 0; k < outputs; k++) {
        int one = outputs == 1 ? 1 : k;
        output[k] = output_of(problem, one, count[one], total - count[one]);
    }
    *out = (weft_fitted){0};
    if (problem->l1)
        fit_l1(problem, matrix, answers, outputs, output, w, intercept, out, tmp);
    int wide = rows ? DUAL_WIDE : newton_wide(matrix);
    for (int k = 0; k < outputs && !problem->l1; k += wide) {
        int n = outputs - k < wide ? outputs - k : wide;
        fit_outputs(problem, matrix, rows, answers, n, output + k, w + k * matrix->d,
                    intercept + k, out, tmp);
    }
    out->objective /= total;
    out->diverged = !isfinite(out->objective);
    weft_arena_reset(tmp, mark);
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
