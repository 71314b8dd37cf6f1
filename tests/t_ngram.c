/* Bags of n-grams on toy corpora whose features can be counted by hand, and on random ones
 * against sums made naively. RUN: np=1 np=2 np=3 np=4 */
#include "weft/feature.h"
#include "weft/registry.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static weft_team world;
static weft_arena *mem;

/* ---- corpora ------------------------------------------------------------------------ */

/* The words of all documents; stop words are those on the stop list as written. */
static const char *const word[] = {"good", "bad", "film", "Film", "the", "The"};
static const char *const lower[] = {"good", "bad", "film", "film", "the", "the"};
static const uint8_t stop[] = {0, 0, 0, 0, 1, 0};
enum { GOOD, BAD, FILM, FILM_UP, THE, THE_UP, WORDS };

static void take_vocab(weft_data *d, int64_t n)
{
    uint64_t *hash = WEFT_NEW(mem, uint64_t, n), *low = WEFT_NEW(mem, uint64_t, n);
    uint8_t *stops = WEFT_NEW(mem, uint8_t, n);
    for (int64_t i = 0; i < n; i++) {
        const char *w = i < WORDS ? word[i] : weft_arena_text(mem, "word%d", (int)i);
        const char *l = i < WORDS ? lower[i] : w;
        hash[i] = weft_hash(w, strlen(w), 0);
        low[i] = weft_hash(l, strlen(l), 0);
        stops[i] = i < WORDS ? stop[i] : 0;
    }
    for (int k = 0; k < WEFT_NTOK; k++)
        d->vocab[k] = (weft_vocab){.n = n, .hash = hash, .lower = low, .stop = stops};
}

/* This rank's documents out of n, given all: token ids ended by -1, with labels. */
static void take_part(weft_data *d, weft_part part, int64_t n, const int *const *doc,
                      const int32_t *label)
{
    weft_rows *r = &d->part[part];
    r->total = n;
    weft_deal(n, d->team->rank, d->team->size, &r->first, &r->n);
    r->label = label + r->first;
    int64_t *offset = WEFT_NEW(mem, int64_t, r->n + 1), at = 0;
    for (int64_t i = 0; i < r->n; i++) {
        const int *t = doc[r->first + i];
        while (*t >= 0) t++;
        offset[i + 1] = offset[i] + (t - doc[r->first + i]);
    }
    uint32_t *token = WEFT_NEW(mem, uint32_t, offset[r->n]);
    for (int64_t i = 0; i < r->n; i++)
        for (const int *t = doc[r->first + i]; *t >= 0; t++) token[at++] = (uint32_t)*t;
    for (int k = 0; k < WEFT_NTOK; k++) {
        r->offset[k] = offset;
        r->token[k] = token;
    }
}

/* ---- feature maps ------------------------------------------------------------------- */

static const weft_feature *const ngram = &weft_feature_ngram;

static void *map_bound(const char *options)
{
    weft_conf c;
    weft_conf_init(&c, mem);
    void *self = weft_arena_alloc(mem, 1, ngram->kind.size);
    if (weft_conf_text(&c, "t_ngram", weft_arena_text(mem, "[ngram]\n%s\n", options)) ||
        weft_conf_bind(&c, &ngram->kind, self))
        weft_die("%s", weft_error());
    return self;
}

static void *map_new(weft_data *d, const char *options)
{
    void *self = map_bound(options);
    weft_source rows = weft_data_source(d);
    if (ngram->setup(self, &rows, 1e9, 1, mem) != WEFT_OK) weft_die("%s", weft_error());
    return self;
}

typedef struct made {
    weft_matrix f;
    real *stat;
    void *map;
} made;

/* The matrix of a part by one configuration; trained on the training part. */
static made make(weft_data *d, weft_part part, const char *options)
{
    made m = {.map = map_new(d, options)};
    const void *arm = m.map;
    int64_t id = 3;
    m.stat = WEFT_NEW(mem, real, ngram->nstat(m.map));
    weft_request q = {.narm = 1, .arms = &arm, .id = &id, .size = 1, .seed = 5};
    for (int k = WEFT_TRAIN; k <= (int)part; k++) {
        q.part = (weft_part)k;
        q.n = d->part[k].n;
        ngram->matrix(m.map, &q, k == WEFT_TRAIN, m.stat, &m.f, mem);
    }
    return m;
}

