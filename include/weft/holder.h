/* States in memory: a task whose programs keep trials from job to job has no directory for
 * each, but writes one when it is asked to. All functions are called by the first rank of a
 * team, about the program of this rank, and are local. A state is named by its trial and
 * the job that led to it, as its directory is. */
#ifndef WEFT_HOLDER_H
#define WEFT_HOLDER_H

#include "weft/state.h"

enum {
    WEFT_HOLDS_NOTHING, /* each job leaves its directory */
    WEFT_HOLDS_ONLY,    /* states are kept in memory, and never saved */
    WEFT_HOLDS_SAVES    /* they are saved when that is asked for */
};

typedef struct weft_holder {
    /* One of these. Depends on the options only; on any rank. */
    int (*holds)(const void *self);
    /* 1: the program has the state after the job, whose numbers become *state, unless that
     * is NULL. */
    int (*held)(const void *self, int64_t trial, int64_t job, weft_state *state);
    /* How many states more than the options allow it has. */
    int64_t (*excess)(const void *self);
    /* Writes the directory WEFT_FILES_NAME of a state, unless it is there. Returns 1 if it
     * is; 0 if the program cannot, which is no error, since its jobs can be repeated. */
    int (*save)(void *self, int64_t trial, int64_t job);
    /* The state is no longer needed. */
    void (*forget)(void *self, int64_t trial, int64_t job);
} weft_holder;

#endif
