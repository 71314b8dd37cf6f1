/* Languages, directions and pieces, without sentences: how a winner is stored with those
 * that it was trained on, and how other data are matched with them. */
#include "known.h"
#include "weft/data.h"
#include "weft/hash.h"

#include <limits.h>
#include <string.h>

/* ---- reading ---- */

weft_status weft_pieces_open(weft_h5 *file, const char *group, const char *name,
                             const weft_bpe **bpe)
{
    const char *path = weft_arena_text(file->mem, "%s/vocab/%s", group, name),
               *merge = weft_arena_text(file->mem, "%s/merge", path);
    weft_vocab vocab = {.n = 0};
    weft_bpe *own = WEFT_NEW(file->mem, weft_bpe, 1);
    int nd;
    int64_t dims[WEFT_H5_DIMS];
    TRY(weft_vocab_words(&vocab, file, path));
    TRY(weft_h5_shape(file, merge, &nd, dims));
    uint32_t *merges = WEFT_NEW(file->mem, uint32_t, 3 * dims[0]);
    TRY(weft_h5_read_rows(file, merge, WEFT_H5_U32, 3, 0, dims[0], merges));
    *own = (weft_bpe){.n = vocab.n,
                      .text = vocab.text,
                      .offset = vocab.offset,
                      .merges = dims[0],
                      .merge = merges};
    *bpe = own;
    return weft_bpe_open(own, weft_arena_text(file->mem, "%s: %s", file->path, path),
                         file->mem);
}

static weft_status broken(const weft_h5 *file, const char *what)
{
    return weft_fail(WEFT_EDATA, "%s: %s does not go with the rest of it; make it again",
                     file->path, what);
}

weft_status weft_directions_read(weft_h5 *file, const char *group,
                                 weft_translations *translations)
{
    const char *path = weft_arena_text(file->mem, "%s/direction", group);
    int nd;
    int64_t dims[WEFT_H5_DIMS];
    TRY(weft_h5_shape(file, path, &nd, dims));
    weft_direction *direction = WEFT_NEW(file->mem, weft_direction, dims[0]);
    TRY(weft_h5_read_rows(file, path, WEFT_H5_I32, 2, 0, dims[0], direction));
    for (int64_t i = 0; i < dims[0]; i++)
        if (direction[i].source < 0 || direction[i].source >= translations->n ||
            direction[i].target < 0 || direction[i].target >= translations->n)
            return broken(file, path);
    translations->directions = translations->known_directions = dims[0];
    translations->direction = direction;
    return WEFT_OK;
}

weft_status weft_translations_known(weft_h5 *file, const char *group,
                                    weft_translations *known)
{
    const char *object = *group ? group : "/", **name;
    const char *languages = weft_arena_text(file->mem, "%s/language", group);
    const weft_bpe *bpe = NULL;
    int64_t n, joint, names;
    *known = (weft_translations){.path = file->path, .mem = file->mem};
    if (!weft_h5_has(file, languages)) return WEFT_OK;
    TRY(weft_h5_read_texts(file, languages, &name, &n));
    TRY(weft_h5_read_long(file, object, "joint", &joint));
    names = n;
    if (weft_h5_has(file, weft_arena_text(file->mem, "%s@names", group)))
        TRY(weft_h5_read_long(file, object, "names", &names));
    if (n < 1 || n > INT_MAX || names < 1 || names > n) return broken(file, languages);
    weft_language *language = WEFT_NEW(file->mem, weft_language, n);
    if (joint) TRY(weft_pieces_open(file, group, "joint", &bpe));
    for (int64_t i = 0; i < n; i++) {
        if (!joint) TRY(weft_pieces_open(file, group, name[i], &bpe));
        language[i] = (weft_language){.name = name[i], .bpe = bpe};
    }
    known->n = known->known = (int)n;
    known->names = (int)names;
    known->language = language;
    known->joint = joint != 0;
    return weft_directions_read(file, group, known);
}

/* ---- writing ---- */

static weft_status put_pieces(weft_h5 *file, const char *group, const char *name,
                              const weft_bpe *bpe)
{
    const char *path = weft_arena_text(file->mem, "%s/vocab/%s", group, name);
    int64_t n = bpe->n + 1;
    TRY(weft_h5_put(file, weft_arena_text(file->mem, "%s/text", path), WEFT_H5_U8, 1,
                    &bpe->offset[bpe->n], bpe->text, 1, "all pieces, one after another",
                    "UTF-8 bytes"));
    TRY(weft_h5_put(file, weft_arena_text(file->mem, "%s/text_offset", path), WEFT_H5_I64,
                    1, &n, bpe->offset, 1, "piece i is text[offset[i] .. offset[i+1])",
                    "bytes"));
    return weft_h5_put(file, weft_arena_text(file->mem, "%s/merge", path), WEFT_H5_U32, 2,
                       (const int64_t[]){bpe->merges, 3}, bpe->merge, 1,
                       "pieces left and right, and what they make, in order",
                       "index into the vocabulary");
}

