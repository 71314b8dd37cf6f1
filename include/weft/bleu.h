/* Scores of translations over a corpus, with one reference each: BLEU and chrF, equal to
 * those of sacrebleu 2 (Post, "A call for clarity in reporting BLEU scores", WMT 2018).
 * They are made of whole numbers that are added over sentences, and over ranks, as both
 * structs are arrays of int64_t: the same score for any order and any ranks. Texts are
 * well-formed UTF-8 that ends with NUL. */
#ifndef WEFT_BLEU_H
#define WEFT_BLEU_H

#include "weft/arena.h"

#include <stdint.h>

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
