/* The files of a run: NAME.h5 and, until it is complete, the directory NAME.d beside it.
 * All checks are made before anything is trained. No file that the run reads is
 * overwritten, and from the directory only files that weft wrote are removed. */
#include "place.h"
#include "weft/file.h"
#include "weft/filenames.h"
#include "weft/journal.h"
#include "weft/log.h"
#include "weft/task.h"
#include "weft/tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *weft_place_dir(const char *path, weft_arena *mem)
{
    size_t n = strlen(path);
    size_t stem = n > 3 && strcmp(path + n - 3, ".h5") == 0 ? n - 3 : n;
    return weft_arena_text(mem, "%.*s.d", (int)stem, path);
}

/* ---- the run's directory ---- */

/* Removes from a directory what `is` says. */
static void remove_those(const char *dir, int (*is)(const char *name))
{
    DIR *listing = opendir(dir);
    if (!listing) return;
    weft_arena *tmp = weft_arena_new();
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        if (is(entry->d_name))
            weft_tree_remove(weft_arena_text(tmp, "%s/%s", dir, entry->d_name));
    closedir(listing);
    weft_arena_free(tmp);
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

static const char *any_file(const char *dir, weft_arena *mem)
{
    const char *name = "";
    DIR *listing = opendir(dir);
    for (const struct dirent *entry = listing ? readdir(listing) : NULL; entry;
         entry = readdir(listing))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            name = weft_arena_text(mem, "%s", entry->d_name);
    if (listing) closedir(listing);
    return name;
}

void weft_place_remove(const char *dir)
{
    weft_place_empty(dir);
    weft_arena *tmp = weft_arena_new();
    unlink(weft_arena_text(tmp, "%s/" WEFT_JOURNAL_NAME, dir));
    if (rmdir(dir) != 0 && (errno == ENOTEMPTY || errno == EEXIST))
        weft_log(WEFT_WARN,
                 "%s is not removed, because it contains %s, a file that is not weft's",
                 dir, any_file(dir, tmp));
    weft_arena_free(tmp);
}

/* ---- before the search ---- */

static int is_empty(const char *dir)
{
    DIR *listing = opendir(dir);
    if (!listing) return 0;
    int n = 0;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return n == 0;
}

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
    weft_arena *tmp = weft_arena_new();
    const char *dir = weft_place_failed(path, tmp);
    remove_those(dir, weft_is_of_failed);
    rmdir(dir);
    weft_arena_free(tmp);
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
    weft_arena *tmp = weft_arena_new();
    weft_status st = check_best(path, fresh, files, tmp);
    weft_arena_free(tmp);
    return st;
}

weft_status weft_place_keep(const char *path, int64_t trial, int64_t job)
{
    weft_arena *tmp = weft_arena_new();
    const char *best = best_of(path, tmp);
    const char *from =
        weft_arena_text(tmp, "%s/" WEFT_FILES_NAME, weft_place_dir(path, tmp),
                        (long long)trial, (long long)job);
    weft_status st = WEFT_OK;
    if (is_there(from)) { /* if not, it was moved already before the run was stopped */
        st = check_best(path, 0, 1, tmp);
        if (st == WEFT_OK) weft_tree_remove(best);
        if (st == WEFT_OK && rename(from, best) != 0)
            st = weft_fail(WEFT_EFILE, "cannot rename %s to %s: %s; free space there", from,
                           best, strerror(errno));
    }
    weft_arena_free(tmp);
    return st;
}

void weft_place_drop(const char *path)
{
    weft_arena *tmp = weft_arena_new();
    const char *best = best_of(path, tmp);
    if (is_of_run(best, tmp)) weft_tree_remove(best);
    weft_arena_free(tmp);
}

void weft_place_unkeep(const char *path, int64_t trial, int64_t job)
{
    weft_arena *tmp = weft_arena_new();
    const char *to = weft_arena_text(tmp, "%s/" WEFT_FILES_NAME, weft_place_dir(path, tmp),
                                     (long long)trial, (long long)job);
    rename(best_of(path, tmp), to); /* where it fails the job is repeated */
    weft_arena_free(tmp);
}
