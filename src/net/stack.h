/* Private to net/: networks that are a stack of layers, each dense or a convolution, with
 * ReLU between them and the softmax's cross-entropy, or a squared error, at the end. A
 * network such as mlp is a struct whose first member is a weft_stack, which its setup
 * fills; the other functions of its vtable are those below. */
#ifndef WEFT_STACK_H
#define WEFT_STACK_H

#include "weft/net.h"

enum { WEFT_MAX_LAYERS = 16 };

/* Kinds of pooling; windows of 3 x 3 overlap. */
typedef enum weft_pooling { WEFT_MAX_2X2, WEFT_MAX_3X3, WEFT_MEAN_3X3 } weft_pooling;

/* Numbers of an image are in the order row, column, channel. */
typedef struct weft_layer {
    int k, pad;  /* convolution of k x k positions, zeros around the image; k 0: dense */
    int pool;    /* 2: pooling follows, at every second position; else 1 */
    int pooling; /* weft_pooling, where pool is 2 */
    double scale, power; /* of the normalisation after pooling; scale 0: none */
    int relu, drop;      /* 1: ReLU, then dropout follow it */
    int h, w, c;         /* shape of the input; of a dense layer 1 x 1 x inputs */
    int oh, ow, out;     /* shape of the output before pooling: rows, columns, channels */
    int units;           /* numbers of output of a sample, after pooling */
    int64_t weight;      /* offset of [out][c], or of [out][k columns][k rows][c] */
    int64_t bias;        /* offset of [out] */
} weft_layer;

typedef struct weft_stack {
    weft_shape shape;
    int n; /* layers */
    weft_layer layer[WEFT_MAX_LAYERS];
} weft_stack;

/* Values of the forward pass of a convolution that its backward pass needs; NULL where it
 * needs none. [units] are those of a sample, and there are `most` samples. */
typedef struct weft_saved {
    int32_t *argmax; /* [units] position of the largest value in its window */
    real *activated; /* [oh][ow][out] before pooling by means */
    real *pooled;    /* [units] before normalisation */
    real *factor;    /* [units] factor of the normalisation */
    real *slope;     /* [units] pooled factor / denominator */
} weft_saved;

/* Scratch of a stack. */
typedef struct weft_scratch {
    real *act[WEFT_MAX_LAYERS + 1]; /* [most][units]: the rows, if copied, then outputs */
    const real **row;               /* [most] of weft_sample_rows */
    weft_saved saved[WEFT_MAX_LAYERS];
    real *d[2]; /* [most][units of any layer] gradients with respect to outputs of layers */
    real *unfolded;   /* rows of an image side by side, conv.c */
    real *sums;       /* sums of the convolution of an image, with its margin */
    real *transposed; /* weights for the backward pass, or outputs of a dense layer */
    void *packed;     /* weights or rows in panels */
    weft_arena *tmp;
} weft_scratch;

/* An empty stack for the data; ECONF if they are text. `name` is the network's. */
WEFT_CHECKED weft_status weft_stack_begin(weft_stack *stack, const char *name,
                                          const weft_shape *shape);
/* Adds a layer on top. A convolution must fit its image, and pooling must leave a position.
 * Returns the convolution, for the caller to set pooling, scale and power, which are 0. */
void weft_stack_dense(weft_stack *stack, int out, int drop);
weft_layer *weft_stack_conv(weft_stack *stack, int k, int pad, int out, int pool, int drop);
/* The last one: dense, to the classes, without ReLU. */
void weft_stack_end(weft_stack *stack);

/* Members of weft_net. */
int64_t weft_stack_nweight(const void *self);
int weft_stack_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS]);
void weft_stack_init(const void *self, uint64_t seed, real *w);
double weft_stack_flops(const void *self);
void *weft_stack_work(const void *self, int most, weft_arena *mem);
/* 1: the gradient of layer i is needed where the first `frozen` tensors need none; 0 for
 * i < 0. */
int weft_stack_needs(int i, int frozen);
void weft_stack_grad(const void *self, void *work, const real *w, const weft_batch *batch,
                     double dropout, uint64_t key, real *g, weft_score *score);
void weft_stack_score(const void *self, void *work, const real *w, const weft_batch *batch,
                      weft_score *score);
int weft_stack_width(const void *self);
void weft_stack_represent(const void *self, void *work, const real *w,
                          const weft_batch *batch, real *h, real *z);

/* lanes_work, lanes_grad and lanes_score of weft_net, for dense layers only. */
void *weft_stack_lanes_work(const void *self, int most, weft_arena *mem);
void weft_stack_lanes_grad(const void *self, void *work, const real *w,
                           const weft_lane_batch *batch, real *g,
                           const weft_lanes_move *move, weft_score *score);
void weft_stack_lanes_score(const void *self, void *work, const real *w,
                            const weft_lane_batch *batch, weft_score *score);

/* A dense layer with a bias, whose weights begin at `at`. */
weft_layer weft_dense_layer(int in, int out, int relu, int64_t at);

/* One layer for n samples, without its dropout. Forward: y[n][units] of x[n][h w c].
 * Backward: its part of the gradient g from dy[n][units], which is zero where y is not
 * above 0 and the layer has ReLU; and dx[n][h w c], unless NULL. Samples of a dense layer
 * are at x[0 .. n-1]. */
void weft_dense_forward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                        int n, const real *const *x, real *y);
void weft_dense_backward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                         int n, const real *const *x, const real *dy, real *g, real *dx);
/* Pointers to the rows of x[n][wide], in scratch->row. */
const real *const *weft_sample_rows(weft_scratch *scratch, int n, int64_t wide,
                                    const real *x);
size_t weft_dense_packed(const weft_layer *layer, int most); /* bytes of scratch->packed */
void weft_conv_forward(const weft_layer *layer, weft_scratch *scratch, const real *w, int n,
                       const real *x, real *y, const weft_saved *saved);
/* dy is changed where there is a normalisation. */
void weft_conv_backward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                        int n, const real *x, const weft_saved *saved, real *dy, real *g,
                        real *dx);
size_t weft_conv_packed(const weft_layer *layer);
size_t weft_conv_unfolded(const weft_layer *layer); /* numbers of t->spread */
size_t weft_conv_sums(const weft_layer *layer);     /* numbers of t->wide */

/* ---- pool.c: one image after a convolution ---- */

/* z[oh][stride][out] are the sums of the convolution, of which ow columns are used. Bias,
 * ReLU, and the largest or the mean of each 3 x 3 window around an odd position, smaller at
 * the lower and right edges: y[oh / 2][ow / 2][out]; fills pick or whole. */
void weft_pool_forward(const weft_layer *layer, int stride, const real *z, const real *bias,
                       real *y, int32_t *argmax, real *activated);
/* z <- gradient with respect to the sums, from dy[units]; 0 in columns that are not used.
 */
void weft_pool_backward(const weft_layer *layer, int stride, const real *dy,
                        const int32_t *argmax, const real *activated, real *z);
/* Local response normalisation within a map:
 *     y = x D^-power, D = 1 + scale / 9 (sum of x^2 over the 3 x 3 positions around x),
 * where positions outside the image count as 0. Krizhevsky, cuda-convnet, layer `rnorm` of
 * size 3. x, y, factor = D^-power and slope = x factor / D are [units]. */
void weft_norm_forward(const weft_layer *layer, const real *x, real *y, real *factor,
                       real *slope);
/* Turns dy[units], the gradient with respect to y, into that with respect to x.
 * tmp[units]. */
void weft_norm_backward(const weft_layer *layer, const real *x, const real *factor,
                        const real *slope, real *tmp, real *dy);

#endif
