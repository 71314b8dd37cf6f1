/* Checksums of all bytes of an HDF5 file, its own metadata included; the file driver by
 * which HDF5 reads through them; and what all calls of HDF5 share: failures of one line,
 * handles and types. The checksums follow the end of the file as HDF5 knows it, so that
 * other programs read it as usual:
 *
 *     file[bytes]  sum[nblock] u64  { bytes u64, BLOCK u64, sum u64, magic[8] }
 *
 * sum[i] is the XXH3-64 of bytes [i BLOCK, (i+1) BLOCK), the last block being shorter; the
 * sum in the tail is that of all sum[] and of the two numbers before it. A program that
 * changes the file in place removes the seal, because HDF5 then truncates the file to its
 * own length; bytes after that which are no seal are a damaged one. Each block is compared
 * when it is first read, so that ranks that read only some rows or clients compare only the
 * blocks they use, once. BLOCK bounds the cost of a small read; the sums are 1/8000 of the
 * file.
 *
 * The driver never reports a failed write to HDF5: the first error is stored for
 * weft_h5_commit and later writes are ignored, because HDF5 (1.10) crashes at the end of
 * the process if a file could not be closed. Bytes that are read are compared with their
 * checksums before HDF5 gets them. */
#include "file.h"
#include "h5.h"
#include "weft/base/random.h"
#include "weft/store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((int64_t)1 << 16)

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

/* Bytes of block b of so many. */
static size_t length_of(int64_t bytes, int64_t b)
{
    return (size_t)(bytes - b * BLOCK < BLOCK ? bytes - b * BLOCK : BLOCK);
}

static uint64_t sum_of(const struct tail *tail, const uint64_t *sum)
{
    uint64_t head = weft_hash(tail, offsetof(struct tail, sum), 0);
    return weft_hash(sum, (size_t)blocks_of(tail->bytes) * sizeof *sum, head);
}

/* Reads n bytes from `at` on. *left: how many of them the file does not have. 0, or the
 * errno. */
