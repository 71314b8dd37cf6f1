/* The state of packing. Private to pack. */
#ifndef WEFT_PACK_PRIVATE_H
#define WEFT_PACK_PRIVATE_H

#include "weft/pack/pack.h"
#include "weft/store/h5.h"

#define XXH_STATIC_LINKING_ONLY /* for the size of the state of a digest */
#include <xxhash.h>

/* XXH3-128 in hexadecimal digits, with a NUL. */
typedef char weft_hex[33];

/* The digest of what was added so far; more may be added. */
void weft_digest_show(const weft_digest *digest, weft_hex text);

/* Distinct tokens of a tokenizer while packing; see pack_text.c. */
typedef struct weft_words weft_words;

/* Clients while packing; see pack_clients.c. */
typedef struct weft_pack_federation weft_pack_federation;

/* Rows that wait to be dealt to clients; see pack_clients.c. */
typedef struct weft_pack_held weft_pack_held;

/* Samples that are written at the end, as sentences are; see pack_sentences.c. */
typedef struct weft_pack_corpus weft_pack_corpus;
typedef struct weft_pack_ends {
    weft_pack_corpus *corpus; /* NULL: there are none */
    /* Writes them. ECONF, EDATA. */
    weft_status (*close)(weft_pack *pack);
    /* Tells what a file has, which took so long. */
    weft_status (*report)(const char *out, int scored, double seconds);
} weft_pack_ends;

/* How numbers become floats; see pack_scale.c. */
typedef struct weft_scaling weft_scaling;

typedef struct weft_pack_part {
    int64_t n;      /* rows received from the reader */
    int32_t *label; /* [n] */
    int64_t label_room;
    const char **name; /* [n] of documents */
    int64_t name_room;
    int64_t *offset[WEFT_NTOK]; /* [n+1] */
    int64_t offset_room[WEFT_NTOK];
    uint32_t *token[WEFT_NTOK]; /* [ntoken] */
    int64_t ntoken[WEFT_NTOK], token_room[WEFT_NTOK];
} weft_pack_part;

/* How samples are stored, once they are announced. */
typedef struct weft_pack_layout {
    int form;                    /* a weft_form; -1 until known */
    int64_t d, rows[WEFT_NPART]; /* of a matrix */
    size_t row;                  /* bytes of a row of it */
    int image[3];                /* channels, height, width; 0: no images */
} weft_pack_layout;

/* What is said of them at the end. */
typedef struct weft_pack_told {
    int classes;
    const char *const *class_name; /* [classes] */
    const char *const *column;     /* [d] or NULL */
    const weft_columns *table;     /* NULL: no table */
    const char *notation;          /* see weft_pack_notation; NULL: none */
    const char *decided;           /* lines of weft_pack_decided; NULL: none */
    const char *split;
    const char **source; /* [nsource] lines of /source */
    int64_t nsource, source_room;
    int scored, unlabelled; /* see weft_pack_scored */
    const int *group;       /* [classes] see weft_pack_class_groups; NULL: none */
    int groups;
} weft_pack_told;

/* What rows of a matrix have in place of classes, and beside these. */
typedef struct weft_pack_beside {
    weft_pack_numbers numbers; /* to predict; n 0: classes */
    const double *weight;      /* [rows]; NULL: all 1 */
    const int32_t *group;      /* [rows]; NULL: no groups */
    int64_t groups;
} weft_pack_beside;

/* Clients that documents belong to. */
typedef struct weft_pack_owner {
    int64_t n;                     /* 0: nobody's */
    const char *const *name;       /* [n]; NULL: dealt by `over` */
    const int64_t *of[WEFT_NPART]; /* [rows] of each document */
} weft_pack_owner;

typedef struct weft_packing {
    /* what is read, and written to */
    const weft_reader *reader;
    const char *from;    /* the source */
    weft_partition over; /* clients 0: rows are not divided */
    weft_h5 file;
    int replaces;        /* 1: there is a file of that name already */
    weft_digest *digest; /* of all that is written, in that order */
    double began;        /* by weft_now */
    /* what a reader says */
    weft_pack_layout layout;
    weft_pack_told told;
    weft_pack_beside beside;
    weft_pack_owner owner;
    /* samples */
    weft_pack_part part[WEFT_NPART];
    weft_scaling *scaling;            /* of WEFT_REALS */
    weft_words *words[WEFT_NTOK];     /* of WEFT_TOKENS */
    weft_pack_corpus *corpus;         /* of WEFT_SENTENCES */
    weft_pack_held *held;             /* NULL: rows are written at once */
    weft_pack_federation *federation; /* NULL: not one */
    const weft_generator *generator;  /* NULL: samples are stored */
    weft_sizes size[WEFT_NPART];      /* of what is generated */
    weft_pack_ends ends;
} weft_packing;

