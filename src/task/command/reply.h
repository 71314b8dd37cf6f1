/* What a program that is kept answers. */
#ifndef WEFT_TASK_COMMAND_REPLY_H
#define WEFT_TASK_COMMAND_REPLY_H

#include "weft/arena.h"
#include "weft/link.h"

typedef enum command_reply_kind {
    COMMAND_REPORTED, /* in the middle of a job: step and loss */
    COMMAND_ANSWERED, /* the end of the job */
    COMMAND_FAILED,   /* the program's exception: why */
    COMMAND_STOPPED   /* it left the job, as it was asked to */
} command_reply_kind;

typedef struct command_reply {
    command_reply_kind kind;
    double step, total, loss; /* as it counts; NAN: not finite */
    double error, train_loss; /* NAN: not told */
    const char *note;         /* other metrics, as of weft_result; NULL: none */
    int held, saves;          /* 1: it has the state after the job; and can save it */
    char why[512];
} command_reply;

/* Reads a line of the job. EDATA: it is none. *reply's note is owned by mem. */
WEFT_CHECKED weft_status command_reply_read(weft_link *link, const char *line, int64_t job,
                                            command_reply *reply, weft_arena *mem);
/* Reads what it says at its start. EDATA. */
WEFT_CHECKED weft_status command_reply_described(weft_link *link, const char *line);
/* Reads that it has saved a state. EDATA. */
WEFT_CHECKED weft_status command_reply_saved(weft_link *link, const char *line,
                                             int64_t job);

#endif
