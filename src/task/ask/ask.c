/* Task ask: a search whose jobs are done by the program that started it. That asks for jobs
 * and tells their losses, by lines of JSON, as many at once and in any order:
 *
 *     {"ask":true}                 {"job":3,"trial":3,"seed":92,"done":0,"resource":1,
 *                                   "total":1,"values":{"rate":0.1},"parent":null}
 *                                  or {"wait":true}: until a result is told
 *     {"tell":3,"loss":0.5}        {"told":3}, once that is in the journal
 *
 * Before that comes {"weft":VERSION,"protocol":1,"parameters":{NAME:TEXT}}, these as the
 * input file has them. The first line that is sent after the
 * best job became another one has "best":{...}, too, and the last line has "over":true, and
 * with run.objectives "front":[{"trial":0,"total":1,"values":{...},"loss":0.5,...},...].
 * What is wrong with a request is answered by {"error":"..."}, and it changes nothing.
 * Requests that are sent together are answered together. The
 * state of a trial is that of task command, so that equal losses have equal digests. */
#include "task/parts.h"
#include "task/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROTOCOL  1
#define MOMENT    0.2       /* seconds between two looks whether the run is to stop */
#define FIRST_FD  3         /* above those of the standard streams */
#define MOST_LINE (1 << 20) /* bytes */
#define MOST_READ (1 << 16)

/* Lines to and from the program that started this one. */
typedef struct ask_channel {
    int in, out;        /* descriptors */
    weft_arena *mem;    /* of the lines */
    char *text;         /* [room] what was received, */
    int64_t room, have; /* of which so many bytes wait */
    int64_t taken;      /* bytes of the last line that was returned, with its end */
    char *said;         /* [said_room] lines that are to be sent, of nsaid bytes */
    int64_t said_room, nsaid;
} ask_channel;

/* {"ask":true}, or {"tell":JOB, "loss":NUMBER, "error":NUMBER, "metrics":{"NAME":NUMBER,
 * ...}}, of which only the loss must be there, or {"tell":JOB, "failed":"why"}. */
typedef struct ask_request {
    int64_t job;        /* that is told; -1: one is asked for */
    double loss, error; /* error NAN: none */
    const char *failed; /* why the job has no loss; NULL: it has one */
    const char *note;   /* its metrics, as weft_result.note */
} ask_request;

typedef struct ask_task {
    weft_env env;
    ask_channel channel;
    int greeted;
    int64_t *given; /* [ngiven] jobs that were handed over */
    int64_t ngiven, room;
    ask_request answer; /* that `step` takes; answer.job -1: none */
    int64_t told;       /* job whose result is recorded and not acknowledged; -1: none */
    int64_t best;       /* that was last said to be it; -1: none */
    char why[512];      /* the last job failed */
} ask_task;

/* ---- lines ---- */

/* Takes standard input and output; what else is printed there goes to standard error from
 * now on. ECONF: they are a terminal; EFILE. */
static weft_status open_channel(ask_channel *channel, weft_arena *mem)
{
    *channel = (ask_channel){.in = -1, .out = -1, .mem = mem};
    if (isatty(STDIN_FILENO))
        return weft_fail(WEFT_ECONF,
                         "the jobs of this search are done by the program that starts "
                         "`weft serve`, over its standard input and output, and not by "
                         "hand; in Python: import weft");
    channel->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, FIRST_FD);
    channel->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, FIRST_FD);
    if (channel->in < 0 || channel->out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return weft_fail(WEFT_EFILE, "standard input, output or error is closed: %s",
                         strerror(errno));
    signal(SIGPIPE, SIG_IGN);
    return WEFT_OK;
}

static weft_status program_left(void)
{
    return weft_fail(WEFT_STOP, "the program that does the jobs has ended");
}

/* Ends the first line of what was received; NULL: it has no end yet. */
static const char *take_line(ask_channel *channel)
{
    if (channel->have == 0) return NULL;
    char *end = memchr(channel->text, '\n', (size_t)channel->have);
    if (!end) return NULL;
    *end = '\0';
    channel->taken = end + 1 - channel->text;
    return channel->text;
}

static weft_status receive_some(ask_channel *channel)
{
    if (channel->have > MOST_LINE) return program_left();
    while (channel->room < channel->have + MOST_READ)
        WEFT_REGROW(channel->mem, channel->text, channel->have + MOST_READ - 1,
                    &channel->room);
    ssize_t n = read(channel->in, channel->text + channel->have, MOST_READ);
    if (n < 0 && errno == EINTR) return WEFT_OK;
    if (n <= 0) return program_left();
    channel->have += n;
    return WEFT_OK;
}

