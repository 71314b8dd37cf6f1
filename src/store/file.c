/* Files that appear under their name only when complete: written under a temporary name,
 * synced, renamed. Used by HDF5 files, the journal and the states of trials. And the file
 * system of a directory: its type, and whether it has what weft needs: atomic renaming,
 * locks, the same contents on all hosts. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "file.h"
#include "weft/base/files.h"
#include "weft/base/random.h"
#include "weft/store/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { BYTES = 1 << 20, TRIES = 5 };
#define SEEN 5.0  /* seconds until a new file must be visible on another host */
#define LOOK 0.02 /* seconds between two looks for it */

/* ---- temporary names ---- */

unsigned weft_file_host(void)
{
    char name[512] = "";
    gethostname(name, 256);
    size_t n = strlen(name);
    ssize_t more = readlink("/proc/self/ns/pid", name + n, sizeof name - n);
    return (unsigned)weft_hash(name, n + (size_t)(more > 0 ? more : 0), 0);
}

/* The file that a symbolic link leads to; the path, where it is none or leads nowhere. */
static const char *target_of(const char *path, weft_arena *mem)
{
    struct stat info;
    int is_link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
    char *target = is_link ? realpath(path, NULL) : NULL;
    if (target) path = weft_arena_text(mem, "%s", target);
    free(target);
    return path;
}

char *weft_file_temp(const char *path, weft_arena *mem)
{
    return weft_arena_text(mem, "%s" WEFT_TEMP_NAME, target_of(path, mem), weft_file_host(),
                           (long long)getpid());
}

/* 0 if there is no such process, or one that has ended and whose parent did not ask yet. */
static int is_alive(long long process)
{
    char path[64], stat[512] = "";
    if (kill((pid_t)process, 0) != 0 && errno == ESRCH) return 0;
    snprintf(path, sizeof path, "/proc/%lld/stat", process);
    int fd = open(path, O_RDONLY); /* where there is none, it is alive */
    ssize_t n = fd >= 0 ? read(fd, stat, sizeof stat - 1) : 0;
    if (fd >= 0) close(fd);
    const char *state = n > 0 ? strrchr(stat, ')') : NULL; /* behind the program's name */
    return !state || (strncmp(state, ") Z", 3) != 0 && strncmp(state, ") X", 3) != 0);
}

/* 1 if nobody goes on with the file with this ending. Of another host's process nobody
 * knows, but that it does not have the lock that the caller holds. */
static int is_left(const char *ending, int locked)
{
    unsigned host;
    long long process;
    if (!weft_is_temporary(ending, &host, &process)) return 0;
    if (locked) return host != weft_file_host() || process != getpid();
    return host == weft_file_host() && !is_alive(process);
}

void weft_file_sweep(const char *path, int locked)
{
    WEFT_SCRATCH(tmp);
    path = target_of(path, tmp);
    const char *dir = weft_file_dir(path, tmp), *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    DIR *listing = opendir(dir);
    for (const struct dirent *entry = listing ? readdir(listing) : NULL; entry;
         entry = readdir(listing))
        if (strncmp(entry->d_name, name, strlen(name)) == 0 &&
            is_left(entry->d_name + strlen(name), locked))
            weft_tree_remove(weft_arena_text(tmp, "%s/%s", dir, entry->d_name));
    if (listing) closedir(listing);
}

/* ---- writing ---- */

const char *weft_file_remedy(int err)
{
    switch (err) {
    case ENOENT: return "check the name, and that its directory exists";
    case ENAMETOOLONG: return "check the name";
    case EACCES:
    case EPERM:
    case EROFS: return "choose a place where you may write, or ask for the permission";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "free space or choose another directory";
    case ENOTDIR:
    case EISDIR: return "a file and a directory were confused; check the name";
    default: return "check the file system";
    }
}

weft_status weft_file_fail(const char *what, const char *path, int err)
{
    if (*path == '\0')
        return weft_fail(WEFT_EFILE, "the name of the file to %s is empty; give one", what);
    return weft_fail(WEFT_EFILE, "cannot %s %s: %s; %s", what, path, strerror(err),
                     weft_file_remedy(err));
}

int weft_file_lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLK, &whole) == 0 ? 0 : errno;
}

int weft_file_sync_dir(const char *path)
{
    WEFT_SCRATCH(tmp);
    int fd = open(weft_file_dir(path, tmp), O_RDONLY | O_DIRECTORY);
    int err = fd < 0 ? errno : 0;
    /* Some file systems cannot fsync a directory and say EINVAL: nothing more can be done.
     */
    if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL) err = errno;
    if (fd >= 0) close(fd);
    return err;
}

