/* The words of vocabularies, found by their hashes, and their vectors, from a file of
 * word2vec, text or binary, or drawn where it lacks a word. A file begins with a line of
 * two numbers, words and numbers of a vector; then each word is followed by its vector, in
 * floats of this machine, or as text on a line of its own, where the vector is the last
 * numbers, so that a word may have blanks in it. Mikolov et al., "Distributed
 * representations of words and phrases and their compositionality", NIPS 2013; unknown
 * words as in Kim, "Convolutional neural networks for sentence classification", EMNLP 2014.
 */
#include "data.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/base/random.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- vocabularies ---- */

/* A hash table with open addressing. */
struct index {
    const weft_vocab *vocab;
    int64_t *slot; /* [mask + 1] number + 1 of a word; 0: free */
    uint64_t mask;
};

/* The words of a vocabulary, which the table refers to. Cost O(n). */
static struct index index_words(const weft_vocab *vocab, weft_arena *mem)
{
    struct index index = {.vocab = vocab, .mask = 64};
    while (index.mask < 2 * (uint64_t)vocab->n) index.mask *= 2;
    index.slot = WEFT_NEW(mem, int64_t, index.mask--);
    for (int64_t i = 0; i < vocab->n; i++) {
        uint64_t s = vocab->hash[i] & index.mask;
        while (index.slot[s] != 0) s = (s + 1) & index.mask;
        index.slot[s] = i + 1;
    }
    return index;
}

/* The number of the word of that hash, -1: none. */
static int64_t find_word(const struct index *index, uint64_t hash)
{
    for (uint64_t s = hash & index->mask; index->slot[s] != 0; s = (s + 1) & index->mask)
        if (index->vocab->hash[index->slot[s] - 1] == hash) return index->slot[s] - 1;
    return -1;
}

weft_status weft_vocab_words(weft_vocab *vocab, weft_h5 *file, const char *group)
{
    const char *text_path = weft_arena_text(file->mem, "%s/text", group);
    const char *offset_path = weft_arena_text(file->mem, "%s/text_offset", group);
    int64_t bytes, n;
    void *text, *ends;
    TRY(weft_h5_read_all(file, text_path, WEFT_H5_U8, 1, &text, &bytes));
    TRY(weft_h5_read_all(file, offset_path, WEFT_H5_I64, 1, &ends, &n));
    const int64_t *offset = ends;
    int64_t words = n - 1;
    int sound = words >= 0 && (vocab->n == 0 || vocab->n == words) && offset[0] == 0 &&
                offset[words] == bytes;
    for (int64_t i = 0; i < words && sound; i++) sound = offset[i] <= offset[i + 1];
    if (!sound)
        return weft_fail(
            WEFT_EFILE,
            "%s: the words in %s are not one after another; make the file again",
            file->path, text_path);
    vocab->n = words;
    vocab->text = text;
    vocab->offset = offset;
    return WEFT_OK;
}

int64_t *weft_vocab_places(const weft_vocab *vocab, const weft_vocab *to, weft_arena *mem)
{
    int64_t *place = WEFT_NEW(mem, int64_t, vocab->n);
    WEFT_REWIND(mem);
    struct index index = index_words(to, mem);
    for (int64_t i = 0; i < vocab->n; i++) place[i] = find_word(&index, vocab->hash[i]);
    return place;
}

const char *weft_token_name(weft_data *data, const char *group, int tok, const char *what)
{
    return weft_arena_text(data->mem, "/%s/%s/%s", group, weft_tok_name[tok], what);
}

