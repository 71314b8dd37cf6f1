/* Vectors of words from a file of word2vec, text or binary, and drawn ones for words that
 * it lacks. A file begins with a line of two numbers, words and numbers of a vector; then
 * each word is followed by its vector, in floats of this machine, or as text on a line of
 * its own, where the vector is the last numbers, so that a word may have blanks in it.
 * Mikolov et al., "Distributed representations of words and phrases and their
 * compositionality", NIPS 2013; unknown words as in Kim, "Convolutional neural networks
 * for sentence classification", EMNLP 2014. */
#include "weft/vectors.h"
#include "vocab.h"
#include "weft/hash.h"
#include "weft/log.h"
#include "weft/magic.h"
#include "weft/rng.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORD = 4096, MAX_NUMBERS = 4096, NUMBER = 64 };
#define KIM 0.25 /* largest number of a drawn vector */

typedef struct reading {
    FILE *f;
    const char *path;
    int64_t words, number; /* of the file; the one that is read */
    int d, binary;
    char word[MAX_WORD + 1];
    size_t n;     /* bytes of the word */
    float *value; /* [d] */
    char *line;   /* of a text, in `room` bytes; freed at the end */
    size_t room;
    int64_t spaced; /* words with blanks in them */
} reading;

static void draw(const weft_vocab *vocab, int d, uint64_t seed, float *value)
{
    for (int64_t i = 0; i < vocab->n; i++)
        for (int j = 0; j < d; j += 4) {
            weft_rng4 rng =
                weft_rng_at(seed, WEFT_RNG_WEIGHTS, vocab->hash[i], (uint64_t)j / 4, 1);
            for (int e = 0; e < 4 && j + e < d; e++)
                value[i * d + j + e] = (float)(KIM * (2 * weft_rng_unit(rng.v[e]) - 1));
        }
}

/* ---- the file ---- */

static weft_status bad(const reading *r, const char *what)
{
    if (ferror(r->f)) return weft_unreadable(r->path);
    return weft_fail(WEFT_EDATA,
                     "%s: word %lld of %lld: %s; expected a file of word2vec, in its text "
                     "or its binary form",
                     r->path, (long long)r->number + 1, (long long)r->words, what);
}

/* The word, up to a blank; ends of lines before it are skipped. */
static weft_status read_word(reading *r)
{
    int c;
    r->n = 0;
    while ((c = getc(r->f)) == '\n' || c == '\r') {}
    for (; c != EOF && c != ' ' && c != '\t' && c != '\n'; c = getc(r->f)) {
        if (r->n == MAX_WORD) return bad(r, "it is longer than 4096 bytes");
        r->word[r->n++] = (char)c;
    }
    if (c == EOF) return bad(r, "the file ends");
    if (c == '\n') return bad(r, "it has no vector");
    return WEFT_OK;
}

