/* The resources of a rank: host, cores, memory and measured speed. Called when a run
 * starts, and by `weft doctor`. */
#include "run_private.h"

#include <cblas.h>
#include <math.h>
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

/* ---- control groups ----------------------------------------------------------------- */

/* CPU limit in cores from a file cpu.max, "200000 100000" or "max 100000"; INFINITY:
 * none. */
static double read_quota(const char *path)
{
    double quota, period;
    FILE *in = fopen(path, "r");
    int n = in ? fscanf(in, "%lf %lf", &quota, &period) : 0;
    if (in) fclose(in);
    return n == 2 && period > 0 ? quota / period : INFINITY;
}

/* Reads the limits of this process's control group (cgroup version 2) and of its
 * ancestors. */
static void read_groups(weft_placement *s)
{
    char path[2048] = "/sys/fs/cgroup", line[1024], file[2200];
    size_t root = strlen(path);
    FILE *in = fopen("/proc/self/cgroup", "r");
    while (in && fgets(line, sizeof line, in)) {
        if (strncmp(line, "0::/", 4) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(path + root, sizeof path - root, "%s", line + 3);
    }
    if (in) fclose(in);
    for (char *end = path + strlen(path); end >= path + root; end = strrchr(path, '/')) {
        *end = '\0';
        snprintf(file, sizeof file, "%s/memory.max", path);
        double most = read_number(file, "");
        if (most >= 0) s->room = fmin(s->room, most);
        snprintf(file, sizeof file, "%s/cpu.max", path);
        s->quota = fmin(s->quota, read_quota(file));
    }
}

/* ---- cores, memory ------------------------------------------------------------------ */

void weft_cores_of(const char *status, char text[WEFT_PLACEMENT_TEXT])
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

static void read_memory(weft_placement *s)
{
    double kilo = 1024, mega = kilo * kilo; /* units of /proc and of SLURM */
    const char *slurm = getenv("SLURM_MEM_PER_NODE");
    double page = (double)sysconf(_SC_PAGESIZE);
    double available = read_number("/proc/meminfo", "MemAvailable:");
    s->memory = (double)sysconf(_SC_PHYS_PAGES) * page;
    s->available =
        available >= 0 ? kilo * available : (double)sysconf(_SC_AVPHYS_PAGES) * page;
    s->room = s->memory;
    if (slurm && atof(slurm) > 0) s->room = fmin(s->room, mega * atof(slurm));
}

/* CPU seconds of this process. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

void weft_placements_leave(const weft_placement *s, const weft_team *team)
{
    if (s[team->rank].claim >= 0) close(s[team->rank].claim);
}
