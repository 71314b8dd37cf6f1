/* What a worker answers to a turn. */
#ifndef WEFT_TASK_FED_ANSWER_H
#define WEFT_TASK_FED_ANSWER_H

#include "described.h"
#include "fed.h"

/* What was asked. */
typedef struct fed_asked {
    weft_link *link;
    const fed_described *described;
    int64_t turn;       /* its number */
    const float *given; /* [nweight] where the worker writes weights */
} fed_asked;

/* Reads the line into told[j], the change of the weights into work.g, and those after
 * training into the course's w. EDATA: it is no answer to the turn, of which the worker is
 * then ended. */
WEFT_CHECKED weft_status fed_answer_read(const fed_task *fed, const fed_turns *turns,
                                         int64_t j, const fed_asked *asked,
                                         const char *line);

#endif
