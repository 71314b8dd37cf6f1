/* N-gram features of a corpus of four documents against values computed by hand.
 * RUN: np=1 np=2 np=3 np=4 */
#include "ngram_maps.h"

/* ---- a corpus of three documents ---- */

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
    weft_data data = {.form = WEFT_TOKENS, .classes = classes, .team = &world, .mem = mem};
    data.path = "small";
    take_vocab(&data, WORDS);
    take_part(&data, WEFT_TRAIN, 4, train, train_label);
    take_part(&data, WEFT_VALID, 4, single, single_label);
    return data;
}

/* Entries of row i, all of which the first rank has. Collective. */
static int64_t entries(const weft_matrix *matrix, int64_t i)
{
    int64_t n = matrix->n > 0 ? matrix->rows->first[i + 1] - matrix->rows->first[i] : 0;
    weft_bcast(&world, &n, sizeof n, 0);
    return n;
}

/* Sum and squares of the values of row i. Collective. */
static double row_sum(const weft_matrix *matrix, int64_t i, int square)
{
    double sum = 0;
    for (int64_t e = matrix->n > 0 ? matrix->rows->first[i] : 0;
         matrix->n > 0 && e < matrix->rows->first[i + 1]; e++) {
        double v = (double)matrix->rows->value[e];
        sum += square ? v * v : v;
    }
    weft_bcast(&world, &sum, sizeof sum, 0);
    return sum;
}

/* Value in row i of `matrix` of the word that is row `s` of `alone`; 0 where it has none.
 * Collective. */
static double value(const weft_matrix *matrix, int64_t i, const weft_matrix *alone, int s)
{
    double v = 0;
    for (int64_t e = matrix->n > 0 ? matrix->rows->first[i] : 0;
         matrix->n > 0 && e < matrix->rows->first[i + 1]; e++)
        if (matrix->rows->column[e] == alone->rows->column[alone->rows->first[s]])
            v = (double)matrix->rows->value[e];
    weft_bcast(&world, &v, sizeof v, 0);
    return v;
}

static void test_counts(void)
{
    weft_data data = small(2);
    const char *options = COUNTS "order = 1\nbinary = no\nlower = no";
    struct made made = make(&data, WEFT_TRAIN, options),
                alone = make(&data, WEFT_VALID, options);
    is_near(value(&made.f, 0, &alone.f, S_GOOD), 2, 1e-6,
            "a word that stands twice counts 2");
    is_near(value(&made.f, 0, &alone.f, S_FILM), 1, 1e-6, "one that stands once counts 1");
    is_near(value(&made.f, 1, &alone.f, S_FILM), 0, 0, "a capital makes another word");
    ok(entries(&made.f, 2) == 3 && entries(&made.f, 3) == 0,
       "an empty document has no entries");
    made = make(&data, WEFT_TRAIN, COUNTS "order = 1\nbinary = no\nlower = yes");
    is_near(value(&made.f, 1, &alone.f, S_FILM), 1, 1e-6, "lower-casing makes it one");
    is_near(value(&made.f, 2, &alone.f, S_THE), 3, 1e-6,
            "the, The and the are three of one");
    made =
        make(&data, WEFT_TRAIN, COUNTS "order = 1\nbinary = no\nlower = yes\nstop = yes");
    is_near(value(&made.f, 2, &alone.f, S_THE), 1, 1e-6,
            "stop words go before lower-casing: The stays");
    made = make(&data, WEFT_TRAIN, COUNTS "order = 2\nbinary = no\nlower = no");
    ok(entries(&made.f, 0) == 4 && entries(&made.f, 2) == 6, "order 2: words and pairs");
    is_near(row_sum(&made.f, 0, 0), 5, 1e-5, "three words and two pairs");
    made = make(&data, WEFT_TRAIN, COUNTS "order = 3\nbinary = no\nlower = no");
    ok(entries(&made.f, 0) == 5 && entries(&made.f, 1) == 3, "order 3: triples too");
    is_near(row_sum(&made.f, 2, 0), 9, 1e-5, "four words, three pairs, two triples");
    made = make(&data, WEFT_TRAIN, COUNTS "order = 3\nbinary = yes\nbins = 2");
    ok(entries(&made.f, 2) == 2 && made.f.d == 2, "two bins hold it all");
    is_near(row_sum(&made.f, 2, 0), 2, 1e-6, "counts become ones after hashing");
    made = make(&data, WEFT_TRAIN, COUNTS "order = 3\nbinary = no\nbins = 2");
    is_near(row_sum(&made.f, 2, 0), 9, 1e-5, "or are added up");
}

