/* The turn of one client. */
#ifndef WEFT_TASK_FED_LOCAL_H
#define WEFT_TASK_FED_LOCAL_H

#include "fed.h"

/* Does the turn of one client, starting from the weights `from`. If it trains, work.w then
 * has those of the client's weights that it can change, work.own, and work.g their change,
 * which are invalid if it diverged.
 * EFILE, EDATA. */
WEFT_CHECKED weft_status fed_local_update(fed_task *fed, const real *from,
                                          const fed_client *client, const fed_turn *turn,
                                          fed_client_result *out);
/* Does a course of the client's training; weights, anchor and the rest are of work.own.
 * Adds its samples to out->steps and, of the first course of a turn, losses; out->diverged:
 * 1 if numbers are not finite. WEFT_STOP. */
WEFT_CHECKED weft_status fed_train(fed_task *fed, const weft_course *course,
                                   const fed_client *client, const fed_turn *turn,
                                   const weft_samples *samples, fed_client_result *out);
/* Writes to order[0 .. take-1] the beginning of a shuffle of 0 .. n-1, keyed by round,
 * client and epoch. */
void fed_shuffle(const fed_task *fed, const fed_turn *turn, int64_t client, int epoch,
                 int64_t n, int64_t take, int64_t *order);

#endif
