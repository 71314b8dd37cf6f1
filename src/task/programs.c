/* What programs that do jobs are given and tell, and the progress of their trials. */
#include "programs.h"
#include "weft/base/random.h"

#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

/* A text, in quotes. */
static void put_text(yajl_gen json, const char *text)
{
    yajl_gen_string(json, (const unsigned char *)text, strlen(text));
}

static yajl_gen begin_json(void)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    weft_check(json != NULL, "no memory for JSON");
    return json;
}

/* What was made. Frees json. Owned by mem. */
static const char *end_json(yajl_gen json, weft_arena *mem)
{
    const unsigned char *text;
    size_t n;
    yajl_gen_get_buf(json, &text, &n);
    const char *copy = weft_arena_text(mem, "%.*s", (int)n, (const char *)text);
    yajl_gen_free(json);
    return copy;
}

const char *weft_json_quote(const char *text, weft_arena *mem)
{
    yajl_gen json = begin_json();
    put_text(json, text);
    return end_json(json, mem);
}

void weft_yajl_leave(yajl_val *value)
{
    yajl_tree_free(*value);
}

yajl_val weft_yajl_find(yajl_val in, const char *key)
{
    const char *path[] = {key, NULL};
    return YAJL_IS_OBJECT(in) ? yajl_tree_get(in, path, yajl_t_any) : NULL;
}

int weft_yajl_number(yajl_val value, double *out)
{
    *out = (double)NAN;
    if (!value || YAJL_IS_NULL(value)) return 1;
    if (!YAJL_IS_NUMBER(value)) return 0;
    *out = strtod(YAJL_GET_NUMBER(value), NULL); /* yajl takes 1e-310 for an error */
    return 1;
}

/* ---- parameters ---- */

const weft_kind weft_parameters_kind = {
    .name = WEFT_PARAMETERS,
    .about = "what a program or a worker is given, any names",
    .size = 1,
    .opts = weft_own_keys};

const weft_kind *const weft_parameters_parts[] = {&weft_parameters_kind, NULL};

/* The axis of a parameter, or -1. */
static int axis_of(const weft_space *space, const char *key)
{
    for (int a = 0; a < space->dim; a++)
        if (strcmp(space->axis[a].section, WEFT_PARAMETERS) == 0 &&
            strcmp(space->axis[a].opt->name, key) == 0)
            return a;
    return -1;
}

static const char *unquoted(const char *value, weft_arena *mem)
{
    if (!weft_is_quoted(value)) return value;
    return weft_arena_text(mem, "%.*s", (int)strlen(value) - 2, value + 1);
}

void weft_parameters(const weft_conf *input, const weft_space *space, const double *conf,
                     int *n, const char ***name, const char ***value, weft_arena *mem)
{
    *n = 0;
    *name = WEFT_NEW(mem, const char *, input->n);
    *value = WEFT_NEW(mem, const char *, input->n);
    for (int i = 0; i < input->n; i++) {
        const weft_entry *entry = &input->entry[i];
        if (strcmp(entry->section, WEFT_PARAMETERS) != 0) continue;
        int a = axis_of(space, entry->key);
        const char *text = unquoted(entry->value, mem);
        if (a < 0 && weft_clause(entry->value, "when")) continue; /* it never exists */
        if (a >= 0 && isnan(conf[a])) continue;
        if (a >= 0) {
            enum { MOST = 1024 };
            char *shown = WEFT_NEW(mem, char, MOST);
            weft_opt_show(space->axis[a].opt, conf[a], shown, MOST);
            int whole = strspn(shown, "-0123456789") == strlen(shown);
            whole = whole && space->axis[a].opt->type == WEFT_REAL;
            text = weft_arena_text(mem, "%s%s", shown, whole ? ".0" : "");
        }
        (*name)[*n] = entry->key;
        (*value)[(*n)++] = text;
    }
}

const char *weft_parameter_variable(const char *name, weft_arena *mem)
{
    char *text = weft_arena_text(mem, "PARAM_%s", name);
    for (char *c = text; *c; c++)
        if (*c == '-' || *c == '.') *c = '_';
    return text;
}

