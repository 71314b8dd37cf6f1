/* Federated training on documents: who owns which, steps of the network over words against
 * its gradient on all documents, training of one client against a loop of its own; the same
 * bits on any number of ranks.
 * RUN: np=1 np=2 np=3 */
#include "toy.h"
#include "weft/net/net.h"

enum { CLIENTS = 6, VECTOR = 8, SEED = 3 }; /* the seed of stands */

static weft_data words, single; /* documents of CLIENTS, and of one */
static weft_data all;           /* the same documents on every rank, with their tokens */
static weft_team self;

static void open_data(weft_data *data, const char *name, const char *options,
                      weft_team *team)
{
    must(pack(&weft_reader_synthetic, "documents", name,
              printed("rows=60 words=12 %s", options)));
    must(weft_data_open(data, at(name), team, mem));
}

/* ---- owners ---- */

static int same_words(const weft_rows *rows, int64_t row, const weft_samples *samples,
                      int64_t i)
{
    const int64_t *offset = rows->offset[WEFT_TOK_SPLIT] + row;
    int64_t n = offset[1] - offset[0];
    return samples->label[i] == rows->label[row] && samples->length[i] == n &&
           memcmp(samples->word[i], rows->token[WEFT_TOK_SPLIT] + offset[0],
                  (size_t)n * sizeof(uint32_t)) == 0;
}

static void test_owners(void)
{
    const weft_clients *clients = words.owners;
    ok(!all.owners && !all.clients, "documents packed without clients belong to none");
    ok(clients && clients->n == CLIENTS && !words.clients,
       "with clients they remain documents");
    must(weft_data_own_words(&words, WEFT_TOK_SPLIT));
    int same = 1;
    for (int p = 0; p < WEFT_NPART; p++) {
        const weft_rows *rows = &all.part[p];
        int64_t *owner = WEFT_NEW(mem, int64_t, rows->total), next[CLIENTS] = {0}, sum = 0;
        const char *name = printed("/%s/owner", weft_part_name[p]);
        must(weft_h5_read_rows(&words.file, name, WEFT_H5_I64, 1, 0, rows->total, owner));
        for (int64_t i = 0; i < rows->total; i++) {
            weft_samples samples;
            int64_t c = owner[i];
            must(weft_client_read(clients, c, (weft_part)p, &samples, mem));
            same &= next[c] < samples.n && same_words(rows, i, &samples, next[c]);
            next[c]++;
        }
        for (int c = 0; c < CLIENTS; c++) {
            same &= next[c] == weft_client_count(clients, c, (weft_part)p);
            sum += next[c];
        }
        same &= clients->size[p].total == sum && sum == rows->total;
    }
    ok(same, "each document is one of its owner's, with its label and its words");
    const weft_vocab *a = &words.vocab[WEFT_TOK_SPLIT], *b = &all.vocab[WEFT_TOK_SPLIT];
    ok(a->n == b->n && memcmp(a->hash, b->hash, (size_t)a->n * sizeof *a->hash) == 0,
       "the vocabulary is that of the file without clients");
}

/* Data of other names for the classes are told by these, as of a federation of rows. */
static void test_match(void)
{
    static const char *const other[] = {"1", "0"};
    weft_likeness like = weft_data_likeness(&words);
    weft_samples samples;
    int32_t before[64];
    must(weft_client_read(words.owners, 2, WEFT_TRAIN, &samples, mem));
    int64_t n = samples.n;
    memcpy(before, samples.label, (size_t)n * sizeof *before);
    like.class_name = other;
    must(weft_data_match(&words, &like, "a run"));
    must(weft_client_read(words.owners, 2, WEFT_TRAIN, &samples, mem));
    int same = samples.n == n;
    for (int64_t i = 0; i < n && same; i++) same = samples.label[i] == 1 - before[i];
    ok(same && n > 0, "classes are told by name");
}

/* ---- the network by itself ---- */

struct alone {
    void *self, *work;
    int64_t n; /* weights */
    const uint32_t *word[256];
    int length[256];
    int32_t label[256];
};

static const weft_net *const net = &weft_net_txtcnn;

