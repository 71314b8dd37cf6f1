/* Rounds of federated training on text: windows, targets and strides of a character LSTM
 * against its gradient and score on windows that the test makes; the same bits on any
 * number of ranks.
 * RUN: np=1 np=2 */
#include "toy.h"
#include "weft/net/net.h"

enum { LENGTH = 6, STRIDE = 2, GAP = 2, SYMBOLS = 9, SPEAKERS = 5, TEXT = 200 };

static const int64_t windows[SPEAKERS][WEFT_NPART] = {
    {12, 3, 2}, {5, 1, 1}, {30, 4, 4}, {8, 2, 3}, {17, 5, 1}};
static uint8_t text[SPEAKERS][TEXT];
static weft_data plays;

static weft_status read_text(const void *self, const char *source, weft_pack *pack)
{
    static const char *const name[SYMBOLS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    (void)self;
    (void)source;
    weft_pack_split(pack, "as made");
    TRY(weft_pack_clients(
        pack, WEFT_CHARS,
        &(weft_clients){.d = LENGTH, .stride = STRIDE, .gap = GAP, .symbols = SYMBOLS}));
    for (int c = 0; c < SPEAKERS; c++)
        TRY(weft_pack_client_text(pack, NULL, windows[c], text[c], TEXT));
    weft_pack_classes(pack, SYMBOLS, name);
    return WEFT_OK;
}

static const weft_reader text_reader = {
    .kind = {.name = "text", .about = "text", .size = 1, .opts = no_options},
    .read = read_text};

static void open_plays(void)
{
    for (int c = 0; c < SPEAKERS; c++)
        for (int i = 0; i < TEXT; i++)
            text[c][i] =
                (uint8_t)(weft_rng_at(9, WEFT_RNG_TEST, (uint64_t)c, (uint64_t)i, 0).v[0] %
                          (i % 3 ? SYMBOLS : 2));
    pack_to(&plays, &text_reader, "nowhere", "plays.h5", "");
}

/* The network by itself. */
struct alone {
    void *self, *work;
    int64_t n; /* weights */
};

static struct alone network(const char *options, int every)
{
    const weft_net *net = &weft_net_lstm;
    weft_shape shape = {
        .form = WEFT_CHARS, .d = LENGTH, .classes = SYMBOLS, .every = every};
    struct alone alone = {.self = bound_by(&net->kind, options)};
    must(net->setup(alone.self, &shape));
    alone.n = net->nweight(alone.self);
    alone.work = net->work(alone.self, 64, mem);
    return alone;
}

/* The windows of a part: those before it and the gaps between come first. */
static weft_batch windows_of(int c, weft_part part, const uint8_t **at_)
{
    int64_t first = 0;
    for (int p = 0; p < (int)part; p++) first += windows[c][p] + GAP;
    weft_batch batch = {.n = (int)windows[c][part], .text = at_};
    for (int i = 0; i < batch.n; i++) at_[i] = text[c] + (first + i) * STRIDE;
    return batch;
}

/* mean[alone->n]: gradient summed over all training windows, whose number it returns;
 * *before: sums over the validation windows. */
static double sum_gradients(const struct alone *alone, const real *w, double *mean,
                            weft_score *before)
{
    const weft_net *net = &weft_net_lstm;
    const uint8_t *place[64];
    real *g = WEFT_NEW(mem, real, alone->n);
    double all = 0;
    for (int c = 0; c < SPEAKERS; c++) {
        weft_score ignored = {0};
        weft_batch batch = windows_of(c, WEFT_TRAIN, place);
        net->grad(alone->self, alone->work, w, &batch, 0, 0, g, &ignored);
        for (int64_t i = 0; i < alone->n; i++) mean[i] += batch.n * (double)g[i];
        all += batch.n;
        batch = windows_of(c, WEFT_VALID, place);
        net->score(alone->self, alone->work, w, &batch, before);
    }
    return all;
}

static void test_round(int every)
{
    static const char net_options[] = "[lstm]\nembedding = 3\nhidden = 7\nlayers = 2\n";
    const char *options = printed(
        "[fed]\nmodel = lstm\ncohort = 5\nscore = loss\ntarget = %s\nscore_both = yes\n"
        "[client]\nlr = 0.5\nbatch = 64\n%s",
        every ? "all" : "last", net_options);
    struct toy toy = {.data = plays};
    struct stand *stand = trained(&toy, options, 1, 1);
    struct alone alone = network(net_options, every);
    const weft_net *net = &weft_net_lstm;
    real *w = WEFT_NEW(mem, real, alone.n);
    double *mean = WEFT_NEW(mem, double, alone.n), worst = 0;
    const uint8_t *place[64];
    weft_score before = {0}, test = {0};
    net->init(alone.self, 3, w);
    double all = sum_gradients(&alone, w, mean, &before);
    for (int64_t i = 0; i < alone.n; i++)
        worst = worse(worst,
                      fabs((double)w[i] - 0.5 * mean[i] / all - (double)stand->state.x[i]));
    is_near(worst, 0, 1e-6, "a round of text, %s, is a step on all windows",
            every ? "all targets" : "last target");
    is_near(in_row(fed, stand->row[0], "before_loss"), before.loss / (double)before.count,
            1e-6, "scored before on the validation windows");
    for (int c = 0; c < SPEAKERS; c++) {
        weft_batch batch = windows_of(c, WEFT_TEST, place);
        net->score(alone.self, alone.work, stand->state.x, &batch, &test);
    }
    ok(test.count == 11 * (every ? LENGTH : 1), "so many predictions");
    weft_scores out = scored(stand, WEFT_TEST);
    is_near(score_of(fed, &out, "loss"), test.loss / (double)test.count, 1e-6,
            "to the loss of the network");
    is_near(score_of(fed, &out, "error"), (double)test.wrong / (double)test.count, 1e-12,
            "and its error");
}

/* p of the label of a prediction: half the network's, half that of the three nearest of
 * stored[n], by the representations h, own and of[n], of `wide` numbers. */
static double half_near(const real *own, const real *z, const real *of, const int *label,
                        int n, int wide, int target)
{
    double p = 0, total = 0, near = 0, all = 0;
    int taken[1024] = {0};
    for (int j = 0; j < SYMBOLS; j++) total += exp((double)z[j]);
    p = exp((double)z[target]) / total;
    for (int k = 0; k < 3; k++) {
        double least = INFINITY;
        int at_ = 0;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int e = 0; e < wide; e++)
                sum += pow((double)own[e] - (double)of[i * wide + e], 2);
            if (taken[i] || !(sum < least)) continue;
            least = sum;
            at_ = i;
        }
        taken[at_] = 1;
        all += exp(-sqrt(least) / 0.5);
        if (label[at_] == target) near += exp(-sqrt(least) / 0.5);
    }
    return p / 2 + near / all / 2;
}

