/* Packed sentences in several languages: opening, and what a batch takes of them. */
#include "weft/translations.h"
#include "held.h"
#include "known.h"
#include "weft/data.h"
#include "weft/names.h"

#include <limits.h>
#include <string.h>

/* ---- opening ---- */

static weft_status broken(const weft_translations *translations, const char *what)
{
    return weft_fail(WEFT_EDATA, "%s: %s does not go with the rest of it; pack it again",
                     translations->path, what);
}

static weft_status check_form(weft_translations *translations)
{
    weft_h5 *file = &translations->file;
    const char *format = "", *form = "";
    TRY(weft_h5_find_attr(file, "/", "format", &format));
    TRY(weft_h5_find_attr(file, "/", "form", &form));
    if (strcmp(format, WEFT_DATA_FORMAT) == 0 &&
        strcmp(form, weft_form_name[WEFT_SENTENCES]) == 0)
        return weft_h5_sealed(file);
    return weft_fail(WEFT_EDATA,
                     "%s holds no sentences in several languages; make it by weft pack "
                     "translations",
                     translations->path);
}

/* The numbers of a dataset of one column; *n of them. */
static weft_status hold(weft_h5 *file, const char *name, weft_h5type type,
                        const void **rows, int64_t *n)
{
    int nd;
    int64_t dims[WEFT_H5_DIMS];
    TRY(weft_h5_shape(file, name, &nd, dims));
    *n = dims[0];
    return weft_rows_hold(file, name, type, 1, 0, *n, rows);
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

/* A dataset and where its pieces end, DATASET and OFFSET in a group: n pieces. */
static weft_status hold_pieces(weft_translations *translations, const char *group,
                               const char *const name[2], weft_h5type type, int64_t n,
                               const void **rows, const int64_t **offset)
{
    weft_h5 *file = &translations->file;
    const char *path = weft_arena_text(file->mem, "%s/%s", group, name[0]);
    const void *ends;
    int64_t many, offsets;
    TRY(hold(file, path, type, rows, &many));
    TRY(hold(file, weft_arena_text(file->mem, "%s/%s", group, name[1]), WEFT_H5_I64, &ends,
             &offsets));
    *offset = ends;
    if (offsets == n + 1 && is_rising(*offset, n, many)) return WEFT_OK;
    return broken(translations, path);
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
    return broken(translations, weft_arena_text(translations->mem, "%s/%s", group, bad));
}

static weft_status open_sentences(weft_translations *translations, int part,
                                  const weft_language *language, weft_sentences *sentences)
{
    static const char *const token[] = {"token", "offset"}, *const text[] = {"text",
                                                                             "text_offset"};
    weft_h5 *file = &translations->file;
    const char *group =
        weft_arena_text(file->mem, "/%s/%s", weft_part_name[part], language->name);
    const void *row, *tokens, *bytes;
    TRY(hold(file, weft_arena_text(file->mem, "%s/row", group), WEFT_H5_I32, &row,
             &sentences->n));
    sentences->row = row;
    TRY(hold_pieces(translations, group, token, WEFT_H5_U32, sentences->n, &tokens,
                    &sentences->offset));
    TRY(hold_pieces(translations, group, text, WEFT_H5_U8, sentences->n, &bytes,
                    &sentences->text_offset));
    sentences->token = tokens;
    sentences->text = bytes;
    return check_sentences(translations, part, language, group, sentences);
}

static weft_status open_languages(weft_translations *translations)
{
    weft_h5 *file = &translations->file;
    const char **name;
    int64_t n, joint;
    const weft_bpe *bpe = NULL;
    TRY(weft_h5_read_long(file, "/", "joint", &joint));
    TRY(weft_h5_read_texts(file, "/language", &name, &n));
    if (n < 1 || n > INT_MAX) return broken(translations, "/language");
    weft_language *language = WEFT_NEW(file->mem, weft_language, n);
    if (joint) TRY(weft_pieces_open(file, "", "joint", &bpe));
    for (int64_t i = 0; i < n; i++) {
        if (!joint) TRY(weft_pieces_open(file, "", name[i], &bpe));
        language[i] = (weft_language){.name = name[i], .bpe = bpe};
        for (int p = 0; p < WEFT_NPART; p++)
            TRY(open_sentences(translations, p, &language[i], &language[i].part[p]));
    }
    translations->n = translations->known = translations->names = (int)n;
    translations->language = language;
    translations->joint = joint != 0;
    return WEFT_OK;
}

static weft_status open_own(weft_translations *translations)
{
    weft_h5 *file = &translations->file;
    TRY(weft_h5_open(file, translations->path, translations->mem));
    TRY(check_form(translations));
    TRY(weft_h5_read_attr(file, "/", "digest", &translations->digest));
    for (int p = 0; p < WEFT_NPART; p++) {
        const void *line;
        TRY(hold(file, weft_arena_text(file->mem, "/line/%s", weft_part_name[p]),
                 WEFT_H5_I64, &line, &translations->lines[p]));
        translations->line[p] = line;
    }
    TRY(open_languages(translations));
    TRY(weft_directions_read(file, "", translations));
    return weft_h5_sound(file);
}

weft_status weft_translations_open(weft_translations *translations, const char *path,
                                   weft_team *team, weft_arena *mem)
{
    *translations = (weft_translations){
        .mem = mem, .team = team, .path = weft_arena_text(mem, "%s", path)};
    weft_status st = weft_agree(open_own(translations), team);
    if (st != WEFT_OK) weft_translations_close(translations);
    return st;
}

weft_status weft_translations_sound(const weft_translations *translations)
{
    return weft_h5_sound(&translations->file);
}

void weft_translations_close(weft_translations *translations)
{
    weft_h5_close(&translations->file);
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

void weft_translations_window(weft_translations *translations, int part, int64_t first,
                              int64_t n)
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

/* ---- sentences ---- */

weft_status weft_language_find(const weft_translations *translations, const char *name,
                               int *language)
{
    const char **names = WEFT_NEW(translations->mem, const char *, translations->n);
    for (int i = 0; i < translations->n; i++) names[i] = translations->language[i].name;
    *language = 0;
    while (*language < translations->n && strcmp(names[*language], name) != 0) ++*language;
    if (*language < translations->n) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "'%s' is no language of %s; did you mean '%s'?", name,
                     translations->path, weft_nearest(name, names, translations->n));
}

int weft_directions_cross(int64_t n, const weft_direction *direction, const char *absent)
{
    int64_t d = 0;
    while (d < n && ((absent && absent[d]) || direction[d].source == direction[d].target))
        d++;
    return d < n;
}

weft_pairs weft_translations_pairs(const weft_translations *translations, weft_part part,
                                   weft_direction direction, weft_arena *mem)
{
    const weft_sentences *from = &translations->language[direction.source].part[part],
                         *to = &translations->language[direction.target].part[part];
    int64_t most = from->n < to->n ? from->n : to->n, n = 0;
    if (part != WEFT_TRAIN && direction.source == direction.target &&
        weft_directions_cross(translations->directions, translations->direction,
                              translations->absent))
        most = 0;
    int32_t *source = WEFT_NEW(mem, int32_t, most), *target = WEFT_NEW(mem, int32_t, most);
    if (most == 0) return (weft_pairs){0, source, target};
    for (int64_t i = 0, j = 0; i < from->n && j < to->n;) {
        if (from->row[i] == to->row[j]) {
            source[n] = (int32_t)i;
            target[n++] = (int32_t)j;
        }
        int32_t row = from->row[i];
        i += row <= to->row[j];
        j += row >= to->row[j];
    }
    return (weft_pairs){n, source, target};
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

int64_t weft_sentences_distinct(const weft_sentences *sentences, int64_t n,
                                const int32_t *which, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    weft_names names = {.mem = tmp};
    for (int64_t k = 0; k < n; k++)
        weft_names_find(&names, weft_sentence_text(sentences, which[k], tmp));
    int64_t distinct = names.n;
    weft_arena_reset(tmp, mark);
    return distinct;
}
