/* The samples of task sgd: every rank reads all of them, since a batch is drawn from all;
 * those of all clients of a federation are pooled. They are divided into folds and a part
 * for development, which rows of a group are in together, and put into batches in the form
 * that networks take. */
#include "sgd.h"
#include "weft/par/par.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- data ---- */

static weft_status open_words(sgd_task *sgd)
{
    weft_data *data = &sgd->own;
    weft_tokenizer tok = (weft_tokenizer)sgd->words.tokenizer;
    TRY(weft_data_tokens(data, tok));
    int64_t longest = 1, tokens = 0;
    for (int p = 0; p < WEFT_NPART; p++)
        for (int64_t i = 0; i < data->part[p].n; i++) {
            int64_t n = data->part[p].offset[tok][i + 1] - data->part[p].offset[tok][i];
            longest = n > longest ? n : longest;
            tokens += n;
        }
    if (longest > INT_MAX / 4)
        return weft_fail(WEFT_EDATA, "%s has a document of %lld words; divide it",
                         data->path, (long long)longest);
    sgd->shape.length = (double)tokens / (double)sgd->first[WEFT_NPART];
    return weft_word_shape(&sgd->words, data, longest, &sgd->env, &sgd->shape);
}

static weft_status own_open(sgd_task *sgd)
{
    weft_data *data = &sgd->own;
    weft_likeness like = weft_data_likeness(sgd->env.data);
    weft_team_split(sgd->env.team, sgd->env.team->size, &sgd->alone);
    TRY(weft_data_open_some(data, sgd->env.data->path, &sgd->env.data->window, &sgd->alone,
                            sgd->env.mem));
    sgd->opened = 1;
    weft_data_bind(sgd->env.data, data);
    TRY(weft_data_match(data, &like, "the run"));
    for (int p = 0; p < WEFT_NPART; p++)
        sgd->first[p + 1] = sgd->first[p] + data->part[p].n;
    sgd->shape = (weft_shape){.form = WEFT_REALS,
                              .d = data->part[WEFT_TRAIN].d,
                              .channels = data->channels,
                              .height = data->height,
                              .width = data->width,
                              .classes = data->classes,
                              .numbers = data->target_scale != NULL};
    if (sgd->shape.numbers && data->classes == 1)
        sgd->unit = data->target_scale[0] * data->target_scale[0];
    return data->form == WEFT_TOKENS ? open_words(sgd) : WEFT_OK;
}

/* ---- a federation ---- */

/* Adds the samples of a client's part to the tables, from place `at` on. */
static weft_status take_client(sgd_task *sgd, int64_t c, weft_part part, int64_t *at)
{
    const weft_clients *clients = sgd->env.data->clients;
    weft_samples samples;
    TRY(weft_client_read(clients, c, part, &samples, sgd->env.mem));
    for (int64_t i = 0; i < samples.n; i++, ++*at) {
        sgd->pool.client[*at] = (int32_t)c;
        if (samples.text) {
            sgd->pool.text[*at] = samples.text + i * clients->stride;
            continue;
        }
        sgd->pool.x[*at] = samples.x + i * clients->d;
        sgd->pool.label[*at] = samples.label[i];
    }
    return WEFT_OK;
}

/* ELIMIT if the rows of all clients, as numbers, and the tables exceed the memory. */
static weft_status check_pool(const sgd_task *sgd)
{
    const weft_data *data = sgd->env.data;
    const weft_clients *clients = data->clients;
    double row = data->form == WEFT_CHARS ? 0 : (double)clients->d * sizeof(float);
    double bytes =
        (double)sgd->first[WEFT_NPART] * (row + sizeof(void *) + 2 * sizeof(int32_t));
    if (bytes <= sgd->env.memory) return WEFT_OK;
    return weft_fail(
        WEFT_ELIMIT,
        "task sgd trains on the samples of all clients of %s together, which "
        "take %.3g GB; run.memory allows %g GB a rank: allow more, or use task "
        "fed",
        data->path, bytes / 1e9, sgd->env.memory / 1e9);
}

