/* Networks that are a stack of layers: forward and backward over a batch, layer by layer,
 * initial weights, the loss. */
#include "stack.h"
#include "init.h"
#include "softmax.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- layers of a stack ---- */

weft_status weft_stack_begin(weft_stack *s, const char *name, const weft_shape *shape)
{
    if (shape->form != WEFT_REALS)
        return weft_fail(WEFT_ECONF,
                         "model = %s takes rows of numbers, the data set holds %s; use "
                         "model = %s",
                         name, shape->form == WEFT_CHARS ? "text" : "documents",
                         shape->form == WEFT_CHARS ? "lstm" : "txtcnn");
    weft_check(shape->d <= INT_MAX && shape->classes > 0, "shape of the data");
    s->shape = *shape;
    s->n = 0;
    return WEFT_OK;
}

/* Number of inputs of the next layer, and the offset of its weights. */
static int ninputs(const weft_stack *s)
{
    return s->n > 0 ? s->layer[s->n - 1].units : (int)s->shape.d;
}

static int64_t weights_end(const weft_stack *s)
{
    return s->n > 0 ? s->layer[s->n - 1].bias + s->layer[s->n - 1].out : 0;
}

void weft_stack_dense(weft_stack *s, int out, int drop)
{
    weft_check(s->n < WEFT_MAX_LAYERS, "a stack of too many layers");
    weft_layer l = weft_dense_layer(ninputs(s), out, 1, weights_end(s));
    l.drop = drop;
    s->layer[s->n++] = l;
}

void weft_stack_end(weft_stack *s)
{
    weft_stack_dense(s, s->shape.classes, 0);
    s->layer[s->n - 1].relu = 0;
}

weft_layer *weft_stack_conv(weft_stack *s, int k, int pad, int out, int pool, int drop)
{
    weft_check(s->n < WEFT_MAX_LAYERS, "a stack of too many layers");
    const weft_layer *b = s->layer + s->n - (s->n > 0);
    weft_layer l = {.k = k, .pad = pad, .pool = pool, .relu = 1, .drop = drop, .out = out};
    l.h = s->n > 0 ? b->oh / b->pool : s->shape.height;
    l.w = s->n > 0 ? b->ow / b->pool : s->shape.width;
    l.c = s->n > 0 ? b->out : s->shape.channels;
    l.oh = l.h + 2 * pad - k + 1;
    l.ow = l.w + 2 * pad - k + 1;
    weft_check(l.oh >= pool && l.ow >= pool, "a convolution larger than its image");
    l.units = l.oh / pool * (l.ow / pool) * out;
    l.weight = weights_end(s);
    l.bias = l.weight + (int64_t)k * k * l.c * out;
    s->layer[s->n] = l;
    return &s->layer[s->n++];
}

int64_t weft_stack_nweight(const void *self)
{
    return weights_end(self);
}

int weft_stack_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS])
{
    const weft_stack *s = self;
    int conv = 0, dense = 0;
    for (int i = 0; i < s->n; i++) {
        const weft_layer *l = &s->layer[i];
        weft_tensor *t = out + 2 * i;
        t[0] = (weft_tensor){.at = l->weight, .nd = 2, .dims = {l->out, l->c}};
        if (l->k > 0)
            t[0] =
                (weft_tensor){.at = l->weight, .nd = 4, .dims = {l->out, l->k, l->k, l->c}};
        t[1] = (weft_tensor){.at = l->bias, .nd = 1, .dims = {l->out}};
        const char *name = l->k > 0 ? "conv" : "fc";
        int number = l->k > 0 ? ++conv : ++dense;
        snprintf(t[0].name, sizeof t[0].name, "%s%d.weight", name, number);
        snprintf(t[1].name, sizeof t[1].name, "%s%d.bias", name, number);
    }
    return 2 * s->n;
}

/* Weights that go into one output of a layer. */
static int64_t fan_in(const weft_layer *l)
{
    return (int64_t)l->c * (l->k > 0 ? l->k * l->k : 1);
}

/* PyTorch's default for both kinds of layer: weights and biases uniform in
 * +-1/sqrt(fan in). */
