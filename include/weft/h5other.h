/* Datasets of HDF5 files that other programs wrote: their names, what they are of, texts of
 * any kind. The only failure is EFILE. */
#ifndef WEFT_H5OTHER_H
#define WEFT_H5OTHER_H

#include "weft/h5.h"

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
