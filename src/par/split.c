/* Teams of ranks within a team: neighbours, as even as possible, the first ones larger by
 * one where they are not equal. */
#include "nodes.h"

int weft_team_size(int size, int parts, int part)
{
    return size / parts + (part < size % parts);
}

int weft_team_first(int size, int parts, int part)
{
    int more = size % parts;
    return part * (size / parts) + (part < more ? part : more);
}

int weft_team_of(int size, int parts, int rank)
{
    int part = 0;
    while (part + 1 < parts && weft_team_first(size, parts, part + 1) <= rank) part++;
    return part;
}

void weft_team_split(const weft_team *t, int parts, weft_team *own)
{
    int part = weft_team_of(t->size, parts, t->rank);
    *own = (weft_team){.since = weft_now(),
                       .first = t->first + weft_team_first(t->size, parts, part)};
    MPI_Comm comm;
    MPI_Comm_split(comm_of(t), part, t->rank, &comm);
    MPI_Comm_rank(comm, &own->rank);
    MPI_Comm_size(comm, &own->size);
    set_comm(own, comm);
}

void weft_team_free(weft_team *t)
{
    weft_parts_close(t);
    weft_nodes_close(t);
    MPI_Comm comm = comm_of(t);
    MPI_Comm_free(&comm);
    set_comm(t, comm);
}

void weft_times_move(weft_team *from, weft_team *to)
{
    weft_times_close(from);
    to->since = from->since;
}
