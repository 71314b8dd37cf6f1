/* What a packed file of sentences has, as `weft pack` and `weft info` print it. */
#include "weft/translations.h"

#include <stdio.h>

static void print_languages(const weft_translations *translations)
{
    printf("%-12s %8s %8s %8s %8s %10s %8s %8s\n", "language", "train", "valid", "test",
           "pieces", "tokens", "mean", "longest");
    for (int i = 0; i < translations->n; i++) {
        const weft_language *language = &translations->language[i];
        int64_t tokens = 0, sentences = 0, longest = 0;
        printf("%-12s", language->name);
        for (int p = 0; p < WEFT_NPART; p++) {
            const weft_sentences *own = &language->part[p];
            printf(" %8lld", (long long)own->n);
            sentences += own->n;
            tokens += own->offset[own->n];
            for (int64_t k = 0; k < own->n; k++)
                if (own->offset[k + 1] - own->offset[k] > longest)
                    longest = own->offset[k + 1] - own->offset[k];
        }
        double mean = sentences > 0 ? (double)tokens / (double)sentences : 0;
        printf(" %8lld %10lld %8.1f %8lld\n", (long long)language->bpe->n,
               (long long)tokens, mean, (long long)longest);
    }
}

static void print_directions(const weft_translations *translations)
{
    enum { MOST = 100 };
    weft_arena *tmp = translations->mem;
    int64_t n = translations->directions < MOST ? translations->directions : MOST;
    printf("%-12s %8s %8s %8s %8s\n", "direction", "train", "valid", "test", "distinct");
    for (int64_t i = 0; i < n; i++) {
        size_t mark = weft_arena_mark(tmp);
        weft_direction direction = translations->direction[i];
        const weft_language *source = &translations->language[direction.source],
                            *target = &translations->language[direction.target];
        weft_pairs pairs = {.n = 0};
        printf("%-12s", weft_arena_text(tmp, "%s-%s", source->name, target->name));
        for (int p = 0; p < WEFT_NPART; p++) {
            pairs = weft_translations_pairs(translations, (weft_part)p, direction, tmp);
            printf(" %8lld", (long long)pairs.n);
        }
        printf(" %8lld\n", (long long)weft_sentences_distinct(&target->part[WEFT_TEST],
                                                              pairs.n, pairs.target, tmp));
        weft_arena_reset(tmp, mark);
    }
    if (n < translations->directions)
        printf("... %lld more\n", (long long)(translations->directions - n));
}

void weft_translations_print(const weft_translations *translations)
{
    printf("%-9s %lld train, %lld valid, %lld test\n", "lines",
           (long long)translations->lines[WEFT_TRAIN],
           (long long)translations->lines[WEFT_VALID],
           (long long)translations->lines[WEFT_TEST]);
    printf("%-9s %s; tokens are pieces, distinct are different references of the test\n",
           "pieces", translations->joint ? "of all languages together" : "by language");
    print_languages(translations);
    print_directions(translations);
}
