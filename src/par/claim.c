/* Claims of jobs by the leaders of teams: the first to claim a job gets it, without
 * cooperation of the other leaders. On one node a claim is a bit in shared memory, set by
 * an atomic operation; on several nodes it is a file in a shared directory, created with
 * O_EXCL. MPI's compare-and-swap is not used, because Open MPI 4.1 performs it over TCP
 * only while the target is in an MPI call, which a training rank is not. Tickets are
 * numbers that are each drawn only once. */
#include "nodes.h"
#include "peers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 64 };                    /* bits */
#define MAX_JOBS ((int64_t)1 << 24)    /* largest number of jobs in shared memory, 2 MB */
#define FORCE    "WEFT_CLAIMS_BY_FILE" /* environment variable: files also on one node */

struct weft_claims {
    const char *dir;         /* of the files */
    MPI_Win win;             /* window of the shared memory, if used */
    _Atomic uint64_t *taken; /* [MAX_JOBS / WORD]; NULL: none */
    _Atomic int64_t *ticket; /* the next one */
    int64_t last;            /* last ticket known to be drawn, if files are used */
    int64_t tries;           /* to create a file */
};

/* 1 if all leaders can share memory. Collective over the leaders. */
static int can_share(const weft_peers *p)
{
    int shared = weft_one_node(p->comm) && !getenv(FORCE);
    MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, p->comm);
    return shared;
}

/* Allocates zeroed shared memory, at the first leader: the ticket and the bits. */
static void open_memory(weft_claims *c, const weft_peers *p)
{
    const MPI_Aint bytes = (MPI_Aint)sizeof *c->ticket + MAX_JOBS / 8;
    MPI_Aint size;
    int unit;
    void *base;
    MPI_Win_allocate_shared(p->rank == 0 ? bytes : 0, 1, MPI_INFO_NULL, p->comm, &base,
                            &c->win);
    MPI_Win_shared_query(c->win, 0, &size, &unit, &base);
    if (p->rank == 0) memset(base, 0, (size_t)bytes);
    c->ticket = base;
    c->taken = (_Atomic uint64_t *)(c->ticket + 1);
}

weft_claims *weft_claims_open(const weft_peers *p, const char *dir, int64_t ticket,
                              weft_arena *mem)
{
    weft_claims *c = WEFT_NEW(mem, weft_claims, 1);
    *c = (weft_claims){.dir = dir, .win = MPI_WIN_NULL, .last = ticket - 1};
    if (can_share(p)) open_memory(c, p);
    if (c->ticket && p->rank == 0) atomic_store(c->ticket, ticket);
    MPI_Barrier(p->comm);
    return c;
}

/* 1 if the file did not exist and was created, or if it cannot be created for another
 * reason, which is reported when results are written. */
static int create(weft_claims *c, const char *path)
{
    c->tries++;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    int ours = fd >= 0 || errno != EEXIST;
    if (fd >= 0) close(fd);
    return ours;
}

static int claim_file(weft_claims *c, int64_t id)
{
    weft_arena *tmp = weft_arena_new();
    int ours = create(c, weft_arena_text(tmp, WEFT_CLAIM_NAME, c->dir, (long long)id));
    weft_arena_free(tmp);
    return ours;
}

static int ticket_file(weft_claims *c, int64_t id)
{
    weft_arena *tmp = weft_arena_new();
    int ours = create(c, weft_arena_text(tmp, WEFT_TICKET_NAME, c->dir, (long long)id));
    weft_arena_free(tmp);
    return ours;
}

int weft_claim(weft_claims *c, int64_t id)
{
    if (!c->taken || id >= MAX_JOBS) return claim_file(c, id);
    uint64_t bit = (uint64_t)1 << (id % WORD);
    return !(atomic_fetch_or(&c->taken[id / WORD], bit) & bit);
}

int64_t weft_claim_ticket(weft_claims *c)
{
    if (c->ticket) return atomic_fetch_add(c->ticket, 1);
    do {
        c->last++;
    } while (!ticket_file(c, c->last));
    return c->last;
}

/* Tickets are drawn without gaps. */
void weft_claim_drawn(weft_claims *c, int64_t ticket)
{
    if (ticket > c->last) c->last = ticket;
}

int weft_claims_by_file(const weft_claims *c)
{
    return !c->taken;
}

int64_t weft_claims_tries(const weft_claims *c)
{
    return c->tries;
}

void weft_claims_close(weft_claims *c)
{
    if (c->win != MPI_WIN_NULL) MPI_Win_free(&c->win);
}
