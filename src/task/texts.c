/* Scores of what networks write: BLEU and chrF of translations, by direction. */
#include "task/parts.h"
#include "weft/data/translations.h"
#include "weft/par/team.h"

/* Of a direction: whole numbers, which are added over sentences and ranks. */
struct weft_texts {
    weft_bleu bleu;
    weft_chrf chrf;
    int64_t n;
};

weft_texts *weft_texts_new(int64_t members, weft_arena *mem)
{
    return WEFT_NEW(mem, weft_texts, members);
}

void weft_texts_add(weft_texts *texts, const weft_data *data, weft_part part,
                    int64_t member, int64_t i, int n, const uint32_t *word)
{
    const weft_translations *of = weft_translations_of(data);
    const weft_language *target = &of->language[of->direction[member].target];
    int64_t row = of->pairs.first[part * of->directions + member] + i;
    WEFT_SCRATCH(tmp);
    const char *said = weft_sentence_decode(target, word, n, tmp);
    const char *text =
        weft_sentence_text(&target->part[part], of->pairs.reference[row], tmp);
    weft_bleu_add(&texts[member].bleu, said, text, tmp);
    weft_chrf_add(&texts[member].chrf, said, text, tmp);
    texts[member].n++;
}

void weft_texts_join(weft_team *team, int64_t members, weft_texts *texts)
{
    enum { NUMBERS = sizeof *texts / sizeof(int64_t) };
    weft_sum_i64(team, &texts->bleu.match[0], (size_t)(NUMBERS * members));
}

int64_t weft_texts_score(const weft_texts *texts, int64_t member, double *score)
{
    score[0] = weft_bleu_score(&texts[member].bleu);
    score[1] = weft_chrf_score(&texts[member].chrf);
    return texts[member].n;
}

void weft_texts_mean(const weft_texts *texts, int64_t members, double *score)
{
    int n = 0;
    score[0] = score[1] = 0;
    for (int64_t d = 0; d < members; d++) {
        double own[2];
        if (weft_texts_score(texts, d, own) == 0) continue;
        for (int k = 0; k < 2; k++) score[k] += own[k];
        n++;
    }
    for (int k = 0; k < 2; k++) score[k] /= n;
}
