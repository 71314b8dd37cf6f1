/* The weights of a winner for other data. */
#ifndef WEFT_RUN_WEIGHTS_H
#define WEFT_RUN_WEIGHTS_H

#include "instance.h"
#include "result/winner.h"

/* How the tensors after a job refer to words. */
weft_word_weights weft_word_weights_of(const weft_run *run, const weft_job *job);

/* Words of other data that a winner does not have, and how often they occur there. */
typedef struct weft_unknown {
    int64_t words, tokens;
    int64_t all_words, all_tokens; /* of the data; 0: tensors refer to no words */
} weft_unknown;

/* Makes *state, the winner of the file `run` for the data that r has open: a word has the
 * weights that it has in the winner, by name, or else those that training begins with.
 * EDATA: the data need another number of weights. Cost O(weights). */
/* The last of n tensors, if it is WEFT_MEMBERS_TENSOR; else NULL. */
const weft_tensor *weft_members_tensor(int n, const weft_tensor *tensor);
/* Names of the clients that the data belong to; *name NULL: they have none. Owned by
 * run->mem. EFILE. */
WEFT_CHECKED weft_status weft_member_names(const weft_run *run, int64_t *n,
                                           const char ***name);
WEFT_CHECKED weft_status weft_winner_state(const weft_run *r, const weft_winner *winner,
                                           const char *run, const weft_job *job,
                                           weft_state *state, weft_unknown *unknown);

#endif
