/* Small models side by side, one in each lane of a vector: arrays are [...][W]; and steps
 * of one model. Written once for all widths; included by the kernel_*.c after
 * kernel_double.h and kernel_gemm.h, with the same macros as the latter. A lane's bits are
 * those of the loops for one model (gemm.c, optim.c): sums run in the same order, and only
 * sums of whole numbers combine lanes. */
#include "weft/math/optim.h"

#include <stdint.h>

#ifdef WEFT_DOUBLE
typedef int64_t lane_bits __attribute__((vector_size(sizeof(V))));
#else
typedef int32_t lane_bits __attribute__((vector_size(sizeof(V))));
#endif

/* Where a lane of `which` is all ones a, else b. */
INLINE V lane_choose(lane_bits which, V a, V b)
{
    return (V)((which & (lane_bits)a) | (~which & (lane_bits)b));
}

/* All ones in the lanes where on[lane] is true. */
INLINE lane_bits lane_mask(const int *on)
{
    lane_bits m;
    for (int l = 0; l < W; l++) m[l] = on[l] ? -1 : 0;
    return m;
}

/* ---- rows into lanes ---- */

/* turned[W][W] <- the columns of W rows of W numbers. */
INLINE void lane_square(const real *const *row, real *turned)
{
    for (int i = 0; i < W; i += WEFT_SIDE)
        for (int l = 0; l < W; l += WEFT_SIDE) {
            quad v[WEFT_SIDE];
            UNROLL for (int r = 0; r < WEFT_SIDE; r++)
                memcpy(&v[r], row[l + r] + i, sizeof *v);
            turn_square(v);
            UNROLL for (int r = 0; r < WEFT_SIDE; r++)
                memcpy(turned + (i + r) * W + l, &v[r], sizeof *v);
        }
}

/* x[d][W] from W rows of d numbers, by squares. */
static void lanes_load(int64_t d, const float *const *row, real *x)
{
    int64_t i = 0;
#ifndef WEFT_DOUBLE
    static const float none[W] = {0};
    for (; i + W <= d; i += W) {
        const float *from[W];
        for (int l = 0; l < W; l++) from[l] = row[l] ? row[l] + i : none;
        lane_square(from, x + i * W);
    }
#endif
    for (; i < d; i++)
        for (int l = 0; l < W; l++) x[i * W + l] = row[l] ? (real)row[l][i] : 0;
}

/* Rows of a square become columns. */
INLINE void lane_turn(const real *x, real *turned)
{
    const real *row[W];
    for (int l = 0; l < W; l++) row[l] = x + l * W;
    lane_square(row, turned);
}

static void lanes_gather(int64_t n, const real *const *row, real *x)
{
    int64_t i = 0;
    for (; i + W <= n; i += W) {
        const real *from[W];
        for (int l = 0; l < W; l++) from[l] = row[l] + i;
        lane_square(from, x + i * W);
    }
    for (; i < n; i++)
        for (int l = 0; l < W; l++) x[i * W + l] = row[l][i];
}

static void lanes_scatter(int64_t n, const real *x, real *const *row)
{
    int64_t i = 0;
    for (; i + WEFT_SIDE <= n; i += WEFT_SIDE)
        for (int l = 0; l < W; l += WEFT_SIDE) {
            quad v[WEFT_SIDE];
            UNROLL for (int r = 0; r < WEFT_SIDE; r++)
                memcpy(&v[r], x + (i + r) * W + l, sizeof *v);
            turn_square(v);
            UNROLL for (int r = 0; r < WEFT_SIDE; r++)
                memcpy(row[l + r] + i, &v[r], sizeof *v);
        }
    for (; i < n; i++)
        for (int l = 0; l < W; l++) row[l][i] = x[i * W + l];
}

/* ---- steps of gradient descent ---- */

/* The parameters of the lanes, in vectors. */
typedef struct lane_steps {
    V lr, momentum, decay, mu, scale;
    lane_bits live, pull, moves;
    int any_pull, any_move;
} lane_steps;

static lane_steps lane_steps_of(const weft_sgd *sgd, const int *live)
{
    lane_steps steps = {.scale = SET(1)};
    int pull[W], moves[W];
    for (int l = 0; l < W; l++) {
        steps.lr[l] = (real)sgd[l].lr;
        steps.momentum[l] = (real)sgd[l].momentum;
        steps.decay[l] = (real)sgd[l].weight_decay;
        steps.mu[l] = (real)sgd[l].mu;
        steps.any_pull |= pull[l] = live[l] && sgd[l].mu > 0;
        steps.any_move |= moves[l] = live[l] && sgd[l].momentum > 0;
    }
    steps.live = lane_mask(live);
    steps.pull = lane_mask(pull);
    steps.moves = lane_mask(moves);
    return steps;
}

