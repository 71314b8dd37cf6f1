/* Turns of clients that start from the same weights. */
#ifndef WEFT_TASK_FED_TURNS_H
#define WEFT_TASK_FED_TURNS_H

#include "fed.h"

/* Does the turns that are assigned to this rank and are not lost, with scratch work.tmp.
 * EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_take_turns(fed_task *fed, const fed_turns *turns);

/* Distributes the results of n turns to all ranks, and sums wire[head] over ranks in the
 * same collective; wire must have room for fed_room(n) further numbers. Status as
 * weft_agree. Collective. */
WEFT_CHECKED weft_status fed_exchange(fed_task *fed, weft_status st, int64_t *wire,
                                      int64_t head, int64_t n, const fed_client *client,
                                      fed_client_result *told);
/* Numbers that fed_exchange needs room for. */
int64_t fed_room(int64_t n);

#endif
