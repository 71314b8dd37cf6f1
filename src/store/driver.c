/* HDF5's file driver of weft. It never reports a failed write to HDF5: the first error is
 * stored for weft_h5_commit and later writes are ignored, because HDF5 (1.10) crashes at
 * the end of the process if a file could not be closed. Bytes that are read are compared
 * with their checksums before HDF5 gets them. */
#include "h5.h"
#include "seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An open file; begins as HDF5 wants it. */
struct handle {
    H5FD_t head;
    int fd;
    weft_h5io io;     /* members are owned by the weft_h5 */
    haddr_t eoa, eof; /* ends of the space that HDF5 has allocated, and of what was
                         written */
};

static void keep(struct handle *handle, int failed)
{
    if (failed && *handle->io.error == 0) *handle->io.error = errno;
}

/* Bytes that HDF5 sees: the file without its checksums. */
static haddr_t length(const struct handle *handle)
{
    struct stat info;
    if (handle->io.seal != NULL) return (haddr_t)handle->io.seal->bytes;
    return fstat(handle->fd, &info) == 0 ? (haddr_t)info.st_size : 0;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t list, haddr_t limit)
{
    (void)limit;
    const weft_h5io *const *io = H5Pget_driver_info(list);
    int writes = (flags & H5F_ACC_RDWR) != 0;
    int fd = open(name, writes ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY, 0666);
    if (fd < 0) {
        *(*io)->error = errno;
        return NULL;
    }
    struct handle *handle = calloc(1, sizeof *handle);
    weft_check(handle != NULL, "out of memory");
    handle->fd = fd;
    handle->io = **io;
    handle->eof = length(handle);
    return &handle->head;
}

static herr_t driver_close(H5FD_t *file)
{
    struct handle *handle = (struct handle *)file;
    keep(handle, close(handle->fd) != 0);
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
    while (n > 0) {
        ssize_t got = pread(handle->fd, to, n, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) {
            memset(to, 0, n);
            return 0;
        }
        to += got;
        at += got;
        n -= (size_t)got;
    }
    return 0;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at, size_t n,
                          void *to)
{
    (void)list;
    const struct handle *handle = (const struct handle *)file;
    if (type == H5FD_MEM_DRAW) *handle->io.raw = (weft_h5raw){(int64_t)at, n};
    errno = handle->io.seal != NULL
                ? weft_seal_read(handle->io.seal, handle->fd, (int64_t)at, n, to)
                : read_plain(handle, (off_t)at, n, to);
    keep((struct handle *)file, errno != 0);
    return errno != 0 ? -1 : 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at, size_t n,
                           const void *from)
{
    (void)type;
    (void)list;
    struct handle *handle = (struct handle *)file;
    for (const char *byte = from; n > 0 && *handle->io.error == 0;) {
        ssize_t put = pwrite(handle->fd, byte, n, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        keep(handle, put < 0);
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
    if (*handle->io.error == 0)
        keep(handle, ftruncate(handle->fd, (off_t)handle->eoa) != 0);
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

void weft_h5_driver(hid_t list, const weft_h5io *io)
{
    if (registered < 0) registered = H5FDregister(&driver);
    weft_check(registered >= 0 && H5Pset_driver(list, registered, &io) >= 0,
               "HDF5 takes no driver");
}