/* ---- a corpus of three documents ---------------------------------------------------- */

static const int good_film[] = {GOOD, GOOD, FILM, -1}, bad_film[] = {BAD, FILM_UP, -1},
                 the_the[] = {THE, THE_UP, FILM, THE, -1}, nothing[] = {-1};
static const int one_good[] = {GOOD, -1}, one_bad[] = {BAD, -1}, one_film[] = {FILM, -1},
                 one_the[] = {THE, -1};
static const int *const train[] = {good_film, bad_film, the_the, nothing};
static const int32_t train_label[] = {1, 0, 1, 0};
/* Validation documents: one word each, which shows the word's bin. */
static const int *const single[] = {one_good, one_bad, one_film, one_the};
enum { S_GOOD, S_BAD, S_FILM, S_THE };
static const int32_t single_label[] = {0, 0, 0, 0};

static weft_data small(int classes)
{
    weft_data d = {.form = WEFT_TOKENS, .classes = classes, .team = &world, .mem = mem};
    d.path = "small";
    take_vocab(&d, WORDS);
    take_part(&d, WEFT_TRAIN, 4, train, train_label);
    take_part(&d, WEFT_VALID, 4, single, single_label);
    return d;
}

/* Entries of row i, all of which the first rank has. Collective. */
static int64_t entries(const weft_matrix *f, int64_t i)
{
    int64_t n = f->n > 0 ? f->rows->first[i + 1] - f->rows->first[i] : 0;
    weft_bcast(&world, &n, sizeof n, 0);
    return n;
}

/* Sum and squares of the values of row i. Collective. */
static double row_sum(const weft_matrix *f, int64_t i, int square)
{
    double sum = 0;
    for (int64_t e = f->n > 0 ? f->rows->first[i] : 0;
         f->n > 0 && e < f->rows->first[i + 1]; e++) {
        double v = (double)f->rows->value[e];
        sum += square ? v * v : v;
    }
    weft_bcast(&world, &sum, sizeof sum, 0);
    return sum;
}

/* Value in row i of `f` of the word that is row `s` of `alone`; 0 where it has none.
 * Collective. */
static double value(const weft_matrix *f, int64_t i, const weft_matrix *alone, int s)
{
    double v = 0;
    for (int64_t e = f->n > 0 ? f->rows->first[i] : 0;
         f->n > 0 && e < f->rows->first[i + 1]; e++)
        if (f->rows->column[e] == alone->rows->column[alone->rows->first[s]])
            v = (double)f->rows->value[e];
    weft_bcast(&world, &v, sizeof v, 0);
    return v;
}

/* Weights that are 1 to seven digits, so that values are counts. */
#define COUNTS "weights = sif\nalpha = 1e12\n"

static void test_counts(void)
{
    weft_data d = small(2);
    const char *options = COUNTS "order = 1\nbinary = no\nlower = no";
    made m = make(&d, WEFT_TRAIN, options), alone = make(&d, WEFT_VALID, options);
    is_near(value(&m.f, 0, &alone.f, S_GOOD), 2, 1e-6, "a word that stands twice counts 2");
    is_near(value(&m.f, 0, &alone.f, S_FILM), 1, 1e-6, "one that stands once counts 1");
    is_near(value(&m.f, 1, &alone.f, S_FILM), 0, 0, "a capital makes another word");
    ok(entries(&m.f, 2) == 3 && entries(&m.f, 3) == 0, "an empty document has no entries");
    m = make(&d, WEFT_TRAIN, COUNTS "order = 1\nbinary = no\nlower = yes");
    is_near(value(&m.f, 1, &alone.f, S_FILM), 1, 1e-6, "lower-casing makes it one");
    is_near(value(&m.f, 2, &alone.f, S_THE), 3, 1e-6, "the, The and the are three of one");
    m = make(&d, WEFT_TRAIN, COUNTS "order = 1\nbinary = no\nlower = yes\nstop = yes");
    is_near(value(&m.f, 2, &alone.f, S_THE), 1, 1e-6,
            "stop words go before lower-casing: The stays");
    m = make(&d, WEFT_TRAIN, COUNTS "order = 2\nbinary = no\nlower = no");
    ok(entries(&m.f, 0) == 4 && entries(&m.f, 2) == 6, "order 2: words and pairs");
    is_near(row_sum(&m.f, 0, 0), 5, 1e-5, "three words and two pairs");
    m = make(&d, WEFT_TRAIN, COUNTS "order = 3\nbinary = no\nlower = no");
    ok(entries(&m.f, 0) == 5 && entries(&m.f, 1) == 3, "order 3: triples too");
    is_near(row_sum(&m.f, 2, 0), 9, 1e-5, "four words, three pairs, two triples");
    m = make(&d, WEFT_TRAIN, COUNTS "order = 3\nbinary = yes\nbins = 2");
    ok(entries(&m.f, 2) == 2 && m.f.d == 2, "two bins hold it all");
    is_near(row_sum(&m.f, 2, 0), 2, 1e-6, "counts become ones after hashing");
    m = make(&d, WEFT_TRAIN, COUNTS "order = 3\nbinary = no\nbins = 2");
    is_near(row_sum(&m.f, 2, 0), 9, 1e-5, "or are added up");
}

