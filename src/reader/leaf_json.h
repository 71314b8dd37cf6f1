/* The parser of LEAF's files: where it is, and the user it is reading. Private to
 * leaf_json.c, which calls, and leaf_user.c, which is called. */
#ifndef WEFT_READER_LEAF_JSON_H
#define WEFT_READER_LEAF_JSON_H

#include "leaf.h"
#include "weft/names.h"

#include <stdio.h>
#include <yajl/yajl_parse.h>

/* Where in the file the parser is. */
typedef enum weft_leaf_place {
    LEAF_START,
    LEAF_TOP,
    LEAF_USERS,
    LEAF_NUMBERS,
    LEAF_DATA,
    LEAF_USER,
    LEAF_X,
    LEAF_ROW,
    LEAF_Y,
    LEAF_SKIP,
    LEAF_END
} weft_leaf_place;

/* What is known of a user; -1 where not seen. */
typedef struct weft_leaf_known {
    int64_t listed, found; /* place in "users" of its file, samples in user_data */
    const char *file;
} weft_leaf_known;

struct weft_leaf {
    const char *const *path; /* [n] */
    int64_t n, at;           /* at: the open file */
    int gapped;
    weft_leaf_form *form;
    weft_arena *mem, *own; /* own: the samples of the user */

    FILE *file;
    yajl_handle json;
    unsigned char *piece; /* of the file */
    size_t have, used;    /* bytes in it, of these already parsed */
    int64_t parsed;       /* bytes of the file */
    weft_digest **sum;    /* [n] of the bytes of each file that were read, */
    int64_t *bytes;       /* [n] and how many */

    weft_leaf_place in, back; /* back: after what is skipped */
    int64_t depth;            /* of what is skipped */
    char key[16];             /* of TOP or USER, shortened */

    weft_names names;
    weft_leaf_known *known;    /* [names.n] */
    int64_t known_room, older; /* older: names of the files before the open one */
    int64_t *order;            /* [users] of the open file: number of the name */
    int64_t users, order_room;
    int64_t *number; /* [numbers] of the open file: num_samples */
    int64_t numbers, number_room;

    weft_leaf_user user;
    int64_t who; /* number of the name of the user */
    double *x;
    int32_t *label;
    const char **document, *piece_text; /* [nx]; the text of the sample, or NULL */
    int64_t cells, document_room;       /* elements of the sample up to now */
    int wordy;                          /* 1: one of them is a text */
    uint8_t *text, *next;
    int64_t nx, nlabel, values, row; /* samples, labels, numbers or symbols, start of row */
    int64_t x_room, label_room, text_room, next_room;
    int texts_y, whole; /* whole: the user is complete */
    weft_status st;
};

/* What callbacks return: 1, or 0 after an error, which is in leaf->st. */
int weft_leaf_unexpected(weft_leaf *leaf, const char *what);
int weft_leaf_list(weft_leaf *leaf, const char *name);
int weft_leaf_number(weft_leaf *leaf, double samples);
int weft_leaf_begin(weft_leaf *leaf, const char *name);
int weft_leaf_value(weft_leaf *leaf, double value);
int weft_leaf_word(weft_leaf *leaf, const char *text, size_t bytes);
int weft_leaf_row(weft_leaf *leaf);
int weft_leaf_window(weft_leaf *leaf, const char *text, size_t bytes);
int weft_leaf_label(weft_leaf *leaf, double value);
int weft_leaf_follows(weft_leaf *leaf, const char *text, size_t bytes);
int weft_leaf_end(weft_leaf *leaf);

/* EDATA where the lists of the open file and its users do not agree. */
WEFT_CHECKED weft_status weft_leaf_check(weft_leaf *leaf);
/* "FILE: user 'NAME', x[3]" or the part of it that is known. */
const char *weft_leaf_where(const weft_leaf *leaf);

#endif
