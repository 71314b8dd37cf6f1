/* What a program prints. */
#ifndef WEFT_TASK_COMMAND_PRINTED_H
#define WEFT_TASK_COMMAND_PRINTED_H

#include "weft/names.h"

enum { WEFT_STREAMS = 2 };    /* standard output, standard error */
#define WEFT_MAX_PRINTED 1024 /* names of numbers that are kept, besides wanted ones */

/* What a program printed behind a name and "=". */
typedef enum weft_said {
    WEFT_SAID_NOTHING,
    WEFT_SAID_NUMBER,
    WEFT_SAID_HUGE,   /* a number beyond the range of double */
    WEFT_SAID_LONG,   /* a word that is longer than any number */
    WEFT_SAID_BROKEN, /* begins as a number and goes on otherwise: 0,25 or 4s */
    WEFT_SAID_TEXT    /* anything else, or nothing */
} weft_said;

typedef struct weft_number {
    weft_said said;
    double value;  /* NaN unless it is a number */
    char text[96]; /* the beginning of "name=..." as it was printed */
} weft_number;

/* What was read of a stream. */
typedef struct weft_stream {
    weft_names names;    /* of numbers; the wanted ones are the first */
    int64_t nwanted;     /* how many these are */
    int64_t most;        /* names that are kept */
    weft_number *number; /* [most] the last of each name */
    int at, escape;      /* where in a word, in an escape sequence, the last byte was */
    char word[4096];     /* [n] "name=text" */
    size_t n, value;     /* bytes; index behind the = */
    int cut;             /* 1: there was no room for all of the word */
    char line[256];      /* [nline] beginning of the line */
    size_t nline;
    char last[256]; /* beginning of the last line that was not empty */
} weft_stream;

typedef struct weft_printed {
    weft_stream stream[WEFT_STREAMS];
    int left_out; /* 1: there were more than WEFT_MAX_PRINTED names */
} weft_printed;

/* 1 for a name that numbers may be printed by. */
int weft_printed_is_name(const char *text);
/* For a program of whose wanted[nwanted] names it must be known what it printed last,
 * number or not. Of other names the last number on standard output is kept. Owned by mem.
 */
weft_printed *weft_printed_new(int nwanted, const char *const *wanted, weft_arena *mem);
/* Takes bytes[n] of standard output (stream 0) or standard error (1). */
void weft_printed_add(weft_printed *printed, int stream, const char *bytes, size_t n);
/* Takes lines without an end as ended. */
void weft_printed_end(weft_printed *printed);
/* The last of that name on a stream; NULL: there was none. */
const weft_number *weft_printed_find(const weft_printed *printed, int stream,
                                     const char *name);
/* The last line that the program printed to standard error, else to standard output, else
 * "". */
const char *weft_printed_last(const weft_printed *printed);

#endif
