/* Packing sentences in several languages: the pieces of each language, or of all together,
 * are learnt from the training part, and all sentences written as pieces and as texts. */
#include "pack.h"
#include "weft/base/base.h"
#include "weft/data/data.h"
#include "weft/data/translations.h"
#include "weft/par/par.h"
#include "weft/text/text.h"

#include <string.h>

/* The sentences of a part in a language. */
struct sentences {
    int64_t n;
    int32_t *row;      /* [n] line of the part */
    const char **text; /* [n] */
    int64_t row_room, text_room;
    uint32_t *token;
    int64_t *offset; /* [n+1] of tokens */
    int64_t token_room;
};

struct weft_pack_corpus {
    weft_pack_languages all;
    struct sentences *part[WEFT_NPART]; /* [languages] */
    int64_t *line[WEFT_NPART], lines[WEFT_NPART], line_room[WEFT_NPART];
    weft_bpe *bpe; /* [languages] or 1 */
};

void weft_pack_sentence(weft_pack *pack, weft_part part, int64_t line,
                        const char *const *text)
{
    weft_pack_corpus *corpus = pack->own->ends.corpus;
    int64_t row = corpus->lines[part]++;
    weft_check(row < INT32_MAX, "more than 2^31 lines");
    corpus->line[part] = weft_grow(pack->mem, corpus->line[part], sizeof line, row,
                                   &corpus->line_room[part]);
    corpus->line[part][row] = line;
    for (int i = 0; i < corpus->all.n; i++) {
        struct sentences *to = &corpus->part[part][i];
        if (text[i] == NULL) continue;
        to->row = weft_grow(pack->mem, to->row, sizeof *to->row, to->n, &to->row_room);
        to->text = weft_grow(pack->mem, to->text, sizeof *to->text, to->n, &to->text_room);
        to->row[to->n] = (int32_t)row;
        to->text[to->n++] = text[i];
    }
}

/* ---- pieces ---- */

/* Of the vocabulary of a language, or of all. */
static const char *vocabulary_of(const weft_pack_corpus *corpus, int language)
{
    return corpus->all.joint ? "joint" : corpus->all.name[language];
}

static weft_status learn(weft_pack *pack)
{
    weft_pack_corpus *corpus = pack->own->ends.corpus;
    const weft_translations *known = corpus->all.known;
    int n = corpus->all.n, vocabularies = corpus->all.joint ? 1 : n;
    corpus->bpe = WEFT_NEW(pack->mem, weft_bpe, vocabularies);
    for (int v = 0; v < vocabularies; v++) {
        if (known && v < known->n) {
            corpus->bpe[v] = *known->language[v].bpe;
            continue;
        }
        weft_arena *tmp = weft_arena_new();
        weft_unit_counts counts = {.units = {.mem = tmp}};
        for (int i = corpus->all.joint ? 0 : v; i < (corpus->all.joint ? n : v + 1); i++) {
            const struct sentences *from = &corpus->part[WEFT_TRAIN][i];
            for (int64_t k = 0; k < from->n; k++)
                weft_units_add(&counts, from->text[k], strlen(from->text[k]));
        }
        weft_status st =
            weft_bpe_learn(&counts, corpus->all.pieces,
                           weft_arena_text(tmp, "vocabulary %s", vocabulary_of(corpus, v)),
                           &corpus->bpe[v], pack->mem);
        weft_arena_free(tmp);
        TRY(st);
    }
    return WEFT_OK;
}

/* Sentences as pieces; those that have more than `longest`, if that is above 0, are left
 * out. Returns their number. */
static int64_t encode(struct sentences *sentences, const weft_bpe *bpe, int64_t longest,
                      weft_arena *mem)
{
    int64_t n = 0, tokens = 0;
    sentences->offset = WEFT_NEW(mem, int64_t, sentences->n + 1);
    for (int64_t k = 0; k < sentences->n; k++) {
        size_t bytes = strlen(sentences->text[k]);
        sentences->token = weft_regrow(mem, sentences->token, sizeof *sentences->token,
                                       tokens + (int64_t)bytes + 1, &sentences->token_room);
        int64_t made =
            weft_bpe_encode(bpe, sentences->text[k], bytes, sentences->token + tokens);
        if (longest > 0 && made > longest) continue;
        tokens += made;
        sentences->row[n] = sentences->row[k];
        sentences->text[n++] = sentences->text[k];
        sentences->offset[n] = tokens;
    }
    int64_t left = sentences->n - n;
    sentences->n = n;
    return left;
}

/* Says how many pieces are characters that the vocabulary taken lacks. */
static void tell_unknown(const weft_pack *pack, int language)
{
    const weft_pack_corpus *corpus = pack->own->ends.corpus;
    int64_t unknown = 0, all = 0;
    for (int p = 0; p < WEFT_NPART && corpus->all.known; p++) {
        const struct sentences *own = &corpus->part[p][language];
        all += own->offset[own->n];
        for (int64_t i = 0; i < own->offset[own->n]; i++)
            unknown += own->token[i] == WEFT_PIECE_UNKNOWN;
    }
    if (unknown > 0)
        weft_log(WEFT_INFO,
                 "%s: %lld of %lld pieces in %s are characters that the vocabulary lacks",
                 pack->own->from, (long long)unknown, (long long)all,
                 corpus->all.name[language]);
}

