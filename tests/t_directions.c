/* Directions of translation as clients of task fed: their samples are the pairs, scores
 * count words and ends, what is written is compared with the references, a round is the
 * mean of the clients' steps, and the generator's steps are along the gradients of what it
 * learns. RUN: np=1 np=2 np=3 */
#include "task/parts.h"
#include "toy.h"
#include "weft/data/translations.h"
#include "weft/net/net.h"

enum { LINES = 90, LANGUAGES = 3, DIRECTIONS = 4, M = 3 };

static const char network[] = "[seq2seq]\nembedding = 4\nhidden = 6\nlayers = 1\n";
static const double rate = 0.01;

/* The network and the sentences, beside the task. */
struct beside {
    const weft_net *net;
    void *self, *work;
    int64_t n;
    real *g;
};

static uint64_t draw(int line, int what, int most)
{
    return weft_rng_at(7, WEFT_RNG_TEST, (uint64_t)line, (uint64_t)what, 0).v[0] %
           (uint64_t)most;
}

/* Words become those of the other languages, in the third one backwards; it has gaps. */
static const char *lines(void)
{
    char *text = printed("one\ttwo\tthree\n");
    for (int i = 0; i < LINES; i++) {
        const char *a = "", *b = "", *c = "";
        int n = 2 + (int)draw(i, 0, 4);
        for (int t = 0; t < n; t++) {
            int w = (int)draw(i, 1 + t, 6);
            const char *gap = t > 0 ? " " : "";
            a = printed("%s%s%c", a, gap, 'a' + w);
            b = printed("%s%s%c", b, gap, 'j' + w);
            c = printed("%c%s%s", 's' + w, gap, c);
        }
        text = printed("%s%s\t%s\t%s\n", text, a, b, i % 4 ? c : "");
    }
    return text;
}

static struct toy *sentences(void)
{
    struct toy *toy = toys[ntoy++] = WEFT_NEW(mem, struct toy, 1);
    pack_to(&toy->data, &weft_reader_translations, write_text("lines.tsv", lines()),
            "lines.h5",
            "directions=one-two,two-one,one-three,three-one joint=yes "
            "vocabulary=40 valid=0.2 test=0.2");
    return toy;
}

static const char *options(const char *algorithm, const char *more)
{
    return printed("[fed]\nmodel = seq2seq\nscore_weights = global\ncohort = 4\n"
                   "algorithm = %s\n[client]\nlr = %g\nbatch = 1000\n"
                   "max_change = 1\n%s%s",
                   algorithm, rate, network, more);
}

static struct beside beside_new(const struct toy *toy)
{
    const weft_net *net = &weft_net_seq2seq;
    struct beside beside = {.net = net, .self = bound_by(&net->kind, network)};
    weft_shape shape = weft_pair_rows_shape(&weft_translations_of(&toy->data)->pairs);
    must(net->setup(beside.self, &shape));
    beside.work = beside.net->work(beside.self, LINES, mem);
    beside.n = beside.net->nweight(beside.self);
    beside.g = WEFT_NEW(mem, real, beside.n);
    return beside;
}

static weft_samples samples_of(const struct toy *toy, int64_t c, weft_part part)
{
    weft_samples samples;
    must(weft_client_read(toy->data.owners, c, part, &samples, mem));
    return samples;
}

static weft_batch all_of(const weft_samples *samples)
{
    return (weft_batch){.n = (int)samples->n,
                        .word = samples->word,
                        .length = samples->length,
                        .reply = samples->reply,
                        .replies = samples->replies};
}

static weft_score score(const struct beside *beside, const struct toy *toy, int64_t c,
                        weft_part part, const real *w)
{
    weft_samples samples = samples_of(toy, c, part);
    weft_batch batch = all_of(&samples);
    weft_score sum = {0};
    beside->net->score(beside->self, beside->work, w, &batch, &sum);
    return sum;
}

static double share(const struct toy *toy, int64_t c)
{
    const weft_clients *clients = toy->data.owners;
    return (double)weft_client_count(clients, c, WEFT_TRAIN) /
           (double)clients->size[WEFT_TRAIN].total;
}

