/* The input file for a data set where none is given: rules, from what the rows are and how
 * many there are, to the task, its ranges and how it is validated. Each line that is not
 * obvious says why it is there. What the rules are from:
 * analysis/notes/tables.md. */
#include "run.h"
#include "weft/h5.h"
#include "weft/run.h"
#include "weft/translations.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    FEW = 300,       /* rows with ten folds, at most */
    SOME = 2000,     /* rows with five, at most */
    MANY = 5000,     /* rows with three; beyond, one validation part is enough */
    EXACT = 8000,    /* rows whose kernel is computed, at most */
    SHORT = 2000000, /* words of all training documents for which 2^22 bins are enough */
    COHORT = 10,     /* clients of a round, */
    EVALUATED = 500, /* of an evaluation, at most */
    SITES = 5,       /* the same, of rows */
};

struct plan {
    const weft_data *data;
    int64_t rows; /* of the train and valid parts */
    double words; /* of the training documents */
    int64_t most; /* folds that there can be */
    const char *text;
    weft_arena *mem;
};

/* ---- lines ---- */

static void section(struct plan *plan, const char *name)
{
    plan->text = weft_arena_text(plan->mem, "%s\n[%s]\n", plan->text, name);
}

/* "key = value" of the format, and the reason for it; why NULL: it needs none. */
WEFT_PRINTF(3, 4)
static void put(struct plan *plan, const char *why, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    plan->text = why ? weft_arena_text(plan->mem, "%s%-23s ; %s\n", plan->text, line, why)
                     : weft_arena_text(plan->mem, "%s%s\n", plan->text, line);
}

/* ---- what all plans have ---- */

static void begin(struct plan *plan, const char *task, const char *why)
{
    section(plan, "run");
    put(plan, NULL, "data = %s", plan->data->path);
    put(plan, why, "task = %s", task);
}

/* Configurations one after the other, from known ones on. */
static void search(struct plan *plan, int configs, const char *first)
{
    put(plan, "the winner is trained once more, on train and valid rows", "refit = yes");
    put(plan, "every configuration is trained in full", "tuner = random");
    put(plan, "Parzen estimators propose, after a few configurations", "sampler = tpe");
    put(plan, "each proposal knows all results before it", "workers = 1");
    section(plan, "space");
    put(plan, NULL, "configs = %d", configs);
    put(plan, "these have served on other data", "first = %s", first);
}

/* Folds of rows, or groups of rows, where these are few, for a validation part of few rows
 * tells configurations apart by chance. */
static void fold(struct plan *plan)
{
    int64_t folds = plan->rows <= FEW ? 10 : plan->rows <= SOME ? 5 : 3;
    if (folds > plan->most) folds = plan->most;
    if (plan->rows <= MANY && folds > 1)
        put(plan,
            weft_arena_text(
                plan->mem, "%lld rows: each is scored by a model that %s not fitted to",
                (long long)plan->rows, plan->data->groups > 0 ? "its group is" : "it is"),
            "folds = %lld", (long long)folds);
    else
        put(plan,
            weft_arena_text(plan->mem, "the valid part of %lld rows is enough",
                            (long long)plan->data->part[WEFT_VALID].total),
            "folds = 0");
}

/* ---- tables ---- */

/* Known configurations: the width of the kernel by the number of columns, as distances of
 * standardised rows grow with it. */
static const char *known_maps(const struct plan *plan, const char *strength,
                              const double *value)
{
    static const struct {
        const char *kernel;
        double width;
    } map[] = {{"laplacian", 1}, {"laplacian", 0.3}, {"gaussian", 1}, {"gaussian", 0.1}};
    const char *text = "";
    double d = (double)plan->data->part[WEFT_TRAIN].d;
    for (int i = 0; i < (int)(sizeof map / sizeof *map); i++)
        text = weft_arena_text(plan->mem, "%s%skernel=%s gamma=%.2g %s=%g", text,
                               i ? ", " : "", map[i].kernel, map[i].width / d, strength,
                               value[i]);
    return text;
}

