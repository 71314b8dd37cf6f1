/* Hosts, cores and memory of all ranks, and warnings of problems with these. Called when a
 * run starts, and by `weft doctor`. */
#include "hosts.h"
#include "weft/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 }; /* cores of a host */

/* Marks the cores of a list in set[MOST]; returns their number. */
static int mark_cores(const char *list, uint8_t *set)
{
    int n = 0;
    for (char *end; *list; list = *end == ',' ? end + 1 : end) {
        long from = strtol(list, &end, 10);
        if (end == list) return n;
        long to = *end == '-' ? strtol(end + 1, &end, 10) : from;
        for (long i = from; i <= to && i >= 0 && i < MOST; i++, n++) set[i] = 1;
    }
    return n;
}

/* The cores of set[MOST] as a list. */
static const char *list_cores(const uint8_t *set, weft_arena *mem)
{
    const char *text = "";
    for (int i = 0; i < MOST; i++) {
        int last = i;
        if (!set[i]) continue;
        while (last + 1 < MOST && set[last + 1]) last++;
        text = weft_arena_text(mem, "%s%s%d", text, *text ? "," : "", i);
        if (last > i) text = weft_arena_text(mem, "%s-%d", text, last);
        i = last;
    }
    return text;
}

static int same_host(const weft_placement *a, const weft_placement *b)
{
    return strcmp(a->host, b->host) == 0;
}

static int same_cores(const weft_placement *a, const weft_placement *b)
{
    return same_host(a, b) && strcmp(a->cores, b->cores) == 0;
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
    uint8_t *set = WEFT_NEW(mem, uint8_t, MOST);
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

/* Warns if the ranks of a host share fewer cores than there are ranks. */
static int warn_crowd(const weft_placement *placement, int size, int r)
{
    uint8_t set[MOST] = {0};
    int ranks = count_like(placement, size, r, r, same_cores);
    int n = mark_cores(placement[r].cores, set);
    if (!weft_placement_leads(placement, r) || n == 0 || ranks <= n) return 0;
    weft_log(
        WEFT_WARN,
        "%d ranks on %s share %d core%s (%s) and will wait for each other: start fewer, "
        "or correct their binding (mpirun --bind-to core, srun --cpu-bind=cores)",
        ranks, placement[r].host, n, n == 1 ? "" : "s", placement[r].cores);
    return 1;
}

/* Warns if another weft is bound to the same core. */
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

/* Warns if the control group allows the ranks of a host less CPU time than they need. */
static int warn_quota(const weft_placement *placement, int size, int r)
{
    if (!weft_placement_first(placement, r)) return 0;
    int ranks = weft_placement_ranks(placement, size, r);
    if (ranks <= placement[r].quota) return 0;
    weft_log(WEFT_WARN,
             "%d ranks on %s may use the time of %.3g cores (a limit of their control "
             "group): start fewer, or ask for more",
             ranks, placement[r].host, placement[r].quota);
    return 1;
}

/* Warns if the ranks of a host may use more memory than is available. */
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
        n += warn_quota(placement, size, r);
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
