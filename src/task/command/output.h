/* The log of an attempt. */
#ifndef WEFT_TASK_COMMAND_OUTPUT_H
#define WEFT_TASK_COMMAND_OUTPUT_H

#include "weft/arena.h"
#include "weft/status.h"

/* The log of an attempt: what the program printed, of which the middle is left out where it
 * is more than `most` bytes. */
typedef struct weft_output {
    int fd;
    int64_t most, seen; /* bytes: kept; printed so far */
    char *tail;         /* [most/2] ring of the last ones */
    int err;            /* first errno of writing, 0 */
} weft_output;

/* EFILE. */
WEFT_CHECKED weft_status weft_output_open(weft_output *output, const char *path,
                                          int64_t most, weft_arena *mem);
void weft_output_add(weft_output *output, const char *bytes, size_t n);
/* Writes the rest. EFILE. */
WEFT_CHECKED weft_status weft_output_close(weft_output *output, const char *path);

#endif
