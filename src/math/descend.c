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

enum { AT_ONCE = 64 }; /* weights that take several steps in one go */

#ifdef WEFT_DOUBLE
#define root sqrt
#else
#define root sqrtf
#endif

static void adam(const weft_descent *d, const weft_pace *p, int64_t n, real *restrict w,
                 const real *restrict g, real *restrict m, real *restrict v)
{
    real rate = p->rate, unbias = p->unbias;
    real b1 = (real)d->beta1, b2 = (real)d->beta2, decay = (real)d->weight_decay;
    real c1 = (real)(1 - d->beta1), c2 = (real)(1 - d->beta2), eps = (real)d->epsilon;
    for (int64_t i = 0; i < n; i++) {
        real x = g[i] + decay * w[i];
        m[i] = b1 * m[i] + c1 * x;
        v[i] = b2 * v[i] + c2 * x * x;
        w[i] -= rate * m[i] / (root(v[i]) * unbias + eps);
    }
}

static void adadelta(const weft_descent *d, const weft_pace *p, int64_t n, real *restrict w,
                     const real *restrict g, real *restrict v, real *restrict u)
{
    real rate = (real)p->lr, rho = (real)d->rho, rest = (real)(1 - d->rho);
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
    case WEFT_RATE_STEP:
        return d->lr *
               pow(d->factor, fmin(floor((d->reductions + 1) * done), d->reductions));
    default: return d->lr;
    }
}

weft_pace weft_descent_pace(const weft_descent *d, double epoch, int64_t step)
{
    weft_pace p = {.step = step, .lr = weft_descent_rate(d, epoch)};
    if (d->optimizer != WEFT_DESCENT_ADAM) return p;
    double t = (double)step + 1;
    p.rate = (real)(p.lr / (1 - pow(d->beta1, t)));
    p.unbias = (real)(1 / sqrt(1 - pow(d->beta2, t)));
    return p;
}

void weft_descent_step(const weft_descent *d, const weft_pace *pace, int64_t n, real *w,
                       real *g, real *slots, int64_t apart)
{
    if (d->optimizer == WEFT_DESCENT_ADAM)
        adam(d, pace, n, w, g, slots, slots + apart);
    else if (d->optimizer == WEFT_DESCENT_ADADELTA)
        adadelta(d, pace, n, w, g, slots, slots + apart);
    else {
        weft_sgd s = {
            .lr = pace->lr, .momentum = d->momentum, .weight_decay = d->weight_decay};
        weft_sgd_step(&s, n, pace->step == 0, w, g, slots, NULL);
    }
}

/* ---- steps without a gradient ------------------------------------------------------- */

static int all_zero(int n, const real *x)
{
    int zero = 1;
    for (int i = 0; i < n; i++) zero &= !(x[i] < 0 || x[i] > 0);
    return zero;
}

/* x <- rho^steps x, rounded after each product. */
static void fade(real rho, int64_t steps, int n, real *x)
{
    if (all_zero(n, x)) return;
    real own[AT_ONCE] = {0};
    for (int i = 0; i < n; i++) own[i] = x[i];
    for (int64_t s = 0; s < steps; s++)
        for (int i = 0; i < AT_ONCE; i++) own[i] *= rho;
    for (int i = 0; i < n; i++) x[i] = own[i];
}

/* All steps of n <= AT_ONCE weights, which stay in cache. */
static void idle(const weft_descent *d, const weft_pace *pace, int64_t steps, int n,
                 real *w, real *slots, int64_t apart)
{
    int still = !(d->weight_decay > 0);
    if (still && d->optimizer == WEFT_DESCENT_SGD && !(d->momentum > 0)) return;
    if (still && d->optimizer == WEFT_DESCENT_ADADELTA) {
        for (int i = 0; i < 2; i++) fade((real)d->rho, steps, n, slots + i * apart);
        return;
    }
    if (still && all_zero(n, slots) &&
        (d->optimizer == WEFT_DESCENT_SGD || all_zero(n, slots + apart)))
        return;
    for (int64_t s = 0; s < steps; s++) {
        real none[AT_ONCE] = {0};
        weft_descent_step(d, &pace[s], n, w, none, slots, apart);
    }
}

void weft_descent_idle(const weft_descent *d, const weft_pace *pace, int64_t steps,
                       int64_t n, real *w, real *slots, int64_t apart)
{
    for (int64_t i = 0; i < n && steps > 0; i += AT_ONCE)
        idle(d, pace, steps, (int)(n - i < AT_ONCE ? n - i : AT_ONCE), w + i, slots + i,
             apart);
}
