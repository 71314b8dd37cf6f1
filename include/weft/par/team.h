/* Teams of ranks, for code that computes in parallel: agreement on failures, exact sums,
 * distribution of work, and dense systems on a process grid. Does not include mpi.h. */
#ifndef LIBWEFT_PAR_TEAM_H
#define LIBWEFT_PAR_TEAM_H

#include "weft/base/base.h"

/* How a rank has spent its time, in seconds. */
typedef struct weft_times {
    double compute; /* all other time, also communication inside ScaLAPACK */
    double io;      /* writing and reading journals, states and checkpoints */
    double wait;    /* in the barrier before a collective call, for slower ranks; in sums of
                       a few KB, which take no barrier, all of it */
    double comm;    /* in collectives */
    double bytes;   /* bytes that this rank passed to collectives */
} weft_times;

typedef struct weft_parts weft_parts;
typedef struct weft_nodes weft_nodes;

typedef struct weft_team {
    int64_t comm; /* MPI's communicator; used by src/par only */
    int rank, size;
    int first; /* rank in the world of the team's rank 0; its other ranks follow */
    weft_times times;
    double since;      /* when compute was last counted */
    weft_parts *parts; /* memory of weft_parts_buffer; NULL: none yet */
    weft_nodes *nodes; /* the nodes of its ranks; NULL: not known yet */
} weft_team;

/* Adds the time since the last update of team->times to times.compute. */
void weft_times_close(weft_team *team);
/* Adds the time since the last update to times.wait. */
void weft_times_wait(weft_team *team);
/* Adds the time since the last update to times.io. */
void weft_times_io(weft_team *team);
/* Updates the times of `from`; from now on time is counted for `to`, another team of this
 * rank. */
void weft_times_move(weft_team *from, weft_team *to);

/* Returns the worst status of all ranks, WEFT_STOP being the least bad failure; if any rank
 * failed, every rank gets the message of the lowest rank with that status. Collective over
 * t. */
WEFT_CHECKED weft_status weft_agree(weft_status st, weft_team *team);

/* Sums and maxima over ranks, element by element and in place, and a broadcast of n bytes
 * from rank root; n is the same on all ranks. Integer sums are exact. Collective over t. */
void weft_sum_i64(weft_team *team, int64_t *x, size_t n);
void weft_sum_i32(weft_team *team, int32_t *x, size_t n);
void weft_max_f64(weft_team *team, double *x, size_t n);
void weft_bcast(weft_team *team, void *bytes, size_t n, int root);
/* Collective. Sums over ranks, in place, of doubles that are whole numbers, or NAN; exact
 * where the magnitudes over all ranks sum up to at most 2^53. */
void weft_sum_whole_f64(weft_team *team, double *x, size_t n);
/* Collective. All ranks get the bits of x[n], of which each number is set on one rank and 0
 * on the others. */
void weft_join_f64(weft_team *team, double *x, size_t n);
/* Collective. Exact sum of x[n] over ranks given doubles and, for each rank, the same
 * `bound` on the sum of magnitudes over all ranks. */
void weft_sum_f64(weft_team *team, double *x, size_t n, double bound);
/* Collective. Largest magnitude of x[n] over all ranks, each with its own n; INFINITY where
 * a number is not finite. */
double weft_largest(weft_team *team, const real *x, size_t n);
double weft_largest_f64(weft_team *team, const double *x, size_t n);
/* Collective. sum[n] over ranks of x[n], whole numbers in units of 2^-scale (in, out: their
 * sums); NAN if `bound`, from which the scale was computed, is not finite; x is then not
 * used. */
void weft_sum_whole(weft_team *team, int64_t *x, size_t n, int scale, double bound,
                    double *sum);
/* Collective. Sum of x[n] of all ranks, `total` numbers, exact and so the same in any
 * order; NAN where one is not finite. */
double weft_sum_exact(weft_team *team, const double *x, int64_t n, int64_t total);
/* Collective. The same of c vectors, x[c][n], into sum[c]: in one message for all. */
void weft_sums_exact(weft_team *team, int c, const double *x, int64_t n, int64_t total,
                     double *sum);
/* Collective. Sends bytes to every rank, to[size] of them to each, one after the other in
 * `send`, and receives from[size] from each, likewise, in `receive`. */
void weft_exchange(weft_team *team, const void *send, const size_t *to, void *receive,
                   const size_t *from);
/* Collective. The same of items of `size` bytes, to[ranks] of them: returns those that
 * arrive, *n, in the order of the ranks that sent them, owned by mem. */
void *weft_exchange_items(weft_team *team, const void *items, const int64_t *to,
                          size_t size, int64_t *n, weft_arena *mem);
/* Collective. All ranks get x, which is the bytes of all ranks one after the other,
 * count[size] of them; each rank has its own there. */
