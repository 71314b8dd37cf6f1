/* What every file stands on: attributes of functions, numbers, errors, the log, memory,
 * heaps, sorting, the clock. */
#ifndef LIBWEFT_BASE_BASE_H
#define LIBWEFT_BASE_BASE_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

/* ---- compiler ---- */

#define WEFT_CHECKED      __attribute__((warn_unused_result))
#define WEFT_PRINTF(a, b) __attribute__((format(printf, a, b)))

#ifdef __clang__
#define WEFT_COMPILER "clang " __clang_version__
#else
#define WEFT_COMPILER "gcc " __VERSION__
#endif

/* ---- real ---- */

#ifdef WEFT_DOUBLE
typedef double real; /* weights, gradients, features */
#define WEFT_REAL_MAX     DBL_MAX
#define WEFT_REAL_MIN     DBL_MIN
#define WEFT_REAL_EPSILON DBL_EPSILON
#else
typedef float real;
#define WEFT_REAL_MAX     FLT_MAX
#define WEFT_REAL_MIN     FLT_MIN
#define WEFT_REAL_EPSILON FLT_EPSILON
#endif

/* ---- status ---- */

/* Failures: those that the user can correct are returned with a message; those that nobody
 * can end all ranks. */

/* Failures that the user can correct. weft_error() returns the message of the last one. */
typedef enum weft_status {
    WEFT_OK = 0,
    WEFT_ECONF = 2, /* a wrong key, value or argument given by the user */
    WEFT_EFILE =
        3, /* a file that is missing, truncated, of another kind, or not writable */
    WEFT_EDATA = 4,   /* a data set that does not hold what it should */
    WEFT_ELIMIT = 5,  /* more than the memory or another limit allows */
    WEFT_ENONE = 6,   /* a search that is complete without a winner: all its jobs failed */
    WEFT_EWORKER = 7, /* a worker failed as often as it may; the run can be resumed: weft
                         ends with status 75 then, too */
    WEFT_STOP =
        75 /* stopped by a signal or time limit; the run can be resumed (EX_TEMPFAIL) */
} weft_status;

/* Records the message and returns st: `return weft_fail(WEFT_ECONF, "...")`. The message
 * says what was found, what was expected and what to do. */
WEFT_CHECKED weft_status weft_fail(weft_status st, const char *fmt, ...) WEFT_PRINTF(2, 3);

/* The message of the last weft_fail of this process; "" if there was none. */
const char *weft_error(void);

/* Sets the message, e.g. to that of the rank that failed. */
void weft_error_set(const char *text);

/* Passes a failure on to the caller. */
#define TRY(call)                                                                          \
    do {                                                                                   \
        weft_status try_st_ = (call);                                                      \
        if (try_st_ != WEFT_OK) return try_st_;                                            \
    } while (0)

/* For failures that no user can correct: where cond is false, prints file, line and message
 * and ends all ranks. Active in all builds. */
#define weft_check(cond, ...)                                                              \
    do {                                                                                   \
        if (!(cond)) weft_die_at(__FILE__, __LINE__, __VA_ARGS__);                         \
    } while (0)
#define weft_die(...) weft_die_at(__FILE__, __LINE__, __VA_ARGS__)
__attribute__((noreturn)) void weft_die_at(const char *file, int line, const char *fmt, ...)
    WEFT_PRINTF(3, 4);

/* What weft_die calls after its message; par sets it to MPI_Abort. NULL: abort(). */
void weft_die_hook(void (*hook)(void));

/* The name in list[n] nearest to `name` by edit distance, regardless of case, for "did you
 * mean". Cost O(sum of the products of lengths). */
const char *weft_nearest(const char *name, const char *const *list, int n);

/* Returns EFILE with the message that `path` cannot be read, and the reason in errno. */
WEFT_CHECKED weft_status weft_unreadable(const char *path);

/* ---- log ---- */

typedef enum weft_level {
    WEFT_ERROR,
    WEFT_ALARM, /* a warning that every rank may print */
    WEFT_WARN,
    WEFT_INFO
} weft_level;
/* Sets the level up to which this process prints, and its rank: ranks other than 0 print
 * errors and alarms only. */
void weft_log_set(weft_level level, int rank);
weft_level weft_log_level(void); /* as set */
/* From now on also warnings of this process are printed, whatever its rank, and all its
 * lines begin with `who`, borrowed; NULL: no longer. */
void weft_log_who(const char *who);
void weft_log(weft_level level, const char *fmt, ...)
    WEFT_PRINTF(2, 3); /* to stderr, one line */

/* What would move the cursor of a terminal, control characters of ASCII and of Latin-1 in
 * UTF-8, becomes a question mark each, so that text stays in its line. Returns text. */
char *weft_one_line(char *text);

/* Replaces the progress line if stderr is a terminal, else does nothing; rank 0 only. ""
 * clears the line. */
void weft_progress(const char *fmt, ...) WEFT_PRINTF(1, 2);

/* Stops this process (SIGSTOP) the first time that the event contains the text of the
 * environment variable WEFT_HOLD: for tests, in which something is to happen to a run at an
 * event and not after some seconds. Lines of the log are events on all ranks. */
