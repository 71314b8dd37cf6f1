/* What the files of the n-gram feature map share: its options, the rows of one request and
 * the matrix made of them. */
#ifndef WEFT_FEATURE_NGRAM_H
#define WEFT_FEATURE_NGRAM_H

#include "weft/feature.h"

typedef enum ngram_weights {
    NGRAM_NB,
    NGRAM_SIF,
    NGRAM_TF,
    NGRAM_TFIDF,
    NGRAM_BINARY
} ngram_weights;
typedef enum ngram_norm { NGRAM_NONE, NGRAM_L2, NGRAM_AVERAGE } ngram_norm;
typedef enum ngram_hash { NGRAM_PER_MAP, NGRAM_SHARED } ngram_hash;
typedef enum ngram_scale { NGRAM_NATURAL, NGRAM_LOG2 } ngram_scale;

typedef struct ngram {
    int tokenizer, stop, lower, order, grams, binary, weights, normalize;
    double alpha;
    int64_t bins;
    int hash, nb_scale;
    const weft_source *data;  /* set by setup */
    double tokens[WEFT_NTOK]; /* in a document, on average; set by setup */
} ngram;

/* Rows of a request being made into features: bins and counts first, then values. */
typedef struct ngram_rows {
    int64_t n;      /* local rows */
    int64_t bins;   /* of this request */
    int64_t *first; /* [n+1] */
    uint32_t *bin;  /* [first[n]] distinct within a row, in order of first occurrence */
    float *value;   /* [first[n]] count, then weighted count */
} ngram_rows;

/* Words of the n-grams of a configuration, from and to. */
int ngram_least(const ngram *a);
int ngram_most(const ngram *a);

/* The configuration that row i of a request is made by. */
const ngram *ngram_arm(const weft_request *q, int64_t i);

/* Bins of a map of share `size` of the features. */
int64_t ngram_bins(const ngram *self, double size);

/* Distinct bins of every row with their counts (ones where binary). Local. */
void ngram_count(const ngram *self, const weft_request *q, ngram_rows *x, weft_arena *tmp);

/* stat[bin][class]: sums of the counts over all ranks' rows, as they are. Collective. */
void ngram_pool(const ngram *self, const weft_request *q, const ngram_rows *x, real *stat,
                weft_arena *tmp);

/* Turns counts into values: weights of bins by each row's configuration, then its norm.
 * Local. */
void ngram_weigh(const ngram *self, const weft_request *q, const real *stat, ngram_rows *x,
                 weft_arena *tmp);

/* As weft_matrix.gather. */
const int32_t *ngram_gather(const weft_matrix *f, const int32_t *label, int owner,
                            weft_team *alone, weft_matrix *whole, weft_arena *mem);

/* The products with the rows. Collective. */
void ngram_matrix(const weft_request *q, const ngram_rows *x, weft_matrix *f,
                  weft_arena *tmp);

#endif
