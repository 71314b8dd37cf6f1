/* One attempt at a job of task command: its program runs under a supervisor
 * (worker/process.c), in an environment that says what to do; what it prints and how it
 * ends give a loss, or why it failed. The rank sleeps meanwhile; it wakes for output, for
 * signals and for time limits. */
#include "command.h"
#include "task/parts.h"
#include "weft/base/base.h"
#include "weft/worker/link.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_INTERVAL 0.2 /* seconds between checks whether the run was asked to stop */
#define OUTPUT_WAIT   1.0 /* seconds for output that other processes may still hold */
#define SIGNAL_WAIT   2.0 /* seconds in which the rank may get its program's signal */

/* Why a program ended. */
enum end {
    END_EXIT,   /* by itself, or by a signal that weft did not send */
    END_LIMIT,  /* its time limit */
    END_STOPPED /* the run was asked to stop */
};

/* A program that runs, or has run. */
struct running {
    const command_task *command;
    char **env;      /* its environment, ended by NULL */
    const char *log; /* file */
    weft_printed *printed;
    weft_output output;
    weft_process process;
    int stream[WEFT_STREAMS]; /* read ends; -1 at their end */
    enum end end;
    int status; /* as of waitpid */
    double start;
};

static weft_status start_program(struct running *running)
{
    int end[WEFT_STREAMS][2], given[WEFT_STREAMS], err = 0;
    for (int i = 0; i < WEFT_STREAMS; i++) end[i][0] = end[i][1] = -1;
    for (int i = 0; i < WEFT_STREAMS && err == 0; i++) {
        err = pipe(end[i]) != 0 ? errno : weft_process_up(end[i]);
        given[i] = end[i][1];
    }
    weft_status st =
        err == 0 ? weft_process_start(&running->process, running->command->run,
                                      running->env, WEFT_STREAMS, given)
                 : weft_fail(WEFT_EFILE, "cannot start a program: %s", strerror(err));
    for (int i = 0; i < WEFT_STREAMS; i++) {
        weft_process_close(&end[i][1]);
        if (st != WEFT_OK) weft_process_close(&end[i][0]);
        running->stream[i] = end[i][0];
        if (st == WEFT_OK) fcntl(running->stream[i], F_SETFL, O_NONBLOCK);
    }
    running->start = weft_now();
    return st;
}

/* ---- while it runs ---- */

/* Asks the supervisor, once, to end the program. */
static void end_it(struct running *running, enum end why)
{
    if (running->end != END_EXIT) return;
    running->end = why;
    weft_process_ask(&running->process);
}

static void look_at_run(struct running *running)
{
    if (halt_is_asked(&running->command->env)) end_it(running, END_STOPPED);
}

static void look_around(struct running *running)
{
    look_at_run(running);
    double took = weft_now() - running->start;
    if (running->command->time_limit > 0 && took >= running->command->time_limit)
        end_it(running, END_LIMIT);
}

static int patience(const struct running *running)
{
    double wait = POLL_INTERVAL;
    if (running->command->time_limit > 0)
        wait = fmin(wait, running->start + running->command->time_limit - weft_now());
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
        weft_process_close(&running->stream[i]);
    }
}

/* Waits up to `wait` milliseconds for output, a signal or the end of the program. Returns 0
 * if none of these occurred. */
static int await_output(struct running *running, int wait)
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
static void doubt_end(struct running *running)
{
    const struct timespec nap = {.tv_nsec = 50000000};
    int status = running->process.status;
    if (running->end != END_EXIT || !running->process.ended || status == 0) return;
    int shell = 128; /* added by sh to the number of a signal */
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - shell;
    double until = weft_now() + (is_asking(number) ? SIGNAL_WAIT : 0);
    for (look_at_run(running); running->end == END_EXIT && weft_now() < until;
         look_at_run(running))
        nanosleep(&nap, NULL);
}

/* Runs it to its end. ECONF: the shell cannot be started; EFILE. */
static weft_status run_program(struct running *running)
{
    WEFT_SCRATCH(mem);
    weft_status st =
        weft_output_open(&running->output, running->log, COMMAND_LOG_BYTES, mem);
    if (st == WEFT_OK) {
        st = start_program(running);
        while (st == WEFT_OK && running->process.link >= 0) {
            look_around(running);
            await_output(running, patience(running));
        }
        double over = weft_now() + OUTPUT_WAIT;
        while (st == WEFT_OK && is_open(running) && weft_now() < over)
            await_output(running, (int)(1e3 * POLL_INTERVAL));
        doubt_end(running);
        weft_printed_end(running->printed);
        for (int i = 0; i < WEFT_STREAMS && st == WEFT_OK; i++)
            weft_process_close(&running->stream[i]);
        weft_status closed = weft_output_close(&running->output, running->log);
        if (st == WEFT_OK) st = closed;
        weft_process_drop(&running->process);
    }
    running->status = running->process.ended ? running->process.status
                                             : SIGKILL; /* the supervisor was killed */
    return st;
}

