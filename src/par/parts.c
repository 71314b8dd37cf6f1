/* Distribution of rows over ranks, in blocks, and of jobs of known cost: of clients over
 * ranks, of groups of rows over partitions.
 *
 * Vectors of which each rank owns a part: the sum over ranks of the own part (reduce and
 * scatter), and all parts for all ranks (gather). The ranks of a node read each other's
 * numbers in shared memory, which takes a tenth of the time of messages; between nodes go
 * the sums of whole nodes, each number once and not for each rank. Where memory is not
 * shared, by MPI's collectives. */
#include "handle.h"
#include "weft/base/base.h"

#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FORCE  "WEFT_SUMS_BY_MESSAGE" /* environment variable: messages also on one node */
#define MEMORY "/dev/shm"             /* where Open MPI places shared memory */

enum { AT_ONCE = 4096 };       /* numbers that stay in cache while they are summed */
#define MOST ((size_t)1 << 28) /* numbers for which MPI's counts suffice */

struct weft_parts {
    weft_arena *mem;
    size_t bytes;
    MPI_Win win; /* MPI_WIN_NULL: memory is not shared */
    char *own;
    char **of;               /* [ranks of the node] memory of each, where it is shared */
    const weft_nodes *nodes; /* where it is shared */
};

/* ---- who has what ---- */

void weft_deal(int64_t n, int rank, int size, int64_t *first, int64_t *count)
{
    int64_t blocks = (n + WEFT_BLOCK - 1) / WEFT_BLOCK;
    int64_t each = blocks / size, more = blocks % size;
    int64_t begin = rank * each + (rank < more ? rank : more);
    int64_t end = begin + each + (rank < more);
    *first = begin * WEFT_BLOCK < n ? begin * WEFT_BLOCK : n;
    *count = (end * WEFT_BLOCK < n ? end * WEFT_BLOCK : n) - *first;
}

static int is_emptier(const void *left, const void *right, const void *loads)
{
    const int a = *(const int *)left, b = *(const int *)right;
    const double *load = loads;
    if (load[a] < load[b] || load[a] > load[b]) return load[a] < load[b];
    return a < b;
}

void weft_deal_costs(int64_t n, const double *cost, int bins, const double *speed, int *bin)
{
    WEFT_SCRATCH(tmp);
    weft_placed *todo = WEFT_NEW(tmp, weft_placed, n);
    double *load = WEFT_NEW(tmp, double, bins);
    int *order = WEFT_NEW(tmp, int, bins);
    for (int b = 0; b < bins; b++) order[b] = b;
    weft_heap heap = {
        .n = bins, .size = sizeof *order, .at = order, .before = is_emptier, .of = load};
    for (int64_t i = 0; i < n; i++) todo[i] = (weft_placed){cost[i], i};
    weft_sort_falling(n, todo);
    for (int64_t e = 0; e < n; e++) {
        int least = order[0];
        load[least] += speed ? todo[e].value / speed[least] : todo[e].value;
        bin[todo[e].at] = least;
        weft_heap_settle(&heap, 0);
    }
}

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
static int can_share(weft_team *team, size_t bytes)
{
    const weft_nodes *nodes = weft_nodes_of(team);
    int shared =
        nodes->whole && nodes->ranks > 1 && !getenv(FORCE) && has_room(nodes->ranks, bytes);
    MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, comm_of(team));
    return shared;
}

/* Each rank's memory is near it: its pages are first written by their owner. */
static void share_memory(weft_parts *parts, weft_team *team)
{
    const weft_nodes *nodes = parts->nodes = weft_nodes_of(team);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared((MPI_Aint)parts->bytes, 1, info, nodes->near, &parts->own,
                            &parts->win);
    MPI_Info_free(&info);
    parts->of = WEFT_NEW(parts->mem, char *, nodes->ranks);
    for (int k = 0; k < nodes->ranks; k++) {
        MPI_Aint size;
        int unit;
        MPI_Win_shared_query(parts->win, k, &size, &unit, &parts->of[k]);
    }
    memset(parts->own, 0, parts->bytes);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, parts->win);
}

void weft_parts_close(weft_team *team)
{
    weft_parts *parts = team->parts;
    team->parts = NULL;
    if (!parts) return;
    if (parts->of) {
        MPI_Win_unlock_all(parts->win);
        MPI_Win_free(&parts->win);
    }
    weft_arena_free(parts->mem);
}

void *weft_parts_buffer(weft_team *team, size_t bytes)
{
    if (team->parts && team->parts->bytes >= bytes) return team->parts->own;
    weft_parts_close(team);
    weft_timer_begin(team);
    weft_arena *mem = weft_arena_new();
    weft_parts *parts = WEFT_NEW(mem, weft_parts, 1);
    *parts = (weft_parts){.mem = mem, .bytes = bytes, .win = MPI_WIN_NULL};
    if (team->size > 1 && can_share(team, bytes))
        share_memory(parts, team);
    else
        parts->own = weft_arena_alloc(mem, bytes, 1);
    team->parts = parts;
    weft_timer_end(team, 0);
    return parts->own;
}

