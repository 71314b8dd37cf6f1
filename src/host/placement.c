/* The resources of ranks: hosts, cores, memory and measured speed; whether a core that a
 * rank is bound to is in use by another weft; whether locks in the directory of a run keep
 * other processes out, on all its hosts; and warnings of problems with these. Called when a
 * run starts, and by `weft doctor`.
 *
 * Each mpirun begins to bind its ranks at the first core, also where another mpirun has
 * done so. A rank that its launcher has bound to one core claims it by a socket of that
 * name in Linux's abstract namespace: it leaves no file, ends with the process however that
 * ends, and is not seen from containers with a network of their own. */
#include "host.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/math/kernels.h"
#include "weft/par/par.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- claims to cores ---- */

/* The cores that a process may run on, from its file /proc/PID/status; unchanged if the
 * system does not tell. */
static void cores_of(const char *status, char text[WEFT_PLACEMENT_TEXT])
{
    char line[256];
    FILE *in = fopen(status, "r");
    while (in && fgets(line, sizeof line, in)) {
        int at = 0;
        if (sscanf(line, "Cpus_allowed_list: %n", &at) == EOF || at == 0) continue;
        line[strcspn(line, "\n")] = 0;
        if (strlen(line + at) < WEFT_PLACEMENT_TEXT) strcpy(text, line + at);
    }
    if (in) fclose(in);
}

/* The first line of a file; "" if there is none. */
static void read_line(const char *path, char *text, int size)
{
    FILE *in = fopen(path, "r");
    if (!in || !fgets(text, size, in)) *text = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (in) fclose(in);
}

/* The first CPU of the list if the list is one core, or the threads of one; -1: it is not.
 */
static int one_core(const char *list)
{
    char path[128], threads[WEFT_PLACEMENT_TEXT];
    int cpu = -1, end = 0;
    if (sscanf(list, "%d%n", &cpu, &end) != 1) return -1;
    if (list[end] == '\0') return cpu;
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    read_line(path, threads, sizeof threads);
    return strcmp(threads, list) == 0 ? cpu : -1;
}

/* 1 if the process that started this one may run elsewhere: if not, it was the user who
 * chose the core. */
static int launcher_bound(const char *list)
{
    char path[64], before[WEFT_PLACEMENT_TEXT] = "";
    snprintf(path, sizeof path, "/proc/%ld/status", (long)getppid());
    cores_of(path, before);
    return *before && strcmp(before, list) != 0;
}

/* Claims the core of a list if the launcher has bound this process to it alone. A handle to
 * be closed; -1: none. *taken 1: another weft has claimed it. */
static int claim_core(const char *list, int *taken)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int cpu = one_core(list);
    *taken = 0;
    if (cpu < 0 || !launcher_bound(list)) return -1;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "weft-core-%d", cpu);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    if (bind(fd, (const struct sockaddr *)&name, length) == 0) return fd;
    *taken = errno == EADDRINUSE;
    close(fd);
    return -1;
}

/* ---- control groups ---- */

/* The number after the first `key` in a file "key number ..."; -1: none. */
static double read_number(const char *path, const char *key)
{
    char line[256];
    double x = -1;
    FILE *in = fopen(path, "r");
    size_t n = strlen(key);
    while (in && x < 0 && fgets(line, sizeof line, in))
        if (strncmp(line, key, n) == 0 && sscanf(line + n, "%lf", &x) != 1) x = -1;
    if (in) fclose(in);
    return x;
}

/* Reads the limit of a control group, of version 1 or 2, if it has one. */
static void read_group(weft_placement *placement, const char *group)
{
    static const char *const memory[] = {"memory.max", "memory.limit_in_bytes"};
    char file[2200];
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%s", group, memory[i]);
        double most = read_number(file, "");
        if (most >= 0) placement->room = fmin(placement->room, most);
    }
}

/* The same of a group of the tree at `root`, and of all groups above it. */
static void read_tree(weft_placement *placement, const char *root, const char *group)
{
    char path[2048];
    snprintf(path, sizeof path, "%s%s/", root, group);
    for (char *end; (end = strrchr(path, '/')) && end >= path + strlen(root);) {
        *end = '\0';
        read_group(placement, path);
    }
}

/* Reads the limits of this process's control groups and of their ancestors: version 1 has a
 * tree of groups for memory, version 2 a single one. */
static void read_groups(weft_placement *placement)
{
    char line[1024];
    FILE *in = fopen("/proc/self/cgroup", "r");
    while (in && fgets(line, sizeof line, in)) {
        const char *what = strchr(line, ':');
        const char *group = what ? strchr(what + 1, ':') : NULL;
        if (!group) continue;
        line[strcspn(line, "\n")] = '\0';
        if (group == what + 1) read_tree(placement, "/sys/fs/cgroup", group + 1);
        if (strncmp(what, ":memory:", 8) == 0)
            read_tree(placement, "/sys/fs/cgroup/memory", group + 1);
    }
    if (in) fclose(in);
}

