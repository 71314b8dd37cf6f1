/* What a program reports in the middle of a job: rows of the job. */
#ifndef WEFT_TASK_COMMAND_REPORTS_H
#define WEFT_TASK_COMMAND_REPORTS_H

#include "command.h"
#include "reply.h"

/* The reports of a job. */
typedef struct command_reports {
    double *row;       /* [n][COMMAND_COLUMNS] */
    weft_spent *spent; /* [n] since the report before */
    int64_t n, roomrow, roomspent;
    int crowded;            /* 1: there were more than WEFT_MOST_REPORTS */
    double reported, shown; /* times: of the last report, of the last line of the log */
    weft_arena *mem;
} command_reports;

/* A job begins. */
void command_reports_begin(command_reports *reports);
/* Adds the report, or the answer that ends the job. Of more than WEFT_MOST_REPORTS the last
 * takes the place of the one before, and a warning says so. */
void command_reports_add(const command_task *command, command_reports *reports,
                         const weft_job *job, const command_reply *reply);

#endif
