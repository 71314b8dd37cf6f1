/* Texts in tests/gold whose bytes may be written \xHH. */
#ifndef ESCAPED_H
#define ESCAPED_H

#include <stdio.h>
#include <string.h>

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

/* The fields of a line between TABs, at most so many. Returns how many. */
static inline int split_line(char *line, char **field, int most)
{
    int n = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *next; line != NULL && n < most; line = next) {
        next = strchr(line, '\t');
        if (next != NULL) *next++ = '\0';
        field[n++] = line;
    }
    return n;
}

#endif
