/* Processes: start and end of MPI and what started this one, teams of ranks within a team,
 * and the connection of two ranks. */
#include "handle.h"
#include "weft/base/base.h"
#include "weft/math/kernels.h"
#include "weft/par/par.h"

#include <cblas.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void abort_all(void)
{
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* The first of these variables that the environment has, or NULL. */
static const char *first_of(int n, const char *const *name)
{
    const char *value = NULL;
    for (int i = 0; i < n && !value; i++) value = getenv(name[i]);
    return value;
}
#define FIRST_OF(...)                                                                      \
    first_of((int)(sizeof(const char *[]){__VA_ARGS__} / sizeof(char *)),                  \
             (const char *const[]){__VA_ARGS__})

/* `mpirun -n 1` within a larger SLURM allocation is one process, so mpirun's own count is
 * tried first. */
int weft_par_launched(void)
{
    const char *n = FIRST_OF("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS");
    return n ? atoi(n) : 1;
}

int weft_par_hides_stderr(void)
{
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL;
#else
    return 0;
#endif
}

/* 1 if this process is the first of those that a launcher has started, or the only one. */
static int is_first(void)
{
    const char *rank =
        FIRST_OF("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID");
    return !rank || atoi(rank) == 0;
}

/* What each process finds before it knows the others: the first of them prints a message,
 * the others fail silently. */
static weft_status refuse(weft_status st)
{
    if (!is_first()) weft_error_set("");
    return st;
}

/* Fails if a launcher has started several processes that cannot connect. */
static weft_status refuse_singletons(int expected)
{
    char mpi[64];
    weft_par_library(mpi, sizeof mpi);
    return refuse(weft_fail(
        WEFT_ECONF,
        "%d processes were started but each finds itself alone: the launcher and %s do not "
        "speak the same PMI; use its own mpirun, or srun --mpi=%s",
        expected, mpi, strncmp(mpi, "Open MPI", 8) == 0 ? "pmix" : "pmi2"));
}

/* Width of the vector instructions that an OpenBLAS core uses: 0 at most AVX, 1 AVX2, 2
 * AVX-512. */
static int core_level(const char *core)
{
    static const char *const wide[] = {"Excavator", "Haswell",    "Zen",
                                       "SkylakeX",  "Cooperlake", "SapphireRapids"};
    for (int i = 0; i < 6; i++)
        if (strcmp(core, wide[i]) == 0) return i < 3 ? 1 : 2;
    return 0;
}

static int cpu_level(void)
{
    const char *kernel = weft_cpu_kernel();
    return strncmp(kernel, "avx512", 6) == 0 ? 2 : strcmp(kernel, "avx2") == 0;
}

/* OpenBLAS chooses its kernels when it is loaded, and takes a CPU that is newer than itself
 * for a Prescott: 0.3.21 an Emerald Rapids, a fifth as fast. Then this program starts once
 * more with a choice for it, which programs that it starts do not inherit. */
static void choose_core(char **argv)
{
    char self[4096];
    int again = getenv(WEFT_CORE_CHOSEN) != NULL, level = cpu_level();
    int lost = level > 0 && strcmp(openblas_get_corename(), "Prescott") == 0;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!again && !getenv(WEFT_CORE) && lost && n > 0) {
        self[n] = '\0';
        setenv(WEFT_CORE, level == 2 ? "SkylakeX" : "Haswell", 1);
        setenv(WEFT_CORE_CHOSEN, "1", 1);
        execv(self, argv);
        again = 1;
    }
    if (!again) return;
    unsetenv(WEFT_CORE);
    unsetenv(WEFT_CORE_CHOSEN);
}

/* Warns if OpenBLAS uses slower kernels than the CPU supports: some machines set
 * OPENBLAS_CORETYPE for other programs, which halves the speed of products. */
