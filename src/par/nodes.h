/* The nodes that the ranks of a team are on: private to src/par. */
#ifndef WEFT_PAR_NODES_H
#define WEFT_PAR_NODES_H

#include "handle.h"

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

#endif
