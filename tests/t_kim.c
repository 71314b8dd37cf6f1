/* Kim's tokenizer: sentences with words that follow from its rules, and the counts of
 * rt-polarity by his program (WEFT_DATA).
 * RUN: np=1 */
#include "weft/text/text.h"

#include "tap.h"

/* Tokens beside each other, a bar between them. */
struct sink {
    char text[256];
    size_t n;
};

static void join(void *ctx, const char *token, size_t n)
{
    struct sink *sink = ctx;
    if (sink->n > 0) sink->text[sink->n++] = '|';
    memcpy(sink->text + sink->n, token, n);
    sink->n += n;
    sink->text[sink->n] = '\0';
}

static void becomes(const char *text, const char *tokens)
{
    struct sink sink = {.n = 0};
    weft_tokenize(WEFT_TOK_KIM, text, strlen(text), join, &sink, mem);
    ok(strcmp(sink.text, tokens) == 0, "'%s' is %s", text, tokens);
    if (strcmp(sink.text, tokens) != 0) note("found %s", sink.text);
}

/* Lengths and distinct words of lines, by their hashes. */
struct counts {
    int64_t tokens, sentences, longest, shortest, line;
    uint64_t *hash; /* [tokens] */
    int64_t room;
    weft_arena *mem;
};

static void count(void *ctx, const char *token, size_t n)
{
    struct counts *counts = ctx;
    counts->hash = weft_grow(counts->mem, counts->hash, sizeof *counts->hash,
                             counts->tokens, &counts->room);
    counts->hash[counts->tokens++] = weft_hash(token, n, 0);
    counts->line++;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void count_file(const char *path, struct counts *counts, weft_arena *tmp)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "rb");
    if (!file) weft_die("%s is missing", path);
    for (ssize_t n; (n = getline(&line, &room, file)) > 0;) {
        counts->line = 0;
        weft_tokenize(WEFT_TOK_KIM, line, (size_t)n, count, counts, tmp);
        counts->sentences++;
        counts->longest = counts->line > counts->longest ? counts->line : counts->longest;
        counts->shortest =
            counts->line < counts->shortest ? counts->line : counts->shortest;
    }
    free(line);
    fclose(file);
}

static void test_polarity(void)
{
    const char *data = getenv("WEFT_DATA");
    if (!data) {
        skip(2, "WEFT_DATA names no archives");
        return;
    }
    weft_arena *tmp = weft_arena_new();
    struct counts counts = {.shortest = INT64_MAX, .mem = mem};
    count_file(printed("%s/rt-polaritydata/rt-polarity.pos", data), &counts, tmp);
    count_file(printed("%s/rt-polaritydata/rt-polarity.neg", data), &counts, tmp);
    qsort(counts.hash, (size_t)counts.tokens, sizeof *counts.hash, by_value);
    int64_t distinct = 0;
    for (int64_t i = 0; i < counts.tokens; i++)
        distinct += i == 0 || counts.hash[i] != counts.hash[i - 1];
    note("%d sentences of %d to %d words, %d in all, %d distinct", (int)counts.sentences,
         (int)counts.shortest, (int)counts.longest, (int)counts.tokens, (int)distinct);
    ok(counts.sentences == 10662 && counts.shortest == 1 && counts.longest == 56,
       "lengths are 1 to 56");
    ok(counts.tokens == 217353 && distinct == 18765, "217353 words, 18765 distinct ones");
    weft_arena_free(tmp);
}

int main(void)
{
    tap_begin();
    becomes("A visually stunning rumination", "a|visually|stunning|rumination");
    becomes("it's a movie , isn't it ?", "it|'s|a|movie|,|is|n't|it|?");
    becomes("(they'd've gone!)", "(|they|'d|'ve|gone|!|)");
    becomes("we'll we're DON'T", "we|'ll|we|'re|don't");
    becomes("jean-claud \"conan\" 21st-century", "jean|claud|conan|21st|century");
    becomes("fianc\xc3\xa9's caf\xe9 `quoted' 'so", "fianc|'s|caf|`quoted'|'so");
    becomes("n't 's", "n't|'s");
    becomes("", "");
    becomes(" -- ", "");
    test_polarity();
    return tap_end();
}
