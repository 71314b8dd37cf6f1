/* `weft doctor`: describes this program, the launcher, the machine and the file system,
 * with the remedy for each problem found. */
#include "host.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/math/kernels.h"
#include "weft/par/par.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEASURE 0.3 /* seconds for measuring the rate */
#define BUSY    0.8 /* a smaller fraction of a core means that other processes use it */

/* ---- the launcher and the program ---- */

static void show_start(int size)
{
    const char *job = getenv("SLURM_JOB_ID"), *node = getenv("SLURM_JOB_NUM_NODES");
    char mpi[256];
    weft_par_library(mpi, sizeof mpi);
    printf("weft      %s, %s numbers, %s, %s\n", WEFT_VERSION,
           sizeof(real) == sizeof(double) ? "double" : "float", WEFT_COMPILER, mpi);
    printf("started   %d rank%s", size, size == 1 ? "" : "s");
    if (job) printf(" in SLURM job %s, which has %s nodes", job, node ? node : "some");
    printf("\n");
}

/* ---- ranks ---- */

static const char *binding(const weft_placement *placement, int size, int r,
                           const char *cores)
{
    int alike = 1, apart = 1;
    for (int q = 0; q < size; q++) {
        if (strcmp(placement[q].host, placement[r].host) != 0) continue;
        alike &= strcmp(placement[q].cores, cores) == 0;
        apart &= strspn(placement[q].cores, "0123456789") == strlen(placement[q].cores);
    }
    return apart ? "bound to one each" : alike ? "each rank on any of them" : "bound";
}

static void show_hosts(const weft_placement *placement, int size, weft_arena *mem)
{
    for (int r = 0; r < size; r++) {
        if (!weft_placement_first(placement, r)) continue;
        int ranks = weft_placement_ranks(placement, size, r);
        const char *cores = weft_placement_cores(placement, size, r, mem);
        printf("host      %s: %d rank%s on cores ", placement[r].host, ranks,
               ranks == 1 ? "" : "s");
        if (*cores)
            printf("%s, %s", cores, binding(placement, size, r, cores));
        else
            printf("that /proc does not tell");
        printf("; %.3g GB of memory, %.3g GB free", placement[r].memory / 1e9,
               placement[r].available / 1e9);
        if (placement[r].room < placement[r].memory)
            printf(", %.3g GB allowed", placement[r].room / 1e9);
        printf("\n");
    }
}

static void show_rates(const weft_placement *placement, int size)
{
    int slow = 0, fast = 0;
    for (int r = 1; r < size; r++) {
        if (placement[r].sgemm < placement[slow].sgemm) slow = r;
        if (placement[r].sgemm > placement[fast].sgemm) fast = r;
    }
    printf("blas      OpenBLAS for %s, %d thread%s a rank; kernel %s\n", placement[0].blas,
           placement[0].threads, placement[0].threads == 1 ? "" : "s", weft_cpu_kernel());
    printf("rate      sgemm %.3g GFLOP/s", placement[slow].sgemm);
    if (size > 1)
        printf(" (rank %d on %s) to %.3g (rank %d on %s)", slow, placement[slow].host,
               placement[fast].sgemm, fast, placement[fast].host);
    printf("\n");
}

/* Warns of the rank that had the smallest fraction of its core, if that is below BUSY. */
static int warn_busy(const weft_placement *placement, int size)
{
    int least = weft_placement_busiest(placement, size);
    if (placement[least].share >= BUSY) return 0;
    weft_log(WEFT_WARN,
             "rank %d on %s had %.0f %% of a core: other processes run on its cores (%s); "
             "wait for them, or where it is another mpirun on this host, whose ranks are "
             "bound to the same cores, give mpirun --bind-to none",
             least, placement[least].host, 100 * placement[least].share,
             *placement[least].cores ? placement[least].cores : "unknown");
    return 1;
}

/* Measures the connection between two ranks of a host, and between rank 0 and the first
 * rank of another host. */
static void show_trips(weft_team *team, const weft_placement *placement)
{
    int near = 0, far = 0;
    for (int r = team->size - 1; r > 0; r--) {
        int same = strcmp(placement[r].host, placement[0].host) == 0;
        if (same) near = r;
        if (!same) far = r;
    }
    const int other[] = {near, far};
    for (int i = 0; i < 2; i++) {
        if (other[i] == 0) continue;
        weft_trip trip = weft_trip_try(team, 0, other[i]);
        if (team->rank == 0)
            printf("trip      ranks 0 and %d, %s: %.3g us, %.3g GB/s\n", other[i],
                   i == 0 ? "on one host" : placement[other[i]].host, 1e6 * trip.latency,
                   trip.rate / 1e9);
    }
    if (team->rank == 0 && team->size == 1)
        printf("trip      needs two ranks: mpirun -n 2 weft doctor\n");
}

/* ---- the directory ---- */

/* Rank 0 writes a file, then all try locks. Collective. */
static weft_status try_disk(const char *dir, weft_team *team, weft_disk *disk,
                            double *seconds, weft_lock *found, weft_arena *mem)
{
    const char *name = weft_arena_text(mem, "%s/" WEFT_DOCTOR_NAME, dir);
    const char *path = weft_file_temp(name, mem);
    weft_status st = WEFT_OK;
    if (team->rank == 0) weft_file_sweep(name, 0);
    if (team->rank == 0) st = weft_disk_look(dir, disk);
    if (team->rank == 0 && st == WEFT_OK) st = weft_disk_write(path, seconds);
    TRY(weft_agree(st, team));
    return weft_locks_try(dir, team, found, mem);
}

/* Collective. */
static weft_status show_disk(const char *dir, weft_team *team,
                             const weft_placement *placement, int *wrong, weft_arena *mem)
{
    weft_disk disk;
    double seconds;
    weft_lock *found = WEFT_NEW(mem, weft_lock, team->size);
    TRY(try_disk(dir, team, &disk, &seconds, found, mem));
    if (team->rank > 0) return WEFT_OK;
    int bad = weft_locks_warn(dir, found, placement, team->size);
    *wrong += bad;
    printf("files     %s: %s, %.4g GB free; 1 MB written, synced and renamed in %.3g ms; "
           "%s\n",
           dir, *disk.type ? disk.type : "unknown", disk.free / 1e9, 1e3 * seconds,
           bad              ? "see the warning"
           : team->size > 1 ? "locks keep other processes out"
                            : "locks are tried by two ranks");
    return WEFT_OK;
}

weft_status weft_doctor(const char *dir, weft_team *world)
{
    WEFT_SCRATCH(mem);
    int root = world->rank == 0;
    int wrong = 0;
    const weft_placement *placement = weft_placements(world, MEASURE, mem);
    if (root) {
        show_start(world->size);
        show_hosts(placement, world->size, mem);
        show_rates(placement, world->size);
        wrong = weft_placements_warn(placement, world->size, 0);
        if (wrong == 0) wrong = warn_busy(placement, world->size);
    }
    show_trips(world, placement);
    weft_status st = show_disk(dir, world, placement, &wrong, mem);
    if (root && st == WEFT_OK)
        printf("verdict   %s\n", wrong == 0   ? "nothing to mend"
                                 : wrong == 1 ? "a warning, above"
                                              : "warnings, above");
    weft_placements_leave(placement, world);
    return st;
}
