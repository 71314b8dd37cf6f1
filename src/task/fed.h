/* What the files of task fed share: its options, the local update of a client, and the
 * state of a trial that is passed from round to round. Included only by src/task/fed*.c. */
#ifndef WEFT_TASK_FED_H
#define WEFT_TASK_FED_H

#include "weft/task.h"

#include "device.h"
#include "halt.h"
#include "interval.h"
#include "words.h"

enum { FED_WEIGHTED, FED_PLAIN };                             /* fed.average */
enum { FED_ERROR, FED_LOSS };                                 /* fed.score */
enum { FED_PERSONAL, FED_GLOBAL };                            /* fed.score_weights */
enum { FED_POOLED, FED_BOUND, FED_LAST, FED_BEST, FED_EVAL }; /* fed.select */
enum { FED_LAST_SYMBOL, FED_ALL_SYMBOLS };                    /* fed.target */
enum { FED_BEFORE, FED_AFTER };                               /* local training */

/* The number of the round in the keys of evaluations' draws: larger than any training
 * round. */
#define FED_EVALUATION ((uint64_t)1 << 53)

/* Section [client]: the training on a device. */
typedef struct fed_client {
    weft_sgd sgd;
    double dropout, max_change;
    int batch, epochs;
    int64_t max_samples; /* samples per epoch; 0: all */
} fed_client;
extern const weft_kind fed_client_kind, fed_server_kind;

/* A client that takes part in a round or an evaluation. */
typedef struct fed_participant {
    int64_t client;
    weft_client at;         /* location of its samples; set by fed_size */
    int64_t samples, valid; /* training samples per epoch; samples to be scored */
    double weight;          /* weight in the average */
    int lost;               /* 1: lost to its device or to the end of the round: it is not
                               trained */
    int late; /* 1: it missed the deadline because of its device and options */
    int rank; /* rank that trains it */
    fed_client options;
} fed_participant;

/* What a participant has to do (its turn). */
typedef struct fed_turn {
    uint64_t round;           /* part of the key of the order of samples and of draws */
    int before, train, after; /* 1: score before training; train; score after training */
    weft_part part;           /* that is scored */
    int64_t cap;              /* largest number of samples scored; 0: all */
    double most;              /* a larger mean loss is replaced by this */
} fed_turn;

/* The result of a turn; only doubles, so that ranks can exchange them bitwise. */
typedef struct fed_client_result {
    double loss[2], wrong[2];       /* sums over predictions, FED_BEFORE and FED_AFTER */
    double count;                   /* of these predictions */
    double train_loss, train_count; /* sums over the steps of local training */
    double steps;                   /* samples of these steps */
    double diverged, late;          /* 1: it diverged; its score is the worst possible */
} fed_client_result;
enum { FED_CLIENT_NUMBERS = sizeof(fed_client_result) / sizeof(double) };

typedef struct fed_lanes fed_lanes;

/* The weights that a client's training can change: all, or of a table of word vectors only
 * the rows of its own words. They are trained as a vector of their own, `n` long: the
 * weights before the table, then the rows in the order of the seats. */
typedef struct fed_own {
    weft_table table; /* of the network; rows 0: it has none */
    int some;         /* 0: all weights */
    weft_seats seats; /* words of the client, where they are some */
    int64_t n;        /* weights */
} fed_own;

/* Workspace of a rank, used for all its turns. */
typedef struct fed_workspace {
    real *w, *g, *velocity; /* [own.n], room for nweight */
    real *anchor;           /* [own.n] weights received, where own are some */
    fed_own own;
    double *sum;           /* [nweight] running sum of weighted changes, followed by space
                              for exchanges */
    int most;              /* samples in a batch */
    void *net;             /* workspace of the network */
    const float **x;       /* [most] */
    const uint8_t **text;  /* [most] */
    const uint32_t **word; /* [most] */
    int *length;           /* [most] */
    int32_t *label;        /* [most] */
    fed_lanes *lanes;      /* for training several clients at once, one per vector lane;
                              NULL: one by one */
    weft_arena *tmp;       /* scratch, given by the caller */
    double bytes;          /* its size */
} fed_workspace;

typedef struct fed {
    const char *net_name;
    weft_word_keys words;
    int64_t cohort, pool, max_valid, eval_clients, eval_every, test_clients;
    int replacement, average, score, score_weights, select, target, score_both, eval_mode;
    fed_client client;
    weft_server server;
    weft_device device;
    const weft_net *net;
    void *model;           /* the network's instance */
    weft_clients *clients; /* of the data: of a federation, or those that own documents */
    int64_t nweight;
    int slots;    /* number of vectors of the server's optimizer */
    double worst; /* mean loss that counts as divergence: 2 ln classes */
    weft_env env;
    double asked; /* as in halt.h */
    fed_workspace work;
    double mean_samples, mean_valid; /* means per client: samples trained, samples scored */
    weft_population all;             /* the population of clients, with their numbers of
                                        validation predictions */
    int warned;                      /* 1: a warning that a whole cohort diverged or was
                                        late was printed */
} fed;

