/* Networks that are a stack of layers: forward and backward over a batch, layer by layer,
 * initial weights, the loss, of classes or of numbers; the same of several models at once
 * where all layers are dense. */
#include "net.h"
#include "weft/base/random.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- layers of a stack ---- */

weft_status weft_stack_begin(weft_stack *stack, const char *name, const weft_shape *shape)
{
    TRY(net_check_form(name, WEFT_REALS, shape));
    weft_check(shape->d <= INT_MAX && shape->classes > 0, "shape of the data");
    stack->shape = *shape;
    stack->n = 0;
    return WEFT_OK;
}

/* Number of inputs of the next layer, and the offset of its weights. */
static int ninputs(const weft_stack *stack)
{
    return stack->n > 0 ? stack->layer[stack->n - 1].units : (int)stack->shape.d;
}

static int64_t weights_end(const weft_stack *stack)
{
    return stack->n > 0 ? stack->layer[stack->n - 1].bias + stack->layer[stack->n - 1].out
                        : 0;
}

void weft_stack_dense(weft_stack *stack, int out, int drop)
{
    weft_check(stack->n < WEFT_MAX_LAYERS, "a stack of too many layers");
    weft_layer layer = weft_dense_layer(ninputs(stack), out, 1, weights_end(stack));
    layer.drop = drop;
    stack->layer[stack->n++] = layer;
}

void weft_stack_end(weft_stack *stack)
{
    weft_stack_dense(stack, stack->shape.classes, 0);
    stack->layer[stack->n - 1].relu = 0;
}

weft_layer *weft_stack_conv(weft_stack *stack, int k, int pad, int out, int pool, int drop)
{
    weft_check(stack->n < WEFT_MAX_LAYERS, "a stack of too many layers");
    const weft_layer *before = stack->layer + stack->n - (stack->n > 0);
    weft_layer layer = {
        .k = k, .pad = pad, .pool = pool, .relu = 1, .drop = drop, .out = out};
    layer.h = stack->n > 0 ? before->oh / before->pool : stack->shape.height;
    layer.w = stack->n > 0 ? before->ow / before->pool : stack->shape.width;
    layer.c = stack->n > 0 ? before->out : stack->shape.channels;
    layer.oh = layer.h + 2 * pad - k + 1;
    layer.ow = layer.w + 2 * pad - k + 1;
    weft_check(layer.oh >= pool && layer.ow >= pool, "a convolution larger than its image");
    layer.units = layer.oh / pool * (layer.ow / pool) * out;
    layer.weight = weights_end(stack);
    layer.bias = layer.weight + (int64_t)k * k * layer.c * out;
    stack->layer[stack->n] = layer;
    return &stack->layer[stack->n++];
}

int64_t weft_stack_nweight(const void *self)
{
    return weights_end(self);
}

int weft_stack_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS])
{
    const weft_stack *stack = self;
    int conv = 0, dense = 0;
    for (int i = 0; i < stack->n; i++) {
        const weft_layer *layer = &stack->layer[i];
        weft_tensor *tensor = out + 2 * i;
        if (layer->k == 0) {
            weft_dense_tensors(layer, ++dense, tensor);
            continue;
        }
        tensor[0] = (weft_tensor){.at = layer->weight,
                                  .nd = 4,
                                  .dims = {layer->out, layer->k, layer->k, layer->c}};
        tensor[1] = (weft_tensor){.at = layer->bias, .nd = 1, .dims = {layer->out}};
        snprintf(tensor[0].name, sizeof tensor->name, "conv%d.weight", ++conv);
        snprintf(tensor[1].name, sizeof tensor->name, "conv%d.bias", conv);
    }
    return 2 * stack->n;
}

/* Weights that go into one output of a layer. */
static int64_t fan_in(const weft_layer *layer)
{
    return (int64_t)layer->c * (layer->k > 0 ? layer->k * layer->k : 1);
}

/* PyTorch's default for both kinds of layer: weights and biases uniform in
 * +-1/sqrt(fan in). */
void weft_stack_init(const void *self, uint64_t seed, real *w)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    const weft_stack *stack = self;
    int n = weft_stack_tensors(stack, tensor);
    for (int i = 0; i < n; i++) {
        double bound = 1 / sqrt((double)fan_in(&stack->layer[i / 2]));
        weft_init_uniform(seed, i, bound, weft_tensors_size(1, &tensor[i]),
                          w + tensor[i].at);
    }
}

