/* The convolutional network over sentences: gradients against PyTorch's in double
 * precision (tests/gold/txtcnn.py) and against central differences, numbers of weights as
 * published, pieces of a batch, weights of samples, the longest document, what setup
 * refuses.
 * RUN: np=1 */
#include "nets.h"

/* ---- PyTorch ---- */

static void gold_case(FILE *file, const char *options, weft_shape shape, int n, double loss)
{
    struct fixture fixture = fixture_new(&weft_net_txtcnn, options, shape, n);
    double weight[64];
    for (int i = 0; i < n; i++) weight[i] = 0.5 + unit(10, i);
    fixture.b.weight = weight;
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int count = fixture.net->tensors(fixture.self, tensor);
    for (int i = 0; i < count; i++)
        for (int64_t j = tensor[i].at; j < end_of(&fixture, tensor, i, count); j++)
            fixture.w[j] = (real)(unit(20 + i, j - tensor[i].at) - 0.5);
    weft_score score = grad(&fixture, 0, 0);
    double tol = sizeof(real) == 4 ? 1e-5 : 1e-9, off = gold_errors(file, &fixture);
    note("%s: gradients within %.1e", options, off);
    is_near(score.loss / n, loss, tol * loss, "%s: the loss is PyTorch's", options);
    ok(off < tol, "... and so is the gradient of each tensor");
}

static void test_gold(void)
{
    FILE *file = gold_of("txtcnn.txt");
    char options[128];
    int d, words, classes, n, cases = 0;
    double loss;
    for (; fscanf(file, "%127s %d %d %d %d %lf", options, &d, &words, &classes, &n,
                  &loss) == 6;
         cases++)
        gold_case(file, options, documents(d, words, classes), n, loss);
    fclose(file);
    ok(cases == 7, "seven cases were stored");
}

/* ---- central differences ---- */

static void test_all_slopes(void)
{
    static const char *const options[] = {
        "f1=5&f2=4&f3=3",
        "channels=nonstatic&f1=5&f2=4&f3=3&hidden=6&activation=tanh",
        "channels=multi&groups=2&f1=5&f2=4&k2=1&activation=sigmoid&drop_input=0.3",
        "channels=multi&groups=1&f1=5&hidden=6&activation=elu&drop_hidden=0.4",
        "channels=static&groups=2&f1=5&f2=4&activation=selu&drop_pooled=0.4&bias=no",
    };
    for (size_t i = 0; i < LEN(options); i++) {
        test_slopes(&weft_net_txtcnn, options[i], documents(9, 30, 2), 0, 0.03);
        test_slopes(&weft_net_txtcnn, options[i], documents(9, 30, 3), 0.4, 0.03);
    }
}

/* ---- sizes ---- */

/* Kim 2014, and the space of van Stein, Wang, Back 2019. */
static void test_sizes(void)
{
    static const float none[1];
    static const struct {
        const char *options;
        int64_t weights;
    } all[] = {{"-", 360601},
               {"hidden=10", 363321},
               {"head=softmax", 360902},
               {"head=softmax&bias=no", 360602},
               {"channels=nonstatic", 360601 + 5629800},
               {"channels=multi&hidden=10", 363321 + 5629800},
               {"groups=5", 100 * 300 * 19 + 500 + 501}};
    weft_shape shape = {.form = WEFT_TOKENS,
                        .d = 56,
                        .classes = 2,
                        .words = 18765,
                        .length = 20.4,
                        .vector = 300,
                        .vectors = none};
    for (size_t i = 0; i < LEN(all); i++)
        is_size(&weft_net_txtcnn, all[i].options, shape, all[i].weights);
}

/* ---- pieces, weights, dropout ---- */

