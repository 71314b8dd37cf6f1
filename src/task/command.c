/* Task command: tunes any program. A job is one run of a command line, which gets the
 * parameters, the resource to add and a directory for its state from its environment, and
 * prints its loss. The state of a trial identifies its directory (attempt.h). Called by the
 * scheduler. */
#include "command.h"
#include "attempt.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_NAME  "weft.log"
#define LOG_BYTES (1 << 20)

typedef struct command {
    const char *run, *loss;
    double time_limit;
    int retries;
    weft_env env;
    const char *dir; /* absolute path of env.dir */
} command;

static const weft_opt command_opts[] = {
    {.name = "run",
     .type = WEFT_TEXT,
     .at = offsetof(command, run),
     .def = "",
     .about = "command line for /bin/sh that trains and prints loss=NUMBER; it has its "
              "parameters as $PARAM_name, the resource to add as $WEFT_RESOURCE, a "
              "directory for its state as $WEFT_DIR"},
    {.name = "loss",
     .type = WEFT_TEXT,
     .at = offsetof(command, loss),
     .def = "loss",
     .about = "name of the number that is minimised, the last that was printed; with a "
              "minus before it the number is maximised"},
    {.name = "time_limit",
     .type = WEFT_REAL,
     .at = offsetof(command, time_limit),
     .def = "0",
     .lo = 0,
     .hi = 1e9,
     .about = "time limit of a job in seconds, after which it is ended and counts as "
              "failed; 0: none"},
    {.name = "retries",
     .type = WEFT_INT,
     .at = offsetof(command, retries),
     .def = "0",
     .lo = 0,
     .hi = 1000,
     .about = "how often a job that failed is tried again, from where it began"},
    {0}};

static const weft_kind parameters = {.name = WEFT_PARAMETERS,
                                     .about = "what the program of [command] is given: any "
                                              "names; those with a range are axes",
                                     .size = 1,
                                     .opts = weft_own_keys};
static const weft_kind *const command_parts[] = {&parameters, NULL};

/* ---- the state ---------------------------------------------------------------------- */

/* The progress of a trial, stored as the doubles of its state. */
typedef struct trace {
    int failed;         /* 1: a job failed, so that the trial cannot be continued */
    int64_t jobs;       /* done; 0: there is no directory */
    int64_t trial, job; /* job and trial of the directory */
    double resource;    /* in all */
} trace;

enum { NUMBERS = 5 };

static void put_trace(const trace *t, weft_state *state)
{
    const double number[NUMBERS] = {t->failed, (double)t->jobs, (double)t->trial,
                                    (double)t->job, t->resource};
    memcpy(state->aux, number, sizeof number);
}

static trace read_trace(const weft_state *state)
{
    const double *x = state->aux;
    return (trace){(int)x[0], (int64_t)x[1], (int64_t)x[2], (int64_t)x[3], x[4]};
}

/* ---- setting up --------------------------------------------------------------------- */

static const char *command_single(const void *self)
{
    (void)self;
    return "run.task = command";
}

static weft_status command_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    (void)self;
    kind[0] = &parameters;
    *n = 1;
    return WEFT_OK;
}

/* ECONF if two parameters have the same name as variables. */
static weft_status check_names(const weft_conf *c, weft_arena *mem)
{
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < i; j++) {
            const weft_entry *a = &c->entry[j], *b = &c->entry[i];
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
    command *t = self;
    t->env = *env;
    if (getenv(WEFT_CHILD_MARK))
        return weft_fail(WEFT_ECONF,
                         "task command starts the program that it is part of to "
                         "supervise others; that program is not weft, and has "
                         "to call weft_command_child first");
    if (t->run[strspn(t->run, " ")] == '\0')
        return weft_fail(WEFT_ECONF,
                         "command.run names no program; give a command line, as "
                         "in run = python3 train.py --rate=$PARAM_rate");
    if (!weft_printed_is_name(t->loss + (*t->loss == '-')))
        return weft_fail(WEFT_ECONF,
                         "command.loss = %s: expected the name of a number that the "
                         "program prints: a letter or _, then letters, digits, _ . - /",
                         t->loss);
    TRY(check_names(env->conf, env->mem));
    t->dir = NULL;
    if (!env->dir) return WEFT_OK;
    enum { MOST = 4096 };
    char *here = WEFT_NEW(env->mem, char, MOST);
    if (!getcwd(here, MOST))
        return weft_fail(WEFT_EFILE, "the current directory has no name: %s",
                         strerror(errno));
    t->dir =
        *env->dir == '/' ? env->dir : weft_arena_text(env->mem, "%s/%s", here, env->dir);
    return WEFT_OK;
}