/* Adds a line, given without its end, to what is sent. */
static void say_line(ask_channel *channel, const char *text)
{
    int64_t n = (int64_t)strlen(text);
    while (channel->said_room <= channel->nsaid + n)
        WEFT_REGROW(channel->mem, channel->said, channel->nsaid + n, &channel->said_room);
    memcpy(channel->said + channel->nsaid, text, (size_t)n);
    channel->nsaid += n;
    channel->said[channel->nsaid++] = '\n';
}

/* Sends what was said, at once, so that the program wakes up once. WEFT_STOP: nobody can
 * read it. */
static weft_status send_lines(ask_channel *channel)
{
    const char *at = channel->said, *end = at + channel->nsaid;
    channel->nsaid = 0;
    while (at < end) {
        ssize_t some = write(channel->out, at, (size_t)(end - at));
        if (some >= 0)
            at += some;
        else if (errno != EINTR)
            return program_left();
    }
    return WEFT_OK;
}

/* Sends what was said if it has to wait for a line: the next one, without its end, valid
 * until the next call: *line; NULL: none has come within so many seconds, or before a
 * signal. WEFT_STOP: none can come, because the program has closed its end, or sends what
 * is no line. */
static weft_status next_line(ask_channel *channel, double seconds, const char **line)
{
    channel->have -= channel->taken;
    if (channel->have > 0)
        memmove(channel->text, channel->text + channel->taken, (size_t)channel->have);
    channel->taken = 0;
    *line = take_line(channel);
    struct pollfd ready = {.fd = channel->in, .events = POLLIN};
    if (!*line) TRY(send_lines(channel));
    while (!*line) {
        if (poll(&ready, 1, (int)(1e3 * seconds)) <= 0) return WEFT_OK;
        TRY(receive_some(channel));
        *line = take_line(channel);
    }
    return WEFT_OK;
}

/* ---- requests ---- */

/* A finite number, NAN for null and nothing; 0 returned: it is something else. */
static int read_number(yajl_val value, double *out)
{
    return weft_yajl_number(value, out) && !isinf(*out);
}

static const char *read_metrics(yajl_val metrics, ask_request *out, weft_arena *mem)
{
    if (!metrics || YAJL_IS_NULL(metrics)) return NULL;
    if (!YAJL_IS_OBJECT(metrics)) return "its metrics are no object of names and numbers";
    if (metrics->u.object.len > WEFT_MAX_NUMBERS) weft_numbers_warn(out->job);
    for (size_t i = 0; i < metrics->u.object.len; i++) {
        const char *name = metrics->u.object.keys[i];
        double x;
        if (!weft_is_number_name(name))
            return weft_arena_text(mem,
                                   "\"%.80s\" is no name of a metric: a letter or _, then "
                                   "letters, digits, _ . - /",
                                   name);
        if (!read_number(metrics->u.object.values[i], &x))
            return weft_arena_text(mem, "its metric %s is no number", name);
        if (i < WEFT_MAX_NUMBERS) out->note = weft_note_add(out->note, name, x, mem);
    }
    return NULL;
}

static const char *read_told(yajl_val json, ask_request *out, weft_arena *mem)
{
    yajl_val job = weft_yajl_find(json, "tell"), failed = weft_yajl_find(json, "failed");
    if (!YAJL_IS_INTEGER(job) || YAJL_GET_INTEGER(job) < 0) return "\"tell\" is no job";
    out->job = YAJL_GET_INTEGER(job);
    if (failed) {
        if (!YAJL_IS_STRING(failed)) return "\"failed\" is no text";
        out->failed = weft_arena_text(mem, "%.400s", YAJL_GET_STRING(failed));
        return NULL;
    }
    if (!read_number(weft_yajl_find(json, "loss"), &out->loss) || isnan(out->loss))
        return "its loss is no finite number; a job without one is told as failed";
    if (!read_number(weft_yajl_find(json, "error"), &out->error))
        return "its error is no number";
    return read_metrics(weft_yajl_find(json, "metrics"), out, mem);
}

/* Reads a line. Returns NULL, or why it is no request. What it keeps is owned by mem. */
static const char *read_request(const char *line, ask_request *out, weft_arena *mem)
{
    *out = (ask_request){.job = -1, .loss = INFINITY, .error = (double)NAN};
    WEFT_JSON(json, line);
    if (!YAJL_IS_OBJECT(json))
        return "no request: expected a line {\"ask\":true} or "
               "{\"tell\":JOB,\"loss\":NUMBER}";
    if (weft_yajl_find(json, "tell")) return read_told(json, out, mem);
    return weft_yajl_find(json, "ask") ? NULL : "a request has \"ask\" or \"tell\"";
}