static void table(struct plan *plan)
{
    int numbers = plan->data->target_scale != NULL, exact = plan->rows <= EXACT;
    double d = (double)plan->data->part[WEFT_TRAIN].d;
    begin(plan, "fmap", "a kernel machine, whose boundaries are curved");
    if (numbers)
        search(plan, 32, known_maps(plan, "alpha", (double[]){0.1, 0.1, 0.1, 0.1}));
    else
        search(plan, 32, known_maps(plan, "C", (double[]){100, 100, 100, 100}));
    section(plan, "fmap");
    put(plan, NULL, "feature = %s", exact ? "nystrom" : "rff");
    put(plan, numbers ? "squared errors" : "its answers are probabilities", "model = %s",
        numbers ? "ridge" : "logistic");
    put(plan, "it tells configurations apart where errors are equal", "score = loss");
    fold(plan);
    if (exact) {
        section(plan, "nystrom");
        put(plan, "all rows: the kernel is exact", "landmarks = %lld",
            (long long)plan->rows);
        put(plan, "a linear part beside the kernel", "linear = yes");
    } else {
        section(plan, "rff");
        put(plan, "columns to mean 0 and deviation 1", "preprocess = standard");
        put(plan, "more come nearer to the kernel", "features = 4000");
    }
    put(plan, "laplacian: boundaries along columns, as of trees",
        "kernel = laplacian | gaussian");
    put(plan, weft_arena_text(plan->mem, "0.03 to 3 by %g columns", d),
        "gamma = log %.2g .. %.2g", 0.03 / d, 3 / d);
    section(plan, numbers ? "ridge" : "logistic");
    if (numbers)
        put(plan, "penalty", "alpha = log 1e-3 .. 10");
    else
        put(plan, "weight of the losses against the penalty", "C = log 1 .. 1000");
}

/* ---- images, texts ---- */

static void images(struct plan *plan)
{
    begin(plan, "fmap", "a linear model of random features of the pixels");
    put(plan, "weight-sharing: all maps for the time of a few", "tuner = ws_sha");
    section(plan, "space");
    put(plan, NULL, "configs = 64");
    section(plan, "fmap");
    put(plan, NULL, "feature = rff");
    put(plan, NULL, "model = ridge");
    section(plan, "rff");
    put(plan, NULL, "features = 10000");
    put(plan, NULL, "kernel = gaussian | laplacian");
    put(plan, "of pixels in 0 .. 1, or prepared", "gamma = log 1e-5 .. 10");
    put(plan, NULL, "preprocess = none | minmax | l2 | standard");
}

static void texts(struct plan *plan)
{
    int large = plan->words > SHORT;
    begin(plan, "fmap", "a linear model of bags of n-grams");
    search(plan, 32,
           "tokenizer=split order=3 binary=yes weights=nb alpha=3 normalize=l2 C=300, "
           "tokenizer=split order=3 binary=yes weights=nb alpha=1 normalize=l2 C=30, "
           "tokenizer=split order=2 binary=yes weights=tfidf normalize=l2 C=30, "
           "tokenizer=remove order=2 binary=yes weights=nb alpha=1 normalize=l2 C=30, "
           "tokenizer=remove order=2 binary=yes weights=nb alpha=1 normalize=none C=1");
    section(plan, "fmap");
    put(plan, NULL, "feature = ngram");
    put(plan, "its answers are probabilities", "model = logistic");
    put(plan, NULL, "validation = full");
    put(plan, "ties are decided by the loss", "score = accuracy");
    section(plan, "ngram");
    put(plan, weft_arena_text(plan->mem, "%.3g words for training", plan->words),
        "bins = 2^%d", large ? 24 : 22);
    put(plan, NULL, "tokenizer = remove | split | treebank");
    put(plan, "n-grams of 1 to this many words", "order = 1 .. 3");
    put(plan, NULL, "binary = no | yes");
    put(plan, "naive-Bayes log-count ratios, or inverse frequencies",
        "weights = nb | tfidf");
    put(plan, NULL, "alpha = log 0.01 .. 10 when weights = nb");
    put(plan, "documents: as they are, or to length one", "normalize = none | l2");
    section(plan, "logistic");
    put(plan, "weight of the losses against the penalty", "C = log 0.01 .. 1e4");
}

