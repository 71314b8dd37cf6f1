/* Built-in data from a seed: `images` or `documents`, for demonstrations and tests, and
 * federations. In both, feature maps differ in quality: the classes
 * depend on the bandwidth of a kernel and on preprocessing, or on the order of words, on
 * case and on punctuation. Only keyed random numbers and integer arithmetic are used, so
 * the bytes are the same everywhere.
 *
 * An image is one of its class's smooth patterns, shifted, with a contrast and a brightness
 * of its own, as a negative in two of five images (so that the mean of a class says
 * little), in noise. */
#include "reader.h"
#include "weft/base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct synthetic {
    int64_t seed, rows; /* rows for training; a quarter each for validation and test */
    int classes, d, words;
    int64_t clients;
    double samples, spread, alpha, beta, valid, test;
};

static const weft_opt options[] = {
    WEFT_LONG_OPT("seed", struct synthetic, seed, "0", 0, 9e15,
                  "seed of all random numbers"),
    WEFT_LONG_OPT("rows", struct synthetic, rows, "4000", 8, 1e9,
                  "training rows; validation and test get a quarter of it each"),
    WEFT_INT_OPT("classes", struct synthetic, classes, "0", 0, 100,
                 "classes; 0: 2 of documents, else 10"),
    WEFT_INT_OPT("d", struct synthetic, d, "0", 0, 1e6,
                 "pixels of an image, a square number, or numbers of a client's sample; 0: "
                 "256 or 60"),
    WEFT_INT_OPT("words", struct synthetic, words, "60", 1, 1e6,
                 "words of a document, on average"),
    WEFT_LONG_OPT("clients", struct synthetic, clients, "0", 0, 1e12,
                  "clients of a federation; 0: 1000, and none of images and documents"),
    WEFT_REAL_OPT(
        "samples", struct synthetic, samples, "60", 5, 1e6,
        "generated, stored: samples of a client, on average; no client has less than 5"),
    WEFT_REAL_OPT(
        "spread", struct synthetic, spread, "1", 0, 3,
        "generated, stored: standard deviation of the logarithm of a client's samples"),
    WEFT_REAL_OPT("alpha", struct synthetic, alpha, "0.5", 0, 1e9,
                  "generated, stored: how far clients' models are from the common one"),
    WEFT_REAL_OPT("beta", struct synthetic, beta, "0.5", 0, 1e9,
                  "generated, stored: how far clients' inputs are from each other"),
    WEFT_REAL_OPT("valid", struct synthetic, valid, "0.1", 0, 0.9,
                  "federated: share of a client's samples for validation"),
    WEFT_REAL_OPT("test", struct synthetic, test, "0.1", 0, 0.9,
                  "federated: share of a client's samples for the test"),
    {0},
};

/* The random numbers of item `b` of sample `a`; -1 and below: of the data set as a whole.
 */
static weft_rng4 item_rng(const struct synthetic *synthetic, int64_t a, int64_t b)
{
    return weft_rng_at((uint64_t)synthetic->seed, WEFT_RNG_DATA, (uint64_t)a, (uint64_t)b,
                       0);
}

/* ---- documents ---- */

/* Words of a language of syllables are drawn by Zipf's law between
 * English stop words. Among them are words of judgement, different ones for each class: a
 * document uses those of its class, or `not` before those of another, so that the order of
 * words and the stop word `not` matter; some judgements are of any class and repeated, so
 * that counts mislead. Sentences begin with a capital, some words are in capitals, and
 * punctuation is attached to words. */
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
    const struct synthetic *options;
    int64_t row, draws; /* random numbers drawn for this document */
    FILE *text;
    int begun, begin; /* 1: there are words; the next one begins a sentence */
};

static uint64_t draw_bits(struct writer *writer)
{
    return item_rng(writer->options, writer->row, writer->draws++).v[0] >> 11;
}

static int chance(struct writer *writer, int percent)
{
    return draw_bits(writer) % 100 < (uint64_t)percent;
}

