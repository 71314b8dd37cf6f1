/* Word vectors: the same from word2vec's text and binary formats; words in another case;
 * random vectors, a function of seed and word, for words that are not in the file.
 * RUN: np=1 */
#include "weft/data.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    FILE *f = fopen(path, "wb");
    weft_check(f, "%s", path);
    fprintf(f, "%d %d\n", STORED, D);
    for (int i = 0; i < STORED; i++) {
        fprintf(f, "%s ", stored[i]);
        for (int j = 0; j < D; j++) {
            float x = number(i, j);
            if (binary)
                fwrite(&x, sizeof x, 1, f);
            else
                fprintf(f, "%s%.4f", j > 0 ? " " : "", (double)x);
        }
        fprintf(f, "\n");
    }
    fclose(f);
}

static weft_vocab vocab(weft_arena *mem)
{
    uint64_t *hash = WEFT_NEW(mem, uint64_t, WORDS);
    for (int i = 0; i < WORDS; i++) hash[i] = weft_hash(word[i], strlen(word[i]), 0);
    return (weft_vocab){.n = WORDS, .hash = hash, .lower = hash};
}

static int is_row(const weft_vectors *v, int i, int row)
{
    for (int j = 0; j < D; j++)
        if (fabs((double)v->value[i * D + j] - (double)number(row, j)) > 1e-6) return 0;
    return 1;
}

static void test_file(const char *path, int binary)
{
    weft_arena *mem = weft_arena_new();
    const char *form = binary ? "binary" : "text";
    weft_vocab v = vocab(mem);
    weft_vectors a;
    write_file(path, binary);
    ok(weft_vectors_read(&v, path, 300, 1, &a, mem) == WEFT_OK && a.d == D && a.found == 7,
       "%s: seven words of eight are found", form);
    ok(is_row(&a, 0, 1), "%s: the first of two counts", form);
    ok(is_row(&a, 1, 6), "%s: a word as it stands comes before another case", form);
    ok(is_row(&a, 2, 2) && is_row(&a, 3, 5) && is_row(&a, 5, 3), "%s: the others", form);
    double most = 0;
    for (int j = 0; j < D; j++) most = worse(most, fabs((double)a.value[4 * D + j]));
    ok(most > 0.01 && most <= 0.25, "%s: an unknown one is drawn", form);
    int alike = is_row(&a, 6, 8) && is_row(&a, 7, 8);
    for (int i = 0; i < WORDS; i++) {
        weft_vectors one;
        weft_vocab single = {.n = 1, .hash = v.hash + i};
        weft_check(weft_vectors_read(&single, path, 300, 1, &one, mem) == WEFT_OK, "%s",
                   weft_error());
        alike &= memcmp(a.value + (int64_t)i * D, one.value, D * sizeof *one.value) == 0;
    }
    ok(alike, "%s: a word has the same vector in any vocabulary", form);
    weft_arena_free(mem);
}

static void test_drawn(void)
{
    weft_arena *mem = weft_arena_new();
    weft_vocab v = vocab(mem);
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
    weft_arena_free(mem);
}

int main(void)
{
    char path[] = "/tmp/weft-vectors-XXXXXX";
    int fd = mkstemp(path);
    weft_check(fd >= 0, "no file in /tmp");
    close(fd);
    test_file(path, 0);
    test_file(path, 1);
    test_drawn();
    unlink(path);
    return tap_done();
}
