/* What clients keep, in files: read back as written; any version that a state refers to is
 * found again after a kill, beside damage, and below copies; neither the disk nor what a
 * sync writes grows with what did not change.
 * RUN: np=1 */
#include "disk.h"
#include "weft/base/files.h"
#include "weft/kept/kept.h"
#include "weft/store/file.h"

#include <sys/wait.h>

enum { N = 200, EACH = 5, HEAD = 24 };

/* A table beside its rows in memory. */
struct twin {
    weft_kept *kept;
    real x[N][EACH];
    int64_t rows; /* clients that were written */
    uint64_t key; /* of the next write */
};

static const char *name(const char *kind, int i)
{
    return printed("%s/%s-%d", scratch, kind, i);
}

static struct twin *twin_new(const char *files)
{
    struct twin *twin = WEFT_NEW(mem, struct twin, 1);
    twin->kept = weft_kept_new(N, EACH, mem);
    if (files) weft_kept_place(twin->kept, files);
    return twin;
}

static uint64_t draw(uint64_t a, uint64_t b)
{
    return weft_rng_at(11, WEFT_RNG_TEST, a, b, 0).v[0];
}

/* Writes about m of the clients below `most`. */
static void write_some(struct twin *twin, int m, int most)
{
    int64_t client[N], n = 0;
    const real *row[N];
    twin->key++;
    for (int c = 0; c < most; c++) {
        if (draw(twin->key, (uint64_t)c) % (uint64_t)most >= (uint64_t)m) continue;
        twin->rows += !(fabs((double)twin->x[c][0]) > 0);
        for (int i = 0; i < EACH; i++)
            twin->x[c][i] =
                (real)(1 + draw(twin->key << 20 | (uint64_t)c, (uint64_t)i) % 1000);
        client[n] = c;
        row[n++] = twin->x[c];
    }
    must(weft_kept_write(twin->kept, n, client, row));
}

/* 1 if the table has the rows of x. */
static int has(const weft_kept *kept, real (*x)[EACH])
{
    static real found[N][EACH];
    int64_t client[N];
    for (int c = 0; c < N; c++) client[c] = N - 1 - c;
    if (weft_kept_read(kept, N, client, found[0]) != WEFT_OK) return 0;
    int same = 1;
    for (int c = 0; c < N; c++) same &= memcmp(found[c], x[N - 1 - c], sizeof *x) == 0;
    return same;
}

static double files_bytes(const char *files)
{
    FILE *list = popen(printed("cat %s/* | wc -c", files), "r");
    double n = -1;
    if (list && fscanf(list, "%lf", &n) != 1) n = -1;
    if (list) pclose(list);
    return n;
}

/* ---- rows and marks ---- */

static void test_rows(void)
{
    struct twin *in_memory = twin_new(NULL), *twin = twin_new(name("rows", 0));
    ok(has(twin->kept, twin->x) && weft_kept_count(twin->kept) == 0,
       "a new table has no rows");
    int same = 1;
    for (int i = 0; i < 30; i++) {
        write_some(twin, 20, 150);
        write_some(in_memory, 20, 150);
        if (i % 7 == 3) must(weft_kept_sync(twin->kept)); /* rows move from then on */
        double a[WEFT_KEPT_MARK], b[WEFT_KEPT_MARK];
        weft_kept_mark(twin->kept, a);
        weft_kept_mark(in_memory->kept, b);
        same &= has(twin->kept, twin->x) && has(in_memory->kept, twin->x) &&
                memcmp(a, b, sizeof a) == 0;
    }
    ok(same, "rows are read as they were written, in memory and in files, by equal marks");
    int64_t client[N];
    ok(weft_kept_count(twin->kept) == twin->rows &&
           weft_kept_clients(twin->kept, 0, N, client) == twin->rows &&
           client[0] < client[1],
       "those that were written are counted");
    double a[WEFT_KEPT_MARK], b[WEFT_KEPT_MARK];
    struct twin *other = twin_new(NULL);
    const real *first = twin->x[3], *second = twin->x[7];
    const int64_t three = 3, seven = 7;
    struct twin *orders[] = {twin_new(NULL), other};
    must(weft_kept_write(orders[0]->kept, 1, &three, &first));
    must(weft_kept_write(orders[0]->kept, 1, &seven, &second));
    must(weft_kept_write(orders[1]->kept, 1, &seven, &second));
    must(weft_kept_write(orders[1]->kept, 1, &three, &first));
    weft_kept_mark(orders[0]->kept, a);
    weft_kept_mark(orders[1]->kept, b);
    ok(memcmp(a, b, sizeof a) == 0, "a mark does not depend on the order of writes");
    struct twin *swapped = twin_new(NULL);
    must(weft_kept_write(swapped->kept, 1, &three, &second));
    must(weft_kept_write(swapped->kept, 1, &seven, &first));
    weft_kept_mark(swapped->kept, b);
    ok(memcmp(a, b, sizeof *a) != 0, "but on whose row it is");
}

/* ---- versions ---- */

/* A version that a checkpoint refers to. */
struct version {
    double mark[WEFT_KEPT_MARK];
    real x[N][EACH];
    uint64_t key;
};

