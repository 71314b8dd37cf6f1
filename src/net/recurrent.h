/* Private to net/: layers of LSTM over sequences of unequal length, without padding; the
 * translation network, which is made of them: the offsets of its tensors, the work space of
 * a part of a batch, and the passes of its encoder and decoder. */
#ifndef WEFT_RECURRENT_H
#define WEFT_RECURRENT_H

#include "net.h"

/* n sequences by decreasing length. Rows are in the order of the steps: step t has rows
 * first[t] .. first[t + 1] - 1, those of the first sequences, which are all that are longer
 * than t. */
typedef struct net_steps {
    int n, longest;
    int *first;  /* [longest + 1] */
    int *length; /* [n] */
} net_steps;
/* For up to `most` sequences of up to `longest` steps. */
net_steps net_steps_new(int most, int longest, weft_arena *mem);
/* Sets `first` by n and length[n]. */
void net_steps_count(net_steps *steps);
int net_steps_at(const net_steps *steps,
                 int t);                    /* sequences at step t; 0 beyond the last */
int net_steps_rows(const net_steps *steps); /* rows of all steps */

/* The matrices of a layer's gates: ih[4h][in], hh[4h][h]. */
typedef struct net_gates {
    net_pair ih, hh;
} net_gates;

/* Offsets of a layer's tensors: [4h][in], [4h][h], [4h]. */
typedef struct net_lstm {
    int64_t ih, hh, bias[2]; /* equal where there is one bias */
} net_lstm;
/* The tensors NAME.weight_ih_lLAYERDIRECTION, weight_hh, bias_ih, and with two biases
 * bias_hh. */
net_lstm net_layout_lstm(net_layout *layout, const char *name, int layer,
                         const char *direction, int in, int h, int biases);

/* Dropout of the units of one sample at one place of a network. */
typedef struct net_drop {
    int share; /* rate, in 1/NET_DROP_SCALE; 0: none */
    uint64_t key, place, sample;
} net_drop;
enum { NET_DROP_SCALE = 1 << 16 };
/* y[n] = x[n] with units set to 0 at random, the others scaled up; y may be x. */
void net_drop_units(const net_drop *drop, int n, const real *x, real *y);

/* A layer in one direction. */
typedef struct net_recurrent {
    int in, h, reverse;  /* reverse 1: from each sequence's end on */
    size_t ldx, ld, ldz; /* leading dimensions */
    net_gates gates;
    const real *bias;       /* [4h] */
    real *x;                /* [rows][ldx] inputs */
    real *z, *c, *y, *last; /* [rows] gates [ldz]; cells, outputs, outputs of the step
                               before [ld] */
    const real *c0, *y0;    /* [n][ld] before the first step; NULL: zeros */
    real *dy;               /* [rows][ld] gradient with respect to y */
    real *dc;               /* [n][ld] with respect to the cells of the step at hand */
    const real **plus;      /* [n] */
    real **into;            /* [n] */
    const real **given; /* [rows] gates in place of inputs and bias, y0 being NULL, and */
    real **dgiven;      /* [rows] where their gradients are added; NULL: the bias */
} net_recurrent;
/* With room for `most` sequences and `rows` rows. */
net_recurrent net_recurrent_new(int in, int h, int reverse, int most, int rows,
                                weft_arena *mem);
/* ih[4h][in], hh[4h][h]; bias[4h] is borrowed. `back`: for the backward pass, too. */
void net_recurrent_pack(net_recurrent *layer, const real *ih, const real *hh,
                        const real *bias, int back);
/* The part of the gates that comes from the inputs, of rows [row, row + n). */
void net_recurrent_input(net_recurrent *layer, int row, int n);
/* Step t, whose gates have that part; in the order of the layer's direction. */
void net_recurrent_step(net_recurrent *layer, const net_steps *steps, int t);
/* Backward pass of step t, in the reverse of that order: dy + what comes from the step that
 * followed; z becomes the gradient with respect to the sums before sigmoid and tanh; adds
 * the gradient of the bias to dbias[4h]. Before the first one dc is the gradient with
 * respect to the last cells; after the last one that with respect to c0. */
void net_recurrent_step_back(net_recurrent *layer, const net_steps *steps, int t,
                             real *dbias);
/* After the first step's backward pass: dy0[n][ld] = gradient with respect to y0. */
void net_recurrent_first_back(const net_recurrent *layer, const net_steps *steps,
                              real *dy0);
/* dx[n][lddx], that with respect to the inputs of rows [row, row + n); add 1: +=. */
void net_recurrent_input_back(const net_recurrent *layer, int row, int n, int add, real *dx,
                              size_t lddx);
