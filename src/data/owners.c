/* Documents that belong to clients: a packed file holds them part by part, as without
 * clients, so that every task reads them alike, and beside them the client of each. Labels
 * and words are used in the mapped file. Layout: /@owners, the number of clients;
 * /PART/owner. */
#include "federation.h"

#include <limits.h>

struct weft_owned {
    int64_t *first[WEFT_NPART]; /* [clients + 1] place in document of each client's own */
    int64_t *document[WEFT_NPART]; /* [rows of the part] client after client */
    weft_h5map label[WEFT_NPART];  /* [rows] */
    weft_h5map offset[WEFT_NPART], token[WEFT_NPART]; /* of a tokenizer, where words are */
    int words;                                        /* 1: they are */
    uint32_t nword;                                   /* of the vocabulary */
};

static const char *name_of(weft_data *d, int part, const char *what)
{
    return weft_arena_text(d->mem, "/%s/%s", weft_part_name[part], what);
}

/* ---- samples ---- */

static weft_client owned_find(const weft_clients *f, int64_t c)
{
    weft_client at = {.c = c};
    for (int p = 0; p < WEFT_NPART; p++) {
        const int64_t *first = f->own->owned->first[p];
        at.count[p] = first[c + 1] - first[c];
    }
    return at;
}

/* The words of a document. Its offsets were in order when they were opened; they are not
 * where the file was cut short since. */
static weft_status take_words(const weft_clients *f, weft_part part, int64_t document,
                              const uint32_t **word, int *length, weft_arena *mem)
{
    const weft_owned *o = f->own->owned;
    const void *rows, *words;
    TRY(weft_h5_map_rows(&o->offset[part], document, 2, &rows, mem));
    const int64_t *offset = rows;
    if (offset[1] < offset[0] || offset[1] - offset[0] > f->d) {
        TRY(weft_client_sound(f));
        return weft_fail(WEFT_EDATA,
                         "%s: document %lld of the %s part changed while it was "
                         "in use; pack it again",
                         f->own->data->path, (long long)document, weft_part_name[part]);
    }
    *length = (int)(offset[1] - offset[0]);
    TRY(weft_h5_map_rows(&o->token[part], offset[0], *length, &words, mem));
    *word = words;
    return WEFT_OK;
}

static weft_status owned_take(const weft_clients *f, const weft_client *at, weft_part part,
                              weft_samples *out, weft_arena *mem)
{
    const weft_owned *o = f->own->owned;
    const int64_t *document = o->document[part] + o->first[part][at->c];
    int64_t n = at->count[part];
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    const uint32_t **word = o->words ? WEFT_NEW(mem, const uint32_t *, n) : NULL;
    int *length = o->words ? WEFT_NEW(mem, int, n) : NULL;
    for (int64_t i = 0; i < n; i++) {
        const void *row;
        TRY(weft_h5_map_rows(&o->label[part], document[i], 1, &row, mem));
        label[i] = *(const int32_t *)row;
        if (word) TRY(take_words(f, part, document[i], &word[i], &length[i], mem));
    }
    *out = (weft_samples){.n = n, .label = label, .word = word, .length = length};
    return WEFT_OK;
}

/* ---- opening ---- */

static weft_status check_words(const void *self, int64_t first, int64_t n, const void *word)
{
    const weft_data *d = self;
    const uint32_t *number = word, words = d->owners->own->owned->nword;
    for (int64_t i = 0; i < n; i++)
        if (number[i] >= words)
            return weft_fail(WEFT_EDATA, "%s: token %lld is word %u of %u; pack it again",
                             d->path, (long long)(first + i), (unsigned)number[i],
                             (unsigned)words);
    return WEFT_OK;
}

/* The documents of each client, in the order of the file. */
static weft_status sort_part(weft_data *d, int part)
{
    weft_clients *f = d->owners;
    weft_owned *o = f->own->owned;
    const char *name = name_of(d, part, "owner");
    int64_t rows = d->part[part].total, dims[WEFT_H5_DIMS];
    int nd;
    TRY(weft_h5_shape(&d->file, name, &nd, dims));
    int64_t *first = o->first[part] = WEFT_NEW(d->mem, int64_t, f->n + 1);
    int64_t *document = o->document[part] = WEFT_NEW(d->mem, int64_t, rows);
    size_t mark = weft_arena_mark(d->mem);
    int64_t *owner = WEFT_NEW(d->mem, int64_t, rows);
    int good = nd == 1 && dims[0] == rows;
    if (good) TRY(weft_h5_read_rows(&d->file, name, WEFT_H5_I64, 1, 0, rows, owner));
    for (int64_t i = 0; i < rows && good; i++) {
        good = owner[i] >= 0 && owner[i] < f->n;
        if (good) first[owner[i] + 1]++;
    }
    if (!good)
        return weft_fail(WEFT_EDATA,
                         "%s: %s does not name one of %lld clients for each of %lld "
                         "documents; pack it again",
                         d->path, name, (long long)f->n, (long long)rows);
    for (int64_t c = 0; c < f->n; c++) {
        weft_sizes_add(&f->size[part], first[c + 1]);
        first[c + 1] += first[c];
    }
    for (int64_t i = 0; i < rows; i++) document[first[owner[i]]++] = i;
    for (int64_t c = f->n; c > 0; c--) first[c] = first[c - 1];
    first[0] = 0;
    weft_arena_reset(d->mem, mark);
    return WEFT_OK;
}

