/* What task fed is made of: its options, a client and its turn, the
 * workspace of a rank, the task. */
#ifndef WEFT_TASK_FED_FED_H
#define WEFT_TASK_FED_FED_H

#include "device.h"
#include "task/parts.h"
#include "weft/algorithm/algorithm.h"
#include "weft/net/net.h"
#include "weft/worker/link.h"

/* ---- clients ---- */

enum { FED_WEIGHTED, FED_PLAIN };                                       /* fed.average */
enum { FED_ERROR, FED_LOSS, FED_WORST, FED_BALANCED, FED_F1, FED_AUC }; /* fed.score */
enum { FED_PERSONAL, FED_GLOBAL };                            /* fed.score_weights */
enum { FED_POOLED, FED_BOUND, FED_LAST, FED_BEST, FED_EVAL }; /* fed.select */
enum { FED_LAST_SYMBOL, FED_ALL_SYMBOLS };                    /* fed.target */
enum { FED_SYNC, FED_BUFFERED };                              /* fed.aggregation */
enum { FED_BEFORE, FED_AFTER };                               /* local training */

/* The number of the round in the keys of evaluations' draws: larger than any training
 * round. */
#define FED_EVALUATION ((uint64_t)1 << 53)

/* Section [client]: the training on a device. */
typedef struct fed_training {
    weft_sgd sgd;
    double dropout, max_change;
    int batch, epochs;
    int64_t max_samples; /* samples per epoch; 0: all */
} fed_training;
extern const weft_kind fed_training_kind;

/* A client that takes part in a round or an evaluation. */
typedef struct fed_client {
    int64_t client;
    weft_client at;         /* location of its samples; set by fed_size */
    int64_t samples, valid; /* training samples per epoch; samples to be scored */
    double weight;          /* weight in the average */
    int lost;               /* 1: lost to its device or to the end of the round: it is not
                               trained */
    int late;       /* 1: it missed the deadline because of its device and options */
    int rank;       /* rank that trains it */
    double seconds; /* of its device in this round */
    int64_t begun; /* the step with whose weights it began; of fed.aggregation = buffered */
    double aged;   /* factor of its change by its staleness; in rounds 1 */
    fed_training options;
    void *special; /* the algorithm's options, as it drew them */
    double *conf;  /* [dim] values of all axes, as it drew them */
} fed_client;

/* What a client has to do in its turn. */
typedef struct fed_turn {
    uint64_t round;           /* part of the key of the order of samples and of draws */
    int before, train, after; /* 1: score before training; train; score after training */
    weft_part part;           /* that is scored */
    int64_t cap;              /* largest number of samples scored; 0: all */
    double most;              /* a larger mean loss is replaced by this */
    int fresh; /* 1: clients that are kept out of training: algorithms may treat them apart
                */
} fed_turn;

enum { FED_OWN = 8 }; /* most metrics of a worker's own */

/* The result of a turn; only doubles, so that ranks can exchange them bitwise. */
typedef struct fed_client_result {
    double loss[2], wrong[2];       /* sums over predictions, FED_BEFORE and FED_AFTER */
    double count;                   /* of these predictions */
    double train_loss, train_count; /* sums over the steps of local training */
    double steps;                   /* samples of these steps */
    double diverged, late;          /* 1: it diverged; its score is the worst possible */
    double weighed[2];              /* wrong answers by fed->balance.valid, likewise */
    double below; /* 1: its change was no longer than the clip of section [privacy] */
    double own[FED_OWN]; /* metrics of a worker's own, the first fed->told.n */
} fed_client_result;
enum { FED_CLIENT_NUMBERS = sizeof(fed_client_result) / sizeof(double) - FED_OWN };

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

/* The samples of a batch, each [most]. */
typedef struct fed_batch {
    const float **x;
    const uint8_t **text;
    const uint32_t **word;
    int *length;
    const uint32_t **reply;
    int *replies;
    int32_t *label;
    double *weight;
    int64_t *at; /* numbers of samples */
} fed_batch;

/* Workspace of a rank, used for all its turns. */
typedef struct fed_workspace {
    real *w, *g, *velocity; /* [own.n], room for nweight */
    real *anchor;           /* [own.n] weights received, where own are some */
    fed_own own;
    real *change,
        *spare;       /* [nweight] of algorithms with turns of their own; their scratch */
    double *sum;      /* [summed] running sums of changes, and of what algorithms add,
                         followed by space for exchanges */
    int most;         /* samples in a batch */
    void *net;        /* workspace of the network */
    fed_batch rows;   /* of a batch */
    fed_lanes *lanes; /* for training several clients at once, one per vector lane;
                         NULL: one by one */
    weft_arena *tmp;  /* scratch, given by the caller */
    double bytes;     /* its size */
} fed_workspace;

/* The numbers of a state x behind the weights: offsets of the server's further numbers, of
 * the weights that are trained where those at the beginning are their average, and of the
 * vectors of its optimizer. */
typedef struct fed_layout {
    int64_t shared, live, slots;
    int64_t nlive;         /* weights that are trained; 0: those at the beginning are */
    int64_t nshared, each; /* each: numbers of the row of a client in what is kept: the
                              turns that it has finished, then what the algorithm keeps; 0:
                              nothing is kept */
    int64_t summed;        /* numbers whose sums over clients a round needs */
    int nslot;             /* vectors of the optimizer */
} fed_layout;

