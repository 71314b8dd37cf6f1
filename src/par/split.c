/* Teams of ranks within a team: neighbours, as even as possible, the first ones larger by
 * one where they are not equal. */
#include "nodes.h"
#include "weft/clock.h"
#include "weft/par.h"

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

void weft_team_split(const weft_team *team, int parts, weft_team *own)
{
    int part = weft_team_of(team->size, parts, team->rank);
    *own = (weft_team){.since = weft_now(),
                       .first = team->first + weft_team_first(team->size, parts, part)};
    MPI_Comm comm;
    MPI_Comm_split(comm_of(team), part, team->rank, &comm);
    MPI_Comm_rank(comm, &own->rank);
    MPI_Comm_size(comm, &own->size);
    set_comm(own, comm);
}

void weft_team_free(weft_team *team)
{
    weft_parts_close(team);
    weft_nodes_close(team);
    MPI_Comm comm = comm_of(team);
    MPI_Comm_free(&comm);
    set_comm(team, comm);
}

void weft_times_move(weft_team *from, weft_team *to)
{
    weft_times_close(from);
    to->since = from->since;
}
