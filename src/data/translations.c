/* Sentences in several languages: languages, directions and pieces, which a winner is
 * stored with, too, and by which other data are matched with it; the sentences of a packed
 * file, what a batch takes of them, and the pairs of all directions as rows; what of it is
 * printed. */
#include "weft/data/translations.h"
#include "data.h"
#include "weft/base/conf.h"
#include "weft/base/random.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Of the languages, with room for one more. */
static const char **names_of(const weft_translations *translations, weft_arena *mem)
{
    const char **name = WEFT_NEW(mem, const char *, translations->n + 1);
    for (int i = 0; i < translations->n; i++) name[i] = translations->language[i].name;
    return name;
}

/* ---- reading ---- */

/* The vocabulary of that name in GROUP/vocab, in file->mem. EFILE, EDATA. */
static weft_status open_pieces(weft_h5 *file, const char *group, const char *name,
                               const weft_bpe **bpe)
{
    const char *path = weft_arena_text(file->mem, "%s/vocab/%s", group, name),
               *merge = weft_arena_text(file->mem, "%s/merge", path);
    weft_vocab vocab = {.n = 0};
    weft_bpe *own = WEFT_NEW(file->mem, weft_bpe, 1);
    void *merges;
    int64_t n;
    TRY(weft_vocab_words(&vocab, file, path));
    TRY(weft_h5_read_all(file, merge, WEFT_H5_U32, 3, &merges, &n));
    *own = (weft_bpe){.n = vocab.n,
                      .text = vocab.text,
                      .offset = vocab.offset,
                      .merges = n,
                      .merge = merges};
    *bpe = own;
    return weft_bpe_open(own, weft_arena_text(file->mem, "%s: %s", file->path, path),
                         file->mem);
}

/* `again`: pack, make. */
static weft_status broken(const char *path, const char *what, const char *again)
{
    return weft_fail(WEFT_EDATA, "%s: %s does not go with the rest of it; %s it again",
                     path, what, again);
}

/* GROUP/direction, of translations->n languages, all of which are known then. EFILE,
 * EDATA. */
static weft_status read_directions(weft_h5 *file, const char *group,
                                   weft_translations *translations)
{
    const char *path = weft_arena_text(file->mem, "%s/direction", group);
    void *rows;
    int64_t n;
    TRY(weft_h5_read_all(file, path, WEFT_H5_I32, 2, &rows, &n));
    weft_direction *direction = rows;
    for (int64_t i = 0; i < n; i++)
        if (direction[i].source < 0 || direction[i].source >= translations->n ||
            direction[i].target < 0 || direction[i].target >= translations->n)
            return broken(file->path, path, "make");
    translations->directions = translations->known_directions = n;
    translations->direction = direction;
    return WEFT_OK;
}

/* GROUP/language and their pieces, all of which are known; *out: to be filled further.
 * EFILE, EDATA. */
static weft_status read_languages(weft_h5 *file, const char *group, const char *again,
                                  weft_translations *translations, weft_language **out)
{
    const char *path = weft_arena_text(file->mem, "%s/language", group), **name;
    const weft_bpe *bpe = NULL;
    int64_t n, joint;
    TRY(weft_h5_read_long(file, *group ? group : "/", "joint", &joint));
    TRY(weft_h5_read_texts(file, path, &name, &n));
    if (n < 1 || n > INT_MAX) return broken(file->path, path, again);
    weft_language *language = WEFT_NEW(file->mem, weft_language, n);
    if (joint) TRY(open_pieces(file, group, "joint", &bpe));
    for (int64_t i = 0; i < n; i++) {
        if (!joint) TRY(open_pieces(file, group, name[i], &bpe));
        language[i] = (weft_language){.name = name[i], .bpe = bpe};
    }
    translations->n = translations->known = translations->names = (int)n;
    translations->language = *out = language;
    translations->joint = joint != 0;
    return WEFT_OK;
}

