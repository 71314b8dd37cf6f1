/* Weights of networks for many contexts, such as the languages that a sentence is
 * translated from and to, or the client that a sample belongs to, who is both source and
 * target: theta, the weights of the network, is made of a longer vector w by the context of
 * a batch. Of each tensor that is named w has
 *   each        a copy for each source language, or for each target language, by the
 *               tensor's role;
 *   pair        a copy for each pair of them;
 *   generated   a matrix W with a column for each number of an embedding: the tensor is
 *               W l, l the embedding of the source or target language by the tensor's
 *               role;
 * of others one copy for all contexts. Tensors of words have one copy where languages share
 * a vocabulary, else one for each language, and for each pair with `pair`. Platanios,
 * Sachan, Neubig, Mitchell, "Contextual Parameter Generation for Universal Neural Machine
 * Translation", EMNLP 2018. All functions are local. */
#ifndef LIBWEFT_NET_CONTEXT_H
#define LIBWEFT_NET_CONTEXT_H

#include "weft/net/net.h"

enum {
    WEFT_CONTEXT_ONE,
    WEFT_CONTEXT_EACH,
    WEFT_CONTEXT_PAIR,
    WEFT_CONTEXT_GENERATED,
    WEFT_CONTEXT_AUTO /* generated for languages, one for all clients */
};
enum { WEFT_CONTEXT_COLUMNS = 4096 };               /* at most, numbers of an embedding */
enum { WEFT_CONTEXT_LEARNT, WEFT_CONTEXT_ONE_HOT }; /* context.embedding */
enum { WEFT_CONTEXT_ALL, WEFT_CONTEXT_EMBEDDINGS }; /* context.train */

/* Section [context]. */
typedef struct weft_context_options {
    int form;            /* one of those above; AUTO not in a layout */
    const char *tensors; /* that contexts have by themselves, as weft_tensors_choose has
                            them; none with `one` */
    int size;            /* M, numbers of an embedding */
    int embedding; /* one hot: the numbers of language i are 0, and 1 at i modulo M; not
                      trained, and W begins as the copies of `each` */
    int train;     /* all of w; or what belongs to languages that are not known alone: their
                      embeddings, and their words where they have a vocabulary each; of
                      clients all embeddings */
} weft_context_options;
extern const weft_kind weft_context_kind;

/* The context of a batch. */
typedef struct weft_context {
    int language[2]; /* source, target */
    int pair;
} weft_context;

/* Where a tensor's copies, or the columns of W, are. */
typedef struct weft_context_part {
    int form, role;
    int64_t at, theta; /* offsets in w and in theta */
    int64_t n;         /* numbers of the tensor */
    int copies;        /* or columns */
} weft_context_part;

typedef struct weft_contexts {
    weft_context_options options;
    const weft_net *net;
    const void *self; /* borrowed */
    int languages, pairs;
    int known; /* languages, the first ones, that had been trained before; languages: none
                  was, or all */
    int alike; /* contexts are clients, who may be like each other: copies begin equal, and
                  a step of one client leaves the copies of others as they are */
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS]; /* of the network */
    weft_context_part part[WEFT_MAX_TENSORS];
    int64_t theta;     /* numbers of theta */
    int64_t generated; /* of them, those that are generated: P of the published formulas */
    int64_t embedding; /* offset of [languages][size]; all of w where there are none */
    int64_t n;         /* numbers of w */
} weft_contexts;

/* The layout for a network that was set up. `shared` 1: the languages share a vocabulary.
 * A tensor for fewer languages and pairs, with fewer words, is the first rows of each
 * dimension. Clients are languages, with themselves as pairs. ECONF: options.tensors names
 * what the network does not have, or nothing that can be by context. */
WEFT_CHECKED weft_status weft_contexts_setup(weft_contexts *contexts,
                                             const weft_context_options *options,
                                             const weft_net *net, const void *self,
                                             int languages, int pairs, int shared);
/* The tensors of w, in order and without gaps: those of the network, whose first dimension
 * is that of the copies or columns if there are several, then the embeddings. The last
 * two of five dimensions are one. Returns their number. */
int weft_contexts_tensors(const weft_contexts *contexts, weft_tensor out[WEFT_MAX_TENSORS]);
/* Sets by[..] to 1 for those of them that have a row for each language. */
void weft_contexts_by_language(const weft_contexts *contexts, char by[WEFT_MAX_TENSORS]);
/* Initial w[n], a function of the seed: copies as the network's own initial weights, the
 * first by `seed`, the others, unless they are alike, by seeds of their own; embeddings
 * U(-0.1, 0.1); W uniform, so that theta has the spread of the network's initial
 * weights. */
void weft_contexts_init(const weft_contexts *contexts, uint64_t seed, real *w);
/* The most copies, or columns, that a tensor has. */
int weft_contexts_copies(const weft_contexts *contexts);

/* The generator: theta[n] += W by, with columns w[c stride .. + n], those of factor 0 left
 * out. Of contexts, and of algorithm cpg. Cost O(n columns). */
void weft_generate(int columns, int64_t stride, int64_t n, const real *w, const real *by,
                   real *theta);

/* Below, [from, from + n) are the numbers of theta that a rank has: `from` is a multiple of
 * WEFT_CONTEXT_BLOCK. */
enum { WEFT_CONTEXT_BLOCK = 128 };
/* Numbers [from, from + n) of theta[theta] of a context. Cost O(n copies). */
void weft_contexts_form(const weft_contexts *contexts, const real *w, weft_context at,
                        int64_t from, int64_t n, real *theta);
/* Numbers [from, end) of w. */
typedef struct weft_context_range {
    int64_t from, end;
} weft_context_range;
enum { WEFT_MAX_RANGES = WEFT_MAX_TENSORS + 1 };
/* The numbers of w that are trained by options.train, rising. Returns how many ranges. */
int weft_contexts_trained(const weft_contexts *contexts,
                          weft_context_range out[WEFT_MAX_RANGES]);
/* What becomes of a gradient: take(self, at, n, g) gets that with respect to numbers [at,
 * at + n) of w, and may change these, and g. */
typedef struct weft_contexts_taker {
    void (*take)(void *self, int64_t at, int64_t n, real *g);
    void *self;
} weft_contexts_taker;
/* Gives the gradient with respect to tensors' copies and columns, from numbers [from, from
 * + n) of dtheta[theta] of a context: 0 but in its copies, which alone are given where
 * contexts are alike, dW = dtheta l'. dots[weft_contexts_dots(contexts)] gets sums over
 * blocks of columns times dtheta, those of the range. Cost O(n copies). */
void weft_contexts_spread(const weft_contexts *contexts, const real *w, weft_context at,
                          const real *dtheta, int64_t from, int64_t n,
                          const weft_contexts_taker *taker, double *dots);
int64_t weft_contexts_dots(const weft_contexts *contexts);
/* Gives that with respect to the embeddings, dl = W' dtheta, by the dots of all of theta,
 * summed in their order. */
void weft_contexts_spread_small(const weft_contexts *contexts, weft_context at,
                                const double *dots, const weft_contexts_taker *taker);
/* What belongs to contexts that were never trained, trained[languages] 0, becomes the mean
 * of what the others have: copies and embeddings. Cost O(n) where there are any. */
void weft_contexts_fill(const weft_contexts *contexts, const char *trained, real *w);
/* Numbers [from, from + n) of theta from copy or column c of w, of tensors that have it;
 * put 1: the other way. */
void weft_contexts_copy(const weft_contexts *contexts, int c, int64_t from, int64_t n,
                        int put, real *w, real *theta);

#endif
