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

typedef struct writer {
    const weft_synthetic *o;
    int64_t row, draws; /* random numbers drawn for this document */
    char *text;
    size_t n, room;
    int begin; /* of a sentence */
    weft_arena *tmp;
} writer;

static uint64_t draw(writer *w)
{
    return synthetic_rng(w->o, w->row, w->draws++).v[0] >> 11;
}

static int chance(writer *w, int percent)
{
    return draw(w) % 100 < (uint64_t)percent;
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
static int64_t common(writer *w)
{
    int64_t octave = (int64_t)1 << draw(w) % OCTAVES;
    return octave + (int64_t)(draw(w) % (uint64_t)octave) - 1;
}

/* ---- writing ---- */

static void put(writer *w, const char *text, size_t n)
{
    if (n == 0) return;
    if (w->n + n > w->room) {
        char *more = WEFT_NEW(w->tmp, char, 2 * (w->n + n));
        if (w->n > 0) memcpy(more, w->text, w->n);
        w->text = more;
        w->room = 2 * (w->n + n);
    }
    memcpy(w->text + w->n, text, n);
    w->n += n;
}

static void capitals(char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (word[i] >= 'a' && word[i] <= 'z') word[i] = (char)(word[i] - 'a' + 'A');
}

/* Writes a word with a space before it, its case and its punctuation. */
static void put_word(writer *w, char *word, size_t n)
{
    static const char *const around[][2] = {
        {"(", ")"}, {"\"", "\""}, {"", "-"}, {"*", "*"}};
    size_t stick = chance(w, STICK) ? draw(w) % 4 : 4;
    if (chance(w, SHOUT))
        capitals(word, n);
    else if (w->begin)
        capitals(word, 1);
    if (w->n > 0) put(w, " ", 1);
    if (stick < 4) put(w, around[stick][0], strlen(around[stick][0]));
    put(w, word, n);
    if (stick < 4) put(w, around[stick][1], strlen(around[stick][1]));
    w->begin = chance(w, STOPPED);
    if (w->begin)
        put(w, chance(w, 25) ? "!" : ".", 1);
    else if (chance(w, COMMA))
        put(w, ",", 1);
}

static void put_stop(writer *w)
{
    static const char *const stop[] = {"the", "a",   "and", "of",   "to",   "is",
                                       "it",  "in",  "was", "that", "this", "with",
                                       "for", "not", "but", "as"};
    char word[MAX_WORD];
    size_t i = draw(w) % (sizeof stop / sizeof *stop), n = strlen(stop[i]);
    memcpy(word, stop[i], n);
    put_word(w, word, n);
}

static void put_judgement(writer *w, int label)
{
    char word[MAX_WORD];
    int other =
        (label + 1 + (int)(draw(w) % (uint64_t)(w->o->classes - 1))) % w->o->classes;
    int mislead = chance(w, MISLEAD), class = label, times = 1;
    if (mislead) {
        class = (int)(draw(w) % (uint64_t)w->o->classes);
        times = 1 + (int)(draw(w) % 4);
    } else if (chance(w, NEGATED)) {
        class = other;
        put(w, w->n > 0 ? " not" : "Not", w->n > 0 ? 4 : 3);
        w->begin = 0;
    }
    int64_t id = COMMON + class * JUDGEMENT + (int64_t)(draw(w) % JUDGEMENT);
    for (int i = 0; i < times; i++) put_word(w, word, spell(w->o, id, word));
}

char *weft_synthetic_document(const weft_synthetic *synthetic, int64_t row, int label,
                              size_t *n, weft_arena *tmp)
{
    writer w = {.o = synthetic, .row = row, .begin = 1, .tmp = tmp};
    char word[MAX_WORD];
    int64_t words =
        synthetic->words / 2 + (int64_t)(draw(&w) % (uint64_t)(synthetic->words + 1));
    for (int64_t i = 0; i < words; i++) {
        uint64_t kind = draw(&w) % 100;
        if (kind < JUDGE)
            put_judgement(&w, label);
        else if (kind < JUDGE + STOP)
            put_stop(&w);
        else
            put_word(&w, word, spell(synthetic, common(&w), word));
    }
    *n = w.n;
    return w.text != NULL ? w.text : WEFT_NEW(tmp, char, 1);
}
