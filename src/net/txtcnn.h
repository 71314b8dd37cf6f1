/* Private to net/: the convolutional network over sentences, and the offsets of its
 * tensors. */
#ifndef WEFT_TXTCNN_H
#define WEFT_TXTCNN_H

#include "stack.h"

enum { TXTCNN_MAX_GROUPS = 5 };
enum { TXTCNN_RELU, TXTCNN_ELU, TXTCNN_TANH, TXTCNN_SIGMOID, TXTCNN_SELU };
enum { TXTCNN_STATIC, TXTCNN_NONSTATIC, TXTCNN_MULTI };
enum { TXTCNN_AUTO, TXTCNN_ONE, TXTCNN_SOFTMAX };
enum { TXTCNN_MASKED, TXTCNN_KIM, TXTCNN_HADER };

/* f filters over windows of k words. */
typedef struct txtcnn_group {
    int f, k;
    int filter, column; /* its first filter; its first column of the product */
} txtcnn_group;

typedef struct txtcnn_net {
    int activation, channels, groups, hidden, bias, head, literal; /* options */
    int f[TXTCNN_MAX_GROUPS], k[TXTCNN_MAX_GROUPS];
    double drop_input, drop_pooled, drop_hidden, max_norm;
    weft_shape shape; /* the rest is set by setup */
    int64_t padded;   /* words that shorter documents are padded to, where literal */
    txtcnn_group group[TXTCNN_MAX_GROUPS];
    int filters, columns; /* sums of f, and of f k, over the groups */
    int widest;           /* largest k */
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
