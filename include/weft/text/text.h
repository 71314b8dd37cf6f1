/* Texts: characters and tokenizers, byte-pair encoding, scores of translations. */
#ifndef LIBWEFT_TEXT_TEXT_H
#define LIBWEFT_TEXT_TEXT_H

#include "weft/base/base.h"
#include "weft/base/conf.h"

#include <stddef.h>
#include <stdint.h>

/* ---- text ---- */

/* Four tokenizers: drop punctuation, split at punctuation, Penn Treebank (NLTK), Kim's
 * cleaning of sentences (process_data.py of "Convolutional neural networks for sentence
 * classification", EMNLP 2014), whose tokens are in lower case. */
typedef enum weft_tokenizer {
    WEFT_TOK_REMOVE,
    WEFT_TOK_SPLIT,
    WEFT_TOK_TREEBANK,
    WEFT_TOK_KIM,
    WEFT_NTOK
} weft_tokenizer;
#define WEFT_TOK_WORDS "remove/simple|split/custom|treebank/nltk|kim"
extern const char *const weft_tok_name[WEFT_NTOK]; /* "remove", "split", ... */

/* Called with each token of a text, in order. */
typedef void (*weft_token_fn)(void *ctx, const char *token, size_t n);
/* Splits UTF-8 text into tokens. Whitespace and punctuation (Unicode categories M, P, S)
 * are Python's; WEFT_TOK_TREEBANK gives what NLTK's NLTKWordTokenizer gives. The text must
 * be well-formed; tokens last until fn returns, and fn must not use tmp. Cost O(n). */
void weft_tokenize(weft_tokenizer tok, const char *text, size_t n, weft_token_fn fn,
                   void *ctx, weft_arena *tmp);
/* 1: in the English stop list, as it is, capitalised, or without its punctuation. */
int weft_is_stop(const char *token, size_t n);
/* Writes the token in lower case, as Python's str.lower(), to out[room], without a final
 * NUL. Returns its bytes; if they are more than room, out is incomplete; room = 2 n always
 * suffices. */
size_t weft_lower(const char *token, size_t n, char *out, size_t room);

/* The first byte of text[n] that is not well-formed UTF-8, or n. Cost O(n). */
size_t weft_utf8_check(const char *text, size_t n);

/* The parts of an article that scikit-learn's fetch_20newsgroups(remove=) can remove. */
enum { WEFT_NEWS_HEADERS = 1, WEFT_NEWS_FOOTERS = 2, WEFT_NEWS_QUOTES = 4 };
/* Converts a list "headers,footers,quotes" to flags; "" is none. ECONF with the nearest
 * name. */
WEFT_CHECKED weft_status weft_news_flags(const char *list, int *flags, weft_arena *mem);
/* Removes the parts selected by flags, in place; *text and *n are then those of the rest.
 * The text is UTF-8. Cost O(n). */
void weft_news_strip(int flags, char **text, size_t *n);

/* ---- bpe ---- */

/* Byte-pair encoding: texts as sequences of pieces, which are characters and what was
 * merged of them, the most frequent pair first (Sennrich, Haddow, Birch, ACL 2016); as by
 * their program subword-nmt, whose mark "</w>" at the end of a word is a blank here. */

#define WEFT_UNIT 200 /* most characters of a unit */
/* Splits UTF-8 text into units, which no piece goes beyond: the longest runs of letters,
 * marks and numbers, or of signs (Unicode categories P and S); a longer one than WEFT_UNIT
 * is cut. White space, also NUL and the end, is a blank at the end of the unit before it;
 * at the beginning it is left out. Units end with NUL and last until fn returns. Cost
 * O(n). */
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

/* ---- bleu ---- */

/* Scores of translations over a corpus, with one reference each: BLEU and chrF, equal to
 * those of sacrebleu 2 (Post, WMT 2018). Both structs are arrays of int64_t, which are
 * added over sentences and ranks. Texts are well-formed UTF-8 that ends with NUL. */

/* The tokens of mteval-v13a, separated by single blanks, in mem: entities are replaced, and
 * ASCII punctuation is split off, but for periods, commas and dashes at digits. Cost O(n).
 */
const char *weft_tokens_13a(const char *text, weft_arena *mem);

#define WEFT_BLEU_ORDER 4
/* Of words; all counts are of 13a tokens. */
typedef struct weft_bleu {
    int64_t match[WEFT_BLEU_ORDER]; /* n-grams, n = 1 .. 4, that stand in the reference,
                                       too; as often as there at most */
    int64_t total[WEFT_BLEU_ORDER]; /* n-grams of the translations */
    int64_t length, reference;      /* tokens of the translations, of the references */
} weft_bleu;
/* Adds a translation of which the reference is known. Cost O(n log n). */
void weft_bleu_add(weft_bleu *bleu, const char *translation, const char *reference,
                   weft_arena *tmp);
/* 100 B (p_1 p_2 p_3 p_4)^(1/4), p_n = match_n / total_n, with brevity penalty
 * B = min(1, exp(1 - reference / length)); the k-th p_n that would be 0 is
 * 1 / (2^k total_n). 0 without any match, or where no translation has 4 tokens. 0 .. 100.
 * Papineni et al., "BLEU", ACL 2002; smoothing: mteval-v13a. */
double weft_bleu_score(const weft_bleu *bleu);

#define WEFT_CHRF_ORDER 6
/* Of characters (code points) without white space. */
typedef struct weft_chrf {
    int64_t match[WEFT_CHRF_ORDER]; /* n-grams, n = 1 .. 6, as in weft_bleu */
    int64_t total[WEFT_CHRF_ORDER]; /* n-grams of the translations; none of a translation
                                       whose reference has no n-gram */
    int64_t reference[WEFT_CHRF_ORDER]; /* n-grams of the references */
} weft_chrf;
/* Adds a translation of which the reference is known. Cost O(n log n). */
void weft_chrf_add(weft_chrf *chrf, const char *translation, const char *reference,
                   weft_arena *tmp);
/* chrF2: 100 (1 + b^2) P R / (b^2 P + R) with b = 2, where P and R are the means of
 * match / total and match / reference over those n for which both have n-grams. 0 without
 * any match. 0 .. 100. Popovic, "chrF", WMT 2015. */
double weft_chrf_score(const weft_chrf *chrf);

#endif
