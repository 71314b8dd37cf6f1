/* Claims of jobs by the leaders of teams: the first to claim a job gets it, without
 * cooperation of the other leaders. On one node a claim is a bit in shared memory, set by
 * an atomic operation; on several nodes it is a file in a shared directory, created with
 * O_EXCL. MPI's compare-and-swap is not used, because Open MPI 4.1 performs it over TCP
 * only while the target is in an MPI call, which a training rank is not. Tickets are
 * numbers that are each drawn only once. */
#include "nodes.h"
#include "peers.h"
#include "weft/filenames.h"

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
static int create(weft_claims *claims, const char *path)
{
    claims->tries++;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    int ours = fd >= 0 || errno != EEXIST;
    if (fd >= 0) close(fd);
    return ours;
}

static int claim_file(weft_claims *claims, int64_t id)
{
    weft_arena *tmp = weft_arena_new();
    int ours = create(
        claims, weft_arena_text(tmp, "%s/" WEFT_CLAIM_NAME, claims->dir, (long long)id));
    weft_arena_free(tmp);
    return ours;
}

static int ticket_file(weft_claims *claims, int64_t id)
{
    weft_arena *tmp = weft_arena_new();
    int ours = create(
        claims, weft_arena_text(tmp, "%s/" WEFT_TICKET_NAME, claims->dir, (long long)id));
    weft_arena_free(tmp);
    return ours;
}

int weft_claim(weft_claims *claims, int64_t id)
{
    if (!claims->taken || id >= MAX_JOBS) return claim_file(claims, id);
    uint64_t bit = (uint64_t)1 << (id % WORD);
    return !(atomic_fetch_or(&claims->taken[id / WORD], bit) & bit);
}

int64_t weft_claim_ticket(weft_claims *claims)
{
    if (claims->ticket) return atomic_fetch_add(claims->ticket, 1);
    do {
        claims->last++;
    } while (!ticket_file(claims, claims->last));
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

int64_t weft_claims_tries(const weft_claims *claims)
{
    return claims->tries;
}

void weft_claims_close(weft_claims *claims)
{
    if (claims->win != MPI_WIN_NULL) MPI_Win_free(&claims->win);
}
