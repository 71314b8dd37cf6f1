/* What clients keep, in files: read back as written; any version that a state refers to is
 * found again after a kill, beside damage, and below copies; neither the disk nor what a
 * sync writes grows with what did not change.
 * RUN: np=1 */
#include "disk.h"
#include "weft/file.h"
#include "weft/kept.h"
#include "weft/rng.h"
#include "weft/tree.h"

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
    return weft_arena_text(mem, "%s/%s-%d", dir, kind, i);
}

static struct twin *twin_new(const char *files)
{
    struct twin *t = WEFT_NEW(mem, struct twin, 1);
    t->kept = weft_kept_new(N, EACH, mem);
    if (files) weft_kept_place(t->kept, files);
    return t;
}

static void must(weft_status st)
{
    weft_check(st == WEFT_OK, "%s", weft_error());
}

static uint64_t draw(uint64_t a, uint64_t b)
{
    return weft_rng_at(11, WEFT_RNG_TEST, a, b, 0).v[0];
}

/* Writes about m of the clients below `most`. */
static void write_some(struct twin *t, int m, int most)
{
    int64_t client[N], n = 0;
    const real *row[N];
    t->key++;
    for (int c = 0; c < most; c++) {
        if (draw(t->key, (uint64_t)c) % (uint64_t)most >= (uint64_t)m) continue;
        t->rows += !(fabs((double)t->x[c][0]) > 0);
        for (int i = 0; i < EACH; i++)
            t->x[c][i] = (real)(1 + draw(t->key << 20 | (uint64_t)c, (uint64_t)i) % 1000);
        client[n] = c;
        row[n++] = t->x[c];
    }
    must(weft_kept_write(t->kept, n, client, row));
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
    FILE *list = popen(weft_arena_text(mem, "cat %s/* | wc -c", files), "r");
    double n = -1;
    if (list && fscanf(list, "%lf", &n) != 1) n = -1;
    if (list) pclose(list);
    return n;
}

/* ---- rows and marks ---- */

static void test_rows(void)
{
    struct twin *in_memory = twin_new(NULL), *t = twin_new(name("rows", 0));
    ok(has(t->kept, t->x) && weft_kept_count(t->kept) == 0, "a new table has no rows");
    int same = 1;
    for (int i = 0; i < 30; i++) {
        write_some(t, 20, 150);
        write_some(in_memory, 20, 150);
        double a[WEFT_KEPT_MARK], b[WEFT_KEPT_MARK];
        weft_kept_mark(t->kept, a);
        weft_kept_mark(in_memory->kept, b);
        same &=
            has(t->kept, t->x) && has(in_memory->kept, t->x) && memcmp(a, b, sizeof a) == 0;
    }
    ok(same, "rows are read as they were written, in memory and in files, by equal marks");
    int64_t client[N];
    ok(weft_kept_count(t->kept) == t->rows &&
           weft_kept_clients(t->kept, 0, N, client) == t->rows && client[0] < client[1],
       "those that were written are counted");
    double a[WEFT_KEPT_MARK], b[WEFT_KEPT_MARK];
    struct twin *other = twin_new(NULL);
    const real *first = t->x[3], *second = t->x[7];
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

static struct version save(struct twin *t)
{
    struct version v = {.key = t->key};
    must(weft_kept_sync(t->kept));
    weft_kept_mark(t->kept, v.mark);
    memcpy(v.x, t->x, sizeof v.x);
    return v;
}

static struct twin *resumed(const char *files, const struct version *v)
{
    struct twin *t = twin_new(files);
    must(weft_kept_resume(t->kept, v->mark));
    memcpy(t->x, v->x, sizeof t->x);
    t->key = v->key;
    return t;
}

/* Goes back to the last version again and again, whatever was written since, also between
 * its sync and the end of its checkpoint. */
static void test_back(void)
{
    const char *files = name("back", 0);
    struct twin *t = twin_new(files);
    write_some(t, 30, 100);
    struct version v = save(t);
    weft_kept_saved(t->kept);
    int same = 1;
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 1 + i % 4; k++) write_some(t, 1 + i, 100);
        if (i % 5 == 4) { /* a checkpoint that was not finished */
            must(weft_kept_sync(t->kept));
        } else if (i % 2) {
            v = save(t);
            weft_kept_saved(t->kept);
            write_some(t, 30, 100);
        }
        t = resumed(files, &v);
        same &= has(t->kept, t->x);
    }
    ok(same, "after any writes the version of the last checkpoint is found");
    double row = weft_kept_bytes(1, EACH), all = files_bytes(files);
    ok(all <= 2.2 * 100 * row + 64, "its files take %.1f times the rows",
       all / (100 * row));
    struct version other = v;
    other.mark[1] -= 1;
    struct twin *none = twin_new(files);
    fails(weft_kept_resume(none->kept, other.mark), "back-0", "damaged",
          "a version that is not there");
}

