/* Log lines and the progress line, both to stderr. */
#include "weft/log.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static void print(weft_level level, const char *text)
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
    print(level, weft_one_line(text)); /* what is quoted of a file may hold anything */
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
