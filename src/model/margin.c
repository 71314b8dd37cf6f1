/* Two-class and one-against-rest fits with a loss of the margin: labels, outputs, scores.
 * Called by logistic.c and svm.c. */
#include <math.h>

#include "dual.h"

int margin_outputs(int classes)
{
    return classes == 2 ? 1 : classes;
}

void margin_fit(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                int classes, real *w, weft_fitted *out, weft_arena *tmp)
{
    int outputs = margin_outputs(classes);
    real *intercept = w + (int64_t)outputs * f->d;
    size_t mark = weft_arena_mark(tmp);
    const dual_rows *x = f->rows ? dual_rows_of(p, f, label, tmp) : NULL;
    *out = (weft_fitted){0};
    for (int k = 0; k < outputs; k++) {
        int one = outputs == 1 ? 1 : k;
        real *to = w + k * f->d;
        if (x)
            dual_fit(p, x, one, to, &intercept[k], out, tmp);
        else
            newton_fit(p, f, label, one, to, &intercept[k], out, tmp);
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
