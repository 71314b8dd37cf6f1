/* The rank's side of a worker: starting it, a line there and a line back, shared memory,
 * and what is said of a worker that fails. */
#ifdef __linux__
#define _GNU_SOURCE /* memfd_create */
#endif
#include "weft/worker/link.h"
#include "weft/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_INTERVAL 0.2 /* seconds between looks at plan.leaves */
#define END_WAIT      2.0 /* seconds in which the end of a worker may be told */
#define MOST_LINE     ((size_t)1 << 24) /* bytes of a line */
#define TAIL          4096 /* bytes of the log that are looked at, and of these lines */
#define LAST_LINES    4
#define SHOWN         400              /* characters of them */
#define MOST_LOG      ((off_t)1 << 22) /* bytes of a log; of a longer one half as many stay */
#define MOST_PRINTED  ((off_t)1 << 26) /* the same while a worker is waited for */

struct weft_link {
    weft_link_plan plan;
    weft_process process;
    int lives;
    int socket, memory, log; /* descriptors; -1: none */
    off_t begin;             /* of the part of the log that is shown */
    double until;            /* time at which an answer is late; 0: by plan.limit */
    int answered;            /* 1: a worker of this link did, so that the log stays */
    void *map;               /* of the memory; NULL: none */
    size_t mapped;           /* bytes of it */
    char *in;                /* [room] what was received, */
    size_t room, have;       /* of which so many bytes wait */
    size_t taken;            /* bytes of the last line that was returned, with its end */
    int asked;               /* lines that were sent and have no answer yet */
};

weft_link *weft_link_new(const weft_link_plan *plan, weft_arena *mem)
{
    weft_link *link = WEFT_NEW(mem, weft_link, 1);
    *link = (weft_link){
        .plan = *plan, .process = {.link = -1}, .socket = -1, .memory = -1, .log = -1};
    return link;
}

int weft_link_lives(const weft_link *link)
{
    return link->lives;
}

/* ---- its start ---- */

/* The directory of weft.py, of a weft that is installed or in its tree; NULL: none. */
static const char *module_dir(weft_arena *mem)
{
    enum { MOST = 4096, LEVELS = 4 };
    char *path = WEFT_NEW(mem, char, MOST);
    ssize_t n = readlink("/proc/self/exe", path, MOST - 1);
    if (n < 0) return NULL;
    path[n] = '\0';
    for (int i = 0; i < LEVELS; i++) {
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = '\0';
        static const char *const below[] = {"share/weft", "python"};
        for (int j = 0; j < 2; j++) {
            const char *dir = weft_arena_text(mem, "%s/%s", path, below[j]);
            if (access(weft_arena_text(mem, "%s/weft.py", dir), R_OK) == 0) return dir;
        }
    }
    return NULL;
}

static const char *set_or(const char *variable, const char *other)
{
    const char *value = getenv(variable);
    return value ? value : other;
}

/* A worker has the core of its rank: libraries use one thread, unless the user says more.
 */
static char **environment(const weft_link *link, weft_arena *tmp)
{
    const char *old = getenv("PYTHONPATH"), *dir = module_dir(tmp);
    /* of Open MPI; of MPICH and Intel MPI; of srun, which does not tell how many */
    const char *launched = set_or("OMPI_COMM_WORLD_LOCAL_RANK",
                                  set_or("MPI_LOCALRANKID", set_or("SLURM_LOCALID", "0")));
    const char *beside =
        set_or("OMPI_COMM_WORLD_LOCAL_SIZE", set_or("MPI_LOCALNRANKS", "1"));
    if (!dir) dir = ".";
    const struct {
        const char *name, *value;
    } own[] = {
        {"WEFT_SOCKET", weft_arena_text(tmp, "%d", WEFT_PROCESS_FD)},
        {"WEFT_MEMORY", weft_arena_text(tmp, "%d", WEFT_PROCESS_FD + 1)},
        {"WEFT_RANK", weft_arena_text(tmp, "%d", link->plan.rank)},
        {"WEFT_LOCAL_RANK", launched},
        {"WEFT_LOCAL_RANKS", beside},
        {"PYTHONPATH", old && *old ? weft_arena_text(tmp, "%s:%s", dir, old) : dir},
        {"PYTHONUNBUFFERED", "1"},
        {"OMP_NUM_THREADS", set_or("OMP_NUM_THREADS", "1")},
    };
    enum { N = sizeof own / sizeof *own };
    const char *name[N], *value[N];
    for (int i = 0; i < N; i++) {
        name[i] = own[i].name;
        value[i] = own[i].value;
    }
    return weft_environment(N, name, value, tmp);
}

