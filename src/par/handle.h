/* The communicator of a team, which other layers see as a number. Private to par. */
#ifndef WEFT_PAR_HANDLE_H
#define WEFT_PAR_HANDLE_H

#include <mpi.h>
#include <string.h>

#include "weft/team.h"

static inline MPI_Comm comm_of(const weft_team *team)
{
    MPI_Comm comm;
    _Static_assert(sizeof comm <= sizeof team->comm, "a communicator fits its place");
    memcpy(&comm, &team->comm, sizeof comm);
    return comm;
}

static inline void set_comm(weft_team *team, MPI_Comm comm)
{
    team->comm = 0;
    memcpy(&team->comm, &comm, sizeof comm);
}

/* Frees the memory of weft_parts_buffer, if there is any. Collective. */
void weft_parts_close(weft_team *team);

#endif