/* ---- cores, memory ---- */

static int same_host(const weft_placement *a, const weft_placement *b)
{
    return strcmp(a->host, b->host) == 0;
}

static int same_cores(const weft_placement *a, const weft_placement *b)
{
    return same_host(a, b) && strcmp(a->cores, b->cores) == 0;
}

/* A number that SLURM gives its jobs; 0: it is not set, or "no limit". */
static double slurm(const char *name)
{
    const char *text = getenv(name);
    return text ? atof(text) : 0;
}

static void read_memory(weft_placement *placement)
{
    double kilo = 1024, mega = kilo * kilo; /* units of /proc and of SLURM */
    double share = slurm("SLURM_MEM_PER_NODE");
    if (!(share > 0)) share = slurm("SLURM_MEM_PER_CPU") * slurm("SLURM_CPUS_ON_NODE");
    double page = (double)sysconf(_SC_PAGESIZE);
    double available = read_number("/proc/meminfo", "MemAvailable:");
    placement->memory = (double)sysconf(_SC_PHYS_PAGES) * page;
    placement->available =
        available >= 0 ? kilo * available : (double)sysconf(_SC_AVPHYS_PAGES) * page;
    placement->room = placement->memory;
    if (share > 0) placement->room = fmin(placement->room, mega * share);
}

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* 1 if rank r is the first on its host that may run on just these cores. */
static int leads_on_cores(const weft_placement *all, int r)
{
    for (int q = 0; q < r; q++)
        if (same_cores(&all[q], &all[r])) return 0;
    return 1;
}

weft_placement *weft_placements(weft_team *team, double seconds, weft_arena *mem)
{
    weft_placement own = {.claim = -1};
    gethostname(own.host, sizeof own.host - 1);
    cores_of("/proc/self/status", own.cores);
    read_memory(&own);
    read_groups(&own);
    own.threads = openblas_get_num_threads();
    snprintf(own.blas, sizeof own.blas, "%s", openblas_get_corename());
    double start = weft_now(), before = cpu_seconds();
    own.sgemm = weft_cpu_sgemm(seconds);
    own.share = fmin(1, (cpu_seconds() - before) / fmax(1e-9, weft_now() - start));
    weft_placement *all = WEFT_NEW(mem, weft_placement, team->size);
    weft_collect(team, &own, sizeof own, all);
    /* One rank claims a core for all ranks of this run that are bound to it. */
    if (leads_on_cores(all, team->rank)) own.claim = claim_core(own.cores, &own.taken);
    weft_collect(team, &own, sizeof own, all);
    return all;
}

void weft_placements_leave(const weft_placement *placement, const weft_team *team)
{
    if (placement[team->rank].claim >= 0) close(placement[team->rank].claim);
}

/* ---- hosts ---- */

enum { MOST_CORES = 4096 }; /* cores of a host */

/* Marks the cores of a list in set[MOST_CORES]; returns their number. */
static int mark_cores(const char *list, uint8_t *set)
{
    int n = 0;
    for (char *end; *list; list = *end == ',' ? end + 1 : end) {
        long from = strtol(list, &end, 10);
        if (end == list) return n;
        long to = *end == '-' ? strtol(end + 1, &end, 10) : from;
        for (long i = from; i <= to && i >= 0 && i < MOST_CORES; i++, n++) set[i] = 1;
    }
    return n;
}

/* The cores of set[MOST_CORES] as a list. */
static const char *list_cores(const uint8_t *set, weft_arena *mem)
{
    const char *text = "";
    for (int i = 0; i < MOST_CORES; i++) {
        int last = i;
        if (!set[i]) continue;
        while (last + 1 < MOST_CORES && set[last + 1]) last++;
        text = weft_arena_text(mem, "%s%s%d", text, *text ? "," : "", i);
        if (last > i) text = weft_arena_text(mem, "%s-%d", text, last);
        i = last;
    }
    return text;
}

/* Number of ranks q >= from for which same(q, r). */
static int count_like(const weft_placement *placement, int size, int r, int from,
                      int (*same)(const weft_placement *a, const weft_placement *b))
{
    int n = 0;
    for (int q = from; q < size; q++) n += same(&placement[q], &placement[r]);
    return n;
}

int weft_placement_first(const weft_placement *placement, int r)
{
    for (int q = r - 1; q >= 0; q--) /* ranks of a host are usually consecutive */
        if (same_host(&placement[q], &placement[r])) return 0;
    return 1;
}

int weft_placement_ranks(const weft_placement *placement, int size, int r)
{
    return count_like(placement, size, r, 0, same_host);
}

const char *weft_placement_cores(const weft_placement *placement, int size, int r,
                                 weft_arena *mem)
{
    uint8_t *set = WEFT_NEW(mem, uint8_t, MOST_CORES);
    for (int q = 0; q < size; q++)
        if (same_host(&placement[q], &placement[r])) mark_cores(placement[q].cores, set);
    return list_cores(set, mem);
}

