/* Exchange of bytes between all ranks: rows that move to other ranks, and what each rank
 * makes a share of. */
#include "nodes.h"
#include "timer.h"

void weft_exchange(weft_team *team, const void *send, const size_t *to, void *receive,
                   const size_t *from)
{
    weft_arena *tmp = weft_arena_new();
    MPI_Request *pending = WEFT_NEW(tmp, MPI_Request, 2 * team->size);
    size_t in = 0, out = 0;
    weft_timer_begin(team);
    for (int r = 0; r < team->size; in += from[r++]) {
        weft_check(from[r] <= INT32_MAX, "%zu bytes from one rank to another", from[r]);
        MPI_Irecv((char *)receive + in, (int)from[r], MPI_BYTE, r, 0, comm_of(team),
                  &pending[r]);
    }
    for (int r = 0; r < team->size; out += to[r++]) {
        weft_check(to[r] <= INT32_MAX, "%zu bytes from one rank to another", to[r]);
        MPI_Isend((const char *)send + out, (int)to[r], MPI_BYTE, r, 0, comm_of(team),
                  &pending[team->size + r]);
    }
    MPI_Waitall(2 * team->size, pending, MPI_STATUSES_IGNORE);
    weft_timer_end(team, out);
    weft_arena_free(tmp);
}

/* Bytes and offsets of x[count] of all ranks. Every rank gets from other nodes what the
 * ranks in its own place have, and gives it to its node, each node's bytes together. */
static void gather(weft_team *team, char *x, const size_t *count)
{
    const weft_nodes *nodes = weft_nodes_of(team);
    weft_arena *tmp = weft_arena_new();
    int *bytes = WEFT_NEW(tmp, int, team->size), *at = WEFT_NEW(tmp, int, team->size);
    int *far = WEFT_NEW(tmp, int, nodes->count), *there = WEFT_NEW(tmp, int, nodes->count);
    for (int r = 0; r < team->size; r++) {
        bytes[r] = (int)count[r];
        at[r] = r > 0 ? at[r - 1] + bytes[r - 1] : 0;
    }
    for (int b = 0; b < nodes->count; b++) {
        far[b] = bytes[b * nodes->ranks + nodes->place];
        there[b] = at[b * nodes->ranks + nodes->place];
    }
    weft_timer_begin(team);
    if (nodes->count > 1)
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, x, far, there, MPI_BYTE, nodes->far);
    for (int b = 0; b < nodes->count && nodes->ranks > 1; b++)
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, x, bytes + b * nodes->ranks,
                       at + b * nodes->ranks, MPI_BYTE, nodes->near);
    weft_timer_end(team, count[team->rank]);
    weft_arena_free(tmp);
}

void weft_join_bytes(weft_team *team, void *x, const size_t *count)
{
    size_t all = 0;
    for (int r = 0; r < team->size; r++) all += count[r];
    if (team->size == 1) return;
    if (all <= INT32_MAX) {
        gather(team, x, count);
        return;
    }
    char *at = x; /* too many for MPI's counts */
    for (int r = 0; r < team->size; at += count[r++]) weft_bcast(team, at, count[r], r);
}
