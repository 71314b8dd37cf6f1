/* Preloaded by tests/kills: ends weft by SIGKILL at one of the calls by which it changes
 * files, or lets the disk fail from there on. Environment:
 *   KILLAT_UNDER  only paths that begin with this count
 *   KILLAT_CALL   number of the call, from 1; 0: none, all calls are listed
 *   KILLAT_HOW    before, after; or an errno, which this and all later calls that need room
 *                 fail with
 *   KILLAT_RANK   only this rank of MPI counts
 *   KILLAT_LOG    gets a line "CALL PATH" for the call, or for each */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096 };

static const char *under, *how, *list;
static long wanted;
static atomic_long calls;

static const char *text(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* Programs that weft starts are left alone: they have its mark. */
__attribute__((constructor)) static void set_up(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK"); /* of MPICH's launcher */
    if (strcmp(program_invocation_short_name, "weft") != 0 || getenv("WEFT_SUPERVISOR"))
        return;
    if (rank && *text("KILLAT_RANK") && strcmp(rank, text("KILLAT_RANK")) != 0) return;
    how = text("KILLAT_HOW");
    list = text("KILLAT_LOG");
    wanted = atol(text("KILLAT_CALL"));
    if (*text("KILLAT_UNDER")) under = text("KILLAT_UNDER");
}

static void note(const char *call, const char *path)
{
    char line[PATH + 32];
    int n = snprintf(line, sizeof line, "%s %s\n", call, path);
    int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    ssize_t (*real_write)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    int fd = real_open(list, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (fd < 0 || real_write(fd, line, (size_t)n) < n) abort();
    close(fd);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int counts(const char *path)
{
    return under && path && strncmp(path, under, strlen(under)) == 0;
}

static int is_counted(int fd, char path[PATH])
{
    char link[64];
    if (!under) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH - 1);
    path[n > 0 ? n : 0] = '\0';
    return counts(path);
}

/* What is to become of a call. */
enum fate { GOES_ON, FAILS, ENDS_BEHIND };

static enum fate meet(const char *call, const char *path, int needs_room)
{
    long n = atomic_fetch_add(&calls, 1) + 1;
    int error = atoi(how), here = n == wanted;
    if (wanted == 0 || here) note(call, path);
    if (wanted == 0 || n < wanted) return GOES_ON;
    if (error) {
        errno = error;
        return needs_room ? FAILS : GOES_ON;
    }
    if (here && strcmp(how, "before") == 0) die();
    return here ? ENDS_BEHIND : GOES_ON;
}

/* Defines the function `name` of the C library, whose call is met if `seen` is not 0. */
#define REPLACE(type, name, declared, given, found, seen, room, bad)                       \
    type name declared                                                                     \
    {                                                                                      \
        found;                                                                             \
        type(*real) declared = dlsym(RTLD_NEXT, #name);                                    \
        if (!(seen)) return real given;                                                    \
        enum fate fate = meet(#name, path, room);                                          \
        if (fate == FAILS) return bad;                                                     \
        type value = real given;                                                           \
        if (fate == ENDS_BEHIND) die();                                                    \
        return value;                                                                      \
    }
#define BY_PATH(name, declared, given, room)                                               \
    REPLACE(int, name, declared, given, , counts(path), room, -1)
/* The path of an open file is found by its descriptor. */
#define BY_FD(type, name, declared, given)                                                 \
    REPLACE(type, name, declared, given, char path[PATH], is_counted(fd, path), 1, -1)

BY_PATH(unlink, (const char *path), (path), 0)
BY_PATH(remove, (const char *path), (path), 0)
BY_PATH(rmdir, (const char *path), (path), 0)
BY_PATH(rename, (const char *path, const char *to), (path, to), 0)
BY_PATH(mkdir, (const char *path, mode_t mode), (path, mode), 1)
BY_PATH(link, (const char *path, const char *to), (path, to), 1)
BY_PATH(symlink, (const char *to, const char *path), (to, path), 1)

BY_FD(int, fsync, (int fd), (fd))
BY_FD(int, fdatasync, (int fd), (fd))
BY_FD(int, ftruncate, (int fd, off_t size), (fd, size))
BY_FD(int, ftruncate64, (int fd, off64_t size), (fd, size))
BY_FD(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n))
BY_FD(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
BY_FD(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at),
      (fd, data, n, at))

/* Opening counts where it can make or empty a file. */
#define OPENS(name)                                                                        \
    int name(const char *path, int flags, ...)                                             \
    {                                                                                      \
        int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, #name);                     \
        va_list more;                                                                      \
        va_start(more, flags);                                                             \
        mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;                          \
        va_end(more);                                                                      \
        if (!(flags & (O_CREAT | O_TRUNC)) || !counts(path))                               \
            return real(path, flags, mode);                                                \
        enum fate fate = meet(#name, path, 1);                                             \
        if (fate == FAILS) return -1;                                                      \
        int value = real(path, flags, mode);                                               \
        if (fate == ENDS_BEHIND) die();                                                    \
        return value;                                                                      \
    }
OPENS(open)
OPENS(open64)
#define OPENS_STREAM(name)                                                                 \
    REPLACE(FILE *, name, (const char *path, const char *mode), (path, mode), ,            \
            *mode != 'r' && counts(path), 1, NULL)
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)
