/* Steps of gradient descent for training in one place: SGD with momentum, Adam, Adadelta,
 * as in PyTorch, and schedules of the rate. These loops are bound by memory, so plain C
 * suffices; each root and division is rounded once, so that the bits are the same on all
 * CPUs. Called by the task sgd. */
#include "weft/math.h"

#include <math.h>

int weft_descent_slots(const weft_descent *d)
{
    return d->optimizer == WEFT_DESCENT_SGD ? 1 : 2;
}

#ifdef WEFT_DOUBLE
#define root sqrt
#else
#define root sqrtf
#endif

static void adam(const weft_descent *d, double lr, int64_t step, int64_t n,
                 real *restrict w, const real *restrict g, real *restrict m,
                 real *restrict v)
{
    double t = (double)step + 1;
    real rate = (real)(lr / (1 - pow(d->beta1, t)));
    real unbias = (real)(1 / sqrt(1 - pow(d->beta2, t)));
    real b1 = (real)d->beta1, b2 = (real)d->beta2, decay = (real)d->weight_decay;
    real c1 = (real)(1 - d->beta1), c2 = (real)(1 - d->beta2), eps = (real)d->epsilon;
    for (int64_t i = 0; i < n; i++) {
        real x = g[i] + decay * w[i];
        m[i] = b1 * m[i] + c1 * x;
        v[i] = b2 * v[i] + c2 * x * x;
        w[i] -= rate * m[i] / (root(v[i]) * unbias + eps);
    }
}

static void adadelta(const weft_descent *d, double lr, int64_t n, real *restrict w,
                     const real *restrict g, real *restrict v, real *restrict u)
{
    real rate = (real)lr, rho = (real)d->rho, rest = (real)(1 - d->rho);
    real decay = (real)d->weight_decay, eps = (real)d->epsilon;
    for (int64_t i = 0; i < n; i++) {
        real x = g[i] + decay * w[i];
        v[i] = rho * v[i] + rest * x * x;
        real change = root(u[i] + eps) / root(v[i] + eps) * x;
        u[i] = rho * u[i] + rest * change * change;
        w[i] -= rate * change;
    }
}

double weft_descent_rate(const weft_descent *d, double epoch)
{
    double pi = 3.14159265358979323846;
    double done = d->horizon > 0 ? fmin(epoch / d->horizon, 1) : 0;
    switch (d->schedule) {
    case WEFT_RATE_EXPONENTIAL: return d->lr * pow(1 - d->decay, epoch);
    case WEFT_RATE_INVERSE: return d->lr / (1 + d->decay * epoch);
    case WEFT_RATE_LINEAR: return d->lr * (1 - done);
    case WEFT_RATE_COSINE: return d->lr * (1 + cos(pi * done)) / 2;
    default: return d->lr;
    }
}

void weft_descent_step(const weft_descent *d, double epoch, int64_t step, int64_t n,
                       real *w, real *g, real *slots)
{
    double lr = weft_descent_rate(d, epoch);
    if (d->optimizer == WEFT_DESCENT_ADAM)
        adam(d, lr, step, n, w, g, slots, slots + n);
    else if (d->optimizer == WEFT_DESCENT_ADADELTA)
        adadelta(d, lr, n, w, g, slots, slots + n);
    else {
        weft_sgd s = {.lr = lr, .momentum = d->momentum, .weight_decay = d->weight_decay};
        weft_sgd_step(&s, n, step == 0, w, g, slots, NULL);
    }
}
