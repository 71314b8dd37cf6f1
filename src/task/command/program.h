/* A run of a program. */
#ifndef WEFT_TASK_COMMAND_PROGRAM_H
#define WEFT_TASK_COMMAND_PROGRAM_H

#include "printed.h"
#include "weft/task.h"

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
WEFT_CHECKED weft_status weft_program_run(const weft_program *program,
                                          weft_printed *printed, weft_end *end,
                                          int *status);

#endif
