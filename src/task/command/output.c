/* The log of what a program prints, of bounded size. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

weft_status weft_output_open(weft_output *output, const char *path, int64_t most,
                             weft_arena *mem)
{
    *output = (weft_output){.most = most};
    output->tail = WEFT_NEW(mem, char, most / 2);
    unlink(path); /* of the attempt that the directory is a copy of, maybe a link */
    output->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd >= 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(errno));
}

static void put(weft_output *output, const char *bytes, int64_t n)
{
    while (n > 0 && output->err == 0) {
        ssize_t done = write(output->fd, bytes, (size_t)n);
        if (done < 0 && errno != EINTR) output->err = errno;
        if (done > 0) {
            bytes += done;
            n -= done;
        }
    }
}

void weft_output_add(weft_output *output, const char *bytes, size_t n)
{
    int64_t half = output->most / 2, head = half - output->seen;
    int64_t at = head < 0 ? 0 : head < (int64_t)n ? head : (int64_t)n;
    put(output, bytes, at);
    output->seen += at;
    while (at < (int64_t)n) {
        int64_t to = output->seen % half, left = (int64_t)n - at;
        int64_t some = left < half - to ? left : half - to;
        memcpy(output->tail + to, bytes + at, (size_t)some);
        output->seen += some;
        at += some;
    }
}

weft_status weft_output_close(weft_output *output, const char *path)
{
    int64_t half = output->most / 2, kept = output->seen - half;
    if (kept > half) {
        char text[64];
        int n = snprintf(text, sizeof text, "\n... %lld bytes are left out ...\n",
                         (long long)(kept - half));
        put(output, text, n);
    }
    int64_t rest = kept > half ? half : kept > 0 ? kept : 0;
    int64_t from = (output->seen - rest) % half; /* the tail ends where it begins */
    int64_t first = rest < half - from ? rest : half - from;
    put(output, output->tail + from, first);
    put(output, output->tail, rest - first);
    if (close(output->fd) != 0 && output->err == 0) output->err = errno;
    if (output->err == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(output->err));
}
