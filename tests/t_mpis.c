/* Several MPIs: how ranks of one core wait, and two MPIs in one program. RUN: np=1 np=2
 * np=5
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "par/handle.h"
#include "tap.h"

#include <sched.h>
#include <sys/resource.h>

enum {
    MANY = 1 << 20,
    NAPS = 20,
    LATER = 99
}; /* bytes beyond what is sent at once; naps of a wait; a tag */

static long naps(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
}

/* One of the calls in which ranks wait, for rank 0, with results that are checked. */
static int waits(int which, uint8_t *x)
{
    int r = world.rank, n = world.size, good = 1;
    int64_t sum[2] = {r + 1, -r};
    int count[8], at[8], share = MANY / n;
    MPI_Status status;
    MPI_Request pending[8];
    for (int k = 0; k < n; k++) count[k] = share, at[k] = k * share;
    memset(x, r + 1, MANY);
    switch (which) {
    case 0: return MPI_Barrier(comm_of(&world)) == MPI_SUCCESS;
    case 1:
        MPI_Bcast(x, MANY, MPI_BYTE, 0, comm_of(&world));
        return x[0] == 1 && x[MANY - 1] == 1;
    case 2:
        MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT64_T, MPI_SUM, comm_of(&world));
        return sum[0] == n * (n + 1) / 2 && sum[1] == -n * (n - 1) / 2;
    case 3:
        MPI_Allgather(&sum[0], 1, MPI_INT64_T, x, 1, MPI_INT64_T, comm_of(&world));
        for (int k = 0; k < n; k++) good &= ((int64_t *)(void *)x)[k] == k + 1;
        return good;
    case 4:
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, x, count, at, MPI_BYTE, comm_of(&world));
        for (int k = 0; k < n; k++)
            good &= x[at[k]] == k + 1 && x[at[k] + share - 1] == k + 1;
        return good;
    case 5:
        MPI_Reduce_scatter(MPI_IN_PLACE, x, count, MPI_UINT8_T, MPI_MAX, comm_of(&world));
        return x[0] == n && x[share - 1] == n;
    case 6: /* all receive of rank 0 */
        if (r > 0) {
            MPI_Recv(x, MANY, MPI_BYTE, 0, MPI_ANY_TAG, comm_of(&world), &status);
            MPI_Get_count(&status, MPI_BYTE, &share);
            return status.MPI_SOURCE == 0 && status.MPI_TAG == r && share == MANY &&
                   x[MANY - 1] == 1;
        }
        for (int k = 1; k < n; k++) MPI_Send(x, MANY, MPI_BYTE, k, k, comm_of(&world));
        return 1;
    case 7: /* to rank 0, whose messages come late */
        if (r > 0) MPI_Isend(&sum[0], 1, MPI_INT64_T, 0, LATER, comm_of(&world), pending);
        if (r > 0) MPI_Send(x, MANY, MPI_BYTE, 0, r, comm_of(&world));
        if (r > 0) MPI_Waitall(1, pending, MPI_STATUSES_IGNORE);
        for (int k = 1; k < n && r == 0; k++) {
            MPI_Recv(x, MANY, MPI_BYTE, k, k, comm_of(&world), MPI_STATUS_IGNORE);
            good &= x[0] == k + 1 && x[MANY - 1] == k + 1;
            MPI_Recv(&sum[0], 1, MPI_INT64_T, k, LATER, comm_of(&world), MPI_STATUS_IGNORE);
            good &= sum[0] == k + 1;
        }
        return good;
    default:
        for (int k = 1; k < n && r == 0; k++)
            MPI_Isend(x, MANY, MPI_BYTE, k, k, comm_of(&world), &pending[k - 1]);
        if (r > 0) MPI_Irecv(x, MANY, MPI_BYTE, 0, r, comm_of(&world), &pending[0]);
        MPI_Waitall(r > 0 ? 1 : n - 1, pending, MPI_STATUSES_IGNORE);
        for (int k = 0; k < (r > 0 ? 1 : n - 1); k++)
            good &= pending[k] == MPI_REQUEST_NULL;
        return good && x[0] == 1 && x[MANY - 1] == 1;
    }
}

static const char *const name[] = {
    "barrier",      "broadcast", "sum",     "gathering", "gathering of parts",
    "sum of parts", "receipt",   "sending", "exchange"};

