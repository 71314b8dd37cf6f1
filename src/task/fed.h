/* What the files of task fed share: its options, the local update of one client, the state
 * that a trial carries from round to round. Included only by src/task/fed*.c. */
#ifndef WEFT_TASK_FED_H
#define WEFT_TASK_FED_H

#include "weft/task.h"

#include "device.h"
#include "interval.h"

enum { FED_WEIGHTED, FED_PLAIN };                             /* fed.average */
enum { FED_ERROR, FED_LOSS };                                 /* fed.score */
enum { FED_PERSONAL, FED_GLOBAL };                            /* fed.score_weights */
enum { FED_POOLED, FED_BOUND, FED_LAST, FED_BEST, FED_EVAL }; /* fed.select */
enum { FED_LAST_SYMBOL, FED_ALL_SYMBOLS };                    /* fed.target */
enum { FED_BEFORE, FED_AFTER };                               /* local training */

/* The round that keys the draws of evaluations: larger than any round of training. */
#define FED_EVALUATION ((uint64_t)1 << 53)

/* Section [client]: the training on a device. */
typedef struct fed_client {
    weft_sgd sgd;
    double dropout, max_change;
    int batch, epochs;
    int64_t max_samples; /* of an epoch; 0: all */
} fed_client;
extern const weft_kind fed_client_kind, fed_server_kind;

/* One client's turn in a round or an evaluation. */
typedef struct fed_participant {
    int64_t client;
    weft_client at;         /* where its samples are; as fed_size leaves it */
    int64_t samples, valid; /* training samples of an epoch; samples to be scored */
    double weight;          /* in the average */
    int lost;               /* 1: its device or the end of the round: it does nothing */
    int late; /* 1: late: it missed the deadline because of its device and options */
    int rank; /* that takes the turn */
    fed_client options;
} fed_participant;

/* Arguments of a turn. */
typedef struct fed_turn {
    uint64_t round;           /* keys the order of samples, and what is drawn */
    int before, train, after; /* score, train, score again */
    weft_part part;           /* that is scored */
    int64_t cap;              /* samples scored; 0: all */
    double most;              /* a mean loss counts as this at most */
} fed_turn;

/* The result of a turn; doubles only, so that ranks can exchange their bits. */
typedef struct fed_client_result {
    double loss[2], wrong[2];       /* sums over predictions, FED_BEFORE and FED_AFTER */
    double count;                   /* of these predictions */
    double train_loss, train_count; /* sums over the steps of local training */
    double steps;                   /* samples of these steps */
    double diverged, late;          /* 1: it diverged; its score is the worst possible */
} fed_client_result;
enum { FED_CLIENT_NUMBERS = sizeof(fed_client_result) / sizeof(double) };

typedef struct fed_lanes fed_lanes;

/* Work space of a rank, used for all of its turns. */
typedef struct fed_workspace {
    real *w, *g, *velocity; /* [nweight] */
    double *sum;            /* [nweight] running sum of weighted changes, and room behind */
    int most;               /* samples in a batch */
    void *net;              /* the network's own */
    const float **x;        /* [most] */
    const uint8_t **text;   /* [most] */
    int32_t *label;         /* [most] */
    fed_lanes *lanes;       /* of several clients side by side; NULL: one by one */
    weft_arena *tmp;        /* of the caller */
    double bytes;           /* that it takes */
} fed_workspace;

typedef struct fed {
    const char *net_name;
    int64_t cohort, pool, max_valid, eval_clients, eval_every, test_clients;
    int replacement, average, score, score_weights, select, target, score_both, eval_mode;
    fed_client client;
    weft_server server;
    weft_device device;
    const weft_net *net;
    void *model; /* the network's instance */
    int64_t nweight;
    int slots;    /* vectors that the server's optimizer keeps */
    double worst; /* mean loss that counts as divergence: 2 ln classes */
    weft_env env;
    fed_workspace work;
    double mean_samples, mean_valid; /* of a client, as trained and as scored */
    weft_population all;             /* predictions on the clients' validation samples */
    int warned;                      /* that a whole cohort diverged or was late */
} fed;

/* ---- fed_metrics.c ------------------------------------------------------------------ */

