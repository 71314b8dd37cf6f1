/* One attempt at a job of task command: the environment of its program, and what its end
 * and its output say: a loss, or why it failed. */
#include "job.h"
#include "attempt.h"
#include "program.h"
#include "task/parameters.h"
#include "weft/log.h"
#include "weft/process.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define LOG_BYTES (1 << 20)

enum { LOSS, ERROR_RATE, TRAINING_LOSS, WANTED };

/* Names of the numbers that have columns of their own. */
static void fill_wanted(const command_task *command, const char *name[WANTED])
{
    name[LOSS] = command->loss + (*command->loss == '-');
    name[ERROR_RATE] = "error";
    name[TRAINING_LOSS] = "train_loss";
}

/* All other numbers that were printed. */
static const char *note_of(const command_task *command, const weft_printed *printed)
{
    const weft_stream *stream = &printed->stream[0];
    weft_arena *tmp = weft_arena_new();
    const char *text = NULL;
    for (int64_t i = stream->nwanted; i < stream->names.n; i++)
        text = command_add_note(text, stream->names.name[i], stream->number[i].value, tmp);
    text = text ? weft_arena_text(command->env.mem, "%s", text) : NULL;
    weft_arena_free(tmp);
    return text;
}

static char **environment(const command_task *command, const weft_job *job,
                          const struct trace *before, const char *dir, weft_arena *tmp)
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
        {"WEFT_SEED", weft_arena_text(tmp, "%lld", (long long)command_seed(command, job))},
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
static const char *end_failure(const command_task *command, weft_end end, int status,
                               weft_arena *tmp)
{
    if (end == WEFT_END_LIMIT)
        return weft_arena_text(tmp, "it took longer than command.time_limit = %g s",
                               command->time_limit);
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

/* Why an attempt failed; NULL: it did not, and *loss is its loss. */
static const char *failure_of(const command_task *command, const weft_printed *printed,
                              weft_end end, int status, double *loss, weft_arena *tmp)
{
    const char *why = end_failure(command, end, status, tmp);
    return why ? why : print_failure(command, printed, loss, tmp);
}

/* 1 if no number was printed. */
static int is_silent(const weft_printed *printed)
{
    const weft_stream *stream = &printed->stream[0];
    for (int64_t i = 0; i < stream->names.n; i++)
        if (stream->number[i].said != WEFT_SAID_NOTHING) return 0;
    return 1;
}

/* 1 if the shell cannot run the program. */
static int is_missing(const weft_printed *printed, weft_end end, int status)
{
    return end == WEFT_END_EXIT && WIFEXITED(status) && is_silent(printed) &&
           WEXITSTATUS(status) >= WEFT_NO_PROGRAM - 1 &&
           WEXITSTATUS(status) <= WEFT_NO_PROGRAM;
}

weft_status command_attempt(command_task *command, const weft_job *job,
                            const struct trace *before, const char *attempt,
                            struct outcome *outcome, weft_arena *tmp)
{
    weft_program program = {.run = command->run,
                            .env = environment(command, job, before, attempt, tmp),
                            .log = attempt_log(attempt, tmp),
                            .log_most = LOG_BYTES,
                            .limit = command->time_limit,
                            .task_env = &command->env};
    const char *wanted[WANTED];
    fill_wanted(command, wanted);
    weft_printed *printed = weft_printed_new(WANTED, wanted, tmp);
    weft_end end;
    int status;
    TRY(weft_program_run(&program, printed, &end, &status));
    if (end == WEFT_END_STOPPED) return weft_fail(WEFT_STOP, "the run was stopped");
    const char *last = weft_printed_last(printed);
    const char *why = failure_of(command, printed, end, status, &outcome->loss, tmp);
    if (!why) why = attempt_take_log(attempt, tmp);
    if (printed->left_out)
        weft_log(WEFT_WARN,
                 "job %lld, trial %lld printed numbers of more than %d names; "
                 "further names are left out",
                 (long long)job->id, (long long)job->trial, WEFT_MAX_PRINTED);
    if (!why) {
        outcome->error = value_of(printed, "error");
        outcome->train_loss = value_of(printed, "train_loss");
        outcome->note = note_of(command, printed);
        return WEFT_OK;
    }
    outcome->loss = INFINITY;
    int missing = is_missing(printed, end, status);
    outcome->failure = missing ? WEFT_NOT_STARTED : WEFT_CRASHED;
    if (missing)
        why = weft_arena_text(
            tmp, "command.run = %s: the shell cannot run it: %s", command->run,
            *last ? last : "it printed nothing and ended as if it were not there");
    else if (*last)
        why = weft_arena_text(tmp, "%s; its last line: %s", why, last);
    const char *log =
        attempt_keep_log(attempt, command->env.failed, job->trial, job->id, tmp);
    snprintf(command->why, sizeof command->why, "%s%s%s", why, log ? "; see " : "",
             log ? log : "");
    outcome->why = command->why;
    return WEFT_OK;
}
