/* Two-class and one-against-rest fits with a loss of the margin: labels, outputs, scores.
 * Called by logistic.c and svm.c. */
#include <math.h>
#include <string.h>

#include "descent.h"
#include "dual.h"

int margin_outputs(int classes)
{
    return classes == 2 ? 1 : classes;
}

double margin_slope(margin_kind kind, double m)
{
    if (kind == MARGIN_LOGISTIC) return -1 / (1 + exp(m));
    if (m >= 1) return 0;
    return kind == MARGIN_HINGE ? -1 : 2 * (m - 1);
}

/* By bisection on the slope in b, which rises, and beyond 1 + C n has the sign of b. */
margin_output margin_output_of(const margin_problem *p, int one, double own, double others)
{
    double hi = 1 + p->c * (own + others), lo = -hi, b = 0;
    while (b > lo && b < hi) {
        const double slope = b + p->c * (own * margin_slope(p->kind, b) -
                                         others * margin_slope(p->kind, -b));
        if (slope > 0)
            hi = b;
        else
            lo = b;
        b = 0.5 * (lo + hi);
    }
    const double loss = own * margin_loss(p->kind, b) + others * margin_loss(p->kind, -b);
    return (margin_output){.one = one, .b = b, .objective = 0.5 * b * b + p->c * loss};
}

double margin_share(const margin_problem *p, double best, double objective, double above)
{
    const double least = DESCENT_LEAST * best / p->tol;
    return above / fmax(best - objective + above, least);
}

/* Sparse rows: dual ascent, and Newton steps from there if it gave up. */
static void fit_one(const margin_problem *p, const weft_matrix *f, const dual_rows *x,
                    const int32_t *label, const margin_output *k, real *w, real *intercept,
                    weft_fitted *out, weft_arena *tmp)
{
    weft_fitted dual = {0};
    if (x) {
        dual_fit(p, x, k, w, intercept, &dual, tmp);
        if (dual.residual > 1 || !isfinite(dual.residual)) {
            memset(w, 0, (size_t)f->d * sizeof *w);
            *intercept = 0;
        }
    }
    margin_problem rest = *p;
    rest.limit -= dual.iterations;
    if (!x || (dual.residual > p->tol && rest.limit > 0)) {
        dual.objective = dual.residual = 0;
        newton_fit(&rest, f, label, k, w, intercept, &dual, tmp);
    }
    out->iterations += dual.iterations;
    out->passes += dual.passes;
    out->objective += dual.objective;
    out->residual = fmax(out->residual, dual.residual);
}

void margin_fit(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                int classes, real *w, weft_fitted *out, weft_arena *tmp)
{
    int outputs = margin_outputs(classes);
    real *intercept = w + (int64_t)outputs * f->d;
    size_t mark = weft_arena_mark(tmp);
    const dual_rows *x = f->rows ? dual_rows_of(p, f, label, tmp) : NULL;
    int64_t *count = WEFT_NEW(tmp, int64_t, classes);
    for (int64_t i = 0; i < f->n; i++) count[label[i]]++;
    weft_sum_i64(f->team, count, (size_t)classes);
    *out = (weft_fitted){0};
    for (int k = 0; k < outputs; k++) {
        const int one = outputs == 1 ? 1 : k;
        const margin_output of =
            margin_output_of(p, one, (double)count[one], (double)(f->total - count[one]));
        fit_one(p, f, x, label, &of, w + k * f->d, &intercept[k], out, tmp);
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