/* ---- setting up ---- */

static const weft_opt ask_opts[] = {{0}};

static const char *ask_single(const void *self)
{
    (void)self;
    return "run.task = ask";
}

static weft_status ask_setup(void *self, const weft_env *env)
{
    ask_task *ask = self;
    *ask = (ask_task){.env = *env, .answer.job = -1, .told = -1, .best = -1};
    if (!env->dir) return WEFT_OK;
    if (env->team->size > 1)
        return weft_fail(WEFT_ECONF, "the jobs of this search are done by one program, "
                                     "which starts one rank: `weft serve` without mpirun");
    return open_channel(&ask->channel, env->mem);
}

/* ---- what is said ---- */

static void say_error(ask_task *ask, const char *why, weft_arena *tmp)
{
    say_line(&ask->channel,
             weft_arena_text(tmp, "{\"error\":%s}", weft_json_quote(why, tmp)));
}

/* {"NAME":"0.1 .. 1",...}: the section as it was written. */
static const char *written(const ask_task *ask, weft_arena *tmp)
{
    const weft_conf *conf = ask->env.conf;
    const char *text = "";
    for (int i = 0; i < conf->n; i++)
        if (strcmp(conf->entry[i].section, WEFT_PARAMETERS) == 0)
            text = weft_arena_text(tmp, "%s%s%s:%s", text, *text ? "," : "",
                                   weft_json_quote(conf->entry[i].key, tmp),
                                   weft_json_quote(conf->entry[i].value, tmp));
    return text;
}

/* The front, as a list. */
static const char *front_text(const ask_task *ask, const weft_offer *offer, weft_arena *tmp)
{
    const weft_goals *goals = offer->goals;
    int64_t *front = WEFT_NEW(tmp, int64_t, offer->n);
    const char *text = "";
    weft_goals_front(goals, offer->n, offer->record, front, tmp);
    for (int64_t i = 0; i < offer->n; i++) {
        const weft_job_record *record = &offer->record[i];
        if (!front[i]) continue;
        text = weft_arena_text(tmp, "%s%s{\"trial\":%lld,\"total\":%.17g,\"values\":%s",
                               text, *text ? "," : "", (long long)record->job.trial,
                               record->res.resource,
                               weft_values_json(&ask->env, record->job.mix.conf, tmp));
        for (int g = 0; g < goals->objectives; g++)
            text = weft_arena_text(tmp, "%s,%s:%.17g", text,
                                   weft_json_quote(goals->goal[g].name, tmp),
                                   goals->goal[g].sign * record->res.aims.x[g]);
        text = weft_arena_text(tmp, "%s}", text);
    }
    return text;
}

/* What the program does not know yet: that a result is recorded, of a better job, that the
 * search is over. */
static void say_news(ask_task *ask, const weft_offer *offer, weft_arena *tmp)
{
    const weft_job_record *best = offer->best;
    const char *text = "";
    if (!ask->greeted)
        say_line(&ask->channel, weft_arena_text(tmp,
                                                "{\"weft\":\"%s\",\"protocol\":%d,"
                                                "\"parameters\":{%s}}",
                                                WEFT_VERSION, PROTOCOL, written(ask, tmp)));
    ask->greeted = 1;
    if (ask->told < 0 && !offer->over) return;
    if (ask->told >= 0) text = weft_arena_text(tmp, ",\"told\":%lld", (long long)ask->told);
    if (best && isfinite(best->res.loss) && (offer->over || best->job.id != ask->best)) {
        text = weft_arena_text(
            tmp,
            "%s,\"best\":{\"job\":%lld,\"trial\":%lld,\"total\":%.17g,\"loss\":%.17g,"
            "\"values\":%s}",
            text, (long long)best->job.id, (long long)best->job.trial, best->res.resource,
            best->res.loss, weft_values_json(&ask->env, best->job.mix.conf, tmp));
        ask->best = best->job.id;
    }
    if (offer->over && offer->goals && offer->goals->objectives > 0)
        text = weft_arena_text(tmp, "%s,\"front\":[%s]", text, front_text(ask, offer, tmp));
    if (offer->over) text = weft_arena_text(tmp, "%s,\"over\":true", text);
    ask->told = -1;
    say_line(&ask->channel, weft_arena_text(tmp, "{%s}", text + 1));
}

static void say_job(ask_task *ask, const weft_offer *offer, weft_arena *tmp)
{
    const weft_job *job = offer->job;
    const char *parent = "null";
    if (offer->parent >= 0) parent = weft_arena_text(tmp, "%lld", (long long)offer->parent);
    say_line(&ask->channel,
             weft_arena_text(tmp, "{%s,\"parent\":%s}",
                             weft_job_json(&ask->env, job, offer->before, tmp), parent));
}