enum {
    FED_VALID_LOSS,
    FED_VALID_ERROR,
    FED_GLOBAL_LOSS,
    FED_GLOBAL_ERROR,
    FED_PERSONAL_LOSS,
    FED_PERSONAL_ERROR,
    FED_TRAIN_LOSS
};
enum {
    FED_ROW_AFTER_LOSS,
    FED_ROW_BEFORE_LOSS,
    FED_ROW_TRAIN_LOSS,
    FED_ROW_AFTER_ERROR,
    FED_ROW_BEFORE_ERROR,
    FED_ROW_CLIENTS,
    FED_ROW_DIVERGED,
    FED_ROW_DROPPED,
    FED_ROW_SAMPLES,
    FED_ROW_BYTES,
    FED_ROW_SECONDS,
    FED_ROW_ENERGY,
    FED_ROW_ENTROPY,
    FED_ROW_VALID_LOSS,
    FED_ROW_VALID_ERROR
};
extern const weft_metric fed_metrics[], fed_rows[], fed_score_table[];

/* ---- fed_opts.c --------------------------------------------------------------------- */

extern const weft_opt fed_task_opts[];
extern const weft_kind *const fed_parts[];

/* ---- fed_cohort.c ------------------------------------------------------------------- */

/* Draws m of n clients into client[m], with replacement or (m <= n) without, by `round`. */
void fed_draw(const fed *t, uint64_t round, int64_t n, int64_t m, int replacement,
              int64_t *client, weft_arena *tmp);
/* Gives each participant that is not lost a rank, the costliest first, each to the rank
 * with the least work so far. */
void fed_deal(const fed *t, const fed_turn *turn, int64_t n, fed_participant *place,
              weft_arena *tmp);
/* The options of the client that draws from m by (trial, round, j); entries in pick. */
fed_client fed_pick(const fed *t, const weft_mix *m, int64_t trial, uint64_t round,
                    int64_t j, int *pick);
/* Fills in how many samples the place trains and scores. */
void fed_size(const fed *t, const fed_turn *turn, fed_participant *p);

/* ---- fed_local.c -------------------------------------------------------------------- */

/* Takes the turn of one client, from the weights `from`. Where it trains, work.w are the
 * client's weights and work.g their change; not to be used if it diverged. */
WEFT_CHECKED weft_status fed_local_update(fed *t, const real *from,
                                          const fed_participant *p, const fed_turn *turn,
                                          fed_client_result *out);
/* order[0 .. take-1]: the first of a shuffle of 0 .. n-1 that client and epoch key. */
void fed_shuffle(const fed *t, const fed_turn *turn, int64_t client, int epoch, int64_t n,
                 int64_t take, int64_t *order);
/* Sample of n that is scored as the i-th of `count`, evenly spread over them all. */
int64_t fed_spread(int64_t i, int64_t count, int64_t n);
/* The result of a stage from the sums over its predictions: a mean loss above turn->most,
 * or none at all, counts as that. */
void fed_settle_score(const fed *t, weft_score sum, const fed_turn *turn, int stage,
                      fed_client_result *out);
/* The score after training of a client that diverged: the worst possible. */
void fed_settle_failure(const fed *t, const fed_participant *p, fed_client_result *out);
/* How many predictions `count` samples are. */
double fed_predictions(const fed *t, int64_t count);

/* ---- fed_turns.c -------------------------------------------------------------------- */

/* Turns from the same weights. */
typedef struct fed_turns {
    const fed_turn *turn;
    const real *from; /* [nweight] */
    int64_t n;
    const fed_participant *place; /* [n] */
    fed_client_result *told;      /* [n] out, of those that this rank takes */
    int scale;                    /* of weft_exact_add */
    double *sum; /* [nweight] the weighted changes of those that did not diverge are added;
                    NULL: they are not wanted */
} fed_turns;

/* Takes the turns that were dealt to this rank and are not lost, in work.tmp. Local. */
WEFT_CHECKED weft_status fed_take_turns(fed *t, const fed_turns *q);

/* ---- fed_lanes.c -------------------------------------------------------------------- */

/* Memory for turns side by side in batches of up to that, of mem; NULL: the network, its
 * size or the data do not allow them. */
fed_lanes *fed_lanes_new(const fed *t, int batch, weft_arena *mem);
/* 1: the client can take its turn in a lane. */
int fed_lanes_take(const fed *t, const fed_participant *p);
/* To be called before turns from other weights. */
void fed_lanes_begin(const fed *t, const real *from);
/* The turns of the n places which[], at most as many as there are lanes, at once. */
WEFT_CHECKED weft_status fed_lanes_visit(fed *t, const fed_turns *q, int n,
                                         const int64_t *which);

/* ---- fed_trial.c -------------------------------------------------------------------- */

/* Sums over clients, v the predictions of each, s the score that selection goes by. A
 * client that returned no weights because it diverged or missed the deadline has the worst
 * score: so a configuration's score is a mean over all clients that drew it and were
 * available, not only over those that could train with it. Means of losses and errors for
 * the record are over clients that answered. */
