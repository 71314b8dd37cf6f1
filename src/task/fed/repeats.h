/* Whether what workers answer is a function of the turn. */
#ifndef WEFT_TASK_FED_REPEATS_H
#define WEFT_TASK_FED_REPEATS_H

#include "fed.h"

/* weft_task.repeats of three turns, by workers that are started again in between. */
WEFT_CHECKED weft_status fed_worker_repeats(void *self, const char *place,
                                            const char **told);
/* Of a run that workers do: repeats one turn, once, and warns if its bits differ. What
 * fed_worker_turn returns. Collective. */
WEFT_CHECKED weft_status fed_worker_try(fed_task *fed);

#endif
