/* Kim's tokenizer: sentences with words that follow from its rules, and the counts of
 * rt-polarity by his program (WEFT_DATA).
 * RUN: np=1 */
#include "weft/hash.h"
#include "weft/text.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* Tokens beside each other, a bar between them. */
struct sink {
    char text[256];
    size_t n;
};

static void join(void *ctx, const char *token, size_t n)
{
    struct sink *s = ctx;
    if (s->n > 0) s->text[s->n++] = '|';
    memcpy(s->text + s->n, token, n);
    s->n += n;
    s->text[s->n] = '\0';
}

static void becomes(const char *text, const char *tokens, weft_arena *mem)
{
    struct sink s = {.n = 0};
    weft_tokenize(WEFT_TOK_KIM, text, strlen(text), join, &s, mem);
    ok(strcmp(s.text, tokens) == 0, "'%s' is %s", text, tokens);
    if (strcmp(s.text, tokens) != 0) note("found %s", s.text);
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
    struct counts *c = ctx;
    c->hash = weft_grow(c->mem, c->hash, sizeof *c->hash, c->tokens, &c->room);
    c->hash[c->tokens++] = weft_hash(token, n, 0);
    c->line++;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void count_file(const char *path, struct counts *c, weft_arena *tmp)
{
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "rb");
    if (!f) weft_die("%s is missing", path);
    for (ssize_t n; (n = getline(&line, &room, f)) > 0;) {
        c->line = 0;
        weft_tokenize(WEFT_TOK_KIM, line, (size_t)n, count, c, tmp);
        c->sentences++;
        c->longest = c->line > c->longest ? c->line : c->longest;
        c->shortest = c->line < c->shortest ? c->line : c->shortest;
    }
    free(line);
    fclose(f);
}

static void test_polarity(void)
{
    const char *data = getenv("WEFT_DATA");
    if (!data) {
        skip(2, "WEFT_DATA names no archives");
        return;
    }
    weft_arena *mem = weft_arena_new(), *tmp = weft_arena_new();
    struct counts c = {.shortest = INT64_MAX, .mem = mem};
    count_file(weft_arena_text(mem, "%s/rt-polaritydata/rt-polarity.pos", data), &c, tmp);
    count_file(weft_arena_text(mem, "%s/rt-polaritydata/rt-polarity.neg", data), &c, tmp);
    qsort(c.hash, (size_t)c.tokens, sizeof *c.hash, by_value);
    int64_t distinct = 0;
    for (int64_t i = 0; i < c.tokens; i++) distinct += i == 0 || c.hash[i] != c.hash[i - 1];
    note("%d sentences of %d to %d words, %d in all, %d distinct", (int)c.sentences,
         (int)c.shortest, (int)c.longest, (int)c.tokens, (int)distinct);
    ok(c.sentences == 10662 && c.shortest == 1 && c.longest == 56, "lengths are 1 to 56");
    ok(c.tokens == 217353 && distinct == 18765, "217353 words, 18765 distinct ones");
    weft_arena_free(mem);
    weft_arena_free(tmp);
}

int main(void)
{
    weft_arena *mem = weft_arena_new();
    becomes("A visually stunning rumination", "a|visually|stunning|rumination", mem);
    becomes("it's a movie , isn't it ?", "it|'s|a|movie|,|is|n't|it|?", mem);
    becomes("(they'd've gone!)", "(|they|'d|'ve|gone|!|)", mem);
    becomes("we'll we're DON'T", "we|'ll|we|'re|don't", mem);
    becomes("jean-claud \"conan\" 21st-century", "jean|claud|conan|21st|century", mem);
    becomes("fianc\xc3\xa9's caf\xe9 `quoted' 'so", "fianc|'s|caf|`quoted'|'so", mem);
    becomes("n't 's", "n't|'s", mem);
    becomes("", "", mem);
    becomes(" -- ", "", mem);
    test_polarity();
    weft_arena_free(mem);
    return tap_done();
}