static void encode_all(weft_pack *pack)
{
    weft_pack_corpus *corpus = pack->own->ends.corpus;
    for (int i = 0; i < corpus->all.n; i++) {
        const weft_bpe *bpe = &corpus->bpe[corpus->all.joint ? 0 : i];
        int64_t left = 0;
        for (int p = 0; p < WEFT_NPART; p++)
            left += encode(&corpus->part[p][i], bpe,
                           p == WEFT_TRAIN ? corpus->all.longest : 0, pack->mem);
        if (left > 0)
            weft_log(WEFT_INFO,
                     "%s: %lld of %lld training sentences in %s have more than longest = "
                     "%lld pieces and are left out",
                     pack->own->from, (long long)left,
                     (long long)(corpus->part[WEFT_TRAIN][i].n + left), corpus->all.name[i],
                     (long long)corpus->all.longest);
        tell_unknown(pack, i);
        int learnt =
            !corpus->all.known || (!corpus->all.joint && i >= corpus->all.known->n);
        if (learnt && bpe->n < corpus->all.pieces && (i == 0 || !corpus->all.joint))
            weft_log(
                WEFT_INFO,
                "%s: vocabulary %s has %lld pieces, not %lld: no other pair occurs twice",
                pack->own->from, vocabulary_of(corpus, i), (long long)bpe->n,
                (long long)corpus->all.pieces);
    }
}

/* ---- what must be there ---- */

/* 1: the part is there; there is no test part where it was given no share. */
static int is_wanted(const weft_pack_corpus *corpus, int part)
{
    return part != WEFT_TEST || corpus->lines[WEFT_TEST] > 0;
}

static weft_status check_languages(const weft_pack *pack)
{
    const weft_pack_corpus *corpus = pack->own->ends.corpus;
    for (int i = 0; i < corpus->all.n; i++)
        for (int p = 0; p < WEFT_NPART; p++)
            if (is_wanted(corpus, p) && corpus->part[p][i].n == 0 &&
                !(corpus->all.lack && corpus->all.lack[i]))
                return weft_fail(
                    WEFT_EDATA,
                    "%s: no sentence in %s is in the %s part; give more sentences, larger "
                    "shares valid and test, or leave the language out",
                    pack->own->from, corpus->all.name[i], weft_part_name[p]);
    return WEFT_OK;
}

/* Keeps the directions that have pairs in each part. */
static weft_status check_directions(weft_pack *pack)
{
    weft_pack_corpus *corpus = pack->own->ends.corpus;
    weft_direction *kept = WEFT_NEW(pack->mem, weft_direction, corpus->all.directions);
    int64_t n = 0;
    for (int64_t d = 0; d < corpus->all.directions; d++) {
        weft_direction direction = corpus->all.direction[d];
        int empty = WEFT_NPART;
        for (int p = WEFT_NPART - 1; p >= 0; p--) {
            const struct sentences *from = &corpus->part[p][direction.source],
                                   *to = &corpus->part[p][direction.target];
            if (is_wanted(corpus, p) &&
                weft_rows_common(from->n, from->row, to->n, to->row, NULL, NULL) == 0)
                empty = p;
        }
        if (empty == WEFT_NPART) {
            kept[n++] = direction;
            continue;
        }
        const char *source = corpus->all.name[direction.source],
                   *target = corpus->all.name[direction.target];
        if (!corpus->all.all)
            return weft_fail(WEFT_EDATA,
                             "%s: direction %s-%s has no sentence in both languages in the "
                             "%s part; leave it out",
                             pack->own->from, source, target, weft_part_name[empty]);
        weft_log(WEFT_INFO, "%s: direction %s-%s is left out, as the %s part has no pairs",
                 pack->own->from, source, target, weft_part_name[empty]);
    }
    if (n == 0)
        return weft_fail(WEFT_EDATA, "%s: no line has sentences in two languages",
                         pack->own->from);
    corpus->all.direction = kept;
    corpus->all.directions = n;
    return WEFT_OK;
}

/* ---- the file ---- */

static const char *path(weft_pack *pack, const char *group, const char *name,
                        const char *what)
{
    return weft_arena_text(pack->mem, "/%s/%s/%s", group, name, what);
}

static weft_status put_texts(weft_pack *pack, const char *group, const char *name,
                             const struct sentences *from)
{
    int64_t *offset = WEFT_NEW(pack->mem, int64_t, from->n + 1);
    for (int64_t k = 0; k < from->n; k++)
        offset[k + 1] = offset[k] + (int64_t)strlen(from->text[k]);
    char *text = WEFT_NEW(pack->mem, char, offset[from->n]);
    for (int64_t k = 0; k < from->n; k++)
        memcpy(text + offset[k], from->text[k], strlen(from->text[k]));
    TRY(weft_pack_put(pack, path(pack, group, name, "text"), WEFT_H5_U8, offset[from->n],
                      text, "all sentences, one after another", "UTF-8 bytes"));
    return weft_pack_put(pack, path(pack, group, name, "text_offset"), WEFT_H5_I64,
                         from->n + 1, offset,
                         "sentence i is text[offset[i] .. offset[i+1])", "bytes");
}

