/* The translation network: PyTorch's loss and gradients (tests/gold/seq2seq.py), central
 * differences, sentences of unequal length at once and one by one, dropout, label
 * smoothing; translations by a plain beam search (tests/gold/beam.py). RUN: np=1 */
#include "weft/base/conf.h"

#include "gradients.h"
#include "tap.h"

enum { MAX_BATCH = 70, LONGEST = 6, LONGEST_SAID = 16 };

/* A network on sentences. */
struct problem {
    const weft_net *net;
    void *self, *work;
    int64_t n;
    real *w, *g;
    weft_batch batch;
    const uint32_t *source[MAX_BATCH], *target[MAX_BATCH];
    int sources[MAX_BATCH], targets[MAX_BATCH];
};

static void *net_with(const char *options)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    must(weft_conf_text(&conf, "test", options));
    void *self = weft_arena_alloc(mem, 1, weft_net_seq2seq.kind.size);
    must(weft_conf_bind(&conf, &weft_net_seq2seq.kind, self));
    return self;
}

/* Sentence i by the rule of tests/gold/seq2seq.py. */
static const uint32_t *sentence(int i, int words, int factor, int *n)
{
    uint32_t *word = WEFT_NEW(mem, uint32_t, LONGEST);
    *n = 1 + (i * 5 + factor) % 6;
    for (int t = 0; t < *n; t++)
        word[t] = (uint32_t)(1 + (i * 3 + t * t * factor + t) % (words - 1));
    return word;
}

static struct problem problem_new(const char *options, int sources, int targets, int batch)
{
    struct problem problem = {.net = &weft_net_seq2seq, .self = net_with(options)};
    weft_shape shape = {.form = WEFT_SENTENCES,
                        .d = LONGEST,
                        .longest = LONGEST,
                        .words = sources,
                        .classes = targets,
                        .length = 3,
                        .translated = 4};
    must(problem.net->setup(problem.self, &shape));
    problem.work = problem.net->work(problem.self, batch, mem);
    problem.n = problem.net->nweight(problem.self);
    problem.w = WEFT_NEW(mem, real, problem.n);
    problem.g = WEFT_NEW(mem, real, problem.n);
    for (int64_t i = 0; i < problem.n; i++)
        problem.w[i] = (real)((i * i * 7 + i * 31) % 101 - 50) / 128;
    for (int i = 0; i < batch; i++) {
        problem.source[i] = sentence(i, sources, 2, &problem.sources[i]);
        problem.target[i] = sentence(i, targets, 3, &problem.targets[i]);
    }
    problem.batch.n = batch;
    return problem;
}

static weft_batch *batch_of(struct problem *problem)
{
    problem->batch.word = problem->source;
    problem->batch.length = problem->sources;
    problem->batch.translation = problem->target;
    problem->batch.translated = problem->targets;
    return &problem->batch;
}

static weft_score grad(struct problem *problem, double dropout, uint64_t key, real *g)
{
    weft_score score = {0};
    problem->net->grad(problem->self, problem->work, problem->w, batch_of(problem), dropout,
                       key, g, &score);
    return score;
}

static weft_score score(struct problem *problem)
{
    weft_score score = {0};
    problem->net->score(problem->self, problem->work, problem->w, batch_of(problem),
                        &score);
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
    struct problem plain = problem_new("[seq2seq]\nembedding = 5\nhidden = 6\n", 13, 11, 1);
    struct problem tied =
        problem_new("[seq2seq]\nembedding = 6\nhidden = 6\ntied = 1\n", 13, 11, 1);
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = plain.net->tensors(plain.self, tensor);
    int64_t at = 0;
    int gaps = 0;
    for (int k = 0; k < n; k++) {
        gaps += tensor[k].at != at;
        at += tensor[k].dims[0] * (tensor[k].nd == 2 ? tensor[k].dims[1] : 1);
    }
    ok(n == 24 && gaps == 0 && at == plain.n, "tensors have no gaps");
    ok(strcmp(tensor[4].name, "encoder.weight_ih_l0_reverse") == 0 &&
           tensor[4].dims[0] == 12 && tensor[4].dims[1] == 5,
       "tensors have PyTorch's names and shapes");
    n = tied.net->tensors(tied.self, tensor);
    ok(n == 23 && strcmp(tensor[n - 1].name, "output.bias") == 0,
       "a tied output layer has no matrix");
}

static void test_setup(void)
{
    weft_shape rows = {.form = WEFT_REALS, .d = 10, .classes = 2};
    weft_shape pairs = {
        .form = WEFT_SENTENCES, .d = 9, .longest = 9, .words = 9, .classes = 9};
    ok(weft_net_seq2seq.setup(net_with(""), &rows) == WEFT_ECONF, "rows are refused");
    ok(weft_net_seq2seq.setup(net_with("[seq2seq]\nhidden = 5\n"), &pairs) == WEFT_ECONF,
       "so is an odd number of units");
    ok(weft_net_seq2seq.setup(net_with("[seq2seq]\ntied = 1\nembedding = 4\n"), &pairs) ==
           WEFT_ECONF,
       "and a tied output layer of another size");
}

