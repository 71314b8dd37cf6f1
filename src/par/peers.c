/* Messages between the leaders of teams, which do not wait for each other. A message is
 * sent in pieces small enough for MPI's eager protocol, so that sending does not depend on
 * the receiver, which receives when it polls. */
#include "peers.h"
#include "handle.h"
#include "weft/clock.h"

#include <string.h>

#define NAP_SECONDS 1e-3

enum { TAG_PIECE = 1, TAG_END };
enum {
    PIECE = 4000
}; /* bytes; Open MPI's shortest limit of what is sent at once is 4096 */

/* A message on its way to all others. */
typedef struct weft_outgoing {
    MPI_Request *request; /* [n] */
    int n;
    weft_arena *mem; /* its own */
    struct weft_outgoing *next;
} weft_outgoing;

/* Messages from another leader. */
typedef struct weft_sender {
    char *data;         /* [bytes] the message of which pieces are arriving */
    uint64_t bytes, at; /* total size; received so far; at = 0: no message is arriving */
    weft_arena *mem;    /* of data */
    int64_t messages;   /* messages received completely */
    int64_t sent;       /* messages that it has sent in total; -1: it has not left */
} weft_sender;

/* Exchanges a first message with every other leader, because MPI makes a connection only if
 * both sides take part. */
static void connect(const weft_peers *peers)
{
    for (int step = 1; step < peers->size; step++) {
        int to = (peers->rank + step) % peers->size;
        int from = (peers->rank + peers->size - step) % peers->size;
        MPI_Sendrecv(NULL, 0, MPI_BYTE, to, TAG_END, NULL, 0, MPI_BYTE, from, TAG_END,
                     peers->comm, MPI_STATUS_IGNORE);
    }
}

weft_peers *weft_peers_join(const weft_team *team, int parts, weft_arena *mem)
{
    int first =
        weft_team_first(team->size, parts, weft_team_of(team->size, parts, team->rank));
    MPI_Comm comm;
    MPI_Comm_split(comm_of(team), team->rank == first ? 0 : MPI_UNDEFINED, team->rank,
                   &comm);
    if (comm == MPI_COMM_NULL) return NULL;
    weft_peers *peers = WEFT_NEW(mem, weft_peers, 1);
    *peers = (weft_peers){.comm = comm};
    MPI_Comm_rank(comm, &peers->rank);
    MPI_Comm_size(comm, &peers->size);
    peers->from = WEFT_NEW(mem, weft_sender, peers->size);
    for (int i = 0; i < peers->size; i++) peers->from[i].sent = -1;
    connect(peers);
    return peers;
}

/* ---- sending ---- */

/* Frees messages that were sent to all, up to the first that was not: those behind it
 * mostly wait for the same receiver, and to test all of many takes long. */
static void sweep(weft_peers *peers)
{
    while (peers->out) {
        weft_outgoing *outgoing = peers->out;
        int gone = 0;
        MPI_Testall(outgoing->n, outgoing->request, &gone, MPI_STATUSES_IGNORE);
        if (!gone) return;
        peers->out = outgoing->next;
        if (!peers->out) peers->last = NULL;
        weft_arena_free(outgoing->mem);
    }
}

void weft_peers_send(weft_peers *peers, const void *data, size_t bytes)
{
    weft_arena *mem = weft_arena_new();
    uint64_t all = sizeof all + bytes;
    uint64_t pieces = (all + PIECE - 1) / PIECE;
    char *text = WEFT_NEW(mem, char, all);
    memcpy(text, &all, sizeof all);
    if (bytes > 0) memcpy(text + sizeof all, data, bytes);
    weft_outgoing *outgoing = WEFT_NEW(mem, weft_outgoing, 1);
    *outgoing = (weft_outgoing){.mem = mem};
    outgoing->request = WEFT_NEW(mem, MPI_Request, pieces * (uint64_t)peers->size);
    for (uint64_t at = 0; at < all; at += PIECE)
        for (int step = 1; step < peers->size; step++)
            MPI_Isend(text + at, (int)(all - at < PIECE ? all - at : PIECE), MPI_BYTE,
                      (peers->rank + step) % peers->size, TAG_PIECE, peers->comm,
                      &outgoing->request[outgoing->n++]);
    if (peers->last)
        peers->last->next = outgoing;
    else
        peers->out = outgoing;
    peers->last = outgoing;
    peers->sent++;
    sweep(peers);
}

