/* Differential privacy by client of all that a federation releases, section [privacy]: the
 * weights of each round, scores of rounds, evaluations. A release is a sum over clients,
 * each clipped to a length, with Gaussian noise, over a number that is fixed before. */
#ifndef WEFT_TASK_FED_PRIVACY_H
#define WEFT_TASK_FED_PRIVACY_H

#include "round.h"
#include "weft/privacy/accounting.h"

enum { FED_SAMPLED_FIXED, FED_SAMPLED_POISSON }; /* privacy.sampling */
enum { FED_GAUSSIAN, FED_TREE };                 /* privacy.mechanism */

/* Section [privacy], and what follows from it. */
struct fed_privacy {
    double clip, quantile, quantile_noise, noise, epsilon, delta, score_noise;
    int sampling, mechanism;
    int64_t restart; /* rounds between two restarts of the tree */
    /* set by set-up */
    double share;        /* probability of a client, or clients drawn / all */
    double reach;        /* the most that a neighbour moves the sum of changes / clip */
    double change_noise; /* multiplier of the changes alone, of which noise is that with the
                            count of short ones */
    int64_t most;        /* clients of a round, at most */
    double now;          /* clip of the round that is trained */
};

/* ---- ledger.c: the options; what is released, and what it costs ---- */

extern const weft_kind fed_privacy_kind; /* section [privacy] */

/* What a ledger adds up. */
enum { FED_WEIGHTS = 1, FED_SCORED = 2, FED_EVERYTHING = FED_WEIGHTS | FED_SCORED };
enum { FED_RELEASES = 3 }; /* kinds, at most */

/* 1: rounds have scores: not where an evaluation decides, as each costs. */
int fed_rounds_scored(const fed_task *fed);

/* Numbers of releases. Of a round with scores weights and scores are of the same clients,
 * so that both are one release of a longer vector, whose multiplier s has
 * 1 / s^2 = 1 / noise^2 + 1 / score_noise^2. */
typedef struct fed_released {
    double plain, scored; /* rounds without scores, and with them */
    double evaluations;   /* of the same clients each time: no amplification */
    double restarts;      /* of trees */
    double longest;       /* most rounds of a trial */
} fed_released;

/* Those of the n jobs job[0 .. n-1], by id, and of the evaluations of the winner on `parts`
 * parts. All trials are of the same clients and draw them independently, so that their
 * releases add up. A copy of a trial counts the rounds behind the copy, and of evaluations
 * and restarts at most one too many. Cost O(n + trials). */
fed_released fed_released_by(const fed_task *fed, int64_t n, const weft_job *job,
                             int parts);
/* weft_task.ledger: 0 where privacy is off. */
int fed_ledger(const void *self, int64_t n, const weft_job *job, int parts,
               weft_ledger *out);
/* The noise of three digits, up to their last the least, with which all this is within
 * privacy->epsilon at this score_noise; INFINITY: none up to 10^4. Cost: some times that of
 * weft_epsilon. */
double fed_noise_for(const struct fed_privacy *privacy, const fed_released *released);

/* ---- privacy.c: clipping, noise, who takes part. Changes privacy.now, and the clip in a
 * trial's state ---- */

/* Reads the section, checks that all that the run shows has an entry in the ledger, solves
 * the noise for a target; fed->modes.privacy stays NULL where privacy.clip is 0. To be
 * called when the other modes and the algorithm are known. ECONF. Collective. */
WEFT_CHECKED weft_status fed_privacy_setup(fed_task *fed);
/* Logs what the planned jobs cost, and what has no entry. */
void fed_privacy_tell(const fed_task *fed);
/* ECONF: a job of a mixture, whose update would use scores by configuration. */
WEFT_CHECKED weft_status fed_privacy_check(const fed_task *fed, const weft_job *job);
/* Draws the clients of a round of a trial, n <= most, into *client, owned by tmp. Keyed by
 * trial and round: amplification by sampling needs draws of their own. Poisson: each with
 * probability `share`, in the order of their numbers; the first `most` of more, which
 * happens with probability below 1e-13. Trees: between two restarts each client at most
 * once. Cost O(n), of trees O(restart n). */
int64_t fed_privacy_draw(const fed_task *fed, int64_t trial, int64_t round,
                         int64_t **client, weft_arena *tmp);
/* Sets privacy->now to the trial's clip; returns the scale of sums of `most` changes. */
int fed_privacy_begin(const fed_task *fed, const fed_trial_state *trial);
/* change <- change min(1, clip / |change|), of L2 norms; tells in the result if it was no
 * longer. Cost O(weights). */
void fed_privacy_clip(fed_visiting *visiting);
/* delta[weights] = (wire 2^-scale + noise) / cohort, in doubles, then rounded once. Noise:
 * keyed by seed, trial, round and weight, s.d. change_noise reach clip; of trees N(t) -
 * N(t - 1), N(t) the sum over the nodes of prefix t, of which each has that s.d. and is
 * keyed by its level and end. The same on every rank. Cost O(weights). */
void fed_privacy_mean(const fed_task *fed, const fed_trial_state *trial, int scale,
                      const int64_t *wire, real *delta);
/* Moves the trial's clip (Andrew et al. 2021, algorithm 1): clip <- clip exp(-0.2 (b -
 * quantile)), b the noised share of changes that were no longer. */
void fed_privacy_adapt(const fed_task *fed, const fed_cohort *cohort,
                       const fed_trial_state *trial);
/* Noised sums of a round's scores: each client's mean loss, within 0 .. fed->balance.worst,
 * and share of wrong answers, of those stages that the turn has; the worst of a client that
 * diverged. With k numbers of a client they have noise of s.d. score_noise sqrt(k) times 1
 * or the worst loss. n = v = cohort, whatever number answered. */
fed_score_sums fed_privacy_scores(const fed_task *fed, const fed_cohort *cohort,
                                  const fed_trial_state *trial);
/* Leaves out of a row what has no noise: NAN. */
void fed_privacy_hide(const fed_task *fed, double *row);
/* 1: evaluations are noised, too; not those of `weft eval`. */
int fed_privacy_covers(const fed_task *fed);
/* Half of the 95 % interval of the noise of a mean score over n clients, those of `times`
 * rounds or evaluations together, each with `stages` kinds of scores. */
double fed_privacy_half(const fed_task *fed, double n, double times, int stages);
/* Adds the scores of n clients of an evaluation to sum[2][2], and makes *out of them, as
 * fed_privacy_scores does; m: clients evaluated in all, round: of the trial, keys noise. */
void fed_privacy_add(const fed_task *fed, int64_t n, const fed_client_result *told,
                     double sum[2][2]);
void fed_privacy_evaluated(const fed_task *fed, const fed_turn *turn, int64_t m,
                           int64_t trial, uint64_t round, double sum[2][2],
                           fed_score_sums *out);

#endif