weft_status weft_translations_known(weft_h5 *file, const char *group,
                                    weft_translations *known)
{
    const char *languages = weft_arena_text(file->mem, "%s/language", group);
    *known = (weft_translations){.path = file->path, .mem = file->mem};
    if (!weft_h5_has(file, languages)) return WEFT_OK;
    weft_language *unused;
    TRY(read_languages(file, group, "make", known, &unused));
    int64_t names = known->n;
    if (weft_h5_has(file, weft_arena_text(file->mem, "%s@names", group)))
        TRY(weft_h5_read_long(file, *group ? group : "/", "names", &names));
    if (names < 1 || names > known->n) return broken(file->path, languages, "make");
    known->names = (int)names;
    return read_directions(file, group, known);
}

static weft_status translations_get(weft_h5 *file, const char *group, weft_likeness *like)
{
    weft_translations *known = WEFT_NEW(file->mem, weft_translations, 1);
    TRY(weft_translations_known(file, group, known));
    if (known->n == 0) return WEFT_OK;
    like->own = known;
    if (known->n == like->classes - 1) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s: the winner has %d languages, and %lld names; make the file again",
                     file->path, known->n, (long long)like->classes);
}

/* ---- writing ---- */

weft_status weft_pieces_put(weft_h5 *file, const char *group, const char *name,
                            const weft_bpe *bpe, int packed)
{
    const char *path = weft_arena_text(file->mem, "%s/vocab/%s", group, name);
    int64_t n = bpe->n + 1;
    TRY(weft_h5_put(file, weft_arena_text(file->mem, "%s/text", path), WEFT_H5_U8, 1,
                    &bpe->offset[bpe->n], bpe->text, packed,
                    "all pieces, one after another", "UTF-8 bytes"));
    TRY(weft_h5_put(file, weft_arena_text(file->mem, "%s/text_offset", path), WEFT_H5_I64,
                    1, &n, bpe->offset, packed, "piece i is text[offset[i] .. offset[i+1])",
                    "bytes"));
    return weft_h5_put(file, weft_arena_text(file->mem, "%s/merge", path), WEFT_H5_U32, 2,
                       (const int64_t[]){bpe->merges, 3}, bpe->merge, packed,
                       "pieces left and right, and what they make, in order",
                       "index into the vocabulary");
}

static weft_status translations_put(weft_h5 *file, const char *group, const void *own)
{
    const weft_translations *translations = own;
    int n = translations->n;
    const char **name = names_of(translations, file->mem);
    TRY(weft_h5_put_texts(file, weft_arena_text(file->mem, "%s/language", group), name, n,
                          "names of the languages"));
    for (int i = 0; i < (translations->joint ? 1 : n); i++)
        TRY(weft_pieces_put(file, group, translations->joint ? "joint" : name[i],
                            translations->language[i].bpe, 1));
    TRY(weft_h5_put_long(file, group, "joint", translations->joint));
    TRY(weft_h5_put_long(file, group, "names", translations->names));
    return weft_h5_put(file, weft_arena_text(file->mem, "%s/direction", group), WEFT_H5_I32,
                       2, (const int64_t[]){translations->directions, 2},
                       translations->direction, 0, "source and target",
                       "index into language");
}

/* ---- matching ---- */

/* "vocabulary " and a hash of what sentences in the first n languages are cut into. */
static const char *name_vocabulary(const weft_translations *translations, int n,
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

int64_t weft_pieces_most(const weft_translations *translations, int from, int end)
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
    if (strcmp(name_vocabulary(translations, n, translations->mem), name[n]) != 0 ||
        weft_pieces_most(translations, n, own) > weft_pieces_most(translations, 0, n))
        return weft_fail(WEFT_EDATA,
                         "%s has other pieces, or more, than the winner of %s was trained "
                         "on; pack it with vocabulary = %s",
                         translations->path, whose, whose);
    return WEFT_OK;
}

int64_t weft_direction_find(const weft_direction *direction, int64_t n,
                            weft_direction wanted)
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
        int64_t at = weft_direction_find(direction, n, translations->direction[i]);
        direction[at] = translations->direction[i];
        absent[at] = 0;
        n += at == n;
    }
    translations->directions = n;
    translations->direction = direction;
    translations->absent = absent;
    translations->known_directions = like->directions;
}