/* A step: what it needs of a move, the weights it begins with, and the lanes whose gradient
 * is finite so far. */
typedef struct lane_motion {
    const weft_lanes_move *move;
    lane_steps steps;
    const real *from;
    lane_bits good;
} lane_motion;

static lane_motion lane_motion_of(const weft_lanes_move *move)
{
    lane_motion motion = {.move = move, .steps = lane_steps_of(move->sgd, move->live)};
    motion.from = move->first ? move->start : move->w;
    motion.good = motion.steps.live ^ ~motion.steps.live;
    return motion;
}

/* g with what is added to it, and the pull to the anchor. */
INLINE V lane_pulled(const lane_motion *motion, int64_t i, V g)
{
    if (motion->move->drift) g = g + LOAD(motion->move->drift + i * W);
    if (!motion->steps.any_pull) return g;
    const V away = LOAD(motion->from + i * W) - LOAD(motion->move->anchor + i * W);
    return lane_choose(motion->steps.pull, g + motion->steps.mu * away, g);
}

/* Moves a number of every model by its gradient g, after the pull. */
INLINE void lane_move(lane_motion *motion, int64_t i, V g)
{
    const lane_steps *steps = &motion->steps;
    const V old = LOAD(motion->from + i * W), most = SET(WEFT_REAL_MAX);
    V v = steps->scale * g + steps->decay * old;
    motion->good &= (lane_bits)(g <= most) & (lane_bits)(g >= ZERO - most);
    if (steps->any_move) {
        int first = motion->move->first;
        real *velocity = motion->move->velocity + i * W;
        const V was = first ? v : LOAD(velocity);
        if (!first) v = lane_choose(steps->moves, v + steps->momentum * was, v);
        STORE(velocity, first ? v : lane_choose(steps->live, v, was));
    }
    STORE(motion->move->w + i * W, lane_choose(steps->live, old - steps->lr * v, old));
}

static void lane_motion_end(const lane_motion *motion)
{
    for (int l = 0; l < W; l++)
        if (motion->move->live[l] && !motion->good[l]) motion->move->sound[l] = 0;
}

/* ---- products ---- */

#if TILE_ROWS == 14
enum { LANE_ROWS = 4, LANE_COLUMNS = 5 };
#else
enum { LANE_ROWS = 3, LANE_COLUMNS = 3 };
#endif

/* Of weft_lanes_product's add: the sums go on from what c holds. */
enum { LANE_GO_ON = 2, LANE_DEEP = 32 };

/* Each sum runs in the order of k, from zero. */
INLINE void lane_tile(int rows, int columns, const weft_lanes_product *product,
                      lane_motion *motion, const real *a, const real *b, real *c)
{
    size_t a_row = product->a_row * W, b_column = product->b_column * W,
           row = product->ldc * W;
    V sum[LANE_ROWS][LANE_COLUMNS];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int j = 0; j < columns; j++)
        sum[r][j] = product->add == LANE_GO_ON ? LOAD(c + (size_t)r * row + j * W) : ZERO;
    for (int e = 0; e < product->k; e++) {
        V left[LANE_ROWS];
        UNROLL for (int r = 0; r < rows; r++) left[r] = LOAD(a + (size_t)r * a_row);
        UNROLL for (int j = 0; j < columns; j++)
        {
            const V y = LOAD(b + (size_t)j * b_column);
            UNROLL for (int r = 0; r < rows; r++) sum[r][j] = FMA(left[r], y, sum[r][j]);
        }
        a += product->a_k * W;
        b += product->b_k * W;
    }
    if (motion) {
        const int64_t at = (c - product->move->w) / W;
        UNROLL for (int r = 0; r < rows; r++) UNROLL for (int j = 0; j < columns; j++)
        {
            int64_t i = at + (int64_t)r * (int64_t)product->ldc + j;
            lane_move(motion, i, lane_pulled(motion, i, ADD(ZERO, sum[r][j])));
        }
        return;
    }
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int j = 0; j < columns; j++)
    {
        real *to = c + (size_t)r * row + j * W;
        const V old = product->add == 1 ? LOAD(to) : ZERO;
        STORE(to, product->add % 2 == 0 ? sum[r][j] : ADD(old, sum[r][j]));
    }
}

