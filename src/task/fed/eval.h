/* Evaluations of weights on clients. */
#ifndef WEFT_TASK_FED_EVAL_H
#define WEFT_TASK_FED_EVAL_H

#include "trial.h"

/* Arguments of an evaluation. */
typedef struct fed_evaluation {
    weft_part part;
    int64_t clients; /* number of clients; 0, or more than there are: all */
    int fresh;       /* 1: of those kept out of training, after fed.new_epochs */
    int personal;    /* 1: clients are also scored after local training */
    int winner;      /* 1: losses as they are, of any size; tells of progress; WEFT_STOP
                        when the run must stop, after the client in hand */
    weft_members *members; /* out, on the first rank: the clients' scores, in memory of the
                              task; NULL: not needed */
} fed_evaluation;

/* Scores the weights of a state on clients, each with a configuration drawn from the
 * mixture, keyed by the trial. EFILE, EDATA, WEFT_STOP. Collective. */
WEFT_CHECKED weft_status fed_evaluate(fed_task *fed, const fed_evaluation *evaluation,
                                      int64_t trial, const weft_mix *mix,
                                      const weft_state *state, fed_score_sums *out);

#endif
