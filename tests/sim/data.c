/* Data sets of which a simulated run knows only the sizes. The file is a text:
 *     clients FORM D SYMBOLS-OR-CLASSES      then "TRAIN VALID" for each client,
 *     rows D CLASSES TRAIN VALID TEST        of bytes, which are noise from 0 to 255,
 * Linked into weft-sim in place of src/data/data.c. */
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sizes {
    weft_federation own; /* the first member: what weft_clients points to */
    int64_t (*count)[2]; /* [n] train, valid */
    weft_generator none; /* says that nothing is in a file */
};

static weft_client find(const weft_clients *clients, int64_t c)
{
    const struct sizes *sizes = (const struct sizes *)(const void *)clients->own;
    return (weft_client){.c = c, .count = {sizes->count[c][0], sizes->count[c][1], 0}};
}

static weft_status take(const weft_clients *clients, const weft_client *client,
                        weft_part part, weft_samples *out, weft_arena *mem)
{
    (void)clients, (void)client, (void)part, (void)out, (void)mem;
    weft_die("a simulated client has no samples");
}

static void read_clients(weft_data *data, FILE *file)
{
    enum { MOST = 1 << 21 };
    weft_clients *clients = data->clients = WEFT_NEW(data->mem, weft_clients, 1);
    struct sizes *sizes = WEFT_NEW(data->mem, struct sizes, 1);
    char form[16];
    int classes;
    long long width, train, valid;
    weft_check(fscanf(file, "%15s %lld %d", form, &width, &classes) == 3, "%s", data->path);
    data->form = strcmp(form, "chars") == 0 ? WEFT_CHARS : WEFT_REALS;
    data->classes = classes;
    *clients = (weft_clients){.d = width, .stride = 1, .own = &sizes->own};
    clients->symbols = data->form == WEFT_CHARS ? classes : 0;
    sizes->own = (weft_federation){
        .find = find, .take = take, .data = data, .generator = &sizes->none};
    int64_t room = 0;
    while (fscanf(file, "%lld %lld", &train, &valid) == 2) {
        sizes->count =
            weft_grow(data->mem, sizes->count, sizeof *sizes->count, clients->n, &room);
        sizes->count[clients->n][0] = train;
        sizes->count[clients->n++][1] = valid;
        data->part[WEFT_TRAIN].total += train;
        data->part[WEFT_VALID].total += valid;
    }
}

static void read_rows(weft_data *data, FILE *file)
{
    long long width, total[WEFT_NPART];
    weft_check(fscanf(file, "%lld %d %lld %lld %lld", &width, &data->classes, &total[0],
                      &total[1], &total[2]) == 5,
               "%s", data->path);
    data->form = WEFT_BYTES;
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_rows *rows = &data->part[p];
        *rows = (weft_rows){.total = total[p], .d = width};
        weft_deal(rows->total, data->team->rank, data->team->size, &rows->first, &rows->n);
        int32_t *label = WEFT_NEW(data->mem, int32_t, rows->n);
        for (int64_t i = 0; i < rows->n; i++)
            label[i] = (int32_t)((rows->first + i) % data->classes);
        rows->label = label;
        uint8_t *byte = WEFT_NEW(data->mem, uint8_t, rows->n * width);
        for (int64_t i = 0; i < rows->n * width; i++) {
            uint64_t at = (uint64_t)(rows->first * width + i);
            /* The first two rows have the least and the largest value in every column. */
            byte[i] =
                (uint8_t)(at < (uint64_t)width       ? 0
                          : at < 2 * (uint64_t)width ? 255
                                                     : at * 0x9e3779b97f4a7c15u >> 56);
        }
        rows->byte = byte;
    }
}

weft_status weft_data_open(weft_data *data, const char *path, weft_team *team,
                           weft_arena *mem)
{
    char kind[16] = "";
    FILE *file = fopen(path, "r");
    weft_check(file && fscanf(file, "%15s", kind) == 1, "cannot read %s", path);
    *data = (weft_data){
        .digest = "simulated", .notation = "", .path = path, .mem = mem, .team = team};
    if (strcmp(kind, "clients") == 0)
        read_clients(data, file);
    else
        read_rows(data, file);
    fclose(file);
    return WEFT_OK;
}

weft_status weft_data_open_some(weft_data *data, const char *path,
                                const weft_window *window, weft_team *team, weft_arena *mem)
{
    (void)window;
    return weft_data_open(data, path, team, mem);
}

weft_status weft_data_sizes(const char *path, int64_t rows[WEFT_NPART], int64_t *classes,
                            weft_arena *mem)
{
    (void)rows, (void)classes, (void)mem;
    return weft_fail(WEFT_EFILE, "%s: nothing is known of a simulated file", path);
}

weft_status weft_data_sound(const weft_data *data)
{
    (void)data;
    return WEFT_OK;
}

void weft_data_bind(weft_data *data, weft_data *more)
{
    (void)data, (void)more;
}

void weft_data_close(weft_data *data)
{
    (void)data;
}

weft_status weft_data_tokens(weft_data *data, weft_tokenizer tok)
{
    (void)data, (void)tok;
    weft_die("a simulated run has no documents");
}

static weft_status load_tokens(void *of, weft_tokenizer tok)
{
    return weft_data_tokens(of, tok);
}

weft_source weft_data_source(weft_data *data)
{
    return (weft_source){.form = data->form,
                         .classes = data->classes,
                         .part = data->part,
                         .vocab = data->vocab,
                         .path = data->path,
                         .team = data->team,
                         .tokens = load_tokens,
                         .of = data};
}
