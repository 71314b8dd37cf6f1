/* The character LSTM: numbers of weights, PyTorch's loss and gradients
 * (tests/gold/lstm.py), central differences, all kinds of sizes, dropout.
 * RUN: np=1 */
#include "nets.h"

enum { LONGEST = 24 };

/* On `batch` windows of d + 1 symbols; weights and windows by the rule of
 * tests/gold/lstm.py. */
static struct fixture problem_new(const char *options, int symbols, int d, int every,
                                  int batch)
{
    weft_shape shape = {.form = WEFT_CHARS, .d = d, .classes = symbols, .every = every};
    struct fixture problem = fixture_new(&weft_net_lstm, options, shape, batch);
    const uint8_t **window = WEFT_NEW(mem, const uint8_t *, batch);
    weights_by_rule(&problem);
    for (int i = 0; i < batch; i++) {
        uint8_t *own = WEFT_NEW(mem, uint8_t, d + 1);
        for (int t = 0; t <= d; t++)
            own[t] = (uint8_t)((i * i * 3 + t * t * 5 + i * t + 1) % symbols);
        window[i] = own;
    }
    problem.b = (weft_batch){.n = batch, .text = window};
    return problem;
}

/* ---- sizes ---- */

static void test_counts(void)
{
    struct fixture fedex = problem_new("-", 101, 80, 0, 1);
    weft_tensor tensor[WEFT_MAX_TENSORS];
    ok(fedex.nw == 825485, "FedEx's model has 825,485 weights");
    ok(fedex.net->tensors(fedex.self, tensor) == 11 &&
           strcmp(tensor[5].name, "lstm.weight_ih_l1") == 0 && tensor[5].dims[0] == 1024 &&
           tensor[5].dims[1] == 256,
       "tensors have PyTorch's names and shapes");
    is_near(fedex.net->flops(fedex.self), 6.0 * (80 * 794624 + 256 * 101), 1,
            "operations are counted");
}

static void test_setup(void)
{
    void *self = bound(&weft_net_lstm, "-");
    weft_shape rows = {.form = WEFT_REALS, .d = 10, .classes = 2};
    weft_shape one = {.form = WEFT_CHARS, .d = 10, .classes = 1};
    ok(weft_net_lstm.setup(self, &rows) == WEFT_ECONF, "rows of numbers are refused");
    ok(weft_net_lstm.setup(self, &one) == WEFT_EDATA, "an alphabet of 1 is refused");
}

/* That they are a function of the seed, t_net.c checks of all networks. */
static void test_init(void)
{
    struct fixture problem = problem_new("hidden=64", 80, 5, 0, 1);
    problem.net->init(problem.self, 4, problem.w);
    double sum = 0, square = 0, embed = 0;
    int beyond = 0;
    for (int64_t i = 0; i < 640; i++) embed += (double)problem.w[i] * (double)problem.w[i];
    for (int64_t i = 640; i < problem.nw; i++) {
        sum += (double)problem.w[i];
        square += (double)problem.w[i] * (double)problem.w[i];
        beyond += fabs((double)problem.w[i]) > 0.125;
    }
    double m = (double)(problem.nw - 640);
    is_near(embed / 640, 1, 5 * sqrt(2.0 / 640), "the table is N(0, 1)");
    is_near(sum / m, 0, 5 * 0.125 / sqrt(3 * m), "the rest has mean 0");
    is_near(square / m, 0.125 * 0.125 / 3, 1e-4, "and the variance of U(-1/8, 1/8)");
    ok(beyond == 0, "and its bounds");
}

/* ---- gradients ---- */

