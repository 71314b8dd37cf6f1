/* Sentences in several languages, packed by the reader `translations`. A line of the source
 * is one sentence in as many of the languages as it has; it is in one part, in all
 * languages and directions. A packed file of form "sentences" has /language [languages]
 * their names /direction          [directions][2] source and target, indices into /language
 *     /line/PART          [lines] number of each in the source, from 1
 *     /PART/LANGUAGE/row  [sentences] index into /line/PART, rising
 *     .../token, offset   their pieces: sentence i is token[offset[i] .. offset[i+1]-1]
 *     .../text, text_offset   as in the source, in the same way
 *     /vocab/LANGUAGE/text, text_offset, merge   see weft_bpe; where the attribute joint is
 *                                                1, only /vocab/joint is there
 * for PART train, valid, test. Tokens have neither begin nor end of a sentence. */
#ifndef LIBWEFT_DATA_TRANSLATIONS_H
#define LIBWEFT_DATA_TRANSLATIONS_H

#include "weft/data/data.h"

/* The sentences of a part in a language. */
typedef struct weft_sentences {
    int64_t n;
    const int32_t *row;    /* [n] the lines of the part that they are, rising */
    const int64_t *offset; /* [n+1] sentence i is token[offset[i] .. offset[i+1]-1] */
    const uint32_t *token;
    const int64_t *text_offset; /* [n+1] and text[text_offset[i] .. text_offset[i+1]-1] */
    const char *text;
} weft_sentences;

typedef struct weft_language {
    const char *name;
    const weft_bpe *bpe; /* the same of all languages where their vocabulary is joint */
    weft_sentences part[WEFT_NPART];
} weft_language;

/* From a language to another one, or to itself: indices of languages. */
typedef struct weft_direction {
    int32_t source, target;
} weft_direction;

/* The pairs of all directions as rows: part by part, and in a part direction by
 * direction. */
typedef struct weft_pair_rows {
    const struct weft_translations *of;
    int64_t *first; /* [parts directions + 1] first row of each direction of each part */
    const uint32_t **source, **target; /* [rows] words */
    int *sources, *targets;            /* [rows] their numbers */
    int32_t *origin, *reference; /* [rows] sentences of the two languages; reference -1: it
                                    has none, and is translated alone */
} weft_pair_rows;

typedef struct weft_translations {
    int n;                         /* languages */
    const weft_language *language; /* [n] */
    int64_t directions;
    const weft_direction *direction; /* [directions] */
    int joint;                       /* 1: one vocabulary */
    int known; /* languages that a winner has, which come first; n: all, or no winner */
    int64_t known_directions; /* the same of directions */
    const char *absent; /* [directions] 1: the winner's, not the file's; NULL: none are */
    int names; /* languages of which a network's outputs have names: n, or, where training
                  began with the weights of another run, as many as that run's */
    int64_t lines[WEFT_NPART];
    const int64_t *line[WEFT_NPART]; /* [lines] numbers in the source, from 1 */
    weft_pair_rows pairs;            /* those of weft_pair_rows_new */
    const char *path;
    weft_arena *mem;
    weft_h5 *file; /* of the data; NULL: of a winner */
} weft_translations;
/* What such data have, as long as they are open; NULL: they have no sentences. */
weft_translations *weft_translations_of(const weft_data *data);

/* The index of one among n directions; n: it is not there. */
int64_t weft_direction_find(const weft_direction *direction, int64_t n,
                            weft_direction wanted);
/* 1: one of n directions is from a language to another one; absent as in weft_translations.
 */
int weft_directions_cross(int64_t n, const weft_direction *direction, const char *absent);
/* The sentences of a part that are there in both languages of a direction. A language to
 * itself, which only has to be copied, is trained, but not scored: where other directions
 * are there, too, it has pairs in the training part alone. */
typedef struct weft_pairs {
    int64_t n;
    const int32_t *source, *target; /* [n] indices of sentences, both rising */
} weft_pairs;
/* Numbers that the rising a[n] and b[m] have in common; their places in both, unless these
 * are NULL. Cost O(n + m). */
int64_t weft_rows_common(int64_t n, const int32_t *a, int64_t m, const int32_t *b,
                         int32_t *at_a, int32_t *at_b);
/* The pairs of a direction, the same on all ranks, in mem. Cost O(sentences). */
weft_pairs weft_translations_pairs(const weft_translations *translations, weft_part part,
                                   weft_direction direction, weft_arena *mem);
/* Sets those of directions that the file has; every 1: of all sources, with or without a
 * reference. Cost O(sentences of all directions). */
const weft_pair_rows *weft_pair_rows_new(const weft_data *data, int every);
/* Inputs and outputs of a network for them. Vocabularies of single languages are padded to
 * the largest; behind it are words that name the languages, all in inputs, `names` of them
 * in outputs. Cost O(rows). */
weft_shape weft_pair_rows_shape(const weft_pair_rows *pairs);
/* named[0 .. sources[row]]: the source sentence of a row behind the word that names the
 * target's language, so that one set of weights can translate all directions. Johnson et
 * al., "Google's multilingual neural machine translation system", TACL 2017. */
void weft_pair_rows_name(const weft_pair_rows *pairs, int64_t row, int target,
                         uint32_t *named);
/* Tokens of n sentences, those at which[n]: word[n] and length[n] as in weft_batch, valid
 * until the file is closed. Cost O(n). */
void weft_sentences_take(const weft_sentences *sentences, int64_t n, const int32_t *which,
                         const uint32_t **word, int *length);
/* The text of sentence i, in mem. */
const char *weft_sentence_text(const weft_sentences *sentences, int64_t i, weft_arena *mem);
/* The text of word[n], words of a network, in mem; what it has behind the pieces, padding
 * and the names of languages, says nothing. */
const char *weft_sentence_decode(const weft_language *language, const uint32_t *word, int n,
                                 weft_arena *mem);
/* "en-de", in mem. */
const char *weft_direction_name(const weft_translations *translations, int64_t direction,
                                weft_arena *mem);
/* Different texts of n sentences, those at which[n]. */
int64_t weft_sentences_distinct(const weft_sentences *sentences, int64_t n,
                                const int32_t *which, weft_arena *tmp);

/* The most pieces that a language of [from, end) has. */
int64_t weft_pieces_most(const weft_translations *translations, int from, int end);
/* Writes GROUP/vocab/NAME; packed: compressed. EFILE. */
WEFT_CHECKED weft_status weft_pieces_put(weft_h5 *file, const char *group, const char *name,
                                         const weft_bpe *bpe, int packed);
/* Languages, directions and pieces without sentences, which a winner is stored with, of a
 * packed file (group "") or of a run or exported winner ("/winner"), in file->mem. *n 0:
 * there are none. EFILE. */
WEFT_CHECKED weft_status weft_translations_known(weft_h5 *file, const char *group,
                                                 weft_translations *known);

#endif
