/* The translation network: PyTorch's loss and gradients (tests/gold/seq2seq.py), central
 * differences, sentences of unequal length at once and one by one, dropout, label
 * smoothing; translations by a plain beam search (tests/gold/beam.py). RUN: np=1 */
#include "sentences.h"

enum { LONGEST_SAID = 16 };

/* Weights by the rule of tests/gold/seq2seq.py. */
static struct fixture problem_new(const char *options, int sources, int targets, int batch)
{
    struct fixture problem =
        fixture_new(&weft_net_seq2seq, options, translating(sources, targets), batch);
    weights_by_rule(&problem);
    problem.b = sentences_by_rule(sources, targets, batch);
    return problem;
}

/* n sentences from number i on. */
static weft_batch part_of(const weft_batch *batch, int i, int n)
{
    return (weft_batch){.n = n,
                        .word = batch->word + i,
                        .length = batch->length + i,
                        .reply = batch->reply + i,
                        .replies = batch->replies + i};
}

/* ---- sizes ---- */

static void test_counts(void)
{
    struct fixture plain = problem_new("embedding=5&hidden=6", 13, 11, 1);
    struct fixture tied = problem_new("embedding=6&hidden=6&tied=1", 13, 11, 1);
    weft_tensor tensor[WEFT_MAX_TENSORS];
    ok(plain.net->tensors(plain.self, tensor) == 24 &&
           strcmp(tensor[4].name, "encoder.weight_ih_l0_reverse") == 0 &&
           tensor[4].dims[0] == 12 && tensor[4].dims[1] == 5,
       "tensors have PyTorch's names and shapes");
    int n = tied.net->tensors(tied.self, tensor);
    ok(n == 23 && strcmp(tensor[n - 1].name, "output.bias") == 0,
       "a tied output layer has no matrix");
}

static void test_setup(void)
{
    const weft_net *net = &weft_net_seq2seq;
    weft_shape rows = {.form = WEFT_REALS, .d = 10, .classes = 2};
    weft_shape pairs = {
        .form = WEFT_SENTENCES, .d = 9, .longest = 9, .words = 9, .classes = 9};
    ok(net->setup(bound(net, "-"), &rows) == WEFT_ECONF, "rows are refused");
    ok(net->setup(bound(net, "hidden=5"), &pairs) == WEFT_ECONF,
       "so is an odd number of units");
    ok(net->setup(bound(net, "tied=1&embedding=4"), &pairs) == WEFT_ECONF,
       "and a tied output layer of another size");
}

/* ---- gradients ---- */

static void test_gold(void)
{
    FILE *gold = gold_of("seq2seq.txt");
    for (int k = 0; k < 4; k++) {
        int feed = k / 2, tied = k % 2, line[2], wrong = 0, count = 0;
        struct fixture problem =
            problem_new(printed("embedding=%d&hidden=6&feed=%d&tied=%d&smoothing=0.1",
                                tied ? 6 : 5, feed, tied),
                        13, 11, 5);
        double loss = 0;
        weft_check(
            fscanf(gold, "%d %d %lf %d %d", &line[0], &line[1], &loss, &wrong, &count) == 5,
            "seq2seq.txt");
        const real *expected = read_reals(gold, problem.nw);
        weft_score score = grad(&problem, 0, 0);
        ok(line[0] == feed && line[1] == tied, "seq2seq.txt holds feed = %d, tied = %d",
           feed, tied);
        is_near(score.loss, loss, 1e-6 * loss, "the loss is PyTorch's");
        ok((int)score.count == count && (int)score.wrong == wrong,
           "so is the number of errors");
        is_near(worst(&problem, problem.g, expected), 0, sizeof(real) == 4 ? 1e-5 : 5e-8,
                "so is the gradient, tensor by tensor");
    }
    fclose(gold);
}

/* Along a gradient the loss changes by its length, which floats tell, too. */
static void test_along(const char *options, double dropout)
{
    struct fixture problem = problem_new(options, 9, 8, 3);
    grad(&problem, dropout, 7);
    real *g = copy(&problem, problem.g), *w = copy(&problem, problem.w);
    double length = norm(g, problem.nw), loss[2], step = 1e-2;
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < problem.nw; i++)
            problem.w[i] =
                (real)((double)w[i] + (2 * k - 1) * step * (double)g[i] / length);
        loss[k] = grad(&problem, dropout, 7).loss;
    }
    is_near((loss[1] - loss[0]) / (2 * step * 3), length, 2e-5 * length,
            "the loss changes by the length of its gradient, dropout %g", dropout);
}

/* ---- batches of all sizes ---- */