/* A barrier of a node after which each rank sees what the others have written before it. */
static void meet_node(const weft_parts *parts)
{
    MPI_Win_sync(parts->win);
    MPI_Barrier(parts->nodes->near);
    MPI_Win_sync(parts->win);
}

void *weft_parts_of(const weft_team *team, int rank)
{
    const weft_parts *parts = team->parts;
    return parts && parts->of && parts->nodes->count == 1 ? parts->of[rank] : NULL;
}

void weft_parts_meet(weft_team *team)
{
    weft_timer_begin(team);
    meet_node(team->parts);
    weft_timer_end(team, 0);
}

/* Offset in the buffer of x, of which n numbers of that width are in it. */
static size_t place_of(const weft_parts *parts, const void *x, size_t n, size_t width)
{
    size_t at = (size_t)((const char *)x - parts->own);
    weft_check(at <= parts->bytes && n * width <= parts->bytes - at,
               "a vector beyond the buffer");
    return at;
}

/* ---- messages ---- */

/* Ranks that sum or gather their parts: of the team every step-th one from `first`. */
struct group {
    int first, step, size;
    int own; /* the rank in comm of this one */
    MPI_Comm comm;
};

static struct group all_of(const weft_team *team)
{
    return (struct group){
        .step = 1, .size = team->size, .own = team->rank, .comm = comm_of(team)};
}

/* The ranks in this rank's place on all nodes. */
static struct group far_of(const weft_nodes *nodes)
{
    return (struct group){.first = nodes->place,
                          .step = nodes->ranks,
                          .size = nodes->count,
                          .own = nodes->node,
                          .comm = nodes->far};
}

/* Vectors x[c][n] of numbers of `width` bytes. */
struct vectors {
    char *x;
    int c;
    size_t n, width;
};

/* The parts of the vectors that the group's ranks own, one rank after the other: count[r]
 * numbers at at[r] of x. */
struct packed {
    int *count, *at;
    char *x;
};

static struct packed packed_new(const weft_team *team, struct group group,
                                const struct vectors *vectors, weft_arena *tmp)
{
    struct packed packed = {.count = WEFT_NEW(tmp, int, group.size),
                            .at = WEFT_NEW(tmp, int, group.size)};
    int64_t first, count, all = 0;
    for (int r = 0; r < group.size; r++) {
        weft_deal((int64_t)vectors->n, group.first + r * group.step, team->size, &first,
                  &count);
        packed.count[r] = (int)(vectors->c * count);
        packed.at[r] = (int)all;
        all += vectors->c * count;
    }
    packed.x = WEFT_NEW(tmp, char, (size_t)all * vectors->width);
    return packed;
}

/* Copies the parts of rank r of the group into the packed ones; back 1: from them. */
static void copy_part(const weft_team *team, struct group group, int r,
                      const struct vectors *vectors, const struct packed *packed, int back)
{
    int64_t first, count;
    weft_deal((int64_t)vectors->n, group.first + r * group.step, team->size, &first,
              &count);
    char *to = packed->x + (size_t)packed->at[r] * vectors->width;
    for (int j = 0; j < vectors->c; j++, to += (size_t)count * vectors->width) {
        char *x = vectors->x + ((size_t)j * vectors->n + (size_t)first) * vectors->width;
        memcpy(back ? x : to, back ? to : x, (size_t)count * vectors->width);
    }
}

static void reduce_scatter(const weft_team *team, struct group group,
                           const struct vectors *vectors, MPI_Datatype type)
{
    WEFT_SCRATCH(tmp);
    struct packed packed = packed_new(team, group, vectors, tmp);
    for (int r = 0; r < group.size; r++) copy_part(team, group, r, vectors, &packed, 0);
    MPI_Reduce_scatter(MPI_IN_PLACE, packed.x, packed.count, type, MPI_SUM, group.comm);
    packed.at[group.own] = 0;
    copy_part(team, group, group.own, vectors, &packed, 1);
}

static void gather_parts(const weft_team *team, struct group group,
                         const struct vectors *vectors)
{
    WEFT_SCRATCH(tmp);
    struct packed packed = packed_new(team, group, vectors, tmp);
    copy_part(team, group, group.own, vectors, &packed, 0);
    MPI_Allgatherv(MPI_IN_PLACE, 0, REAL_MPI, packed.x, packed.count, packed.at, REAL_MPI,
                   group.comm);
    for (int r = 0; r < group.size; r++)
        if (r != group.own) copy_part(team, group, r, vectors, &packed, 1);
}

