/* Data sets of which a simulated run knows only the sizes. The file is a text:
 *     clients FORM D SYMBOLS-OR-CLASSES      then a line "TRAIN VALID" for each client,
 *     rows D CLASSES TRAIN VALID TEST        of bytes, which are noise from 0 to 255,
 * Linked into weft-sim in place of src/data/data.c. */
#include "data/federation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sizes {
    weft_federation own; /* the first member: what weft_clients points to */
    int64_t (*count)[2]; /* [n] train, valid */
    weft_generator none; /* says that nothing is in a file */
};

static weft_client find(const weft_clients *f, int64_t c)
{
    const struct sizes *s = (const struct sizes *)(const void *)f->own;
    return (weft_client){.c = c, .count = {s->count[c][0], s->count[c][1], 0}};
}

static weft_status take(const weft_clients *f, const weft_client *at, weft_part part,
                        weft_samples *out, weft_arena *mem)
{
    (void)f, (void)at, (void)part, (void)out, (void)mem;
    weft_die("a simulated client has no samples");
}

static void read_clients(weft_data *d, FILE *file)
{
    enum { MOST = 1 << 21 };
    weft_clients *f = d->clients = WEFT_NEW(d->mem, weft_clients, 1);
    struct sizes *s = WEFT_NEW(d->mem, struct sizes, 1);
    char form[16];
    int classes;
    long long width, train, valid;
    weft_check(fscanf(file, "%15s %lld %d", form, &width, &classes) == 3, "%s", d->path);
    d->form = strcmp(form, "chars") == 0 ? WEFT_CHARS : WEFT_REALS;
    d->classes = classes;
    *f = (weft_clients){.d = width, .stride = 1, .own = &s->own};
    f->symbols = d->form == WEFT_CHARS ? classes : 0;
    s->own =
        (weft_federation){.find = find, .take = take, .data = d, .generator = &s->none};
    int64_t room = 0;
    while (fscanf(file, "%lld %lld", &train, &valid) == 2) {
        s->count = weft_grow(d->mem, s->count, sizeof *s->count, f->n, &room);
        s->count[f->n][0] = train;
        s->count[f->n++][1] = valid;
        d->part[WEFT_TRAIN].total += train;
        d->part[WEFT_VALID].total += valid;
    }
}

static void read_rows(weft_data *d, FILE *file)
{
    long long width, total[WEFT_NPART];
    weft_check(fscanf(file, "%lld %d %lld %lld %lld", &width, &d->classes, &total[0],
                      &total[1], &total[2]) == 5,
               "%s", d->path);
    d->form = WEFT_BYTES;
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_rows *r = &d->part[p];
        *r = (weft_rows){.total = total[p], .d = width};
        weft_deal(r->total, d->team->rank, d->team->size, &r->first, &r->n);
        int32_t *label = WEFT_NEW(d->mem, int32_t, r->n);
        for (int64_t i = 0; i < r->n; i++)
            label[i] = (int32_t)((r->first + i) % d->classes);
        r->label = label;
        uint8_t *byte = WEFT_NEW(d->mem, uint8_t, r->n * width);
        for (int64_t i = 0; i < r->n * width; i++) {
            uint64_t at = (uint64_t)(r->first * width + i);
            /* The first two rows have the least and the largest value in every column. */
            byte[i] =
                (uint8_t)(at < (uint64_t)width       ? 0
                          : at < 2 * (uint64_t)width ? 255
                                                     : at * 0x9e3779b97f4a7c15u >> 56);
        }
        r->byte = byte;
    }
}

weft_status weft_data_open(weft_data *d, const char *path, weft_team *t, weft_arena *mem)
{
    char kind[16] = "";
    FILE *file = fopen(path, "r");
    weft_check(file && fscanf(file, "%15s", kind) == 1, "cannot read %s", path);
    *d = (weft_data){.digest = "simulated", .path = path, .mem = mem, .team = t};
    if (strcmp(kind, "clients") == 0)
        read_clients(d, file);
    else
        read_rows(d, file);
    fclose(file);
    return WEFT_OK;
}

weft_status weft_data_sound(const weft_data *d)
{
    (void)d;
    return WEFT_OK;
}

void weft_data_bind(weft_data *d, weft_data *more)
{
    (void)d, (void)more;
}

void weft_data_close(weft_data *d)
{
    (void)d;
}

weft_status weft_data_tokens(weft_data *d, weft_tokenizer tok)
{
    (void)d, (void)tok;
    weft_die("a simulated run has no documents");
}

weft_status weft_data_vocab(weft_data *d, weft_tokenizer tok)
{
    return weft_data_tokens(d, tok);
}

weft_status weft_data_words(weft_data *d, weft_tokenizer tok)
{
    return weft_data_tokens(d, tok);
}