/* Memory that no process can make smaller, so that reading it never fails. */
static int open_memory(void)
{
    int fd = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0) fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
    return fd;
}

/* Whoever writes does so at its end, wherever that has been set to. */
static int open_log(const char *path)
{
    if (path) return open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int fd = memfd_create("weft.log", MFD_CLOEXEC);
    if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);
    return fd;
}

/* 0 or errno: descriptors of the log, the socket's ends and the memory, above those that
 * the supervisor uses. */
static int open_ends(weft_link *link, int *theirs)
{
    int pair[2];
    if (link->log < 0) link->log = open_log(link->plan.log);
    link->memory = open_memory();
    if (link->log < 0 || link->memory < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return errno;
    int err = weft_process_up(pair);
    link->socket = pair[0];
    *theirs = pair[1];
    int other[] = {link->log, link->memory};
    if (err == 0) err = weft_process_up(other);
    link->log = other[0];
    link->memory = other[1];
    return err;
}

weft_status weft_link_start(weft_link *link)
{
    WEFT_SCRATCH(tmp);
    int theirs = -1, err = open_ends(link, &theirs);
    const int given[] = {link->log, link->log, theirs, link->memory};
    weft_status st =
        err == 0 ? weft_process_start(&link->process, link->plan.run,
                                      environment(link, tmp), 4, given)
                 : weft_fail(WEFT_EFILE, "cannot start a %s: %s%s%s", link->plan.noun,
                             strerror(err), link->plan.log ? ", " : "",
                             link->plan.log ? link->plan.log : "");
    weft_process_close(&theirs);
    link->lives = 1;
    link->begin = lseek(link->log, 0, SEEK_END);
    link->have = link->taken = 0;
    link->asked = 0;
    if (st != WEFT_OK) weft_link_drop(link);
    return st;
}

/* ---- its log ---- */

int weft_link_keeps_pace(const weft_link *link)
{
    return lseek(link->log, 0, SEEK_END) <= MOST_LOG;
}

/* Leaves the last lines of a log that is longer than this. What is printed meanwhile may be
 * lost or stand before them. */
static void bound_log(weft_link *link, off_t most)
{
    off_t end = lseek(link->log, 0, SEEK_END), stay = MOST_LOG / 2;
    if (end <= most) return;
    WEFT_SCRATCH(tmp);
    char *text = WEFT_NEW(tmp, char, stay);
    ssize_t n = pread(link->log, text, (size_t)stay, end - stay);
    char *first = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
    size_t cut = first ? (size_t)(first - text) + 1 : 0;
    if (n > 0 && ftruncate(link->log, 0) == 0) {
        n = write(link->log, text + cut, (size_t)n - cut);
        link->begin = link->begin + n > end ? link->begin + n - end : 0;
    }
}

/* ---- its end ---- */

void weft_link_drop(weft_link *link)
{
    weft_process_drop(&link->process);
    weft_process_close(&link->socket);
    weft_process_close(&link->memory);
    if (link->map) munmap(link->map, link->mapped);
    link->map = NULL;
    link->mapped = 0;
    link->lives = 0;
}

int weft_link_runs(weft_link *link)
{
    struct pollfd told = {.fd = link->process.link, .events = POLLIN};
    if (link->lives && (told.fd < 0 || poll(&told, 1, 0) != 0)) weft_link_drop(link);
    return link->lives;
}

/* At most so many last bytes of the part of its log that is shown; *n: how many; -1: they
 * cannot be read. */
static char *log_tail(const weft_link *link, size_t most, ssize_t *n, weft_arena *mem)
{
    off_t end = link->log >= 0 ? lseek(link->log, 0, SEEK_END) : 0, from = link->begin;
    if (end - from > (off_t)most) from = end - (off_t)most;
    size_t bytes = end > from ? (size_t)(end - from) : 0;
    char *text = WEFT_NEW(mem, char, bytes + 1);
    *n = bytes > 0 ? pread(link->log, text, bytes, from) : 0;
    return text;
}

/* The last lines of its log, with bars between them; "" if it printed nothing. */
static const char *last_lines(const weft_link *link, weft_arena *mem)
{
    ssize_t n;
    char *text = log_tail(link, TAIL, &n, mem);
    const char *shown = "";
    int lines = 0;
    while (n > 0 && lines < LAST_LINES) {
        ssize_t first = n;
        while (first > 0 && text[first - 1] != '\n') first--;
        size_t length = (size_t)(n - first);
        const char *line = text + first;
        while (length > 0 && (unsigned char)*line <= ' ') {
            line++;
            length--;
        }
        int cut = length > SHOWN ? SHOWN : (int)length;
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)text[first + (ssize_t)i] < ' ')
                text[first + (ssize_t)i] = ' ';
        if (length > 0)
            shown =
                weft_arena_text(mem, "%.*s%s%s", cut, line, lines > 0 ? " | " : "", shown);
        lines += length > 0;
        n = first - 1;
    }
    return shown;
}

