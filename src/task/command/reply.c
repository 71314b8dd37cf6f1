/* Reads what a program that is kept answers; see reply.h. */
#include "reply.h"
#include "command.h"
#include "printed.h"
#include "weft/log.h"

#include <yajl/yajl_tree.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static yajl_val find(yajl_val in, const char *key)
{
    const char *path[] = {key, NULL};
    return YAJL_IS_OBJECT(in) ? yajl_tree_get(in, path, yajl_t_any) : NULL;
}

/* A number; NAN for null or nothing. Returns 0 for anything else. */
static int number(yajl_val value, double *out)
{
    *out = (double)NAN;
    if (!value || YAJL_IS_NULL(value)) return 1;
    if (YAJL_IS_NUMBER(value)) *out = YAJL_GET_DOUBLE(value);
    return YAJL_IS_NUMBER(value);
}

static int is_true(yajl_val in, const char *key)
{
    yajl_val value = find(in, key);
    return value && YAJL_IS_TRUE(value);
}

/* 1 if the key has that number. */
static int names(yajl_val in, const char *key, int64_t job)
{
    yajl_val value = find(in, key);
    return value && YAJL_IS_INTEGER(value) && YAJL_GET_INTEGER(value) == job;
}

/* The text of the error, in one line; 0: there is none. */
static int is_error(yajl_val in, char *why, size_t room)
{
    yajl_val value = find(in, "error");
    if (!value) return 0;
    snprintf(why, room, "%s", YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : "an error");
    for (char *c = why; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return 1;
}

/* Parses a line, *json, which the caller frees. */
static weft_status parse(weft_link *link, const char *line, yajl_val *json)
{
    *json = yajl_tree_parse(line, NULL, 0);
    if (YAJL_IS_OBJECT(*json)) return WEFT_OK;
    yajl_tree_free(*json);
    *json = NULL;
    return weft_link_fail(link, WEFT_EDATA, "sent a line that is no object of JSON: %.200s",
                          line);
}

/* ---- metrics ---- */

static void take_metric(const char *name, double x, command_reply *reply, int64_t *left,
                        weft_arena *tmp)
{
    if (strcmp(name, "error") == 0)
        reply->error = x;
    else if (strcmp(name, "train_loss") == 0)
        reply->train_loss = x;
    else if (isfinite(x) && weft_printed_is_name(name) && (*left)-- > 0)
        reply->note = command_add_note(reply->note, name, x, tmp);
}

/* Numbers by name, of which those that are not finite are left out. Returns 0 if they are
 * something else. */
static int take_metrics(yajl_val in, command_reply *reply, weft_arena *mem)
{
    yajl_val metrics = find(in, "metrics");
    if (!metrics) return 1;
    if (!YAJL_IS_OBJECT(metrics)) return 0;
    weft_arena *tmp = weft_arena_new();
    int64_t left = WEFT_MAX_PRINTED;
    int good = 1;
    for (size_t i = 0; i < metrics->u.object.len && good; i++) {
        double x;
        good = number(metrics->u.object.values[i], &x);
        if (good) take_metric(metrics->u.object.keys[i], x, reply, &left, tmp);
    }
    if (reply->note) reply->note = weft_arena_text(mem, "%s", reply->note);
    weft_arena_free(tmp);
    return good;
}

/* ---- public ---- */

static weft_status is_wrong(weft_link *link, const char *line)
{
    return weft_link_fail(link, WEFT_EDATA,
                          "sent a line that is no answer to what it was asked: %.200s",
                          line);
}

static weft_status read_line(weft_link *link, const char *line, yajl_val json, int64_t job,
                             command_reply *reply, weft_arena *mem)
{
    *reply = (command_reply){.error = (double)NAN, .train_loss = (double)NAN};
    if (is_error(json, reply->why, sizeof reply->why)) {
        reply->kind = COMMAND_FAILED;
        return WEFT_OK;
    }
    if (names(json, "stopped", job)) {
        reply->kind = COMMAND_STOPPED;
        return WEFT_OK;
    }
    reply->kind = names(json, "report", job) ? COMMAND_REPORTED : COMMAND_ANSWERED;
    int good = reply->kind == COMMAND_REPORTED || names(json, "job", job);
    good &= number(find(json, "step"), &reply->step) && isfinite(reply->step);
    good &= find(json, "loss") && number(find(json, "loss"), &reply->loss);
    if (!good || !take_metrics(json, reply, mem)) return is_wrong(link, line);
    reply->held = is_true(json, "held");
    reply->saves = is_true(json, "saves");
    return WEFT_OK;
}

weft_status command_reply_read(weft_link *link, const char *line, int64_t job,
                               command_reply *reply, weft_arena *mem)
{
    yajl_val json;
    TRY(parse(link, line, &json));
    weft_status st = read_line(link, line, json, job, reply, mem);
    yajl_tree_free(json);
    return st;
}

weft_status command_reply_described(weft_link *link, const char *line)
{
    yajl_val json;
    char why[512];
    TRY(parse(link, line, &json));
    weft_status st = WEFT_OK;
    if (is_error(json, why, sizeof why))
        st = weft_link_fail(link, WEFT_EDATA, "has a bug: %.400s", why);
    else if (!names(json, "protocol", WEFT_PROTOCOL))
        st = weft_link_fail(link, WEFT_EDATA, "speaks another protocol than %d",
                            WEFT_PROTOCOL);
    yajl_tree_free(json);
    return st;
}

weft_status command_reply_saved(weft_link *link, const char *line, int64_t job)
{
    yajl_val json;
    char why[512];
    TRY(parse(link, line, &json));
    weft_status st = WEFT_OK;
    if (is_error(json, why, sizeof why))
        st = weft_fail(WEFT_EDATA, "%s", why);
    else if (!names(json, "saved", job))
        st = is_wrong(link, line);
    yajl_tree_free(json);
    return st;
}