/* ---- samples and scores ---- */

static void test_samples(const struct toy *toy)
{
    const weft_clients *clients = toy->data.owners;
    static const char *const name[] = {"one-two", "two-one", "one-three", "three-one"};
    static const int target[] = {1, 0, 2, 0};
    uint32_t names =
        (uint32_t)weft_pair_rows_shape(&weft_translations_of(&toy->data)->pairs).words -
        LANGUAGES;
    int named = clients->n == DIRECTIONS, told = 1;
    for (int64_t c = 0; c < DIRECTIONS; c++) {
        const char *own;
        told &=
            weft_client_name(clients, c, &own, mem) == WEFT_OK && strcmp(own, name[c]) == 0;
        weft_samples samples = samples_of(toy, c, WEFT_TRAIN);
        named &= samples.n > 10;
        for (int64_t i = 0; i < samples.n; i++)
            named &= samples.word[i][0] == names + (uint32_t)target[c] &&
                     samples.length[i] == samples.replies[i] + 1;
    }
    ok(told, "clients are named as directions");
    ok(named, "a source sentence begins with the name of the target language");
}

static void test_scores(struct toy *toy, const struct beside *beside)
{
    struct stand *stand = trained(toy, options("fedavg", ""), 1, 1);
    weft_scores told = scored(stand, WEFT_TEST);
    weft_score all = {0};
    double off = 0;
    for (int64_t c = 0; c < DIRECTIONS; c++) {
        weft_score own = score(beside, toy, c, WEFT_TEST, stand->state.x);
        all.loss += own.loss;
        all.count += own.count;
        if (world.rank == 0)
            off = worse(off, fabs(number_of(told.members->table,
                                            told.members->score +
                                                c * weft_metrics_count(told.members->table),
                                            "loss") -
                                  own.loss / own.count));
    }
    is_near(score_of(fed, &told, "loss"), all.loss / all.count, 1e-6,
            "the loss is a word's, over all directions");
    ok(fabs(told.count - all.count) < 0.5, "words and ends are counted");
    is_near(off, 0, 1e-6, "directions have their own losses");
}

/* Words and ends of the `some` validation sentences of a direction that are scored; 0: of
 * all. */
static double words_of(const struct toy *toy, int64_t c, int64_t some)
{
    weft_samples samples = samples_of(toy, c, WEFT_VALID);
    int64_t n = some > 0 ? some : samples.n;
    double words = 0;
    for (int64_t i = 0; i < n; i++) words += samples.replies[i * samples.n / n] + 1;
    return words;
}

/* All diverge; three sentences of each are scored. Where they are not, before training,
 * their words are as many as three have in the mean. */
static void test_diverged(struct toy *toy)
{
    const char *text = "[client]\nmax_change = 1e-6\nbatch = 1000\n[fed]\nmodel = seq2seq\n"
                       "cohort = 4\nmax_valid = 3\n";
    struct stand *after = trained(toy, printed("%s%s", text, network), 1, 1);
    struct stand *both =
        trained(toy, printed("%sscore_both = yes\n%s", text, network), 1, 1);
    double mean = 0, scored = 0;
    for (int64_t c = 0; c < DIRECTIONS; c++) {
        mean += 3 * words_of(toy, c, 0) /
                (double)weft_client_count(toy->data.owners, c, WEFT_VALID);
        scored += words_of(toy, c, 3);
    }
    is_near(after->res.arm_count[0], mean, 1e-9 * mean,
            "a direction that diverged counts the words of so many sentences in the mean");
    is_near(both->res.arm_count[0], scored, 1e-9,
            "if it was scored before, the words of these");
}

/* Every rank writes its share of the samples: the first direction is right, of the second
 * every other sentence, of the third none is written, and the last one says nothing. */
