/* Arrays of numbers or texts in NumPy's files, npy and npz, and in HDF5 files of other
 * programs. Private to the reader `dense`. */
#ifndef WEFT_READER_ARRAY_H
#define WEFT_READER_ARRAY_H

#include "reader.h"

#define WEFT_ARRAY_DIMS 4

typedef enum weft_element {
    WEFT_EL_U8,
    WEFT_EL_I8,
    WEFT_EL_U16,
    WEFT_EL_I16,
    WEFT_EL_U32,
    WEFT_EL_I32,
    WEFT_EL_U64,
    WEFT_EL_I64,
    WEFT_EL_F32,
    WEFT_EL_F64,
    WEFT_EL_BYTES, /* texts of `size` bytes, filled up with NUL */
    WEFT_EL_UCS4,  /* texts of size / 4 characters, too */
    WEFT_EL_TEXT   /* texts of any length */
} weft_element;
extern const char *const weft_element_name[]; /* "uint8", ..., "text" */

typedef struct weft_array {
    const char *path, *name; /* of the file; of the array in it, "": it is the only one */
    int nd;
    int64_t dims[WEFT_ARRAY_DIMS]; /* 1 from nd on */
    weft_element type;
    size_t size;             /* bytes of an element */
    const unsigned char *at; /* elements in C's order, in a mapped file; NULL: text */
    const char **text;       /* [elements] */
    void *map;               /* the mapped file, of so many bytes; NULL: none */
    size_t mapped;
} weft_array;

typedef enum weft_array_kind {
    WEFT_ARRAY_NONE, /* another file */
    WEFT_ARRAY_NPY,
    WEFT_ARRAY_NPZ,
    WEFT_ARRAY_HDF5
} weft_array_kind;
/* What the first bytes of a file say; WEFT_ARRAY_NONE also where it cannot be read. */
weft_array_kind weft_array_is(const char *path);
/* The names of the n arrays in a file, in mem; of an npy file the one name "". EFILE;
 * EDATA: it is damaged. */
WEFT_CHECKED weft_status weft_array_names(const char *path, const char ***name, int64_t *n,
                                          weft_arena *mem);
/* Opens an array. Elements that are compressed, in Fortran's order or with the high byte
 * first are first written to a file without a name beside the packed one, so that memory
 * stays small. EFILE; EDATA: there is no such array, it is cut short, has more than four
 * dimensions, or is of what is not read. */
WEFT_CHECKED weft_status weft_array_open(weft_array *array, const char *path,
                                         const char *name, weft_pack *pack);
void weft_array_close(weft_array *array);

/* "FILE" or "NAME of FILE", in mem. */
const char *weft_array_where(const weft_array *array, weft_arena *mem);
/* "60000 x 28 x 28", in mem. */
const char *weft_array_shape(const weft_array *array, weft_arena *mem);
/* Elements of a row, all but the first dimension. */
int64_t weft_array_width(const weft_array *array);
/* 1: elements are texts. */
int weft_array_texts(const weft_array *array);
/* Elements first, first + step, ... as numbers x[n]; they are no texts. */
void weft_array_numbers(const weft_array *array, int64_t first, int64_t step, int64_t n,
                        double *x);
/* Element i as a label: a text, or the shortest spelling of a number. In mem. */
const char *weft_array_text(const weft_array *array, int64_t i, weft_arena *mem);

/* ---- between the files of this reader ---- */

/* An array in bytes as a file has it. */
typedef struct weft_array_raw {
    weft_array array;  /* at: NULL */
    int64_t at;        /* place of its first element in the file */
    int fortran, swap; /* 1: the first index is the fastest; the high byte is first */
} weft_array_raw;
/* The head of an npy file, whose first n bytes are given. EDATA, naming raw->array's path
 * and name. */
WEFT_CHECKED weft_status weft_npy_head(weft_array_raw *raw, const unsigned char *byte,
                                       size_t n, weft_arena *mem);

/* A file in an archive of zip, as np.savez writes them. */
typedef struct weft_zip_entry {
    const char *name;
    int64_t at, stored, bytes; /* its first byte; bytes in the archive, and expanded */
    int deflated;
} weft_zip_entry;
/* The n files of the archive byte[size]. EDATA. */
WEFT_CHECKED weft_status weft_zip_list(const char *path, const unsigned char *byte,
                                       size_t size, weft_zip_entry **entry, int64_t *n,
                                       weft_arena *mem);
/* Writes the expanded bytes of a file to fd. EDATA: they are damaged. */
WEFT_CHECKED weft_status weft_zip_expand(const char *path, const unsigned char *byte,
                                         const weft_zip_entry *entry, int fd);

#endif
