/* Checksums of the bytes of an HDF5 file. Private to store. */
#ifndef WEFT_STORE_SEAL_H
#define WEFT_STORE_SEAL_H

#include "weft/h5.h"

/* The checksums of a file that is open for reading. */
struct weft_seal {
    const char *path;
    int64_t bytes, nblock; /* that are sealed: the HDF5 file; blocks of them */
    uint64_t *sum;         /* [nblock] */
    uint8_t *sound;        /* [nblock] 1: was read and found right */
    int64_t bad;           /* the first block that was found wrong; -1: none */
    char *block;           /* one block, for reading less than it */
};

/* Appends its seal to a file that is whole. 0, or the errno. Cost: reads it once. */
int weft_seal_append(const char *path);
/* Reads the seal of a file; *out NULL where it has none. EFILE: the seal is damaged. Owned
 * by mem. */
WEFT_CHECKED weft_status weft_seal_open(const char *path, weft_seal **out, weft_arena *mem);
/* Reads n bytes of the file from `at` on; what lies beyond the sealed bytes is zero. Blocks
 * that were not read before are read whole and compared. 0, or the errno, EBADMSG where a
 * block is damaged. */
int weft_seal_read(weft_seal *seal, int fd, int64_t at, size_t n, char *to);
/* Compares the blocks of bytes [at, at + n), which must be sealed, of the file, which is in
 * memory, if they were not before. 0: a block is damaged. */
int weft_seal_check(weft_seal *seal, const char *file, int64_t at, int64_t n);
/* Compares all blocks that were not read yet. 0, or the errno. */
int weft_seal_verify(weft_seal *seal, int fd);
/* EFILE: "PATH is damaged ...", of the block found wrong. */
WEFT_CHECKED weft_status weft_seal_fail(const weft_seal *seal);

#endif
