/* Well-formed UTF-8. */
#include "weft/text.h"

#include <utf8proc.h>

#include <string.h>

size_t weft_utf8_check(const char *text, size_t n)
{
    static const uint64_t high = 0x8080808080808080u;
    size_t i = 0;
    while (i < n) {
        uint64_t word;
        if (n - i >= sizeof word) {
            memcpy(&word, text + i, sizeof word);
            if ((word & high) == 0) { /* eight ASCII characters */
                i += sizeof word;
                continue;
            }
        }
        utf8proc_int32_t c;
        utf8proc_ssize_t bytes = utf8proc_iterate((const utf8proc_uint8_t *)text + i,
                                                  (utf8proc_ssize_t)(n - i), &c);
        if (bytes <= 0) return i;
        i += (size_t)bytes;
    }
    return n;
}
