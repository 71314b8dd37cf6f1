/* Byte-pair encoding: texts as sequences of pieces, which are characters and what was
 * merged of them, the most frequent pair first. Sennrich, Haddow, Birch, "Neural machine
 * translation of rare words with subword units", ACL 2016; the same merges and pieces as
 * their program subword-nmt, whose mark "</w>" at the end of a word is a blank here. */
#ifndef WEFT_BPE_H
#define WEFT_BPE_H

#include "weft/names.h"
#include "weft/status.h"
#include "weft/text.h"

#include <stddef.h>
#include <stdint.h>

#define WEFT_UNIT 200 /* most characters of a unit */
/* Splits UTF-8 text into units, which no piece goes beyond: the longest runs of letters,
 * marks and numbers, or of signs (Unicode categories P and S); a longer one than WEFT_UNIT
 * is cut. White space of any length, also what may be at the end, is a blank at the end of
 * the unit before it; at the beginning it is left out. So the units joined are the text
 * with single blanks and one at its end. Units end with NUL and last until fn returns. NUL
 * in the text is white space. Cost O(n). */
void weft_units(const char *text, size_t n, weft_token_fn fn, void *ctx);

/* How often each unit occurs. To be zeroed but for units.mem. */
typedef struct weft_unit_counts {
    weft_names units;
    int64_t *count; /* [units.n] */
    int64_t room;
} weft_unit_counts;
/* Counts `times` occurrences of a unit. */
void weft_unit_add(weft_unit_counts *counts, const char *unit, int64_t times);
/* Counts the units of a text. */
void weft_units_add(weft_unit_counts *counts, const char *text, size_t n);

/* The first pieces, which are not learnt: a character without a piece, the begin and the
 * end of a sentence, which are in no text, and a blank alone. */
enum {
    WEFT_PIECE_UNKNOWN,
    WEFT_PIECE_BEGIN,
    WEFT_PIECE_END,
    WEFT_PIECE_BLANK,
    WEFT_PIECE_FIRST
};
/* Pieces: those above; characters, alone and with a blank behind them, by falling counts;
 * then what was merged, in that order. */
typedef struct weft_bpe {
    int64_t n;             /* pieces */
    const char *text;      /* of the pieces, one after another */
    const int64_t *offset; /* [n+1] piece i is text[offset[i] .. offset[i+1]-1] */
    int64_t merges;        /* n - 4 - characters; more where two make the same piece */
    const uint32_t *merge; /* [merges][3] the pieces left and right, and what they make */
    struct weft_bpe_index *own; /* private; see weft_bpe_open */
} weft_bpe;

/* Learns `pieces` pieces, or fewer where no pair is left that occurs twice. Of pairs that
 * are as frequent, the one with the greater texts is merged, as strcmp compares them, the
 * left ones first, a blank being "</w>". Owned by mem. ECONF naming `whose`: characters
 * alone are more. Cost O(s log s) for the s characters of all different units. */
WEFT_CHECKED weft_status weft_bpe_learn(const weft_unit_counts *counts, int64_t pieces,
                                        const char *whose, weft_bpe *bpe, weft_arena *mem);
/* Readies bpe, whose other members are set, for encoding. EDATA naming `whose`: these are
 * no pieces and merges of them. Cost O(n + merges). */
WEFT_CHECKED weft_status weft_bpe_open(weft_bpe *bpe, const char *whose, weft_arena *mem);
/* Writes the pieces of a unit to piece[], of which there are at most as many as bytes;
 * returns how many. The merge that was learnt first is made first, from left to right. Cost
 * O(n^2) for its n characters. */
int64_t weft_bpe_encode_unit(const weft_bpe *bpe, const char *unit, uint32_t *piece);
/* Writes the pieces of all units of text[n], UTF-8, to piece[n + 1]; returns how many. Cost
 * O(n WEFT_UNIT). */
int64_t weft_bpe_encode(const weft_bpe *bpe, const char *text, size_t n, uint32_t *piece);
/* The text of piece[n], each below bpe->n, without blanks at its ends, in mem; for unknown
 * characters U+FFFD. Of what weft_bpe_encode made it is the text with single blanks. */
const char *weft_bpe_decode(const weft_bpe *bpe, const uint32_t *piece, int64_t n,
                            weft_arena *mem);

#endif
