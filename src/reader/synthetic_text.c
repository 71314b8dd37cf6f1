/* Built-in documents. Words of a language of syllables are drawn by Zipf's law between
 * English stop words. Among them are words of judgement, different ones for each class: a
 * document uses those of its class, or `not` before those of another, so that the order of
 * words and the stop word `not` matter; some judgements are of any class and repeated, so
 * that counts mislead. Sentences begin with a capital, some words are in capitals, and
 * punctuation is attached to words. */
#include "synthetic.h"

#include <string.h>

#define OCTAVES   12
#define COMMON    ((1 << OCTAVES) - 1) /* words drawn by Zipf's law */
#define JUDGEMENT 60                   /* words of judgement of a class */
#define MAX_WORD  16                   /* bytes, with a NUL */

/* Per cent of */
#define STOP    40 /* words: stop words */
#define JUDGE   10 /* words: judgements */
#define NEGATED 25 /* judgements: `not` and another class's word */
#define MISLEAD 40 /* judgements: of any class, repeated */
#define SHOUT   20 /* words in capitals */
#define STICK   4  /* words in brackets, quotes or with a hyphen */
#define COMMA   8  /* words before a comma */
#define STOPPED 9  /* words before a full stop or exclamation mark */

struct writer {
    const weft_synthetic *options;
    int64_t row, draws; /* random numbers drawn for this document */
    char *text;
    size_t n, room;
    int begin; /* of a sentence */
    weft_arena *tmp;
};

static uint64_t draw(struct writer *writer)
{
    return synthetic_rng(writer->options, writer->row, writer->draws++).v[0] >> 11;
}

static int chance(struct writer *writer, int percent)
{
    return draw(writer) % 100 < (uint64_t)percent;
}

/* Word `id` of the language: two to four syllables; equal words are rare. */
static size_t spell(const weft_synthetic *synthetic, int64_t id, char *word)
{
    static const char consonant[] = "bdfgklmnprstvz", vowel[] = "aeiou";
    weft_rng4 rng = synthetic_rng(synthetic, -1, id);
    size_t n = 2 * (2 + rng.v[1] % 3);
    for (size_t i = 0; i < n; i += 2) {
        word[i] = consonant[rng.v[0] % (sizeof consonant - 1)];
        word[i + 1] = vowel[rng.v[0] / 16 % (sizeof vowel - 1)];
        rng.v[0] /= 256;
    }
    word[n] = '\0';
    return n;
}

/* By Zipf's law, nearly: the octaves of ranks 2^k .. 2^(k+1) - 1 are equally likely. */
static int64_t common(struct writer *writer)
{
    int64_t octave = (int64_t)1 << draw(writer) % OCTAVES;
    return octave + (int64_t)(draw(writer) % (uint64_t)octave) - 1;
}

/* ---- writing ---- */

static void put(struct writer *writer, const char *text, size_t n)
{
    if (n == 0) return;
    if (writer->n + n > writer->room) {
        char *more = WEFT_NEW(writer->tmp, char, 2 * (writer->n + n));
        if (writer->n > 0) memcpy(more, writer->text, writer->n);
        writer->text = more;
        writer->room = 2 * (writer->n + n);
    }
    memcpy(writer->text + writer->n, text, n);
    writer->n += n;
}

static void capitals(char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (word[i] >= 'a' && word[i] <= 'z') word[i] = (char)(word[i] - 'a' + 'A');
}

/* Writes a word with a space before it, its case and its punctuation. */
static void put_word(struct writer *writer, char *word, size_t n)
{
    static const char *const around[][2] = {
        {"(", ")"}, {"\"", "\""}, {"", "-"}, {"*", "*"}};
    size_t stick = chance(writer, STICK) ? draw(writer) % 4 : 4;
    if (chance(writer, SHOUT))
        capitals(word, n);
    else if (writer->begin)
        capitals(word, 1);
    if (writer->n > 0) put(writer, " ", 1);
    if (stick < 4) put(writer, around[stick][0], strlen(around[stick][0]));
    put(writer, word, n);
    if (stick < 4) put(writer, around[stick][1], strlen(around[stick][1]));
    writer->begin = chance(writer, STOPPED);
    if (writer->begin)
        put(writer, chance(writer, 25) ? "!" : ".", 1);
    else if (chance(writer, COMMA))
        put(writer, ",", 1);
}

static void put_stop(struct writer *writer)
{
    static const char *const stop[] = {"the", "a",   "and", "of",   "to",   "is",
                                       "it",  "in",  "was", "that", "this", "with",
                                       "for", "not", "but", "as"};
    char word[MAX_WORD];
    size_t i = draw(writer) % (sizeof stop / sizeof *stop), n = strlen(stop[i]);
    memcpy(word, stop[i], n);
    put_word(writer, word, n);
}

static void put_judgement(struct writer *writer, int label)
{
    char word[MAX_WORD];
    int other =
        (label + 1 + (int)(draw(writer) % (uint64_t)(writer->options->classes - 1))) %
        writer->options->classes;
    int mislead = chance(writer, MISLEAD), class = label, times = 1;
    if (mislead) {
        class = (int)(draw(writer) % (uint64_t)writer->options->classes);
        times = 1 + (int)(draw(writer) % 4);
    } else if (chance(writer, NEGATED)) {
        class = other;
        put(writer, writer->n > 0 ? " not" : "Not", writer->n > 0 ? 4 : 3);
        writer->begin = 0;
    }
    int64_t id = COMMON + class * JUDGEMENT + (int64_t)(draw(writer) % JUDGEMENT);
    for (int i = 0; i < times; i++)
        put_word(writer, word, spell(writer->options, id, word));
}

char *weft_synthetic_document(const weft_synthetic *synthetic, int64_t row, int label,
                              size_t *n, weft_arena *tmp)
{
    struct writer writer = {.options = synthetic, .row = row, .begin = 1, .tmp = tmp};
    char word[MAX_WORD];
    int64_t words =
        synthetic->words / 2 + (int64_t)(draw(&writer) % (uint64_t)(synthetic->words + 1));
    for (int64_t i = 0; i < words; i++) {
        uint64_t kind = draw(&writer) % 100;
        if (kind < JUDGE)
            put_judgement(&writer, label);
        else if (kind < JUDGE + STOP)
            put_stop(&writer);
        else
            put_word(&writer, word, spell(synthetic, common(&writer), word));
    }
    *n = writer.n;
    return writer.text != NULL ? writer.text : WEFT_NEW(tmp, char, 1);
}
