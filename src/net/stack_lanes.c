/* Stacks of dense layers for several models at the same time, one in each vector lane:
 * forward, backward and loss of stack.c and dense.c. */
#include "stack.h"

/* Limits and block sizes for which sums have the same order as in stack.c, so that the bits
 * are the same. */
enum {
    MAX_INPUTS = 1024, /* dense.c packs this many numbers of a row of W at a time */
    MAX_ROWS = 192,    /* math/gemm.c, weft_outer */
    BACK_OUTPUTS = 16  /* dense.c, rows of W at a time in the backward pass */
};

struct scratch {
    real *act[WEFT_MAX_LAYERS + 1]; /* [most][units][lanes] as in weft_scratch */
    real *d[2];                     /* [most][units of any layer][lanes] */
    real *one;                      /* [lanes] ones */
    int lanes;
};

void *weft_stack_lanes_work(const void *self, int most, weft_arena *mem)
{
    const weft_stack *stack = self;
    int units = 0;
    for (int i = 0; i < stack->n; i++) {
        if (stack->layer[i].k > 0 || stack->layer[i].c > MAX_INPUTS) return NULL;
        units = stack->layer[i].units > units ? stack->layer[i].units : units;
    }
    if (most > MAX_ROWS) return NULL;
    struct scratch *scratch = WEFT_NEW(mem, struct scratch, 1);
    scratch->lanes = weft_lanes();
    size_t numbers = (size_t)most * (size_t)scratch->lanes;
    scratch->act[0] = WEFT_NEW(mem, real, numbers * (size_t)stack->shape.d);
    for (int i = 0; i < stack->n; i++)
        scratch->act[i + 1] = WEFT_NEW(mem, real, numbers * (size_t)stack->layer[i].units);
    scratch->one = WEFT_NEW(mem, real, scratch->lanes);
    for (int l = 0; l < scratch->lanes; l++) scratch->one[l] = 1;
    for (int i = 0; i < 2; i++)
        scratch->d[i] = WEFT_NEW(mem, real, numbers * (size_t)units);
    return scratch;
}

/* ---- forward ---- */

static void layer_forward(const weft_layer *layer, const real *w, int n, int lanes,
                          const real *x, real *y)
{
    size_t m = (size_t)layer->out, c = (size_t)layer->c, wide = m * (size_t)lanes;
    weft_lanes_product product = {.n = n,
                                  .m = layer->out,
                                  .k = layer->c,
                                  .a = x,
                                  .a_row = c,
                                  .a_k = 1,
                                  .b = w + layer->weight * lanes,
                                  .b_column = c,
                                  .b_k = 1,
                                  .c = y,
                                  .ldc = m};
    weft_lanes_times(&product);
    const real *bias = w + layer->bias * lanes;
    for (int i = 0; i < n; i++, y += wide) {
        for (size_t j = 0; j < wide; j++) y[j] += bias[j];
        for (size_t j = 0; layer->relu && j < wide; j++) y[j] = y[j] < 0 ? 0 : y[j];
    }
}

static void forward(const weft_stack *stack, struct scratch *scratch, const real *w,
                    const weft_lane_batch *batch)
{
    for (int i = 0; i < batch->n; i++)
        weft_lanes_load(stack->shape.d, batch->x + i * scratch->lanes,
                        scratch->act[0] + i * stack->shape.d * scratch->lanes);
    for (int i = 0; i < stack->n; i++)
        layer_forward(&stack->layer[i], w, batch->n, scratch->lanes, scratch->act[i],
                      scratch->act[i + 1]);
}

/* The loss of each row, and its gradient unless dz is NULL, which is 0 for a row that does
 * not exist. */