static weft_status translations_match(weft_data *data, const weft_likeness *like,
                                      const char *whose)
{
    weft_translations *translations = data->own;
    const weft_translations *known = like->own;
    int n = (int)like->classes - 1;
    TRY(check_languages(translations, n, like->class_name, like->more, whose));
    translations->known = translations->names = n;
    if (!known) return WEFT_OK;
    translations->names = known->names;
    join_directions(translations, known);
    return WEFT_OK;
}

/* ---- opening ---- */

/* The numbers of GROUP/NAME, a dataset of one column; *n of them. */
static weft_status hold(weft_h5 *file, const char *group, const char *name,
                        weft_h5type type, const void **rows, int64_t *n)
{
    const char *path = weft_arena_text(file->mem, "%s/%s", group, name);
    TRY(weft_h5_length(file, path, n));
    return data_hold_rows(file, path, type, 1, 0, *n, rows);
}

/* 1: offset[n + 1] begins with 0, rises, in steps that an int holds, and ends with `end`.
 */
static int is_rising(const int64_t *offset, int64_t n, int64_t end)
{
    int sound = offset[0] == 0 && offset[n] == end;
    for (int64_t i = 0; i < n && sound; i++)
        sound = offset[i + 1] >= offset[i] && offset[i + 1] - offset[i] <= INT_MAX;
    return sound;
}

/* Two datasets of a group, DATASET and where its n pieces end, OFFSET. */
static weft_status hold_pieces(weft_translations *translations, const char *group,
                               const char *name, const char *end, weft_h5type type,
                               int64_t n, const void **rows, const int64_t **offset)
{
    const void *ends;
    int64_t many, offsets;
    TRY(hold(translations->file, group, name, type, rows, &many));
    TRY(hold(translations->file, group, end, WEFT_H5_I64, &ends, &offsets));
    *offset = ends;
    if (offsets == n + 1 && is_rising(*offset, n, many)) return WEFT_OK;
    return broken(translations->path,
                  weft_arena_text(translations->mem, "%s/%s", group, name), "pack");
}

/* EDATA where lines do not rise, tokens are no pieces, or texts are not UTF-8. */
static weft_status check_sentences(const weft_translations *translations, int part,
                                   const weft_language *language, const char *group,
                                   const weft_sentences *sentences)
{
    const char *bad = NULL;
    int64_t last = -1;
    for (int64_t i = 0; i < sentences->n; last = sentences->row[i++]) {
        const int64_t *at = sentences->text_offset + i;
        size_t bytes = (size_t)(at[1] - at[0]);
        if (sentences->row[i] <= last || sentences->row[i] >= translations->lines[part])
            bad = "row";
        if (weft_utf8_check(sentences->text + at[0], bytes) < bytes) bad = "text";
    }
    for (int64_t i = 0; i < sentences->offset[sentences->n]; i++)
        if (sentences->token[i] >= language->bpe->n) bad = "token";
    if (bad == NULL) return WEFT_OK;
    return broken(translations->path,
                  weft_arena_text(translations->mem, "%s/%s", group, bad), "pack");
}

static weft_status open_sentences(weft_translations *translations, int part,
                                  const weft_language *language, weft_sentences *sentences)
{
    const char *group =
        weft_arena_text(translations->mem, "/%s/%s", weft_part_name[part], language->name);
    const void *row, *tokens, *bytes;
    TRY(hold(translations->file, group, "row", WEFT_H5_I32, &row, &sentences->n));
    sentences->row = row;
    TRY(hold_pieces(translations, group, "token", "offset", WEFT_H5_U32, sentences->n,
                    &tokens, &sentences->offset));
    TRY(hold_pieces(translations, group, "text", "text_offset", WEFT_H5_U8, sentences->n,
                    &bytes, &sentences->text_offset));
    sentences->token = tokens;
    sentences->text = bytes;
    return check_sentences(translations, part, language, group, sentences);
}