/* "/train/x", of a part, in mem. */
const char *weft_pack_path(const weft_pack *pack, int part, const char *what);
/* Writes a dataset and adds it to the digest. */
WEFT_CHECKED weft_status weft_pack_put(weft_pack *pack, const char *name, weft_h5type type,
                                       int64_t n, const void *data, const char *about,
                                       const char *unit);

/* Writes the vocabularies, tokens and names of the documents. */
WEFT_CHECKED weft_status weft_pack_text_close(weft_pack *pack);

/* EDATA: no rows for validation. */
WEFT_CHECKED weft_status weft_pack_check_valid(const weft_pack *pack, int64_t rows);

/* Rows of each class in a part, in mem. EDATA where a class cannot be learnt. */
WEFT_CHECKED weft_status weft_pack_count(weft_pack *pack, weft_part part, int64_t **count);

/* Room for the announced rows; the copy of some of them; the partition, when all are there.
 * ECONF: see weft_partition_check. Documents stay where they are: weft_pack_own. */
WEFT_CHECKED weft_status weft_pack_hold(weft_pack *pack);
void weft_pack_hold_rows(weft_pack *pack, weft_part part, int64_t count, const void *x);
WEFT_CHECKED weft_status weft_pack_deal(weft_pack *pack);
/* Writes the owner of each document; deals them, where the reader named none. ECONF: see
 * weft_partition_check. */
WEFT_CHECKED weft_status weft_pack_own(weft_pack *pack);

/* What the source has to be read with once more, in mem; NULL: the rows are good as they
 * are. */
weft_scaling *weft_scaling_next(const weft_scaling *scaling, weft_arena *mem);
/* Logs which columns were shifted and scaled, and warns of numbers that became equal. */
void weft_scaling_tell(const weft_pack *pack, const char *out);
/* Writes shift and scale, where there are any. */
WEFT_CHECKED weft_status weft_scaling_put(weft_pack *pack);

/* Readies the scaling of numbers, when form and d are known. */
void weft_pack_scaled(weft_pack *pack);
/* The rows x[n][d] of the form announced, numbers made floats: *rows, in pack->scratch or x
 * itself. Index in them of the first number that is no float, or n d: *bad. */
const void *weft_pack_floats(weft_pack *pack, int64_t n, const void *x, int64_t *bad);

/* Writes what is known of a generated federation, which has no samples to store. */
WEFT_CHECKED weft_status weft_pack_generator_close(weft_pack *pack);

/* Writes what is known of a federation after its last client; releases its memory. */
WEFT_CHECKED weft_status weft_pack_clients_close(weft_pack *pack);
void weft_pack_clients_drop(weft_pack *pack);
/* ---- rows of a labelled set dealt to clients ---- */

enum {
    WEFT_PART_NONE,
    WEFT_PART_IID,
    WEFT_PART_DIRICHLET,
    WEFT_PART_SHARDS,
    WEFT_PART_QUANTITY,
    WEFT_PART_LABELS,
    WEFT_PART_PACHINKO
};

/* The labels of one part of a set, and the shares of the classes among training rows. */
typedef struct weft_labelled {
    weft_part part;
    int64_t n;
    const int32_t *label; /* [n] 0 .. classes-1 */
    int classes;
    const double *share; /* [classes] > 0, sum 1 */
    const int *group;    /* [classes] 0 .. groups-1; NULL: classes have no groups */
    int groups;
} weft_labelled;

/* ECONF where the training rows do not suffice for the clients or shards. */
WEFT_CHECKED weft_status weft_partition_check(const weft_partition *partition,
                                              int64_t rows);

/* Deals each row of a part to one client: client c has the next count[c] of order[n], which
 * are row numbers. A function of labels, part and options. ECONF: the classes do not suit
 * the rule, or a client gets fewer than min_samples. Cost O(n log n), for dirichlet and
 * pachinko O(n classes), for labels O(clients classes) more. */
WEFT_CHECKED weft_status weft_partition_deal(const weft_partition *partition,
                                             const weft_labelled *labelled, int64_t *order,
                                             int64_t *count, weft_arena *tmp);

/* In how many ways images are turned. */
int weft_partition_ways(const weft_partition *partition);

/* The rule in words. */
const char *weft_partition_text(const weft_partition *partition, weft_arena *mem);

#endif
