/* HDF5 files: datasets and attributes, mapped rows, files of others. */
#ifndef LIBWEFT_STORE_H5_H
#define LIBWEFT_STORE_H5_H

#include "weft/base/base.h"

#include <stddef.h>
#include <stdint.h>

/* ---- h5 ---- */

/* HDF5 with error checks and checksums. A file appears under its name complete or not at
 * all, also if the process is killed. Each rank calls these functions independently. The
 * only failure is EFILE. */

/* Checksums of all bytes of a file, including HDF5's metadata, in blocks of 64 KB, stored
 * after the last byte that HDF5 uses. Other programs can read such a file; a program that
 * changes it removes the checksums.
 *
 * A file open for reading (every rank opens it by itself) or being written by only this
 * rank under a temporary name, until weft_h5_commit gives it its own. */
typedef struct weft_h5 {
    int64_t file;         /* handle of HDF5, as all below; used by src/store only */
    char *path, *temp;    /* temp NULL when reading */
    struct weft_h5io *io; /* what the driver of src/store knows of it */
    int view;             /* index among the mapped files; -1: not mapped */
    weft_arena *mem;
} weft_h5;

/* Opens a file for reading. EFILE: missing, not HDF5, truncated, damaged; the message says
 * which. Later reads first compare each block with its checksum, once: EFILE if it is
 * damaged. */
WEFT_CHECKED weft_status weft_h5_open(weft_h5 *file, const char *path, weft_arena *mem);
/* EFILE if the file has no checksums, because another program
 * changed it. */
WEFT_CHECKED weft_status weft_h5_sealed(const weft_h5 *file);
/* EFILE if damage was found since the file was opened. To be called because weft_h5_has
 * also returns 0 for damaged objects, and mapped rows that cannot be read are replaced by
 * zeros. */
WEFT_CHECKED weft_status weft_h5_sound(const weft_h5 *file);
/* Compares the whole file with its checksums; warns if it has none. EFILE. Cost: reads
 * the blocks that were not read before. */
WEFT_CHECKED weft_status weft_h5_verify(weft_h5 *file);
/* Tests that a file may be written under a name. What is there already is only replaced if
 * `force`, and only if it is a file that weft wrote of the same format, "weft run 2", but
 * for the number. EFILE: the message says what is there. */
WEFT_CHECKED weft_status weft_h5_replace(const char *path, const char *format, int force);
/* Starts writing a file, as path.tmp.PID until it is committed. EFILE: the directory is
 * missing, read-only or full. */
WEFT_CHECKED weft_status weft_h5_create(weft_h5 *file, const char *path, weft_arena *mem);
/* Flushes, closes, adds checksums, fsyncs, renames, fsyncs the directory. EFILE: an older
 * file of that name is unchanged. */
WEFT_CHECKED weft_status weft_h5_commit(weft_h5 *file);
/* Closes a file; one that was being written and not committed is removed. */
void weft_h5_close(weft_h5 *file);

typedef enum weft_h5type {
    WEFT_H5_U8,
    WEFT_H5_I32,
    WEFT_H5_U32,
    WEFT_H5_I64,
    WEFT_H5_U64,
    WEFT_H5_F32,
    WEFT_H5_F64,
    WEFT_H5_TEXT /* UTF-8 of any length; only for grow, append, set_text */
} weft_h5type;
size_t weft_h5_size(weft_h5type type); /* bytes of one number in memory; of a text, of the
                                          pointer */
/* Writes a whole dataset ("/train/x"; groups are made) with attributes about and unit.
 * dims[nd]; compressed if packed is 1 (shuffle + deflate). */
WEFT_CHECKED weft_status weft_h5_put(weft_h5 *file, const char *name, weft_h5type type,
                                     int nd, const int64_t *dims, const void *data,
                                     int packed, const char *about, const char *unit);
/* Makes a dataset of shape dims[nd], to be filled by weft_h5_put_rows. EFILE. */
WEFT_CHECKED weft_status weft_h5_make(weft_h5 *file, const char *name, weft_h5type type,
                                      int nd, const int64_t *dims, const char *about,
                                      const char *unit);
/* Writes rows [first, first + count), which must exist in the dataset. EFILE. */
WEFT_CHECKED weft_status weft_h5_put_rows(weft_h5 *file, const char *name, weft_h5type type,
                                          int64_t first, int64_t count, const void *data);
