/* The nodes of a team: their ranks and the communicators within a node and between nodes.
 */
#include "nodes.h"

#include <stdlib.h>

#define RANKS "WEFT_NODE_RANKS" /* environment variable: as if nodes had so many ranks */

/* The ranks of this rank's node. */
static MPI_Comm node_of(const weft_team *team)
{
    MPI_Comm near;
    const char *ranks = getenv(RANKS);
    int n = ranks ? atoi(ranks) : 0;
    if (n > 0)
        MPI_Comm_split(comm_of(team), team->rank / n, team->rank, &near);
    else
        MPI_Comm_split_type(comm_of(team), MPI_COMM_TYPE_SHARED, team->rank, MPI_INFO_NULL,
                            &near);
    return near;
}

/* 1 if all nodes have as many ranks, which follow each other. */
static int even(const weft_team *team, MPI_Comm near, int ranks, int place)
{
    int first = team->rank, test[2];
    MPI_Bcast(&first, 1, MPI_INT, 0, near);
    int fits = first % ranks == 0 && team->rank == first + place;
    test[0] = fits ? ranks : -1;
    test[1] = fits ? -ranks : -1;
    MPI_Allreduce(MPI_IN_PLACE, test, 2, MPI_INT, MPI_MIN, comm_of(team));
    return test[0] > 0 && test[0] == -test[1];
}

const weft_nodes *weft_nodes_of(weft_team *team)
{
    if (team->nodes) return team->nodes;
    int ranks, place;
    MPI_Comm near = node_of(team);
    MPI_Comm_size(near, &ranks);
    MPI_Comm_rank(near, &place);
    int whole = even(team, near, ranks, place);
    if (!whole) {
        MPI_Comm_free(&near);
        MPI_Comm_dup(comm_of(team), &near);
        ranks = team->size;
        place = team->rank;
    }
    weft_arena *mem = weft_arena_new();
    weft_nodes *nodes = WEFT_NEW(mem, weft_nodes, 1);
    *nodes = (weft_nodes){.mem = mem,
                          .count = team->size / ranks,
                          .ranks = ranks,
                          .whole = whole,
                          .node = team->rank / ranks,
                          .place = place,
                          .near = near};
    MPI_Comm_split(comm_of(team), place, team->rank, &nodes->far);
    team->nodes = nodes;
    return nodes;
}

void weft_nodes_close(weft_team *team)
{
    weft_nodes *nodes = team->nodes;
    team->nodes = NULL;
    if (!nodes) return;
    MPI_Comm_free(&nodes->near);
    MPI_Comm_free(&nodes->far);
    weft_arena_free(nodes->mem);
}

int weft_one_node(MPI_Comm comm)
{
    MPI_Comm node;
    int all, here;
    MPI_Comm_size(comm, &all);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return here == all;
}
