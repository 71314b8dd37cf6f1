/* Packing: the functions by which a reader passes on data, and the packed file that is
 * written from them. All are serial (one process) and local. */
#ifndef LIBWEFT_PACK_PACK_H
#define LIBWEFT_PACK_PACK_H

#include "weft/base/conf.h"
#include "weft/data/clients.h"
#include "weft/data/table.h"
#include "weft/data/translations.h"

/* The destination of a reader's data, passed in the order of the parts. */
typedef struct weft_pack {
    weft_arena *mem;          /* lives until the file has been written */
    weft_arena *scratch;      /* reset after each call */
    struct weft_packing *own; /* private to pack */
} weft_pack;
/* Images and numbers. `rows[WEFT_NPART]` sizes of the parts; d columns. */
WEFT_CHECKED weft_status weft_pack_matrix(weft_pack *pack, weft_form form, int64_t d,
                                          const int64_t *rows);
/* Declares that rows are images, stored plane by plane: d = channels height width. */
void weft_pack_image(weft_pack *pack, int channels, int height, int width);
/* count rows of bytes (uint8_t) or numbers (double) with labels; in order: train, valid,
 * test. Numbers are stored as floats; a column in which that would make different numbers
 * equal, but for its distance from 0, as (x - shift) / scale, for which weft_pack_file
 * reads the source twice. NaN or beyond floats: EDATA naming source row and column. */
WEFT_CHECKED weft_status weft_pack_rows(weft_pack *pack, int64_t count, const void *x,
                                        const int32_t *label);
/* Documents: text of n bytes UTF-8 (ill-formed bytes, NUL: EDATA naming document and byte).
 * `name` identifies the document (file name or line). */
WEFT_CHECKED weft_status weft_pack_document(weft_pack *pack, weft_part part,
                                            const char *name, const char *text, size_t n,
                                            int32_t label);
/* All documents that were passed belong to n clients: owner[part] of each, in the order in
 * which they were passed; borrowed until the file is written. ECONF, as
 * weft_partition_refuse. */
WEFT_CHECKED weft_status weft_pack_owners(weft_pack *pack, int64_t n,
                                          const char *const *name,
                                          int64_t *const owner[WEFT_NPART]);
/* Declares a federation: only clients are passed then, one after the other. Of *all the
 * members d, the image's, stride, gap, symbols and named are used; classes may be declared
 * at the end, and some may have no samples. */
WEFT_CHECKED weft_status weft_pack_clients(weft_pack *pack, weft_form form,
                                           const weft_clients *all);
/* The next client's samples: count[WEFT_NPART] rows of bytes (uint8_t) or numbers (double)
 * with labels, the parts one after the other, stored as by weft_pack_rows; name NULL where
 * clients have none. NaN or beyond floats: EDATA naming client, row and column. Uses
 * constant memory. */
WEFT_CHECKED weft_status weft_pack_client_rows(weft_pack *pack, const char *name,
                                               const int64_t *count, const void *x,
                                               const int32_t *label);
/* The next client's text, for WEFT_CHARS: n symbols, numbered from 0, that hold count[]
 * windows and the gaps between the parts; further symbols are stored, but do not belong to
 * samples. */
WEFT_CHECKED weft_status weft_pack_client_text(weft_pack *pack, const char *name,
                                               const int64_t *count, const uint8_t *text,
                                               int64_t n);
/* Sentences in several languages; all borrowed until the file is written. */
typedef struct weft_pack_languages {
    int n;                   /* languages */
    const char *const *name; /* [n] */
    int64_t directions;
    const weft_direction *direction; /* [directions] */
    int all;         /* 1: directions without pairs are left out; 0: they are refused */
    int64_t pieces;  /* of a vocabulary, with those that are not learnt */
    int joint;       /* 1: one vocabulary of all languages */
    const int *lack; /* [n] 1: of a language that need have no sentences; NULL: none */
    /* Vocabularies that are taken, of the first languages, or joint; NULL: none. */
    const struct weft_translations *known;
    int64_t
        longest; /* pieces of a sentence in training; longer ones are left out; 0: any */
} weft_pack_languages;
/* Declares them: only sentences are passed then. Pieces are learnt from the training part,
 * if they are not taken. Where weft_pack_scored was called, nothing need be there.
 * ECONF: rows are to be dealt to clients. */
WEFT_CHECKED weft_status weft_pack_sentences(weft_pack *pack,
                                             const weft_pack_languages *languages);
/* A line of the source, from 1, in all languages: text[n], NULL where it has none; UTF-8,
 * borrowed until the file is written. */
void weft_pack_sentence(weft_pack *pack, weft_part part, int64_t line,
                        const char *const *text);
/* Number of clients passed so far. */
int64_t weft_pack_clients_count(const weft_pack *pack);
/* Sets the n classes and their names. */
void weft_pack_classes(weft_pack *pack, int n, const char *const *name);
/* The classes belong to n groups, group[classes] of each, 0 .. n-1; borrowed until the file
 * is written. */
void weft_pack_class_groups(weft_pack *pack, int n, const int *group);
/* The rows are features of these columns of a table, which live until the file is written;
 * they have names, or numbers. */
void weft_pack_table(weft_pack *pack, const weft_columns *columns, int named);
/* The options of the reader in kept[], NULL at its end, are those by which new rows are
 * read, too, unless the user says otherwise: where they are not the default, they are
 * stored with the data, and with a winner that is trained on these. */
