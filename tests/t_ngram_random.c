/* N-gram features of a random corpus: vocabularies against counts of documents, mixtures of
 * maps, products against sums over the entries; the same bits on any number of ranks.
 * RUN: np=1 np=2 np=3 np=4 */
#include "ngram_maps.h"

/* ---- a random corpus by several maps ---- */

enum { DOCS = 900, VOCAB = 300, ARMS = 4 };
static int text[DOCS][24];
static const int *random_doc[DOCS];
static int32_t random_label[DOCS];

static weft_data random_corpus(void)
{
    weft_data data = {.form = WEFT_TOKENS, .classes = 2, .team = &world, .mem = mem};
    data.path = "random";
    for (int i = 0; i < DOCS; i++) {
        int n = i % 11 == 3 ? 0 : i % 20;
        random_label[i] = i % 3 == 0;
        random_doc[i] = text[i];
        for (int t = 0; t <= n; t++) {
            double u = uniform_of(2, i, t);
            text[i][t] = t < n ? (int)(VOCAB * u * u * u) : -1;
        }
    }
    take_vocab(&data, VOCAB);
    take_part(&data, WEFT_TRAIN, DOCS, random_doc, random_label);
    return data;
}

/* options: of the map, as lines; weights: of the maps but the third. */
static struct made make_arms(weft_data *data, const char *options, const char *weights,
                             real scale)
{
    struct made made = {.map = map_new(data, printed("bins = 4096\n%s", options))};
    const void **arm = WEFT_NEW(mem, const void *, ARMS);
    int64_t *id = WEFT_NEW(mem, int64_t, ARMS);
    int *draw = WEFT_NEW(mem, int, data->part[0].n);
    for (int k = 0; k < ARMS; k++) {
        id[k] = 10 * k;
        arm[k] =
            map_new(data, printed("bins = 4096\n%s\norder = %d\nalpha = "
                                  "%g\nweights = %s\nnormalize = %s\nbinary = %s",
                                  options, k % 3 + 1, 0.1 + k, k == 2 ? "sif" : weights,
                                  k == 3 ? "l2" : "none", k % 2 ? "yes" : "no"));
    }
    for (int64_t i = 0; i < data->part[0].n; i++)
        draw[i] = (int)((data->part[0].first + i) * 7 % ARMS);
    made.stat = WEFT_NEW(mem, real, ngram->nstat(made.map));
    weft_request request = {
        .part = WEFT_TRAIN, .n = data->part[0].n, .arm = draw, .narm = ARMS};
    request.arms = arm;
    request.id = id;
    request.size = (double)scale;
    request.seed = 5;
    ngram->matrix(made.map, &request, 1, made.stat, &made.f, mem);
    return made;
}

static struct made make_mixed(weft_data *data, const char *hash, real scale)
{
    return make_arms(data, printed("hash = %s", hash), "nb", scale);
}

static double stat_sum(const struct made *made)
{
    double sum = 0;
    for (int64_t i = 0; i < ngram->nstat(made->map); i++) sum += (double)made->stat[i];
    return sum;
}

/* times, trans and normal of c vectors against sums over the entries, which differ in
 * rounding only. */
static void check_products(const struct made *made, int c)
{
    const weft_matrix *matrix = &made->f;
    real *z = WEFT_NEW(mem, real, c * matrix->n), *w = WEFT_NEW(mem, real, c * matrix->d);
    real *h = WEFT_NEW(mem, real, c * matrix->n);
    double *g = WEFT_NEW(mem, double, c * matrix->d),
           *n = WEFT_NEW(mem, double, c * matrix->d);
    double *plain = WEFT_NEW(mem, double, c * matrix->d), worst[3] = {0};
    for (int64_t i = 0; i < c * matrix->n; i++) h[i] = (real)(1 + i % 3);
    for (int64_t j = 0; j < c * matrix->d; j++) w[j] = (real)(j % 17 - 8) / 8;
    matrix->times(matrix, c, w, z);
    for (int k = 0; k < c; k++)
        for (int64_t i = 0; i < matrix->n; i++) {
            double sum = 0;
            for (int64_t e = matrix->rows->first[i]; e < matrix->rows->first[i + 1]; e++) {
                int64_t j = k * matrix->d + matrix->rows->column[e];
                sum += (double)matrix->rows->value[e] * (double)w[j];
                plain[j] += (double)matrix->rows->value[e] *
                            (double)(h[k * matrix->n + i] * z[k * matrix->n + i]);
            }
            worst[0] = worse(worst[0], fabs(sum - (double)z[k * matrix->n + i]));
        }
    weft_sum_f64(&world, plain, (size_t)(c * matrix->d), 1e9);
    matrix->normal(matrix, c, w, h, 0, n);
    for (int64_t i = 0; i < c * matrix->n; i++) z[i] *= h[i];
    matrix->trans(matrix, c, z, g);
    for (int64_t j = 0; j < c * matrix->d; j++) {
        worst[1] = worse(worst[1], fabs(g[j] - plain[j]));
        worst[2] = worse(worst[2], fabs(g[j] - n[j]));
    }
    ok(worst[0] < 1e-4, "times is the product of %d vectors with the rows", c);
    ok(worst[1] < 1e-3, "trans is the sum over all ranks' rows");
    ok(worst[2] <= 0, "normal is times, then trans");
    if (world.rank == 0) z[0] = NAN;
    matrix->trans(matrix, 1, z, g);
    ok(isnan(g[0]) && isnan(g[matrix->d - 1]), "a NaN on one rank gives NaN on all ranks");
}

