/* Characters of units as symbols, and the pieces that are not learnt. Private to text. */
#ifndef WEFT_TEXT_BPE_H
#define WEFT_TEXT_BPE_H

#include "char.h"
#include "weft/bpe.h"

#include <string.h>

/* The texts of the pieces that are not learnt, one after another, and where each ends. */
#define BPE_GIVEN "\xef\xbf\xbd "
extern const uint8_t bpe_given_end[WEFT_PIECE_FIRST];

enum { BPE_SYMBOL = 6 }; /* bytes of a character with a blank and a NUL */

/* The bytes of the symbol that starts at p, in a unit that ends with NUL: a character, with
 * the blank behind it. It is copied to symbol, with a NUL. */
static inline size_t bpe_symbol(const char *p, char symbol[BPE_SYMBOL])
{
    size_t n;
    char_class((const uint8_t *)p, &n);
    n += p[n] == ' ';
    memcpy(symbol, p, n);
    symbol[n] = '\0';
    return n;
}

#endif