static void test_grams(void)
{
    weft_data d = small(2);
    static const struct {
        const char *grams;
        int entries[2]; /* of "good good film" and "the The film the" */
    } all[] = {{"1-1", {2, 3}}, {"1-2", {4, 6}}, {"1-3", {5, 8}},
               {"2-2", {2, 3}}, {"2-3", {3, 5}}, {"3-3", {1, 2}}};
    for (int i = 0; i < 6; i++) {
        const char *grams = all[i].grams;
        made m =
            make(&d, WEFT_TRAIN,
                 weft_arena_text(mem, COUNTS "grams = %s\nbinary = no\nlower = no", grams));
        ok(entries(&m.f, 0) == all[i].entries[0] && entries(&m.f, 2) == all[i].entries[1] &&
               entries(&m.f, 3) == 0,
           "grams %s", grams);
    }
}

/* Documents, of four, that hold a lower-cased word: good 1, bad 1, film 3, the 1. */
static void test_idf(void)
{
    weft_data d = small(2);
    const char *options = "order = 1\nbinary = no\nweights = tfidf";
    made m = make(&d, WEFT_TRAIN, options), alone = make(&d, WEFT_VALID, options);
    double rare = log(5.0 / 2) + 1, common = log(5.0 / 4) + 1;
    is_near(value(&m.f, 0, &alone.f, S_GOOD), 2 * rare, 1e-5,
            "tf-idf: twice in one of four");
    is_near(value(&m.f, 0, &alone.f, S_FILM), common, 1e-5, "once in three of four");
    is_near(value(&m.f, 2, &alone.f, S_THE), 3 * rare, 1e-5, "three times in one");
    is_near(row_sum(&alone.f, S_FILM, 0), common, 1e-5,
            "training's idf weighs other parts");
    m = make(&d, WEFT_TRAIN, "order = 1\nweights = tfidf\nbinary = no\nnormalize = l2");
    is_near(row_sum(&m.f, 0, 1), 1, 1e-5, "rows of length one");
    m = make(&d, WEFT_TRAIN, "order = 1\nweights = tf\nbinary = no");
    is_near(row_sum(&m.f, 0, 0), 3, 1e-6, "tf: counts as they are");
    m = make(&d, WEFT_TRAIN, "order = 1\nweights = binary\nbinary = no");
    is_near(row_sum(&m.f, 0, 0), 2, 1e-6, "binary: ones");
}

