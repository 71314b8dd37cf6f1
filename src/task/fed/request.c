/* The line by which a worker is asked for a turn. */
#include "request.h"
#include "task/programs.h"
#include "weft/rng.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int has_parameters(const weft_conf *conf)
{
    for (int i = 0; i < conf->n; i++)
        if (strcmp(conf->entry[i].section, WEFT_PARAMETERS) == 0) return 1;
    return 0;
}

fed_wording fed_wording_of(const weft_conf *conf, int knows)
{
    return (fed_wording){.knows = knows, .has_parameters = has_parameters(conf)};
}

/* Text of bounded length, to which parts are added. */
struct request {
    char *text;
    size_t n, room;
};

static void add(struct request *request, const char *fmt, ...) WEFT_PRINTF(2, 3);
static void add(struct request *request, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(request->text + request->n, request->room - request->n, fmt, args);
    va_end(args);
    weft_check(n >= 0 && (size_t)n < request->room - request->n,
               "a request of more than %zu bytes", request->room);
    request->n += (size_t)n;
}

/* The options of section [client]; those that a worker has no use for are weft's. */
static void add_options(struct request *request, const fed_training *options)
{
    const char *comma = "";
    for (const weft_opt *opt = fed_training_kind.opts; opt->name; opt++) {
        if (!weft_opt_tunable(opt)) continue;
        const char *member = (const char *)options + opt->at;
        int digits = (int)strcspn(opt->name, "/");
        if (opt->type == WEFT_REAL)
            add(request, "%s\"%.*s\":%.17g", comma, digits, opt->name,
                *(const double *)(const void *)member);
        else
            add(request, "%s\"%.*s\":%d", comma, digits, opt->name,
                *(const int *)(const void *)member);
        comma = ",";
    }
}

/* The same; clients often have those of the one before. */
static const char *options_of(fed_wording *wording, const fed_training *options)
{
    struct request request = {.text = wording->text, .room = sizeof wording->text};
    if (*wording->text && memcmp(&wording->shown, options, sizeof *options) == 0)
        return wording->text;
    memcpy(&wording->shown, options, sizeof *options);
    add_options(&request, options);
    return wording->text;
}

static const char *parameters_of(const fed_task *fed, const fed_client *client,
                                 weft_arena *tmp)
{
    int n;
    const char **name, **value;
    weft_parameters(fed->env.conf, fed->env.space, client->conf, &n, &name, &value, tmp);
    return weft_parameters_json(n, name, value, tmp);
}

/* The words that the worker knows. */
static void add_words(const fed_task *fed, const weft_course *course, const fed_sent *sent,
                      int knows, struct request *request)
{
    const char *fixed = course ? course->fixed : NULL;
    if (knows & WEFT_NEEDS_FIXED) {
        add(request, ",\"tensors\":");
        for (int i = 0; i < fed->ntensor; i++)
            add(request, "%c%d", i == 0 ? '[' : ',', !(fixed && fixed[i]));
        add(request, "]");
    }
    if (knows & WEFT_NEEDS_ANCHOR)
        add(request, ",\"anchor\":%lld", (long long)sent->anchor);
    if (knows & WEFT_NEEDS_DRIFT) add(request, ",\"drift\":%lld", (long long)sent->drift);
}

const char *fed_request(const fed_task *fed, const fed_turns *turns, int64_t j,
                        const fed_sent *sent, fed_wording *wording, weft_arena *tmp)
{
    const fed_client *client = &turns->client[j];
    const fed_turn *turn = turns->turn;
    const char *own = wording->has_parameters ? parameters_of(fed, client, tmp) : "{}";
    struct request request = {.room = 4096 + strlen(own)};
    request.text = WEFT_NEW(tmp, char, request.room);
    weft_rng4 rng = weft_rng_at(fed->env.seed, WEFT_RNG_WORKER, turn->round,
                                (uint64_t)client->client, 0);
    int64_t round = turn->round == FED_EVALUATION ? -1 : (int64_t)turn->round;
    add(&request,
        "{\"ask\":\"turn\",\"turn\":%lld,\"client\":%lld,\"round\":%lld,\"seed\":%llu,"
        "\"train\":%s,\"before\":%s,\"after\":%s,\"part\":\"%s\",\"samples\":%lld,"
        "\"scored\":%lld,\"weights\":%lld,\"answer\":%lld,\"order\":%lld",
        (long long)sent->turn, (long long)client->client, (long long)round,
        (unsigned long long)(rng.v[0] >> 32), turn->train ? "true" : "false",
        turn->before ? "true" : "false", turn->after ? "true" : "false",
        weft_part_name[turn->part], (long long)client->samples, (long long)client->valid,
        (long long)sent->weights, (long long)sent->answer, (long long)sent->order);
    add_words(fed, turns->course, sent, wording->knows, &request);
    add(&request, ",\"options\":{%s},\"parameters\":%s}\n",
        options_of(wording, &client->options), own);
    return request.text;
}
