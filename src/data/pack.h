/* The state of packing. Private to data. */
#ifndef WEFT_DATA_PACK_H
#define WEFT_DATA_PACK_H

#include "generator.h"

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

/* Clients while packing; see pack_clients.c. */
typedef struct weft_pack_federation weft_pack_federation;

/* Rows that wait to be dealt to clients; see pack_partition.c. */
typedef struct weft_pack_held weft_pack_held;

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
    int replaces;                /* 1: there is a file of that name already */
    weft_digest *digest;         /* of all that is written, in that order */
    int form;                    /* a weft_form; -1 until known */
    int64_t d, rows[WEFT_NPART]; /* of a matrix, as announced */
    size_t row;                  /* bytes of a row of it */
    int classes;
    const char *const *class_name; /* [classes] */
    const char *const *column;     /* [d] or NULL */
    const char *split;
    const char **source; /* [nsource] lines of /source */
    int64_t nsource, source_room;
    weft_pack_part part[WEFT_NPART];
    weft_words *words[WEFT_NTOK];
    const weft_reader *reader;
    weft_partition over;              /* clients 0: rows stay as they come */
    int image[3];                     /* channels, height, width; 0: no images */
    weft_pack_held *held;             /* NULL: rows are written as they come */
    weft_pack_federation *federation; /* NULL: not one */
    const weft_generator *generator;  /* NULL: samples are stored */
    weft_arena *mem;                  /* lives until the file is written */
    weft_arena *scratch;              /* of one call */
};

/* ECONF where the packed file would replace the file `path`, which is being read. */
WEFT_CHECKED weft_status weft_pack_apart(const weft_pack *p, const char *path);

/* Tells of n classes named 0, 1, ... */
void weft_pack_numbered(weft_pack *p, int n);

/* Adds a line to /source for bytes that the reader has digested itself. */
void weft_pack_source_sum(weft_pack *p, const char *name, const weft_digest *d,
                          int64_t bytes);

/* Writes a dataset and adds it to the digest. */
WEFT_CHECKED weft_status weft_pack_put(weft_pack *p, const char *name, weft_h5type type,
                                       int64_t n, const void *data, const char *about,
                                       const char *unit);

/* Writes the vocabularies, tokens and names of the documents. */
WEFT_CHECKED weft_status weft_pack_text_close(weft_pack *p);

/* Rows of each class in a part, in mem. EDATA where a class cannot be learnt. */
WEFT_CHECKED weft_status weft_pack_count(weft_pack *p, weft_part part, int64_t **count);

/* Room for the announced rows; the copy of some of them; the partition, when all are there.
 * ECONF: see weft_partition_check. */
WEFT_CHECKED weft_status weft_pack_hold(weft_pack *p);
void weft_pack_hold_rows(weft_pack *p, weft_part part, int64_t count, const void *x);
WEFT_CHECKED weft_status weft_pack_deal(weft_pack *p);
/* ECONF where clients were asked for and the reader has clients of its own. */
WEFT_CHECKED weft_status weft_partition_refuse(const weft_pack *p);

/* Writes what is known of a generated federation, which has no samples to store. */
WEFT_CHECKED weft_status weft_pack_generator_close(weft_pack *p);

/* Writes the numbers of a federation that are attributes of the file. */
WEFT_CHECKED weft_status weft_pack_clients_numbers(weft_pack *p, const weft_clients *all);
/* Clients so far; writes what is known of a federation after its last one; releases its
 * memory. */
int64_t weft_pack_clients_count(const weft_pack *p);
WEFT_CHECKED weft_status weft_pack_clients_close(weft_pack *p);
void weft_pack_clients_drop(weft_pack *p);

#endif