static int sync_file(const char *path)
{
    int fd = open(path, O_RDWR);
    int directory = fd < 0 && errno == EISDIR;
    if (directory) fd = open(path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) return errno;
    int err = fsync(fd) != 0 && !(directory && errno == EINVAL) ? errno : 0;
    if (close(fd) != 0 && err == 0) err = errno;
    return err;
}

weft_status weft_file_publish(const char *temp, const char *path)
{
    WEFT_SCRATCH(tmp);
    path = target_of(path, tmp);
    int err = sync_file(temp);
    if (err == 0 && rename(temp, path) != 0) err = errno;
    if (err != 0) {
        unlink(temp);
        return weft_file_fail("write", path, err);
    }
    err = weft_file_sync_dir(path);
    if (err != 0) return weft_file_fail("write the directory of", path, err);
    return WEFT_OK;
}

int weft_file_write(int fd, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t n = write(fd, from, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        from += n;
        bytes -= (size_t)n;
    }
    return 0;
}

/* Writes the parts to temp. */
static weft_status write_parts(const char *temp, const char *path, int n,
                               const void *const *at, const size_t *bytes)
{
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = fd < 0 ? errno : 0;
    for (int i = 0; i < n && err == 0; i++) err = weft_file_write(fd, at[i], bytes[i]);
    if (fd >= 0 && close(fd) != 0 && err == 0) err = errno;
    if (err == 0) return WEFT_OK;
    if (fd >= 0) unlink(temp);
    return weft_file_fail("write", path, err);
}

/* Lazy: without fsync. */
static weft_status put(const char *path, int n, const void *const *at, const size_t *bytes,
                       int lazy)
{
    WEFT_SCRATCH(tmp);
    const char *temp = weft_file_temp(path, tmp);
    weft_status st = write_parts(temp, path, n, at, bytes);
    if (st == WEFT_OK && !lazy) st = weft_file_publish(temp, path);
    if (st == WEFT_OK && lazy && rename(temp, target_of(path, tmp)) != 0) {
        st = weft_file_fail("write", path, errno);
        unlink(temp);
    }
    return st;
}

weft_status weft_file_put(const char *path, const void *data, size_t bytes)
{
    return put(path, 1, &data, &bytes, 0);
}

weft_status weft_file_put_lazy(const char *path, int n, const void *const *at,
                               const size_t *bytes)
{
    return put(path, n, at, bytes, 1);
}

weft_status weft_text_create(weft_text *text, const char *path, weft_arena *mem)
{
    *text = (weft_text){.path = path, .temp = weft_file_temp(path, mem)};
    TRY(weft_file_name(path));
    weft_file_sweep(path, 0);
    text->file = fopen(text->temp, "w");
    return text->file ? WEFT_OK : weft_file_fail("write", path, errno);
}

weft_status weft_text_check(const weft_text *text)
{
    if (fflush(text->file) == 0 && !ferror(text->file)) return WEFT_OK;
    return weft_file_fail("write", text->path, errno);
}

weft_status weft_text_commit(weft_text *text)
{
    TRY(weft_text_check(text));
    int err = fclose(text->file) == 0 ? 0 : errno;
    text->file = NULL;
    if (err == 0) return weft_file_publish(text->temp, text->path);
    unlink(text->temp);
    return weft_file_fail("write", text->path, err);
}

void weft_text_close(weft_text *text)
{
    if (!text->file) return;
    fclose(text->file);
    unlink(text->temp);
    text->file = NULL;
}

weft_status weft_file_sync(const char *path)
{
    int err = sync_file(path);
    if (err == 0 || err == ENOENT) return WEFT_OK;
    return weft_file_fail("write", path, err);
}