double weft_stack_flops(const void *self)
{
    const weft_stack *stack = self;
    double sum = 0;
    for (int i = 0; i < stack->n; i++) {
        const weft_layer *layer = &stack->layer[i];
        double products = 2.0 * layer->oh * layer->ow * layer->out * (double)fan_in(layer);
        sum += (i > 0 ? 3 : 2) * products; /* y, dW, dx; the rows need no dx */
    }
    return sum;
}

/* 1: the network reads copies of the rows, as images have another order in it; 0: the rows
 * themselves. */
static int copied(const weft_stack *stack)
{
    return stack->layer[0].k > 0 || sizeof(real) > sizeof(float);
}

static weft_saved saved_new(const weft_layer *layer, size_t most, weft_arena *mem)
{
    size_t all = most * (size_t)layer->units;
    weft_saved saved = {0};
    if (layer->pool > 1 && layer->pooling == WEFT_MEAN_3X3)
        saved.activated = WEFT_NEW(
            mem, real, most * (size_t)layer->oh * (size_t)(layer->ow * layer->out));
    else if (layer->pool > 1)
        saved.argmax = WEFT_NEW(mem, int32_t, all);
    if (!(layer->scale > 0)) return saved;
    saved.pooled = WEFT_NEW(mem, real, all);
    saved.factor = WEFT_NEW(mem, real, all);
    saved.slope = WEFT_NEW(mem, real, all);
    return saved;
}

void *weft_stack_work(const void *self, int most, weft_arena *mem)
{
    const weft_stack *stack = self;
    weft_scratch *scratch = WEFT_NEW(mem, weft_scratch, 1);
    size_t units = 0, packed = 0, unfolded = 0, sums = 0, transposed = 0;
    if (copied(stack)) scratch->act[0] = WEFT_NEW(mem, real, most * stack->shape.d);
    scratch->row = WEFT_NEW(mem, const real *, most);
    for (int i = 0; i < stack->n; i++) {
        const weft_layer *layer = &stack->layer[i];
        size_t all = (size_t)most * (size_t)layer->units;
        scratch->act[i + 1] = WEFT_NEW(mem, real, all);
        scratch->saved[i] = saved_new(layer, (size_t)most, mem);
        size_t p = layer->k > 0 ? weft_conv_packed(layer) : weft_dense_packed(layer, most);
        packed = p > packed ? p : packed;
        units = all > units ? all : units;
        size_t v = layer->k > 0 ? (size_t)(layer->bias - layer->weight) : all;
        transposed = v > transposed ? v : transposed;
        if (layer->k == 0) continue;
        size_t z = weft_conv_unfolded(layer), x = weft_conv_sums(layer);
        unfolded = z > unfolded ? z : unfolded;
        sums = x > sums ? x : sums;
    }
    for (int i = 0; i < 2; i++) scratch->d[i] = WEFT_NEW(mem, real, units);
    scratch->packed = weft_arena_alloc(mem, packed, 1);
    scratch->unfolded = WEFT_NEW(mem, real, unfolded);
    scratch->sums = WEFT_NEW(mem, real, sums);
    scratch->transposed = WEFT_NEW(mem, real, transposed);
    scratch->tmp = mem;
    return scratch;
}

/* ---- forward ---- */

/* x[n][d]: the rows, of which images become channels last. */
static void load_rows(const weft_stack *stack, const weft_batch *batch, real *x)
{
    int64_t c = stack->layer[0].k > 0 ? stack->shape.channels : 1, d = stack->shape.d;
    for (int i = 0; i < batch->n; i++, x += d) {
        const float *row = batch->x[i];
        for (int64_t j = 0; c == 1 && j < d; j++) x[j] = (real)row[j];
        for (int64_t k = 0; c > 1 && k < c; k++)
            for (int64_t j = 0; j < d / c; j++) x[j * c + k] = (real)row[k * (d / c) + j];
    }
}

/* Factor of the units that are not dropped. */
static double keep_scale(const weft_layer *layer, double dropout)
{
    return layer->drop && dropout > 0 ? dropout < 1 ? 1 / (1 - dropout) : 0 : 1;
}

/* Drops each of x[n] with that probability; unit i is decided by (key, layer, i). */
static void drop(uint64_t key, int layer, double dropout, double scale, int64_t n, real *x)
{
    double bound = dropout * 0x1p32; /* on 32 bits */
    for (int64_t i = 0; i < n; i += 8) {
        weft_rng4 rng =
            weft_rng_at(key, WEFT_RNG_DROPOUT, (uint64_t)layer, (uint64_t)i / 8, 0);
        for (int64_t e = 0; e < 8 && i + e < n; e++) {
            uint32_t bits = (uint32_t)(rng.v[e / 2] >> (e % 2 * 32));
            x[i + e] = bits < bound ? 0 : x[i + e] * (real)scale;
        }
    }
}

