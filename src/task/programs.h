/* Tasks whose jobs are done by programs: what these are given, section [parameters], and
 * tell, as lines of JSON; and the state of their trials. Private to src/task/. */
#ifndef WEFT_TASK_PROGRAMS_H
#define WEFT_TASK_PROGRAMS_H

#include "weft/task/task.h"

#include <yajl/yajl_tree.h>

/* ---- JSON ---- */

/* A text, in quotes. Owned by mem. */
const char *weft_json_quote(const char *text, weft_arena *mem);
/* Declares the value of a line of JSON, NULL where it is none, which is freed where its
 * scope ends. */
#define WEFT_JSON(name, line)                                                              \
    __attribute__((cleanup(weft_yajl_leave))) yajl_val name =                              \
        yajl_tree_parse((line), NULL, 0)
void weft_yajl_leave(yajl_val *value);
/* The value of a key; NULL: there is none. */
yajl_val weft_yajl_find(yajl_val in, const char *key);
/* A number; NAN for null or nothing. Returns 0 for anything else. */
int weft_yajl_number(yajl_val value, double *out);

/* ---- parameters ---- */

#define WEFT_PARAMETERS "parameters" /* section whose keys the user chooses */
extern const weft_kind weft_parameters_kind;
extern const weft_kind *const weft_parameters_parts[]; /* as weft_task.parts */

/* The parameters of a configuration: their names as written, and values; *n of them. A
 * whole number of a real axis is "1.0", so that it is no integer to programs. Owned by mem.
 */
void weft_parameters(const weft_conf *input, const weft_space *space, const double *conf,
                     int *n, const char ***name, const char ***value, weft_arena *mem);
/* As {"name":value,...}; values that are numbers, true or false as such. */
const char *weft_parameters_json(int n, const char *const *name, const char *const *value,
                                 weft_arena *mem);
/* "PARAM_weight_decay" of "weight-decay". */
const char *weft_parameter_variable(const char *name, weft_arena *mem);
/* As JSON, those of a configuration of a run. */
const char *weft_values_json(const weft_env *env, const double *conf, weft_arena *mem);

/* ---- numbers ---- */

/* Names of numbers that programs print or tell: a letter, then letters and others. */
#define WEFT_NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define WEFT_NAME_DIGITS  "0123456789"
#define WEFT_NAME_INNER   WEFT_NAME_DIGITS ".-/"
int weft_is_number_name(const char *text);
enum { WEFT_MAX_NUMBERS = 1024 }; /* names of a job that are kept, besides wanted ones */
/* Warns that the job has more of them, which are left out. */
void weft_numbers_warn(int64_t job);
/* "name=number name=number" and so on: adds one to the text, which may be NULL. */
const char *weft_note_add(const char *text, const char *name, double x, weft_arena *mem);

/* ---- trials ---- */

/* The progress of a trial, stored as the doubles of its state. */
typedef struct weft_trace {
    int failed;         /* 1: a job failed, so that the trial cannot be continued */
    int64_t jobs;       /* done; 0: none, there is no directory */
    int64_t trial, job; /* that were done last, and whose directory it is */
    double resource;    /* in all */
} weft_trace;

weft_trace weft_trace_of(const weft_state *state);
void weft_trace_put(const weft_trace *trace, weft_state *state);
/* The progress after a job. */
weft_trace weft_trace_after(const weft_trace *before, const weft_job *job);
/* A seed for the trial of a job, below 2^31. */
int64_t weft_trial_seed(const weft_env *env, const weft_job *job);
/* "job":3,"trial":3,"seed":92,"done":1,"resource":2,"total":3,"values":{...} for a job
 * whose trial has that much resource `done`. Owned by mem. */
const char *weft_job_json(const weft_env *env, const weft_job *job, double done,
                          weft_arena *mem);

/* As the functions of weft_task: [parameters] is what is tuned; the state is a weft_trace;
 * a job of more resource is assumed to cost more, how much is not known. */
weft_status weft_programs_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n);
void weft_programs_nstate(const void *self, const weft_job *job, weft_state *size);
void weft_programs_cost(const void *self, const weft_job *job, weft_cost *out);

#endif