static void warn_core(void)
{
    const char *core = openblas_get_corename(), *forced = getenv(WEFT_CORE);
    if (core_level(core) >= cpu_level()) return;
    weft_log(WEFT_WARN, "OpenBLAS uses its slower kernels for %s on a CPU with %s%s%s",
             core, weft_cpu_kernel(), forced ? "; unset " WEFT_CORE "=" : "",
             forced ? forced : "");
}

/* A process that no launcher started starts no other and shares no directory: Open MPI 4
 * would start a daemon for it, which takes 0.1 s and may fail on a busy machine, and
 * without one all such processes would make and remove the same directory. */
static void stand_alone(void)
{
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
}

/* ELIMIT if a limit of open files leaves none to MPI, which ends with lines of its own. */
static weft_status check_files(void)
{
    enum { FILES = 32 }; /* more than Open MPI opens: 4.1 alone 14 */
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) != 0 || most.rlim_cur >= FILES) return WEFT_OK;
    return refuse(weft_fail(WEFT_ELIMIT,
                            "ulimit -n allows %llu open files, too few for MPI, which is "
                            "to have %d at least; allow more (ulimit -n 1024)",
                            (unsigned long long)most.rlim_cur, FILES));
}

weft_status weft_par_start(int *argc, char ***argv, weft_team *world)
{
    choose_core(*argv);
    TRY(check_files());
    weft_status st = weft_mpis_refuse("/proc/self/maps");
    if (st != WEFT_OK) return refuse(st);
    int expected = weft_par_launched();
    /* By srun without any PMI, where MPI would fail at length, or not at all. */
    const char *pmi = FIRST_OF("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                               "PMI_FD", "PALS_RANKID"); /* of Cray's launcher */
    if (expected > 1 && !pmi) return refuse_singletons(expected);
    if (!pmi) stand_alone();
    int level;
    weft_mpis_apart(0);
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    weft_mpis_apart(1);
    weft_check(level >= MPI_THREAD_FUNNELED, "this MPI has no MPI_THREAD_FUNNELED");
    *world = (weft_team){0};
    set_comm(world, MPI_COMM_WORLD);
    MPI_Comm_rank(comm_of(world), &world->rank);
    MPI_Comm_size(comm_of(world), &world->size);
    if (world->size == 1 && expected > 1) {
        MPI_Finalize();
        return refuse_singletons(expected);
    }
    weft_mpis_crowd();
    weft_die_hook(abort_all);
    weft_log_set(WEFT_INFO, world->rank);
    openblas_set_num_threads(1);
    warn_core();
    world->since = weft_now();
    return WEFT_OK;
}

void weft_par_alone(weft_team *world)
{
    *world = (weft_team){.size = 1, .since = weft_now()};
    set_comm(world, MPI_COMM_NULL);
    weft_log_set(WEFT_INFO, 0);
    openblas_set_num_threads(1);
}

static const size_t buffer = (size_t)32 << 22; /* of a thread of OpenBLAS */
static const size_t rest = (size_t)32 << 20;   /* ours, at least */

weft_status weft_par_begin(void)
{
    int threads = openblas_get_num_threads();
    double needed = threads * (double)buffer + (double)rest;
    struct rlimit most;
    if (getrlimit(RLIMIT_DATA, &most) != 0 || most.rlim_cur == RLIM_INFINITY ||
        (double)most.rlim_cur >= needed)
        return WEFT_OK;
    return weft_fail(WEFT_ELIMIT,
                     "ulimit -d allows %.0f MB of data, and OpenBLAS takes %.0f MB for %d "
                     "threads; allow more (ulimit -d unlimited), or set "
                     "OPENBLAS_NUM_THREADS=1",
                     (double)most.rlim_cur / 1e6, needed / 1e6, threads);
}

weft_status weft_par_room(void)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur == RLIM_INFINITY) return WEFT_OK;
    int fd = open("/dev/zero", O_RDONLY);
    void *room = mmap(NULL, buffer + rest, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0) close(fd);
    if (room == MAP_FAILED)
        return weft_fail(WEFT_ELIMIT,
                         "ulimit -v allows %.0f MB of address space, of which %.0f MB more "
                         "are not left for OpenBLAS; allow more (ulimit -v unlimited), and "
                         "limit memory by run.memory",
                         (double)most.rlim_cur / 1e6, (double)(buffer + rest) / 1e6);
    munmap(room, buffer + rest);
    return WEFT_OK;
}