int weft_placement_busiest(const weft_placement *placement, int size)
{
    int least = 0;
    for (int r = 1; r < size; r++)
        if (placement[r].share < placement[least].share) least = r;
    return least;
}

const char *weft_hosts(const weft_placement *placement, int size, weft_arena *mem)
{
    const char *text = "";
    for (int r = 0; r < size; r++) {
        if (!weft_placement_first(placement, r)) continue;
        const char *cores = weft_placement_cores(placement, size, r, mem);
        text = weft_arena_text(mem, "%s%s%s", text, *text ? " " : "", placement[r].host);
        if (*cores) text = weft_arena_text(mem, "%s (cores %s)", text, cores);
    }
    return text;
}

/* ---- warnings ---- */

static int warn_crowd(const weft_placement *placement, int size, int r)
{
    uint8_t set[MOST_CORES] = {0};
    int ranks = count_like(placement, size, r, r, same_cores);
    int n = mark_cores(placement[r].cores, set);
    if (!leads_on_cores(placement, r) || n == 0 || ranks <= n) return 0;
    weft_log(
        WEFT_WARN,
        "%d ranks on %s share %d core%s (%s) and will wait for each other: start fewer, "
        "or correct their binding (mpirun --bind-to core, srun --cpu-bind=cores)",
        ranks, placement[r].host, n, n == 1 ? "" : "s", placement[r].cores);
    return 1;
}

static int warn_taken(const weft_placement *placement, int r)
{
    if (!placement[r].taken) return 0;
    weft_log(
        WEFT_WARN,
        "core %s of %s, which rank %d is bound to, is in use by another weft, so that each "
        "takes twice as long: start both by `mpirun --bind-to none`, or one mpirun "
        "with more ranks and run.teams",
        placement[r].cores, placement[r].host, r);
    return 1;
}

static int warn_memory(const weft_placement *placement, int size, int r, double bytes)
{
    if (!weft_placement_first(placement, r)) return 0;
    int ranks = weft_placement_ranks(placement, size, r);
    if (ranks * bytes <= placement[r].room) return 0;
    weft_log(WEFT_WARN,
             "run.memory = %.3g GB for each of %d ranks on %s, where %.3g GB may be used: "
             "set it to %.2g or less, or start fewer ranks there",
             bytes / 1e9, ranks, placement[r].host, placement[r].room / 1e9,
             0.9 * placement[r].room / 1e9 / ranks);
    return 1;
}

int weft_placements_warn(const weft_placement *placement, int size, double bytes)
{
    int n = 0;
    for (int r = 0; r < size; r++) {
        n += warn_crowd(placement, size, r);
        n += warn_taken(placement, r);
        n += warn_memory(placement, size, r, bytes);
        if (placement[r].threads <= 1) continue;
        weft_log(WEFT_WARN,
                 "OpenBLAS on %s has %d threads a rank, though weft set it to 1: export "
                 "OMP_NUM_THREADS=1, or link another OpenBLAS",
                 placement[r].host, placement[r].threads);
        return n + 1;
    }
    return n;
}

/* ---- locks ---- */

weft_status weft_locks_try(const char *dir, weft_team *team, weft_lock *found,
                           weft_arena *mem)
{
    int fd = -1;
    const char *name = weft_arena_text(mem, "%s/" WEFT_LOCK_NAME, dir);
    char *path = weft_file_temp(name, mem);
    weft_bcast(team, path, strlen(path), 0);
    if (team->rank == 0) weft_file_sweep(name, 0);
    weft_lock own = WEFT_LOCK_OWN;
    weft_status st = WEFT_OK;
    if (team->rank == 0) st = weft_disk_hold(path, &fd, &own);
    st = weft_agree(st, team);
    if (team->rank > 0 && st == WEFT_OK) own = weft_disk_meet(path);
    weft_collect(team, &own, sizeof own, found); /* all ranks have tried */
    if (fd >= 0) weft_disk_leave(path, fd);
    return st;
}

int weft_locks_warn(const char *dir, const weft_lock *found,
                    const weft_placement *placement, int size)
{
    for (int r = 0; r < size; r++) {
        if (found[r] == WEFT_LOCK_UNSEEN)
            weft_log(WEFT_WARN,
                     "%s is not the same directory on %s as on %s: keep runs on a file "
                     "system that all hosts share",
                     dir, placement[r].host, placement[0].host);
        else if (found[r] == WEFT_LOCK_SHARED || found[r] == WEFT_LOCK_NONE)
            weft_log(
                WEFT_WARN,
                "locks of files in %s %s: nothing keeps a second process from resuming "
                "a run that another process works on; avoid that, or keep runs elsewhere",
                dir,
                found[r] == WEFT_LOCK_NONE ? "are not supported"
                                           : "do not keep other processes out");
        else
            continue;
        return 1;
    }
    return 0;
}