static struct version save(struct twin *twin)
{
    struct version version = {.key = twin->key};
    must(weft_kept_sync(twin->kept));
    weft_kept_mark(twin->kept, version.mark);
    memcpy(version.x, twin->x, sizeof version.x);
    return version;
}

static struct twin *resumed(const char *files, const struct version *version)
{
    struct twin *twin = twin_new(files);
    must(weft_kept_resume(twin->kept, version->mark));
    memcpy(twin->x, version->x, sizeof twin->x);
    twin->key = version->key;
    return twin;
}

/* Goes back to the last version again and again, whatever was written since, also between
 * its sync and the end of its checkpoint. */
static void test_back(void)
{
    const char *files = name("back", 0);
    struct twin *twin = twin_new(files);
    write_some(twin, 30, 100);
    struct version version = save(twin);
    weft_kept_saved(twin->kept);
    int same = 1;
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 1 + i % 4; k++) write_some(twin, 1 + i, 100);
        if (i % 5 == 4) { /* a checkpoint that was not finished */
            must(weft_kept_sync(twin->kept));
        } else if (i % 2) {
            version = save(twin);
            weft_kept_saved(twin->kept);
            write_some(twin, 30, 100);
        }
        twin = resumed(files, &version);
        same &= has(twin->kept, twin->x);
    }
    ok(same, "after any writes the version of the last checkpoint is found");
    double row = weft_kept_bytes(1, EACH), all = files_bytes(files);
    ok(all <= 2.2 * 100 * row + 64, "its files take %.1f times the rows",
       all / (100 * row));
    struct version other = version;
    other.mark[1] -= 1;
    struct twin *none = twin_new(files);
    fails(weft_kept_resume(none->kept, other.mark), "back-0", "damaged",
          "a version that is not there");
}

/* ---- a kill ---- */

/* Writes, syncs and checkpoints until it is killed; tells each checkpoint. */
static void child(const char *files, int tells)
{
    struct twin *twin = twin_new(files);
    for (int i = 0;; i++) {
        for (int k = 0; k < 3; k++) write_some(twin, 40, N);
        struct version version = save(twin);
        must(weft_file_put(at("checkpoint"), &version, sizeof version));
        weft_kept_saved(twin->kept);
        if (write(tells, "", 1) != 1) _exit(1);
    }
}

static void test_kill(void)
{
    enum { KILLS = 20 };
    int found = 0;
    for (int k = 0; k < KILLS; k++) {
        int tells[2];
        char byte;
        const char *files = name("kill", k);
        weft_check(pipe(tells) == 0, "pipe");
        pid_t pid = fork();
        if (pid == 0) child(files, tells[1]);
        for (int i = 0; i <= k; i++) weft_check(read(tells[0], &byte, 1) == 1, "read");
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close(tells[0]);
        close(tells[1]);
        struct version version;
        must(weft_file_load(at("checkpoint"), &version, sizeof version));
        struct twin *twin = resumed(files, &version);
        int same = has(twin->kept, twin->x);
        for (int i = 0; i < 5; i++) write_some(twin, 40, N);
        struct version later = save(twin);
        weft_kept_saved(twin->kept);
        twin = resumed(files, &later);
        found += same && has(twin->kept, twin->x);
    }
    is_near(found, KILLS, 0, "a process killed at any time leaves its last checkpoint");
}

/* ---- copies ---- */

static int layers(const char *files)
{
    int n = 0;
    while (weft_file_is(printed("%s/layer-%d", files, n))) n++;
    return n + weft_file_is(printed("%s/top", files));
}

static void test_copies_in_memory(struct twin *twin, int last)
{
    double mark[WEFT_KEPT_MARK];
    weft_kept_mark(twin->kept, mark);
    struct twin *far = twin_new(NULL);
    must(weft_kept_copy(far->kept, twin->kept));
    struct twin *back = twin_new(name("line", last));
    must(weft_kept_copy(back->kept, far->kept));
    double told[WEFT_KEPT_MARK];
    weft_kept_mark(back->kept, told);
    ok(has(far->kept, twin->x) && has(back->kept, twin->x) &&
           memcmp(mark, told, sizeof told) == 0,
       "so do copies in memory, and of these in files");
}

