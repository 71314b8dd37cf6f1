/* Two-class and one-against-rest fits with a loss of the margin: labels, outputs, scores.
 * Called by logistic.c and svm.c. */
#include <math.h>
#include <string.h>

#include "descent.h"
#include "dual.h"
#include "l1.h"

int margin_outputs(int classes)
{
    return classes == 2 ? 1 : classes;
}

double margin_penalty(const margin_problem *p, double w)
{
    return p->l1 ? fabs(w) : 0.5 * w * w;
}

/* Slope of the penalised loss of a constant b; at 0 by L1 the least of those it has. */
static double constant_slope(const margin_problem *p, double own, double others, double b)
{
    double slope =
        p->c * (own * margin_slope(p->kind, b) - others * margin_slope(p->kind, -b));
    if (!p->l1) return b + slope;
    if (b == 0) return fabs(slope) <= 1 ? 0 : slope;
    return (b > 0 ? 1 : -1) + slope;
}

/* By bisection on the slope in b, which rises, and beyond 1 + C n has the sign of b. */
margin_output margin_output_of(const margin_problem *p, int one, double own, double others)
{
    double hi = 1 + p->c * (own + others), lo = -hi, b = 0;
    while (b > lo && b < hi) {
        double slope = constant_slope(p, own, others, b);
        if (slope == 0) break;
        if (slope > 0)
            hi = b;
        else
            lo = b;
        b = 0.5 * (lo + hi);
    }
    double loss = own * margin_loss(p->kind, b) + others * margin_loss(p->kind, -b);
    return (margin_output){.one = one,
                           .alike = own <= 0 || others <= 0,
                           .b = b,
                           .objective = margin_penalty(p, b) + p->c * loss};
}

double margin_share(const margin_problem *p, double best, double objective, double above)
{
    double least = DESCENT_LEAST * best / p->tol;
    return above / fmax(best - objective + above, least);
}

/* The hinge's rows of no or few entries leave the intercept's equation where it has a jump,
 * at which its steps end in nothing: an output that groups gave up is fitted with all rows
 * in one partition, where the intercept moves with every visit. */
static void fit_whole(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                      const margin_output *of, real *w, real *intercept, weft_fitted *out,
                      weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    weft_fitted before = *out;
    margin_problem remaining = *p;
    weft_matrix whole = *f;
    whole.group = NULL;
    remaining.limit -= before.iterations;
    if (remaining.limit <= 0) return;
    const dual_rows *x = dual_rows_of(p, &whole, label, 1, tmp);
    dual_fit(&remaining, x, 1, of, f->d, w, intercept, out, tmp);
    out->iterations += before.iterations;
    out->passes += before.passes;
    weft_arena_reset(tmp, mark);
}

/* An output that all samples, or none, are of: the best constant is its fit. */
static void fit_constant(const margin_output *of, int64_t d, real *w, real *intercept,
                         weft_fitted *out)
{
    memset(w, 0, (size_t)d * sizeof *w);
    *intercept = (real)of->b;
    out->objective = of->objective;
    out->residual = 0;
}

/* Newton steps for an output that dual ascent gave up, or where rows are not sparse; they
 * start from where it came, unless that is worse than the best constant. */
static void fit_rest(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                     const margin_output *of, real *w, real *intercept, weft_fitted *out,
                     weft_arena *tmp)
{
    margin_problem remaining = *p;
    if (out->residual > 1 || !isfinite(out->residual)) {
        memset(w, 0, (size_t)f->d * sizeof *w);
        *intercept = 0;
    }
    remaining.limit -= out->iterations;
    if (remaining.limit <= 0) return;
    out->objective = out->residual = 0;
    newton_fit(&remaining, f, label, of, w, intercept, out, tmp);
}

/* What an output needs beside dual ascent, NULL if rows are not sparse. */
static void fit_one(const margin_problem *p, const weft_matrix *f, const dual_rows *x,
                    const int32_t *label, const margin_output *of, real *w, real *intercept,
                    weft_fitted *out, weft_arena *tmp)
{
    if (of->alike) {
        fit_constant(of, f->d, w, intercept, out);
        return;
    }
    if (x && x->groups > 1 && p->kind == MARGIN_HINGE && !(out->residual <= p->tol))
        fit_whole(p, f, label, of, w, intercept, out, tmp);
    if (!x || !(out->residual <= p->tol)) fit_rest(p, f, label, of, w, intercept, out, tmp);
}

