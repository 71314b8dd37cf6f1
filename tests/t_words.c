/* A network over words scores documents of other files: a word keeps its weights under any
 * number, one that the winner does not have begins as in training, and the scores of a
 * document depend neither on the other documents nor on the order.
 * RUN: np=1 np=2 np=3 */
#include "run/run.h"
#include "scratch.h"

enum { KNOWN = 24, DOCUMENTS = 12, OLD = 3, FRESH = 2 };

/* ---- files ---- */

/* Lines of documents of the words STEM0, STEM1, ...; `first` rotates the classes. */
static const char *lines(const char *stem, int n, int length, int seed, int first)
{
    static const char *const label[] = {"bad", "fine", "good"};
    const char *text = "";
    for (int i = 0; i < n; i++) {
        text = printed("%s%s\t", text, label[(i + first) % 3]);
        for (int k = 0; k < length + i % 3; k++)
            text =
                printed("%s %s%d", text, stem, (seed * 31 + i * 7 + k * (k + i)) % KNOWN);
        text = printed("%s\n", text);
    }
    return text;
}

/* The same lines, the last one first. */
static const char *reversed(const char *text)
{
    const char *all = "";
    char *rest, *copy = printed("%s", text);
    for (char *l = strtok_r(copy, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
        all = printed("%s\n%s", l, all);
    return all;
}

static void make(const char *name, int clients, const char *train, const char *valid,
                 const char *test)
{
    const char *path = write_text(printed("%s.txt", name), train);
    const char *own[] = {write_text(printed("%s.valid", name), valid),
                         write_text(printed("%s.test", name), test)};
    must(pack(&weft_reader_text, path, printed("%s.h5", name),
              printed("clients=%d valid_file=%s test_file=%s", clients, own[0], own[1])));
}

/* `own` is what the winner is trained on; `more` has words besides. `long` and `short` have
 * the same test documents and otherwise other ones, longer or fewer than a training could
 * do with; `back` has those of `own` in another order. */
static void make_files(void)
{
    const char *valid = lines("old", DOCUMENTS, 5, 2, 0);
    const char *test = lines("old", DOCUMENTS, 6, 3, 1);
    const char *odd = printed("%sgood\told1 fresh0 old2\nbad\tfresh1\n", test);
    const char *train = lines("old", DOCUMENTS, 7, 1, 0);
    make("own", 3, train, valid, test);
    make("more", 3, train, valid, odd);
    make("long", 4, lines("strange", DOCUMENTS, 14, 4, 2), lines("other", 6, 5, 5, 0),
         test);
    make("back", 3, train, valid, reversed(test));
    make("short", 2, lines("old", 3, 1, 6, 1), lines("old", 3, 1, 7, 0), odd);
}

/* ---- runs ---- */

typedef struct open_run {
    weft_run r;
    weft_conf conf;
    weft_job job;
    weft_mix mix;
} open_run;

/* The data opened as `weft eval` does it; like NULL: as a new run does. */
static open_run *opened(const char *config, const char *name, const weft_likeness *like)
{
    open_run *o = WEFT_NEW(mem, open_run, 1);
    const char *data = at(printed("%s.h5", name));
    const char *text = printed("[run]\ndata = %s\nseed = 5\n%s", data, config);
    weft_conf_init(&o->conf, mem);
    weft_status st = weft_conf_text(&o->conf, "test", text);
    if (st == WEFT_OK) st = weft_run_bind(&o->r, &o->conf, 0, &world, mem);
    o->r.on.like = like;
    o->r.on.like_of = "own.h5";
    if (st == WEFT_OK) st = weft_run_open(&o->r, data);
    must(st);
    o->mix = weft_mix_new(1, 0, mem);
    o->job = weft_job_new(0, 0, &o->mix);
    return o;
}

static weft_scores scores_of(open_run *o, real *x, weft_part part)
{
    weft_state state = {.x = x};
    weft_scores s;
    must(o->r.task->winner.score(o->r.task_self, &o->job, &state, part, &s));
    return s;
}

/* Adds a random number to weight i of a key. */
static void move(real *x, uint64_t key, int64_t i)
{
    x[i] += (real)(0.4 * (uniform_of(7, key, i) - 0.5));
}

/* As if trained: all weights are moved, of words those of `of` only, alike in each file. */
static real *trained(open_run *o, const weft_vocab *of, weft_word_weights *u)
{
    weft_state s = weft_state_new(o->r.task, o->r.task_self, &o->job, mem);
    o->r.task->start(o->r.task_self, &o->job, &s);
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int64_t n = weft_tensors_size(
        weft_task_tensors(o->r.task, o->r.task_self, &o->job, tensor), tensor);
    real *x = s.x;
    *u = weft_word_weights_of(&o->r, &o->job);
    if (!u->vocab)
        for (int64_t i = 0; i < n; i++) move(x, 0, i);
    for (int e = 0; e < u->networks; e++) {
        for (int64_t i = 0; i < u->table.at; i++) move(x, (uint64_t)e, i);
        x += u->table.at + u->table.d;
        const int64_t *place = weft_vocab_places(u->vocab, of ? of : u->vocab, mem);
        for (int64_t k = 0; k < u->vocab->n; k++, x += u->table.d)
            for (int64_t j = 0; j < u->table.d && place[k] >= 0; j++)
                move(x, u->vocab->hash[k] + (uint64_t)e, j);
    }
    return s.x;
}

static weft_winner winner_of(open_run *o, const real *x, const weft_word_weights *u)
{
    weft_winner w = {.state = x, .like = weft_data_likeness(&o->r.data)};
    w.ntensor = weft_task_tensors(o->r.task, o->r.task_self, &o->job, w.tensor);
    if (u->vocab) w.vocab = *u->vocab;
    return w;
}

static uint64_t bits(const weft_scores *s)
{
    return weft_hash(s->metric, sizeof s->metric, (uint64_t)s->count);
}

/* Sums in the same order have the same bits; in another order, as where the documents
 * belong to other clients, losses are near. */
static int same(const weft_scores *a, const weft_scores *b, int ordered)
{
    if (ordered) return bits(a) == bits(b);
    return a->count == b->count && fabs(a->metric[0] - b->metric[0]) < 1e-14 &&
           !(fabs(a->metric[1] - b->metric[1]) > 0);
}

/* ---- tests ---- */

/* The scores of a winner by other data. */
static weft_scores told(open_run *o, const weft_winner *w, weft_unknown *unknown,
                        const char *what, const char *how)
{
    weft_state state;
    weft_scores s = {0};
    weft_status st = weft_winner_state(&o->r, w, "own.h5", &o->job, &state, unknown);
    if (ok(st == WEFT_OK, "%s: %s", what, how)) s = scores_of(o, state.x, WEFT_TEST);
    return s;
}

static void test_words(const char *what, const char *config)
{
    weft_word_weights u, v;
    weft_unknown unknown;
    open_run *own = opened(config, "own", NULL);
    real *x = trained(own, NULL, &u);
    weft_winner w = winner_of(own, x, &u);
    int ordered = !own->r.task->winner.mixes; /* no clients */
    weft_scores known = scores_of(own, x, WEFT_TEST);
    open_run *more = opened(config, "more", &w.like);
    real *y = trained(more, u.vocab, &v);
    weft_scores odd = scores_of(more, y, WEFT_TEST);
    digest(bits(&known) ^ bits(&odd));

    open_run *other = opened(config, "long", &w.like);
    weft_scores s = told(other, &w, &unknown, what, "a winner takes other documents");
    ok(s.count == DOCUMENTS && same(&s, &known, ordered),
       "%s: with the same scores of its own", what);
    if (u.vocab)
        ok(unknown.words > 0 && unknown.all_words > unknown.words &&
               unknown.tokens > unknown.words && unknown.all_tokens > unknown.tokens,
           "%s: strange words are counted", what);

    open_run *few = opened(config, "short", &w.like);
    s = told(few, &w, &unknown, what, "also short and few ones");
    ok(s.count == DOCUMENTS + 2 && same(&s, &odd, ordered),
       "%s: a word that is not known has the vector that training begins with", what);
    if (u.vocab)
        ok(unknown.words == FRESH && unknown.tokens == FRESH, "%s: two words are not known",
           what);
    ok(!same(&odd, &known, 0), "%s: documents differ", what);

    open_run *back = opened(config, "back", &w.like);
    s = told(back, &w, &unknown, what, "in another order");
    ok(same(&s, &known, 0), "%s: the loss is the same sum", what);
    open_run *all[] = {own, more, other, few, back};
    for (int i = 0; i < 5; i++) weft_run_close(&all[i]->r);
}

static void test_refusals(void)
{
    const char *config = "task = sgd\n[sgd]\nmodel = txtcnn\ndim = 6\n"
                         "[txtcnn]\nchannels = nonstatic\ngroups = 1\nf1 = 4\n";
    weft_word_weights u;
    weft_unknown unknown;
    weft_state state;
    open_run *own = opened(config, "own", NULL), *other = opened(config, "long", NULL);
    weft_winner w = winner_of(own, trained(own, NULL, &u), &u);
    w.vocab = (weft_vocab){0};
    fails(weft_winner_state(&other->r, &w, "run.h5", &other->job, &state, &unknown),
          WEFT_EDATA, "the winner of run.h5 has", "classes of the two data sets differ",
          "a winner that does not tell its words");
    weft_run_close(&own->r);
    weft_run_close(&other->r);
}

/* Words of a file that overlap, as no weft writes them, are refused when it is read. */
static void test_vocabulary(void)
{
    static const int64_t offset[][3] = {{0, 3, 6}, {0, 7, 6}, {1, 3, 6}};
    const real weight[2] = {1, 2};
    weft_winner w = {.config = "[run]\n",
                     .text = "",
                     .ntensor = 1,
                     .tensor = {{"w", 0, 1, {2}}},
                     .state = weight,
                     .vocab = {.n = 2, .text = "onetwo"},
                     .origin = {"", "", "", ""}};
    for (int i = 0; i < 3; i++) {
        const char *name = printed("words%d.h5", i);
        weft_h5 f;
        weft_winner back;
        w.vocab.offset = offset[i];
        weft_status st = WEFT_OK;
        if (world.rank == 0) {
            st = weft_h5_create(&f, at(name), mem);
            if (st == WEFT_OK) st = weft_winner_export(&w, "run.h5", &f);
            if (st == WEFT_OK) st = weft_h5_commit(&f);
            weft_h5_close(&f);
        }
        must(weft_agree(st, &world));
        st = weft_winner_read(&back, at(name), mem);
        if (i > 0) {
            fails(st, WEFT_EFILE, name, "not one after another", "a word beyond the text");
            continue;
        }
        ok(st == WEFT_OK && back.vocab.n == 2 &&
               back.vocab.hash[1] == weft_hash("two", 3, 0),
           "words of a winner are read back");
    }
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    make_files();
#define NETWORK "model = txtcnn\ndim = 6\n%s[txtcnn]\ngroups = 2\nf1 = 4\nf2 = 3\n%s"
    static const struct {
        const char *what, *task, *more, *net;
    } c[] = {
        {"sgd", "sgd", "", "channels = nonstatic\n"},
        {"sum of two vectors", "sgd", "tokenizer = kim\n", "channels = multi\n"},
        {"fixed vectors", "sgd", "", "channels = static\n"},
        {"three folds", "sgd", "folds = 3\n", "channels = nonstatic\n"},
        {"two channels", "sgd", "", "channels = multi\nk2 = 3\n"},
        {"learnt vectors", "sgd", "", "channels = nonstatic\n"},
        {"fed", "fed", "cohort = 3\n", "channels = nonstatic\n"},
        {"fed, two channels", "fed", "cohort = 3\n", "channels = multi\nk2 = 3\n"},
    };
    for (size_t i = 0; i < LEN(c); i++)
        test_words(c[i].what, printed("task = %s\n[%s]\n" NETWORK, c[i].task, c[i].task,
                                      c[i].more, c[i].net));
    return TESTS(test_refusals, test_vocabulary);
}
