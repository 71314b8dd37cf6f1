/* The character LSTM: numbers of weights, PyTorch's loss and gradients
 * (tests/gold/lstm.py), central differences, all kinds of sizes, dropout.
 * RUN: np=1 */
#include "weft/base/conf.h"

#include "gradients.h"
#include "tap.h"

enum { MAX_BATCH = 140, LONGEST = 24 };

/* A network on its data: `samples` windows of d + 1 symbols. */
struct problem {
    const weft_net *net;
    void *self, *work;
    int64_t n;
    real *w, *g;
    weft_batch batch;
    const uint8_t *text[MAX_BATCH];
};

static void *lstm_with(const char *options)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    must(weft_conf_text(&conf, "test", options));
    void *self = weft_arena_alloc(mem, 1, weft_net_lstm.kind.size);
    must(weft_conf_bind(&conf, &weft_net_lstm.kind, self));
    return self;
}

/* Weights and windows by the rule of tests/gold/lstm.py. */
static struct problem problem_new(const char *options, int symbols, int d, int every,
                                  int batch)
{
    struct problem problem = {.net = &weft_net_lstm, .self = lstm_with(options)};
    weft_shape shape = {.form = WEFT_CHARS, .d = d, .classes = symbols, .every = every};
    must(problem.net->setup(problem.self, &shape));
    problem.work = problem.net->work(problem.self, batch, mem);
    problem.n = problem.net->nweight(problem.self);
    problem.w = WEFT_NEW(mem, real, problem.n);
    problem.g = WEFT_NEW(mem, real, problem.n);
    for (int64_t i = 0; i < problem.n; i++)
        problem.w[i] = (real)((i * i * 7 + i * 31) % 101 - 50) / 128;
    for (int i = 0; i < batch; i++) {
        uint8_t *text = WEFT_NEW(mem, uint8_t, d + 1);
        for (int t = 0; t <= d; t++)
            text[t] = (uint8_t)((i * i * 3 + t * t * 5 + i * t + 1) % symbols);
        problem.text[i] = text;
    }
    problem.batch = (weft_batch){.n = batch};
    return problem;
}

static weft_score grad(struct problem *problem, double dropout, uint64_t key, real *g)
{
    weft_score score = {0};
    problem->batch.text = problem->text;
    problem->net->grad(problem->self, problem->work, problem->w, &problem->batch, dropout,
                       key, g, &score);
    return score;
}

static weft_score score(struct problem *problem)
{
    weft_score score = {0};
    problem->batch.text = problem->text;
    problem->net->score(problem->self, problem->work, problem->w, &problem->batch, &score);
    return score;
}

/* The largest distance of a tensor of two gradients. */
static double worst(const struct problem *problem, const real *a, const real *b)
{
    return worst_tensor(problem->net, problem->self, problem->n, a, b);
}

/* ---- sizes ---- */

static void test_counts(void)
{
    struct problem fedex = problem_new("", 101, 80, 0, 1);
    weft_tensor tensor[WEFT_MAX_TENSORS];
    ok(fedex.n == 825485, "FedEx's model has 825,485 weights");
    int n = fedex.net->tensors(fedex.self, tensor);
    int64_t at = 0;
    int gaps = 0;
    for (int k = 0; k < n; k++) {
        gaps += tensor[k].at != at;
        at += tensor[k].dims[0] * (tensor[k].nd == 2 ? tensor[k].dims[1] : 1);
    }
    ok(n == 11 && gaps == 0 && at == fedex.n, "tensors have no gaps");
    ok(strcmp(tensor[5].name, "lstm.weight_ih_l1") == 0 && tensor[5].dims[0] == 1024 &&
           tensor[5].dims[1] == 256,
       "tensors have PyTorch's names and shapes");
    is_near(fedex.net->flops(fedex.self), 6.0 * (80 * 794624 + 256 * 101), 1,
            "operations are counted");
}

static void test_setup(void)
{
    void *self = lstm_with("");
    weft_shape rows = {.form = WEFT_REALS, .d = 10, .classes = 2};
    weft_shape one = {.form = WEFT_CHARS, .d = 10, .classes = 1};
    ok(weft_net_lstm.setup(self, &rows) == WEFT_ECONF, "rows of numbers are refused");
    ok(weft_net_lstm.setup(self, &one) == WEFT_EDATA, "an alphabet of 1 is refused");
}

