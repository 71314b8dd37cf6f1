/* The machine that a run is on: placement of its ranks, signals, watchdog, `weft doctor`.
 */
#ifndef WEFT_HOST_HOST_H
#define WEFT_HOST_HOST_H

#include "weft/par/team.h"
#include "weft/store/file.h"

enum { WEFT_PLACEMENT_TEXT = 64 };

/* The resources of a rank: host, cores, memory, BLAS. */
typedef struct weft_placement {
    char host[WEFT_PLACEMENT_TEXT];
    char cores[WEFT_PLACEMENT_TEXT]; /* that it may run on, "0-3,8"; "" unknown */
    double memory, available;        /* bytes of the host's memory; of these available */
    double room;                     /* bytes that its control group or SLURM allows */
    char blas[WEFT_PLACEMENT_TEXT];  /* the CPU type that OpenBLAS has chosen */
    int threads;                     /* of OpenBLAS */
    double sgemm;                    /* GFLOP/s */
    double share; /* fraction of a core that it had during the measurement,
                     0..1 */
    int claim;    /* of the core, for all ranks bound to it; -1: none, or of another rank */
    int taken;    /* 1: the core is in use by another weft */
} weft_placement;

/* The resources [size] of all ranks; measures the sgemm rate for `seconds`. Claims the
 * cores that ranks are bound to, until weft_placements_leave. Collective. Owned by mem. */
weft_placement *weft_placements(weft_team *team, double seconds, weft_arena *mem);

/* Gives up the claim of this rank. */
void weft_placements_leave(const weft_placement *placement, const weft_team *team);

/* 1 if rank r is the first on its host; number of ranks on the host of r; list of the cores
 * that any of these may run on. */
int weft_placement_first(const weft_placement *placement, int r);
int weft_placement_ranks(const weft_placement *placement, int size, int r);
const char *weft_placement_cores(const weft_placement *placement, int size, int r,
                                 weft_arena *mem);

/* The rank that had the smallest share of a core while it was measured, the first of these.
 */
int weft_placement_busiest(const weft_placement *placement, int size);

/* The hosts, each once, in order of rank, with the cores of their ranks: "n1 (cores 0-3) n2
 * (cores 0-3)". Owned by mem. */
const char *weft_hosts(const weft_placement *placement, int size, weft_arena *mem);

/* Warns if ranks share fewer cores than there are ranks, if memory is less than they need
 * (`bytes` each), and if OpenBLAS has several threads; returns the number of warnings. */
int weft_placements_warn(const weft_placement *placement, int size, double bytes);

/* Rank 0 locks a file in a directory, which the other ranks then try to lock: found[size].
 * EFILE: it cannot be made. Collective. */
WEFT_CHECKED weft_status weft_locks_try(const char *dir, weft_team *team, weft_lock *found,
                                        weft_arena *mem);

/* Warns, with the remedy, if the first rank with a fault found that locks do not work
 * between hosts or processes, or that the directory is another one on its host; returns the
 * number of warnings. */
int weft_locks_warn(const char *dir, const weft_lock *found,
                    const weft_placement *placement, int size);

/* ---- what may end a run ---- */

/* Catches SIGTERM, SIGUSR1 and SIGINT until weft_signals_free. */
void weft_signals_catch(void);
void weft_signals_free(void);
int weft_signals_seen(void); /* number of the last one caught, or 0 */

/* Starts a thread that detects that this rank makes no progress for `seconds`. Such ranks
 * write what they are doing to files in `dir`, and the lowest of them prints one warning
 * that names the ranks that the others wait for: those that compute, and those that write
 * nothing. The thread does not call MPI. */
void weft_watchdog_start(const weft_team *world, double seconds, const char *dir);

/* Stops the thread; does nothing if there is none. */
void weft_watchdog_stop(void);

/* ---- `weft doctor` ---- */

/* Tests launcher, hosts, cores, memory, BLAS, the connection between ranks and the file
 * system of the directory `dir`, prints the results and warns of problems. EFILE: `dir` is
 * not writable. Collective over world. Takes about a second. */
WEFT_CHECKED weft_status weft_doctor(const char *dir, weft_team *world);

#endif