static void test_grams(void)
{
    weft_data data = small(2);
    static const struct {
        const char *grams;
        int entries[2]; /* of "good good film" and "the The film the" */
    } all[] = {{"1-1", {2, 3}}, {"1-2", {4, 6}}, {"1-3", {5, 8}},
               {"2-2", {2, 3}}, {"2-3", {3, 5}}, {"3-3", {1, 2}}};
    for (int i = 0; i < 6; i++) {
        const char *grams = all[i].grams;
        struct made made =
            make(&data, WEFT_TRAIN,
                 printed(COUNTS "grams = %s\nbinary = no\nlower = no", grams));
        ok(entries(&made.f, 0) == all[i].entries[0] &&
               entries(&made.f, 2) == all[i].entries[1] && entries(&made.f, 3) == 0,
           "grams %s", grams);
    }
}

/* Documents, of four, that hold a lower-cased word: good 1, bad 1, film 3, the 1. */
static void test_idf(void)
{
    weft_data data = small(2);
    const char *options = "order = 1\nbinary = no\nweights = tfidf";
    struct made made = make(&data, WEFT_TRAIN, options),
                alone = make(&data, WEFT_VALID, options);
    double rare = log(5.0 / 2) + 1, common = log(5.0 / 4) + 1;
    is_near(value(&made.f, 0, &alone.f, S_GOOD), 2 * rare, 1e-5,
            "tf-idf: twice in one of four");
    is_near(value(&made.f, 0, &alone.f, S_FILM), common, 1e-5, "once in three of four");
    is_near(value(&made.f, 2, &alone.f, S_THE), 3 * rare, 1e-5, "three times in one");
    is_near(row_sum(&alone.f, S_FILM, 0), common, 1e-5,
            "training's idf weighs other parts");
    made =
        make(&data, WEFT_TRAIN, "order = 1\nweights = tfidf\nbinary = no\nnormalize = l2");
    is_near(row_sum(&made.f, 0, 1), 1, 1e-5, "rows of length one");
    made = make(&data, WEFT_TRAIN, "order = 1\nweights = tf\nbinary = no");
    is_near(row_sum(&made.f, 0, 0), 3, 1e-6, "tf: counts as they are");
    made = make(&data, WEFT_TRAIN, "order = 1\nweights = binary\nbinary = no");
    is_near(row_sum(&made.f, 0, 0), 2, 1e-6, "binary: ones");
}

