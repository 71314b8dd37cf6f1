/* The directions of sentences in several languages as clients of a federation: a pair is a
 * sample, whose source begins with the name of the target language. */
#include "federation.h"
#include "weft/translations.h"

static weft_client direction_find(const weft_clients *clients, int64_t c)
{
    weft_client client = {.c = c};
    for (int p = 0; p < WEFT_NPART; p++) {
        const int64_t *first = clients->own->data->pairs->first + p * clients->n + c;
        client.count[p] = first[1] - first[0];
    }
    return client;
}

static weft_status direction_take(const weft_clients *clients, const weft_client *client,
                                  weft_part part, weft_samples *out, weft_arena *mem)
{
    const weft_pair_rows *pairs = clients->own->data->pairs;
    int64_t n = client->count[part], words = n,
            at = pairs->first[part * clients->n + client->c];
    int target = pairs->of->direction[client->c].target;
    for (int64_t i = 0; i < n; i++) words += pairs->sources[at + i];
    uint32_t *named = WEFT_NEW(mem, uint32_t, words);
    const uint32_t **word = WEFT_NEW(mem, const uint32_t *, n);
    int *length = WEFT_NEW(mem, int, n);
    for (int64_t i = 0; i < n; i++, named += length[i - 1]) {
        weft_pair_rows_name(pairs, at + i, target, named);
        word[i] = named;
        length[i] = pairs->sources[at + i] + 1;
    }
    *out = (weft_samples){.n = n,
                          .word = word,
                          .length = length,
                          .translation = pairs->target + at,
                          .translated = pairs->targets + at};
    return WEFT_OK;
}

void weft_data_own_pairs(weft_data *data)
{
    if (data->owners) return;
    const weft_translations *of = data->translations;
    weft_arena *mem = data->mem;
    weft_pair_rows *pairs = WEFT_NEW(mem, weft_pair_rows, 1);
    weft_clients *clients = WEFT_NEW(mem, weft_clients, 1);
    const char **name = WEFT_NEW(mem, const char *, of->directions);
    *pairs = weft_pair_rows_new(of, 0, mem);
    data->pairs = pairs;
    data->owners = clients;
    *clients = (weft_clients){.n = of->directions, .stride = 1, .named = 1};
    clients->own = WEFT_NEW(mem, weft_federation, 1);
    *clients->own = (weft_federation){
        .find = direction_find, .take = direction_take, .data = data, .names = name};
    for (int64_t c = 0; c < clients->n; c++) {
        weft_client client = direction_find(clients, c);
        for (int p = 0; p < WEFT_NPART; p++)
            weft_sizes_add(&clients->size[p], client.count[p]);
        name[c] = weft_direction_name(of, c, mem);
    }
}
