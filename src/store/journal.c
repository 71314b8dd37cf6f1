/* The journal: an append-only file of framed records that survives being killed at any
 * moment.
 *
 *     magic[8]  { mark u32, check u32, tag u64, bytes u64, sum u64, payload }*
 *
 * in the byte order of the machine. `sum` is the XXH3-64 of the payload, `check` the low
 * half of that of tag, bytes and sum: so a head is recognised wherever it is, and the tag
 * of a damaged payload is still known. A record is one write(2). What follows the last
 * whole head, or its payload where that is cut short, is a torn write and is cut at open;
 * damage before it is reported and left as it is. A lock keeps two processes from
 * continuing the same run.
 *
 * Group commit: a thread writes a journal, and the files that its records rely on, through
 * to the disk, so that whoever appends to the journal does not wait for the disk. What is
 * added during a commit belongs to the next one. The thread calls neither MPI nor HDF5 and
 * receives no signals. If it cannot be made, the caller commits. */
#include "file.h"
#include "weft/base/files.h"
#include "weft/base/random.h"
#include "weft/store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MARK 0x52464557u /* "WEFR" */

static const char magic[8] = {'W', 'E', 'F', 'T', 'J', 'R', 'N', '2'};
enum { KIND = 7 }; /* letters of it that all versions share */

struct frame {
    uint32_t mark, check;
    uint64_t tag, bytes, sum;
};

static uint32_t check_of(const struct frame *frame)
{
    return (uint32_t)weft_hash(&frame->tag, sizeof *frame - offsetof(struct frame, tag),
                               MARK);
}

/* ---- writing ---- */

/* Appends all bytes; an incomplete write is undone by truncation, so that no incomplete
 * record is followed by a whole one. 0, or the errno. */
static int append(int fd, const void *data, size_t bytes)
{
    off_t start = lseek(fd, 0, SEEK_END);
    if (start < 0) return errno;
    ssize_t n;
    do {
        n = write(fd, data, bytes);
    } while (n < 0 && errno == EINTR);
    if (n == (ssize_t)bytes) return 0;
    int err = n < 0 ? errno : ENOSPC;
    return ftruncate(fd, start) != 0 && n > 0 ? errno : err;
}

static weft_status lock_journal(weft_journal *journal)
{
    int err = weft_file_lock(journal->fd);
    if (err == 0) return WEFT_OK;
    if (err != EACCES && err != EAGAIN) {
        weft_log(WEFT_WARN,
                 "%s: this file system has no locks: see to it that no second process goes "
                 "on with the run, or keep it elsewhere",
                 journal->path);
        return WEFT_OK;
    }
    return weft_fail(WEFT_EFILE, "%s is in use by another process; wait for it or end it",
                     journal->path);
}

static weft_status begin_journal(weft_journal *journal, int synced)
{
    int err = append(journal->fd, magic, sizeof magic);
    if (err == 0 && synced)
        err = fsync(journal->fd) != 0 ? errno : weft_file_sync_dir(journal->path);
    return err == 0 ? WEFT_OK : weft_file_fail("write", journal->path, err);
}

/* ---- reading ---- */

/* 1 if there is a head at text[at] with its payload, damaged or not, within text[limit]. */
static int is_frame(const char *text, size_t limit, size_t at, struct frame *frame)
{
    if (limit - at < sizeof *frame) return 0;
    memcpy(frame, text + at, sizeof *frame);
    return frame->mark == MARK && check_of(frame) == frame->check &&
           frame->bytes <= limit - at - sizeof *frame;
}

/* 1 if there is a whole record at text[at], its payload as it was written. */
static int is_whole(const char *text, size_t limit, size_t at, struct frame *frame)
{
    return is_frame(text, limit, at, frame) &&
           weft_hash(text + at + sizeof *frame, (size_t)frame->bytes, 0) == frame->sum;
}

/* The first position from `at` on that is so; limit: there is none. */
static size_t find_frame(int (*is)(const char *, size_t, size_t, struct frame *),
                         const char *text, size_t limit, size_t at)
{
    static const uint32_t mark = MARK;
    struct frame frame;
    while (at < limit && !is(text, limit, at, &frame)) {
        const char *next = memchr(text + at + 1, *(const char *)&mark, limit - at - 1);
        at = next != NULL ? (size_t)(next - text) : limit;
    }
    return at;
}

/* The record at a position of the text; its data in mem, aligned for any type. */
static weft_record record_of(const struct frame *frame, const char *payload, int whole,
                             weft_arena *mem)
{
    weft_record record = {.tag = frame->tag, .bytes = (size_t)frame->bytes};
    if (!whole) return record;
    char *copy = WEFT_NEW(mem, char, record.bytes);
    memcpy(copy, payload, record.bytes);
    record.data = copy;
    return record;
}

