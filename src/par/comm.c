/* Teams of ranks: agreement on failures, exact sums, exchange of bytes, and measuring where
 * time goes. Doubles are summed as 64-bit integers, so that the order does not matter.
 * Where their bound is not known beforehand, first their largest magnitude is determined; a
 * term that is not finite makes the sum NAN. Bytes of all ranks go between nodes once, and
 * not for each rank. */
#include "handle.h"
#include "weft/base/base.h"
#include "weft/math/linear.h"
#include "weft/par/par.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* MPI counts are int: longer vectors go in pieces of this many elements. */
#define PIECE ((size_t)1 << 28)

/* Shortest and longest sleep between two checks for the arrival of the other ranks. */
#define SHORT_NAP 5e-5
#define LONG_NAP  1e-2

/* Longest error message passed between ranks, bytes with the NUL. */
enum { MESSAGE = 2048 };

/* ---- what this process is doing: set by its main thread, read by the watchdog's ---- */

static pthread_mutex_t doing_lock = PTHREAD_MUTEX_INITIALIZER;
static weft_activity doing = {.phase = "starts", .job = -1, .unit = -1};

void weft_activity_set(const char *phase, int64_t job, int64_t unit)
{
    pthread_mutex_lock(&doing_lock);
    doing.phase = phase;
    doing.job = job;
    doing.unit = unit;
    doing.since = weft_now();
    pthread_mutex_unlock(&doing_lock);
}

/* A collective of the team begins (waits 1), ends (0). */
static void activity_wait(const weft_team *team, int waits)
{
    pthread_mutex_lock(&doing_lock);
    doing.waits = waits;
    doing.first = team->first;
    doing.size = team->size;
    doing.since = weft_now();
    pthread_mutex_unlock(&doing_lock);
}

weft_activity weft_activity_now(void)
{
    pthread_mutex_lock(&doing_lock);
    weft_activity copy = doing;
    pthread_mutex_unlock(&doing_lock);
    return copy;
}

/* ---- time accounts ---- */

static void charge(weft_team *team, double *to)
{
    double now = weft_now();
    *to += now - team->since;
    team->since = now;
}

void weft_times_close(weft_team *team)
{
    charge(team, &team->times.compute);
}

void weft_times_wait(weft_team *team)
{
    charge(team, &team->times.wait);
}

void weft_times_io(weft_team *team)
{
    charge(team, &team->times.io);
}

void weft_timer_begin(weft_team *team)
{
    weft_times_close(team);
    activity_wait(team, 1);
    if (team->size > 1) MPI_Barrier(comm_of(team));
    weft_times_wait(team);
}

void weft_timer_end(weft_team *team, size_t bytes)
{
    charge(team, &team->times.comm);
    team->times.bytes += (double)bytes;
    activity_wait(team, 0);
}

void weft_sleep(weft_team *team)
{
    if (team->size == 1) return;
    double nap = SHORT_NAP;
    MPI_Request all;
    int here = 0;
    weft_times_close(team);
    MPI_Ibarrier(comm_of(team), &all);
    for (MPI_Test(&all, &here, MPI_STATUS_IGNORE); !here;
         MPI_Test(&all, &here, MPI_STATUS_IGNORE)) {
        weft_nap(nap);
        nap = fmin(1.2 * nap, LONG_NAP);
    }
    weft_times_wait(team);
}

/* As weft_timer_begin and weft_timer_end, for a message of as many bytes on all ranks that
 * all wait for. A barrier before a short one takes as long as itself: all of it counts as
 * waiting. */
enum { SHORT_MESSAGE = 4096 };

static void begin_message(weft_team *team, size_t bytes)
{
    if (bytes > SHORT_MESSAGE) {
        weft_timer_begin(team);
        return;
    }
    weft_times_close(team);
    activity_wait(team, 1);
}

/* ... of which this rank passed `own`. */
static void end_message(weft_team *team, size_t bytes, size_t own)
{
    if (bytes <= SHORT_MESSAGE) weft_times_wait(team);
    weft_timer_end(team, own);
}

/* ---- sums ---- */

/* Reduces x[n], elements of `width` bytes, in place. */
static void reduce(weft_team *team, void *x, size_t n, size_t width, MPI_Datatype type,
                   MPI_Op op)
{
    if (team->size == 1) return;
    begin_message(team, n * width);
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;
        MPI_Allreduce(MPI_IN_PLACE, (char *)x + at * width, (int)count, type, op,
                      comm_of(team));
    }
    end_message(team, n * width, n * width);
}

