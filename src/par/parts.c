/* Vectors of which each rank owns a part: the sum over ranks of the own part (reduce and
 * scatter), and all parts for all ranks (gather). The ranks of a node read each other's
 * numbers in shared memory, which takes a tenth of the time of messages; between nodes go
 * the sums of whole nodes, each number once and not for each rank. Where memory is not
 * shared, by MPI's collectives. */
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

/* ---- memory ---- */

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

/* ---- messages ---- */

/* Ranks that sum or gather their parts: of the team every step-th one from `first`. */
typedef struct group {
    int first, step, size;
    int own; /* the rank in comm of this one */
    MPI_Comm comm;
} group;

static group all_of(const weft_team *t)
{
    return (group){.step = 1, .size = t->size, .own = t->rank, .comm = comm_of(t)};
}

/* The ranks in this rank's place on all nodes. */
static group far_of(const weft_nodes *n)
{
    return (group){.first = n->place,
                   .step = n->ranks,
                   .size = n->count,
                   .own = n->node,
                   .comm = n->far};
}

/* Vectors x[c][n] of numbers of `width` bytes. */
typedef struct vectors {
    char *x;
    int c;
    size_t n, width;
} vectors;

/* The parts of the vectors that the group's ranks own, one rank after the other: count[r]
 * numbers at at[r] of x. */
typedef struct packed {
    int *count, *at;
    char *x;
} packed;

static packed packed_new(const weft_team *t, group g, const vectors *v, weft_arena *tmp)
{
    packed p = {.count = WEFT_NEW(tmp, int, g.size), .at = WEFT_NEW(tmp, int, g.size)};
    int64_t first, count, all = 0;
    for (int r = 0; r < g.size; r++) {
        weft_deal((int64_t)v->n, g.first + r * g.step, t->size, &first, &count);
        p.count[r] = (int)(v->c * count);
        p.at[r] = (int)all;
        all += v->c * count;
    }
    p.x = WEFT_NEW(tmp, char, (size_t)all * v->width);
    return p;
}

/* Copies the parts of rank r of the group into the packed ones; back 1: from them. */
static void copy(const weft_team *t, group g, int r, const vectors *v, const packed *p,
                 int back)
{
    int64_t first, count;
    weft_deal((int64_t)v->n, g.first + r * g.step, t->size, &first, &count);
    char *to = p->x + (size_t)p->at[r] * v->width;
    for (int j = 0; j < v->c; j++, to += (size_t)count * v->width) {
        char *x = v->x + ((size_t)j * v->n + (size_t)first) * v->width;
        memcpy(back ? x : to, back ? to : x, (size_t)count * v->width);
    }
}

/* The own part becomes the sum over the group. */
static void reduce_scatter(const weft_team *t, group g, const vectors *v, MPI_Datatype type)
{
    weft_arena *tmp = weft_arena_new();
    packed p = packed_new(t, g, v, tmp);
    for (int r = 0; r < g.size; r++) copy(t, g, r, v, &p, 0);
    MPI_Reduce_scatter(MPI_IN_PLACE, p.x, p.count, type, MPI_SUM, g.comm);
    p.at[g.own] = 0;
    copy(t, g, g.own, v, &p, 1);
    weft_arena_free(tmp);
}

/* All parts of the group's ranks. */
static void gather(const weft_team *t, group g, const vectors *v)
{
    weft_arena *tmp = weft_arena_new();
    packed p = packed_new(t, g, v, tmp);
    copy(t, g, g.own, v, &p, 0);
    MPI_Allgatherv(MPI_IN_PLACE, 0, REAL_MPI, p.x, p.count, p.at, REAL_MPI, g.comm);
    for (int r = 0; r < g.size; r++)
        if (r != g.own) copy(t, g, r, v, &p, 1);
    weft_arena_free(tmp);
}

/* 1 if MPI's counts do not suffice for n numbers. */
static int too_many(const weft_parts *p, size_t n)
{
    return n > MOST && !(p->of && p->nodes->count == 1);
}

/* ---- sums ---- */

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

