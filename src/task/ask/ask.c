/* Task ask: a search whose jobs are done by the program that started it. That asks for jobs
 * and tells their losses, by lines of JSON, as many at once and in any order:
 *
 *     {"ask":true}                 {"job":3,"trial":3,"parent":null,"resource":1,"done":0,
 *                                   "total":1,"seed":92,"values":{"rate":0.1}}
 *                                  or {"wait":true}: until a result is told
 *     {"tell":3,"loss":0.5}        {"told":3}, once that is in the journal
 *
 * Before that comes {"weft":VERSION,"protocol":1,"parameters":{NAME:TEXT}}, these as the
 * input file has them. The first line that is sent after the
 * best job became another one has "best":{...}, too, and the last line has "over":true.
 * What is wrong with a request is answered by {"error":"..."}, and it changes nothing. The
 * state of a trial is that of task command, so that equal losses have equal digests. */
#include "channel.h"
#include "request.h"
#include "task/parameters.h"
#include "weft/rng.h"
#include "weft/task.h"

#include <yajl/yajl_gen.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PROTOCOL 1
#define MOMENT   0.2 /* seconds between two looks whether the run is to stop */

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

static const weft_opt ask_opts[] = {{0}};
static const weft_kind *const ask_parts[] = {&weft_parameters_kind, NULL};

static const char *ask_single(const void *self)
{
    (void)self;
    return "run.task = ask";
}

static weft_status ask_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    (void)self;
    kind[0] = &weft_parameters_kind;
    *n = 1;
    return WEFT_OK;
}

static weft_status ask_setup(void *self, const weft_env *env)
{
    ask_task *ask = self;
    *ask = (ask_task){.env = *env, .answer.job = -1, .told = -1, .best = -1};
    if (!env->dir) return WEFT_OK;
    if (env->team->size > 1)
        return weft_fail(WEFT_ECONF, "the jobs of this search are done by one program, "
                                     "which starts one rank: `weft serve` without mpirun");
    return ask_channel_open(&ask->channel, env->mem);
}

/* ---- the state of a trial ---- */

enum { FAILED, JOBS, TRIAL, JOB, RESOURCE, NUMBERS };

static void ask_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)self;
    (void)job;
    size->nx = 0;
    size->naux = NUMBERS;
}

/* The cost is not known; a job of more resource is assumed to cost more. */
static void ask_cost(const void *self, const weft_job *job, weft_cost *out)
{
    (void)self;
    *out = (weft_cost){.flops = job->resource};
}

static weft_price ask_price(const void *self)
{
    (void)self;
    return WEFT_PRICE_UNKNOWN;
}

/* ---- what is said ---- */

/* {"name":value,...} of a configuration. */
static const char *values_of(const ask_task *ask, const double *conf, weft_arena *tmp)
{
    int n;
    const char **name, **value;
    weft_parameters(ask->env.conf, ask->env.space, conf, &n, &name, &value, tmp);
    return weft_parameters_json(n, name, value, tmp);
}

static const char *quoted(const char *text, weft_arena *tmp)
{
    const unsigned char *bytes;
    size_t n;
    yajl_gen json = yajl_gen_alloc(NULL);
    weft_check(json != NULL, "no memory for JSON");
    yajl_gen_string(json, (const unsigned char *)text, strlen(text));
    yajl_gen_get_buf(json, &bytes, &n);
    const char *copy = weft_arena_text(tmp, "%.*s", (int)n, (const char *)bytes);
    yajl_gen_free(json);
    return copy;
}

static void say_error(ask_task *ask, const char *why, weft_arena *tmp)
{
    ask_channel_say(&ask->channel,
                    weft_arena_text(tmp, "{\"error\":%s}", quoted(why, tmp)));
}

/* {"NAME":"0.1 .. 1",...}: the section as it was written. */
static const char *written(const ask_task *ask, weft_arena *tmp)
{
    const weft_conf *conf = ask->env.conf;
    const char *text = "";
    for (int i = 0; i < conf->n; i++)
        if (strcmp(conf->entry[i].section, WEFT_PARAMETERS) == 0)
            text = weft_arena_text(tmp, "%s%s%s:%s", text, *text ? "," : "",
                                   quoted(conf->entry[i].key, tmp),
                                   quoted(conf->entry[i].value, tmp));
    return text;
}