void weft_sum_i64(weft_team *team, int64_t *x, size_t n)
{
    reduce(team, x, n, sizeof *x, MPI_INT64_T, MPI_SUM);
}

void weft_sum_i32(weft_team *team, int32_t *x, size_t n)
{
    reduce(team, x, n, sizeof *x, MPI_INT32_T, MPI_SUM);
}

void weft_sum_whole_f64(weft_team *team, double *x, size_t n)
{
    reduce(team, x, n, sizeof *x, MPI_DOUBLE, MPI_SUM);
}

/* The integer sum of a number's bits and of zeros is these bits. */
void weft_join_f64(weft_team *team, double *x, size_t n)
{
    reduce(team, x, n, sizeof *x, MPI_INT64_T, MPI_SUM);
}

void weft_max_f64(weft_team *team, double *x, size_t n)
{
    reduce(team, x, n, sizeof *x, MPI_DOUBLE, MPI_MAX);
}

/* The integers are stored in the memory of the doubles. A single rank rounds in the same
 * way, so that it has the same bits as several. */
void weft_sum_f64(weft_team *team, double *x, size_t n, double bound)
{
    int scale = weft_fix_scale(bound);
    for (size_t i = 0; i < n; i++) {
        int64_t v = weft_fix(x[i], scale);
        memcpy(&x[i], &v, sizeof v);
    }
    reduce(team, x, n, sizeof *x, MPI_INT64_T, MPI_SUM);
    for (size_t i = 0; i < n; i++) {
        int64_t v;
        memcpy(&v, &x[i], sizeof v);
        x[i] = weft_unfix(v, scale);
    }
}

void weft_bcast(weft_team *team, void *bytes, size_t n, int root)
{
    if (team->size == 1) return;
    weft_timer_begin(team);
    for (size_t at = 0; at < n; at += PIECE)
        MPI_Bcast((char *)bytes + at, (int)(n - at < PIECE ? n - at : PIECE), MPI_BYTE,
                  root, comm_of(team));
    weft_timer_end(team, n);
}

void weft_spread(weft_team *team, const double *x, int n, double out[][WEFT_NSPREAD])
{
    for (int i = 0; i < n && team->size == 1; i++) {
        for (int k = 0; k < WEFT_NSPREAD; k++) out[i][k] = 0;
        out[i][WEFT_MIN] = out[i][WEFT_MEAN] = out[i][WEFT_MAX] = x[i];
    }
    if (team->size == 1) return;
    weft_timer_begin(team);
    for (int i = 0; i < n; i++) {
        struct {
            double x;
            int rank;
        } mine = {x[i], team->rank}, least, most;
        double *to = out[i];
        MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm_of(team));
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm_of(team));
        MPI_Allreduce(x + i, &to[WEFT_MEAN], 1, MPI_DOUBLE, MPI_SUM, comm_of(team));
        to[WEFT_MEAN] /= team->size;
        to[WEFT_MIN] = least.x;
        to[WEFT_MAX] = most.x;
        to[WEFT_MIN_RANK] = least.rank;
        to[WEFT_MAX_RANK] = most.rank;
    }
    weft_timer_end(team, 3 * (size_t)n * sizeof *x);
}

static double larger(double most, double x)
{
    double size = fabs(x);
    if (size <= most) return most;
    return isfinite(size) ? size : INFINITY;
}

double weft_largest(weft_team *team, const real *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = larger(most, (double)x[i]);
    weft_max_f64(team, &most, 1);
    return most;
}

double weft_largest_f64(weft_team *team, const double *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = larger(most, x[i]);
    weft_max_f64(team, &most, 1);
    return most;
}

void weft_sum_whole(weft_team *team, int64_t *x, size_t n, int scale, double bound,
                    double *sum)
{
    weft_sum_i64(team, x, n);
    for (size_t i = 0; i < n; i++) sum[i] = isfinite(bound) ? weft_unfix(x[i], scale) : NAN;
}

/* ---- agreement ---- */

weft_status weft_agree(weft_status st, weft_team *team)
{
    if (team->size == 1) return st;
    /* a failure outranks WEFT_STOP */
    struct {
        int gravity, rank;
    } mine = {st == WEFT_STOP ? 1 : (int)st, team->rank}, worst;
    begin_message(team, sizeof mine);
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, comm_of(team));
    end_message(team, sizeof mine, sizeof mine);
    if (worst.gravity == WEFT_OK) return WEFT_OK;
    char text[MESSAGE] = "";
    strncpy(text, weft_error(), MESSAGE - 1);
    weft_bcast(team, text, MESSAGE, worst.rank);
    weft_error_set(text);
    return worst.gravity == 1 ? WEFT_STOP : (weft_status)worst.gravity;
}