static struct alone *network(const char *options)
{
    weft_vectors vectors;
    const weft_vocab *vocab = &all.vocab[WEFT_TOK_SPLIT];
    struct alone *alone = WEFT_NEW(mem, struct alone, 1);
    alone->self = bound_by(&net->kind, options);
    must(weft_vectors_read(vocab, "", VECTOR, SEED, &vectors, mem));
    weft_shape shape = {.form = WEFT_TOKENS,
                        .d = 256,
                        .classes = 2,
                        .words = vocab->n,
                        .length = 12,
                        .vector = VECTOR,
                        .vectors = vectors.value};
    must(net->setup(alone->self, &shape));
    alone->n = net->nweight(alone->self);
    alone->work = net->work(alone->self, 256, mem);
    return alone;
}

/* Documents row[n] of a part; NULL: the first n. */
static weft_batch batch(struct alone *alone, weft_part part, int n, const int64_t *row)
{
    const weft_rows *rows = &all.part[part];
    for (int i = 0; i < n; i++) {
        int64_t at_ = row ? row[i] : i;
        const int64_t *offset = rows->offset[WEFT_TOK_SPLIT] + at_;
        alone->word[i] = rows->token[WEFT_TOK_SPLIT] + offset[0];
        alone->length[i] = (int)(offset[1] - offset[0]);
        alone->label[i] = rows->label[at_];
    }
    return (weft_batch){
        .n = n, .label = alone->label, .word = alone->word, .length = alone->length};
}

static double farthest(const real *a, const real *b, int64_t n)
{
    double worst = 0;
    for (int64_t i = 0; i < n; i++) worst = worse(worst, fabs((double)a[i] - (double)b[i]));
    return worst;
}

static const char *network_of(const char *channels)
{
    return printed("[txtcnn]\nchannels = %s\ngroups = 2\nf1 = 5\nf2 = 4\nmax_norm = 0.8\n",
                   channels);
}

static weft_batch batch_of(const weft_samples *samples)
{
    return (weft_batch){.n = (int)samples->n,
                        .label = samples->label,
                        .word = samples->word,
                        .length = samples->length};
}

/* The scores of all clients, each by the weights w after a step on its own documents. */
static weft_score after_steps(const struct alone *alone, const real *w)
{
    weft_score after = {0}, ignored = {0};
    real *own = WEFT_NEW(mem, real, alone->n), *g = WEFT_NEW(mem, real, alone->n);
    for (int64_t c = 0; c < CLIENTS; c++) {
        weft_samples train, valid;
        must(weft_client_read(words.owners, c, WEFT_TRAIN, &train, mem));
        must(weft_client_read(words.owners, c, WEFT_VALID, &valid, mem));
        weft_batch first = batch_of(&train), then = batch_of(&valid);
        memset(g, 0, (size_t)alone->n * sizeof *g);
        if (first.n > 0) net->grad(alone->self, alone->work, w, &first, 0, 0, g, &ignored);
        for (int64_t i = 0; i < alone->n; i++) own[i] = w[i] - (real)0.02 * g[i];
        net->project(alone->self, own);
        if (then.n > 0) net->score(alone->self, alone->work, own, &then, &after);
    }
    return after;
}

