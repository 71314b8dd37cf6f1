/* What the files of the n-gram feature map share: its options, the rows of one request and
 * the matrix made of them. */
#ifndef WEFT_FEATURE_NGRAM_H
#define WEFT_FEATURE_NGRAM_H

#include "weft/feature/feature.h"

typedef enum ngram_weights {
    NGRAM_NB,
    NGRAM_SIF,
    NGRAM_TF,
    NGRAM_TFIDF,
    NGRAM_BINARY
} ngram_weights;
typedef enum ngram_norm { NGRAM_NONE, NGRAM_L2, NGRAM_AVERAGE } ngram_norm;
typedef enum ngram_hash { NGRAM_PER_MAP, NGRAM_SHARED } ngram_hash;
typedef enum ngram_columns { NGRAM_BINS, NGRAM_VOCABULARY } ngram_columns;

typedef struct ngram_map {
    int tokenizer, stop, lower, order, grams, binary, weights, normalize;
    double alpha;
    int64_t bins, min_count;
    int columns, hash;
    const weft_source *data;  /* set by setup */
    double tokens[WEFT_NTOK]; /* in a document, on average; set by setup */
    int64_t maps;             /* configurations; set by setup */
    int *told;                /* 1: a map without n-grams was; set by setup */
} ngram_map;

/* The rows of a request on the way to features: bins and counts first, then values. */
typedef struct ngram_rows {
    int64_t n;      /* local rows */
    int64_t bins;   /* of this request */
    int64_t *first; /* [n+1] */
    uint32_t *bin;  /* [first[n]] distinct within a row, in order of first occurrence */
    float *value;   /* [first[n]] count, then weighted count */
} ngram_rows;

/* N-grams that have a column, known by 64-bit hashes of their tokens and the map's seed. */
typedef struct ngram_vocabulary {
    int64_t n;
    const uint64_t *key; /* [n] rising: column j is that of key[j] */
    const uint32_t *at;  /* [2^bits + 1] first key whose upper bits are at least these */
    int bits;
} ngram_vocabulary;

/* Tokens of the n-grams of a configuration, from and to. */
int ngram_min_order(const ngram_map *ngram);
int ngram_max_order(const ngram_map *ngram);

/* The configuration that row i of a request is made by. */
const ngram_map *ngram_arm(const weft_request *request, int64_t i);

/* The vocabulary of the rows of a request: of the n-grams that occur
 * in at least min_count documents, the max_size that occur in most documents; ties are
 * broken by the smaller key. The same on any number of ranks. Collective. Cost: a look-up
 * in a hash table for every n-gram of the rows; every rank gets all keys. */
ngram_vocabulary ngram_vocabulary_new(const ngram_map *self, const weft_request *request,
                                      int64_t max_size, weft_arena *mem);
/* A vocabulary among the statistics: the number of reals that one of at most max_size
 * n-grams takes; writes it to them; reads it from them. */
int64_t ngram_vocabulary_reals(int64_t max_size);
void ngram_vocabulary_write(const ngram_vocabulary *vocabulary, real *stat);
ngram_vocabulary ngram_vocabulary_read(const real *stat, weft_arena *mem);

/* Distinct bins of every row with their counts (ones where binary), or the columns of its
 * n-grams in a vocabulary. v NULL: bins. */
void ngram_count(const ngram_map *self, const weft_request *request,
                 const ngram_vocabulary *vocabulary, ngram_rows *rows, weft_arena *tmp);

/* The products with the rows. Collective. */
void ngram_matrix(const weft_request *request, const ngram_rows *rows, weft_matrix *matrix,
                  weft_arena *tmp);

#endif
