/* A table in its layers. Private to kept. */
#ifndef WEFT_KEPT_TABLE_H
#define WEFT_KEPT_TABLE_H

#include "layer.h"
#include "weft/kept.h"

enum { KEPT_LAYERS = 64 }; /* more than there can be: each is twice as long as the next */

/* Rows of the layer that is written. */
typedef struct kept_rows {
    int64_t *row; /* [n] */
    int64_t n, room;
} kept_rows;

struct weft_kept {
    kept_shape shape;
    weft_arena *mem;
    const char *dir; /* of the files that it writes; NULL: none */
    int begun;       /* 1: dir was made */
    int own;         /* 1: the highest layer is written */
    int nlayer;
    kept_layer layer[KEPT_LAYERS]; /* the highest last */
    int64_t *place; /* [n] 1 + row + layer << KEPT_SHIFT; 0: none. NULL: none has */
    uint64_t *hash; /* [n] of its row */
    int64_t count;  /* clients with a row */
    uint64_t sum;   /* of their hashes */
    int64_t turn;   /* number of writes */
    char *young;    /* [roomyoung] by row of the layer that is written: 1: written since the
                       last sync */
    int64_t roomyoung;
    int synced;             /* 1: all layers below that one are on disk */
    kept_rows old;          /* rows that the synced version has, and this one has not */
    kept_rows spare;        /* that may be written */
    weft_kept_reader *read; /* of a source; else NULL */
    void *of;
};

enum { KEPT_SHIFT = 48 };
/* The layer and row of a client's place. */
static inline int kept_layer_of(int64_t place)
{
    return (int)(place >> KEPT_SHIFT);
}
static inline int64_t kept_row_of(int64_t place)
{
    return (place & (((int64_t)1 << KEPT_SHIFT) - 1)) - 1;
}
static inline int64_t kept_place(int layer, int64_t row)
{
    return ((int64_t)layer << KEPT_SHIFT) + row + 1;
}

/* Makes room for the places of clients. */
void kept_need(weft_kept *kept);
/* Forgets all rows; files stay. */
void kept_forget(weft_kept *kept);
/* Adds a row to a list. */
void kept_rows_add(weft_kept *kept, kept_rows *list, int64_t row);
/* Removes what is in its directory, and makes it. Nothing without one. EFILE. */
WEFT_CHECKED weft_status kept_begin(weft_kept *kept);
/* Writes rows as weft_kept_write does, which belong to the write `turn`. EFILE. */
WEFT_CHECKED weft_status kept_put(weft_kept *kept, int64_t turn, int64_t m,
                                  const int64_t *client, const real *const *row);

#endif
