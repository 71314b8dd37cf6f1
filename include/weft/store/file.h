/* Files: those that appear complete or not at all, room on disks, journals, group commit.
 */
#ifndef LIBWEFT_STORE_FILE_H
#define LIBWEFT_STORE_FILE_H

#include "weft/base/base.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- file ---- */

/* The name under which this process writes `path`, which ends with WEFT_TEMP_NAME and has
 * the same length for every process. Owned by mem. */
char *weft_file_temp(const char *path, weft_arena *mem);
/* What such a name has for the host: a number of its name and of its processes' numbers,
 * which containers have of their own. */
unsigned weft_file_host(void);
/* Removes what killed processes that were writing `path` have left beside it: if `locked`,
 * where the caller has the lock of all who write, all but its own; else those of this host
 * whose process has ended. Cost: a look at the directory. */
void weft_file_sweep(const char *path, int locked);

/* Writes a file through a temporary file, fsync and rename; reads exactly `bytes` bytes of
 * a file. EFILE. */
WEFT_CHECKED weft_status weft_file_put(const char *path, const void *data, size_t bytes);
WEFT_CHECKED weft_status weft_file_load(const char *path, void *data, size_t bytes);
/* The same with n parts, one after the other: part i is bytes[i] bytes at at[i]; lazy:
 * without fsync, so that until weft_file_sync a crash of the node can lose or damage the
 * file. EFILE. */
WEFT_CHECKED weft_status weft_file_put_lazy(const char *path, int n, const void *const *at,
                                            const size_t *bytes);
WEFT_CHECKED weft_status weft_file_load_parts(const char *path, int n, void *const *at,
                                              const size_t *bytes);
/* Writes all bytes to fd. 0, or the errno. */
int weft_file_write(int fd, const void *data, size_t bytes);
/* A text that appears complete or not at all: created, written to `file`, checked now and
 * then for errors, committed; closed in any case. EFILE. */
typedef struct weft_text {
    FILE *file; /* NULL: not open */
    const char *path, *temp;
} weft_text;
WEFT_CHECKED weft_status weft_text_create(weft_text *text, const char *path,
                                          weft_arena *mem);
WEFT_CHECKED weft_status weft_text_check(const weft_text *text);
WEFT_CHECKED weft_status weft_text_commit(weft_text *text);
/* Removes what was written, unless it was committed. */
void weft_text_close(weft_text *text);
/* Syncs a file, or the entries of a directory, if it still exists, so that it survives a
 * crash of the node. EFILE. */
WEFT_CHECKED weft_status weft_file_sync(const char *path);
/* Tests that a file of that name can be written, by making and removing its temporary file.
 * EFILE: the name is empty, too long or that of a directory, or the directory is missing or
 * not writable. */
WEFT_CHECKED weft_status weft_file_try(const char *path);
/* 1 if something has that name. */
int weft_file_is(const char *path);
/* The directory that a file of that name is in: "." where the name has no slash. Owned by
 * mem. */
const char *weft_file_dir(const char *path, weft_arena *mem);
/* 1 if both names are of the same file, also through links. */
int weft_file_same(const char *a, const char *b);
/* Opens a new file without a name, for reading and writing, in the directory of `beside`:
 * it ends with its descriptor. EFILE. */
WEFT_CHECKED weft_status weft_file_scratch(const char *beside, int *fd);
/* Makes *path "/dev/stdin" where it is "-" or that, and standard input a file that can be
 * read several times: a pipe is copied to a file without a name in the directory of
 * `beside`. EFILE, also where it is empty, or *path another pipe. Cost: its bytes, on disk.
 */
WEFT_CHECKED weft_status weft_file_source(const char **path, const char *beside);

/* ---- disk ---- */

enum { WEFT_DISK_TYPE = 64 };
typedef struct weft_disk {
    char type[WEFT_DISK_TYPE]; /* "ext4", "nfs4", "lustre"; "" unknown */
    double free;               /* bytes */
} weft_disk;
/* Type and free space of the file system of a directory. EFILE. */
WEFT_CHECKED weft_status weft_disk_look(const char *dir, weft_disk *disk);
/* Five times writes a file of 1 MB in the way states are written, reads it back and removes
 * it. *seconds: median time until it was synced and renamed. EFILE: not writable, or the
 * contents read differ from those written. */
WEFT_CHECKED weft_status weft_disk_write(const char *path, double *seconds);

/* What a process finds when it tries to lock a file that another has just made and
 * locked. */
