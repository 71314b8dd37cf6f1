/* The samples of task sgd: every rank reads all of them, since a batch is drawn from all;
 * those of all clients of a federation are pooled; batches in the form that networks take.
 */
#include "data.h"
#include "opts.h"
#include "pairs.h"
#include "weft/par.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
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

static weft_status open_own(sgd_task *sgd)
{
    weft_data *data = &sgd->own;
    weft_likeness like = weft_data_likeness(sgd->env.data);
    TRY(weft_data_open_some(data, sgd->env.data->path, &sgd->env.data->window, &sgd->alone,
                            sgd->env.mem));
    sgd->opened = 1;
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
static weft_status open_pool(sgd_task *sgd)
{
    const weft_data *data = sgd->env.data;
    const weft_clients *clients = data->clients;
    int chars = data->form == WEFT_CHARS;
    for (int p = 0; p < WEFT_NPART; p++)
        sgd->first[p + 1] = sgd->first[p] + clients->size[p].total;
    TRY(check_pool(sgd));
    sgd->shape = (weft_shape){.form = chars ? WEFT_CHARS : WEFT_REALS,
                              .d = clients->d,
                              .channels = clients->channels,
                              .height = clients->height,
                              .width = clients->width,
                              .classes = chars ? clients->symbols : data->classes,
                              .every = chars && sgd->target == SGD_ALL_SYMBOLS};
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

/* 1: train.balance asks for weights of classes, at least in some configurations. */
static int asks(const sgd_task *sgd)
{
    const weft_space *space = sgd->env.space;
    int yes = sgd->train.balance;
    for (int a = 0; a < space->dim; a++)
        yes |= strcmp(space->axis[a].section, sgd_train_kind.name) == 0 &&
               weft_opt_is(space->axis[a].opt, "balance");
    return yes;
}

int sgd_balances(const sgd_task *sgd)
{
    return sgd->env.balanced || asks(sgd);
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
            data->path, what, sgd->net_name);
    if (!numbers || !sgd_balances(sgd)) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s has %s, and train.balance = yes is of classes; leave it out",
                     data->path, what);
}

const char *sgd_balance_key(const sgd_task *sgd)
{
    return sgd->env.balanced ? "run.class_weights = balanced" : "train.balance = yes";
}

/* Options that sentences do not have: their parts are by the line, so that none is in two
 * parts by another direction. */
static weft_status check_pairs(const sgd_task *sgd)
{
    const char *what = sgd->folds > 0      ? "sgd.folds"
                       : sgd->dev > 0      ? "sgd.dev"
                       : sgd_balances(sgd) ? sgd_balance_key(sgd)
                                           : NULL;
    if (!sgd->pairs.of || !what) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "%s holds sentences in several languages, whose parts are made by weft "
        "pack; take out %s",
        sgd->env.data->path, what);
}

/* What only one kind of data asks for. */
static weft_status check_kind(const sgd_task *sgd)
{
    TRY(check_numbers(sgd));
    TRY(check_pairs(sgd));
    if (sgd->env.balanced && asks(sgd))
        return weft_fail(
            WEFT_ECONF, "run.class_weights = balanced weights classes in all "
                        "configurations, and train.balance in some; leave one of them out");
    if (sgd->shape.form == WEFT_CHARS && sgd_balances(sgd))
        return weft_fail(WEFT_ECONF,
                         "%s weights samples by their class, and characters of text have "
                         "none; leave it out",
                         sgd_balance_key(sgd));
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++)
        if (sgd->first[p + 1] == sgd->first[p] &&
            (p == WEFT_TRAIN || !(sgd->dev > 0 || sgd->folds > 0 || sgd->env.whole)))
            return weft_fail(WEFT_EDATA,
                             "%s has no %s samples; set sgd.dev to a share of those for "
                             "training, or pack it with another split",
                             sgd->env.data->path, weft_part_name[p]);
    return WEFT_OK;
}

weft_status sgd_open(sgd_task *sgd)
{
    weft_status st = WEFT_OK;
    if (sgd->env.data->translations) {
        sgd_pairs_open(sgd);
    } else if (sgd->env.data->clients) {
        st = open_pool(sgd);
    } else {
        weft_team_split(sgd->env.team, sgd->env.team->size, &sgd->alone);
        st = open_own(sgd);
        if (sgd->opened) weft_data_bind(sgd->env.data, &sgd->own);
    }
    TRY(weft_agree(st, sgd->env.team));
    return sgd->env.scoring ? WEFT_OK : check_kind(sgd);
}

