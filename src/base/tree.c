/* Directory trees: copied, written through to the disk, removed. Symbolic links are copied
 * as links and never followed; sockets, pipes and devices are left out. */
#ifdef __linux__
#define _GNU_SOURCE /* syncfs */
#endif
#include "weft/tree.h"
#include "weft/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A walk through a tree. `visit` is called for each file and directory, with `at` its path
 * below the root ("" the root itself, "/a/b"), for a directory before its contents. */
struct walk {
    const char *root, *to;
    weft_status (*visit)(const struct walk *walk, const char *at, const struct stat *info,
                         weft_arena *tmp);
    weft_arena *mem;
    int64_t n, room;
    const char **dir; /* [n] directories found so far, paths below the root */
    int64_t *synced;  /* number of files and directories that sync_one has met */
};

static weft_status fail(const char *what, const char *path, int err)
{
    return weft_fail(WEFT_EFILE,
                     "cannot %s %s: %s; check its permissions, and the space there", what,
                     path, strerror(err));
}

static weft_status visit(struct walk *walk, const char *at)
{
    struct stat info;
    weft_arena *tmp = weft_arena_new();
    const char *path = weft_arena_text(tmp, "%s%s", walk->root, at);
    weft_status st = WEFT_OK;
    if (lstat(path, &info) != 0)
        st = fail("read", path, errno);
    else
        st = walk->visit(walk, at, &info, tmp);
    if (st == WEFT_OK && S_ISDIR(info.st_mode)) {
        walk->dir =
            weft_grow(walk->mem, walk->dir, sizeof *walk->dir, walk->n, &walk->room);
        walk->dir[walk->n++] = weft_arena_text(walk->mem, "%s", at);
    }
    weft_arena_free(tmp);
    return st;
}

static weft_status visit_all(struct walk *walk, const char *at)
{
    weft_arena *tmp = weft_arena_new();
    const char *path = weft_arena_text(tmp, "%s%s", walk->root, at);
    DIR *dir = opendir(path);
    weft_status st = dir ? WEFT_OK : fail("read", path, errno);
    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry && st == WEFT_OK;
         entry = readdir(dir))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            st = visit(walk, weft_arena_text(tmp, "%s/%s", at, entry->d_name));
    if (dir) closedir(dir);
    weft_arena_free(tmp);
    return st;
}

/* Visits the root and all that is in it, breadth first. */
static weft_status walk_tree(struct walk *walk)
{
    TRY(visit(walk, ""));
    for (int64_t i = 0; i < walk->n; i++) TRY(visit_all(walk, walk->dir[i]));
    return WEFT_OK;
}

/* ---- copies ---- */

static int copy_bytes(int in, int out, char *buffer, size_t n)
{
    for (;;) {
        ssize_t got = read(in, buffer, n);
        if (got == 0) return 0;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(out, buffer + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR) return errno;
            if (put > 0) done += put;
        }
    }
}

/* Copies a file with its mode and the time of its last change. */
static weft_status copy_file(const char *from, const char *to, const struct stat *info,
                             weft_arena *tmp)
{
    enum { PIECE = 1 << 20 };
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) return fail("read", from, errno);
    mode_t mode = info->st_mode & 07777;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode | 0200);
    int err = out < 0 ? errno : copy_bytes(in, out, WEFT_NEW(tmp, char, PIECE), PIECE);
    const struct timespec times[2] = {info->st_atim, info->st_mtim};
    if (out >= 0 && err == 0 && (fchmod(out, mode) != 0 || futimens(out, times) != 0))
        err = errno;
    if (out >= 0 && close(out) != 0 && err == 0) err = errno;
    close(in);
    return err == 0 ? WEFT_OK : fail("write", to, err);
}

static weft_status copy_link(const char *from, const char *to, weft_arena *tmp)
{
    enum { MOST = 4096 };
    char *text = WEFT_NEW(tmp, char, MOST + 1);
    if (readlink(from, text, MOST) < 0) return fail("read", from, errno);
    return symlink(text, to) == 0 ? WEFT_OK : fail("write", to, errno);
}

static weft_status copy(const struct walk *walk, const char *at, const struct stat *info,
                        weft_arena *tmp)
{
    const char *from = weft_arena_text(tmp, "%s%s", walk->root, at);
    const char *to = weft_arena_text(tmp, "%s%s", walk->to, at);
    if (S_ISREG(info->st_mode)) return copy_file(from, to, info, tmp);
    if (S_ISLNK(info->st_mode)) return copy_link(from, to, tmp);
    if (!S_ISDIR(info->st_mode)) return WEFT_OK;
    int made = mkdir(to, (info->st_mode & 0777) | 0700);
    return made == 0 || (*at == '\0' && errno == EEXIST) ? WEFT_OK
                                                         : fail("make", to, errno);
}

weft_status weft_tree_copy(const char *from, const char *to)
{
    struct walk walk = {.root = from, .to = to, .visit = copy, .mem = weft_arena_new()};
    weft_status st = walk_tree(&walk);
    weft_arena_free(walk.mem);
    return st;
}

/* ---- durability ---- */

/* More files than these are written through by one call for their file system, which takes
 * as long as a few of them, but for what others have just written there. */
enum { FEW = 100 };

static weft_status sync_one(const struct walk *walk, const char *at,
                            const struct stat *info, weft_arena *tmp)
{
    if (!S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode)) return WEFT_OK;
    if (++*walk->synced > FEW) return WEFT_OK;
    const char *path = weft_arena_text(tmp, "%s%s", walk->root, at);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES ? WEFT_OK : fail("read", path, errno);
    int err = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    close(fd);
    return err == 0 ? WEFT_OK : fail("write", path, err);
}

static weft_status sync_all(const char *path)
{
#ifdef __linux__
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail("read", path, errno);
    int err = syncfs(fd) == 0 ? 0 : errno;
    close(fd);
    return err == 0 ? WEFT_OK : fail("write", path, err);
#else
    (void)path;
    sync();
    return WEFT_OK;
#endif
}

weft_status weft_tree_sync(const char *path)
{
    int64_t n = 0;
    struct walk walk = {
        .root = path, .visit = sync_one, .mem = weft_arena_new(), .synced = &n};
    weft_status st = walk_tree(&walk);
    weft_arena_free(walk.mem);
    return st == WEFT_OK && n > FEW ? sync_all(path) : st;
}

/* ---- removal ---- */

/* Removes one file or directory; one that cannot be removed stays. */
static weft_status remove_one(const struct walk *walk, const char *at,
                              const struct stat *info, weft_arena *tmp)
{
    const char *path = weft_arena_text(tmp, "%s%s", walk->root, at);
    if (S_ISDIR(info->st_mode))
        chmod(path, 0700);
    else
        unlink(path);
    return WEFT_OK;
}

void weft_tree_remove(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return;
    struct walk walk = {.root = path, .visit = remove_one, .mem = weft_arena_new()};
    const char *before = weft_arena_text(walk.mem, "%s", weft_error());
    weft_status st = walk_tree(&walk);
    if (st != WEFT_OK) weft_error_set(before);
    while (walk.n-- > 0) rmdir(weft_arena_text(walk.mem, "%s%s", path, walk.dir[walk.n]));
    weft_arena_free(walk.mem);
}
