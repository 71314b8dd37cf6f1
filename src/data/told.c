/* Federations whose samples somebody else holds, such as a worker: only their sizes and
 * names are known here. */
#include "federation.h"

#include <string.h>

static weft_client told_find(const weft_clients *clients, int64_t c)
{
    weft_client client = {.c = c};
    memcpy(client.count, clients->own->count + c * WEFT_NPART, sizeof client.count);
    return client;
}

static weft_status told_take(const weft_clients *clients, const weft_client *client,
                             weft_part part, weft_samples *out, weft_arena *mem)
{
    (void)part;
    (void)out;
    (void)mem;
    weft_die("samples of client %lld of %lld, which are elsewhere", (long long)client->c,
             (long long)clients->n);
}

void weft_data_tell(weft_data *data, const char *path, int64_t n, const int64_t *count,
                    const char *names, weft_arena *mem)
{
    weft_federation *own = WEFT_NEW(mem, weft_federation, 1);
    weft_clients *clients = WEFT_NEW(mem, weft_clients, 1);
    const char **name = names ? WEFT_NEW(mem, const char *, n) : NULL;
    for (int64_t c = 0; names && c < n; c++) {
        name[c] = names;
        names += strlen(names) + 1;
    }
    *clients = (weft_clients){.n = n, .stride = 1, .named = names != NULL, .own = own};
    *data = (weft_data){
        .form = WEFT_REALS, .digest = "", .clients = clients, .path = path, .mem = mem};
    *own = (weft_federation){
        .find = told_find, .take = told_take, .data = data, .count = count, .names = name};
    for (int64_t c = 0; c < n; c++)
        for (int part = 0; part < WEFT_NPART; part++)
            weft_sizes_add(&clients->size[part], count[c * WEFT_NPART + part]);
    for (int part = 0; part < WEFT_NPART; part++)
        data->part[part].total = clients->size[part].total;
}
