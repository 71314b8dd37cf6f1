/* The resources of a rank: host, cores, memory and measured speed. Called when a run
 * starts, and by `weft doctor`. */
#include "placement.h"
#include "weft/clock.h"
#include "weft/cpu.h"
#include "weft/par.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* ---- control groups ---- */

/* CPU limit in cores from the numbers of microseconds and of the period that they are
 * allowed in; INFINITY: none. */
static double read_quota(const char *group, const char *quota, const char *period)
{
    char file[2200];
    double allowed = -1, every = -1;
    snprintf(file, sizeof file, "%s/%s", group, quota);
    FILE *in = fopen(file, "r");
    int n = in ? fscanf(in, "%lf %lf", &allowed, &every) : 0; /* both, in version 2 */
    if (in) fclose(in);
    snprintf(file, sizeof file, "%s/%s", group, period);
    if (n == 1) every = read_number(file, "");
    return n > 0 && allowed > 0 && every > 0 ? allowed / every : INFINITY;
}

/* Reads the limits of a control group, of version 1 or 2: those that it has. */
static void read_group(weft_placement *placement, const char *group)
{
    static const char *const memory[] = {"memory.max", "memory.limit_in_bytes"};
    char file[2200];
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%s", group, memory[i]);
        double most = read_number(file, "");
        if (most >= 0) placement->room = fmin(placement->room, most);
    }
    placement->quota = fmin(placement->quota, read_quota(group, "cpu.max", "cpu.max"));
    placement->quota =
        fmin(placement->quota, read_quota(group, "cpu.cfs_quota_us", "cpu.cfs_period_us"));
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
 * tree of groups for memory and one for the CPU, version 2 a single one. */
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
        if (strncmp(what, ":cpu:", 5) == 0 || strncmp(what, ":cpu,", 5) == 0)
            read_tree(placement, "/sys/fs/cgroup/cpu", group + 1);
    }
    if (in) fclose(in);
}

/* ---- cores, memory ---- */

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

/* CPU seconds of this process. */
static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int weft_placement_leads(const weft_placement *all, int r)
{
    for (int q = 0; q < r; q++)
        if (strcmp(all[q].host, all[r].host) == 0 &&
            strcmp(all[q].cores, all[r].cores) == 0)
            return 0;
    return 1;
}

weft_placement *weft_placements(weft_team *team, double seconds, weft_arena *mem)
{
    weft_placement own = {.quota = INFINITY};
    gethostname(own.host, sizeof own.host - 1);
    weft_cores_of("/proc/self/status", own.cores);
    read_memory(&own);
    read_groups(&own);
    own.threads = openblas_get_num_threads();
    snprintf(own.blas, sizeof own.blas, "%s", openblas_get_corename());
    double start = weft_now(), before = cpu_seconds();
    own.sgemm = weft_cpu_sgemm(seconds);
    own.share = fmin(1, (cpu_seconds() - before) / fmax(1e-9, weft_now() - start));
    weft_placement *all = WEFT_NEW(mem, weft_placement, team->size);
    own.claim = -1;
    weft_collect(team, &own, sizeof own, all);
    /* One rank claims a core for all ranks of this run that are bound to it. */
    if (weft_placement_leads(all, team->rank))
        own.claim = weft_core_claim(own.cores, &own.taken);
    weft_collect(team, &own, sizeof own, all);
    return all;
}

void weft_placements_leave(const weft_placement *placement, const weft_team *team)
{
    if (placement[team->rank].claim >= 0) close(placement[team->rank].claim);
}
