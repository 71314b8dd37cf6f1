/* Private to data: rows of an open file, words and classes by name, and the sources of
 * clients. */
#ifndef WEFT_DATA_DATA_H
#define WEFT_DATA_DATA_H

#include "weft/data/clients.h"
#include "weft/data/data.h"
#include "weft/store/h5.h"

/* ---- rows.c ---- */

/* EDATA "PATH<text>; pack it again". */
WEFT_CHECKED weft_status data_fail(const weft_data *data, const char *fmt, ...)
    WEFT_PRINTF(2, 3);
/* /PART/WHAT in a packed file. */
const char *data_name(const weft_data *data, int part, const char *what);
/* The first row of a part that is open, among those of the file. */
int64_t data_window_first(const weft_data *data, int part);
/* The rows of a part that are open, of `total`. */
int64_t data_window_rows(const weft_data *data, int part, int64_t total);
/* *rows: rows [first, first + n) of a dataset, in the mapped file where that can be, or
 * read into file->mem. EFILE, also for rows of another width. */
WEFT_CHECKED weft_status data_hold_rows(weft_h5 *file, const char *name, weft_h5type type,
                                        int64_t width, int64_t first, int64_t n,
                                        const void **rows);
/* EDATA unless x[n][width], from row `first` of a dataset on, are finite; or label[n] is
 * below `classes`. */
WEFT_CHECKED weft_status data_check_reals(const weft_data *data, const char *name,
                                          int64_t first, int64_t n, int64_t width,
                                          const float *x);
WEFT_CHECKED weft_status data_check_classes(const weft_data *data, const char *name,
                                            int classes, int64_t first, int64_t n,
                                            const int32_t *label);
/* Reads sizes and labels, or targets, and weights of this rank's rows of a part. EFILE;
 * EDATA. */
WEFT_CHECKED weft_status data_read_answers(weft_data *data, int part);
/* Reads the groups of this rank's rows, once the sizes of all parts are known. EFILE;
 * EDATA. */
WEFT_CHECKED weft_status data_read_groups(weft_data *data);
/* Sets `counts` of all parts, where rows have weights. Collective over data->team. */
void data_count_rows(weft_data *data);
/* The training rows of each class, [classes]. Collective over data->team. */
int64_t *data_count_classes(const weft_data *data, weft_arena *mem);

/* ---- words.c ---- */

/* /GROUP/TOKENIZER/WHAT in a packed file. */
const char *weft_token_name(weft_data *data, const char *group, int tok, const char *what);
/* Reads the vocabulary data->vocab[tok]. EFILE; EDATA: documents were packed without that
 * tokenizer. */
WEFT_CHECKED weft_status weft_data_vocab(weft_data *data, weft_tokenizer tok);

/* ---- match.c ---- */

/* Another shift and scale: x becomes (scale x + shift) / over. */
typedef struct weft_move {
    double scale, shift, over;
} weft_move;
/* label[n] by their new numbers class_of[], in mem. */
const int32_t *weft_match_labels(const int32_t *label, int64_t n, const int32_t *class_of,
                                 weft_arena *mem);
/* x[n][d] whose column j is column column_of[j] of before (NULL: j), moved by move[j]
 * (NULL: not), in mem. */
const float *weft_match_columns(const float *x, int64_t n, int64_t d,
                                const int64_t *column_of, const weft_move *move,
                                weft_arena *mem);
/* EDATA: another number of columns, characters of a window, or pixels than `like`. */
WEFT_CHECKED weft_status data_match_shape(const weft_data *data, const weft_likeness *like,
                                          const char *whose);
/* weft_form_traits.match of rows and documents, and of running text, whose symbols must
 * have the same numbers. */
WEFT_CHECKED weft_status data_match_rows(weft_data *data, const weft_likeness *like,
                                         const char *whose);
WEFT_CHECKED weft_status data_match_alphabet(weft_data *data, const weft_likeness *like,
                                             const char *whose);
/* The quantiles of the columns of the training rows, in the numbers of the source: as many
 * as there are rows, at most 1000. Not of a federation. Owned by data->mem. Collective.
 * Cost: every rank sorts its share of the columns; memory: a column. */
weft_ranks weft_ranks_of(const weft_data *data);
/* Replaces all rows, whose columns are in the order of the ranks, by these; column j was
 * column column_of[j] of the file (NULL: j). Memory: a copy of this rank's rows. */
void weft_ranks_take(weft_data *data, const weft_ranks *ranks, const int64_t *column_of);

/* ---- translations.c, the form of sentences ---- */

extern const weft_form_traits data_form_sentences;

/* ---- federation.c, owners.c ---- */

/* Documents of clients; see owners.c. */
typedef struct weft_owned weft_owned;

/* Where clients come from: a packed file, or a generator. The functions are those of
 * weft_client_find and weft_client_take. */
typedef struct weft_federation {
    weft_client (*find)(const weft_clients *clients, int64_t c);
    WEFT_CHECKED weft_status (*take)(const weft_clients *clients, const weft_client *client,
                                     weft_part part, weft_samples *out, weft_arena *mem);
    const weft_data *data;
    const weft_generator *generator; /* NULL: a packed file holds the samples */
    /* of a packed file */
    weft_h5map first;    /* [n+1] first row, or first symbol, of each client: int64_t */
    weft_h5map part;     /* [n][WEFT_NPART] samples: int32_t */
    weft_h5map x, label; /* rows and their classes */
    const uint8_t *text; /* WEFT_CHARS: [symbols of all clients] */
    weft_h5set name;
    weft_owned *owned;        /* documents, which the file holds part by part; else NULL */
    const int64_t *count;     /* [n][WEFT_NPART] of clients whose samples others hold; else
                                 NULL */
    const char *const *names; /* [n] where they are not in the file; else NULL */
    /* set by weft_data_match; NULL: as they are stored */
    const int32_t *class_of;  /* [classes] what the classes of the file are called */
    const int64_t *column_of; /* [d] index of each column in the file */
    const weft_move *move;    /* [d] of each column, once it is there */
    int classes;              /* of the file, where class_of is */
} weft_federation;

/* Clients of the data without anything else, their stride 1. */
weft_clients *data_clients_new(const weft_federation *own, weft_arena *mem);

/* 1 if the open file data->file holds a federation. */
int weft_federation_is(weft_data *data);
/* Fills data->clients and the totals of the parts. EFILE, EDATA. */
WEFT_CHECKED weft_status weft_federation_open(weft_data *data);
void weft_federation_close(weft_data *data);
/* Check for weft_h5_map_open of the labels of clients' samples; self: the weft_data. EDATA:
 * a class that is not one of the data set's. */
WEFT_CHECKED weft_status weft_labels_check(const void *self, int64_t first, int64_t n,
                                           const void *label);

/* 1 if documents of the open file data->file belong to clients. */
int weft_owners_are(weft_data *data);
/* Fills data->owners. EFILE, EDATA. */
WEFT_CHECKED weft_status weft_owners_open(weft_data *data);
void weft_owners_close(weft_data *data);

#endif
