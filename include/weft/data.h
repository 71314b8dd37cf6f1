/* Packed data sets: images or numbers in rows, documents as token ids, text of clients.
 * Made once by a reader (`weft pack`), then read by every rank for its own rows or clients.
 */
#ifndef WEFT_DATA_H
#define WEFT_DATA_H

#include "weft/store.h"

typedef enum weft_part { WEFT_TRAIN, WEFT_VALID, WEFT_TEST, WEFT_NPART } weft_part;
extern const char *const weft_part_name[WEFT_NPART]; /* "train", "valid", "test" */

/* Rows of bytes or numbers, documents, or running text of one-byte symbols. */
typedef enum weft_form {
    WEFT_BYTES,
    WEFT_REALS,
    WEFT_TOKENS,
    WEFT_CHARS,
    WEFT_NFORM
} weft_form;
extern const char *const weft_form_name[WEFT_NFORM]; /* "bytes", "reals", ... */

/* Three tokenizers: drop punctuation, split at punctuation, Penn Treebank (NLTK). */
typedef enum weft_tokenizer {
    WEFT_TOK_REMOVE,
    WEFT_TOK_SPLIT,
    WEFT_TOK_TREEBANK,
    WEFT_NTOK
} weft_tokenizer;
extern const char *const weft_tok_name[WEFT_NTOK]; /* "remove", "split", "treebank" */

/* What is known of each distinct token of a tokenizer; ids by falling frequency. */
typedef struct weft_vocab {
    int64_t n;
    const uint64_t *hash;  /* [n] weft_hash(token, 0) */
    const uint64_t *lower; /* [n] weft_hash(lower-cased token, 0) */
    const uint8_t *stop;   /* [n] 1: on the stop list */
} weft_vocab;

/* The rows of one part that this rank holds, in the file's order. */
typedef struct weft_rows {
    int64_t total;        /* rows of the part over all ranks */
    int64_t first, n;     /* this rank's: rows [first, first + n), whole blocks */
    const int32_t *label; /* [n] 0 .. classes-1 */
    int64_t d;            /* columns of WEFT_BYTES and WEFT_REALS */
    const uint8_t *byte;  /* [n][d] */
    const float *value;   /* [n][d] */
    /* WEFT_TOKENS, loaded when asked for: documents' tokens, offset[n+1] from 0 */
    const int64_t *offset[WEFT_NTOK];
    const uint32_t *token[WEFT_NTOK];
} weft_rows;

/* A federation: data that belong to clients. Each client's samples lie in a row: train,
 * valid, test, where a part may be empty and `gap` samples are left out between two parts
 * that are not. Nothing but their numbers stays in memory, 20 bytes a client (generated
 * ones: nothing), and running text, which is small; rows are read when they are asked for.
 */
typedef struct weft_clients {
    int64_t n;                   /* clients */
    int64_t d;                   /* numbers of a row; WEFT_CHARS: characters of a window */
    int channels, height, width; /* of an image; 0 where rows are no images */
    int64_t stride; /* WEFT_CHARS: characters from one window to the next; else 1 */
    int64_t gap;    /* samples between two parts; 0 unless WEFT_CHARS */
    int symbols;    /* WEFT_CHARS: size of the alphabet, the classes; else 0 */
    int named;      /* 1: clients have names, see weft_client_name */
    struct weft_federation *own; /* private to data */
} weft_clients;

/* Samples of a client in memory. */
typedef struct weft_samples {
    int64_t n;
    const float *x;       /* [n][d]; bytes come as numbers in 0..1; NULL for WEFT_CHARS */
    const int32_t *label; /* [n]; NULL for WEFT_CHARS */
    const uint8_t *text;  /* WEFT_CHARS: window i is text + i stride, d + 1 symbols */
} weft_samples;

