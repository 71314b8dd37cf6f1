/* Scores of a client's samples. */
#ifndef WEFT_TASK_FED_SCORE_H
#define WEFT_TASK_FED_SCORE_H

#include "fed.h"

/* Between the batches of a turn, or two turns. WEFT_STOP when the unit is to be left before
 * its end. */
WEFT_CHECKED weft_status fed_look(fed_task *fed);
/* A batch of samples at[0 .. n-1], in the workspace's tables; own: of the weights, NULL:
 * all. */
weft_batch fed_batch_of(const fed_task *fed, const fed_own *own,
                        const weft_samples *samples, const int64_t *at, int n);
/* Scores client->valid samples, evenly spread over all; own: of which weights w is, NULL:
 * all. */
void fed_score_model(const fed_task *fed, const real *w, const fed_own *own,
                     const weft_samples *samples, const fed_client *client,
                     const fed_turn *turn, int stage, fed_client_result *out);
/* Index of the i-th of `count` samples that are scored, evenly spread over n. */
int64_t fed_spread(int64_t i, int64_t count, int64_t n);
/* Sets the result of a stage (FED_BEFORE or FED_AFTER) from the sums over its predictions.
 * A mean loss that is above turn->most or not a number is replaced by turn->most. */
void fed_settle_score(weft_score sum, const fed_turn *turn, int stage,
                      fed_client_result *out);
/* Sets the worst possible score as the score after training, for a client that diverged, of
 * as many predictions as before it. */
void fed_settle_failure(const fed_task *fed, const fed_client *client, const fed_turn *turn,
                        fed_client_result *out);
/* weight[label] of each sample of a batch, in the workspace. */
const double *fed_class_weights(const fed_task *fed, const double *weight,
                                const weft_batch *batch);
/* Number of predictions of a sample, other than sentences; of the samples of a part of a
 * client, of which client->valid are scored. */
int fed_each(const fed_task *fed);
double fed_predictions(const fed_task *fed, const fed_client *client, weft_part part);

#endif