static weft_status put_sentences(weft_pack *pack, const char *group, const char *name,
                                 const struct sentences *from)
{
    TRY(weft_pack_put(pack, path(pack, group, name, "row"), WEFT_H5_I32, from->n, from->row,
                      "line of the part that each sentence is", "index into /line"));
    TRY(weft_pack_put(pack, path(pack, group, name, "offset"), WEFT_H5_I64, from->n + 1,
                      from->offset, "sentence i is token[offset[i] .. offset[i+1])",
                      "tokens"));
    TRY(weft_pack_put(pack, path(pack, group, name, "token"), WEFT_H5_U32,
                      from->offset[from->n], from->token, "pieces of all sentences",
                      "index into the vocabulary"));
    return put_texts(pack, group, name, from);
}

static weft_status put_vocabulary(weft_pack *pack, const char *name, const weft_bpe *bpe)
{
    weft_digest *digest = pack->own->digest;
    weft_digest_add(digest, bpe->text, (size_t)bpe->offset[bpe->n]);
    weft_digest_add(digest, bpe->offset, (size_t)(bpe->n + 1) * sizeof *bpe->offset);
    weft_digest_add(digest, bpe->merge, 3 * sizeof *bpe->merge * (size_t)bpe->merges);
    return weft_pieces_put(&pack->own->file, "", name, bpe, 0);
}

static weft_status put_part(weft_pack *pack, int part)
{
    const weft_pack_corpus *corpus = pack->own->ends.corpus;
    const char *group = weft_part_name[part];
    TRY(weft_pack_put(pack, weft_arena_text(pack->mem, "/line/%s", group), WEFT_H5_I64,
                      corpus->lines[part], corpus->line[part], "line of the source, from 1",
                      "lines"));
    for (int i = 0; i < corpus->all.n; i++)
        TRY(put_sentences(pack, group, corpus->all.name[i], &corpus->part[part][i]));
    return WEFT_OK;
}

static weft_status close_sentences(weft_pack *pack)
{
    weft_packing *own = pack->own;
    weft_pack_corpus *corpus = own->ends.corpus;
    const weft_pack_languages *all = &corpus->all;
    weft_h5 *file = &own->file;
    TRY(learn(pack));
    encode_all(pack);
    if (!own->told.scored) {
        TRY(check_languages(pack));
        TRY(check_directions(pack));
    }
    for (int p = 0; p < WEFT_NPART; p++) TRY(put_part(pack, p));
    for (int v = 0; v < (all->joint ? 1 : all->n); v++)
        TRY(put_vocabulary(pack, vocabulary_of(corpus, v), &corpus->bpe[v]));
    TRY(weft_h5_put_texts(file, "/language", all->name, all->n, "names of the languages"));
    for (int i = 0; i < all->n; i++)
        weft_digest_add(own->digest, all->name[i], strlen(all->name[i]) + 1);
    weft_digest_add(own->digest, all->direction,
                    (size_t)all->directions * sizeof *all->direction);
    TRY(weft_h5_put_long(file, "/", "joint", all->joint));
    return weft_h5_put(file, "/direction", WEFT_H5_I32, 2,
                       (const int64_t[]){all->directions, 2}, all->direction, 0,
                       "source and target", "index into /language");
}

/* Reads the file again, to print what it has; not where the log is to be quiet. */
static weft_status report_sentences(const char *out, int scored, double seconds)
{
    WEFT_SCRATCH(mem);
    weft_team self = weft_team_alone();
    weft_data data;
    weft_status st = weft_data_open(&data, out, &self, mem);
    if (st == WEFT_OK) {
        const weft_translations *of = weft_translations_of(&data);
        weft_log(WEFT_INFO, "%s: %d languages, %lld direction%s, packed in %.2f s", out,
                 of->n, (long long)of->directions, of->directions == 1 ? "" : "s", seconds);
        if (!scored) weft_forms[data.form]->print(&data);
        weft_data_close(&data);
    }
    return st;
}

weft_status weft_pack_sentences(weft_pack *pack, const weft_pack_languages *languages)
{
    if (pack->own->over.clients > 0)
        return weft_fail(WEFT_ECONF,
                         "sentences are not dealt to clients: leave out clients");
    weft_pack_corpus *corpus = WEFT_NEW(pack->mem, weft_pack_corpus, 1);
    pack->own->ends = (weft_pack_ends){corpus, close_sentences, report_sentences};
    corpus->all = *languages;
    for (int p = 0; p < WEFT_NPART; p++)
        corpus->part[p] = WEFT_NEW(pack->mem, struct sentences, languages->n);
    pack->own->layout.form = WEFT_SENTENCES;
    return WEFT_OK;
}
