/* What differs between MPIs: its name, two in one program, ranks in containers, and how
 * ranks wait.
 *
 * A rank that waits in MPICH, or in an MPI made of it, keeps its core busy, so that where
 * ranks outnumber cores those that the others wait for seldom have one. Open MPI's mpirun
 * knows that and lets waiting ranks yield. For the others the calls that wait are replaced
 * here, by way of MPI's profiling interface and so within ScaLAPACK too: each begins as its
 * nonblocking form, which is tested until it is done, with naps between. Where there are
 * cores enough, and in Open MPI, the calls are MPI's own. Profilers that do the same may be
 * linked or loaded before; naps are lost then. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "handle.h"
#include "weft/base/base.h"
#include "weft/par/par.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- which one ---- */

void weft_par_library(char *text, size_t n)
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING] = "", number[32];
    int used;
    MPI_Get_library_version(all, &used);
    if (sscanf(all, "MPICH Version: %31s", number) == 1)
        snprintf(text, n, "MPICH v%s", number);
    else
        snprintf(text, n, "%.*s", (int)strcspn(all, ",\n"), all);
}

/* 1 if this is the name of an MPI's own library: those of Fortran and C++ have others. */
static int is_mpi(const char *name)
{
    static const char *const own[] = {"libmpi.so.", "libmpi_abi.so.", "libmpich.so.",
                                      "libmpi_cray.so.", "libmpi_gnu"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncmp(name, own[i], strlen(own[i])) == 0) return 1;
    return 0;
}

weft_status weft_mpis_refuse(const char *maps)
{
    char line[4096], first[4096] = "";
    weft_status st = WEFT_OK;
    FILE *in = fopen(maps, "r");
    while (in && st == WEFT_OK && fgets(line, sizeof line, in)) {
        const char *path = strchr(line, '/'), *end = path ? strrchr(path, '/') + 1 : line;
        line[strcspn(line, "\n")] = '\0';
        if (!path || !is_mpi(end) || strcmp(path, first) == 0) continue;
        if (!*first)
            strcpy(first, path);
        else
            st = weft_fail(WEFT_ECONF,
                           "two MPIs in one program, %s and %s: take HDF5 and ScaLAPACK of "
                           "one of them, or serial HDF5, and build again by `make MPICC=` "
                           "its mpicc",
                           first, path);
    }
    if (in) fclose(in);
    return st;
}

#ifdef OPEN_MPI

void weft_mpis_apart(int begun)
{
    (void)begun;
}

void weft_mpis_crowd(void)
{
}

#else

/* ---- ranks in user namespaces of their own ---- */

/* 1 if this process is not in the first user namespace, which has all users as they are. */
static int in_namespace(void)
{
    unsigned long from, to, n;
    FILE *in = fopen("/proc/self/uid_map", "r");
    if (!in) return 0;
    int own =
        fscanf(in, "%lu %lu %lu", &from, &to, &n) == 3 && (from || to || n < UINT32_MAX);
    fclose(in);
    return own;
}

void weft_mpis_apart(int begun)
{
    /* System V's shared memory is left. Over TCP no writing without the other's help: of
     * MPICH 4.0.2 with UCX 1.13.1 its last message may be waited for forever. */
    static const char *const set[][2] = {{"UCX_TLS", "^posix,cma"},
                                         {"UCX_TCP_PUT_ENABLE", "n"}};
    static int ours;
    if (!begun) ours = !getenv(set[0][0]) && !getenv(set[1][0]) && in_namespace();
    for (size_t i = 0; ours && i < sizeof set / sizeof *set; i++)
        begun ? unsetenv(set[i][0]) : setenv(set[i][0], set[i][1], 1);
}

/* ---- waiting where ranks outnumber cores ---- */

/* Looks without a nap, which yield the core; seconds of the shortest and longest nap. */
enum { YIELDS = 20 };
#define SHORT_NAP 2e-6
#define LONG_NAP  1e-3

static int crowded; /* 1: more ranks on this host than cores that they may run on */

void weft_mpis_crowd(void)
{
    cpu_set_t cores;
    MPI_Comm near;
    int ranks;
    CPU_ZERO(&cores);
    int known = sched_getaffinity(0, sizeof cores, &cores) == 0;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    PMPI_Comm_size(near, &ranks);
    PMPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, near);
    PMPI_Allreduce(MPI_IN_PLACE, &cores, (int)sizeof cores, MPI_BYTE, MPI_BOR, near);
    PMPI_Comm_free(&near);
    crowded = known && ranks > CPU_COUNT(&cores);
}

/* Waits for all of pending[n], which fill status[n]. */
static int settle(int n, MPI_Request *pending, MPI_Status *status)
{
    double nap = SHORT_NAP;
    for (int looks = 0, here = 0;; looks++) {
        int error = PMPI_Testall(n, pending, &here, status);
        if (error != MPI_SUCCESS || here) return error;
        if (looks < YIELDS) {
            sched_yield();
            continue;
        }
        weft_nap(nap);
        nap = fmin(1.2 * nap, LONG_NAP);
    }
}

/* Defines MPI_NAME as PMPI_NAME, and where ranks outnumber cores as PMPI_INAME. */
#define NAPS(name, declared, given, begun)                                                 \
    int MPI_##name declared                                                                \
    {                                                                                      \
        MPI_Request all;                                                                   \
        if (!crowded) return PMPI_##name given;                                            \
        int error = PMPI_I##begun;                                                         \
        return error == MPI_SUCCESS ? settle(1, &all, MPI_STATUSES_IGNORE) : error;        \
    }
#define IN_OUT const void *in, void *out

NAPS(Barrier, (MPI_Comm comm), (comm), barrier(comm, &all))
NAPS(Bcast, (void *x, int n, MPI_Datatype type, int root, MPI_Comm comm),
     (x, n, type, root, comm), bcast(x, n, type, root, comm, &all))
NAPS(Allreduce, (IN_OUT, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (in, out, n, type, op, comm), allreduce(in, out, n, type, op, comm, &all))
NAPS(Reduce_scatter, (IN_OUT, const int n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (in, out, n, type, op, comm), reduce_scatter(in, out, n, type, op, comm, &all))
NAPS(Allgather,
     (const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype to,
      MPI_Comm comm),
     (in, n, type, out, m, to, comm), allgather(in, n, type, out, m, to, comm, &all))
NAPS(Allgatherv,
     (const void *in, int n, MPI_Datatype type, void *out, const int m[], const int at[],
      MPI_Datatype to, MPI_Comm comm),
     (in, n, type, out, m, at, to, comm),
     allgatherv(in, n, type, out, m, at, to, comm, &all))
NAPS(Send, (const void *x, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
     (x, n, type, to, tag, comm), send(x, n, type, to, tag, comm, &all))

int MPI_Recv(void *x, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    MPI_Request one;
    if (!crowded) return PMPI_Recv(x, n, type, from, tag, comm, status);
    int error = PMPI_Irecv(x, n, type, from, tag, comm, &one);
    return error == MPI_SUCCESS
               ? settle(1, &one, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status)
               : error;
}

int MPI_Waitall(int n, MPI_Request pending[], MPI_Status status[])
{
    return crowded ? settle(n, pending, status) : PMPI_Waitall(n, pending, status);
}

#endif
