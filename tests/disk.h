/* A directory of files for tests of store, which run without MPI. */
#ifndef WEFT_DISK_H
#define WEFT_DISK_H

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char dir[TEMPORARY];
static weft_arena *mem;

static inline const char *at(const char *name)
{
    return weft_arena_text(mem, "%s/%s", dir, name);
}

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
    FILE *list = popen(weft_arena_text(mem, "ls %s | wc -l", dir), "r");
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

/* A limit on the size of files does to write(2) what a full disk does. */
static inline void limit(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static inline void disk_begin(void)
{
    mem = weft_arena_new();
    temporary(dir);
    weft_check(mkdtemp(dir) != NULL, "no scratch directory");
    signal(SIGXFSZ, SIG_IGN);
    weft_log_set(WEFT_ERROR, 0);
}

/* Removes it all; what main returns. */
static inline int disk_end(void)
{
    int failed = system(weft_arena_text(mem, "rm -rf %s", dir));
    weft_check(failed == 0, "cannot remove %s", dir);
    weft_arena_free(mem);
    return tap_done();
}

#endif