/* ---- batches ---- */

int sgd_part_of(const sgd_task *sgd, int64_t row)
{
    int p = 0;
    while (row >= sgd->first[p + 1]) p++;
    return p;
}

int32_t sgd_label_of(const sgd_task *sgd, int64_t row)
{
    if (sgd->pool.label) return sgd->pool.label[row];
    int p = sgd_part_of(sgd, row);
    return sgd->own.part[p].label[row - sgd->first[p]];
}

int sgd_answers(const sgd_task *sgd)
{
    return sgd->shape.form != WEFT_CHARS && sgd->net->width;
}

sgd_work sgd_work_new(const sgd_task *sgd, const sgd_model *model, int most,
                      weft_arena *tmp)
{
    int bytes = sgd->env.data->form == WEFT_BYTES && !sgd->pool.x;
    int pairs = sgd->pairs.of != NULL;
    return (sgd_work){.net = sgd->net->work(model->self, most, tmp),
                      .most = most,
                      .x = WEFT_NEW(tmp, const float *, most),
                      .row = WEFT_NEW(tmp, float, bytes ? most * sgd->shape.d : 0),
                      .text = WEFT_NEW(tmp, const uint8_t *, most),
                      .word = WEFT_NEW(tmp, const uint32_t *, most),
                      .length = WEFT_NEW(tmp, int, most),
                      .translation = WEFT_NEW(tmp, const uint32_t *, pairs ? most : 0),
                      .translated = WEFT_NEW(tmp, int, pairs ? most : 0),
                      .named = WEFT_NEW(tmp, uint32_t, pairs ? most * sgd->shape.d : 0),
                      .theta = WEFT_NEW(tmp, real, model->contexts ? model->table.at : 0),
                      .label = WEFT_NEW(tmp, int32_t, most),
                      .target = WEFT_NEW(tmp, const double *, most),
                      .weight = WEFT_NEW(tmp, double, most),
                      .tmp = tmp};
}

const uint32_t *sgd_words_of(const sgd_task *sgd, int64_t row, int *n)
{
    if (sgd->pairs.of) {
        *n = sgd->pairs.sources[row] + sgd->pairs.targets[row];
        return sgd->pairs.source[row];
    }
    int p = sgd_part_of(sgd, row);
    const weft_rows *part = &sgd->own.part[p];
    const int64_t *offset = part->offset[sgd->words.tokenizer] + (row - sgd->first[p]);
    *n = (int)(offset[1] - offset[0]);
    return part->token[sgd->words.tokenizer] + offset[0];
}

static int longer_first(const void *a, const void *b)
{
    const sgd_length *x = a, *y = b;
    if (x->words != y->words) return x->words > y->words ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

void sgd_sort_by_length(const sgd_task *sgd, int n, const int64_t *row, sgd_length *out)
{
    for (int i = 0; i < n; i++) {
        out[i] = (sgd_length){.row = row[i], .place = i};
        sgd_words_of(sgd, row[i], &out[i].words);
    }
    qsort(out, (size_t)n, sizeof *out, longer_first);
}

/* Sample i of the tables. */
static void put(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int i,
                int64_t row)
{
    if (sgd->pairs.of) {
        sgd_pairs_put(sgd, model, work, i, row);
        return;
    }
    if (sgd->pool.text) {
        work->text[i] = sgd->pool.text[row];
        return;
    }
    if (sgd->pool.x) {
        work->x[i] = sgd->pool.x[row];
        work->label[i] = sgd->pool.label[row];
        return;
    }
    int p = sgd_part_of(sgd, row);
    const weft_rows *part = &sgd->own.part[p];
    int64_t at = row - sgd->first[p], d = sgd->shape.d;
    work->label[i] = part->label[at];
    if (part->target) work->target[i] = part->target + at * sgd->shape.classes;
    if (part->weight) work->weight[i] = part->weight[at];
    switch (sgd->own.form) {
    case WEFT_TOKENS: work->word[i] = sgd_words_of(sgd, row, &work->length[i]); return;
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
        if (m == 0) label[i] = sgd_label_of(sgd, row);
        if (!sgd->opened) continue;
        int p = sgd_part_of(sgd, row);
        const weft_rows *part = &sgd->own.part[p];
        int64_t at = row - sgd->first[p];
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
        put(sgd, model, work, i, row[i]);
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
    batch.translation = work->translation;
    batch.translated = work->translated;
    return batch;
}
