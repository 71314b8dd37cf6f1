/* TAP for tests: one header, one main a test. A check is collective when MPI runs: it
 * passes if it passes on all ranks, and rank 0 prints. So never put one inside `if (rank ==
 * 0)`. tests/run reads "RUN: np=1 np=2" from the header comment and starts the test so
 * often. What nearly all tests include is included here. */
#ifndef WEFT_TAP_H
#define WEFT_TAP_H

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/base/random.h"
#include "weft/par/par.h"
#include "weft/registry.h"
#include "weft/space/space.h"

/* A sanitizer keeps what is freed. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS_FREED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define KEEPS_FREED 1
#endif
#ifndef KEEPS_FREED
#define KEEPS_FREED 0
#endif

/* What has to succeed, so that a test can go on. */
#define must(status) weft_check((status) == WEFT_OK, "%s", weft_error())

/* The members of an array. */
#define LEN(array) (sizeof(array) / sizeof *(array))

/* Processor time of this process, seconds: for limits on cost, as other programs may use
 * the processors, too. */
static inline double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static int tap_count, tap_failures;

static inline int tap_parallel(void)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started && !ended;
}

static inline int tap_rank(void)
{
    int rank = 0;
    if (tap_parallel()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* Where TAP goes: the file WEFT_TAP, or standard output, into which mpirun may mix lines of
 * the log. */
static inline FILE *tap_out(void)
{
    static FILE *out;
    const char *path = getenv("WEFT_TAP");
    if (!out && path) out = fopen(path, "a");
    return out ? out : stdout;
}

/* The first rank on which it failed; INT_MAX when it passed on all. Collective. */
static inline int tap_first_failure(int passed)
{
    int first = passed ? INT_MAX : tap_rank();
    if (tap_parallel())
        MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return first;
}

/* The statement, printf-like, is true if passed. Returns whether it is, on all ranks. */
__attribute__((format(printf, 4, 5))) static inline int tap_ok(int passed, const char *file,
                                                               int line, const char *fmt,
                                                               ...)
{
    int first = tap_first_failure(passed);
    int good = first == INT_MAX;
    tap_count++;
    tap_failures += !good;
    if (tap_rank() == 0) {
        va_list args;
        va_start(args, fmt);
        fprintf(tap_out(), "%sok %d - ", good ? "" : "not ", tap_count);
        vfprintf(tap_out(), fmt, args);
        fprintf(tap_out(), "\n");
        va_end(args);
        if (!good) fprintf(tap_out(), "# failed at %s:%d on rank %d\n", file, line, first);
        fflush(tap_out());
    }
    return good;
}
#define ok(passed, ...) tap_ok((passed) ? 1 : 0, __FILE__, __LINE__, __VA_ARGS__)

/* |a - b| <= tol; the first failing rank says what it found. */
#define is_near(a, b, tol, ...)                                                            \
    tap_near((double)(a), (double)(b), (double)(tol), __FILE__, __LINE__, __VA_ARGS__)
#define tap_near(a, b, tol, file, line, ...)                                               \
    tap_told(tap_ok(tap_close((a), (b), (tol)), (file), (line), __VA_ARGS__), (a), (b),    \
             (tol))

static inline int tap_close(double a, double b, double tol)
{
    return (isinf(a) && isinf(b) && a * b > 0) || fabs(a - b) <= tol;
}

static inline int tap_told(int good, double a, double b, double tol)
{
    int first = tap_first_failure(good || tap_close(a, b, tol));
    if (first != INT_MAX && tap_rank() == first)
        fprintf(stderr, "# found %.17g, expected %.17g within %g\n", a, b, tol);
    return good;
}

/* The greater of two errors; NaN, the worst, stays. fmax would lose it. */
static inline double worse(double a, double b)
{
    return isnan(a) || b <= a ? a : b;
}

/* 1: the last message has that part; what else it says is shown. */
static inline int says(const char *part)
{
    if (strstr(weft_error(), part)) return 1;
    fprintf(stderr, "# message: %s\n", weft_error());
    return 0;
}

/* A file of tests/gold. */
static inline FILE *gold_of(const char *name)
{
    char path[100];
    snprintf(path, sizeof path, "tests/gold/%s", name);
    FILE *file = fopen(path, "r");
    weft_check(file, "%s is missing: run tests in the top directory", path);
    return file;
}

/* A comment, of rank 0. */
__attribute__((format(printf, 1, 2))) static inline void note(const char *fmt, ...)
{
    if (tap_rank() != 0) return;
    va_list args;
    va_start(args, fmt);
    fprintf(tap_out(), "# ");
    vfprintf(tap_out(), fmt, args);
    fprintf(tap_out(), "\n");
    va_end(args);
    fflush(tap_out());
}

/* A number that must not depend on how many ranks there are: tests/run compares. */
static inline void digest(uint64_t value)
{
    note("digest %016" PRIx64, value);
}

/* n checks that cannot be made here. */
static inline void skip(int n, const char *why)
{
    for (int i = 0; i < n; i++) {
        tap_count++;
        if (tap_rank() == 0) fprintf(tap_out(), "ok %d # SKIP %s\n", tap_count, why);
    }
}

/* What many runs with other random numbers show, such as shares and means. A sanitizer
 * looks at what is read and written, which a FEW of them do as well: the statement is not
 * made then. */
#define FEW(runs) (KEEPS_FREED ? 2 : (runs))
#define shows(passed, ...)                                                                 \
    (KEEPS_FREED ? skip(1, "a sanitizer has a few runs only")                              \
                 : (void)ok(passed, __VA_ARGS__))

/* The path of a new file or directory for mkstemp or mkdtemp: where TMPDIR says, or in
 * /tmp. */
enum { TEMPORARY = 200 };
static inline void temporary(char path[TEMPORARY])
{
    const char *dir = getenv("TMPDIR");
    snprintf(path, TEMPORARY, "%s/weft-test-XXXXXX", dir && *dir ? dir : "/tmp");
}

/* ---- begin and end ---- */

static weft_arena *mem;         /* of the test */
static weft_team world;         /* all its ranks */
static char scratch[TEMPORARY]; /* its directory, or empty */

static inline uint64_t random_bits(uint64_t i)
{
    return weft_rng_at(1, WEFT_RNG_TEST, i, 0, 0).v[0];
}

/* Of a key below 2^32, uniform around 0. */
static inline real *random_reals(size_t n, uint64_t key)
{
    real *x = WEFT_NEW(mem, real, n);
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(weft_rng_unit(random_bits(key << 32 | i)) - 0.5);
    return x;
}

/* Random numbers, functions of these: uniform in [0, 1), and normal. */
static inline double uniform_of(uint64_t key, int64_t i, int64_t j)
{
    return weft_rng_unit(weft_rng_at(key, WEFT_RNG_TEST, (uint64_t)i, (uint64_t)j, 0).v[0]);
}

static inline double normal_of(uint64_t key, int64_t i, int64_t j, int64_t k)
{
    double z[4];
    weft_rng4 rng = weft_rng_at(key, WEFT_RNG_TEST, (uint64_t)i, (uint64_t)j, (uint64_t)k);
    weft_rng_normal(&rng, z);
    return z[0];
}

/* A text in the arena, printf-like. */
#define printed(...) weft_arena_text(mem, __VA_ARGS__)

/* An instance of a plug-in, of the options in the text of an input file. */
static inline void *bound_by(const weft_kind *kind, const char *input)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    void *self = weft_arena_alloc(mem, 1, kind->size);
    must(weft_conf_text(&conf, "test", input));
    must(weft_conf_bind(&conf, kind, self));
    return self;
}

/* Of its options alone, which stand before and behind that character. */
static inline void *bound_with(const weft_kind *kind, const char *options, char between)
{
    char *input = printed("[%s]\n%s\n", kind->name, options);
    for (char *to = input; (to = strchr(to, between)) != NULL; to++) *to = '\n';
    return bound_by(kind, input);
}

/* The axes that the text of an input file gives these plug-ins. */
static inline weft_status axes_of(weft_space *space, const char *input,
                                  const weft_kind *const *kinds, int n, uint64_t seed)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    TRY(weft_conf_text(&conf, "t.ini", input));
    return weft_space_read(space, &conf, kinds, n, seed, mem);
}

