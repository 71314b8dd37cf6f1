/* Files compressed by gzip, in memory. */
#include "reader.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib's largest window, with gzip's head */

int weft_is_gzip(const char *bytes, size_t n)
{
    return n > 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

/* Room for at least one more byte in text[room], of which all are used. */
static char *widen(char *text, size_t *room, weft_arena *mem)
{
    char *more = WEFT_NEW(mem, char, 2 * *room + 1);
    memcpy(more, text, *room);
    *room *= 2;
    return more;
}

/* 1: all of them are 0, as tapes and block devices fill files up. */
static int are_zeros(const Bytef *byte, size_t n)
{
    while (n > 0 && byte[n - 1] == 0) n--;
    return n == 0;
}

/* The next piece of the stream, behind whose input `left` bytes follow and whose output
 * goes on behind text[*n]. zlib's code. */
static int inflate_some(z_stream *stream, size_t left, char **text, size_t *n, size_t *room,
                        weft_arena *mem)
{
    if (*n == *room) *text = widen(*text, room, mem);
    size_t free = *room - *n;
    stream->next_out = (Bytef *)*text + *n;
    stream->avail_out = free > INT_MAX ? INT_MAX : (uInt)free;
    uInt before = stream->avail_out;
    int code = inflate(stream, Z_NO_FLUSH);
    *n += before - stream->avail_out;
    /* Files may be concatenated. */
    if (code == Z_STREAM_END && !are_zeros(stream->next_in, stream->avail_in + left))
        code = inflateReset(stream);
    return code;
}

weft_status weft_gzip_expand(const char *path, weft_arena *mem, char **text, size_t *n)
{
    z_stream stream = {.next_in = (Bytef *)*text, .avail_in = 0};
    size_t left = *n, room = 4 * *n, done = 0;
    char *out = WEFT_NEW(mem, char, room + 1);
    weft_check(inflateInit2(&stream, GZIP_WINDOW) == Z_OK, "zlib does not start");
    int code = Z_OK;
    while (code == Z_OK && (left > 0 || stream.avail_in > 0 || done == room)) {
        uInt more = left > INT_MAX ? INT_MAX : (uInt)left;
        if (stream.avail_in == 0) {
            stream.avail_in = more;
            left -= more;
        }
        code = inflate_some(&stream, left, &out, &done, &room, mem);
    }
    inflateEnd(&stream);
    if (code != Z_STREAM_END)
        return weft_fail(WEFT_EDATA, "%s cannot be decompressed: %s; fetch it again", path,
                         stream.msg ? stream.msg : "it is cut short");
    *text = out;
    *n = done;
    return WEFT_OK;
}
