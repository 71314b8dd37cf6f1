/* Private to net/: what networks share; layers, each dense or a convolution, and stacks of
 * them; the network over sentences. */
#ifndef WEFT_NET_NET_H
#define WEFT_NET_NET_H

#include "weft/math/kernels.h"
#include "weft/net/net.h"

/* ---- networks of any kind ---- */

static inline int net_min(int a, int b)
{
    return a < b ? a : b;
}
/* A leading dimension of an odd number of cache lines, so that the rows of a tile do not
 * share cache sets. */
size_t net_stride(int64_t n);

/* Packed weights and the memory they are in. */
typedef struct net_matrix {
    weft_packed packed;
    void *mem;
} net_matrix;
net_matrix net_matrix_new(int k, int m, weft_arena *mem);
/* b[k][ldb], or its transpose, into the matrix. */
void net_matrix_pack(net_matrix *matrix, const real *b, size_t ldb, int trans);

/* Weights b[m][k], transposed for the forward pass, as they are for the backward pass. */
typedef struct net_pair {
    net_matrix to, back;
} net_pair;
net_pair net_pair_new(int k, int m, weft_arena *mem);
/* `back` 0: for the forward pass alone. */
void net_pair_pack(net_pair *pair, const real *b, int back);

/* ECONF with the networks for the data unless they have the form that network `name`
 * reads. */
WEFT_CHECKED weft_status net_check_form(const char *name, weft_form form,
                                        const weft_shape *shape);

/* w[n], a tensor of a network, uniform in +-bound; keyed by seed, tensor and index. */
void weft_init_uniform(uint64_t seed, int tensor, double bound, int64_t n, real *w);

/* Tensors in their order in the weight vector. */
typedef struct net_layout {
    weft_tensor *out; /* NULL: only offsets are asked for */
    int n;
    int64_t end;
} net_layout;
/* The next tensor, [rows][columns], or [rows] if columns is 0. Returns its offset. */
int64_t net_layout_add(net_layout *layout, int64_t rows, int64_t columns, const char *name);

/* Adds the cross-entropy -log softmax(z)[label] of logits z[c] to *s; NaN counts as a wrong
 * answer. dz = share (softmax(z) - onehot(label)), its gradient, unless NULL; may be z.
 * Cost O(c). */
void weft_softmax(int c, const real *z, int label, double share, real *dz,
                  weft_score *score);

/* The same for many classes, by weft_softmax_many. dz has label smoothing: share times
 * softmax(z) - (1 - smoothing) onehot(label) - smoothing / c; the loss has none. */
void weft_softmax_smooth(int c, const real *z, int label, double share, double smoothing,
                         real *dz, weft_score *score);

/* Adds the squared error, the mean over j of (z[j] - target[j])^2, to loss and wrong of *s.
 * dz[c] = share times its gradient, unless NULL. Cost O(c). */
void weft_squared(int c, const real *z, const double *target, double share, real *dz,
                  weft_score *score);

/* ---- layers ---- */

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

/* Blocks of a dense layer: packed they fit a core's cache. */
enum {
    WEFT_DENSE_LONG = 1024, /* inputs whose products are summed at a time */
    WEFT_DENSE_ROWS = 64,   /* samples in the forward pass */
    WEFT_DENSE_FEW = 16     /* rows of W in the backward pass */
};

/* A dense layer with a bias, whose weights begin at `at`. */
weft_layer weft_dense_layer(int in, int out, int relu, int64_t at);

/* Its tensors, fcNUMBER.weight and .bias. */
void weft_dense_tensors(const weft_layer *layer, int number, weft_tensor out[2]);

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
size_t weft_conv_packed(const weft_layer *layer);   /* bytes of scratch->packed */
size_t weft_conv_unfolded(const weft_layer *layer); /* numbers of scratch->unfolded */
size_t weft_conv_sums(const weft_layer *layer);     /* numbers of scratch->sums */