static void test_vocabulary(void)
{
    weft_data d = small(2);
    const char *options = COUNTS "order = 1\nbinary = no\ncolumns = vocabulary\nbins = 16";
    made m = make(&d, WEFT_TRAIN, options), alone = make(&d, WEFT_VALID, options);
    is_near(value(&m.f, 0, &alone.f, S_GOOD), 2, 1e-6, "vocabulary: a word twice counts 2");
    is_near(value(&m.f, 2, &alone.f, S_THE), 3, 1e-6, "the, The and the are three of one");
    ok(m.f.d == 16 && m.stat[2 * 16 + 1] == 4, "four words have columns, of 16");
    m = make(&d, WEFT_TRAIN, COUNTS "order = 2\nbinary = no\ncolumns = vocabulary");
    ok(entries(&m.f, 0) == 4 && entries(&m.f, 2) == 5 && entries(&m.f, 3) == 0,
       "pairs have columns of their own");
    m = make(&d, WEFT_TRAIN, COUNTS "order = 2\ncolumns = vocabulary\nmin_count = 2");
    ok(entries(&m.f, 0) == 1 && entries(&m.f, 1) == 1 && entries(&m.f, 2) == 1,
       "only film occurs in two documents");
    m = make(&d, WEFT_TRAIN, COUNTS "order = 1\ncolumns = vocabulary\nbins = 2");
    alone = make(&d, WEFT_VALID, COUNTS "order = 1\ncolumns = vocabulary\nbins = 2");
    ok(entries(&alone.f, S_FILM) == 1 && entries(&alone.f, S_GOOD) +
                                                 entries(&alone.f, S_BAD) +
                                                 entries(&alone.f, S_THE) ==
                                             1,
       "of two columns the most frequent word has one, one of the others the other");
    take_part(&d, WEFT_TRAIN, 2, train, train_label);
    m = make(&d, WEFT_VALID, options);
    ok(entries(&m.f, S_THE) == 0 && entries(&m.f, S_FILM) == 1,
       "a word that training has not seen has no column");
}

/* log((p/|p|)/(q/|q|)), p = alpha + counts of class 1. */
static double bayes(double alpha, double p, double all_p, double q, double all_q,
                    double bins)
{
    return log((alpha + p) / (all_p + alpha * bins) * (all_q + alpha * bins) / (alpha + q));
}

/* Binary counts by class, lower-cased words: good 1|0, bad 0|1, film 2|1, the 1|0. */
static void test_bayes(void)
{
    weft_data d = small(2);
    const char *options = "order = 1\nbinary = yes\nalpha = 1";
    made m = make(&d, WEFT_TRAIN, options), alone = make(&d, WEFT_VALID, options);
    is_near(value(&m.f, 0, &alone.f, S_GOOD), bayes(1, 1, 4, 0, 2, 4), 2e-7,
            "Wang and Manning's weight of a word of one class");
    is_near(value(&m.f, 0, &alone.f, S_FILM), bayes(1, 2, 4, 1, 2, 4), 2e-7, "of both");
    is_near(value(&m.f, 1, &alone.f, S_BAD), bayes(1, 0, 4, 1, 2, 4), 2e-7, "of the other");
    m = make(&d, WEFT_TRAIN, "order = 1\nbinary = no\nalpha = 0.01");
    is_near(value(&m.f, 0, &alone.f, S_GOOD), 2 * bayes(0.01, 2, 7, 0, 2, 4), 1e-6,
            "counts that are not binary are pooled, and weighted, as they are");
    m = make(&d, WEFT_TRAIN, "order = 1\nalpha = 1\nnb_scale = log2\nbins = 65536");
    is_near(value(&m.f, 0, &alone.f, S_GOOD), 0, 0, "other bins, other columns");
    made wide = make(&d, WEFT_VALID, "order = 1\nalpha = 1\nnb_scale = log2\nbins = 65536");
    is_near(value(&m.f, 0, &wide.f, S_GOOD), bayes(1, 1, 4, 0, 2, 65536) / log(2), 2e-7,
            "log2 smooths over all bins");
    take_part(&d, WEFT_TRAIN, 2, train, train_label);
    m = make(&d, WEFT_VALID, options);
    is_near(value(&m.f, S_THE, &alone.f, S_THE), 0, 0, "a bin not seen in training: 0");
    m = make(&d, WEFT_VALID, COUNTS "order = 1");
    is_near(value(&m.f, S_THE, &alone.f, S_THE), 1, 1e-6, "by SIF: 1");
}

