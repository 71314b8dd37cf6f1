/* Makes, renames and removes the directories in which programs of task command run, and
 * writes their logs. */
#include "command.h"
#include "weft/base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_NAME     "weft.log"
#define ATTEMPT_LOGS 100 /* of attempts that failed, which are kept */

const char *attempt_path(const char *dir, int64_t trial, int64_t job, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/" WEFT_FILES_NAME, dir, (long long)trial,
                           (long long)job);
}

static const char *dir_of(const char *path, weft_arena *mem)
{
    return weft_arena_text(mem, "%.*s", (int)(strrchr(path, '/') - path), path);
}

static void remove_attempts(const char *path, weft_arena *tmp)
{
    const char *dir = dir_of(path, tmp), *name = strrchr(path, '/') + 1;
    size_t n = strlen(name);
    DIR *listing = opendir(dir);
    if (!listing) return;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        if (strncmp(entry->d_name, name, n) == 0 &&
            strncmp(entry->d_name + n, ".tmp.", 5) == 0)
            weft_tree_remove(weft_arena_text(tmp, "%s/%s", dir, entry->d_name));
    closedir(listing);
}

weft_status attempt_make(const char *path, const char **attempt, weft_arena *tmp)
{
    for (long long i = getpid();; i++) { /* a name that no other process has used */
        *attempt = weft_arena_text(tmp, "%s" WEFT_ASIDE_NAME, path, i);
        if (mkdir(*attempt, 0777) == 0) return WEFT_OK;
        if (errno != EEXIST)
            return weft_fail(WEFT_EFILE, "cannot make %s: %s; free space there", *attempt,
                             strerror(errno));
    }
}

weft_status attempt_begin(const attempt_parent *parent, const char *path,
                          const char **attempt, weft_arena *tmp)
{
    remove_attempts(path, tmp);
    TRY(attempt_make(path, attempt, tmp));
    if (!parent) return WEFT_OK;
    if (access(parent->path, F_OK) == 0) return weft_tree_copy(parent->path, *attempt);
    return weft_fail(
        WEFT_EFILE,
        "%s is missing, which job %lld left and a job that is to be done goes "
        "on from; put it back from a copy, or begin anew by `weft tune --force`",
        parent->path, (long long)parent->job);
}

static void sync_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

weft_status attempt_keep(const char *attempt, const char *path)
{
    TRY(weft_tree_sync(attempt));
    weft_tree_remove(path); /* of a job that was done, but not recorded */
    if (rename(attempt, path) != 0)
        return weft_fail(WEFT_EFILE, "cannot rename %s: %s; free space there", attempt,
                         strerror(errno));
    WEFT_SCRATCH(tmp);
    sync_dir(dir_of(path, tmp));
    return WEFT_OK;
}

const char *attempt_log(const char *attempt, weft_arena *mem)
{
    return weft_arena_text(mem, "%s.log", attempt);
}

const char *attempt_take_log(const char *attempt, weft_arena *tmp)
{
    const char *to = weft_arena_text(tmp, "%s/" LOG_NAME, attempt);
    struct stat info;
    if (lstat(attempt, &info) != 0 || !S_ISDIR(info.st_mode))
        return "it removed its directory, $WEFT_DIR";
    weft_tree_remove(to); /* of the job before, or of any kind by the program's will */
    if (rename(attempt_log(attempt, tmp), to) == 0) return NULL;
    return weft_arena_text(tmp,
                           "it left a directory $WEFT_DIR in which nothing can be "
                           "written: %s",
                           strerror(errno));
}

void attempt_drop(const char *attempt)
{
    WEFT_SCRATCH(tmp);
    weft_tree_remove(attempt);
    unlink(attempt_log(attempt, tmp));
}

static int count_of(const char *dir)
{
    DIR *listing = opendir(dir);
    int n = 0;
    if (!listing) return 0;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        n += *entry->d_name != '.';
    closedir(listing);
    return n;
}

const char *attempt_keep_log(const char *attempt, const char *failed, int64_t trial,
                             int64_t job, weft_arena *tmp)
{
    const char *path = weft_arena_text(tmp, "%s/" WEFT_FAILED_NAME, failed,
                                       (long long)trial, (long long)job);
    mkdir(failed, 0777);
    if (access(path, F_OK) != 0 && count_of(failed) >= ATTEMPT_LOGS) return NULL;
    return rename(attempt_log(attempt, tmp), path) == 0 ? path : NULL;
}

/* ---- logs of bounded size ---- */

weft_status weft_output_open(weft_output *output, const char *path, int64_t most,
                             weft_arena *mem)
{
    *output = (weft_output){.most = most};
    output->tail = WEFT_NEW(mem, char, most / 2);
    unlink(path); /* of the attempt that the directory is a copy of, maybe a link */
    output->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd >= 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(errno));
}

static void put_bytes(weft_output *output, const char *bytes, int64_t n)
{
    while (n > 0 && output->err == 0) {
        ssize_t done = write(output->fd, bytes, (size_t)n);
        if (done < 0 && errno != EINTR) output->err = errno;
        if (done > 0) {
            bytes += done;
            n -= done;
        }
    }
}

void weft_output_add(weft_output *output, const char *bytes, size_t n)
{
    int64_t half = output->most / 2, head = half - output->seen;
    int64_t at = head < 0 ? 0 : head < (int64_t)n ? head : (int64_t)n;
    put_bytes(output, bytes, at);
    output->seen += at;
    while (at < (int64_t)n) {
        int64_t to = output->seen % half, left = (int64_t)n - at;
        int64_t some = left < half - to ? left : half - to;
        memcpy(output->tail + to, bytes + at, (size_t)some);
        output->seen += some;
        at += some;
    }
}

weft_status weft_output_close(weft_output *output, const char *path)
{
    int64_t half = output->most / 2, kept = output->seen - half;
    if (kept > half) {
        char text[64];
        int n = snprintf(text, sizeof text, "\n... %lld bytes are left out ...\n",
                         (long long)(kept - half));
        put_bytes(output, text, n);
    }
    int64_t rest = kept > half ? half : kept > 0 ? kept : 0;
    int64_t from = (output->seen - rest) % half; /* the tail ends where it begins */
    int64_t first = rest < half - from ? rest : half - from;
    put_bytes(output, output->tail + from, first);
    put_bytes(output, output->tail, rest - first);
    if (close(output->fd) != 0 && output->err == 0) output->err = errno;
    if (output->err == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(output->err));
}
