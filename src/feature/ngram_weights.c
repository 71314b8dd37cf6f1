/* Weights of the bins of n-grams, from the counts f pooled over the training rows of all
 * maps:
 * - naive Bayes (Wang, Manning, "Baselines and bigrams", ACL 2012), p = alpha + sum_{y=1}
 * f, q = alpha + sum_{y=0} f: r = log((p/|p|)/(q/|q|)). With more than two classes, r is
 * the log-ratio of one class against the rest that is largest in magnitude; for two classes
 * that is the same except for its sign, which a linear model absorbs.
 * - SIF (Arora, Liang, Ma, ICLR 2017): alpha total / (alpha total + count).
 * - tf-idf: log((1 + n) / (1 + f)) + 1, of n documents, where f counts a bin once in each
 *   document of such a map: scikit-learn's smooth idf. */
#include "ngram.h"

#include <math.h>
#include <string.h>

enum { AHEAD = 24 /* entries whose counts are fetched before their use */ };

void ngram_pool(const ngram_map *self, const weft_request *request, const ngram_rows *rows,
                real *stat, weft_arena *tmp)
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

void ngram_set_weights(const ngram_map *self, const weft_request *request, const real *stat,
                       ngram_rows *rows, weft_arena *tmp)
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
