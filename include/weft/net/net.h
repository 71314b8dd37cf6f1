/* Networks trained by gradients: functions of a flat weight vector and a batch only,
 * without MPI or files. Tasks fed and sgd train them.
 * All functions are local. */
#ifndef LIBWEFT_NET_NET_H
#define LIBWEFT_NET_NET_H

#include "weft/base/conf.h"
#include "weft/data/sample.h"
#include "weft/math/linear.h"
#include "weft/math/optim.h"

/* Batches for several models that are computed together, one in each of weft_lanes() vector
 * lanes. */
typedef struct weft_lane_batch {
    int n;                 /* rows of the largest batch */
    const int *count;      /* [lanes] rows of each batch, 0 .. n */
    const float *const *x; /* [n][lanes] rows of d numbers; NULL: the batch has ended */
    const int32_t *label;  /* [n][lanes] */
    int frozen;            /* as in weft_batch; not with `move` */
} weft_lane_batch;

/* Sums over predictions: one per sample, d per window where shape.every, or one for each
 * word of a reply and its end. */
typedef struct weft_score {
    double loss;  /* cross-entropy, natural logarithm; of numbers the squared error, mean
                     over those of a sample */
    double wrong; /* wrong answers; of numbers the loss once more */
    double count;
} weft_score;

/* Of networks that read one language and write another: the tensor makes the target; it has
 * a row for each word. */
enum { WEFT_OF_TARGET = 1, WEFT_OF_WORDS = 2 };

typedef struct weft_net {
    weft_kind kind; /* those of its options that have a role may be axes with task sgd; task
                       fed has one network for all trials */
    int numbers;    /* 1: shape.numbers may be set */
    /* Checks that the network can process the data. ECONF, EDATA. */
    weft_status (*setup)(void *self, const weft_shape *shape);
    int64_t (*nweight)(const void *self);
    /* Its tensors, in order and without gaps, nweight numbers in total. Returns their
     * number. */
    int (*tensors)(const void *self, weft_tensor out[WEFT_MAX_TENSORS]);
    /* What a tensor belongs to, WEFT_OF_TARGET | WEFT_OF_WORDS; NULL: 0 of all. */
    int (*role)(const weft_tensor *tensor);
    /* Initial weights w[nweight], PyTorch's distributions; a function of the seed. */
    void (*init)(const void *self, uint64_t seed, real *w);
    double (*flops)(const void *self); /* operations of a gradient, per sample */
    /* Scratch for batches of up to `most` samples, from mem. */
    void *(*work)(const void *self, int most, weft_arena *mem);
    /* The table in its weights, with rows 0 if this instance has none. NULL: no instance
     * has one. */
    weft_table (*table)(const void *self);
    /* g[nweight] = gradient of the mean, weighted loss over the batch's predictions, of
     * replies of the mean over them of their summed loss; adds to *score the sums of the
     * same forward pass, without weights. `dropout` is the share
     * of units dropped, with masks that are a function of `key`. Where the batch has
     * places, g is [table.at + places table.d]: that of the other weights, then the rows of
     * the words; where it is compact, so are w here and in score. The result depends only
     * on its arguments. */
    void (*grad)(const void *self, void *work, const real *w, const weft_batch *batch,
                 double dropout, uint64_t key, real *g, weft_score *score);
    /* To be called after every step: enforces the constraints on weights that options set,
     * such as a maximum norm. NULL: none. */
    void (*project)(const void *self, real *w);
    /* Adds loss, wrong and count of a forward pass without dropout to *score, each sample's
     * times its weight. */
    void (*score)(const void *self, void *work, const real *w, const weft_batch *batch,
                  weft_score *score);
    /* Writes replies to the batch's samples: word[i][0 .. length[i]), at most shape.longest
     * words; each depends on its own sample only. NULL: it writes nothing. */
    void (*write)(const void *self, const real *w, const weft_batch *batch,
                  uint32_t *const *word, int *length);
    /* Representations: the numbers that the last layer takes, `width` of them. `represent`
     * writes to h[][width] those of every prediction of a batch, of a sample's places in
     * order, and to z[][classes] the logits (NULL: not needed), without dropout; each
     * depends on its own sample only. width NULL: the network has none. */
    int (*width)(const void *self);
    int resumes; /* 1: grad, without dropout, goes on from a batch's stored ones */
    void (*represent)(const void *self, void *work, const real *w, const weft_batch *batch,
                      real *h, real *z);
    /* The same without dropout for as many models as there are lanes: w, g
     * [nweight][lanes], score[lanes]; each lane has the same bits as grad and score. With
     * `move`, which clips nothing, its weights make the step as the gradient is computed,
     * and g is not used; w is move->w, or in a first step what it begins with. All three
     * are NULL if the network does not implement them; lanes_work, for batches of up to
     * `most`, returns NULL if this instance cannot use them. */
    void *(*lanes_work)(const void *self, int most, weft_arena *mem);
    void (*lanes_grad)(const void *self, void *work, const real *w,
                       const weft_lane_batch *batch, real *g, const weft_lanes_move *move,
                       weft_score *score);
    void (*lanes_score)(const void *self, void *work, const real *w,
                        const weft_lane_batch *batch, weft_score *score);
} weft_net;

/* net->setup for the data set in the file `path`, whose messages then name the file, and as
 * section.model the key that chose the network. ECONF, EDATA. */
WEFT_CHECKED weft_status weft_net_setup(const weft_net *net, void *self,
                                        const weft_shape *shape, const char *section,
                                        const char *path);

#endif