/* 1 if the text is true, false or a number in JSON, without blanks around it. */
static int is_plain(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (!*text || !strchr("-0123456789tf", *text) || strpbrk(text, " \t\r\n")) return 0;
    yajl_handle json = yajl_alloc(NULL, NULL, NULL);
    weft_check(json != NULL, "no memory for JSON");
    int plain = yajl_parse(json, bytes, strlen(text)) == yajl_status_ok &&
                yajl_complete_parse(json) == yajl_status_ok;
    yajl_free(json);
    return plain;
}

const char *weft_parameters_json(int n, const char *const *name, const char *const *value,
                                 weft_arena *mem)
{
    yajl_gen json = begin_json();
    yajl_gen_map_open(json);
    for (int i = 0; i < n; i++) {
        put_text(json, name[i]);
        if (is_plain(value[i]))
            yajl_gen_number(json, value[i], strlen(value[i])); /* as it is written */
        else
            put_text(json, value[i]);
    }
    yajl_gen_map_close(json);
    return end_json(json, mem);
}

const char *weft_values_json(const weft_env *env, const double *conf, weft_arena *mem)
{
    int n;
    const char **name, **value;
    weft_parameters(env->conf, env->space, conf, &n, &name, &value, mem);
    return weft_parameters_json(n, name, value, mem);
}

/* ---- numbers ---- */

int weft_is_number_name(const char *text)
{
    return *text && strchr(WEFT_NAME_LETTERS, *text) &&
           text[strspn(text, WEFT_NAME_LETTERS WEFT_NAME_INNER)] == '\0';
}

void weft_numbers_warn(int64_t job)
{
    weft_log(WEFT_WARN,
             "job %lld has numbers of more than %d names; further names are left out",
             (long long)job, WEFT_MAX_NUMBERS);
}

const char *weft_note_add(const char *text, const char *name, double x, weft_arena *mem)
{
    return weft_arena_text(mem, "%s%s%s=%.17g", text ? text : "", text ? " " : "", name, x);
}

/* ---- trials ---- */

enum { FAILED, JOBS, TRIAL, JOB, RESOURCE, NUMBERS };

weft_trace weft_trace_of(const weft_state *state)
{
    const double *x = state->aux;
    return (weft_trace){.failed = (int)x[FAILED],
                        .jobs = (int64_t)x[JOBS],
                        .trial = (int64_t)x[TRIAL],
                        .job = (int64_t)x[JOB],
                        .resource = x[RESOURCE]};
}

void weft_trace_put(const weft_trace *trace, weft_state *state)
{
    state->aux[FAILED] = trace->failed;
    state->aux[JOBS] = (double)trace->jobs;
    state->aux[TRIAL] = (double)trace->trial;
    state->aux[JOB] = (double)trace->job;
    state->aux[RESOURCE] = trace->resource;
}

weft_trace weft_trace_after(const weft_trace *before, const weft_job *job)
{
    return (weft_trace){.failed = before->failed,
                        .jobs = before->jobs + 1,
                        .trial = job->trial,
                        .job = job->id,
                        .resource = before->resource + job->resource};
}

int64_t weft_trial_seed(const weft_env *env, const weft_job *job)
{
    weft_rng4 rng = weft_rng_at(env->seed, WEFT_RNG_WEIGHTS, (uint64_t)job->trial, 0, 0);
    return (int64_t)(rng.v[0] >> 33);
}

const char *weft_job_json(const weft_env *env, const weft_job *job, double done,
                          weft_arena *mem)
{
    return weft_arena_text(
        mem,
        "\"job\":%lld,\"trial\":%lld,\"seed\":%lld,\"done\":%.17g,\"resource\":%.17g,"
        "\"total\":%.17g,\"values\":%s",
        (long long)job->id, (long long)job->trial, (long long)weft_trial_seed(env, job),
        done, job->resource, done + job->resource,
        weft_values_json(env, job->mix.conf, mem));
}

weft_status weft_programs_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    (void)self;
    kind[0] = &weft_parameters_kind;
    *n = 1;
    return WEFT_OK;
}

void weft_programs_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)self;
    (void)job;
    size->nx = 0;
    size->naux = NUMBERS;
}

void weft_programs_cost(const void *self, const weft_job *job, weft_cost *out)
{
    (void)self;
    *out = (weft_cost){.flops = job->resource};
}
