/* A program that is started once and does job after job. Trials stay in its memory between
 * their jobs, as long as it lives; a state becomes a directory when the scheduler asks for
 * it. What it reports in the middle of a job are rows of the job. src/worker/README.md is
 * the protocol. */
#include "serve.h"
#include "attempt.h"
#include "reply.h"
#include "reports.h"
#include "task/halt.h"
#include "task/parameters.h"
#include "weft/clock.h"
#include "weft/filenames.h"
#include "weft/link.h"
#include "weft/log.h"

#include <yajl/yajl_gen.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOG_BYTES (1 << 20)

/* A state that the program has. */
struct held {
    struct trace after;
    int saves; /* 1: it can be a directory */
};

/* The name of a state. */
struct named {
    int64_t trial, job;
};

struct command_serve {
    weft_link *link;
    double halted;     /* halt.h */
    struct held *held; /* [n] */
    int64_t n, room;
    struct named *drop; /* [ndrop] states that it is to forget */
    int64_t ndrop, roomdrop;
    command_reports reports; /* of the present job */
    weft_arena *mem;
};

/* ---- states ---- */

static int64_t find(const command_serve *serve, int64_t trial, int64_t job)
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

static void add_held(command_serve *serve, const struct trace *after, int saves)
{
    serve->held =
        weft_regrow(serve->mem, serve->held, sizeof *serve->held, serve->n, &serve->room);
    serve->held[serve->n++] = (struct held){*after, saves};
}

/* The program has ended, with all that it had. */
static void lose(command_serve *serve)
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
    int stops = (env->stopped && env->stopped()) ||
                (env->deadline > 0 && weft_now() >= env->deadline);
    if (stops && !saves_any(command->serve)) return 1;
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

static void put_key(yajl_gen json, const char *key)
{
    yajl_gen_string(json, (const unsigned char *)key, strlen(key));
}

static void put_text(yajl_gen json, const char *key, const char *text)
{
    put_key(json, key);
    put_key(json, text);
}

static void put_raw(yajl_gen json, const char *key, const char *text)
{
    put_key(json, key);
    yajl_gen_number(json, text, strlen(text)); /* as it is written */
}

static void put_whole(yajl_gen json, const char *key, int64_t x)
{
    put_key(json, key);
    yajl_gen_integer(json, x);
}

static void put_real(yajl_gen json, const char *key, double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", x);
    put_raw(json, key, text);
}

static yajl_gen begin_request(const char *ask, int64_t job)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    weft_check(json != NULL, "no memory for JSON");
    yajl_gen_map_open(json);
    put_text(json, "ask", ask);
    put_whole(json, "job", job);
    return json;
}

/* Sends it, and waits for a line. */
static weft_status send_request(command_serve *serve, yajl_gen json, const char **line)
{
    const unsigned char *text;
    size_t n;
    yajl_gen_map_close(json);
    yajl_gen_get_buf(json, &text, &n);
    weft_arena *tmp = weft_arena_new();
    const char *copy = weft_arena_text(tmp, "%.*s\n", (int)n, (const char *)text);
    weft_status st = weft_link_ask(serve->link, copy, n + 1, line);
    weft_arena_free(tmp);
    yajl_gen_free(json);
    return st;
}

/* [trial, job] */
static void put_name(yajl_gen json, int64_t trial, int64_t job)
{
    yajl_gen_array_open(json);
    yajl_gen_integer(json, trial);
    yajl_gen_integer(json, job);
    yajl_gen_array_close(json);
}

static void put_drop(command_serve *serve, yajl_gen json)
{
    put_key(json, "drop");
    yajl_gen_array_open(json);
    for (int64_t i = 0; i < serve->ndrop; i++)
        put_name(json, serve->drop[i].trial, serve->drop[i].job);
    yajl_gen_array_close(json);
    serve->ndrop = 0;
}

/* What a job begins with: a state in memory, the directory of one, or nothing, as of a
 * program that keeps none. */
static void put_begin(const command_task *command, const struct trace *before,
                      yajl_gen json, weft_arena *tmp)
{
    const char *path = attempt_path(command->dir, before->trial, before->job, tmp);
    int here = find(command->serve, before->trial, before->job) >= 0;
    int loads = before->jobs > 0 && !here && access(path, F_OK) == 0;
    put_key(json, "from");
    if (before->jobs > 0 && (here || loads))
        put_name(json, before->trial, before->job);
    else
        yajl_gen_null(json);
    put_key(json, "load");
    if (loads)
        put_key(json, path);
    else
        yajl_gen_null(json);
}

