/* Sentences in several languages while they are read. Private to reader. */
#ifndef WEFT_READER_TRANSLATIONS_H
#define WEFT_READER_TRANSLATIONS_H

#include "reader.h"
#include "weft/names.h"
#include "weft/translations.h"

enum { WEFT_MOST_COLUMNS = 200 };

/* Options of the reader. */
typedef struct weft_reading_how {
    const char *columns, *languages, *drop, *directions, *vocabulary, *like;
    int64_t longest, seed;
    int joint;
    double train, valid, test;
} weft_reading_how;

/* A file that is being read. */
typedef struct weft_reading {
    const weft_reading_how *how;
    const char *path;
    const char *name[WEFT_MOST_COLUMNS]; /* of the columns */
    int columns;
    int is_language[WEFT_MOST_COLUMNS]; /* 0: dropped */
    int place[WEFT_MOST_COLUMNS]; /* index of a language that is taken; -1: it is not */
    int *lack;                    /* [n] 1: a known language without a column */
    int scored;                   /* 1: by `like` */
    weft_translations known;      /* of `vocabulary` or `like`; n 0: none */
    weft_names texts[WEFT_MOST_COLUMNS];
    int64_t sentences[WEFT_MOST_COLUMNS];
    const char **language; /* [n] names of those taken */
    int n;
    weft_direction *direction;
    int64_t directions, room;
    int cross;            /* 1: a direction is from a language to another one */
    int64_t lines, empty; /* empty: without a sentence in any language that is taken */
    int64_t paired;       /* sources to be scored that have a translation */
    const char **text;    /* [n] of a line */
    weft_pack *pack;
} weft_reading;

/* Cells of a line, ended by NUL; those that do not fit are counted, too. */
int weft_reading_cells(char *line, char by, char **cell);
/* Reads languages, directions and pieces of the file that `vocabulary` or `like` names, if
 * one does; sets *pieces, those of a vocabulary that is learnt. ECONF, EFILE, EDATA. */
WEFT_CHECKED weft_status weft_reading_known(weft_reading *reading, int64_t *pieces);
/* Takes names of the columns, with `by` between them, and what the options take of them.
 * ECONF, EDATA. */
WEFT_CHECKED weft_status weft_reading_head(weft_reading *reading, char *names, char by);

#endif
