/* Networks: the contract of net.h for each network of the registry; gradients against
 * central differences and against PyTorch's in double precision (tests/gold/net.py);
 * numbers of parameters of published networks; what setup refuses.
 * RUN: np=1 */
#include "net/net.h"
#include "nets.h"

/* Small data that the network takes: images, text or documents. */
static struct fixture fixture_small(const weft_net *net, int n)
{
    weft_shape shape = image(3, 9, 8, 5);
    if (net->setup(bound(net, "-"), &shape)) shape = text(8, 11);
    if (net->setup(bound(net, "-"), &shape)) shape = documents(9, 30, 3);
    if (net->setup(bound(net, "-"), &shape)) shape = sentences(9, 12);
    return fixture_new(net, "-", shape, n);
}

/* ---- contract ---- */

static void test_tensors(const weft_net *net)
{
    struct fixture fixture = fixture_small(net, 1);
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = net->tensors(fixture.self, tensor);
    int64_t at = 0, good = n > 0 && n <= WEFT_MAX_TENSORS;
    for (int i = 0; i < n; i++) {
        int64_t size = 1;
        for (int k = 0; k < tensor[i].nd; k++) size *= tensor[i].dims[k];
        good = good && tensor[i].at == at && size > 0 && tensor[i].name[0] != '\0';
        at += size;
    }
    ok(good, "%s: tensors follow each other", net->kind.name);
    ok(at == fixture.nw, "%s: they are all weights", net->kind.name);
    ok(net->flops(fixture.self) >= 2.0 * (double)fixture.nw,
       "%s: a gradient has operations", net->kind.name);
}

static void test_init(const weft_net *net)
{
    struct fixture fixture = fixture_small(net, 1);
    real *again = copy(&fixture, fixture.w);
    for (int64_t i = 0; i < fixture.nw; i++) fixture.w[i] = (real)NAN;
    net->init(fixture.self, 7, fixture.w);
    ok(same(again, fixture.w, fixture.nw), "%s: initial weights are a function of the seed",
       net->kind.name);
    double most = 0;
    for (int64_t i = 0; i < fixture.nw; i++) most = worse(most, fabs((double)fixture.w[i]));
    net->init(fixture.self, 8, fixture.w);
    ok(most == 0 || (most < 10 && apart(again, fixture.w, fixture.nw) > 0.1),
       "%s: another seed, other weights, if they are not all zero", net->kind.name);
}

static void test_pure(const weft_net *net)
{
    struct fixture fixture = fixture_small(net, 6);
    int64_t bytes = fixture.nw * (int64_t)sizeof *fixture.g;
    weft_score plain = score(&fixture);
    weft_score a = grad(&fixture, 0, 1);
    real *first = copy(&fixture, fixture.g);
    ok(a.loss == plain.loss && a.wrong == plain.wrong && a.count == plain.count,
       "%s: the sums of a gradient are those of a score", net->kind.name);
    ok(isfinite(a.loss) && a.loss > 0 && a.count > 0 && a.wrong <= a.count,
       "%s: the sums are sums of a loss", net->kind.name);
    grad(&fixture, 0.4, 1);
    for (int64_t i = 0; i < fixture.nw; i++) fixture.g[i] = (real)NAN;
    weft_score b = grad(&fixture, 0, 2);
    ok(memcmp(first, fixture.g, (size_t)bytes) == 0 && b.loss == a.loss,
       "%s: a gradient depends on neither what was there before nor an idle key",
       net->kind.name);
    fixture.work = net->work(fixture.self, 40, mem);
    grad(&fixture, 0, 1);
    ok(memcmp(first, fixture.g, (size_t)bytes) == 0, "%s: ... nor on the room for a batch",
       net->kind.name);
}

