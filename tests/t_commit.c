/* Group commit: whoever adds to a journal does not wait for the disk; files are written
 * through before the journal, and others removed after it; a disk that fails ends a search
 * with one line, and nothing is lost; directories of many files take few calls. Here fsync
 * is a function of the test. RUN: np=1 */
#include "toy_run.h"
#include "weft/base/files.h"
#include "weft/store/file.h"

#include <errno.h>
#include <pthread.h>

/* ---- the disk ---- */

enum { MOST = 256 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int hangs;   /* 1: fsync does not return */
    int error;   /* errno with which it fails; 0: it does not */
    int calls;   /* that began */
    int callers; /* calls of the main thread */
    ino_t file[MOST];
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

static pthread_t main_thread;

int fsync(int fd)
{
    struct stat info;
    pthread_mutex_lock(&disk.lock);
    if (fstat(fd, &info) == 0) disk.file[disk.calls % MOST] = info.st_ino;
    disk.calls++;
    disk.callers += pthread_equal(pthread_self(), main_thread) != 0;
    while (disk.hangs) pthread_cond_wait(&disk.opened, &disk.lock);
    errno = disk.error;
    pthread_mutex_unlock(&disk.lock);
    return errno == 0 ? 0 : -1;
}

static void set_disk(int hangs, int error)
{
    pthread_mutex_lock(&disk.lock);
    disk.hangs = hangs;
    disk.error = error;
    pthread_cond_broadcast(&disk.opened);
    pthread_mutex_unlock(&disk.lock);
}

static int calls(void)
{
    pthread_mutex_lock(&disk.lock);
    int n = disk.calls;
    pthread_mutex_unlock(&disk.lock);
    return n;
}

static void await_calls(int n)
{
    while (calls() < n) weft_nap(1e-3);
}

/* ---- commits ---- */

static const char *make(const char *name)
{
    const char *path = at(name);
    must(weft_file_put_lazy(path, 0, NULL, NULL));
    return path;
}

static ino_t number_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_ino : 0;
}

static weft_commit *begin(weft_journal *journal)
{
    weft_record *rec;
    int64_t n;
    must(weft_journal_open(journal, at("journal"), &rec, &n, mem));
    return weft_commit_begin(journal, mem);
}

/* A commit of a file, a record, and a removal; the order in which they reach the disk. */
static void commit_all(weft_journal *journal, weft_commit *commit, const char *who)
{
    const char *file = make("file"), *obsolete = make("obsolete");
    int before = calls();
    weft_commit_file(commit, file);
    weft_commit_file(commit, at("missing"));
    weft_status st = weft_journal_add(journal, 10, "record", 7);
    weft_commit_remove(commit, obsolete);
    if (st == WEFT_OK) st = weft_commit_now(commit);
    ok(st == WEFT_OK && calls() == before + 3 &&
           disk.file[before % MOST] == number_of(file) &&
           disk.file[(before + 1) % MOST] == number_of(scratch) &&
           disk.file[(before + 2) % MOST] == number_of(journal->path),
       "%s writes a file through first, then its name, then the journal", who);
    ok(!weft_file_is(obsolete), "and removes what is obsolete then");
}

static void test_thread(void)
{
    weft_journal journal;
    weft_commit *commit = begin(&journal);
    int own = disk.callers;
    commit_all(&journal, commit, "a thread");
    ok(disk.callers == own, "the caller itself does not call fsync");

    int before = calls();
    set_disk(1, 0);
    weft_status st = weft_commit_soon(commit);
    await_calls(before + 1);
    ok(st == WEFT_OK, "a commit follows a second later by itself");
    const char *obsolete = make("obsolete");
    for (int i = 0; i < 100 && st == WEFT_OK; i++) {
        st = weft_journal_add(&journal, 11, "record", 7);
        weft_commit_remove(commit, obsolete);
        if (st == WEFT_OK) st = weft_commit_soon(commit);
    }
    ok(st == WEFT_OK, "records are added while the disk hangs");
    ok(weft_file_is(obsolete), "and nothing is removed before they are on it");
    set_disk(0, 0);
    ok(weft_commit_now(commit) == WEFT_OK && !weft_file_is(obsolete), "but after that");
    set_disk(0, ENOSPC);
    st = weft_commit_now(commit);
    ok(st == WEFT_EFILE && says(at("journal")) && says("free space") &&
           !strchr(weft_error(), '\n'),
       "of a disk that is full it tells in one line");
    set_disk(0, 0);
    ok(weft_commit_soon(commit) == WEFT_EFILE && weft_commit_end(commit) == WEFT_EFILE,
       "and does not forget");
    weft_journal_close(&journal);
}

