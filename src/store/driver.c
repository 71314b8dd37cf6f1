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
typedef struct handle {
    H5FD_t head;
    int fd;
    weft_h5io io;     /* members are owned by the weft_h5 */
    haddr_t eoa, eof; /* ends of the space that HDF5 has allocated, and of what was
                         written */
} handle;

static void keep(handle *h, int failed)
{
    if (failed && *h->io.error == 0) *h->io.error = errno;
}

/* Bytes that HDF5 sees: the file without its checksums. */
static haddr_t length(const handle *h)
{
    struct stat info;
    if (h->io.seal != NULL) return (haddr_t)h->io.seal->bytes;
    return fstat(h->fd, &info) == 0 ? (haddr_t)info.st_size : 0;
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
    handle *h = calloc(1, sizeof *h);
    weft_check(h != NULL, "out of memory");
    h->fd = fd;
    h->io = **io;
    h->eof = length(h);
    return &h->head;
}

static herr_t driver_close(H5FD_t *f)
{
    handle *h = (handle *)f;
    keep(h, close(h->fd) != 0);
    free(h);
    return 0;
}

static herr_t driver_query(const H5FD_t *f, unsigned long *flags)
{
    (void)f;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_eoa(const H5FD_t *f, H5FD_mem_t type)
{
    (void)type;
    return ((const handle *)f)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *f, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((handle *)f)->eoa = end;
    return 0;
}

static haddr_t driver_eof(const H5FD_t *f, H5FD_mem_t type)
{
    (void)type;
    return ((const handle *)f)->eof;
}

/* Reads bytes; those beyond the end of the file are zero. 0, or the errno. */
static int read_plain(const handle *h, off_t at, size_t n, char *to)
{
    while (n > 0) {
        ssize_t got = pread(h->fd, to, n, at);
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

static herr_t driver_read(H5FD_t *f, H5FD_mem_t type, hid_t list, haddr_t at, size_t n,
                          void *to)
{
    (void)list;
    const handle *h = (const handle *)f;
    if (type == H5FD_MEM_DRAW) *h->io.raw = (weft_h5raw){(int64_t)at, n};
    errno = h->io.seal != NULL ? weft_seal_read(h->io.seal, h->fd, (int64_t)at, n, to)
                               : read_plain(h, (off_t)at, n, to);
    keep((handle *)f, errno != 0);
    return errno != 0 ? -1 : 0;
}

static herr_t driver_write(H5FD_t *f, H5FD_mem_t type, hid_t list, haddr_t at, size_t n,
                           const void *from)
{
    (void)type;
    (void)list;
    handle *h = (handle *)f;
    for (const char *byte = from; n > 0 && *h->io.error == 0;) {
        ssize_t put = pwrite(h->fd, byte, n, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        keep(h, put < 0);
        if (put < 0) break;
        byte += put;
        at += (haddr_t)put;
        n -= (size_t)put;
    }
    if (at + n > h->eof) h->eof = at + n;
    return 0;
}

static herr_t driver_truncate(H5FD_t *f, hid_t list, hbool_t closing)
{
    (void)list;
    (void)closing;
    handle *h = (handle *)f;
    if (*h->io.error == 0) keep(h, ftruncate(h->fd, (off_t)h->eoa) != 0);
    h->eof = h->eoa;
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
