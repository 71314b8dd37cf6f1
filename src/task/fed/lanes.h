/* Turns of several clients at once, one per vector lane. */
#ifndef WEFT_TASK_FED_LANES_H
#define WEFT_TASK_FED_LANES_H

#include "fed.h"

/* Memory for turns in vector lanes with batches of up to `batch`, from mem; NULL: not
 * possible with this network, its size or these data. */
fed_lanes *fed_lanes_new(const fed *t, int batch, weft_arena *mem);
/* 1: the client can be trained in a lane. */
int fed_lanes_take(const fed *t, const fed_participant *p);
/* 1: groups of n > 0 such clients are trained faster in lanes than one by one. */
int fed_lanes_pay(const fed *t, int64_t n);
/* Sets the weights that turns start from. */
void fed_lanes_begin(const fed *t, const real *from);
/* Does the turns of the n participants which[], at most as many as there are lanes, at
 * once. EFILE, EDATA. */
WEFT_CHECKED weft_status fed_lanes_visit(fed *t, const fed_turns *q, int n,
                                         const int64_t *which);

#endif
