/* The results of turns, given to all ranks. */
#ifndef WEFT_TASK_FED_EXCHANGE_H
#define WEFT_TASK_FED_EXCHANGE_H

#include "fed.h"

/* Distributes the results of n turns to all ranks, and sums wire[head] over ranks in the
 * same collective; wire must have room for fed_room further numbers. Status as
 * weft_agree. Collective. */
WEFT_CHECKED weft_status fed_exchange(fed_task *fed, weft_status st, int64_t *wire,
                                      int64_t head, int64_t n, const fed_client *client,
                                      fed_client_result *told);
/* Numbers that fed_exchange needs room for. */
int64_t fed_room(const fed_task *fed, int64_t n);

#endif
