/* The options of task fed. */
#ifndef WEFT_TASK_FED_OPTS_H
#define WEFT_TASK_FED_OPTS_H

#include "fed.h"

extern const weft_opt fed_task_opts[];
extern const weft_kind *const fed_parts[];
/* Warns of options that were set and have no effect with the algorithm. */
WEFT_CHECKED weft_status fed_opts_look(const fed_task *fed);

#endif