static int read_most(int fd, int64_t at, size_t n, char *to, size_t *left)
{
    *left = n;
    while (*left > 0) {
        ssize_t got = pread(fd, to, *left, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? errno : 0;
        to += got;
        at += got;
        *left -= (size_t)got;
    }
    return 0;
}

/* Reads exactly n bytes. 0, or the errno. */
static int read_at(int fd, int64_t at, size_t n, void *to)
{
    size_t left;
    int err = read_most(fd, at, n, to, &left);
    return err == 0 && left > 0 ? EIO : err;
}

/* ---- writing ---- */

/* The sums of the blocks of a file. 0, or the errno. */
static int compute_sums(int fd, int64_t bytes, uint64_t *sum, weft_arena *tmp)
{
    char *block = WEFT_NEW(tmp, char, BLOCK);
    for (int64_t b = 0; b < blocks_of(bytes); b++) {
        int err = read_at(fd, b * BLOCK, length_of(bytes, b), block);
        if (err != 0) return err;
        sum[b] = weft_hash(block, length_of(bytes, b), 0);
    }
    return 0;
}

static int append_seal(int fd, weft_arena *tmp)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return errno;
    struct tail tail = {.bytes = (int64_t)info.st_size, .block = BLOCK};
    memcpy(tail.magic, magic, sizeof magic);
    uint64_t *sum = WEFT_NEW(tmp, uint64_t, blocks_of(tail.bytes));
    int err = compute_sums(fd, tail.bytes, sum, tmp);
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
    WEFT_SCRATCH(tmp);
    int err = append_seal(fd, tmp);
    if (close(fd) != 0 && err == 0) err = errno;
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
static int take_seal(int fd, int64_t size, weft_seal **out, weft_arena *mem)
{
    struct tail tail;
    int64_t own = (int64_t)sizeof tail;
    struct superblock head = superblock_of(fd);
    if (head.writing) return EBUSY;
    int err = size < own ? 0 : read_at(fd, size - own, sizeof tail, &tail);
    if (err != 0) return err;
    if (size < own || memcmp(tail.magic, magic, sizeof magic) != 0)
        return size > head.end ? EBADMSG : 0;
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
    if (err == 0) err = take_seal(fd, (int64_t)info.st_size, out, mem);
    if (*out == NULL) close(fd);
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
    if (*out == NULL) return WEFT_OK;
    (*out)->path = weft_arena_text(mem, "%s", path);
    (*out)->fd = fd;
    return WEFT_OK;
}

static int compare_block(weft_seal *seal, int64_t b, const char *data)
{
    seal->sound[b] = weft_hash(data, length_of(seal->bytes, b), 0) == seal->sum[b];
    if (seal->sound[b]) return 0;
    if (seal->bad < 0) seal->bad = b;
    return EBADMSG;
}

/* Reads n bytes of the file from `at` on; what lies beyond the sealed bytes is zero. Blocks
 * that were not read before are read whole and compared. 0, or the errno, EBADMSG where a
 * block is damaged. */
static int seal_read(weft_seal *seal, int fd, int64_t at, size_t n, char *to)
{
    while (n > 0 && at < seal->bytes) {
        int64_t b = at / BLOCK, skip = at % BLOCK;
        size_t length = length_of(seal->bytes, b), some = length - (size_t)skip;
        if (some > n) some = n;
        int compared = seal->sound[b], straight = compared || some == length;
        int err = straight ? read_at(fd, at, some, to)
                           : read_at(fd, b * BLOCK, length, seal->block);
        if (err == 0 && !compared)
            err = compare_block(seal, b, straight ? to : seal->block);
        if (err != 0) return err;
        if (!straight) memcpy(to, seal->block + skip, some);
        at += (int64_t)some;
        to += some;
        n -= some;
    }
    if (n > 0) memset(to, 0, n);
    return 0;
}

int weft_seal_check(weft_seal *seal, const char *file, int64_t at, int64_t n)
{
    for (int64_t b = at / BLOCK; b * BLOCK < at + n; b++)
        if (!seal->sound[b] && compare_block(seal, b, file + b * BLOCK) != 0) return 0;
    return 1;
}

int weft_seal_verify(weft_seal *seal, int fd)
{
    for (int64_t b = 0; b < seal->nblock; b++) {
        char byte;
        int err = seal->sound[b] ? 0 : seal_read(seal, fd, b * BLOCK, 1, &byte);
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
                     (long long)(seal->bad * BLOCK) +
                         (long long)length_of(seal->bytes, seal->bad) - 1);
}

/* ---- the driver ---- */

/* An open file; begins as HDF5 wants it. */
struct handle {
    H5FD_t head;
    int fd;
    weft_h5io *io;    /* of the weft_h5 */
    haddr_t eoa, eof; /* ends of the space that HDF5 has allocated, and of what was
                         written */
};

static void keep_error(struct handle *handle, int failed)
{
    if (failed && handle->io->error == 0) handle->io->error = errno;
}

/* Bytes that HDF5 sees: the file without its checksums. */
static haddr_t sealed_length(const struct handle *handle)
{
    struct stat info;
    if (handle->io->seal != NULL) return (haddr_t)handle->io->seal->bytes;
    return fstat(handle->fd, &info) == 0 ? (haddr_t)info.st_size : 0;
}

/* 1 if both are open on one file, whose number no other has as long as they are. */
static int is_one_file(int fd, int other)
{
    struct stat info, more;
    return fstat(fd, &info) == 0 && fstat(other, &more) == 0 &&
           info.st_dev == more.st_dev && info.st_ino == more.st_ino;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t list, haddr_t limit)
{
    (void)limit;
    weft_h5io *const *io = H5Pget_driver_info(list);
    int writes = (flags & H5F_ACC_RDWR) != 0;
    int fd = open(name, writes ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY, 0666);
    if (fd < 0) {
        (*io)->error = errno;
        return NULL;
    }
    (*io)->fd = fd;
    (*io)->replaced = (*io)->seal != NULL && !is_one_file((*io)->seal->fd, fd);
    struct handle *handle = calloc(1, sizeof *handle);
    weft_check(handle != NULL, "out of memory");
    handle->fd = fd;
    handle->io = *io;
    handle->eof = sealed_length(handle);
    return &handle->head;
}

static herr_t driver_close(H5FD_t *file)
{
    struct handle *handle = (struct handle *)file;
    keep_error(handle, close(handle->fd) != 0);
    free(handle);
    return 0;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct handle *)file)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((struct handle *)file)->eoa = end;
    return 0;
}

static haddr_t driver_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct handle *)file)->eof;
}