/* Without address space for a stack. */
static void test_no_thread(void)
{
#if KEEPS_FREED
    ok(1, "without a thread # SKIP a sanitizer needs address space");
#else
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    weft_check(file && fscanf(file, "%ld", &pages) == 1, "/proc/self/statm");
    fclose(file);
    rlim_t before =
        set_limit(RLIMIT_AS, (rlim_t)(pages * sysconf(_SC_PAGESIZE)) + (1 << 20));
    weft_journal journal;
    weft_commit *commit = begin(&journal);
    set_limit(RLIMIT_AS, before);
    int own = disk.callers;
    commit_all(&journal, commit, "without a thread the caller");
    ok(disk.callers == own + 3, "by itself");
    ok(weft_commit_soon(commit) == WEFT_OK && disk.callers == own + 3,
       "and not again within a second");
    ok(weft_commit_end(commit) == WEFT_OK, "and ends");
    weft_journal_close(&journal);
#endif
}

/* ---- a search ---- */

static struct bench b;
static int hung;   /* jobs done while the disk hangs, at least; -1: it does not */
static int errors; /* errno with which it then fails */

/* As toy_step; after so many jobs the disk goes on, and if it fails then, the next job ends
 * after that. */
static weft_status step(void *self, const weft_job *job, int64_t unit, weft_state *state,
                        double *row, weft_result *res)
{
    TRY(toy_step(self, job, unit, state, row, res));
    if (b.task.steps == hung) set_disk(0, errors);
    if (b.task.steps == hung + 1 && errors)
        while (weft_commit_soon(b.trace.commit) == WEFT_OK) weft_nap(1e-3);
    return WEFT_OK;
}

static weft_status run(int fresh, int jobs, int error, uint64_t *sum)
{
    weft_status st = prepare(&b, &weft_tuner_random, at("r.h5"), fresh);
    weft_task task = toy_task;
    task.step = step;
    b.sched.task = &task;
    hung = jobs;
    errors = error;
    if (st == WEFT_OK && jobs > 0) set_disk(1, 0);
    if (st == WEFT_OK) st = weft_sched_run(&b.sched);
    set_disk(0, 0);
    *sum = st == WEFT_OK ? sched_digest(&b.sched) : 0;
    end_run(&b.sched, st == WEFT_OK);
    return st;
}

static void test_search(void)
{
    enum { SOME = 4 };
    uint64_t whole, sum;
    weft_status st = run(1, -1, 0, &whole);
    ok(st == WEFT_OK, "a search ends");
    ok(run(1, SOME, 0, &sum) == WEFT_OK && sum == whole,
       "the same if the disk hangs for %d jobs", SOME);
    st = run(1, SOME, EIO, &sum);
    ok(st == WEFT_EFILE && says("weft resume") && !strchr(weft_error(), '\n'),
       "a disk that fails ends it with one line");
    note("%s", weft_error());
    ok(b.task.steps == SOME || b.task.steps == SOME + 1,
       "after the job that was being done when it failed");
    ok(run(0, -1, 0, &sum) == WEFT_OK && sum == whole && b.task.steps < 2 * SOME,
       "it goes on to the same digest");
}

/* Writes n files and returns the calls of fsync by which they are written through. */
static int calls_for(int n)
{
    const char *tree = printed("%s/tree", scratch);
    weft_check(mkdir(tree, 0777) == 0, "%s", tree);
    for (int i = 0; i < n; i++) make(printed("tree/%d", i));
    int before = calls();
    must(weft_tree_sync(tree));
    weft_tree_remove(tree);
    return calls() - before;
}

static void test_tree(void)
{
    ok(calls_for(9) == 10, "each of a few files of a directory is written through");
    ok(calls_for(1000) <= 100, "a thousand of them need no thousand calls");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    main_thread = pthread_self();
    return TESTS(test_no_thread, test_thread, test_search, test_tree);
}