/* sums against sums over the entries. */
static void check_sums(const struct made *made)
{
    const weft_matrix *matrix = &made->f;
    double *g = WEFT_NEW(mem, double, matrix->d), *plain = WEFT_NEW(mem, double, matrix->d);
    double worst = 0;
    matrix->sums(matrix, g);
    for (int64_t e = 0; e < matrix->rows->first[matrix->n]; e++)
        plain[matrix->rows->column[e]] += (double)matrix->rows->value[e];
    weft_sum_f64(&world, plain, (size_t)matrix->d, 1e9);
    for (int64_t j = 0; j < matrix->d; j++) worst = worse(worst, fabs(g[j] - plain[j]));
    ok(worst < 1e-3, "sums are those of columns");
    digest(weft_hash(g, (size_t)matrix->d * sizeof *g, 0));
}

/* documents[VOCAB]: number of documents in which each word occurs. */
static void count_documents(int *documents)
{
    for (int i = 0; i < DOCS; i++) {
        char seen[VOCAB] = {0};
        for (const int *t = random_doc[i]; *t >= 0; t++) seen[*t] = 1;
        for (int w = 0; w < VOCAB; w++) documents[w] += seen[w];
    }
}

/* Validation documents of one word each, which show the word's column. */
static void take_words(weft_data *data)
{
    static int one[VOCAB][2];
    static const int *doc[VOCAB];
    static int32_t label[VOCAB];
    for (int w = 0; w < VOCAB; w++) {
        one[w][0] = w;
        one[w][1] = -1;
        doc[w] = one[w];
    }
    take_part(data, WEFT_VALID, VOCAB, doc, label);
}

/* The vocabulary has the words that occur in most documents. */
static void test_frequent(void)
{
    enum { BINS = 100 };
    weft_data data = random_corpus();
    int documents[VOCAB] = {0}, above = 0, kept = 0, min_kept = DOCS, max_left = 0;
    count_documents(documents);
    take_words(&data);
    struct made made =
        make(&data, WEFT_VALID,
             COUNTS "order = 1\nlower = no\ncolumns = vocabulary\nbins = 100");
    int64_t column[VOCAB] = {0};
    for (int64_t i = 0; i < made.f.n; i++)
        column[data.part[WEFT_VALID].first + i] =
            made.f.rows->first[i + 1] - made.f.rows->first[i];
    weft_sum_i64(&world, column, VOCAB);
    for (int w = 0; w < VOCAB; w++) {
        kept += (int)column[w];
        if (column[w] && documents[w] < min_kept) min_kept = documents[w];
        if (!column[w] && documents[w] > max_left) max_left = documents[w];
    }
    for (int w = 0; w < VOCAB; w++) above += documents[w] > min_kept;
    ok(kept == BINS && max_left <= min_kept && above < BINS,
       "a vocabulary of 100 has the words of most documents");
    digest(weft_hash(made.stat, (size_t)ngram->nstat(made.map) * sizeof *made.stat, 0));
    made = make(&data, WEFT_TRAIN, "order = 3\ncolumns = vocabulary\nbins = 3000");
    digest(weft_hash(made.stat, (size_t)ngram->nstat(made.map) * sizeof *made.stat, 0));
    check_products(&made, 2);
    check_products(&made, 37);
    check_sums(&made);
}

static void test_mixed(void)
{
    weft_data data = random_corpus();
    struct made own = make_mixed(&data, "per_map", 1),
                shared = make_mixed(&data, "shared", 1);
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
    check_products(&own, 2);
    check_products(&own, 37);
    check_sums(&own);
    struct made half = make_mixed(&data, "per_map", 0.5);
    ok(half.f.d == 2048, "half the features are half the bins");
    check_products(&half, 2);
    check_products(&half, 37);
    check_sums(&half);
}

MAIN(ranks, test_frequent, test_mixed)