void weft_pack_notation(weft_pack *pack, const void *self, const char *const *kept);
/* The rows, all of the test part, are to be scored by a winner and cannot be trained on;
 * labelled 0: their labels are not known. */
void weft_pack_scored(weft_pack *pack, int labelled);
/* Number in the source, from 0, of each sample of the clients, n in all, which are to be
 * scored. Borrowed until the file is written. */
void weft_pack_order(weft_pack *pack, int64_t n, const int64_t *row);
/* Numbers to predict of each row in place of a class; all borrowed until the file is
 * written. */
typedef struct weft_pack_numbers {
    int n;
    const char *const *name;     /* [n] */
    const double *target;        /* [rows][n] of the source, part after part */
    const double *shift, *scale; /* [n] their mean and deviation in the training rows */
} weft_pack_numbers;
/* The rows of the matrix, which is announced, have these targets; labels passed with them
 * are not read. ECONF: rows are to be dealt to clients. */
WEFT_CHECKED weft_status weft_pack_targets(weft_pack *pack,
                                           const weft_pack_numbers *numbers);
/* What the rows count in fits and scores, weight[rows] >= 0, part after part; stored so
 * that their mean over the training rows, or those to be scored, is 1. ECONF, as
 * weft_pack_targets. */
WEFT_CHECKED weft_status weft_pack_weights(weft_pack *pack, const double *weight);
/* The groups, of n, that rows belong to, group[rows] part after part; borrowed until the
 * file is written. Rows that are dealt to clients keep none. */
void weft_pack_groups(weft_pack *pack, int64_t n, const int32_t *group);
/* Adds a source file to the digest (XXH3-128 over all, and one line each in /source). */
WEFT_CHECKED weft_status weft_pack_source(weft_pack *pack, const char *path);
/* Logs what was decided for the user, and keeps the line for `weft info`. */
WEFT_PRINTF(2, 3) void weft_pack_decided(weft_pack *pack, const char *format, ...);
/* The split rule in words. */
WEFT_PRINTF(2, 3) void weft_pack_split(weft_pack *pack, const char *format, ...);
/* Adds "; REST" to the split rule. */
WEFT_PRINTF(2, 3) void weft_pack_split_add(weft_pack *pack, const char *format, ...);
/* Sets n classes named 0, 1, ... */
void weft_pack_numbered(weft_pack *pack, int n);
/* The federation is stored only as the parameters of a generator. */
void weft_pack_generator(weft_pack *pack, const weft_generator *generator);
/* ECONF where the packed file would replace the file `path`, which is being read. */
WEFT_CHECKED weft_status weft_pack_apart(const weft_pack *pack, const char *path);
/* The files of the parts, "" none: "-" becomes standard input, kept beside the packed file
 * where it is a pipe. ECONF: two parts are to be read from it; EFILE. */
WEFT_CHECKED weft_status weft_pack_files(const weft_pack *pack,
                                         const char *file[WEFT_NPART]);
/* A new file without a name beside the packed file; it ends with its descriptor. EFILE. */
WEFT_CHECKED weft_status weft_pack_scratch(const weft_pack *pack, int *fd);
/* ECONF if a partition was asked for and the reader's data have clients already. */
WEFT_CHECKED weft_status weft_partition_refuse(const weft_pack *pack);

/* Digest (XXH3-128), built up piece by piece, of a source that a reader has read by itself.
 */
typedef struct weft_digest weft_digest;
/* The digest of no bytes. */
weft_digest *weft_digest_new(weft_arena *mem);
/* Adds n bytes. */
void weft_digest_add(weft_digest *digest, const void *bytes, size_t n);
/* Adds a line to /source for these bytes. */
void weft_pack_source_sum(weft_pack *pack, const char *name, const weft_digest *digest,
                          int64_t bytes);

typedef struct weft_reader {
    weft_kind kind;
    WEFT_CHECKED weft_status (*read)(const void *self, const char *source, weft_pack *pack);
} weft_reader;

/* How rows or documents are distributed over clients when they are packed, with any
 * reader; these options are given together with the reader's. */
typedef struct weft_partition {
    int64_t clients; /* 0: no federation */
    int rule;        /* none, iid, dirichlet, shards, quantity, labels, pachinko */
    double alpha, beta;
    int sizes;        /* equal, lognormal, power */
    double deviation; /* of the logarithm of sizes */
    int64_t shards, labels, least, seed;
    double noise;  /* variance, of the last client */
    int rotations; /* place in its words */
    int tokenizer; /* 1 + the only one by which documents are divided; 0: all; no option */
} weft_partition;
extern const weft_kind weft_partition_kind;
/* Makes the instance of a reader and the partition from word[n] "key=value". A key that
 * both have (seed) is for both. ECONF naming the key. Owned by mem. */
WEFT_CHECKED weft_status weft_pack_options(const weft_reader *reader, int n,
                                           const char *const *word, void **self,
                                           weft_partition *over, weft_arena *mem);

/* Runs a reader and writes the packed file: split, tokens by all tokenizers, digests,
 * `about` and `unit` on each dataset; with over->clients > 0 a federation, whose rows are
 * held in memory until they are distributed; documents stay in the order without clients,
 * and the owner of each is written beside them. over NULL: none. Serial (rank 0). Prints
 * sizes and seconds. */
WEFT_CHECKED weft_status weft_pack_file(const weft_reader *reader, const void *self,
                                        const weft_partition *over, const char *source,
                                        const char *out, weft_arena *mem);

#endif