weft_status weft_translations_put(weft_h5 *file, const char *group,
                                  const weft_translations *translations)
{
    int n = translations->n;
    const char **name = WEFT_NEW(file->mem, const char *, n);
    for (int i = 0; i < n; i++) name[i] = translations->language[i].name;
    TRY(weft_h5_put_texts(file, weft_arena_text(file->mem, "%s/language", group), name, n,
                          "names of the languages"));
    for (int i = 0; i < (translations->joint ? 1 : n); i++)
        TRY(put_pieces(file, group, translations->joint ? "joint" : name[i],
                       translations->language[i].bpe));
    TRY(weft_h5_put_long(file, group, "joint", translations->joint));
    TRY(weft_h5_put_long(file, group, "names", translations->names));
    return weft_h5_put(file, weft_arena_text(file->mem, "%s/direction", group), WEFT_H5_I32,
                       2, (const int64_t[]){translations->directions, 2},
                       translations->direction, 0, "source and target",
                       "index into language");
}

/* ---- matching ---- */

const char *weft_vocabulary_name(const weft_translations *translations, int n,
                                 weft_arena *mem)
{
    uint64_t hash = 0;
    for (int i = 0; i < n; i++) {
        const weft_bpe *bpe = translations->language[i].bpe;
        hash = weft_hash(bpe->text, (size_t)bpe->offset[bpe->n], hash);
        hash = weft_hash(bpe->merge, 3 * (size_t)bpe->merges * sizeof *bpe->merge, hash);
    }
    return weft_arena_text(mem, "vocabulary %016llx", (unsigned long long)hash);
}

static int64_t most_pieces(const weft_translations *translations, int from, int end)
{
    int64_t most = 0;
    for (int i = from; i < end; i++)
        if (translations->language[i].bpe->n > most)
            most = translations->language[i].bpe->n;
    return most;
}

static weft_status check_languages(const weft_translations *translations, int n,
                                   const char *const *name, int more, const char *whose)
{
    int own = translations->n, i = 0;
    while (i < n && i < own && strcmp(translations->language[i].name, name[i]) == 0) i++;
    if (i < n)
        return weft_fail(WEFT_EDATA,
                         "%s has %s for language %d, but the winner of %s was trained on "
                         "'%s'; pack it with vocabulary = %s",
                         translations->path,
                         i < own ? weft_arena_text(translations->mem, "'%s'",
                                                   translations->language[i].name)
                                 : "none",
                         i + 1, whose, name[i], whose);
    if (own > n && !more)
        return weft_fail(WEFT_EDATA,
                         "%s has the language '%s', which the winner of %s was not trained "
                         "on; pack it without",
                         translations->path, translations->language[n].name, whose);
    if (strcmp(weft_vocabulary_name(translations, n, translations->mem), name[n]) != 0 ||
        most_pieces(translations, n, own) > most_pieces(translations, 0, n))
        return weft_fail(WEFT_EDATA,
                         "%s has other pieces, or more, than the winner of %s was trained "
                         "on; pack it with vocabulary = %s",
                         translations->path, whose, whose);
    return WEFT_OK;
}

static int64_t find(const weft_direction *direction, int64_t n, weft_direction wanted)
{
    int64_t i = 0;
    while (i < n &&
           (direction[i].source != wanted.source || direction[i].target != wanted.target))
        i++;
    return i;
}

/* The winner's directions, then others of the file. */
static void join_directions(weft_translations *translations, const weft_translations *like)
{
    int64_t n = like->directions, own = translations->directions;
    weft_direction *direction = WEFT_NEW(translations->mem, weft_direction, n + own);
    char *absent = WEFT_NEW(translations->mem, char, n + own);
    memcpy(direction, like->direction, (size_t)n * sizeof *direction);
    memset(absent, 1, (size_t)n);
    for (int64_t i = 0; i < own; i++) {
        int64_t at = find(direction, n, translations->direction[i]);
        direction[at] = translations->direction[i];
        absent[at] = 0;
        n += at == n;
    }
    translations->directions = n;
    translations->direction = direction;
    translations->absent = absent;
    translations->known_directions = like->directions;
}

weft_status weft_translations_match(weft_translations *translations, int n,
                                    const char *const *name, const weft_translations *like,
                                    int more, const char *whose)
{
    TRY(check_languages(translations, n, name, more, whose));
    translations->known = translations->names = n;
    if (!like) return WEFT_OK;
    translations->names = like->names;
    join_directions(translations, like);
    return WEFT_OK;
}
