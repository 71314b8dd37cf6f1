/* A layer of rows of equal length, in a file behind a head that says their shape, or in
 * memory. Where a row is, is known by its user. */
#include "layer.h"
#include "weft/base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'W', 'E', 'F', 'T', 'K', 'E', 'P', '1'};

/* The first bytes of a file. */
typedef struct file_head {
    char magic[8];
    int64_t real_bytes, n, each;
    uint64_t hash; /* of these */
} file_head;

static uint64_t hash_of(const file_head *head)
{
    return weft_hash(head, offsetof(file_head, hash), 0);
}

kept_shape kept_shape_of(int64_t n, int64_t each)
{
    size_t bytes = sizeof(kept_head) + (size_t)each * sizeof(real);
    return (kept_shape){n, each, (bytes + 7) / 8 * 8};
}

uint64_t kept_hash(const kept_shape *shape, int64_t client, const real *x)
{
    return weft_hash(x, (size_t)shape->each * sizeof *x, (uint64_t)client + 1);
}

weft_status kept_damaged(const char *path)
{
    return weft_fail(WEFT_EFILE, "%s, which has what clients keep, is damaged", path);
}

static weft_status fail_read(const char *path, int err)
{
    return weft_fail(WEFT_EFILE, "cannot read %s, which has what clients keep: %s", path,
                     strerror(err));
}

static weft_status fail_write(const char *path, int err)
{
    return weft_fail(WEFT_EFILE,
                     "cannot write %s: %s; free space there, then `weft resume` goes on",
                     path, strerror(err));
}

/* ---- files ---- */

static int read_at(int fd, void *data, size_t bytes, off_t at)
{
    char *to = data;
    while (bytes > 0) {
        ssize_t n = pread(fd, to, bytes, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        to += n;
        at += n;
        bytes -= (size_t)n;
    }
    return 0;
}

static int write_at(int fd, const void *data, size_t bytes, off_t at)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t n = pwrite(fd, from, bytes, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        from += n;
        at += n;
        bytes -= (size_t)n;
    }
    return 0;
}

static off_t place_of(const kept_shape *shape, int64_t row)
{
    return (off_t)sizeof(file_head) + (off_t)row * (off_t)shape->bytes;
}

static file_head head_of(const kept_shape *shape)
{
    file_head head = {
        .real_bytes = (int64_t)sizeof(real), .n = shape->n, .each = shape->each};
    memcpy(head.magic, magic, sizeof magic);
    head.hash = hash_of(&head);
    return head;
}

weft_status kept_layer_open(kept_layer *layer, const kept_shape *shape, int makes)
{
    file_head own = head_of(shape), head;
    struct stat info;
    int flags = makes ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY;
    layer->fd = open(layer->path, flags | O_CLOEXEC, 0666);
    if (layer->fd < 0)
        return makes ? fail_write(layer->path, errno) : fail_read(layer->path, errno);
    if (makes) {
        int err = write_at(layer->fd, &own, sizeof own, 0);
        return err == 0 ? WEFT_OK : fail_write(layer->path, err);
    }
    if (fstat(layer->fd, &info) != 0 || info.st_size < (off_t)sizeof head ||
        read_at(layer->fd, &head, sizeof head, 0) != 0 ||
        memcmp(&head, &own, sizeof head) != 0)
        return kept_damaged(layer->path);
    layer->rows = (int64_t)(((size_t)info.st_size - sizeof head) / shape->bytes);
    return WEFT_OK;
}

weft_status kept_layer_need(kept_layer *layer, int writes)
{
    if (!layer->path || layer->fd >= 0) return WEFT_OK;
    layer->fd = open(layer->path, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    return layer->fd >= 0 ? WEFT_OK : fail_read(layer->path, errno);
}

void kept_layer_close(kept_layer *layer)
{
    if (layer->fd >= 0) close(layer->fd);
    layer->fd = -1;
}

/* ---- rows ---- */

weft_status kept_layer_read(const kept_layer *layer, const kept_shape *shape, int64_t row,
                            void *data, size_t bytes)
{
    if (!layer->path) {
        memcpy(data, layer->memory + (size_t)row * shape->bytes, bytes);
        return WEFT_OK;
    }
    int err = read_at(layer->fd, data, bytes, place_of(shape, row));
    return err == 0 ? WEFT_OK : fail_read(layer->path, err);
}

weft_status kept_layer_write(kept_layer *layer, const kept_shape *shape, int64_t row,
                             const void *data, size_t bytes, weft_arena *mem)
{
    if (!layer->path) {
        int64_t last = row + (int64_t)((bytes - 1) / shape->bytes);
        layer->memory = weft_regrow(mem, layer->memory, shape->bytes, last, &layer->room);
        memcpy(layer->memory + (size_t)row * shape->bytes, data, bytes);
        return WEFT_OK;
    }
    int err = write_at(layer->fd, data, bytes, place_of(shape, row));
    return err == 0 ? WEFT_OK : fail_write(layer->path, err);
}

weft_status kept_row_damaged(const kept_layer *layer, const kept_shape *shape, int64_t row,
                             int spoils)
{
    const kept_head none = {0};
    int fd = spoils ? open(layer->path, O_WRONLY | O_CLOEXEC) : -1;
    int spoilt = fd >= 0 && write_at(fd, &none, sizeof none, place_of(shape, row)) == 0;
    if (fd >= 0) close(fd);
    return weft_fail(WEFT_EFILE,
                     "%s, which has what clients keep, is damaged%s: `weft resume` does "
                     "again what led to it",
                     layer->path, spoilt ? "" : "; remove it");
}

enum { BLOCK = 1 << 18 };

weft_status kept_layer_scan(const kept_layer *layer, const kept_shape *shape, kept_see *see,
                            void *of)
{
    WEFT_SCRATCH(tmp);
    int64_t some = BLOCK / (int64_t)shape->bytes; /* rows read at once; 0: a head */
    char *block = WEFT_NEW(tmp, char, some > 0 ? BLOCK : sizeof(kept_head));
    weft_status st = WEFT_OK;
    int64_t each = some > 0 ? some : 1;
    for (int64_t row = 0; row < layer->rows && st == WEFT_OK; row += each) {
        int64_t n = layer->rows - row < each ? layer->rows - row : each;
        size_t bytes = some > 0 ? (size_t)n * shape->bytes : sizeof(kept_head);
        st = kept_layer_read(layer, shape, row, block, bytes);
        for (int64_t i = 0; i < n && st == WEFT_OK; i++) {
            kept_head head;
            memcpy(&head, block + (size_t)i * shape->bytes, sizeof head);
            st = see(of, row + i, &head);
        }
    }
    return st;
}