/* ---- fed_metrics.c ---- */

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

/* ---- fed_opts.c ---- */

extern const weft_opt fed_task_opts[];
extern const weft_kind *const fed_parts[];

/* ---- fed_cohort.c ---- */

/* Draws m of n clients into client[m], with replacement or (m <= n) without, keyed by
 * `round`. */
void fed_draw(const fed *t, uint64_t round, int64_t n, int64_t m, int replacement,
              int64_t *client, weft_arena *tmp);
/* Assigns a rank to each participant that is not lost: the most expensive first, each to
 * the rank with the least work so far. */
void fed_deal(const fed *t, const fed_turn *turn, int64_t n, fed_participant *place,
              weft_arena *tmp);
/* The options that participant j draws from m, keyed by (trial, round, j); the entries
 * drawn are written to pick. */
fed_client fed_pick(const fed *t, const weft_mix *m, int64_t trial, uint64_t round,
                    int64_t j, int *pick);
/* Sets the numbers of samples that the participant trains on and scores. */
void fed_size(const fed *t, const fed_turn *turn, fed_participant *p);

/* ---- fed_local.c ---- */

/* Between the batches of a turn, or two turns. WEFT_STOP when the unit is to be left before
 * its end. */
WEFT_CHECKED weft_status fed_look(fed *t);
/* Does the turn of one client, starting from the weights `from`. If it trains, work.w then
 * has those of the client's weights that it can change, work.own, and work.g their change,
 * which are invalid if it diverged.
 * EFILE, EDATA. */
WEFT_CHECKED weft_status fed_local_update(fed *t, const real *from,
                                          const fed_participant *p, const fed_turn *turn,
                                          fed_client_result *out);
/* Writes to order[0 .. take-1] the beginning of a shuffle of 0 .. n-1, keyed by round,
 * client and epoch. */
void fed_shuffle(const fed *t, const fed_turn *turn, int64_t client, int epoch, int64_t n,
                 int64_t take, int64_t *order);
/* Index of the i-th of `count` samples that are scored, evenly spread over n. */
int64_t fed_spread(int64_t i, int64_t count, int64_t n);
/* Sets the result of a stage (FED_BEFORE or FED_AFTER) from the sums over its predictions.
 * A mean loss that is above turn->most or not a number is replaced by turn->most. */
void fed_settle_score(const fed *t, weft_score sum, const fed_turn *turn, int stage,
                      fed_client_result *out);
/* Sets the worst possible score as the score after training, for a client that diverged. */
void fed_settle_failure(const fed *t, const fed_participant *p, fed_client_result *out);
/* Number of predictions that `count` samples have. */
double fed_predictions(const fed *t, int64_t count);

/* ---- fed_own.c ---- */

/* For the network of t->model. */
fed_own fed_own_new(const fed *t, weft_arena *mem);
/* The weights that training on `own` can change or that `scored` reads (n 0: nothing); all
 * of them with weight decay, which changes the vectors of all words. */
void fed_own_choose(fed *t, const fed_client *options, const weft_samples *own,
                    const weft_samples *scored);
/* These of from[nweight], in work.anchor where they are some. */
const real *fed_own_take(const fed *t, const real *from);
/* weft_exact_add of x[k->n] to these of sum[nweight]. */
void fed_own_add(const fed_own *k, const real *x, int scale, double *sum);

/* ---- fed_turns.c ---- */

/* A set of turns that start from the same weights. */
typedef struct fed_turns {
    const fed_turn *turn;
    const real *from; /* [nweight] */
    int64_t n;
    const fed_participant *place; /* [n] */
    fed_client_result *told;      /* [n] out: results of those that this rank does */
    int scale;                    /* scale of weft_exact_add */
    double *sum; /* [nweight] to which the weighted changes of clients that did not diverge
                    are added; NULL: not needed */
    int stops;   /* 1: between two clients the run is told of progress, and it is looked
                    whether it must stop */
    double first, share; /* of the progress: what was done before, what these turns are */
} fed_turns;

/* Does the turns that are assigned to this rank and are not lost, with scratch work.tmp.
 * EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_take_turns(fed *t, const fed_turns *q);

/* ---- fed_lanes.c ---- */

/* Memory for turns in vector lanes with batches of up to `batch`, from mem; NULL: not
 * possible with this network, its size or these data. */