static void test_init(void)
{
    struct problem problem = problem_new("[lstm]\nhidden = 64\n", 80, 5, 0, 1);
    real *again = WEFT_NEW(mem, real, problem.n);
    problem.net->init(problem.self, 3, problem.w);
    problem.net->init(problem.self, 3, again);
    ok(memcmp(problem.w, again, (size_t)problem.n * sizeof *again) == 0,
       "initial weights are a function of the seed");
    problem.net->init(problem.self, 4, again);
    ok(memcmp(problem.w, again, (size_t)problem.n * sizeof *again) != 0,
       "and of nothing less");
    double sum = 0, square = 0, embed = 0;
    int beyond = 0;
    for (int64_t i = 0; i < 640; i++) embed += (double)problem.w[i] * (double)problem.w[i];
    for (int64_t i = 640; i < problem.n; i++) {
        sum += (double)problem.w[i];
        square += (double)problem.w[i] * (double)problem.w[i];
        beyond += fabs((double)problem.w[i]) > 0.125;
    }
    double m = (double)(problem.n - 640);
    is_near(embed / 640, 1, 5 * sqrt(2.0 / 640), "the table is N(0, 1)");
    is_near(sum / m, 0, 5 * 0.125 / sqrt(3 * m), "the rest has mean 0");
    is_near(square / m, 0.125 * 0.125 / 3, 1e-4, "and the variance of U(-1/8, 1/8)");
    ok(beyond == 0, "and its bounds");
}

/* ---- gradients ---- */

static void test_gold(void)
{
    FILE *gold = fopen("tests/gold/lstm.txt", "r");
    weft_check(gold, "tests/gold/lstm.txt is missing: run tests in the top directory");
    for (int every = 0; every < 2; every++) {
        struct problem problem =
            problem_new("[lstm]\nembedding = 3\nhidden = 9\n", 11, 7, every, 5);
        double loss = 0, x = 0;
        int line = 0, wrong = 0;
        int64_t n = 0;
        weft_check(fscanf(gold, "%d %lf %d", &line, &loss, &wrong) == 3, "lstm.txt");
        real *expected = WEFT_NEW(mem, real, problem.n);
        for (; n < problem.n && fscanf(gold, "%lf", &x) == 1; n++) expected[n] = (real)x;
        weft_score score = grad(&problem, 0, 0, problem.g);
        ok(line == every && n == problem.n, "lstm.txt holds every = %d", every);
        is_near(score.loss / (double)score.count, loss, 1e-6 * loss,
                "the loss is PyTorch's");
        ok(score.count == (every ? 35 : 5) && score.wrong == wrong,
           "so is the number of errors");
        is_near(worst(&problem, problem.g, expected), 0, sizeof(real) == 4 ? 2e-6 : 2e-8,
                "so is the gradient, tensor by tensor");
    }
    fclose(gold);
}

static double loss_at(struct problem *problem, double dropout)
{
    weft_score score = grad(problem, dropout, 7, problem->g);
    return score.loss / (double)score.count;
}

/* Against central differences, which need doubles. */
static void test_differences(const char *options, int every, double dropout)
{
    if (sizeof(real) == 4) {
        skip(1, "central differences need REAL=double");
        return;
    }
    struct problem problem = problem_new(options, 10, 6, every, 3);
    real *g = WEFT_NEW(mem, real, problem.n);
    double step = 1e-5;
    grad(&problem, dropout, 7, g);
    double most = 0;
    for (int64_t i = 0; i < problem.n; i++) {
        real w = problem.w[i];
        problem.w[i] = w + (real)step;
        double up = loss_at(&problem, dropout);
        problem.w[i] = w - (real)step;
        double down = loss_at(&problem, dropout);
        problem.w[i] = w;
        most = worse(most, fabs((up - down) / (2 * step) - (double)g[i]));
    }
    is_near(most, 0, 1e-9, "gradient is that of central differences, dropout %g", dropout);
}

