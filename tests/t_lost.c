/* No result is lost: in the directory of a stopped run any byte of any file is changed,
 * any file is cut or removed, or the disk becomes full after any byte. A resume then ends
 * with the digest of the undisturbed run, or refuses and names the file.
 * RUN: np=1 */
#include "toy_run.h"
#include "weft/base/files.h"
#include "weft/store/file.h"

#include <dirent.h>

/* A file of the stopped run's directory, in memory. */
struct kept {
    const char *path;
    char *at; /* [n] */
    size_t n;
};

static struct kept file[16];
static int nfile;

/* Writes without waiting for the disk. */
static void put(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    weft_check(fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "%s", path);
    close(fd);
}

static void keep_files(const char *from)
{
    DIR *listing = opendir(from);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        struct stat info;
        const char *path = printed("%s/%s", from, entry->d_name);
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
        struct kept *kept = &file[nfile++];
        *kept =
            (struct kept){path, WEFT_NEW(mem, char, info.st_size), (size_t)info.st_size};
        must(weft_file_load(path, kept->at, kept->n));
    }
    if (listing) closedir(listing);
}

static void restore(void)
{
    weft_place_empty(at("r.d"));
    mkdir(at("r.d"), 0777);
    for (int i = 0; i < nfile; i++) put(file[i].path, file[i].at, file[i].n);
}

static weft_status run(int fresh, int stop_at, uint64_t *sum)
{
    return run_until(at("r.h5"), fresh, stop_at, sum);
}

/* The resume ends as the whole run does, or with one line that names the directory. */
static int resumed(uint64_t whole, int64_t *refused)
{
    uint64_t sum;
    size_t mark = weft_arena_mark(mem);
    weft_status st = run(0, -1, &sum);
    int named = st == WEFT_EFILE && says(at("r."));
    *refused += named;
    if (st != WEFT_OK && !named) note("status %d: %s", (int)st, weft_error());
    if (st == WEFT_OK && sum != whole) note("another digest");
    weft_arena_reset(mem, mark);
    return st == WEFT_OK ? sum == whole : named;
}

enum { CUTS = 4 };

/* A bit of every byte; where the directory is on a disk, of every step-th. */
static void test_changes(uint64_t whole, size_t step)
{
    for (int f = 0; f < nfile; f++) {
        const struct kept *kept = &file[f];
        char *bytes = WEFT_NEW(mem, char, kept->n);
        int changed = 1, cut = 1;
        int64_t refused = 0;
        for (size_t i = 0; i < kept->n; i += step) {
            restore();
            memcpy(bytes, kept->at, kept->n);
            bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
            put(kept->path, bytes, kept->n);
            changed &= resumed(whole, &refused);
            if (i % CUTS != 0) continue;
            restore();
            put(kept->path, kept->at, i);
            cut &= resumed(whole, &refused);
        }
        const char *name = strrchr(kept->path, '/') + 1;
        ok(changed, "%s: a bit flipped in any of %zu bytes loses nothing", name, kept->n);
        ok(cut, "%s: cut after any %dth byte it loses nothing", name, CUTS);
        note("%s: %lld resumes are refused", name, (long long)refused);
        restore();
        unlink(kept->path);
        ok(resumed(whole, &refused), "%s: removed, it loses nothing", name);
    }
}

/* Files grow up to some size: that is what a full disk does to write(2). */
static void test_full(uint64_t whole, rlim_t largest)
{
    int stopped = 1, on = 1;
    int64_t refused = 0;
    for (rlim_t size = 8; size < largest; size += 24) {
        uint64_t sum;
        weft_place_remove(at("r.d"));
        rlim_t before = set_limit(RLIMIT_FSIZE, size);
        weft_status st = run(1, -1, &sum);
        set_limit(RLIMIT_FSIZE, before);
        stopped &= st == WEFT_EFILE ? !strchr(weft_error(), '\n') : st == WEFT_OK;
        if (st == WEFT_EFILE) on &= resumed(whole, &refused);
    }
    ok(stopped, "a disk that is full from any byte on ends a run with one line");
    ok(on, "which goes on when there is space, or says that it never began");
}

/* A checkpoint of a job of four units, two of which are done. */
static void test_checkpoint(void)
{
    enum { NX = 3, UNITS = 4, DONE = 2 };
    weft_rundir rundir = {
        .world = &world, .mem = mem, .dir = at("c.d"), .path = at("c.h5")};
    mkdir(rundir.dir, 0777);
    weft_mix mix = weft_mix_new(2, 1, mem);
    weft_job job = weft_job_new(0, UNITS, &mix);
    weft_job_record record = weft_job_record_new(&job, mem);
    weft_job_record_room(&record, 1, UNITS, 1, mem);
    weft_state state = {
        .x = WEFT_NEW(mem, real, NX), .nx = NX, .aux = WEFT_NEW(mem, double, 1)};
    state.x[0] = 1;
    record.done = DONE;
    must(weft_checkpoint_write(&rundir, &record, &state));
    const char *path = weft_checkpoint_name(&rundir, 0, mem);
    struct stat info;
    weft_check(stat(path, &info) == 0, "%s", path);
    size_t n = (size_t)info.st_size;
    char *bytes = WEFT_NEW(mem, char, n);
    must(weft_file_load(path, bytes, n));
    int anew = 1, whole = 1;
    for (size_t i = 0; i <= 8 * n + n; i++) { /* each bit, each length, the whole */
        if (i < 8 * n) bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
        put(path, bytes, i < 8 * n ? n : i - 8 * n);
        if (i < 8 * n) bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
        weft_job_record found = weft_job_record_new(&job, mem);
        weft_job_record_room(&found, 1, UNITS, 1, mem);
        weft_state from = {
            .x = WEFT_NEW(mem, real, NX), .nx = NX, .aux = WEFT_NEW(mem, double, 1)};
        weft_checkpoint_read(&rundir, &found, &from, 0, mem);
        int same = found.done == DONE && from.x[0] >= 1;
        int none = found.done == 0 && !(from.x[0] > 0);
        if (i < 9 * n) anew &= none;
        if (i == 9 * n) whole &= same;
    }
    ok(whole, "a checkpoint is read again");
    ok(anew, "but not with a flipped bit, of %zu bytes, nor cut: its job begins again", n);
    weft_tree_remove(rundir.dir);
}

int main(int argc, char **argv)
{
    int memory = scratch_in_memory();
    scratch_begin(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);

    uint64_t whole, sum;
    struct bench bench;
    weft_status st = run_to(&bench, &weft_tuner_ws_sha, NULL, 0, -1);
    whole = sched_digest(&bench.sched);
    end_run(&bench.sched, 0);
    ok(st == WEFT_OK && run(1, 1, &sum) == WEFT_STOP, "a run is stopped after two jobs");
    keep_files(at("r.d"));
    ok(nfile >= 2, "it has a journal and a state");
    test_changes(whole, memory ? 1 : 16);
    test_full(whole, 3000);
    test_checkpoint();

    weft_place_remove(at("r.d"));
    ok(rmdir(scratch) == 0, "no file is left");
    return tap_end();
}