void weft_join_bytes(weft_team *team, void *x, const size_t *count);
/* Numbers that weft_spread tells of a quantity: its minimum, mean and maximum over ranks,
 * the lowest rank that has the minimum, and the maximum. */
enum { WEFT_MIN, WEFT_MEAN, WEFT_MAX, WEFT_MIN_RANK, WEFT_MAX_RANK, WEFT_NSPREAD };
/* Collective. The spread of x[n] over ranks into out[n], on all ranks. */
void weft_spread(weft_team *team, const double *x, int n, double out[][WEFT_NSPREAD]);

/* Rows are distributed over ranks and summed in fixed blocks of this many, for any number
 * of ranks. */
#define WEFT_BLOCK 128

/* The part of n rows that belongs to a rank: rows [first, first + count). Parts consist of
 * whole blocks of WEFT_BLOCK rows and are as equal as this allows. */
void weft_deal(int64_t n, int rank, int size, int64_t *first, int64_t *count);

/* Vectors of which each rank owns its part by weft_deal: what a rank does with the sum over
 * ranks it does for its part alone, and then all get all parts. Bytes per rank as those of
 * a sum by all ranks.
 *
 * weft_parts_buffer: memory of `bytes`, the same on all ranks, in which vectors are summed
 * and through which they are joined; shared by the ranks of a node if all nodes have the
 * same number of consecutive ranks, more than one, and room in /dev/shm, and
 * WEFT_SUMS_BY_MESSAGE is not set in the environment. Then each number goes between two
 * nodes once and not for each rank. Its contents are undefined. Valid until a call with
 * more bytes, owned by t.
 * weft_parts_sum: the own part of x[n], in the buffer, becomes the exact sum over ranks;
 * the rest of x is undefined afterwards. Doubles as in weft_sum_whole_f64, of c vectors
 * x[c][n], of each the own part.
 * weft_parts_join: x[c][n], of which each rank has its part of every vector, gets the parts
 * of all ranks; x is elsewhere, and the buffer, of at least as many bytes, is undefined
 * afterwards.
 * All are Collective. */
void *weft_parts_buffer(weft_team *team, size_t bytes);
void weft_parts_sum_i32(weft_team *team, int32_t *x, size_t n);
void weft_parts_sum_i64(weft_team *team, int64_t *x, size_t n);
void weft_parts_sum_whole_f64(weft_team *team, double *x, int c, size_t n);
void weft_parts_join(weft_team *team, real *x, int c, size_t n);
/* The buffer of a rank, which all may read and write; NULL: not all share it. */
void *weft_parts_of(const weft_team *team, int rank);
/* After it each rank reads what the others wrote to shared buffers before it. Only where
 * all share them. Collective. */
void weft_parts_meet(weft_team *team);

/* Distributes n jobs over bins, by greedy scheduling: the largest cost first, ties by
 * index, each to the bin with the least load so far, ties by index; bin[n] is the result.
 * speed[bins]: load is cost / speed; NULL: all bins have the same speed. Graham, "Bounds on
 * multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 17, 1969. Cost
 * O(n log(n bins)). */
void weft_deal_costs(int64_t n, const double *cost, int bins, const double *speed,
                     int *bin);

/* ---- dense symmetric systems on a process grid (ScaLAPACK) ---- */

/* Computes rows [r0, r0+nr) x columns [c0, c0+nc) of the symmetric matrix, summed over all
 * ranks, into a[nr][nc], row-major, on every rank. Collective. */
typedef void (*weft_block_fn)(void *ctx, int64_t r0, int64_t nr, int64_t c0, int64_t nc,
                              double *a);

/* The Cholesky factor of a positive definite matrix, spread over the ranks. */
typedef struct weft_grid weft_grid;

/* Factors A [n][n], given by panels of its lower triangle, by ScaLAPACK in `real` precision
 * on a grid as square as size allows (1 x P up to 3 ranks), blocks of 64; a single rank
 * uses LAPACK. *minor: 0, or the order of the first minor that is not positive definite.
 * Memory per rank, from mem: as weft_grid_bytes says. Must be freed even if *minor is not
 * 0. Collective. Cost n^3/3 flops over the team. */
weft_grid *weft_grid_factor(weft_team *team, int64_t n, weft_block_fn panel, void *ctx,
                            weft_arena *mem, int64_t *minor);
/* Bytes that weft_grid_factor takes on each of `size` ranks: n^2/size reals, a panel of 512
 * n doubles, and another such panel while one is made. */
double weft_grid_bytes(int64_t n, int size);
/* Solves A x = b by the factor, b [c][n] in and out on all ranks (class-major). Collective.
 * Cost 2 c n^2 flops. */
void weft_grid_solve(weft_grid *grid, int c, real *b);
void weft_grid_free(
    weft_grid *grid); /* frees the process grid; the arena owns the memory. Collective */

#endif
