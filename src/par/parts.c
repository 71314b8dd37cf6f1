/* Vectors of which each rank owns a part: the sum over ranks of the own part (reduce and
 * scatter), and all parts for all ranks (gather). The ranks of a node read each other's
 * numbers in shared memory, which takes a tenth of the time of messages; between nodes go
 * the sums of whole nodes, each number once and not for each rank. Where memory is not
 * shared, by MPI's collectives. Called by task sgd, random features and models. */
#include "nodes.h"
#include "timer.h"

#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FORCE  "WEFT_SUMS_BY_MESSAGE" /* environment variable: messages also on one node */
#define MEMORY "/dev/shm"             /* where Open MPI places shared memory */

enum { AT_ONCE = 4096 };       /* numbers that stay in cache while they are summed */
#define MOST ((size_t)1 << 28) /* numbers for which MPI's counts suffice */

#ifdef WEFT_DOUBLE
#define REAL_MPI MPI_DOUBLE
#else
#define REAL_MPI MPI_FLOAT
#endif

struct weft_parts {
    weft_arena *mem;
    size_t bytes;
    MPI_Win win; /* MPI_WIN_NULL: memory is not shared */
    char *own;
    char **of;               /* [ranks of the node] memory of each, where it is shared */
    const weft_nodes *nodes; /* where it is shared */
};

/* ---- memory ------------------------------------------------------------------------- */

/* 1 if there is room for so much shared memory of each rank of the node; the ranks of other
 * teams, at most as many as CPUs, may need as much. */
static int has_room(int ranks, size_t bytes)
{
    struct statvfs disk;
    if (statvfs(MEMORY, &disk) != 0) return 0;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    double most = cpus > ranks ? (double)cpus : ranks;
    return 2 * most * (double)bytes <= (double)disk.f_bavail * (double)disk.f_frsize;
}

/* 1 if on all nodes the ranks can share memory. Collective. */
static int can_share(weft_team *t, size_t bytes)
{
    const weft_nodes *n = weft_nodes_of(t);
    int shared = n->whole && n->ranks > 1 && !getenv(FORCE) && has_room(n->ranks, bytes);
    MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, comm_of(t));
    return shared;
}

/* Each rank's memory is near it: its pages are first written by their owner. */
static void share(weft_parts *p, weft_team *t)
{
    const weft_nodes *nodes = p->nodes = weft_nodes_of(t);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared((MPI_Aint)p->bytes, 1, info, nodes->near, &p->own, &p->win);
    MPI_Info_free(&info);
    p->of = WEFT_NEW(p->mem, char *, nodes->ranks);
    for (int k = 0; k < nodes->ranks; k++) {
        MPI_Aint size;
        int unit;
        MPI_Win_shared_query(p->win, k, &size, &unit, &p->of[k]);
    }
    memset(p->own, 0, p->bytes);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, p->win);
}

void weft_parts_close(weft_team *t)
{
    weft_parts *p = t->parts;
    t->parts = NULL;
    if (!p) return;
    if (p->of) {
        MPI_Win_unlock_all(p->win);
        MPI_Win_free(&p->win);
    }
    weft_arena_free(p->mem);
}

void *weft_parts_buffer(weft_team *t, size_t bytes)
{
    if (t->parts && t->parts->bytes >= bytes) return t->parts->own;
    weft_parts_close(t);
    weft_timer_begin(t);
    weft_arena *mem = weft_arena_new();
    weft_parts *p = WEFT_NEW(mem, weft_parts, 1);
    *p = (weft_parts){.mem = mem, .bytes = bytes, .win = MPI_WIN_NULL};
    if (t->size > 1 && can_share(t, bytes))
        share(p, t);
    else
        p->own = weft_arena_alloc(mem, bytes, 1);
    t->parts = p;
    weft_timer_end(t, 0);
    return p->own;
}

/* A barrier of a node after which each rank sees what the others have written before it. */
static void meet(const weft_parts *p)
{
    MPI_Win_sync(p->win);
    MPI_Barrier(p->nodes->near);
    MPI_Win_sync(p->win);
}

void *weft_parts_of(const weft_team *t, int rank)
{
    const weft_parts *p = t->parts;
    return p && p->of && p->nodes->count == 1 ? p->of[rank] : NULL;
}

void weft_parts_meet(weft_team *t)
{
    weft_timer_begin(t);
    meet(t->parts);
    weft_timer_end(t, 0);
}