#if TILE_ROWS == 14
#define LANE_MORE(rows) LANE_CASE(rows, 4) LANE_CASE(rows, 5)
#define LANE_ALL        LANE_EACH(1) LANE_EACH(2) LANE_EACH(3) LANE_EACH(4)
#else
#define LANE_MORE(rows)
#define LANE_ALL LANE_EACH(1) LANE_EACH(2) LANE_EACH(3)
#endif
#define LANE_EACH(rows)                                                                    \
    LANE_CASE(rows, 1) LANE_CASE(rows, 2) LANE_CASE(rows, 3) LANE_MORE(rows)
#define LANE_CASE(rows, columns)                                                           \
    case (rows)*LANE_COLUMNS + (columns):                                                  \
        lane_tile(rows, columns, product, motion, a, b, c);                                \
        return;

/* The same, of any size. */
static void lane_tile_of(int rows, int columns, const weft_lanes_product *product,
                         lane_motion *motion, const real *a, const real *b, real *c)
{
    switch (rows * LANE_COLUMNS + columns) {
        LANE_ALL
    }
}

/* Tiles of nearly equal size. The loop over columns is the outer one, so that a band of b
 * stays in cache. */
static void lane_tiles(const weft_lanes_product *product, lane_motion *motion)
{
    int tiles = round_up(product->n, LANE_ROWS) / LANE_ROWS,
        bands = round_up(product->m, LANE_COLUMNS) / LANE_COLUMNS;
    for (int u = 0, j = 0, columns; u < bands; u++, j += columns) {
        columns = (product->m - j) / (bands - u);
        const real *b = product->b + (size_t)j * product->b_column * W;
        for (int v = 0, i = 0, rows; v < tiles; v++, i += rows) {
            rows = (product->n - i) / (tiles - v);
            lane_tile_of(rows, columns, product, motion,
                         product->a + (size_t)i * product->a_row * W, b,
                         product->c + ((size_t)i * product->ldc + (size_t)j) * W);
        }
    }
}

/* Long sums are done in pieces, so that the pieces of all rows and columns are multiplied
 * while they are in the first-level cache. */
static void lanes_times(const weft_lanes_product *product)
{
    if (product->move) {
        lane_motion motion = lane_motion_of(product->move);
        lane_tiles(product, &motion);
        lane_motion_end(&motion);
        return;
    }
    if (product->add != 0 || product->k <= LANE_DEEP) {
        lane_tiles(product, NULL);
        return;
    }
    weft_lanes_product piece = *product;
    for (int k = 0; k < product->k; k += LANE_DEEP) {
        piece.k = least(LANE_DEEP, product->k - k);
        lane_tiles(&piece, NULL);
        piece.a += LANE_DEEP * product->a_k * W;
        piece.b += LANE_DEEP * product->b_k * W;
        piece.add = LANE_GO_ON;
    }
}

/* ---- steps by whole gradients ---- */

/* As in optim.c: squares are summed in LANE_SUMS numbers over a piece, and in double over
 * pieces. */
enum { LANE_SUMS = 16, LANE_PIECE = 1024 };

/* Adds the squares of numbers [i, end) of g, after their pull. */
INLINE void lane_squares(const lane_motion *motion, int64_t i, int64_t end, real *g,
                         double *square)
{
    V sum[LANE_SUMS];
    real part[W];
    double all[W] = {0};
    for (int e = 0; e < LANE_SUMS; e++) sum[e] = ZERO;
    for (; i + LANE_SUMS <= end; i += LANE_SUMS)
        UNROLL_ROWS for (int e = 0; e < LANE_SUMS; e++)
        {
            const V v = lane_pulled(motion, i + e, LOAD(g + (i + e) * W));
            STORE(g + (i + e) * W, v);
            sum[e] = sum[e] + v * v;
        }
    for (; i < end; i++) {
        STORE(part, lane_pulled(motion, i, LOAD(g + i * W)));
        STORE(g + i * W, LOAD(part));
        for (int l = 0; l < W; l++) all[l] += (double)part[l] * (double)part[l];
    }
    for (int e = 0; e < LANE_SUMS; e++) {
        STORE(part, sum[e]);
        for (int l = 0; l < W; l++) all[l] += (double)part[l];
    }
    for (int l = 0; l < W; l++) square[l] += all[l];
}

