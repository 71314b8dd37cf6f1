/* Word vectors: the same from word2vec's text and binary formats; words in another case;
 * random vectors, a function of seed and word, for words that are not in the file.
 * RUN: np=1 */
#include "weft/data/data.h"

#include "tap.h"

enum { D = 5, WORDS = 8 };

static const char *const word[WORDS] = {"the",     "film",        "Conan", "n't",
                                        "unheard", "caf\xc3\xa9", "Bond",  "bond"};
/* Conan stands there in lower case, too; Bond does not; unheard is not there. */
static const char *const stored[] = {"conan", "the",  "Conan", "caf\xc3\xa9", "FILM",
                                     "n't",   "film", "the",   "Bond",        "BOND"};
enum { STORED = 10 };

static float number(int row, int j)
{
    return (float)(row * D + j) / 8 - 2;
}

static void write_file(const char *path, int binary)
{
    FILE *file = fopen(path, "wb");
    weft_check(file, "%s", path);
    fprintf(file, "%d %d\n", STORED, D);
    for (int i = 0; i < STORED; i++) {
        fprintf(file, "%s ", stored[i]);
        for (int j = 0; j < D; j++) {
            float x = number(i, j);
            if (binary)
                fwrite(&x, sizeof x, 1, file);
            else
                fprintf(file, "%s%.4f", j > 0 ? " " : "", (double)x);
        }
        fprintf(file, "\n");
    }
    fclose(file);
}

static weft_vocab vocab(void)
{
    uint64_t *hash = WEFT_NEW(mem, uint64_t, WORDS);
    for (int i = 0; i < WORDS; i++) hash[i] = weft_hash(word[i], strlen(word[i]), 0);
    return (weft_vocab){.n = WORDS, .hash = hash, .lower = hash};
}

static int is_row(const weft_vectors *vectors, int i, int row)
{
    for (int j = 0; j < D; j++)
        if (fabs((double)vectors->value[i * D + j] - (double)number(row, j)) > 1e-6)
            return 0;
    return 1;
}

static void test_file(const char *path, int binary)
{
    const char *form = binary ? "binary" : "text";
    weft_vocab v = vocab();
    weft_vectors vectors;
    write_file(path, binary);
    ok(weft_vectors_read(&v, path, 300, 1, &vectors, mem) == WEFT_OK && vectors.d == D &&
           vectors.found == 7,
       "%s: seven words of eight are found", form);
    ok(is_row(&vectors, 0, 1), "%s: the first of two counts", form);
    ok(is_row(&vectors, 1, 6), "%s: a word as it stands comes before another case", form);
    ok(is_row(&vectors, 2, 2) && is_row(&vectors, 3, 5) && is_row(&vectors, 5, 3),
       "%s: the others", form);
    double most = 0;
    for (int j = 0; j < D; j++) most = worse(most, fabs((double)vectors.value[4 * D + j]));
    ok(most > 0.01 && most <= 0.25, "%s: an unknown one is drawn", form);
    int alike = is_row(&vectors, 6, 8) && is_row(&vectors, 7, 8);
    for (int i = 0; i < WORDS; i++) {
        weft_vectors one;
        weft_vocab single = {.n = 1, .hash = v.hash + i};
        must(weft_vectors_read(&single, path, 300, 1, &one, mem));
        alike &=
            memcmp(vectors.value + (int64_t)i * D, one.value, D * sizeof *one.value) == 0;
    }
    ok(alike, "%s: a word has the same vector in any vocabulary", form);
}

/* A binary file of WORDS words, each with the vector x[d]. */
static void write_binary(const char *path, int d, const float *x)
{
    FILE *file = fopen(path, "wb");
    weft_check(file, "%s", path);
    fprintf(file, "%d %d\n", WORDS, d);
    for (int i = 0; i < WORDS; i++) {
        fprintf(file, "%s ", word[i]);
        fwrite(x, sizeof *x, (size_t)d, file);
    }
    fclose(file);
}