typedef struct weft_data {
    weft_form form;
    int classes;
    const char *const *class_name;  /* [classes] */
    const char *const *column_name; /* of rows, [d]; NULL: they have no names */
    const char *digest;
    weft_rows part[WEFT_NPART];
    weft_vocab vocab[WEFT_NTOK];
    weft_clients *clients; /* NULL: not a federation; else parts hold totals, no rows */
    const char *path;
    weft_arena *mem;
    weft_h5 file; /* stays open for weft_data_tokens */
    weft_team *team;
} weft_data;

/* Opens a packed file and reads this rank's rows of bytes or reals, and labels; of a
 * federation only how many samples each client has. Collective. EFILE, EDATA (not a packed
 * file; an empty class, but in a federation; sizes that contradict each other). */
WEFT_CHECKED weft_status weft_data_open(weft_data *d, const char *path, weft_team *t,
                                        weft_arena *mem);
/* Loads the token streams and vocabulary of a tokenizer, once. Collective. */
WEFT_CHECKED weft_status weft_data_tokens(weft_data *d, weft_tokenizer tok);
void weft_data_close(weft_data *d);

/* What something that was trained must find again in other data. */
typedef struct weft_likeness {
    weft_form form;
    int64_t d; /* numbers of a row, characters of a window; 0 for documents */
    int64_t channels, height, width; /* of images in a federation, else 0 */
    int64_t classes;                 /* 0: nothing is known */
    const char *const *class_name;   /* [classes]; WEFT_CHARS: the alphabet */
    const char *const *column_name;  /* [d] or NULL */
} weft_likeness;
/* That of an open data set, which owns it. Local. */
weft_likeness weft_data_likeness(const weft_data *d);
/* Makes the data set like that of `whose`: its classes become those, labels go by the name
 * of their class, columns by theirs where both have names, else by position. EDATA naming
 * what is not there, not known, or of another form, shape or alphabet. Local. Cost O(rows)
 * for labels, O(numbers) where columns change places. */
WEFT_CHECKED weft_status weft_data_match(weft_data *d, const weft_likeness *like,
                                         const char *whose);

/* Number of samples of a part of client c, 0 <= c < n. Local. Cost O(1). */
int64_t weft_client_count(const weft_clients *f, int64_t c, weft_part part);
/* Those samples, in mem; text lives as long as the data set. EFILE where the file cannot be
 * read, EDATA where a number or label cannot be. Local. Cost O(samples), two small reads.
 */
WEFT_CHECKED weft_status weft_client_get(const weft_clients *f, int64_t c, weft_part part,
                                         weft_samples *out, weft_arena *mem);
/* The name of client c, in mem; its number where clients have no names. EFILE. Local. */
WEFT_CHECKED weft_status weft_client_name(const weft_clients *f, int64_t c,
                                          const char **name, weft_arena *mem);

/* ---- packing ------------------------------------------------------------------------ */

/* What a reader hands over, row by row, in the order of the parts. Serial. */
typedef struct weft_pack weft_pack;
/* Images and numbers. `rows[WEFT_NPART]` sizes of the parts; d columns. */
WEFT_CHECKED weft_status weft_pack_matrix(weft_pack *p, weft_form form, int64_t d,
                                          const int64_t *rows);
/* The rows announced are images, planes of rows of pixels: d = channels height width. */
void weft_pack_image(weft_pack *p, int channels, int height, int width);
/* count rows of bytes (uint8_t) or floats with labels; in order: train, valid, test. NaN or
 * infinity: EDATA naming source row and column. */
WEFT_CHECKED weft_status weft_pack_rows(weft_pack *p, int64_t count, const void *x,
                                        const int32_t *label);
/* Documents: text of n bytes UTF-8 (ill-formed bytes: EDATA naming document and byte).
 * `name` identifies the document (file name or line). */
WEFT_CHECKED weft_status weft_pack_document(weft_pack *p, weft_part part, const char *name,
                                            const char *text, size_t n, int32_t label);
/* A federation: then only clients are handed over, one after the other. Of *all, d, the
 * image, stride, gap, symbols and named count; classes may be told at the end, and some may
 * have no samples. */