/* A round in which each client takes its documents in one batch. */
static void test_round(const char *channels)
{
    const char *own = network_of(channels);
    struct toy toy = {.data = words};
    struct stand *stand =
        trained(&toy,
                printed("[fed]\nmodel = txtcnn\ndim = 8\ncohort = 6\nscore = loss\n"
                        "score_both = yes\n[client]\nlr = 0.02\nbatch = 64\n%s",
                        own),
                1, 1);
    struct alone *alone = network(own);
    real *w = WEFT_NEW(mem, real, alone->n), *g = WEFT_NEW(mem, real, alone->n);
    weft_score ignored = {0}, before = {0}, test = {0};
    net->init(alone->self, SEED, w);
    weft_batch b = batch(alone, WEFT_VALID, (int)all.part[WEFT_VALID].n, NULL);
    net->score(alone->self, alone->work, w, &b, &before);
    b = batch(alone, WEFT_TRAIN, (int)all.part[WEFT_TRAIN].n, NULL);
    weft_score after = after_steps(alone, w);
    net->grad(alone->self, alone->work, w, &b, 0, 0, g, &ignored);
    for (int64_t i = 0; i < alone->n; i++) w[i] -= (real)0.02 * g[i];
    is_near(farthest(w, stand->state.x, alone->n), 0, 1e-6,
            "%s: a round of all clients is a step on all documents", channels);
    is_near(in_row(fed, stand->row[0], "before_loss"), before.loss / (double)before.count,
            1e-6, "scored before on the validation documents");
    is_near(in_row(fed, stand->row[0], "after_loss"), after.loss / (double)after.count,
            1e-6,
            "each client's weights are scored on its own, which have words of their own");
    is_near(in_row(fed, stand->row[0], "bytes"), 6.0 * 2 * 4 * (double)alone->n, 0.5,
            "a client receives and sends %lld weights", (long long)alone->n);
    b = batch(alone, WEFT_TEST, (int)all.part[WEFT_TEST].n, NULL);
    net->score(alone->self, alone->work, stand->state.x, &b, &test);
    weft_scores out = scored(stand, WEFT_TEST);
    is_near(score_of(fed, &out, "loss"), test.loss / (double)test.count, 1e-6,
            "on the test documents");
}

/* ---- one client ---- */

struct steps {
    double lr, momentum, decay, mu, clip;
    int batch, epochs;
};

/* FedProx's training of one client that has all documents: batches in the order of
 * WEFT_RNG_BATCH, PyTorch's SGD, the maximum norm after each step. */
static void train_alone(struct alone *alone, const struct steps *steps, real *w)
{
    int64_t n = all.part[WEFT_TRAIN].n, order[64];
    real *g = WEFT_NEW(mem, real, alone->n), *from = WEFT_NEW(mem, real, alone->n);
    double *v = WEFT_NEW(mem, double, alone->n);
    weft_score ignored = {0};
    memcpy(from, w, (size_t)alone->n * sizeof *w);
    for (int e = 0; e < steps->epochs; e++) {
        weft_rng_row key = {SEED, WEFT_RNG_BATCH, 0, 0, (uint64_t)e << 40};
        for (int64_t i = 0; i < n; i++) order[i] = i;
        weft_shuffle_first(n, n, &key, order);
        for (int64_t i = 0; i < n; i += steps->batch) {
            int m = (int)(n - i < steps->batch ? n - i : steps->batch);
            weft_batch b = batch(alone, WEFT_TRAIN, m, order + i);
            net->grad(alone->self, alone->work, w, &b, 0, 0, g, &ignored);
            double square = 0;
            for (int64_t j = 0; j < alone->n; j++) {
                g[j] = (real)((double)g[j] + steps->mu * (double)(w[j] - from[j]));
                square += (double)g[j] * (double)g[j];
            }
            double scale =
                steps->clip > 0 ? fmin(1, steps->clip / (sqrt(square) + 1e-6)) : 1;
            for (int64_t j = 0; j < alone->n; j++) {
                v[j] = steps->momentum * v[j] + scale * (double)g[j] +
                       steps->decay * (double)w[j];
                w[j] = (real)((double)w[j] - steps->lr * v[j]);
            }
            net->project(alone->self, w);
        }
    }
}

static void test_one_client(const char *channels, struct steps steps)
{
    const char *own = network_of(channels);
    struct toy toy = {.data = single};
    struct stand *stand =
        trained(&toy,
                printed("[fed]\nmodel = txtcnn\ndim = 8\ncohort = 1\n"
                        "[client]\nlr = %g\nmomentum = %g\n"
                        "weight_decay = %g\nmu = %g\nclip = %g\nbatch = %d\n"
                        "epochs = %d\n%s",
                        steps.lr, steps.momentum, steps.decay, steps.mu, steps.clip,
                        steps.batch, steps.epochs, own),
                1, 1);
    struct alone *alone = network(own);
    real *w = WEFT_NEW(mem, real, alone->n), *first = WEFT_NEW(mem, real, alone->n);
    net->init(alone->self, SEED, first);
    memcpy(w, first, (size_t)alone->n * sizeof *w);
    train_alone(alone, &steps, w);
    is_near(farthest(w, stand->state.x, alone->n), 0, 2e-6,
            "%s: one client's round is its training: momentum %g, decay %g, mu %g, clip %g",
            channels, steps.momentum, steps.decay, steps.mu, steps.clip);
    ok(farthest(w, first, alone->n) > 0.01, "which changes the weights");
}

