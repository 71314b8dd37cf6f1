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

/* All sources, those of the pairs with their targets, the others with -1. */
static weft_pairs with_others(const weft_sentences *sources, weft_pairs pairs,
                              weft_arena *tmp)
{
    int32_t *source = WEFT_NEW(tmp, int32_t, sources->n),
            *target = WEFT_NEW(tmp, int32_t, sources->n);
    for (int32_t i = 0; i < sources->n; i++) {
        source[i] = i;
        target[i] = -1;
    }
    for (int64_t i = 0; i < pairs.n; i++) target[pairs.source[i]] = pairs.target[i];
    return (weft_pairs){sources->n, source, target};
}

/* The pairs of a direction of a part, none if the file lacks it. */
static weft_pairs find(const weft_translations *of, int64_t part, int64_t direction,
                       int every, weft_arena *tmp)
{
    weft_direction way = of->direction[direction];
    if (of->absent && of->absent[direction]) return (weft_pairs){0, NULL, NULL};
    weft_pairs pairs = weft_translations_pairs(of, (weft_part)part, way, tmp);
    return every ? with_others(&of->language[way.source].part[part], pairs, tmp) : pairs;
}

/* The pairs found in a direction of a part, from row `at` on. */
static void take(weft_pair_rows *pairs, int64_t part, const weft_direction *way,
                 const weft_pairs *found, int64_t at)
{
    const weft_language *language = pairs->of->language;
    weft_sentences_take(&language[way->source].part[part], found->n, found->source,
                        pairs->source + at, pairs->sources + at);
    for (int64_t i = 0; i < found->n; i++) {
        pairs->origin[at + i] = found->source[i];
        pairs->reference[at + i] = found->target[i];
        if (found->target[i] >= 0)
            weft_sentences_take(&language[way->target].part[part], 1, &found->target[i],
                                pairs->target + at + i, pairs->targets + at + i);
    }
}

weft_pair_rows weft_pair_rows_new(const weft_translations *translations, int every,
                                  weft_arena *mem)
{
    int64_t directions = translations->directions, all = WEFT_NPART * directions, n = 0;
    const weft_direction *way = translations->direction;
    weft_arena *tmp = weft_arena_new();
    weft_pairs *found = WEFT_NEW(tmp, weft_pairs, all);
    weft_pair_rows pairs = {.of = translations, .first = WEFT_NEW(mem, int64_t, all + 1)};
    for (int64_t i = 0; i < all; i++) {
        found[i] = find(translations, i / directions, i % directions, every, tmp);
        n += found[i].n;
        pairs.first[i + 1] = n;
    }
    pairs.source = WEFT_NEW(mem, const uint32_t *, n);
    pairs.target = WEFT_NEW(mem, const uint32_t *, n);
    pairs.sources = WEFT_NEW(mem, int, n);
    pairs.targets = WEFT_NEW(mem, int, n);
    pairs.origin = WEFT_NEW(mem, int32_t, n);
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
            words = words_of(pairs->of);
    double sources = 0, targets = 0;
    weft_shape shape = {.form = WEFT_SENTENCES,
                        .d = 1,
                        .words = words + pairs->of->n,
                        .classes = (int)(words + pairs->of->names)};
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