static void test_written(const struct toy *toy, weft_part part)
{
    weft_texts *texts = weft_texts_new(DIRECTIONS, mem);
    const weft_language *one = &weft_translations_of(&toy->data)->language[0];
    weft_bleu bleu = {.length = 0};
    weft_chrf chrf = {.total = {0}};
    for (int64_t c = 0; c < DIRECTIONS; c++) {
        weft_samples samples = samples_of(toy, c, part);
        for (int64_t i = 0; i < samples.n && c != 2; i++) {
            int said = c == 0 || (c == 1 && i % 2 == 0) ? samples.replies[i] : 0;
            if (i % world.size == world.rank)
                weft_texts_add(texts, &toy->data, part, c, i, said, samples.reply[i]);
            if (c != 1) continue;
            const char *right =
                weft_sentence_decode(one, samples.reply[i], samples.replies[i], mem);
            weft_bleu_add(&bleu, said ? right : "", right, mem);
            weft_chrf_add(&chrf, said ? right : "", right, mem);
        }
    }
    weft_texts_join(&world, DIRECTIONS, texts);
    const double half[2] = {weft_bleu_score(&bleu), weft_chrf_score(&chrf)};
    const double right[DIRECTIONS][2] = {{100, 100}, {half[0], half[1]}, {0, 0}, {0, 0}};
    double off = 0, score[2];
    int counts = 1;
    for (int64_t c = 0; c < DIRECTIONS; c++) {
        counts &=
            weft_texts_score(texts, c, score) == (c == 2 ? 0 : samples_of(toy, c, part).n);
        for (int k = 0; k < 2; k++) off = worse(off, fabs(score[k] - right[c][k]));
    }
    ok(counts, "%s: as many sentences count as were written", weft_part_name[part]);
    is_near(off, 0, 1e-9, "they are scored by direction beside their references");
    weft_texts_mean(texts, DIRECTIONS, score);
    off = 0;
    for (int k = 0; k < 2; k++) off = worse(off, fabs(score[k] - (100 + half[k]) / 3));
    is_near(off, 0, 1e-9, "the mean is that of the directions that have some");
    ok(half[0] > 1 && half[0] < 99, "of which one is right in part");
}

/* ---- steps ---- */

static void test_mean(struct toy *toy, const struct beside *beside)
{
    struct stand *before = trained(toy, options("fedavg", ""), 1, 0);
    struct stand *after = trained(toy, options("fedavg", ""), 1, 1);
    double *to = WEFT_NEW(mem, double, beside->n), off = 0;
    for (int64_t i = 0; i < beside->n; i++) to[i] = (double)before->state.x[i];
    for (int64_t c = 0; c < DIRECTIONS; c++) {
        weft_samples samples = samples_of(toy, c, WEFT_TRAIN);
        weft_batch batch = all_of(&samples);
        weft_score sum = {0};
        beside->net->grad(beside->self, beside->work, before->state.x, &batch, 0, 0,
                          beside->g, &sum);
        for (int64_t i = 0; i < beside->n; i++)
            to[i] -= rate * share(toy, c) * (double)beside->g[i];
    }
    for (int64_t i = 0; i < beside->n; i++)
        off = worse(off, fabs(to[i] - (double)after->state.x[i]));
    is_near(off, 0, 1e-6, "a round of full batches is the mean of the clients' steps");
}

/* b, W and the embeddings of a state. */
struct generator {
    int64_t n;
    real *b, *w; /* [n], [M][n] */
    real *v;     /* [DIRECTIONS][M] */
};

static struct generator generator_of(const struct stand *stand, int64_t n)
{
    struct generator generator = {n, stand->state.x, stand->state.x + n,
                                  WEFT_NEW(mem, real, DIRECTIONS * M)};
    for (int64_t c = 0; c < DIRECTIONS; c++) {
        real row[M + 1];
        weft_check(world.rank > 0 ||
                       weft_kept_read(stand->state.kept, 1, &c, row) == WEFT_OK,
                   "%s", weft_error());
        memcpy(generator.v + c * M, row + 1, M * sizeof *row);
    }
    weft_bcast(&world, generator.v, DIRECTIONS * M * sizeof(real), 0);
    return generator;
}

