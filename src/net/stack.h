/* Private to net/: networks that are a stack of layers, each dense or a convolution, with
 * ReLU between them and the softmax's cross-entropy at the end. A network such as mlp is a
 * struct whose first member is a weft_stack, which its setup fills; the other functions of
 * its vtable are those below. */
#ifndef WEFT_STACK_H
#define WEFT_STACK_H

#include "weft/net.h"

enum { WEFT_MOST_LAYERS = WEFT_MOST_TENSORS / 2 };

/* Numbers of an image stand in the order row, column, channel. */
typedef struct weft_layer {
    int k, pad;      /* convolution of k x k places, zeros around the image; k 0: dense */
    int pool;        /* 2: max-pooling of 2 x 2 places follows it; else 1 */
    int relu, drop;  /* 1: ReLU, then dropout follow it */
    int h, w, c;     /* shape of the input; of a dense layer 1 x 1 x inputs */
    int oh, ow, out; /* shape of the output before pooling: places and channels */
    int units;       /* numbers that come out of a sample, after pooling */
    int64_t weight;  /* offset of [out][c], or of [out][k columns][k rows][c] */
    int64_t bias;    /* offset of [out] */
} weft_layer;

typedef struct weft_stack {
    weft_shape shape;
    int n; /* layers */
    weft_layer layer[WEFT_MOST_LAYERS];
} weft_stack;

/* Scratch of a stack. */
typedef struct weft_scratch {
    real *act[WEFT_MOST_LAYERS + 1]; /* [most][units]: the rows, then layers' outputs */
    int32_t *pick[WEFT_MOST_LAYERS]; /* [most][units] which of the 2 x 2 was largest */
    real *d[2]; /* [most][units of any layer] gradients with respect to outputs of layers */
    real *spread; /* an image's rows beside each other, conv.c */
    real *wide;   /* an image before pooling, with its margin */
    real *turned; /* weights of a convolution for the backward pass */
    void *packed; /* weights in panels */
    weft_arena *tmp;
} weft_scratch;

/* An empty stack for the data; ECONF if they are text. `name` is the network's. */
WEFT_CHECKED weft_status weft_stack_begin(weft_stack *s, const char *name,
                                          const weft_shape *shape);
/* Adds a layer on top. A convolution must fit its image, and pooling must leave a place. */
void weft_stack_dense(weft_stack *s, int out, int drop);
void weft_stack_conv(weft_stack *s, int k, int pad, int out, int pool, int drop);
/* The last one: dense, to the classes, without ReLU. */
void weft_stack_end(weft_stack *s);

/* Members of weft_net. */
int64_t weft_stack_nweight(const void *self);
int weft_stack_tensors(const void *self, weft_tensor out[WEFT_MOST_TENSORS]);
void weft_stack_init(const void *self, uint64_t seed, real *w);
double weft_stack_flops(const void *self);
void *weft_stack_work(const void *self, int most, weft_arena *mem);
void weft_stack_grad(const void *self, void *work, const real *w, const weft_batch *b,
                     double dropout, uint64_t key, real *g, weft_score *s);
void weft_stack_score(const void *self, void *work, const real *w, const weft_batch *b,
                      weft_score *s);

/* lanes_work, lanes_grad and lanes_score of weft_net, for dense layers only. */
void *weft_stack_lanes_work(const void *self, int most, weft_arena *mem);
void weft_stack_lanes_grad(const void *self, void *work, const real *w,
                           const weft_lane_batch *b, real *g, weft_score *s);
void weft_stack_lanes_score(const void *self, void *work, const real *w,
                            const weft_lane_batch *b, weft_score *s);

/* A dense layer with a bias, whose weights begin at `at`. Local. */
weft_layer weft_dense_layer(int in, int out, int relu, int64_t at);

/* One layer for n samples, without its dropout. Forward: y[n][units] of x[n][h w c].
 * Backward: its part of the gradient g from dy[n][units], which is zero where y is not
 * above 0 and the layer has ReLU; and dx[n][h w c], unless NULL. */
void weft_dense_forward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                        const real *x, real *y);
void weft_dense_backward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                         const real *x, const real *dy, real *g, real *dx);
size_t weft_dense_packed(const weft_layer *l, int most); /* bytes of t->packed */
void weft_conv_forward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                       const real *x, real *y, int32_t *pick);
void weft_conv_backward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                        const real *x, const int32_t *pick, const real *dy, real *g,
                        real *dx);
size_t weft_conv_packed(const weft_layer *l);
size_t weft_conv_spread(const weft_layer *l); /* numbers of t->spread */
size_t weft_conv_wide(const weft_layer *l);   /* numbers of t->wide */

#endif
