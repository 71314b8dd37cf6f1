/* Word vectors: the same from word2vec's text and binary formats; words in another case;
 * random vectors, a function of seed and word, for words that are not in the file.
 * RUN: np=1 */
#include "scratch.h"

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

/* A file of words, each with the numbers of its row, or all with those of x. Returns its
 * path. */
static const char *write_words(int n, int d, const char *const *words, const float *x,
                               int binary)
{
    FILE *file = fopen(at("words"), "wb");
    weft_check(file, "%s", at("words"));
    fprintf(file, "%d %d\n", n, d);
    for (int i = 0; i < n; i++) {
        fprintf(file, "%s ", words[i]);
        for (int j = 0; j < d; j++) {
            float one = x ? x[j] : number(i, j);
            if (binary)
                fwrite(&one, sizeof one, 1, file);
            else
                fprintf(file, "%s%.4f", j > 0 ? " " : "", (double)one);
        }
        if (!x) fprintf(file, "\n");
    }
    fclose(file);
    return at("words");
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

static void test_file(int binary)
{
    const char *form = binary ? "binary" : "text";
    weft_vocab v = vocab();
    weft_vectors vectors;
    const char *path = write_words(STORED, D, stored, NULL, binary);
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

/* Binary files whose first vector begins with bytes that text has, too. */
static int is_binary(int d, const float *x)
{
    weft_vocab v = vocab();
    weft_vectors vectors;
    return weft_vectors_read(&v, write_words(WORDS, d, word, x, 1), 1, 1, &vectors, mem) ==
               WEFT_OK &&
           vectors.found == WORDS && vectors.d == d &&
           memcmp(vectors.value, x, (size_t)d * sizeof *x) == 0;
}

static void test_form(void)
{
    enum { MOST = 300 };
    static const int dims[] = {1, 2, D, MOST};
    const float newline = 0.01f; /* its lowest byte, which comes first, is 0x0a */
    for (int k = 0; k < 4; k++) {
        int d = dims[k];
        float x[MOST] = {0};
        ok(is_binary(d, x), "%d floats of 0 are binary", d);
        for (int at = 0; at < d && at < 60; at += 5) {
            for (int j = 0; j < d; j++) x[j] = number(j, 1) + 0.17f;
            x[at] = newline;
            ok(is_binary(d, x), "so are %d of which float %d begins as an end of a line", d,
               at);
        }
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

static void test_refused(void)
{
    static const struct {
        const char *text, *words;
        size_t n; /* bytes; 0: as far as the NUL */
    } bad[] = {
        {"1 3\nthe 1 2\n", "fewer numbers", 12},
        {"2 20\nthe 1 2\nfilm caf\xc3\xa9 was good: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 "
         "16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40\n",
         "fewer numbers", 0},
        {"1 2\nthe 1 2x\n", "the file ends within", 0},
        {"1 2\nthe 1 \0002\n", "the file ends within", 12},
        {"2 1\nthe 1\nfilm 2\0001\n", "something else than numbers", 20},
        {"1 2\nthe 12345678", "fewer numbers", 0},
        {"1 2\nthe 1 2\nfilm 3 4\n",
         "says 1 words with vectors of 2 numbers, and more follows", 0},
        {"2 2\nthe 1 2 3\nfilm 3 4\n",
         "word 1 of 2: its vector has more numbers than the first line says", 0},
        {"2 2\nthe 1 2\nfilm 3\n",
         "word 2 of 2: its vector has fewer numbers than the first line says", 0},
        {"2 99999999\nthe 1 2\n", "says 2 words with vectors of 99999999", 0},
        {"0 2\n", "says 0 words", 0},
        {"-3 2\nthe 1 2\n", "says -3 words", 0},
        {"the 1 2\nfilm 3 4\n", "does not begin with a line", 0},
        {"\nthe 1 2\n", "does not begin with a line", 0},
        {"12\nthe 1 2\n", "does not begin with a line", 0},
        {"2 2\nthe 1 2\n", "word 2 of 2: the file ends", 0},
        {"2 2\nthe first 0.5 1 2\nfilm 3 4\n", "word 1 of 2: its vector has more", 0},
        {"2 2\nfilm 1 nan\nthe 3 4\n", "word 1 of 2: its vector is not finite", 0},
        {"2 2\nfilm 1 -nan\nthe 3 4\n", "word 1 of 2: its vector is not finite", 0},
        {"1 8\nfilm 1 2 3 4 5 6 7 0,5\n", "word 1 of 1: its vector has something else", 0},
        {"\x1f\x8b\x08", "gzip where text in UTF-8 is expected; unpack it by gunzip", 0}};
    weft_vocab v = vocab();
    weft_vectors vectors;
    for (size_t i = 0; i < LEN(bad); i++) {
        const char *path =
            write_bytes("bad", bad[i].text, bad[i].n > 0 ? bad[i].n : strlen(bad[i].text));
        ok(weft_vectors_read(&v, path, 300, 1, &vectors, mem) == WEFT_EDATA &&
               says(bad[i].words) && !strchr(weft_error(), '\n'),
           "refused: %s", bad[i].words);
    }
}

/* Words and lines as files that people have hold them: the vector of the word that comes
 * last is 7 8. */
static void test_odd(void)
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
        weft_status st =
            weft_vectors_read(&v, write_text("odd", odd[i].text), 300, 1, &vectors, mem);
        ok(st == WEFT_OK && vectors.d == 2 && vectors.found == 1 && vectors.value[0] == 7 &&
               vectors.value[1] == 8,
           "read: %s", odd[i].what);
        if (st != WEFT_OK) note("%s", weft_error());
    }
}

int main(void)
{
    tap_begin();
    scratch_new();
    test_file(0);
    test_file(1);
    return TESTS(test_form, test_refused, test_drawn, test_odd);
}