/* Answers by neighbours, whose predictions are all places of a window, or the last. */
static void test_near(int every)
{
    enum { WIDE = 7 };
    static const char net_options[] = "[lstm]\nembedding = 3\nhidden = 7\nlayers = 2\n";
    const char *options = printed(
        "[fed]\nmodel = lstm\nalgorithm = knn\ncohort = 5\ntarget = %s\n[client]\nlr = "
        "0.5\n[knn]\nk = 3\nsigma = 0.5\n%s",
        every ? "all" : "last", net_options);
    struct toy toy = {.data = plays};
    struct stand *stand = trained(&toy, options, 1, 3);
    struct alone alone = network(net_options, every);
    int each = every ? LENGTH : 1, n = 0;
    double loss = 0;
    for (int c = 0; c < SPEAKERS; c++) {
        const uint8_t *place[2][64];
        static real h[2][64 * LENGTH * WIDE], z[64 * LENGTH * SYMBOLS];
        static int label[2][64 * LENGTH];
        for (int p = 0; p < 2; p++) {
            weft_batch batch = windows_of(c, p ? WEFT_TEST : WEFT_TRAIN, place[p]);
            weft_net_lstm.represent(alone.self, alone.work, stand->state.x, &batch, h[p],
                                    z);
            for (int i = 0; i < batch.n * each; i++)
                label[p][i] = batch.text[i / each][LENGTH - each + i % each + 1];
        }
        for (int i = 0; i < windows[c][WEFT_TEST] * each; i++, n++)
            loss -= log(half_near(h[1] + i * WIDE, z + i * SYMBOLS, h[0], label[0],
                                  (int)windows[c][WEFT_TRAIN] * each, WIDE, label[1][i]));
    }
    weft_scores out = scored(stand, WEFT_TEST);
    ok(n == 11 * each, "%d predictions are compared with those stored", n);
    is_near(score_of(fed, &out, "personal_loss"), loss / n, 1e-6,
            "to the loss of the three nearest and the network");
}

static void test_same_bits(void)
{
    struct toy toy = {.data = plays};
    const struct stand *stand =
        trained(&toy,
                "[fed]\nmodel = lstm\ncohort = 4\ntarget = all\n"
                "[client]\nlr = 0.3\nbatch = 3\nepochs = 2\ndropout = 0.2\n"
                "[lstm]\nembedding = 3\nhidden = 16\nlayers = 2\n",
                1, 6);
    digest(weft_state_hash(&stand->state));
    ok(in_row(fed, stand->row[5], "train_loss") < in_row(fed, stand->row[0], "train_loss"),
       "the loss falls");

    stand = trained(&toy,
                    "[fed]\nmodel = lstm\ncohort = 2\nscore = loss\ntarget = all\n"
                    "[client]\nlr = 1e6\n[lstm]\nembedding = 3\nhidden = 16\n",
                    1, 1);
    ok(in_row(fed, stand->row[0], "diverged") > 1.5, "a rate of a million diverges");
    is_near(stand->res.loss, 2 * log(SYMBOLS), 1e-9,
            "and counts as twice the loss of a guess");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    open_plays();
    test_round(0);
    test_round(1);
    test_near(0);
    test_near(1);
    test_same_bits();
    return tap_end();
}
