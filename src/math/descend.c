/* Steps of gradient descent for training in one place: SGD with momentum, Adam, Adadelta,
 * as in PyTorch, and schedules of the rate. These loops are bound by memory, so plain C
 * suffices; each root and division is rounded once, so that the bits are the same on all
 * CPUs. */
#include "weft/descend.h"
#include "weft/optim.h"

#include <math.h>
#include <stddef.h>

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

/* ---- steps without a gradient ---- */

/* -0 is not 0 here, which a step makes 0. */
static int all_zero(int n, const real *x)
{
    int zero = 1;
    for (int i = 0; i < n; i++) zero &= !((x[i] < 0) | (x[i] > 0) | (signbit(x[i]) != 0));
    return zero;
}

#ifndef WEFT_DOUBLE

/* A step of fade on floats below FLT_MIN or not, kept in doubles, since CPUs take a hundred
 * times as long for each float below it. Returns 1 if it changes any. */
static int fade_step(double rho, double *x)
{
    /* In this sum a double is rounded to a multiple of 2^-149, as small floats are. */
    const double grid = 0x1.8p-97;
    int moved = 0;
    for (int i = 0; i < AT_ONCE; i++) {
        double y = x[i] * rho; /* exact */
        int small = fabs(y) < (double)FLT_MIN;
        double whole = (y + grid) - grid, normal = small ? 1 : y;
        double to = (double)(float)normal;
        to = small ? whole : to;
        moved |= (to < x[i]) | (to > x[i]);
        x[i] = to;
    }
    return moved;
}

/* The steps of fade until there are no more, or nothing changes. */
static void fade_slowly(real rho, int64_t steps, real *own)
{
    double x[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) x[i] = (double)own[i];
    while (steps-- > 0 && fade_step((double)rho, x)) {}
    for (int i = 0; i < AT_ONCE; i++) own[i] = (real)x[i];
}

#else

static void fade_slowly(real rho, int64_t steps, real *own)
{
    int moved = 1;
    while (steps-- > 0 && moved) {
        moved = 0;
        for (int i = 0; i < AT_ONCE; i++) {
            real to = own[i] * rho;
            moved |= (to < own[i]) | (to > own[i]);
            own[i] = to;
        }
    }
}

#endif

/* 1 if a number other than 0 is below `least`. */
static int some_below(real least, const real *x)
{
    int some = 0;
    for (int i = 0; i < AT_ONCE; i++)
        some |= ((x[i] > 0) & (x[i] < least)) | ((x[i] < 0) & (x[i] > -least));
    return some;
}

/* The steps of fade, half of the numbers at a time, which stay in registers. */
static void fade_quickly(real rho, int64_t steps, real *own)
{
    enum { HALF = AT_ONCE / 2 };
    for (int from = 0; from < AT_ONCE; from += HALF) {
        real x[HALF];
        for (int i = 0; i < HALF; i++) x[i] = own[from + i];
        for (int64_t s = 0; s < steps; s++)
            for (int i = 0; i < HALF; i++) x[i] *= rho;
        for (int i = 0; i < HALF; i++) own[from + i] = x[i];
    }
}

/* x <- rho^steps x, rounded after each product. */
static void fade(real rho, int64_t steps, int n, real *x)
{
    enum { GO = 32 };
    real own[AT_ONCE] = {0};
    double power = (double)rho;
    if (steps == 0 || all_zero(n, x)) return;
    for (int go = 1; go < GO; go *= 2) power *= power;
    real least = (real)fmin(WEFT_REAL_MIN / power, WEFT_REAL_MAX);
    for (int i = 0; i < n; i++) own[i] = x[i] + 0;
    for (int64_t go = GO; steps > 0; steps -= go) {
        if (some_below(least, own)) {
            fade_slowly(rho, steps, own);
            break;
        }
        if (go > steps) go = steps;
        fade_quickly(rho, go, own);
    }
    for (int i = 0; i < n; i++) x[i] = own[i];
}

/* The largest change of a weight by steps without a gradient, per unit of its velocity or
 * mean. */
static double reach_of(const weft_descent *d, const weft_pace *pace, int64_t steps)
{
    double most = 0;
    int adam = d->optimizer == WEFT_DESCENT_ADAM;
    for (int64_t s = 0; s < steps; s++)
        most = fmax(most, adam ? (double)pace[s].rate : pace[s].lr);
    return adam ? most / (double)(real)d->epsilon : most;
}

/* 1 if changes so small vanish when they are rounded: then only what the optimizer
 * remembers changes. */
static int vanish(double reach, int n, const real *w, const real *m)
{
    int all = isfinite(reach);
    for (int i = 0; i < n; i++) {
        double move = reach * fabs((double)m[i]);
        all &= move < fabs((double)w[i]) * (WEFT_REAL_EPSILON / 32) || !(move > 0);
    }
    return all;
}

/* What the optimizer remembers after that many steps. */
static void forget(const weft_descent *d, int64_t steps, int n, real *slots, int64_t apart)
{
    if (d->optimizer == WEFT_DESCENT_SGD) {
        fade((real)d->momentum, steps, n, slots);
        return;
    }
    int adam = d->optimizer == WEFT_DESCENT_ADAM;
    fade((real)(adam ? d->beta1 : d->rho), steps, n, slots);
    fade((real)(adam ? d->beta2 : d->rho), steps, n, slots + apart);
}

/* All steps of n <= AT_ONCE weights, which stay in cache. */
static void idle(const weft_descent *d, const weft_pace *pace, int64_t steps, double reach,
                 int n, real *w, real *slots, int64_t apart)
{
    enum { OFTEN = 16 };
    int still = !(d->weight_decay > 0);
    if (still && d->optimizer == WEFT_DESCENT_ADADELTA) {
        forget(d, steps, n, slots, apart);
        return;
    }
    if (still && d->optimizer == WEFT_DESCENT_SGD && !(d->momentum > 0)) return;
    for (int64_t s = 0; s < steps; s++) {
        if (still && s % OFTEN == 0 && vanish(reach, n, w, slots)) {
            forget(d, steps - s, n, slots, apart);
            return;
        }
        real none[AT_ONCE] = {0};
        weft_descent_step(d, &pace[s], n, w, none, slots, apart);
    }
}

void weft_descent_idle(const weft_descent *d, const weft_pace *pace, int64_t steps,
                       int64_t n, real *w, real *slots, int64_t apart)
{
    double reach = reach_of(d, pace, steps);
    for (int64_t i = 0; i < n && steps > 0; i += AT_ONCE)
        idle(d, pace, steps, reach, (int)(n - i < AT_ONCE ? n - i : AT_ONCE), w + i,
             slots + i, apart);
}