/* ---- sentences in several languages ---- */

static void languages(struct plan *plan)
{
    const weft_translations *of = plan->data->translations;
    begin(plan, "sgd", "one network for all languages and directions");
    put(plan, "trials go on as long as they are good", "tuner = asha");
    section(plan, "space");
    put(plan, NULL, "configs = 8");
    section(plan, "asha");
    put(plan, "epochs", "max_resource = 9");
    section(plan, "sgd");
    put(plan, NULL, "model = seq2seq");
    put(plan, NULL, "score = loss");
    section(plan, "seq2seq");
    put(plan, NULL, "smoothing = 0.1");
    put(plan, "translations that are kept of a sentence", "beam = 4");
    put(plan, NULL, "penalty = 0.6");
    section(plan, "context");
    put(plan, "weights are made from embeddings of the languages", "form = generated");
    put(plan, weft_arena_text(plan->mem, "%d languages", of->n), "size = %d",
        of->n < 8 ? of->n : 8);
    section(plan, "train");
    put(plan, NULL, "optimizer = adam");
    put(plan, NULL, "lr = log 5e-4 .. 5e-3");
    put(plan, NULL, "batch = 64");
    put(plan, NULL, "dropout = 0 .. 0.3");
}

/* ---- federations ---- */

/* What devices() lets expect: the table of schedule one in analysis/notes/schedules.md. */
static const char expected[] =
    "; Beside as many rounds of the defaults it had 1 to 14 points of test errors less on\n"
    "; each of eight federations (means of 20 seeds, analysis/README.md); the default\n"
    "; rate with momentum and average had most of that on seven. The defaults:\n"
    ";   run.tuner=random space.configs=1 client.lr=0.1 random.resource=400 "
    "server.average=none server.momentum=0\n";

/* Rows that belong to sites, which may differ. */
static void sites(struct plan *plan)
{
    const weft_clients *clients = plan->data->clients;
    put(plan, "trials go on as long as they are good", "tuner = asha");
    put(plan, "Parzen estimators propose", "sampler = tpe");
    section(plan, "asha");
    put(plan, NULL, "trials = 30");
    put(plan, "rounds", "min_resource = 5");
    put(plan, NULL, "max_resource = 45");
    section(plan, "fed");
    put(plan, NULL, "model = mlp");
    put(plan,
        weft_arena_text(plan->mem, "a last layer for each of %lld clients",
                        (long long)clients->n),
        "algorithm = fedper");
    put(plan, "clients of a round", "cohort = %lld",
        (long long)(clients->n < SITES ? clients->n : SITES));
    put(plan, "it tells configurations apart where errors are equal", "score = loss");
    put(plan, NULL, "score_weights = personal");
    put(plan, "all clients are scored at the end of a job", "select = eval");
    put(plan, NULL, "eval_clients = 0");
    section(plan, "mlp");
    put(plan, NULL, "hidden = 32");
    section(plan, "client");
    put(plan, NULL, "lr = log 0.005 .. 0.5");
    put(plan, NULL, "momentum = 0.9");
    put(plan, NULL, "batch = 8 | 16 | 32");
    put(plan, NULL, "epochs = 1 | 2 | 4");
    put(plan, NULL, "dropout = 0 .. 0.5");
}

/* Many clients of images, texts or running text. */
static void devices(struct plan *plan, const weft_clients *clients)
{
    int running = plan->data->form == WEFT_CHARS;
    put(plan, "one training, which finds its learning rate first", "tuner = one");
    section(plan, "one");
    put(plan, "rounds in all, a quarter of them at most for the learning rate",
        "resource = 400");
    section(plan, "fed");
    put(plan,
        running              ? "running text"
        : plan->data->owners ? "documents"
                             : "images",
        "model = %s",
        running              ? "lstm"
        : plan->data->owners ? "txtcnn"
                             : "cnn");
    if (running) put(plan, "every character of a window is predicted", "target = all");
    put(plan, "clients that are averaged in a round", "cohort = %lld",
        (long long)(clients->n < COHORT ? clients->n : COHORT));
    put(plan, "the server's weights are the result", "score_weights = global");
    put(plan, "rates are compared by all clients, or some, at the end of a job",
        "select = eval");
    put(plan, NULL, "eval_clients = %d", clients->n > EVALUATED ? EVALUATED : 0);
    section(plan, "server");
    put(plan, "of the mean change of the clients: a gain at nearly every rate",
        "momentum = 0.7");
    put(plan, "of the last fifth of all rounds: one round differs from the next",
        "average = tail");
    section(plan, "client");
    put(plan, "around its default, 0.1", "lr = log 1e-3 .. 100");
}

