/* What the winner's clients keep, in a run file or exported winner: /winner/kept. */
#ifndef WEFT_RESULT_STORED_H
#define WEFT_RESULT_STORED_H

#include "weft/h5.h"
#include "weft/kept.h"

/* The rows of a file, which stays open. */
typedef struct weft_stored {
    int64_t n, each;             /* clients, those without a row too; numbers of a row */
    int64_t m;                   /* rows */
    const int64_t *client;       /* [m] increasing */
    double mark[WEFT_KEPT_MARK]; /* of the table */
    weft_h5 file;
    weft_h5set set; /* of the rows, [m][each]; open if m > 0 */
} weft_stored;

/* Writes a table in portions; kept NULL: nothing. EFILE. */
WEFT_CHECKED weft_status weft_stored_put(const weft_kept *kept, weft_h5 *file);
/* Opens the rows of a file, *rows, NULL if it has none; owned by mem, to be closed. EFILE.
 */
WEFT_CHECKED weft_status weft_stored_open(weft_stored **rows, const char *path,
                                          weft_arena *mem);
/* Makes the rows those of client[m] in a table, -1: of none; NULL: of the clients that they
 * have. They are read from the file when they are asked for. */
void weft_stored_give(weft_stored *rows, const int64_t *client, weft_kept *kept);
/* A table of its own of them; NULL if rows is. Owned by mem. */
weft_kept *weft_stored_table(weft_stored *rows, weft_arena *mem);
/* NULL allowed. */
void weft_stored_close(weft_stored *rows);

#endif
