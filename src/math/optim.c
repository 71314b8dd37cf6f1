/* Steps of gradient descent on flat vectors: PyTorch's SGD with the pull of FedProx for
 * devices, by the loops for this CPU. The arithmetic of an element and the order of the
 * norm's sums are the same at any width of vectors. */
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
