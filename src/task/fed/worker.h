/* Clients whose training a worker does: fed.model = worker. */
#ifndef WEFT_TASK_FED_WORKER_H
#define WEFT_TASK_FED_WORKER_H

#include "fed.h"

/* A network of which only the weights are known here: its tensors are those that the worker
 * describes, and it has no gradient. Its instance holds the worker of this rank. */
extern const weft_net fed_worker_net;

/* fed->net, by its name; ECONF. */
WEFT_CHECKED weft_status fed_net_find(fed_task *fed);
/* 1: workers train the clients. */
int fed_worker_trains(const fed_task *fed);
/* Starts this rank's worker and asks what it has: sets fed->model, fed->env.data
 * and fed->worst. ECONF, EDATA; EFILE; EWORKER. Collective. */
WEFT_CHECKED weft_status fed_worker_begin(fed_task *fed);
/* As fed_local_update: work.g has the change of all weights. With turns->course it does
 * that, whose w, which may be turns->from, then has the weights. A worker that fails is
 * started again, worker.retries times. EDATA: its answer is wrong; EWORKER, WEFT_STOP,
 * EFILE.
 * next   of turns, too, the turn of the next call: a worker that reads ahead is sent it
 *        before its answer to j is awaited, and need not wait for it. If that call does not
 *        come, fed_worker_drop is to be called. -1: not known */
WEFT_CHECKED weft_status fed_worker_turn(fed_task *fed, const fed_turns *turns, int64_t j,
                                         int64_t next);

/* The means of the worker's own metrics in the last round, as "name=value name=value";
 * NULL: there are none. Owned by the task. */
const char *fed_worker_note(const fed_task *fed);
/* Ends this rank's worker, which the next turn starts again. */
void fed_worker_drop(fed_task *fed);

#endif