/* ---- stacks of layers ---- */

/* A network such as mlp is a struct whose first member is a weft_stack, which its setup
 * fills; the other functions of its vtable are those below. ReLU is between the layers, the
 * cross-entropy of the softmax, or a squared error, at the end. */
typedef struct weft_stack {
    weft_shape shape;
    int n; /* layers */
    weft_layer layer[WEFT_MAX_LAYERS];
} weft_stack;

/* An empty stack for the data; ECONF if they are text. `name` is the network's. */
WEFT_CHECKED weft_status weft_stack_begin(weft_stack *stack, const char *name,
                                          const weft_shape *shape);
/* Adds a layer on top. A convolution must fit its image, and pooling must leave a position.
 * Returns the convolution, for the caller to set pooling, scale and power, which are 0. */
void weft_stack_dense(weft_stack *stack, int out, int drop);
weft_layer *weft_stack_conv(weft_stack *stack, int k, int pad, int out, int pool, int drop);
/* The last one: dense, to the classes, without ReLU. */
void weft_stack_end(weft_stack *stack);

/* Members of weft_net; all of them but setup and init are those of every stack. */
#define WEFT_STACK_MEMBERS                                                                 \
    .nweight = weft_stack_nweight, .tensors = weft_stack_tensors,                          \
    .flops = weft_stack_flops, .work = weft_stack_work, .grad = weft_stack_grad,           \
    .score = weft_stack_score, .width = weft_stack_width,                                  \
    .represent = weft_stack_represent, .lanes_work = weft_stack_lanes_work,                \
    .lanes_grad = weft_stack_lanes_grad, .lanes_score = weft_stack_lanes_score
int64_t weft_stack_nweight(const void *self);
int weft_stack_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS]);
void weft_stack_init(const void *self, uint64_t seed, real *w);
double weft_stack_flops(const void *self);
void *weft_stack_work(const void *self, int most, weft_arena *mem);
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

/* ---- the network over sentences ---- */

enum { TXTCNN_MAX_GROUPS = 5 };
enum { TXTCNN_RELU, TXTCNN_ELU, TXTCNN_TANH, TXTCNN_SIGMOID, TXTCNN_SELU };
enum { TXTCNN_STATIC, TXTCNN_NONSTATIC, TXTCNN_MULTI };
enum { TXTCNN_AUTO, TXTCNN_ONE, TXTCNN_SOFTMAX };

/* f filters over windows of k words. */
typedef struct txtcnn_group {
    int f, k;
    int filter, column; /* its first filter; its first column of the product */
} txtcnn_group;

typedef struct txtcnn_net {
    int activation, channels, groups, hidden, bias, head; /* options */
    int f[TXTCNN_MAX_GROUPS], k[TXTCNN_MAX_GROUPS];
    double drop_input, drop_pooled, drop_hidden, max_norm;
    weft_shape shape; /* the rest is set by setup */
    txtcnn_group group[TXTCNN_MAX_GROUPS];
    int filters, columns; /* sums of f, and of f k, over the groups */
    int64_t bias_at;      /* offset of [filters], where bias; weights of filters are at 0 */
    weft_layer dense[2];  /* the hidden layer, if there is one, and the last */
    int ndense;
    int64_t embed, all; /* offset of [words + 1][vector] where vectors are trained; end */
} txtcnn_net;

/* work, grad, score, width and represent of weft_net. */
void *txtcnn_work(const void *self, int most, weft_arena *mem);
void txtcnn_grad(const void *self, void *work, const real *w, const weft_batch *batch,
                 double dropout, uint64_t key, real *g, weft_score *score);
void txtcnn_score(const void *self, void *work, const real *w, const weft_batch *batch,
                  weft_score *score);
int txtcnn_width(const void *self);
void txtcnn_represent(const void *self, void *work, const real *w, const weft_batch *batch,
                      real *h, real *z);

#endif
