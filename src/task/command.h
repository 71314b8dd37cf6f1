/* What the files of task command share: running a program under a supervisor, reading its
 * output, its environment. Private to task. */
#ifndef WEFT_TASK_COMMAND_H
#define WEFT_TASK_COMMAND_H

#include "weft/task.h"

#define WEFT_PARAMETERS "parameters" /* section whose keys the user chooses */

/* ---- what a program prints (command_printed.c) ---- */

enum { WEFT_STREAMS = 2 };    /* standard output, standard error */
#define WEFT_MAX_PRINTED 1024 /* names of numbers that are kept, besides wanted ones */

/* What a program printed behind a name and "=". */
typedef enum weft_said {
    WEFT_SAID_NOTHING,
    WEFT_SAID_NUMBER,
    WEFT_SAID_HUGE,   /* a number beyond the range of double */
    WEFT_SAID_LONG,   /* a word that is longer than any number */
    WEFT_SAID_BROKEN, /* begins as a number and goes on otherwise: 0,25 or 4s */
    WEFT_SAID_TEXT    /* anything else, or nothing */
} weft_said;

typedef struct weft_number {
    weft_said said;
    double value;  /* NaN unless it is a number */
    char text[96]; /* the beginning of "name=..." as it was printed */
} weft_number;

/* What was read of a stream. */
typedef struct weft_stream {
    weft_names names;    /* of numbers; the wanted ones are the first */
    int64_t nwanted;     /* how many these are */
    int64_t most;        /* names that are kept */
    weft_number *number; /* [most] the last of each name */
    int at, escape;      /* where in a word, in an escape sequence, the last byte was */
    char word[4096];     /* [n] "name=text" */
    size_t n, value;     /* bytes; index behind the = */
    int cut;             /* 1: there was no room for all of the word */
    char line[256];      /* [nline] beginning of the line */
    size_t nline;
    char last[256]; /* beginning of the last line that was not empty */
} weft_stream;

typedef struct weft_printed {
    weft_stream stream[WEFT_STREAMS];
    int left_out; /* 1: there were more than WEFT_MAX_PRINTED names */
} weft_printed;

/* 1 for a name that numbers may be printed by. */
int weft_printed_is_name(const char *text);
/* For a program of whose wanted[nwanted] names it must be known what it printed last,
 * number or not. Of other names the last number on standard output is kept. Owned by mem.
 */
weft_printed *weft_printed_new(int nwanted, const char *const *wanted, weft_arena *mem);
/* Takes bytes[n] of standard output (stream 0) or standard error (1). */
void weft_printed_add(weft_printed *p, int stream, const char *bytes, size_t n);
/* Takes lines without an end as ended. */
void weft_printed_end(weft_printed *p);
/* The last of that name on a stream; NULL: there was none. */
const weft_number *weft_printed_find(const weft_printed *p, int stream, const char *name);
/* The last line that the program printed to standard error, else to standard output, else
 * "". */
const char *weft_printed_last(const weft_printed *p);

/* ---- the log of an attempt (command_output.c) ---- */

/* The log of an attempt: what the program printed, of which the middle is left out where it
 * is more than `most` bytes. */
typedef struct weft_output {
    int fd;
    int64_t most, seen; /* bytes: kept; printed so far */
    char *tail;         /* [most/2] ring of the last ones */
    int err;            /* first errno of writing, 0 */
} weft_output;

/* EFILE. */
WEFT_CHECKED weft_status weft_output_open(weft_output *o, const char *path, int64_t most,
                                          weft_arena *mem);
void weft_output_add(weft_output *o, const char *bytes, size_t n);
/* Writes the rest. EFILE. */
WEFT_CHECKED weft_status weft_output_close(weft_output *o, const char *path);

/* ---- a run of a program (command_run.c) ---- */

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

/* Runs it to its end. *status as of waitpid. ECONF: the shell cannot be started; EFILE. */
WEFT_CHECKED weft_status weft_program_run(const weft_program *g, weft_printed *p,
                                          weft_end *end, int *status);

/* ---- the environment (command_env.c) ---- */

/* The environment that this process was started with, without the variables that bind it to
 * its launcher's job, and with name[n] = value[n]. Owned by mem. */
char **weft_environment(int n, const char *const *name, const char *const *value,
                        weft_arena *mem);
/* The parameters of a configuration: their names as written, and values; *n of them. Owned
 * by mem. */
void weft_parameters(const weft_conf *c, const weft_space *sp, const double *conf, int *n,
                     const char ***name, const char ***value, weft_arena *mem);
/* As {"name": value, ...}; values that are numbers, true or false as such. */
const char *weft_parameters_json(int n, const char *const *name, const char *const *value,
                                 weft_arena *mem);
/* "PARAM_weight_decay" of "weight-decay". */
const char *weft_parameter_variable(const char *name, weft_arena *mem);

/* ---- a job (command_job.c) ---- */

/* The task. */
typedef struct command {
    const char *run, *loss;
    double time_limit;
    int retries;
    weft_env env;
    const char *dir; /* absolute path of env.dir */
    char why[1024];  /* the last failure */
} command;

/* The progress of a trial, stored as the doubles of its state. */
typedef struct trace {
    int failed;         /* 1: a job failed, so that the trial cannot be continued */
    int64_t jobs;       /* done; 0: there is no directory */
    int64_t trial, job; /* job and trial of the directory */
    double resource;    /* in all */
} trace;

/* The outcome of a job. */
typedef struct outcome {
    trace after;
    double loss, error, train_loss;
    weft_failure failure;
    const char *note, *why; /* of the first rank */
} outcome;

/* Runs the program of a job in the directory `attempt`, and sets all of *o but o->after; it
 * is zero on entry. What a program that failed printed is kept. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status command_attempt(command *t, const weft_job *job,
                                         const trace *before, const char *attempt,
                                         outcome *o, weft_arena *tmp);

#endif
