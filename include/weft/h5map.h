/* Datasets whose rows are used directly in the memory-mapped file. */
#ifndef WEFT_H5MAP_H
#define WEFT_H5MAP_H

#include "weft/h5.h"

#include <stddef.h>
#include <stdint.h>

/* A dataset whose rows are used directly in the memory-mapped file: pages are shared by all
 * ranks of a node, and access to a row that was used before needs no system call. */
typedef weft_status (*weft_h5_check)(const void *self, int64_t first, int64_t count,
                                     const void *rows);
typedef struct weft_h5map {
    weft_h5set set;
    weft_h5type type;
    size_t row;          /* bytes */
    int64_t per;         /* rows of a piece; pieces are contiguous in the file */
    int shift;           /* per = 2^shift; -1: per is not a power of two */
    const char **at;     /* [pieces] NULL: not used yet */
    int seen;            /* 1: pieces are used in the mapped file; 0: pieces are read and
                            kept in memory */
    weft_h5_check check; /* NULL: none */
    const void *self;
    weft_arena *own; /* owns `at` and the pieces that were read */
} weft_h5map;
/* Opens a dataset of a file with checksums. Each piece of about 64 KB is compared with the
 * checksums when it is first used, and passed to `check` with `self`, which may refuse it.
 * Datasets with filters, of a type other than `type`, or in a file that cannot be mapped
 * are read instead, and the pieces used stay in memory. EFILE. */
WEFT_CHECKED weft_status weft_h5_map_open(weft_h5map *map, weft_h5 *file, const char *name,
                                          weft_h5type type, weft_h5_check check,
                                          const void *self);
/* *rows: rows [first, first+count). They are copied to mem if they are not contiguous in
 * memory; otherwise they are valid as long as the map is open. EFILE, also if `check`
 * refuses them. Cost O(1) if the pieces were used before. */
WEFT_CHECKED weft_status weft_h5_map_rows(const weft_h5map *map, int64_t first,
                                          int64_t count, const void **rows,
                                          weft_arena *mem);
/* The piece that a row is in. */
static inline int64_t weft_h5_map_piece(const weft_h5map *map, int64_t row)
{
    return map->shift >= 0 ? row >> map->shift : row / map->per;
}
/* A row that weft_h5_map_rows has given before. */
static inline const void *weft_h5_map_row(const weft_h5map *map, int64_t row)
{
    int64_t piece = weft_h5_map_piece(map, row);
    return map->at[piece] + (size_t)(row - piece * map->per) * map->row;
}
/* *rows: rows [first, first+count) of a dataset in the memory-mapped file f, compared with
 * their checksums, valid until the file is closed. NULL: they cannot be used there, being
 * in chunks, not aligned or of a type other than `type`, or the file cannot be mapped; read
 * them. Later damage is told by weft_h5_sound. EFILE. */
WEFT_CHECKED weft_status weft_h5_map_part(weft_h5 *file, const char *name, weft_h5type type,
                                          int64_t first, int64_t count, const void **rows);
/* Closes the dataset and frees the pieces that were read; its rows become invalid. */
void weft_h5_map_close(weft_h5map *map);
/* Bytes of mapped files that are in this process's memory, shared with the other ranks of
 * the node. */
double weft_h5_mapped(void);

#endif