/* Reads bytes; those beyond the end of the file are zero. 0, or the errno. */
static int read_plain(const struct handle *handle, off_t at, size_t n, char *to)
{
    size_t left;
    int err = read_most(handle->fd, at, n, to, &left);
    if (err == 0) memset(to + (n - left), 0, left);
    return err;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at, size_t n,
                          void *to)
{
    (void)list;
    const struct handle *handle = (const struct handle *)file;
    if (type == H5FD_MEM_DRAW) {
        handle->io->raw_at = (int64_t)at;
        handle->io->raw = n;
    }
    errno = handle->io->seal != NULL
                ? seal_read(handle->io->seal, handle->fd, (int64_t)at, n, to)
                : read_plain(handle, (off_t)at, n, to);
    keep_error((struct handle *)file, errno != 0);
    return errno != 0 ? -1 : 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at, size_t n,
                           const void *from)
{
    (void)type;
    (void)list;
    struct handle *handle = (struct handle *)file;
    for (const char *byte = from; n > 0 && handle->io->error == 0;) {
        ssize_t put = pwrite(handle->fd, byte, n, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        keep_error(handle, put < 0);
        if (put < 0) break;
        byte += put;
        at += (haddr_t)put;
        n -= (size_t)put;
    }
    if (at + n > handle->eof) handle->eof = at + n;
    return 0;
}

static herr_t driver_truncate(H5FD_t *file, hid_t list, hbool_t closing)
{
    (void)list;
    (void)closing;
    struct handle *handle = (struct handle *)file;
    if (handle->io->error == 0)
        keep_error(handle, ftruncate(handle->fd, (off_t)handle->eoa) != 0);
    handle->eof = handle->eoa;
    return 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, /* a number of those left to applications */
#endif
    .name = "weft",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(weft_h5io *),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* Registered once and for good: HDF5 uses a driver after it has let go of its last file. */
static hid_t registered = -1;

void weft_h5_driver(hid_t list, weft_h5io *io)
{
    if (registered < 0) registered = H5FDregister(&driver);
    weft_check(registered >= 0 && H5Pset_driver(list, registered, &io) >= 0,
               "HDF5 takes no driver");
}

/* ---- failures, handles and types ---- */

static herr_t keep_first(unsigned depth, const H5E_error2_t *error, void *text)
{
    if (depth == 0) snprintf(text, 512, "%s", error->desc != NULL ? error->desc : "");
    return 0;
}

weft_status weft_h5_fail(const weft_h5 *file, const char *what, const char *name)
{
    char text[512] = "";
    const char *remedy = "make the file again";
    int err = file->io->error;
    if (file->io->seal != NULL && file->io->seal->bad >= 0)
        return weft_seal_fail(file->io->seal);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
    if (err != 0) remedy = weft_file_remedy(err);
    return weft_fail(WEFT_EFILE, "cannot %s %s%s%s: %s; %s", what, name,
                     *name ? " of " : "", file->path, err != 0 ? strerror(err) : text,
                     remedy);
}

herr_t weft_h5_drop(hid_t handle)
{
    return handle >= 0 && H5Idec_ref(handle) < 0 ? -1 : 0;
}

size_t weft_h5_size(weft_h5type type)
{
    static const size_t size[] = {[WEFT_H5_U8] = 1,  [WEFT_H5_I32] = 4,
                                  [WEFT_H5_U32] = 4, [WEFT_H5_I64] = 8,
                                  [WEFT_H5_U64] = 8, [WEFT_H5_F32] = 4,
                                  [WEFT_H5_F64] = 8, [WEFT_H5_TEXT] = sizeof(char *)};
    return size[type];
}

hid_t weft_h5_type(weft_h5type type)
{
    static hid_t text = -1; /* made once and for good */
    if (text < 0) {
        text = H5Tcopy(H5T_C_S1);
        weft_check(text >= 0 && H5Tset_size(text, H5T_VARIABLE) >= 0 &&
                       H5Tset_cset(text, H5T_CSET_UTF8) >= 0,
                   "HDF5 has no text type");
    }
    switch (type) {
    case WEFT_H5_U8: return H5T_NATIVE_UINT8;
    case WEFT_H5_I32: return H5T_NATIVE_INT32;
    case WEFT_H5_U32: return H5T_NATIVE_UINT32;
    case WEFT_H5_I64: return H5T_NATIVE_INT64;
    case WEFT_H5_U64: return H5T_NATIVE_UINT64;
    case WEFT_H5_F32: return H5T_NATIVE_FLOAT;
    case WEFT_H5_F64: return H5T_NATIVE_DOUBLE;
    case WEFT_H5_TEXT: return text;
    default: weft_die("no HDF5 type %d", (int)type);
    }
}