WEFT_CHECKED weft_status weft_pack_clients(weft_pack *p, weft_form form,
                                           const weft_clients *all);
/* The next client's samples: count[WEFT_NPART] rows of bytes (uint8_t) or floats x with
 * labels, the parts one after the other; name NULL where clients have none. NaN or
 * infinity: EDATA naming client, row and column. Memory does not grow. */
WEFT_CHECKED weft_status weft_pack_client_rows(weft_pack *p, const char *name,
                                               const int64_t *count, const void *x,
                                               const int32_t *label);
/* Or its text, n symbols from 0, that holds the windows counted and the gaps between the
 * parts; what comes after these is stored, but of no sample. */
WEFT_CHECKED weft_status weft_pack_client_text(weft_pack *p, const char *name,
                                               const int64_t *count, const uint8_t *text,
                                               int64_t n);
void weft_pack_classes(weft_pack *p, int n, const char *const *name);
/* The columns of the matrix have names, [d]; ones that are empty or occur twice are not
 * kept, with a warning. */
void weft_pack_columns(weft_pack *p, const char *const *name);
/* Adds a source file to the digest (XXH3-128 over all, and one line each in /source). */
WEFT_CHECKED weft_status weft_pack_source(weft_pack *p, const char *path);
void weft_pack_split(weft_pack *p, const char *rule); /* the split rule in words */

typedef struct weft_reader {
    weft_kind kind;
    WEFT_CHECKED weft_status (*read)(const void *self, const char *source, weft_pack *p);
} weft_reader;

/* How rows of images or numbers are split over clients when they are packed, whatever the
 * reader; its options stand beside the reader's own. */
typedef struct weft_partition {
    int64_t clients; /* 0: no federation */
    int rule;        /* none, iid, dirichlet, shards */
    double alpha;
    int64_t shards, least, seed;
} weft_partition;
extern const weft_kind weft_partition_kind;
/* Makes the instance of a reader and the partition from word[n] "key=value". A key that
 * both have (seed) is for both. ECONF naming the key. Owned by mem. Local. */
WEFT_CHECKED weft_status weft_pack_options(const weft_reader *reader, int n,
                                           const char *const *word, void **self,
                                           weft_partition *over, weft_arena *mem);

/* Runs a reader and writes the packed file: split, tokens by all three tokenizers, digests,
 * `about` and `unit` on each dataset; with over->clients > 0 a federation, whose rows are
 * held in memory until they are dealt. over NULL: none. Serial (rank 0). Prints sizes and
 * seconds. */
WEFT_CHECKED weft_status weft_pack_file(const weft_reader *reader, const void *self,
                                        const weft_partition *over, const char *source,
                                        const char *out, weft_arena *mem);

/* ---- text --------------------------------------------------------------------------- */

/* Called with each token of a text, in order. */
typedef void (*weft_token_fn)(void *ctx, const char *token, size_t n);
/* Splits UTF-8 text into tokens. Whitespace and punctuation (Unicode categories M, P, S)
 * are Python's; WEFT_TOK_TREEBANK gives what NLTK's NLTKWordTokenizer gives. The text must
 * be well-formed; tokens last until fn returns, and fn must leave tmp alone. Local. Cost
 * O(n). */
void weft_tokenize(weft_tokenizer tok, const char *text, size_t n, weft_token_fn fn,
                   void *ctx, weft_arena *tmp);
/* 1 if the token is on the English stop list: as listed, capitalised, or without its
 * punctuation. Local. */
int weft_is_stop(const char *token, size_t n);
/* Writes the token in lower case, as Python's str.lower(), to out[room], without a final
 * NUL. Returns its bytes; if they are more than room, which 2 n never is too small for, out
 * is incomplete. Local. */
size_t weft_lower(const char *token, size_t n, char *out, size_t room);

/* The reader of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_reader_find(const char *name, const weft_reader **out);

#endif
