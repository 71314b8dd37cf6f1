/* Steps of gradient descent on flat vectors: PyTorch's SGD with the pull of FedProx for
 * devices, by the loops for this CPU; SGD, Adam and Yogi for the server, once a round. The
 * arithmetic of an element and the order of the norm's sums are the same at any width of
 * vectors. */
#include "kernel.h"

#include <math.h>

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

int weft_sgd_step(const weft_sgd *s, int64_t n, int first, real *w, real *g, real *velocity,
                  const real *anchor)
{
    weft_move m = {.lr = (real)s->lr,
                   .momentum = (real)s->momentum,
                   .decay = (real)s->weight_decay,
                   .mu = (real)s->mu,
                   .scale = 1,
                   .first = first,
                   .velocity = s->momentum > 0 ? velocity : NULL,
                   .anchor = s->mu > 0 ? anchor : NULL};
    double square = 0;
    if (s->clip > 0) { /* the whole norm first */
        for (int64_t i = 0; i < n; i += PIECE) {
            if (m.anchor) pull_piece(piece_at(i, n), m.mu, g + i, w + i, anchor + i);
            square += square_piece(piece_at(i, n), g + i);
        }
        m.scale = (real)fmin(1, s->clip / (sqrt(square) + 1e-6));
        m.anchor = NULL;
    }
    int finite = weft_kernel_best()->step(&m, n, w, g);
    return finite && isfinite(square);
}

int weft_server_slots(const weft_server *s)
{
    if (s->optimizer == WEFT_SGD) return s->momentum > 0;
    return 2;
}

/* Called once per round, so in double even if `real` is float. */
static void adapt(const weft_server *s, double lr, int64_t n, real *w, const real *delta,
                  real *mean, real *square)
{
    int yogi = s->optimizer == WEFT_YOGI;
    for (int64_t i = 0; i < n; i++) {
        double d = (double)delta[i], old = (double)square[i], gap = old - d * d;
        double sign = (gap > 0) - (gap < 0);
        double m = s->beta1 * (double)mean[i] + (1 - s->beta1) * d;
        double v = old - (1 - s->beta2) * (yogi ? d * d * sign : gap);
        mean[i] = (real)m;
        square[i] = (real)v;
        w[i] = (real)((double)w[i] + lr * m / (sqrt(v) + s->tau));
    }
}

void weft_server_step(const weft_server *s, int64_t round, int64_t n, real *w,
                      const real *delta, real *slots)
{
    double lr = s->lr * pow(1 - s->decay, (double)round);
    int slot = weft_server_slots(s);
    if (slot == 0) {
        for (int64_t i = 0; i < n; i++) w[i] += (real)lr * delta[i];
        return;
    }
    if (round == 0) {
        real start = (real)(s->tau * s->tau);
        for (int64_t i = 0; i < n; i++) slots[i] = 0;
        for (int64_t i = n; i < slot * n; i++) slots[i] = start;
    }
    if (slot == 2) {
        adapt(s, lr, n, w, delta, slots, slots + n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        slots[i] = (real)s->momentum * slots[i] + delta[i];
        w[i] += (real)lr * slots[i];
    }
}