/* ---- what is heard ---- */

static void give(ask_task *ask, const weft_offer *offer, int64_t *job, weft_arena *tmp)
{
    if (!offer->job) {
        say_line(&ask->channel, "{\"wait\":true}");
        return;
    }
    say_job(ask, offer, tmp);
    WEFT_REGROW(ask->env.mem, ask->given, ask->ngiven, &ask->room);
    ask->given[ask->ngiven++] = *job = offer->job->id;
}

/* Removes the job from those that were handed over; 0: it is none of them. */
static int take_back(ask_task *ask, int64_t job)
{
    for (int64_t i = 0; i < ask->ngiven; i++) {
        if (ask->given[i] != job) continue;
        ask->given[i] = ask->given[--ask->ngiven];
        return 1;
    }
    return 0;
}

/* Answers one request; *job as in weft_task.remote.trade. */
static void answer(ask_task *ask, const char *line, const weft_offer *offer, int64_t *job,
                   weft_arena *tmp)
{
    ask_request request;
    const char *wrong = read_request(line, &request, tmp);
    if (!wrong && request.job >= 0 && !take_back(ask, request.job))
        wrong = weft_arena_text(tmp,
                                "job %lld was told before, or not handed over since "
                                "the run began or was resumed",
                                (long long)request.job);
    if (wrong) say_error(ask, wrong, tmp);
    if (!wrong && request.job < 0) give(ask, offer, job, tmp);
    if (wrong || request.job < 0) return;
    if (request.note) request.note = weft_arena_text(ask->env.mem, "%s", request.note);
    if (request.failed) {
        snprintf(ask->why, sizeof ask->why, "%s", request.failed);
        request.failed = ask->why;
    }
    ask->answer = request;
    *job = request.job;
}

static weft_status ask_trade(void *self, const weft_offer *offer, int64_t *job)
{
    ask_task *ask = self;
    WEFT_SCRATCH(tmp);
    const char *line = NULL;
    *job = -1;
    weft_status st = WEFT_OK;
    say_news(ask, offer, tmp);
    while (st == WEFT_OK && *job < 0 && !offer->over) {
        st = next_line(&ask->channel, MOMENT, &line);
        if (st != WEFT_OK || !line) break;
        answer(ask, line, offer, job, tmp);
    }
    if (st == WEFT_OK && offer->over) st = send_lines(&ask->channel);
    return offer->over && st == WEFT_STOP ? WEFT_OK : st; /* it is over anyway */
}

/* ---- results ---- */

enum { VALID_LOSS, VALID_ERROR };
static const weft_metric ask_metrics[] = {
    {"valid_loss", "what was told", "loss", NULL},
    {"valid_error", "what was told as error; nan: nothing", "1", "error %"},
    {0}};

static const weft_metric ask_scores[] = {{"loss", "what was told", "loss", "loss"},
                                         {"error", "what was told", "1", "error %"},
                                         {0}};

static weft_status ask_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    ask_task *ask = self;
    ask_request told = {.loss = res->loss, .error = (double)NAN};
    (void)unit;
    (void)row;
    weft_check(job->mix.k == 1, "%d configurations", job->mix.k);
    if (ask->answer.job == job->id) {
        told = ask->answer;
        ask->told = job->id;
        ask->answer.job = -1;
    }
    weft_trace before = weft_trace_of(state), after = weft_trace_after(&before, job);
    after.failed = !isfinite(told.loss);
    weft_trace_put(&after, state);
    weft_result_single(res, told.loss, told.error, job->resource);
    res->failure = told.failed ? WEFT_CRASHED : WEFT_SUCCEEDED;
    res->why = told.failed;
    res->note = told.note;
    res->metric[VALID_LOSS] = told.loss;
    res->metric[VALID_ERROR] = told.error;
    return WEFT_OK;
}

WEFT_PLUGIN(task, ask) = {
    .kind = WEFT_KIND("ask", ask_task, ask_opts,
                      "a program that asks for jobs: `weft serve`, from Python"),
    .parts = weft_parameters_parts,
    .traits = {.data = WEFT_DATA_NONE,
               .metrics = ask_metrics,
               .scores = ask_scores,
               .lost = "why the jobs were told as failed"},
    .tuner = "random",
    .plan = {.single = ask_single},
    .tuned = weft_programs_tuned,
    .setup = ask_setup,
    .nstate = weft_programs_nstate,
    .cost = weft_programs_cost,
    .step = ask_step,
    .remote = {.trade = ask_trade},
};
