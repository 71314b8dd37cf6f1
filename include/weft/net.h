/* Networks trained by gradients: a pure function of a flat weight vector and a batch.
 * Devices of a federation train them; they know neither MPI nor files. */
#ifndef WEFT_NET_H
#define WEFT_NET_H

#include "weft/data.h"

/* What goes in and comes out of a network, as the data set has it. */
typedef struct weft_shape {
    weft_form form; /* WEFT_REALS (bytes come as numbers in 0..1), WEFT_CHARS, WEFT_TOKENS
                     */
    int64_t d;      /* numbers of a row; WEFT_CHARS: characters of a window; WEFT_TOKENS:
                       words of the longest document */
    int channels, height, width; /* of an image, d = channels height width; else 0 */
    int classes;                 /* outputs; WEFT_CHARS: symbols of the alphabet */
    int every; /* WEFT_CHARS: 1: predict the next character at each place, 0: at the last */
    /* WEFT_TOKENS, else 0 */
    int64_t words;        /* of the vocabulary */
    double length;        /* words of a document, on average */
    int vector;           /* numbers that stand for a word */
    const float *vectors; /* [words][vector] at first; borrowed while the network lives */
} weft_shape;

/* Samples to be seen at once: pointers to them, so that a shuffle moves no data. */
typedef struct weft_batch {
    int n;
    const float *const *x;       /* [n] rows of d numbers; NULL for WEFT_CHARS, _TOKENS */
    const uint8_t *const *text;  /* [n] windows of d + 1 symbols, the last one the target;
                                    where shape.every, symbol t + 1 is the target of t */
    const int32_t *label;        /* [n] 0 .. classes-1; not read for WEFT_CHARS */
    const uint32_t *const *word; /* WEFT_TOKENS: [n] documents, numbers of their words */
    const int *length;           /* [n] how many */
    const double *weight; /* [n] what the loss of a sample counts in the mean, which still
                             is the sum over n; NULL: 1; not read for WEFT_CHARS */
} weft_batch;

/* Sums over predictions: one a sample, or d a window where shape.every. */
typedef struct weft_score {
    double loss; /* cross-entropy, natural logarithm */
    int64_t wrong, count;
} weft_score;

/* A tensor in the flat weight vector, row-major. */
typedef struct weft_tensor {
    char name[32]; /* "lstm1.weight_hh" */
    int64_t at;    /* offset */
    int nd;
    int64_t dims[4];
} weft_tensor;
#define WEFT_MOST_TENSORS 32

typedef struct weft_net {
    weft_kind kind; /* its options are sizes, never axes of a space */
    /* Checks that the network can take the data. ECONF, EDATA. Local. */
    weft_status (*setup)(void *self, const weft_shape *shape);
    int64_t (*nweight)(const void *self);
    /* Its tensors, in order, without gaps: nweight in all. Returns how many. */
    int (*tensors)(const void *self, weft_tensor out[WEFT_MOST_TENSORS]);
    /* Initial weights w[nweight], PyTorch's distributions; a function of the seed. */
    void (*init)(const void *self, uint64_t seed, real *w);
    double (*flops)(const void *self); /* operations of a gradient, per sample */
    /* Scratch for batches of up to `most` samples, from mem. */
    void *(*work)(const void *self, int most, weft_arena *mem);
    /* g[nweight] = gradient of the mean, weighted loss over the batch's predictions; adds
     * to *s the sums of the same forward pass, without weights. `dropout` is the share of
     * units dropped, with masks that are a function of `key`. The result depends on its
     * arguments alone. */
    void (*grad)(const void *self, void *work, const real *w, const weft_batch *b,
                 double dropout, uint64_t key, real *g, weft_score *s);
    /* After every step: makes the weights keep what the options demand of them, such as a
     * largest length. NULL: nothing. */
    void (*project)(const void *self, real *w);
    /* Adds the sums of a forward pass without dropout to *s. */
    void (*score)(const void *self, void *work, const real *w, const weft_batch *b,
                  weft_score *s);
} weft_net;

/* The network of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_net_find(const char *name, const weft_net **out);

#endif
