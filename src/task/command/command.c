/* Task command: tunes any program. A job is one run of a command line, which gets the
 * parameters, the resource to add and a directory for its state from its environment, and
 * prints its loss. The state of a trial identifies its directory. */
#include "command.h"
#include "task/parts.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/par/par.h"
#include "weft/worker/link.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TRIES = 3 }; /* of a job, to see whether they give one loss */

static const weft_opt command_opts[] = {
    WEFT_TEXT_OPT("run", command_task, run, "",
                  "command line for /bin/sh that trains and prints loss=NUMBER. Its "
                  "parameters are $PARAM_name, the resource to add $WEFT_RESOURCE, a "
                  "directory for its state $WEFT_DIR"),
    WEFT_TEXT_OPT("loss", command_task, loss, "loss",
                  "name of the number that is minimised, the last that was printed; with a "
                  "minus before it the number is maximised"),
    WEFT_REAL_OPT("time_limit", command_task, time_limit, "0", 0, 1e9,
                  "time limit of a job in seconds, after which it is ended and counts as "
                  "failed; 0: none"),
    WEFT_INT_OPT("retries", command_task, retries, "0", 0, 1000,
                 "how often a job that failed is tried again, from where it began, by the "
                 "next team if there are several"),
    WEFT_BOOL_OPT("serve", command_task, serves, "no",
                  "the program is started once on each team and does job after job, by "
                  "weft.program of python/weft.py or the protocol of src/worker/README.md; "
                  "trials stay in its memory"),
    WEFT_CHOICE_OPT("state", command_task, state, "files", "none|files",
                    "with command.serve, what becomes of a trial that goes on in another "
                    "process: files: the program saves it when it is asked to; none: it is "
                    "trained from the start again",
                    .role = WEFT_PER_SESSION),
    WEFT_INT_OPT(
        "keep", command_task, keep, "100", 1, 1e6,
        "with command.serve, states that a program keeps in memory; of more, those "
        "with the highest losses are saved, or trained again if they go on"),
    {0},
};

/* ---- setting up ---- */

static const char *command_single(const void *self)
{
    (void)self;
    return "run.task = command";
}

/* ECONF if two parameters have the same name as variables. */
static weft_status check_names(const weft_conf *conf, weft_arena *mem)
{
    for (int i = 0; i < conf->n; i++)
        for (int j = 0; j < i; j++) {
            const weft_entry *a = &conf->entry[j], *b = &conf->entry[i];
            if (strcmp(a->section, WEFT_PARAMETERS) != 0 ||
                strcmp(b->section, WEFT_PARAMETERS) != 0)
                continue;
            const char *name = weft_parameter_variable(b->key, mem);
            if (strcmp(name, weft_parameter_variable(a->key, mem)) == 0)
                return weft_entry_fail(
                    b, "the variable %s would be that of %s, too; rename one of them", name,
                    a->key);
        }
    return WEFT_OK;
}

static weft_status command_setup(void *self, const weft_env *env)
{
    command_task *command = self;
    command->env = *env;
    if (getenv(WEFT_CHILD_MARK))
        return weft_fail(WEFT_ECONF,
                         "task command starts the program that it is part of to "
                         "supervise others; that program is not weft, and has "
                         "to call weft_process_child first");
    if (command->run[strspn(command->run, " ")] == '\0')
        return weft_fail(WEFT_ECONF,
                         "command.run names no program; give a command line, as "
                         "in run = python3 train.py --rate=$PARAM_rate");
    if (!weft_is_number_name(command_loss_name(command)))
        return weft_fail(WEFT_ECONF,
                         "command.loss = %s: expected the name of a number that the "
                         "program prints: a letter or _, then letters, digits, _ . - /",
                         command->loss);
    TRY(check_names(env->conf, env->mem));
    command->dir = NULL;
    command->serve = NULL;
    if (!env->dir) return WEFT_OK;
    enum { MOST = 4096 };
    char *here = WEFT_NEW(env->mem, char, MOST);
    if (!getcwd(here, MOST))
        return weft_fail(WEFT_EFILE, "the current directory has no name: %s",
                         strerror(errno));
    command->dir =
        *env->dir == '/' ? env->dir : weft_arena_text(env->mem, "%s/%s", here, env->dir);
    if (command->serves) command_serve_new(command);
    return WEFT_OK;
}

/* ---- a job ---- */