void weft_par_end(weft_team *world)
{
    weft_die_hook(NULL);
    int started;
    MPI_Initialized(&started);
    if (!started) return;
    weft_parts_close(world);
    weft_nodes_close(world);
    set_comm(world, MPI_COMM_NULL);
    MPI_Finalize();
}

weft_team weft_team_alone(void)
{
    weft_team team = {.size = 1};
    set_comm(&team, MPI_COMM_SELF);
    return team;
}

/* ---- teams within a team: neighbours, as even as possible, the first ones larger ---- */

int weft_team_first(int size, int parts, int part)
{
    int more = size % parts;
    return part * (size / parts) + (part < more ? part : more);
}

int weft_team_of(int size, int parts, int rank)
{
    int part = 0;
    while (part + 1 < parts && weft_team_first(size, parts, part + 1) <= rank) part++;
    return part;
}

void weft_team_split(const weft_team *team, int parts, weft_team *own)
{
    int part = weft_team_of(team->size, parts, team->rank);
    *own = (weft_team){.since = weft_now(),
                       .first = team->first + weft_team_first(team->size, parts, part)};
    MPI_Comm comm;
    MPI_Comm_split(comm_of(team), part, team->rank, &comm);
    MPI_Comm_rank(comm, &own->rank);
    MPI_Comm_size(comm, &own->size);
    set_comm(own, comm);
}

void weft_team_free(weft_team *team)
{
    weft_parts_close(team);
    weft_nodes_close(team);
    MPI_Comm comm = comm_of(team);
    MPI_Comm_free(&comm);
    set_comm(team, comm);
}

void weft_times_move(weft_team *from, weft_team *to)
{
    weft_times_close(from);
    to->since = from->since;
}

/* ---- latency and rate of a connection ---- */

enum { SHORT = 8, LONG = 4 << 20 }; /* bytes of a message */
enum { TRIES = 50, TRIPS = 20 };    /* of a short message; the best of TRIES counts */

/* Seconds of the best of some round trips between ranks a and b, who call it. */
static double best_trip(const weft_team *team, int a, int b, char *bytes, int n, int tries,
                        int trips)
{
    double best = INFINITY;
    int other = team->rank == a ? b : a;
    for (int i = 0; i < tries; i++) {
        double start = weft_now();
        for (int j = 0; j < trips; j++) {
            if (team->rank == a) MPI_Send(bytes, n, MPI_BYTE, other, 0, comm_of(team));
            MPI_Recv(bytes, n, MPI_BYTE, other, 0, comm_of(team), MPI_STATUS_IGNORE);
            if (team->rank == b) MPI_Send(bytes, n, MPI_BYTE, other, 0, comm_of(team));
        }
        best = fmin(best, (weft_now() - start) / trips);
    }
    return best;
}

weft_trip weft_trip_try(weft_team *team, int a, int b)
{
    weft_trip trip = {0};
    if (team->rank == a || team->rank == b) {
        WEFT_SCRATCH(tmp);
        char *bytes = WEFT_NEW(tmp, char, LONG);
        best_trip(team, a, b, bytes, LONG, 1, 1); /* touches the pages */
        trip.latency = best_trip(team, a, b, bytes, SHORT, TRIES, TRIPS) / 2;
        trip.rate = 2.0 * LONG / best_trip(team, a, b, bytes, LONG, 10, 1);
    }
    weft_bcast(team, &trip, sizeof trip, a);
    return trip;
}
