/* Runs a program under a supervisor (worker/process.c) and reads what it prints. The rank
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
struct running {
    const weft_program *program;
    weft_printed *printed;
    weft_output output;
    weft_process process;
    int stream[WEFT_STREAMS]; /* read ends; -1 at their end */
    weft_end end;
    double start;
};

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static weft_status start(struct running *running)
{
    int end[WEFT_STREAMS][2], given[WEFT_STREAMS], err = 0;
    for (int i = 0; i < WEFT_STREAMS; i++) end[i][0] = end[i][1] = -1;
    for (int i = 0; i < WEFT_STREAMS && err == 0; i++) {
        err = pipe(end[i]) != 0 ? errno : weft_process_up(end[i]);
        given[i] = end[i][1];
    }
    weft_status st =
        err == 0 ? weft_process_start(&running->process, running->program->run,
                                      running->program->env, WEFT_STREAMS, given)
                 : weft_fail(WEFT_EFILE, "cannot start a program: %s", strerror(err));
    for (int i = 0; i < WEFT_STREAMS; i++) {
        close_fd(&end[i][1]);
        if (st != WEFT_OK) close_fd(&end[i][0]);
        running->stream[i] = end[i][0];
        if (st == WEFT_OK) fcntl(running->stream[i], F_SETFL, O_NONBLOCK);
    }
    running->start = weft_now();
    return st;
}

/* ---- while it runs ---- */

/* Asks the supervisor, once, to end the program. */
static void end_it(struct running *running, weft_end why)
{
    if (running->end != WEFT_END_EXIT) return;
    running->end = why;
    weft_process_ask(&running->process);
}

/* Ends the program if the run is to stop. */
static void look_at_run(struct running *running)
{
    const weft_env *env = running->program->task_env;
    if (env->stopped && env->stopped()) end_it(running, WEFT_END_STOPPED);
    if (env->deadline > 0 && weft_now() >= env->deadline) end_it(running, WEFT_END_STOPPED);
}

static void look(struct running *running)
{
    look_at_run(running);
    double took = weft_now() - running->start;
    if (running->program->limit > 0 && took >= running->program->limit)
        end_it(running, WEFT_END_LIMIT);
}

/* Milliseconds until the next look. */
static int patience(const struct running *running)
{
    double wait = POLL_INTERVAL;
    if (running->program->limit > 0)
        wait = fmin(wait, running->start + running->program->limit - weft_now());
    return (int)ceil(1e3 * fmax(wait, 1e-3));
}

static void take_output(struct running *running, int i)
{
    char bytes[65536];
    ssize_t n = read(running->stream[i], bytes, sizeof bytes);
    if (n > 0) {
        weft_printed_add(running->printed, i, bytes, (size_t)n);
        weft_output_add(&running->output, bytes, (size_t)n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        close_fd(&running->stream[i]);
    }
}

/* Waits up to `wait` milliseconds for output, a signal or the end of the program. Returns 0
 * if none of these occurred. */
static int attend(struct running *running, int wait)
{
    struct pollfd watched[WEFT_STREAMS + 1];
    for (int i = 0; i < WEFT_STREAMS; i++)
        watched[i] = (struct pollfd){.fd = running->stream[i], .events = POLLIN};
    watched[WEFT_STREAMS] = (struct pollfd){.fd = running->process.link, .events = POLLIN};
    if (poll(watched, WEFT_STREAMS + 1, wait) <= 0) return 0;
    for (int i = 0; i < WEFT_STREAMS; i++)
        if (watched[i].revents) take_output(running, i);
    if (watched[WEFT_STREAMS].revents) weft_process_hear(&running->process);
    return 1;
}

static int is_open(const struct running *running)
{
    return running->stream[0] >= 0 || running->stream[1] >= 0;
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
static void doubt(struct running *running)
{
    const struct timespec nap = {.tv_nsec = 50000000};
    int status = running->process.status;
    if (running->end != WEFT_END_EXIT || !running->process.ended || status == 0) return;
    int shell = 128; /* added by sh to the number of a signal */
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - shell;
    double until = weft_now() + (is_asking(number) ? SIGNAL_WAIT : 0);
    for (look_at_run(running); running->end == WEFT_END_EXIT && weft_now() < until;
         look_at_run(running))
        nanosleep(&nap, NULL);
}

weft_status weft_program_run(const weft_program *program, weft_printed *printed,
                             weft_end *end, int *status)
{
    struct running running = {.program = program,
                              .printed = printed,
                              .process = {.link = -1},
                              .end = WEFT_END_EXIT};
    weft_arena *mem = weft_arena_new();
    weft_status st =
        weft_output_open(&running.output, program->log, program->log_most, mem);
    if (st == WEFT_OK) {
        st = start(&running);
        while (st == WEFT_OK && running.process.link >= 0) {
            look(&running);
            attend(&running, patience(&running));
        }
        double over = weft_now() + OUTPUT_WAIT;
        while (st == WEFT_OK && is_open(&running) && weft_now() < over)
            attend(&running, (int)(1e3 * POLL_INTERVAL));
        doubt(&running);
        weft_printed_end(printed);
        for (int i = 0; i < WEFT_STREAMS && st == WEFT_OK; i++)
            close_fd(&running.stream[i]);
        weft_status closed = weft_output_close(&running.output, program->log);
        if (st == WEFT_OK) st = closed;
        weft_process_drop(&running.process);
    }
    weft_arena_free(mem);
    *end = running.end;
    *status = running.process.ended ? running.process.status
                                    : SIGKILL; /* the supervisor was killed */
    return st;
}
