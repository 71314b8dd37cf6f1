/* Private to net/: workspace of a pass of the network over sentences, and the words of a
 * piece of a batch. */
#ifndef WEFT_TXTCNN_PASS_H
#define WEFT_TXTCNN_PASS_H

#include "txtcnn.h"
#include "weft/gemm.h"

#include <math.h>

enum {
    TXTCNN_PIECE = 1024,     /* rows of the product at a time */
    TXTCNN_ZEROS = INT32_MIN /* a window of padding alone */
};

/* Documents whose word vectors are in the rows of x. */
typedef struct txtcnn_piece {
    int first, n; /* documents of the batch */
    int rows;
} txtcnn_piece;

typedef struct txtcnn_scratch {
    int32_t *row_of_word; /* [words] row of x of a word, -1: none */
    uint32_t *word;       /* [rows] */
    uint32_t *row;        /* [tokens] row of x of each word of the piece, in order */
    int64_t *start;       /* [most + 1] first token of each document of the piece */
    int64_t room;         /* capacity in rows and in tokens */
    real *x;              /* [rows][ldx] vectors */
    real *z;              /* [rows][ldz] product */
    real *dx;             /* [rows][ldx]; NULL where vectors are not trained */
    size_t ldx, ldz;
    void *packed; /* memory of filters */
    weft_packed filters;
    real *sum;         /* [filters] of one window */
    real *pooled;      /* [most][filters] largest sum over windows, then the output */
    real *slope;       /* [most][filters] derivative of the output with respect to its sum;
                          later the gradient with respect to the sum */
    int32_t *window;   /* [most][filters] first word of the largest window, or
                          TXTCNN_ZEROS */
    real *mask;        /* [ldx] dropout mask of a vector */
    real *y[2], *dy;   /* [most][units] of the dense layers */
    real *hidden_mask; /* [most][hidden] dropout mask */
    real *dpooled;     /* [most][filters] gradient with respect to the outputs; before,
                          dropout mask */
    uint32_t *at;      /* [entries] row or column of each term of a sum */
    real *value;       /* [entries] factor of each term */
    int64_t *next;     /* [rows + 1] first entry of each row */
    weft_scratch dense;
} txtcnn_scratch;

/* Arguments of a pass. */
typedef struct txtcnn_pass {
    const txtcnn_net *txtcnn;
    txtcnn_scratch *scratch;
    const weft_batch *batch;
    const real *w;
    int train;
    uint64_t key;
    double drop_pooled;
} txtcnn_pass;

/* ---- txtcnn_words.c ---- */

/* Dropout mask m[n]: 0 with probability `share`, else 1 / (1 - share); a function of key,
 * layer and place. */
void txtcnn_mask(uint64_t key, int layer, uint64_t place, double share, int64_t n, real *m);
/* 1 if this pass applies dropout to word vectors; each occurrence of a word then has its
 * own row. */
int txtcnn_drops_input(const txtcnn_pass *pass);
/* Assigns rows to the words of the next documents, as many as fit. */
txtcnn_piece txtcnn_assign_rows(const txtcnn_pass *pass, int first);
/* x = the vectors of the rows; the sum of both channels where there are two. */
void txtcnn_load(const txtcnn_pass *pass, const txtcnn_piece *piece);
/* Multiplies x[rows][ldx] by the dropout masks of its words. */
void txtcnn_mask_rows(const txtcnn_pass *pass, const txtcnn_piece *piece, int channel,
                      real *x);

/* ---- txtcnn_pass.c ---- */

/* Forward pass over the batch; returns the last piece, whose words are still in rows. */
txtcnn_piece txtcnn_forward(const txtcnn_pass *pass, weft_score *score);

#endif