typedef struct fed_score_sums {
    double n, v, vs, vv, vss; /* clients with v > 0; sums of v, v s, v^2, v s^2 */
    double answered;          /* sum of v of those that were not late */
    double loss[2], wrong[2]; /* sums over their predictions, FED_BEFORE and FED_AFTER */
} fed_score_sums;

/* The beginning of a state's aux; doubles only. */
typedef struct fed_trial_head {
    double trial;      /* that this is the state of */
    double round;      /* rounds that the weights have had, */
    double steps;      /* and of these, changed them */
    double rounds;     /* entered in the ring */
    double best;       /* lowest score of a round */
    double train_loss; /* sums of this job: over predictions of local training, */
    double train_count;
    double seconds; /* virtual */
    weft_mix_update_state drift;
} fed_trial_head;

/* The parts of a trial's state, and of what its job has brought so far; all borrowed. */
typedef struct fed_trial_state {
    real *x; /* [1+slots][nweight] weights, and what the server's optimizer keeps */
    fed_trial_head *head;
    fed_score_sums *ring; /* [pool] the last rounds */
    double *evidence;     /* [2][k] what weft_mix_race_step keeps; k > 1 only */
    weft_result *res;     /* of the job: sums by configuration, log-probabilities */
} fed_trial_state;

/* Doubles that a trial carries along after a job of k configurations. */
int64_t fed_trial_size(const fed *t, int k);
/* The state before a first job: of no trial. */
void fed_trial_start(weft_state *state);
/* The parts of a state; a new job or trial begins its sums. */
fed_trial_state fed_trial_open(const fed *t, const weft_job *job, int64_t unit,
                               weft_state *state, weft_result *res);
/* Enters a round that `seen` sums up. */
void fed_trial_enter(const fed *t, fed_trial_state *b, const fed_score_sums *seen);
/* The worst possible score: no answer right, or fed.worst. */
double fed_worst_score(const fed *t);
/* Adds one client. */
void fed_sums_add(const fed *t, fed_score_sums *to, const fed_client_result *told);
/* Mean score of the clients seen, NAN if there are none, and half the width of its 95 %
 * interval as an estimate for all clients; INFINITY if it cannot be estimated. Of cohorts
 * of several rounds it is an interval for the mean over these rounds of what all clients
 * would have scored then, not for the last weights, which do better than the mean as long
 * as they improve. */
weft_interval fed_sums_score(const fed_score_sums *s, weft_population all);
/* Fills the rest of the job's result; `eval` has the clients of the last evaluation, or n =
 * 0. */
void fed_trial_result(const fed *t, const weft_job *job, const fed_trial_state *b,
                      const fed_score_sums *eval);

/* ---- fed_round.c -------------------------------------------------------------------- */

/* One round. Collective. */
WEFT_CHECKED weft_status fed_round(fed *t, const weft_job *job, fed_trial_state *b,
                                   double *row, weft_arena *tmp);
/* Virtual seconds of the rounds of a job whose weights have had `before` rounds: exact for
 * one configuration, since devices and their fates are known when a cohort is drawn; for a
 * mixture a lower bound, as if each client drew the fastest configuration. As weft_task's
 * seconds. Local. Cost O(rounds cohort). */
double fed_seconds(const void *self, const weft_job *job, double before);
/* Whether rounds of the job score clients before their training, and after it. */
int fed_scores(const fed *t, const weft_job *job, int stage);
/* Makes the results of n turns known to all ranks, together with the sum over ranks of
 * wire[head]; behind these, wire has room for fed_room(n) more. Status as weft_agree.
 * Collective. */
WEFT_CHECKED weft_status fed_exchange(fed *t, weft_status st, int64_t *wire, int64_t head,
                                      int64_t n, const fed_participant *place,
                                      fed_client_result *told);
int64_t fed_room(int64_t n);

/* ---- fed_eval.c --------------------------------------------------------------------- */

/* What is to be evaluated. */
typedef struct fed_evaluation {
    weft_part part;
    int64_t clients; /* 0, or more than there are: all */
    int personal;    /* 1: also after local training */
} fed_evaluation;

/* Scores weights w on clients, each under a configuration drawn by the trial from the
 * mixture. Collective. */
WEFT_CHECKED weft_status fed_evaluate(fed *t, const fed_evaluation *q, int64_t trial,
                                      const weft_mix *mix, const real *w,
                                      fed_score_sums *out);

#endif