/* ---- receiving ---- */

/* Receives a piece; returns 1 if its message is complete. */
static int take_piece(weft_peers *peers, const MPI_Status *status, weft_arena *mem,
                      weft_message *out)
{
    weft_sender *sender = &peers->from[status->MPI_SOURCE];
    char piece[PIECE];
    int n;
    MPI_Get_count(status, MPI_BYTE, &n);
    MPI_Recv(piece, n, MPI_BYTE, status->MPI_SOURCE, TAG_PIECE, peers->comm,
             MPI_STATUS_IGNORE);
    if (sender->at == 0) {
        memcpy(&sender->bytes, piece, sizeof sender->bytes);
        sender->mem = weft_arena_new();
        sender->data = WEFT_NEW(sender->mem, char, sender->bytes);
    }
    memcpy(sender->data + sender->at, piece, (size_t)n);
    sender->at += (uint64_t)n;
    if (sender->at < sender->bytes) return 0;
    size_t bytes = sender->bytes - sizeof sender->bytes;
    char *data = WEFT_NEW(mem, char, bytes);
    if (bytes > 0) memcpy(data, sender->data + sizeof sender->bytes, bytes);
    *out = (weft_message){.data = data, .bytes = bytes};
    weft_arena_free(sender->mem);
    sender->at = 0;
    sender->messages++;
    return 1;
}

int weft_peers_receive(weft_peers *peers, weft_message *out, weft_arena *mem)
{
    int there = 0;
    MPI_Status status;
    if (peers->size == 1) return 0;
    sweep(peers);
    for (;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_PIECE, peers->comm, &there, &status);
        if (!there) return 0;
        if (take_piece(peers, &status, mem, out)) return 1;
    }
}

int weft_peers_here(weft_peers *peers)
{
    int there = 0;
    if (peers->size > 1)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, peers->comm, &there, MPI_STATUS_IGNORE);
    sweep(peers);
    return there;
}

int weft_peers_left(weft_peers *peers)
{
    int there = peers->size > 1;
    while (there) {
        MPI_Status status;
        int64_t end[2]; /* messages sent; why */
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_END, peers->comm, &there, &status);
        if (!there) break;
        MPI_Recv(end, 2, MPI_INT64_T, status.MPI_SOURCE, TAG_END, peers->comm,
                 MPI_STATUS_IGNORE);
        peers->from[status.MPI_SOURCE].sent = end[0];
        if (end[1] > peers->why) peers->why = (int)end[1];
    }
    return peers->why;
}

/* ---- leaving ---- */

int weft_peers_alone(const weft_peers *peers)
{
    for (int i = 0; i < peers->size; i++)
        if (i != peers->rank && peers->from[i].messages != peers->from[i].sent) return 0;
    return 1;
}

void weft_peers_leave(weft_peers *peers, int why)
{
    weft_arena *tmp = weft_arena_new();
    weft_message message;
    MPI_Request *request = WEFT_NEW(tmp, MPI_Request, peers->size);
    const int64_t end[2] = {peers->sent, why};
    int n = 0;
    for (int i = 0; i < peers->size; i++)
        if (i != peers->rank)
            MPI_Isend(end, 2, MPI_INT64_T, i, TAG_END, peers->comm, &request[n++]);
    while (!weft_peers_alone(peers)) {
        weft_peers_left(peers);
        if (!weft_peers_receive(peers, &message, tmp)) weft_nap(NAP_SECONDS);
    }
    MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    while (peers->out) sweep(peers);
    MPI_Comm_free(&peers->comm);
    weft_arena_free(tmp);
}
