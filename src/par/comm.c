/* Teams of ranks: start and end of MPI, agreement on failures, exact sums, and measuring
 * where time goes. Doubles are summed as 64-bit integers, so that the order does not
 * matter. */
#include "nodes.h"
#include "timer.h"
#include "weft/clock.h"
#include "weft/cpu.h"
#include "weft/exact.h"
#include "weft/log.h"
#include "weft/par.h"

#include <cblas.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* MPI counts are int: longer vectors go in pieces of this many elements. */
#define PIECE ((size_t)1 << 28)

/* Shortest and longest sleep between two checks for the arrival of the other ranks. */
#define SHORT_NAP 5e-5
#define LONG_NAP  1e-2

/* Longest error message passed between ranks, bytes with the NUL. */
enum { MESSAGE = 2048 };

/* ---- start and end ---- */

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

int weft_par_by_mpirun(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL;
}

/* Fails if a launcher has started several processes that cannot connect. The first of them
 * prints a message, the others fail silently. */
static weft_status refuse_singletons(int expected)
{
    const char *rank =
        FIRST_OF("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID");
    weft_error_set("");
    if (rank && atoi(rank) > 0) return WEFT_ECONF;
    return weft_fail(WEFT_ECONF,
                     "%d processes were started but each finds itself alone: the launcher "
                     "and MPI do not speak the same PMI; use mpirun, or srun --mpi=pmix",
                     expected);
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

/* Warns if OpenBLAS uses slower kernels than the CPU supports: some machines set
 * OPENBLAS_CORETYPE for other programs, which halves the speed of factorizations. */
static void warn_core(void)
{
    const char *kernel = weft_cpu_kernel(), *core = openblas_get_corename();
    int able = strncmp(kernel, "avx512", 6) == 0 ? 2 : strcmp(kernel, "avx2") == 0;
    if (core_level(core) >= able) return;
    const char *forced = getenv("OPENBLAS_CORETYPE");
    weft_log(WEFT_WARN, "OpenBLAS uses its slower kernels for %s on a CPU with %s%s%s",
             core, kernel, forced ? "; unset OPENBLAS_CORETYPE=" : "",
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

weft_status weft_par_start(int *argc, char ***argv, weft_team *world)
{
    int expected = weft_par_launched();
    /* By srun without any PMI, where MPI would fail at length, or not at all. */
    const char *pmi =
        FIRST_OF("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "PMI_FD");
    if (expected > 1 && !pmi) return refuse_singletons(expected);
    if (!pmi) stand_alone();
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    weft_check(level >= MPI_THREAD_FUNNELED, "this MPI has no MPI_THREAD_FUNNELED");
    *world = (weft_team){0};
    set_comm(world, MPI_COMM_WORLD);
    MPI_Comm_rank(comm_of(world), &world->rank);
    MPI_Comm_size(comm_of(world), &world->size);
    if (world->size == 1 && expected > 1) {
        MPI_Finalize();
        return refuse_singletons(expected);
    }
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
}

weft_status weft_par_room(void)
{
    size_t buffer = (size_t)32 << 22, rest = (size_t)32 << 20; /* of OpenBLAS; ours */
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

void weft_par_library(char *text, size_t n)
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int used;
    MPI_Get_library_version(all, &used);
    snprintf(text, n, "%.*s", (int)strcspn(all, ",\n"), all);
}

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
    MPI_Barrier(comm_of(team));
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
