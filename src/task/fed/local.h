/* The turn of one client. */
#ifndef WEFT_TASK_FED_LOCAL_H
#define WEFT_TASK_FED_LOCAL_H

#include "fed.h"

/* Between the batches of a turn, or two turns. WEFT_STOP when the unit is to be left before
 * its end. */
WEFT_CHECKED weft_status fed_look(fed_task *fed);
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
/* Scores client->valid samples, evenly spread over all; own: of which weights w is, NULL:
 * all. */
void fed_score_model(const fed_task *fed, const real *w, const fed_own *own,
                     const weft_samples *samples, const fed_client *client,
                     const fed_turn *turn, int stage, fed_client_result *out);
/* Writes to order[0 .. take-1] the beginning of a shuffle of 0 .. n-1, keyed by round,
 * client and epoch. */
void fed_shuffle(const fed_task *fed, const fed_turn *turn, int64_t client, int epoch,
                 int64_t n, int64_t take, int64_t *order);
/* Index of the i-th of `count` samples that are scored, evenly spread over n. */
int64_t fed_spread(int64_t i, int64_t count, int64_t n);
/* Sets the result of a stage (FED_BEFORE or FED_AFTER) from the sums over its predictions.
 * A mean loss that is above turn->most or not a number is replaced by turn->most. */
void fed_settle_score(const fed_task *fed, weft_score sum, const fed_turn *turn, int stage,
                      fed_client_result *out);
/* Sets the worst possible score as the score after training, for a client that diverged. */
void fed_settle_failure(const fed_task *fed, const fed_client *client,
                        fed_client_result *out);
/* Number of predictions that `count` samples have. */
double fed_predictions(const fed_task *fed, int64_t count);

#endif
