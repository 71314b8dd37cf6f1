/* The table of filenames.h as patterns. */
#include "weft/filenames.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const weft_run_names[] = {
    WEFT_JOURNAL_NAME,    WEFT_TEAM_NAME,    WEFT_STATE_NAME,  WEFT_FILES_NAME,
    WEFT_CHECKPOINT_NAME, WEFT_CLAIM_NAME,   WEFT_TICKET_NAME, WEFT_STALLED_NAME,
    WEFT_WORKER_NAME,     WEFT_PROGRAM_NAME, WEFT_LOCK_NAME,   NULL};
const char *const weft_failed_names[] = {WEFT_JOURNAL_NAME, WEFT_TEAM_NAME, WEFT_STATE_NAME,
                                         WEFT_FAILED_NAME, NULL};
/* Of a process, then those without. */
const char *const weft_name_endings[] = {WEFT_TEMP_NAME,  WEFT_SCRATCH_NAME, WEFT_ROWS_NAME,
                                         WEFT_ASIDE_NAME, WEFT_LOG_NAME,     NULL};
enum { OF_PROCESS = 3 };

/* The rest of a name behind what the format prints; NULL: it begins otherwise. */
static const char *after(const char *name, const char *format)
{
    while (*format) {
        if (*format != '%') {
            if (*name++ != *format++) return NULL;
            continue;
        }
        format += strcspn(format, "dx");
        size_t n = strspn(name, *format++ == 'x' ? "0123456789abcdef" : "0123456789");
        if (n == 0) return NULL;
        name += n;
    }
    return name;
}

int weft_is_named(const char *name, const char *format)
{
    const char *rest = after(name, format);
    return rest && *rest == '\0';
}

/* 1 if the text is endings, one or more, or none. */
static int ends(const char *text)
{
    while (*text) {
        const char *rest = NULL;
        for (int i = 0; weft_name_endings[i]; i++) {
            const char *other = after(text, weft_name_endings[i]);
            if (other && (!rest || other > rest)) rest = other; /* the longest */
        }
        if (!rest) return 0;
        text = rest;
    }
    return 1;
}

static int is_of(const char *const *table, const char *name)
{
    for (int i = 0; table[i]; i++) {
        const char *rest = after(name, table[i]);
        if (rest && ends(rest)) return 1;
    }
    return 0;
}

int weft_is_of_run(const char *name)
{
    return is_of(weft_run_names, name);
}

int weft_is_of_failed(const char *name)
{
    return is_of(weft_failed_names, name);
}

int weft_is_temporary(const char *ending, unsigned *host, long long *process)
{
    for (int i = 0; i < OF_PROCESS; i++) {
        const char *rest = after(ending, weft_name_endings[i]);
        if (!rest || !ends(rest)) continue;
        const char *number = strchr(ending + 1, '.') + 1;
        *host = (unsigned)strtoul(number, NULL, 16);
        *process = strtoll(strchr(number, '.') + 1, NULL, 10);
        return 1;
    }
    return 0;
}