/* Mean over directions, or of direction c, of the loss of a pair at theta = b + W v. */
static double loss_at(const struct beside *beside, const struct toy *toy,
                      const struct generator *at, int64_t only)
{
    double sum = 0;
    for (int64_t c = 0; c < DIRECTIONS; c++) {
        if (only >= 0 && c != only) continue;
        for (int64_t i = 0; i < at->n; i++) {
            double theta = (double)at->b[i];
            for (int m = 0; m < M; m++)
                theta += (double)at->w[m * at->n + i] * (double)at->v[c * M + m];
            beside->g[i] = (real)theta;
        }
        double pairs = (double)weft_client_count(toy->data.owners, c, WEFT_TRAIN);
        sum += (only < 0 ? share(toy, c) : 1) *
               score(beside, toy, c, WEFT_TRAIN, beside->g).loss / pairs;
    }
    return sum;
}

/* Largest distance of the steps from x[n] to `to`, per rate, from the slopes down, which
 * are central differences; *slope: the largest of them. Every stride-th is looked at. */
static double off_slope(const struct beside *beside, const struct toy *toy,
                        struct generator *at, int64_t only, real *x, const real *to,
                        int64_t n, int64_t stride, double *slope)
{
    const double eps = sizeof(real) == 8 ? 1e-5 : 1e-2;
    double off = 0;
    for (int64_t i = 0; i < n; i += stride) {
        size_t mark = weft_arena_mark(mem);
        real was = x[i];
        x[i] = was + (real)eps;
        double up = loss_at(beside, toy, at, only), high = (double)x[i];
        x[i] = was - (real)eps;
        double down = loss_at(beside, toy, at, only), low = (double)x[i];
        x[i] = was;
        double g = (up - down) / (high - low);
        *slope = fmax(*slope, fabs(g));
        off = worse(off, fabs(((double)was - (double)to[i]) / rate - g));
        weft_arena_reset(mem, mark);
    }
    return off;
}

static void test_gradients(struct toy *toy, const struct beside *beside)
{
    const char *text = options("cpg", "[cpg]\ngenerate = all\nsize = 3\nspread = 0.5\n");
    struct stand *before = trained(toy, text, 1, 1);
    struct stand *after = trained(toy, text, 1, 2);
    int64_t n = beside->n;
    struct generator from = generator_of(before, n), to = generator_of(after, n);
    const double most = sizeof(real) == 8 ? 1e-7 : 1e-3;
    double slope = 0;
    is_near(off_slope(beside, toy, &from, -1, from.b, to.b, n, 7, &slope), 0, most,
            "b steps along its gradient");
    ok(slope > 20 * most, "whose numbers are larger");
    slope = 0;
    is_near(off_slope(beside, toy, &from, -1, from.w, to.w, M * n, 19, &slope), 0, most,
            "so does W");
    ok(slope > 20 * most, "whose numbers are larger");
    double off = slope = 0;
    for (int64_t c = 0; c < DIRECTIONS; c++)
        off = worse(off, off_slope(beside, toy, &from, c, from.v + c * M, to.v + c * M, M,
                                   1, &slope));
    is_near(off, 0, most, "so do the embeddings of directions");
    ok(slope > 20 * most, "whose numbers are larger");
}

/* What all share, made by a generator of one constant number, is FedAvg. */
static void test_constant(struct toy *toy, const struct beside *beside)
{
    struct stand *avg = trained(toy, options("fedavg", ""), 1, 3);
    struct stand *one = trained(toy,
                                options("cpg", "[cpg]\ngenerate = all\nsize = 1\n"
                                               "bias = no\nembedding = constant\n"),
                                1, 3);
    ok(memcmp(avg->state.x, one->state.x + beside->n, (size_t)beside->n * sizeof(real)) ==
           0,
       "a generator of one constant number is fedavg, to the bit");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    struct toy *toy = sentences();
    trained(toy, options("fedavg", ""), 1, 0);
    struct beside beside = beside_new(toy);
    test_samples(toy);
    test_scores(toy, &beside);
    test_diverged(toy);
    test_written(toy, WEFT_VALID);
    test_written(toy, WEFT_TEST);
    test_mean(toy, &beside);
    test_gradients(toy, &beside);
    test_constant(toy, &beside);
    return tap_end();
}
