/* What the files of task fed share: its options, the local update of a client, and the
 * state of a trial that is passed from round to round. */
#ifndef WEFT_TASK_FED_FED_H
#define WEFT_TASK_FED_FED_H

#include "device.h"
#include "task/parts.h"
#include "weft/algorithm.h"
#include "weft/net.h"

enum { FED_WEIGHTED, FED_PLAIN };                                       /* fed.average */
enum { FED_ERROR, FED_LOSS, FED_WORST, FED_BALANCED, FED_F1, FED_AUC }; /* fed.score */
enum { FED_PERSONAL, FED_GLOBAL };                            /* fed.score_weights */
enum { FED_POOLED, FED_BOUND, FED_LAST, FED_BEST, FED_EVAL }; /* fed.select */
enum { FED_LAST_SYMBOL, FED_ALL_SYMBOLS };                    /* fed.target */
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
    int late; /* 1: it missed the deadline because of its device and options */
    int rank; /* rank that trains it */
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
    double weighed[2];              /* wrong answers by fed->valid_class, likewise */
    double own[FED_OWN];            /* metrics of a worker's own, the first fed->nown */
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

/* Workspace of a rank, used for all its turns. */
typedef struct fed_workspace {
    real *w, *g, *velocity; /* [own.n], room for nweight */
    real *anchor;           /* [own.n] weights received, where own are some */
    fed_own own;
    real *change,
        *spare;      /* [nweight] of algorithms with turns of their own; their scratch */
    double *sum;     /* [summed] running sums of changes, and of what algorithms add,
                        followed by space for exchanges */
    int most;        /* samples in a batch */
    void *net;       /* workspace of the network */
    const float **x; /* [most] */
    const uint8_t **text;         /* [most] */
    const uint32_t **word;        /* [most] */
    int *length;                  /* [most] */
    const uint32_t **translation; /* [most] */
    int *translated;              /* [most] */
    int32_t *label;               /* [most] */
    double *weight;               /* [most] */
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
} fed_layout;

/* Clients that take part, or those that are new: numbers among those of the data. */
typedef struct fed_group {
    int64_t n;
    int64_t *client; /* [n]; NULL: all clients of the data */
} fed_group;

typedef struct fed_task {
    const char *net_name, *algorithm_name;
    weft_word_keys words;
    int64_t cohort, pool, max_valid, eval_clients, eval_every, test_clients;
    int replacement, average, score, score_weights, select, target, score_both, eval_mode;
    fed_training client;
    weft_server server;
    weft_device device;
    const weft_net *net;
    void *model;           /* the network's instance */
    weft_clients *clients; /* of the data: of a federation, or those that own documents */
    double new_share;      /* of clients that are kept out of training */
    int new_epochs;        /* passes over their samples before they are scored */
    fed_group old, fresh;  /* clients that are trained; those that are kept out */
    const weft_algorithm *algorithm;
    void *special; /* its options */
    int64_t nweight;
    int64_t summed; /* numbers whose sums over clients a round needs */
    fed_layout at;  /* of x */
    int ntensor;    /* of the network */
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int slots;                         /* number of vectors of the server's optimizer */
    double *train_class, *valid_class; /* [classes] weights of their samples in training,
                                          and of wrong answers in scores; NULL: 1 */
    double worst; /* mean loss that counts as divergence: 2 ln classes */
    weft_env env;
    double asked; /* as in halt.h */
    fed_workspace work;
    double mean_samples, mean_valid; /* means per client: samples trained, samples scored */
    weft_population all;             /* the population of clients, with their numbers of
                                        validation predictions */
    int tried;                       /* 1: a worker's turn was repeated */
    int nown;                        /* metrics of a worker's own, */
    double own[FED_OWN];             /* their means in the last round */
    int warned;                      /* 1: a warning that a whole cohort diverged or was
                                        late was printed */
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

#endif
