/* What a program prints: the numbers in its lines, and a log of bounded size. Called by
 * command_run.c. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- numbers ------------------------------------------------------------------------ */

#define LETTERS   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define SEPARATES " \t\r,;"

static void set(weft_printed *p, const char *name, size_t n, double value)
{
    int i = 0;
    while (i < p->n && (strlen(p->name[i]) != n || strncmp(p->name[i], name, n) != 0)) i++;
    if (i == WEFT_MAX_PRINTED || n >= sizeof p->name[i]) return;
    if (i == p->n) snprintf(p->name[p->n++], sizeof *p->name, "%.*s", (int)n, name);
    p->value[i] = value;
}

/* "name=number" among the words of a line; "nan" and "inf" are numbers. */
static void read_numbers(weft_printed *p, const char *line)
{
    for (const char *at = line + strspn(line, SEPARATES); *at;
         at += strspn(at, SEPARATES)) {
        size_t word = strcspn(at, SEPARATES);
        size_t n = strspn(at, LETTERS) > 0 ? strspn(at, LETTERS "0123456789.-/") : 0;
        if (n > 0 && at[n] == '=' && n + 1 < word) {
            char *end;
            double x = strtod(at + n + 1, &end);
            if (end == at + word) set(p, at, n, x);
        }
        at += word;
    }
}

/* ---- lines -------------------------------------------------------------------------- */

static void end_line(weft_printed *p, int stream)
{
    char *text = p->line[stream].text;
    text[p->line[stream].n] = '\0';
    p->line[stream].n = 0;
    if (text[strspn(text, SEPARATES)] == '\0') return;
    if (stream == 0) read_numbers(p, text);
    char *last = p->line[stream].last;
    size_t room = sizeof p->line[stream].last - 1, all = strlen(text);
    size_t n = all < room ? all : room;
    memcpy(last, text, n);
    last[n] = '\0';
    for (char *c = last; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' '; /* one line of the log of the run */
}

void weft_printed_add(weft_printed *p, int stream, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n')
            end_line(p, stream);
        else if (p->line[stream].n < sizeof p->line[stream].text - 1)
            p->line[stream].text[p->line[stream].n++] = bytes[i];
    }
}

void weft_printed_end(weft_printed *p)
{
    for (int s = 0; s < 2; s++)
        if (p->line[s].n > 0) end_line(p, s);
}

const double *weft_printed_find(const weft_printed *p, const char *name)
{
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->name[i], name) == 0) return &p->value[i];
    return NULL;
}

const char *weft_printed_last(const weft_printed *p)
{
    return *p->line[1].last ? p->line[1].last : p->line[0].last;
}

/* ---- the log ------------------------------------------------------------------------ */

weft_status weft_output_open(weft_output *o, const char *path, int64_t most,
                             weft_arena *mem)
{
    *o = (weft_output){.most = most};
    o->tail = WEFT_NEW(mem, char, most / 2);
    unlink(path); /* of the attempt that the directory is a copy of, maybe a link */
    o->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->fd >= 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(errno));
}

static void put(weft_output *o, const char *bytes, int64_t n)
{
    while (n > 0 && o->err == 0) {
        ssize_t done = write(o->fd, bytes, (size_t)n);
        if (done < 0 && errno != EINTR) o->err = errno;
        if (done > 0) {
            bytes += done;
            n -= done;
        }
    }
}

void weft_output_add(weft_output *o, const char *bytes, size_t n)
{
    int64_t half = o->most / 2, head = half - o->seen;
    int64_t at = head < 0 ? 0 : head < (int64_t)n ? head : (int64_t)n;
    put(o, bytes, at);
    o->seen += at;
    for (; at < (int64_t)n; at++) o->tail[o->seen++ % half] = bytes[at];
}

weft_status weft_output_close(weft_output *o, const char *path)
{
    int64_t half = o->most / 2, kept = o->seen - half;
    if (kept > half) {
        char text[64];
        int n = snprintf(text, sizeof text, "\n... %lld bytes are left out ...\n",
                         (long long)(kept - half));
        put(o, text, n);
    }
    int64_t rest = kept > half ? half : kept > 0 ? kept : 0;
    int64_t from = (o->seen - rest) % half; /* the tail ends where it begins */
    int64_t first = rest < half - from ? rest : half - from;
    put(o, o->tail + from, first);
    put(o, o->tail, rest - first);
    if (close(o->fd) != 0 && o->err == 0) o->err = errno;
    if (o->err == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(o->err));
}