/* The samples of all clients of a federation, part by part, are one data set. */
static weft_status pool_open(sgd_task *sgd)
{
    const weft_data *data = sgd->env.data;
    const weft_clients *clients = data->clients;
    int chars = data->form == WEFT_CHARS;
    for (int p = 0; p < WEFT_NPART; p++)
        sgd->first[p + 1] = sgd->first[p] + clients->size[p].total;
    TRY(check_pool(sgd));
    sgd->shape = weft_clients_shape(data, clients, sgd->opts.target == SGD_ALL_SYMBOLS);
    int64_t n = sgd->first[WEFT_NPART], at = 0;
    if (chars)
        sgd->pool.text = WEFT_NEW(sgd->env.mem, const uint8_t *, n);
    else
        sgd->pool.x = WEFT_NEW(sgd->env.mem, const float *, n);
    sgd->pool.client = WEFT_NEW(sgd->env.mem, int32_t, n);
    sgd->pool.label = WEFT_NEW(sgd->env.mem, int32_t, chars ? 0 : n);
    for (int p = 0; p < WEFT_NPART; p++)
        for (int64_t c = 0; c < clients->n; c++)
            TRY(take_client(sgd, c, (weft_part)p, &at));
    return weft_client_sound(clients);
}

/* 1: train.balance asks_balance for weights of classes, at least in some configurations. */
static int asks_balance(const sgd_task *sgd)
{
    const weft_space *space = sgd->env.space;
    int yes = sgd->train.balance;
    for (int a = 0; a < space->dim; a++)
        yes |= strcmp(space->axis[a].section, sgd_train_kind.name) == 0 &&
               weft_opt_is(space->axis[a].opt, "balance");
    return yes;
}

/* 1: samples are weighted by their class, at least in some configurations; and the option
 * that asks for that. */
static int balances(const sgd_task *sgd)
{
    return sgd->env.balanced || asks_balance(sgd);
}

static const char *balance_key(const sgd_task *sgd)
{
    return sgd->env.balanced ? "run.class_weights = balanced" : "train.balance = yes";
}

/* Networks and options that take no numbers to predict, or no weights of rows. */
static weft_status check_numbers(const sgd_task *sgd)
{
    const weft_data *data = sgd->env.data;
    int numbers = data->target_scale != NULL;
    const char *what = numbers ? "numbers to predict" : "weights of rows";
    if (!numbers && !data->part[WEFT_TRAIN].weight) return WEFT_OK;
    if (!sgd->net->numbers)
        return weft_fail(
            WEFT_ECONF,
            "%s has %s, which sgd.model = %s does not learn by; choose sgd.model "
            "= linear or mlp",
            data->path, what, sgd->opts.net_name);
    if (!numbers || !balances(sgd)) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s has %s, and train.balance = yes is of classes; leave it out",
                     data->path, what);
}

/* ECONF: options that divide rows, or weigh classes, of data whose parts are whole. */
static weft_status check_whole(const sgd_task *sgd)
{
    const weft_form_traits *form = weft_forms[sgd->env.data->form];
    const char *what = sgd->opts.folds > 0 ? "sgd.folds"
                       : sgd->opts.dev > 0 ? "sgd.dev"
                       : balances(sgd)     ? balance_key(sgd)
                                           : NULL;
    if (!form->whole || !what) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s holds %s, whose parts are made by weft pack; take out %s",
                     sgd->env.data->path, form->hold, what);
}

/* What only one kind of data asks_balance for. */
static weft_status check_kind(const sgd_task *sgd)
{
    TRY(check_numbers(sgd));
    TRY(check_whole(sgd));
    if (sgd->env.balanced && asks_balance(sgd))
        return weft_fail(
            WEFT_ECONF, "run.class_weights = balanced weights classes in all "
                        "configurations, and train.balance in some; leave one of them out");
    const char *lacks = weft_forms[sgd->shape.form]->unclassed;
    if (lacks && balances(sgd))
        return weft_fail(WEFT_ECONF,
                         "%s weights samples by their class, and %s; leave it out",
                         balance_key(sgd), lacks);
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++)
        if (sgd->first[p + 1] == sgd->first[p] &&
            (p == WEFT_TRAIN ||
             !(sgd->opts.dev > 0 || sgd->opts.folds > 0 || sgd->env.whole)))
            return weft_fail(WEFT_EDATA,
                             "%s has no %s samples; set sgd.dev to a share of those for "
                             "training, or pack it with another split",
                             sgd->env.data->path, weft_part_name[p]);
    return WEFT_OK;
}

weft_status sgd_open(sgd_task *sgd)
{
    TRY(weft_agree(sgd->source->open(sgd), sgd->env.team));
    return sgd->env.scoring ? WEFT_OK : check_kind(sgd);
}

/* ---- batches ---- */

/* The part that a row of own data is in, and its place there. */
static const weft_rows *part_of(const sgd_task *sgd, int64_t row, int64_t *at)
{
    int p = 0;
    while (row >= sgd->first[p + 1]) p++;
    *at = row - sgd->first[p];
    return &sgd->own.part[p];
}

