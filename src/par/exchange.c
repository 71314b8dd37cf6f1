/* Exchange of bytes between all ranks: rows that move to other ranks, and what each rank
 * makes a share of. */
#include "nodes.h"
#include "timer.h"

/* Messages of one pair of ranks follow each other, each of at most PIECE bytes: MPI counts
 * in int. */
enum { PIECE = 1 << 30 };

static int64_t pieces_of(const weft_team *team, const size_t *bytes)
{
    int64_t n = 0;
    for (int r = 0; r < team->size; r++) n += (int64_t)((bytes[r] + PIECE - 1) / PIECE);
    return n;
}

void weft_exchange(weft_team *team, const void *send, const size_t *to, void *receive,
                   const size_t *from)
{
    weft_arena *tmp = weft_arena_new();
    MPI_Request *pending =
        WEFT_NEW(tmp, MPI_Request, pieces_of(team, to) + pieces_of(team, from));
    char *in = receive;
    const char *out = send;
    int n = 0;
    weft_timer_begin(team);
    for (int r = 0; r < team->size; r++)
        for (size_t left = from[r], some; left > 0; left -= some, in += some) {
            some = left < PIECE ? left : PIECE;
            MPI_Irecv(in, (int)some, MPI_BYTE, r, 0, comm_of(team), &pending[n++]);
        }
    for (int r = 0; r < team->size; r++)
        for (size_t left = to[r], some; left > 0; left -= some, out += some) {
            some = left < PIECE ? left : PIECE;
            MPI_Isend(out, (int)some, MPI_BYTE, r, 0, comm_of(team), &pending[n++]);
        }
    MPI_Waitall(n, pending, MPI_STATUSES_IGNORE);
    weft_timer_end(team, (size_t)(out - (const char *)send));
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
