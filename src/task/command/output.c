/* The log of what a program prints, of bounded size. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

weft_status weft_output_open(weft_output *o, const char *path, int64_t most,
                             weft_arena *mem)
{
    *o = (weft_output){.most = most};
    o->tail = WEFT_NEW(mem, char, most / 2);
    unlink(path); /* of the attempt that the directory is a copy of, maybe a link */
    o->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->fd >= 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(errno));
}

static void put(weft_output *o, const char *bytes, int64_t n)
{
    while (n > 0 && o->err == 0) {
        ssize_t done = write(o->fd, bytes, (size_t)n);
        if (done < 0 && errno != EINTR) o->err = errno;
        if (done > 0) {
            bytes += done;
            n -= done;
        }
    }
}

void weft_output_add(weft_output *o, const char *bytes, size_t n)
{
    int64_t half = o->most / 2, head = half - o->seen;
    int64_t at = head < 0 ? 0 : head < (int64_t)n ? head : (int64_t)n;
    put(o, bytes, at);
    o->seen += at;
    while (at < (int64_t)n) {
        int64_t to = o->seen % half, left = (int64_t)n - at;
        int64_t some = left < half - to ? left : half - to;
        memcpy(o->tail + to, bytes + at, (size_t)some);
        o->seen += some;
        at += some;
    }
}

weft_status weft_output_close(weft_output *o, const char *path)
{
    int64_t half = o->most / 2, kept = o->seen - half;
    if (kept > half) {
        char text[64];
        int n = snprintf(text, sizeof text, "\n... %lld bytes are left out ...\n",
                         (long long)(kept - half));
        put(o, text, n);
    }
    int64_t rest = kept > half ? half : kept > 0 ? kept : 0;
    int64_t from = (o->seen - rest) % half; /* the tail ends where it begins */
    int64_t first = rest < half - from ? rest : half - from;
    put(o, o->tail + from, first);
    put(o, o->tail, rest - first);
    if (close(o->fd) != 0 && o->err == 0) o->err = errno;
    if (o->err == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(o->err));
}
