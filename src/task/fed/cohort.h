/* The clients of a round or an evaluation, and which rank trains which. */
#ifndef WEFT_TASK_FED_COHORT_H
#define WEFT_TASK_FED_COHORT_H

#include "fed.h"

/* The clients that fed.new_clients keeps out of training, keyed by seed and client, and the
 * others, into fed->fresh and fed->old. */
void fed_divide(fed_task *fed);
/* Draws m clients of a group into client[m], with replacement or (m <= group->n) without,
 * keyed by `round`. */
void fed_draw(const fed_task *fed, const fed_group *group, uint64_t round, int64_t m,
              int replacement, int64_t *client, weft_arena *tmp);
/* Assigns a rank to each client that is not lost: the most expensive first, each to
 * the rank with the least work so far. */
void fed_deal(const fed_task *fed, const fed_turn *turn, int64_t n, fed_client *client,
              weft_arena *tmp);
/* The options that client j draws from m, keyed by (trial, round, j), into client->options
 * and client->special, of which it has the memory; the entries drawn are written to pick.
 */
void fed_pick(const fed_task *fed, const weft_mix *mix, int64_t trial, uint64_t round,
              int64_t j, int *pick, fed_client *client);
/* Memory for n clients with their options. */
fed_client *fed_clients_new(const fed_task *fed, int64_t n, weft_arena *mem);
/* Sets fed->mean_samples and mean_valid, over a few thousand clients if there are more, and
 * fed->all, which confidence intervals need. */
void fed_measure(fed_task *fed);
/* Sets the numbers of samples that the client trains on and scores. */
void fed_size(const fed_task *fed, const fed_turn *turn, fed_client *client);

#endif
