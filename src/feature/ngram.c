/* Feature map: hashed bags of n-grams of documents, weighted and normalised. A request is
 * answered in four steps: bins and counts of each row by its own configuration; counts
 * pooled over all of them (training only); weights; the matrix. Used by task fmap.
 */
#include "ngram.h"
#include "weft/base/base.h"

#include <math.h>

static const weft_opt opts[] = {
    WEFT_CHOICE_OPT("tokenizer/method", ngram_map, tokenizer, "split", WEFT_TOK_WORDS,
                    "punctuation is removed, split off, treated as in the Penn Treebank, "
                    "or cleaned as by Kim",
                    .role = WEFT_PER_SAMPLE),
    WEFT_BOOL_OPT("stop", ngram_map, stop, "false",
                  "remove stop words, before letters are lowered", .role = WEFT_PER_SAMPLE),
    WEFT_BOOL_OPT("lower", ngram_map, lower, "true", "lower-case the tokens",
                  .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("order", ngram_map, order, "2", 1, 3,
                 "n-grams of 1 to this many tokens, where grams = auto",
                 .role = WEFT_PER_SAMPLE),
    WEFT_CHOICE_OPT("grams", ngram_map, grams, "auto", "auto|1-1|1-2|1-3|2-2|2-3|3-3",
                    "tokens of the n-grams, from and to; auto: 1 to order",
                    .role = WEFT_PER_SAMPLE),
    WEFT_BOOL_OPT("binary", ngram_map, binary, "true", "counts of bins become 0 or 1",
                  .role = WEFT_PER_SAMPLE),
    WEFT_CHOICE_OPT("weights", ngram_map, weights, "nb", "nb|sif|tf|tfidf|binary",
                    "nb: naive Bayes log-count ratio; sif: smooth inverse frequency; tf: "
                    "counts; tfidf: counts times (log((1 + documents) / (1 + those with "
                    "it)) + 1); binary: ones",
                    .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("alpha", ngram_map, alpha, "1", 1e-12, 1e12,
                  "smoothing of the weights: counts (nb), share of all counts (sif)",
                  .role = WEFT_PER_SAMPLE),
    WEFT_CHOICE_OPT(
        "normalize/preprocess", ngram_map, normalize, "none",
        "none/None|l2/normalize|average",
        "none; l2: divide a row by its length; average: by the sum of its counts",
        .role = WEFT_PER_SAMPLE),
    WEFT_LONG_OPT("bins", ngram_map, bins, "1048576", 2, 2147483648.0,
                  "number of bins (features)"),
    WEFT_CHOICE_OPT("columns", ngram_map, columns, "bins", "bins|vocabulary",
                    "features: bins that n-grams are hashed into, or the n-grams that "
                    "occur in most training documents, at most as many as bins"),
    WEFT_LONG_OPT(
        "min_count", ngram_map, min_count, "1", 1, 65535,
        "training documents in which an n-gram of the vocabulary occurs, at least",
        .role = WEFT_PER_TRIAL),
    WEFT_CHOICE_OPT("hash", ngram_map, hash, "per_map", "per_map|shared",
                    "each configuration hashes by its own seed, or all by one"),
    {0},
};

static const weft_when when[] = {{"min_count", "columns", "vocabulary"}, {0}};

/* ---- maps that leave no n-gram ---- */

/* Rows from which on those of a map that shares a fit are no accident. */
#define ENOUGH 20

/* The options that take n-grams out, with their values. */
static const char *cause(const ngram_map *self, const ngram_map *ngram, weft_arena *tmp)
{
    const char *text =
        weft_arena_text(tmp, "ngram.tokenizer = %s", weft_tok_name[ngram->tokenizer]);
    if (ngram->stop) text = weft_arena_text(tmp, "%s, ngram.stop = yes", text);
    if (ngram_min_order(ngram) > 1)
        text = weft_arena_text(tmp, "%s, ngram.grams of %d tokens or more", text,
                               ngram_min_order(ngram));
    if (self->columns == NGRAM_VOCABULARY)
        text = weft_arena_text(tmp, "%s, ngram.min_count = %lld", text,
                               (long long)ngram->min_count);
    return text;
}

/* A text that names the configuration and the options that leave no n-gram in any row of
 * training of any rank, owned by mem; NULL: some row has one. Warns of the first
 * configuration that leaves none in its rows, unless it is the only one. Collective. */
static const char *tell_empty(const ngram_map *self, const weft_request *request,
                              const ngram_rows *counts, weft_arena *mem)
{
    int64_t *rows = WEFT_NEW(mem, int64_t, 2 * request->narm),
            *grams = rows + request->narm, all = 0;
    const char *why = NULL;
    for (int64_t i = 0; i < request->n; i++) {
        int arm = request->arm != NULL ? request->arm[i] : 0;
        rows[arm]++;
        grams[arm] += counts->first[i + 1] - counts->first[i];
    }
    weft_sum_i64(self->data->team, rows, 2 * (size_t)request->narm);
    for (int k = 0; k < request->narm; k++) {
        all += grams[k];
        if (grams[k] > 0 || rows[k] < (request->narm > 1 ? ENOUGH : 1) || why != NULL)
            continue;
        why = weft_arena_text(mem,
                              "configuration %lld of feature ngram leaves no n-gram in any "
                              "of its %lld training documents (%s)",
                              (long long)request->id[k], (long long)rows[k],
                              cause(self, request->arms[k], mem));
    }
    if (why != NULL && self->maps > 1 && !*self->told) {
        *self->told = 1;
        weft_log(WEFT_WARN, "%s: it can only guess; others like it are not told", why);
    }
    return all == 0 ? why : NULL;
}

/* ---- the map ---- */

static weft_status setup(void *self, const weft_source *data, double memory, int64_t maps,
                         uint64_t seed, weft_arena *mem)
{
    ngram_map *ngram = self;
    (void)seed;
    if (data->form != WEFT_TOKENS)
        return weft_fail(WEFT_ECONF,
                         "feature ngram needs documents, but %s holds numbers; use "
                         "feature = rff, or pack documents",
                         data->path);
    double need =
        (double)ngram->bins * (4.0 * data->classes + sizeof(real) * data->classes + 20);
    if (ngram->columns == NGRAM_VOCABULARY)
        need += (double)ngram_vocabulary_reals(ngram->bins) * sizeof(real) +
                12 * (double)ngram->bins;
    if (need > memory)
        return weft_fail(WEFT_ELIMIT,
                         "ngram.bins = %lld needs %.3g GB a rank, run.memory allows %.3g "
                         "GB; use fewer bins or allow more",
                         (long long)ngram->bins, need / 1e9, memory / 1e9);
    weft_source *own = WEFT_NEW(mem, weft_source, 1);
    *own = *data;
    ngram->data = own;
    ngram->told = WEFT_NEW(mem, int, 1);
    ngram->maps = maps;
    const weft_rows *part = &data->part[WEFT_TRAIN];
    for (int tok = 0; tok < WEFT_NTOK; tok++) {
        TRY(data->tokens(data->of, tok));
        int64_t tokens = 0;
        for (int64_t i = 0; i < part->n; i++)
            tokens += part->end[tok][i] - part->offset[tok][i];
        weft_sum_i64(data->team, &tokens, 1);
        ngram->tokens[tok] = (double)tokens / (double)part->total;
    }
    return WEFT_OK;
}

/* Bins of a map of share `size` of the features. */
static int64_t columns(const void *self, double size)
{
    double bins = ceil((double)((const ngram_map *)self)->bins * size);
    return bins < 2 ? 2 : (int64_t)bins;
}

/* Pooled counts, number of documents that they come from, vocabulary. */
static int64_t nstat(const void *self)
{
    const ngram_map *ngram = self;
    return ngram->bins * ngram->data->classes + 1 +
           (ngram->columns == NGRAM_VOCABULARY ? ngram_vocabulary_reals(ngram->bins) : 0);
}

/* The vocabulary, made from the rows of the request (fit 1) or read from the statistics;
 * NULL: bins. Collective. */
static const ngram_vocabulary *vocabulary_of(const ngram_map *ngram,
                                             const weft_request *request, int fit,
                                             real *stat, weft_arena *tmp)
{
    if (ngram->columns != NGRAM_VOCABULARY) return NULL;
    real *kept = stat + ngram->bins * ngram->data->classes + 1;
    ngram_vocabulary *vocabulary = WEFT_NEW(tmp, ngram_vocabulary, 1);
    *vocabulary =
        fit ? ngram_vocabulary_new(ngram, request, columns(ngram, request->size), tmp)
            : ngram_vocabulary_read(kept, tmp);
    if (fit) ngram_vocabulary_write(vocabulary, kept);
    return vocabulary;
}

static void matrix(void *self, const weft_request *request, int fit, real *stat,
                   weft_matrix *matrix, weft_arena *tmp)
{
    const ngram_map *ngram = self;
    ngram_rows rows = {.n = request->n, .bins = columns(ngram, request->size)};
    int64_t total = request->n;
    weft_sum_i64(ngram->data->team, &total, 1);
    *matrix = (weft_matrix){.n = request->n, .total = total, .team = ngram->data->team};
    const ngram_vocabulary *vocabulary = vocabulary_of(ngram, request, fit, stat, tmp);
    ngram_count(ngram, request, vocabulary, &rows, tmp);
    if (fit) matrix->empty = tell_empty(ngram, request, &rows, tmp);
    if (fit) ngram_pool(ngram, request, &rows, stat, tmp);
    ngram_set_weights(ngram, request, stat, &rows, tmp);
    ngram_matrix(request, &rows, matrix, tmp);
}

static int64_t affinity(const void *self, const void *arm)
{
    const ngram_map *ngram = arm;
    (void)self;
    return ngram->tokenizer;
}

/* The number of n-grams does not depend on the number of bins. */
static void estimate(const void *self, const void *arm, double rows, double size,
                     double *flops, double *bytes, double *entries)
{
    const ngram_map *ngram = self, *map = arm;
    double items = rows * ngram->tokens[map->tokenizer] *
                   (ngram_max_order(map) - ngram_min_order(map) + 1);
    /* Hashing, look-up and weights take as long as two visits of an entry by a fit; every
     * matrix reads the counts of all bins. */
    *flops = 8 * items + 2.0 * (double)(ngram->bins * ngram->data->classes) * size;
    *bytes = 16 * items + 16.0 * (double)ngram->bins * size;
    if (ngram->columns == NGRAM_VOCABULARY) *bytes += 48 * items; /* while it is made */
    *entries = items;
}

extern const weft_feature weft_feature_ngram;
const weft_feature weft_feature_ngram = {
    .kind = {.name = "ngram",
             .about = "bags of n-grams of documents, hashed or by a vocabulary",
             .size = sizeof(ngram_map),
             .opts = opts,
             .when = when},
    .setup = setup,
    .sparse = 1,
    .columns = columns,
    .nstat = nstat,
    .matrix = matrix,
    .affinity = affinity,
    .estimate = estimate,
};