static void test_order(const weft_net *net)
{
    struct fixture fixture = fixture_small(net, 6);
    weft_batch batch = fixture.b;
    weft_score a = grad(&fixture, 0, 1);
    real *first = copy(&fixture, fixture.g);
    const float *x[6];
    const uint8_t *chars[6];
    const uint32_t *word[6];
    const uint32_t *translation[6];
    int32_t label[6], length[6], translated[6];
    for (int i = 0; i < 6; i++) {
        int from = (i * 5 + 3) % 6;
        if (batch.x) x[i] = batch.x[from];
        if (batch.text) chars[i] = batch.text[from];
        if (batch.word) word[i] = batch.word[from];
        if (batch.word) length[i] = batch.length[from];
        if (batch.reply) translation[i] = batch.reply[from];
        if (batch.reply) translated[i] = batch.replies[from];
        label[i] = batch.label[from];
    }
    fixture.b =
        (weft_batch){.n = 6, .x = batch.x ? x : NULL, .text = batch.text ? chars : NULL};
    fixture.b.word = word;
    fixture.b.length = length;
    fixture.b.reply = translation;
    fixture.b.replies = translated;
    fixture.b.label = label;
    weft_score c = grad(&fixture, 0, 1);
    is_near(c.loss, a.loss, 100 * eps * a.loss, "%s: order does not change the loss",
            net->kind.name);
    ok(c.wrong == a.wrong, "%s: ... nor errors", net->kind.name);
    ok(apart(first, fixture.g, fixture.nw) < 100 * eps, "%s: ... nor the gradient",
       net->kind.name);
}

/* A score of samples that have weights is the sum of theirs, times these. */
static void test_weighed(const weft_net *net)
{
    enum { N = 6 };
    struct fixture fixture = fixture_small(net, N);
    weft_batch batch = fixture.b;
    double weight[N];
    weft_score sum = {0};
    for (int i = 0; i < N && !batch.text && !batch.reply; i++) {
        weft_score one;
        weight[i] = i % 4 * 0.75;
        fixture.b = (weft_batch){.n = 1,
                                 .label = batch.label + i,
                                 .x = batch.x ? batch.x + i : NULL,
                                 .word = batch.word ? batch.word + i : NULL,
                                 .length = batch.word ? batch.length + i : NULL};
        one = score(&fixture);
        sum.loss += weight[i] * one.loss;
        sum.wrong += weight[i] * one.wrong;
        sum.count += weight[i];
    }
    fixture.b = batch;
    fixture.b.weight = weight;
    if (sum.count > 0) {
        weft_score all = score(&fixture);
        is_near(all.loss, sum.loss, 100 * eps * sum.loss,
                "%s: a loss is of samples by their weights", net->kind.name);
        is_near(all.wrong, sum.wrong, 0, "%s: so are errors", net->kind.name);
        is_near(all.count, sum.count, 0, "%s: so is their number", net->kind.name);
    }
}

/* Whether the network has dropout at all. */
static int drops(const weft_net *net)
{
    return net != &weft_net_linear;
}

static void test_dropout(const weft_net *net)
{
    struct fixture fixture = fixture_small(net, 6);
    weft_score none = grad(&fixture, 0, 1);
    weft_score a = grad(&fixture, 0.3, 1);
    real *first = copy(&fixture, fixture.g);
    weft_score again = grad(&fixture, 0.3, 1);
    ok(again.loss == a.loss && same(first, fixture.g, fixture.nw),
       "%s: a key of dropout determines the result", net->kind.name);
    weft_score b = grad(&fixture, 0.3, 2);
    ok(!drops(net) || (a.loss != b.loss && a.loss != none.loss),
       "%s: another key, another result", net->kind.name);
    double sum = 0;
    for (uint64_t key = 0; key < 50; key++) sum += grad(&fixture, 0.1, key).loss / 50;
    is_near(sum, none.loss, 0.05 * none.loss, "%s: dropout keeps the mean", net->kind.name);
}

/* The numbers that the units of a layer read, where the batch is one sample that they see
 * once: the gradient of a unit's weights is that of its bias times these. */
static void inputs_of(const struct fixture *fixture, const char *weight, const char *bias,
                      double dropout, uint64_t key, int n, double *x)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int64_t at = -1, from = -1, unit = 0, units = 0;
    for (int i = fixture->net->tensors(fixture->self, tensor) - 1; i >= 0; i--) {
        if (strcmp(tensor[i].name, weight) == 0) at = tensor[i].at;
        if (strcmp(tensor[i].name, bias) != 0) continue;
        from = tensor[i].at;
        units = tensor[i].dims[0];
    }
    weft_check(at >= 0 && from >= 0, "no layer %s", weight);
    grad(fixture, dropout, key);
    for (int64_t i = 1; i < units; i++)
        if (fabs(fixture->g[from + i]) > fabs(fixture->g[from + unit])) unit = i;
    for (int j = 0; j < n; j++)
        x[j] = (double)fixture->g[at + unit * n + j] / (double)fixture->g[from + unit];
}

/* A layer behind dropout. */
struct behind {
    const weft_net *net;
    const char *options, *drops; /* drops: more options, that drop; "": the task drops */
    const char *weight, *bias;   /* of the layer */
    int n;                       /* numbers that it reads */
};

