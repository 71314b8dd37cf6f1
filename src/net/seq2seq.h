/* Private to net/: the translation network; the offsets of its tensors, the work space of a
 * part of a batch, and the passes of its encoder and decoder. */
#ifndef WEFT_SEQ2SEQ_H
#define WEFT_SEQ2SEQ_H

#include "recurrent.h"
#include "weft/net.h"

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
typedef struct seq2seq_lstm {
    int64_t ih, hh, bias; /* [4h][in], [4h][h], [4h] */
} seq2seq_lstm;
typedef struct seq2seq_offsets {
    int64_t source, target; /* [words][embedding] */
    seq2seq_lstm encoder[SEQ2SEQ_LAYERS][2], decoder[SEQ2SEQ_LAYERS];
    int64_t attention; /* [hidden][hidden] */
    int64_t combine;   /* [hidden][2 hidden]: of the context, of the decoder's output */
    int64_t output;    /* [words][hidden]; that of `target` where tied */
    int64_t bias;      /* [words] */
    int64_t all;
} seq2seq_offsets;
seq2seq_offsets seq2seq_offsets_of(const seq2seq_net *seq2seq);
/* tensors and role of weft_net. */
int seq2seq_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS]);
int seq2seq_role(const weft_tensor *tensor);

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
    net_matrix attention, attention_back, combine, combine_back, output, output_back;
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
seq2seq_scratch *seq2seq_scratch_new(const seq2seq_net *seq2seq, seq2seq_room room,
                                     weft_arena *mem);
void seq2seq_pack(const seq2seq_net *seq2seq, seq2seq_scratch *scratch, const real *w,
                  int back);
void *seq2seq_work(const void *self, int most, weft_arena *mem);

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

/* The part that begins at sentence `first`, in order: as many as there is room for. */
seq2seq_part seq2seq_part_at(const seq2seq_net *seq2seq, seq2seq_scratch *scratch,
                             const real *w, const weft_batch *batch, int first);
/* The words of its sentence i. */
const uint32_t *seq2seq_source(const seq2seq_part *part, int i, int *n);
const uint32_t *seq2seq_target(const seq2seq_part *part, int i, int *n);
/* Dropout at step t of its sentence i, at one of the network's places. */
net_drop seq2seq_drop(const seq2seq_part *part, int place, int i, int t);

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

/* logit[n][ldc] of rows [row, row + n) of `kept`. */
void seq2seq_logits(const seq2seq_part *part, int row, int n);

/* grad, score and translate of weft_net. */
void seq2seq_grad(const void *self, void *work, const real *w, const weft_batch *batch,
                  double dropout, uint64_t key, real *g, weft_score *score);
void seq2seq_score(const void *self, void *work, const real *w, const weft_batch *batch,
                   weft_score *score);
void seq2seq_translate(const void *self, const real *w, const weft_batch *batch,
                       uint32_t *const *word, int *length);

#endif
