/* What the files of src/par share, and the simulated start of the tests: the communicator
 * of a team, which other layers see as a number, its nodes, and the account of time. */
#ifndef WEFT_PAR_HANDLE_H
#define WEFT_PAR_HANDLE_H

#include <mpi.h>
#include <string.h>

#include "weft/par/team.h"

#ifdef WEFT_DOUBLE
#define REAL_MPI MPI_DOUBLE
#else
#define REAL_MPI MPI_FLOAT
#endif

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

/* Nodes of `ranks` consecutive ranks each. A rank has a place on its node, from 0, and
 * exchanges with the ranks in the same place of other nodes what its node has or needs: so
 * all ranks of a node take part in what goes over its connection, once and not for each. */
struct weft_nodes {
    weft_arena *mem;
    int count, ranks; /* nodes; 1 and the size of the team also where they are uneven */
    int whole;        /* 1: the ranks of a node can share memory */
    int node, place;  /* of this rank */
    MPI_Comm near;    /* ranks of this node */
    MPI_Comm far;     /* ranks in the same place of all nodes, ordered by node */
};

/* The nodes of a team, found at the first call. Collective. */
const weft_nodes *weft_nodes_of(weft_team *team);
void weft_nodes_close(weft_team *team); /* Collective */
/* 1 if all ranks of the communicator are on one node. Collective. */
int weft_one_node(MPI_Comm comm);

/* ECONF if the file, in the form of /proc/PID/maps, names libraries of two MPIs: a program
 * that has both ends by a signal in MPI_Init, or takes handles of one for the other's. */
WEFT_CHECKED weft_status weft_mpis_refuse(const char *maps);
/* Before MPI_Init (begun = 0) and after it (1). Ranks of which each is in a user namespace
 * of its own, as Apptainer makes them, may not open each other's memory by /proc nor copy
 * from it. Open MPI finds that out. UCX below MPICH does not and ends all; so it is told by
 * its variables, unless the user has set them. Programs that weft starts do not inherit
 * them. */
void weft_mpis_apart(int begun);
/* Collective over the world. From now on ranks that wait in calls of MPI sleep, up to 1 ms
 * at a time, if those on this host outnumber the cores that they may run on. Without effect
 * in Open MPI, whose mpirun lets such ranks yield. */
void weft_mpis_crowd(void);

/* Waits for the other ranks, so that the next collective does not include their delay. Time
 * before the barrier counts as computing, time in it as waiting. Collective. */
void weft_timer_begin(weft_team *team);
/* After the collective: time since is communication, of so many bytes. */
void weft_timer_end(weft_team *team, size_t bytes);

#endif