/* ---- gradients ---- */

static void test_gold(void)
{
    FILE *gold = fopen("tests/gold/seq2seq.txt", "r");
    weft_check(gold, "tests/gold/seq2seq.txt is missing: run tests in the top directory");
    for (int k = 0; k < 4; k++) {
        int feed = k / 2, tied = k % 2, line[2], wrong = 0, count = 0;
        struct problem problem =
            problem_new(weft_arena_text(mem,
                                        "[seq2seq]\nembedding = %d\nhidden = 6\nfeed = %d\n"
                                        "tied = %d\nsmoothing = 0.1\n",
                                        tied ? 6 : 5, feed, tied),
                        13, 11, 5);
        double loss = 0, x = 0;
        int64_t n = 0;
        weft_check(
            fscanf(gold, "%d %d %lf %d %d", &line[0], &line[1], &loss, &wrong, &count) == 5,
            "seq2seq.txt");
        real *expected = WEFT_NEW(mem, real, problem.n);
        for (; n < problem.n && fscanf(gold, "%lf", &x) == 1; n++) expected[n] = (real)x;
        weft_score score = grad(&problem, 0, 0, problem.g);
        ok(line[0] == feed && line[1] == tied && n == problem.n,
           "seq2seq.txt holds feed = %d, tied = %d", feed, tied);
        is_near(score.loss, loss, 1e-6 * loss, "the loss is PyTorch's");
        ok((int)score.count == count && (int)score.wrong == wrong,
           "so is the number of errors");
        is_near(worst(&problem, problem.g, expected), 0, sizeof(real) == 4 ? 1e-5 : 5e-8,
                "so is the gradient, tensor by tensor");
    }
    fclose(gold);
}

/* Against central differences, which need doubles. */
static void test_differences(const char *options, double dropout)
{
    if (sizeof(real) == 4) {
        skip(1, "central differences need REAL=double");
        return;
    }
    struct problem problem = problem_new(options, 9, 8, 3);
    real *g = WEFT_NEW(mem, real, problem.n);
    double step = 1e-5, most = 0;
    grad(&problem, dropout, 7, g);
    for (int64_t i = 0; i < problem.n; i++) {
        real w = problem.w[i];
        problem.w[i] = w + (real)step;
        double up = grad(&problem, dropout, 7, problem.g).loss;
        problem.w[i] = w - (real)step;
        double down = grad(&problem, dropout, 7, problem.g).loss;
        problem.w[i] = w;
        most = worse(most, fabs((up - down) / (2 * step * 3) - (double)g[i]));
    }
    is_near(most, 0, 1e-8, "gradient is that of central differences, dropout %g", dropout);
}

/* Along a gradient the loss changes by its length, which floats tell, too. */
static void test_along(const char *options, double dropout)
{
    struct problem problem = problem_new(options, 9, 8, 3);
    real *g = WEFT_NEW(mem, real, problem.n), *w = WEFT_NEW(mem, real, problem.n);
    double length = 0, loss[2], step = 1e-2;
    grad(&problem, dropout, 7, g);
    memcpy(w, problem.w, (size_t)problem.n * sizeof *w);
    for (int64_t i = 0; i < problem.n; i++) length += (double)g[i] * (double)g[i];
    length = sqrt(length);
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < problem.n; i++)
            problem.w[i] =
                (real)((double)w[i] + (2 * k - 1) * step * (double)g[i] / length);
        loss[k] = grad(&problem, dropout, 7, problem.g).loss;
    }
    is_near((loss[1] - loss[0]) / (2 * step * 3), length, 2e-5 * length,
            "the loss changes by the length of its gradient, dropout %g", dropout);
}

/* ---- batches of all sizes ---- */

