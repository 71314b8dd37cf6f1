/* Private to net/: the character LSTM, and the offsets of its tensors. */
#ifndef WEFT_LSTM_H
#define WEFT_LSTM_H

#include "weft/net.h"

enum { LSTM_MAX_LAYERS = 7 };

typedef struct lstm_net {
    int embedding, hidden, layers, biases; /* options */
    weft_shape shape;
} lstm_net;

/* Offsets of the tensors in the flat weight vector and its gradient. */
typedef struct lstm_offsets {
    int64_t embed; /* [classes][embedding] */
    struct {
        int64_t ih;      /* [4h][in] */
        int64_t hh;      /* [4h][h] */
        int64_t bias[2]; /* [4h]; equal where there is one */
    } layer[LSTM_MAX_LAYERS];
    int64_t dense; /* [classes][h] */
    int64_t bias;  /* [classes] */
    int64_t all;
} lstm_offsets;
lstm_offsets lstm_offsets_of(const lstm_net *lstm);

/* work, grad, score, width and represent of weft_net. */
void *lstm_work(const void *self, int most, weft_arena *mem);
void lstm_grad(const void *self, void *work, const real *w, const weft_batch *batch,
               double dropout, uint64_t key, real *g, weft_score *score);
void lstm_score(const void *self, void *work, const real *w, const weft_batch *batch,
                weft_score *score);
int lstm_width(const void *self);
void lstm_represent(const void *self, void *work, const real *w, const weft_batch *batch,
                    real *h, real *z);

#endif