static void command_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)self;
    (void)job;
    size->nx = 0;
    size->naux = NUMBERS;
}

/* The cost is not known; a job of more resource is assumed to cost more. */
static void command_cost(const void *self, const weft_job *job, weft_cost *out)
{
    (void)self;
    *out = (weft_cost){.flops = job->resource};
}

static weft_price command_price(const void *self)
{
    (void)self;
    return WEFT_PRICE_UNKNOWN;
}

/* ---- a job -------------------------------------------------------------------------- */

/* The outcome of a job. */
typedef struct outcome {
    trace after;
    double loss, error, train_loss;
    const char *note; /* of the first rank */
} outcome;

enum { LOSS, ERROR_RATE, TRAINING_LOSS, WANTED };

/* Names of the numbers that have columns of their own. */
static void fill_wanted(const command *t, const char *name[WANTED])
{
    name[LOSS] = t->loss + (*t->loss == '-');
    name[ERROR_RATE] = "error";
    name[TRAINING_LOSS] = "train_loss";
}

/* All other numbers that were printed. */
static const char *note_of(const command *t, const weft_printed *p)
{
    const weft_stream *s = &p->stream[0];
    weft_arena *tmp = weft_arena_new();
    const char *text = "";
    for (int64_t i = s->nwanted; i < s->names.n; i++)
        text = weft_arena_text(tmp, "%s%s%s=%.17g", text, *text ? " " : "",
                               s->names.name[i], s->number[i].value);
    text = *text ? weft_arena_text(t->env.mem, "%s", text) : NULL;
    weft_arena_free(tmp);
    return text;
}

