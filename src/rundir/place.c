/* The files of a run: NAME.h5 and, until it is complete, the directory NAME.d beside it; of
 * which format they are; and the directory in which the run was begun, where its programs
 * start and the relative paths of its input file begin, also where it is resumed from
 * another directory. All checks are made before anything is trained. No file that the run
 * reads is overwritten, and from NAME.d only files that weft wrote are removed. */
#include "host/host.h"
#include "rundir.h"
#include "weft/base/base.h"
#include "weft/base/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *weft_place_dir(const char *path, weft_arena *mem)
{
    size_t n = strlen(path);
    size_t stem = n > 3 && strcmp(path + n - 3, ".h5") == 0 ? n - 3 : n;
    return weft_arena_text(mem, "%.*s.d", (int)stem, path);
}

const char *weft_rundir_journal(const char *dir, int team, weft_arena *mem)
{
    if (team == 0) return weft_arena_text(mem, "%s/" WEFT_JOURNAL_NAME, dir);
    return weft_arena_text(mem, "%s/" WEFT_TEAM_NAME, dir, team);
}

const char *weft_place_state(const char *dir, int64_t trial, int64_t job, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/" WEFT_STATE_NAME, dir, (long long)trial,
                           (long long)job);
}

const char *weft_place_files(const char *dir, int64_t trial, int64_t job, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/" WEFT_FILES_NAME, dir, (long long)trial,
                           (long long)job);
}

weft_status weft_rundir_stuck(const weft_rundir *rundir, weft_status st)
{
    if (st != WEFT_EFILE) return st;
    return weft_fail(st, "%s; then go on with `weft resume %s`", weft_error(),
                     rundir->path);
}

/* ---- the run's directory ---- */

static void remove_those(const char *dir, int (*is)(const char *name))
{
    DIR *listing = opendir(dir);
    if (!listing) return;
    WEFT_SCRATCH(tmp);
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        if (is(entry->d_name))
            weft_tree_remove(weft_arena_text(tmp, "%s/%s", dir, entry->d_name));
    closedir(listing);
}

static int is_claim(const char *name)
{
    return weft_is_named(name, WEFT_CLAIM_NAME) || weft_is_named(name, WEFT_TICKET_NAME);
}

static int is_no_journal(const char *name)
{
    return weft_is_of_run(name) && strcmp(name, WEFT_JOURNAL_NAME) != 0;
}

void weft_place_unclaim(const char *dir)
{
    remove_those(dir, is_claim);
}

void weft_place_empty(const char *dir)
{
    remove_those(dir, is_no_journal);
}

/* The name of a file in a directory; "": it has none; NULL: it cannot be listed. */
static const char *any_file(const char *dir, weft_arena *mem)
{
    const char *name = "";
    DIR *listing = opendir(dir);
    if (!listing) return NULL;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            name = weft_arena_text(mem, "%s", entry->d_name);
    closedir(listing);
    return name;
}

static int is_empty(const char *dir)
{
    WEFT_SCRATCH(tmp);
    const char *found = any_file(dir, tmp);
    return found && *found == '\0';
}

void weft_place_remove(const char *dir)
{
    weft_place_empty(dir);
    WEFT_SCRATCH(tmp);
    unlink(weft_arena_text(tmp, "%s/" WEFT_JOURNAL_NAME, dir));
    if (rmdir(dir) != 0 && (errno == ENOTEMPTY || errno == EEXIST)) {
        const char *found = any_file(dir, tmp);
        weft_log(WEFT_WARN,
                 "%s is not removed, because it contains %s, a file that is not weft's",
                 dir, found ? found : "");
    }
}

/* ---- before the search ---- */

weft_status weft_place_make(const char *dir, const char *journal)
{
    if (mkdir(dir, 0777) == 0) return WEFT_OK;
    if (errno != EEXIST)
        return weft_fail(WEFT_EFILE,
                         "cannot make the directory %s: %s; free space there, or choose "
                         "another output by -o",
                         dir, strerror(errno));
    if (weft_journal_is(journal) || is_empty(dir)) return WEFT_OK;
    return weft_fail(
        WEFT_EFILE,
        "%s exists and is not of a run, because it contains no journal of weft; "
        "move it away, or choose another output by -o",
        dir);
}

weft_status weft_place_apart(const char *path, const weft_conf *conf)
{
    for (int i = 0; i < conf->n; i++) {
        const weft_entry *entry = &conf->entry[i];
        int own = strcmp(entry->section, "run") == 0 && strcmp(entry->key, "output") == 0;
        if (weft_file_same(path, entry->file))
            return weft_fail(WEFT_ECONF,
                             "the run file %s would replace the input file; choose another "
                             "name by -o",
                             path);
        if (!own && weft_file_same(path, entry->value))
            return weft_fail(WEFT_ECONF,
                             "the run file %s would replace what the run reads: %s.%s = "
                             "%s; choose another name by -o",
                             path, entry->section, entry->key, entry->value);
    }
    return WEFT_OK;
}