/* Sentences at once are those one by one: losses bit for bit, gradients up to rounding. */
static void test_batch(const char *options, int batch)
{
    struct problem p = problem_new(options, 17, 19, batch);
    real *sum = WEFT_NEW(mem, real, p.n);
    struct problem q = p;
    double *loss = WEFT_NEW(mem, double, batch);
    int unequal = 0, wrong = 0;
    q.batch.n = 1;
    for (int i = 0; i < batch; i++) {
        q.source[0] = p.source[i];
        q.sources[0] = p.sources[i];
        q.target[0] = p.target[i];
        q.targets[0] = p.targets[i];
        weft_score one = grad(&q, 0, 0, p.g);
        loss[i] = one.loss;
        wrong += (int)one.wrong;
        for (int64_t k = 0; k < p.n; k++) sum[k] += p.g[k] / (real)batch;
    }
    memset(p.g, 255, (size_t)p.n * sizeof *p.g); /* what was there does not matter */
    weft_score all = grad(&p, 0, 0, p.g), only = score(&p);
    is_near(worst(&p, p.g, sum), 0, sizeof(real) == 4 ? 1e-5 : 1e-12,
            "%d sentences at once are sentences one by one", batch);
    ok((int)all.wrong == wrong, "and their errors are counted");
    ok(memcmp(&all, &only, sizeof all) == 0, "scores are those of the forward pass");
    /* a batch of two of which one is long: the other's loss, with the same bits */
    for (int i = 0; i + 1 < batch; i++) {
        q.batch.n = 2;
        for (int k = 0; k < 2; k++) {
            q.source[k] = p.source[i + k];
            q.sources[k] = p.sources[i + k];
            q.target[k] = p.target[i + k];
            q.targets[k] = p.targets[i + k];
        }
        double both = score(&q).loss;
        unequal += fabs(both - (loss[i] + loss[i + 1])) > 1e-14 * both;
    }
    ok(unequal == 0, "a sentence's loss does not depend on the one beside it");
}

static void test_again(void)
{
    struct problem p = problem_new("[seq2seq]\nhidden = 20\nembedding = 7\n", 17, 19, 9);
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
    ok(isfinite(grad(&p, 1, 1, p.g).loss), "all may be dropped");
}

/* A work space with room for one sentence takes a batch in as many parts. */
static void test_parts(const char *options)
{
    struct problem p = problem_new(options, 17, 19, 9);
    real *part = WEFT_NEW(mem, real, p.n);
    weft_score all = grad(&p, 0.3, 5, p.g);
    p.work = p.net->work(p.self, 1, mem);
    is_near(grad(&p, 0.3, 5, part).loss, all.loss, 1e-6 * all.loss,
            "dropout of a sentence does not depend on the part that it is in");
    is_near(worst(&p, p.g, part), 0, sizeof(real) == 4 ? 1e-5 : 1e-12,
            "the gradient of a batch in parts is that of the whole");
}

/* ---- translations ---- */

/* Translations of p's sentences become its targets. */
static void translate(struct problem *p)
{
    uint32_t *word[MAX_BATCH];
    for (int i = 0; i < p->batch.n; i++) word[i] = WEFT_NEW(mem, uint32_t, LONGEST_SAID);
    weft_batch batch = {.n = p->batch.n, .word = p->source, .length = p->sources};
    p->net->translate(p->self, p->w, &batch, word, p->targets);
    for (int i = 0; i < p->batch.n; i++) p->target[i] = word[i];
}

/* Weights for which sentences end early or late. */
static struct problem decided(const char *options, int words, int batch)
{
    struct problem p = problem_new(options, 17, words, batch);
    p.net->init(p.self, 3, p.w);
    for (int64_t i = 0; i < p.n; i++) p.w[i] *= 8;
    p.w[p.n - words + 2] += (real)2.5; /* the bias of the end */
    return p;
}

/* Greedy words are the best ones after those before them, so that none is wrong. */
static void test_greedy(const char *options)
{
    struct problem p = decided(options, 19, 37);
    int cut = 0;
    translate(&p);
    for (int i = 0; i < p.batch.n; i++) cut += p.targets[i] == LONGEST;
    ok(cut > 0 && cut < 37, "some translations are cut: %d of 37", cut);
    weft_score all = score(&p);
    ok((int)all.wrong <= cut, "a beam of 1 takes the best word at each step");
}