/* Clients that take part, or those that are new: numbers among those of the data. */
typedef struct fed_group {
    int64_t n;
    int64_t *client; /* [n]; NULL: all clients of the data */
} fed_group;

/* Section [fed]. */
typedef struct fed_options {
    const char *net_name, *algorithm_name;
    weft_word_keys words;
    int64_t cohort, pool, max_valid, eval_clients, eval_every, test_clients;
    int replacement, choose, average, score, score_weights, select, target, score_both;
    int aggregation;
    double new_share;  /* of clients that are kept out of training */
    int new_epochs;    /* passes over their samples before they are scored */
    const char *share; /* tensors that travel, a regular expression; "": all */
} fed_options;

/* The clients of the data: how many samples they have. */
typedef struct fed_sizes {
    double samples, valid; /* means per client: samples trained, samples scored */
    weft_population all;   /* all of them, with their numbers of validation predictions */
} fed_sizes;

/* What was told and seen of this process's run. */
typedef struct fed_told {
    double asked;         /* as in halt_is_due */
    int warned;           /* 1: of a whole cohort that diverged or was late */
    int tried;            /* 1: a turn of a worker was repeated */
    int n;                /* metrics of the workers' own, */
    double mean[FED_OWN]; /* and their means in the last round */
} fed_told;

/* Weights of classes, and the worst loss. */
typedef struct fed_balance {
    double *train, *valid; /* [classes] of their samples in training, and of wrong answers
                              in scores; NULL: 1 */
    double worst;          /* mean loss that counts as divergence: 2 ln classes */
} fed_balance;

/* What a federation has beside plain rounds, each by the module of this name; NULL: it has
 * not. */
typedef struct fed_modes {
    struct fed_privacy *privacy;   /* clipped changes, noise, what it costs */
    struct fed_compress *compress; /* fewer bytes up and down */
    struct fed_rule *rule;         /* of the server, in place of the mean */
    struct fed_attack *attack;     /* clients that do harm */
    struct fed_buffer *buffer;     /* asynchronous rounds */
    struct fed_choice *choice;     /* who is asked */
} fed_modes;

typedef struct fed_task {
    fed_options options;
    fed_training client;
    weft_server server;
    weft_device device;
    weft_env env;
    /* what is trained, by set-up */
    const weft_net *net;
    void *model; /* the network's instance */
    int64_t nweight;
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS];
    const weft_algorithm *algorithm;
    void *special; /* its options */
    fed_layout at; /* of x */
    /* who trains, and how scores are weighed, likewise */
    weft_clients *clients; /* of the data: of a federation, or those that own documents */
    fed_group old, fresh;  /* clients that are trained; those that are kept out */
    fed_sizes size;
    fed_balance balance;
    fed_modes modes;
    /* what changes later */
    fed_workspace work;
    fed_told told;
} fed_task;

/* A set of turns that start from the same weights. */
typedef struct fed_turns {
    const fed_turn *turn;
    const real *from; /* a state's x */
    int64_t n;
    const fed_client *client; /* [n] */
    fed_client_result *told;  /* [n] out: results of those that this rank does */
    int scale, scale_more;    /* scales of weft_exact_add: of changes, of other sums */
    double *sum; /* [summed] to which the weighted changes of clients that did not diverge
                    are added; NULL: not needed */
    const weft_course *course; /* that workers do; NULL: they train as FedAvg does */
    real **row; /* [n] of this rank's clients: what they keep, in, out; NULL: nothing */
    int begun;  /* 1: so are the rows of clients in their first turn */
    int stops;  /* 1: between two clients the run is told of progress, and it is looked
                   whether it must stop */
    double first, share; /* of the progress: what was done before, what these turns are */
} fed_turns;

/* ---- trials ---- */

/* Sums over clients, with v the number of predictions of a client and s the score by which
 * configurations are selected, the worst of one that diverged or was late (charge_late).
 * The recorded means of losses and errors are over clients that answered. */
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
    double *clip;         /* of section [privacy], where it moves; NULL: it does not */
    fed_score_sums *ring; /* [pool] ring buffer of the last rounds' sums */
    double *memory;       /* [fed_choice_remembered] of clients */
    double *flights;      /* clients in flight, of fed_buffer_doubles */
    double *evidence;     /* [2][k] state of weft_mix_race_step; k > 1 only */
    weft_result *res;     /* of the job: sums by configuration, log-probabilities */
} fed_trial_state;

/* The number of clients that a round asks (device.c). */
int64_t fed_started(const fed_task *fed);

/* ---- tables.c: options, and what is measured ---- */

extern const weft_opt fed_task_opts[];
extern const weft_kind *const fed_parts[];

/* What it measures: columns of jobs and of rounds, scores. */
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
    FED_ROW_SURPLUS,
    FED_ROW_SAMPLES,
    FED_ROW_BYTES,
    FED_ROW_SECONDS,
    FED_ROW_ENERGY,
    FED_ROW_ENTROPY,
    FED_ROW_VALID_LOSS,
    FED_ROW_VALID_ERROR,
    FED_ROW_STALENESS,
    FED_ROW_STALEST
};
/* The first score of new clients; the first of weft_quality_put. */
enum { FED_NEW_SCORES = 4, FED_QUALITY_SCORES = 8, FED_TEXT_SCORES = 12 };
extern const weft_metric fed_metrics[], fed_rows[], fed_score_table[], fed_client_table[],
    fed_writing_table[]; /* of clients for whom a network writes */

#endif