weft_status weft_link_fail(weft_link *link, weft_status st, const char *fmt, ...)
{
    enum { MOST = 1024 };
    char why[MOST];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    weft_link_drop(link);
    WEFT_SCRATCH(tmp);
    const char *last = last_lines(link, tmp), *log = link->answered ? link->plan.log : NULL;
    st = weft_fail(
        st, "the %s of rank %d, `%.200s`, %s; %s%s%s%s%s", link->plan.noun, link->plan.rank,
        link->plan.run, why, *last ? "its last lines" : "it printed nothing",
        *last && log ? " in " : "", *last && log ? log : "", *last ? ": " : "", last);
    return st;
}

/* ---- its log ---- */

void weft_link_mark(weft_link *link)
{
    if (link->log >= 0) link->begin = lseek(link->log, 0, SEEK_END);
}

weft_status weft_link_print(const weft_link *link, const char *path, size_t most)
{
    ssize_t got;
    WEFT_SCRATCH(tmp);
    const char *text = log_tail(link, most, &got, tmp);
    FILE *out = fopen(path, "w");
    int good = out && got >= 0 && fwrite(text, 1, (size_t)got, out) == (size_t)got;
    if (out) good &= fclose(out) == 0;
    if (good) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(errno));
}

/* How a worker ended that was not asked to. */
static weft_status ended(weft_link *link)
{
    struct pollfd told = {.fd = link->process.link, .events = POLLIN};
    if (told.fd >= 0 && poll(&told, 1, (int)(1e3 * END_WAIT)) > 0)
        weft_process_hear(&link->process);
    int status = link->process.status;
    const char *half = link->have > link->taken ? " in the middle of a message" : "";
    if (!link->process.ended)
        return weft_link_fail(link, WEFT_EWORKER, "closed its socket%s", half);
    bound_log(link, MOST_LOG);
    int code = WEXITSTATUS(status), added = 128; /* by a shell to the number of a signal */
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : code > added ? code - added : 0;
    if (number > 0)
        return weft_link_fail(link, WEFT_EWORKER, "was ended by signal %d%s", number, half);
    return weft_link_fail(
        link, WEFT_EWORKER, "ended with status %d%s%s", WEXITSTATUS(status), half,
        WEXITSTATUS(status) == WEFT_NO_PROGRAM ? ", as of a program that is not found"
                                               : "");
}

/* ---- lines ---- */

void weft_link_within(weft_link *link, double seconds)
{
    link->until = seconds > 0 ? weft_now() + seconds : 0;
}

/* Waits until the socket has what is awaited, or the worker has ended. WEFT_STOP,
 * WEFT_EWORKER. */