/* What the program does not know yet: that a result is recorded, of a better job, that the
 * search is over. */
static void say_news(ask_task *ask, const weft_offer *offer, weft_arena *tmp)
{
    const weft_job_record *best = offer->best;
    const char *text = "";
    if (!ask->greeted)
        ask_channel_say(&ask->channel,
                        weft_arena_text(tmp,
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
            best->res.loss, values_of(ask, best->job.mix.conf, tmp));
        ask->best = best->job.id;
    }
    if (offer->over) text = weft_arena_text(tmp, "%s,\"over\":true", text);
    ask->told = -1;
    ask_channel_say(&ask->channel, weft_arena_text(tmp, "{%s}", text + 1));
}

static void say_job(ask_task *ask, const weft_offer *offer, weft_arena *tmp)
{
    const weft_job *job = offer->job;
    weft_rng4 rng =
        weft_rng_at(ask->env.seed, WEFT_RNG_WEIGHTS, (uint64_t)job->trial, 0, 0);
    const char *parent = "null";
    if (offer->parent >= 0) parent = weft_arena_text(tmp, "%lld", (long long)offer->parent);
    ask_channel_say(
        &ask->channel,
        weft_arena_text(tmp,
                        "{\"job\":%lld,\"trial\":%lld,\"parent\":%s,\"resource\":%.17g,"
                        "\"done\":%.17g,\"total\":%.17g,\"seed\":%lld,\"values\":%s}",
                        (long long)job->id, (long long)job->trial, parent, job->resource,
                        offer->before, offer->before + job->resource,
                        (long long)(rng.v[0] >> 33), values_of(ask, job->mix.conf, tmp)));
}

/* ---- what is heard ---- */

static void give(ask_task *ask, const weft_offer *offer, int64_t *job, weft_arena *tmp)
{
    if (!offer->job) {
        ask_channel_say(&ask->channel, "{\"wait\":true}");
        return;
    }
    say_job(ask, offer, tmp);
    ask->given =
        weft_regrow(ask->env.mem, ask->given, sizeof *ask->given, ask->ngiven, &ask->room);
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

/* Answers one request; *job as in weft_task.trade. */
static void answer(ask_task *ask, const char *line, const weft_offer *offer, int64_t *job,
                   weft_arena *tmp)
{
    ask_request request;
    const char *wrong = ask_request_read(line, &request, tmp);
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
    weft_arena *tmp = weft_arena_new();
    const char *line = NULL;
    *job = -1;
    weft_status st = WEFT_OK;
    say_news(ask, offer, tmp);
    while (st == WEFT_OK && *job < 0 && !offer->over) {
        st = ask_channel_next(&ask->channel, MOMENT, &line);
        if (st != WEFT_OK || !line) break;
        answer(ask, line, offer, job, tmp);
    }
    if (st == WEFT_OK) st = ask_channel_send(&ask->channel);
    weft_arena_free(tmp);
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
    state->aux[FAILED] = !isfinite(told.loss);
    state->aux[JOBS] += 1;
    state->aux[TRIAL] = (double)job->trial;
    state->aux[JOB] = (double)job->id;
    state->aux[RESOURCE] += job->resource;
    res->failure = told.failed ? WEFT_CRASHED : WEFT_SUCCEEDED;
    res->why = told.failed;
    res->note = told.note;
    res->loss = res->metric[VALID_LOSS] = told.loss;
    res->metric[VALID_ERROR] = told.error;
    res->cost = job->resource;
    res->arm_loss[0] = told.loss;
    res->arm_wrong[0] = told.error;
    res->arm_count[0] = 1;
    return WEFT_OK;
}

extern const weft_task weft_task_ask;
const weft_task weft_task_ask = {
    .kind = {.name = "ask",
             .about = "a program that asks for jobs: `weft serve`, from Python",
             .size = sizeof(ask_task),
             .opts = ask_opts},
    .parts = ask_parts,
    .data = WEFT_DATA_NONE,
    .tuner = "random",
    .metrics = ask_metrics,
    .scores = ask_scores,
    .lost = "why the jobs were told as failed",
    .single = ask_single,
    .tuned = ask_tuned,
    .setup = ask_setup,
    .nstate = ask_nstate,
    .cost = ask_cost,
    .price = ask_price,
    .step = ask_step,
    .trade = ask_trade,
};