static void test_scale(const struct behind *behind, double p, weft_shape shape)
{
    enum { KEYS = 30, MOST = 64 };
    double plain[MOST], dropped[MOST], off = 0, by_task = *behind->drops ? 0 : p;
    char options[128];
    int zeros = 0, all = 0;
    snprintf(options, sizeof options, "%s%s", behind->options, behind->drops);
    struct fixture with = fixture_new(behind->net, options, shape, 1);
    struct fixture without = fixture_new(behind->net, behind->options, shape, 1);
    inputs_of(&without, behind->weight, behind->bias, 0, 0, behind->n, plain);
    for (uint64_t key = 0; key < KEYS; key++) {
        inputs_of(&with, behind->weight, behind->bias, by_task, key, behind->n, dropped);
        for (int j = 0; j < behind->n; j++) {
            double ratio = dropped[j] / plain[j];
            if (fabs(plain[j]) < 1e-3) continue; /* by ReLU */
            zeros += fabs(ratio) < 1e-3;
            off = worse(off, fabs(ratio) < 1e-3 ? 0 : fabs(ratio * (1 - p) - 1));
            all++;
        }
    }
    is_near(off, 0, 1e-4, "%s %s: dropout of %g multiplies what it keeps by 1 / (1 - p)",
            behind->net->kind.name, options, p);
    is_near(zeros, p * all, 5 * sqrt(p * (1 - p) * all), "and keeps %d of %d", all - zeros,
            all);
}

static void test_scales(void)
{
    static const struct behind of_words[] = {
        {&weft_net_txtcnn, "groups=1&f1=40", "", "fc1.weight", "fc1.bias", 40},
        {&weft_net_txtcnn, "groups=1&f1=40", "&drop_pooled=0.4", "fc1.weight", "fc1.bias",
         40},
        {&weft_net_txtcnn, "groups=1&f1=40&hidden=40", "&drop_hidden=0.4", "fc2.weight",
         "fc2.bias", 40},
        {&weft_net_txtcnn, "groups=1&k1=1&f1=20", "&drop_input=0.4", "conv1.weight",
         "conv1.bias", SIZE}};
    const struct behind mlp = {&weft_net_mlp, "hidden=40", "",
                               "fc2.weight",  "fc2.bias",  40};
    const struct behind lstm = {&weft_net_lstm,      "hidden=40",       "",
                                "lstm.weight_ih_l1", "lstm.bias_ih_l1", 40};
    test_scale(&mlp, 0.3, image(1, 5, 5, 4));
    test_scale(&lstm, 0.3, text(1, 11));
    for (size_t i = 0; i < LEN(of_words); i++)
        test_scale(&of_words[i], 0.4, documents(9, 30, 3));
}

static void test_learns(const weft_net *net)
{
    struct fixture fixture = fixture_small(net, 20);
    fill_batch(&fixture, 20, 1);
    double before = score(&fixture).loss;
    double rate = 0.3;
    for (int step = 0; step < 50; step++) {
        grad(&fixture, 0, 1);
        for (int64_t i = 0; i < fixture.nw; i++) fixture.w[i] -= (real)rate * fixture.g[i];
    }
    weft_score after = score(&fixture);
    note("%s: loss from %.3f to %.3f, %d of 20 wrong", net->kind.name, before / 20,
         after.loss / 20, (int)after.wrong);
    ok(after.loss < 0.8 * before, "%s: 50 steps of gradient descent lower the loss",
       net->kind.name);
}

/* The layer that makes logits of representations: its weights, its bias; units: its
 * number of outputs. */
static const real *last_layer(const struct fixture *fixture, const real **bias, int *units)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int last = fixture->net->tensors(fixture->self, tensor) - 1;
    if (strcmp(tensor[last].name, "embed.weight") == 0) last--;
    *bias = fixture->w + tensor[last].at;
    *units = (int)tensor[last].dims[0];
    weft_check(tensor[last - 1].dims[1] == fixture->net->width(fixture->self),
               "another width");
    return fixture->w + tensor[last - 1].at;
}

enum { SAMPLES = 21 };

/* Of answer i, of so many of each sample. */
static int label_of(const struct fixture *fixture, int64_t i, int64_t each)
{
    const weft_batch *b = &fixture->b;
    return b->text ? b->text[i / each][fixture->shape.d - each + i % each + 1]
                   : b->label[i];
}