/* ---- batches of all sizes ---- */

/* The gradient of a batch is the mean of those of its samples. */
static void test_batch(const char *options, int every, int batch)
{
    struct problem p = problem_new(options, 17, LONGEST, every, batch);
    real *sum = WEFT_NEW(mem, real, p.n);
    weft_score one = {0};
    for (int i = 0; i < batch; i++) {
        struct problem q = p;
        q.batch.n = 1;
        q.text[0] = p.text[i];
        weft_score score = grad(&q, 0, 0, p.g);
        one.loss += score.loss;
        one.wrong += score.wrong;
        one.count += score.count;
        for (int64_t k = 0; k < p.n; k++) sum[k] += p.g[k] / (real)batch;
    }
    memset(p.g, 255, (size_t)p.n * sizeof *p.g); /* what was there does not matter */
    weft_score all = grad(&p, 0, 0, p.g), only = score(&p);
    is_near(worst(&p, p.g, sum), 0, sizeof(real) == 4 ? 1e-5 : 1e-12,
            "%d samples at once are samples one by one", batch);
    ok(all.wrong == one.wrong && all.count == one.count, "and their errors are counted");
    is_near(all.loss, one.loss, 1e-9 * one.loss, "and their losses added");
    ok(memcmp(&all, &only, sizeof all) == 0, "scores are those of the forward pass");
}

static void test_again(void)
{
    struct problem p = problem_new("[lstm]\nhidden = 20\n", 17, LONGEST, 1, 9);
    real *again = WEFT_NEW(mem, real, p.n);
    weft_score a = grad(&p, 0.3, 5, p.g);
    struct problem q = p;
    q.batch.n = 4; /* leaves other things in the scratch */
    grad(&q, 0, 0, again);
    weft_score b = grad(&p, 0.3, 5, again);
    ok(memcmp(&a, &b, sizeof a) == 0 &&
           memcmp(p.g, again, (size_t)p.n * sizeof *again) == 0,
       "the result depends on the arguments alone");
    weft_score c = grad(&p, 0.3, 6, again);
    ok(a.loss != c.loss, "dropout depends on the key");
}

/* Mean over many keys: that of the dropped units of a linear function is the function. */
static void test_dropout(void)
{
    struct problem p = problem_new("[lstm]\nhidden = 40\n", 17, 3, 0, 20);
    for (int64_t i = 0; i < p.n; i++) p.w[i] /= 50; /* nearly linear */
    weft_score none = grad(&p, 0, 0, p.g);
    double sum = 0, square = 0;
    enum { KEYS = 400 };
    for (uint64_t key = 0; key < KEYS; key++) {
        double off = grad(&p, 0.4, key, p.g).loss - none.loss;
        sum += off / KEYS;
        square += off * off / KEYS;
    }
    ok(square > 0, "dropout changes the loss");
    is_near(sum, 0, 5 * sqrt(square / KEYS) + 1e-6, "but not on average");
    struct problem q = problem_new("[lstm]\nhidden = 40\nlayers = 1\n", 17, 3, 0, 20);
    weft_score one = grad(&q, 0, 0, q.g), dropped = grad(&q, 0.4, 1, q.g);
    ok(one.loss == dropped.loss, "a single layer has no dropout");
    ok(isfinite(grad(&p, 1, 1, p.g).loss), "all may be dropped");
}

int main(void)
{
    tap_begin();
    test_counts();
    test_setup();
    test_init();
    test_gold();
    test_differences("[lstm]\nembedding = 3\nhidden = 5\n", 0, 0);
    test_differences("[lstm]\nembedding = 2\nhidden = 4\nlayers = 3\n", 1, 0.3);
    test_differences("[lstm]\nembedding = 2\nhidden = 6\n", 1, 0);
    test_batch("[lstm]\nhidden = 33\n", 0, 3);
    test_batch("[lstm]\nhidden = 20\n", 1, 29);
    test_batch("[lstm]\nhidden = 16\nlayers = 3\n", 1, 130);
    test_batch("[lstm]\nhidden = 1\nlayers = 1\n", 0, 14);
    return TESTS(test_again, test_dropout);
}
