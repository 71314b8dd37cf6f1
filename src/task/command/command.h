/* What the files of task command share. */
#ifndef WEFT_TASK_COMMAND_COMMAND_H
#define WEFT_TASK_COMMAND_COMMAND_H

#include "weft/task.h"

typedef struct command_serve command_serve; /* the program of this rank, which is kept */

/* The task. */
typedef struct command_task {
    const char *run, *loss;
    double time_limit;
    int retries, serves, state, keep;
    weft_env env;
    const char *dir;      /* absolute path of env.dir */
    command_serve *serve; /* serve.c; NULL: each job starts the program */
    char why[1024];       /* the last failure */
} command_task;

/* The progress of a trial, stored as the doubles of its state. */
struct trace {
    int failed;         /* 1: a job failed, so that the trial cannot be continued */
    int64_t jobs;       /* done; 0: there is no directory */
    int64_t trial, job; /* job and trial of the directory */
    double resource;    /* in all */
};

enum { COMMAND_NUMBERS = 5 };
void command_put_trace(const struct trace *trace, weft_state *state);
struct trace command_trace(const weft_state *state);

/* Columns of a row: a report of a program that is kept. */
enum { COMMAND_STEP, COMMAND_LOSS, COMMAND_COLUMNS };

/* The outcome of a job. */
struct outcome {
    struct trace after;
    double loss, error, train_loss;
    weft_failure failure;
    const char *note, *why; /* of the first rank */
    int64_t nrow;           /* reports, likewise */
    const double *row;      /* [nrow][COMMAND_COLUMNS] */
    const weft_spent *spent;
};

/* A seed for the trial of a job, below 2^31. */
int64_t command_seed(const command_task *command, const weft_job *job);

/* "name=number name=number" and so on: adds one to the text, which may be NULL. */
const char *command_add_note(const char *text, const char *name, double x, weft_arena *mem);

/* The loss that is minimised. */
double command_minimised(const command_task *command, double x);

#endif
