/* Data sets that a test packs and opens, one after the other: what is in them, and sources
 * that are refused. */
#ifndef WEFT_TEST_PACKING_H
#define WEFT_TEST_PACKING_H

#include "scratch.h"

static weft_data data; /* the one that is open */

/* In place of the one before. */
static inline int opened(const char *name)
{
    weft_data_close(&data);
    weft_status st = weft_data_open(&data, at(name), &world, mem);
    if (st != WEFT_OK) fprintf(stderr, "# %s\n", weft_error());
    return st == WEFT_OK;
}

/* As d.h5. */
static inline int packed(const weft_reader *reader, const char *source, const char *options)
{
    weft_data_close(&data);
    if (pack(reader, source, "d.h5", options) == WEFT_OK) return opened("d.h5");
    fprintf(stderr, "# %s\n", weft_error());
    return 0;
}

/* The message of a source that is refused has both words, and is one line. */
static inline void refuses(const weft_reader *reader, const char *source,
                           const char *options, weft_status want, const char *a,
                           const char *b, const char *what)
{
    fails(pack(reader, source, "x.h5", options), want, a, b, what);
}

/* ---- rows ---- */

static inline int parts_are(int64_t train, int64_t valid, int64_t test)
{
    const int64_t has[] = {data.part[0].total, data.part[1].total, data.part[2].total};
    int good = has[0] == train && has[1] == valid && has[2] == test;
    if (!good) fprintf(stderr, "# %d %d %d\n", (int)has[0], (int)has[1], (int)has[2]);
    return good;
}

static inline int classes_are(int n, const char *first, const char *last)
{
    return data.classes == n && strcmp(data.class_name[0], first) == 0 &&
           strcmp(data.class_name[n - 1], last) == 0;
}

static inline int count(weft_part part, int label)
{
    int n = 0;
    for (int64_t i = 0; i < data.part[part].n; i++) n += data.part[part].label[i] == label;
    return n;
}

/* Text i of a list of d.h5; "": there is none. */
static inline const char *text_in(const char *list, int64_t i)
{
    weft_h5 file;
    const char **text = NULL;
    int64_t n = 0;
    weft_status st = weft_h5_open(&file, at("d.h5"), mem);
    if (st == WEFT_OK) st = weft_h5_read_texts(&file, list, &text, &n);
    weft_h5_close(&file);
    return st == WEFT_OK && i < n ? text[i] : "";
}

/* Where document i of a part of d.h5 comes from. */
static inline const char *name_of(const char *part, int i)
{
    return text_in(printed("/%s/name", part), i);
}

/* 1: source i of d.h5 has that path in the directory of the test, and as many bytes. */
static inline int source_is(int i, const char *path, int64_t bytes)
{
    const char *text = text_in("/source", i),
               *want = printed("  %lld  %s", (long long)bytes, at(path));
    size_t hex = strcspn(text, " ");
    if (hex == 32 && strcmp(text + hex, want) == 0) return 1;
    fprintf(stderr, "# source %d: %s\n", i, text);
    return 0;
}

/* ---- clients ---- */

static inline weft_samples samples(int64_t c, weft_part part)
{
    weft_samples samples = {0};
    must(weft_client_read(data.clients, c, part, &samples, mem));
    return samples;
}

static inline int named(int64_t c, const char *name)
{
    const char *found;
    return weft_client_name(data.clients, c, &found, mem) == WEFT_OK &&
           strcmp(found, name) == 0;
}

#endif