/* ---- what it is told, and what it told ---- */

const char *command_loss_name(const command_task *command)
{
    return command->loss + (*command->loss == '-');
}

double command_minimised(const command_task *command, double x)
{
    return *command->loss == '-' ? -x : x;
}

void command_fail(command_task *command, const char *why, const char *log,
                  command_outcome *outcome)
{
    snprintf(command->why, sizeof command->why, "%s%s%s", why, log ? "; see " : "",
             log ? log : "");
    outcome->why = command->why;
    outcome->loss = INFINITY;
}

enum { LOSS, ERROR_RATE, TRAINING_LOSS, WANTED };

/* Names of the numbers that have columns of their own. */
static void fill_wanted(const command_task *command, const char *name[WANTED])
{
    name[LOSS] = command_loss_name(command);
    name[ERROR_RATE] = "error";
    name[TRAINING_LOSS] = "train_loss";
}

/* All other numbers that were printed. */
static const char *note_of(const command_task *command, const weft_printed *printed)
{
    const weft_stream *stream = &printed->stream[0];
    WEFT_SCRATCH(tmp);
    const char *text = NULL;
    for (int64_t i = stream->nwanted; i < stream->names.n; i++)
        text = weft_note_add(text, stream->names.name[i], stream->number[i].value, tmp);
    text = text ? weft_arena_text(command->env.mem, "%s", text) : NULL;
    return text;
}

static char **environment(const command_task *command, const weft_job *job,
                          const weft_trace *before, const char *dir, weft_arena *tmp)
{
    static const weft_opt number = {.type = WEFT_REAL};
    char text[3][64];
    const double resource[3] = {job->resource, before->resource,
                                before->resource + job->resource};
    for (int i = 0; i < 3; i++)
        weft_opt_show(&number, resource[i], text[i], sizeof text[i]);
    int n;
    const char **key, **value;
    weft_parameters(command->env.conf, command->env.space, job->mix.conf, &n, &key, &value,
                    tmp);
    const struct {
        const char *name, *value;
    } fixed[] = {
        {"WEFT_DIR", dir},
        {"WEFT_RESOURCE", text[0]},
        {"WEFT_DONE", text[1]},
        {"WEFT_TOTAL", text[2]},
        {"WEFT_TRIAL", weft_arena_text(tmp, "%lld", (long long)job->trial)},
        {"WEFT_JOB", weft_arena_text(tmp, "%lld", (long long)job->id)},
        {"WEFT_SEED",
         weft_arena_text(tmp, "%lld", (long long)weft_trial_seed(&command->env, job))},
        {"WEFT_PARAMETERS", weft_parameters_json(n, key, value, tmp)},
    };
    int nfixed = (int)(sizeof fixed / sizeof *fixed);
    const char **names = WEFT_NEW(tmp, const char *, n + nfixed);
    const char **values = WEFT_NEW(tmp, const char *, n + nfixed);
    for (int i = 0; i < n; i++) {
        names[i] = weft_parameter_variable(key[i], tmp);
        values[i] = value[i];
    }
    for (int i = 0; i < nfixed; i++) {
        names[n + i] = fixed[i].name;
        values[n + i] = fixed[i].value;
    }
    return weft_environment(n + nfixed, names, values, tmp);
}

/* What was printed of that name, NaN for nothing. */
static double value_of(const weft_printed *printed, const char *name)
{
    const weft_number *number = weft_printed_find(printed, 0, name);
    return number ? number->value : (double)NAN;
}

/* Why the end of an attempt is a failure; NULL: it is none. */
static const char *end_failure(const struct running *running, weft_arena *tmp)
{
    int status = running->status;
    if (running->end == END_LIMIT)
        return weft_arena_text(tmp, "it took longer than command.time_limit = %g s",
                               running->command->time_limit);
    if (WIFSIGNALED(status))
        return weft_arena_text(tmp, "signal %d ended it", WTERMSIG(status));
    int code = WEXITSTATUS(status), number = code - 128; /* added by a shell */
    if (number > 0 && number <= SIGRTMAX)
        return weft_arena_text(tmp, "it ended with status %d, as by signal %d", code,
                               number);
    return code != 0 ? weft_arena_text(tmp, "it ended with status %d", code) : NULL;
}