/* Vectors x[c][n] in the buffer, at byte `at` of it. */
static void sum_shared(const weft_team *t, const vectors *v, size_t at, MPI_Datatype type)
{
    const weft_parts *p = t->parts;
    const weft_nodes *nodes = p->nodes;
    meet(p);
    for (int b = 0; b < nodes->count; b++) {
        int64_t first, count;
        weft_deal((int64_t)v->n, b * nodes->ranks + nodes->place, t->size, &first, &count);
        for (int j = 0; j < v->c; j++) {
            size_t from = (size_t)j * v->n + (size_t)first;
            add_others(p, at + from * v->width, (size_t)count, type);
        }
    }
    meet(p);
    if (nodes->count > 1) reduce_scatter(t, far_of(nodes), v, type);
}

static void sum(weft_team *t, void *x, int c, size_t n, MPI_Datatype type)
{
    const vectors v = {.x = x, .c = c, .n = n, .width = width_of(type)};
    size_t all = (size_t)c * n, at = place_of(t->parts, x, all, v.width);
    weft_timer_begin(t);
    if (t->parts->of)
        sum_shared(t, &v, at, type);
    else
        reduce_scatter(t, all_of(t), &v, type);
    weft_timer_end(t, all * v.width);
}

void weft_parts_sum_i32(weft_team *t, int32_t *x, size_t n)
{
    if (t->size == 1) return;
    if (too_many(t->parts, n))
        weft_sum_i32(t, x, n);
    else
        sum(t, x, 1, n, MPI_INT32_T);
}

void weft_parts_sum_i64(weft_team *t, int64_t *x, size_t n)
{
    if (t->size == 1) return;
    if (too_many(t->parts, n))
        weft_sum_i64(t, x, n);
    else
        sum(t, x, 1, n, MPI_INT64_T);
}

void weft_parts_sum_whole_f64(weft_team *t, double *x, int c, size_t n)
{
    if (t->size == 1) return;
    if (too_many(t->parts, (size_t)c * n))
        weft_sum_whole_f64(t, x, (size_t)c * n);
    else
        sum(t, x, c, n, MPI_DOUBLE);
}

/* ---- joining ---- */

/* The parts that rank r of the team owns, from the memory `from` to `to`, x[c][n]. */
static void copy_real(const weft_team *t, int r, int c, size_t n, const real *from,
                      real *to)
{
    int64_t first, count;
    weft_deal((int64_t)n, r, t->size, &first, &count);
    for (size_t at = (size_t)first; at < (size_t)c * n; at += n)
        memcpy(to + at, from + at, (size_t)count * sizeof *to);
}

/* Through the buffers, which begin with x. */
static void join_shared(const weft_team *t, real *x, int c, size_t n)
{
    const weft_parts *p = t->parts;
    const weft_nodes *nodes = p->nodes;
    const vectors v = {.x = (char *)x, .c = c, .n = n, .width = sizeof *x};
    weft_check((size_t)c * n * sizeof *x <= p->bytes, "vectors larger than the buffer");
    if (nodes->count > 1) gather(t, far_of(nodes), &v);
    for (int k = 0; k < nodes->ranks; k++) {
        int place = (nodes->place + k) % nodes->ranks;
        real *theirs = (real *)(void *)p->of[place];
        for (int r = place; r < t->size; r += nodes->ranks)
            copy_real(t, r, c, n, k == 0 ? x : theirs, k == 0 ? theirs : x);
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

void weft_parts_join(weft_team *t, real *x, int c, size_t n)
{
    const vectors v = {.x = (char *)x, .c = c, .n = n, .width = sizeof *x};
    if (t->size == 1) return;
    if (too_many(t->parts, (size_t)c * n)) {
        for (int j = 0; j < c; j++) send_parts(t, x + (size_t)j * n, n);
        return;
    }
    weft_timer_begin(t);
    if (t->parts->of)
        join_shared(t, x, c, n);
    else
        gather(t, all_of(t), &v);
    weft_timer_end(t, (size_t)c * n * sizeof *x);
}
