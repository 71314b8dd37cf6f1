/* Feature map: hashed bags of n-grams of documents, weighted and normalised. A request is
 * answered in four steps: bins and counts of each row by its own configuration; counts
 * pooled over all of them (training only); weights; the matrix. Used by task fmap.
 */
#include "ngram.h"
#include "weft/base/base.h"

#include <math.h>
#include <string.h>

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

/* ---- weights ---- */

/* Weights of the bins of n-grams, from the counts f pooled over the training rows of all
 * maps:
 * - naive Bayes (Wang, Manning, "Baselines and bigrams", ACL 2012), p = alpha + sum_{y=1}
 * f, q = alpha + sum_{y=0} f: r = log((p/|p|)/(q/|q|)). With more than two classes, r is
 * the log-ratio of one class against the rest that is largest in magnitude; for two classes
 * that is the same except for its sign, which a linear model absorbs.
 * - SIF (Arora, Liang, Ma, ICLR 2017): alpha total / (alpha total + count).
 * - tf-idf: log((1 + n) / (1 + f)) + 1, of n documents, where f counts a bin once in each
 *   document of such a map: scikit-learn's smooth idf. */

enum { AHEAD = 24 /* entries whose counts are fetched before their use */ };

/* stat[bin][class]: sums of the counts over all ranks' rows. Collective. */
static void pool_counts(const ngram_map *self, const weft_request *request,
                        const ngram_rows *rows, real *stat, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int classes = self->data->classes;
    size_t n = (size_t)(rows->bins * classes);
    int32_t *sum = WEFT_NEW(tmp, int32_t, n);
    const int32_t *label = self->data->part[request->part].label;
    for (int64_t i = 0; i < rows->n; i++) {
        int32_t *of_class = sum + label[i];
        int once = ngram_arm(request, i)->weights == NGRAM_TFIDF;
        int64_t end = rows->first[i + 1];
        for (int64_t e = rows->first[i]; e < end; e++) {
            if (e + AHEAD < end)
                __builtin_prefetch(of_class +
                                   (size_t)rows->bin[e + AHEAD] * (size_t)classes);
            of_class[(size_t)rows->bin[e] * (size_t)classes] +=
                once ? 1 : (int32_t)rows->value[e];
        }
    }
    weft_sum_i32(self->data->team, sum, n);
    for (size_t i = 0; i < n; i++) stat[i] = (real)sum[i];
    int64_t total = rows->n;
    weft_sum_i64(self->data->team, &total, 1);
    stat[self->bins * classes] = (real)total;
}

/* What the weights of all rows are made of. */
struct basis {
    const real *stat;
    int classes;
    int64_t bins;
    float documents;    /* that the counts come from */
    double seen, count; /* bins with a count; sum of all counts */
    double *of_class;   /* [classes] sums of counts */
    float *norm, *once; /* [classes] scratch */
};

/* Sums over all bins. All counts are whole numbers, so that no order changes them. */
static void add_bins(struct basis *basis)
{
    for (int64_t b = 0; b < basis->bins; b++) {
        const real *s = basis->stat + b * basis->classes;
        int seen = 0;
        for (int k = 0; k < basis->classes; k++) seen |= s[k] > 0;
        for (int k = 0; k < basis->classes && seen; k++) basis->of_class[k] += (double)s[k];
        basis->seen += seen;
    }
    for (int k = 0; k < basis->classes; k++) basis->count += basis->of_class[k];
}

/* Natural logarithm of x > 0, normal: error below 2 ulp, the same on every CPU, and free of
 * branches, so that a loop over it becomes vector code. Polynomial of Cephes' logf. */
static inline float log_of(float x)
{
    union {
        float f;
        uint32_t i;
    } u = {.f = x};
    uint32_t up =
        u.i + (0x3f800000u - 0x3f3504f3u); /* carries into the exponent at sqrt(1/2) */
    float e = (float)((int32_t)(up >> 23) - 127);
    u.i = (up & 0x007fffffu) + 0x3f3504f3u;
    float m = u.f - 1, z = m * m;
    float p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    float y = p * m * z - 2.12194440e-4f * e - 0.5f * z; /* log 2 = 0.693359375 - 2.12e-4 */
    return m + y + 0.693359375f * e;
}

