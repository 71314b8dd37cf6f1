/* A program that is kept (command.serve), which reports 1,000,010 times in each job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char line[1 << 16];
static int fd;

/* Reads a request, or the answer to a report. */
static int hear(void)
{
    size_t n = 0;
    while (n == 0 || line[n - 1] != '\n') {
        ssize_t got = read(fd, line + n, sizeof line - 1 - n);
        if (got <= 0) return 0;
        n += (size_t)got;
    }
    line[n] = '\0';
    return 1;
}

static void say(const char *key, long number, double step, long loss)
{
    int n = snprintf(line, sizeof line, "{\"%s\":%ld,\"step\":%.9g,\"loss\":%ld}\n", key,
                     number, step, loss);
    if (write(fd, line, (size_t)n) != n) exit(1);
}

int main(void)
{
    enum { REPORTS = 1000010 };
    fd = atoi(getenv("WEFT_SOCKET"));
    while (hear()) {
        const char *at = strstr(line, "\"job\":");
        long job = at ? atol(at + strlen("\"job\":")) : 0;
        if (strstr(line, "\"describe\"")) {
            say("protocol", 1, 0, 0);
            continue;
        }
        for (long i = 1; i <= REPORTS; i++) {
            say("report", job, (double)i / (REPORTS + 1), i);
            if (!hear()) return 1;
        }
        say("job", job, 1, 0);
    }
    return 0;
}
