/* The models of clients, one after the other. */
#ifndef WEFT_TASK_FED_MODELS_H
#define WEFT_TASK_FED_MODELS_H

#include "fed.h"

/* What is done with the model w[nweight] that client c has before its turn, and its samples
 * of a part, of which there are some. */
typedef void fed_use(void *of, int64_t c, const weft_samples *samples, const real *w);

/* Calls `use` for all clients of this rank with samples of the part: the model of a client
 * is made from what it keeps; one that was never trained begins with the server's weights.
 * *untrained: the samples of these, known to the first rank. EFILE, EDATA. Collective. */
WEFT_CHECKED weft_status fed_models_use(fed_task *fed, const weft_job *job,
                                        const weft_state *state, weft_part part,
                                        fed_use *use, void *of, int64_t *untrained);

#endif