int weft_owners_are(weft_data *d)
{
    return d->form == WEFT_TOKENS && weft_h5_has(&d->file, "/@owners");
}

weft_status weft_owners_open(weft_data *d)
{
    static const weft_h5set none = {.set = -1, .space = -1};
    weft_clients *f = WEFT_NEW(d->mem, weft_clients, 1);
    *f = (weft_clients){.stride = 1};
    f->own = WEFT_NEW(d->mem, weft_federation, 1);
    *f->own = (weft_federation){.find = owned_find, .take = owned_take, .data = d};
    weft_owned *o = f->own->owned = WEFT_NEW(d->mem, weft_owned, 1);
    for (int p = 0; p < WEFT_NPART; p++)
        o->label[p].set = o->offset[p].set = o->token[p].set = none;
    d->owners = f;
    TRY(weft_h5_read_long(&d->file, "/", "owners", &f->n));
    int64_t rows = 0;
    for (int p = 0; p < WEFT_NPART; p++) rows += d->part[p].total;
    if (f->n < 1 || f->n > rows)
        return weft_fail(WEFT_EDATA, "%s: %lld documents of %lld clients; pack it again",
                         d->path, (long long)rows, (long long)f->n);
    for (int p = 0; p < WEFT_NPART; p++) {
        TRY(sort_part(d, p));
        TRY(weft_h5_map_open(&o->label[p], &d->file, name_of(d, p, "label"), WEFT_H5_I32,
                             weft_labels_check, d));
    }
    return WEFT_OK;
}

void weft_owners_close(weft_data *d)
{
    if (!d->owners) return;
    weft_owned *o = d->owners->own->owned;
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_h5_map_close(&o->label[p]);
        weft_h5_map_close(&o->offset[p]);
        weft_h5_map_close(&o->token[p]);
    }
}

/* ---- words ---- */

/* Opens the words of a part, and looks at the length of each document. */
static weft_status open_words(weft_data *d, int part, weft_tokenizer tok, int64_t *tokens)
{
    weft_clients *f = d->owners;
    weft_owned *o = f->own->owned;
    weft_h5map *offset = &o->offset[part], *token = &o->token[part];
    const char *name = weft_tok_name[tok];
    TRY(weft_h5_map_open(offset, &d->file,
                         name_of(d, part, weft_arena_text(d->mem, "%s/offset", name)),
                         WEFT_H5_I64, NULL, d));
    TRY(weft_h5_map_open(token, &d->file,
                         name_of(d, part, weft_arena_text(d->mem, "%s/token", name)),
                         WEFT_H5_U32, check_words, d));
    int64_t rows = d->part[part].total, before = 0;
    int good = offset->set.nd == 1 && token->set.nd == 1 && offset->set.dims[0] == rows + 1;
    for (int64_t i = 0; i <= rows && good; i++) {
        size_t mark = weft_arena_mark(d->mem);
        const void *at;
        TRY(weft_h5_map_rows(offset, i, 1, &at, d->mem));
        int64_t end = *(const int64_t *)at, n = end - before;
        good = i == 0 ? end == 0 : n >= 0 && n <= INT_MAX / 4;
        if (i > 0 && n > f->d) f->d = n;
        before = end;
        weft_arena_reset(d->mem, mark);
    }
    *tokens += before;
    if (good && before == token->set.dims[0]) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: the %s documents of tokenizer %s are not one after the other; "
                     "pack it again",
                     d->path, weft_part_name[part], name);
}

static weft_status words_own(weft_data *d, weft_tokenizer tok)
{
    weft_clients *f = d->owners;
    weft_owned *o = f->own->owned;
    int64_t tokens = 0, documents = 0;
    TRY(weft_data_vocab(d, tok));
    o->nword = (uint32_t)d->vocab[tok].n;
    f->d = 1;
    for (int p = 0; p < WEFT_NPART; p++) {
        TRY(open_words(d, p, tok, &tokens));
        documents += d->part[p].total;
    }
    f->length = (double)tokens / (double)documents;
    o->words = 1;
    return weft_h5_sound(&d->file);
}

weft_status weft_data_own_words(weft_data *d, weft_tokenizer tok)
{
    weft_check(d->owners && !d->owners->own->owned->words, "words of no clients");
    return weft_agree(words_own(d, tok), d->team);
}