static weft_status read_binary(reading *r)
{
    TRY(read_word(r));
    if (fread(r->value, sizeof *r->value, (size_t)r->d, r->f) != (size_t)r->d)
        return bad(r, "the file ends within its vector");
    return WEFT_OK;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The bytes of text[n] without the blanks at its end. */
static size_t trimmed(const char *text, size_t n)
{
    while (n > 0 && is_blank(text[n - 1])) n--;
    return n;
}

/* The next line that is not empty, without the blanks at its end; *n its bytes. */
static weft_status next_line(reading *r, size_t *n)
{
    ssize_t got;
    do {
        got = getline(&r->line, &r->room, r->f);
        if (got < 0) return bad(r, "the file ends");
    } while (strspn(r->line, "\r\n") == (size_t)got);
    *n = trimmed(r->line, (size_t)got);
    r->line[*n] = '\0';
    return WEFT_OK;
}

/* 1 if the bytes are one number. */
static int number_of(const char *text, size_t n, float *x)
{
    char *end;
    *x = strtof(text, &end);
    return n > 0 && end == text + n;
}

/* The word from the first n bytes of a line, which end before its vector: without the
 * blanks around it, unless it is a blank. */
static weft_status take_word(reading *r, size_t n)
{
    size_t end = trimmed(r->line, n), from = 0, piece;
    float extra;
    if (end == 0) end = n;
    while (from + 1 < end && is_blank(r->line[from])) from++;
    for (piece = end; piece > from && !is_blank(r->line[piece - 1]);) piece--;
    if (piece > from) {
        if (number_of(r->line + piece, end - piece, &extra))
            return bad(r, "its vector has more numbers than the first line says");
        r->spaced++;
    }
    r->n = end - from;
    if (r->n > MAX_WORD) return bad(r, "it is longer than 4096 bytes");
    memcpy(r->word, r->line + from, r->n);
    return WEFT_OK;
}

/* The word and its vector from a line: the last d pieces are the vector, what is before
 * them is the word. */
static weft_status read_text(reading *r)
{
    size_t n = 0, from;
    TRY(next_line(r, &n));
    for (int j = r->d - 1; j >= 0; j--) {
        for (from = n; from > 0 && !is_blank(r->line[from - 1]);) from--;
        if (from == 0)
            return bad(r, j == r->d - 1
                              ? "it has no vector"
                              : "its vector has fewer numbers than the first line "
                                "says");
        if (!number_of(r->line + from, n - from, &r->value[j]))
            return bad(r, "its vector has something else than numbers");
        n = from - 1;
        if (j > 0) n = trimmed(r->line, n);
        r->line[n] = '\0';
    }
    return take_word(r, n);
}

/* 1 if the bytes are of printed text, which may end within a character. */
static int is_printed(const char *text, size_t n)
{
    enum { LONGEST = 4 /* bytes of a character */ };
    for (size_t i = 0; i < n; i++)
        if (iscntrl((unsigned char)text[i]) && !isspace((unsigned char)text[i])) return 0;
    return weft_utf8_check(text, n) + LONGEST > n;
}

/* 1 if the n bytes that follow a word begin with a vector of d floats, 0 if with printed
 * numbers. A line of text has at least a digit for each number and a blank between two: one
 * that ends before begins a vector of floats, unless these are printed text as a whole,
 * which is a text with a number missing. */
static int is_binary(const char *look, size_t n, size_t d)
{
    size_t end = 0;
    for (; end < n && look[end] != '\n'; end++) {
        unsigned char c = (unsigned char)look[end];
        if (c == '\0' || (!isspace(c) && !strchr("0123456789+-.eEnaif", c))) return 1;
    }
    if (end == n || end >= 2 * d - 1) return 0;
    return !is_printed(look, n);
}

/* 1 if a line is text for sure: printed, and it ends in d numbers, or is so long that
 * floats would not be printed. */
static int is_text(char *line, size_t n, int d)
{
    enum { SURE = 8 };
    float x;
    if (!is_printed(line, n)) return 0;
    if (d >= SURE && n >= 2 * (size_t)d) return 1;
    for (n = trimmed(line, n); d > 0; d--) {
        size_t from = n;
        while (from > 0 && !is_blank(line[from - 1])) from--;
        line[n] = '\0';
        if (from == 0 || !number_of(line + from, n - from, &x)) return 0;
        n = trimmed(line, from);
    }
    return 1;
}

static weft_status read_form(reading *r)
{
    enum { LEAST = 256, MOST = 4 * MAX_NUMBERS };
    char look[MOST];
    long at = ftell(r->f);
    TRY(read_word(r));
    size_t bytes = (size_t)r->d * sizeof(float);
    size_t n = fread(look, 1, bytes > LEAST ? bytes : LEAST, r->f);
    r->binary = is_binary(look, n, (size_t)r->d);
    if (at < 0 || fseek(r->f, at, SEEK_SET) != 0) return weft_unreadable(r->path);
    if (!r->binary) return WEFT_OK;
    ssize_t line = getline(&r->line, &r->room, r->f); /* its word may have blanks in it */
    if (line > 0 && is_text(r->line, (size_t)line, r->d)) r->binary = 0;
    if (fseek(r->f, at, SEEK_SET) != 0) return weft_unreadable(r->path);
    return WEFT_OK;
}

static weft_status read_head(reading *r)
{
    char line[NUMBER] = "", *first, *end;
    if (!fgets(line, sizeof line, r->f)) return bad(r, "the file is empty");
    TRY(weft_text_only(r->path, line, sizeof line));
    r->words = strtoll(line, &first, 10);
    const long long d = strtoll(first, &end, 10);
    const int two = first > line && end > first;
    while (isspace((unsigned char)*end)) end++;
    if (!two || *end != '\0')
        return weft_fail(WEFT_EDATA,
                         "%s does not begin with a line \"WORDS NUMBERS\"; expected a file "
                         "of word2vec, with vectors of 1 to %d numbers; put such a "
                         "line before those of a file of GloVe",
                         r->path, MAX_NUMBERS);
    if (r->words < 1 || d < 1 || d > MAX_NUMBERS)
        return weft_fail(WEFT_EDATA,
                         "%s: the first line says %lld words with vectors of %lld numbers; "
                         "expected one word or more, and 1 to %d numbers",
                         r->path, (long long)r->words, d, MAX_NUMBERS);
    r->d = (int)d;
    return read_form(r);
}

/* Gives word i of the vocabulary the vector that was read, unless it has one of that rank.
 */
static weft_status offer(const reading *r, int64_t i, uint8_t rank, uint8_t *has,
                         weft_vectors *out)
{
    if (i < 0 || has[i] >= rank) return WEFT_OK;
    for (int j = 0; j < r->d; j++)
        if (!isfinite(r->value[j])) return bad(r, "its vector is not finite");
    out->found += has[i] == 0;
    has[i] = rank;
    memcpy(out->value + i * r->d, r->value, (size_t)r->d * sizeof *r->value);
    return WEFT_OK;
}

/* If the file has a word twice, the first vector counts; an exact match counts before a
 * match in lower case. So a word's vector does not depend on the rest of the vocabulary. */
static weft_status read_all(reading *r, const weft_vocab_index *t, weft_vectors *out,
                            weft_arena *tmp)
{
    enum { DRAWN, LOWER, EXACT };
    uint8_t *has = WEFT_NEW(tmp, uint8_t, t->v->n); /* DRAWN at first */
    char *low = WEFT_NEW(tmp, char, 2 * MAX_WORD);
    for (r->number = 0; r->number < r->words; r->number++) {
        TRY(r->binary ? read_binary(r) : read_text(r));
        int64_t i = weft_vocab_index_find(t, weft_hash(r->word, r->n, 0));
        TRY(offer(r, i, EXACT, has, out));
        if (weft_utf8_check(r->word, r->n) < r->n) continue;
        size_t n = weft_lower(r->word, r->n, low, 2 * MAX_WORD);
        TRY(offer(r, weft_vocab_index_find(t, weft_hash(low, n, 0)), LOWER, has, out));
    }
    if (r->spaced > 0)
        weft_log(WEFT_INFO,
                 "%s: %lld of %lld words have blanks in them; no document has such a word",
                 r->path, (long long)r->spaced, (long long)r->words);
    return WEFT_OK;
}

/* EDATA unless nothing but ends of lines follows the last word. */
static weft_status check_end(reading *r)
{
    int c;
    while ((c = getc(r->f)) != EOF && isspace(c)) {}
    if (ferror(r->f)) return weft_unreadable(r->path);
    if (c == EOF) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: the first line says %lld words with vectors of %d numbers, and "
                     "more follows after these; mend the first line",
                     r->path, (long long)r->words, r->d);
}

