/* The centred normal equations of ridge regression: products, norms and residuals, summed
 * in a fixed order. */
#include "ridge.h"

#include <math.h>
#include <string.h>

double ridge_target(const ridge_system *system, int64_t i, int j)
{
    const weft_answers *answers = system->y;
    return answers->target          ? answers->target[i * answers->classes + j]
           : answers->label[i] == j ? 1
                                    : -1;
}

double ridge_dot(int64_t n, const double *a, const double *b)
{
    double s[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) s[k] += a[i + k] * b[i + k];
    for (; i < n; i++) s[0] += a[i] * b[i];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

void ridge_round(const ridge_system *system, double *x)
{
    for (int64_t i = 0; i < system->c * system->matrix->d; i++) x[i] = (double)(real)x[i];
}

void ridge_centre(const ridge_system *system, int64_t first, int64_t end, double along,
                  const double *v, double *q)
{
    double shift = system->total * along;
    for (int64_t k = first; k < end; k++)
        q[k] += system->alpha * v[k] - shift * system->mean[k];
}

void ridge_product(ridge_system *system, int p, const double *v, double *q)
{
    int64_t d = system->matrix->d;
    for (int64_t i = 0; i < p * d; i++) system->rounded[i] = (real)v[i];
    system->matrix->normal(system->matrix, p, system->rounded, system->weight, 0, q);
    system->passes++;
    for (int j = 0; j < p; j++)
        ridge_centre(system, 0, d, ridge_dot(d, system->mean, v + j * d), v + j * d,
                     q + j * d);
}

double ridge_norm(const ridge_system *system, const double *x)
{
    int64_t d = system->matrix->d;
    double sum = 0;
    for (int64_t k = 0; k < d; k++) {
        double last = 0;
        for (int j = 0; j < system->c; j++) {
            sum += x[j * d + k] * x[j * d + k];
            last -= x[j * d + k];
        }
        sum += last * last;
    }
    return sqrt(sum);
}

double ridge_residual(ridge_system *system, const double *w, double *r)
{
    ridge_product(system, system->c, w, r);
    for (int64_t i = 0; i < system->c * system->matrix->d; i++)
        r[i] = system->rhs[i] - r[i];
    return ridge_norm(system, r) / system->scale;
}
