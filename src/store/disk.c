/* The file system of a directory: its type, and whether it has what weft needs: atomic
 * renaming, locks, the same contents on all hosts. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "weft/disk.h"
#include "file.h"
#include "weft/clock.h"
#include "weft/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 20, TRIES = 5 };
#define SEEN 5.0 /* seconds until a new file must be visible on another host */

/* Length of a mount point if it is the beginning of a path; 0: it is not. */
static size_t covers(const char *point, const char *path)
{
    size_t n = strlen(point);
    if (strcmp(point, "/") == 0) return 1;
    return strncmp(point, path, n) == 0 && (path[n] == '/' || path[n] == '\0') ? n : 0;
}

/* The type of the file system that a path is on; "" if the system does not tell. Of several
 * mounts on one point the last is visible. */
static void find_type(const char *path, char type[WEFT_DISK_TYPE])
{
    char line[4096];
    size_t longest = 0;
    FILE *in = fopen("/proc/self/mounts", "r");
    while (in && fgets(line, sizeof line, in)) {
        char point[2048], name[WEFT_DISK_TYPE];
        if (sscanf(line, "%*s %2047s %63s", point, name) != 2) continue;
        size_t n = covers(point, path);
        if (n < longest || n == 0) continue;
        longest = n;
        strcpy(type, name);
    }
    if (in) fclose(in);
}

weft_status weft_disk_look(const char *dir, weft_disk *disk)
{
    struct statvfs info;
    *disk = (weft_disk){0};
    char *path = realpath(dir, NULL);
    if (!path || statvfs(path, &info) != 0) {
        int err = errno;
        free(path);
        return weft_file_fail("look at", dir, err);
    }
    disk->free = (double)info.f_bavail * (double)info.f_frsize;
    find_type(path, disk->type);
    free(path);
    return WEFT_OK;
}

/* ---- writing ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static weft_status compare(const char *path, const char *bytes, weft_arena *tmp)
{
    char *read = WEFT_NEW(tmp, char, BYTES);
    TRY(weft_file_load(path, read, BYTES));
    if (memcmp(read, bytes, BYTES) == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s does not hold what was written to it; do not use this file system",
                     path);
}

static weft_status write_often(const char *path, double seconds[TRIES], weft_arena *tmp)
{
    char *bytes = WEFT_NEW(tmp, char, BYTES);
    for (int i = 0; i < TRIES; i++) {
        memset(bytes, 'a' + i, BYTES);
        double start = weft_now();
        TRY(weft_file_put(path, bytes, BYTES));
        seconds[i] = weft_now() - start;
        TRY(compare(path, bytes, tmp));
    }
    return WEFT_OK;
}

weft_status weft_disk_write(const char *path, double *seconds)
{
    weft_arena *tmp = weft_arena_new();
    double took[TRIES];
    weft_status st = write_often(path, took, tmp);
    unlink(path);
    weft_arena_free(tmp);
    if (st != WEFT_OK) return st;
    qsort(took, TRIES, sizeof *took, by_value);
    *seconds = took[TRIES / 2];
    return WEFT_OK;
}

/* ---- locks ---- */

weft_status weft_disk_hold(const char *path, int *fd, weft_lock *found)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0) return weft_file_fail("write", path, errno);
    *found = weft_file_lock(*fd) == 0 ? WEFT_LOCK_OWN : WEFT_LOCK_NONE;
    return WEFT_OK;
}

void weft_disk_leave(const char *path, int fd)
{
    close(fd);
    unlink(path);
}

weft_lock weft_disk_meet(const char *path)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    double until = weft_now() + SEEN;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    while (fd < 0 && weft_now() < until) {
        nanosleep(&nap, NULL);
        fd = open(path, O_RDWR | O_CLOEXEC);
    }
    if (fd < 0) return WEFT_LOCK_UNSEEN;
    int err = weft_file_lock(fd);
    close(fd);
    if (err == 0) return WEFT_LOCK_SHARED;
    return err == EACCES || err == EAGAIN ? WEFT_LOCK_KEPT : WEFT_LOCK_NONE;
}
