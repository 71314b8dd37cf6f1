/* What the files of task command share. */
#ifndef WEFT_TASK_COMMAND_COMMAND_H
#define WEFT_TASK_COMMAND_COMMAND_H

#include "weft/task.h"

/* The task. */
typedef struct command_task {
    const char *run, *loss;
    double time_limit;
    int retries;
    weft_env env;
    const char *dir; /* absolute path of env.dir */
    char why[1024];  /* the last failure */
} command_task;

/* The progress of a trial, stored as the doubles of its state. */
struct trace {
    int failed;         /* 1: a job failed, so that the trial cannot be continued */
    int64_t jobs;       /* done; 0: there is no directory */
    int64_t trial, job; /* job and trial of the directory */
    double resource;    /* in all */
};

/* The outcome of a job. */
struct outcome {
    struct trace after;
    double loss, error, train_loss;
    weft_failure failure;
    const char *note, *why; /* of the first rank */
};

#endif