/* Sentences at once are those one by one: losses bit for bit, gradients up to rounding. */
static void test_batch(const char *options, int batch)
{
    struct fixture p = problem_new(options, 17, 19, batch), q = p;
    real *sum = WEFT_NEW(mem, real, p.nw);
    double *loss = WEFT_NEW(mem, double, batch);
    int unequal = 0, wrong = 0;
    for (int i = 0; i < batch; i++) {
        q.b = part_of(&p.b, i, 1);
        weft_score one = grad(&q, 0, 0);
        loss[i] = one.loss;
        wrong += (int)one.wrong;
        for (int64_t k = 0; k < p.nw; k++) sum[k] += p.g[k] / (real)batch;
    }
    memset(p.g, 255, (size_t)p.nw * sizeof *p.g); /* what was there does not matter */
    weft_score all = grad(&p, 0, 0), only = score(&p);
    is_near(worst(&p, p.g, sum), 0, sizeof(real) == 4 ? 1e-5 : 1e-12,
            "%d sentences at once are sentences one by one", batch);
    ok((int)all.wrong == wrong, "and their errors are counted");
    ok(memcmp(&all, &only, sizeof all) == 0, "scores are those of the forward pass");
    /* a batch of two of which one is long: the other's loss, with the same bits */
    for (int i = 0; i + 1 < batch; i++) {
        q.b = part_of(&p.b, i, 2);
        double both = score(&q).loss;
        unequal += fabs(both - (loss[i] + loss[i + 1])) > 1e-14 * both;
    }
    ok(unequal == 0, "a sentence's loss does not depend on the one beside it");
}

/* A work space with room for one sentence takes a batch in as many parts. */
static void test_parts(const char *options)
{
    struct fixture p = problem_new(options, 17, 19, 9);
    real *part = WEFT_NEW(mem, real, p.nw);
    weft_score all = grad(&p, 0.3, 5);
    p.work = p.net->work(p.self, 1, mem);
    is_near(grad_into(&p, 0.3, 5, part).loss, all.loss, 1e-6 * all.loss,
            "dropout of a sentence does not depend on the part that it is in");
    is_near(worst(&p, p.g, part), 0, sizeof(real) == 4 ? 1e-5 : 1e-12,
            "the gradient of a batch in parts is that of the whole");
}

/* ---- translations ---- */

/* Translations of p's sentences become its targets. */
static void translate(struct fixture *p)
{
    int n = p->b.n, *length = WEFT_NEW(mem, int, n);
    uint32_t **word = WEFT_NEW(mem, uint32_t *, n);
    for (int i = 0; i < n; i++) word[i] = WEFT_NEW(mem, uint32_t, LONGEST_SAID);
    p->net->write(p->self, p->w, &p->b, word, length);
    p->b.reply = (const uint32_t *const *)word;
    p->b.replies = length;
}

/* Weights for which sentences end early or late. */
static struct fixture decided(const char *options, int words, int batch)
{
    struct fixture p = problem_new(options, 17, words, batch);
    p.net->init(p.self, 3, p.w);
    for (int64_t i = 0; i < p.nw; i++) p.w[i] *= 8;
    p.w[p.nw - words + 2] += (real)2.5; /* the bias of the end */
    return p;
}

/* Greedy words are the best ones after those before them, so that none is wrong. */
static void test_greedy(const char *options)
{
    struct fixture p = decided(options, 19, 37);
    int cut = 0;
    translate(&p);
    for (int i = 0; i < p.b.n; i++) cut += p.b.replies[i] == LONGEST;
    ok(cut > 0 && cut < 37, "some translations are cut: %d of 37", cut);
    weft_score all = score(&p);
    ok((int)all.wrong <= cut, "a beam of 1 takes the best word at each step");
}

/* The best translation of up to LONGEST words by trying all, with its score. */
static double best_of_all(struct fixture *p, double penalty, uint32_t *best, int *length)
{
    struct fixture q = *p;
    uint32_t word[LONGEST];
    const uint32_t *said = word;
    double top = -INFINITY;
    int words = 3, tries = 1;
    q.b.reply = &said;
    for (int n = 0; n <= LONGEST; n++, tries *= words - 1)
        for (int k = 0; k < tries; k++) {
            for (int t = 0, left = k; t < n; t++, left /= words - 1)
                word[t] = (uint32_t)(left % (words - 1));
            q.b.replies = &n;
            double value = -score(&q).loss / pow((5.0 + n + 1) / 6.0, penalty);
            if (!(value > top)) continue;
            top = value;
            *length = n;
            memcpy(best, word, sizeof word);
        }
    return top;
}

/* A beam that holds all translations finds the best. */
static void test_beam(double penalty)
{
    struct fixture p =
        decided(printed("hidden=6&embedding=4&feed=1&beam=200&penalty=%g", penalty), 3, 12);
    int alike = 0;
    translate(&p);
    for (int i = 0; i < p.b.n; i++) {
        struct fixture one = p;
        uint32_t best[LONGEST];
        int length = -1;
        one.b = part_of(&p.b, i, 1);
        best_of_all(&one, penalty, best, &length);
        alike += length == p.b.replies[i] &&
                 memcmp(best, p.b.reply[i], (size_t)length * sizeof *best) == 0;
    }
    ok(alike == p.b.n, "a wide beam finds the best of all, penalty %g: %d of %d", penalty,
       alike, p.b.n);
}