static weft_status read_file(reading *r, const weft_vocab *vocab, uint64_t seed,
                             weft_vectors *out, weft_arena *mem)
{
    TRY(read_head(r));
    out->d = r->d;
    out->value = WEFT_NEW(mem, float, vocab->n * r->d);
    draw(vocab, r->d, seed, out->value);
    size_t mark = weft_arena_mark(mem);
    r->value = WEFT_NEW(mem, float, r->d);
    weft_vocab_index t = weft_vocab_index_new(vocab, mem);
    weft_status st = read_all(r, &t, out, mem);
    if (st == WEFT_OK) st = check_end(r);
    weft_arena_reset(mem, mark);
    return st;
}

weft_status weft_vectors_read(const weft_vocab *vocab, const char *path, int d,
                              uint64_t seed, weft_vectors *out, weft_arena *mem)
{
    *out = (weft_vectors){.d = d};
    if (!path || *path == '\0') {
        out->value = WEFT_NEW(mem, float, vocab->n *d);
        draw(vocab, d, seed, out->value);
        return WEFT_OK;
    }
    FILE *f = fopen(path, "rb");
    if (!f) return weft_unreadable(path);
    reading r = {.f = f, .path = path};
    weft_status st = read_file(&r, vocab, seed, out, mem);
    free(r.line);
    fclose(f);
    return st;
}