/* 1 if MPI's counts do not suffice for n numbers. */
static int too_many(const weft_parts *parts, size_t n)
{
    return n > MOST && !(parts->of && parts->nodes->count == 1);
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

static void add_numbers(size_t n, MPI_Datatype type, const void *from, void *to)
{
    if (type == MPI_INT32_T) add_i32(n, from, to);
    if (type == MPI_INT64_T) add_i64(n, from, to);
    if (type == MPI_DOUBLE) add_f64(n, from, to);
}

/* Adds what the others of the node have at byte `at` of their buffers. */
static void add_others(const weft_parts *parts, size_t at, size_t n, MPI_Datatype type)
{
    const weft_nodes *nodes = parts->nodes;
    size_t width = width_of(type);
    for (size_t i = 0; i < n; i += AT_ONCE) {
        size_t from = at + i * width, many = n - i < AT_ONCE ? n - i : AT_ONCE;
        for (int k = 1; k < nodes->ranks; k++)
            add_numbers(many, type, parts->of[(nodes->place + k) % nodes->ranks] + from,
                        parts->own + from);
    }
}

/* Vectors x[c][n] in the buffer, at byte `at` of it. */
static void sum_shared(const weft_team *team, const struct vectors *vectors, size_t at,
                       MPI_Datatype type)
{
    const weft_parts *parts = team->parts;
    const weft_nodes *nodes = parts->nodes;
    meet_node(parts);
    for (int b = 0; b < nodes->count; b++) {
        int64_t first, count;
        weft_deal((int64_t)vectors->n, b * nodes->ranks + nodes->place, team->size, &first,
                  &count);
        for (int j = 0; j < vectors->c; j++) {
            size_t from = (size_t)j * vectors->n + (size_t)first;
            add_others(parts, at + from * vectors->width, (size_t)count, type);
        }
    }
    meet_node(parts);
    if (nodes->count > 1) reduce_scatter(team, far_of(nodes), vectors, type);
}

static void sum_vectors(weft_team *team, void *x, int c, size_t n, MPI_Datatype type)
{
    const struct vectors vectors = {.x = x, .c = c, .n = n, .width = width_of(type)};
    size_t all = (size_t)c * n, at = place_of(team->parts, x, all, vectors.width);
    weft_timer_begin(team);
    if (team->parts->of)
        sum_shared(team, &vectors, at, type);
    else
        reduce_scatter(team, all_of(team), &vectors, type);
    weft_timer_end(team, all * vectors.width);
}

static void sum_parts(weft_team *team, void *x, int c, size_t n, MPI_Datatype type)
{
    size_t all = (size_t)c * n;
    if (team->size == 1) return;
    if (!too_many(team->parts, all))
        sum_vectors(team, x, c, n, type);
    else if (type == MPI_INT32_T)
        weft_sum_i32(team, x, all);
    else if (type == MPI_INT64_T)
        weft_sum_i64(team, x, all);
    else
        weft_sum_whole_f64(team, x, all);
}

void weft_parts_sum_i32(weft_team *team, int32_t *x, size_t n)
{
    sum_parts(team, x, 1, n, MPI_INT32_T);
}

void weft_parts_sum_i64(weft_team *team, int64_t *x, size_t n)
{
    sum_parts(team, x, 1, n, MPI_INT64_T);
}

void weft_parts_sum_whole_f64(weft_team *team, double *x, int c, size_t n)
{
    sum_parts(team, x, c, n, MPI_DOUBLE);
}

/* ---- joining ---- */

/* The parts that rank r of the team owns, from the memory `from` to `to`, x[c][n]. */
static void copy_real(const weft_team *team, int r, int c, size_t n, const real *from,
                      real *to)
{
    int64_t first, count;
    weft_deal((int64_t)n, r, team->size, &first, &count);
    for (size_t at = (size_t)first; at < (size_t)c * n; at += n)
        memcpy(to + at, from + at, (size_t)count * sizeof *to);
}

/* Through the buffers, which begin with x. */
static void join_shared(const weft_team *team, real *x, int c, size_t n)
{
    const weft_parts *parts = team->parts;
    const weft_nodes *nodes = parts->nodes;
    const struct vectors vectors = {.x = (char *)x, .c = c, .n = n, .width = sizeof *x};
    weft_check((size_t)c * n * sizeof *x <= parts->bytes, "vectors larger than the buffer");
    if (nodes->count > 1) gather_parts(team, far_of(nodes), &vectors);
    for (int k = 0; k < nodes->ranks; k++) {
        int place = (nodes->place + k) % nodes->ranks;
        real *theirs = (real *)(void *)parts->of[place];
        for (int r = place; r < team->size; r += nodes->ranks)
            copy_real(team, r, c, n, k == 0 ? x : theirs, k == 0 ? theirs : x);
        if (k == 0) meet_node(parts);
    }
    meet_node(parts);
}

/* Vectors that are too long for MPI's counts. */
static void send_parts(weft_team *team, real *x, size_t n)
{
    for (int r = 0; r < team->size; r++) {
        int64_t first, count;
        weft_deal((int64_t)n, r, team->size, &first, &count);
        weft_bcast(team, x + first, (size_t)count * sizeof *x, r);
    }
}

void weft_parts_join(weft_team *team, real *x, int c, size_t n)
{
    const struct vectors vectors = {.x = (char *)x, .c = c, .n = n, .width = sizeof *x};
    if (team->size == 1) return;
    if (too_many(team->parts, (size_t)c * n)) {
        for (int j = 0; j < c; j++) send_parts(team, x + (size_t)j * n, n);
        return;
    }
    weft_timer_begin(team);
    if (team->parts->of)
        join_shared(team, x, c, n);
    else
        gather_parts(team, all_of(team), &vectors);
    weft_timer_end(team, (size_t)c * n * sizeof *x);
}