/* The directory of a job that failed is not kept: no job begins with it. */
static weft_status run_job(command_task *command, const weft_job *job,
                           const weft_trace *before, command_outcome *outcome)
{
    WEFT_SCRATCH(tmp);
    const char *path = attempt_path(command->dir, job->trial, job->id, tmp), *attempt;
    attempt_parent parent = {attempt_path(command->dir, before->trial, before->job, tmp),
                             before->job};
    weft_status st = attempt_begin(before->jobs > 0 ? &parent : NULL, path, &attempt, tmp);
    if (st == WEFT_OK) st = command_attempt(command, job, before, attempt, outcome, tmp);
    outcome->after.failed = outcome->failure != WEFT_SUCCEEDED;
    if (st == WEFT_OK && !outcome->after.failed)
        st = attempt_keep(attempt, path);
    else
        attempt_drop(attempt);
    return st;
}

/* By the first rank of a team, while the others sleep. */
static weft_status run_on_leader(command_task *command, const weft_job *job,
                                 const weft_state *state, command_outcome *outcome)
{
    weft_trace before = weft_trace_of(state);
    weft_check(job->mix.k == 1, "%d configurations", job->mix.k);
    weft_check(command->dir, "task command has no directory");
    *outcome = (command_outcome){
        .loss = INFINITY, .error = (double)NAN, .train_loss = (double)NAN};
    outcome->after = weft_trace_after(&before, job);
    if (before.failed) return WEFT_OK;
    if (!command->serve) return run_job(command, job, &before, outcome);
    return command_serve_job(command, job, &before, outcome);
}

static int command_retries(const void *self)
{
    return ((const command_task *)self)->retries;
}

/* ---- jobs that are not kept ---- */

/* Does a job, from the start of its trial, of which nothing is kept. WEFT_STOP, EFILE. By
 * the first rank of a team. */
static weft_status try_job(command_task *command, const weft_job *job,
                           command_outcome *outcome)
{
    const char *attempt;
    const weft_trace before = {0};
    *outcome = (command_outcome){.after = {.jobs = 1, .trial = job->trial, .job = job->id}};
    if (command->serve) {
        TRY(command_serve_job(command, job, &before, outcome));
        command_holder.forget(command, job->trial, job->id);
        return WEFT_OK;
    }
    WEFT_SCRATCH(tmp);
    weft_status st =
        attempt_make(attempt_path(command->dir, job->trial, job->id, tmp), &attempt, tmp);
    if (st == WEFT_OK) {
        st = command_attempt(command, job, &before, attempt, outcome, tmp);
        attempt_drop(attempt);
    }
    return st;
}

static weft_status make_place(command_task *command, const char *place)
{
    if (mkdir(place, 0700) != 0)
        return weft_fail(WEFT_EFILE,
                         "cannot make a directory %s: %s; set TMPDIR to a directory that "
                         "can be written to",
                         place, strerror(errno));
    command->dir = place;
    command->env.failed = weft_arena_text(command->env.mem, "%s/failed", place);
    if (command->serves) command_serve_new(command);
    return WEFT_OK;
}

/* Does the job n times, the last one by a program of its own. ECONF: it failed. */
static weft_status repeat_job(command_task *command, int n, double *loss, double *seconds)
{
    weft_arena *mem = command->env.mem;
    const weft_space *space = command->env.space;
    weft_mix mix = weft_mix_new(1, space->dim, mem);
    weft_space_config(space, 0, mix.conf);
    weft_job job = weft_job_new(0, 1, &mix);
    for (int i = 0; i < n; i++) {
        command_outcome outcome;
        if (command->serve && i == n - 1) command_serve_end(command);
        double begun = weft_now();
        TRY(try_job(command, &job, &outcome));
        seconds[i] = weft_now() - begun;
        loss[i] = command_minimised(command, outcome.loss); /* as it was told */
        if (outcome.failure != WEFT_SUCCEEDED)
            return weft_fail(WEFT_ECONF, "a job of the program failed: %s", outcome.why);
    }
    if (command->serve) command_serve_end(command);
    return WEFT_OK;
}

static const char *lines_of(const command_task *command, int n, const double *loss,
                            const double *seconds)
{
    weft_arena *mem = command->env.mem;
    int same = 1;
    const char *losses = "", *done = n > 2 ? "3 times, by 2 programs" : "twice";
    for (int i = 0; i < n; i++) {
        same &= memcmp(&loss[i], &loss[0], sizeof *loss) == 0;
        losses = weft_arena_text(mem, "%s%s%.17g", losses, i > 0 ? ", " : "", loss[i]);
    }
    const char *found =
        same ? weft_arena_text(mem, "the same loss, %.9g", loss[0])
             : weft_arena_text(mem, "OTHER LOSSES, %s; a digest is that of one run only",
                               losses);
    const char *times =
        n > 2 ? weft_arena_text(mem,
                                "%.3g s, the first one of a program %.3g s with its start",
                                seconds[1], (seconds[0] + seconds[2]) / 2)
              : weft_arena_text(mem, "%.3g s, with the start of its program",
                                (seconds[0] + seconds[1]) / 2);
    return weft_arena_text(mem,
                           "programs  a job of 1, done %s: %s\ntimes     a job takes %s",
                           done, found, times);
}

