/* Steps of gradient descent on flat vectors. On a device: PyTorch's SGD with the pull of
 * FedProx, by the loops for this CPU. In one place: SGD with momentum, Adam and Adadelta as
 * in PyTorch, and schedules of the rate. The arithmetic of an element and the order of a
 * norm's sums are the same at any width of vectors, and each root and division is rounded
 * once, so that the bits are the same on all CPUs. */
#include "kernel.h"

#include <math.h>

/* ---- on a device ---- */

/* Squares are summed in LANES numbers over a PIECE, and in double over pieces. */
enum { LANES = 16, PIECE = 1024 };

static double square_piece(int n, const real *g)
{
    real sum[LANES] = {0};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) sum[l] += g[i + l] * g[i + l];
    double all = 0;
    for (; i < n; i++) all += (double)g[i] * (double)g[i];
    for (int l = 0; l < LANES; l++) all += (double)sum[l];
    return all;
}

static void pull_piece(int n, real mu, real *restrict g, const real *restrict w,
                       const real *restrict anchor)
{
    for (int i = 0; i < n; i++) g[i] += mu * (w[i] - anchor[i]);
}

/* Length of the piece at i. */
static int piece_at(int64_t i, int64_t n)
{
    return (int)(n - i < PIECE ? n - i : PIECE);
}

int weft_sgd_step(const weft_sgd *sgd, int64_t n, int first, real *w, real *g,
                  real *velocity, const real *anchor)
{
    weft_move move = {.lr = (real)sgd->lr,
                      .momentum = (real)sgd->momentum,
                      .decay = (real)sgd->weight_decay,
                      .mu = (real)sgd->mu,
                      .scale = 1,
                      .first = first,
                      .velocity = sgd->momentum > 0 ? velocity : NULL,
                      .anchor = sgd->mu > 0 ? anchor : NULL};
    double square = 0;
    if (sgd->clip > 0) { /* the whole norm first */
        for (int64_t i = 0; i < n; i += PIECE) {
            if (move.anchor) pull_piece(piece_at(i, n), move.mu, g + i, w + i, anchor + i);
            square += square_piece(piece_at(i, n), g + i);
        }
        move.scale = (real)fmin(1, sgd->clip / (sqrt(square) + 1e-6));
        move.anchor = NULL;
    }
    int finite = weft_kernel_best()->step(&move, n, w, g);
    return finite && isfinite(square);
}

/* ---- in one place ---- */

/* Adam and Adadelta are bound by memory, so plain C suffices. */

int weft_descent_slots(const weft_descent *descent)
{
    return descent->optimizer == WEFT_DESCENT_SGD ? 1 : 2;
}

enum { AT_ONCE = 64 }; /* weights that take several steps in one go */

#ifdef WEFT_DOUBLE
#define root sqrt
#else
#define root sqrtf
#endif

static void adam(const weft_descent *descent, const weft_pace *pace, int64_t n,
                 real *restrict w, const real *restrict g, real *restrict m,
                 real *restrict v)
{
    real rate = pace->rate, unbias = pace->unbias;
    real b1 = (real)descent->beta1, b2 = (real)descent->beta2,
         decay = (real)descent->weight_decay;
    real c1 = (real)(1 - descent->beta1), c2 = (real)(1 - descent->beta2),
         eps = (real)descent->epsilon;
    for (int64_t i = 0; i < n; i++) {
        real x = g[i] + decay * w[i];
        m[i] = b1 * m[i] + c1 * x;
        v[i] = b2 * v[i] + c2 * x * x;
        w[i] -= rate * m[i] / (root(v[i]) * unbias + eps);
    }
}

static void adadelta(const weft_descent *descent, const weft_pace *pace, int64_t n,
                     real *restrict w, const real *restrict g, real *restrict v,
                     real *restrict u)
{
    real rate = (real)pace->lr, rho = (real)descent->rho, rest = (real)(1 - descent->rho);
    real decay = (real)descent->weight_decay, eps = (real)descent->epsilon;
    for (int64_t i = 0; i < n; i++) {
        real x = g[i] + decay * w[i];
        v[i] = rho * v[i] + rest * x * x;
        real change = root(u[i] + eps) / root(v[i] + eps) * x;
        u[i] = rho * u[i] + rest * change * change;
        w[i] -= rate * change;
    }
}