/* Makes a dataset of shape [0][width] ([0] if width is 0) that weft_h5_append extends.
 * EFILE. */
WEFT_CHECKED weft_status weft_h5_grow(weft_h5 *file, const char *name, weft_h5type type,
                                      int64_t width, const char *about, const char *unit);
/* Appends `count` rows. Opens and closes the dataset, so that few calls with many rows are
 * faster. EFILE. */
WEFT_CHECKED weft_status weft_h5_append(weft_h5 *file, const char *name, weft_h5type type,
                                        int64_t count, const void *data);
/* Writes a dataset of n texts of variable length, UTF-8. EFILE. */
WEFT_CHECKED weft_status weft_h5_put_texts(weft_h5 *file, const char *name,
                                           const char *const *text, int64_t n,
                                           const char *about);
/* Writes the shape of a dataset to dims[WEFT_H5_DIMS] and its number of dimensions to *nd.
 * EFILE. */
WEFT_CHECKED weft_status weft_h5_shape(weft_h5 *file, const char *name, int *nd,
                                       int64_t *dims);
/* Writes the number of its rows, 1 of a dataset without dimensions, to *n. EFILE. */
WEFT_CHECKED weft_status weft_h5_length(weft_h5 *file, const char *name, int64_t *n);
/* 1 if there is such a dataset, group or attribute "/group@attr", or if a soft or external
 * link is on the way to it, which all functions that read refuse. */
int weft_h5_has(weft_h5 *file, const char *name);
/* Rows [first, first+count) of the slowest dimension, converted to type: count x width
 * numbers. EFILE if rows do not have `width` numbers, or do not exist. */
WEFT_CHECKED weft_status weft_h5_read_rows(weft_h5 *file, const char *name,
                                           weft_h5type type, int64_t width, int64_t first,
                                           int64_t count, void *data);
/* All its rows, *n of them, owned by file->mem. */
WEFT_CHECKED weft_status weft_h5_read_all(weft_h5 *file, const char *name, weft_h5type type,
                                          int64_t width, void **rows, int64_t *n);
/* Reads a list of texts, owned by file->mem; *n of them. */
WEFT_CHECKED weft_status weft_h5_read_texts(weft_h5 *file, const char *name,
                                            const char ***text, int64_t *n);
/* A dataset that stays open, for reading in small pieces without HDF5's chunk cache. To be
 * closed before the file. */
#define WEFT_H5_DIMS 4
typedef struct weft_h5set {
    weft_h5 *file;
    const char *name;
    int64_t set, space;
    int nd;
    int64_t dims[WEFT_H5_DIMS]; /* 1 from nd on */
    int whole;                  /* 1: of whole numbers */
} weft_h5set;
/* Opens a dataset of the open file f and reads its shape. EFILE. */
WEFT_CHECKED weft_status weft_h5_set_open(weft_h5set *set, weft_h5 *file, const char *name);
/* Reads rows [first, first+count), converted to type; data has room for the rest of dims.
 * EFILE, also where type is of whole numbers and the dataset is of others. */
WEFT_CHECKED weft_status weft_h5_set_rows(const weft_h5set *set, weft_h5type type,
                                          int64_t first, int64_t count, void *data);
/* Reads text `row` of a dataset of texts into mem. EFILE. */
WEFT_CHECKED weft_status weft_h5_set_text(const weft_h5set *set, int64_t row,
                                          const char **text, weft_arena *mem);
/* Closes the dataset; the file stays open. */
void weft_h5_set_close(weft_h5set *set);

/* Write and read attribute `key` of the object `name` ("/" for the file): a text, a real
 * number or an integer. A text that was read is owned by file->mem. EFILE. */
WEFT_CHECKED weft_status weft_h5_put_attr(weft_h5 *file, const char *name, const char *key,
                                          const char *text);
WEFT_CHECKED weft_status weft_h5_put_num(weft_h5 *file, const char *name, const char *key,
                                         double x);
WEFT_CHECKED weft_status weft_h5_put_long(weft_h5 *file, const char *name, const char *key,
                                          int64_t x);
WEFT_CHECKED weft_status weft_h5_read_attr(weft_h5 *file, const char *name, const char *key,
                                           const char **text);
/* The same; where there is no such attribute *text stays as it is. */
WEFT_CHECKED weft_status weft_h5_find_attr(weft_h5 *file, const char *name, const char *key,
                                           const char **text);