static int32_t own_label(const sgd_task *sgd, int64_t row)
{
    int64_t at;
    return part_of(sgd, row, &at)->label[at];
}

static int32_t pool_label(const sgd_task *sgd, int64_t row)
{
    return sgd->pool.label[row];
}

int sgd_answers(const sgd_task *sgd)
{
    return sgd->shape.form != WEFT_CHARS && sgd->net->width;
}

sgd_work sgd_work_new(const sgd_task *sgd, const sgd_model *model, int most,
                      weft_arena *tmp)
{
    int bytes = sgd->env.data->form == WEFT_BYTES && !sgd->pool.x;
    int replies = sgd->net->write ? most : 0;
    return (sgd_work){.net = sgd->net->work(model->self, most, tmp),
                      .x = WEFT_NEW(tmp, const float *, most),
                      .row = WEFT_NEW(tmp, float, bytes ? most * sgd->shape.d : 0),
                      .text = WEFT_NEW(tmp, const uint8_t *, most),
                      .word = WEFT_NEW(tmp, const uint32_t *, most),
                      .length = WEFT_NEW(tmp, int, most),
                      .reply = WEFT_NEW(tmp, const uint32_t *, replies),
                      .replies = WEFT_NEW(tmp, int, replies),
                      .named = WEFT_NEW(tmp, uint32_t, replies * sgd->shape.d),
                      .theta = WEFT_NEW(tmp, real, model->contexts ? model->table.at : 0),
                      .label = WEFT_NEW(tmp, int32_t, most),
                      .target = WEFT_NEW(tmp, const double *, most),
                      .weight = WEFT_NEW(tmp, double, most)};
}

static const uint32_t *own_words(const sgd_task *sgd, int64_t row, int *n)
{
    int64_t at;
    const weft_rows *part = part_of(sgd, row, &at);
    const int64_t *offset = part->offset[sgd->words.tokenizer] + at;
    *n = (int)(offset[1] - offset[0]);
    return part->token[sgd->words.tokenizer] + offset[0];
}

void sgd_sort_by_length(const sgd_task *sgd, int n, const int64_t *row, weft_length *out)
{
    for (int i = 0; i < n; i++) {
        out[i] = (weft_length){.at = row[i], .place = i};
        sgd->source->words(sgd, row[i], &out[i].words);
    }
    weft_lengths_sort(n, out);
}

/* Sample i of the tables. */
static void pool_put(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int i,
                     int64_t row)
{
    (void)model;
    if (sgd->pool.text) {
        work->text[i] = sgd->pool.text[row];
        return;
    }
    work->x[i] = sgd->pool.x[row];
    work->label[i] = sgd->pool.label[row];
}

static void own_put(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int i,
                    int64_t row)
{
    int64_t at, d = sgd->shape.d;
    const weft_rows *part = part_of(sgd, row, &at);
    (void)model;
    work->label[i] = part->label[at];
    if (part->target) work->target[i] = part->target + at * sgd->shape.classes;
    if (part->weight) work->weight[i] = part->weight[at];
    switch (sgd->own.form) {
    case WEFT_TOKENS: work->word[i] = own_words(sgd, row, &work->length[i]); return;
    case WEFT_BYTES: {
        float *x = work->row + i * d;
        for (int64_t j = 0; j < d; j++) x[j] = (float)part->byte[at * d + j] / 255;
        work->x[i] = x;
        return;
    }
    default: work->x[i] = part->value + at * d;
    }
}

int sgd_weighs(const sgd_task *sgd)
{
    return sgd->opened && sgd->own.part[WEFT_TRAIN].weight != NULL;
}

weft_truth sgd_truth(const sgd_task *sgd, const sgd_rows *rows, weft_arena *mem)
{
    int64_t n = rows->n, m = sgd->shape.numbers ? sgd->shape.classes : 0;
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    double *target = WEFT_NEW(mem, double, n *m), *weight = WEFT_NEW(mem, double, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t row = rows->row[i];
        if (m == 0) label[i] = sgd->source->label(sgd, row);
        if (!sgd->opened) continue;
        int64_t at;
        const weft_rows *part = part_of(sgd, row, &at);
        for (int64_t k = 0; k < m; k++) target[i * m + k] = part->target[at * m + k];
        if (part->weight) weight[i] = part->weight[at];
    }
    return (weft_truth){.label = label,
                        .target = m > 0 ? target : NULL,
                        .weight = sgd_weighs(sgd) ? weight : NULL};
}