static void test_vocabulary(void)
{
    weft_data data = small(2);
    const char *options = COUNTS "order = 1\nbinary = no\ncolumns = vocabulary\nbins = 16";
    struct made made = make(&data, WEFT_TRAIN, options),
                alone = make(&data, WEFT_VALID, options);
    is_near(value(&made.f, 0, &alone.f, S_GOOD), 2, 1e-6,
            "vocabulary: a word twice counts 2");
    is_near(value(&made.f, 2, &alone.f, S_THE), 3, 1e-6,
            "the, The and the are three of one");
    ok(made.f.d == 16 && made.stat[2 * 16 + 1] == 4, "four words have columns, of 16");
    made = make(&data, WEFT_TRAIN, COUNTS "order = 2\nbinary = no\ncolumns = vocabulary");
    ok(entries(&made.f, 0) == 4 && entries(&made.f, 2) == 5 && entries(&made.f, 3) == 0,
       "pairs have columns of their own");
    made = make(&data, WEFT_TRAIN, COUNTS "order = 2\ncolumns = vocabulary\nmin_count = 2");
    ok(entries(&made.f, 0) == 1 && entries(&made.f, 1) == 1 && entries(&made.f, 2) == 1,
       "only film occurs in two documents");
    made = make(&data, WEFT_TRAIN, COUNTS "order = 1\ncolumns = vocabulary\nbins = 2");
    alone = make(&data, WEFT_VALID, COUNTS "order = 1\ncolumns = vocabulary\nbins = 2");
    ok(entries(&alone.f, S_FILM) == 1 && entries(&alone.f, S_GOOD) +
                                                 entries(&alone.f, S_BAD) +
                                                 entries(&alone.f, S_THE) ==
                                             1,
       "of two columns the most frequent word has one, one of the others the other");
    take_part(&data, WEFT_TRAIN, 2, train, train_label);
    made = make(&data, WEFT_VALID, options);
    ok(entries(&made.f, S_THE) == 0 && entries(&made.f, S_FILM) == 1,
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
    weft_data data = small(2);
    const char *options = "order = 1\nbinary = yes\nalpha = 1";
    struct made made = make(&data, WEFT_TRAIN, options),
                alone = make(&data, WEFT_VALID, options);
    is_near(value(&made.f, 0, &alone.f, S_GOOD), bayes(1, 1, 4, 0, 2, 4), 2e-7,
            "Wang and Manning's weight of a word of one class");
    is_near(value(&made.f, 0, &alone.f, S_FILM), bayes(1, 2, 4, 1, 2, 4), 2e-7, "of both");
    is_near(value(&made.f, 1, &alone.f, S_BAD), bayes(1, 0, 4, 1, 2, 4), 2e-7,
            "of the other");
    made = make(&data, WEFT_TRAIN, "order = 1\nbinary = no\nalpha = 0.01");
    is_near(value(&made.f, 0, &alone.f, S_GOOD), 2 * bayes(0.01, 2, 7, 0, 2, 4), 1e-6,
            "counts that are not binary are pooled, and weighted, as they are");
    made = make(&data, WEFT_TRAIN, "order = 1\nalpha = 1\nbins = 65536");
    is_near(value(&made.f, 0, &alone.f, S_GOOD), 0, 0, "other bins, other columns");
    struct made wide = make(&data, WEFT_VALID, "order = 1\nalpha = 1\nbins = 65536");
    is_near(value(&made.f, 0, &wide.f, S_GOOD), bayes(1, 1, 4, 0, 2, 4), 2e-7,
            "smoothing is over the bins seen in training, of however many");
    take_part(&data, WEFT_TRAIN, 2, train, train_label);
    made = make(&data, WEFT_VALID, options);
    is_near(value(&made.f, S_THE, &alone.f, S_THE), 0, 0, "a bin not seen in training: 0");
    made = make(&data, WEFT_VALID, COUNTS "order = 1");
    is_near(value(&made.f, S_THE, &alone.f, S_THE), 1, 1e-6, "by SIF: 1");
}

static void test_classes(void)
{
    static const int32_t label[] = {2, 0, 1, 0};
    weft_data data = small(3);
    take_part(&data, WEFT_TRAIN, 4, train, label);
    const char *options = "order = 1\nbinary = yes\nalpha = 1";
    struct made made = make(&data, WEFT_TRAIN, options),
                alone = make(&data, WEFT_VALID, options);
    /* film: one of each class, of 2, 2, 2; good: one of class 2. */
    is_near(value(&made.f, 0, &alone.f, S_GOOD), bayes(1, 1, 2, 0, 4, 4), 2e-7,
            "three classes: the class that a word tells most about");
    is_near(value(&made.f, 0, &alone.f, S_FILM), bayes(1, 1, 2, 2, 4, 4), 2e-7,
            "one class against the rest");
    is_near(value(&made.f, 1, &alone.f, S_BAD), bayes(1, 1, 2, 0, 4, 4), 2e-7,
            "each of them");
}

/* What the other classes count is exactly 0 beside a count that swallows alpha in float. */
static void test_small_alpha(void)
{
    enum { TIMES = 300 };
    static const double alpha[] = {1e-3, 1e-4, 1e-5, 1e-12};
    static const int32_t label[] = {0, 1, 2, 0};
    int often[TIMES + 1]; /* good; the other classes have a word of their own each */
    for (int i = 0; i < TIMES; i++) often[i] = GOOD;
    often[TIMES] = -1;
    const int *const document[] = {often, one_film, one_the, nothing};
    weft_data data = small(3);
    take_part(&data, WEFT_TRAIN, 4, document, label);
    for (int i = 0; i < 4; i++) {
        const char *options = printed("order = 1\nbinary = no\nalpha = %g", alpha[i]);
        struct made made = make(&data, WEFT_VALID, options);
        is_near(value(&made.f, S_GOOD, &made.f, S_GOOD),
                bayes(alpha[i], TIMES, TIMES, 0, 2, 3), 1e-5,
                "a word of one class of three, alpha %g", alpha[i]);
    }
}

static void test_weights(void)
{
    weft_data data = small(2);
    const char *options = "order = 1\nbinary = no\nweights = sif\nalpha = 0.1";
    struct made made = make(&data, WEFT_TRAIN, options),
                alone = make(&data, WEFT_VALID, options);
    /* 9 words in all: good 2, film 3, the 3, bad 1. */
    is_near(value(&made.f, 0, &alone.f, S_GOOD), 2 * 0.9 / (0.9 + 2), 1e-6, "SIF of good");
    is_near(value(&made.f, 0, &alone.f, S_FILM), 0.9 / (0.9 + 3), 1e-6, "SIF of film");
    made = make(&data, WEFT_TRAIN, printed("%s\nnormalize = average", options));
    is_near(value(&made.f, 0, &alone.f, S_GOOD), 2 * 0.9 / (0.9 + 2) / 3, 1e-6,
            "average divides by the number of words");
    ok(entries(&made.f, 3) == 0, "and an empty document by nothing");
    made = make(&data, WEFT_TRAIN,
                "order = 1\nbinary = yes\nweights = sif\nalpha = 0.1\n"
                "normalize = average");
    is_near(value(&made.f, 0, &alone.f, S_FILM), 0.6 / (0.6 + 3) / 2, 1e-6,
            "of binary counts: by the number of bins");
    made = make(&data, WEFT_TRAIN, "order = 3\nweights = sif\nalpha = 0.1\nnormalize = l2");
    is_near(row_sum(&made.f, 0, 1), 1, 1e-6, "l2 rows have length 1");
    made = make(&data, WEFT_TRAIN, "order = 2\nnormalize = l2");
    is_near(row_sum(&made.f, 1, 1), 1, 1e-6, "with naive Bayes too");
}

static void test_setup(void)
{
    weft_data data = small(2);
    void *self = map_bound("bins = 1000000000");
    weft_data images = {.form = WEFT_BYTES, .path = "images.h5"};
    weft_source wrong = weft_data_source(&images), right = weft_data_source(&data);
    ok(ngram->setup(self, &wrong, 1e9, 2, 1, mem) == WEFT_ECONF && says("rff"),
       "images are refused, with what to use");
    ok(ngram->setup(self, &right, 1e9, 2, 1, mem) == WEFT_ELIMIT,
       "too many bins are refused");
    self = map_new(&data, "bins = 1000");
    ok(ngram->columns(self, 0.5) == 500 && ngram->columns(self, 0.0001) == 2 &&
           ngram->nstat(self) == 2001,
       "a share of the features is a share of the bins");
    double flops, bytes, count;
    ngram->estimate(self, self, 100, 1, &flops, &bytes, &count);
    ok(flops > 0 && bytes > 0 && count > 0, "costs are estimated");
}

MAIN(ranks, test_counts, test_grams, test_idf, test_vocabulary, test_bayes, test_classes,
     test_small_alpha, test_weights, test_setup)