static void test_gold(void)
{
    FILE *gold = gold_of("lstm.txt");
    for (int every = 0; every < 2; every++) {
        struct fixture problem = problem_new("embedding=3&hidden=9", 11, 7, every, 5);
        double loss = 0;
        int line = 0, wrong = 0;
        weft_check(fscanf(gold, "%d %lf %d", &line, &loss, &wrong) == 3, "lstm.txt");
        const real *expected = read_reals(gold, problem.nw);
        weft_score score = grad(&problem, 0, 0);
        ok(line == every, "lstm.txt holds every = %d", every);
        is_near(score.loss / (double)score.count, loss, 1e-6 * loss,
                "the loss is PyTorch's");
        ok(score.count == (every ? 35 : 5) && score.wrong == wrong,
           "so is the number of errors");
        is_near(worst(&problem, problem.g, expected), 0, sizeof(real) == 4 ? 2e-6 : 2e-8,
                "so is the gradient, tensor by tensor");
    }
    fclose(gold);
}

/* ---- batches of all sizes ---- */

/* The gradient of a batch is the mean of those of its samples. */
static void test_batch(const char *options, int every, int batch)
{
    struct fixture p = problem_new(options, 17, LONGEST, every, batch);
    real *sum = WEFT_NEW(mem, real, p.nw);
    weft_score one = {0};
    for (int i = 0; i < batch; i++) {
        struct fixture q = p;
        q.b = (weft_batch){.n = 1, .text = p.b.text + i};
        weft_score score = grad(&q, 0, 0);
        one.loss += score.loss;
        one.wrong += score.wrong;
        one.count += score.count;
        for (int64_t k = 0; k < p.nw; k++) sum[k] += p.g[k] / (real)batch;
    }
    memset(p.g, 255, (size_t)p.nw * sizeof *p.g); /* what was there does not matter */
    weft_score all = grad(&p, 0, 0), only = score(&p);
    is_near(worst(&p, p.g, sum), 0, sizeof(real) == 4 ? 1e-5 : 1e-12,
            "%d samples at once are samples one by one", batch);
    ok(all.wrong == one.wrong && all.count == one.count, "and their errors are counted");
    is_near(all.loss, one.loss, 1e-9 * one.loss, "and their losses added");
    ok(memcmp(&all, &only, sizeof all) == 0, "scores are those of the forward pass");
}

/* Mean over many keys: that of the dropped units of a linear function is the function. */
static void test_dropout(void)
{
    struct fixture p = problem_new("hidden=40", 17, 3, 0, 20);
    for (int64_t i = 0; i < p.nw; i++) p.w[i] /= 50; /* nearly linear */
    weft_score none = grad(&p, 0, 0);
    double sum = 0, square = 0;
    enum { KEYS = 400 };
    for (uint64_t key = 0; key < KEYS; key++) {
        double off = grad(&p, 0.4, key).loss - none.loss;
        sum += off / KEYS;
        square += off * off / KEYS;
    }
    ok(square > 0, "dropout changes the loss");
    is_near(sum, 0, 5 * sqrt(square / KEYS) + 1e-6, "but not on average");
    struct fixture q = problem_new("hidden=40&layers=1", 17, 3, 0, 20);
    weft_score one = grad(&q, 0, 0), dropped = grad(&q, 0.4, 1);
    ok(one.loss == dropped.loss, "a single layer has no dropout");
}

int main(void)
{
    tap_begin();
    test_counts();
    test_setup();
    test_init();
    test_gold();
    test_differences(problem_new("embedding=3&hidden=5", 10, 6, 0, 3), 3, 0);
    test_differences(problem_new("embedding=2&hidden=4&layers=3", 10, 6, 1, 3), 18, 0.3);
    test_differences(problem_new("embedding=2&hidden=6", 10, 6, 1, 3), 18, 0);
    test_batch("hidden=33", 0, 3);
    test_batch("hidden=20", 1, 29);
    test_batch("hidden=16&layers=3", 1, 130);
    test_batch("hidden=1&layers=1", 0, 14);
    test_again(problem_new("hidden=20", 17, LONGEST, 1, 9));
    test_dropout();
    return tap_end();
}