/* The learning rate after a number of epochs, which may be fractional:
 *     lr,  lr (1 - decay)^epoch,  lr / (1 + decay epoch),
 *     lr (1 - epoch / horizon),  lr (1 + cos(pi epoch / horizon)) / 2,
 *     lr 0.1^j with j = floor((reductions + 1) epoch / horizon), at most reductions. */
static double rate_at(const weft_descent *descent, double epoch)
{
    double pi = 3.14159265358979323846;
    double done = descent->horizon > 0 ? fmin(epoch / descent->horizon, 1) : 0;
    switch (descent->schedule) {
    case WEFT_RATE_EXPONENTIAL: return descent->lr * pow(1 - descent->decay, epoch);
    case WEFT_RATE_INVERSE: return descent->lr / (1 + descent->decay * epoch);
    case WEFT_RATE_LINEAR: return descent->lr * (1 - done);
    case WEFT_RATE_COSINE: return descent->lr * (1 + cos(pi * done)) / 2;
    case WEFT_RATE_STEP:
        return descent->lr *
               pow(0.1, fmin(floor((descent->reductions + 1) * done), descent->reductions));
    default: return descent->lr;
    }
}

weft_pace weft_descent_pace(const weft_descent *descent, double epoch, int64_t step)
{
    weft_pace pace = {.step = step, .lr = rate_at(descent, epoch)};
    if (descent->optimizer != WEFT_DESCENT_ADAM) return pace;
    double t = (double)step + 1;
    pace.rate = (real)(pace.lr / (1 - pow(descent->beta1, t)));
    pace.unbias = (real)(1 / sqrt(1 - pow(descent->beta2, t)));
    return pace;
}

void weft_descent_step(const weft_descent *descent, const weft_pace *pace, int64_t n,
                       real *w, real *g, real *slots, int64_t apart)
{
    if (descent->optimizer == WEFT_DESCENT_ADAM)
        adam(descent, pace, n, w, g, slots, slots + apart);
    else if (descent->optimizer == WEFT_DESCENT_ADADELTA)
        adadelta(descent, pace, n, w, g, slots, slots + apart);
    else {
        weft_sgd sgd = {.lr = pace->lr,
                        .momentum = descent->momentum,
                        .weight_decay = descent->weight_decay};
        weft_sgd_step(&sgd, n, pace->step == 0, w, g, slots, NULL);
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
static double reach_of(const weft_descent *descent, const weft_pace *pace, int64_t steps)
{
    double most = 0;
    int adam = descent->optimizer == WEFT_DESCENT_ADAM;
    for (int64_t s = 0; s < steps; s++)
        most = fmax(most, adam ? (double)pace[s].rate : pace[s].lr);
    return adam ? most / (double)(real)descent->epsilon : most;
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
static void forget(const weft_descent *descent, int64_t steps, int n, real *slots,
                   int64_t apart)
{
    if (descent->optimizer == WEFT_DESCENT_SGD) {
        fade((real)descent->momentum, steps, n, slots);
        return;
    }
    int adam = descent->optimizer == WEFT_DESCENT_ADAM;
    fade((real)(adam ? descent->beta1 : descent->rho), steps, n, slots);
    fade((real)(adam ? descent->beta2 : descent->rho), steps, n, slots + apart);
}

/* All steps of n <= AT_ONCE weights, which stay in cache. */
static void idle(const weft_descent *descent, const weft_pace *pace, int64_t steps,
                 double reach, int n, real *w, real *slots, int64_t apart)
{
    enum { OFTEN = 16 };
    int still = !(descent->weight_decay > 0);
    if (still && descent->optimizer == WEFT_DESCENT_ADADELTA) {
        forget(descent, steps, n, slots, apart);
        return;
    }
    if (still && descent->optimizer == WEFT_DESCENT_SGD && !(descent->momentum > 0)) return;
    for (int64_t s = 0; s < steps; s++) {
        if (still && s % OFTEN == 0 && vanish(reach, n, w, slots)) {
            forget(descent, steps - s, n, slots, apart);
            return;
        }
        real none[AT_ONCE] = {0};
        weft_descent_step(descent, &pace[s], n, w, none, slots, apart);
    }
}

void weft_descent_idle(const weft_descent *descent, const weft_pace *pace, int64_t steps,
                       int64_t n, real *w, real *slots, int64_t apart)
{
    double reach = reach_of(descent, pace, steps);
    for (int64_t i = 0; i < n && steps > 0; i += AT_ONCE)
        idle(descent, pace, steps, reach, (int)(n - i < AT_ONCE ? n - i : AT_ONCE), w + i,
             slots + i, apart);
}