typedef enum weft_lock {
    WEFT_LOCK_OWN,    /* this process itself holds the lock */
    WEFT_LOCK_KEPT,   /* the lock is refused: locks work */
    WEFT_LOCK_SHARED, /* the lock is granted too: locks do not work between these
                         processes */
    WEFT_LOCK_NONE,   /* the file system does not support locks */
    WEFT_LOCK_UNSEEN  /* the file is not visible after 5 seconds */
} weft_lock;
/* Makes a file and locks it, until weft_disk_leave is called with *fd. *found: OWN or NONE.
 * EFILE. */
WEFT_CHECKED weft_status weft_disk_hold(const char *path, int *fd, weft_lock *found);
/* Releases the lock and removes the file. */
void weft_disk_leave(const char *path, int fd);
/* Tries, from another process, to lock the file of weft_disk_hold. Waits up to 5 s for the
 * file to become visible. */
weft_lock weft_disk_meet(const char *path);

/* ---- journal ---- */

/* A file of framed records: tag, length, checksums, payload. Each is appended by one
 * write(2), so that it survives the end of this process; it survives a crash of the node
 * only after weft_journal_sync. An incomplete record at the end is removed when the journal
 * is opened; damage before whole records is reported and not changed. */
typedef struct weft_journal {
    int fd;
    char *path;
} weft_journal;
typedef struct weft_record {
    uint64_t tag; /* kind of record, not 0; 0: bytes that are not a record */
    size_t bytes;
    const void *data; /* owned by the arena; NULL: damaged */
} weft_record;
/* Opens or makes a journal, locks it, and reads all records. EFILE: not writable, in use,
 * of another kind or version. */
WEFT_CHECKED weft_status weft_journal_open(weft_journal *journal, const char *path,
                                           weft_record **rec, int64_t *n, weft_arena *mem);
/* Opens or makes a journal for appending, without reading it; *fresh 1: it was made, and
 * survives a crash of the node only after a commit (below). EFILE: not writable, in use. */
WEFT_CHECKED weft_status weft_journal_extend(weft_journal *journal, const char *path,
                                             int *fresh, weft_arena *mem);
/* 1 if the file is a journal, of any version, or the beginning of one. */
int weft_journal_is(const char *path);
/* Reads the records of a journal, also while another process writes it; *in_use 1: a
 * process has it open. Does not change the file. EFILE. */
WEFT_CHECKED weft_status weft_journal_read(const char *path, weft_record **rec, int64_t *n,
                                           int *in_use, weft_arena *mem);
/* Removes all records. */
WEFT_CHECKED weft_status weft_journal_clear(weft_journal *journal);
/* Appends one record by one write(2). */
WEFT_CHECKED weft_status weft_journal_add(weft_journal *journal, uint64_t tag,
                                          const void *data, size_t bytes);
/* Writes all records through to the disk (fsync), so that they survive a crash of the
 * node. */
WEFT_CHECKED weft_status weft_journal_sync(weft_journal *journal);
/* Syncs and closes the journal. */
void weft_journal_close(weft_journal *journal);

/* ---- commit ---- */

/* Writes a journal, and other files, through to the disk in the background: a second after
 * the last commit, or ten times as long as that took, if this is longer, first the files,
 * then the journal. A thread does this; if none can be made, the caller commits in
 * weft_commit_soon. To be used by one thread. */
typedef struct weft_commit weft_commit;
/* Starts a thread that gets no signals, and makes its condition, whose times are monotonic
 * ones; 0: it cannot be started. */
int weft_thread_start(pthread_t *thread, pthread_cond_t *wake, void *(*run)(void *),
                      void *self);
/* For a journal, which must stay open until weft_commit_end. Owned by mem. */
weft_commit *weft_commit_begin(weft_journal *journal, weft_arena *mem);
/* Adds a file or directory to the next commit; if it does not exist any more then, it is
 * passed over. */
void weft_commit_file(weft_commit *commit, const char *path);
/* Removes a file or directory after the next commit. */
void weft_commit_remove(weft_commit *commit, const char *path);
/* Asks for a commit of all records, files and removals so far, and returns at once. EFILE:
 * an earlier commit failed; then there are no further ones. */
WEFT_CHECKED weft_status weft_commit_soon(weft_commit *commit);
/* The same, and waits until it is done. EFILE: likewise. */
WEFT_CHECKED weft_status weft_commit_now(weft_commit *commit);
/* Ends the thread, after the commit that it is doing; what was added since is not
 * committed, and not removed. EFILE: a commit failed. */
WEFT_CHECKED weft_status weft_commit_end(weft_commit *commit);

#endif