fed_lanes *fed_lanes_new(const fed *t, int batch, weft_arena *mem);
/* 1: the client can be trained in a lane. */
int fed_lanes_take(const fed *t, const fed_participant *p);
/* 1: groups of n > 0 such clients are trained faster in lanes than one by one. */
int fed_lanes_pay(const fed *t, int64_t n);
/* Sets the weights that turns start from. */
void fed_lanes_begin(const fed *t, const real *from);
/* Does the turns of the n participants which[], at most as many as there are lanes, at
 * once. EFILE, EDATA. */
WEFT_CHECKED weft_status fed_lanes_visit(fed *t, const fed_turns *q, int n,
                                         const int64_t *which);

/* ---- fed_trial.c ---- */

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

/* The beginning of a state's aux; only doubles. */
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
    real *x; /* [1+slots][nweight] weights, then the vectors of the server's optimizer */
    fed_trial_head *head;
    fed_score_sums *ring; /* [pool] ring buffer of the last rounds' sums */
    double *evidence;     /* [2][k] state of weft_mix_race_step; k > 1 only */
    weft_result *res;     /* of the job: sums by configuration, log-probabilities */
} fed_trial_state;

/* Number of doubles in the state after a job of k configurations. */
int64_t fed_trial_size(const fed *t, int k);
/* Initialises a state as one that belongs to no trial yet. */
void fed_trial_start(weft_state *state);
/* The parts of a state. At the first unit of a job its sums are set to zero, and more if
 * the state is of another trial. */
fed_trial_state fed_trial_open(const fed *t, const weft_job *job, int64_t unit,
                               weft_state *state, weft_result *res);
/* Adds the sums `seen` of a round. */
void fed_trial_enter(const fed *t, fed_trial_state *b, const fed_score_sums *seen);
/* The worst possible score: error 1, or loss fed.worst. */
double fed_worst_score(const fed *t);
/* Adds the result of one client. */
void fed_sums_add(const fed *t, fed_score_sums *to, const fed_client_result *told);
/* Mean score of the clients summed, NAN if there are none, and half the width of its 95 %
 * interval as an estimate for all clients; INFINITY if it cannot be estimated. For sums
 * over several rounds the interval is for the mean, over these rounds, of the scores that
 * all clients would have had. It is not for the last weights, which are better than the
 * mean as long as training improves them. */
weft_interval fed_sums_score(const fed_score_sums *s, weft_population all);
/* Fills the rest of the job's result; `eval`: sums of the last evaluation, n = 0: there was
 * none. */
void fed_trial_result(const fed *t, const weft_job *job, const fed_trial_state *b,
                      const fed_score_sums *eval);

/* ---- fed_round.c ---- */

/* Does one round. EFILE, EDATA. Collective. */
WEFT_CHECKED weft_status fed_round(fed *t, const weft_job *job, fed_trial_state *b,
                                   double *row, weft_arena *tmp);
/* Virtual seconds of the rounds of a job whose weights have had `before` rounds, as
 * weft_task.seconds. It is exact for one configuration, because the behaviour of devices is
 * known when a cohort is drawn; for a mixture it is a lower bound, with the fastest
 * configuration for each client. Cost O(rounds cohort). */
double fed_seconds(const void *self, const weft_job *job, double before);
/* Operations where no device has a speed or delay, so that all rounds last equally long. */
weft_price fed_price(const void *self);
/* 1 if the rounds of the job score clients in this stage: before or after training. */
int fed_scores(const fed *t, const weft_job *job, int stage);
/* Distributes the results of n turns to all ranks, and sums wire[head] over ranks in the
 * same collective; wire must have room for fed_room(n) further numbers. Status as
 * weft_agree. Collective. */
WEFT_CHECKED weft_status fed_exchange(fed *t, weft_status st, int64_t *wire, int64_t head,
                                      int64_t n, const fed_participant *place,
                                      fed_client_result *told);
int64_t fed_room(int64_t n);

/* ---- fed_eval.c ---- */

/* Arguments of an evaluation. */
typedef struct fed_evaluation {
    weft_part part;
    int64_t clients; /* number of clients; 0, or more than there are: all */
    int personal;    /* 1: clients are also scored after local training */
    int stops;       /* 1: tells of progress; WEFT_STOP when the run must stop, after the
                        client in hand */
} fed_evaluation;

/* Scores weights w on clients, each with a configuration drawn from the mixture, keyed by
 * the trial. EFILE, EDATA, WEFT_STOP. Collective. */
WEFT_CHECKED weft_status fed_evaluate(fed *t, const fed_evaluation *q, int64_t trial,
                                      const weft_mix *mix, const real *w,
                                      fed_score_sums *out);

#endif
