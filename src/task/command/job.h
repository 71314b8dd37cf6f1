/* A job: the program is run in a directory of its own. */
#ifndef WEFT_TASK_COMMAND_JOB_H
#define WEFT_TASK_COMMAND_JOB_H

#include "command.h"

/* Runs the program of a job in the directory `attempt`, and sets all of *outcome but
 * outcome->after; it is zero on entry. What a program that failed printed is kept.
 * WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status command_attempt(command_task *command, const weft_job *job,
                                         const struct trace *before, const char *attempt,
                                         struct outcome *outcome, weft_arena *tmp);

#endif
