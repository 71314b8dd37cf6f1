/* Losses of the margin, their conjugates, and the step of dual coordinate ascent on one
 * sample: exact for hinge and squared hinge (Hsieh et al., ICML 2008), by Newton steps for
 * logistic loss (Yu, Huang, Lin, Machine Learning 85, 2011); their exact sums over samples
 * and relative gaps. */
#include "descent.h"
#include "dual.h"
#include "weft/exact.h"

#include <math.h>

double margin_loss(margin_kind kind, double m)
{
    double shortfall = m < 1 ? 1 - m : 0;
    if (kind == MARGIN_HINGE) return shortfall;
    if (kind == MARGIN_SQUARED) return shortfall * shortfall;
    return m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m;
}

double margin_slope(margin_kind kind, double m)
{
    if (kind == MARGIN_LOGISTIC) return -1 / (1 + exp(m));
    if (m >= 1) return 0;
    return kind == MARGIN_HINGE ? -1 : 2 * (m - 1);
}

/* Clamps a logistic dual variable to the interior of (0, c), where its conjugate has a
 * derivative. */
static double clamp_dual(double a, double c)
{
    double edge = 1e-14 * c;
    return fmin(fmax(a, edge), c - edge);
}

double margin_conj(const margin_problem *problem, double a)
{
    if (problem->kind == MARGIN_HINGE) return -a;
    if (problem->kind == MARGIN_SQUARED) return a * a / (4 * problem->c) - a;
    a = clamp_dual(a, problem->c);
    return a * log(a / problem->c) + (problem->c - a) * log1p(-a / problem->c);
}

double margin_conj_slope(const margin_problem *problem, double a)
{
    if (problem->kind == MARGIN_HINGE) return -1;
    if (problem->kind == MARGIN_SQUARED) return a / (2 * problem->c) - 1;
    a = clamp_dual(a, problem->c);
    return log(a / (problem->c - a));
}

double margin_conj_curve(const margin_problem *problem, double a)
{
    if (problem->kind == MARGIN_HINGE) return 0;
    if (problem->kind == MARGIN_SQUARED) return 1 / (2 * problem->c);
    a = clamp_dual(a, problem->c);
    return problem->c / (a * (problem->c - a));
}

/* argmin over t of 1/2 q (t - a)^2 + m (t - a) + conj(t), logistic: Newton steps within a
 * bracket, to 8 digits. */
static double logistic_best(double c, double q, double m, double a)
{
    double lo = 1e-14 * c, hi = c - lo;
    double t = clamp_dual(a > 0 ? a : c / (1 + exp(m) + c * q / (1 + fabs(m))), c);
    for (int k = 0; k < 50; k++) {
        double g = q * (t - a) + m + log(t / (c - t));
        if (g > 0) {
            hi = t;
        } else {
            lo = t;
        }
        double next = t - g / (q + c / (t * (c - t)));
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (fabs(next - t) <= 1e-8 * fmin(t, c - t)) return next;
        t = next;
    }
    return t;
}

double margin_best(const margin_problem *problem, double q, double m, double a)
{
    if (problem->kind == MARGIN_LOGISTIC) return logistic_best(problem->c, q, m, a);
    double curve = q + margin_conj_curve(problem, a),
           slope = m + margin_conj_slope(problem, a);
    double top = problem->kind == MARGIN_HINGE ? problem->c : INFINITY;
    if (curve <= 0) return slope < 0 ? top : 0; /* a row without entries */
    return fmin(fmax(a - slope / curve, 0), top);
}

double margin_sum(const weft_matrix *matrix, const double *x)
{
    double bound =
        weft_largest_f64(matrix->team, x, (size_t)matrix->n) * (double)matrix->total;
    int scale = weft_fix_scale(bound);
    int64_t whole = 0;
    for (int64_t i = 0; i < matrix->n && isfinite(bound); i++)
        whole += weft_fix(x[i], scale);
    double sum;
    weft_sum_whole(matrix->team, &whole, 1, scale, bound, &sum);
    return sum;
}

double margin_relative_gap(const margin_problem *problem, double best, double objective,
                           double above)
{
    double min_gain = DESCENT_MIN_GAIN * best / problem->tol;
    return above / fmax(best - objective + above, min_gain);
}
