/* Private to net/: work space of a pass of the network over sentences, and the words of a
 * piece of a batch. */
#ifndef WEFT_TXTCNN_PASS_H
#define WEFT_TXTCNN_PASS_H

#include "txtcnn.h"

#include <math.h>

enum {
    TXTCNN_PIECE = 1024,       /* rows of the product at once */
    TXTCNN_NOWHERE = INT32_MIN /* the window of only zeros */
};

/* Documents whose words are in rows. */
typedef struct txtcnn_piece {
    int first, n; /* of the batch */
    int rows;
} txtcnn_piece;

typedef struct txtcnn_scratch {
    int32_t *seat;  /* [words] row of a word, -1: none */
    uint32_t *word; /* [rows] */
    uint32_t *row;  /* [tokens] of each word of the piece, in order */
    int64_t *start; /* [most + 1] tokens of the piece before a document */
    int64_t room;   /* rows and tokens that there is room for */
    real *x;        /* [rows][ldx] vectors */
    real *z;        /* [rows][ldz] product */
    real *dx;       /* [rows][ldx]; NULL where vectors are not trained */
    size_t ldx, ldz;
    void *packed;    /* weights of the filters */
    real *sum;       /* [filters] of one window */
    real *top;       /* [most][filters] largest sum, then the output */
    real *slope;     /* [most][filters] derivative of the output by its sum; later times its
                        gradient */
    int32_t *window; /* [most][filters] where it began; TXTCNN_NOWHERE */
    real *mask;      /* [ldx] of a vector */
    real *y[2], *dy; /* [most][units] of the dense layers */
    real *kept;      /* [most][hidden] what dropout multiplies by */
    real *answer;    /* [most][filters] gradient with respect to the outputs */
    uint32_t *at;    /* [entries] of a sum of rows */
    real *value;     /* [entries] */
    int64_t *next;   /* [rows + 1] entries before that of a row */
    weft_scratch dense;
} txtcnn_scratch;

/* Arguments of a pass. */
typedef struct txtcnn_pass {
    const txtcnn *t;
    txtcnn_scratch *s;
    const weft_batch *b;
    const real *w;
    int train;
    uint64_t key;
    double drop_pooled;
} txtcnn_pass;

/* ---- txtcnn_words.c ----------------------------------------------------------------- */

/* Each of m[n] becomes 0 with that probability, else the factor that keeps the mean; a
 * function of key, layer and place. */
void txtcnn_mask(uint64_t key, int layer, uint64_t place, double share, int64_t n, real *m);
/* Whether this pass drops numbers of vectors: then each word has a row of its own. */
int txtcnn_drops_input(const txtcnn_pass *p);
/* The next documents that fit, and the rows of their words. */
txtcnn_piece txtcnn_seat(const txtcnn_pass *p, int first);
/* x = the vectors of the rows, of both channels added where there are two. */
void txtcnn_load(const txtcnn_pass *p, const txtcnn_piece *q);
/* x[rows][ldx] times the masks of their words, where each has a row of its own. */
void txtcnn_mask_rows(const txtcnn_pass *p, const txtcnn_piece *q, int channel, real *x);

/* ---- txtcnn_pass.c ------------------------------------------------------------------ */

/* The sums of a forward pass; returns the last piece, whose words are still in rows. */
txtcnn_piece txtcnn_forward(const txtcnn_pass *p, weft_score *score);

#endif
