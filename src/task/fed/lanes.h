/* Turns of several clients at once, one per vector lane. */
#ifndef WEFT_TASK_FED_LANES_H
#define WEFT_TASK_FED_LANES_H

#include "fed.h"

/* Memory for turns in vector lanes with batches of up to `batch`, from mem; NULL: not
 * possible with this network, its size or these data. */
fed_lanes *fed_lanes_new(const fed_task *fed, int batch, weft_arena *mem);
/* 1: the client's turn can be taken in a lane. */
int fed_lanes_take(const fed_task *fed, const fed_turn *turn, const fed_client *client);
/* 1: groups of n > 0 such clients are trained faster in lanes than one by one. */
int fed_lanes_pay(const fed_task *fed, int64_t n);
/* Sets the weights that turns start from. */
void fed_lanes_begin(const fed_task *fed, const real *from);
/* Does the turns of the n clients which[], at most as many as there are lanes, at
 * once. EFILE, EDATA. */
WEFT_CHECKED weft_status fed_lanes_visit(fed_task *fed, const fed_turns *turns, int n,
                                         const int64_t *which);

#endif
