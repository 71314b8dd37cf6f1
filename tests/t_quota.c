/* A quota that is full from any call on, or at that call alone, wherever the system may say
 * so: at open, write, fsync, close, rename, mkdir. A run ends with one line that says what
 * to do and goes on to the digest of the run that was left alone; an HDF5 file appears
 * whole or not at all. A clock that jumps by years changes nothing. RUN: np=1 */
#include "toy_run.h"

#include <errno.h>
#include <stdatomic.h>

/* ---- calls that fail (ld --wrap) ---- */

static _Atomic int64_t calls = -1; /* until one fails; -1: none does; threads count, too */
static int once;                   /* 1: that one alone; 0: all from it on */
static _Atomic int64_t failed;
static int64_t jump; /* seconds by which the clock jumps at each look, there and back */

static int full(void)
{
    int64_t left = calls;
    while (left >= 0 &&
           !atomic_compare_exchange_weak(&calls, &left, left > 0 || once ? left - 1 : 0)) {}
    if (left != 0) return 0;
    failed++;
    errno = EDQUOT;
    return 1;
}

#define WRAP(type, name, parameters, arguments)                                            \
    type __real_##name parameters;                                                         \
    type __wrap_##name parameters;                                                         \
    type __wrap_##name parameters                                                          \
    {                                                                                      \
        return full() ? -1 : __real_##name arguments;                                      \
    }
WRAP(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n))
WRAP(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, int mode);
int __wrap_open(const char *path, int flags, int mode)
{
    if ((flags & O_CREAT) && access(path, F_OK) != 0 && full()) return -1;
    return __real_open(path, flags, mode);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    int st = __real_close(fd);
    return full() ? -1 : st;
}

time_t __real_time(time_t *t);
time_t __wrap_time(time_t *t);
time_t __wrap_time(time_t *t)
{
    jump = -jump;
    time_t now = __real_time(NULL) + jump;
    if (t) *t = now;
    return now;
}

/* ---- a run ---- */

static weft_status run(int fresh, int stop_at, uint64_t *sum)
{
    return run_until(at("r.h5"), fresh, stop_at, sum);
}

/* One line that tells of the quota and what to do. */
static int told(weft_status st)
{
    const char *text = weft_error();
    int good = st == WEFT_EFILE && !strchr(text, '\n') && strstr(text, strerror(EDQUOT)) &&
               strstr(text, "free space");
    if (!good) note("status %d: %s", (int)st, text);
    return good;
}

/* The resume ends as the whole run does, or there was no run yet to go on with. */
static int goes_on(uint64_t whole)
{
    uint64_t sum;
    weft_status st = run(0, -1, &sum);
    if (st == WEFT_OK) return sum == whole;
    int good = st == WEFT_EFILE && says(at("r."));
    if (!good) note("resumed: status %d: %s", (int)st, weft_error());
    return good;
}

/* The quota is full at call after call, until none of them fails. */
static void test_run(uint64_t whole)
{
    int64_t stopped = 0;
    int same = 1, says = 1, on = 1;
    for (int64_t n = 0;; n++) {
        uint64_t sum;
        size_t mark = weft_arena_mark(mem);
        weft_place_remove(at("r.d"));
        failed = 0;
        calls = n;
        weft_status st = run(1, -1, &sum);
        calls = -1;
        if (st == WEFT_OK) same &= sum == whole;
        if (st != WEFT_OK) says &= told(st);
        if (st != WEFT_OK) on &= goes_on(whole);
        stopped += st != WEFT_OK;
        weft_arena_reset(mem, mark);
        if (failed == 0) break;
    }
    const char *how = once ? "at one call" : "from a call on";
    ok(stopped > 10 && says, "a quota full %s ends the run at %lld calls with one line",
       how, (long long)stopped);
    ok(same, "where it does not end it, the digest is the same");
    ok(on, "the run goes on when there is space, or says that it never began");
}

/* ---- an HDF5 file ---- */

static weft_status write_file(const char *path)
{
    enum { N = 600 };
    static const double x[N];
    static const char *const text[] = {"a", "b"};
    int64_t n = N;
    weft_h5 file;
    TRY(weft_h5_create(&file, path, mem));
    weft_status st = weft_h5_put(&file, "/a/x", WEFT_H5_F64, 1, &n, x, 1, "numbers", "1");
    if (st == WEFT_OK) st = weft_h5_put_texts(&file, "/text", text, 2, "texts");
    if (st == WEFT_OK) st = weft_h5_put_attr(&file, "/", "key", "value");
    if (st == WEFT_OK) st = weft_h5_commit(&file);
    weft_h5_close(&file);
    return st;
}

static int is_whole(const char *path)
{
    weft_h5 file;
    const char *text = "";
    weft_status st = weft_h5_open(&file, path, mem);
    if (st == WEFT_OK) st = weft_h5_verify(&file);
    if (st == WEFT_OK) st = weft_h5_read_attr(&file, "/", "key", &text);
    weft_h5_close(&file);
    return st == WEFT_OK && strcmp(text, "value") == 0;
}

static void test_file(void)
{
    const char *path = at("f.h5");
    int64_t stopped = 0;
    int says = 1, none = 1, whole = 1;
    for (int64_t n = 0;; n++) {
        unlink(path);
        failed = 0;
        calls = n;
        weft_status st = write_file(path);
        calls = -1;
        stopped += st != WEFT_OK;
        if (st != WEFT_OK) says &= told(st);
        if (access(path, F_OK) == 0)
            whole &= is_whole(path);
        else
            none &= st != WEFT_OK;
        if (failed == 0) break;
    }
    ok(stopped > 3 && says, "a file cannot be written at %lld calls, each told in one line",
       (long long)stopped);
    ok(none && whole, "it is there, whole, or it is said that it is not");
}

int main(int argc, char **argv)
{
    scratch_in_memory();
    scratch_begin(&argc, &argv);

    uint64_t whole, sum;
    weft_status st = run(1, -1, &whole);
    ok(st == WEFT_OK, "a run is left alone");
    for (once = 0; once < 2; once++) {
        test_run(whole);
        test_file();
    }
    jump = 10L * 365 * 24 * 3600;
    weft_place_remove(at("r.d"));
    ok(run(1, 1, &sum) == WEFT_STOP, "a run whose clock jumps by ten years is stopped");
    ok(run(0, -1, &sum) == WEFT_OK, "it goes on after a jump back");
    ok(sum == whole, "to the same digest");

    unlink(at("f.h5"));
    weft_place_remove(at("r.d"));
    ok(rmdir(scratch) == 0, "no file is left");
    return tap_end();
}
