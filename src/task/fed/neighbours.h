/* Answers in which a client's own training samples take part. */
#ifndef WEFT_TASK_FED_NEIGHBOURS_H
#define WEFT_TASK_FED_NEIGHBOURS_H

#include "fed.h"

/* Refuses a network without representations, where the algorithm needs them. ECONF. */
WEFT_CHECKED weft_status fed_neighbours_check(const fed_task *fed);
/* Scores client->valid samples, as fed_score_model does, by the weights w[nweight] and the
 * neighbours among the client's training samples, with its own options; FED_AFTER of out.
 * Memory up to fed_neighbours_bytes. EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_neighbours_score(fed_task *fed, const real *w,
                                              const fed_client *client,
                                              const fed_turn *turn, fed_client_result *out);
/* Of an average client: operations beside those of its scores, and the largest memory; 0
 * where the algorithm has no neighbours. */
double fed_neighbours_flops(const fed_task *fed);
double fed_neighbours_bytes(const fed_task *fed);

#endif
