/* Failures: those that the user can correct are returned with a message; those that nobody
 * can end all ranks. */
#ifndef WEFT_STATUS_H
#define WEFT_STATUS_H

#include "weft/compiler.h"

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

#endif