WEFT_CHECKED weft_status weft_h5_read_num(weft_h5 *file, const char *name, const char *key,
                                          double *x);
/* All *n numbers of an attribute, owned by the file's mem. EFILE: it has none. */
WEFT_CHECKED weft_status weft_h5_read_nums(weft_h5 *file, const char *name, const char *key,
                                           double **x, int64_t *n);
WEFT_CHECKED weft_status weft_h5_read_long(weft_h5 *file, const char *name, const char *key,
                                           int64_t *x);

/* ---- h5map ---- */

/* A dataset whose rows are used directly in the memory-mapped file: pages are shared by all
 * ranks of a node, and access to a row that was used before needs no system call. */
typedef weft_status (*weft_h5_check)(const void *self, int64_t first, int64_t count,
                                     const void *rows);
typedef struct weft_h5map {
    weft_h5set set;
    weft_h5type type;
    size_t row;          /* bytes */
    int64_t per;         /* rows of a piece; pieces are contiguous in the file */
    const char **at;     /* [pieces] NULL: not used yet */
    int seen;            /* 1: pieces are used in the mapped file; 0: pieces are read and
                            kept in memory */
    weft_h5_check check; /* NULL: none */
    const void *self;
    weft_arena *own; /* owns `at` and the pieces that were read */
} weft_h5map;
/* Opens a dataset. Each piece of about 64 KB is compared with the checksums when it is
 * first used, and passed to `check` with `self`, which may refuse it. Datasets with
 * filters, of another type, or in a file that cannot be mapped are read, piece by piece,
 * into memory. EFILE. */
WEFT_CHECKED weft_status weft_h5_map_open(weft_h5map *map, weft_h5 *file, const char *name,
                                          weft_h5type type, weft_h5_check check,
                                          const void *self);
/* *rows: rows [first, first+count). They are copied to mem if they are not contiguous in
 * memory; otherwise they are valid as long as the map is open. EFILE, also if `check`
 * refuses them. Cost O(1) if the pieces were used before. */
WEFT_CHECKED weft_status weft_h5_map_rows(const weft_h5map *map, int64_t first,
                                          int64_t count, const void **rows,
                                          weft_arena *mem);
/* A row that weft_h5_map_rows has given before. */
static inline const void *weft_h5_map_row(const weft_h5map *map, int64_t row)
{
    int64_t piece = row / map->per;
    return map->at[piece] + (size_t)(row - piece * map->per) * map->row;
}
/* *rows: rows [first, first+count) of a dataset in the mapped file, compared with their
 * checksums, valid until the file is closed; NULL: they cannot be used there, being in
 * chunks, not aligned or of another type; read them. Later damage is told by weft_h5_sound.
 * EFILE. */
WEFT_CHECKED weft_status weft_h5_map_part(weft_h5 *file, const char *name, weft_h5type type,
                                          int64_t first, int64_t count, const void **rows);
/* Closes the dataset and frees the pieces that were read; its rows become invalid. */
void weft_h5_map_close(weft_h5map *map);
/* Bytes of mapped files that are in this process's memory, shared with the other ranks of
 * the node. */
double weft_h5_mapped(void);

/* ---- datasets of other programs ---- */

/* The n full names, "/train/x", of the datasets of a file, by name; owned by file->mem. */
WEFT_CHECKED weft_status weft_h5_list(weft_h5 *file, const char ***name, int64_t *n);

/* What a dataset is of. */
typedef struct weft_h5kind {
    weft_h5type type; /* as which it is read without loss: WEFT_H5_U8, _I64, _U64, _F32,
                         _F64; or WEFT_H5_TEXT. Booleans are numbers, as F32 */
    int64_t at;   /* place in the file of numbers that stand there one after the other, as
                     in memory; -1: they do not */
    int64_t rows; /* of a chunk; 1: there are none */
} weft_h5kind;
/* EFILE: it is of something else, such as records. */
WEFT_CHECKED weft_status weft_h5_set_kind(const weft_h5set *set, weft_h5kind *kind);

/* All n texts of a dataset of texts, of variable or fixed length, owned by mem. EFILE. */
WEFT_CHECKED weft_status weft_h5_set_texts(const weft_h5set *set, const char ***text,
                                           int64_t *n, weft_arena *mem);

#endif