static void test_classes(void)
{
    static const int32_t label[] = {2, 0, 1, 0};
    weft_data d = small(3);
    take_part(&d, WEFT_TRAIN, 4, train, label);
    const char *options = "order = 1\nbinary = yes\nalpha = 1";
    made m = make(&d, WEFT_TRAIN, options), alone = make(&d, WEFT_VALID, options);
    /* film: one of each class, of 2, 2, 2; good: one of class 2. */
    is_near(value(&m.f, 0, &alone.f, S_GOOD), bayes(1, 1, 2, 0, 4, 4), 2e-7,
            "three classes: the class that a word tells most about");
    is_near(value(&m.f, 0, &alone.f, S_FILM), bayes(1, 1, 2, 2, 4, 4), 2e-7,
            "one class against the rest");
    is_near(value(&m.f, 1, &alone.f, S_BAD), bayes(1, 1, 2, 0, 4, 4), 2e-7, "each of them");
}

static void test_weights(void)
{
    weft_data d = small(2);
    const char *options = "order = 1\nbinary = no\nweights = sif\nalpha = 0.1";
    made m = make(&d, WEFT_TRAIN, options), alone = make(&d, WEFT_VALID, options);
    /* 9 words in all: good 2, film 3, the 3, bad 1. */
    is_near(value(&m.f, 0, &alone.f, S_GOOD), 2 * 0.9 / (0.9 + 2), 1e-6, "SIF of good");
    is_near(value(&m.f, 0, &alone.f, S_FILM), 0.9 / (0.9 + 3), 1e-6, "SIF of film");
    m = make(&d, WEFT_TRAIN, weft_arena_text(mem, "%s\nnormalize = average", options));
    is_near(value(&m.f, 0, &alone.f, S_GOOD), 2 * 0.9 / (0.9 + 2) / 3, 1e-6,
            "average divides by the number of words");
    ok(entries(&m.f, 3) == 0, "and an empty document by nothing");
    m = make(&d, WEFT_TRAIN,
             "order = 1\nbinary = yes\nweights = sif\nalpha = 0.1\n"
             "normalize = average");
    is_near(value(&m.f, 0, &alone.f, S_FILM), 0.6 / (0.6 + 3) / 2, 1e-6,
            "of binary counts: by the number of bins");
    m = make(&d, WEFT_TRAIN, "order = 3\nweights = sif\nalpha = 0.1\nnormalize = l2");
    is_near(row_sum(&m.f, 0, 1), 1, 1e-6, "l2 rows have length 1");
    m = make(&d, WEFT_TRAIN, "order = 2\nnormalize = l2");
    is_near(row_sum(&m.f, 1, 1), 1, 1e-6, "with naive Bayes too");
}

static void test_setup(void)
{
    weft_data d = small(2);
    void *self = map_bound("bins = 1000000000");
    weft_data images = {.form = WEFT_BYTES, .path = "images.h5"};
    weft_source wrong = weft_data_source(&images), right = weft_data_source(&d);
    ok(ngram->setup(self, &wrong, 1e9, 1, mem) == WEFT_ECONF &&
           strstr(weft_error(), "rff") != NULL,
       "images are refused, with what to use");
    ok(ngram->setup(self, &right, 1e9, 1, mem) == WEFT_ELIMIT, "too many bins are refused");
    self = map_new(&d, "bins = 1000");
    ok(ngram->columns(self, 0.5) == 500 && ngram->columns(self, 0.0001) == 2 &&
           ngram->nstat(self) == 2001,
       "a share of the features is a share of the bins");
    double flops, bytes, count;
    ngram->estimate(self, self, 100, 1, &flops, &bytes, &count);
    ok(flops > 0 && bytes > 0 && count > 0, "costs are estimated");
}

/* ---- a random corpus by several maps ------------------------------------------------ */

enum { DOCS = 900, VOCAB = 300, ARMS = 4 };
static int text[DOCS][24];
static const int *random_doc[DOCS];
static int32_t random_label[DOCS];

static weft_data random_corpus(void)
{
    weft_data d = {.form = WEFT_TOKENS, .classes = 2, .team = &world, .mem = mem};
    d.path = "random";
    for (int i = 0; i < DOCS; i++) {
        int n = i % 11 == 3 ? 0 : i % 20;
        random_label[i] = i % 3 == 0;
        random_doc[i] = text[i];
        for (int t = 0; t <= n; t++) {
            weft_rng4 r = weft_rng_at(2, WEFT_RNG_TEST, (uint64_t)i, (uint64_t)t, 0);
            double u = weft_rng_unit(r.v[0]);
            text[i][t] = t < n ? (int)(VOCAB * u * u * u) : -1;
        }
    }
    take_vocab(&d, VOCAB);
    take_part(&d, WEFT_TRAIN, DOCS, random_doc, random_label);
    return d;
}