int weft_file_read(int fd, void *data, size_t bytes)
{
    char *to = data;
    while (bytes > 0) {
        ssize_t n = read(fd, to, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        to += n;
        bytes -= (size_t)n;
    }
    return 0;
}

weft_status weft_file_load(const char *path, void *data, size_t bytes)
{
    return weft_file_load_parts(path, 1, &data, &bytes);
}

weft_status weft_file_load_parts(const char *path, int n, void *const *at,
                                 const size_t *bytes)
{
    size_t all = 0;
    for (int i = 0; i < n; i++) all += bytes[i];

    int fd = open(path, O_RDONLY);
    if (fd < 0) return weft_file_fail("read", path, errno);
    struct stat info;
    weft_status st = WEFT_OK;
    if (fstat(fd, &info) != 0) {
        st = weft_file_fail("read", path, errno);
    } else if (!S_ISREG(info.st_mode) || (size_t)info.st_size != all) {
        st = weft_fail(WEFT_EFILE,
                       "%s has %lld bytes where %zu are expected; it is damaged or of "
                       "another run",
                       path, (long long)info.st_size, all);
    } else {
        int err = 0;
        for (int i = 0; i < n && err == 0; i++) err = weft_file_read(fd, at[i], bytes[i]);
        if (err != 0) st = weft_file_fail("read", path, err);
    }
    close(fd);
    return st;
}

/* ---- names ---- */

weft_status weft_file_name(const char *path)
{
    struct stat info;
    if (*path == '\0') return weft_file_fail("write", path, ENOENT);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return weft_file_fail("write", path, EISDIR);
    return WEFT_OK;
}

weft_status weft_file_try(const char *path)
{
    TRY(weft_file_name(path));
    weft_file_sweep(path, 0);
    WEFT_SCRATCH(tmp);
    const char *temp = weft_file_temp(path, tmp);
    int fd = open(temp, O_WRONLY | O_CREAT, 0666);
    weft_status st = fd < 0 ? weft_file_fail("write", path, errno) : WEFT_OK;
    if (fd >= 0) close(fd);
    if (fd >= 0) unlink(temp);
    return st;
}

int weft_file_is(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

const char *weft_file_dir(const char *path, weft_arena *mem)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    return weft_arena_text(mem, "%.*s", slash > path ? (int)(slash - path) : 1, path);
}

int weft_file_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* ---- standard input ---- */

/* Copies what comes from descriptor `from` to `to`. 0, or the errno. */
static int copy_all(int from, int to)
{
    char block[1 << 16];
    for (;;) {
        ssize_t n = read(from, block, sizeof block);
        if (n == 0) return 0;
        int err = n > 0 ? weft_file_write(to, block, (size_t)n) : errno;
        if (err != 0 && err != EINTR) return err;
    }
}

weft_status weft_file_scratch(const char *beside, int *fd)
{
    WEFT_SCRATCH(tmp);
    const char *temp = weft_arena_text(tmp, "%s" WEFT_SCRATCH_NAME, beside,
                                       weft_file_host(), (long long)getpid());
    weft_file_sweep(beside, 0);
    *fd = open(temp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int err = *fd < 0 ? errno : 0;
    if (err == 0) unlink(temp);
    return err == 0 ? WEFT_OK : weft_file_fail("write beside", beside, err);
}

weft_status weft_file_source(const char **path, const char *beside)
{
    static const char standard[] = "/dev/stdin";
    struct stat info;
    int fd;
    if (strcmp(*path, "-") != 0 && strcmp(*path, standard) != 0) {
        if (stat(*path, &info) != 0 || !S_ISFIFO(info.st_mode)) return WEFT_OK;
        return weft_fail(WEFT_EFILE,
                         "%s is a pipe, which is read but once; name a file, or - for "
                         "standard input",
                         *path);
    }
    *path = standard;
    if (fstat(STDIN_FILENO, &info) != 0) return weft_file_fail("read", *path, errno);
    if (S_ISREG(info.st_mode)) return WEFT_OK;
    TRY(weft_file_scratch(beside, &fd));
    int err = copy_all(STDIN_FILENO, fd);
    if (err == 0 && (dup2(fd, STDIN_FILENO) < 0 || fstat(fd, &info) != 0)) err = errno;
    close(fd);
    if (err != 0) return weft_file_fail("keep standard input beside", beside, err);
    if (info.st_size > 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "standard input is empty; check the command that writes "
                                 "to it");
}

/* ---- the file system of a directory ---- */

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

static weft_status compare_written(const char *path, const char *bytes, weft_arena *tmp)
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
        TRY(compare_written(path, bytes, tmp));
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
    weft_sort_f64(TRIES, took);
    *seconds = took[TRIES / 2];
    return WEFT_OK;
}

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
    double until = weft_now() + SEEN;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    while (fd < 0 && weft_now() < until) {
        weft_nap(LOOK);
        fd = open(path, O_RDWR | O_CLOEXEC);
    }
    if (fd < 0) return WEFT_LOCK_UNSEEN;
    int err = weft_file_lock(fd);
    close(fd);
    if (err == 0) return WEFT_LOCK_SHARED;
    return err == EACCES || err == EAGAIN ? WEFT_LOCK_KEPT : WEFT_LOCK_NONE;
}