/* Word `id` of the language: two to four syllables; equal words are rare. */
static size_t spell(const struct synthetic *synthetic, int64_t id, char *word)
{
    static const char consonant[] = "bdfgklmnprstvz", vowel[] = "aeiou";
    weft_rng4 rng = item_rng(synthetic, -1, id);
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
static int64_t draw_common(struct writer *writer)
{
    int64_t octave = (int64_t)1 << draw_bits(writer) % OCTAVES;
    return octave + (int64_t)(draw_bits(writer) % (uint64_t)octave) - 1;
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
        {"(", ")"}, {"\"", "\""}, {"", "-"}, {"*", "*"}, {"", ""}};
    size_t stick = chance(writer, STICK) ? draw_bits(writer) % 4 : 4;
    if (chance(writer, SHOUT))
        capitals(word, n);
    else if (writer->begin)
        capitals(word, 1);
    fprintf(writer->text, "%s%s%.*s%s", writer->begun ? " " : "", around[stick][0], (int)n,
            word, around[stick][1]);
    writer->begun = 1;
    writer->begin = chance(writer, STOPPED);
    if (writer->begin)
        fputc(chance(writer, 25) ? '!' : '.', writer->text);
    else if (chance(writer, COMMA))
        fputc(',', writer->text);
}

static void put_stop(struct writer *writer)
{
    static const char *const stop[] = {"the", "a",   "and", "of",   "to",   "is",
                                       "it",  "in",  "was", "that", "this", "with",
                                       "for", "not", "but", "as"};
    char word[MAX_WORD];
    size_t i = draw_bits(writer) % (sizeof stop / sizeof *stop), n = strlen(stop[i]);
    memcpy(word, stop[i], n);
    put_word(writer, word, n);
}

static void put_judgement(struct writer *writer, int label)
{
    char word[MAX_WORD];
    int other =
        (label + 1 + (int)(draw_bits(writer) % (uint64_t)(writer->options->classes - 1))) %
        writer->options->classes;
    int mislead = chance(writer, MISLEAD), class = label, times = 1;
    if (mislead) {
        class = (int)(draw_bits(writer) % (uint64_t)writer->options->classes);
        times = 1 + (int)(draw_bits(writer) % 4);
    } else if (chance(writer, NEGATED)) {
        class = other;
        fputs(writer->begun ? " not" : "Not", writer->text);
        writer->begun = 1;
        writer->begin = 0;
    }
    int64_t id = COMMON + class * JUDGEMENT + (int64_t)(draw_bits(writer) % JUDGEMENT);
    for (int i = 0; i < times; i++)
        put_word(writer, word, spell(writer->options, id, word));
}

/* Writes sample `row` as a text of class `label`. */
static void write_document(const struct synthetic *synthetic, int64_t row, int label,
                           FILE *text)
{
    struct writer writer = {.options = synthetic, .row = row, .begin = 1, .text = text};
    char word[MAX_WORD];
    int64_t words = synthetic->words / 2 +
                    (int64_t)(draw_bits(&writer) % (uint64_t)(synthetic->words + 1));
    for (int64_t i = 0; i < words; i++) {
        uint64_t kind = draw_bits(&writer) % 100;
        if (kind < JUDGE)
            put_judgement(&writer, label);
        else if (kind < JUDGE + STOP)
            put_stop(&writer);
        else
            put_word(&writer, word, spell(synthetic, draw_common(&writer), word));
    }
}

/* ---- federations ---- */

#define CLASSES    10
#define CLIENTS    1000
#define DIMENSIONS 60

static weft_status pack_stored(const weft_generator *generator, weft_pack *pack)
{
    TRY(weft_pack_clients(pack, WEFT_REALS,
                          &(weft_clients){.d = generator->d, .stride = 1}));
    for (int64_t c = 0; c < generator->clients; c++) {
        WEFT_REWIND(pack->scratch);
        int64_t count[WEFT_NPART];
        weft_generator_count(generator, c, count);
        int64_t n = count[WEFT_TRAIN] + count[WEFT_VALID] + count[WEFT_TEST];
        float *made = WEFT_NEW(pack->scratch, float, n * generator->d);
        double *x = WEFT_NEW(pack->scratch, double, n * generator->d);
        int32_t *label = WEFT_NEW(pack->scratch, int32_t, n);
        weft_generator_make(generator, c, 0, n, made, label, pack->scratch);
        for (int64_t i = 0; i < n * generator->d; i++) x[i] = (double)made[i];
        TRY(weft_pack_client_rows(pack, NULL, count, x, label));
    }
    return WEFT_OK;
}

