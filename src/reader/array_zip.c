/* Archives of zip, as NumPy's npz files are: the list at their end (PKWARE, "APPNOTE.TXT",
 * 4.3), also with sizes of 64 bits, and files that are stored or deflated. */

#include "reader.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Bytes of the fixed parts, and where their fields stand. */
enum { LOCAL = 30, LISTED = 46, END = 22, END64 = 56, PLACE64 = 20, LONGEST_NOTE = 65535 };
enum { SIGNED_END = 0x06054b50, SIGNED_PLACE64 = 0x07064b50, SIGNED_END64 = 0x06064b50 };
enum { SIGNED_LISTED = 0x02014b50, SIGNED_LOCAL = 0x04034b50 };

/* A number of n bytes, the low one first. */
static uint64_t number(const unsigned char *at, int n)
{
    uint64_t x = 0;
    for (int i = n - 1; i >= 0; i--) x = x << 8 | at[i];
    return x;
}

static weft_status damaged(const char *path, const char *what)
{
    return weft_fail(WEFT_EDATA, "%s: %s; is the npz file whole? write it again", path,
                     what);
}

/* Where the list begins, and how many files it has; 0: there is none. */
static int find_list(const unsigned char *byte, size_t size, uint64_t *at, uint64_t *files)
{
    size_t back = END;
    while (back <= size && back <= END + LONGEST_NOTE &&
           number(byte + size - back, 4) != SIGNED_END)
        back++;
    if (back > size || back > END + LONGEST_NOTE) return 0;
    const unsigned char *end = byte + size - back;
    *files = number(end + 10, 2);
    *at = number(end + 16, 4);
    if (size - back < PLACE64 || number(end - PLACE64, 4) != SIGNED_PLACE64) return 1;
    uint64_t place = number(end - PLACE64 + 8, 8);
    if (size < END64 || place > size - END64 || number(byte + place, 4) != SIGNED_END64)
        return 0;
    *files = number(byte + place + 32, 8);
    *at = number(byte + place + 48, 8);
    return 1;
}

/* Sizes and place that do not fit 32 bits stand in a field behind the name. */
static void widen(const unsigned char *extra, size_t n, uint64_t field[3])
{
    enum { WIDE = 1 };
    while (n >= 4) {
        size_t length = (size_t)number(extra + 2, 2), used = 4;
        if (length > n - 4) return;
        for (int i = 0; i < 3 && number(extra, 2) == WIDE; i++)
            if (field[i] == UINT32_MAX && used + 8 <= length + 4) {
                field[i] = number(extra + used, 8);
                used += 8;
            }
        extra += length + 4;
        n -= length + 4;
    }
}

/* The file that the list tells of at `at`, of which `left` bytes are left; *used of them.
 */
static weft_status read_entry(const char *path, const unsigned char *byte, size_t size,
                              const unsigned char *at, size_t left, weft_zip_entry *entry,
                              size_t *used, weft_arena *mem)
{
    if (left < LISTED || number(at, 4) != SIGNED_LISTED)
        return damaged(path, "its list of arrays is damaged");
    size_t name = (size_t)number(at + 28, 2), extra = (size_t)number(at + 30, 2);
    *used = LISTED + name + extra + (size_t)number(at + 32, 2);
    if (*used > left) return damaged(path, "its list of arrays is damaged");
    uint64_t field[3] = {number(at + 24, 4), number(at + 20, 4), number(at + 42, 4)};
    widen(at + LISTED + name, extra, field);
    uint64_t method = number(at + 10, 2), place = field[2];
    *entry = (weft_zip_entry){.bytes = (int64_t)field[0], .stored = (int64_t)field[1]};
    entry->name = weft_arena_text(mem, "%.*s", (int)name, (const char *)at + LISTED);
    entry->deflated = method == Z_DEFLATED;
    if ((method != 0 && method != Z_DEFLATED) || (number(at + 8, 2) & 1))
        return weft_fail(WEFT_EDATA,
                         "%s: %.60s is compressed in another way than numpy.savez and "
                         "numpy.savez_compressed do; write it by one of these",
                         path, entry->name);
    if (place > size || size - place < LOCAL || number(byte + place, 4) != SIGNED_LOCAL)
        return damaged(path, "an array is not where its list says");
    place += LOCAL + number(byte + place + 26, 2) + number(byte + place + 28, 2);
    if (place > size || field[1] > size - place || (method == 0 && field[0] != field[1]))
        return damaged(path, "an array is cut short");
    entry->at = (int64_t)place;
    return WEFT_OK;
}

weft_status weft_zip_list(const char *path, const unsigned char *byte, size_t size,
                          weft_zip_entry **entry, int64_t *n, weft_arena *mem)
{
    uint64_t at, files;
    if (!find_list(byte, size, &at, &files) || at > size || files > size / LISTED)
        return damaged(path, "it has no list of arrays at its end");
    *entry = WEFT_NEW(mem, weft_zip_entry, (int64_t)files);
    *n = (int64_t)files;
    for (uint64_t i = 0; i < files; i++) {
        size_t used = 0;
        TRY(read_entry(path, byte, size, byte + at, size - at, &(*entry)[i], &used, mem));
        at += used;
    }
    return WEFT_OK;
}

static int write_all(int fd, const unsigned char *from, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, from, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        from += done;
        n -= (size_t)done;
    }
    return 0;
}

weft_status weft_zip_expand(const char *path, const unsigned char *byte,
                            const weft_zip_entry *entry, int fd)
{
    static const char what[] = "an array cannot be decompressed";
    unsigned char block[1 << 16];
    z_stream stream = {0};
    int64_t left = entry->stored, done = 0;
    const unsigned char *from = byte + entry->at;
    int code = Z_OK, err = 0;
    weft_check(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib does not start");
    while (code == Z_OK && err == 0 && done <= entry->bytes) {
        if (stream.avail_in == 0) {
            stream.next_in = (Bytef *)(uintptr_t)from;
            stream.avail_in = left > INT_MAX ? INT_MAX : (uInt)left;
            from += stream.avail_in;
            left -= stream.avail_in;
        }
        stream.next_out = block;
        stream.avail_out = sizeof block;
        code = inflate(&stream, Z_NO_FLUSH);
        size_t made = sizeof block - stream.avail_out;
        err = write_all(fd, block, made);
        done += (int64_t)made;
    }
    inflateEnd(&stream);
    if (err != 0)
        return weft_fail(WEFT_EFILE, "cannot write beside the packed file: %s; free space",
                         strerror(err));
    return code == Z_STREAM_END && done == entry->bytes ? WEFT_OK : damaged(path, what);
}