static void losses(const weft_stack *stack, struct scratch *scratch,
                   const weft_lane_batch *batch, real *dz, weft_score *sum)
{
    int c = stack->shape.classes, lanes = scratch->lanes;
    for (int i = 0; i < batch->n; i++) {
        double share[WEFT_MAX_LANES], loss[WEFT_MAX_LANES];
        int wrong[WEFT_MAX_LANES];
        size_t first = (size_t)i * (size_t)c * (size_t)lanes;
        for (int l = 0; l < lanes; l++)
            share[l] = i < batch->count[l] ? 1.0 / batch->count[l] : 0;
        weft_lanes_softmax(c, scratch->act[stack->n] + first, batch->label + i * lanes,
                           share, dz ? dz + first : NULL, loss, wrong);
        for (int l = 0; l < lanes; l++) {
            if (i >= batch->count[l]) continue;
            sum[l].loss += loss[l];
            sum[l].wrong += wrong[l];
            sum[l].count++;
        }
    }
}

void weft_stack_lanes_score(const void *self, void *work, const real *w,
                            const weft_lane_batch *batch, weft_score *score)
{
    forward(self, work, w, batch);
    losses(self, work, batch, NULL, score);
}

/* ---- backward ---- */

/* dx[n][c] = dy W, by pieces of the layer's outputs. */
static void input_gradient(const weft_layer *layer, const real *w, int n, int lanes,
                           const real *dy, real *dx)
{
    size_t m = (size_t)layer->out, c = (size_t)layer->c;
    for (int k = 0; k < layer->out; k += BACK_OUTPUTS) {
        weft_lanes_product product = {
            .n = n,
            .m = layer->c,
            .k = layer->out - k < BACK_OUTPUTS ? layer->out - k : BACK_OUTPUTS,
            .a = dy + (size_t)(k * lanes),
            .a_row = m,
            .a_k = 1,
            .b = w + (layer->weight + (int64_t)k * layer->c) * lanes,
            .b_column = 1,
            .b_k = c,
            .add = k > 0,
            .c = dx,
            .ldc = c};
        weft_lanes_times(&product);
    }
}

/* The gradient of W and of the bias to g, or the weights of `move` make the step. */
static void layer_gradient(const weft_layer *layer, const struct scratch *scratch, int n,
                           const real *x, const real *dy, real *g,
                           const weft_lanes_move *move)
{
    size_t c = (size_t)layer->c;
    real *to = move ? move->w : g;
    weft_lanes_product product = {.n = layer->out,
                                  .m = layer->c,
                                  .k = n,
                                  .a = dy,
                                  .a_row = 1,
                                  .a_k = (size_t)layer->out,
                                  .b = x,
                                  .b_column = 1,
                                  .b_k = c,
                                  .add = -1,
                                  .c = to + layer->weight * scratch->lanes,
                                  .ldc = c,
                                  .move = move};
    weft_lanes_times(&product);
    product.m = 1;
    product.b = scratch->one;
    product.b_k = 0;
    product.c = to + layer->bias * scratch->lanes;
    product.ldc = 1;
    weft_lanes_times(&product);
}

/* The gradient is 0 for a unit that is not above 0, or of a row that does not exist. */
static void mask(const weft_lane_batch *batch, int lanes, int units, const real *y, real *d)
{
    for (int i = 0; i < batch->n; i++)
        for (int j = 0; j < units; j++, y += lanes, d += lanes)
            for (int l = 0; l < lanes; l++)
                d[l] = i < batch->count[l] && y[l] > 0 ? d[l] : 0;
}

void weft_stack_lanes_grad(const void *self, void *work, const real *w,
                           const weft_lane_batch *batch, real *g,
                           const weft_lanes_move *move, weft_score *score)
{
    const weft_stack *stack = self;
    struct scratch *scratch = work;
    real *dy = scratch->d[0], *dx = scratch->d[1];
    forward(stack, scratch, w, batch);
    losses(stack, scratch, batch, dy, score);
    for (int i = stack->n - 1; i >= 0; i--) {
        const weft_layer *layer = &stack->layer[i];
        int below = weft_stack_needs(i - 1, batch->frozen);
        if (!weft_stack_needs(i, batch->frozen)) break;
        if (below)
            input_gradient(layer, w, batch->n, scratch->lanes, dy,
                           dx); /* before w changes */
        layer_gradient(layer, scratch, batch->n, scratch->act[i], dy, g, move);
        if (!below) break;
        mask(batch, scratch->lanes, (layer - 1)->units, scratch->act[i], dx);
        real *last = dy;
        dy = dx;
        dx = last;
    }
}