static made make_mixed(weft_data *d, const char *hash, real scale)
{
    made m = {.map = map_new(d, weft_arena_text(mem, "bins = 4096\nhash = %s", hash))};
    const void **arm = WEFT_NEW(mem, const void *, ARMS);
    int64_t *id = WEFT_NEW(mem, int64_t, ARMS);
    int *draw = WEFT_NEW(mem, int, d->part[0].n);
    for (int k = 0; k < ARMS; k++) {
        id[k] = 10 * k;
        arm[k] = map_new(d, weft_arena_text(mem,
                                            "bins = 4096\nhash = %s\norder = %d\nalpha = "
                                            "%g\nweights = %s\nnormalize = %s\nbinary = %s",
                                            hash, k % 3 + 1, 0.1 + k, k == 2 ? "sif" : "nb",
                                            k == 3 ? "l2" : "none", k % 2 ? "yes" : "no"));
    }
    for (int64_t i = 0; i < d->part[0].n; i++)
        draw[i] = (int)((d->part[0].first + i) * 7 % ARMS);
    m.stat = WEFT_NEW(mem, real, ngram->nstat(m.map));
    weft_request q = {.part = WEFT_TRAIN, .n = d->part[0].n, .arm = draw, .narm = ARMS};
    q.arms = arm;
    q.id = id;
    q.size = (double)scale;
    q.seed = 5;
    ngram->matrix(m.map, &q, 1, m.stat, &m.f, mem);
    return m;
}

static double stat_sum(const made *m)
{
    double sum = 0;
    for (int64_t i = 0; i < ngram->nstat(m->map); i++) sum += (double)m->stat[i];
    return sum;
}

/* Sum over all ranks of values times z, naively; differs in rounding only. */
static void check_products(const made *m)
{
    const weft_matrix *f = &m->f;
    real *z = WEFT_NEW(mem, real, 2 * f->n), *w = WEFT_NEW(mem, real, 2 * f->d);
    real *h = WEFT_NEW(mem, real, 2 * f->n);
    double *g = WEFT_NEW(mem, double, 2 * f->d), *n = WEFT_NEW(mem, double, 2 * f->d);
    double *plain = WEFT_NEW(mem, double, 2 * f->d), worst[4] = {0};
    for (int64_t i = 0; i < 2 * f->n; i++) h[i] = (real)(1 + i % 3);
    for (int64_t j = 0; j < 2 * f->d; j++) w[j] = (real)(j % 17 - 8) / 8;
    f->times(f, 2, w, z);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < f->n; i++) {
            double sum = 0;
            for (int64_t e = f->rows->first[i]; e < f->rows->first[i + 1]; e++) {
                int64_t j = k * f->d + f->rows->column[e];
                sum += (double)f->rows->value[e] * (double)w[j];
                plain[j] +=
                    (double)f->rows->value[e] * (double)(h[k * f->n + i] * z[k * f->n + i]);
            }
            worst[0] = worse(worst[0], fabs(sum - (double)z[k * f->n + i]));
        }
    weft_sum_f64(&world, plain, (size_t)(2 * f->d), 1e9);
    f->normal(f, 2, w, h, n);
    for (int64_t i = 0; i < 2 * f->n; i++) z[i] *= h[i];
    f->trans(f, 2, z, g);
    for (int64_t j = 0; j < 2 * f->d; j++) {
        worst[1] = worse(worst[1], fabs(g[j] - plain[j]));
        worst[2] = worse(worst[2], fabs(g[j] - n[j]));
    }
    ok(worst[0] < 1e-4, "times is the product with the rows");
    ok(worst[1] < 1e-3, "trans is the sum over all ranks' rows");
    ok(worst[2] <= 0, "normal is times, then trans");
    if (world.rank == 0) z[0] = NAN;
    f->trans(f, 1, z, g);
    ok(isnan(g[0]) && isnan(g[f->d - 1]), "what is no number stays so on all ranks");
    f->sums(f, g);
    memset(plain, 0, (size_t)(2 * f->d) * sizeof *plain);
    for (int64_t e = 0; e < f->rows->first[f->n]; e++)
        plain[f->rows->column[e]] += (double)f->rows->value[e];
    weft_sum_f64(&world, plain, (size_t)f->d, 1e9);
    for (int64_t j = 0; j < f->d; j++) worst[3] = worse(worst[3], fabs(g[j] - plain[j]));
    ok(worst[3] < 1e-3, "sums are those of columns");
    digest(weft_hash(g, (size_t)f->d * sizeof *g, 0));
}