/* Fits `outputs` side by side. What they share, they count once. */
static void fit_some(const margin_problem *p, const weft_matrix *f, const dual_rows *x,
                     const int32_t *label, int outputs, const margin_output *of, real *w,
                     real *intercept, weft_fitted *out, weft_arena *tmp)
{
    weft_fitted each[DUAL_WIDE] = {{0}};
    if (x) dual_fit(p, x, outputs, of, f->d, w, intercept, each, tmp);
    int epochs = each[0].iterations, passes = each[0].passes;
    out->iterations += epochs;
    out->passes += passes;
    for (int k = 0; k < outputs; k++) {
        fit_one(p, f, x, label, &of[k], w + k * f->d, &intercept[k], &each[k], tmp);
        out->iterations += each[k].iterations - epochs;
        out->passes += each[k].passes - passes;
        out->objective += each[k].objective;
        out->residual = fmax(out->residual, each[k].residual);
    }
}

/* By L1, one output after the other: on sparse rows by the rank that has them all. */
static void fit_l1(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                   int outputs, const margin_output *of, real *w, real *intercept,
                   weft_fitted *out, weft_arena *tmp)
{
    weft_matrix whole = *f;
    whole.group = NULL;
    const dual_rows *x = f->rows ? dual_rows_of(p, &whole, label, 1, tmp) : NULL;
    int mine = x && x->first < x->last;
    const l1_columns *columns = mine ? l1_columns_of(p, &x->x, f->d, tmp) : NULL;
    for (int k = 0; k < outputs; k++) {
        weft_fitted each = {0};
        if (of[k].alike)
            fit_constant(&of[k], f->d, w + k * f->d, &intercept[k], &each);
        else if (!x)
            l1_products_fit(p, f, label, &of[k], w + k * f->d, &intercept[k], &each, tmp);
        else if (mine)
            l1_fit(p, columns, x->label, &of[k], f->d, w + k * f->d, &intercept[k], &each,
                   tmp);
        if (x) weft_bcast(f->team, &each, sizeof each, 0);
        out->iterations += each.iterations;
        out->passes += each.passes;
        out->objective += each.objective;
        out->residual = fmax(out->residual, each.residual);
    }
    if (x) weft_bcast(f->team, w, (size_t)(outputs * (f->d + 1)) * sizeof *w, 0);
}

void margin_fit(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                int classes, real *w, weft_fitted *out, weft_arena *tmp)
{
    int outputs = margin_outputs(classes);
    real *intercept = w + (int64_t)outputs * f->d;
    size_t mark = weft_arena_mark(tmp);
    const dual_rows *x = f->rows && !p->l1 ? dual_rows_of(p, f, label, outputs, tmp) : NULL;
    int64_t *count = WEFT_NEW(tmp, int64_t, classes);
    margin_output *of = WEFT_NEW(tmp, margin_output, outputs);
    for (int64_t i = 0; i < f->n; i++) count[label[i]]++;
    weft_sum_i64(f->team, count, (size_t)classes);
    for (int k = 0; k < outputs; k++) {
        int one = outputs == 1 ? 1 : k;
        double own = (double)count[one];
        of[k] = margin_output_of(p, one, own, (double)f->total - own);
    }
    *out = (weft_fitted){0};
    if (p->l1) fit_l1(p, f, label, outputs, of, w, intercept, out, tmp);
    for (int k = 0; k < outputs && !p->l1; k += DUAL_WIDE) {
        int some = outputs - k < DUAL_WIDE ? outputs - k : DUAL_WIDE;
        fit_some(p, f, x, label, some, of + k, w + k * f->d, intercept + k, out, tmp);
    }
    out->objective /= (double)f->total;
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
    int most = 0;
    for (int k = 0; k < classes; k++) {
        if (s[k] > s[most]) most = k;
        sum += margin_loss(kind, k == y ? s[k] : -s[k]);
    }
    *wrong = most != y;
    return sum;
}
