/* What is told: failures that the user can correct and the end of the program for those
 * that no user can, log lines and the progress line, both to stderr; and the monotonic
 * clock. */
#include "weft/base/base.h"

#include <errno.h>
#include <stdio.h>

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the log ---- */

#define HOLD "WEFT_HOLD" /* environment variable, see weft_hold */

static weft_level log_level = WEFT_INFO;
static int log_rank;
static const char *_Atomic log_who; /* NULL: warnings are printed by rank 0 alone */
static _Atomic int progress_shown;  /* a progress line is on the terminal */
static const char *_Atomic hold; /* event at which this process stops, once; NULL: none */

void weft_log_set(weft_level level, int rank)
{
    log_level = level;
    log_rank = rank;
    hold = getenv(HOLD);
    if (hold && *hold == '\0') hold = NULL;
}

weft_level weft_log_level(void)
{
    return log_level;
}

void weft_log_who(const char *who)
{
    log_who = who;
}

static void progress_clear(void)
{
    if (progress_shown) fputs("\r\033[K", stderr);
    progress_shown = 0;
}

void weft_hold(const char *event)
{
    const char *text = hold;
    if (!text || !strstr(event, text)) return;
    hold = NULL;
    raise(SIGSTOP);
}

static void print_line(weft_level level, const char *text)
{
    static const char *const word[] = {"error: ", "warning: ", "warning: ", ""};
    const char *who = log_who;
    if (level > log_level || (log_rank > 0 && level > (who ? WEFT_WARN : WEFT_ALARM)))
        return;
    char when[16], rank[32] = "";
    if (log_rank > 0 && !who) snprintf(rank, sizeof rank, "rank %d: ", log_rank);
    time_t now = time(NULL);
    struct tm local;
    strftime(when, sizeof when, "%H:%M:%S", localtime_r(&now, &local));
    progress_clear();
    fprintf(stderr, "weft %s %s%s%s%s%s\n", when, rank, who ? who : "", who ? ": " : "",
            word[level], text);
}

char *weft_one_line(char *text)
{
    enum { LATIN = 0xC2, FIRST = 0x80, LAST = 0x9F }; /* U+0080 .. U+009F */
    char *to = text;
    for (const char *at = text; *at; at++) {
        const unsigned char *c = (const unsigned char *)at;
        int latin = c[0] == LATIN && c[1] >= FIRST && c[1] <= LAST;
        *to++ = iscntrl(*c) || latin ? '?' : *at;
        at += latin;
    }
    *to = '\0';
    return text;
}

void weft_log(weft_level level, const char *fmt, ...)
{
    char text[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    print_line(level, weft_one_line(text)); /* what is quoted of a file may hold anything */
    weft_hold(text);
}

void weft_progress(const char *fmt, ...)
{
    if (log_rank > 0 || !isatty(STDERR_FILENO)) return;
    progress_clear();
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fputs(text, stderr);
    fflush(stderr);
    progress_shown = text[0] != '\0';
}

/* ---- failures ---- */

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
        if (*list[i] == '\0' || (least >= 0 && distance >= least)) continue;
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

/* ---- the clock, and sleep by it ---- */

double weft_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void weft_nap(double seconds)
{
    double whole = floor(seconds);
    const struct timespec nap = {.tv_sec = (time_t)whole,
                                 .tv_nsec = (long)(1e9 * (seconds - whole))};
    nanosleep(&nap, NULL);
}