static weft_status ask_job(command_task *command, const weft_job *job,
                           const struct trace *before, const char **line)
{
    command_serve *serve = command->serve;
    weft_arena *tmp = weft_arena_new();
    int n;
    const char **name, **value;
    weft_parameters(command->env.conf, command->env.space, job->mix.conf, &n, &name, &value,
                    tmp);
    yajl_gen json = begin_request("job", job->id);
    put_whole(json, "trial", job->trial);
    put_whole(json, "seed", command_seed(command, job));
    put_real(json, "done", before->resource);
    put_real(json, "resource", job->resource);
    put_real(json, "total", before->resource + job->resource);
    put_raw(json, "values", weft_parameters_json(n, name, value, tmp));
    put_drop(serve, json);
    put_begin(command, before, json, tmp);
    int64_t from = before->jobs > 0 ? find(serve, before->trial, before->job) : -1;
    if (from >= 0 && before->trial == job->trial) remove_held(serve, from);
    weft_status st = send_request(serve, json, line);
    weft_arena_free(tmp);
    return st;
}

/* ---- reports ---- */

/* Takes reports until the answer. The answer to a report is to go on, unless the run is to
 * stop. */
static weft_status take_reports(command_task *command, const weft_job *job,
                                const struct trace *before, const char *line,
                                command_reply *reply)
{
    static const char *const go[] = {"{\"go\":true}\n", "{\"go\":false}\n"};
    command_serve *serve = command->serve;
    const weft_env *env = &command->env;
    double total = before->resource + job->resource;
    for (;;) {
        TRY(command_reply_read(serve->link, line, job->id, reply, serve->mem));
        reply->total = total;
        if (reply->kind == COMMAND_ANSWERED)
            command_reports_add(command, &serve->reports, job, reply);
        if (reply->kind != COMMAND_REPORTED) return WEFT_OK;
        command_reports_add(command, &serve->reports, job, reply);
        int stops = (env->stopped && env->stopped()) ||
                    (env->deadline > 0 && weft_now() >= env->deadline);
        TRY(weft_link_ask(serve->link, go[stops], strlen(go[stops]), &line));
    }
}

/* ---- a job ---- */

/* Starts the program, if it does not run. */
static weft_status start(command_task *command)
{
    command_serve *serve = command->serve;
    const char *line;
    if (weft_link_runs(serve->link)) return WEFT_OK;
    serve->n = serve->ndrop = 0;
    TRY(weft_link_start(serve->link));
    weft_link_mark(serve->link);
    weft_link_within(serve->link, command->time_limit);
    yajl_gen json = begin_request("describe", 0);
    put_whole(json, "protocol", WEFT_PROTOCOL);
    put_text(json, "role", "programs");
    TRY(send_request(serve, json, &line));
    return command_reply_described(serve->link, line);
}

/* What the program printed since the job began is kept. */
static const char *keep_log(const command_task *command, const weft_job *job,
                            weft_arena *tmp)
{
    const char *attempt = weft_arena_text(
        tmp, "%s" WEFT_ASIDE_NAME, attempt_path(command->dir, job->trial, job->id, tmp),
        (long long)getpid());
    if (weft_link_print(command->serve->link, attempt_log(attempt, tmp), LOG_BYTES) !=
        WEFT_OK)
        return NULL;
    const char *log =
        attempt_keep_log(attempt, command->env.failed, job->trial, job->id, tmp);
    unlink(attempt_log(attempt, tmp));
    return log;
}

static void fail(command_task *command, const weft_job *job, const char *why,
                 struct outcome *outcome)
{
    weft_arena *tmp = weft_arena_new();
    const char *copy = weft_arena_text(tmp, "%s", why); /* of the next error's memory */
    const char *log = keep_log(command, job, tmp);
    snprintf(command->why, sizeof command->why, "%s%s%s", copy, log ? "; see " : "",
             log ? log : "");
    outcome->why = command->why;
    outcome->loss = INFINITY;
    outcome->after.failed = 1;
    if (outcome->failure == WEFT_SUCCEEDED) outcome->failure = WEFT_CRASHED;
    weft_arena_free(tmp);
}