/* The rows that dense layer i reads. */
static const real *const *input_of(const weft_stack *stack, weft_scratch *scratch,
                                   const weft_batch *batch, int i)
{
    if (batch->stored && i == stack->n - 1) return batch->stored;
    if (i == 0 && !copied(stack)) return (const void *)batch->x; /* `real` is float */
    return weft_sample_rows(scratch, batch->n, stack->layer[i].c, scratch->act[i]);
}

/* Fills scratch->act, of which the last are the scores of the classes. */
static void forward(const weft_stack *stack, weft_scratch *scratch, const real *w,
                    const weft_batch *batch, double dropout, uint64_t key)
{
    if (copied(stack) && !batch->stored) load_rows(stack, batch, scratch->act[0]);
    for (int i = batch->stored ? stack->n - 1 : 0; i < stack->n; i++) {
        const weft_layer *layer = &stack->layer[i];
        real *y = scratch->act[i + 1];
        if (layer->k > 0)
            weft_conv_forward(layer, scratch, w, batch->n, scratch->act[i], y,
                              &scratch->saved[i]);
        else
            weft_dense_forward(layer, scratch, w, batch->n,
                               input_of(stack, scratch, batch, i), y);
        if (layer->drop && dropout > 0)
            drop(key, i, dropout, keep_scale(layer, dropout),
                 (int64_t)batch->n * layer->units, y);
    }
}

/* Adds the loss of sample i to *score; its gradient, times share, to dz, unless NULL. */
static void add_loss(const weft_stack *stack, const weft_scratch *scratch,
                     const weft_batch *batch, int i, double share, real *dz,
                     weft_score *score)
{
    int c = stack->shape.classes;
    const real *z = scratch->act[stack->n] + (int64_t)i * c;
    if (stack->shape.numbers)
        weft_squared(c, z, batch->target[i], share, dz, score);
    else
        weft_softmax(c, z, batch->label[i], share, dz, score);
}

void weft_stack_score(const void *self, void *work, const real *w, const weft_batch *batch,
                      weft_score *score)
{
    const weft_stack *stack = self;
    weft_scratch *scratch = work;
    forward(stack, scratch, w, batch, 0, 0);
    for (int i = 0; i < batch->n; i++) {
        weft_score own = {0};
        double weight = batch->weight ? batch->weight[i] : 1;
        add_loss(stack, scratch, batch, i, 0, NULL, &own);
        score->loss += weight * own.loss;
        score->wrong += weight * own.wrong;
        score->count += weight;
    }
}

int weft_stack_width(const void *self)
{
    const weft_stack *stack = self;
    return stack->layer[stack->n - 1].c;
}

void weft_stack_represent(const void *self, void *work, const real *w,
                          const weft_batch *batch, real *h, real *z)
{
    const weft_stack *stack = self;
    weft_scratch *scratch = work;
    size_t wide = (size_t)weft_stack_width(stack), c = (size_t)stack->shape.classes;
    forward(stack, scratch, w, batch, 0, 0);
    const real *const *x = input_of(stack, scratch, batch, stack->n - 1);
    for (int i = 0; i < batch->n; i++) memcpy(h + i * wide, x[i], wide * sizeof *h);
    if (z) memcpy(z, scratch->act[stack->n], (size_t)batch->n * c * sizeof *z);
}

/* ---- backward ---- */

/* Gradient with respect to the input of a ReLU, from that with respect to the layer's
 * output: 0 for a unit that is not above 0, because of ReLU or dropout. */
static void mask(int64_t n, const real *y, real scale, real *d)
{
    for (int64_t i = 0; i < n; i++) d[i] = y[i] > 0 ? d[i] * scale : 0;
}

/* 1: the gradient of layer i is needed where the first `frozen` tensors need none; 0 for
 * i < 0. */
static int needs_gradient(int i, int frozen)
{
    return 2 * (i + 1) > frozen && i >= 0;
}