/* ---- a kill ---- */

/* Writes, syncs and checkpoints until it is killed; tells each checkpoint. */
static void child(const char *files, int tells)
{
    struct twin *t = twin_new(files);
    for (int i = 0;; i++) {
        for (int k = 0; k < 3; k++) write_some(t, 40, N);
        struct version v = save(t);
        must(weft_file_put(at("checkpoint"), &v, sizeof v));
        weft_kept_saved(t->kept);
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
        struct version v;
        must(weft_file_load(at("checkpoint"), &v, sizeof v));
        struct twin *t = resumed(files, &v);
        int same = has(t->kept, t->x);
        for (int i = 0; i < 5; i++) write_some(t, 40, N);
        struct version later = save(t);
        weft_kept_saved(t->kept);
        t = resumed(files, &later);
        found += same && has(t->kept, t->x);
    }
    is_near(found, KILLS, 0, "a process killed at any time leaves its last checkpoint");
}

/* ---- copies ---- */

static int layers(const char *files)
{
    int n = 0;
    while (weft_file_is(weft_arena_text(mem, "%s/layer-%d", files, n))) n++;
    return n + weft_file_is(weft_arena_text(mem, "%s/top", files));
}

/* A long line of copies, each with few changes, whose parents are removed. */
static void test_copies(void)
{
    enum { LINE = 60 };
    struct twin *t = twin_new(name("line", 0));
    write_some(t, N, N);
    int same = 1, most = 0;
    double bytes = 0;
    for (int i = 1; i < LINE; i++) {
        struct twin *next = twin_new(name("line", i));
        real before[N][EACH];
        double mark[WEFT_KEPT_MARK], copied[WEFT_KEPT_MARK];
        memcpy(before, t->x, sizeof before);
        weft_kept_mark(t->kept, mark);
        if (i % 2)
            must(weft_kept_copy(next->kept, t->kept));
        else
            must(weft_kept_take(next->kept, name("line", i - 1), mark));
        weft_kept_mark(next->kept, copied);
        same &= memcmp(mark, copied, sizeof mark) == 0;
        memcpy(next->x, before, sizeof before);
        next->key = t->key;
        write_some(next, 5, N);
        same &= has(next->kept, next->x) && has(t->kept, before);
        struct twin *again = twin_new(NULL);
        must(weft_kept_take(again->kept, name("line", i - 1), mark));
        same &= has(again->kept, before);
        weft_kept_drop(t->kept);
        same &= has(next->kept, next->x);
        most = layers(name("line", i)) > most ? layers(name("line", i)) : most;
        bytes = worse(bytes, files_bytes(name("line", i)));
        t = next;
    }
    ok(same, "copies begin alike, and change neither each other nor what they are of");
    ok(most <= 9, "%d layers at most", most);
    double all = weft_kept_bytes(N, EACH);
    ok(bytes < 2 * all + 64 * most, "a copy's files take %.2f times the rows", bytes / all);
    double mark[WEFT_KEPT_MARK];
    weft_kept_mark(t->kept, mark);
    struct twin *far = twin_new(NULL);
    must(weft_kept_copy(far->kept, t->kept));
    struct twin *back = twin_new(name("line", LINE));
    must(weft_kept_copy(back->kept, far->kept));
    double told[WEFT_KEPT_MARK];
    weft_kept_mark(back->kept, told);
    ok(has(far->kept, t->x) && has(back->kept, t->x) &&
           memcmp(mark, told, sizeof told) == 0,
       "so do copies in memory, and of these in files");
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
    struct twin *t = twin_new(name("cost", 0));
    write_some(t, N, N);
    (void)save(t);
    weft_kept_saved(t->kept);
    double before = written(), row = weft_kept_bytes(1, EACH), rows = 0;
    for (int i = 0; i < 10; i++) {
        uint64_t key = t->key + 1;
        for (int c = 0; c < N; c++) rows += draw(key, (uint64_t)c) % N < 4;
        write_some(t, 4, N);
        (void)save(t);
        weft_kept_saved(t->kept);
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
    must(weft_kept_copy(next->kept, t->kept));
    if (before < 0)
        ok(1, "# SKIP no /proc/self/io");
    else
        is_near(written() - before, 0, 0, "a copy writes nothing");
}

/* ---- damage ---- */

static void test_damage(void)
{
    const char *files = name("bits", 0), *top = name("bits", 0);
    struct twin *t = twin_new(files);
    write_some(t, 3, 4);
    write_some(t, 4, 6);
    struct version v = save(t);
    top = weft_arena_text(mem, "%s/top", files);
    size_t n = size_of(top);
    char *bytes = WEFT_NEW(mem, char, n);
    must(weft_file_load(top, bytes, n));
    int wrong = 0, seen = 0;
    for (size_t i = 0; i < 8 * n; i++) {
        bytes[i / 8] ^= (char)(1 << i % 8);
        must(weft_file_put(top, bytes, n));
        struct twin *again = twin_new(NULL);
        int opens = weft_kept_take(again->kept, files, v.mark) == WEFT_OK;
        real x[N][EACH];
        int64_t client[N];
        for (int c = 0; c < N; c++) client[c] = c;
        int reads = opens && weft_kept_read(again->kept, N, client, x[0]) == WEFT_OK;
        wrong += reads && memcmp(x, t->x, sizeof x) != 0;
        seen += !reads;
        bytes[i / 8] ^= (char)(1 << i % 8);
    }
    is_near(wrong, 0, 0, "no flipped bit changes a row unseen");
    ok(seen > (int)(7 * n), "%d of %zu are seen", seen, 8 * n);
    must(weft_file_put(top, bytes, n - 8));
    struct twin *again = twin_new(NULL);
    fails(weft_kept_take(again->kept, files, v.mark), "bits-0", "damaged", "a short file");
    weft_tree_remove(files);
    fails(weft_kept_take(again->kept, files, v.mark), "bits-0", "damaged", "none");
}

static void test_full(void)
{
    struct twin *t = twin_new(name("full", 0));
    write_some(t, 20, N);
    struct version v = save(t);
    weft_kept_saved(t->kept);
    real x[EACH] = {1};
    const real *row[N];
    int64_t client[N];
    for (int c = 0; c < N; c++) {
        client[c] = c;
        row[c] = x;
    }
    limit(3000);
    fails(weft_kept_write(t->kept, N, client, row), "full-0/top", "free space",
          "a full disk");
    limit(RLIM_INFINITY);
    t = resumed(name("full", 0), &v);
    ok(has(t->kept, t->x), "which leaves the version before");
}

int main(void)
{
    disk_begin();
    test_rows();
    test_back();
    test_kill();
    test_copies();
    test_cost();
    test_damage();
    test_full();
    return disk_end();
}