/* Packs a federation, whose samples are stored or generated. */
static weft_status pack_clients(const struct synthetic *synthetic, int stored,
                                weft_pack *pack)
{
    weft_generator generator = {
        .seed = synthetic->seed,
        .clients = synthetic->clients > 0 ? synthetic->clients : CLIENTS,
        .d = synthetic->d > 0 ? synthetic->d : DIMENSIONS,
        .classes = synthetic->classes > 0 ? synthetic->classes : CLASSES,
        .samples = synthetic->samples,
        .spread = synthetic->spread,
        .alpha = synthetic->alpha,
        .beta = synthetic->beta,
        .valid = synthetic->valid,
        .test = synthetic->test};
    if (generator.valid <= 0 || generator.valid + generator.test >= 1)
        return weft_fail(WEFT_ECONF,
                         "valid = %g and test = %g; valid must be above 0 and their sum "
                         "below 1",
                         generator.valid, generator.test);
    weft_pack_numbered(pack, (int)generator.classes);
    weft_pack_split(pack, "a client's samples in the order made: train, valid, test");
    weft_generator_start(&generator, pack->mem);
    if (stored) return pack_stored(&generator, pack);
    TRY(weft_partition_refuse(pack));
    weft_pack_generator(pack, &generator);
    return WEFT_OK;
}

/* ---- images ---- */

#define GRID     4  /* a pattern is GRID x GRID random heights, interpolated */
#define PATTERNS 2  /* of a class */
#define NEGATIVE 40 /* per cent of images that are negatives */
#define SHIFT    1  /* pixels, at most */
#define BLOCK    512
#define PIXELS   256 /* of an image */

/* Height -128..127 of a pattern at a point of the grid, which is a torus. */
static int height(const struct synthetic *synthetic, int pattern, int gx, int gy)
{
    weft_rng4 rng = item_rng(synthetic, -1 - pattern, gy % GRID * GRID + gx % GRID);
    return (int)(rng.v[0] >> 56) - 128;
}

/* Bilinear interpolation at (x, y) pixels, in units of 1/65536 of a height. */
static int64_t surface(const int *grid, int side, int x, int y)
{
    int u = x * GRID * 256 / side, v = y * GRID * 256 / side;
    int gx = u / 256, gy = v / 256, fx = u % 256, fy = v % 256;
    const int *a = grid + gy * (GRID + 1) + gx, *b = a + GRID + 1;
    return (int64_t)(256 - fy) * ((256 - fx) * a[0] + fx * a[1]) +
           (int64_t)fy * ((256 - fx) * b[0] + fx * b[1]);
}

/* Sum of four uniform bytes of the word's low half, centred: standard deviation 148. */
static int noise(uint32_t word)
{
    return (int)(word & 255) + (int)(word >> 8 & 255) + (int)(word >> 16 & 255) +
           (int)(word >> 24) - 510;
}

