/* The leaders of teams: private to src/par. */
#ifndef WEFT_PAR_PEERS_H
#define WEFT_PAR_PEERS_H

#include <mpi.h>

#include "weft/par.h"

struct weft_peers {
    MPI_Comm comm;
    int rank, size;
    int64_t sent;              /* messages */
    struct weft_outgoing *out; /* on their way, the oldest first */
    struct weft_outgoing *last;
    struct weft_sender *from; /* [size] what came of each */
    int why;                  /* why another one left; 0: none did */
};

#endif