/* As weft_task.remote.repeats: a job is done twice by one program, and by another where
 * programs are kept. */
static weft_status command_repeats(void *self, const char *place, const char **told)
{
    command_task *command = self;
    weft_team *team = command->env.team;
    int n = command->serves ? MOST_TRIES : MOST_TRIES - 1;
    double loss[MOST_TRIES], seconds[MOST_TRIES];
    weft_status st = WEFT_OK;
    if (team->rank == 0) {
        st = make_place(command, place);
        if (st == WEFT_OK) st = repeat_job(command, n, loss, seconds);
        if (st == WEFT_OK) weft_tree_remove(command->dir);
    }
    weft_sleep(team);
    *told = team->rank == 0 && st == WEFT_OK ? lines_of(command, n, loss, seconds) : "";
    return weft_agree(st, team);
}

static weft_status probe_on_leader(command_task *command, const weft_job *job, int *works)
{
    command_outcome outcome;
    TRY(try_job(command, job, &outcome));
    *works = outcome.failure == WEFT_SUCCEEDED;
    return WEFT_OK;
}

static weft_status command_probe(void *self, const weft_job *job, int *works)
{
    command_task *command = self;
    weft_team *team = command->env.team;
    weft_status st = team->rank == 0 ? probe_on_leader(command, job, works) : WEFT_OK;
    weft_sleep(team);
    TRY(weft_agree(st, team));
    weft_bcast(team, works, sizeof *works, 0);
    return WEFT_OK;
}

/* ---- results ---- */

enum { VALID_LOSS, VALID_ERROR, TRAIN_LOSS };
static const weft_metric command_metrics[] = {
    {"valid_loss", "what the program printed as command.loss", "loss", NULL},
    {"valid_error", "what it printed as error; nan: nothing", "1", "error %"},
    {"train_loss", "what it printed as train_loss; nan: nothing", "loss", NULL},
    {0}};

static const weft_metric command_rows[] = {
    {"step", "resource of the trial at a report of the program", "1", NULL},
    {"loss", "what it reported", "loss", NULL},
    {0}};

static const weft_metric command_scores[] = {
    {"loss", "what the program printed", "loss", "loss"},
    {"error", "what the program printed", "1", "error %"},
    {0}};

static weft_status command_step(void *self, const weft_job *job, int64_t unit,
                                weft_state *state, double *row, weft_result *res)
{
    command_task *command = self;
    weft_team *team = command->env.team;
    (void)unit;
    (void)row;
    command_outcome outcome = {.loss = 0};
    weft_status st =
        team->rank == 0 ? run_on_leader(command, job, state, &outcome) : WEFT_OK;
    weft_sleep(team);
    TRY(weft_agree(st, team));
    res->note = outcome.note;
    res->why = outcome.why;
    res->nrow = outcome.nrow;
    res->row = outcome.row;
    res->spent = outcome.spent;
    weft_bcast(team, &outcome, sizeof outcome, 0);
    weft_trace_put(&outcome.after, state);
    res->failure = outcome.failure;
    weft_result_single(res, outcome.loss, outcome.error, job->resource);
    res->metric[VALID_LOSS] = outcome.loss;
    res->metric[VALID_ERROR] = outcome.error;
    res->metric[TRAIN_LOSS] = outcome.train_loss;
    return WEFT_OK;
}

WEFT_PLUGIN(task, command) = {
    .kind = WEFT_KIND("command", command_task, command_opts,
                      "tune any program: a command line that prints its loss"),
    .parts = weft_parameters_parts,
    .traits = {.data = WEFT_DATA_NONE,
               .files = 1,
               .holder = &command_holder,
               .metrics = command_metrics,
               .rows = command_rows,
               .scores = command_scores,
               .lost = "in the warnings above why the programs failed"},
    .tuner = "random",
    .plan = {.single = command_single},
    .tuned = weft_programs_tuned,
    .setup = command_setup,
    .nstate = weft_programs_nstate,
    .cost = weft_programs_cost,
    .remote = {.retries = command_retries,
               .probe = command_probe,
               .repeats = command_repeats},
    .step = command_step,
};