/* Gives the records of text[size]; returns where the last one ends. A damaged payload ends
 * where a whole record begins, if not before: so a head whose payload was cut short does
 * not take in what is appended later. */
static size_t read_records(const char *text, size_t size, weft_record **rec, int64_t *n,
                           weft_arena *mem)
{
    struct frame frame;
    int64_t room = 0;
    size_t whole = 0, end = sizeof magic; /* whole: where the next whole record begins */
    *rec = NULL;
    *n = 0;
    while (end < size) {
        weft_record record;
        if (end >= whole) whole = find_frame(is_whole, text, size, end);
        if (is_frame(text, end < whole ? whole : size, end, &frame)) {
            record = record_of(&frame, text + end + sizeof frame, end == whole, mem);
            end += sizeof frame + (size_t)frame.bytes;
        } else {
            size_t next = find_frame(is_frame, text, whole, end + 1);
            if (next == size) break;
            record = (weft_record){.bytes = next - end};
            end = next;
        }
        *rec = weft_grow(mem, *rec, sizeof **rec, *n, &room);
        (*rec)[(*n)++] = record;
    }
    return end;
}

/* Cuts what follows the last record. */
static weft_status cut(weft_journal *journal, size_t size, size_t end)
{
    if (size == end) return WEFT_OK;
    weft_log(WEFT_WARN, "%s: the last %zu bytes are no whole record and are cut",
             journal->path, size - end);
    if (ftruncate(journal->fd, (off_t)end) != 0 || fsync(journal->fd) != 0)
        return weft_file_fail("write", journal->path, errno);
    return WEFT_OK;
}

static weft_status check_magic(const char *path, const char *text, size_t size)
{
    if (size < sizeof magic || memcmp(text, magic, KIND) != 0)
        return weft_fail(WEFT_EFILE,
                         "%s is not a journal of weft, or its first bytes are damaged; put "
                         "it back from a copy, or choose another output name",
                         path);
    if (text[KIND] != magic[KIND])
        return weft_fail(WEFT_EFILE,
                         "%s is a journal of format %c, and this version of weft reads "
                         "format %c; use the version that wrote it, or remove the "
                         "directory and begin anew",
                         path, text[KIND], magic[KIND]);
    return WEFT_OK;
}

/* The whole file. */
static weft_status read_text(int fd, const char *path, char **text, size_t *size,
                             weft_arena *mem)
{
    struct stat info;
    int err = fstat(fd, &info) != 0 ? errno : 0;
    *size = err == 0 ? (size_t)info.st_size : 0;
    *text = WEFT_NEW(mem, char, *size);
    if (err == 0) err = weft_file_read(fd, *text, *size);
    return err == 0 ? WEFT_OK : weft_file_fail("read", path, err);
}

static weft_status load_records(weft_journal *journal, weft_record **rec, int64_t *n,
                                weft_arena *mem)
{
    size_t size, end;
    char *text;
    /* By the same descriptor: closing another one would release the lock. */
    TRY(read_text(journal->fd, journal->path, &text, &size, mem));
    if (size < sizeof magic && memcmp(text, magic, size) == 0)
        return size > 0 ? weft_journal_clear(journal) : begin_journal(journal, 1);
    TRY(check_magic(journal->path, text, size));
    end = read_records(text, size, rec, n, mem);
    return cut(journal, size, end);
}

/* ---- journals ---- */

int weft_journal_is(const char *path)
{
    char text[KIND];
    int fd = open(path, O_RDONLY);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    return n >= 0 && memcmp(text, magic, (size_t)n) == 0;
}

static weft_status open_locked(weft_journal *journal, const char *path, weft_arena *mem)
{
    journal->path = weft_arena_text(mem, "%s", path);
    journal->fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0666);
    if (journal->fd < 0) return weft_file_fail("open the journal", path, errno);
    return lock_journal(journal);
}

weft_status weft_journal_open(weft_journal *journal, const char *path, weft_record **rec,
                              int64_t *n, weft_arena *mem)
{
    *rec = NULL;
    *n = 0;
    weft_status st = open_locked(journal, path, mem);
    if (st == WEFT_OK) st = load_records(journal, rec, n, mem);
    if (st != WEFT_OK) weft_journal_close(journal);
    return st;
}