static void test_represent(const weft_net *net, int every)
{
    const char *name = net->kind.name;
    struct fixture fixture = fixture_small(net, SAMPLES);
    if (every && fixture.shape.form == WEFT_CHARS) {
        weft_shape shape = fixture.shape;
        shape.every = 1;
        fixture = fixture_new(net, "-", shape, SAMPLES);
    }
    for (int64_t i = 0; i < fixture.nw; i++)
        fixture.w[i] = (real)(0.4 * (unit(5, i) - 0.5));
    int wide = net->width(fixture.self), c = fixture.shape.classes, units;
    int64_t each = fixture.shape.every ? fixture.shape.d : 1, n = each * SAMPLES;
    real *h = WEFT_NEW(mem, real, n * wide), *z = WEFT_NEW(mem, real, n * c);
    real *alone = WEFT_NEW(mem, real, each * wide);
    net->represent(fixture.self, fixture.work, fixture.w, &fixture.b, h, z);
    const real *bias, *layer = last_layer(&fixture, &bias, &units);
    double off = 0, loss = 0;
    for (int64_t i = 0; i < n; i++) {
        const real *y = z + i * c;
        double sum = 0;
        for (int j = 0; j < units; j++) {
            double unit = (double)bias[j];
            for (int e = 0; e < wide; e++)
                unit += (double)layer[j * wide + e] * (double)h[i * wide + e];
            off = worse(off, fabs(unit - (double)y[units == 1 ? 1 : j]));
        }
        int label = label_of(&fixture, i, each);
        for (int j = 0; j < c; j++) sum += exp((double)y[j]);
        loss += log(sum) - (double)y[label];
    }
    is_near(off, 0, 1e-5, "%s: the last layer makes logits of representations", name);
    is_near(loss, score(&fixture).loss, 1e-5 * loss, "%s: whose loss is that of a score",
            name);
    fixture.b.x += fixture.b.x ? SAMPLES - 1 : 0;
    fixture.b.text += fixture.b.text ? SAMPLES - 1 : 0;
    fixture.b.word += fixture.b.word ? SAMPLES - 1 : 0;
    fixture.b.length += fixture.b.word ? SAMPLES - 1 : 0;
    fixture.b.n = 1;
    net->represent(fixture.self, fixture.work, fixture.w, &fixture.b, alone, NULL);
    ok(memcmp(alone, h + (n - each) * wide, (size_t)(each * wide) * sizeof *h) == 0,
       "%s: a representation depends on its own sample only", name);
}

/* ---- PyTorch ---- */

static int64_t fan_in(const weft_tensor *tensor)
{
    int64_t size = 1;
    for (int k = 1; k < tensor->nd; k++) size *= tensor->dims[k];
    return size;
}

static void gold_weights(const struct fixture *fixture)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = fixture->net->tensors(fixture->self, tensor);
    for (int i = 0; i < n; i++) {
        double fan = (double)fan_in(&tensor[i - i % 2]); /* a bias has its weights' */
        double scale = exp2(2 + floor(0.3 - log2(fan) / 2));
        for (int64_t j = tensor[i].at; j < end_of(fixture, tensor, i, n); j++)
            fixture->w[j] = (real)((unit(3 + i, j - tensor[i].at) - 0.5) * scale);
    }
}

static void test_gold_case(FILE *file, const char *name, const char *options,
                           weft_shape shape, int n, double loss)
{
    const weft_net *net;
    must(weft_net_find(name, &net));
    struct fixture fixture = fixture_new(net, options, shape, n);
    gold_weights(&fixture);
    weft_score score = grad(&fixture, 0, 0);
    double tol = sizeof(real) == 4 ? 1e-5 : 1e-9, off = gold_errors(file, &fixture);
    note("%s %s: gradients within %.1e", name, options, off);
    is_near(score.loss / n, loss, tol * loss, "%s %s, %d x %d x %d: the loss is PyTorch's",
            name, options, shape.channels, shape.height, shape.width);
    ok(off < tol, "... and so is the gradient of each tensor");
}

static void test_gold(void)
{
    FILE *file = gold_of("net.txt");
    char name[16], options[32];
    int c, h, w, classes, n, cases = 0;
    double loss;
    for (; fscanf(file, "%15s %31s %d %d %d %d %d %lf", name, options, &c, &h, &w, &classes,
                  &n, &loss) == 8;
         cases++)
        test_gold_case(file, name, options, image(c, h, w, classes), n, loss);
    fclose(file);
    ok(cases == 11, "eleven cases were stored");
}

