/* The two kinds of failure: the message of a failure that the user can correct, and the end
 * of the program for one that no user can. Called everywhere. */
#include "weft/log.h"
#include "weft/status.h"

#include <errno.h>
#include <stdio.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char message[1024]; /* of the last weft_fail */
static void (*die_hook)(void);

weft_status weft_fail(weft_status st, const char *fmt, ...)
{
    char text[sizeof message]; /* the arguments may hold the message itself */
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    memcpy(message, weft_one_line(text), sizeof message);
    return st;
}

const char *weft_error(void)
{
    return message;
}

void weft_error_set(const char *text)
{
    if (text != message) snprintf(message, sizeof message, "%s", text);
}

void weft_die_hook(void (*hook)(void))
{
    die_hook = hook;
}

void weft_die_at(const char *file, int line, const char *fmt, ...)
{
    char text[sizeof message];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    weft_log(WEFT_ERROR, "%s:%d: %s", file, line, text);
    if (die_hook) die_hook();
    abort();
}

/* Levenshtein distance of the first 63 characters, regardless of case. */
static int edits(const char *a, const char *b)
{
    enum { MOST = 63 };
    int row[MOST + 1];
    int na = (int)strnlen(a, MOST), nb = (int)strnlen(b, MOST);
    for (int j = 0; j <= nb; j++) row[j] = j;
    for (int i = 1; i <= na; i++) {
        int corner = row[0]; /* distance of the first i-1 and j-1 characters */
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int differ =
                tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            int least = corner + differ;
            if (row[j] + 1 < least) least = row[j] + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            corner = row[j];
            row[j] = least;
        }
    }
    return row[nb];
}

const char *weft_nearest(const char *name, const char *const *list, int n)
{
    const char *nearest = "";
    int least = -1;
    for (int i = 0; i < n; i++) {
        int distance = edits(name, list[i]);
        if (least >= 0 && distance >= least) continue;
        least = distance;
        nearest = list[i];
    }
    return nearest;
}

weft_status weft_unreadable(const char *path)
{
    return weft_fail(WEFT_EFILE, "cannot read %s: %s; check the name", path,
                     strerror(errno));
}
