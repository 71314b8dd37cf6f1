/* Log lines and the progress line, both to stderr. */
#ifndef WEFT_LOG_H
#define WEFT_LOG_H

#include "weft/compiler.h"

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

#endif
