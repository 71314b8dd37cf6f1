/* Corpora of words by number, and n-gram feature maps over them. Included by t_ngram*.c. */
#ifndef WEFT_TEST_NGRAM_MAPS_H
#define WEFT_TEST_NGRAM_MAPS_H

#include "weft/data/data.h"
#include "weft/feature/feature.h"

#include "tap.h"

/* ---- corpora ---- */

/* The words of all documents; stop words are those on the stop list as written. */
static const char *const word[] = {"good", "bad", "film", "Film", "the", "The"};
static const char *const lower[] = {"good", "bad", "film", "film", "the", "the"};
static const uint8_t stop[] = {0, 0, 0, 0, 1, 0};
enum { GOOD, BAD, FILM, FILM_UP, THE, THE_UP, WORDS };

static inline void take_vocab(weft_data *data, int64_t n)
{
    uint64_t *hash = WEFT_NEW(mem, uint64_t, n), *low = WEFT_NEW(mem, uint64_t, n);
    uint8_t *stops = WEFT_NEW(mem, uint8_t, n);
    for (int64_t i = 0; i < n; i++) {
        const char *w = i < WORDS ? word[i] : printed("word%d", (int)i);
        const char *l = i < WORDS ? lower[i] : w;
        hash[i] = weft_hash(w, strlen(w), 0);
        low[i] = weft_hash(l, strlen(l), 0);
        stops[i] = i < WORDS ? stop[i] : 0;
    }
    for (int k = 0; k < WEFT_NTOK; k++)
        data->vocab[k] = (weft_vocab){.n = n, .hash = hash, .lower = low, .stop = stops};
}

/* This rank's documents out of n, given all: token ids ended by -1, with labels. */
static inline void take_part(weft_data *data, weft_part part, int64_t n,
                             const int *const *doc, const int32_t *label)
{
    weft_rows *rows = &data->part[part];
    rows->total = n;
    weft_deal(n, data->team->rank, data->team->size, &rows->first, &rows->n);
    rows->label = label + rows->first;
    int64_t *offset = WEFT_NEW(mem, int64_t, rows->n + 1), at = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int *t = doc[rows->first + i];
        while (*t >= 0) t++;
        offset[i + 1] = offset[i] + (t - doc[rows->first + i]);
    }
    uint32_t *token = WEFT_NEW(mem, uint32_t, offset[rows->n]);
    for (int64_t i = 0; i < rows->n; i++)
        for (const int *t = doc[rows->first + i]; *t >= 0; t++) token[at++] = (uint32_t)*t;
    for (int k = 0; k < WEFT_NTOK; k++) {
        rows->offset[k] = offset;
        rows->end[k] = offset + 1;
        rows->token[k] = token;
    }
}

/* Weights that are 1 to seven digits, so that values are counts. */
#define COUNTS "weights = sif\nalpha = 1e12\n"

/* ---- feature maps ---- */

static const weft_feature *const ngram = &weft_feature_ngram;

static inline void *map_bound(const char *options)
{
    return bound_with(&ngram->kind, options, '\n');
}

static inline void *map_new(weft_data *data, const char *options)
{
    void *self = map_bound(options);
    weft_source rows = weft_data_source(data);
    must(ngram->setup(self, &rows, 1e9, 2, 1, mem));
    return self;
}

struct made {
    weft_matrix f;
    real *stat;
    void *map;
};

/* The matrix of a part by one configuration; trained on the training part. */
static inline struct made make(weft_data *data, weft_part part, const char *options)
{
    struct made made = {.map = map_new(data, options)};
    const void *arm = made.map;
    int64_t id = 3;
    made.stat = WEFT_NEW(mem, real, ngram->nstat(made.map));
    weft_request request = {.narm = 1, .arms = &arm, .id = &id, .size = 1, .seed = 5};
    for (int k = WEFT_TRAIN; k <= (int)part; k++) {
        request.part = (weft_part)k;
        request.n = data->part[k].n;
        ngram->matrix(made.map, &request, k == WEFT_TRAIN, made.stat, &made.f, mem);
    }
    return made;
}

#endif