static void federation(struct plan *plan)
{
    const weft_data *data = plan->data;
    const weft_clients *clients = data->owners ? data->owners : data->clients;
    int many = data->form == WEFT_CHARS || data->owners || clients->channels > 0;
    if (many) plan->text = weft_arena_text(plan->mem, "%s%s", plan->text, expected);
    begin(plan, "fed", weft_arena_text(plan->mem, "%lld clients", (long long)clients->n));
    if (many)
        devices(plan, clients);
    else
        sites(plan);
}

/* ---- facts ---- */

/* Words of the training documents. */
static weft_status count_words(struct plan *plan, weft_data *data)
{
    int64_t dims[WEFT_H5_DIMS];
    int nd;
    if (data->form != WEFT_TOKENS) return WEFT_OK;
    const char *set = weft_arena_text(plan->mem, "/%s/%s/token", weft_part_name[WEFT_TRAIN],
                                      weft_tok_name[WEFT_TOK_SPLIT]);
    TRY(weft_h5_shape(&data->file, set, &nd, dims));
    plan->words = (double)dims[0];
    return WEFT_OK;
}

/* Rows of train and valid, or groups of these. Collective over the data's team. */
static void count_folds(struct plan *plan)
{
    const weft_data *data = plan->data;
    int64_t *rows = WEFT_NEW(plan->mem, int64_t, data->groups);
    plan->most = data->groups > 0 ? 0 : plan->rows;
    for (int p = WEFT_TRAIN; p <= WEFT_VALID && data->groups > 0; p++)
        for (int64_t i = 0; i < data->part[p].n; i++) rows[data->part[p].group[i]]++;
    weft_sum_i64(data->team, rows, (size_t)data->groups);
    for (int64_t g = 0; g < data->groups; g++) plan->most += rows[g] > 0;
}

static const char *title(const struct plan *plan)
{
    const weft_data *data = plan->data;
    const char *what = data->translations              ? "sentences in several languages"
                       : data->clients || data->owners ? "a federation"
                       : data->form == WEFT_TOKENS     ? "texts"
                       : data->channels > 0            ? "images"
                       : data->target_scale            ? "a table with numbers to predict"
                                                       : "a table with classes";
    return weft_arena_text(
        plan->mem,
        "; The plan for %s: %s.\n"
        "; Kept as a file and changed, it runs by `weft tune FILE.ini`.\n",
        data->path, what);
}

static weft_status choose(struct plan *plan, weft_data *data)
{
    plan->data = data;
    TRY(weft_run_check_rows(data));
    plan->rows = data->part[WEFT_TRAIN].total + data->part[WEFT_VALID].total;
    TRY(count_words(plan, data));
    count_folds(plan);
    plan->text = title(plan);
    if (data->translations)
        languages(plan);
    else if (data->clients || data->owners)
        federation(plan);
    else if (data->form == WEFT_TOKENS)
        texts(plan);
    else if (data->channels > 0 && !data->target_scale)
        images(plan);
    else
        table(plan);
    return WEFT_OK;
}

weft_status weft_run_default(const char *path, weft_team *team, const char **text,
                             weft_arena *mem)
{
    weft_data data;
    struct plan plan = {.mem = mem};
    TRY(weft_data_open(&data, path, team, mem));
    weft_status st = weft_agree(choose(&plan, &data), team);
    weft_data_close(&data);
    *text = plan.text;
    return st;
}
