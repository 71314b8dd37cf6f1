/* A program that is started once and does job after job. Trials stay in its memory between
 * their jobs, as long as it lives; a state becomes a directory when the scheduler asks for
 * it. What it reports in the middle of a job are rows of the job. src/worker/README.md is
 * the protocol. */
#include "command.h"
#include "task/parts.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/worker/link.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHOW_SECONDS 10.0 /* between lines of the log */

/* What the program answers. */
enum reply_kind {
    REPORTED, /* in the middle of a job: step and loss */
    ANSWERED, /* the end of the job */
    FAILED,   /* the program's exception: why */
    STOPPED   /* it left the job, as it was asked to */
};

struct reply {
    enum reply_kind kind;
    double step, total, loss; /* as it counts; NAN: not finite */
    double error, train_loss; /* NAN: not told */
    const char *note;         /* other metrics, as of weft_result; NULL: none */
    int64_t numbers;          /* these, and those that are left out */
    int held, saves;          /* 1: it has the state after the job; and can save it */
    char why[512];
};

/* The reports of a job. */
struct reports {
    double *row;       /* [n][COMMAND_COLUMNS] */
    weft_spent *spent; /* [n] since the report before */
    int64_t n, roomrow, roomspent;
    int crowded;            /* 1: there were more than WEFT_MOST_REPORTS */
    double reported, shown; /* times: of the last report, of the last line of the log */
    weft_arena *mem;
};

/* A state that the program has. */
struct held {
    weft_trace after;
    int saves; /* 1: it can be a directory */
};

/* The name of a state. */
struct named {
    int64_t trial, job;
};

struct command_serve {
    weft_link *link;
    double halted;     /* task/parts.h */
    struct held *held; /* [n] */
    int64_t n, room;
    struct named *drop; /* [ndrop] states that it is to forget */
    int64_t ndrop, roomdrop;
    struct reports reports; /* of the present job */
    weft_arena *mem;
};

/* ---- what the program answers ---- */

static int is_true(yajl_val in, const char *key)
{
    yajl_val value = weft_yajl_find(in, key);
    return value && YAJL_IS_TRUE(value);
}

static int is_number(yajl_val in, const char *key, int64_t job)
{
    yajl_val value = weft_yajl_find(in, key);
    return value && YAJL_IS_INTEGER(value) && YAJL_GET_INTEGER(value) == job;
}