/* ---- what failed jobs printed ---- */

static const char *beside(const char *path, const char *ending, weft_arena *mem)
{
    const char *dir = weft_place_dir(path, mem);
    return weft_arena_text(mem, "%.*s%s", (int)(strlen(dir) - strlen(".d")), dir, ending);
}

const char *weft_place_failed(const char *path, weft_arena *mem)
{
    return beside(path, ".failed", mem);
}

void weft_place_forget(const char *path)
{
    WEFT_SCRATCH(tmp);
    const char *dir = weft_place_failed(path, tmp);
    remove_those(dir, weft_is_of_failed);
    rmdir(dir);
}

/* ---- the winner's files ---- */

#define MARK "weft.log" /* a file that the directory of every job contains */

static const char *best_of(const char *path, weft_arena *mem)
{
    return beside(path, ".best", mem);
}

static int is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static int is_of_run(const char *best, weft_arena *tmp)
{
    return is_there(weft_arena_text(tmp, "%s/" MARK, best));
}

/* `files`: the run will have such a directory itself. */
static weft_status check_best(const char *path, int fresh, int files, weft_arena *tmp)
{
    const char *best = best_of(path, tmp);
    if (!is_there(best)) return WEFT_OK;
    if (!is_of_run(best, tmp) && !files) return WEFT_OK;
    if (!is_of_run(best, tmp))
        return weft_fail(WEFT_EFILE,
                         "%s exists and is not of a run, because it contains no " MARK
                         "; move it away, or choose another output by -o",
                         best);
    if (fresh != 1) return WEFT_OK;
    return weft_fail(
        WEFT_EFILE, "%s exists; choose another name by -o, or replace it by --force", best);
}

weft_status weft_place_best(const char *path, int fresh, int files)
{
    WEFT_SCRATCH(tmp);
    return check_best(path, fresh, files, tmp);
}

weft_status weft_place_keep(const char *path, int64_t trial, int64_t job)
{
    WEFT_SCRATCH(tmp);
    const char *best = best_of(path, tmp);
    const char *from = weft_place_files(weft_place_dir(path, tmp), trial, job, tmp);
    weft_status st = WEFT_OK;
    if (is_there(from)) { /* if not, it was moved already before the run was stopped */
        st = check_best(path, 0, 1, tmp);
        if (st == WEFT_OK) weft_tree_remove(best);
        if (st == WEFT_OK && rename(from, best) != 0)
            st = weft_fail(WEFT_EFILE, "cannot rename %s to %s: %s; free space there", from,
                           best, strerror(errno));
    }
    return st;
}

uint64_t weft_place_sum(const char *path)
{
    WEFT_SCRATCH(tmp);
    uint64_t sum;
    return weft_tree_sum(best_of(path, tmp), &sum) == WEFT_OK ? sum : 0;
}

void weft_place_drop(const char *path)
{
    WEFT_SCRATCH(tmp);
    const char *best = best_of(path, tmp);
    if (is_of_run(best, tmp)) weft_tree_remove(best);
}

void weft_place_unkeep(const char *path, int64_t trial, int64_t job)
{
    WEFT_SCRATCH(tmp);
    const char *to = weft_place_files(weft_place_dir(path, tmp), trial, job, tmp);
    const char *best = best_of(path, tmp);
    if (rename(best, to) != 0 && errno != ENOENT) /* then the job is repeated */
        weft_log(WEFT_WARN, "cannot rename %s back to %s: %s", best, to, strerror(errno));
}

/* ---- run files ---- */

/* 1 if both are the same up to the number at the end. */
static int is_kind(const char *format, const char *wanted)
{
    size_t n = strlen(wanted) - 1;
    return strncmp(format, wanted, n) == 0;
}

weft_status weft_run_format(weft_h5 *file, int exported)
{
    const char *format = "", *version = "of another version";
    TRY(weft_h5_find_attr(file, "/", "format", &format));
    if (strcmp(format, WEFT_RUN_FORMAT) == 0) return WEFT_OK;
    if (exported && strcmp(format, WEFT_WINNER_FORMAT) == 0) return WEFT_OK;
    int run = is_kind(format, WEFT_RUN_FORMAT);
    if (!run && !(exported && is_kind(format, WEFT_WINNER_FORMAT)))
        return weft_fail(WEFT_EFILE,
                         "%s is not a run file%s (format \"%s\", expected \"%s\"); "
                         "`weft info` tells what it is",
                         file->path, exported ? " or an exported winner" : "", format,
                         WEFT_RUN_FORMAT);
    TRY(weft_h5_find_attr(file, "/", "version", &version));
    return weft_fail(WEFT_EFILE,
                     "%s has format \"%s\", written by weft %s, and weft " WEFT_VERSION
                     " reads \"%s\"; " WEFT_OTHER_VERSION,
                     file->path, format, version,
                     run ? WEFT_RUN_FORMAT : WEFT_WINNER_FORMAT);
}