/* Without MPI. */
static inline void tap_begin(void)
{
    weft_par_alone(&world);
    mem = weft_arena_new();
    weft_log_set(WEFT_ERROR, 0);
}

/* With MPI. */
static inline void ranks_begin(int *argc, char ***argv)
{
    weft_check(weft_par_start(argc, argv, &world) == WEFT_OK, "MPI does not start");
    mem = weft_arena_new();
    weft_log_set(WEFT_ERROR, world.rank);
}

/* The directory shall be in memory, for many small files, unless TMPDIR says where. 1: it
 * is. */
static inline int scratch_in_memory(void)
{
    int memory = access("/dev/shm", W_OK) == 0;
    if (memory) setenv("TMPDIR", "/dev/shm", 0);
    return memory;
}

/* Makes the directory, on rank 0. */
static inline void scratch_new(void)
{
    temporary(scratch);
    if (world.rank == 0) weft_check(mkdtemp(scratch) != NULL, "no scratch directory");
    weft_bcast(&world, scratch, sizeof scratch, 0);
}

/* In it. */
static inline const char *at(const char *name)
{
    return printed("%s/%s", scratch, name);
}

/* With MPI and such a directory. */
static inline void scratch_begin(int *argc, char ***argv)
{
    ranks_begin(argc, argv);
    scratch_new();
}

/* Neither. */
static inline void alone_begin(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    tap_begin();
}

/* The directory alone. */
static inline void files_begin(int *argc, char ***argv)
{
    alone_begin(argc, argv);
    scratch_new();
}

/* Removes the directory and ends; what main returns. */
static inline int tap_end(void)
{
    if (tap_parallel()) weft_sleep(&world);
    if (*scratch && world.rank == 0 && system(printed("rm -rf %s", scratch)) != 0)
        fprintf(stderr, "# cannot remove %s\n", scratch);
    if (tap_rank() == 0) fprintf(tap_out(), "1..%d\n", tap_count);
    fflush(tap_out());
    weft_arena_free(mem);
    if (tap_parallel()) weft_par_end(&world);
    return tap_failures > 0;
}

typedef void tap_test(void);

/* Runs the tests, the last of which is NULL, and ends. */
static inline int tap_tests(tap_test *const *test)
{
    while (*test) (*test++)();
    return tap_end();
}

/* Checks that no file is open that was not at the first call, which makes no check. */
static inline void files_closed(void)
{
    static int first = -1;
    int n = 0;
    tap_out(); /* is a file, which the first check opens */
    DIR *listing = opendir("/proc/self/fd");
    while (listing && readdir(listing)) n++;
    if (listing) closedir(listing);
    if (first >= 0) ok(n == first, "all files are closed");
    first = n;
}

#define TESTS(...) tap_tests((tap_test *const[]){__VA_ARGS__, NULL})

/* The main of most tests: begins as alone, files, ranks or scratch above, and runs them. */
#define MAIN(how, ...)                                                                     \
    int main(int argc, char **argv)                                                        \
    {                                                                                      \
        how##_begin(&argc, &argv);                                                         \
        return TESTS(__VA_ARGS__);                                                         \
    }

#endif
