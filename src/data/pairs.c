/* The pairs of all directions of sentences as rows. */
#include "weft/translations.h"

#include <string.h>

const char *weft_direction_name(const weft_translations *translations, int64_t direction,
                                weft_arena *mem)
{
    const weft_direction *way = &translations->direction[direction];
    return weft_arena_text(mem, "%s-%s", translations->language[way->source].name,
                           translations->language[way->target].name);
}

/* The pairs found in a direction of a part, from row `at` on. */
static void take(weft_pair_rows *pairs, int64_t part, const weft_direction *way,
                 const weft_pairs *found, int64_t at)
{
    const weft_language *language = pairs->of->language;
    weft_sentences_take(&language[way->source].part[part], found->n, found->source,
                        pairs->source + at, pairs->sources + at);
    weft_sentences_take(&language[way->target].part[part], found->n, found->target,
                        pairs->target + at, pairs->targets + at);
    memcpy(pairs->reference + at, found->target, (size_t)found->n * sizeof *found->target);
}

weft_pair_rows weft_pair_rows_new(const weft_translations *translations, weft_arena *mem)
{
    int64_t directions = translations->directions, all = WEFT_NPART * directions, n = 0;
    const weft_direction *way = translations->direction;
    weft_arena *tmp = weft_arena_new();
    weft_pairs *found = WEFT_NEW(tmp, weft_pairs, all);
    weft_pair_rows pairs = {.of = translations, .first = WEFT_NEW(mem, int64_t, all + 1)};
    for (int64_t i = 0; i < all; i++) {
        found[i] = weft_translations_pairs(translations, (weft_part)(i / directions),
                                           way[i % directions], tmp);
        n += found[i].n;
        pairs.first[i + 1] = n;
    }
    pairs.source = WEFT_NEW(mem, const uint32_t *, n);
    pairs.target = WEFT_NEW(mem, const uint32_t *, n);
    pairs.sources = WEFT_NEW(mem, int, n);
    pairs.targets = WEFT_NEW(mem, int, n);
    pairs.reference = WEFT_NEW(mem, int32_t, n);
    for (int64_t i = 0; i < all; i++)
        take(&pairs, i / directions, &way[i % directions], &found[i], pairs.first[i]);
    weft_arena_free(tmp);
    return pairs;
}

/* Words of the largest vocabulary. */
static int64_t words_of(const weft_translations *of)
{
    int64_t words = 0;
    for (int i = 0; i < of->n; i++)
        if (of->language[i].bpe->n > words) words = of->language[i].bpe->n;
    return words;
}

weft_shape weft_pair_rows_shape(const weft_pair_rows *pairs)
{
    int64_t n = pairs->first[WEFT_NPART * pairs->of->directions],
            words = words_of(pairs->of) + pairs->of->n;
    double sources = 0, targets = 0;
    weft_shape shape = {.form = WEFT_SENTENCES, .words = words, .classes = (int)words};
    for (int64_t i = 0; i < n; i++) {
        sources += pairs->sources[i];
        targets += pairs->targets[i];
        if (pairs->sources[i] >= shape.d) shape.d = pairs->sources[i] + 1;
        if (pairs->targets[i] > shape.longest) shape.longest = pairs->targets[i];
    }
    shape.length = sources / (double)n;
    shape.translated = targets / (double)n;
    return shape;
}

void weft_pair_rows_name(const weft_pair_rows *pairs, int64_t row, int target,
                         uint32_t *named)
{
    named[0] = (uint32_t)(words_of(pairs->of) + target);
    memcpy(named + 1, pairs->source[row], (size_t)pairs->sources[row] * sizeof *named);
}

int64_t weft_pair_rows_words(const weft_pair_rows *pairs, weft_part part, int64_t direction)
{
    const int64_t *first = pairs->first + part * pairs->of->directions + direction;
    int64_t n = first[1] - first[0];
    for (int64_t i = first[0]; i < first[1]; i++) n += pairs->targets[i];
    return n;
}
