/* BLEU and chrF of what networks translate, by direction: whole numbers that are added over
 * sentences and ranks. Included only by src/task/. */
#ifndef WEFT_TASK_TRANSLATED_H
#define WEFT_TASK_TRANSLATED_H

#include "weft/bleu.h"
#include "weft/task.h"
#include "weft/translations.h"

/* Of a direction; all numbers are int64_t. */
typedef struct weft_translated {
    weft_bleu bleu;
    weft_chrf chrf;
    int64_t pairs;
} weft_translated;

/* Their rows in tables of scores. */
/* clang-format off */
#define WEFT_TRANSLATED_SCORES \
    {"bleu", "BLEU of the translations, as sacrebleu's with 13a tokens", "0 to 100", "BLEU"}, \
    {"chrf", "chrF2 of the translations, as sacrebleu's", "0 to 100", "chrF"}
/* clang-format on */

/* The text of word[n], words of a network, in mem; those that no piece is say nothing. */
const char *weft_translated_text(const weft_bpe *bpe, const uint32_t *word, int n,
                                 weft_arena *mem);
/* Adds translations word[n][length[n]] of the pairs row[n], of one direction and part. */
void weft_translated_add(weft_translated *sums, const weft_pair_rows *pairs, weft_part part,
                         int64_t direction, int n, const int64_t *row,
                         uint32_t *const *word, const int *length);
/* Sums over the ranks of a team: sums[directions]. Collective over team. */
void weft_translated_join(weft_team *team, int64_t directions, weft_translated *sums);
/* score[0 .. 1]: BLEU and chrF of a direction; their means over directions that have pairs,
 * NAN if none has. */
void weft_translated_put(const weft_translated *sums, double *score);
void weft_translated_mean(int64_t directions, const weft_translated *sums, double *score);

#endif
