/* Paths of gradient flow, gradient descent and ridge regression in closed form, and their
 * risks. */
#include "path.h"

#include <math.h>

/* (1 - x)^r and 1 - (1 - x)^r, for whole r >= 0. */
static void power(double x, double r, double *f, double *rest)
{
    if (x < 1) {
        *f = exp(r * log1p(-x));
        *rest = -expm1(r * log1p(-x));
        return;
    }
    double size = exp(r * log(x - 1)); /* x = 1: 0 */
    *f = r > 0 ? (fmod(r, 2) > 0 ? -size : size) : 1;
    *rest = 1 - *f;
}

void flow_train(const flow_problem *problem, const flow_setting *set, double r,
                const double *base, double *gain)
{
    int64_t fitted = set->features > 0 ? set->features : problem->m;
    for (int i = 0; i < problem->m; i++) {
        double s = problem->s[i], x = set->step * (s + set->lambda);
        if (i >= fitted || !(s > 0)) {
            gain[i] = 0;
            continue;
        }
        double f = r > 0 ? 0 : 1, rest = 1 - f;
        if (set->method == FLOW_DESCENT) power(x, floor(r), &f, &rest);
        if (set->method == FLOW_FLOW) {
            f = exp(-r * x);
            rest = -expm1(-r * x);
        }
        gain[i] = f * base[i] + rest * (s / (s + set->lambda));
    }
}

double flow_risk(const flow_problem *problem, const double *gain)
{
    double noise = problem->variance / (double)problem->n;
    double sum = 0;
    for (int i = 0; i < problem->m; i++) {
        double s = problem->s[i], g = gain[i], weight = problem->weight > 0 ? s : 1;
        sum += weight * problem->c[i] * (1 - g) * (1 - g);
        if (s > 0) sum += weight * noise * g * g / s;
    }
    return isfinite(sum) ? sum : INFINITY;
}

double flow_training_loss(const flow_problem *problem, const double *gain)
{
    double sum = 0, fitted = 0;
    for (int i = 0; i < problem->m; i++) {
        double off = (1 - gain[i]) * (1 - gain[i]);
        if (!(problem->s[i] > 0)) continue;
        sum +=
            off * (problem->s[i] * problem->c[i] + problem->variance / (double)problem->n);
        fitted++;
    }
    return sum + problem->variance * (1 - fitted / (double)problem->n);
}

double flow_residual(const flow_problem *problem, const flow_setting *set,
                     const double *gain)
{
    int64_t fitted = set->features > 0 ? set->features : problem->m;
    double off = 0, all = 0;
    for (int i = 0; i < problem->m && i < fitted; i++) {
        if (!(problem->s[i] > 0)) continue;
        double end = problem->s[i] / (problem->s[i] + set->lambda);
        off += (gain[i] - end) * (gain[i] - end);
        all += end * end;
    }
    return all > 0 ? sqrt(off / all) : 0;
}
