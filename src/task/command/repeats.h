/* A job that is done without being kept. */
#ifndef WEFT_TASK_COMMAND_REPEATS_H
#define WEFT_TASK_COMMAND_REPEATS_H

#include "command.h"

/* Does a job, from the start of its trial, of which nothing is kept. WEFT_STOP, EFILE. By
 * the first rank of a team. */
WEFT_CHECKED weft_status command_try(command_task *command, const weft_job *job,
                                     struct outcome *outcome);

/* weft_task.repeats of one job: twice by one program, and by another where programs are
 * kept. */
WEFT_CHECKED weft_status command_repeats(void *self, const char *place, const char **told);

#endif
