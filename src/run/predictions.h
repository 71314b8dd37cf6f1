/* The file of predictions that `weft predict` writes. */
#ifndef WEFT_RUN_PREDICTIONS_H
#define WEFT_RUN_PREDICTIONS_H

#include "weft/data.h"
#include "weft/file.h"
#include "weft/scores.h"

/* Where predictions go: CSV to text, or HDF5. */
typedef struct weft_said_to {
    const char *path; /* NULL: CSV to standard output */
    weft_arena *mem;
    FILE *text; /* standard output, or that of out */
    weft_text out;
    weft_h5 file;
    int opened, last; /* 1: it was tried to create it; the rows that follow are the last */
    int is_h5, begun; /* 1: it has its head, or the datasets of the part */
    const char *const *client; /* [clients] names; NULL: they have none */
    int64_t clients;
    const char *note; /* that was logged last; NULL: none */
} weft_said_to;

/* Rows of a part, as they are written. */
typedef struct weft_said {
    weft_part part;
    int64_t first;                       /* number of the first in its part, from 0 */
    const weft_predictions *predictions; /* in the units of the targets */
    const int32_t *label;                /* [n] */
    const double *target;                /* [n][targets] in their units; NULL: classes */
} weft_said;

/* Creates the file, which appears when it is complete. EFILE. */
WEFT_CHECKED weft_status weft_said_open(weft_said_to *to);
/* Writes rows of the data, those of a part one after the other. EFILE. */
WEFT_CHECKED weft_status weft_said_write(weft_said_to *to, const weft_data *data,
                                         const weft_said *said);
/* Completes the file, which is there from now on. EFILE. */
WEFT_CHECKED weft_status weft_said_end(weft_said_to *to, const weft_data *data);
/* Closes what is open. */
void weft_said_close(weft_said_to *to);

#endif
