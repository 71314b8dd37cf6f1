/* The samples of task sgd: every rank reads all of them, since a batch is drawn from all;
 * those of all clients of a federation are pooled; folds and development parts; batches in
 * the form that networks take. */
#include "data.h"
#include "opts.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- data ---- */

static weft_status open_words(sgd *t)
{
    weft_data *d = &t->own;
    weft_tokenizer tok = (weft_tokenizer)t->words.tokenizer;
    TRY(weft_data_tokens(d, tok));
    int64_t longest = 1, tokens = 0;
    for (int p = 0; p < WEFT_NPART; p++)
        for (int64_t i = 0; i < d->part[p].n; i++) {
            int64_t n = d->part[p].offset[tok][i + 1] - d->part[p].offset[tok][i];
            longest = n > longest ? n : longest;
            tokens += n;
        }
    if (longest > INT_MAX / 4)
        return weft_fail(WEFT_EDATA, "%s has a document of %lld words; divide it", d->path,
                         (long long)longest);
    t->shape.length = (double)tokens / (double)t->first[WEFT_NPART];
    return weft_word_shape(&t->words, d, longest, &t->env, &t->shape);
}

static weft_status open_own(sgd *t)
{
    weft_data *d = &t->own;
    weft_likeness like = weft_data_likeness(t->env.data);
    TRY(weft_data_open(d, t->env.data->path, &t->alone, t->env.mem));
    t->opened = 1;
    TRY(weft_data_match(d, &like, "the run"));
    for (int p = 0; p < WEFT_NPART; p++) t->first[p + 1] = t->first[p] + d->part[p].n;
    t->shape = (weft_shape){.form = WEFT_REALS,
                            .d = d->part[WEFT_TRAIN].d,
                            .channels = d->channels,
                            .height = d->height,
                            .width = d->width,
                            .classes = d->classes};
    return d->form == WEFT_TOKENS ? open_words(t) : WEFT_OK;
}

/* ---- a federation ---- */

/* Adds the samples of a client's part to the tables, from place `at` on. */
static weft_status take_client(sgd *t, int64_t c, weft_part part, int64_t *at)
{
    const weft_clients *f = t->env.data->clients;
    weft_samples s;
    TRY(weft_client_read(f, c, part, &s, t->env.mem));
    for (int64_t i = 0; i < s.n; i++, ++*at) {
        if (s.text) {
            t->pool.text[*at] = s.text + i * f->stride;
            continue;
        }
        t->pool.x[*at] = s.x + i * f->d;
        t->pool.label[*at] = s.label[i];
    }
    return WEFT_OK;
}

/* ELIMIT if the rows of all clients, as numbers, and the tables exceed the memory. */
static weft_status check_pool(const sgd *t)
{
    const weft_data *d = t->env.data;
    const weft_clients *f = d->clients;
    double row = d->form == WEFT_CHARS ? 0 : (double)f->d * sizeof(float);
    double bytes = (double)t->first[WEFT_NPART] * (row + sizeof(void *) + sizeof(int32_t));
    if (bytes <= t->env.memory) return WEFT_OK;
    return weft_fail(
        WEFT_ELIMIT,
        "task sgd trains on the samples of all clients of %s together, which "
        "take %.3g GB; run.memory allows %g GB a rank: allow more, or use task "
        "fed",
        d->path, bytes / 1e9, t->env.memory / 1e9);
}

/* The samples of all clients of a federation, part by part, are one data set. */
static weft_status open_pool(sgd *t)
{
    const weft_data *d = t->env.data;
    const weft_clients *f = d->clients;
    int chars = d->form == WEFT_CHARS;
    for (int p = 0; p < WEFT_NPART; p++) t->first[p + 1] = t->first[p] + f->size[p].total;
    TRY(check_pool(t));
    t->shape = (weft_shape){.form = chars ? WEFT_CHARS : WEFT_REALS,
                            .d = f->d,
                            .channels = f->channels,
                            .height = f->height,
                            .width = f->width,
                            .classes = chars ? f->symbols : d->classes,
                            .every = chars && t->target == SGD_ALL_SYMBOLS};
    int64_t n = t->first[WEFT_NPART], at = 0;
    if (chars)
        t->pool.text = WEFT_NEW(t->env.mem, const uint8_t *, n);
    else
        t->pool.x = WEFT_NEW(t->env.mem, const float *, n);
    t->pool.label = WEFT_NEW(t->env.mem, int32_t, chars ? 0 : n);
    for (int p = 0; p < WEFT_NPART; p++)
        for (int64_t c = 0; c < f->n; c++) TRY(take_client(t, c, (weft_part)p, &at));
    return weft_client_sound(f);
}

