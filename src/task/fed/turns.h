/* Turns of clients that start from the same weights. */
#ifndef WEFT_TASK_FED_TURNS_H
#define WEFT_TASK_FED_TURNS_H

#include "fed.h"

/* Does the turns that are assigned to this rank and are not lost, with scratch work.tmp.
 * EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_take_turns(fed_task *fed, const fed_turns *turns);

#endif
