/* The journal: an append-only file of framed records that survives being killed at any
 * moment.
 *
 *     magic[8]  { tag u32, bytes u32, XXH32 of tag, bytes and payload u32, payload }*
 *
 * in the byte order of the machine. A record is one write(2); what follows the last whole
 * record is cut at open. A lock keeps two processes from continuing the same run. */
#include "file.h"

#include <xxhash.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYNC_SECONDS 1.0

static const char magic[8] = {'W', 'E', 'F', 'T', 'J', 'R', 'N', '1'};

typedef struct frame {
    uint32_t tag, bytes, sum;
} frame;

static uint32_t frame_sum(const frame *f, const void *data)
{
    uint32_t head = XXH32(f, offsetof(frame, sum), 0);
    return XXH32(data, f->bytes, head);
}

/* Appends all bytes; a write that ends early is taken back, so that no torn record is
 * followed by a whole one. 0, or the errno. */
static int append(int fd, const void *data, size_t bytes)
{
    off_t start = lseek(fd, 0, SEEK_END);
    if (start < 0) return errno;
    ssize_t n;
    do {
        n = write(fd, data, bytes);
    } while (n < 0 && errno == EINTR);
    if (n == (ssize_t)bytes) return 0;
    int err = n < 0 ? errno : ENOSPC;
    return ftruncate(fd, start) != 0 && n > 0 ? errno : err;
}

static weft_status lock(weft_journal *j)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(j->fd, F_SETLK, &whole) == 0) return WEFT_OK;
    /* Elsewhere than EACCES and EAGAIN the file system has no locks: go on without. */
    if (errno != EACCES && errno != EAGAIN) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "%s is in use by another process; wait for it or end it",
                     j->path);
}

static weft_status begin(weft_journal *j)
{
    int err = append(j->fd, magic, sizeof magic);
    if (err == 0 && fsync(j->fd) != 0) err = errno;
    if (err == 0) err = weft_file_sync_dir(j->path);
    return err == 0 ? WEFT_OK : weft_file_fail("write", j->path, err);
}

/* Counts the whole records of text[size], copies them to rec where it is not NULL; *end is
 * where the last one ends. */
static int64_t scan(const char *text, size_t size, weft_record *rec, size_t *end,
                    weft_arena *mem)
{
    int64_t n = 0;
    size_t at = sizeof magic;
    while (size - at >= sizeof(frame)) {
        frame f;
        memcpy(&f, text + at, sizeof f);
        const char *data = text + at + sizeof f;
        if (f.bytes > size - at - sizeof f || frame_sum(&f, data) != f.sum) break;
        if (rec != NULL) {
            char *copy = WEFT_NEW(mem, char, f.bytes); /* aligned for any type */
            memcpy(copy, data, f.bytes);
            rec[n] = (weft_record){.tag = f.tag, .bytes = f.bytes, .data = copy};
        }
        at += sizeof f + f.bytes;
        n++;
    }
    *end = at;
    return n;
}

/* Cuts what follows the last whole record. */
static weft_status cut(weft_journal *j, size_t size, size_t end)
{
    if (size == end) return WEFT_OK;
    weft_log(WEFT_WARN, "%s: the last %zu bytes are no whole record and are cut", j->path,
             size - end);
    if (ftruncate(j->fd, (off_t)end) != 0 || fsync(j->fd) != 0)
        return weft_file_fail("write", j->path, errno);
    return WEFT_OK;
}

static weft_status load(weft_journal *j, weft_record **rec, int64_t *n, weft_arena *mem)
{
    struct stat info;
    if (fstat(j->fd, &info) != 0) return weft_file_fail("read", j->path, errno);
    size_t size = (size_t)info.st_size, end;
    char *text = WEFT_NEW(mem, char, size);
    /* Through the same descriptor: closing another one would give up the lock. */
    int err = weft_file_read(j->fd, text, size);
    if (err != 0) return weft_file_fail("read", j->path, err);
    if (size < sizeof magic && memcmp(text, magic, size) == 0) {
        if (size > 0 && ftruncate(j->fd, 0) != 0)
            return weft_file_fail("write", j->path, errno);
        return begin(j);
    }
    if (size < sizeof magic || memcmp(text, magic, sizeof magic) != 0)
        return weft_fail(WEFT_EFILE,
                         "%s is not a journal of weft; move it away or choose "
                         "another output name",
                         j->path);
    *n = scan(text, size, NULL, &end, mem);
    *rec = WEFT_NEW(mem, weft_record, *n);
    scan(text, size, *rec, &end, mem);
    return cut(j, size, end);
}

weft_status weft_journal_open(weft_journal *j, const char *path, weft_record **rec,
                              int64_t *n, weft_arena *mem)
{
    *rec = NULL;
    *n = 0;
    j->path = weft_arena_text(mem, "%s", path);
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0666);
    if (j->fd < 0) return weft_file_fail("open the journal", path, errno);
    weft_status st = lock(j);
    if (st == WEFT_OK) st = load(j, rec, n, mem);
    if (st != WEFT_OK) weft_journal_close(j);
    j->synced = weft_now();
    return st;
}

weft_status weft_journal_add(weft_journal *j, uint32_t tag, const void *data, size_t bytes)
{
    weft_check(bytes <= UINT32_MAX, "journal record of %zu bytes", bytes);
    weft_arena *tmp = weft_arena_new();
    char *text = weft_arena_get(tmp, sizeof(frame) + bytes, 1);
    frame f = {.tag = tag, .bytes = (uint32_t)bytes};
    f.sum = frame_sum(&f, data);
    memcpy(text, &f, sizeof f);
    if (bytes > 0) memcpy(text + sizeof f, data, bytes);
    int err = append(j->fd, text, sizeof f + bytes);
    weft_arena_free(tmp);
    if (err != 0) return weft_file_fail("write the journal", j->path, err);
    return weft_now() - j->synced >= SYNC_SECONDS ? weft_journal_sync(j) : WEFT_OK;
}

weft_status weft_journal_sync(weft_journal *j)
{
    if (fsync(j->fd) != 0) return weft_file_fail("write the journal", j->path, errno);
    j->synced = weft_now();
    return WEFT_OK;
}

void weft_journal_close(weft_journal *j)
{
    if (j->fd >= 0) {
        fsync(j->fd);
        close(j->fd);
    }
    j->fd = -1;
}
