/* The state of a trial. */
#ifndef LIBWEFT_TASK_STATE_H
#define LIBWEFT_TASK_STATE_H

#include "weft/kept/kept.h"
#include "weft/par/team.h"

#include <stdint.h>

/* Everything that later jobs need: two flat arrays, equal on all ranks, and what clients
 * keep. What belongs to a single job (sums by configuration, log-probabilities) is in its
 * result. */
typedef struct weft_state {
    real *x;     /* [nx] weights, and other numbers in the same precision */
    int64_t nx;  /* the same for all jobs of a trial, and of trials that copy each other */
    double *aux; /* [naux] numbers in double precision: sums, times, counters */
    int64_t naux;
    int64_t members, each; /* clients that keep numbers, and numbers of each; 0: none do */
    weft_kept *kept;       /* these numbers, of which only the first rank of a team has any:
                              the others' table is empty. The state begins with their mark,
                              aux[WEFT_KEPT_MARK], on all ranks. NULL: none are kept */
} weft_state;

/* Copies x and, as far as both have it, aux, and what is kept. The lengths of x must agree.
 * EFILE. */
WEFT_CHECKED weft_status weft_state_copy(weft_state *to, const weft_state *from);
/* Bytes of both arrays; bytes in files of all that may be kept. */
double weft_state_bytes(const weft_state *state);
double weft_state_kept_bytes(const weft_state *state);
/* Gives all ranks the state of rank 0, of the same lengths on all. Collective. */
void weft_state_bcast(weft_team *team, weft_state *state);
/* Hash of both arrays, and so of what is kept. */
uint64_t weft_state_hash(const weft_state *state);

/* States in memory: a task whose programs keep trials from job to job writes a directory
 * only when it is asked to. All functions are called by the first rank of a team, about its
 * program, and are local. A state is named by its trial and the job that led to it. */

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
