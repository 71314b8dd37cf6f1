/* Weights by context: PyTorch's gradients of generator and embeddings
 * (tests/gold/seq2seq.py), layouts and their counts, copies as special generators, the
 * chain rule, ranges of a gradient. RUN: np=1 */
#include "weft/net/context.h"

#include "sentences.h"

enum { LANGUAGES = 3, PAIRS = 4, SENTENCES = 5 };

static void *net_with(int hidden)
{
    weft_shape shape = translating(13, 11);
    void *self =
        bound(&weft_net_seq2seq, printed("embedding=5&hidden=%d&smoothing=0.1", hidden));
    must(weft_net_seq2seq.setup(self, &shape));
    return self;
}

static weft_contexts contexts_with(weft_context_options options, int hidden, int shared)
{
    weft_contexts contexts;
    must(weft_contexts_setup(&contexts, &options, &weft_net_seq2seq, net_with(hidden),
                             LANGUAGES, PAIRS, shared));
    return contexts;
}

static real *reals(int64_t n)
{
    return WEFT_NEW(mem, real, n);
}

static double sum_of(int64_t n, const real *x, const real *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

static const weft_context_options generated = {
    .tensors = "all", .form = WEFT_CONTEXT_GENERATED, .size = 2};

/* ---- gradients ---- */

static weft_score gradient(const weft_contexts *contexts, const real *theta, real *g)
{
    weft_score score = {0};
    weft_batch batch = sentences_by_rule(13, 11, SENTENCES);
    void *work = contexts->net->work(contexts->self, SENTENCES, mem);
    contexts->net->grad(contexts->self, work, theta, &batch, 0, 0, g, &score);
    return score;
}

static void keep(void *self, int64_t at, int64_t n, real *g)
{
    real *all = self;
    memcpy(all + at, g, (size_t)n * sizeof *g);
}

/* g[contexts->n] = the gradient with respect to w, by parts of theta that end at
 * end[parts].
 */
static void spread_parts(const weft_contexts *contexts, const real *w, weft_context at,
                         const real *dtheta, int parts, const int64_t *end, real *g)
{
    double *dots = WEFT_NEW(mem, double, weft_contexts_dots(contexts));
    weft_contexts_taker taker = {keep, g};
    for (int k = 0; k < parts; k++) {
        int64_t from = k ? end[k - 1] : 0;
        weft_contexts_spread(contexts, w, at, dtheta, from, end[k] - from, &taker, dots);
    }
    weft_contexts_spread_small(contexts, at, dots, &taker);
}

static void spread(const weft_contexts *contexts, const real *w, weft_context at,
                   const real *dtheta, real *g)
{
    spread_parts(contexts, w, at, dtheta, 1, &contexts->theta, g);
}

/* The line of seq2seq.txt after those of t_seq2seq.c. */
static void read_gold(int64_t n, double *loss, real *expected)
{
    FILE *gold = gold_of("seq2seq.txt");
    double x;
    for (int lines = 0; lines < 4;) lines += fgetc(gold) == '\n';
    weft_check(fscanf(gold, "%*d %*d %lf %*d %*d", loss) == 1, "seq2seq.txt");
    for (int64_t i = 0; i < n; i++) {
        weft_check(fscanf(gold, "%lf", &x) == 1, "seq2seq.txt is short");
        expected[i] = (real)x;
    }
    fclose(gold);
}

static void test_gold(void)
{
    weft_contexts contexts = contexts_with(generated, 6, 1);
    weft_context at = {.language = {1, 2}};
    real *w = reals(contexts.n), *g = reals(contexts.n), *expected = reals(contexts.n);
    real *theta = reals(contexts.theta), *dtheta = reals(contexts.theta);
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = weft_contexts_tensors(&contexts, tensor);
    double loss, most = 0;
    for (int64_t i = 0; i < contexts.n; i++)
        w[i] = (real)((i * i * 7 + i * 31) % 101 - 50) / 128;
    read_gold(contexts.n, &loss, expected);
    weft_contexts_form(&contexts, w, at, 0, contexts.theta, theta);
    weft_score score = gradient(&contexts, theta, dtheta);
    spread(&contexts, w, at, dtheta, g);
    is_near(score.loss, loss, 1e-6 * loss, "the loss of generated weights is PyTorch's");
    for (int k = 0; k < n; k++) {
        int64_t size = weft_tensors_size(1, &tensor[k]);
        most = worse(most, apart(expected + tensor[k].at, g + tensor[k].at, size));
    }
    ok(n == 25 && strcmp(tensor[24].name, "embeddings") == 0, "the embeddings come last");
    is_near(most, 0, sizeof(real) == 4 ? 1e-5 : 5e-8,
            "so are the gradients of the generator and of embeddings");
}

static void fill(int64_t n, uint64_t key, real *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (real)(weft_rng_unit(weft_rng_at(key, 0, 0, (uint64_t)i, 0).v[0]) - 0.5);
}

/* d . theta(w + step) - d . theta(w - step) = 2 step . spread(d), as theta is at most of
 * the second degree in two vectors. */
static void test_chain(weft_context_options options, int shared, const char *what)
{
    weft_contexts contexts = contexts_with(options, 4, shared);
    weft_context at = {.language = {2, 0}, .pair = 3};
    int64_t n = contexts.n;
    real *w = reals(n), *step = reals(n), *up = reals(n), *down = reals(n), *g = reals(n);
    real *theta[2] = {reals(contexts.theta), reals(contexts.theta)};
    real *d = reals(contexts.theta);
    fill(n, 1, w);
    fill(n, 2, step);
    fill(contexts.theta, 3, d);
    for (int64_t i = 0; i < n; i++) {
        up[i] = w[i] + step[i] / 64;
        down[i] = w[i] - step[i] / 64;
    }
    weft_contexts_form(&contexts, up, at, 0, contexts.theta, theta[0]);
    weft_contexts_form(&contexts, down, at, 0, contexts.theta, theta[1]);
    spread(&contexts, w, at, d, g);
    double change =
        sum_of(contexts.theta, d, theta[0]) - sum_of(contexts.theta, d, theta[1]);
    double told = 2 * sum_of(n, step, g) / 64;
    is_near(told, change, sizeof(real) == 4 ? 2e-3 : 1e-4, "the chain rule, %s", what);
    const int64_t block = WEFT_CONTEXT_BLOCK,
                  end[] = {block, 3 * block, 3 * block, contexts.theta};
    real *parts = reals(n), *formed = reals(contexts.theta);
    spread_parts(&contexts, w, at, d, 4, end, parts);
    ok(end[3] > 3 * block && same(parts, g, n),
       "parts of the gradient are those of the whole");
    weft_contexts_form(&contexts, down, at, 0, block, formed);
    weft_contexts_form(&contexts, down, at, block, contexts.theta - block, formed);
    ok(same(formed, theta[1], contexts.theta), "and so are parts of the weights");
    for (int c = 0; c < weft_contexts_copies(&contexts); c++) {
        weft_contexts_copy(&contexts, c, 0, 2 * block, 0, w, formed);
        weft_contexts_copy(&contexts, c, 2 * block, contexts.theta - 2 * block, 0, w,
                           formed);
        weft_contexts_copy(&contexts, c, 0, contexts.theta, 1, up, formed);
    }
    ok(same(up, w, contexts.embedding), "copies are all of w");
}

/* ---- layouts ---- */

static void test_counts(void)
{
    weft_contexts one = contexts_with(
        (weft_context_options){.tensors = "all", .form = WEFT_CONTEXT_ONE}, 6, 1);
    weft_contexts each = contexts_with(
        (weft_context_options){.tensors = "all", .form = WEFT_CONTEXT_EACH}, 6, 0);
    weft_contexts pair = contexts_with(
        (weft_context_options){.tensors = "all", .form = WEFT_CONTEXT_PAIR}, 6, 1);
    weft_contexts few = contexts_with(generated, 6, 1);
    int64_t words = 13 * 5 + 11 * 5 + 11 * 6 + 11;
    ok(one.n == one.theta, "universal: the network's own weights");
    ok(each.n == LANGUAGES * each.theta, "per language: L times as many");
    ok(pair.n == PAIRS * pair.theta, "pairwise: those of each pair");
    ok(few.generated == few.theta - words, "vectors of words are not generated");
    ok(few.n == few.generated * 2 + LANGUAGES * 2 + words, "generated: P M + L M + words");
}

/* Generated from one-hot embeddings is a copy for each language, bit for bit. */
static void test_one_hot(void)
{
    weft_context_options options = generated;
    options.size = LANGUAGES;
    options.embedding = WEFT_CONTEXT_ONE_HOT;
    weft_contexts hot = contexts_with(options, 6, 0);
    weft_contexts each = contexts_with(
        (weft_context_options){.tensors = "all", .form = WEFT_CONTEXT_EACH}, 6, 0);
    real *w[2] = {reals(hot.n), reals(each.n)}, *g[2] = {reals(hot.n), reals(each.n)};
    real *theta[2] = {reals(hot.theta), reals(hot.theta)}, *d = reals(hot.theta);
    int64_t small = LANGUAGES * LANGUAGES;
    ok(hot.n == each.n + small, "as many weights");
    weft_contexts_init(&hot, 7, w[0]);
    weft_contexts_init(&each, 7, w[1]);
    ok(same(w[0], w[1], each.n), "that begin alike");
    fill(hot.theta, 5, d);
    for (int k = 0; k < 3; k++) {
        weft_context at = {.language = {k, (k + 1) % LANGUAGES}};
        weft_contexts_form(&hot, w[0], at, 0, hot.theta, theta[0]);
        weft_contexts_form(&each, w[1], at, 0, each.theta, theta[1]);
        ok(same(theta[0], theta[1], hot.theta),
           "one-hot embeddings choose the copies of languages %d", k);
        spread(&hot, w[0], at, d, g[0]);
        spread(&each, w[1], at, d, g[1]);
        ok(same(g[0], g[1], each.n) && sum_of(small, g[0] + each.n, g[0] + each.n) == 0,
           "and are trained like them");
    }
    weft_context at = {.language = {0, 0}};
    real *own = reals(each.theta);
    each.net->init(each.self, 7, own);
    weft_contexts_form(&each, w[1], at, 0, each.theta, theta[1]);
    ok(same(own, theta[1], each.theta), "the first copy begins as the network alone");
}

/* The spread of the generated weights is that of the network's own. */
static void test_spread(void)
{
    weft_context_options options = {
        .tensors = "all", .form = WEFT_CONTEXT_GENERATED, .size = 8};
    weft_contexts contexts = contexts_with(options, 40, 1);
    real *w = reals(contexts.n), *theta = reals(contexts.theta),
         *own = reals(contexts.theta);
    double square = 0, expected = 0;
    for (uint64_t seed = 1; seed <= 40; seed++)
        for (int k = 0; k < LANGUAGES; k++) {
            weft_contexts_init(&contexts, seed, w);
            weft_contexts_form(&contexts, w, (weft_context){.language = {k, k}}, 0,
                               contexts.theta, theta);
            square += sum_of(contexts.theta, theta, theta);
        }
    contexts.net->init(contexts.self, 1, own);
    expected = 120 * sum_of(contexts.theta, own, own);
    is_near(square / expected, 1, 0.15, "generated weights begin as wide");
}

/* ---- new languages ---- */

/* Numbers of w that are trained where the last language is new. */
static int64_t count_trained(int shared, weft_context_range range[WEFT_MAX_RANGES], int *n)
{
    weft_context_options options = generated;
    options.train = WEFT_CONTEXT_EMBEDDINGS;
    weft_contexts contexts = contexts_with(options, 6, shared);
    int64_t all = 0;
    contexts.known = LANGUAGES - 1;
    *n = weft_contexts_trained(&contexts, range);
    for (int i = 0; i < *n; i++) {
        weft_check(range[i].from >= (i ? range[i - 1].end : 0), "ranges do not rise");
        all += range[i].end - range[i].from;
    }
    return all;
}

static void test_trained(void)
{
    weft_context_range range[WEFT_MAX_RANGES];
    int n;
    weft_contexts contexts = contexts_with(generated, 6, 1);
    ok(weft_contexts_trained(&contexts, range) == 1 && range[0].from == 0 &&
           range[0].end == contexts.n,
       "all numbers are trained");
    ok(count_trained(1, range, &n) == 2 && n == 1 && range[0].end == contexts.n,
       "of a new language the embedding alone, where the vocabulary is shared");
    int64_t words = 13 * 5 + 11 * (5 + 6 + 1); /* source, target, output, bias */
    ok(count_trained(0, range, &n) == words + 2,
       "its words, too, where it has its own vocabulary");
}

/* Tensors that are named are by context, and some of them know the target language. */
static void test_tensors(void)
{
    weft_context_options options = generated;
    weft_contexts all = contexts_with(options, 6, 1), some;
    options.tensors = "decoder,attention";
    some = contexts_with(options, 6, 1);
    int64_t n = 0;
    for (int k = 0; k < all.ntensor; k++)
        if (strncmp(all.tensor[k].name, "encoder", 7) == 0 ||
            strncmp(all.tensor[k].name, "combine", 7) == 0)
            n += all.part[k].n;
    ok(n > 0 && some.generated == all.generated - n && some.n == all.n - n,
       "the tensors that are named are generated, others one for all");
    options.tensors = "encoder";
    ok(weft_contexts_setup(&some, &options, &weft_net_seq2seq, net_with(6), LANGUAGES,
                           PAIRS, 1) == WEFT_ECONF &&
           says("context.tensors = encoder leaves nothing that is by the "
                "target language"),
       "an encoder alone would not know the language to translate to: %s", weft_error());
}

int main(void)
{
    tap_begin();
    test_counts();
    test_gold();
    test_chain(generated, 1, "generated");
    test_chain(
        (weft_context_options){.tensors = "all", .form = WEFT_CONTEXT_GENERATED, .size = 3},
        0, "generated, a vocabulary each");
    test_chain((weft_context_options){.tensors = "all", .form = WEFT_CONTEXT_EACH}, 0,
               "each");
    test_chain((weft_context_options){.tensors = "all", .form = WEFT_CONTEXT_PAIR}, 0,
               "pair");
    test_chain((weft_context_options){.tensors = "all", .form = WEFT_CONTEXT_ONE}, 0,
               "one");
    test_one_hot();
    return TESTS(test_spread, test_trained, test_tensors);
}