weft_status weft_data_vocab(weft_data *data, weft_tokenizer tok)
{
    const char *name = weft_token_name(data, "vocab", tok, "hash");
    void *hash;
    int64_t n;
    TRY(weft_h5_read_all(&data->file, name, WEFT_H5_U64, 1, &hash, &n));
    uint64_t *lower = WEFT_NEW(data->mem, uint64_t, n);
    uint8_t *stop = WEFT_NEW(data->mem, uint8_t, n);
    TRY(weft_h5_read_rows(&data->file, weft_token_name(data, "vocab", tok, "lower"),
                          WEFT_H5_U64, 1, 0, n, lower));
    TRY(weft_h5_read_rows(&data->file, weft_token_name(data, "vocab", tok, "stop"),
                          WEFT_H5_U8, 1, 0, n, stop));
    data->vocab[tok] = (weft_vocab){.n = n, .hash = hash, .lower = lower, .stop = stop};
    return WEFT_OK;
}

weft_status weft_data_words(weft_data *data, weft_tokenizer tok)
{
    weft_vocab *vocab = &data->vocab[tok];
    int64_t *count = WEFT_NEW(data->mem, int64_t, vocab->n);
    TRY(weft_vocab_words(vocab, &data->file,
                         weft_arena_text(data->mem, "/vocab/%s", weft_tok_name[tok])));
    TRY(weft_h5_read_rows(&data->file, weft_token_name(data, "vocab", tok, "count"),
                          WEFT_H5_I64, 1, 0, vocab->n, count));
    vocab->count = count;
    return WEFT_OK;
}

/* ---- vectors ---- */

enum { MAX_WORD = 4096, MAX_NUMBERS = 4096, NUMBER = 64 };
#define KIM 0.25 /* largest number of a drawn vector */

struct reading {
    FILE *file;
    const char *path;
    int64_t words, number; /* of the file; the one that is read */
    int d, binary;
    char word[MAX_WORD + 1];
    size_t n;     /* bytes of the word */
    float *value; /* [d] */
    char *line;   /* of a text, in `room` bytes; freed at the end */
    size_t room;
    int64_t spaced; /* words with blanks in them */
};

static void draw_vectors(const weft_vocab *vocab, int d, uint64_t seed, float *value)
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

static weft_status bad_word(const struct reading *reading, const char *what)
{
    if (ferror(reading->file)) return weft_unreadable(reading->path);
    return weft_fail(WEFT_EDATA,
                     "%s: word %lld of %lld: %s; expected a file of word2vec, in its text "
                     "or its binary form",
                     reading->path, (long long)reading->number + 1,
                     (long long)reading->words, what);
}

/* The word, up to a blank; ends of lines before it are skipped. */
static weft_status read_word(struct reading *reading)
{
    int c;
    reading->n = 0;
    while ((c = getc(reading->file)) == '\n' || c == '\r') {}
    for (; c != EOF && c != ' ' && c != '\t' && c != '\n'; c = getc(reading->file)) {
        if (reading->n == MAX_WORD)
            return bad_word(reading, "it is longer than 4096 bytes");
        reading->word[reading->n++] = (char)c;
    }
    if (c == EOF) return bad_word(reading, "the file ends");
    if (c == '\n') return bad_word(reading, "it has no vector");
    return WEFT_OK;
}

