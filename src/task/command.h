/* What the files of task command share: running a program under a supervisor, reading its
 * output, its environment. Private to task. */
#ifndef WEFT_TASK_COMMAND_H
#define WEFT_TASK_COMMAND_H

#include "weft/task.h"

#define WEFT_PARAMETERS "parameters" /* section whose keys the user chooses */

/* ---- what a program prints (command_output.c) --------------------------------------- */

#define WEFT_MAX_PRINTED 64 /* names of numbers that a program may print */

/* The last number of each name in the lines "... name=number ..." of standard output, and
 * the last line of each stream. */
typedef struct weft_printed {
    int n;
    char name[WEFT_MAX_PRINTED][64];
    double value[WEFT_MAX_PRINTED];
    struct {
        char text[4096]; /* longest line; longer ones are truncated */
        size_t n;
        char last[256]; /* the last line that was not empty */
    } line[2];          /* standard output, standard error */
} weft_printed;

/* Takes bytes[n] of standard output (stream 0) or standard error (1). Local. */
void weft_printed_add(weft_printed *p, int stream, const char *bytes, size_t n);
/* Takes lines without an end as ended. Local. */
void weft_printed_end(weft_printed *p);
/* The last number of that name, or NULL. Local. */
const double *weft_printed_find(const weft_printed *p, const char *name);
/* The last line that the program printed to standard error, else to standard output, else
 * "". Local. */
const char *weft_printed_last(const weft_printed *p);

/* The log of an attempt: what the program printed, of which the middle is left out where it
 * is more than `most` bytes. */
typedef struct weft_output {
    int fd;
    int64_t most, seen; /* bytes: kept; printed so far */
    char *tail;         /* [most/2] ring of the last ones */
    int err;            /* first errno of writing, 0 */
} weft_output;

/* EFILE. Local. */
WEFT_CHECKED weft_status weft_output_open(weft_output *o, const char *path, int64_t most,
                                          weft_arena *mem);
void weft_output_add(weft_output *o, const char *bytes, size_t n);
/* Writes the rest. EFILE. Local. */
WEFT_CHECKED weft_status weft_output_close(weft_output *o, const char *path);

/* ---- a run of a program (command_run.c) --------------------------------------------- */

/* Why a program ended. */
typedef enum weft_end {
    WEFT_END_EXIT,   /* by itself, or by a signal that weft did not send */
    WEFT_END_LIMIT,  /* its time limit */
    WEFT_END_STOPPED /* the run was asked to stop */
} weft_end;

typedef struct weft_program {
    const char *run;  /* for /bin/sh -c */
    char **env;       /* its environment, ended by NULL */
    const char *log;  /* file */
    int64_t log_most; /* bytes */
    double limit;     /* seconds; 0: none */
    const weft_env *task_env;
} weft_program;

/* Runs it to its end. *status as of waitpid. ECONF: the shell cannot be started; EFILE.
 * Local.
 */
WEFT_CHECKED weft_status weft_program_run(const weft_program *g, weft_printed *p,
                                          weft_end *end, int *status);

/* ---- the environment (command_env.c) ------------------------------------------------ */

/* This process's environment without the variables of MPI's launcher, and with name[n] =
 * value[n]. Owned by mem. Local. */
char **weft_environment(int n, const char *const *name, const char *const *value,
                        weft_arena *mem);
/* The parameters of a configuration: their names as written, and values; *n of them. Owned
 * by mem. Local. */
void weft_parameters(const weft_conf *c, const weft_space *sp, const double *conf, int *n,
                     const char ***name, const char ***value, weft_arena *mem);
/* As {"name": value, ...}; values that are numbers, true or false as such. Local. */
const char *weft_parameters_json(int n, const char *const *name, const char *const *value,
                                 weft_arena *mem);
/* "PARAM_weight_decay" of "weight-decay". Local. */
const char *weft_parameter_variable(const char *name, weft_arena *mem);

#endif
