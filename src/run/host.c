/* Where the ranks run: hosts, cores, memory. Called when a run starts. */
#include "run_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 64, CORES = 64, PLACE = NAME + CORES };
enum { MOST = 4096 }; /* cores of a host */

double weft_host_memory(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1e9;
}

/* The cores that this process may run on, "0-3,8"; "" where the system does not say. */
static void read_cores(char text[CORES])
{
    char line[256];
    FILE *in = fopen("/proc/self/status", "r");
    *text = 0;
    while (in && fgets(line, sizeof line, in)) {
        int at = 0;
        if (sscanf(line, "Cpus_allowed_list: %n", &at) == EOF || at == 0) continue;
        line[strcspn(line, "\n")] = 0;
        if (strlen(line + at) < CORES) strcpy(text, line + at);
    }
    if (in) fclose(in);
}

/* Marks the cores that a list names in set[MOST]; returns how many it names. */
static int mark_cores(const char *list, uint8_t *set)
{
    int n = 0;
    for (char *end; *list; list = *end == ',' ? end + 1 : end) {
        const long from = strtol(list, &end, 10);
        if (end == list) return n;
        const long to = *end == '-' ? strtol(end + 1, &end, 10) : from;
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

static void warn_crowd(const char *host, const char *cores, int ranks)
{
    uint8_t set[MOST] = {0};
    const int n = mark_cores(cores, set);
    if (n == 0 || ranks <= n) return;
    weft_log(
        WEFT_WARN,
        "%d ranks on %s share %d core%s (%s) and will wait for each other: start fewer, "
        "or see to their binding (mpirun --bind-to core, srun --cpu-bind=cores)",
        ranks, host, n, n == 1 ? "" : "s", cores);
}

/* The host of rank r with the cores of all its ranks: "n1 (cores 0-3)". Warns of those that
 * share too few. */
static const char *describe(int size, char (*place)[PLACE], int r, weft_arena *mem)
{
    uint8_t *set = WEFT_NEW(mem, uint8_t, MOST);
    for (int q = r; q < size; q++) {
        if (strcmp(place[q], place[r]) != 0) continue;
        const char *cores = place[q] + NAME;
        int before = 0, ranks = 0;
        for (int i = r; i < size; i++) {
            const int same =
                strcmp(place[i], place[r]) == 0 && strcmp(place[i] + NAME, cores) == 0;
            before |= i < q && same;
            ranks += same;
        }
        if (before) continue;
        warn_crowd(place[q], cores, ranks);
        mark_cores(cores, set);
    }
    const char *cores = list_cores(set, mem);
    if (!*cores) return place[r];
    return weft_arena_text(mem, "%s (cores %s)", place[r], cores);
}

const char *weft_hosts(weft_team *team, weft_arena *mem)
{
    char(*place)[PLACE] = weft_arena_get(mem, (size_t)team->size, sizeof *place);
    gethostname(place[team->rank], NAME - 1);
    read_cores(place[team->rank] + NAME);
    int32_t *all = WEFT_NEW(mem, int32_t, (size_t)team->size * PLACE);
    for (int i = 0; i < PLACE; i++)
        all[(size_t)team->rank * PLACE + i] = place[team->rank][i];
    weft_sum_i32(team, all, (size_t)team->size * PLACE);
    for (int r = 0; r < team->size; r++)
        for (int i = 0; i < PLACE; i++) place[r][i] = (char)all[(size_t)r * PLACE + i];

    const char *text = "";
    for (int r = 0; r < team->size; r++) {
        int named = 0;
        for (int q = 0; q < r; q++) named |= strcmp(place[q], place[r]) == 0;
        if (!named)
            text = weft_arena_text(mem, "%s%s%s", text, r > 0 ? " " : "",
                                   describe(team->size, place, r, mem));
    }
    return text;
}
