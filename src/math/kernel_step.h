/* A step of gradient descent on the weights of one model (optim.c), written once for all
 * widths; included by the kernel_*.c after kernel_lanes.h, with the same macros. The
 * arithmetic of a weight is the same at any width. */
#include "weft/real.h"
#include <stddef.h>
#include <stdint.h>

/* Weight and gradient of a vector of weights after the pull to the anchor. */
INLINE V step_pulled(const weft_move *move, V w, V anchor, V g)
{
    return g + SET(move->mu) * (w - anchor);
}

/* Moves w by g and returns it; velocity: read unless `first`, and written. */
INLINE V step_moved(const weft_move *move, int moves, int first, V w, V g, V *velocity)
{
    V v = SET(move->scale) * g + SET(move->decay) * w;
    if (moves && !first) v = v + SET(move->momentum) * *velocity;
    if (moves) *velocity = v;
    return w - SET(move->lr) * v;
}

/* All of a vector, of which the first `some` are in memory. */
INLINE V step_load(int some, const real *p)
{
    real part[W] = {0};
    if (some == W) return LOAD(p);
    memcpy(part, p, (size_t)some * sizeof *p);
    return LOAD(part);
}

INLINE void step_store(int some, V v, real *p)
{
    real part[W];
    if (some == W) {
        STORE(p, v);
        return;
    }
    STORE(part, v);
    memcpy(p, part, (size_t)some * sizeof *p);
}

/* Moves `some` weights from i on; finite: the lanes whose gradients were so far. */
INLINE void step_vector(const weft_move *move, int moves, int pull, int some, int64_t i,
                        real *w, const real *g, lane_bits *finite)
{
    const V old = step_load(some, w + i), most = SET(WEFT_REAL_MAX);
    V x = step_load(some, g + i), velocity = ZERO;
    if (pull) x = step_pulled(move, old, step_load(some, move->anchor + i), x);
    *finite &= (lane_bits)(x <= most) & (lane_bits)(x >= ZERO - most);
    if (moves && !move->first) velocity = step_load(some, move->velocity + i);
    step_store(some, step_moved(move, moves, move->first, old, x, &velocity), w + i);
    if (moves) step_store(some, velocity, move->velocity + i);
}

/* `moves` and `pull` are constants where this is used. */
INLINE int step_all(const weft_move *move, int moves, int pull, int64_t n, real *w,
                    const real *g)
{
    lane_bits finite = {0};
    finite = ~finite;
    int64_t i = 0;
    for (; i + W <= n; i += W) step_vector(move, moves, pull, W, i, w, g, &finite);
    if (i < n) step_vector(move, moves, pull, (int)(n - i), i, w, g, &finite);
    int all = 1;
    for (int l = 0; l < W; l++) all &= finite[l] != 0;
    return all;
}

static int step(const weft_move *move, int64_t n, real *w, const real *g)
{
    if (move->velocity && move->anchor) return step_all(move, 1, 1, n, w, g);
    if (move->velocity) return step_all(move, 1, 0, n, w, g);
    if (move->anchor) return step_all(move, 0, 1, n, w, g);
    return step_all(move, 0, 0, n, w, g);
}