/* Sample `row` as an image x[d] of class `label`. */
static void make_image(const struct synthetic *synthetic, int64_t row, int label,
                       uint8_t *x)
{
    weft_rng4 rng = item_rng(synthetic, row, 0);
    int side = (int)lround(sqrt(synthetic->d));
    int pattern = label * PATTERNS + (int)(rng.v[1] % PATTERNS);
    int shift_x = (int)(rng.v[1] >> 8 & 255) % (2 * SHIFT + 1),
        shift_y = (int)(rng.v[1] >> 16 & 255) % (2 * SHIFT + 1);
    int contrast = 32 + (int)(rng.v[2] % 64), bright = 128 + (int)(rng.v[2] >> 32) % 64;
    if (rng.v[3] % 100 < NEGATIVE) contrast = -contrast;
    int grid[(GRID + 1) * (GRID + 1)];
    for (int i = 0; i < (GRID + 1) * (GRID + 1); i++)
        grid[i] = height(synthetic, pattern, i % (GRID + 1), i / (GRID + 1));
    for (int i = 0; i < synthetic->d; i++) {
        if (i % 8 == 0) rng = item_rng(synthetic, row, 1 + i / 8);
        int64_t shape =
            surface(grid, side, (i % side + shift_x) % side, (i / side + shift_y) % side);
        int value = bright + (int)(shape * contrast / (64 * 65536)) +
                    noise((uint32_t)(rng.v[i % 8 / 2] >> 32 * (i % 2))) / 4;
        x[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

static weft_status pack_images(const struct synthetic *synthetic, const int64_t *rows,
                               weft_pack *pack)
{
    int side = (int)lround(sqrt(synthetic->d));
    if (side * side != synthetic->d)
        return weft_fail(WEFT_ECONF, "d = %d is no square number; try %d", synthetic->d,
                         side * side);
    TRY(weft_pack_matrix(pack, WEFT_BYTES, synthetic->d, rows));
    weft_pack_image(pack, 1, side, side);
    int64_t n = rows[0] + rows[1] + rows[2];
    uint8_t *x = WEFT_NEW(pack->mem, uint8_t, (int64_t)BLOCK * synthetic->d);
    int32_t *label = WEFT_NEW(pack->mem, int32_t, BLOCK);
    for (int64_t start = 0; start < n; start += BLOCK) {
        int64_t count = n - start < BLOCK ? n - start : BLOCK;
        for (int64_t i = 0; i < count; i++) {
            label[i] = (int32_t)((start + i) % synthetic->classes);
            make_image(synthetic, start + i, label[i], x + i * synthetic->d);
        }
        TRY(weft_pack_rows(pack, count, x, label));
    }
    return WEFT_OK;
}

/* ---- the reader ---- */

static weft_status pack_document(const struct synthetic *synthetic, weft_part part,
                                 int64_t row, weft_pack *pack)
{
    char *text = NULL;
    WEFT_REWIND(pack->scratch);
    size_t n = 0;
    int label = (int)(row % synthetic->classes);
    const char *name = weft_arena_text(pack->scratch, "document %lld", (long long)row);
    FILE *to = open_memstream(&text, &n);
    weft_check(to != NULL, "out of memory");
    write_document(synthetic, row, label, to);
    weft_check(fclose(to) == 0, "out of memory");
    weft_status st = weft_pack_document(pack, part, name, text, n, label);
    free(text);
    return st;
}

static weft_status pack_documents(const struct synthetic *synthetic, const int64_t *rows,
                                  weft_pack *pack)
{
    int64_t row = 0;
    for (int part = 0; part < WEFT_NPART; part++)
        for (int64_t i = 0; i < rows[part]; i++)
            TRY(pack_document(synthetic, (weft_part)part, row++, pack));
    return WEFT_OK;
}

static weft_status synthetic_read(const void *self, const char *source, weft_pack *pack)
{
    static const char *const what[] = {"images", "documents", "federated=generated",
                                       "federated=stored"};
    enum { IMAGES, DOCUMENTS, GENERATED, NWHAT = sizeof what / sizeof *what };
    struct synthetic synthetic = *(const struct synthetic *)self;
    int kind = 0;
    while (kind < NWHAT && strcmp(source, what[kind]) != 0) kind++;
    if (kind == NWHAT)
        return weft_fail(WEFT_ECONF, "there are no synthetic '%s'; did you mean '%s'?",
                         source, weft_nearest(source, what, NWHAT));
    if (synthetic.classes == 1)
        return weft_fail(WEFT_ECONF, "classes = 1 where two or more are needed");
    if (kind > DOCUMENTS) return pack_clients(&synthetic, kind > GENERATED, pack);
    int text = kind == DOCUMENTS;
    if (synthetic.d == 0) synthetic.d = PIXELS;
    if (synthetic.classes == 0) synthetic.classes = text ? 2 : 10;
    if (synthetic.classes > synthetic.rows)
        return weft_fail(WEFT_ECONF,
                         "classes = %d of rows = %lld; two or more are needed, and a "
                         "row of each",
                         synthetic.classes, (long long)synthetic.rows);
    weft_pack_numbered(pack, synthetic.classes);
    weft_pack_split(pack, "made in this order: train, valid, test");
    const int64_t rows[WEFT_NPART] = {synthetic.rows, synthetic.rows / 4,
                                      synthetic.rows / 4};
    return text ? pack_documents(&synthetic, rows, pack)
                : pack_images(&synthetic, rows, pack);
}

WEFT_PLUGIN(reader, synthetic) = {
    .kind = WEFT_KIND("synthetic", struct synthetic, options,
                      "built-in data: images, documents, federated=generated or stored"),
    .read = synthetic_read,
};