/* Binary files whose first vector begins with bytes that text has, too. */
static void test_form(const char *path)
{
    enum { MOST = 300 };
    static const int dims[] = {1, 2, D, MOST};
    const float newline = 0.01f; /* its lowest byte, which comes first, is 0x0a */
    weft_vocab v = vocab();
    weft_vectors vectors;
    for (int k = 0; k < 4; k++) {
        int d = dims[k];
        float x[MOST] = {0};
        write_binary(path, d, x);
        ok(weft_vectors_read(&v, path, 1, 1, &vectors, mem) == WEFT_OK &&
               vectors.found == WORDS && vectors.d == d &&
               memcmp(vectors.value, x, (size_t)d * sizeof *x) == 0,
           "%d floats of 0 are binary", d);
        for (int at = 0; at < d && at < 60; at += 5) {
            for (int j = 0; j < d; j++) x[j] = number(j, 1) + 0.17f;
            x[at] = newline;
            write_binary(path, d, x);
            ok(weft_vectors_read(&v, path, 1, 1, &vectors, mem) == WEFT_OK &&
                   vectors.found == WORDS &&
                   memcmp(vectors.value, x, (size_t)d * sizeof *x) == 0,
               "so are %d of which float %d begins as an end of a line", d, at);
        }
    }
}

static void test_refused(const char *path)
{
    static const struct {
        const char *text, *expected, *what;
        int n;
    } bad[] = {
        {"1 3\nthe 1 2\n", "fewer numbers", "a number missing", 12},
        {"2 20\nthe 1 2\nfilm caf\xc3\xa9 was good: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 "
         "16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40\n",
         "fewer numbers", "a short line, and bytes enough for floats", 0},
        {"1 2\nthe 1 2x\n", "the file ends within", "neither numbers nor floats", 0},
        {"1 2\nthe 1 \0002\n", "the file ends within", "a NUL and too few bytes", 12},
        {"2 1\nthe 1\nfilm 2\0001\n", "something else than numbers", "a NUL in a number",
         20},
        {"1 2\nthe 12345678", "fewer numbers", "an end within a vector", 0}};
    weft_vocab v = vocab();
    weft_vectors vectors;
    for (size_t i = 0; i < LEN(bad); i++) {
        FILE *file = fopen(path, "wb");
        weft_check(file, "%s", path);
        fwrite(bad[i].text, 1, bad[i].n > 0 ? (size_t)bad[i].n : strlen(bad[i].text), file);
        fclose(file);
        ok(weft_vectors_read(&v, path, 1, 1, &vectors, mem) == WEFT_EDATA &&
               strstr(weft_error(), bad[i].expected) && !strchr(weft_error(), '\n'),
           "%s is refused", bad[i].what);
        note("%s", weft_error());
    }
}

static void test_drawn(void)
{
    weft_vocab v = vocab();
    weft_vectors a, b, c;
    weft_vocab few = v;
    few.n = 1;
    few.hash = v.hash + 3;
    if (weft_vectors_read(&v, "", 300, 1, &a, mem) ||
        weft_vectors_read(&few, "", 300, 1, &b, mem) ||
        weft_vectors_read(&v, "", 300, 2, &c, mem))
        weft_die("%s", weft_error());
    ok(a.d == 300 && a.found == 0, "without a file all are drawn");
    ok(memcmp(a.value + 3 * 300, b.value, 300 * sizeof *b.value) == 0,
       "by the word, not by its number");
    ok(memcmp(a.value, c.value, 300 * sizeof *a.value) != 0, "by the seed");
    double sum = 0, square = 0;
    for (int i = 0; i < WORDS * 300; i++) {
        sum += (double)a.value[i];
        square += (double)a.value[i] * (double)a.value[i];
    }
    is_near(sum / (WORDS * 300), 0, 4 * 0.1443 / sqrt(WORDS * 300), "around 0");
    is_near(square / (WORDS * 300), 0.0625 / 3, 0.1 * 0.0625 / 3, "over +-0.25");
}

/* A text file that is refused with these words. */
static void refused(const char *path, const char *content, const char *words)
{
    weft_vocab v = vocab();
    weft_vectors vectors;
    FILE *file = fopen(path, "wb");
    weft_check(file && fputs(content, file) >= 0 && fclose(file) == 0, "%s", path);
    weft_status st = weft_vectors_read(&v, path, 300, 1, &vectors, mem);
    ok(st == WEFT_EDATA && strstr(weft_error(), words), "refused: %s", words);
    if (st == WEFT_EDATA && !strstr(weft_error(), words)) note("%s", weft_error());
}

