/* Task fmap fitted to some of the training rows (`resource = rows`): those of more rows
 * have the fewer among them, and a fit is that of a file of just these rows. RUN: np=1 np=2
 * np=3 */
#include "measured.h"
#include "results.h"
#include "scratch.h"

enum { ROWS = 150, VALID = 40, CLASSES = 3, SEED = 11 };

static const weft_task *const task = &weft_task_fmap;

/* ---- rows ---- */

static int class_of(int i)
{
    return i % 10 < 6 ? 0 : i % 10 < 9 ? 1 : 2;
}

/* Row i of a table, or a document, which tells its class from others most of the time. */
static const char *line_of(int i, int document)
{
    static const char *const word[CLASSES] = {"red", "green", "blue"};
    int k = class_of(i);
    weft_rng4 rng = weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)i, 0, 0);
    double z[4];
    weft_rng_normal(&rng, z);
    int other = (int)(rng.v[3] % CLASSES);
    if (document)
        return printed("%c\t%s %s w%d w%d\n", 'a' + k, word[k], word[other],
                       (int)(rng.v[0] % 20), (int)(rng.v[1] % 20));
    return printed("%.4f,%.4f,%.4f,%c\n", z[0] + k, z[1] - k, 10 * z[2], 'a' + k);
}

static const char *file_of(const char *name, int document, int n, int first)
{
    char *text = printed("%s", document ? "" : "u,v,w,k\n");
    for (int i = 0; i < n; i++) text = printed("%s%s", text, line_of(first + i, document));
    return write_text(name, text);
}

/* ---- the order ---- */

static void test_order(void)
{
    int32_t label[ROWS];
    for (int i = 0; i < ROWS; i++) label[i] = class_of(i);
    const int64_t *all = weft_folds_order(ROWS, label, SEED, mem),
                  *other = weft_folds_order(ROWS, label, SEED + 1, mem);
    int seen[ROWS] = {0}, count[CLASSES] = {0}, twice = 0, differ = 0;
    double most = 0;
    static const double share[CLASSES] = {0.6, 0.3, 0.1};
    for (int i = 0; i < ROWS; i++) {
        twice += seen[all[i]]++;
        differ += all[i] != other[i];
        count[class_of((int)all[i])]++;
        for (int k = 0; k < CLASSES; k++)
            most = worse(most, fabs(count[k] - share[k] * (i + 1)));
    }
    ok(twice == 0, "each row has one place in the order");
    ok(most <= 1, "every beginning has each class in its share within a row (%g)", most);
    ok(differ > ROWS / 2, "the order is another one for another seed");
}

/* ---- fits ---- */

struct stand {
    weft_data data;
    void *self;
    weft_conf conf;
    weft_space space;
    weft_job job;
    weft_result res;
    weft_state state;
};

static const char tables[] = "[fmap]\nfeature = rff\nmodel = ridge\nscore = loss\n"
                             "[rff]\nfeatures = 20\ngamma = 0.2\npreprocess = standard\n"
                             "[ridge]\ntol = 1e-10\n";
static const char texts[] = "[fmap]\nfeature = ngram\nmodel = logistic\nscore = loss\n"
                            "[ngram]\nbins = 512\norder = 2\n[logistic]\nC = 3\n";

static void open_rows(int document, weft_team *team, weft_data *data)
{
    must(weft_data_open(data, at(document ? "texts.h5" : "table.h5"), team, mem));
    for (int tok = 0; tok < WEFT_NTOK && document; tok++)
        must(weft_data_tokens(data, (weft_tokenizer)tok));
}

/* Leaves data the first n training rows of the order that the task has, in that of the
 * file. */
static void leave(weft_data *data, int document, int64_t n)
{
    weft_team alone = weft_team_alone();
    weft_data *all = WEFT_NEW(mem, weft_data, 1);
    open_rows(document, &alone, all);
    const weft_rows *from = &all->part[WEFT_TRAIN];
    weft_rows *to = &data->part[WEFT_TRAIN];
    const int64_t *order = weft_folds_order(ROWS, from->label, SEED, mem);
    char in[ROWS] = {0};
    int64_t d = from->d, count = 0;
    for (int64_t i = 0; i < n; i++) in[order[i]] = 1;
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    float *value = WEFT_NEW(mem, float, n *d);
    int64_t *offset[WEFT_NTOK], *end[WEFT_NTOK];
    for (int tok = 0; tok < WEFT_NTOK; tok++) {
        offset[tok] = WEFT_NEW(mem, int64_t, n);
        end[tok] = WEFT_NEW(mem, int64_t, n);
    }
    for (int64_t i = 0; i < ROWS; i++) {
        if (!in[i]) continue;
        label[count] = from->label[i];
        for (int64_t j = 0; j < d && !document; j++)
            value[count * d + j] = from->value[i * d + j];
        for (int tok = 0; tok < WEFT_NTOK && document; tok++) {
            offset[tok][count] = from->offset[tok][i];
            end[tok][count] = from->end[tok][i];
        }
        count++;
    }
    to->total = n;
    weft_deal(n, world.rank, world.size, &to->first, &to->n);
    to->label = label + to->first;
    if (!document) to->value = value + to->first * d;
    for (int tok = 0; tok < WEFT_NTOK && document; tok++) {
        to->offset[tok] = offset[tok] + to->first;
        to->end[tok] = end[tok] + to->first;
        to->token[tok] = from->token[tok];
    }
}

