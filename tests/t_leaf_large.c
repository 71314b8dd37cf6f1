/* Memory for reading LEAF's JSON does not grow with the file: a file of 10,000 users, rows
 * or windows of text, takes as much memory as one of a fifth of it. `t_leaf_large FILE
 * USERS MEGABYTES rows|text` writes such a file of any size instead, one core 1 GB in some
 * seconds. RUN: np=1 */
#include "scratch.h"

#include "machine.h"

enum { WIDTH = 100, WINDOW = 80, USERS = 10000, MEGABYTES = 60 };

/* ---- a file ---- */

/* Digits and letters of a user, from its number and the seed 1. */
static uint32_t drawn(int64_t user, int64_t i, uint32_t below)
{
    weft_rng4 word = weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)user, (uint64_t)i, 0);
    return (uint32_t)(word.v[0] % below);
}

/* One row "[0.ddddd, ...]" and its comma: what user u has at sample i. */
static void put_row(FILE *file, int64_t u, int64_t i)
{
    char line[16 * WIDTH], *to = line;
    *to++ = '[';
    for (int64_t k = 0; k < WIDTH; k++)
        to += sprintf(to, "%s0.%05u", k > 0 ? ", " : "", drawn(u, i * WIDTH + k, 100000));
    fprintf(file, "%s%s]", i > 0 ? ", " : "", line);
}

/* Samples of a user: rows, or windows of its text, each a character after the one before,
 * with the character that follows each in y. */
static void put_user(FILE *file, int64_t u, int64_t samples, int text)
{
    char *all = WEFT_NEW(mem, char, samples + WINDOW + 1);
    for (int64_t i = 0; text && i < samples + WINDOW; i++)
        all[i] = (char)('a' + drawn(u, i, 26));
    fprintf(file, "%s\"user %lld\": {\"x\": [", u > 0 ? ", " : "", (long long)u);
    for (int64_t i = 0; i < samples; i++) {
        if (!text)
            put_row(file, u, i);
        else
            fprintf(file, "%s\"%.*s\"", i > 0 ? ", " : "", WINDOW, all + i);
    }
    fprintf(file, "], \"y\": [");
    for (int64_t i = 0; i < samples; i++) {
        if (text)
            fprintf(file, "%s\"%c\"", i > 0 ? ", " : "", all[i + WINDOW]);
        else
            fprintf(file, "%s%u", i > 0 ? ", " : "", drawn(u, -1 - i, 10));
    }
    fprintf(file, "]}");
}

/* A file of about `bytes`, with as many samples a user as that takes. Returns its size. */
static int64_t write_leaf(const char *path, int64_t users, int64_t bytes, int text)
{
    int64_t sample = text ? WINDOW + 9 : 9 * WIDTH + 5, samples = bytes / users / sample;
    FILE *file = fopen(path, "w");
    weft_check(file != NULL, "cannot write %s", path);
    fprintf(file, "{\"users\": [");
    for (int64_t u = 0; u < users; u++)
        fprintf(file, "%s\"user %lld\"", u > 0 ? ", " : "", (long long)u);
    fprintf(file, "], \"num_samples\": [");
    for (int64_t u = 0; u < users; u++)
        fprintf(file, "%s%lld", u > 0 ? ", " : "", (long long)samples);
    fprintf(file, "], \"user_data\": {");
    for (int64_t u = 0; u < users; u++) {
        size_t mark = weft_arena_mark(mem);
        put_user(file, u, samples, text);
        weft_arena_reset(mem, mark);
    }
    fprintf(file, "}}\n");
    int64_t size = (int64_t)ftell(file);
    weft_check(fclose(file) == 0, "cannot write %s", path);
    return size;
}

/* ---- its memory ---- */

/* Packs a file of `bytes` and returns the most memory held so far; 0 after an error. */
static double packed(const char *name, int64_t bytes, int text)
{
    weft_data data;
    write_leaf(at(name), USERS, bytes, text);
    weft_status st = pack(&weft_reader_leaf, at(name), "large.h5", "valid=0 test=0");
    double most = most_memory();
    if (st == WEFT_OK) st = weft_data_open(&data, at("large.h5"), &world, mem);
    int good = st == WEFT_OK && data.clients->n == USERS;
    if (st == WEFT_OK) weft_data_close(&data);
    remove(at(name));
    return good ? most : 0;
}

/* Names and lists of the users, and buffers, are in memory with a fifth of the samples,
 * too. */
static void test_memory(const char *name, int text)
{
    int64_t bytes = MEGABYTES * INT64_C(1000000);
    packed(name, bytes / 5, text); /* what it leaves does not count as the next one's */
    double part = packed(name, bytes / 5, text), whole = packed(name, bytes, text);
    ok(part > 0 && whole > 0, "%d users of %s are packed", USERS, name);
    if (KEEPS_FREED)
        skip(1, "memory that is freed is kept");
    else
        ok(whole - part < 4e6, "%s of %d MB takes %.1f MB more than one of %d MB", name,
           MEGABYTES, (whole - part) / 1e6, MEGABYTES / 5);
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    if (argc == 5) {
        int64_t size = write_leaf(argv[1], atoll(argv[2]), atoll(argv[3]) * 1000000,
                                  strcmp(argv[4], "text") == 0);
        note("%s: %lld bytes", argv[1], (long long)size);
    } else {
        test_memory("rows.json", 0);
        test_memory("text.json", 1);
    }
    return tap_end();
}
