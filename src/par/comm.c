/* Teams of ranks: agreement on failures, exact sums, and measuring where time goes. Doubles
 * are summed as 64-bit integers, so that the order does not matter. */
#include "nodes.h"
#include "timer.h"
#include "weft/clock.h"
#include "weft/exact.h"
#include "weft/par.h"

#include <math.h>
#include <string.h>

/* MPI counts are int: longer vectors go in pieces of this many elements. */
#define PIECE ((size_t)1 << 28)

/* Shortest and longest sleep between two checks for the arrival of the other ranks. */
#define SHORT_NAP 5e-5
#define LONG_NAP  1e-2

/* Longest error message passed between ranks, bytes with the NUL. */
enum { MESSAGE = 2048 };

/* ---- time accounts ---- */

void weft_times_close(weft_team *team)
{
    double now = weft_now();
    team->times.compute += now - team->since;
    team->since = now;
}

void weft_times_wait(weft_team *team)
{
    double now = weft_now();
    team->times.wait += now - team->since;
    team->since = now;
}

void weft_times_io(weft_team *team)
{
    double now = weft_now();
    team->times.io += now - team->since;
    team->since = now;
}

void weft_timer_begin(weft_team *team)
{
    weft_times_close(team);
    weft_activity_wait(team, 1);
    if (team->size > 1) MPI_Barrier(comm_of(team));
    weft_times_wait(team);
}

void weft_timer_end(weft_team *team, size_t bytes)
{
    double now = weft_now();
    team->times.comm += now - team->since;
    team->times.bytes += (double)bytes;
    team->since = now;
    weft_activity_wait(team, 0);
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

/* ---- sums ---- */

/* Reduces x[n], elements of `width` bytes, in place. */
static void reduce(weft_team *team, void *x, size_t n, size_t width, MPI_Datatype type,
                   MPI_Op op)
{
    if (team->size == 1) return;
    weft_timer_begin(team);
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;
        MPI_Allreduce(MPI_IN_PLACE, (char *)x + at * width, (int)count, type, op,
                      comm_of(team));
    }
    weft_timer_end(team, n * width);
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

/* ---- agreement ---- */

weft_status weft_agree(weft_status st, weft_team *team)
{
    if (team->size == 1) return st;
    /* a failure outranks WEFT_STOP */
    struct {
        int gravity, rank;
    } mine = {st == WEFT_STOP ? 1 : (int)st, team->rank}, worst;
    weft_timer_begin(team);
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, comm_of(team));
    weft_timer_end(team, sizeof mine);
    if (worst.gravity == WEFT_OK) return WEFT_OK;
    char text[MESSAGE] = "";
    strncpy(text, weft_error(), MESSAGE - 1);
    weft_bcast(team, text, MESSAGE, worst.rank);
    weft_error_set(text);
    return worst.gravity == 1 ? WEFT_STOP : (weft_status)worst.gravity;
}