void weft_stack_init(const void *self, uint64_t seed, real *w)
{
    weft_tensor t[WEFT_MAX_TENSORS];
    const weft_stack *s = self;
    int n = weft_stack_tensors(s, t);
    for (int i = 0; i < n; i++) {
        double bound = 1 / sqrt((double)fan_in(&s->layer[i / 2]));
        int64_t size = (i + 1 < n ? t[i + 1].at : weights_end(s)) - t[i].at;
        weft_init_uniform(seed, i, bound, size, w + t[i].at);
    }
}

double weft_stack_flops(const void *self)
{
    const weft_stack *s = self;
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        const weft_layer *l = &s->layer[i];
        double products = 2.0 * l->oh * l->ow * l->out * (double)fan_in(l);
        sum += (i > 0 ? 3 : 2) * products; /* y, dW, dx; the rows need no dx */
    }
    return sum;
}

/* 1: the network reads copies of the rows, as images have another order in it; 0: the rows
 * themselves. */
static int copied(const weft_stack *s)
{
    return s->layer[0].k > 0 || sizeof(real) > sizeof(float);
}

static weft_saved saved_new(const weft_layer *l, size_t most, weft_arena *mem)
{
    size_t all = most * (size_t)l->units;
    weft_saved k = {0};
    if (l->pool > 1 && l->pooling == WEFT_MEAN_3X3)
        k.activated = WEFT_NEW(mem, real, most * (size_t)l->oh * (size_t)(l->ow * l->out));
    else if (l->pool > 1)
        k.argmax = WEFT_NEW(mem, int32_t, all);
    if (!(l->scale > 0)) return k;
    k.pooled = WEFT_NEW(mem, real, all);
    k.factor = WEFT_NEW(mem, real, all);
    k.slope = WEFT_NEW(mem, real, all);
    return k;
}

void *weft_stack_work(const void *self, int most, weft_arena *mem)
{
    const weft_stack *s = self;
    weft_scratch *t = WEFT_NEW(mem, weft_scratch, 1);
    size_t units = 0, packed = 0, unfolded = 0, sums = 0, transposed = 0;
    if (copied(s)) t->act[0] = WEFT_NEW(mem, real, most * s->shape.d);
    t->row = WEFT_NEW(mem, const real *, most);
    for (int i = 0; i < s->n; i++) {
        const weft_layer *l = &s->layer[i];
        size_t all = (size_t)most * (size_t)l->units;
        t->act[i + 1] = WEFT_NEW(mem, real, all);
        t->saved[i] = saved_new(l, (size_t)most, mem);
        size_t p = l->k > 0 ? weft_conv_packed(l) : weft_dense_packed(l, most);
        packed = p > packed ? p : packed;
        units = all > units ? all : units;
        size_t v = l->k > 0 ? (size_t)(l->bias - l->weight) : all;
        transposed = v > transposed ? v : transposed;
        if (l->k == 0) continue;
        size_t z = weft_conv_unfolded(l), x = weft_conv_sums(l);
        unfolded = z > unfolded ? z : unfolded;
        sums = x > sums ? x : sums;
    }
    for (int i = 0; i < 2; i++) t->d[i] = WEFT_NEW(mem, real, units);
    t->packed = weft_arena_alloc(mem, packed, 1);
    t->unfolded = WEFT_NEW(mem, real, unfolded);
    t->sums = WEFT_NEW(mem, real, sums);
    t->transposed = WEFT_NEW(mem, real, transposed);
    t->tmp = mem;
    return t;
}

/* ---- forward ---- */

/* x[n][d]: the rows, of which images become channels last. */
static void load_rows(const weft_stack *s, const weft_batch *b, real *x)
{
    int64_t c = s->layer[0].k > 0 ? s->shape.channels : 1, d = s->shape.d;
    for (int i = 0; i < b->n; i++, x += d) {
        const float *row = b->x[i];
        for (int64_t j = 0; c == 1 && j < d; j++) x[j] = (real)row[j];
        for (int64_t k = 0; c > 1 && k < c; k++)
            for (int64_t j = 0; j < d / c; j++) x[j * c + k] = (real)row[k * (d / c) + j];
    }
}

