/* A job: the program is run in a directory of its own. */
#ifndef WEFT_TASK_COMMAND_JOB_H
#define WEFT_TASK_COMMAND_JOB_H

#include "command.h"

/* Runs the program of a job in the directory `attempt`, and sets all of *o but o->after; it
 * is zero on entry. What a program that failed printed is kept. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status command_attempt(command_task *command, const weft_job *job,
                                         const trace *before, const char *attempt,
                                         outcome *o, weft_arena *tmp);

#endif
