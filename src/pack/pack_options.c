/* Options on the command line of `weft pack`: those of the reader, and those by which rows
 * are divided over clients. */
#include "pack.h"
#include "partition.h"
#include "weft/conf.h"
#include "weft/h5.h"

#include <string.h>

static int has_option(const weft_kind *kind, const char *key)
{
    for (const weft_opt *opt = kind->opts; opt->name != NULL; opt++)
        if (weft_opt_is(opt, key)) return 1;
    return 0;
}

/* The option of either whose name is nearest to a key that neither has. */
static const char *nearest_option(const weft_kind *const kind[2], const char *key,
                                  weft_arena *mem)
{
    int n = 0, all = 0;
    for (int i = 0; i < 2; i++)
        for (const weft_opt *opt = kind[i]->opts; opt->name != NULL; opt++) all++;
    const char **name = WEFT_NEW(mem, const char *, all);
    for (int i = 0; i < 2; i++)
        for (const weft_opt *opt = kind[i]->opts; opt->name != NULL; opt++) {
            char *text = WEFT_NEW(mem, char, strlen(opt->name) + 1);
            weft_opt_name(opt, text, strlen(opt->name) + 1);
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

/* Sets the options by which the source was read that this one is to be like, see
 * weft_pack_notation. */
static weft_status set_known(weft_conf *conf, const weft_kind *kind, const char *like,
                             weft_arena *mem)
{
    weft_h5 file;
    const char *notation = "";
    TRY(weft_h5_open(&file, like, mem));
    weft_status st = weft_h5_find_attr(
        &file, weft_h5_has(&file, "/winner") ? "/winner" : "/", "notation", &notation);
    weft_h5_close(&file);
    TRY(st);
    return weft_conf_text(conf, like,
                          weft_arena_text(mem, "[%s]\n%s", kind->name, notation));
}

weft_status weft_pack_options(const weft_reader *reader, int n, const char *const *word,
                              void **self, weft_partition *over, weft_arena *mem)
{
    const weft_kind *const kind[2] = {&reader->kind, &weft_partition_kind};
    static const char like[] = "like=";
    const char *own = NULL;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    for (int i = 0; i < n; i++)
        if (strncmp(word[i], like, strlen(like)) == 0 && has_option(kind[0], "like"))
            TRY(set_known(&conf, kind[0], word[i] + strlen(like), mem));
    for (int i = 0; i < n; i++) TRY(sort_word(&conf, kind, word[i], &own, mem));
    *self = weft_arena_alloc(mem, 1, reader->kind.size);
    TRY(weft_conf_bind(&conf, &reader->kind, *self));
    *over = (weft_partition){0};
    TRY(weft_conf_bind(&conf, &weft_partition_kind, over));
    if (own != NULL && over->clients == 0)
        return weft_fail(WEFT_ECONF,
                         "%s says how rows are split over clients: give "
                         "clients = N, 1 or more, too",
                         own);
    return WEFT_OK;
}

weft_status weft_partition_refuse(const weft_pack *pack)
{
    if (pack->own->held != NULL) return WEFT_OK; /* they are these clients */
    const char *name = pack->own->reader->kind.name;
    int own = has_option(&pack->own->reader->kind, "clients");
    if (pack->own->over.rule == WEFT_PART_NONE && (pack->own->over.clients == 0 || own))
        return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s gives samples to clients of its own: leave out partition%s", name,
                     own ? "" : " and clients");
}