/* Offset in the buffer of x, of which n numbers of that width are in it. */
static size_t place_of(const weft_parts *p, const void *x, size_t n, size_t width)
{
    size_t at = (size_t)((const char *)x - p->own);
    weft_check(at <= p->bytes && n * width <= p->bytes - at, "a vector beyond the buffer");
    return at;
}

/* ---- sums --------------------------------------------------------------------------- */

/* 1 if MPI's counts do not suffice for n numbers, and messages are needed. */
static int too_many(const weft_parts *p, size_t n)
{
    return n > MOST && !(p->of && p->nodes->count == 1);
}

static size_t width_of(MPI_Datatype type)
{
    return type == MPI_INT32_T ? sizeof(int32_t) : sizeof(int64_t);
}

static void add_i32(size_t n, const int32_t *x, int32_t *sum)
{
    for (size_t i = 0; i < n; i++) sum[i] += x[i];
}

static void add_i64(size_t n, const int64_t *x, int64_t *sum)
{
    for (size_t i = 0; i < n; i++) sum[i] += x[i];
}

static void add_f64(size_t n, const double *x, double *sum)
{
    for (size_t i = 0; i < n; i++) sum[i] += x[i];
}

static void add(size_t n, MPI_Datatype type, const void *from, void *to)
{
    if (type == MPI_INT32_T) add_i32(n, from, to);
    if (type == MPI_INT64_T) add_i64(n, from, to);
    if (type == MPI_DOUBLE) add_f64(n, from, to);
}

/* Adds what the others of the node have at byte `at` of their buffers. */
static void add_others(const weft_parts *p, size_t at, size_t n, MPI_Datatype type)
{
    const weft_nodes *nodes = p->nodes;
    size_t width = width_of(type);
    for (size_t i = 0; i < n; i += AT_ONCE) {
        size_t from = at + i * width, many = n - i < AT_ONCE ? n - i : AT_ONCE;
        for (int k = 1; k < nodes->ranks; k++)
            add(many, type, p->of[(nodes->place + k) % nodes->ranks] + from, p->own + from);
    }
}

/* Numbers and offsets of the parts of `size` ranks: every step-th one from `first`. */
static void fill_parts(const weft_team *t, size_t n, int first, int step, int size,
                       int *count, int *at)
{
    for (int r = 0; r < size; r++) {
        int64_t from, own;
        weft_deal((int64_t)n, first + r * step, t->size, &from, &own);
        count[r] = (int)own;
        at[r] = (int)from;
    }
}

/* x has the sums over this node of the parts of the ranks in this rank's place; the part of
 * this rank gets the sum over nodes. */
static void add_nodes(const weft_team *t, char *x, size_t n, MPI_Datatype type)
{
    const weft_nodes *nodes = t->parts->nodes;
    size_t width = width_of(type), own = 0, all = 0;
    weft_arena *tmp = weft_arena_new();
    int *count = WEFT_NEW(tmp, int, nodes->count), *at = WEFT_NEW(tmp, int, nodes->count);
    fill_parts(t, n, nodes->place, nodes->ranks, nodes->count, count, at);
    for (int b = 0; b < nodes->count; b++) all += (size_t)count[b];
    char *sum = WEFT_NEW(tmp, char, all *width);
    for (int b = 0; b < nodes->count; own += (size_t)count[b++] * width)
        memcpy(sum + own, x + (size_t)at[b] * width, (size_t)count[b] * width);
    MPI_Reduce_scatter(MPI_IN_PLACE, sum, count, type, MPI_SUM, nodes->far);
    memcpy(x + (size_t)at[nodes->node] * width, sum, (size_t)count[nodes->node] * width);
    weft_arena_free(tmp);
}

/* n numbers at byte `at` of the buffer. */
static void sum_shared(const weft_team *t, size_t at, size_t n, MPI_Datatype type)
{
    const weft_parts *p = t->parts;
    const weft_nodes *nodes = p->nodes;
    meet(p);
    for (int b = 0; b < nodes->count; b++) {
        int64_t first, count;
        weft_deal((int64_t)n, b * nodes->ranks + nodes->place, t->size, &first, &count);
        add_others(p, at + (size_t)first * width_of(type), (size_t)count, type);
    }
    meet(p);
    if (nodes->count > 1) add_nodes(t, p->own + at, n, type);
}