/* ---- the server ---- */

/* The weights after a round. */
static const real *after_round(int cohort, const char *more)
{
    struct toy toy = {0};
    open_data(&toy.data, "words.h5", "clients=6 partition=dirichlet alpha=0.3", &world);
    struct stand *stand =
        trained(&toy,
                printed("[fed]\nmodel = txtcnn\ndim = 8\ncohort = %d\n[client]\nlr = 0.02\n"
                        "batch = 64\nmax_change = 1e3\n%s%s",
                        cohort, network_of("nonstatic"), more),
                1, 1);
    weft_data_close(&toy.data);
    return stand->state.x;
}

static void test_server(void)
{
    struct alone *alone = network(network_of("nonstatic"));
    real *w = WEFT_NEW(mem, real, alone->n);
    const real *x = after_round(6, "[server]\nlr = 20000\n");
    memcpy(w, x, (size_t)alone->n * sizeof *w);
    net->project(alone->self, w);
    is_near(farthest(w, x, alone->n), 0, 1e-6, "a step of the server keeps to max_norm");
    x = after_round(1, "[attack]\nkind = noise\nshare = 1\n");
    net->init(alone->self, SEED, w);
    int64_t still = 0;
    for (int64_t i = 0; i < alone->n; i++) still += !(fabs((double)(w[i] - x[i])) > 0);
    is_near((double)still, 0, 2, "an attacker's noise moves the vectors of all words");
}

/* ---- the same bits ---- */

static void test_same_bits(const char *channels)
{
    struct toy toy = {.data = words};
    const struct stand *stand = trained(
        &toy,
        printed("[fed]\nmodel = txtcnn\ntokenizer = kim\ndim = 8\n"
                "cohort = 6\n[client]\nlr = 0.2\nmomentum = 0.5\nbatch = 3\nepochs = 2\n"
                "dropout = 0.2\n[txtcnn]\nchannels = %s\ngroups = 2\n"
                "f1 = 16\nf2 = 16\nhidden = 7\ndrop_input = 0.1\n",
                channels),
        1, 8);
    digest(weft_state_hash(&stand->state));
    ok(in_row(fed, stand->row[7], "train_loss") < in_row(fed, stand->row[0], "train_loss"),
       "%s: the loss falls", channels);
}

/* Each time opened anew: a task changes the words of its data. */
static void test_channels(const char *channels)
{
    const char *dealt = "clients=6 partition=dirichlet alpha=0.3";
    open_data(&words, "words.h5", dealt, &world);
    test_round(channels);
    weft_data_close(&words);
    open_data(&words, "words.h5", dealt, &world);
    test_same_bits(channels);
    weft_data_close(&words);
}

static void test_alone(const char *channels, struct steps steps)
{
    open_data(&single, "single.h5", "clients=1", &world);
    test_one_client(channels, steps);
    weft_data_close(&single);
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    self = weft_team_alone();
    open_data(&all, "all.h5", "", &self);
    must(weft_data_tokens(&all, WEFT_TOK_SPLIT));
    static const char *const channels[] = {"static", "nonstatic", "multi"};
    open_data(&words, "words.h5", "clients=6 partition=dirichlet alpha=0.3", &world);
    test_owners();
    test_match();
    weft_data_close(&words);
    for (int i = 0; i < 3; i++) {
        test_channels(channels[i]);
        test_alone(channels[i], (struct steps){.lr = 0.2, .batch = 7, .epochs = 2});
    }
    test_alone("nonstatic", (struct steps){0.1, 0.9, 0, 0.1, 0.4, 16, 2});
    test_alone("multi", (struct steps){0.1, 0.5, 0.02, 0, 0, 16, 2});
    test_server();
    return tap_end();
}
