/* How task sgd divides its samples: training, development and held-out parts, and weights
 * of classes; the scores of sums over samples. RUN: np=1 */
#include "tap.h"
#include "task/sgd/sgd.h"

enum {
    TRAIN = 60,
    VALID = 17,
    TEST = 9,
    BOTH = TRAIN + VALID,
    ALL = BOTH + TEST,
    CLASSES = 3
};

static const char *const names[CLASSES] = {"many", "some", "few"};
static int32_t label[ALL];
static weft_space space;
static weft_data data = {.class_name = names, .classes = CLASSES};

static sgd_task task_of(int64_t folds, int64_t fold, double dev, uint64_t seed)
{
    return (sgd_task){.source = &sgd_pooled,
                      .opts = {.folds = folds, .fold = fold, .dev = dev},
                      .shape = {.form = WEFT_REALS, .classes = CLASSES},
                      .env = {.data = &data, .space = &space, .seed = seed, .mem = mem},
                      .pool = {.label = label},
                      .first = {0, TRAIN, BOTH, ALL}};
}

static sgd_task divided(int64_t folds, int64_t fold, double dev, int literal, uint64_t seed)
{
    sgd_task task = task_of(folds, fold, dev, seed);
    task.opts.literal = literal;
    must(sgd_divide(&task));
    return task;
}

static void mark(const sgd_rows *rows, int times[ALL])
{
    for (int64_t i = 0; i < rows->n; i++) times[rows->row[i]]++;
}

/* 1: each of the first n rows is marked so often, and no other one. */
static int are_marked(int n, int often, const int times[ALL])
{
    int good = 1;
    for (int i = 0; i < ALL; i++) good &= times[i] == (i < n ? often : 0);
    return good;
}

static int are_same(const sgd_rows *a, const sgd_rows *b)
{
    return a->n == b->n && memcmp(a->row, b->row, (size_t)a->n * sizeof *a->row) == 0;
}

static void test_folds(void)
{
    enum { FOLDS = 5 };
    sgd_task task = divided(FOLDS, -1, 0, 0, 1), other = divided(FOLDS, -1, 0, 0, 2);
    int held[ALL] = {0}, parts = 1, sizes = 1, alone = 1;
    for (int f = 0; f < FOLDS; f++) {
        const sgd_fold *fold = &task.at[f];
        int once[ALL] = {0};
        mark(&fold->train, once);
        mark(&fold->dev, once);
        mark(&fold->held, once);
        mark(&fold->held, held);
        parts &= are_marked(BOTH, 1, once);
        sizes &= fold->held.n == (f < BOTH % FOLDS ? 16 : 15) && fold->dev.n == 6;
        sgd_task one = divided(FOLDS, f, 0, 0, 1);
        alone &= one.nfold == 1 && are_same(&one.at[0].train, &fold->train) &&
                 are_same(&one.at[0].dev, &fold->dev) &&
                 are_same(&one.at[0].held, &fold->held);
    }
    ok(task.nfold == FOLDS && parts, "training, development and held-out part are all rows "
                                     "but the test part's, each once");
    ok(are_marked(BOTH, 1, held), "every row is held out by one fold");
    ok(sizes, "folds are equally large, and a tenth of the rest is for development");
    ok(alone, "a fold by itself has the same parts");
    ok(!are_same(&task.at[0].held, &other.at[0].held), "the seed decides the folds");
    task = divided(FOLDS, -1, .3, 0, 1);
    ok(task.at[0].dev.n == 18, "sgd.dev is a share of what is not held out");
    task = divided(FOLDS, -1, 0, 1, 1);
    int once[ALL] = {0};
    mark(&task.at[1].train, once);
    mark(&task.at[1].held, once);
    ok(are_same(&task.at[1].dev, &task.at[1].held) && are_marked(BOTH, 1, once),
       "literal: the held-out part is the development part");
}

static void test_no_folds(void)
{
    sgd_task task = divided(0, -1, 0, 0, 1);
    int once[ALL] = {0}, shared[ALL] = {0}, good = 1;
    mark(&task.at[0].train, once);
    good &= are_marked(TRAIN, 1, once);
    mark(&task.at[0].dev, once);
    ok(task.nfold == 1 && good && are_marked(BOTH, 1, once) && task.at[0].held.n == 0,
       "without folds the parts are those of the data");
    task = divided(0, -1, .25, 0, 1);
    mark(&task.at[0].train, shared);
    mark(&task.at[0].dev, shared);
    ok(are_marked(TRAIN, 1, shared) && task.at[0].dev.n == 15,
       "a development part of the training part is disjoint from the rest of it");
    task = divided(0, -1, .001, 0, 1);
    ok(task.at[0].dev.n == 1 && task.at[0].train.n == TRAIN - 1,
       "a small share is of one row");
}

/* Groups of 1 to 9 rows, of which the test part has none. */
static int32_t group[BOTH];

/* 1: no group is in two of the parts of a fold, and rows are in one each. */
static int are_whole(const sgd_fold *fold)
{
    const sgd_rows *part[] = {&fold->train, &fold->dev, &fold->held};
    int of[BOTH] = {0}, good = 1;
    for (int p = 0; p < 3; p++)
        for (int64_t i = 0; i < part[p]->n; i++) {
            int *mine = &of[group[part[p]->row[i]]];
            good &= *mine == 0 || *mine == p + 1;
            *mine = p + 1;
        }
    return good;
}

