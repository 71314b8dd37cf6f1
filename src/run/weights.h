/* The weights of a winner for other data. */
#ifndef WEFT_RUN_WEIGHTS_H
#define WEFT_RUN_WEIGHTS_H

#include "instance.h"
#include "result/result.h"

/* How the tensors after a job refer to words. */
weft_word_weights weft_word_weights_of(const weft_run *run, const weft_job *job);

/* Words of other data that a winner does not have, and how often they occur there. */
typedef struct weft_unknown {
    int64_t words, tokens;
    int64_t all_words, all_tokens; /* of the data; 0: tensors refer to no words */
} weft_unknown;

/* 1 if clients keep as many numbers as those of the winner. */
int weft_stored_fit(const weft_run *run, const weft_winner *winner);
/* Names of the clients that the data belong to; *name NULL: they have none. Owned by
 * run->mem. EFILE. */
WEFT_CHECKED weft_status weft_member_names(const weft_run *run, int64_t *n,
                                           const char ***name);
/* by[..] 1 at the tensors after a job that have a row for each client. Returns 0 if none
 * has. */
int weft_has_clients(const weft_run *run, const weft_job *job, char by[WEFT_MAX_TENSORS]);
/* Makes *state, the winner of the file `path` for the data that the run has open: a word
 * has the weights that it has in the winner, by name, or else those that training begins
 * with; so has a client, where it has a name, what it keeps, which is read from the
 * winner's file when it is asked for, and its rows of tensors (weft_task.by_client). EDATA:
 * the data need other numbers. Cost O(weights).
 */
WEFT_CHECKED weft_status weft_winner_state(const weft_run *run, const weft_winner *winner,
                                           const char *path, const weft_job *job,
                                           weft_state *state, weft_unknown *unknown);

#endif
