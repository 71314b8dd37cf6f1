/* Whether a program's loss is a function of its parameters and its seed: the same job is
 * done several times, in a directory that is removed again. */
#include "repeats.h"
#include "attempt.h"
#include "job.h"
#include "serve.h"
#include "weft/clock.h"
#include "weft/par.h"
#include "weft/tree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST = 3 };

weft_status command_try(command_task *command, const weft_job *job, struct outcome *outcome)
{
    const char *attempt;
    const struct trace before = {0};
    *outcome = (struct outcome){.after = {.jobs = 1, .trial = job->trial, .job = job->id}};
    if (command->serve) {
        TRY(command_serve_job(command, job, &before, outcome));
        command_holder.forget(command, job->trial, job->id);
        return WEFT_OK;
    }
    weft_arena *tmp = weft_arena_new();
    weft_status st =
        attempt_make(attempt_path(command->dir, job->trial, job->id, tmp), &attempt, tmp);
    if (st == WEFT_OK) {
        st = command_attempt(command, job, &before, attempt, outcome, tmp);
        attempt_drop(attempt);
    }
    weft_arena_free(tmp);
    return st;
}

/* A directory for it all. */
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
static weft_status repeat(command_task *command, int n, double *loss, double *seconds)
{
    weft_arena *mem = command->env.mem;
    const weft_space *space = command->env.space;
    weft_mix mix = weft_mix_new(1, space->dim, mem);
    weft_space_config(space, 0, mix.conf);
    weft_job job = weft_job_new(0, 1, &mix);
    for (int i = 0; i < n; i++) {
        struct outcome outcome;
        if (command->serve && i == n - 1) command_serve_end(command);
        double begun = weft_now();
        TRY(command_try(command, &job, &outcome));
        seconds[i] = weft_now() - begun;
        loss[i] = command_minimised(command, outcome.loss); /* as it was told */
        if (outcome.failure != WEFT_SUCCEEDED)
            return weft_fail(WEFT_ECONF, "a job of the program failed: %s", outcome.why);
    }
    if (command->serve) command_serve_end(command);
    return WEFT_OK;
}

/* The lines, of what was measured. */
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

weft_status command_repeats(void *self, const char *place, const char **told)
{
    command_task *command = self;
    weft_team *team = command->env.team;
    int n = command->serves ? MOST : MOST - 1;
    double loss[MOST], seconds[MOST];
    weft_status st = WEFT_OK;
    if (team->rank == 0) {
        st = make_place(command, place);
        if (st == WEFT_OK) st = repeat(command, n, loss, seconds);
        if (st == WEFT_OK) weft_tree_remove(command->dir);
    }
    weft_sleep(team);
    *told = team->rank == 0 && st == WEFT_OK ? lines_of(command, n, loss, seconds) : "";
    return weft_agree(st, team);
}