/* Why the last text of a wanted name is no number; NULL: it is one, or nothing. */
static const char *text_failure(const weft_number *number, weft_arena *tmp)
{
    static const char *const why[] = {
        [WEFT_SAID_HUGE] = "which is beyond the range of double",
        [WEFT_SAID_LONG] = "which is too long for a number",
        [WEFT_SAID_BROKEN] = "which is not a number as a whole",
        [WEFT_SAID_TEXT] = "which is no number"};
    if (!number || number->said == WEFT_SAID_NUMBER) return NULL;
    int comma = number->said == WEFT_SAID_BROKEN && strchr(number->text, ',');
    return weft_arena_text(tmp, "it printed \"%s\", %s", number->text,
                           comma ? "but numbers have a decimal point and no commas; set "
                                   "LC_NUMERIC=C, if they are those of a locale"
                                 : why[number->said]);
}

/* Why what was printed is a failure; NULL: it is none, and *loss is the loss. */
static const char *print_failure(const command_task *command, const weft_printed *printed,
                                 double *loss, weft_arena *tmp)
{
    const char *name[WANTED];
    fill_wanted(command, name);
    const weft_number *number = weft_printed_find(printed, 0, name[LOSS]);
    if (!number && weft_printed_find(printed, 1, name[LOSS]))
        return weft_arena_text(tmp,
                               "it printed its %s to standard error; expected "
                               "%s=NUMBER on standard output",
                               name[LOSS], name[LOSS]);
    if (!number)
        return weft_arena_text(tmp,
                               "it printed no %s=NUMBER, in one word, to standard "
                               "output",
                               name[LOSS]);
    const char *why = text_failure(number, tmp);
    for (int i = LOSS + 1; i < WANTED && !why; i++) {
        const weft_number *other = weft_printed_find(printed, 0, name[i]);
        if (other && other->said != WEFT_SAID_TEXT) why = text_failure(other, tmp);
    }
    if (why) return why;
    if (!isfinite(number->value))
        return weft_arena_text(tmp, "its %s is %g", name[LOSS], number->value);
    *loss = command_minimised(command, number->value);
    return NULL;
}

static int is_silent(const weft_printed *printed)
{
    const weft_stream *stream = &printed->stream[0];
    for (int64_t i = 0; i < stream->names.n; i++)
        if (stream->number[i].said != WEFT_SAID_NOTHING) return 0;
    return 1;
}

/* 1 if the shell cannot run the program. */
static int is_missing(const struct running *running)
{
    int status = running->status;
    return running->end == END_EXIT && WIFEXITED(status) && is_silent(running->printed) &&
           WEXITSTATUS(status) >= WEFT_NO_PROGRAM - 1 &&
           WEXITSTATUS(status) <= WEFT_NO_PROGRAM;
}

weft_status command_attempt(command_task *command, const weft_job *job,
                            const weft_trace *before, const char *attempt,
                            command_outcome *outcome, weft_arena *tmp)
{
    const char *wanted[WANTED];
    fill_wanted(command, wanted);
    weft_printed *printed = weft_printed_new(WANTED, wanted, tmp);
    struct running running = {.command = command,
                              .env = environment(command, job, before, attempt, tmp),
                              .log = attempt_log(attempt, tmp),
                              .printed = printed,
                              .process = {.link = -1}};
    TRY(run_program(&running));
    if (running.end == END_STOPPED) return weft_fail(WEFT_STOP, "the run was stopped");
    const char *last = weft_printed_last(printed), *why = end_failure(&running, tmp);
    if (!why) why = print_failure(command, printed, &outcome->loss, tmp);
    if (!why) why = attempt_take_log(attempt, tmp);
    if (printed->left_out) weft_numbers_warn(job->id);
    if (!why) {
        outcome->error = value_of(printed, "error");
        outcome->train_loss = value_of(printed, "train_loss");
        outcome->note = note_of(command, printed);
        return WEFT_OK;
    }
    int missing = is_missing(&running);
    outcome->failure = missing ? WEFT_NOT_STARTED : WEFT_CRASHED;
    if (missing)
        why = weft_arena_text(
            tmp, "command.run = %s: the shell cannot run it: %s", command->run,
            *last ? last : "it printed nothing and ended as if it were not there");
    else if (*last)
        why = weft_arena_text(tmp, "%s; its last line: %s", why, last);
    const char *log =
        attempt_keep_log(attempt, command->env.failed, job->trial, job->id, tmp);
    command_fail(command, why, log, outcome);
    return WEFT_OK;
}
