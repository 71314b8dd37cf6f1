/* Messages between the leaders of teams, which do not wait for each other. A message is
 * sent in pieces small enough for MPI's eager protocol, so that sending does not depend on
 * the receiver, which receives when it polls. */
#include "peers.h"
#include "handle.h"

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
} outgoing;

/* Messages from another leader. */
typedef struct weft_sender {
    char *data;         /* [bytes] the message of which pieces are arriving */
    uint64_t bytes, at; /* total size; received so far; at = 0: no message is arriving */
    weft_arena *mem;    /* of data */
    int64_t messages;   /* messages received completely */
    int64_t sent;       /* messages that it has sent in total; -1: it has not left */
} sender;

/* Exchanges a first message with every other leader, because MPI makes a connection only if
 * both sides take part. */
static void connect(const weft_peers *p)
{
    for (int step = 1; step < p->size; step++) {
        int to = (p->rank + step) % p->size;
        int from = (p->rank + p->size - step) % p->size;
        MPI_Sendrecv(NULL, 0, MPI_BYTE, to, TAG_END, NULL, 0, MPI_BYTE, from, TAG_END,
                     p->comm, MPI_STATUS_IGNORE);
    }
}

weft_peers *weft_peers_join(const weft_team *t, int parts, weft_arena *mem)
{
    int first = weft_team_first(t->size, parts, weft_team_of(t->size, parts, t->rank));
    MPI_Comm comm;
    MPI_Comm_split(comm_of(t), t->rank == first ? 0 : MPI_UNDEFINED, t->rank, &comm);
    if (comm == MPI_COMM_NULL) return NULL;
    weft_peers *p = WEFT_NEW(mem, weft_peers, 1);
    *p = (weft_peers){.comm = comm};
    MPI_Comm_rank(comm, &p->rank);
    MPI_Comm_size(comm, &p->size);
    p->from = WEFT_NEW(mem, sender, p->size);
    for (int i = 0; i < p->size; i++) p->from[i].sent = -1;
    connect(p);
    return p;
}

/* ---- sending ---- */

/* Frees messages that were sent to all, up to the first that was not: those behind it
 * mostly wait for the same receiver, and to test all of many takes long. */
static void sweep(weft_peers *p)
{
    while (p->out) {
        outgoing *o = p->out;
        int gone = 0;
        MPI_Testall(o->n, o->request, &gone, MPI_STATUSES_IGNORE);
        if (!gone) return;
        p->out = o->next;
        if (!p->out) p->last = NULL;
        weft_arena_free(o->mem);
    }
}

void weft_peers_send(weft_peers *p, const void *data, size_t bytes)
{
    weft_arena *mem = weft_arena_new();
    uint64_t all = sizeof all + bytes;
    uint64_t pieces = (all + PIECE - 1) / PIECE;
    char *text = WEFT_NEW(mem, char, all);
    memcpy(text, &all, sizeof all);
    if (bytes > 0) memcpy(text + sizeof all, data, bytes);
    outgoing *o = WEFT_NEW(mem, outgoing, 1);
    *o = (outgoing){.mem = mem};
    o->request = WEFT_NEW(mem, MPI_Request, pieces * (uint64_t)p->size);
    for (uint64_t at = 0; at < all; at += PIECE)
        for (int step = 1; step < p->size; step++)
            MPI_Isend(text + at, (int)(all - at < PIECE ? all - at : PIECE), MPI_BYTE,
                      (p->rank + step) % p->size, TAG_PIECE, p->comm, &o->request[o->n++]);
    if (p->last)
        p->last->next = o;
    else
        p->out = o;
    p->last = o;
    p->sent++;
    sweep(p);
}

/* ---- receiving ---- */

/* Receives a piece; returns 1 if its message is complete. */
static int take_piece(weft_peers *p, const MPI_Status *s, weft_arena *mem,
                      weft_message *out)
{
    sender *f = &p->from[s->MPI_SOURCE];
    char piece[PIECE];
    int n;
    MPI_Get_count(s, MPI_BYTE, &n);
    MPI_Recv(piece, n, MPI_BYTE, s->MPI_SOURCE, TAG_PIECE, p->comm, MPI_STATUS_IGNORE);
    if (f->at == 0) {
        memcpy(&f->bytes, piece, sizeof f->bytes);
        f->mem = weft_arena_new();
        f->data = WEFT_NEW(f->mem, char, f->bytes);
    }
    memcpy(f->data + f->at, piece, (size_t)n);
    f->at += (uint64_t)n;
    if (f->at < f->bytes) return 0;
    size_t bytes = f->bytes - sizeof f->bytes;
    char *data = WEFT_NEW(mem, char, bytes);
    if (bytes > 0) memcpy(data, f->data + sizeof f->bytes, bytes);
    *out = (weft_message){.data = data, .bytes = bytes};
    weft_arena_free(f->mem);
    f->at = 0;
    f->messages++;
    return 1;
}

int weft_peers_receive(weft_peers *p, weft_message *out, weft_arena *mem)
{
    int there = 0;
    MPI_Status s;
    if (p->size == 1) return 0;
    sweep(p);
    for (;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_PIECE, p->comm, &there, &s);
        if (!there) return 0;
        if (take_piece(p, &s, mem, out)) return 1;
    }
}

int weft_peers_here(weft_peers *p)
{
    int there = 0;
    if (p->size > 1)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->comm, &there, MPI_STATUS_IGNORE);
    sweep(p);
    return there;
}

int weft_peers_left(weft_peers *p)
{
    int there = p->size > 1;
    while (there) {
        MPI_Status s;
        int64_t end[2]; /* messages sent; why */
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_END, p->comm, &there, &s);
        if (!there) break;
        MPI_Recv(end, 2, MPI_INT64_T, s.MPI_SOURCE, TAG_END, p->comm, MPI_STATUS_IGNORE);
        p->from[s.MPI_SOURCE].sent = end[0];
        if (end[1] > p->why) p->why = (int)end[1];
    }
    return p->why;
}

/* ---- leaving ---- */

int weft_peers_alone(const weft_peers *p)
{
    for (int i = 0; i < p->size; i++)
        if (i != p->rank && p->from[i].messages != p->from[i].sent) return 0;
    return 1;
}

void weft_peers_leave(weft_peers *p, int why)
{
    weft_arena *tmp = weft_arena_new();
    weft_message m;
    MPI_Request *request = WEFT_NEW(tmp, MPI_Request, p->size);
    const int64_t end[2] = {p->sent, why};
    int n = 0;
    for (int i = 0; i < p->size; i++)
        if (i != p->rank)
            MPI_Isend(end, 2, MPI_INT64_T, i, TAG_END, p->comm, &request[n++]);
    while (!weft_peers_alone(p)) {
        weft_peers_left(p);
        if (!weft_peers_receive(p, &m, tmp)) weft_nap(NAP_SECONDS);
    }
    MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    while (p->out) sweep(p);
    MPI_Comm_free(&p->comm);
    weft_arena_free(tmp);
}