/* ---- nodes ---- */

#define RANKS "WEFT_NODE_RANKS" /* environment variable: as if nodes had so many ranks */

static MPI_Comm node_of(const weft_team *team)
{
    MPI_Comm near;
    const char *ranks = getenv(RANKS);
    int n = ranks ? atoi(ranks) : 0;
    if (n > 0)
        MPI_Comm_split(comm_of(team), team->rank / n, team->rank, &near);
    else
        MPI_Comm_split_type(comm_of(team), MPI_COMM_TYPE_SHARED, team->rank, MPI_INFO_NULL,
                            &near);
    return near;
}

/* 1 if all nodes have as many ranks, which follow each other. */
static int are_even(const weft_team *team, MPI_Comm near, int ranks, int place)
{
    int first = team->rank, test[2];
    MPI_Bcast(&first, 1, MPI_INT, 0, near);
    int fits = first % ranks == 0 && team->rank == first + place;
    test[0] = fits ? ranks : -1;
    test[1] = fits ? -ranks : -1;
    MPI_Allreduce(MPI_IN_PLACE, test, 2, MPI_INT, MPI_MIN, comm_of(team));
    return test[0] > 0 && test[0] == -test[1];
}

const weft_nodes *weft_nodes_of(weft_team *team)
{
    if (team->nodes) return team->nodes;
    int ranks, place;
    MPI_Comm near = node_of(team);
    MPI_Comm_size(near, &ranks);
    MPI_Comm_rank(near, &place);
    int whole = are_even(team, near, ranks, place);
    if (!whole) {
        MPI_Comm_free(&near);
        MPI_Comm_dup(comm_of(team), &near);
        ranks = team->size;
        place = team->rank;
    }
    weft_arena *mem = weft_arena_new();
    weft_nodes *nodes = WEFT_NEW(mem, weft_nodes, 1);
    *nodes = (weft_nodes){.mem = mem,
                          .count = team->size / ranks,
                          .ranks = ranks,
                          .whole = whole,
                          .node = team->rank / ranks,
                          .place = place,
                          .near = near};
    MPI_Comm_split(comm_of(team), place, team->rank, &nodes->far);
    team->nodes = nodes;
    return nodes;
}

void weft_nodes_close(weft_team *team)
{
    weft_nodes *nodes = team->nodes;
    team->nodes = NULL;
    if (!nodes) return;
    MPI_Comm_free(&nodes->near);
    MPI_Comm_free(&nodes->far);
    weft_arena_free(nodes->mem);
}

int weft_one_node(MPI_Comm comm)
{
    MPI_Comm node;
    int all, here;
    MPI_Comm_size(comm, &all);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return here == all;
}

/* ---- bytes ---- */

/* Messages of one pair of ranks follow each other, each of at most MOST_BYTES bytes: MPI
 * counts in int. */
enum { MOST_BYTES = 1 << 30 };

static int64_t pieces_of(const weft_team *team, const size_t *bytes)
{
    int64_t n = 0;
    for (int r = 0; r < team->size; r++)
        n += (int64_t)((bytes[r] + MOST_BYTES - 1) / MOST_BYTES);
    return n;
}

void weft_sums_exact(weft_team *team, int c, const double *x, int64_t n, int64_t total,
                     double *sum)
{
    WEFT_SCRATCH(tmp);
    double *bound = WEFT_NEW(tmp, double, c);
    int64_t *whole = WEFT_NEW(tmp, int64_t, c);
    for (int j = 0; j < c; j++)
        for (int64_t i = 0; i < n; i++) bound[j] = larger(bound[j], x[j * n + i]);
    weft_max_f64(team, bound, (size_t)c);
    for (int j = 0; j < c; j++) {
        bound[j] *= (double)total;
        int scale = weft_fix_scale(bound[j]);
        for (int64_t i = 0; i < n && isfinite(bound[j]); i++)
            whole[j] += weft_fix(x[j * n + i], scale);
    }
    weft_sum_i64(team, whole, (size_t)c);
    for (int j = 0; j < c; j++)
        sum[j] = isfinite(bound[j]) ? weft_unfix(whole[j], weft_fix_scale(bound[j])) : NAN;
}