/* A batch that is more than one piece of rows is seen in several. */
static void test_pieces(void)
{
    const char *options[] = {"channels=multi&f1=5&f2=4&f3=3",
                             "channels=multi&f1=5&f2=4&f3=3&drop_input=0.3"};
    for (int i = 0; i < 2; i++) {
        struct fixture fixture =
            fixture_new(&weft_net_txtcnn, options[i], documents(90, 2000, 3), 60);
        weft_batch all = fixture.b;
        weft_score score = grad(&fixture, 0, 5);
        real *whole = copy(&fixture, fixture.g), *sum = WEFT_NEW(mem, real, fixture.nw);
        int64_t tokens = 0;
        for (int j = 0; j < all.n; j++) tokens += all.length[j];
        weft_score parts = {0};
        for (int j = 0; j < all.n && i == 0; j++) {
            fixture.b = (weft_batch){.n = 1,
                                     .word = all.word + j,
                                     .length = all.length + j,
                                     .label = all.label + j};
            fixture.net->grad(fixture.self, fixture.work, fixture.w, &fixture.b, 0, 5,
                              fixture.g, &parts);
            for (int64_t e = 0; e < fixture.nw; e++) sum[e] += fixture.g[e] / (real)all.n;
        }
        note("%lld tokens", (long long)tokens);
        if (i == 0) {
            ok(tokens > 2048 && apart(whole, sum, fixture.nw) < 100 * eps,
               "a gradient of many words is the mean of its samples'");
            is_near(score.loss, parts.loss, 1e-5 * score.loss,
                    "... and the loss their sum");
        }
        fixture.b = all;
        grad(&fixture, 0, 5);
        ok(same(whole, fixture.g, fixture.nw), "%s: ... every time", options[i]);
    }
}

/* A sample alone is as it is among others, to the bit: its product does not depend on the
 * words of the rest. */
static void test_alone(void)
{
    struct fixture fixture = fixture_new(&weft_net_txtcnn, "-", documents(30, 200, 3), 20);
    weft_batch all = fixture.b;
    double sum = 0;
    for (int j = 0; j < all.n; j++) {
        weft_score score = {0};
        weft_batch one = {
            .n = 1, .word = all.word + j, .length = all.length + j, .label = all.label + j};
        fixture.net->score(fixture.self, fixture.work, fixture.w, &one, &score);
        sum += score.loss;
    }
    ok(sum == score(&fixture).loss, "the loss of a sample does not depend on its company");
}

/* Weights that have these rows alone, too, give the same gradient and score. */
static void test_compact(struct fixture *fixture, weft_table table)
{
    real *rows = copy(fixture, fixture->g), *w = copy(fixture, fixture->w),
         *all = fixture->w;
    weft_score with = {0}, without = {0};
    fixture->net->score(fixture->self, fixture->work, all, &fixture->b, &without);
    for (int64_t i = 1; i < table.rows; i++)
        if (fixture->b.place[i - 1] >= 0)
            memcpy(w + table.at + fixture->b.place[i - 1] * table.d,
                   all + table.at + i * table.d, (size_t)table.d * sizeof *w);
    fixture->b.compact = 1;
    fixture->w = w;
    grad(fixture, 0.3, 5);
    int64_t n = table.at + (int64_t)fixture->b.places * table.d;
    ok(same(rows, fixture->g, n), "weights of these words alone give the same gradient");
    fixture->net->score(fixture->self, fixture->work, w, &fixture->b, &with);
    ok(memcmp(&with.loss, &without.loss, sizeof with.loss) == 0, "... and score");
    fixture->w = all;
}

/* A gradient with rows for the words of the batch alone has the numbers of the whole one,
 * whose other rows are zeros. */