static weft_status read_binary(struct reading *reading)
{
    TRY(read_word(reading));
    if (fread(reading->value, sizeof *reading->value, (size_t)reading->d, reading->file) !=
        (size_t)reading->d)
        return bad_word(reading, "the file ends within its vector");
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
static weft_status next_line(struct reading *reading, size_t *n)
{
    ssize_t got;
    do {
        got = getline(&reading->line, &reading->room, reading->file);
        if (got < 0) return bad_word(reading, "the file ends");
    } while (strspn(reading->line, "\r\n") == (size_t)got);
    *n = trimmed(reading->line, (size_t)got);
    reading->line[*n] = '\0';
    return WEFT_OK;
}

/* Where the last piece of text[n] begins. */
static size_t last_piece(const char *text, size_t n)
{
    while (n > 0 && !is_blank(text[n - 1])) n--;
    return n;
}

/* 1 if the bytes, which a blank or the end of the text follows, are one number. */
static int number_of(const char *text, size_t n, float *x)
{
    char *end;
    *x = strtof(text, &end);
    return n > 0 && end == text + n;
}

/* The word from the first n bytes of a line, which end before its vector: without the
 * blanks around it, unless it is a blank. */
static weft_status take_word(struct reading *reading, size_t n)
{
    size_t end = trimmed(reading->line, n), from = 0, piece;
    float extra;
    if (end == 0) end = n;
    while (from + 1 < end && is_blank(reading->line[from])) from++;
    piece = last_piece(reading->line, end);
    if (piece > from) {
        if (number_of(reading->line + piece, end - piece, &extra))
            return bad_word(reading,
                            "its vector has more numbers than the first line says");
        reading->spaced++;
    }
    reading->n = end - from;
    if (reading->n > MAX_WORD) return bad_word(reading, "it is longer than 4096 bytes");
    memcpy(reading->word, reading->line + from, reading->n);
    return WEFT_OK;
}

/* The word and its vector from a line: the last d pieces are the vector, what is before
 * them is the word. */
static weft_status read_text(struct reading *reading)
{
    size_t n = 0, from;
    TRY(next_line(reading, &n));
    for (int j = reading->d - 1; j >= 0; j--) {
        from = last_piece(reading->line, n);
        if (from == 0)
            return bad_word(reading,
                            j == reading->d - 1
                                ? "it has no vector"
                                : "its vector has fewer numbers than the first line "
                                  "says");
        if (!number_of(reading->line + from, n - from, &reading->value[j]))
            return bad_word(reading, "its vector has something else than numbers");
        n = from - 1;
        if (j > 0) n = trimmed(reading->line, n);
    }
    return take_word(reading, n);
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
static int is_text(const char *line, size_t n, int d)
{
    enum { SURE = 8 };
    float x;
    if (!is_printed(line, n)) return 0;
    if (d >= SURE && n >= 2 * (size_t)d) return 1;
    for (n = trimmed(line, n); d > 0; d--) {
        size_t from = last_piece(line, n);
        if (from == 0 || !number_of(line + from, n - from, &x)) return 0;
        n = trimmed(line, from);
    }
    return 1;
}

static weft_status read_form(struct reading *reading)
{
    enum { LEAST = 256, MOST = 4 * MAX_NUMBERS };
    char look[MOST];
    long at = ftell(reading->file);
    TRY(read_word(reading));
    size_t bytes = (size_t)reading->d * sizeof(float);
    size_t n = fread(look, 1, bytes > LEAST ? bytes : LEAST, reading->file);
    reading->binary = is_binary(look, n, (size_t)reading->d);
    if (at < 0 || fseek(reading->file, at, SEEK_SET) != 0)
        return weft_unreadable(reading->path);
    if (!reading->binary) return WEFT_OK;
    ssize_t line = getline(&reading->line, &reading->room,
                           reading->file); /* its word may have blanks in it */
    if (line > 0 && is_text(reading->line, (size_t)line, reading->d)) reading->binary = 0;
    if (fseek(reading->file, at, SEEK_SET) != 0) return weft_unreadable(reading->path);
    return WEFT_OK;
}

static weft_status read_head(struct reading *reading)
{
    char line[NUMBER] = "", *first, *end;
    if (!fgets(line, sizeof line, reading->file))
        return bad_word(reading, "the file is empty");
    TRY(weft_text_only(reading->path, line, sizeof line));
    reading->words = strtoll(line, &first, 10);
    const long long d = strtoll(first, &end, 10);
    const int two = first > line && end > first;
    while (isspace((unsigned char)*end)) end++;
    if (!two || *end != '\0')
        return weft_fail(WEFT_EDATA,
                         "%s does not begin with a line \"WORDS NUMBERS\"; expected a file "
                         "of word2vec, with vectors of 1 to %d numbers; put such a "
                         "line before those of a file of GloVe",
                         reading->path, MAX_NUMBERS);
    if (reading->words < 1 || d < 1 || d > MAX_NUMBERS)
        return weft_fail(WEFT_EDATA,
                         "%s: the first line says %lld words with vectors of %lld numbers; "
                         "expected one word or more, and 1 to %d numbers",
                         reading->path, (long long)reading->words, d, MAX_NUMBERS);
    reading->d = (int)d;
    return read_form(reading);
}

/* Gives word i of the vocabulary the vector that was read, unless it has one of that rank.
 */
static weft_status offer(const struct reading *reading, int64_t i, uint8_t rank,
                         uint8_t *has, weft_vectors *out)
{
    if (i < 0 || has[i] >= rank) return WEFT_OK;
    for (int j = 0; j < reading->d; j++)
        if (!isfinite(reading->value[j]))
            return bad_word(reading, "its vector is not finite");
    out->found += has[i] == 0;
    has[i] = rank;
    memcpy(out->value + i * reading->d, reading->value,
           (size_t)reading->d * sizeof *reading->value);
    return WEFT_OK;
}

/* If the file has a word twice, the first vector counts; an exact match counts before a
 * match in lower case. So a word's vector does not depend on the rest of the vocabulary. */
static weft_status read_all(struct reading *reading, const struct index *index,
                            weft_vectors *out, weft_arena *tmp)
{
    enum { DRAWN, LOWER, EXACT };
    uint8_t *has = WEFT_NEW(tmp, uint8_t, index->vocab->n); /* DRAWN at first */
    char *low = WEFT_NEW(tmp, char, 2 * MAX_WORD);
    for (reading->number = 0; reading->number < reading->words; reading->number++) {
        TRY(reading->binary ? read_binary(reading) : read_text(reading));
        int64_t i = find_word(index, weft_hash(reading->word, reading->n, 0));
        TRY(offer(reading, i, EXACT, has, out));
        if (weft_utf8_check(reading->word, reading->n) < reading->n) continue;
        size_t n = weft_lower(reading->word, reading->n, low, 2 * MAX_WORD);
        TRY(offer(reading, find_word(index, weft_hash(low, n, 0)), LOWER, has, out));
    }
    if (reading->spaced > 0)
        weft_log(WEFT_INFO,
                 "%s: %lld of %lld words have blanks in them; no document has such a word",
                 reading->path, (long long)reading->spaced, (long long)reading->words);
    return WEFT_OK;
}

/* EDATA unless nothing but ends of lines follows the last word. */
static weft_status check_end(struct reading *reading)
{
    int c;
    while ((c = getc(reading->file)) != EOF && isspace(c)) {}
    if (ferror(reading->file)) return weft_unreadable(reading->path);
    if (c == EOF) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: the first line says %lld words with vectors of %d numbers, and "
                     "more follows after these; mend the first line",
                     reading->path, (long long)reading->words, reading->d);
}

static weft_status read_file(struct reading *reading, const weft_vocab *vocab,
                             uint64_t seed, weft_vectors *out, weft_arena *mem)
{
    TRY(read_head(reading));
    out->d = reading->d;
    out->value = WEFT_NEW(mem, float, vocab->n * reading->d);
    draw_vectors(vocab, reading->d, seed, out->value);
    WEFT_REWIND(mem);
    reading->value = WEFT_NEW(mem, float, reading->d);
    struct index index = index_words(vocab, mem);
    weft_status st = read_all(reading, &index, out, mem);
    if (st == WEFT_OK) st = check_end(reading);
    return st;
}

weft_status weft_vectors_read(const weft_vocab *vocab, const char *path, int d,
                              uint64_t seed, weft_vectors *out, weft_arena *mem)
{
    *out = (weft_vectors){.d = d};
    if (!path || *path == '\0') {
        out->value = WEFT_NEW(mem, float, vocab->n *d);
        draw_vectors(vocab, d, seed, out->value);
        return WEFT_OK;
    }
    FILE *file = fopen(path, "rb");
    if (!file) return weft_unreadable(path);
    struct reading reading = {.file = file, .path = path};
    weft_status st = read_file(&reading, vocab, seed, out, mem);
    free(reading.line);
    fclose(file);
    return st;
}