void weft_stack_grad(const void *self, void *work, const real *w, const weft_batch *batch,
                     double dropout, uint64_t key, real *g, weft_score *score)
{
    const weft_stack *stack = self;
    int c = stack->shape.classes;
    weft_scratch *scratch = work;
    real *dy = scratch->d[0], *dx = scratch->d[1];
    forward(stack, scratch, w, batch, dropout, key);
    for (int i = 0; i < batch->n; i++)
        add_loss(stack, scratch, batch, i,
                 (batch->weight ? batch->weight[i] : 1) / batch->n, dy + (int64_t)i * c,
                 score);
    for (int i = stack->n - 1; i >= 0; i--) {
        const weft_layer *layer = &stack->layer[i];
        real *out = needs_gradient(i - 1, batch->frozen) ? dx : NULL;
        if (!needs_gradient(i, batch->frozen)) break;
        if (layer->k > 0)
            weft_conv_backward(layer, scratch, w, batch->n, scratch->act[i],
                               &scratch->saved[i], dy, g, out);
        else
            weft_dense_backward(layer, scratch, w, batch->n,
                                input_of(stack, scratch, batch, i), dy, g, out);
        if (!out) break;
        const weft_layer *below = layer - 1;
        mask((int64_t)batch->n * below->units, scratch->act[i],
             (real)keep_scale(below, dropout), dx);
        real *last = dy;
        dy = dx;
        dx = last;
    }
}

/* ---- several models at the same time, one in each vector lane ---- */

/* Sums have the same order as those of one model, so that the bits are the same, in layers
 * of up to WEFT_DENSE_LONG inputs and for so many rows: weft_outer of math/gemm.c. */
enum { LANES_MAX_ROWS = 192 };

struct lanes_scratch {
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
        if (stack->layer[i].k > 0 || stack->layer[i].c > WEFT_DENSE_LONG) return NULL;
        units = stack->layer[i].units > units ? stack->layer[i].units : units;
    }
    if (most > LANES_MAX_ROWS) return NULL;
    struct lanes_scratch *scratch = WEFT_NEW(mem, struct lanes_scratch, 1);
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

static void lanes_layer_forward(const weft_layer *layer, const real *w, int n, int lanes,
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

static void lanes_forward(const weft_stack *stack, struct lanes_scratch *scratch,
                          const real *w, const weft_lane_batch *batch)
{
    for (int i = 0; i < batch->n; i++)
        weft_lanes_load(stack->shape.d, batch->x + i * scratch->lanes,
                        scratch->act[0] + i * stack->shape.d * scratch->lanes);
    for (int i = 0; i < stack->n; i++)
        lanes_layer_forward(&stack->layer[i], w, batch->n, scratch->lanes, scratch->act[i],
                            scratch->act[i + 1]);
}

/* The loss of each row, and its gradient unless dz is NULL, which is 0 for a row that does
 * not exist. */
static void lanes_losses(const weft_stack *stack, struct lanes_scratch *scratch,
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
    lanes_forward(self, work, w, batch);
    lanes_losses(self, work, batch, NULL, score);
}

/* dx[n][c] = dy W, by pieces of the layer's outputs. */
static void lanes_input_gradient(const weft_layer *layer, const real *w, int n, int lanes,
                                 const real *dy, real *dx)
{
    size_t m = (size_t)layer->out, c = (size_t)layer->c;
    for (int k = 0; k < layer->out; k += WEFT_DENSE_FEW) {
        weft_lanes_product product = {
            .n = n,
            .m = layer->c,
            .k = layer->out - k < WEFT_DENSE_FEW ? layer->out - k : WEFT_DENSE_FEW,
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
static void lanes_layer_gradient(const weft_layer *layer,
                                 const struct lanes_scratch *scratch, int n, const real *x,
                                 const real *dy, real *g, const weft_lanes_move *move)
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
static void lanes_mask(const weft_lane_batch *batch, int lanes, int units, const real *y,
                       real *d)
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
    struct lanes_scratch *scratch = work;
    real *dy = scratch->d[0], *dx = scratch->d[1];
    lanes_forward(stack, scratch, w, batch);
    lanes_losses(stack, scratch, batch, dy, score);
    for (int i = stack->n - 1; i >= 0; i--) {
        const weft_layer *layer = &stack->layer[i];
        int below = needs_gradient(i - 1, batch->frozen);
        if (!needs_gradient(i, batch->frozen)) break;
        if (below)
            lanes_input_gradient(layer, w, batch->n, scratch->lanes, dy,
                                 dx); /* before w changes */
        lanes_layer_gradient(layer, scratch, batch->n, scratch->act[i], dy, g, move);
        if (!below) break;
        lanes_mask(batch, scratch->lanes, (layer - 1)->units, scratch->act[i], dx);
        real *last = dy;
        dy = dx;
        dx = last;
    }
}
