/* Turns of algorithms that do more than FedAvg, and what their clients keep. */
#ifndef WEFT_TASK_FED_VISIT_H
#define WEFT_TASK_FED_VISIT_H

#include "fed.h"

/* The layout of x for the algorithm and `slots` vectors of the server's optimizer. */
fed_layout fed_layout_of(const fed_task *fed);
/* What the algorithm needs of a client with these options; one with the algorithm's
 * defaults: special NULL. */
weft_amounts fed_amounts(const fed_task *fed, const void *special, int epochs);
/* Number of steps of the client's training. */
int64_t fed_steps(const fed_client *client);
/* By what its change is divided before it is averaged. */
double fed_divisor(const fed_task *fed, const fed_client *client);
/* Largest magnitude of what it adds to further sums, from the state x and its row, in which
 * a first turn begins. 0: there are none. */
double fed_bound(const fed_task *fed, const fed_client *client, const real *x, real *row);
/* The turn of client j, in four parts where many are trained at once: the visit, whose
 * vectors are those of the workspace; its row in a first turn; after the training, told.
 * diverged by its change and what it keeps; its turn is counted in the row, and it is added
 * to the sums. */
weft_visit fed_visit_new(const fed_task *fed, const fed_turns *turns, int64_t j);
void fed_visit_begin(const fed_task *fed, const fed_turns *turns, int64_t j,
                     weft_visit *visit);
void fed_visit_check(const fed_task *fed, const fed_turns *turns, int64_t j,
                     const weft_visit *visit);
void fed_visit_end(const fed_task *fed, const fed_turns *turns, int64_t j,
                   weft_visit *visit);
/* All of it. EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_visit_take(fed_task *fed, const fed_turns *turns, int64_t j);

#endif
