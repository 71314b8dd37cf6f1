/* Checksums of all bytes of an HDF5 file, its own metadata included. They follow the end of
 * the file as HDF5 knows it, so that other programs read it as usual:
 *
 *     file[bytes]  sum[nblock] u64  { bytes u64, BLOCK u64, sum u64, magic[8] }
 *
 * sum[i] is the XXH3-64 of bytes [i BLOCK, (i+1) BLOCK), the last block being shorter; the
 * sum in the tail is that of all sum[] and of the two numbers before it. A program that
 * changes the file in place removes the seal, because HDF5 then truncates the file to its
 * own length; bytes after that which are no seal are a damaged one. Each block is compared
 * when it is first read, so that ranks that read only some rows or clients compare only the
 * blocks they use, once. BLOCK bounds the cost of a small read; the sums are 1/8000 of the
 * file. */
#include "seal.h"
#include "file.h"
#include "weft/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((int64_t)1 << 16)
#define PIECE (16 * BLOCK) /* of a long read: compared while it is in the cache */

static const char magic[8] = {'W', 'E', 'F', 'T', 'S', 'U', 'M', '1'};

struct tail {
    int64_t bytes, block;
    uint64_t sum;
    char magic[8];
};

static int64_t blocks_of(int64_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK;
}

static uint64_t sum_of(const struct tail *tail, const uint64_t *sum)
{
    uint64_t head = weft_hash(tail, offsetof(struct tail, sum), 0);
    return weft_hash(sum, (size_t)blocks_of(tail->bytes) * sizeof *sum, head);
}

/* Reads exactly n bytes. 0, or the errno. */
static int read_at(int fd, int64_t at, size_t n, void *to)
{
    for (char *byte = to; n > 0;) {
        ssize_t got = pread(fd, byte, n, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? errno : EIO;
        byte += got;
        at += got;
        n -= (size_t)got;
    }
    return 0;
}

/* ---- writing ---- */

/* The sums of the blocks of a file. 0, or the errno. */
static int compute(int fd, int64_t bytes, uint64_t *sum, weft_arena *tmp)
{
    char *piece = WEFT_NEW(tmp, char, PIECE);
    for (int64_t at = 0; at < bytes; at += PIECE) {
        int64_t n = bytes - at < PIECE ? bytes - at : PIECE;
        int err = read_at(fd, at, (size_t)n, piece);
        if (err != 0) return err;
        for (int64_t in = 0; in < n; in += BLOCK)
            sum[(at + in) / BLOCK] =
                weft_hash(piece + in, (size_t)(n - in < BLOCK ? n - in : BLOCK), 0);
    }
    return 0;
}

static int append(int fd, weft_arena *tmp)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return errno;
    struct tail tail = {.bytes = (int64_t)info.st_size, .block = BLOCK};
    memcpy(tail.magic, magic, sizeof magic);
    uint64_t *sum = WEFT_NEW(tmp, uint64_t, blocks_of(tail.bytes));
    int err = compute(fd, tail.bytes, sum, tmp);
    tail.sum = sum_of(&tail, sum);
    if (err == 0 && lseek(fd, 0, SEEK_END) < 0) err = errno;
    if (err == 0)
        err = weft_file_write(fd, sum, (size_t)blocks_of(tail.bytes) * sizeof *sum);
    return err != 0 ? err : weft_file_write(fd, &tail, sizeof tail);
}

int weft_seal_append(const char *path)
{
    int fd = open(path, O_RDWR);
    if (fd < 0) return errno;
    weft_arena *tmp = weft_arena_new();
    int err = append(fd, tmp);
    if (close(fd) != 0 && err == 0) err = errno;
    weft_arena_free(tmp);
    return err;
}

/* ---- reading ---- */

/* What HDF5 notes in the superblock at the beginning of a file. */
struct superblock {
    int64_t end; /* the length of the file; 0 where no file is as long, which HDF5 does not
                    see; INT64_MAX where there is no superblock of a known version */
    int writing; /* 1: the file is open for writing, or was when its program ended */
};

static struct superblock superblock_of(int fd)
{
    static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    static const int place[] = {40, 44, 28, 28},
                     flags[] = {20, 20, 11, 11}; /* by version */
    uint8_t head[64];
    uint64_t end = 0;
    if (read_at(fd, 0, sizeof head, head) != 0) return (struct superblock){INT64_MAX, 0};
    int version = head[8], wide = version < 2 ? head[13] : head[9];
    if (memcmp(head, signature, sizeof signature) != 0 || version > 3 || wide != sizeof end)
        return (struct superblock){INT64_MAX, 0};
    for (int i = 0; i < wide; i++) end |= (uint64_t)head[place[version] + i] << (8 * i);
    return (struct superblock){end <= INT64_MAX ? (int64_t)end : 0,
                               head[flags[version]] & 1};
}

/* Reads the seal at the end of a file of `size` bytes. 0, or the errno: EBADMSG if it is
 * damaged, EBUSY if a program writes to the file, which may then have any bytes. */