/* Count of all classes. Two classes have their own code for speed, here and below. */
static inline float count_of(const real *s, int classes)
{
    if (classes == 2) return (float)(s[0] + s[1]);
    float part[4] = {0}; /* additions need not wait for each other */
    int k = 0;
    for (; k + 3 < classes; k += 4)
        for (int j = 0; j < 4; j++) part[j] += (float)s[k + j];
    for (; k < classes; k++) part[0] += (float)s[k];
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/* r[m] <- counts of bins over all classes. */
static void count_bins(const struct basis *basis, const uint32_t *bin, int64_t m, float *r)
{
    for (int64_t e = 0; e < m; e++)
        r[e] =
            count_of(basis->stat + (size_t)bin[e] * (size_t)basis->classes, basis->classes);
}

static void weigh_sif(const struct basis *basis, const ngram_map *ngram,
                      const uint32_t *bin, int64_t m, float *r)
{
    float mass = (float)(ngram->alpha * basis->count);
    count_bins(basis, bin, m, r);
    for (int64_t e = 0; e < m; e++) r[e] = mass / (mass + r[e]);
}

/* As an integer: positive floats are in the order of their bits, and unlike floats integers
 * have a largest one that vector code finds. */
static inline int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* (p/|p|)/(q/|q|) of the class whose ratio is farthest from 1, of equal ones the largest;
 * of two classes, class 1. norm[k] is |q|/|p| of class k, all the count of all classes;
 * all - of is exact, so that a small alpha is not lost beside it.
 * Classes are taken by the GROUP, whose loops become vector code. */
static inline float ratio(const real *s, int classes, float all, float alpha,
                          const float *norm)
{
    enum { GROUP = 32 };
    if (classes == 2) return (alpha + (float)s[1]) / (alpha + (float)s[0]) * norm[1];
    int32_t most = bits_of(1), extreme = most, x[GROUP], away[GROUP];
    for (int g = 0; g < classes; g += GROUP) {
        int n = classes - g < GROUP ? classes - g : GROUP;
        for (int k = 0; k < n; k++) {
            float of = (float)s[g + k];
            float ratio = (alpha + of) / (alpha + (all - of)) * norm[g + k];
            float inverse = 1 / ratio;
            x[k] = bits_of(ratio);
            away[k] = bits_of(ratio > inverse ? ratio : inverse);
        }
        int32_t before = most;
        for (int k = 0; k < n; k++) most = away[k] > most ? away[k] : most;
        if (most > before) extreme = 0;
        for (int k = 0; k < n; k++) {
            int32_t candidate = away[k] == most ? x[k] : 0;
            extreme = candidate > extreme ? candidate : extreme;
        }
    }
    float r;
    memcpy(&r, &extreme, sizeof r);
    return r;
}

/* The ratio of a bin with a single count, which all of its class share and most bins have:
 * in once[class] as soon as one is computed. */
static inline float ratio_once(const real *s, int classes, float alpha, const float *norm,
                               float *once)
{
    int class = 0;
    while (!(s[class] > 0)) class ++;
    if (!(once[class] > 0)) once[class] = ratio(s, classes, 1, alpha, norm);
    return once[class];
}

/* norm <- |q|/|p| of every class under a configuration. Differences of counts are exact,
 * and come before alpha is added, which may be far smaller. */
static void mass_ratios(const struct basis *basis, const ngram_map *ngram)
{
    double mass = ngram->alpha * basis->seen;
    for (int k = 0; k < basis->classes; k++)
        basis->norm[k] = (float)((mass + (basis->count - basis->of_class[k])) /
                                 (mass + basis->of_class[k]));
}

static void weigh_nb(const struct basis *basis, const ngram_map *ngram, const uint32_t *bin,
                     int64_t m, float *r)
{
    int classes = basis->classes;
    const float *norm = basis->norm;
    mass_ratios(basis, ngram);
    memset(basis->once, 0, (size_t)classes * sizeof *basis->once);
    float alpha = (float)ngram->alpha;
    for (int64_t e = 0; e < m; e++) {
        const real *s = basis->stat + (size_t)bin[e] * (size_t)classes;
        float all = count_of(s, classes);
        int seen = all > 0; /* else the weight is 0 */
        int single = classes > 2 && all > 0 && all < 2;
        float x = 1;
        if (single)
            x = ratio_once(s, classes, alpha, norm, basis->once);
        else if (seen || classes == 2)
            x = ratio(s, classes, all, alpha, norm);
        r[e] = seen ? x : 1;
    }
    for (int64_t e = 0; e < m; e++) r[e] = log_of(r[e]);
}

/* value <- value weight, then divided by the row's norm. */
static void scale_row(const ngram_map *ngram, int64_t m, const float *r, float *value)
{
    double norm = 0;
    if (ngram->normalize == NGRAM_AVERAGE) {
        for (int64_t e = 0; e < m; e++) norm += (double)value[e];
    }
    for (int64_t e = 0; e < m; e++) value[e] *= r[e];
    if (ngram->normalize == NGRAM_L2) {
        for (int64_t e = 0; e < m; e++) norm += (double)value[e] * (double)value[e];
        norm = sqrt(norm);
    }
    if (norm <= 0) return;
    float inverse = (float)(1 / norm);
    for (int64_t e = 0; e < m; e++) value[e] *= inverse;
}

/* Whether a configuration of the request has weights that use sums over all bins. */
static int uses_totals(const weft_request *request)
{
    for (int k = 0; k < request->narm; k++) {
        const ngram_map *ngram = request->arms[k];
        if (ngram->weights == NGRAM_NB || ngram->weights == NGRAM_SIF) return 1;
    }
    return 0;
}

static void weigh_idf(const struct basis *basis, const uint32_t *bin, int64_t m, float *r)
{
    count_bins(basis, bin, m, r);
    for (int64_t e = 0; e < m; e++) r[e] = (1 + basis->documents) / (1 + r[e]);
    for (int64_t e = 0; e < m; e++) r[e] = log_of(r[e]) + 1;
}

/* r[m] <- weights of the bins under a configuration. */
static void weigh(const struct basis *basis, const ngram_map *ngram, const uint32_t *bin,
                  int64_t m, float *r)
{
    if (ngram->weights == NGRAM_TF || ngram->weights == NGRAM_BINARY) {
        for (int64_t e = 0; e < m; e++) r[e] = 1;
    } else if (ngram->weights == NGRAM_TFIDF) {
        weigh_idf(basis, bin, m, r);
    } else if (ngram->weights == NGRAM_SIF) {
        weigh_sif(basis, ngram, bin, m, r);
    } else {
        weigh_nb(basis, ngram, bin, m, r);
    }
}

/* Weights of every bin under a configuration, for many rows. */
static float *weigh_all(const struct basis *basis, const ngram_map *ngram, weft_arena *tmp)
{
    enum { CHUNK = 1024 };
    uint32_t bin[CHUNK];
    float *all = WEFT_NEW(tmp, float, basis->bins);
    for (int64_t b = 0; b < basis->bins; b += CHUNK) {
        int64_t m = basis->bins - b < CHUNK ? basis->bins - b : CHUNK;
        for (int64_t e = 0; e < m; e++) bin[e] = (uint32_t)(b + e);
        weigh(basis, ngram, bin, m, all + b);
    }
    return all;
}

static int64_t longest_row(const ngram_rows *rows)
{
    int64_t longest = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t m = rows->first[i + 1] - rows->first[i];
        if (m > longest) longest = m;
    }
    return longest;
}

