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

/* ---- options ---- */

static int has_option(const weft_kind *kind, const char *key)
{
    for (const weft_opt *o = kind->opts; o->name != NULL; o++)
        if (weft_opt_is(o, key)) return 1;
    return 0;
}

/* The option of either whose name is nearest to a key that neither has. */
static const char *nearest_option(const weft_kind *const kind[2], const char *key,
                                  weft_arena *mem)
{
    int n = 0, all = 0;
    for (int i = 0; i < 2; i++)
        for (const weft_opt *o = kind[i]->opts; o->name != NULL; o++) all++;
    const char **name = WEFT_NEW(mem, const char *, all);
    for (int i = 0; i < 2; i++)
        for (const weft_opt *o = kind[i]->opts; o->name != NULL; o++) {
            char *text = WEFT_NEW(mem, char, strlen(o->name) + 1);
            weft_opt_name(o, text, strlen(o->name) + 1);
            name[n++] = text;
        }
    return weft_nearest(key, name, n);
}

/* Gives a word to the options that have its key; *own is that key if only the partition has
 * it. */
static weft_status sort_word(weft_conf *conf, const weft_kind *const kind[2],
                             const char *word, const char **own, weft_arena *mem)
{
    const char *key = weft_arena_text(mem, "%.*s", (int)strcspn(word, "="), word);
    int mine = has_option(kind[0], key), shared = has_option(kind[1], key);
    if (!mine && !shared) {
        const char *near = nearest_option(kind, key, mem);
        mine = has_option(kind[0], near);
        shared = !mine;
    } else if (!mine) {
        *own = key;
    }
    if (mine) TRY(weft_conf_set(conf, weft_arena_text(mem, "%s.%s", kind[0]->name, word)));
    if (shared)
        TRY(weft_conf_set(conf, weft_arena_text(mem, "%s.%s", kind[1]->name, word)));
    return WEFT_OK;
}

weft_status weft_pack_options(const weft_reader *reader, int n, const char *const *word,
                              void **self, weft_partition *over, weft_arena *mem)
{
    const weft_kind *const kind[2] = {&reader->kind, &weft_partition_kind};
    const char *own = NULL;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    for (int i = 0; i < n; i++) TRY(sort_word(&conf, kind, word[i], &own, mem));
    *self = weft_arena_alloc(mem, 1, reader->kind.size);
    TRY(weft_conf_bind(&conf, &reader->kind, *self));
    TRY(weft_conf_bind(&conf, &weft_partition_kind, over));
    if (own != NULL && over->clients == 0)
        return weft_fail(WEFT_ECONF,
                         "%s says how rows are split over clients: give "
                         "clients = N, 1 or more, too",
                         own);
    return WEFT_OK;
}

weft_status weft_partition_refuse(const weft_pack *p)
{
    if (p->own->held != NULL) return WEFT_OK; /* they are these clients */
    const char *name = p->own->reader->kind.name;
    int own = has_option(&p->own->reader->kind, "clients");
    if (p->own->over.rule == WEFT_PART_NONE && (p->own->over.clients == 0 || own))
        return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s gives samples to clients of its own: leave out partition%s", name,
                     own ? "" : " and clients");
}

/* ---- rows ---- */

weft_status weft_pack_hold(weft_pack *p)
{
    TRY(weft_partition_check(&p->own->over, p->own->rows[WEFT_TRAIN]));
    weft_pack_held *h = p->own->held = WEFT_NEW(p->mem, weft_pack_held, 1);
    for (int i = 0; i < WEFT_NPART; i++)
        h->x[i] = weft_arena_alloc(p->mem, (size_t)p->own->rows[i], p->own->row);
    return WEFT_OK;
}

void weft_pack_hold_rows(weft_pack *p, weft_part part, int64_t count, const void *x)
{
    weft_pack_held *h = p->own->held;
    memcpy(h->x[part] + (size_t)p->own->part[part].n * p->own->row, x,
           (size_t)count * p->own->row);
}

