/* The state of packing. Private to data. */
#ifndef WEFT_DATA_PACK_H
#define WEFT_DATA_PACK_H

#include "reader.h"

#define XXH_STATIC_LINKING_ONLY /* for the size of the state of a digest */
#include <xxhash.h>

#define WEFT_DATA_FORMAT "weft data 1"

/* XXH3-128 in hexadecimal digits, with a NUL. */
typedef char weft_hex[33];

/* Running digest; to be made in an arena, for it is aligned to 64 bytes. */
typedef XXH3_state_t weft_digest;
weft_digest *weft_digest_new(weft_arena *mem);
void weft_digest_add(weft_digest *d, const void *bytes, size_t n);
void weft_digest_show(const weft_digest *d, weft_hex text);

/* Distinct tokens of a tokenizer while packing; see pack_text.c. */
typedef struct weft_words weft_words;

typedef struct weft_pack_part {
    int64_t n;      /* rows handed over */
    int32_t *label; /* [n] */
    int64_t label_room;
    const char **name; /* [n] of documents */
    int64_t name_room;
    int64_t *offset[WEFT_NTOK]; /* [n+1] */
    int64_t offset_room[WEFT_NTOK];
    uint32_t *token[WEFT_NTOK]; /* [ntoken] */
    int64_t ntoken[WEFT_NTOK], token_room[WEFT_NTOK];
} weft_pack_part;

struct weft_pack {
    weft_h5 file;
    weft_digest *digest;         /* of all that is written, in that order */
    int form;                    /* a weft_form; -1 until known */
    int64_t d, rows[WEFT_NPART]; /* of a matrix, as announced */
    int classes;
    const char *const *class_name; /* [classes] */
    const char *split;
    const char **source; /* [nsource] lines of /source */
    int64_t nsource, source_room;
    weft_pack_part part[WEFT_NPART];
    weft_words *words[WEFT_NTOK];
    weft_arena *mem;     /* lives until the file is written */
    weft_arena *scratch; /* of one call */
};

/* Adds a line to /source for bytes that the reader has digested itself. */
void weft_pack_source_sum(weft_pack *p, const char *name, const weft_digest *d,
                          int64_t bytes);

/* Writes a dataset and adds it to the digest. */
WEFT_CHECKED weft_status weft_pack_put(weft_pack *p, const char *name, weft_h5type type,
                                       int64_t n, const void *data, const char *about,
                                       const char *unit);

/* Writes the vocabularies, tokens and names of the documents. */
WEFT_CHECKED weft_status weft_pack_text_close(weft_pack *p);

#endif