weft_status weft_journal_extend(weft_journal *journal, const char *path, int *fresh,
                                weft_arena *mem)
{
    struct stat info;
    weft_status st = open_locked(journal, path, mem);
    if (st == WEFT_OK && fstat(journal->fd, &info) != 0)
        st = weft_file_fail("read", journal->path, errno);
    *fresh = st == WEFT_OK && info.st_size == 0;
    if (*fresh) st = begin_journal(journal, 0);
    if (st != WEFT_OK) weft_journal_close(journal);
    return st;
}

weft_status weft_journal_read(const char *path, weft_record **rec, int64_t *n, int *in_use,
                              weft_arena *mem)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return weft_file_fail("read", path, errno);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *in_use = fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    size_t size;
    char *text;
    weft_status st = read_text(fd, path, &text, &size, mem);
    close(fd);
    TRY(st);
    *n = 0;
    *rec = NULL;
    if (size < sizeof magic) return WEFT_OK; /* it has only just begun */
    TRY(check_magic(path, text, size));
    read_records(text, size, rec, n, mem);
    return WEFT_OK;
}

weft_status weft_journal_clear(weft_journal *journal)
{
    if (ftruncate(journal->fd, 0) != 0)
        return weft_file_fail("write", journal->path, errno);
    return begin_journal(journal, 1);
}

weft_status weft_journal_add(weft_journal *journal, uint64_t tag, const void *data,
                             size_t bytes)
{
    WEFT_SCRATCH(tmp);
    char *text = weft_arena_alloc(tmp, sizeof(struct frame) + bytes, 1);
    struct frame frame = {
        .mark = MARK, .tag = tag, .bytes = bytes, .sum = weft_hash(data, bytes, 0)};
    frame.check = check_of(&frame);
    memcpy(text, &frame, sizeof frame);
    if (bytes > 0) memcpy(text + sizeof frame, data, bytes);
    int err = append(journal->fd, text, sizeof frame + bytes);
    return err == 0 ? WEFT_OK : weft_file_fail("write the journal", journal->path, err);
}

weft_status weft_journal_sync(weft_journal *journal)
{
    return fsync(journal->fd) == 0
               ? WEFT_OK
               : weft_file_fail("write the journal", journal->path, errno);
}

void weft_journal_close(weft_journal *journal)
{
    if (journal->fd >= 0) {
        fsync(journal->fd);
        close(journal->fd);
    }
    journal->fd = -1;
}

/* ---- one commit ---- */

#define PAUSE_SECONDS 1.0 /* between two commits, at least, */
#define SHARE         0.1 /* and so long that commits take at most this share of the time */

enum { MESSAGE = 1024 };

/* A file or directory to be written through before the journal, or removed after it. */
struct task {
    const char *path;
    int removed;
};

/* What one commit is to do beside the journal. */
struct batch {
    weft_arena *mem;
    struct task *task; /* [n] */
    int64_t n, room;
};

struct weft_commit {
    weft_journal *journal;
    pthread_t thread;
    int threaded;         /* 0: no thread could be made */
    int named;            /* 1: the journal's directory entry is durable */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t wake;  /* of the thread */
    pthread_cond_t served;
    struct batch next;   /* of the next commit */
    int64_t asked, done; /* requests; of these, requests that a commit has served */
    int now;             /* 1: someone waits for the commit */
    int ends;
    double due;     /* time of the next commit */
    weft_status st; /* of the first commit that failed; none follows it */
    char text[MESSAGE];
};

static struct batch batch_new(void)
{
    return (struct batch){.mem = weft_arena_new()};
}

/* Files, their names, then the journal; then what is removed. */
static weft_status write_through(weft_commit *commit, const struct batch *batch)
{
    const char *journal = commit->journal->path;
    int written = 0;
    for (int64_t i = 0; i < batch->n; i++) {
        if (batch->task[i].removed) continue;
        TRY(weft_file_sync(batch->task[i].path));
        written = 1;
    }
    int err = written || !commit->named ? weft_file_sync_dir(journal) : 0;
    if (err != 0) return weft_file_fail("write the directory of", journal, err);
    commit->named = 1;
    TRY(weft_journal_sync(commit->journal));
    for (int64_t i = 0; i < batch->n; i++)
        if (batch->task[i].removed) weft_tree_remove(batch->task[i].path);
    return WEFT_OK;
}

/* Commits all that was added until now. The lock is held, but not during the commit. */
static void commit_all(weft_commit *commit)
{
    struct batch batch = commit->next;
    int64_t asked = commit->asked;
    commit->next = batch_new();
    commit->now = 0;
    pthread_mutex_unlock(&commit->lock);
    double start = weft_now();
    weft_status st = write_through(commit, &batch);
    weft_arena_free(batch.mem);
    double end = weft_now();
    pthread_mutex_lock(&commit->lock);
    commit->due = end + fmax(PAUSE_SECONDS, (end - start) / SHARE);
    commit->done = asked;
    commit->st = st;
    if (st != WEFT_OK) snprintf(commit->text, sizeof commit->text, "%s", weft_error());
}

