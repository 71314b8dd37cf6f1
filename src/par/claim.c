/* Claims of jobs by the leaders of teams: the first to claim a job has it, and no leader
 * needs another one's help to know. On one node a bit for each job in shared memory, set by
 * an atomic operation; on several a file for each in a directory that all see, created if
 * it is not there (O_EXCL). MPI's own compare-and-swap would do for neither: Open MPI 4.1
 * carries it out over TCP only while the target is in a call of MPI, which one that trains
 * is not. Tickets are numbers that each is drawn once. Called by run. */
#include "peers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 64 };                     /* bits */
#define MOST_JOBS ((int64_t)1 << 24)    /* that shared memory has room for: 2 MB */
#define FORCE     "WEFT_CLAIMS_BY_FILE" /* set in the environment: also on one node */

struct weft_claims {
    const char *dir;         /* of the files */
    MPI_Win win;             /* of the memory, where there is any */
    _Atomic uint64_t *taken; /* [MOST_JOBS / WORD]; NULL: none */
    _Atomic int64_t *ticket; /* the next one */
    int64_t last;            /* ticket that was drawn here, where files are */
};

/* 1 if all leaders can share memory. Collective over the leaders. */
static int is_one_node(const weft_peers *p)
{
    MPI_Comm node;
    int n;
    MPI_Comm_split_type(p->comm, MPI_COMM_TYPE_SHARED, p->rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    int shared = n == p->size && !getenv(FORCE);
    MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, p->comm);
    return shared;
}

/* Memory of the first leader, zero: the ticket, the bits. */
static void open_memory(weft_claims *c, const weft_peers *p)
{
    const MPI_Aint bytes = (MPI_Aint)sizeof *c->ticket + MOST_JOBS / 8;
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
    if (is_one_node(p)) open_memory(c, p);
    if (c->ticket && p->rank == 0) atomic_store(c->ticket, ticket);
    MPI_Barrier(p->comm);
    return c;
}

/* 1 if the file was not there. Where it cannot be created for another reason, that is left
 * to those who write what is needed. */
static int create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    int ours = fd >= 0 || errno != EEXIST;
    if (fd >= 0) close(fd);
    return ours;
}

static int claim_file(const char *dir, int64_t id)
{
    weft_arena *tmp = weft_arena_new();
    int ours = create(weft_arena_text(tmp, WEFT_CLAIM_NAME, dir, (long long)id));
    weft_arena_free(tmp);
    return ours;
}

static int ticket_file(const char *dir, int64_t id)
{
    weft_arena *tmp = weft_arena_new();
    int ours = create(weft_arena_text(tmp, WEFT_TICKET_NAME, dir, (long long)id));
    weft_arena_free(tmp);
    return ours;
}

int weft_claim(weft_claims *c, int64_t id)
{
    if (!c->taken || id >= MOST_JOBS) return claim_file(c->dir, id);
    uint64_t bit = (uint64_t)1 << (id % WORD);
    return !(atomic_fetch_or(&c->taken[id / WORD], bit) & bit);
}

int64_t weft_claim_ticket(weft_claims *c)
{
    if (c->ticket) return atomic_fetch_add(c->ticket, 1);
    do {
        c->last++;
    } while (!ticket_file(c->dir, c->last));
    return c->last;
}

void weft_claims_close(weft_claims *c)
{
    if (c->win != MPI_WIN_NULL) MPI_Win_free(&c->win);
}
