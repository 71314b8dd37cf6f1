/* Texts in tests/gold whose bytes may be written \xHH. */
#ifndef ESCAPED_H
#define ESCAPED_H

#include <stdio.h>

/* Replaces \xHH by the byte. */
static inline char *unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        unsigned byte = (unsigned char)*from;
        from += *from == '\\' && sscanf(from, "\\x%2x", &byte) == 1 ? 4 : 1;
        *to++ = (char)byte;
    }
    *to = '\0';
    return text;
}

#endif