/* 1: samples are weighted by their class, at least in some configurations. */
static int balances(const sgd *t)
{
    const weft_space *sp = t->env.space;
    int yes = t->train.balance;
    for (int a = 0; a < sp->dim; a++)
        yes |= strcmp(sp->axis[a].section, sgd_train_kind.name) == 0 &&
               weft_opt_is(sp->axis[a].opt, "balance");
    return yes;
}

/* What only one kind of data asks for. */
static weft_status check_kind(const sgd *t)
{
    if (t->shape.form == WEFT_CHARS && balances(t))
        return weft_fail(
            WEFT_ECONF,
            "train.balance = yes weights samples by their class, and characters "
            "of text have none; leave it out");
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++)
        if (t->first[p + 1] == t->first[p] &&
            (p == WEFT_TRAIN || !(t->dev > 0 || t->folds > 0)))
            return weft_fail(WEFT_EDATA,
                             "%s has no %s samples; set sgd.dev to a share of those for "
                             "training, or pack it with another split",
                             t->env.data->path, weft_part_name[p]);
    return WEFT_OK;
}

weft_status sgd_open(sgd *t)
{
    weft_status st;
    if (t->env.data->clients) {
        st = open_pool(t);
    } else {
        weft_team_split(t->env.team, t->env.team->size, &t->alone);
        st = open_own(t);
        if (t->opened) weft_data_bind(t->env.data, &t->own);
    }
    TRY(weft_agree(st, t->env.team));
    return t->env.scoring ? WEFT_OK : check_kind(t);
}

/* ---- folds ---- */

/* Takes the first of rows[n] for development, the rest for training. */
static void take_dev(sgd_fold *f, double share, int64_t n, const int64_t *rows)
{
    int64_t dev = llround(share * (double)n);
    if (dev < 1) dev = 1;
    f->dev = (sgd_rows){dev, rows};
    f->train = (sgd_rows){n - dev, rows + dev};
}

/* Fold number f of the shuffled rows order[n]: every folds-th is held out. */
static void hold_out(const sgd *t, int64_t f, int64_t n, const int64_t *order,
                     sgd_fold *out)
{
    int64_t *held = WEFT_NEW(t->env.mem, int64_t, n), nheld = 0;
    int64_t *rest = WEFT_NEW(t->env.mem, int64_t, n), nrest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i % t->folds == f)
            held[nheld++] = order[i];
        else
            rest[nrest++] = order[i];
    }
    out->held = (sgd_rows){nheld, held};
    if (t->literal) {
        out->dev = out->held;
        out->train = (sgd_rows){nrest, rest};
    } else {
        take_dev(out, t->dev > 0 ? t->dev : 0.1, nrest, rest);
    }
}

static int part_of(const sgd *t, int64_t row)
{
    int p = 0;
    while (row >= t->first[p + 1]) p++;
    return p;
}

static int32_t label_of(const sgd *t, int64_t row)
{
    if (t->pool.label) return t->pool.label[row];
    int p = part_of(t, row);
    return t->own.part[p].label[row - t->first[p]];
}

/* weight[c] = samples / (classes * samples of c), if a configuration asks for weights. */
static weft_status weigh_classes(const sgd *t, sgd_fold *f)
{
    int classes = t->shape.classes;
    if (!balances(t)) return WEFT_OK;
    f->weight = WEFT_NEW(t->env.mem, double, classes);
    for (int64_t i = 0; i < f->train.n; i++) f->weight[label_of(t, f->train.row[i])]++;
    for (int c = 0; c < classes; c++) {
        if (!(f->weight[c] > 0) && t->env.data->clients) continue;
        if (!(f->weight[c] > 0))
            return weft_fail(
                WEFT_EDATA,
                "class '%s' has no sample in the training part of a fold; take "
                "fewer sgd.folds or a smaller sgd.dev, or train.balance = no",
                t->env.data->class_name[c]);
        f->weight[c] = (double)f->train.n / (classes * f->weight[c]);
    }
    return WEFT_OK;
}

static weft_status divide_by_folds(sgd *t, const int64_t *order, int64_t n)
{
    if (t->folds < 2 || t->folds > n || t->fold >= t->folds)
        return weft_fail(WEFT_ECONF,
                         "sgd.folds = %lld and sgd.fold = %lld with %lld samples; expected "
                         "2 folds to one a sample, and one of them or -1",
                         (long long)t->folds, (long long)t->fold, (long long)n);
    t->at = WEFT_NEW(t->env.mem, sgd_fold, t->nfold);
    for (int f = 0; f < t->nfold; f++)
        hold_out(t, t->fold < 0 ? f : t->fold, n, order, &t->at[f]);
    return WEFT_OK;
}