/* With cores for all: MPI's own calls. */
static void test_enough(const cpu_set_t *cores)
{
#ifndef OPEN_MPI
    sched_setaffinity(0, sizeof *cores, cores);
    weft_mpis_crowd();
    if (world.rank == 0) weft_nap(0.2);
    long before = naps();
    MPI_Barrier(comm_of(&world));
    int slept = naps() - before >= NAPS;
    ok(world.rank == 0 || CPU_COUNT(cores) < world.size || !slept,
       "who has a core does not");
#else
    (void)cores;
#endif
}

static void test_waits(void)
{
    uint8_t *x = malloc(MANY);
    for (int which = 0; which < (int)LEN(name); which++) {
        MPI_Barrier(comm_of(&world));
        if (world.rank == 0) weft_nap(0.2);
        long before = naps();
        int good = waits(which, x);
        long slept = naps() - before;
        ok(good, "a %s has its result", name[which]);
#ifdef OPEN_MPI
        (void)slept;
#else
        ok(world.rank == 0 || slept >= NAPS,
           "who waits in a %s for a rank on the same core sleeps", name[which]);
#endif
    }
    free(x);
}

/* The file as /proc/self/maps has it, of a program with these libraries. */
static weft_status refused(const char *libraries)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/weft-maps-%ld", (long)getpid());
    FILE *out = fopen(path, "w");
    for (const char *at = libraries; *at;
         at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' '))
        for (int i = 0; i < 2; i++)
            fprintf(out,
                    "7f0%d-7f1%d r-xp 0000 fe:01 12                     /usr/lib/%.*s\n", i,
                    i, (int)strcspn(at, " "), at);
    fprintf(out,
            "7ffd-7ffe rw-p 0000 00:00 0          [stack]\n7fff-8000 rw-p 0000 00:00 0\n");
    fclose(out);
    weft_status st = weft_mpis_refuse(path);
    remove(path);
    return st;
}

static void test_two(void)
{
    ok(weft_mpis_refuse("/proc/self/maps") == WEFT_OK, "this program has one MPI");
    ok(refused("libmpi.so.40.30.4 libmpi_mpifh.so.40 libm.so.6 libopen-pal.so.40") ==
           WEFT_OK,
       "Open MPI is one");
    ok(refused("libmpich.so.12.2.0 libmpichfort.so.12.2.0 libmpi.so.txt/libz.so.1") ==
           WEFT_OK,
       "and MPICH");
    ok(refused("cray/libmpi_cray.so.12.0.0 libmpi_cray_mpifh.so.12") == WEFT_OK,
       "and Cray's");
    ok(refused("libmpi.so.40.30.4 libc.so.6 libmpich.so.12.2.0") == WEFT_ECONF &&
           strstr(weft_error(),
                  "/usr/lib/libmpi.so.40.30.4 and /usr/lib/libmpich.so.12.2.0") &&
           strstr(weft_error(), "make MPICC="),
       "both in one program are refused, with their names and the remedy");
    ok(refused("a/libmpi.so.12 b/libmpi.so.40") == WEFT_ECONF,
       "so are two whose files have one name");
    ok(refused("libmpi_gnu_91.so.12 libmpi.so.40") == WEFT_ECONF,
       "and Cray's with another");
    ok(refused("libmpi_abi.so.1.0 libmpi.so.40") == WEFT_ECONF,
       "and one of MPI 5's common names, libmpi_abi");
    ok(refused("libmpi_abi.so.1.0 libmpifort_abi.so.1 libmpi_shm_heap_proxy.so") == WEFT_OK,
       "which alone, with what Intel's MPI loads, is one");
    ok(weft_mpis_refuse("/no/such/file") == WEFT_OK,
       "where the system does not tell, nothing is refused");
}

static void test_name(void)
{
    char text[128], all[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    weft_par_library(text, sizeof text);
    MPI_Get_library_version(all, &n);
    ok(*text &&
           strspn(text,
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .()-:") ==
               strlen(text),
       "MPI's name is a text of one line: %s", text);
    ok(strncmp(all, "MPICH Version:", 14) != 0 ||
           (strncmp(text, "MPICH v", 7) == 0 && strstr(all, text + 7)),
       "MPICH's has its version");
}

int main(int argc, char **argv)
{
    cpu_set_t all, first;
    int cpu = 0;
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof all, &all);
    for (; cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &all); cpu++) continue;
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    sched_setaffinity(0, sizeof first, &first); /* all ranks on one core */
    ranks_begin(&argc, &argv);
    test_name();
    test_two();
    if (world.size > 1) test_waits();
    if (world.size > 1) test_enough(&all);
    return tap_end();
}