/* The best translation of up to LONGEST words by trying all, with its score. */
static double best_of_all(struct problem *p, double penalty, uint32_t *best, int *length)
{
    struct problem q = *p;
    uint32_t word[LONGEST];
    double top = -INFINITY;
    int words = 3, tries = 1;
    q.batch.n = 1;
    for (int n = 0; n <= LONGEST; n++, tries *= words - 1)
        for (int k = 0; k < tries; k++) {
            for (int t = 0, left = k; t < n; t++, left /= words - 1)
                word[t] = (uint32_t)(left % (words - 1));
            q.target[0] = word;
            q.targets[0] = n;
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
    struct problem p =
        decided(weft_arena_text(mem,
                                "[seq2seq]\nhidden = 6\nembedding = 4\nfeed = 1\n"
                                "beam = 200\npenalty = %g\n",
                                penalty),
                3, 12);
    int same = 0;
    translate(&p);
    for (int i = 0; i < p.batch.n; i++) {
        struct problem one = p;
        uint32_t best[LONGEST];
        int length = -1;
        one.source[0] = p.source[i];
        one.sources[0] = p.sources[i];
        best_of_all(&one, penalty, best, &length);
        same += length == p.targets[i] &&
                memcmp(best, p.target[i], (size_t)length * sizeof *best) == 0;
    }
    ok(same == p.batch.n, "a wide beam finds the best of all, penalty %g: %d of %d",
       penalty, same, p.batch.n);
}

enum { BEAM_WORDS = 11, BEAM_HIDDEN = 6, BEAM_SIZE = 5, BEAM_BATCH = 30 };

/* The network of tests/gold/beam.py. */
static struct problem beam_problem(int feed, int beam, double penalty)
{
    struct problem p =
        problem_new(weft_arena_text(mem,
                                    "[seq2seq]\nembedding = 5\nhidden = %d\nfeed = %d\n"
                                    "beam = %d\npenalty = %g\n",
                                    BEAM_HIDDEN, feed, beam, penalty),
                    13, BEAM_WORDS, BEAM_BATCH);
    weft_shape shape = {.form = WEFT_SENTENCES,
                        .d = LONGEST,
                        .longest = LONGEST_SAID,
                        .words = 13,
                        .classes = BEAM_WORDS};
    must(p.net->setup(p.self, &shape));
    for (int64_t i = 0; i < p.n; i++) p.w[i] *= 5;
    real *bias = p.w + p.n - BEAM_WORDS, *row = bias - BEAM_WORDS * BEAM_HIDDEN;
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
    FILE *gold = fopen("tests/gold/beam.txt", "r");
    weft_check(gold, "tests/gold/beam.txt is missing: run tests in the top directory");
    int feed, beam, settings = 0;
    double penalty;
    for (; fscanf(gold, "%d %d %lf", &feed, &beam, &penalty) == 3; settings++) {
        struct problem p = beam_problem(feed, beam, penalty);
        int same = 0;
        translate(&p);
        for (int i = 0; i < BEAM_BATCH; i++) {
            int n = 0, word, right;
            weft_check(fscanf(gold, "%d", &n) == 1, "beam.txt ends");
            right = n == p.targets[i];
            for (int t = 0; t < n; t++) {
                weft_check(fscanf(gold, "%d", &word) == 1, "beam.txt ends");
                right = right && p.target[i][t] == (uint32_t)word;
            }
            same += right;
        }
        ok(same == BEAM_BATCH, "feed = %d, beam = %d, penalty = %g: %d of %d translations",
           feed, beam, penalty, same, BEAM_BATCH);
    }
    ok(settings == 20, "beam.txt has 20 settings");
    fclose(gold);
}

/* What is beside a sentence does not matter. */
static void test_alone(void)
{
    struct problem p = decided(
                       "[seq2seq]\nhidden = 20\nembedding = 7\nbeam = 4\npenalty = 1\n", 19,
                       37),
                   q = p;
    int same = 0;
    translate(&p);
    for (int i = 0; i < p.batch.n; i++) {
        q.batch.n = 1;
        q.source[0] = p.source[i];
        q.sources[0] = p.sources[i];
        translate(&q);
        same += q.targets[0] == p.targets[i] &&
                memcmp(q.target[0], p.target[i], (size_t)p.targets[i] * 4) == 0;
    }
    ok(same == p.batch.n, "translations do not depend on the sentences beside them");
}

int main(void)
{
    tap_begin();
    test_counts();
    test_setup();
    test_gold();
    test_along("[seq2seq]\nhidden = 10\nembedding = 7\nlayers = 2\n", 0);
    test_along("[seq2seq]\nhidden = 10\nembedding = 7\nlayers = 2\n", 0.3);
    test_differences("[seq2seq]\nembedding = 3\nhidden = 4\n", 0);
    test_differences(
        "[seq2seq]\nembedding = 4\nhidden = 4\nlayers = 3\nfeed = 1\ntied = 1\n", 0.3);
    test_differences("[seq2seq]\nembedding = 2\nhidden = 6\nlayers = 1\n", 0.3);
    test_batch("[seq2seq]\nembedding = 33\nhidden = 34\n", 3);
    test_batch("[seq2seq]\nembedding = 20\nhidden = 20\ntied = 1\nfeed = 1\n", 17);
    test_batch("[seq2seq]\nembedding = 8\nhidden = 16\nlayers = 3\n", 70);
    test_batch("[seq2seq]\nembedding = 1\nhidden = 2\nlayers = 1\n", 16);
    test_again();
    test_parts("[seq2seq]\nhidden = 20\nembedding = 7\n");
    test_greedy("[seq2seq]\nhidden = 20\nembedding = 7\n");
    test_greedy("[seq2seq]\nhidden = 12\nembedding = 12\nfeed = 1\ntied = 1\n");
    test_beam(0);
    test_beam(1);
    return TESTS(test_beam_gold, test_alone);
}