/* The sum arrives at the beginning of x. */
static void reduce_scatter(const weft_team *t, void *x, size_t n, MPI_Datatype type)
{
    size_t width = width_of(type);
    weft_arena *tmp = weft_arena_new();
    int *count = WEFT_NEW(tmp, int, t->size), *at = WEFT_NEW(tmp, int, t->size);
    fill_parts(t, n, 0, 1, t->size, count, at);
    MPI_Reduce_scatter(MPI_IN_PLACE, x, count, type, MPI_SUM, comm_of(t));
    memmove((char *)x + (size_t)at[t->rank] * width, x, (size_t)count[t->rank] * width);
    weft_arena_free(tmp);
}

static void sum(weft_team *t, void *x, size_t n, MPI_Datatype type)
{
    size_t width = width_of(type), at = place_of(t->parts, x, n, width);
    weft_timer_begin(t);
    if (t->parts->of)
        sum_shared(t, at, n, type);
    else
        reduce_scatter(t, x, n, type);
    weft_timer_end(t, n * width);
}

void weft_parts_sum_i32(weft_team *t, int32_t *x, size_t n)
{
    if (t->size == 1) return;
    if (too_many(t->parts, n))
        weft_sum_i32(t, x, n);
    else
        sum(t, x, n, MPI_INT32_T);
}

void weft_parts_sum_i64(weft_team *t, int64_t *x, size_t n)
{
    if (t->size == 1) return;
    if (too_many(t->parts, n))
        weft_sum_i64(t, x, n);
    else
        sum(t, x, n, MPI_INT64_T);
}

void weft_parts_sum_whole_f64(weft_team *t, double *x, size_t n)
{
    if (t->size == 1) return;
    if (too_many(t->parts, n))
        weft_sum_whole_f64(t, x, n);
    else
        sum(t, x, n, MPI_DOUBLE);
}

/* ---- joining ------------------------------------------------------------------------ */

/* The parts of the `size` ranks of comm: of the team every step-th one from `first`. */
static void gather(const weft_team *t, real *x, size_t n, int first, int step, int size,
                   MPI_Comm comm)
{
    weft_arena *tmp = weft_arena_new();
    int *count = WEFT_NEW(tmp, int, size), *at = WEFT_NEW(tmp, int, size);
    fill_parts(t, n, first, step, size, count, at);
    MPI_Allgatherv(MPI_IN_PLACE, 0, REAL_MPI, x, count, at, REAL_MPI, comm);
    weft_arena_free(tmp);
}

/* Through the buffers, which begin with x. */
static void join_shared(const weft_team *t, real *x, size_t n)
{
    const weft_parts *p = t->parts;
    const weft_nodes *nodes = p->nodes;
    weft_check(n * sizeof *x <= p->bytes, "a vector larger than the buffer");
    if (nodes->count > 1)
        gather(t, x, n, nodes->place, nodes->ranks, nodes->count, nodes->far);
    for (int k = 0; k < nodes->ranks; k++) {
        int place = (nodes->place + k) % nodes->ranks;
        real *theirs = (real *)(void *)p->of[place];
        for (int b = 0; b < nodes->count; b++) {
            int64_t first, count;
            weft_deal((int64_t)n, b * nodes->ranks + place, t->size, &first, &count);
            size_t bytes = (size_t)count * sizeof *x;
            if (k == 0)
                memcpy(theirs + first, x + first, bytes);
            else
                memcpy(x + first, theirs + first, bytes);
        }
        if (k == 0) meet(p);
    }
    meet(p);
}

/* Vectors that are too long for MPI's counts. */
static void send_parts(weft_team *t, real *x, size_t n)
{
    for (int r = 0; r < t->size; r++) {
        int64_t first, count;
        weft_deal((int64_t)n, r, t->size, &first, &count);
        weft_bcast(t, x + first, (size_t)count * sizeof *x, r);
    }
}

void weft_parts_join(weft_team *t, real *x, size_t n)
{
    if (t->size == 1) return;
    if (too_many(t->parts, n)) {
        send_parts(t, x, n);
        return;
    }
    weft_timer_begin(t);
    if (t->parts->of)
        join_shared(t, x, n);
    else
        gather(t, x, n, 0, 1, t->size, comm_of(t));
    weft_timer_end(t, n * sizeof *x);
}
