/* What the HDF5 sources of store share. Private to store. */
#ifndef WEFT_STORE_H5_H
#define WEFT_STORE_H5_H

#include <hdf5.h>

#include "weft/store/h5.h"

_Static_assert(sizeof(hid_t) == sizeof(int64_t), "handles of HDF5 fit their place");

/* EFILE "cannot <what> <name> of PATH: <reason>; <remedy>" from HDF5's error stack, so to
 * be called before any further HDF5 call. `name` "" speaks of the file itself. */
WEFT_CHECKED weft_status weft_h5_fail(const weft_h5 *file, const char *what,
                                      const char *name);

/* EFILE: the dataset has no such rows. */
WEFT_CHECKED weft_status weft_h5_no_rows(const weft_h5set *set, int64_t first,
                                         int64_t count);
/* EFILE if a page of the mapped file could not be read. */
WEFT_CHECKED weft_status weft_h5_view_sound(const weft_h5 *file);
void weft_h5_unmap(weft_h5 *file);

/* Closes any HDF5 handle; a negative one is none. Negative where closing failed. */
herr_t weft_h5_drop(hid_t handle);

typedef struct weft_seal weft_seal;

/* What the driver of seal.c is told of a file, and tells. */
typedef struct weft_h5io {
    int error;       /* first errno of reading or writing, 0 */
    weft_seal *seal; /* of a file that is read; NULL: it is written, or has none */
    int fd;          /* of the open file; its name may have become that of another one */
    int replaced;    /* 1: it had, when the seal was read already */
    int64_t raw_at;  /* the bytes that HDF5 last read of a dataset: */
    size_t raw;      /* so many from there on */
} weft_h5io;
/* Lets a file opened with the access list be written and read by that driver. *io must be
 * there until the file is closed. */
void weft_h5_driver(hid_t list, weft_h5io *io);

/* A type in memory, which stays; texts are of variable length, UTF-8. */
hid_t weft_h5_type(weft_h5type type);

/* Writes a new text attribute of an open object. */
WEFT_CHECKED weft_status weft_h5_text_attr(const weft_h5 *file, hid_t object,
                                           const char *key, const char *text);

/* ---- checksums of the bytes of a file ---- */

/* The checksums of a file that is open for reading. */
struct weft_seal {
    const char *path;
    int fd;                /* of the file that has it, until that is open */
    int64_t bytes, nblock; /* that are sealed: the HDF5 file; blocks of them */
    uint64_t *sum;         /* [nblock] */
    uint8_t *sound;        /* [nblock] 1: was read and found right */
    int64_t bad;           /* the first block that was found wrong; -1: none */
    char *block;           /* one block, for reading less than it */
};

/* Appends its seal to a file that is whole. 0, or the errno. Cost: reads it once. */
int weft_seal_append(const char *path);
/* Reads the seal of a file; *out NULL where it has none. EFILE: the seal is damaged. Owned
 * by mem, but for its fd, which the caller closes. */
WEFT_CHECKED weft_status weft_seal_open(const char *path, weft_seal **out, weft_arena *mem);
/* Compares the blocks of bytes [at, at + n), which must be sealed, of the file, which is in
 * memory, if they were not before. 0: a block is damaged. */
int weft_seal_check(weft_seal *seal, const char *file, int64_t at, int64_t n);
/* Compares all blocks that were not read yet. 0, or the errno. */
int weft_seal_verify(weft_seal *seal, int fd);
/* EFILE: "PATH is damaged ...", of the block found wrong. */
WEFT_CHECKED weft_status weft_seal_fail(const weft_seal *seal);

#endif