double weft_sum_exact(weft_team *team, const double *x, int64_t n, int64_t total)
{
    double sum;
    weft_sums_exact(team, 1, x, n, total, &sum);
    return sum;
}

void weft_exchange(weft_team *team, const void *send, const size_t *to, void *receive,
                   const size_t *from)
{
    WEFT_SCRATCH(tmp);
    MPI_Request *pending =
        WEFT_NEW(tmp, MPI_Request, pieces_of(team, to) + pieces_of(team, from));
    char *in = receive;
    const char *out = send;
    int n = 0;
    weft_timer_begin(team);
    for (int r = 0; r < team->size; r++)
        for (size_t left = from[r], some; left > 0; left -= some, in += some) {
            some = left < MOST_BYTES ? left : MOST_BYTES;
            MPI_Irecv(in, (int)some, MPI_BYTE, r, 0, comm_of(team), &pending[n++]);
        }
    for (int r = 0; r < team->size; r++)
        for (size_t left = to[r], some; left > 0; left -= some, out += some) {
            some = left < MOST_BYTES ? left : MOST_BYTES;
            MPI_Isend(out, (int)some, MPI_BYTE, r, 0, comm_of(team), &pending[n++]);
        }
    MPI_Waitall(n, pending, MPI_STATUSES_IGNORE);
    weft_timer_end(team, (size_t)(out - (const char *)send));
}

void *weft_exchange_items(weft_team *team, const void *items, const int64_t *to,
                          size_t size, int64_t *n, weft_arena *mem)
{
    size_t ranks = (size_t)team->size, me = (size_t)team->rank;
    WEFT_SCRATCH(tmp);
    int64_t *all = WEFT_NEW(tmp, int64_t, ranks * ranks); /* [from][to] */
    size_t *out = WEFT_NEW(tmp, size_t, ranks), *in = WEFT_NEW(tmp, size_t, ranks);
    memcpy(all + me * ranks, to, ranks * sizeof *to);
    weft_sum_i64(team, all, ranks * ranks);
    *n = 0;
    for (size_t r = 0; r < ranks; r++) {
        out[r] = (size_t)to[r] * size;
        in[r] = (size_t)all[r * ranks + me] * size;
        *n += all[r * ranks + me];
    }
    void *received = weft_arena_alloc(mem, (size_t)*n, size);
    weft_exchange(team, items, out, received, in);
    return received;
}

/* Bytes and offsets of x[count] of all ranks. Every rank gets from other nodes what the
 * ranks in its own place have, and gives it to its node, each node's bytes together. */
static void gather_bytes(weft_team *team, char *x, const size_t *count)
{
    const weft_nodes *nodes = weft_nodes_of(team);
    WEFT_SCRATCH(tmp);
    int *bytes = WEFT_NEW(tmp, int, team->size), *at = WEFT_NEW(tmp, int, team->size);
    int *far = WEFT_NEW(tmp, int, nodes->count), *there = WEFT_NEW(tmp, int, nodes->count);
    size_t all = 0;
    for (int r = 0; r < team->size; r++) {
        bytes[r] = (int)count[r];
        at[r] = (int)all;
        all += count[r];
    }
    for (int b = 0; b < nodes->count; b++) {
        far[b] = bytes[b * nodes->ranks + nodes->place];
        there[b] = at[b * nodes->ranks + nodes->place];
    }
    begin_message(team, all);
    if (nodes->count > 1)
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, x, far, there, MPI_BYTE, nodes->far);
    for (int b = 0; b < nodes->count && nodes->ranks > 1; b++)
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, x, bytes + b * nodes->ranks,
                       at + b * nodes->ranks, MPI_BYTE, nodes->near);
    end_message(team, all, count[team->rank]);
}

void weft_join_bytes(weft_team *team, void *x, const size_t *count)
{
    size_t all = 0;
    for (int r = 0; r < team->size; r++) all += count[r];
    if (team->size == 1) return;
    if (all <= INT32_MAX) {
        gather_bytes(team, x, count);
        return;
    }
    char *at = x; /* too many for MPI's counts */
    for (int r = 0; r < team->size; at += count[r++]) weft_bcast(team, at, count[r], r);
}

void weft_collect(weft_team *team, const void *mine, size_t bytes, void *all)
{
    weft_check(bytes <= INT32_MAX, "%zu bytes of each rank", bytes);
    if (team->size == 1) {
        memcpy(all, mine, bytes);
        return;
    }
    weft_timer_begin(team);
    MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm_of(team));
    weft_timer_end(team, bytes * (size_t)team->size);
}
