/* The line by which a worker is asked for a turn. */
#ifndef WEFT_TASK_FED_REQUEST_H
#define WEFT_TASK_FED_REQUEST_H

#include "fed.h"

/* A turn that is sent, and its places in the memory, in bytes: the weights received, those
 * answered, where the course has them the anchor and the drift, and the order of samples.
 */
typedef struct fed_sent {
    int64_t turn; /* its number, from 1 on; 0: none */
    int64_t client;
    int64_t weights, answer, anchor, drift, order, bytes;
} fed_sent;

/* What all requests to a worker have in common. */
typedef struct fed_wording {
    int knows; /* WEFT_NEEDS_...: the words that it knows */
    int has_parameters;
    fed_training shown; /* options of the last turn, */
    char text[1024];    /* as a request has them */
} fed_wording;

fed_wording fed_wording_of(const weft_conf *conf, int knows);

/* The line, with its end, owned by tmp. */
const char *fed_request(const fed_task *fed, const fed_turns *turns, int64_t j,
                        const fed_sent *sent, fed_wording *wording, weft_arena *tmp);

#endif
