/* Vectors of which each rank owns a part: the sum over ranks of the own part (reduce and
 * scatter), and all parts for all ranks (gather). Where a team is on one node the ranks
 * read each other's numbers in shared memory, which takes a tenth of the time of messages;
 * else by MPI's collectives. Called by task sgd, random features and
 * models. */
#include "handle.h"
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
    char **of; /* [size] memory of each rank, where it is shared */
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

/* 1 if all ranks can share memory. Collective. */
static int can_share(const weft_team *t, size_t bytes)
{
    int shared = weft_one_node(comm_of(t)) && !getenv(FORCE) && has_room(t->size, bytes);
    MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, comm_of(t));
    return shared;
}

/* Each rank's memory is near it: its pages are first written by their owner. */
static void share(weft_parts *p, const weft_team *t)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared((MPI_Aint)p->bytes, 1, info, comm_of(t), &p->own, &p->win);
    MPI_Info_free(&info);
    p->of = WEFT_NEW(p->mem, char *, t->size);
    for (int r = 0; r < t->size; r++) {
        MPI_Aint size;
        int unit;
        MPI_Win_shared_query(p->win, r, &size, &unit, &p->of[r]);
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

/* A barrier after which each rank sees what the others have written before it. */
static void meet(const weft_team *t)
{
    MPI_Win_sync(t->parts->win);
    MPI_Barrier(comm_of(t));
    MPI_Win_sync(t->parts->win);
}

void *weft_parts_of(const weft_team *t, int rank)
{
    return t->parts && t->parts->of ? t->parts->of[rank] : NULL;
}

void weft_parts_meet(weft_team *t)
{
    weft_timer_begin(t);
    meet(t);
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

/* own: this rank's part at place `at` of the buffers. */
static void add_others(const weft_team *t, size_t at, size_t n, MPI_Datatype type)
{
    const weft_parts *p = t->parts;
    size_t width = width_of(type);
    for (size_t i = 0; i < n; i += AT_ONCE) {
        size_t from = at + i * width, many = n - i < AT_ONCE ? n - i : AT_ONCE;
        for (int k = 1; k < t->size; k++)
            add(many, type, p->of[(t->rank + k) % t->size] + from, p->own + from);
    }
}

/* Numbers and offsets of the parts of all ranks. */
static void fill_counts(const weft_team *t, size_t n, int *count, int *at)
{
    for (int r = 0; r < t->size; r++) {
        int64_t first, own;
        weft_deal((int64_t)n, r, t->size, &first, &own);
        count[r] = (int)own;
        at[r] = (int)first;
    }
}

/* The sum arrives at the beginning of x. */
static void reduce_scatter(const weft_team *t, void *x, size_t n, MPI_Datatype type)
{
    size_t width = width_of(type);
    weft_arena *tmp = weft_arena_new();
    int *count = WEFT_NEW(tmp, int, t->size), *at = WEFT_NEW(tmp, int, t->size);
    fill_counts(t, n, count, at);
    MPI_Reduce_scatter(MPI_IN_PLACE, x, count, type, MPI_SUM, comm_of(t));
    memmove((char *)x + (size_t)at[t->rank] * width, x, (size_t)count[t->rank] * width);
    weft_arena_free(tmp);
}

static void sum(weft_team *t, void *x, size_t n, MPI_Datatype type)
{
    size_t width = width_of(type);
    int64_t first, count;
    weft_deal((int64_t)n, t->rank, t->size, &first, &count);
    size_t at = place_of(t->parts, x, n, width) + (size_t)first * width;
    weft_timer_begin(t);
    if (t->parts->of) {
        meet(t);
        add_others(t, at, (size_t)count, type);
        meet(t);
    } else
        reduce_scatter(t, x, n, type);
    weft_timer_end(t, n * width);
}

void weft_parts_sum_i32(weft_team *t, int32_t *x, size_t n)
{
    if (t->size == 1) return;
    if (!t->parts->of && n > MOST)
        weft_sum_i32(t, x, n);
    else
        sum(t, x, n, MPI_INT32_T);
}

void weft_parts_sum_i64(weft_team *t, int64_t *x, size_t n)
{
    if (t->size == 1) return;
    if (!t->parts->of && n > MOST)
        weft_sum_i64(t, x, n);
    else
        sum(t, x, n, MPI_INT64_T);
}

void weft_parts_sum_whole_f64(weft_team *t, double *x, size_t n)
{
    if (t->size == 1) return;
    if (!t->parts->of && n > MOST)
        weft_sum_whole_f64(t, x, n);
    else
        sum(t, x, n, MPI_DOUBLE);
}

/* ---- joining ------------------------------------------------------------------------ */

/* Through the buffers, which begin with x. */
static void join_shared(const weft_team *t, real *x, size_t n)
{
    const weft_parts *p = t->parts;
    weft_check(n * sizeof *x <= p->bytes, "a vector larger than the buffer");
    for (int k = 0; k < t->size; k++) {
        int r = (t->rank + k) % t->size;
        int64_t first, count;
        weft_deal((int64_t)n, r, t->size, &first, &count);
        real *there = (real *)(void *)p->of[r] + first;
        size_t bytes = (size_t)count * sizeof *x;
        if (r == t->rank) {
            memcpy(there, x + first, bytes);
            meet(t);
        } else
            memcpy(x + first, there, bytes);
    }
    meet(t);
}

static void gather(const weft_team *t, real *x, size_t n)
{
    weft_arena *tmp = weft_arena_new();
    int *count = WEFT_NEW(tmp, int, t->size), *at = WEFT_NEW(tmp, int, t->size);
    fill_counts(t, n, count, at);
    MPI_Allgatherv(MPI_IN_PLACE, 0, REAL_MPI, x, count, at, REAL_MPI, comm_of(t));
    weft_arena_free(tmp);
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
    if (!t->parts->of && n > MOST) {
        send_parts(t, x, n);
        return;
    }
    weft_timer_begin(t);
    if (t->parts->of)
        join_shared(t, x, n);
    else
        gather(t, x, n);
    weft_timer_end(t, n * sizeof *x);
}
