/* BLEU and chrF: what of the n-grams is counted, and the scores of the counts. */
#include "weft/bleu.h"
#include "char.h"
#include "ngrams.h"
#include "weft/names.h"

#include <math.h>
#include <string.h>

/* ---- BLEU ---- */

/* The 13a tokens of a text, numbered by their names. */
static weft_symbols number_words(const char *text, weft_names *names, weft_arena *tmp)
{
    char *rest, *words = weft_arena_text(tmp, "%s", weft_tokens_13a(text, tmp));
    int32_t *number = WEFT_NEW(tmp, int32_t, strlen(words) / 2 + 1);
    int64_t n = 0;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        number[n++] = (int32_t)weft_names_find(names, word);
    return (weft_symbols){n, number};
}

void weft_bleu_add(weft_bleu *bleu, const char *translation, const char *reference,
                   weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    weft_names names = {.mem = tmp};
    weft_symbols made = number_words(translation, &names, tmp),
                 wanted = number_words(reference, &names, tmp);
    weft_ngrams_common(made, wanted, WEFT_BLEU_ORDER, bleu->match, tmp);
    for (int i = 0; i < WEFT_BLEU_ORDER; i++)
        bleu->total[i] += weft_ngrams_count(made, i + 1);
    bleu->length += made.n;
    bleu->reference += wanted.n;
    weft_arena_reset(tmp, mark);
}

double weft_bleu_score(const weft_bleu *bleu)
{
    double sum = 0, smooth = 1, penalty = 1;
    int64_t matches = 0;
    for (int i = 0; i < WEFT_BLEU_ORDER; i++) matches += bleu->match[i];
    if (matches == 0 || bleu->total[WEFT_BLEU_ORDER - 1] == 0) return 0;
    for (int i = 0; i < WEFT_BLEU_ORDER; i++) {
        if (bleu->match[i] == 0) smooth *= 2;
        double share = bleu->match[i] > 0 ? (double)bleu->match[i] : 1 / smooth;
        sum += log(100 * share / (double)bleu->total[i]);
    }
    if (bleu->length < bleu->reference)
        penalty = exp(1 - (double)bleu->reference / (double)bleu->length);
    return penalty * exp(sum / WEFT_BLEU_ORDER);
}

/* ---- chrF ---- */

static weft_symbols number_characters(const char *text, weft_arena *tmp)
{
    const uint8_t *from = (const uint8_t *)text;
    int32_t *code = WEFT_NEW(tmp, int32_t, strlen(text));
    int64_t n = 0;
    for (size_t step; *from != '\0'; from += step)
        if (!(char_class(from, &step) & CHAR_SPACE))
            code[n++] = weft_char_code(from, &step);
    return (weft_symbols){n, code};
}

void weft_chrf_add(weft_chrf *chrf, const char *translation, const char *reference,
                   weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    weft_symbols made = number_characters(translation, tmp),
                 wanted = number_characters(reference, tmp);
    weft_ngrams_common(made, wanted, WEFT_CHRF_ORDER, chrf->match, tmp);
    for (int i = 0; i < WEFT_CHRF_ORDER; i++) {
        if (wanted.n > i) chrf->total[i] += weft_ngrams_count(made, i + 1);
        chrf->reference[i] += weft_ngrams_count(wanted, i + 1);
    }
    weft_arena_reset(tmp, mark);
}

double weft_chrf_score(const weft_chrf *chrf)
{
    const double factor = 4; /* beta^2 */
    double precision = 0, recall = 0;
    int orders = 0;
    for (int i = 0; i < WEFT_CHRF_ORDER; i++) {
        if (chrf->total[i] == 0 || chrf->reference[i] == 0) continue;
        precision += (double)chrf->match[i] / (double)chrf->total[i];
        recall += (double)chrf->match[i] / (double)chrf->reference[i];
        orders++;
    }
    if (!(precision + recall > 0)) return 0;
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall) / orders;
}