static char **environment(const command *t, const weft_job *job, const trace *before,
                          const char *dir, weft_arena *tmp)
{
    static const weft_opt number = {.type = WEFT_REAL};
    char text[3][64];
    const double resource[3] = {job->resource, before->resource,
                                before->resource + job->resource};
    for (int i = 0; i < 3; i++)
        weft_opt_show(&number, resource[i], text[i], sizeof text[i]);
    weft_rng4 r = weft_rng_at(t->env.seed, WEFT_RNG_WEIGHTS, (uint64_t)job->trial, 0, 0);
    int n;
    const char **key, **value;
    weft_parameters(t->env.conf, t->env.space, job->mix.conf, &n, &key, &value, tmp);
    const struct {
        const char *name, *value;
    } fixed[] = {
        {"WEFT_DIR", dir},
        {"WEFT_RESOURCE", text[0]},
        {"WEFT_DONE", text[1]},
        {"WEFT_TOTAL", text[2]},
        {"WEFT_TRIAL", weft_arena_text(tmp, "%lld", (long long)job->trial)},
        {"WEFT_JOB", weft_arena_text(tmp, "%lld", (long long)job->id)},
        {"WEFT_SEED", weft_arena_text(tmp, "%lld", (long long)(r.v[0] >> 33))},
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
static double printed(const weft_printed *p, const char *name)
{
    const weft_number *x = weft_printed_find(p, 0, name);
    return x ? x->value : (double)NAN;
}

/* Why the end of an attempt is a failure; NULL: it is none. */
static const char *end_failure(const command *t, weft_end end, int status, weft_arena *tmp)
{
    if (end == WEFT_END_LIMIT)
        return weft_arena_text(tmp, "it took longer than command.time_limit = %g s",
                               t->time_limit);
    if (WIFSIGNALED(status))
        return weft_arena_text(tmp, "signal %d ended it", WTERMSIG(status));
    int code = WEXITSTATUS(status), number = code - 128; /* added by a shell */
    if (number > 0 && number <= SIGRTMAX)
        return weft_arena_text(tmp, "it ended with status %d, as by signal %d", code,
                               number);
    return code != 0 ? weft_arena_text(tmp, "it ended with status %d", code) : NULL;
}

/* Why the last text of a wanted name is no number; NULL: it is one, or nothing. */
static const char *text_failure(const weft_number *x, weft_arena *tmp)
{
    static const char *const why[] = {
        [WEFT_SAID_HUGE] = "which is beyond the range of double",
        [WEFT_SAID_LONG] = "which is too long for a number",
        [WEFT_SAID_BROKEN] = "which is not a number as a whole",
        [WEFT_SAID_TEXT] = "which is no number"};
    if (!x || x->said == WEFT_SAID_NUMBER) return NULL;
    int comma = x->said == WEFT_SAID_BROKEN && strchr(x->text, ',');
    return weft_arena_text(tmp, "it printed \"%s\", %s", x->text,
                           comma ? "but numbers have a decimal point and no commas; set "
                                   "LC_NUMERIC=C, if they are those of a locale"
                                 : why[x->said]);
}

/* Why what was printed is a failure; NULL: it is none, and *loss is the loss. */
static const char *print_failure(const command *t, const weft_printed *p, double *loss,
                                 weft_arena *tmp)
{
    const char *name[WANTED];
    fill_wanted(t, name);
    const weft_number *x = weft_printed_find(p, 0, name[LOSS]);
    if (!x && weft_printed_find(p, 1, name[LOSS]))
        return weft_arena_text(tmp,
                               "it printed its %s to standard error; expected "
                               "%s=NUMBER on standard output",
                               name[LOSS], name[LOSS]);
    if (!x)
        return weft_arena_text(tmp,
                               "it printed no %s=NUMBER, in one word, to standard "
                               "output",
                               name[LOSS]);
    const char *why = text_failure(x, tmp);
    for (int i = LOSS + 1; i < WANTED && !why; i++) {
        const weft_number *other = weft_printed_find(p, 0, name[i]);
        if (other && other->said != WEFT_SAID_TEXT) why = text_failure(other, tmp);
    }
    if (why) return why;
    if (!isfinite(x->value))
        return weft_arena_text(tmp, "its %s is %g", name[LOSS], x->value);
    *loss = *t->loss == '-' ? -x->value : x->value;
    return NULL;
}

/* Why an attempt failed; NULL: it did not, and *loss is its loss. */
static const char *failure_of(const command *t, const weft_printed *p, weft_end end,
                              int status, double *loss, weft_arena *tmp)
{
    *loss = INFINITY;
    const char *why = end_failure(t, end, status, tmp);
    return why ? why : print_failure(t, p, loss, tmp);
}

/* 1 if no number was printed. */
static int is_silent(const weft_printed *p)
{
    const weft_stream *s = &p->stream[0];
    for (int64_t i = 0; i < s->names.n; i++)
        if (s->number[i].said != WEFT_SAID_NOTHING) return 0;
    return 1;
}

static weft_status check_program(const command *t, const weft_printed *p, weft_end end,
                                 int status)
{
    int none = WIFEXITED(status) && WEXITSTATUS(status) >= WEFT_NO_PROGRAM - 1 &&
               WEXITSTATUS(status) <= WEFT_NO_PROGRAM && is_silent(p);
    if (end != WEFT_END_EXIT || !none) return WEFT_OK;
    const char *last = weft_printed_last(p);
    return weft_fail(WEFT_ECONF, "command.run = %s: the shell cannot run it: %s", t->run,
                     *last ? last : "it printed nothing and ended as if it were not there");
}

/* One attempt at a job. *why: why it failed, or NULL. */
static weft_status attempt_job(const command *t, const weft_job *job, const trace *before,
                               const char *path, outcome *o, const char **why,
                               weft_arena *tmp)
{
    attempt_parent parent = {attempt_path(t->dir, before->trial, before->job, tmp),
                             before->job};
    const char *attempt;
    TRY(attempt_begin(before->jobs > 0 ? &parent : NULL, path, &attempt, tmp));
    weft_program g = {.run = t->run,
                      .env = environment(t, job, before, attempt, tmp),
                      .log = weft_arena_text(tmp, "%s/" LOG_NAME, attempt),
                      .log_most = LOG_BYTES,
                      .limit = t->time_limit,
                      .task_env = &t->env};
    const char *wanted[WANTED];
    fill_wanted(t, wanted);
    weft_printed *p = weft_printed_new(WANTED, wanted, tmp);
    weft_end end;
    int status;
    TRY(weft_program_run(&g, p, &end, &status));
    if (end == WEFT_END_STOPPED) {
        weft_tree_remove(attempt);
        return weft_fail(WEFT_STOP, "the run was stopped");
    }
    TRY(check_program(t, p, end, status));
    *why = failure_of(t, p, end, status, &o->loss, tmp);
    if (*why && *weft_printed_last(p))
        *why = weft_arena_text(tmp, "%s; its last line: %s", *why, weft_printed_last(p));
    o->error = printed(p, "error");
    o->train_loss = printed(p, "train_loss");
    o->note = note_of(t, p);
    if (p->left_out)
        weft_log(WEFT_WARN,
                 "job %lld, trial %lld printed numbers of more than %d names; "
                 "further names are left out",
                 (long long)job->id, (long long)job->trial, WEFT_MAX_PRINTED);
    return attempt_keep(attempt, path);
}

static weft_status run_job(const command *t, const weft_job *job, const trace *before,
                           outcome *o)
{
    weft_arena *tmp = weft_arena_new();
    const char *path = attempt_path(t->dir, job->trial, job->id, tmp), *why = "";
    weft_status st = WEFT_OK;
    for (int i = 0; i <= t->retries && why && st == WEFT_OK; i++) {
        st = attempt_job(t, job, before, path, o, &why, tmp);
        if (st == WEFT_OK && why)
            weft_log(WEFT_WARN, "job %lld, trial %lld failed: %s%s", (long long)job->id,
                     (long long)job->trial, why,
                     i < t->retries ? "; it is tried again" : "");
    }
    o->after.failed = why != NULL;
    weft_arena_free(tmp);
    return st;
}

/* By the first rank of a team, while the others sleep. */
static weft_status run_on_leader(const command *t, const weft_job *job,
                                 const weft_state *state, outcome *o)
{
    trace before = read_trace(state);
    weft_check(job->mix.k == 1, "%d configurations", job->mix.k);
    weft_check(t->dir, "task command has no directory");
    *o = (outcome){.loss = INFINITY, .error = (double)NAN, .train_loss = (double)NAN};
    o->after = (trace){.failed = before.failed,
                       .jobs = before.jobs + 1,
                       .trial = job->trial,
                       .job = job->id,
                       .resource = before.resource + job->resource};
    return before.failed ? WEFT_OK : run_job(t, job, &before, o);
}

enum { VALID_LOSS, VALID_ERROR, TRAIN_LOSS };
static const weft_metric command_metrics[] = {
    {"valid_loss", "what the program printed as command.loss", "loss", NULL},
    {"valid_error", "what it printed as error; nan: nothing", "1", "error %"},
    {"train_loss", "what it printed as train_loss; nan: nothing", "loss", NULL},
    {0}};

static const weft_metric command_scores[] = {
    {"loss", "what the program printed", "loss", "loss"},
    {"error", "what the program printed", "1", "error %"},
    {0}};

static weft_status command_step(void *self, const weft_job *job, int64_t unit,
                                weft_state *state, double *row, weft_result *res)
{
    const command *t = self;
    weft_team *team = t->env.team;
    (void)unit;
    (void)row;
    outcome o = {.loss = 0};
    weft_status st = team->rank == 0 ? run_on_leader(t, job, state, &o) : WEFT_OK;
    weft_sleep(team);
    TRY(weft_agree(st, team));
    res->note = o.note;
    weft_bcast(team, &o, sizeof o, 0);
    put_trace(&o.after, state);
    res->loss = res->metric[VALID_LOSS] = o.loss;
    res->metric[VALID_ERROR] = o.error;
    res->metric[TRAIN_LOSS] = o.train_loss;
    res->cost = job->resource;
    res->arm_loss[0] = o.loss;
    res->arm_wrong[0] = o.error;
    res->arm_count[0] = 1;
    return WEFT_OK;
}

extern const weft_task weft_task_command;
const weft_task weft_task_command = {
    .kind = {.name = "command",
             .about = "tune any program: a command line that prints its loss",
             .size = sizeof(command),
             .opts = command_opts},
    .parts = command_parts,
    .data = WEFT_DATA_NONE,
    .files = 1,
    .tuner = "random",
    .metrics = command_metrics,
    .scores = command_scores,
    .single = command_single,
    .tuned = command_tuned,
    .setup = command_setup,
    .nstate = command_nstate,
    .cost = command_cost,
    .price = command_price,
    .step = command_step,
};