static void test_groups(void)
{
    enum { FOLDS = 5, LARGEST = 9 };
    int n = 0, held[ALL] = {0}, good = 1, even = 1;
    for (int i = 0; i < BOTH; n++)
        for (int k = 0; k <= n % LARGEST && i < BOTH; k++) group[i++ * 10 % BOTH] = n;
    sgd_task task = task_of(FOLDS, -1, 0, 1);
    task.opened = 1;
    task.own.part[WEFT_TRAIN] = (weft_rows){.n = TRAIN, .group = group};
    task.own.part[WEFT_VALID] = (weft_rows){.n = VALID, .group = group + TRAIN};
    sgd_task other = task, few = task;
    must(sgd_divide(&task));
    for (int f = 0; f < FOLDS; f++) {
        const sgd_fold *fold = &task.at[f];
        good &= are_whole(fold) && fold->train.n + fold->dev.n + fold->held.n == BOTH;
        even &= labs(fold->held.n - BOTH / FOLDS) <= 1 && labs(fold->dev.n - 6) <= 4;
        mark(&fold->held, held);
    }
    ok(good, "a group is in one part of a fold");
    ok(are_marked(BOTH, 1, held), "it is held out by one fold");
    ok(even, "folds of groups have about as many rows, parts for development a tenth");
    other.opts.folds = 0;
    other.opts.dev = 0.25;
    must(sgd_divide(&other));
    ok(are_whole(other.at) && other.at->dev.n + other.at->train.n == TRAIN &&
           labs(other.at->dev.n - TRAIN / 4) <= 4,
       "without folds, too, a part for development has whole groups");
    other.opts.dev = 0.001;
    must(sgd_divide(&other));
    ok(other.at->dev.n == 1, "a small share is of the smallest group");
    few.opts.folds = n + 1;
    ok(sgd_divide(&few) == WEFT_ECONF && says("one a group"),
       "more folds than groups are refused: %s", weft_error());
}

static void test_weights(void)
{
    sgd_task task = task_of(4, -1, 0, 1);
    task.train.balance = 1;
    must(sgd_divide(&task));
    double off = 0;
    for (int f = 0; f < 4; f++) {
        const sgd_fold *fold = &task.at[f];
        double n[CLASSES] = {0}, sum = 0;
        for (int64_t i = 0; i < fold->train.n; i++) n[label[fold->train.row[i]]]++;
        for (int c = 0; c < CLASSES; c++) {
            off =
                fmax(off, fabs(fold->weight[c] - (double)fold->train.n / (CLASSES * n[c])));
            sum += n[c] * fold->weight[c];
        }
        off = fmax(off, fabs(sum / (double)fold->train.n - 1));
    }
    ok(off < 1e-12, "a class has weight n / (classes n_c) in each fold's training part");
    ok(task.at[0].weight[2] > 2 * task.at[0].weight[0],
       "a rare one more than a common one");
}

/* A class of one sample, which one of five folds holds out. */
static void test_missing(void)
{
    static const weft_opt option = {.name = "balance", .type = WEFT_BOOL, .def = "no"};
    weft_axis axis = {
        .section = "train", .opt = &option, .nvalue = 2, .value = (double[]){0, 1}};
    int32_t saved[ALL];
    memcpy(saved, label, sizeof label);
    for (int i = 0; i < ALL; i++) label[i] = i == 3 ? 2 : i % 2;
    for (int way = 0; way < 3; way++) {
        sgd_task task = task_of(5, -1, 0, 1);
        task.train.balance = way == 1;
        space = (weft_space){.dim = way == 2, .axis = &axis};
        weft_status st = sgd_divide(&task);
        if (way == 0)
            ok(st == WEFT_OK, "a class that a fold does not train on needs no weight");
        else
            ok(st == WEFT_EDATA && says("'few'") && says("sgd.folds"),
               "refused with weights of classes%s: %s", way == 2 ? " as an axis" : "",
               weft_error());
    }
    space = (weft_space){.dim = 0};
    memcpy(label, saved, sizeof label);
}

/* ---- scores ---- */

static void test_scores(void)
{
    static const struct {
        double wrong, count, log;
    } hand[] = {{50, 100, -0.693147}, {1848, 10000, -1.688481}, {0, 1000, -7.600902}};
    for (int i = 0; i < 3; i++) {
        sgd_sums sums = {.loss = 3, .wrong = hand[i].wrong, .count = hand[i].count};
        sgd_task task = {.opts.score = WEFT_BY_LOG_ERROR};
        is_near(sgd_sums_score(&task, &sums), hand[i].log, 1e-6, "ln of %g errors in %g",
                sums.wrong, sums.count);
        task.opts.score = WEFT_BY_ACCURACY;
        is_near(sgd_sums_score(&task, &sums), sums.wrong / sums.count, 0,
                "the error rate is %g", sums.wrong / sums.count);
        task.opts.score = WEFT_BY_LOSS;
        is_near(sgd_sums_score(&task, &sums), 3 / sums.count, 0, "and the mean loss %g",
                3 / sums.count);
        for (task.opts.score = 0; task.opts.score <= WEFT_BY_LOG_ERROR; task.opts.score++) {
            sums.loss = task.opts.score == 1 ? (double)NAN : INFINITY;
            ok(isinf(sgd_sums_score(&task, &sums)) && sgd_sums_score(&task, &sums) > 0,
               "score %d is INFINITY where the loss is not finite", task.opts.score);
        }
    }
}

int main(void)
{
    tap_begin();
    for (int i = 0; i < ALL; i++) label[i] = i % 7 == 0 ? 2 : i % 3 == 0;
    return TESTS(test_folds, test_no_folds, test_groups, test_weights, test_missing,
                 test_scores);
}