/* Factor of the units that are not dropped. */
static double keep_scale(const weft_layer *l, double dropout)
{
    return l->drop && dropout > 0 ? dropout < 1 ? 1 / (1 - dropout) : 0 : 1;
}

/* Drops each of x[n] with that probability; unit i is decided by (key, layer, i). */
static void drop(uint64_t key, int layer, double dropout, double scale, int64_t n, real *x)
{
    double bound = dropout * 0x1p32; /* on 32 bits */
    for (int64_t i = 0; i < n; i += 8) {
        weft_rng4 r =
            weft_rng_at(key, WEFT_RNG_DROPOUT, (uint64_t)layer, (uint64_t)i / 8, 0);
        for (int64_t e = 0; e < 8 && i + e < n; e++) {
            uint32_t bits = (uint32_t)(r.v[e / 2] >> (e % 2 * 32));
            x[i + e] = bits < bound ? 0 : x[i + e] * (real)scale;
        }
    }
}

/* The rows that dense layer i reads. */
static const real *const *input_of(const weft_stack *s, weft_scratch *t,
                                   const weft_batch *b, int i)
{
    if (i == 0 && !copied(s)) return (const void *)b->x; /* `real` is float */
    return weft_sample_rows(t, b->n, s->layer[i].c, t->act[i]);
}

/* Fills t->act, of which the last are the scores of the classes. */
static void forward(const weft_stack *s, weft_scratch *t, const real *w,
                    const weft_batch *b, double dropout, uint64_t key)
{
    if (copied(s)) load_rows(s, b, t->act[0]);
    for (int i = 0; i < s->n; i++) {
        const weft_layer *l = &s->layer[i];
        real *y = t->act[i + 1];
        if (l->k > 0)
            weft_conv_forward(l, t, w, b->n, t->act[i], y, &t->saved[i]);
        else
            weft_dense_forward(l, t, w, b->n, input_of(s, t, b, i), y);
        if (l->drop && dropout > 0)
            drop(key, i, dropout, keep_scale(l, dropout), (int64_t)b->n * l->units, y);
    }
}

void weft_stack_score(const void *self, void *work, const real *w, const weft_batch *b,
                      weft_score *s)
{
    const weft_stack *t = self;
    int c = t->shape.classes;
    weft_scratch *k = work;
    forward(t, k, w, b, 0, 0);
    for (int i = 0; i < b->n; i++)
        weft_softmax(c, k->act[t->n] + (int64_t)i * c, b->label[i], 0, NULL, s);
}

/* ---- backward ---- */

/* Gradient with respect to the input of a ReLU, from that with respect to the layer's
 * output: 0 for a unit that is not above 0, because of ReLU or dropout. */
static void mask(int64_t n, const real *y, real scale, real *d)
{
    for (int64_t i = 0; i < n; i++) d[i] = y[i] > 0 ? d[i] * scale : 0;
}

void weft_stack_grad(const void *self, void *work, const real *w, const weft_batch *b,
                     double dropout, uint64_t key, real *g, weft_score *s)
{
    const weft_stack *t = self;
    int c = t->shape.classes;
    weft_scratch *k = work;
    real *dy = k->d[0], *dx = k->d[1];
    forward(t, k, w, b, dropout, key);
    for (int i = 0; i < b->n; i++)
        weft_softmax(c, k->act[t->n] + (int64_t)i * c, b->label[i],
                     (b->weight ? b->weight[i] : 1) / b->n, dy + (int64_t)i * c, s);
    for (int i = t->n - 1; i >= 0; i--) {
        const weft_layer *l = &t->layer[i];
        real *out = i > 0 ? dx : NULL;
        if (l->k > 0)
            weft_conv_backward(l, k, w, b->n, k->act[i], &k->saved[i], dy, g, out);
        else
            weft_dense_backward(l, k, w, b->n, input_of(t, k, b, i), dy, g, out);
        if (!out) break;
        const weft_layer *below = l - 1;
        mask((int64_t)b->n * below->units, k->act[i], (real)keep_scale(below, dropout), dx);
        real *last = dy;
        dy = dx;
        dx = last;
    }
}