weft_batch sgd_batch(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int n,
                     const int64_t *row, const double *weight)
{
    for (int i = 0; i < n; i++) {
        work->weight[i] = 1;
        sgd->source->put(sgd, model, work, i, row[i]);
        if (weight) work->weight[i] *= weight[work->label[i]];
    }
    weft_batch batch = {.n = n,
                        .label = work->label,
                        .target = work->target,
                        .weight = weight || sgd_weighs(sgd) ? work->weight : NULL};
    switch (sgd->shape.form) {
    case WEFT_CHARS: batch.text = work->text; break;
    case WEFT_SENTENCES:
    case WEFT_TOKENS:
        batch.word = work->word;
        batch.length = work->length;
        break;
    default: batch.x = work->x;
    }
    batch.reply = work->reply;
    batch.replies = work->replies;
    return batch;
}

static sgd_layout pool_layout(const sgd_task *sgd)
{
    int clients = (int)sgd->env.data->clients->n;
    return (sgd_layout){.contexts = clients, .languages = clients, .alike = 1};
}

static int pool_context_of(const sgd_task *sgd, int64_t row)
{
    return sgd->pool.client[row];
}

static weft_context pool_context(const sgd_task *sgd, int number)
{
    (void)sgd;
    return (weft_context){.language = {number, number}, .pair = number};
}

const sgd_source sgd_own = {
    .open = own_open, .put = own_put, .label = own_label, .words = own_words};
const sgd_source sgd_pooled = {.open = pool_open,
                               .check = sgd_check_clients,
                               .layout = pool_layout,
                               .context_of = pool_context_of,
                               .context = pool_context,
                               .put = pool_put,
                               .label = pool_label};

/* ---- folds ---- */

/* The rows that are divided: in random order, where they are, and their groups. */
struct divided {
    int64_t n, *order;
    const int32_t *group; /* by the numbers in `order`; NULL: there are none */
};

/* Takes the first rows for development, or whole groups, the rest for training. */
static void take_dev(const sgd_task *sgd, double share, const struct divided *rows,
                     sgd_fold *fold)
{
    int64_t n = rows->n, dev = llround(share * (double)n);
    if (dev < 1) dev = 1;
    if (rows->group)
        dev = weft_folds_share(n, rows->order, rows->group, share, sgd->env.seed);
    fold->dev = (sgd_rows){dev, rows->order};
    fold->train = (sgd_rows){n - dev, rows->order + dev};
}

/* Fold number f: rows of its own are held out. */
static void hold_out(const sgd_task *sgd, int64_t f, const struct divided *rows,
                     const int64_t *held_by, sgd_fold *out)
{
    weft_arena *mem = sgd->env.mem;
    int64_t *held = WEFT_NEW(mem, int64_t, rows->n), nheld = 0;
    struct divided rest = {.order = WEFT_NEW(mem, int64_t, rows->n), .group = rows->group};
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t row = rows->order[i];
        if (held_by[row] == f)
            held[nheld++] = row;
        else
            rest.order[rest.n++] = row;
    }
    out->held = (sgd_rows){nheld, held};
    if (sgd->opts.literal) {
        out->dev = out->held;
        out->train = (sgd_rows){rest.n, rest.order};
    } else {
        take_dev(sgd, sgd->opts.dev > 0 ? sgd->opts.dev : 0.1, &rest, out);
    }
}

/* The weights of classes, if a configuration asks for them. */
static weft_status weigh_classes(const sgd_task *sgd, sgd_fold *fold)
{
    int classes = sgd->shape.classes;
    if (!balances(sgd)) return WEFT_OK;
    int64_t *count = WEFT_NEW(sgd->env.mem, int64_t, classes);
    fold->weight = WEFT_NEW(sgd->env.mem, double, classes);
    for (int64_t i = 0; i < fold->train.n; i++)
        count[sgd->source->label(sgd, fold->train.row[i])]++;
    for (int c = 0; c < classes; c++)
        if (count[c] == 0 && !sgd->env.data->clients)
            return weft_fail(WEFT_EDATA,
                             "class '%s' has no sample in the training part of a fold; "
                             "take fewer sgd.folds or a smaller sgd.dev, or leave %s out",
                             sgd->env.data->class_name[c], balance_key(sgd));
    weft_class_weights(classes, count, fold->weight);
    return WEFT_OK;
}

