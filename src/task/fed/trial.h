/* The state of a trial between rounds, and its scores. */
#ifndef WEFT_TASK_FED_TRIAL_H
#define WEFT_TASK_FED_TRIAL_H

#include "fed.h"

/* Sums over clients, with v the number of predictions of a client and s the score by which
 * configurations are selected. A client that returned no weights because it diverged or
 * missed the deadline gets the worst score, so that the score of a configuration is a mean
 * over all clients that drew it and were available, not only over those that could train
 * with it. The recorded means of losses and errors are over clients that answered. */
typedef struct fed_score_sums {
    double n, v, vs, vv, vss; /* clients with v > 0; sums of v, v s, v^2, v s^2 */
    double answered;          /* sum of v of those that were not late */
    double loss[2], wrong[2]; /* sums over their predictions, FED_BEFORE and FED_AFTER */
} fed_score_sums;

/* The beginning of a state's aux, behind the mark of what is kept; only doubles. */
typedef struct fed_trial_head {
    double trial;      /* number of the trial */
    double round;      /* rounds that the weights have been trained, */
    double steps;      /* number of these that changed them */
    double rounds;     /* number of rounds stored in the ring buffer so far */
    double best;       /* lowest score of a round */
    double train_loss; /* sums over the job: loss of predictions in local training, */
    double train_count;
    double seconds; /* virtual seconds */
    weft_mix_update_state drift;
} fed_trial_head;

/* Pointers to the parts of a trial's state and of its job's result; all borrowed. */
typedef struct fed_trial_state {
    real *x;         /* weights, then the numbers of fed_layout */
    weft_kept *kept; /* what clients keep; NULL: nothing */
    double *mark;    /* [WEFT_KEPT_MARK] of it */
    fed_trial_head *head;
    fed_score_sums *ring; /* [pool] ring buffer of the last rounds' sums */
    double *evidence;     /* [2][k] state of weft_mix_race_step; k > 1 only */
    weft_result *res;     /* of the job: sums by configuration, log-probabilities */
} fed_trial_state;

/* Number of doubles in the state after a job of k configurations. */
int64_t fed_trial_size(const fed_task *fed, int k);
/* Initialises a state as one that belongs to no trial yet. */
void fed_trial_start(const fed_task *fed, weft_state *state);
/* The parts of a state. At the first unit of a job its sums are set to zero, and more if
 * the state is of another trial. */
fed_trial_state fed_trial_open(const fed_task *fed, const weft_job *job, int64_t unit,
                               weft_state *state, weft_result *res);
/* Adds the sums `seen` of a round. */
void fed_trial_enter(const fed_task *fed, fed_trial_state *trial,
                     const fed_score_sums *seen);
/* The sum over a client's predictions of what fed.score is the mean of. */
double fed_sum_of(const fed_task *fed, const fed_client_result *told, int stage);
/* 1 if the rounds of the job score clients in this stage: before or after training. */
int fed_scores(const fed_task *fed, const weft_job *job, int stage);
/* The worst possible score: error 1, or loss fed.worst. */
double fed_worst_score(const fed_task *fed);
/* Adds the result of one client. */
void fed_sums_add(const fed_task *fed, fed_score_sums *to, const fed_client_result *told);
/* With fed.score = worst10, leaves of the sums that make the score only those of the tenth
 * of told[n], at least one, with the worst scores; equal ones in their order. Scratch from
 * tmp. */
void fed_sums_worst(const fed_task *fed, fed_score_sums *sums, int64_t n,
                    const fed_client_result *told, weft_arena *tmp);
/* Mean score of the clients summed, NAN if there are none, and half the width of its 95 %
 * interval as an estimate for all clients; INFINITY if it cannot be estimated. For sums
 * over several rounds the interval is for the mean, over these rounds, of the scores that
 * all clients would have had. It is not for the last weights, which are better than the
 * mean as long as training improves them. */
weft_interval fed_sums_score(const fed_score_sums *sums, weft_population all);
/* Fills the rest of the job's result; `eval`: sums of the last evaluation, n = 0: there was
 * none. */
void fed_trial_result(const fed_task *fed, const weft_job *job,
                      const fed_trial_state *trial, const fed_score_sums *eval);

#endif