static void pack_rows(int document)
{
    const weft_reader *reader;
    const char *valid = file_of("valid", document, VALID, ROWS),
               *train = file_of("train", document, ROWS, 0);
    const char *packing =
        printed("valid_file=%s test_file=%s%s", valid, valid, document ? "" : " label=k");
    must(weft_reader_find(document ? "text" : "dense", &reader));
    must(pack(reader, train, document ? "texts.h5" : "table.h5", packing));
}

/* The task on n of the training rows. */
static struct stand *stand_up(int document, int64_t n, const char *options)
{
    struct stand *stand = WEFT_NEW(mem, struct stand, 1);
    open_rows(document, &world, &stand->data);
    if (n < ROWS) leave(&stand->data, document, n);
    stand->self = weft_arena_alloc(mem, 1, task->kind.size);
    must(read_input(&stand->conf, document ? texts : tables, options));
    must(open_task(task, stand->self, &stand->conf, &stand->space,
                   (weft_env){.team = &world,
                              .data = &stand->data,
                              .seed = SEED,
                              .memory = 1e9,
                              .balanced = strstr(options, "fmap.folds") == NULL,
                              .mem = mem}));
    weft_mix mix = first_configs(&stand->space, 1);
    stand->job = weft_job_new(0, 1, &mix);
    stand->res = result_of(task, 1);
    stand->state = weft_state_new(task, stand->self, &stand->job, mem);
    return stand;
}

static void go_on(struct stand *stand, double resource)
{
    stand->job.resource = resource;
    weft_result_begin(&stand->res, &stand->job);
    must(task->step(stand->self, &stand->job, 0, &stand->state, NULL, &stand->res));
    stand->job.index++;
}

/* Hash of the weights and statistics. */
static uint64_t fit_of(const struct stand *stand)
{
    return weft_hash(stand->state.x, (size_t)stand->state.nx * sizeof(real), 0);
}

#define SOME "fmap.resource=rows"

static void test_sample(int document)
{
    const char *what = document ? "documents" : "rows";
    pack_rows(document);
    struct stand *some = stand_up(document, ROWS, SOME);
    go_on(some, 40);
    uint64_t first = fit_of(some);
    double loss = some->res.loss;
    is_near(some->res.arm_count[0], VALID, 0, "all %s for validation are scored", what);
    is_near(some->res.cost, 40, 0, "a fit of 40 %s costs 40", what);
    struct stand *just = stand_up(document, 40, "");
    go_on(just, 1);
    ok(fit_of(just) == first, "a fit of 40 %s has the bits of one where no others are",
       what);
    is_near(just->res.loss, loss, 0, "so has its loss");
    some->state = weft_state_new(task, some->self, &some->job, mem);
    go_on(some, 40);
    ok(fit_of(some) == first, "another trial of 40 %s has the same", what);
    go_on(some, 50);
    is_near(some->res.cost, 90, 0, "a trial that goes on fits those that it had, too");
    just = stand_up(document, 90, "");
    go_on(just, 1);
    ok(fit_of(just) == fit_of(some), "50 more %s give the fit of 90", what);
    go_on(some, 1000);
    just = stand_up(document, ROWS, "");
    go_on(just, 1);
    ok(fit_of(just) == fit_of(some), "more %s than there are give the fit of all", what);
    go_on(some, 0);
    ok(fit_of(just) == fit_of(some), "a job that only scores leaves it");
    is_near(some->res.loss, just->res.loss, 0, "and scores it with all %s", what);
    digest(first);
}

/* Each fold has so many of the rows that it does not hold out. */
static void test_folds(void)
{
    struct stand *some = stand_up(0, ROWS, SOME " fmap.folds=3"),
                 *whole = stand_up(0, ROWS, "fmap.folds=3");
    go_on(whole, 1);
    go_on(some, 60);
    is_near(some->res.arm_count[0], ROWS + VALID, 0, "folds score what each holds out");
    ok(fit_of(some) != fit_of(whole), "with 60 rows of each");
    digest(fit_of(some));
    struct stand *half = stand_up(0, ROWS, SOME " fmap.folds=3");
    go_on(half, 59.5);
    ok(fit_of(half) == fit_of(some), "as 59.5 rows are");
    go_on(some, ROWS);
    ok(fit_of(some) == fit_of(whole), "or, if more are asked for, with all of each");
}

static void test_most(void)
{
    const weft_opt *opt = task->kind.opts;
    for (; strcmp(opt->name, "resource") != 0;) opt++;
    struct stand *stand = stand_up(0, ROWS, "");
    is_near((double)task->plan.most(stand->self, at("table.h5")), 0, 0,
            "fits have no bound");
    weft_opt_set(opt, stand->self, 2);
    is_near((double)task->plan.most(stand->self, at("table.h5")), ROWS, 0,
            "rows have: those of the training part");
    is_near((double)task->plan.most(stand->self, at("nothing.h5")), 0, 0,
            "or none that is known without a file");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_order();
    test_sample(0);
    test_sample(1);
    return TESTS(test_folds, test_most);
}
