/* The leaders of teams, which do not wait for each other.
 *
 * A message is sent in pieces small enough for MPI's eager protocol, so that sending does
 * not depend on the receiver, which receives when it polls.
 *
 * The first to claim a job gets it, without cooperation of the other leaders. On one node a
 * claim is a bit in shared memory, set by an atomic operation; on several nodes it is a
 * file in a shared directory, created with O_EXCL. MPI's compare-and-swap is not used,
 * because Open MPI 4.1 performs it over TCP only while the target is in an MPI call, which
 * a training rank is not. Tickets are numbers that are each drawn only once. */
#include "handle.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/par/par.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define NAP_SECONDS 1e-3

enum { TAG_PIECE = 1, TAG_END };
#define PIECE 4000 /* bytes; Open MPI's shortest limit of what is sent at once is 4096 */

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

struct weft_peers {
    MPI_Comm comm;
    int rank, size;
    int64_t sent;              /* messages */
    struct weft_outgoing *out; /* on their way, the oldest first */
    struct weft_outgoing *last;
    struct weft_sender *from; /* [size] what came of each */
    int why;                  /* why another one left; 0: none did */
};

/* Exchanges a first message with every other leader, because MPI makes a connection only if
 * both sides take part. */
static void connect_all(const weft_peers *peers)
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
    connect_all(peers);
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
    WEFT_SCRATCH(tmp);
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
}

/* ---- claims ---- */

enum { WORD = 64 };                    /* bits */
#define MAX_JOBS ((int64_t)1 << 24)    /* largest number of jobs in shared memory, 2 MB */
#define FORCE    "WEFT_CLAIMS_BY_FILE" /* environment variable: files also on one node */

struct weft_claims {
    const char *dir;         /* of the files */
    MPI_Win win;             /* window of the shared memory, if used */
    _Atomic uint64_t *taken; /* [MAX_JOBS / WORD]; NULL: none */
    _Atomic int64_t *ticket; /* the next one */
    int64_t last;            /* last ticket known to be drawn, if files are used */
};

/* 1 if all leaders can share memory. Collective over the leaders. */
static int can_share(const weft_peers *peers)
{
    int shared = weft_one_node(peers->comm) && !getenv(FORCE);
    MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, peers->comm);
    return shared;
}

/* Allocates zeroed shared memory, at the first leader: the ticket and the bits. */
static void open_memory(weft_claims *claims, const weft_peers *peers)
{
    const MPI_Aint bytes = (MPI_Aint)sizeof *claims->ticket + MAX_JOBS / 8;
    MPI_Aint size;
    int unit;
    void *base;
    MPI_Win_allocate_shared(peers->rank == 0 ? bytes : 0, 1, MPI_INFO_NULL, peers->comm,
                            &base, &claims->win);
    MPI_Win_shared_query(claims->win, 0, &size, &unit, &base);
    if (peers->rank == 0) memset(base, 0, (size_t)bytes);
    claims->ticket = base;
    claims->taken = (_Atomic uint64_t *)(claims->ticket + 1);
}

weft_claims *weft_claims_open(const weft_peers *peers, const char *dir, int64_t ticket,
                              weft_arena *mem)
{
    weft_claims *claims = WEFT_NEW(mem, weft_claims, 1);
    *claims = (weft_claims){.dir = dir, .win = MPI_WIN_NULL, .last = ticket - 1};
    if (can_share(peers)) open_memory(claims, peers);
    if (claims->ticket && peers->rank == 0) atomic_store(claims->ticket, ticket);
    MPI_Barrier(peers->comm);
    return claims;
}

/* 1 if the file did not exist and was created, or if it cannot be created for another
 * reason, which is reported when results are written. */
static int create_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    int ours = fd >= 0 || errno != EEXIST;
    if (fd >= 0) close(fd);
    return ours;
}

static int claim_file(const weft_claims *claims, int ticket, int64_t id)
{
    WEFT_SCRATCH(tmp);
    const char *path =
        ticket ? weft_arena_text(tmp, "%s/" WEFT_TICKET_NAME, claims->dir, (long long)id)
               : weft_arena_text(tmp, "%s/" WEFT_CLAIM_NAME, claims->dir, (long long)id);
    return create_file(path);
}

int weft_claim(weft_claims *claims, int64_t id)
{
    if (!claims->taken || id >= MAX_JOBS) return claim_file(claims, 0, id);
    uint64_t bit = (uint64_t)1 << (id % WORD);
    return !(atomic_fetch_or(&claims->taken[id / WORD], bit) & bit);
}

int64_t weft_claim_ticket(weft_claims *claims)
{
    if (claims->ticket) return atomic_fetch_add(claims->ticket, 1);
    do {
        claims->last++;
    } while (!claim_file(claims, 1, claims->last));
    return claims->last;
}

/* Tickets are drawn without gaps. */
void weft_claim_drawn(weft_claims *claims, int64_t ticket)
{
    if (ticket > claims->last) claims->last = ticket;
}

int weft_claims_by_file(const weft_claims *claims)
{
    return !claims->taken;
}

void weft_claims_close(weft_claims *claims)
{
    if (claims->win != MPI_WIN_NULL) MPI_Win_free(&claims->win);
}