/* Turns counts into values: multiplies them by the weights of the bins under each row's
 * configuration, then normalises the row. */
static void set_weights(const ngram_map *self, const weft_request *request,
                        const real *stat, ngram_rows *rows, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int classes = self->data->classes;
    struct basis basis = {.stat = stat,
                          .classes = classes,
                          .bins = rows->bins,
                          .documents = (float)stat[self->bins * classes],
                          .of_class = WEFT_NEW(tmp, double, classes),
                          .norm = WEFT_NEW(tmp, float, classes),
                          .once = WEFT_NEW(tmp, float, classes)};
    if (uses_totals(request)) add_bins(&basis);
    float *r = WEFT_NEW(tmp, float, longest_row(rows));
    /* Where rows have more entries than bins; counts of many classes are lines of cache of
     * their own, which are read in twice the time in the order of entries. */
    float **table = WEFT_NEW(tmp, float *, request->narm);
    int64_t entries = (classes > 2 ? 2 : 1) * rows->first[rows->n];
    if (rows->bins * request->narm < entries) {
        for (int k = 0; k < request->narm; k++)
            table[k] = weigh_all(&basis, request->arms[k], tmp);
    }
    for (int64_t i = 0; i < rows->n; i++) {
        const ngram_map *ngram = ngram_arm(request, i);
        const float *all = table[request->arm ? request->arm[i] : 0];
        const uint32_t *bin = rows->bin + rows->first[i];
        int64_t m = rows->first[i + 1] - rows->first[i];
        if (!all) weigh(&basis, ngram, bin, m, r);
        for (int64_t e = 0; all && e < m; e++) r[e] = all[bin[e]];
        scale_row(ngram, m, r, rows->value + rows->first[i]);
    }
}

/* ---- the map ---- */

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
    if (fit) pool_counts(ngram, request, &rows, stat, tmp);
    set_weights(ngram, request, stat, &rows, tmp);
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

WEFT_PLUGIN(feature, ngram) = {
    .kind = WEFT_KIND("ngram", ngram_map, opts,
                      "bags of n-grams of documents, hashed or by a vocabulary",
                      .when = when),
    .setup = setup,
    .sparse = 1,
    .columns = columns,
    .nstat = nstat,
    .matrix = matrix,
    .affinity = affinity,
    .estimate = estimate,
};
