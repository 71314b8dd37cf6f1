/* The sources of clients of a federation. Private to data. */
#ifndef WEFT_DATA_FEDERATION_H
#define WEFT_DATA_FEDERATION_H

#include "weft/data.h"
#include "weft/generator.h"
#include "weft/h5map.h"

/* Another shift and scale: x becomes (scale x + shift) / over. */
typedef struct weft_move {
    double scale, shift, over;
} weft_move;

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

/* 1 if the open file data->file holds a federation. */
int weft_federation_is(weft_data *data);
/* Fills data->clients and the totals of the parts. EFILE, EDATA. */
WEFT_CHECKED weft_status weft_federation_open(weft_data *data);
void weft_federation_close(weft_data *data);
/* The rest of it, where samples are generated: /@generator is there. EFILE, EDATA. */
WEFT_CHECKED weft_status weft_generator_open(weft_data *data);

/* 1 if documents of the open file data->file belong to clients. */
int weft_owners_are(weft_data *data);
/* Fills data->owners. EFILE, EDATA. */
WEFT_CHECKED weft_status weft_owners_open(weft_data *data);
/* Check for weft_h5_map_open of the labels of clients' samples; self: the weft_data. EDATA:
 * a class that is not one of the data set's. */
WEFT_CHECKED weft_status weft_labels_check(const void *self, int64_t first, int64_t n,
                                           const void *label);
void weft_owners_close(weft_data *data);
/* /GROUP/TOKENIZER/WHAT in a packed file. */
const char *weft_token_name(weft_data *data, const char *group, int tok, const char *what);
/* Reads the vocabulary data->vocab[tok]. EFILE; EDATA: documents were packed without that
 * tokenizer. */
WEFT_CHECKED weft_status weft_data_vocab(weft_data *data, weft_tokenizer tok);

#endif