/* ih and hh [4h][..] += their gradients, of all rows. */
void net_recurrent_weights_back(const net_recurrent *layer, int rows, real *ih, real *hh,
                                weft_arena *tmp);

/* ---- the translation network ---- */

enum {
    SEQ2SEQ_LAYERS = 4,
    SEQ2SEQ_PART = 16,   /* sentences at once, */
    SEQ2SEQ_ROWS = 1024, /* and words: their gates stay in cache */
    SEQ2SEQ_BEGIN = 1,   /* the words that begin and end a translation, those of */
    SEQ2SEQ_END = 2      /* byte-pair encoding */
};

typedef struct seq2seq_net {
    int embedding, hidden, layers, feed, tied; /* options */
    double smoothing;
    int beam;
    double penalty;
    weft_shape shape;
} seq2seq_net;

/* Offsets of the tensors in the flat weight vector and its gradient. */
typedef struct seq2seq_offsets {
    int64_t source, target; /* [words][embedding] */
    net_lstm encoder[SEQ2SEQ_LAYERS][2], decoder[SEQ2SEQ_LAYERS];
    int64_t attention; /* [hidden][hidden] */
    int64_t combine;   /* [hidden][2 hidden]: of the context, of the decoder's output */
    int64_t output;    /* [words][hidden]; that of `target` where tied */
    int64_t bias;      /* [words] */
    int64_t all;
} seq2seq_offsets;

/* The encoder's outputs of one sentence, for attention. */
typedef struct seq2seq_memory {
    int length;
    real *e, *de;     /* [length][ld] outputs, and the gradient with respect to them */
    net_matrix score; /* k = hidden, m = length: e transposed */
    net_matrix mean;  /* k = length, m = hidden: e */
} seq2seq_memory;

/* What a part may have: sentences, translations (that live at once), source words, words of
 * all steps of the decoder, and of those whose logits are there at once. */
typedef struct seq2seq_room {
    int sentences, translations, sources, targets, logits;
} seq2seq_room;

/* Work space. */
typedef struct seq2seq_scratch {
    seq2seq_room room;
    net_steps source, target;
    int *source_order; /* [sentences] sentences of the part by length */
    int *target_order; /* [translations] the sentence of each translation, by
                          the length of that */
    int *source_place; /* [sentences] of each, its place in source_order */
    net_recurrent encoder[SEQ2SEQ_LAYERS][2], decoder[SEQ2SEQ_LAYERS];
    net_pair attention, combine, output;
    real *e, *de;             /* [sources][ld] of all sentences */
    size_t ld, ldj, lda, ldc; /* of rows of hidden, 2 hidden, source words, target words */
    seq2seq_memory *memory;   /* [sentences] */
    real *c0[SEQ2SEQ_LAYERS], *y0[SEQ2SEQ_LAYERS]; /* [translations][ld] the decoder's
                                                      beginning */
    real *dy0[SEQ2SEQ_LAYERS];                     /* [translations][ld] */
    real *query, *joint, *out; /* [rows][ld], [rows][ldj] context and output of the decoder,
                                  [rows][ld] the tanh of their combination */
    real *alpha;               /* [rows][lda] shares of attention */
    real *kept;                /* [rows][ld] `out` after dropout */
    real *logit;               /* [logits][ldc] */
    real *dout, *djoint, *dquery; /* [rows] as out, joint, query */
    real *dx;                     /* [rows][ldj] gradient with respect to a layer's input */
    real *dalpha;                 /* [lda] */
    weft_arena *tmp;
} seq2seq_scratch;

/* A part of a batch, of n sentences from `first` on. */
typedef struct seq2seq_part {
    const seq2seq_net *seq2seq;
    seq2seq_scratch *scratch;
    seq2seq_offsets offsets;
    const real *w;
    const weft_batch *batch;
    const uint32_t *word; /* [rows of a step] where it translates, the words before the
                             step; NULL: those of the batch's translations */
    int first, n;
    int share; /* dropout rate, as in net_drop */
    uint64_t key;
} seq2seq_part;

/* Fills memory, c0 and y0. */
void seq2seq_encode(const seq2seq_part *part);
/* Fills `kept` from these, for the words of the batch's translations. */
void seq2seq_decode(const seq2seq_part *part);
/* The same for steps [from, to); those before were done. */
void seq2seq_decode_steps(const seq2seq_part *part, int from, int to);
/* Takes dout, the gradient with respect to `kept`; adds to g, and writes the gradients with
 * respect to the outputs in memory, and to c0 and y0: decoder[].dc and dy0. */
void seq2seq_decode_back(const seq2seq_part *part, real *g);
/* Takes these and adds to g. */
void seq2seq_encode_back(const seq2seq_part *part, real *g);

#endif
