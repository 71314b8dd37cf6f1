/* Documents that belong to clients: a packed file holds them part by part, as without
 * clients, so that every task reads them alike, and beside them the client of each. Labels
 * and words are used in the mapped file. Layout: /@owners, the number of clients;
 * /PART/owner; /client/name where they have names. */

#include "data.h"

#include <limits.h>

struct weft_owned {
    int64_t *first[WEFT_NPART]; /* [clients + 1] place in document of each client's own */
    int64_t *document[WEFT_NPART]; /* [rows of the part] client after client */
    weft_h5map label[WEFT_NPART];  /* [rows] */
    weft_h5map offset[WEFT_NPART], token[WEFT_NPART]; /* of a tokenizer, where words are */
    int words;                                        /* 1: they are */
    uint32_t nword;                                   /* of the vocabulary */
};

/* ---- samples ---- */

static weft_client owned_find(const weft_clients *clients, int64_t c)
{
    weft_client client = {.c = c};
    for (int p = 0; p < WEFT_NPART; p++) {
        const int64_t *first = clients->own->owned->first[p];
        client.count[p] = first[c + 1] - first[c];
    }
    return client;
}

/* The words of a document. Its offsets were in order when they were opened; they are not
 * where the file was cut short since. */
static weft_status take_words(const weft_clients *clients, weft_part part, int64_t document,
                              const uint32_t **word, int *length, weft_arena *mem)
{
    const weft_owned *owned = clients->own->owned;
    const void *rows, *words;
    TRY(weft_h5_map_rows(&owned->offset[part], document, 2, &rows, mem));
    const int64_t *offset = rows;
    if (offset[1] < offset[0] || offset[1] - offset[0] > clients->d) {
        TRY(weft_client_sound(clients));
        return data_fail(clients->own->data,
                         ": document %lld of the %s part changed while it was in use",
                         (long long)document, weft_part_name[part]);
    }
    *length = (int)(offset[1] - offset[0]);
    TRY(weft_h5_map_rows(&owned->token[part], offset[0], *length, &words, mem));
    *word = words;
    return WEFT_OK;
}

static weft_status owned_take(const weft_clients *clients, const weft_client *client,
                              weft_part part, weft_samples *out, weft_arena *mem)
{
    const weft_owned *owned = clients->own->owned;
    const int64_t *document = owned->document[part] + owned->first[part][client->c];
    int64_t n = client->count[part];
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    const uint32_t **word = owned->words ? WEFT_NEW(mem, const uint32_t *, n) : NULL;
    int *length = owned->words ? WEFT_NEW(mem, int, n) : NULL;
    for (int64_t i = 0; i < n; i++) {
        const void *row;
        TRY(weft_h5_map_rows(&owned->label[part], document[i], 1, &row, mem));
        label[i] = *(const int32_t *)row;
        if (word) TRY(take_words(clients, part, document[i], &word[i], &length[i], mem));
    }
    *out = (weft_samples){.n = n, .label = label, .word = word, .length = length};
    return WEFT_OK;
}

/* ---- opening ---- */

static weft_status check_words(const void *self, int64_t first, int64_t n, const void *word)
{
    const weft_data *data = self;
    const uint32_t *number = word, words = data->owners->own->owned->nword;
    for (int64_t i = 0; i < n; i++)
        if (number[i] >= words)
            return data_fail(data, ": token %lld is word %u of %u", (long long)(first + i),
                             (unsigned)number[i], (unsigned)words);
    return WEFT_OK;
}

/* The documents of each client, in the order of the file. */
static weft_status sort_part(weft_data *data, int part)
{
    weft_clients *clients = data->owners;
    weft_owned *owned = clients->own->owned;
    const char *name = data_name(data, part, "owner");
    int64_t rows = data->part[part].total, dims[WEFT_H5_DIMS];
    int nd;
    TRY(weft_h5_shape(&data->file, name, &nd, dims));
    int64_t *first = owned->first[part] = WEFT_NEW(data->mem, int64_t, clients->n + 1);
    int64_t *document = owned->document[part] = WEFT_NEW(data->mem, int64_t, rows);
    WEFT_REWIND(data->mem);
    int64_t *owner = WEFT_NEW(data->mem, int64_t, rows);
    int good = nd == 1 && dims[0] == rows;
    if (good) TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_I64, 1, 0, rows, owner));
    for (int64_t i = 0; i < rows && good; i++) {
        good = owner[i] >= 0 && owner[i] < clients->n;
        if (good) first[owner[i] + 1]++;
    }
    if (!good)
        return data_fail(
            data, ": %s does not name one of %lld clients for each of %lld documents", name,
            (long long)clients->n, (long long)rows);
    for (int64_t c = 0; c < clients->n; c++) {
        weft_sizes_add(&clients->size[part], first[c + 1]);
        first[c + 1] += first[c];
    }
    for (int64_t i = 0; i < rows; i++) document[first[owner[i]]++] = i;
    if (data->scored && part == WEFT_TEST) data->row = document;
    for (int64_t c = clients->n; c > 0; c--) first[c] = first[c - 1];
    first[0] = 0;
    return WEFT_OK;
}