/* What the program answered. */
static weft_status settle(command_task *command, const weft_job *job,
                          const command_reply *reply, struct outcome *outcome)
{
    char text[64];
    switch (reply->kind) {
    case COMMAND_STOPPED: return weft_fail(WEFT_STOP, "the run was stopped");
    case COMMAND_FAILED: fail(command, job, reply->why, outcome); return WEFT_OK;
    default: break;
    }
    if (!isfinite(reply->loss)) {
        snprintf(text, sizeof text, "its %s is not finite",
                 command->loss + (*command->loss == '-'));
        fail(command, job, text, outcome);
        add_held(command->serve, &outcome->after, 0);
        command_holder.forget(command, job->trial, job->id);
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
                          const struct trace *before, struct outcome *outcome)
{
    command_serve *serve = command->serve;
    command_reply reply;
    const char *line;
    outcome->failure = WEFT_NOT_STARTED;
    TRY(start(command));
    outcome->failure = WEFT_SUCCEEDED;
    weft_link_mark(serve->link);
    weft_link_within(serve->link, command->time_limit);
    command_reports_begin(&serve->reports);
    TRY(ask_job(command, job, before, &line));
    TRY(take_reports(command, job, before, line, &reply));
    return settle(command, job, &reply, outcome);
}

weft_status command_serve_job(command_task *command, const weft_job *job,
                              const struct trace *before, struct outcome *outcome)
{
    command_serve *serve = command->serve;
    weft_status st = do_job(command, job, before, outcome);
    lose(serve);
    if (st == WEFT_EWORKER || st == WEFT_EDATA) {
        fail(command, job, weft_error(), outcome);
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
    lose(command->serve);
}

/* ---- for the scheduler ---- */

static int holds(const void *self)
{
    const command_task *command = self;
    if (!command->serves) return WEFT_HOLDS_NOTHING;
    return command->state ? WEFT_HOLDS_SAVES : WEFT_HOLDS_ONLY;
}

static int is_held(const void *self, int64_t trial, int64_t job, weft_state *state)
{
    command_serve *serve = ((const command_task *)self)->serve;
    int64_t i = find(serve, trial, job);
    if (i < 0 || !weft_link_runs(serve->link)) {
        lose(serve);
        return 0;
    }
    if (state) command_put_trace(&serve->held[i].after, state);
    return 1;
}

static int64_t excess(const void *self)
{
    const command_task *command = self;
    return command->serve->n - command->keep;
}

/* Fills the directory of an attempt. */
static weft_status ask_save(command_task *command, int64_t trial, int64_t job,
                            const char *attempt, weft_arena *tmp)
{
    command_serve *serve = command->serve;
    const char *line;
    weft_link_mark(serve->link);
    weft_link_within(serve->link, command->time_limit);
    serve->halted = 0; /* also of a run that stops, each state may take some seconds */
    yajl_gen json = begin_request("save", job);
    put_whole(json, "trial", trial);
    put_text(json, "directory", attempt);
    TRY(send_request(serve, json, &line));
    TRY(command_reply_saved(serve->link, line, job));
    TRY(weft_link_print(serve->link, attempt_log(attempt, tmp), LOG_BYTES));
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

static int save(void *self, int64_t trial, int64_t job)
{
    command_task *command = self;
    command_serve *serve = command->serve;
    weft_arena *tmp = weft_arena_new();
    const char *path = attempt_path(command->dir, trial, job, tmp);
    int64_t i = find(serve, trial, job);
    int there = access(path, F_OK) == 0;
    if (!there && is_held(self, trial, job, NULL) && serve->held[i].saves) {
        there = save_to(command, trial, job, path, tmp) == WEFT_OK;
        if (!there)
            weft_log(WEFT_WARN, "the state after job %lld is not saved: %s", (long long)job,
                     weft_error());
        lose(serve);
    }
    weft_arena_free(tmp);
    return there;
}

static void forget(void *self, int64_t trial, int64_t job)
{
    command_serve *serve = ((command_task *)self)->serve;
    int64_t i = find(serve, trial, job);
    if (i < 0) return;
    remove_held(serve, i);
    serve->drop = weft_regrow(serve->mem, serve->drop, sizeof *serve->drop, serve->ndrop,
                              &serve->roomdrop);
    serve->drop[serve->ndrop++] = (struct named){trial, job};
}

const weft_holder command_holder = {
    .holds = holds, .held = is_held, .excess = excess, .save = save, .forget = forget};
