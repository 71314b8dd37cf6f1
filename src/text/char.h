/* Characters as Python sees them, for the tokenizers: decoding and classes. All texts are
 * well-formed UTF-8. */
#ifndef WEFT_TEXT_CHAR_H
#define WEFT_TEXT_CHAR_H

#include <stddef.h>
#include <stdint.h>

#include "weft/text/text.h"

enum {
    CHAR_SPACE = 1, /* str.isspace(), \s */
    CHAR_PUNCT = 2, /* Unicode category M, P or S */
    CHAR_WORD = 4,  /* \w: a letter, a number or _ */
    CHAR_DIGIT = 8  /* \d: a decimal digit */
};
extern const uint8_t weft_char_ascii[128]; /* classes of the ASCII characters */

/* The code point that starts at p; its bytes in *n. */
int32_t weft_char_code(const uint8_t *p, size_t *n);

/* Classes of the character outside ASCII that starts at p; its bytes in *n. */
unsigned weft_char_wide(const uint8_t *p, size_t *n);

/* Classes of the character that starts at p; its bytes in *n. */
static inline unsigned char_class(const uint8_t *p, size_t *n)
{
    if (*p >= 0x80) return weft_char_wide(p, n);
    *n = 1;
    return weft_char_ascii[*p];
}

#endif