static weft_status await(weft_link *link, short events, double begun)
{
    for (;;) {
        double limit = link->plan.limit, now = weft_now();
        double left = link->until > 0 ? link->until - now : limit - (now - begun);
        if (limit > 0 && left <= 0)
            return weft_link_fail(
                link, WEFT_EWORKER, "did not answer within %s = %g s%s", link->plan.key,
                limit, link->have > link->taken ? ", but with half a message" : "");
        double wait = limit > 0 ? fmin(POLL_INTERVAL, left) : POLL_INTERVAL;
        struct pollfd watched[] = {{.fd = link->socket, .events = events},
                                   {.fd = link->process.link, .events = POLLIN}};
        int n = poll(watched, 2, (int)ceil(1e3 * wait));
        if (n == 0) bound_log(link, MOST_PRINTED);
        if (n > 0 && watched[0].revents) return WEFT_OK;
        if (n > 0 && watched[1].revents) return ended(link);
        if (link->plan.leaves && link->plan.leaves(link->plan.of)) {
            weft_link_drop(link);
            return weft_fail(WEFT_STOP, "the run was stopped");
        }
    }
}

static weft_status put(weft_link *link, const char *text, size_t n, double begun)
{
    while (n > 0) {
        ssize_t some = send(link->socket, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (some > 0) {
            text += some;
            n -= (size_t)some;
            continue;
        }
        if (some < 0 && errno == EINTR) continue;
        if (some < 0 && errno != EAGAIN) return ended(link);
        TRY(await(link, POLLOUT, begun));
    }
    return WEFT_OK;
}

/* Room for at least one more byte. */
static void grow(weft_link *link)
{
    if (link->have < link->room) return;
    link->room = link->room > 0 ? 2 * link->room : TAIL;
    link->in = realloc(link->in, link->room);
    weft_check(link->in != NULL, "no memory for a message of %zu bytes", link->room);
}

weft_status weft_link_send(weft_link *link, const char *text, size_t n)
{
    if (link->asked == 0 && link->have > link->taken)
        return weft_link_fail(link, WEFT_EDATA, "sent a line that nobody asked for");
    if (link->asked++ == 0) bound_log(link, MOST_LOG);
    return put(link, text, n, weft_now());
}

weft_status weft_link_hear(weft_link *link, const char **line)
{
    double begun = weft_now();
    link->have -= link->taken;
    if (link->have > 0) memmove(link->in, link->in + link->taken, link->have);
    link->taken = 0;
    for (size_t seen = 0;;) {
        char *end =
            link->have > seen ? memchr(link->in + seen, '\n', link->have - seen) : NULL;
        seen = link->have;
        if (end) {
            *end = '\0';
            *line = link->in;
            link->taken = (size_t)(end - link->in) + 1;
            link->answered = 1;
            link->asked--;
            return WEFT_OK;
        }
        if (link->have >= MOST_LINE)
            return weft_link_fail(link, WEFT_EDATA, "sent a line of more than %zu bytes",
                                  MOST_LINE);
        TRY(await(link, POLLIN, begun));
        grow(link);
        ssize_t got = recv(link->socket, link->in + link->have, link->room - link->have,
                           MSG_DONTWAIT);
        if (got > 0) link->have += (size_t)got;
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return ended(link);
    }
}

weft_status weft_link_ask(weft_link *link, const char *text, size_t n, const char **line)
{
    TRY(weft_link_send(link, text, n));
    return weft_link_hear(link, line);
}

/* ---- memory ---- */

size_t weft_link_size(const weft_link *link)
{
    struct stat info;
    return fstat(link->memory, &info) == 0 ? (size_t)info.st_size : 0;
}

weft_status weft_link_memory(weft_link *link, size_t bytes, void **memory)
{
    if (bytes <= link->mapped) {
        *memory = link->map;
        return WEFT_OK;
    }
    if (link->map) munmap(link->map, link->mapped);
    link->map = NULL;
    link->mapped = 0;
    int bad = weft_link_size(link) < bytes && ftruncate(link->memory, (off_t)bytes) != 0;
    void *map =
        bad ? MAP_FAILED
            : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, link->memory, 0);
    if (map == MAP_FAILED)
        return weft_fail(WEFT_EFILE, "no memory of %zu bytes to share with a worker: %s",
                         bytes, strerror(errno));
    link->map = *memory = map;
    link->mapped = bytes;
    return WEFT_OK;
}
