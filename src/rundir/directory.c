/* The directory in which a run was begun. There its programs start and the relative paths
 * of its input file begin, also where it is resumed from another directory. */
#include "directory.h"
#include "host/core.h"
#include "place.h"
#include "weft/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 4096 }; /* bytes of a path */

/* 1 if both are one existing file or directory. */
static int same(const char *a, const char *b)
{
    struct stat one, two;
    return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/* The current directory, by the name that the shell has for it, which may lead through
 * links; NULL: it has none. */
static const char *here(weft_arena *mem)
{
    const char *shell = getenv("PWD");
    if (shell && *shell == '/' && strlen(shell) < MOST && same(shell, "."))
        return weft_arena_text(mem, "%s", shell);
    char *own = WEFT_NEW(mem, char, MOST);
    return getcwd(own, MOST);
}

/* The text of rank 0 on all ranks; NULL if it is NULL there. Collective. */
static const char *share(const char *text, weft_team *world, weft_arena *mem)
{
    size_t n = text ? strlen(text) + 1 : 0;
    weft_bcast(world, &n, sizeof n, 0);
    if (n == 0) return NULL;
    char *own = WEFT_NEW(mem, char, n);
    if (world->rank == 0) memcpy(own, text, n);
    weft_bcast(world, own, n, 0);
    return own;
}

static weft_status enter(const char *dir, const char *run)
{
    if (same(dir, ".")) return WEFT_OK;
    if (chdir(dir) == 0) {
        setenv("PWD", dir, 1);
        return WEFT_OK;
    }
    int err = errno;
    char host[WEFT_PLACEMENT_TEXT] = "";
    gethostname(host, sizeof host - 1);
    return weft_fail(WEFT_EFILE,
                     "%s: cannot enter %s on %s, where the run was begun and its programs "
                     "start: %s; put that directory back, or a link to it in its place",
                     run, dir, host, strerror(err));
}

weft_status weft_directory_begin(const char **dir, const char *run, weft_team *world,
                                 weft_arena *mem)
{
    *dir = share(world->rank == 0 ? here(mem) : NULL, world, mem);
    return weft_agree(*dir ? enter(*dir, run) : WEFT_OK, world);
}

static const char *plain(const char *path)
{
    while (strncmp(path, "./", 2) == 0) path += 2;
    return path;
}

/* The path from the root. */
static const char *from_root(const char *path, const char *dir, weft_arena *mem)
{
    return *path == '/' || !dir ? path : weft_arena_text(mem, "%s/%s", dir, plain(path));
}

/* The directory where the run was begun, or, if that is missing, where it is now if it was
 * moved as a whole: the run file, now `path`, was begun as `output`, a path relative to
 * it. */
static const char *find(const weft_rundir *rundir, const char *path, const char *output)
{
    if (!rundir->directory || access(rundir->directory, F_OK) == 0)
        return rundir->directory;
    output = plain(output);
    size_t n = strlen(path), tail = strlen(output);
    int moved = *output != '/' && n > tail + 1 && path[n - tail - 1] == '/' &&
                strcmp(path + n - tail, output) == 0;
    if (!moved) return rundir->directory;
    const char *dir = weft_arena_text(rundir->mem, "%.*s", (int)(n - tail - 1), path);
    weft_log(WEFT_INFO, "%s, where the run was begun, is missing: it goes on in %s",
             rundir->directory, dir);
    return dir;
}

weft_status weft_directory_resume(weft_rundir *rundir, const char *output,
                                  const char **before)
{
    *before = here(rundir->mem);
    const char *path = from_root(rundir->path, *before, rundir->mem);
    rundir->directory = share(rundir->world->rank == 0 ? find(rundir, path, output) : NULL,
                              rundir->world, rundir->mem);
    if (!rundir->directory || !*before || same(rundir->directory, ".")) {
        *before = NULL;
        return weft_agree(WEFT_OK, rundir->world);
    }
    rundir->path = path;
    rundir->dir = weft_place_dir(path, rundir->mem);
    rundir->journal.path = weft_arena_text(rundir->mem, "%s/journal", rundir->dir);
    return weft_agree(enter(rundir->directory, path), rundir->world);
}

const char *weft_directory_typed(const char *assignment, const char *before,
                                 weft_arena *mem)
{
    static const char key[] = "run.data=";
    const size_t n = sizeof key - 1;
    if (!before || strncmp(assignment, key, n) != 0) return assignment;
    return weft_arena_text(mem, "%s%s", key, from_root(assignment + n, before, mem));
}

void weft_directory_leave(const char *before)
{
    if (before && chdir(before) == 0) setenv("PWD", before, 1);
}
