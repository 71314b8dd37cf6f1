/* A program that is kept for the whole run and does job after job (command.serve). */
#ifndef WEFT_TASK_COMMAND_SERVE_H
#define WEFT_TASK_COMMAND_SERVE_H

#include "command.h"
#include "weft/holder.h"

/* Makes command->serve, whose program is started by the first job. */
void command_serve_new(command_task *command);

/* Has the program do a job: sets all of *outcome. A failure of the program is one of the
 * job. WEFT_STOP, EFILE. By the first rank of a team. */
WEFT_CHECKED weft_status command_serve_job(command_task *command, const weft_job *job,
                                           const struct trace *before,
                                           struct outcome *outcome);

/* Ends the program, which the next job starts again. */
void command_serve_end(command_task *command);

extern const weft_holder command_holder;

#endif
