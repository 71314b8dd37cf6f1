/* States of trials: two flat arrays, and what clients keep. */
#ifndef WEFT_STATE_H
#define WEFT_STATE_H

#include "weft/kept.h"
#include "weft/team.h"

#include <stdint.h>

/* State of a trial, its arrays equal on all ranks: everything that later jobs need. What
 * belongs to a single job (sums by configuration, log-probabilities) is in its result. */
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

#endif