/* ---- sizes and refusals ---- */

static void test_sizes(void)
{
    is_size(&weft_net_linear, "-", image(1, 28, 28, 10), 7850);
    is_size(&weft_net_mlp, "-", image(1, 28, 28, 10), 159010);
    is_size(&weft_net_mlp, "hidden = 200, 100", image(1, 28, 28, 62), 183362);
    is_size(&weft_net_cnn, "arch = leaf", image(1, 28, 28, 62), 6603710);
    is_size(&weft_net_cnn, "arch = femnist", image(1, 28, 28, 62), 9520574);
    is_size(&weft_net_cnn, "arch = cifar", image(3, 32, 32, 10), 122570);
    is_size(&weft_net_cnn, "arch = convnet", image(3, 32, 32, 10), 89578);
}

static void test_refusals(void)
{
    weft_shape rows = {.form = WEFT_REALS, .d = 20, .classes = 3};
    is_refused(&weft_net_linear, "-", text(80, 90), WEFT_ECONF, "the data set holds text");
    is_refused(&weft_net_mlp, "-", text(80, 90), WEFT_ECONF, "model = mlp takes rows");
    is_refused(&weft_net_cnn, "-", text(80, 90), WEFT_ECONF, "model = cnn takes rows");
    is_refused(&weft_net_cnn, "-", rows, WEFT_EDATA, "rows of 20 numbers");
    is_refused(&weft_net_cnn, "-", image(3, 32, 7, 10), WEFT_EDATA, "at least 8 x 8");
    is_refused(&weft_net_cnn, "arch=femnist", image(1, 5, 6, 2), WEFT_EDATA, "6 x 6");
    is_refused(&weft_net_cnn, "arch=leaf", image(1, 3, 4, 2), WEFT_EDATA, "holds 3 x 4");
    is_refused(&weft_net_cnn, "arch=convnet", image(3, 8, 7, 2), WEFT_EDATA, "holds 8 x 7");
    static const char *const bad[] = {"hidden=200,", "hidden=,5",  "hidden=0",
                                      "hidden=-3",   "hidden=1e3", "hidden=100000",
                                      "hidden=5 6"};
    for (int i = 0; i < 7; i++)
        is_refused(&weft_net_mlp, bad[i], rows, WEFT_ECONF, "as 200 or 200,100");
    is_refused(&weft_net_mlp, "hidden=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", rows, WEFT_ECONF,
               "more than 15 widths");
}

/* Of equal outputs the first class is the answer, in both forms of softmax. */
static void test_ties(void)
{
    const real z[] = {0, 1, 1};
    for (int label = 0; label < 3; label++) {
        weft_score plain = {0}, smooth = {0};
        weft_softmax(3, z, label, 1, NULL, &plain);
        weft_softmax_smooth(3, z, label, 1, 0.1, NULL, &smooth);
        is_near(plain.wrong, label != 1, 0, "outputs 0, 1, 1 and label %d", label);
        is_near(smooth.wrong, label != 1, 0, "the same, smoothed");
    }
}

int main(void)
{
    tap_begin();
    test_ties();
    for (const weft_net *const *net = weft_nets; *net; net++) {
        size_t mark = weft_arena_mark(mem);
        test_tensors(*net);
        test_init(*net);
        test_pure(*net);
        test_order(*net);
        test_weighed(*net);
        test_dropout(*net);
        test_learns(*net);
        for (int every = 0; every < 2 && (*net)->width; every++)
            test_represent(*net, every);
        weft_arena_reset(mem, mark);
    }
    for (int drop = 0; drop < 2; drop++) {
        test_slopes(&weft_net_linear, "-", image(1, 5, 5, 4), 0.4 * drop, 1);
        test_slopes(&weft_net_mlp, "hidden=9,6", image(1, 5, 5, 4), 0.4 * drop, 1);
        test_slopes(&weft_net_cnn, "arch=leaf", image(2, 6, 5, 4), 0.4 * drop, 1);
        test_slopes(&weft_net_cnn, "arch=femnist", image(2, 7, 6, 4), 0.4 * drop, 1);
        test_slopes(&weft_net_cnn, "arch=cifar", image(3, 9, 8, 4), 0.4 * drop, 1);
        test_slopes(&weft_net_cnn, "arch=convnet&scale=2&power=1.5", image(3, 9, 8, 4),
                    0.4 * drop, 1);
    }
    return TESTS(test_scales, test_gold, test_sizes, test_refusals);
}