static void test_places(void)
{
    struct fixture fixture =
        fixture_new(&weft_net_txtcnn, "channels=multi&f1=5&f2=4&f3=3&drop_input=0.2",
                    documents(30, 200, 3), 6);
    weft_table table = fixture.net->table(fixture.self);
    grad(&fixture, 0.3, 5);
    real *whole = copy(&fixture, fixture.g);
    int32_t *place = WEFT_NEW(mem, int32_t, table.rows - 1);
    int count = 0, alike = 1;
    memset(place, -1, (size_t)(table.rows - 1) * sizeof *place);
    for (int i = 0; i < fixture.b.n; i++)
        for (int j = 0; j < fixture.b.length[i]; j++)
            if (place[fixture.b.word[i][j]] < 0) place[fixture.b.word[i][j]] = count++;
    fixture.b.place = place;
    fixture.b.places = count;
    for (int64_t i = 0; i < fixture.nw; i++) fixture.g[i] = 7;
    grad(&fixture, 0.3, 5);
    static const real zeros[SIZE];
    for (int64_t i = 0; i < table.rows; i++) {
        int at = i > 0 ? place[i - 1] : -1;
        const real *row = at < 0 ? zeros : fixture.g + table.at + at * table.d;
        alike &=
            memcmp(row, whole + table.at + i * table.d, (size_t)table.d * sizeof *row) == 0;
    }
    ok(table.at + table.rows * table.d == fixture.nw && table.d == SIZE && count < 150 &&
           alike && same(whole, fixture.g, table.at),
       "the rows of %d words are those of the whole gradient", count);
    ok(fixture.g[table.at + count * table.d] == 7, "... and nothing else is written");
    test_compact(&fixture, table);
}

static void test_empty(void)
{
    struct fixture fixture =
        fixture_new(&weft_net_txtcnn, "channels=multi", documents(9, 30, 3), 3);
    int length[3] = {0, fixture.b.length[1], fixture.b.length[2]};
    fixture.b.length = length;
    weft_score score = grad(&fixture, 0.5, 1);
    ok(isfinite(score.loss) && isfinite(norm(fixture.g, fixture.nw)) && score.count == 3,
       "a document without words has a score");
}

static void test_diverged(void)
{
    struct fixture fixture = fixture_new(&weft_net_txtcnn, "-", documents(9, 30, 3), 3);
    fixture.w[0] = (real)NAN;
    ok(!isfinite(score(&fixture).loss), "a weight that is no number shows in the loss");
}

static void test_max_norm(void)
{
    struct fixture fixture =
        fixture_new(&weft_net_txtcnn, "f1=5&f2=4&f3=3&max_norm=3", documents(9, 30, 3), 1);
    int64_t last = fixture.nw - 3 - 36;
    for (int64_t i = 0; i < fixture.nw; i++) fixture.w[i] = (real)(i < last + 24 ? 2 : 0.1);
    real *before = copy(&fixture, fixture.w);
    fixture.net->project(fixture.self, fixture.w);
    is_near(norm(fixture.w + last, 12), 3, 1e-5,
            "a unit's weights that are too long become 3");
    ok(memcmp(fixture.w + last + 24, before + last + 24, 15 * sizeof *before) == 0 &&
           same(fixture.w, before, last),
       "... and all others stay");
}

/* ---- refusals ---- */

static void test_refusals(void)
{
    is_refused(&weft_net_txtcnn, "-", image(1, 4, 4, 3), WEFT_ECONF,
               "model = linear, mlp or cnn");
    is_refused(&weft_net_txtcnn, "-", text(4, 40), WEFT_ECONF, "model = lstm");
    is_refused(&weft_net_txtcnn, "head=sigmoid", documents(9, 30, 3), WEFT_ECONF,
               "head = softmax");
    weft_shape shape = documents(9, 30, 3);
    for (const weft_net *const *net = weft_nets; *net; net++)
        ok(*net == &weft_net_txtcnn ||
               ((*net)->setup(bound(*net, "-"), &shape) == WEFT_ECONF &&
                says("model = txtcnn")),
           "%s sends documents to txtcnn", (*net)->kind.name);
}

MAIN(alone, test_gold, test_all_slopes, test_sizes, test_pieces, test_alone, test_places,
     test_empty, test_diverged, test_max_norm, test_refusals)