/* ---- the thread ---- */

/* Waits for a request and then until it is due; returns 0 if there is to be no further
 * commit. The lock is held. */
static int is_due(weft_commit *commit)
{
    while (!commit->ends && commit->st == WEFT_OK) {
        double left = commit->due - weft_now();
        if (commit->asked == commit->done) {
            pthread_cond_wait(&commit->wake, &commit->lock);
        } else if (left <= 0 || commit->now) {
            return 1;
        } else {
            struct timespec until;
            clock_gettime(CLOCK_MONOTONIC, &until);
            double t = (double)until.tv_nsec * 1e-9 + left;
            until.tv_sec += (time_t)t;
            until.tv_nsec = (long)((t - floor(t)) * 1e9);
            pthread_cond_timedwait(&commit->wake, &commit->lock, &until);
        }
    }
    return 0;
}

static void *serve(void *self)
{
    weft_commit *commit = self;
    pthread_mutex_lock(&commit->lock);
    while (is_due(commit)) {
        commit_all(commit);
        pthread_cond_signal(&commit->served);
    }
    pthread_mutex_unlock(&commit->lock);
    return NULL;
}

int weft_thread_start(pthread_t *thread, pthread_cond_t *wake, void *(*run)(void *),
                      void *self)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC); /* is never set back */
    pthread_cond_init(wake, &clock);
    pthread_condattr_destroy(&clock);
    sigset_t all, old; /* signals are handled by the main thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int started = pthread_create(thread, NULL, run, self) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* ---- commits ---- */

weft_commit *weft_commit_begin(weft_journal *journal, weft_arena *mem)
{
    weft_commit *commit = WEFT_NEW(mem, weft_commit, 1);
    *commit = (weft_commit){.journal = journal, .next = batch_new()};
    pthread_cond_init(&commit->served, NULL);
    pthread_mutex_init(&commit->lock, NULL);
    commit->threaded = weft_thread_start(&commit->thread, &commit->wake, serve, commit);
    return commit;
}

static void add_task(weft_commit *commit, const char *path, int removed)
{
    pthread_mutex_lock(&commit->lock);
    struct batch *next = &commit->next;
    next->task = weft_grow(next->mem, next->task, sizeof *next->task, next->n, &next->room);
    next->task[next->n++] = (struct task){weft_arena_text(next->mem, "%s", path), removed};
    pthread_mutex_unlock(&commit->lock);
}

void weft_commit_file(weft_commit *commit, const char *path)
{
    add_task(commit, path, 0);
}

void weft_commit_remove(weft_commit *commit, const char *path)
{
    add_task(commit, path, 1);
}

/* The status so far. Unlocks. */
static weft_status leave(weft_commit *commit)
{
    weft_status st = commit->st;
    if (st != WEFT_OK) weft_error_set(commit->text);
    pthread_mutex_unlock(&commit->lock);
    return st;
}

weft_status weft_commit_soon(weft_commit *commit)
{
    pthread_mutex_lock(&commit->lock);
    int known =
        commit->asked++ > commit->done; /* to the thread: it waits until it is due */
    if (!commit->threaded && commit->st == WEFT_OK && weft_now() >= commit->due)
        commit_all(commit);
    if (commit->threaded && !known) pthread_cond_signal(&commit->wake);
    return leave(commit);
}

weft_status weft_commit_now(weft_commit *commit)
{
    pthread_mutex_lock(&commit->lock);
    int64_t last = ++commit->asked;
    commit->now = 1;
    pthread_cond_signal(&commit->wake);
    while (commit->done < last && commit->st == WEFT_OK)
        if (commit->threaded)
            pthread_cond_wait(&commit->served, &commit->lock);
        else
            commit_all(commit);
    return leave(commit);
}

weft_status weft_commit_end(weft_commit *commit)
{
    pthread_mutex_lock(&commit->lock);
    commit->ends = 1;
    pthread_cond_signal(&commit->wake);
    pthread_mutex_unlock(&commit->lock);
    if (commit->threaded) pthread_join(commit->thread, NULL);
    pthread_mutex_lock(&commit->lock);
    weft_status st = leave(commit);
    pthread_cond_destroy(&commit->wake);
    pthread_cond_destroy(&commit->served);
    pthread_mutex_destroy(&commit->lock);
    weft_arena_free(commit->next.mem);
    return st;
}