int weft_owners_are(weft_data *data)
{
    return data->form == WEFT_TOKENS && weft_h5_has(&data->file, "/@owners");
}

weft_status weft_owners_open(weft_data *data)
{
    weft_clients *clients = data_clients_new(
        &(weft_federation){.find = owned_find, .take = owned_take, .data = data},
        data->mem);
    weft_owned *owned = clients->own->owned = WEFT_NEW(data->mem, weft_owned, 1);
    for (int p = 0; p < WEFT_NPART; p++)
        owned->label[p].set = owned->offset[p].set = owned->token[p].set =
            clients->own->name;
    data->owners = clients;
    TRY(weft_h5_read_long(&data->file, "/", "owners", &clients->n));
    int64_t rows = 0;
    for (int p = 0; p < WEFT_NPART; p++) rows += data->part[p].total;
    if (clients->n < 1 || clients->n > rows)
        return data_fail(data, ": %lld documents of %lld clients", (long long)rows,
                         (long long)clients->n);
    for (int p = 0; p < WEFT_NPART; p++) {
        TRY(sort_part(data, p));
        TRY(weft_h5_map_open(&owned->label[p], &data->file, data_name(data, p, "label"),
                             WEFT_H5_I32, weft_labels_check, data));
    }
    clients->named = weft_h5_has(&data->file, "/client/name");
    if (!clients->named) return WEFT_OK;
    weft_h5set *name = &clients->own->name;
    TRY(weft_h5_set_open(name, &data->file, "/client/name"));
    if (name->nd == 1 && name->dims[0] == clients->n) return WEFT_OK;
    return data_fail(data, ": %s does not name %lld clients", name->name,
                     (long long)clients->n);
}

void weft_owners_close(weft_data *data)
{
    if (!data->owners || !data->owners->own->owned) return;
    weft_h5_set_close(&data->owners->own->name);
    weft_owned *owned = data->owners->own->owned;
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_h5_map_close(&owned->label[p]);
        weft_h5_map_close(&owned->offset[p]);
        weft_h5_map_close(&owned->token[p]);
    }
}

/* ---- words ---- */

/* Opens the words of a part, and looks at the length of each document. */
static weft_status open_words(weft_data *data, int part, weft_tokenizer tok,
                              int64_t *tokens)
{
    weft_clients *clients = data->owners;
    weft_owned *owned = clients->own->owned;
    weft_h5map *offset = &owned->offset[part], *token = &owned->token[part];
    const char *name = weft_tok_name[tok];
    TRY(weft_h5_map_open(offset, &data->file,
                         weft_token_name(data, weft_part_name[part], tok, "offset"),
                         WEFT_H5_I64, NULL, data));
    TRY(weft_h5_map_open(token, &data->file,
                         weft_token_name(data, weft_part_name[part], tok, "token"),
                         WEFT_H5_U32, check_words, data));
    int64_t rows = data->part[part].total, before = 0;
    int good = offset->set.nd == 1 && token->set.nd == 1 && offset->set.dims[0] == rows + 1;
    for (int64_t i = 0; i <= rows && good; i++) {
        WEFT_REWIND(data->mem);
        const void *at;
        TRY(weft_h5_map_rows(offset, i, 1, &at, data->mem));
        int64_t end = *(const int64_t *)at, n = end - before;
        good = i == 0 ? end == 0 : n >= 0 && n <= INT_MAX / 4;
        if (i > 0 && n > clients->d) clients->d = n;
        before = end;
    }
    *tokens += before;
    if (good && before == token->set.dims[0]) return WEFT_OK;
    return data_fail(data, ": the %s documents of tokenizer %s are not one after the other",
                     weft_part_name[part], name);
}

static weft_status words_own(weft_data *data, weft_tokenizer tok)
{
    weft_clients *clients = data->owners;
    weft_owned *owned = clients->own->owned;
    int64_t tokens = 0, documents = 0;
    TRY(weft_data_vocab(data, tok));
    owned->nword = (uint32_t)data->vocab[tok].n;
    clients->d = 1;
    for (int p = 0; p < WEFT_NPART; p++) {
        TRY(open_words(data, p, tok, &tokens));
        documents += data->part[p].total;
    }
    clients->length = (double)tokens / (double)documents;
    owned->words = 1;
    return weft_h5_sound(&data->file);
}

weft_status weft_data_own_words(weft_data *data, weft_tokenizer tok)
{
    weft_check(data->owners && !data->owners->own->owned->words, "words of no clients");
    return weft_agree(words_own(data, tok), data->team);
}
