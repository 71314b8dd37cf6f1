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
typedef enum ngram_columns { NGRAM_BINS, NGRAM_VOCABULARY } ngram_columns;
typedef enum ngram_scale { NGRAM_NATURAL, NGRAM_LOG2 } ngram_scale;

typedef struct ngram {
    int tokenizer, stop, lower, order, grams, binary, weights, normalize;
    double alpha;
    int64_t bins, min_count;
    int columns, hash, nb_scale;
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

/* N-grams that have a column, known by 64-bit hashes of their tokens and the map's seed. */
typedef struct ngram_vocabulary {
    int64_t n;
    const uint64_t *key; /* [n] rising: column j is that of key[j] */
    const uint32_t *at;  /* [2^bits + 1] first key whose upper bits are these or more */
    int bits;
} ngram_vocabulary;

/* Words of the n-grams of a configuration, from and to. */
int ngram_least(const ngram *a);
int ngram_most(const ngram *a);

/* The configuration that row i of a request is made by. */
const ngram *ngram_arm(const weft_request *q, int64_t i);

/* Bins of a map of share `size` of the features. */
int64_t ngram_bins(const ngram *self, double size);

/* Keys of the n-grams of rows, one row after the other. */
typedef struct ngram_reader {
    const ngram *self;
    const weft_request *q;
    uint64_t *seed;  /* [narm] of each map's keys */
    uint64_t *token; /* [longest + 1] scratch */
    uint64_t *key;   /* of the row that was read last */
    int64_t longest; /* keys of a row at most */
    int64_t room;    /* of all rows */
} ngram_reader;
ngram_reader ngram_reader_new(const ngram *self, const weft_request *q, weft_arena *tmp);
/* Reads row i into r->key; returns how many keys it has. Local. */
int64_t ngram_read(ngram_reader *r, int64_t i);

/* The vocabulary of the rows of a request, at most `most` n-grams: of those that occur in
 * min_count documents or more the ones that occur in most documents, of equals those of the
 * smallest keys. The same on any number of ranks. Collective. Cost: a look-up in a hash
 * table for every n-gram of the rows; every rank gets all keys. */
ngram_vocabulary ngram_learn(const ngram *self, const weft_request *q, int64_t most,
                             weft_arena *mem);
/* Numbers of reals in which a vocabulary of at most `most` n-grams is kept; writes it
 * there; reads it from there. Local. */
int64_t ngram_kept_size(int64_t most);
void ngram_keep(const ngram_vocabulary *v, real *stat);
ngram_vocabulary ngram_kept(const real *stat, weft_arena *mem);

/* Column of a key; -1: none. */
static inline int64_t ngram_find(const ngram_vocabulary *v, uint64_t key)
{
    uint64_t bucket = key >> (64 - v->bits);
    for (uint32_t j = v->at[bucket]; j < v->at[bucket + 1]; j++)
        if (v->key[j] == key) return j;
    return -1;
}

/* Distinct bins of every row with their counts (ones where binary), or the columns of its
 * n-grams in a vocabulary. v NULL: bins. Local. */
void ngram_count(const ngram *self, const weft_request *q, const ngram_vocabulary *v,
                 ngram_rows *x, weft_arena *tmp);

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
