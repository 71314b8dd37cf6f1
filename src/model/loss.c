/* What solvers share. Sums over the answers of all rows; gains of an iterative descent, and
 * an estimate of those to come; losses of the margin, their conjugates, and the step of
 * dual coordinate ascent on one sample: exact for hinge and squared hinge (Hsieh et al.,
 * ICML 2008), by Newton steps for logistic loss (Yu, Huang, Lin, Machine Learning 85,
 * 2011). */
#include "model.h"
#include "weft/base/random.h"

#include <math.h>

/* ---- answers ---- */

double margin_sum(const weft_matrix *matrix, const double *x)
{
    return weft_sum_exact(matrix->team, x, matrix->n, matrix->total);
}

void margin_sums(const weft_matrix *matrix, int c, const double *x, double *sum)
{
    weft_sums_exact(matrix->team, c, x, matrix->n, matrix->total, sum);
}

double answers_total(const weft_matrix *matrix, const weft_answers *answers)
{
    return answers->weight ? margin_sum(matrix, answers->weight) : (double)matrix->total;
}

void answers_count(const weft_matrix *matrix, const weft_answers *answers, double *count,
                   weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int64_t *rows = WEFT_NEW(tmp, int64_t, answers->classes);
    double *x = WEFT_NEW(tmp, double, matrix->n);
    for (int64_t i = 0; i < matrix->n; i++) rows[answers->label[i]]++;
    weft_sum_i64(matrix->team, rows, (size_t)answers->classes);
    for (int j = 0; j < answers->classes; j++) {
        count[j] = (double)rows[j];
        for (int64_t i = 0; answers->weight && i < matrix->n; i++)
            x[i] = answers->label[i] == j ? answers->weight[i] : 0;
        if (answers->weight) count[j] = margin_sum(matrix, x);
    }
}

void answers_moments(const weft_matrix *matrix, const weft_answers *answers, double *mean,
                     double *variance, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    double *x = WEFT_NEW(tmp, double, matrix->n), total = answers_total(matrix, answers);
    int m = answers->classes;
    for (int j = 0; j < m; j++)
        for (int power = 1; power <= 2; power++) {
            for (int64_t i = 0; i < matrix->n; i++) {
                double weight = answers->weight ? answers->weight[i] : 1,
                       own = answers->target[i * m + j];
                double off = own - mean[j];
                x[i] = weight * (power == 1 ? own : off * off);
            }
            *(power == 1 ? &mean[j] : &variance[j]) = margin_sum(matrix, x) / total;
        }
}

/* ---- gains ---- */

static double gained_after(const struct descent *descent, int steps)
{
    return descent->gained[steps % DESCENT_HISTORY];
}

void descent_add(struct descent *descent, double less)
{
    double before = gained_after(descent, descent->steps++);
    descent->gained[descent->steps % DESCENT_HISTORY] = before + less;
}

double descent_gained(const struct descent *descent)
{
    return gained_after(descent, descent->steps);
}

double descent_remaining(const struct descent *descent)
{
    if (descent->steps < 2) return INFINITY;
    int n = descent->steps / 3;
    n = n < 1 ? 1 : n > DESCENT_WINDOW ? DESCENT_WINDOW : n;
    double last =
        gained_after(descent, descent->steps) - gained_after(descent, descent->steps - n);
    double before = gained_after(descent, descent->steps - n) -
                    gained_after(descent, descent->steps - 2 * n);
    if (!(last > 0)) return 0;
    return last < before ? last * last / (before - last) : INFINITY;
}

/* ---- losses ---- */

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

/* ---- one fit ---- */

double margin_relative_gap(const margin_problem *problem, double best, double objective,
                           double above)
{
    double min_gain = DESCENT_MIN_GAIN * best / problem->tol;
    return above / fmax(best - objective + above, min_gain);
}

void margin_signs(int64_t n, const int32_t *label, int one, double *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = label[i] == one ? 1 : -1;
}

double *margin_weights(const margin_problem *problem, const weft_answers *answers,
                       int64_t n, weft_arena *mem)
{
    double *weight = WEFT_NEW(mem, double, n);
    for (int64_t i = 0; i < n; i++)
        weight[i] = problem->c * (answers->weight ? answers->weight[i] : 1);
    return weight;
}

void margin_shuffle(const int64_t *row, int64_t n, int group, int now, int64_t *order)
{
    weft_rng4 rng = {{0}};
    for (int64_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            rng =
                weft_rng_at(0, WEFT_RNG_SOLVE, (uint64_t)group, (uint64_t)now, (uint64_t)i);
        int64_t j = (int64_t)(weft_rng_unit(rng.v[i % 4]) * (double)(i + 1));
        order[i] = order[j];
        order[j] = row ? row[i] : i;
    }
}