/* The text of the error, in one line; 0: there is none. */
static int is_error(yajl_val in, char *why, size_t room)
{
    yajl_val value = weft_yajl_find(in, "error");
    if (!value) return 0;
    snprintf(why, room, "%s", YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : "an error");
    for (char *c = why; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return 1;
}

static weft_status check_object(weft_link *link, const char *line, yajl_val json)
{
    if (YAJL_IS_OBJECT(json)) return WEFT_OK;
    return weft_link_fail(link, WEFT_EDATA, "sent a line that is no object of JSON: %.200s",
                          line);
}

/* ---- metrics ---- */

/* Those of further names than are kept are left out. */
static void take_metric(const char *name, double x, struct reply *reply, weft_arena *tmp)
{
    if (strcmp(name, "error") == 0)
        reply->error = x;
    else if (strcmp(name, "train_loss") == 0)
        reply->train_loss = x;
    else if (isfinite(x) && reply->numbers++ < WEFT_MAX_NUMBERS)
        reply->note = weft_note_add(reply->note, name, x, tmp);
}

static weft_status check_metric(weft_link *link, const char *name, const yajl_val value,
                                double *x)
{
    if (!weft_is_number_name(name))
        return weft_link_fail(link, WEFT_EDATA,
                              "sent a metric \"%.80s\", which is no name: a letter or _, "
                              "then letters, digits, _ . - /",
                              name);
    if (!weft_yajl_number(value, x))
        return weft_link_fail(link, WEFT_EDATA, "sent a metric %.80s that is no number",
                              name);
    return WEFT_OK;
}

/* Numbers by name, of which those that are not finite are left out. */
static weft_status take_metrics(weft_link *link, yajl_val in, struct reply *reply,
                                weft_arena *mem)
{
    yajl_val metrics = weft_yajl_find(in, "metrics");
    if (!metrics) return WEFT_OK;
    if (!YAJL_IS_OBJECT(metrics))
        return weft_link_fail(link, WEFT_EDATA,
                              "sent metrics that are no object of names and numbers");
    WEFT_SCRATCH(tmp);
    weft_status st = WEFT_OK;
    for (size_t i = 0; i < metrics->u.object.len && st == WEFT_OK; i++) {
        const char *name = metrics->u.object.keys[i];
        double x;
        st = check_metric(link, name, metrics->u.object.values[i], &x);
        if (st == WEFT_OK) take_metric(name, x, reply, tmp);
    }
    if (reply->note) reply->note = weft_arena_text(mem, "%s", reply->note);
    return st;
}

static weft_status is_wrong(weft_link *link, const char *line)
{
    return weft_link_fail(link, WEFT_EDATA,
                          "sent a line that is no answer to what it was asked: %.200s",
                          line);
}

/* Reads a line of the job. EDATA: it is none. *reply's note is owned by mem. */
static weft_status read_reply(weft_link *link, const char *line, int64_t job,
                              struct reply *reply, weft_arena *mem)
{
    WEFT_JSON(json, line);
    TRY(check_object(link, line, json));
    *reply = (struct reply){.error = (double)NAN, .train_loss = (double)NAN};
    if (is_error(json, reply->why, sizeof reply->why)) {
        reply->kind = FAILED;
        return WEFT_OK;
    }
    if (is_number(json, "stopped", job)) {
        reply->kind = STOPPED;
        return WEFT_OK;
    }
    reply->kind = is_number(json, "report", job) ? REPORTED : ANSWERED;
    int good = reply->kind == REPORTED || is_number(json, "job", job);
    good &= weft_yajl_number(weft_yajl_find(json, "step"), &reply->step) &&
            isfinite(reply->step);
    good &= weft_yajl_find(json, "loss") &&
            weft_yajl_number(weft_yajl_find(json, "loss"), &reply->loss);
    if (!good) return is_wrong(link, line);
    TRY(take_metrics(link, json, reply, mem));
    if (reply->kind == ANSWERED && reply->numbers > WEFT_MAX_NUMBERS)
        weft_numbers_warn(job);
    reply->held = is_true(json, "held");
    reply->saves = is_true(json, "saves");
    return WEFT_OK;
}

static weft_status check_described(weft_link *link, const char *line)
{
    char why[512];
    WEFT_JSON(json, line);
    TRY(check_object(link, line, json));
    if (is_error(json, why, sizeof why))
        return weft_link_fail(link, WEFT_EDATA, "has a bug: %.400s", why);
    if (is_number(json, "protocol", WEFT_PROTOCOL)) return WEFT_OK;
    return weft_link_fail(link, WEFT_EDATA, "speaks another protocol than %d",
                          WEFT_PROTOCOL);
}

static weft_status check_saved(weft_link *link, const char *line, int64_t job)
{
    char why[512];
    WEFT_JSON(json, line);
    TRY(check_object(link, line, json));
    if (is_error(json, why, sizeof why)) return weft_fail(WEFT_EDATA, "%s", why);
    return is_number(json, "saved", job) ? WEFT_OK : is_wrong(link, line);
}

/* ---- reports ---- */

static void begin_reports(struct reports *reports)
{
    reports->n = reports->crowded = 0;
    reports->reported = weft_now();
    if (!(reports->shown > 0)) reports->shown = reports->reported;
}

static void warn_of_many(const weft_job *job)
{
    weft_log(
        WEFT_WARN,
        "job %lld, trial %lld: the program reported more than %d times; of what follows "
        "the first %d reports the run file has the last one",
        (long long)job->id, (long long)job->trial, WEFT_MOST_REPORTS,
        WEFT_MOST_REPORTS - 1);
}

/* A row, with the time of the report whose place it takes. */
static double *add_row(struct reports *reports, const weft_job *job, double took)
{
    weft_spent spent = {.wall = took, .compute = took};
    if (reports->n == WEFT_MOST_REPORTS) {
        if (!reports->crowded) warn_of_many(job);
        reports->crowded = 1;
        reports->n--;
        spent.wall += reports->spent[reports->n].wall;
        spent.compute += reports->spent[reports->n].compute;
    }
    reports->row =
        weft_regrow(reports->mem, reports->row, COMMAND_COLUMNS * sizeof *reports->row,
                    reports->n, &reports->roomrow);
    WEFT_REGROW(reports->mem, reports->spent, reports->n, &reports->roomspent);
    reports->spent[reports->n] = spent;
    return reports->row + COMMAND_COLUMNS * reports->n++;
}

/* Adds the report, or the answer that ends the job. Of more than WEFT_MOST_REPORTS the last
 * takes the place of the one before, and a warning says so. */
static void add_report(const command_task *command, struct reports *reports,
                       const weft_job *job, const struct reply *reply)
{
    double now = weft_now(), *row = add_row(reports, job, now - reports->reported);
    double loss = command_minimised(command, reply->loss);
    reports->reported = now;
    row[COMMAND_STEP] = reply->step;
    row[COMMAND_LOSS] = loss;
    if (now - reports->shown < SHOW_SECONDS) return;
    reports->shown = now;
    WEFT_SCRATCH(tmp);
    weft_log(WEFT_INFO, "job %lld, trial %lld: %s after %g of %g", (long long)job->id,
             (long long)job->trial, weft_loss_show(loss, 5, tmp), reply->step,
             reply->total);
}

/* ---- states ---- */

static int64_t find_held(const command_serve *serve, int64_t trial, int64_t job)
{
    for (int64_t i = 0; i < serve->n; i++)
        if (serve->held[i].after.job == job && serve->held[i].after.trial == trial)
            return i;
    return -1;
}

static void remove_held(command_serve *serve, int64_t i)
{
    serve->held[i] = serve->held[--serve->n];
}

/* The program is told so by the next request for a job. */
static void forget_held(void *self, int64_t trial, int64_t job)
{
    command_serve *serve = ((command_task *)self)->serve;
    int64_t i = find_held(serve, trial, job);
    if (i < 0) return;
    remove_held(serve, i);
    WEFT_REGROW(serve->mem, serve->drop, serve->ndrop, &serve->roomdrop);
    serve->drop[serve->ndrop++] = (struct named){trial, job};
}

static void add_held(command_serve *serve, const weft_trace *after, int saves)
{
    WEFT_REGROW(serve->mem, serve->held, serve->n, &serve->room);
    serve->held[serve->n++] = (struct held){*after, saves};
}

/* The program has ended, with all that it had. */
static void forget_dead(command_serve *serve)
{
    if (weft_link_lives(serve->link)) return;
    serve->n = serve->ndrop = 0;
}

static int saves_any(const command_serve *serve)
{
    for (int64_t i = 0; i < serve->n; i++)
        if (serve->held[i].saves) return 1;
    return 0;
}

/* A program whose states are to be saved has some seconds to report, which ends its job. */
static int leaves(void *of)
{
    command_task *command = of;
    const weft_env *env = &command->env;
    if (halt_is_asked(env) && !saves_any(command->serve)) return 1;
    return halt_is_due(env, &command->serve->halted);
}

void command_serve_new(command_task *command)
{
    weft_arena *mem = command->env.mem;
    const weft_team *team = command->env.team;
    int rank = team->first + team->rank;
    const weft_link_plan plan = {
        .noun = "program",
        .key = "command.time_limit",
        .run = command->run,
        .log = command->dir
                   ? weft_arena_text(mem, "%s/" WEFT_PROGRAM_NAME, command->dir, rank)
                   : NULL,
        .limit = command->time_limit,
        .rank = rank,
        .leaves = leaves,
        .of = command};
    command->serve = WEFT_NEW(mem, command_serve, 1);
    command->serve->mem = command->serve->reports.mem = mem;
    command->serve->link = weft_link_new(&plan, mem);
}

/* ---- requests ---- */

/* Sends the text, a line, and waits for another. */
static weft_status ask_line(command_serve *serve, const char *text, const char **line)
{
    return weft_link_ask(serve->link, text, strlen(text), line);
}

/* [trial,job] */
static const char *name_of(int64_t trial, int64_t job, weft_arena *tmp)
{
    return weft_arena_text(tmp, "[%lld,%lld]", (long long)trial, (long long)job);
}

/* "drop":[...] */
static const char *take_drop(command_serve *serve, weft_arena *tmp)
{
    const char *text = "";
    for (int64_t i = 0; i < serve->ndrop; i++)
        text = weft_arena_text(tmp, "%s%s%s", text, i > 0 ? "," : "",
                               name_of(serve->drop[i].trial, serve->drop[i].job, tmp));
    serve->ndrop = 0;
    return weft_arena_text(tmp, "\"drop\":[%s]", text);
}

/* What a job begins with: a state in memory, the directory of one, or nothing, as of a
 * program that keeps none. */
static const char *begin_of(const command_task *command, const weft_trace *before,
                            weft_arena *tmp)
{
    const char *path = attempt_path(command->dir, before->trial, before->job, tmp);
    int here = find_held(command->serve, before->trial, before->job) >= 0;
    int loads = before->jobs > 0 && !here && access(path, F_OK) == 0;
    int goes_on = before->jobs > 0 && (here || loads);
    return weft_arena_text(tmp, "\"from\":%s,\"load\":%s",
                           goes_on ? name_of(before->trial, before->job, tmp) : "null",
                           loads ? weft_json_quote(path, tmp) : "null");
}

static weft_status ask_job(command_task *command, const weft_job *job,
                           const weft_trace *before, const char **line)
{
    command_serve *serve = command->serve;
    WEFT_SCRATCH(tmp);
    const char *text =
        weft_arena_text(tmp, "{\"ask\":\"job\",%s,%s,%s}\n",
                        weft_job_json(&command->env, job, before->resource, tmp),
                        take_drop(serve, tmp), begin_of(command, before, tmp));
    int64_t from = before->jobs > 0 ? find_held(serve, before->trial, before->job) : -1;
    if (from >= 0 && before->trial == job->trial) remove_held(serve, from);
    return ask_line(serve, text, line);
}

/* Takes reports until the answer. The answer to a report is to go on, unless the run is to
 * stop. */
static weft_status take_reports(command_task *command, const weft_job *job,
                                const weft_trace *before, const char *line,
                                struct reply *reply)
{
    static const char *const go[] = {"{\"go\":true}\n", "{\"go\":false}\n"};
    command_serve *serve = command->serve;
    double total = before->resource + job->resource;
    for (;;) {
        TRY(read_reply(serve->link, line, job->id, reply, serve->mem));
        reply->total = total;
        if (reply->kind == ANSWERED) add_report(command, &serve->reports, job, reply);
        if (reply->kind != REPORTED) return WEFT_OK;
        add_report(command, &serve->reports, job, reply);
        TRY(ask_line(serve, go[halt_is_asked(&command->env)], &line));
    }
}

/* ---- a job ---- */

static weft_status start_program(command_task *command)
{
    command_serve *serve = command->serve;
    const char *line;
    char text[128];
    if (weft_link_runs(serve->link)) return WEFT_OK;
    serve->n = serve->ndrop = 0;
    TRY(weft_link_start(serve->link));
    weft_link_mark(serve->link);
    weft_link_within(serve->link, command->time_limit);
    snprintf(text, sizeof text,
             "{\"ask\":\"describe\",\"job\":0,\"protocol\":%d,\"role\":\"programs\"}\n",
             WEFT_PROTOCOL);
    TRY(ask_line(serve, text, &line));
    return check_described(serve->link, line);
}

/* What the program printed since the job began is kept. */
static const char *keep_log(const command_task *command, const weft_job *job,
                            weft_arena *tmp)
{
    const char *attempt = weft_arena_text(
        tmp, "%s" WEFT_ASIDE_NAME, attempt_path(command->dir, job->trial, job->id, tmp),
        (long long)getpid());
    if (weft_link_print(command->serve->link, attempt_log(attempt, tmp),
                        COMMAND_LOG_BYTES) != WEFT_OK)
        return NULL;
    const char *log =
        attempt_keep_log(attempt, command->env.failed, job->trial, job->id, tmp);
    unlink(attempt_log(attempt, tmp));
    return log;
}

static void fail_job(command_task *command, const weft_job *job, const char *why,
                     command_outcome *outcome)
{
    WEFT_SCRATCH(tmp);
    const char *copy = weft_arena_text(tmp, "%s", why); /* of the next error's memory */
    const char *log = keep_log(command, job, tmp);
    command_fail(command, copy, log, outcome);
    outcome->after.failed = 1;
    if (outcome->failure == WEFT_SUCCEEDED) outcome->failure = WEFT_CRASHED;
}

static weft_status settle_job(command_task *command, const weft_job *job,
                              const struct reply *reply, command_outcome *outcome)
{
    char text[64];
    switch (reply->kind) {
    case STOPPED: return weft_fail(WEFT_STOP, "the run was stopped");
    case FAILED: fail_job(command, job, reply->why, outcome); return WEFT_OK;
    default: break;
    }
    if (!isfinite(reply->loss)) {
        snprintf(text, sizeof text, "its %s is not finite", command_loss_name(command));
        fail_job(command, job, text, outcome);
        add_held(command->serve, &outcome->after, 0);
        forget_held(command, job->trial, job->id);
        return WEFT_OK;
    }
    outcome->loss = command_minimised(command, reply->loss);
    outcome->error = reply->error;
    outcome->train_loss = reply->train_loss;
    outcome->note = reply->note;
    if (reply->held)
        add_held(command->serve, &outcome->after, reply->saves && command->state);
    return WEFT_OK;
}

/* EWORKER, EDATA: the program failed. */
static weft_status do_job(command_task *command, const weft_job *job,
                          const weft_trace *before, command_outcome *outcome)
{
    command_serve *serve = command->serve;
    struct reply reply;
    const char *line;
    outcome->failure = WEFT_NOT_STARTED;
    TRY(start_program(command));
    outcome->failure = WEFT_SUCCEEDED;
    weft_link_mark(serve->link);
    weft_link_within(serve->link, command->time_limit);
    begin_reports(&serve->reports);
    TRY(ask_job(command, job, before, &line));
    TRY(take_reports(command, job, before, line, &reply));
    return settle_job(command, job, &reply, outcome);
}

weft_status command_serve_job(command_task *command, const weft_job *job,
                              const weft_trace *before, command_outcome *outcome)
{
    command_serve *serve = command->serve;
    weft_status st = do_job(command, job, before, outcome);
    forget_dead(serve);
    if (st == WEFT_EWORKER || st == WEFT_EDATA) {
        fail_job(command, job, weft_error(), outcome);
        st = WEFT_OK;
    }
    outcome->nrow = serve->reports.n;
    outcome->row = serve->reports.row;
    outcome->spent = serve->reports.spent;
    return st;
}

void command_serve_end(command_task *command)
{
    weft_link_drop(command->serve->link);
    forget_dead(command->serve);
}

/* ---- for the scheduler ---- */

static int what_is_held(const void *self)
{
    const command_task *command = self;
    if (!command->serves) return WEFT_HOLDS_NOTHING;
    return command->state ? WEFT_HOLDS_SAVES : WEFT_HOLDS_ONLY;
}

static int is_held(const void *self, int64_t trial, int64_t job, weft_state *state)
{
    command_serve *serve = ((const command_task *)self)->serve;
    int64_t i = find_held(serve, trial, job);
    if (i < 0 || !weft_link_runs(serve->link)) {
        forget_dead(serve);
        return 0;
    }
    if (state) weft_trace_put(&serve->held[i].after, state);
    return 1;
}

static int64_t excess_held(const void *self)
{
    const command_task *command = self;
    return command->serve->n - command->keep;
}

static weft_status ask_save(command_task *command, int64_t trial, int64_t job,
                            const char *attempt, weft_arena *tmp)
{
    command_serve *serve = command->serve;
    const char *line;
    weft_link_mark(serve->link);
    weft_link_within(serve->link, command->time_limit);
    serve->halted = 0; /* also of a run that stops, each state may take some seconds */
    const char *text = weft_arena_text(
        tmp, "{\"ask\":\"save\",\"job\":%lld,\"trial\":%lld,\"directory\":%s}\n",
        (long long)job, (long long)trial, weft_json_quote(attempt, tmp));
    TRY(ask_line(serve, text, &line));
    TRY(check_saved(serve->link, line, job));
    TRY(weft_link_print(serve->link, attempt_log(attempt, tmp), COMMAND_LOG_BYTES));
    const char *why = attempt_take_log(attempt, tmp);
    return why ? weft_fail(WEFT_EFILE, "%s", why) : WEFT_OK;
}

static weft_status save_to(command_task *command, int64_t trial, int64_t job,
                           const char *path, weft_arena *tmp)
{
    const char *attempt;
    TRY(attempt_begin(NULL, path, &attempt, tmp));
    weft_status st = ask_save(command, trial, job, attempt, tmp);
    if (st == WEFT_OK) st = attempt_keep(attempt, path);
    if (st != WEFT_OK) attempt_drop(attempt);
    return st;
}

static int save_held(void *self, int64_t trial, int64_t job)
{
    command_task *command = self;
    command_serve *serve = command->serve;
    WEFT_SCRATCH(tmp);
    const char *path = attempt_path(command->dir, trial, job, tmp);
    int64_t i = find_held(serve, trial, job);
    int there = access(path, F_OK) == 0;
    if (!there && is_held(self, trial, job, NULL) && serve->held[i].saves) {
        there = save_to(command, trial, job, path, tmp) == WEFT_OK;
        if (!there)
            weft_log(WEFT_WARN, "the state after job %lld is not saved: %s", (long long)job,
                     weft_error());
        forget_dead(serve);
    }
    return there;
}

const weft_holder command_holder = {.holds = what_is_held,
                                    .held = is_held,
                                    .excess = excess_held,
                                    .save = save_held,
                                    .forget = forget_held};