/* A long line of copies, each with few changes, whose parents are removed. */
static void test_copies(void)
{
    enum { LINE = 60 };
    struct twin *twin = twin_new(name("line", 0));
    write_some(twin, N, N);
    int same = 1, most = 0;
    double bytes = 0;
    for (int i = 1; i < LINE; i++) {
        struct twin *next = twin_new(name("line", i));
        real before[N][EACH];
        double mark[WEFT_KEPT_MARK], copied[WEFT_KEPT_MARK];
        memcpy(before, twin->x, sizeof before);
        weft_kept_mark(twin->kept, mark);
        if (i % 2)
            must(weft_kept_copy(next->kept, twin->kept));
        else
            must(weft_kept_take(next->kept, name("line", i - 1), mark));
        weft_kept_mark(next->kept, copied);
        same &= memcmp(mark, copied, sizeof mark) == 0;
        memcpy(next->x, before, sizeof before);
        next->key = twin->key;
        write_some(next, 5, N);
        same &= has(next->kept, next->x) && has(twin->kept, before);
        struct twin *again = twin_new(NULL);
        must(weft_kept_take(again->kept, name("line", i - 1), mark));
        same &= has(again->kept, before);
        memcpy(again->x, before, sizeof before);
        write_some(again, 5, N);
        same &= has(again->kept, again->x) && has(twin->kept, before);
        weft_kept_drop(twin->kept);
        same &= has(next->kept, next->x);
        most = layers(name("line", i)) > most ? layers(name("line", i)) : most;
        bytes = worse(bytes, files_bytes(name("line", i)));
        twin = next;
    }
    ok(same, "copies begin alike, and change neither each other nor what they are of");
    ok(most <= 9, "%d layers at most", most);
    double all = weft_kept_bytes(N, EACH);
    ok(bytes < 2 * all + 64 * most, "a copy's files take %.2f times the rows", bytes / all);
    test_copies_in_memory(twin, LINE);
}

/* ---- cost ---- */

/* Bytes that this process has written to files. */
static double written(void)
{
    FILE *io = fopen("/proc/self/io", "r");
    char line[100];
    double n = -1;
    while (io && fgets(line, sizeof line, io))
        if (sscanf(line, "wchar: %lf", &n) == 1) break;
    if (io) fclose(io);
    return n;
}

static void test_cost(void)
{
    struct twin *twin = twin_new(name("cost", 0));
    write_some(twin, N, N);
    (void)save(twin);
    weft_kept_saved(twin->kept);
    double before = written(), row = weft_kept_bytes(1, EACH), rows = 0;
    for (int i = 0; i < 10; i++) {
        uint64_t key = twin->key + 1;
        for (int c = 0; c < N; c++) rows += draw(key, (uint64_t)c) % N < 4;
        write_some(twin, 4, N);
        (void)save(twin);
        weft_kept_saved(twin->kept);
    }
    if (before < 0)
        ok(1, "# SKIP no /proc/self/io");
    else
        is_near(written() - before, rows * row, 0,
                "ten checkpoints write the %g rows that changed, and no others", rows);
    double size = files_bytes(name("cost", 0));
    ok(size < 1.2 * weft_kept_bytes(N, EACH), "and their rows are used again");
    before = written();
    struct twin *next = twin_new(name("cost", 1));
    must(weft_kept_copy(next->kept, twin->kept));
    if (before < 0)
        ok(1, "# SKIP no /proc/self/io");
    else
        is_near(written() - before, 0, 0, "a copy writes nothing");
}

/* ---- damage ---- */

static void test_damage(void)
{
    const char *files = name("bits", 0), *top = name("bits", 0);
    struct twin *twin = twin_new(files);
    write_some(twin, 3, 4);
    write_some(twin, 4, 6);
    struct version version = save(twin);
    top = printed("%s/top", files);
    size_t n = size_of(top);
    char *bytes = WEFT_NEW(mem, char, n);
    must(weft_file_load(top, bytes, n));
    int wrong = 0, seen = 0;
    for (size_t i = 0; i < 8 * n; i++) {
        bytes[i / 8] ^= (char)(1 << i % 8);
        must(weft_file_put(top, bytes, n));
        struct twin *again = twin_new(NULL);
        int opens = weft_kept_take(again->kept, files, version.mark) == WEFT_OK;
        real x[N][EACH];
        int64_t client[N];
        for (int c = 0; c < N; c++) client[c] = c;
        int reads = opens && weft_kept_read(again->kept, N, client, x[0]) == WEFT_OK;
        wrong += reads && memcmp(x, twin->x, sizeof x) != 0;
        seen += !reads;
        bytes[i / 8] ^= (char)(1 << i % 8);
    }
    is_near(wrong, 0, 0, "no flipped bit changes a row unseen");
    ok(seen > (int)(7 * n), "%d of %zu are seen", seen, 8 * n);
    must(weft_file_put(top, bytes, n - 8));
    struct twin *again = twin_new(NULL);
    fails(weft_kept_take(again->kept, files, version.mark), "bits-0", "damaged",
          "a short file");
    weft_tree_remove(files);
    fails(weft_kept_take(again->kept, files, version.mark), "bits-0", "damaged", "none");
}

static void test_full(void)
{
    struct twin *twin = twin_new(name("full", 0));
    write_some(twin, 20, N);
    struct version version = save(twin);
    weft_kept_saved(twin->kept);
    real x[EACH] = {1};
    const real *row[N];
    int64_t client[N];
    for (int c = 0; c < N; c++) {
        client[c] = c;
        row[c] = x;
    }
    set_limit(RLIMIT_FSIZE, 3000);
    fails(weft_kept_write(twin->kept, N, client, row), "full-0/top", "free space",
          "a full disk");
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    twin = resumed(name("full", 0), &version);
    ok(has(twin->kept, twin->x), "which leaves the version before");
}

MAIN(disk, test_rows, test_back, test_kill, test_copies, test_cost, test_damage, test_full)
