/* Files of a test, packed ones too, in its directory. */
#ifndef WEFT_SCRATCH_H
#define WEFT_SCRATCH_H

#include "weft/data/data.h"
#include "weft/pack/pack.h"
#include "weft/store/file.h"

#include <sys/stat.h>

#include "tap.h"

/* Makes the directories on the way to a file. */
static inline void make_way(const char *name)
{
    char *path = printed("%s", at(name));
    for (char *to = path + strlen(scratch) + 1; (to = strchr(to, '/')) != NULL;
         *to++ = '/') {
        *to = '\0';
        mkdir(path, 0777);
    }
}

/* Writes a file on rank 0. */
static inline const char *write_bytes(const char *name, const void *bytes, size_t n)
{
    if (world.rank == 0) make_way(name);
    if (world.rank == 0) must(weft_file_put(at(name), bytes, n));
    return at(name);
}

static inline const char *write_text(const char *name, const char *text)
{
    return write_bytes(name, text, strlen(text));
}

/* Packs on rank 0; options as "seed=1 valid=0.2". The status is that of all ranks. */
static inline weft_status pack(const weft_reader *reader, const char *source,
                               const char *out, const char *options)
{
    enum { MAX_WORDS = 32 };
    const char *word[MAX_WORDS];
    int n = 0;
    char *rest, *words = printed("%s", options);
    for (char *w = strtok_r(words, " ", &rest); w != NULL && n < MAX_WORDS;
         w = strtok_r(NULL, " ", &rest))
        word[n++] = w;
    void *self;
    weft_partition over;
    weft_status st = weft_pack_options(reader, n, word, &self, &over, mem);
    if (st == WEFT_OK && world.rank == 0)
        st = weft_pack_file(reader, self, &over, source, at(out), mem);
    return weft_agree(st, &world);
}

/* Packs and opens what has to be there. */
static inline void pack_to(weft_data *to, const weft_reader *reader, const char *source,
                           const char *out, const char *options)
{
    must(pack(reader, source, out, options));
    must(weft_data_open(to, at(out), &world, mem));
}

/* st is as expected, with one line on every rank that holds each of the two words. */
static inline void fails(weft_status st, weft_status want, const char *a, const char *b,
                         const char *what)
{
    const char *text = weft_error();
    int good = st == want && strstr(text, a) != NULL && strstr(text, b) != NULL &&
               strchr(text, '\n') == NULL;
    if (!good && world.rank == 0) fprintf(stderr, "# status %d: %s\n", (int)st, text);
    ok(good, "%s is one line with '%s' and '%s'", what, a, b);
}

#endif