static void test_mistakes(const char *path)
{
    refused(path, "1 2\nthe 1 2\nfilm 3 4\n",
            "says 1 words with vectors of 2 numbers, and more follows");
    refused(path, "2 2\nthe 1 2 3\nfilm 3 4\n",
            "word 1 of 2: its vector has more numbers than the first line says");
    refused(path, "2 2\nthe 1 2\nfilm 3\n",
            "word 2 of 2: its vector has fewer numbers than the first line says");
    refused(path, "2 99999999\nthe 1 2\n", "says 2 words with vectors of 99999999");
    refused(path, "0 2\n", "says 0 words");
    refused(path, "-3 2\nthe 1 2\n", "says -3 words");
    refused(path, "the 1 2\nfilm 3 4\n", "does not begin with a line");
    refused(path, "\nthe 1 2\n", "does not begin with a line");
    refused(path, "12\nthe 1 2\n", "does not begin with a line");
    refused(path, "2 2\nthe 1 2\n", "word 2 of 2: the file ends");
    refused(path, "2 2\nthe first 0.5 1 2\nfilm 3 4\n", "word 1 of 2: its vector has more");
    refused(path, "2 2\nfilm 1 nan\nthe 3 4\n", "word 1 of 2: its vector is not finite");
    refused(path, "2 2\nfilm 1 -nan\nthe 3 4\n", "word 1 of 2: its vector is not finite");
    refused(path, "1 8\nfilm 1 2 3 4 5 6 7 0,5\n",
            "word 1 of 1: its vector has something else");
    refused(path, "\x1f\x8b\x08",
            "gzip where text in UTF-8 is expected; unpack it by gunzip");
}

/* Words and lines as files that people have hold them: the vector of the word that comes
 * last is 7 8. */
static void test_odd(const char *path)
{
    static const struct {
        const char *text, *what;
    } odd[] = {
        {"2 2\n  1 2\nfilm 7 8\n", "a blank as a word"},
        {"2 2\n. . . 1 2\nfilm 7 8\n", "a word with blanks in it"},
        {"2 2\nat name@x.com 1 2\nfilm 7 8\n", "another, at the beginning"},
        {"3 2\nthe 1 2\nat name@x.com 1 2\n\nfilm 7 8", "and behind"},
        {"2 2\n-0.27998 1 2\nfilm 7 8\n", "a number as a word"},
        {"2 2\ngood\xc2\xa0"
         "day 1 2\nfilm 7 8\n",
         "a word with a blank that is none"},
        {"2 2\na\xc2\x85"
         "b 1 2\nfilm 7 8\n",
         "and with an end of a line that is none"},
        {"2 2 \nthe 1 2 \nfilm 7 8 \n", "blanks at the end"},
        {"2 2\r\nthe 1 2\r\nfilm 7 8\r\n", "ends of lines of Windows"},
        {"2 2\nthe\t1\t2\nfilm\t7  8\n", "TABs"},
        {"2 2\nfilm 7 8\nfilm 1 2\n", "a word twice"},
        {"2 2\nthe nan 2\nfilm 7 8\n", "what is not finite, of a word that is not needed"},
    };
    weft_vocab v = vocab();
    v.n = 1;
    v.hash = v.lower = v.hash + 1; /* film */
    for (size_t i = 0; i < LEN(odd); i++) {
        weft_vectors vectors = {0};
        FILE *file = fopen(path, "wb");
        weft_check(file && fputs(odd[i].text, file) >= 0 && fclose(file) == 0, "%s", path);
        weft_status st = weft_vectors_read(&v, path, 300, 1, &vectors, mem);
        ok(st == WEFT_OK && vectors.d == 2 && vectors.found == 1 && vectors.value[0] == 7 &&
               vectors.value[1] == 8,
           "read: %s", odd[i].what);
        if (st != WEFT_OK) note("%s", weft_error());
    }
}

int main(void)
{
    tap_begin();
    char path[] = "/tmp/weft-vectors-XXXXXX";
    int fd = mkstemp(path);
    weft_check(fd >= 0, "no file in /tmp");
    close(fd);
    test_file(path, 0);
    test_file(path, 1);
    test_form(path);
    test_refused(path);
    test_drawn();
    test_mistakes(path);
    test_odd(path);
    unlink(path);
    return tap_end();
}