static weft_status divide_by_folds(sgd_task *sgd, const struct divided *rows)
{
    int64_t most = weft_folds_most(rows->n, rows->group);
    if (sgd->opts.folds < 2 || sgd->opts.folds > most || sgd->opts.fold >= sgd->opts.folds)
        return weft_fail(WEFT_ECONF,
                         "sgd.folds = %lld and sgd.fold = %lld with %lld %s; expected "
                         "2 folds to one a %s, and one of them or -1",
                         (long long)sgd->opts.folds, (long long)sgd->opts.fold,
                         (long long)most, rows->group ? "groups of samples" : "samples",
                         rows->group ? "group" : "sample");
    const int64_t *held_by =
        weft_folds_deal(rows->n, rows->group, sgd->opts.folds, sgd->env.seed, sgd->env.mem);
    sgd->at = WEFT_NEW(sgd->env.mem, sgd_fold, sgd->nfold);
    for (int f = 0; f < sgd->nfold; f++)
        hold_out(sgd, sgd->opts.fold < 0 ? f : sgd->opts.fold, rows, held_by, &sgd->at[f]);
    return WEFT_OK;
}

/* ECONF, EDATA: the score that is asked for has no meaning for the data. */
static weft_status check_score(const sgd_task *sgd)
{
    weft_measure measure = (weft_measure)sgd->opts.score;
    const weft_data *data = sgd->env.data;
    WEFT_SCRATCH(tmp);
    int64_t *count = WEFT_NEW(tmp, int64_t, sgd->shape.classes);
    weft_status st = WEFT_OK;
    for (int f = 0; f < sgd->nfold && weft_measure_joint(measure); f++) {
        const sgd_rows *dev = &sgd->at[f].dev;
        if (!sgd_answers(sgd)) break;
        for (int64_t i = 0; i < dev->n; i++) count[sgd->source->label(sgd, dev->row[i])]++;
    }
    if (weft_measure_joint(measure) && !sgd_answers(sgd))
        st = weft_fail(WEFT_ECONF,
                       "%s: a network %s on %s answers no single rows, of which sgd.score "
                       "would be a measure; choose accuracy, loss or log_error",
                       data->path, sgd->net->kind.name, weft_forms[sgd->shape.form]->name);
    else
        st = weft_measure_check(measure, "sgd.score", data->path, sgd->shape.classes,
                                sgd->shape.numbers ? NULL : count, data->class_name);
    return st;
}

weft_status sgd_divide(sgd_task *sgd)
{
    sgd->nfold = sgd->opts.folds > 0 && sgd->opts.fold < 0 ? (int)sgd->opts.folds : 1;
    if (sgd->env.scoring) return WEFT_OK;
    weft_arena *mem = sgd->env.mem;
    const int64_t *first = sgd->first;
    int both = sgd->opts.folds > 0 || sgd->env.whole;
    int64_t n = both ? first[WEFT_TEST] : first[WEFT_VALID];
    int64_t *order = WEFT_NEW(mem, int64_t, first[WEFT_TEST]);
    struct divided rows = {.n = n, .order = order};
    int chosen = sgd->opts.folds > 0 || sgd->opts.dev > 0;
    if (chosen && sgd->opened) rows.group = weft_folds_groups(&sgd->own, mem);
    if (chosen)
        weft_shuffle(n, sgd->env.seed, order, mem);
    else
        for (int64_t i = 0; i < first[WEFT_TEST]; i++) order[i] = i;
    if (sgd->opts.folds > 0) {
        TRY(divide_by_folds(sgd, &rows));
    } else {
        sgd->at = WEFT_NEW(mem, sgd_fold, 1);
        if (sgd->opts.dev > 0)
            take_dev(sgd, sgd->opts.dev, &rows, sgd->at);
        else
            *sgd->at =
                (sgd_fold){.train = {n, order}, .dev = {first[WEFT_TEST] - n, order + n}};
    }
    for (int f = 0; f < sgd->nfold; f++) {
        if (sgd->at[f].train.n < 1)
            return weft_fail(
                WEFT_ECONF,
                "sgd.folds = %lld and sgd.dev = %g leave no sample to train on "
                "in fold %d%s; have fewer folds, or a smaller dev",
                (long long)sgd->opts.folds, sgd->opts.dev, f + 1,
                sgd->env.data->groups > 0
                    ? weft_arena_text(mem,
                                      ", as the rows of each of the %lld "
                                      "groups stay together",
                                      (long long)sgd->env.data->groups)
                    : "");
        TRY(weigh_classes(sgd, &sgd->at[f]));
    }
    return check_score(sgd);
}
