/* What the program that does the jobs says. Private to task ask. */
#ifndef WEFT_TASK_ASK_REQUEST_H
#define WEFT_TASK_ASK_REQUEST_H

#include "weft/arena.h"

#include <stdint.h>

/* {"ask":true}, or {"tell":JOB, "loss":NUMBER, "error":NUMBER, "metrics":{"NAME":NUMBER,
 * ...}}, of which only the loss must be there, or {"tell":JOB, "failed":"why"}. */
typedef struct ask_request {
    int64_t job;        /* that is told; -1: one is asked for */
    double loss, error; /* error NAN: none */
    const char *failed; /* why the job has no loss; NULL: it has one */
    const char *note;   /* its metrics, as weft_result.note */
} ask_request;

/* Reads a line. Returns NULL, or why it is no request. What it keeps is owned by mem, of
 * which a note is to live as long as the run. */
const char *ask_request_read(const char *line, ask_request *out, weft_arena *mem);

#endif