weft_status weft_winner_check(weft_h5 *file, int exported)
{
    const char *why;
    TRY(weft_run_format(file, exported));
    if (weft_h5_has(file, "/@unfinished"))
        return weft_fail(WEFT_EFILE,
                         "%s is a report of an unfinished run, whose winner is not known "
                         "yet: end that run by `weft resume`",
                         file->path);
    if (!weft_h5_has(file, "/@no_winner")) return WEFT_OK;
    TRY(weft_h5_read_attr(file, "/", "no_winner", &why));
    return weft_fail(WEFT_ENONE, "%s has no winner: %s", file->path, why);
}

weft_status weft_winner_find(const char *path, weft_arena *mem)
{
    weft_h5 file;
    TRY(weft_h5_open(&file, path, mem));
    weft_status st = weft_winner_check(&file, 0);
    weft_h5_close(&file);
    return st;
}

int weft_run_is_unfinished(const char *path)
{
    WEFT_SCRATCH(tmp);
    const char *journal = weft_rundir_journal(weft_place_dir(path, tmp), 0, tmp);
    return !weft_file_is(path) && weft_journal_is(journal);
}

weft_status weft_run_file(weft_h5 *file, const char *path, weft_arena *mem)
{
    if (weft_run_is_unfinished(path))
        return weft_fail(WEFT_EFILE, "%s is unfinished; go on with it by `weft resume %s`",
                         path, path);
    return weft_h5_open(file, path, mem);
}

/* ---- the directory in which a run was begun ---- */

enum { MOST_PATH = 4096 }; /* bytes of a path */

/* The current directory, by the name that the shell has for it, which may lead through
 * links; NULL: it has none. */
static const char *current_dir(weft_arena *mem)
{
    const char *shell = getenv("PWD");
    if (shell && *shell == '/' && strlen(shell) < MOST_PATH && weft_file_same(shell, "."))
        return weft_arena_text(mem, "%s", shell);
    char *own = WEFT_NEW(mem, char, MOST_PATH);
    return getcwd(own, MOST_PATH);
}

/* The text of rank 0 on all ranks; NULL if it is NULL there. Collective. */
static const char *share_text(const char *text, weft_team *world, weft_arena *mem)
{
    size_t n = text ? strlen(text) + 1 : 0;
    weft_bcast(world, &n, sizeof n, 0);
    if (n == 0) return NULL;
    char *own = WEFT_NEW(mem, char, n);
    if (world->rank == 0) memcpy(own, text, n);
    weft_bcast(world, own, n, 0);
    return own;
}

static weft_status enter_dir(const char *dir, const char *run)
{
    if (weft_file_same(dir, ".")) return WEFT_OK;
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
    *dir = share_text(world->rank == 0 ? current_dir(mem) : NULL, world, mem);
    return weft_agree(*dir ? enter_dir(*dir, run) : WEFT_OK, world);
}

static const char *plain_path(const char *path)
{
    while (strncmp(path, "./", 2) == 0) path += 2;
    return path;
}

static const char *from_root(const char *path, const char *dir, weft_arena *mem)
{
    return *path == '/' || !dir ? path
                                : weft_arena_text(mem, "%s/%s", dir, plain_path(path));
}

/* The directory where the run was begun, or, if that is missing, where it is now if it was
 * moved as a whole: the run file, now `path`, was begun as `output`, a path relative to
 * it. */
static const char *find_dir(const weft_rundir *rundir, const char *path, const char *output)
{
    if (!rundir->directory || access(rundir->directory, F_OK) == 0)
        return rundir->directory;
    output = plain_path(output);
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
    *before = current_dir(rundir->mem);
    const char *path = from_root(rundir->path, *before, rundir->mem);
    rundir->directory =
        share_text(rundir->world->rank == 0 ? find_dir(rundir, path, output) : NULL,
                   rundir->world, rundir->mem);
    if (!rundir->directory || !*before || weft_file_same(rundir->directory, ".")) {
        *before = NULL;
        return weft_agree(WEFT_OK, rundir->world);
    }
    rundir->path = path;
    rundir->dir = weft_place_dir(path, rundir->mem);
    rundir->journal.path =
        weft_arena_text(rundir->mem, "%s/" WEFT_JOURNAL_NAME, rundir->dir);
    return weft_agree(enter_dir(rundir->directory, path), rundir->world);
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
