/* Requests, read from lines of JSON. */
#include "request.h"

#include <yajl/yajl_tree.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define INNER   "0123456789.-/"

static yajl_val find(yajl_val in, const char *key)
{
    const char *path[] = {key, NULL};
    return YAJL_IS_OBJECT(in) ? yajl_tree_get(in, path, yajl_t_any) : NULL;
}

/* The number, NAN for null and nothing; 0 returned: it is something else. */
static int read_number(yajl_val value, double *out)
{
    *out = (double)NAN;
    if (!value || YAJL_IS_NULL(value)) return 1;
    if (!YAJL_IS_NUMBER(value)) return 0;
    *out = strtod(YAJL_GET_NUMBER(value), NULL); /* yajl takes 1e-310 for an error */
    return isfinite(*out);
}

static int is_name(const char *text)
{
    return *text && strchr(LETTERS, *text) && text[strspn(text, LETTERS INNER)] == '\0';
}

static const char *read_metrics(yajl_val metrics, ask_request *out, weft_arena *mem)
{
    if (!metrics || YAJL_IS_NULL(metrics)) return NULL;
    if (!YAJL_IS_OBJECT(metrics)) return "its metrics are no object of names and numbers";
    const char *text = "";
    for (size_t i = 0; i < metrics->u.object.len; i++) {
        const char *name = metrics->u.object.keys[i];
        double x;
        if (!is_name(name))
            return weft_arena_text(mem,
                                   "\"%.80s\" is no name of a metric: a letter or _, then "
                                   "letters, digits, _ . - /",
                                   name);
        if (!read_number(metrics->u.object.values[i], &x))
            return weft_arena_text(mem, "its metric %s is no number", name);
        text = weft_arena_text(mem, "%s%s%s=%.17g", text, *text ? " " : "", name, x);
    }
    if (*text) out->note = text;
    return NULL;
}

static const char *read_told(yajl_val json, ask_request *out, weft_arena *mem)
{
    yajl_val job = find(json, "tell"), failed = find(json, "failed");
    if (!YAJL_IS_INTEGER(job) || YAJL_GET_INTEGER(job) < 0) return "\"tell\" is no job";
    out->job = YAJL_GET_INTEGER(job);
    if (failed) {
        if (!YAJL_IS_STRING(failed)) return "\"failed\" is no text";
        out->failed = weft_arena_text(mem, "%.400s", YAJL_GET_STRING(failed));
        return NULL;
    }
    if (!read_number(find(json, "loss"), &out->loss) || isnan(out->loss))
        return "its loss is no finite number; a job without one is told as failed";
    if (!read_number(find(json, "error"), &out->error)) return "its error is no number";
    return read_metrics(find(json, "metrics"), out, mem);
}

const char *ask_request_read(const char *line, ask_request *out, weft_arena *mem)
{
    char why[200] = "";
    *out = (ask_request){.job = -1, .loss = INFINITY, .error = (double)NAN};
    yajl_val json = yajl_tree_parse(line, why, sizeof why);
    const char *wrong = NULL;
    if (!YAJL_IS_OBJECT(json))
        wrong =
            "no request: expected a line {\"ask\":true} or {\"tell\":JOB,\"loss\":NUMBER}";
    else if (find(json, "tell"))
        wrong = read_told(json, out, mem);
    else if (!find(json, "ask"))
        wrong = "a request has \"ask\" or \"tell\"";
    yajl_tree_free(json);
    return wrong;
}