enum { BEAM_WORDS = 11, BEAM_HIDDEN = 6, BEAM_SIZE = 5, BEAM_BATCH = 30 };

/* The network of tests/gold/beam.py. */
static struct fixture beam_problem(int feed, int beam, double penalty)
{
    struct fixture p =
        problem_new(printed("embedding=5&hidden=%d&feed=%d&beam=%d&penalty=%g", BEAM_HIDDEN,
                            feed, beam, penalty),
                    13, BEAM_WORDS, BEAM_BATCH);
    weft_shape shape = {.form = WEFT_SENTENCES,
                        .d = LONGEST,
                        .longest = LONGEST_SAID,
                        .words = 13,
                        .classes = BEAM_WORDS};
    must(p.net->setup(p.self, &shape));
    for (int64_t i = 0; i < p.nw; i++) p.w[i] *= 5;
    real *bias = p.w + p.nw - BEAM_WORDS, *row = bias - BEAM_WORDS * BEAM_HIDDEN;
    bias[7] = bias[3];
    memcpy(row + 7 * BEAM_HIDDEN, row + 3 * BEAM_HIDDEN, BEAM_HIDDEN * sizeof *row);
    weft_tensor tensor[WEFT_MAX_TENSORS];
    for (int k = p.net->tensors(p.self, tensor); k-- > 0;) {
        row = p.w + tensor[k].at;
        if (strcmp(tensor[k].name, "target.weight") == 0)
            memcpy(row + 7 * BEAM_SIZE, row + 3 * BEAM_SIZE, BEAM_SIZE * sizeof *row);
    }
    return p;
}

/* Narrow beams translate as those of another program. */
static void test_beam_gold(void)
{
    FILE *gold = gold_of("beam.txt");
    int feed, beam, settings = 0;
    double penalty;
    for (; fscanf(gold, "%d %d %lf", &feed, &beam, &penalty) == 3; settings++) {
        struct fixture p = beam_problem(feed, beam, penalty);
        int alike = 0;
        translate(&p);
        for (int i = 0; i < BEAM_BATCH; i++) {
            int n = 0, word, right;
            weft_check(fscanf(gold, "%d", &n) == 1, "beam.txt ends");
            right = n == p.b.replies[i];
            for (int t = 0; t < n; t++) {
                weft_check(fscanf(gold, "%d", &word) == 1, "beam.txt ends");
                right = right && p.b.reply[i][t] == (uint32_t)word;
            }
            alike += right;
        }
        ok(alike == BEAM_BATCH, "feed = %d, beam = %d, penalty = %g: %d of %d translations",
           feed, beam, penalty, alike, BEAM_BATCH);
    }
    ok(settings == 20, "beam.txt has 20 settings");
    fclose(gold);
}

/* What is beside a sentence does not matter. */
static void test_alone(void)
{
    struct fixture p = decided("hidden=20&embedding=7&beam=4&penalty=1", 19, 37), q = p;
    int alike = 0;
    translate(&p);
    for (int i = 0; i < p.b.n; i++) {
        q.b = part_of(&p.b, i, 1);
        translate(&q);
        alike += q.b.replies[0] == p.b.replies[i] &&
                 memcmp(q.b.reply[0], p.b.reply[i], (size_t)p.b.replies[i] * 4) == 0;
    }
    ok(alike == p.b.n, "translations do not depend on the sentences beside them");
}

int main(void)
{
    tap_begin();
    test_counts();
    test_setup();
    test_gold();
    test_along("hidden=10&embedding=7&layers=2", 0);
    test_along("hidden=10&embedding=7&layers=2", 0.3);
    test_differences(problem_new("embedding=3&hidden=4", 9, 8, 3), 3, 0);
    test_differences(problem_new("embedding=4&hidden=4&layers=3&feed=1&tied=1", 9, 8, 3), 3,
                     0.3);
    test_differences(problem_new("embedding=2&hidden=6&layers=1", 9, 8, 3), 3, 0.3);
    test_batch("embedding=33&hidden=34", 3);
    test_batch("embedding=20&hidden=20&tied=1&feed=1", 17);
    test_batch("embedding=8&hidden=16&layers=3", 70);
    test_batch("embedding=1&hidden=2&layers=1", 16);
    test_again(problem_new("hidden=20&embedding=7", 17, 19, 9));
    test_parts("hidden=20&embedding=7");
    test_greedy("hidden=20&embedding=7");
    test_greedy("hidden=12&embedding=12&feed=1&tied=1");
    test_beam(0);
    test_beam(1);
    return TESTS(test_beam_gold, test_alone);
}