void weft_hold(const char *event);

/* ---- arena ---- */

/* An arena allocates zeroed memory, aligned to 64 bytes, all of which is freed together
 * with the arena. Allocation never returns NULL: out of memory ends the process. */
typedef struct weft_arena weft_arena;
/* An empty arena. To be freed by weft_arena_free. */
weft_arena *weft_arena_new(void);
/* The same, which is freed with `outer`, and not by itself: weft_arena_reset empties it. */
weft_arena *weft_arena_within(weft_arena *outer);
/* Frees the arena and all memory allocated from it. NULL allowed. */
void weft_arena_free(weft_arena *arena);
/* `count` elements of `size` bytes, zeroed; count 0 allowed. Cost O(count size). */
void *weft_arena_alloc(weft_arena *arena, size_t count, size_t size);
/* The text that the format prints, owned by the arena. */
char *weft_arena_text(weft_arena *arena, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* Returns the array, or a zero-padded copy of it at least twice as large, with room for
 * more than n elements of `size` bytes. *room is the number of elements that there is room
 * for, in and out; 0 for a NULL array. Old copies are freed with the arena. */
void *weft_grow(weft_arena *arena, void *array, size_t size, int64_t n, int64_t *room);
/* The same for an array that grows to a large size: its old copy is freed at once if it is
 * long, so no pointer into it may be kept. Cost O(blocks of the arena) to grow. */
void *weft_regrow(weft_arena *arena, void *array, size_t size, int64_t n, int64_t *room);
/* The same for a variable that points to the array. */
#define WEFT_GROW(arena, array, n, room)                                                   \
    ((array) = weft_grow((arena), (array), sizeof *(array), (n), (room)))
#define WEFT_REGROW(arena, array, n, room)                                                 \
    ((array) = weft_regrow((arena), (array), sizeof *(array), (n), (room)))
size_t weft_arena_mark(
    const weft_arena *arena); /* the bytes in use, for weft_arena_reset */
/* Releases all that was allocated since the mark. */
void weft_arena_reset(weft_arena *arena, size_t mark);
size_t weft_arena_held(const weft_arena *arena); /* bytes that it has from calloc */
#define WEFT_NEW(a, type, n) ((type *)weft_arena_alloc((a), (size_t)(n), sizeof(type)))

/* Declares an arena of that name, which is freed where its scope ends, however that is
 * left. */
#define WEFT_SCRATCH(name)                                                                 \
    __attribute__((cleanup(weft_arena_leave))) weft_arena *name = weft_arena_new()
void weft_arena_leave(weft_arena **arena);
/* Releases, where the scope ends, what is allocated from the arena from here on. */
#define WEFT_REWIND(arena)                                                                 \
    __attribute__((cleanup(weft_arena_rewind), unused)) const weft_rewind WEFT_AT_LINE(    \
        rewind_, __LINE__) = {(arena), weft_arena_mark(arena)}
#define WEFT_AT_LINE(name, line)  WEFT_AT_LINE_(name, line)
#define WEFT_AT_LINE_(name, line) name##line
typedef struct weft_rewind {
    weft_arena *arena;
    size_t mark;
} weft_rewind;
void weft_arena_rewind(const weft_rewind *rewind);

/* ---- heap ---- */

/* A binary heap of items of `size` bytes, the first of which is before all others. */
typedef struct weft_heap {
    int64_t n, room;
    size_t size; /* at most WEFT_HEAP_ITEM */
    void *at;    /* [n] items */
    int (*before)(const void *a, const void *b, const void *of); /* 1: a is before b */
    const void *of;                        /* third argument of `before`; borrowed */
    void (*moved)(void *item, int64_t at); /* told the new index of an item; NULL */
} weft_heap;
#define WEFT_HEAP_ITEM 64

/* Adds an item; a full heap is copied to larger memory from mem. Cost O(log n), as of all
 * functions of heaps. */
void weft_heap_push(weft_heap *heap, const void *item, weft_arena *mem);
/* Removes the item at an index, 0: the first, and copies it to *item. */
void weft_heap_take(weft_heap *heap, int64_t at, void *item);
/* Puts the item at an index to its place after it has changed. */
void weft_heap_settle(weft_heap *heap, int64_t at);

/* ---- order ---- */

/* A number, and the place that it is of. */
typedef struct weft_placed {
    double value;
    int64_t at;
} weft_placed;
/* Sorts them, equal ones by their places. */
void weft_sort_rising(int64_t n, weft_placed *list);
void weft_sort_falling(int64_t n, weft_placed *list);
/* Sorts numbers, the least first. */
void weft_sort_f64(int64_t n, double *x);
void weft_sort_i64(int64_t n, int64_t *x);
/* That order, for bsearch: a negative number, 0 or a positive one. */
int weft_rising_f64(const void *left, const void *right);
int weft_rising_i64(const void *left, const void *right);

/* ---- clock ---- */

double weft_now(void); /* seconds on a monotonic clock */
/* Sleeps for that many seconds. */
void weft_nap(double seconds);

#endif