static int take(int fd, int64_t size, weft_seal **out, weft_arena *mem)
{
    struct tail tail;
    int64_t own = (int64_t)sizeof tail;
    if (superblock_of(fd).writing) return EBUSY;
    int err = size < own ? 0 : read_at(fd, size - own, sizeof tail, &tail);
    if (err != 0) return err;
    if (size < own || memcmp(tail.magic, magic, sizeof magic) != 0)
        return size > superblock_of(fd).end ? EBADMSG : 0;
    if (tail.block != BLOCK || tail.bytes < 0 || tail.bytes > size ||
        size - own - tail.bytes != blocks_of(tail.bytes) * (int64_t)sizeof(uint64_t))
        return EBADMSG;
    weft_seal *seal = WEFT_NEW(mem, weft_seal, 1);
    *seal = (weft_seal){.bytes = tail.bytes, .nblock = blocks_of(tail.bytes), .bad = -1};
    seal->sum = WEFT_NEW(mem, uint64_t, seal->nblock);
    seal->sound = WEFT_NEW(mem, uint8_t, seal->nblock);
    seal->block = WEFT_NEW(mem, char, BLOCK);
    err = read_at(fd, seal->bytes, (size_t)seal->nblock * sizeof *seal->sum, seal->sum);
    if (err == 0 && sum_of(&tail, seal->sum) != tail.sum) err = EBADMSG;
    if (err == 0) *out = seal;
    return err;
}

weft_status weft_seal_open(const char *path, weft_seal **out, weft_arena *mem)
{
    *out = NULL;
    int fd = open(path, O_RDONLY);
    if (fd < 0) return weft_file_fail("open", path, errno);
    struct stat info;
    int err = fstat(fd, &info) != 0 ? errno : 0;
    if (err == 0) err = take(fd, (int64_t)info.st_size, out, mem);
    close(fd);
    if (err == EBUSY)
        return weft_fail(
            WEFT_EFILE,
            "%s is open for writing in another program, or was when that ended "
            "(HDF5 marks such files); close it there, and make the file again, "
            "or copy it again from where it is whole; for programs that need no "
            "checksums `h5clear -s %s` removes the mark",
            path, path);
    if (err == EBADMSG)
        return weft_fail(WEFT_EFILE,
                         "%s is damaged: the checksums at its end contradict themselves; "
                         "make the file again, or copy it again from where it is whole",
                         path);
    if (err != 0) return weft_file_fail("read", path, err);
    if (*out != NULL) (*out)->path = weft_arena_text(mem, "%s", path);
    return WEFT_OK;
}

static int64_t length_of(const weft_seal *seal, int64_t b)
{
    return seal->bytes - b * BLOCK < BLOCK ? seal->bytes - b * BLOCK : BLOCK;
}

static int compare(weft_seal *seal, int64_t b, const char *data)
{
    seal->sound[b] = weft_hash(data, (size_t)length_of(seal, b), 0) == seal->sum[b];
    if (seal->sound[b]) return 0;
    if (seal->bad < 0) seal->bad = b;
    return EBADMSG;
}

/* Reads bytes of one block that was not compared yet. */
static int read_part(weft_seal *seal, int fd, int64_t at, size_t n, char *to)
{
    int64_t b = at / BLOCK;
    int err = read_at(fd, b * BLOCK, (size_t)length_of(seal, b), seal->block);
    if (err == 0) err = compare(seal, b, seal->block);
    if (err == 0) memcpy(to, seal->block + at % BLOCK, n);
    return err;
}

/* How many bytes from `at` on, at most n, may be read directly into the caller's memory:
 * those of blocks that were compared before, or that are read whole. */
static int64_t straight(const weft_seal *seal, int64_t at, int64_t n)
{
    int64_t end = at;
    while (end < at + n && end - at < PIECE) {
        int64_t b = end / BLOCK, start = b * BLOCK, stop = start + length_of(seal, b);
        int whole = start >= at && stop <= at + n;
        if (!seal->sound[b] && !whole) break;
        end = stop < at + n ? stop : at + n;
    }
    return end - at;
}

int weft_seal_read(weft_seal *seal, int fd, int64_t at, size_t n, char *to)
{
    while (n > 0 && at < seal->bytes) {
        int64_t rest = (int64_t)n < seal->bytes - at ? (int64_t)n : seal->bytes - at;
        int64_t some = straight(seal, at, rest);
        int err;
        if (some > 0) {
            err = read_at(fd, at, (size_t)some, to);
            for (int64_t b = at / BLOCK; b * BLOCK < at + some && err == 0; b++)
                if (!seal->sound[b]) err = compare(seal, b, to + (b * BLOCK - at));
        } else {
            some = BLOCK - at % BLOCK < rest ? BLOCK - at % BLOCK : rest;
            err = read_part(seal, fd, at, (size_t)some, to);
        }
        if (err != 0) return err;
        at += some;
        to += some;
        n -= (size_t)some;
    }
    if (n > 0) memset(to, 0, n);
    return 0;
}

int weft_seal_check(weft_seal *seal, const char *file, int64_t at, int64_t n)
{
    for (int64_t b = at / BLOCK; b * BLOCK < at + n; b++)
        if (!seal->sound[b] && compare(seal, b, file + b * BLOCK) != 0) return 0;
    return 1;
}

int weft_seal_verify(weft_seal *seal, int fd)
{
    for (int64_t b = 0; b < seal->nblock; b++) {
        char byte;
        int err = seal->sound[b] ? 0 : weft_seal_read(seal, fd, b * BLOCK, 1, &byte);
        if (err != 0) return err;
    }
    return 0;
}

weft_status weft_seal_fail(const weft_seal *seal)
{
    return weft_fail(WEFT_EFILE,
                     "%s is damaged: bytes %lld to %lld are not those that were written "
                     "(checksum); make the file again, or copy it again from where it is "
                     "whole",
                     seal->path, (long long)(seal->bad * BLOCK),
                     (long long)(seal->bad * BLOCK + length_of(seal, seal->bad) - 1));
}