static weft_status open_languages(weft_translations *translations)
{
    weft_language *language;
    TRY(read_languages(translations->file, "", "pack", translations, &language));
    for (int i = 0; i < translations->n; i++)
        for (int p = 0; p < WEFT_NPART; p++)
            TRY(open_sentences(translations, p, &language[i], &language[i].part[p]));
    return WEFT_OK;
}

static weft_status open_own(weft_translations *translations)
{
    weft_h5 *file = translations->file;
    for (int p = 0; p < WEFT_NPART; p++) {
        const void *line;
        TRY(hold(file, "/line", weft_part_name[p], WEFT_H5_I64, &line,
                 &translations->lines[p]));
        translations->line[p] = line;
    }
    TRY(open_languages(translations));
    TRY(read_directions(file, "", translations));
    return weft_h5_sound(file);
}

/* The first of the rising row[n] that is not below `least`. */
static int64_t first_of(const int32_t *row, int64_t n, int64_t least)
{
    int64_t low = 0;
    while (low < n) {
        int64_t middle = (low + n) / 2;
        if (row[middle] < least)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Leaves the file's lines [first, first + n) of a part, as if it had these alone, but that
 * their numbers stay. */
static void take_window(weft_translations *translations, int part, int64_t first, int64_t n)
{
    weft_language *language = WEFT_NEW(translations->mem, weft_language, translations->n);
    memcpy(language, translations->language, (size_t)translations->n * sizeof *language);
    for (int i = 0; i < translations->n; i++)
        for (int p = 0; p < WEFT_NPART; p++) {
            weft_sentences *own = &language[i].part[p];
            int64_t from = first_of(own->row, own->n, first);
            int64_t end = p == part ? first_of(own->row, own->n, first + n) : from;
            own->n = end - from;
            own->row += from;
            own->offset += from;
            own->text_offset += from;
        }
    translations->language = language;
}

/* The classes are the languages, and what names their vocabularies. */
static weft_status translations_open(weft_data *data)
{
    weft_translations *translations = data->own = WEFT_NEW(data->mem, weft_translations, 1);
    *translations =
        (weft_translations){.mem = data->mem, .path = data->path, .file = &data->file};
    TRY(weft_agree(open_own(translations), data->team));
    int n = translations->n;
    const char **name = names_of(translations, data->mem);
    name[n] = name_vocabulary(translations, n, data->mem);
    data->classes = n + 1;
    data->class_name = name;
    for (int p = 0; p < WEFT_NPART; p++)
        data->part[p].total = data_window_rows(data, p, translations->lines[p]);
    const weft_window *window = &data->window;
    if (window->n > 0) take_window(translations, window->part, window->first, window->n);
    return WEFT_OK;
}

weft_translations *weft_translations_of(const weft_data *data)
{
    return data->form == WEFT_SENTENCES ? data->own : NULL;
}

/* ---- sentences ---- */

int weft_directions_cross(int64_t n, const weft_direction *direction, const char *absent)
{
    int64_t d = 0;
    while (d < n && ((absent && absent[d]) || direction[d].source == direction[d].target))
        d++;
    return d < n;
}

int64_t weft_rows_common(int64_t n, const int32_t *a, int64_t m, const int32_t *b,
                         int32_t *at_a, int32_t *at_b)
{
    int64_t common = 0;
    for (int64_t i = 0, j = 0; i < n && j < m;) {
        int32_t row = a[i], way = (row > b[j]) - (row < b[j]);
        if (way == 0 && at_a) {
            at_a[common] = (int32_t)i;
            at_b[common] = (int32_t)j;
        }
        common += way == 0;
        i += way <= 0;
        j += way >= 0;
    }
    return common;
}

weft_pairs weft_translations_pairs(const weft_translations *translations, weft_part part,
                                   weft_direction direction, weft_arena *mem)
{
    const weft_sentences *from = &translations->language[direction.source].part[part],
                         *to = &translations->language[direction.target].part[part];
    int64_t most = from->n < to->n ? from->n : to->n;
    if (part != WEFT_TRAIN && direction.source == direction.target &&
        weft_directions_cross(translations->directions, translations->direction,
                              translations->absent))
        most = 0;
    int32_t *source = WEFT_NEW(mem, int32_t, most), *target = WEFT_NEW(mem, int32_t, most);
    if (most > 0)
        most = weft_rows_common(from->n, from->row, to->n, to->row, source, target);
    return (weft_pairs){most, source, target};
}

void weft_sentences_take(const weft_sentences *sentences, int64_t n, const int32_t *which,
                         const uint32_t **word, int *length)
{
    for (int64_t k = 0; k < n; k++) {
        const int64_t *offset = sentences->offset + which[k];
        word[k] = sentences->token + offset[0];
        length[k] = (int)(offset[1] - offset[0]);
    }
}

const char *weft_sentence_text(const weft_sentences *sentences, int64_t i, weft_arena *mem)
{
    const int64_t *offset = sentences->text_offset + i;
    return weft_arena_text(mem, "%.*s", (int)(offset[1] - offset[0]),
                           sentences->text + offset[0]);
}

const char *weft_sentence_decode(const weft_language *language, const uint32_t *word, int n,
                                 weft_arena *mem)
{
    uint32_t *own = WEFT_NEW(mem, uint32_t, n);
    int m = 0;
    for (int i = 0; i < n; i++)
        if (word[i] < (uint32_t)language->bpe->n) own[m++] = word[i];
    return weft_bpe_decode(language->bpe, own, m, mem);
}

int64_t weft_sentences_distinct(const weft_sentences *sentences, int64_t n,
                                const int32_t *which, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    weft_names names = {.mem = tmp};
    for (int64_t k = 0; k < n; k++)
        weft_names_find(&names, weft_sentence_text(sentences, which[k], tmp));
    return names.n;
}

/* ---- pairs of all directions as rows ---- */

const char *weft_direction_name(const weft_translations *translations, int64_t direction,
                                weft_arena *mem)
{
    const weft_direction *way = &translations->direction[direction];
    return weft_arena_text(mem, "%s-%s", translations->language[way->source].name,
                           translations->language[way->target].name);
}

/* The pairs of a direction of a part, none if the file lacks it. every: all sources, those
 * without a target with -1. */
static weft_pairs find_pairs(const weft_translations *of, int64_t part, int64_t direction,
                             int every, weft_arena *tmp)
{
    weft_direction way = of->direction[direction];
    if (of->absent && of->absent[direction]) return (weft_pairs){0, NULL, NULL};
    weft_pairs pairs = weft_translations_pairs(of, (weft_part)part, way, tmp);
    if (!every) return pairs;
    int64_t n = of->language[way.source].part[part].n;
    int32_t *source = WEFT_NEW(tmp, int32_t, n), *target = WEFT_NEW(tmp, int32_t, n);
    for (int32_t i = 0; i < n; i++) {
        source[i] = i;
        target[i] = -1;
    }
    for (int64_t i = 0; i < pairs.n; i++) target[pairs.source[i]] = pairs.target[i];
    return (weft_pairs){n, source, target};
}

/* The pairs found in a direction of a part, from row `at` on. */
static void take_pairs(weft_pair_rows *pairs, int64_t part, const weft_direction *way,
                       const weft_pairs *found, int64_t at)
{
    const weft_language *language = pairs->of->language;
    weft_sentences_take(&language[way->source].part[part], found->n, found->source,
                        pairs->source + at, pairs->sources + at);
    for (int64_t i = 0; i < found->n; i++) {
        pairs->origin[at + i] = found->source[i];
        pairs->reference[at + i] = found->target[i];
        if (found->target[i] >= 0)
            weft_sentences_take(&language[way->target].part[part], 1, &found->target[i],
                                pairs->target + at + i, pairs->targets + at + i);
    }
}

const weft_pair_rows *weft_pair_rows_new(const weft_data *data, int every)
{
    weft_translations *translations = data->own;
    weft_arena *mem = data->mem;
    int64_t directions = translations->directions, all = WEFT_NPART * directions, n = 0;
    const weft_direction *way = translations->direction;
    weft_arena *tmp = weft_arena_new();
    weft_pairs *found = WEFT_NEW(tmp, weft_pairs, all);
    weft_pair_rows pairs = {.of = translations, .first = WEFT_NEW(mem, int64_t, all + 1)};
    for (int64_t i = 0; i < all; i++) {
        found[i] = find_pairs(translations, i / directions, i % directions, every, tmp);
        n += found[i].n;
        pairs.first[i + 1] = n;
    }
    pairs.source = WEFT_NEW(mem, const uint32_t *, n);
    pairs.target = WEFT_NEW(mem, const uint32_t *, n);
    pairs.sources = WEFT_NEW(mem, int, n);
    pairs.targets = WEFT_NEW(mem, int, n);
    pairs.origin = WEFT_NEW(mem, int32_t, n);
    pairs.reference = WEFT_NEW(mem, int32_t, n);
    for (int64_t i = 0; i < all; i++)
        take_pairs(&pairs, i / directions, &way[i % directions], &found[i], pairs.first[i]);
    weft_arena_free(tmp);
    translations->pairs = pairs;
    return &translations->pairs;
}

weft_shape weft_pair_rows_shape(const weft_pair_rows *pairs)
{
    int64_t n = pairs->first[WEFT_NPART * pairs->of->directions],
            words = weft_pieces_most(pairs->of, 0, pairs->of->n);
    double sources = 0, targets = 0;
    weft_shape shape = {.form = WEFT_SENTENCES,
                        .d = 1,
                        .words = words + pairs->of->n,
                        .classes = (int)(words + pairs->of->names)};
    for (int64_t i = 0; i < n; i++) {
        sources += pairs->sources[i];
        targets += pairs->targets[i];
        if (pairs->sources[i] >= shape.d) shape.d = pairs->sources[i] + 1;
        if (pairs->targets[i] > shape.longest) shape.longest = pairs->targets[i];
    }
    shape.length = sources / (double)n;
    shape.replies = targets / (double)n;
    return shape;
}

void weft_pair_rows_name(const weft_pair_rows *pairs, int64_t row, int target,
                         uint32_t *named)
{
    named[0] = (uint32_t)(weft_pieces_most(pairs->of, 0, pairs->of->n) + target);
    memcpy(named + 1, pairs->source[row], (size_t)pairs->sources[row] * sizeof *named);
}

/* ---- directions as clients of a federation ---- */

/* A pair is a sample, whose source begins with the name of the target language. */
static const weft_pair_rows *pairs_of(const weft_data *data)
{
    return &((const weft_translations *)data->own)->pairs;
}

static weft_client direction_find(const weft_clients *clients, int64_t c)
{
    weft_client client = {.c = c};
    for (int p = 0; p < WEFT_NPART; p++) {
        const int64_t *first = pairs_of(clients->own->data)->first + p * clients->n + c;
        client.count[p] = first[1] - first[0];
    }
    return client;
}

static weft_status direction_take(const weft_clients *clients, const weft_client *client,
                                  weft_part part, weft_samples *out, weft_arena *mem)
{
    const weft_pair_rows *pairs = pairs_of(clients->own->data);
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
                          .reply = pairs->target + at,
                          .replies = pairs->targets + at};
    return WEFT_OK;
}

static void translations_share(weft_data *data)
{
    if (data->owners) return;
    const weft_translations *of = data->own;
    weft_arena *mem = data->mem;
    const char **name = WEFT_NEW(mem, const char *, of->directions);
    weft_clients *clients = data->owners = data_clients_new(
        &(weft_federation){
            .find = direction_find, .take = direction_take, .data = data, .names = name},
        mem);
    weft_pair_rows_new(data, 0);
    clients->n = of->directions;
    clients->named = 1;
    for (int64_t c = 0; c < clients->n; c++) {
        weft_client client = direction_find(clients, c);
        for (int p = 0; p < WEFT_NPART; p++)
            weft_sizes_add(&clients->size[p], client.count[p]);
        name[c] = weft_direction_name(of, c, mem);
    }
}

static void translations_shape(const weft_data *data, weft_shape *shape)
{
    *shape = weft_pair_rows_shape(pairs_of(data));
}

/* Words of the translations of a direction and their ends. */
static double translations_predictions(const weft_data *data, weft_part part, int64_t c)
{
    const weft_pair_rows *pairs = pairs_of(data);
    const int64_t *first = pairs->first + part * pairs->of->directions + c;
    int64_t n = first[1] - first[0];
    for (int64_t i = first[0]; i < first[1]; i++) n += pairs->targets[i];
    return (double)n;
}

/* ---- printed ---- */

static void print_languages(const weft_translations *translations)
{
    printf("%-12s %8s %8s %8s %8s %10s %8s %8s\n", "language", "train", "valid", "test",
           "pieces", "tokens", "mean", "longest");
    for (int i = 0; i < translations->n; i++) {
        const weft_language *language = &translations->language[i];
        int64_t tokens = 0, sentences = 0, longest = 0;
        printf("%-12s", language->name);
        for (int p = 0; p < WEFT_NPART; p++) {
            const weft_sentences *own = &language->part[p];
            printf(" %8lld", (long long)own->n);
            sentences += own->n;
            tokens += own->offset[own->n];
            for (int64_t k = 0; k < own->n; k++)
                if (own->offset[k + 1] - own->offset[k] > longest)
                    longest = own->offset[k + 1] - own->offset[k];
        }
        double mean = sentences > 0 ? (double)tokens / (double)sentences : 0;
        printf(" %8lld %10lld %8.1f %8lld\n", (long long)language->bpe->n,
               (long long)tokens, mean, (long long)longest);
    }
}

static void print_directions(const weft_translations *translations)
{
    enum { MOST = 100 };
    weft_arena *tmp = translations->mem;
    int64_t n = translations->directions < MOST ? translations->directions : MOST;
    printf("%-12s %8s %8s %8s %8s\n", "direction", "train", "valid", "test", "distinct");
    for (int64_t i = 0; i < n; i++) {
        WEFT_REWIND(tmp);
        weft_direction direction = translations->direction[i];
        const weft_language *target = &translations->language[direction.target];
        weft_pairs pairs = {.n = 0};
        printf("%-12s", weft_direction_name(translations, i, tmp));
        for (int p = 0; p < WEFT_NPART; p++) {
            pairs = weft_translations_pairs(translations, (weft_part)p, direction, tmp);
            printf(" %8lld", (long long)pairs.n);
        }
        printf(" %8lld\n", (long long)weft_sentences_distinct(&target->part[WEFT_TEST],
                                                              pairs.n, pairs.target, tmp));
    }
    if (n < translations->directions)
        printf("... %lld more\n", (long long)(translations->directions - n));
}

static void translations_print(const weft_data *data)
{
    const weft_translations *translations = data->own;
    printf("%-9s %lld train, %lld valid, %lld test\n", "lines",
           (long long)translations->lines[WEFT_TRAIN],
           (long long)translations->lines[WEFT_VALID],
           (long long)translations->lines[WEFT_TEST]);
    printf("%-9s %s; tokens are pieces, distinct are different references of the test\n",
           "pieces", translations->joint ? "of all languages together" : "by language");
    print_languages(translations);
    print_directions(translations);
}

const weft_form_traits data_form_sentences = {.name = "sentences",
                                              .hold = "sentences in several languages",
                                              .read = "translates",
                                              .net = "seq2seq",
                                              .reader = "translations",
                                              .unclassed = "sentences have none",
                                              .written =
                                                  "line\tdirection\ttranslation\tsource",
                                              .plan = "translations",
                                              .whole = 1,
                                              .open = translations_open,
                                              .match = translations_match,
                                              .share = translations_share,
                                              .shape = translations_shape,
                                              .predictions = translations_predictions,
                                              .put = translations_put,
                                              .get = translations_get,
                                              .print = translations_print};
