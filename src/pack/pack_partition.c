/* Packing a labelled set as a federation: its rows are kept until the last one has been
 * read, assigned to clients by partition.c and passed on client by client; documents stay
 * in their order, and the client of each is written beside them. */
#include "pack.h"
#include "partition.h"

#include <string.h>

struct weft_pack_held {
    char *x[WEFT_NPART];              /* [n] rows of each part */
    const int32_t *label[WEFT_NPART]; /* [n] of each part */
    int64_t *order[WEFT_NPART];       /* [n] rows, client after client */
    int64_t *count[WEFT_NPART];       /* [clients] of them */
    int64_t client;                   /* the next one to be passed on, */
    int64_t next[WEFT_NPART];         /* and its first place in order */
};

/* ---- rows ---- */

weft_status weft_pack_hold(weft_pack *pack)
{
    TRY(weft_partition_check(&pack->own->over, pack->own->rows[WEFT_TRAIN]));
    weft_pack_held *held = pack->own->held = WEFT_NEW(pack->mem, weft_pack_held, 1);
    for (int i = 0; i < WEFT_NPART; i++)
        held->x[i] =
            weft_arena_alloc(pack->mem, (size_t)pack->own->rows[i], pack->own->row);
    return WEFT_OK;
}

void weft_pack_hold_rows(weft_pack *pack, weft_part part, int64_t count, const void *x)
{
    weft_pack_held *held = pack->own->held;
    memcpy(held->x[part] + (size_t)pack->own->part[part].n * pack->own->row, x,
           (size_t)count * pack->own->row);
}

/* The next client: its rows of each part, gathered. */
static weft_status put_client(weft_pack *pack)
{
    weft_pack_held *held = pack->own->held;
    int64_t count[WEFT_NPART], n = 0;
    for (int i = 0; i < WEFT_NPART; i++) n += count[i] = held->count[i][held->client];
    size_t mark = weft_arena_mark(pack->scratch);
    char *x = weft_arena_alloc(pack->scratch, (size_t)n, pack->own->row);
    int32_t *label = WEFT_NEW(pack->scratch, int32_t, n);
    for (int i = 0, to = 0; i < WEFT_NPART; i++)
        for (int64_t end = held->next[i] + count[i]; held->next[i] < end;
             held->next[i]++, to++) {
            int64_t row = held->order[i][held->next[i]];
            memcpy(x + (size_t)to * pack->own->row,
                   held->x[i] + (size_t)row * pack->own->row, pack->own->row);
            label[to] = held->label[i][row];
        }
    held->client++;
    weft_status st = weft_pack_client_stored(pack, NULL, count, x, label);
    weft_arena_reset(pack->scratch, mark);
    return st;
}

/* Deals the rows of every part: order[part][n], count[part][clients] as
 * weft_partition_deal; adds the rule to that of the split. */
static weft_status deal(weft_pack *pack, int64_t *order[WEFT_NPART],
                        int64_t *count[WEFT_NPART])
{
    double *share = WEFT_NEW(pack->mem, double, pack->own->classes);
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t n = pack->own->part[i].n, *rows;
        TRY(weft_pack_count(pack, (weft_part)i, &rows));
        for (int k = 0; k < pack->own->classes && i == WEFT_TRAIN; k++)
            share[k] = (double)rows[k] / (double)n;
        weft_labelled labelled = {.part = (weft_part)i,
                                  .n = n,
                                  .label = pack->own->part[i].label,
                                  .classes = pack->own->classes,
                                  .share = share};
        order[i] = WEFT_NEW(pack->mem, int64_t, n);
        count[i] = WEFT_NEW(pack->mem, int64_t, pack->own->over.clients);
        weft_partition_deal(&pack->own->over, &labelled, order[i], count[i], pack->scratch);
    }
    weft_pack_split_add(pack, weft_partition_text(&pack->own->over, pack->mem));
    return WEFT_OK;
}

weft_status weft_pack_deal(weft_pack *pack)
{
    weft_pack_held *held = pack->own->held;
    TRY(deal(pack, held->order, held->count));
    for (int i = 0; i < WEFT_NPART; i++) {
        held->label[i] = pack->own->part[i].label;
        pack->own->part[i].n = 0; /* to be counted again, client by client */
    }
    weft_clients all = {.d = pack->own->d,
                        .channels = pack->own->image[0],
                        .height = pack->own->image[1],
                        .width = pack->own->image[2],
                        .stride = 1};
    TRY(weft_pack_clients(pack, (weft_form)pack->own->form, &all));
    for (int64_t c = 0; c < pack->own->over.clients; c++) TRY(put_client(pack));
    return WEFT_OK;
}

weft_status weft_pack_owners(weft_pack *pack, int64_t n, const char *const *name,
                             int64_t *const owner[WEFT_NPART])
{
    TRY(weft_partition_refuse(pack));
    pack->own->owners = n;
    pack->own->owner_name = name;
    for (int p = 0; p < WEFT_NPART; p++) pack->own->owner[p] = owner[p];
    return WEFT_OK;
}

/* Deals the documents to clients. */
static weft_status deal_documents(weft_pack *pack)
{
    int64_t *order[WEFT_NPART], *count[WEFT_NPART];
    TRY(weft_partition_check(&pack->own->over, pack->own->part[WEFT_TRAIN].n));
    TRY(deal(pack, order, count));
    pack->own->owners = pack->own->over.clients;
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t next = 0, *owner = WEFT_NEW(pack->mem, int64_t, pack->own->part[i].n);
        for (int64_t c = 0; c < pack->own->owners; c++)
            for (int64_t end = next + count[i][c]; next < end; next++)
                owner[order[i][next]] = c;
        pack->own->owner[i] = owner;
    }
    return WEFT_OK;
}

weft_status weft_pack_own(weft_pack *pack)
{
    const weft_packing *own = pack->own;
    if (own->owner_name == NULL) TRY(deal_documents(pack));
    for (int i = 0; i < WEFT_NPART; i++)
        TRY(weft_pack_put(pack, weft_arena_text(pack->mem, "/%s/owner", weft_part_name[i]),
                          WEFT_H5_I64, own->part[i].n, own->owner[i],
                          "client that each document belongs to", "0 .. owners - 1"));
    for (int64_t c = 0; c < own->owners && own->owner_name; c++)
        weft_digest_add(own->digest, own->owner_name[c], strlen(own->owner_name[c]) + 1);
    if (own->owner_name)
        TRY(weft_h5_put_texts(&pack->own->file, "/client/name", own->owner_name,
                              own->owners, "name of each client"));
    return weft_h5_put_long(&pack->own->file, "/", "owners", own->owners);
}