weft_status sgd_divide(sgd *t)
{
    t->nfold = t->folds > 0 && t->fold < 0 ? (int)t->folds : 1;
    if (t->env.scoring) return WEFT_OK;
    weft_arena *mem = t->env.mem;
    const int64_t *first = t->first;
    int64_t n = t->folds > 0 ? first[WEFT_TEST] : first[WEFT_VALID];
    int64_t *order = WEFT_NEW(mem, int64_t, first[WEFT_TEST]);
    if (t->folds > 0 || t->dev > 0)
        weft_shuffle(n, t->env.seed, order, mem);
    else
        for (int64_t i = 0; i < first[WEFT_TEST]; i++) order[i] = i;
    if (t->folds > 0) {
        TRY(divide_by_folds(t, order, n));
    } else {
        t->at = WEFT_NEW(mem, sgd_fold, 1);
        if (t->dev > 0)
            take_dev(t->at, t->dev, n, order);
        else
            *t->at =
                (sgd_fold){.train = {n, order}, .dev = {first[WEFT_TEST] - n, order + n}};
    }
    for (int f = 0; f < t->nfold; f++) {
        if (t->at[f].train.n < 1)
            return weft_fail(WEFT_ECONF, "sgd.dev = %g leaves no sample to train on",
                             t->dev);
        TRY(weigh_classes(t, &t->at[f]));
    }
    return WEFT_OK;
}

/* ---- batches ---- */

sgd_work sgd_work_new(const sgd *t, const sgd_model *m, int most, weft_arena *tmp)
{
    int bytes = t->env.data->form == WEFT_BYTES && !t->pool.x;
    return (sgd_work){.net = t->net->work(m->self, most, tmp),
                      .most = most,
                      .x = WEFT_NEW(tmp, const float *, most),
                      .row = WEFT_NEW(tmp, float, bytes ? most * t->shape.d : 0),
                      .text = WEFT_NEW(tmp, const uint8_t *, most),
                      .word = WEFT_NEW(tmp, const uint32_t *, most),
                      .length = WEFT_NEW(tmp, int, most),
                      .label = WEFT_NEW(tmp, int32_t, most),
                      .weight = WEFT_NEW(tmp, double, most),
                      .tmp = tmp};
}

const uint32_t *sgd_words_of(const sgd *t, int64_t row, int *n)
{
    int p = part_of(t, row);
    const weft_rows *part = &t->own.part[p];
    const int64_t *offset = part->offset[t->words.tokenizer] + (row - t->first[p]);
    *n = (int)(offset[1] - offset[0]);
    return part->token[t->words.tokenizer] + offset[0];
}

static int longer_first(const void *a, const void *b)
{
    const sgd_length *x = a, *y = b;
    if (x->words != y->words) return x->words > y->words ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

void sgd_sort_by_length(const sgd *t, int n, const int64_t *row, sgd_length *out)
{
    for (int i = 0; i < n; i++) {
        out[i] = (sgd_length){.row = row[i], .place = i};
        sgd_words_of(t, row[i], &out[i].words);
    }
    qsort(out, (size_t)n, sizeof *out, longer_first);
}

/* Sample i of the tables. */
static void put(const sgd *t, sgd_work *k, int i, int64_t row)
{
    if (t->pool.text) {
        k->text[i] = t->pool.text[row];
        return;
    }
    if (t->pool.x) {
        k->x[i] = t->pool.x[row];
        k->label[i] = t->pool.label[row];
        return;
    }
    int p = part_of(t, row);
    const weft_rows *part = &t->own.part[p];
    int64_t at = row - t->first[p], d = t->shape.d;
    k->label[i] = part->label[at];
    switch (t->own.form) {
    case WEFT_TOKENS: k->word[i] = sgd_words_of(t, row, &k->length[i]); return;
    case WEFT_BYTES: {
        float *x = k->row + i * d;
        for (int64_t j = 0; j < d; j++) x[j] = (float)part->byte[at * d + j] / 255;
        k->x[i] = x;
        return;
    }
    default: k->x[i] = part->value + at * d;
    }
}

weft_batch sgd_batch(const sgd *t, sgd_work *k, int n, const int64_t *row,
                     const double *weight)
{
    for (int i = 0; i < n; i++) {
        put(t, k, i, row[i]);
        if (weight) k->weight[i] = weight[k->label[i]];
    }
    weft_batch b = {.n = n, .label = k->label, .weight = weight ? k->weight : NULL};
    switch (t->shape.form) {
    case WEFT_CHARS: b.text = k->text; break;
    case WEFT_TOKENS:
        b.word = k->word;
        b.length = k->length;
        break;
    default: b.x = k->x;
    }
    return b;
}