/* The next client: its rows of each part, gathered. */
static weft_status put_client(weft_pack *p)
{
    weft_pack_held *h = p->own->held;
    int64_t count[WEFT_NPART], n = 0;
    for (int i = 0; i < WEFT_NPART; i++) n += count[i] = h->count[i][h->client];
    size_t mark = weft_arena_mark(p->scratch);
    char *x = weft_arena_alloc(p->scratch, (size_t)n, p->own->row);
    int32_t *label = WEFT_NEW(p->scratch, int32_t, n);
    for (int i = 0, to = 0; i < WEFT_NPART; i++)
        for (int64_t end = h->next[i] + count[i]; h->next[i] < end; h->next[i]++, to++) {
            int64_t row = h->order[i][h->next[i]];
            memcpy(x + (size_t)to * p->own->row, h->x[i] + (size_t)row * p->own->row,
                   p->own->row);
            label[to] = h->label[i][row];
        }
    h->client++;
    weft_status st = weft_pack_client_stored(p, NULL, count, x, label);
    weft_arena_reset(p->scratch, mark);
    return st;
}

/* Deals the rows of every part: order[part][n], count[part][clients] as
 * weft_partition_deal; adds the rule to that of the split. */
static weft_status deal(weft_pack *p, int64_t *order[WEFT_NPART],
                        int64_t *count[WEFT_NPART])
{
    double *share = WEFT_NEW(p->mem, double, p->own->classes);
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t n = p->own->part[i].n, *rows;
        TRY(weft_pack_count(p, (weft_part)i, &rows));
        for (int k = 0; k < p->own->classes && i == WEFT_TRAIN; k++)
            share[k] = (double)rows[k] / (double)n;
        weft_labelled l = {.part = (weft_part)i,
                           .n = n,
                           .label = p->own->part[i].label,
                           .classes = p->own->classes,
                           .share = share};
        order[i] = WEFT_NEW(p->mem, int64_t, n);
        count[i] = WEFT_NEW(p->mem, int64_t, p->own->over.clients);
        weft_partition_deal(&p->own->over, &l, order[i], count[i], p->scratch);
    }
    weft_pack_split_add(p, weft_partition_text(&p->own->over, p->mem));
    return WEFT_OK;
}

weft_status weft_pack_deal(weft_pack *p)
{
    weft_pack_held *h = p->own->held;
    TRY(deal(p, h->order, h->count));
    for (int i = 0; i < WEFT_NPART; i++) {
        h->label[i] = p->own->part[i].label;
        p->own->part[i].n = 0; /* to be counted again, client by client */
    }
    weft_clients all = {.d = p->own->d,
                        .channels = p->own->image[0],
                        .height = p->own->image[1],
                        .width = p->own->image[2],
                        .stride = 1};
    TRY(weft_pack_clients(p, (weft_form)p->own->form, &all));
    for (int64_t c = 0; c < p->own->over.clients; c++) TRY(put_client(p));
    return WEFT_OK;
}

weft_status weft_pack_own(weft_pack *p)
{
    int64_t *order[WEFT_NPART], *count[WEFT_NPART];
    TRY(weft_partition_check(&p->own->over, p->own->part[WEFT_TRAIN].n));
    TRY(deal(p, order, count));
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t n = p->own->part[i].n, next = 0, *owner = WEFT_NEW(p->mem, int64_t, n);
        for (int64_t c = 0; c < p->own->over.clients; c++)
            for (int64_t end = next + count[i][c]; next < end; next++)
                owner[order[i][next]] = c;
        TRY(weft_pack_put(p, weft_arena_text(p->mem, "/%s/owner", weft_part_name[i]),
                          WEFT_H5_I64, n, owner, "client that each document belongs to",
                          "0 .. owners - 1"));
    }
    return weft_h5_put_long(&p->own->file, "/", "owners", p->own->over.clients);
}