/* Norms first, where a lane clips. */
static void lanes_step(const weft_lanes_move *move, int64_t n, real *g)
{
    lane_motion motion = lane_motion_of(move);
    double square[W] = {0};
    int clip = 0;
    for (int l = 0; l < W; l++) clip |= move->live[l] && move->sgd[l].clip > 0;
    for (int64_t i = 0; clip && i < n; i += LANE_PIECE)
        lane_squares(&motion, i, n - i < LANE_PIECE ? n : i + LANE_PIECE, g, square);
    for (int l = 0; l < W; l++) {
        if (!move->live[l] || !(move->sgd[l].clip > 0)) continue;
        motion.steps.scale[l] = (real)fmin(1, move->sgd[l].clip / (sqrt(square[l]) + 1e-6));
        if (!isfinite(square[l])) move->sound[l] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        const V v = LOAD(g + i * W);
        lane_move(&motion, i, clip ? v : lane_pulled(&motion, i, v));
    }
    lane_motion_end(&motion);
}

/* ---- between two models ---- */

static void lanes_blend(int64_t n, const real *share, const real *own, const real *w,
                        real *at)
{
    const V part = LOAD(share), rest = SET(1) - part;
    for (int64_t i = 0; i < n; i++)
        STORE(at + i * W, part * LOAD(own + i * W) + rest * LOAD(w + i * W));
}

static void lanes_slope(int64_t n, const real *own, const real *w, const real *g,
                        double *slope)
{
    D sum[W / DW] = {{0}};
    for (int64_t i = 0; i < n; i++)
        for (int h = 0; h < W / DW; h++) {
            const int64_t at = i * W + h * DW;
            const D away = half_widen(half_load(own + at)) - half_widen(half_load(w + at));
            sum[h] += away * half_widen(half_load(g + at));
        }
    memcpy(slope, sum, sizeof sum);
}

/* ---- what a round adds up ---- */

static void lanes_within(int64_t n, const real *w, const real *from, const double *most,
                         int *within)
{
    V high;
    for (int l = 0; l < W; l++) high[l] = (real)most[l];
    const V low = ZERO - high;
    lane_bits good = high < low;
    good = ~(good ^ good);
    for (int64_t i = 0; i < n; i++) {
        const V d = LOAD(w + i * W) - LOAD(from + i * W);
        good &= (lane_bits)(d <= high) & (lane_bits)(d >= low);
    }
    for (int l = 0; l < W; l++) within[l] = good[l] != 0;
}

/* 1.5 2^52: what is added to it and taken off again is rounded to a whole number. */
INLINE D lane_whole(HALF x, double unit)
{
    return (half_widen(x) * unit + 0x1.8p52) - 0x1.8p52;
}

static void exact_add(int64_t n, const real *x, int scale, double *sum)
{
    const double unit = ldexp(1, scale);
    int64_t i = 0;
    for (; i + DW <= n; i += DW) {
        D part;
        memcpy(&part, sum + i, sizeof part);
        part += lane_whole(half_load(x + i), unit);
        memcpy(sum + i, &part, sizeof part);
    }
    for (; i < n; i++) sum[i] += ((double)x[i] * unit + 0x1.8p52) - 0x1.8p52;
}

static void lanes_add(int64_t n, const real *w, const real *from, const real *weight,
                      const int *use, int scale, double *sum)
{
    double unit = ldexp(1, scale);
    int64_t i = 0;
    for (; i + W <= n; i += W) {
        real change[W * W], turned[W * W];
        D part[W / DW];
        for (int64_t e = 0; e < W; e++)
            STORE(change + e * W, LOAD(w + (i + e) * W) - LOAD(from + (i + e) * W));
        lane_turn(change, turned);
        memcpy(part, sum + i, sizeof part);
        for (int l = 0; l < W; l++)
            for (int h = 0; use[l] && h < W / DW; h++)
                part[h] += lane_whole(half_load(turned + l * W + h * DW) * weight[l], unit);
        memcpy(sum + i, part, sizeof part);
    }
    for (; i < n; i++)
        for (int l = 0; l < W; l++)
            if (use[l])
                sum[i] += ((double)((w[i * W + l] - from[i * W + l]) * weight[l]) * unit +
                           0x1.8p52) -
                          0x1.8p52;
}

/* ---- a step of one model (optim.c) ---- */

/* The arithmetic of a weight is the same at any width. */

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
