/* Where the ranks run: hosts, cores, memory. Called when a run starts. */
#include "run_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 64, CORES = 64, PLACE = NAME + CORES };

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

/* How many cores a list names. */
static int count_cores(const char *list)
{
    int n = 0;
    for (char *end; *list; list = *end == ',' ? end + 1 : end) {
        const long from = strtol(list, &end, 10);
        if (end == list) return n;
        n += *end == '-' ? (int)(strtol(end + 1, &end, 10) - from) + 1 : 1;
    }
    return n;
}

static void warn_crowd(const char *host, const char *cores, int ranks)
{
    const int n = count_cores(cores);
    if (n == 0 || ranks <= n) return;
    weft_log(
        WEFT_WARN,
        "%d ranks on %s share %d core%s (%s) and will wait for each other: start fewer, "
        "or see to their binding (mpirun --bind-to core, srun --cpu-bind=cores)",
        ranks, host, n, n == 1 ? "" : "s", cores);
}

const char *weft_hosts(weft_team *team, weft_arena *mem)
{
    char own[PLACE] = "";
    int32_t *all = WEFT_NEW(mem, int32_t, (size_t)team->size * PLACE);
    gethostname(own, NAME - 1);
    read_cores(own + NAME);
    for (int i = 0; i < PLACE; i++) all[(size_t)team->rank * PLACE + i] = own[i];
    weft_sum_i32(team, all, (size_t)team->size * PLACE);

    const char *text = "";
    for (int r = 0; r < team->size; r++) {
        const int32_t *place = all + (size_t)r * PLACE;
        int named = 0, before = 0, ranks = 0;
        for (int q = 0; q < team->size; q++) {
            const int32_t *other = all + (size_t)q * PLACE;
            const int same = memcmp(place, other, PLACE * sizeof *place) == 0;
            named |= q < r && memcmp(place, other, NAME * sizeof *place) == 0;
            before |= q < r && same;
            ranks += same;
        }
        for (int i = 0; i < PLACE; i++) own[i] = (char)place[i];
        if (!before) warn_crowd(own, own + NAME, ranks);
        if (!named)
            text = weft_arena_text(mem, "%s%s%s%s%s%s", text, r > 0 ? " " : "", own,
                                   own[NAME] ? " (cores " : "", own + NAME,
                                   own[NAME] ? ")" : "");
    }
    return text;
}
