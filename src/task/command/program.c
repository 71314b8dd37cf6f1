/* Runs a program under a supervisor (child.c) and reads what it prints. The rank
 * sleeps meanwhile; it wakes for output, for signals and for time limits. */
#include "program.h"
#include "output.h"
#include "weft/clock.h"
#include "weft/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_INTERVAL 0.2 /* seconds between checks whether the run was asked to stop */
#define OUTPUT_WAIT   1.0 /* seconds for output that other processes may still hold */
#define SIGNAL_WAIT   2.0 /* seconds in which the rank may get its program's signal */

/* A program that runs. */
typedef struct running {
    const weft_program *g;
    weft_printed *printed;
    weft_output output;
    weft_process process;
    int stream[WEFT_STREAMS]; /* read ends; -1 at their end */
    weft_end end;
    double start;
} running;

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static weft_status start(running *r)
{
    int end[WEFT_STREAMS][2], given[WEFT_STREAMS], err = 0;
    for (int i = 0; i < WEFT_STREAMS; i++) end[i][0] = end[i][1] = -1;
    for (int i = 0; i < WEFT_STREAMS && err == 0; i++) {
        err = pipe(end[i]) != 0 ? errno : weft_process_up(end[i]);
        given[i] = end[i][1];
    }
    weft_status st =
        err == 0
            ? weft_process_start(&r->process, r->g->run, r->g->env, WEFT_STREAMS, given)
            : weft_fail(WEFT_EFILE, "cannot start a program: %s", strerror(err));
    for (int i = 0; i < WEFT_STREAMS; i++) {
        close_fd(&end[i][1]);
        if (st != WEFT_OK) close_fd(&end[i][0]);
        r->stream[i] = end[i][0];
        if (st == WEFT_OK) fcntl(r->stream[i], F_SETFL, O_NONBLOCK);
    }
    r->start = weft_now();
    return st;
}

/* ---- while it runs ---- */

/* Asks the supervisor, once, to end the program. */
static void end_it(running *r, weft_end why)
{
    if (r->end != WEFT_END_EXIT) return;
    r->end = why;
    weft_process_ask(&r->process);
}

/* Ends the program if the run is to stop. */
static void look_at_run(running *r)
{
    const weft_env *env = r->g->task_env;
    if (env->stopped && env->stopped()) end_it(r, WEFT_END_STOPPED);
    if (env->deadline > 0 && weft_now() >= env->deadline) end_it(r, WEFT_END_STOPPED);
}

static void look(running *r)
{
    look_at_run(r);
    double took = weft_now() - r->start;
    if (r->g->limit > 0 && took >= r->g->limit) end_it(r, WEFT_END_LIMIT);
}

/* Milliseconds until the next look. */
static int patience(const running *r)
{
    double wait = POLL_INTERVAL;
    if (r->g->limit > 0) wait = fmin(wait, r->start + r->g->limit - weft_now());
    return (int)ceil(1e3 * fmax(wait, 1e-3));
}

static void take_output(running *r, int i)
{
    char bytes[65536];
    ssize_t n = read(r->stream[i], bytes, sizeof bytes);
    if (n > 0) {
        weft_printed_add(r->printed, i, bytes, (size_t)n);
        weft_output_add(&r->output, bytes, (size_t)n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        close_fd(&r->stream[i]);
    }
}

/* Waits up to `wait` milliseconds for output, a signal or the end of the program. Returns 0
 * if none of these occurred. */
static int attend(running *r, int wait)
{
    struct pollfd f[WEFT_STREAMS + 1];
    for (int i = 0; i < WEFT_STREAMS; i++)
        f[i] = (struct pollfd){.fd = r->stream[i], .events = POLLIN};
    f[WEFT_STREAMS] = (struct pollfd){.fd = r->process.link, .events = POLLIN};
    if (poll(f, WEFT_STREAMS + 1, wait) <= 0) return 0;
    for (int i = 0; i < WEFT_STREAMS; i++)
        if (f[i].revents) take_output(r, i);
    if (f[WEFT_STREAMS].revents) weft_process_hear(&r->process);
    return 1;
}

static int is_open(const running *r)
{
    return r->stream[0] >= 0 || r->stream[1] >= 0;
}

/* Signals that may be meant for the whole run. */
static int is_asking(int number)
{
    return number == SIGTERM || number == SIGUSR1 || number == SIGUSR2 ||
           number == SIGINT || number == SIGHUP;
}

/* A queue that stops a job signals all of its processes, one after the other, so the rank
 * may be told later than its program, whose end was then caused by the
 * queue: a program that failed is checked again, for a while where a signal ended it. */
static void doubt(running *r)
{
    const struct timespec nap = {.tv_nsec = 50000000};
    int status = r->process.status;
    if (r->end != WEFT_END_EXIT || !r->process.ended || status == 0) return;
    int shell = 128; /* added by sh to the number of a signal */
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - shell;
    double until = weft_now() + (is_asking(number) ? SIGNAL_WAIT : 0);
    for (look_at_run(r); r->end == WEFT_END_EXIT && weft_now() < until; look_at_run(r))
        nanosleep(&nap, NULL);
}

weft_status weft_program_run(const weft_program *program, weft_printed *printed,
                             weft_end *end, int *status)
{
    running r = {
        .g = program, .printed = printed, .process = {.link = -1}, .end = WEFT_END_EXIT};
    weft_arena *mem = weft_arena_new();
    weft_status st = weft_output_open(&r.output, program->log, program->log_most, mem);
    if (st == WEFT_OK) {
        st = start(&r);
        while (st == WEFT_OK && r.process.link >= 0) {
            look(&r);
            attend(&r, patience(&r));
        }
        double over = weft_now() + OUTPUT_WAIT;
        while (st == WEFT_OK && is_open(&r) && weft_now() < over)
            attend(&r, (int)(1e3 * POLL_INTERVAL));
        doubt(&r);
        weft_printed_end(printed);
        for (int i = 0; i < WEFT_STREAMS && st == WEFT_OK; i++) close_fd(&r.stream[i]);
        weft_status closed = weft_output_close(&r.output, program->log);
        if (st == WEFT_OK) st = closed;
        weft_process_drop(&r.process);
    }
    weft_arena_free(mem);
    *end = r.end;
    *status = r.process.ended ? r.process.status : SIGKILL; /* the supervisor was killed */
    return st;
}
