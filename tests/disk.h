/* A directory of files for tests of store, which run without MPI. */
#ifndef WEFT_DISK_H
#define WEFT_DISK_H

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "machine.h"

/* The failure is EFILE with one line that holds each of the two words. */
static inline void fails(weft_status st, const char *a, const char *b, const char *what)
{
    const char *text = weft_error();
    int good = st == WEFT_EFILE && strstr(text, a) != NULL && strstr(text, b) != NULL &&
               strchr(text, '\n') == NULL;
    if (!good) fprintf(stderr, "# status %d: %s\n", (int)st, text);
    ok(good, "%s is one line with '%s' and '%s'", what, a, b);
}

static inline int64_t entries(void)
{
    FILE *list = popen(printed("ls %s | wc -l", scratch), "r");
    long n = -1;
    if (list != NULL && fscanf(list, "%ld", &n) != 1) n = -1;
    if (list != NULL) pclose(list);
    return n;
}

static inline void copy(const char *from, const char *to, size_t n)
{
    char *bytes = WEFT_NEW(mem, char, n);
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    weft_check(read(in, bytes, n) == (ssize_t)n && write(out, bytes, n) == (ssize_t)n,
               "copy");
    close(in);
    close(out);
}

static inline size_t size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

static inline void disk_begin(int *argc, char ***argv)
{
    files_begin(argc, argv);
    signal(SIGXFSZ, SIG_IGN);
}

#endif
