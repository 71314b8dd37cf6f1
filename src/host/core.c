/* Whether the core that a rank is bound to is in use by another weft: each mpirun begins to
 * bind its ranks at the first core, also where another mpirun has done so. A rank that its
 * launcher has bound to one core claims it by a socket of that name in Linux's abstract
 * namespace: it leaves no file, ends with the process however that ends, and is not seen
 * from containers with a network of their own. Called when a run starts, and by
 * `weft doctor`. */
#include "core.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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
    weft_cores_of(path, before);
    return *before && strcmp(before, list) != 0;
}

int weft_core_claim(const char *list, int *taken)
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
