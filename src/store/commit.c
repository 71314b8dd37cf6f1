/* Group commit: a thread writes a journal, and the files that its records rely on, through
 * to the disk, so that whoever appends to the journal does not wait for the disk. What is
 * added during a commit belongs to the next one. The thread calls neither MPI nor HDF5 and
 * receives no signals. If it cannot be made, the caller commits. */
#include "weft/commit.h"
#include "file.h"
#include "weft/clock.h"
#include "weft/file.h"
#include "weft/tree.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PAUSE_SECONDS 1.0 /* between two commits, at least, */
#define SHARE         0.1 /* and so long that commits take at most this share of the time */

enum { MESSAGE = 1024 };

/* A list of paths. */
struct names {
    const char **path; /* [n] */
    int64_t n, room;
};

/* What one commit is to do beside the journal. */
struct batch {
    weft_arena *mem;
    struct names files;    /* to be written through before the journal, */
    struct names obsolete; /* to be removed after it */
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

/* ---- one commit ---- */

static struct batch batch_new(void)
{
    return (struct batch){.mem = weft_arena_new()};
}

static void add(struct batch *batch, struct names *list, const char *path)
{
    list->path =
        weft_grow(batch->mem, list->path, sizeof *list->path, list->n, &list->room);
    list->path[list->n++] = weft_arena_text(batch->mem, "%s", path);
}

/* Files, their names, then the journal. */
static weft_status write_through(weft_commit *commit, const struct batch *batch)
{
    const char *journal = commit->journal->path;
    for (int64_t i = 0; i < batch->files.n; i++) TRY(weft_file_sync(batch->files.path[i]));
    int err = batch->files.n > 0 || !commit->named ? weft_file_sync_dir(journal) : 0;
    if (err != 0) return weft_file_fail("write the directory of", journal, err);
    commit->named = 1;
    return weft_journal_sync(commit->journal);
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
    for (int64_t i = 0; i < batch.obsolete.n && st == WEFT_OK; i++)
        weft_tree_remove(batch.obsolete.path[i]);
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

static void start_thread(weft_commit *commit)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC); /* is never set back */
    pthread_cond_init(&commit->wake, &clock);
    pthread_condattr_destroy(&clock);
    pthread_cond_init(&commit->served, NULL);
    pthread_mutex_init(&commit->lock, NULL);
    sigset_t all, old; /* signals are handled by the main thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    commit->threaded = pthread_create(&commit->thread, NULL, serve, commit) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- public ---- */

weft_commit *weft_commit_begin(weft_journal *journal, weft_arena *mem)
{
    weft_commit *commit = WEFT_NEW(mem, weft_commit, 1);
    *commit = (weft_commit){.journal = journal, .next = batch_new()};
    start_thread(commit);
    return commit;
}

void weft_commit_file(weft_commit *commit, const char *path)
{
    pthread_mutex_lock(&commit->lock);
    add(&commit->next, &commit->next.files, path);
    pthread_mutex_unlock(&commit->lock);
}

void weft_commit_remove(weft_commit *commit, const char *path)
{
    pthread_mutex_lock(&commit->lock);
    add(&commit->next, &commit->next.obsolete, path);
    pthread_mutex_unlock(&commit->lock);
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
