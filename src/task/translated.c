/* BLEU and chrF of what networks translate, by direction. */
#include "translated.h"

/* What a network has behind the pieces, padding and the names of languages, is left out. */
const char *weft_translated_text(const weft_bpe *bpe, const uint32_t *word, int n,
                                 weft_arena *mem)
{
    uint32_t *own = WEFT_NEW(mem, uint32_t, n);
    int m = 0;
    for (int i = 0; i < n; i++)
        if (word[i] < (uint32_t)bpe->n) own[m++] = word[i];
    return weft_bpe_decode(bpe, own, m, mem);
}

void weft_translated_add(weft_translated *sums, const weft_pair_rows *pairs, weft_part part,
                         int64_t direction, int n, const int64_t *row,
                         uint32_t *const *word, const int *length)
{
    const weft_translations *of = pairs->of;
    const weft_language *target = &of->language[of->direction[direction].target];
    for (int i = 0; i < n; i++) {
        weft_arena *tmp = weft_arena_new();
        const char *said = weft_translated_text(target->bpe, word[i], length[i], tmp);
        const char *text =
            weft_sentence_text(&target->part[part], pairs->reference[row[i]], tmp);
        weft_bleu_add(&sums->bleu, said, text, tmp);
        weft_chrf_add(&sums->chrf, said, text, tmp);
        sums->pairs++;
        weft_arena_free(tmp);
    }
}

void weft_translated_join(weft_team *team, int64_t directions, weft_translated *sums)
{
    enum { NUMBERS = sizeof *sums / sizeof(int64_t) };
    weft_sum_i64(team, &sums->bleu.match[0], (size_t)(NUMBERS * directions));
}

void weft_translated_put(const weft_translated *sums, double *score)
{
    score[0] = weft_bleu_score(&sums->bleu);
    score[1] = weft_chrf_score(&sums->chrf);
}

void weft_translated_mean(int64_t directions, const weft_translated *sums, double *score)
{
    int n = 0;
    score[0] = score[1] = 0;
    for (int64_t d = 0; d < directions; d++) {
        double own[2];
        if (sums[d].pairs == 0) continue;
        weft_translated_put(&sums[d], own);
        for (int k = 0; k < 2; k++) score[k] += own[k];
        n++;
    }
    for (int k = 0; k < 2; k++) score[k] /= n;
}