/* The words of most documents, by counting documents one by one. */
static void test_frequent(void)
{
    enum { MOST = 100 };
    weft_data d = random_corpus();
    int in[VOCAB] = {0}, above = 0, kept = 0, least_kept = DOCS, most_left = 0;
    for (int i = 0; i < DOCS; i++) {
        char seen[VOCAB] = {0};
        for (const int *t = random_doc[i]; *t >= 0; t++) seen[*t] = 1;
        for (int w = 0; w < VOCAB; w++) in[w] += seen[w];
    }
    static int one[VOCAB][2];
    static const int *doc[VOCAB];
    static int32_t label[VOCAB];
    for (int w = 0; w < VOCAB; w++) {
        one[w][0] = w;
        one[w][1] = -1;
        doc[w] = one[w];
    }
    take_part(&d, WEFT_VALID, VOCAB, doc, label);
    made m = make(&d, WEFT_VALID,
                  COUNTS "order = 1\nlower = no\ncolumns = vocabulary\nbins = 100");
    int64_t column[VOCAB] = {0};
    for (int64_t i = 0; i < m.f.n; i++)
        column[d.part[WEFT_VALID].first + i] = m.f.rows->first[i + 1] - m.f.rows->first[i];
    weft_sum_i64(&world, column, VOCAB);
    for (int w = 0; w < VOCAB; w++) {
        kept += (int)column[w];
        if (column[w] && in[w] < least_kept) least_kept = in[w];
        if (!column[w] && in[w] > most_left) most_left = in[w];
    }
    for (int w = 0; w < VOCAB; w++) above += in[w] > least_kept;
    ok(kept == MOST && most_left <= least_kept && above < MOST,
       "a vocabulary of 100 has the words of most documents");
    digest(weft_hash(m.stat, (size_t)ngram->nstat(m.map) * sizeof *m.stat, 0));
    m = make(&d, WEFT_TRAIN, "order = 3\ncolumns = vocabulary\nbins = 3000");
    digest(weft_hash(m.stat, (size_t)ngram->nstat(m.map) * sizeof *m.stat, 0));
    check_products(&m);
}

static void test_mixed(void)
{
    weft_data d = random_corpus();
    made own = make_mixed(&d, "per_map", 1), shared = make_mixed(&d, "shared", 1);
    ok(own.f.total == DOCS && own.f.d == 4096 && own.f.ngroup == ARMS,
       "a mixture is one matrix, its maps are groups");
    is_near(stat_sum(&own), stat_sum(&shared), 0.01 * stat_sum(&own),
            "all counts are pooled, whoever hashes (but for words that meet in a bin)");
    int64_t n = ngram->nstat(own.map), used = 0, used_shared = 0;
    for (int64_t i = 0; i < n; i++) {
        used += own.stat[i] > 0;
        used_shared += shared.stat[i] > 0;
    }
    ok(used > used_shared, "maps share their bins only where they share the seed");
    digest(weft_hash(own.stat, (size_t)n * sizeof *own.stat, 0));
    check_products(&own);
    made half = make_mixed(&d, "per_map", 0.5);
    ok(half.f.d == 2048, "half the features are half the bins");
    check_products(&half);
}

int main(int argc, char **argv)
{
    if (weft_par_start(&argc, &argv, &world) != WEFT_OK) return 1;
    mem = weft_arena_new();
    test_counts();
    test_grams();
    test_idf();
    test_vocabulary();
    test_bayes();
    test_classes();
    test_weights();
    test_setup();
    test_frequent();
    test_mixed();
    weft_arena_free(mem);
    int status = tap_done();
    weft_par_end(&world);
    return status;
}
