/* The plays of Shakespeare in Project Gutenberg's text: the lines of each role. Private to
 * reader. */
#ifndef WEFT_READER_PLAYS_H
#define WEFT_READER_PLAYS_H

#include "weft/arena.h"
#include "weft/status.h"

typedef struct weft_speech_line {
    const char *text; /* [n] */
    size_t n;
    int64_t number; /* of the line in the file, from 1 */
} weft_speech_line;

/* A role with three lines or more in a play with two roles or more. */
typedef struct weft_role {
    const char *name; /* PLAY_ROLE */
    weft_speech_line *line;
    int64_t n, room;
} weft_role;

typedef struct weft_plays {
    weft_role *role; /* [n], in the order of the text */
    int64_t n, room;
    int64_t plays; /* with roles */
} weft_plays;

/* Reads the text[n] of the file `path`; lines are ended by NULs in it and stay there.
 * EDATA: it is another text, or cut short. */
WEFT_CHECKED weft_status weft_plays_read(const char *path, char *text, size_t n,
                                         weft_plays *out, weft_arena *mem);

#endif
