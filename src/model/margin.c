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

/* The outputs whose fits Newton steps complete; their weights are [all][d] numbers. */
struct unsolved {
    int n, which[DUAL_WIDE];
    int64_t d;
    real *w, *intercept;
    weft_fitted *out;
};

/* Newton steps for n of them, from number `from` on, over the columns of a compact matrix.
 * They start from zero where a result is worse than the best constant. Collective. */
static void newton_some(const margin_problem *problem, const weft_matrix *compact,
                        const uint32_t *column, const weft_answers *answers,
                        const margin_output *output, const struct unsolved *unsolved,
                        int from, int n, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    const int *which = unsolved->which + from;
    margin_problem remaining = *problem;
    margin_output of[DUAL_WIDE];
    weft_fitted out[DUAL_WIDE];
    real *v = WEFT_NEW(tmp, real, n * (compact->d + 1)), *b = v + n * compact->d;
    for (int k = 0; k < n; k++) {
        const real *w = unsolved->w + which[k] * unsolved->d;
        of[k] = output[which[k]];
        out[k] = unsolved->out[which[k]];
        int left = problem->limit - out[k].iterations;
        remaining.limit = left < remaining.limit ? left : remaining.limit;
        int starts = out[k].residual <= 1;
        for (int64_t j = 0; j < compact->d && starts; j++)
            v[k * compact->d + j] = w[column[j]];
        b[k] = starts ? unsolved->intercept[which[k]] : 0;
        out[k].objective = out[k].residual = 0;
    }
    newton_fit(&remaining, compact, answers, n, of, v, b, out, tmp);
    for (int k = 0; k < n; k++) {
        real *w = unsolved->w + which[k] * unsolved->d;
        memset(w, 0, (size_t)unsolved->d * sizeof *w);
        for (int64_t j = 0; j < compact->d; j++) w[column[j]] = v[k * compact->d + j];
        unsolved->intercept[which[k]] = b[k];
        unsolved->out[which[k]] = out[k];
    }
    weft_arena_reset(tmp, mark);
}

/* Newton steps for all of them over the columns that occur: the weights of all others are
 * 0. Collective. */
static void fit_newton(const margin_problem *problem, const weft_matrix *matrix,
                       const weft_answers *answers, const margin_output *output,
                       const struct unsolved *unsolved, weft_arena *tmp)
{
    if (unsolved->n == 0) return;
    size_t mark = weft_arena_mark(tmp);
    uint32_t *column;
    const weft_matrix compact = compact_new(matrix, unsolved->n, &column, tmp);
    int wide = newton_wide(&compact);
    for (int from = 0, n; from < unsolved->n; from += n) {
        n = unsolved->n - from < wide ? unsolved->n - from : wide;
        newton_some(problem, &compact, column, answers, output, unsolved, from, n, tmp);
    }
    weft_arena_reset(tmp, mark);
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
    size_t mark = weft_arena_mark(tmp);
    double *norm2 = WEFT_NEW(tmp, double, rows->x.n);
    for (int64_t i = 0; i < rows->x.n; i++) norm2[i] = weft_sparse_norm2(&rows->x, i);
    double shared = weft_sum_exact(rows->team, norm2, rows->x.n, rows->total),
           own = weft_sum_exact(rows->team, rows->single_norm2, rows->x.n, rows->total) +
                 4 * (double)rows->total / problem->c;
    weft_arena_reset(tmp, mark);
    return own < OWN_SHARE * (own + shared);
}

/* Fits outputs to sparse rows: by dual ascent, then, where that did not solve them, by
 * Newton steps. */
static void fit_rows(const margin_problem *problem, const weft_matrix *matrix,
                     const dual_rows *rows, const weft_answers *answers, int outputs,
                     const margin_output *output, real *w, real *intercept,
                     weft_fitted *each, weft_arena *tmp)
{
    int64_t d = matrix->d;
    struct unsolved unsolved = {.d = d, .w = w, .intercept = intercept, .out = each};
    if (too_shared(problem, rows, tmp))
        for (int k = 0; k < outputs; k++) each[k].residual = INFINITY;
    else
        dual_fit(problem, rows, outputs, output, d, w, intercept, each, tmp);
    int epochs = each[0].iterations, passes = each[0].passes;
    for (int k = 0; k < outputs; k++) {
        if (output[k].constant || each[k].residual <= problem->tol) continue;
        if (rows->groups > 1 && problem->kind == MARGIN_HINGE)
            fit_one_partition(problem, matrix, answers, &output[k], w + k * d,
                              &intercept[k], &each[k], tmp);
        if (!(each[k].residual <= problem->tol) && each[k].iterations < problem->limit)
            unsolved.which[unsolved.n++] = k;
    }
    fit_newton(problem, matrix, answers, output, &unsolved, tmp);
    for (int k = 1; k < outputs; k++) { /* what all share counts once */
        each[k].iterations -= epochs;
        each[k].passes -= passes;
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

/* Fits `outputs` outputs at the same time (rows NULL: rows are not sparse). */
static void fit_outputs(const margin_problem *problem, const weft_matrix *matrix,
                        const dual_rows *rows, const weft_answers *answers, int outputs,
                        const margin_output *output, real *w, real *intercept,
                        weft_fitted *out, weft_arena *tmp)
{
    weft_fitted each[DUAL_WIDE] = {{0}};
    int64_t d = matrix->d;
    if (rows)
        fit_rows(problem, matrix, rows, answers, outputs, output, w, intercept, each, tmp);
    else
        newton_fit(problem, matrix, answers, outputs, output, w, intercept, each, tmp);
    for (int k = 0; k < outputs; k++) {
        if (output[k].constant)
            fit_constant(&output[k], d, w + k * d, &intercept[k], &each[k]);
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
