/* What the files of task sgd share: its options, its samples and folds, the state between
 * epochs. */
#ifndef WEFT_TASK_SGD_SGD_H
#define WEFT_TASK_SGD_SGD_H

#include "task/parts.h"
#include "weft/base/random.h"
#include "weft/data/data.h"
#include "weft/math/optim.h"
#include "weft/net/context.h"
#include "weft/space/scores.h"

enum { SGD_KEEP_BEST, SGD_KEEP_LAST };     /* sgd.keep */
enum { SGD_LAST_SYMBOL, SGD_ALL_SYMBOLS }; /* sgd.target */
enum { SGD_LAYERS = 4 };                   /* train.l2_1 .. l2_4 */
enum { SGD_TEXT_SCORES = 6 };              /* first of two in the table of scores */
#define SGD_NOISE "0.3"                    /* default of train.noise */

/* Section [sgd]. */
typedef struct sgd_options {
    const char *net_name;
    int score, keep, parts, literal, target; /* score: weft_measure */
    int64_t steps, patience, folds, fold;
    double dev;
} sgd_options;

/* Section [train]. */
typedef struct sgd_train {
    weft_descent descent;
    double dropout, noise;
    int batch, balance;
    double l2[SGD_LAYERS]; /* weight decay of the weights of single layers */
} sgd_train;

/* Rows of the data, by their numbers over all parts: train, valid, test. */
typedef struct sgd_rows {
    int64_t n;
    const int64_t *row; /* [n] */
} sgd_rows;

/* The samples on which one network is trained, early-stopped and, where there are folds,
 * tested. */
typedef struct sgd_fold {
    sgd_rows train, dev, held;
    double *weight; /* [classes] of a sample where classes are balanced; NULL: nowhere */
} sgd_fold;

/* Sums over samples. */
typedef struct sgd_sums {
    double loss, wrong, count;
    double measured; /* count times the measure of all, where sgd.score is a joint one */
} sgd_sums;

/* The state of a fold's network between epochs, all doubles. */
typedef struct sgd_head {
    double trial;                   /* number of the trial; -1: none */
    double epochs, steps;           /* epochs trained; steps of the optimizer */
    double pass, taken;             /* number of the pass over the samples, from 0; samples
                                       taken from it */
    double begun;                   /* epochs trained before the job; 0 between jobs,
                                       however epochs are divided into jobs */
    double stopped;                 /* 1: stopped as it no longer improves, 2: diverged */
    double best, best_epoch;        /* lowest score on the development part, and its
                                       epoch */
    double train_loss, train_count; /* of the last epoch */
    sgd_sums dev, held;             /* sums for the weights that are kept */
} sgd_head;
enum { SGD_HEAD = sizeof(sgd_head) / sizeof(double) };

/* The samples of all clients of a federation, in the mapped file, in memory, or in its
 * text; all NULL if it is none. */
typedef struct sgd_pool {
    const float **x;      /* [samples] rows of d numbers */
    int32_t *label;       /* [samples] */
    const uint8_t **text; /* [samples] windows of d + 1 symbols */
    int32_t *client;      /* [samples] */
} sgd_pool;

typedef struct sgd_source sgd_source;

typedef struct sgd_task {
    sgd_options opts;
    const sgd_source *source;
    weft_word_keys words;
    sgd_train train;
    const weft_net *net;
    void *fixed; /* the network's instance without its axes; not set up */
    weft_shape shape;
    double unit; /* of the losses: the variance of the training targets, where there is one
                    target; else 1 */
    weft_env env;
    weft_team alone; /* of this rank */
    weft_data own;   /* all rows, on every rank; not of a federation */
    int opened;
    sgd_pool pool;
    weft_context_options context;
    int nfold;                     /* networks of a trial */
    sgd_fold *at;                  /* [nfold]; NULL where env.scoring */
    int64_t first[WEFT_NPART + 1]; /* numbers of the first rows of the parts; all */
    int warned;
    int before;   /* 1: of contexts only those that a winner knows are there */
    int64_t each; /* steps between two looks whether the run is to stop */
    double asked; /* as in task/parts.h */
} sgd_task;

/* The networks of a trial: one instance of the configuration for all folds. */
typedef struct sgd_model {
    void *self;
    sgd_train train;
    weft_contexts *contexts; /* NULL: the weights are the network's */
    int64_t n;               /* weights */
    weft_table table; /* at the end of the network's; without rows there if it has none */
    int slots;        /* number of vectors of the optimizer */
    int copies; /* copies of a fold's weights: 2 if the best are kept in addition to the
                   last */
    int layers; /* with weights beside the table, SGD_LAYERS at most are counted */
    int64_t first[SGD_LAYERS], end[SGD_LAYERS]; /* weights of these layers, without biases;
                                                   both 0: there is no such layer */
} sgd_model;

#ifdef WEFT_DOUBLE
typedef int64_t sgd_whole; /* a number in the unit of its block */
#else
typedef int32_t sgd_whole;
#endif

/* The gradients of a batch's pieces, and their sum. Of the weights before the table this
 * rank has the sum of [part, part + parts), and takes their steps. */
typedef struct sgd_pieces {
    int n;            /* of the batch */
    int count, *own;  /* [count] those of this rank */
    int *from;        /* [n + 1] samples of the batch before a piece */
    real **g;         /* [n] those that this rank can read; NULL: of another rank */
    real *out;        /* [room] the sum; the place of this rank's first piece */
    int64_t room;     /* numbers of a gradient, at most */
    weft_table table; /* as in sgd_model; its rows are those of the batch's words */
    int64_t part, parts;
    int sharers;      /* ranks that read the pieces of each other, and deal words among
                         them; 1: none do */
    real *exchange;   /* [room] the beginning of the team's buffer; NULL: one rank has all
                         pieces */
    sgd_whole *sum;   /* [room] in the buffer; NULL: this rank reads all pieces */
    double *most;     /* [blocks] largest magnitude, then the unit; beside sum only */
    sgd_whole *block; /* [longest block] */
} sgd_pieces;

/* The rows of the table of weights in an epoch: a step changes those of the batch's words,
 * and the others take its decays when they are next read, with the same bits. Ranks that
 * share memory deal the rows: each keeps its own up to date, and gets the others when they
 * are read. */
typedef struct sgd_words {
    weft_table table;
    weft_team *team;
    int sharers;      /* as in sgd_pieces */
    real *exchange;   /* [most][table.d] */
    weft_seats seats; /* the batch's words, by row of the gradient */
    int64_t most;     /* of seats */
    int64_t *row;     /* [most] rows that are exchanged at a time */
    int64_t *taken;   /* [rows] of the steps below, that a row of this rank has taken */
    weft_pace *pace;  /* [nstep] steps since all rows had taken all, at most [room] */
    int64_t nstep, room;
} sgd_words;

/* Work space of a rank, for `most` samples in a call of the network at most. */
typedef struct sgd_work {
    void *net;
    const float **x;        /* [most] */
    float *row;             /* [most][d] of bytes */
    const uint8_t **text;   /* [most] */
    const uint32_t **word;  /* [most] */
    int *length;            /* [most] */
    const uint32_t **reply; /* [most], as in weft_batch */
    int *replies;           /* [most] */
    uint32_t *named; /* [most][d] sources with a language's name, or with less words */
    real *theta;     /* weights of the network for the context of the last batch */
    int32_t *label;  /* [most] */
    const double **target; /* [most] */
    double *weight;        /* [most] */
} sgd_work;

/* ---- where samples come from ---- */

/* The contexts of samples, by which networks have weights: languages, or the clients of a
 * federation. */
typedef struct sgd_layout {
    int contexts, languages; /* numbers of them, as weft_contexts_setup takes them */
    int joint, known, alike; /* as there, and in weft_contexts */
} sgd_layout;

/* Rows and documents of a file; clients of a federation; sentences. Functions that are
 * NULL: there is no such thing. */
struct sgd_source {
    /* Opens them, and sets `first` and `shape`. EFILE, EDATA, ECONF. Collective. */
    weft_status (*open)(sgd_task *sgd);
    /* ECONF: options of contexts that these cannot have. */
    weft_status (*check)(const sgd_task *sgd);
    /* Contexts; the number of a row's, and the context that has a number. */
    sgd_layout (*layout)(const sgd_task *sgd);
    int (*context_of)(const sgd_task *sgd, int64_t row);
    weft_context (*context)(const sgd_task *sgd, int number);
    /* Sample i of a batch. */
    void (*put)(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int i,
                int64_t row);
    int32_t (*label)(const sgd_task *sgd, int64_t row);
    /* Words word[n] of a row; n counts those of a reply, too. */
    const uint32_t *(*words)(const sgd_task *sgd, int64_t row, int *n);
    /* Leaves words out of the n sources of a batch, row[n], of a language to itself, each
     * with probability train.noise, but never all, as whole sentences would be copied.
     * Keyed by step and row. Vincent et al., "Extracting and composing robust features with
     * denoising autoencoders", ICML 2008; of words, Lample et al., ICLR 2018. */
    void (*thin)(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int64_t step,
                 int n, const int64_t *row);
    /* As weft_task.winner.known. */
    int (*known)(const sgd_task *sgd, const weft_job *job,
                 weft_tensor out[WEFT_MAX_TENSORS]);
    /* Rows whose answer is known; owned by mem. NULL: all. */
    sgd_rows (*scored)(const sgd_task *sgd, const sgd_rows *rows, weft_arena *mem);
    /* Scores what the network writes for these by w[model->n]: out->members, and the two
     * means of out->metric; what it writes for all rows, in mem. NULL: it has an answer a
     * row. Collective. */
    void (*score)(const sgd_task *sgd, const sgd_model *model, weft_part part,
                  const sgd_rows *rows, const real *w, weft_scores *out);
    void (*say)(const sgd_task *sgd, const sgd_model *model, weft_part part,
                const sgd_rows *rows, const real *w, weft_predictions *out,
                weft_arena *mem);
};
extern const sgd_source sgd_own, sgd_pooled, /* samples.c */
    sgd_pairs;                               /* pairs.c */

/* ---- pairs.c ---- */

/* ECONF: train.noise is given, and no sentences are to be translated into their own
 * language. */
WEFT_CHECKED weft_status sgd_check_noise(const sgd_task *sgd);

/* ---- model.c: the networks of configurations, and contexts of samples ---- */

extern const weft_kind sgd_train_kind;
/* Gives clients without training rows the mean of what others have, of w[model->n]. */
void sgd_contexts_fill(const sgd_task *sgd, const sgd_model *model, const sgd_rows *train,
                       real *w);
/* Rows in blocks of at most `most`, of one context each where the model has contexts: block
 * b is row[cut[b]] .. row[cut[b + 1] - 1]; row[i] stands at place[i] in `rows`. */
typedef struct sgd_blocks {
    int64_t n, *cut, *row, *place;
} sgd_blocks;
sgd_blocks sgd_blocks_new(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                          int64_t most, weft_arena *mem);
/* Orders the shuffled rows of a pass by batches of one context each, which are in a random
 * order keyed by `key`, too, and sets end[..], their ends. Cost O(n + contexts). */
void sgd_context_order(const sgd_task *sgd, const sgd_model *model, int64_t n,
                       const weft_rng_row *key, int64_t *order, int64_t *end);

/* The network and the steps of a job, whose configuration was checked at setup. */
sgd_model sgd_model_of(const sgd_task *sgd, const weft_job *job, weft_arena *mem);
/* Those of the configuration that has the largest state. ECONF, EDATA: a configuration
 * cannot be trained, or a layer that none has is to have a weight decay. */
WEFT_CHECKED weft_status sgd_model_largest(const sgd_task *sgd, weft_arena *tmp,
                                           sgd_model *model);
/* Numbers of the state of a trial; of the gradient of a batch, at most. */
int64_t sgd_state_size(const sgd_task *sgd, const sgd_model *model);
int64_t sgd_gradient_size(const sgd_task *sgd, const sgd_model *model, int64_t batch);
/* As weft_task.cost. */
void sgd_cost(const void *self, const weft_job *job, weft_cost *out);
/* ECONF: context.train = embeddings where there are none, or of a generator that nothing
 * has trained. */
WEFT_CHECKED weft_status sgd_check_clients(const sgd_task *sgd);
/* ELIMIT if the configuration with the largest state exceeds the memory. */
WEFT_CHECKED weft_status sgd_check_memory(const sgd_task *sgd);

/* ---- samples.c ---- */

/* Opens the data on this rank only, with vectors of words, and sets shape. EFILE, EDATA,
 * ECONF. Collective. */
WEFT_CHECKED weft_status sgd_open(sgd_task *sgd);
/* Divides the rows into folds. ECONF, EDATA. */
WEFT_CHECKED weft_status sgd_divide(sgd_task *sgd);
/* The rows row[n] by decreasing length, those of equal length in their order. */
void sgd_sort_by_length(const sgd_task *sgd, int n, const int64_t *row, weft_length *out);
/* What is known of rows, not of characters; owned by mem. */
weft_truth sgd_truth(const sgd_task *sgd, const sgd_rows *rows, weft_arena *mem);
/* 1: the network, by its data, has an answer of each row. */
int sgd_answers(const sgd_task *sgd);
/* 1: rows have weights. */
int sgd_weighs(const sgd_task *sgd);
/* Room for batches of up to `most` samples. */
sgd_work sgd_work_new(const sgd_task *sgd, const sgd_model *model, int most,
                      weft_arena *tmp);
/* The samples row[n] in the tables of `work`; weight [classes] or NULL. */
weft_batch sgd_batch(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int n,
                     const int64_t *row, const double *weight);
/* ---- exchange.c ---- */

/* For gradients of at most `room` numbers. Collective. */
sgd_pieces sgd_pieces_new(const sgd_task *sgd, const sgd_model *model, int64_t room,
                          weft_arena *tmp);
/* pieces->out = the exact sum of all pieces over all ranks, each with its share of the
 * batch: of the weights before the table this rank's part, of the rows those of its words.
 * Returns 0 where a number is not finite, on all ranks. Collective. */
int sgd_pieces_sum(const sgd_task *sgd, sgd_pieces *pieces, const sgd_words *words);
/* The weights x[table.at], of which each rank has its own part, for all ranks.
 * Collective. */
void sgd_pieces_join(const sgd_task *sgd, const sgd_pieces *pieces, real *x);
/* For an epoch of `steps` steps of that many samples, whose gradients are in `pieces`. */
sgd_words sgd_words_new(const sgd_task *sgd, const sgd_model *model,
                        const sgd_pieces *pieces, int64_t batch, int64_t steps,
                        weft_arena *tmp);
/* The words of the samples row[n] take their places. */
void sgd_words_seat(sgd_words *words, const sgd_task *sgd, int n, const int64_t *row);
/* The first n rows of words->row take the steps that they are owed, and all ranks get them.
 * Collective. */
void sgd_words_settle(sgd_words *words, const sgd_model *model, int64_t n, real *w,
                      real *slots);
/* The step at this pace of this rank's rows of these words; g[n][table.d] is undefined
 * afterwards. */
void sgd_words_step(sgd_words *words, const sgd_model *model, weft_pace pace, real *w,
                    real *g, real *slots);
/* All rows take the steps that they are owed, and all ranks get them; to be called after
 * the last step. Collective. */
void sgd_words_end(sgd_words *words, const sgd_model *model, real *w, real *slots);

/* ---- step.c ---- */

/* Does epoch number head->epochs, from 1, of the network w, slots[model->slots][model->n]
 * of fold f; *good 0: it diverged. WEFT_STOP: it was left before its end. Collective. */
WEFT_CHECKED weft_status sgd_epoch(sgd_task *sgd, const sgd_model *model, int f,
                                   sgd_head *head, real *w, real *slots, int *good);

/* ---- score.c ---- */

/* A rank's blocks of rows, one after the other: the samples of the present one, and the
 * weights for their context. */
typedef struct sgd_walk {
    const sgd_task *sgd;
    const sgd_model *model;
    const real *w, *theta;
    sgd_blocks blocks;
    sgd_work work;
    int64_t at;         /* number of the present block */
    const int64_t *row; /* [batch.n] its rows */
    int context;
    weft_batch batch;
} sgd_walk;
enum { SGD_BLOCK = 64 }; /* rows of a block, at most */
sgd_walk sgd_walk_new(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                      const real *w, weft_arena *tmp);
/* Goes to the rank's next block; 0: there is none. */
int sgd_walk_next(sgd_walk *walk);
void sgd_sums_add(sgd_sums *to, const sgd_sums *sums); /* to += sums */
/* The score that sgd.score names; INFINITY where the loss is not finite. */
double sgd_sums_score(const sgd_task *sgd, const sgd_sums *sums);
/* The sums of weights w on rows, without `measured`, the same bits on any number of ranks.
 * Collective. */
sgd_sums sgd_score_rows(sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                        const real *w);
/* Probabilities of the classes of rows, or numbers: means over the networks x[nets]. ECONF:
 * there is not one answer a row. Collective. */
WEFT_CHECKED weft_status sgd_predict(const sgd_task *sgd, const sgd_model *model,
                                     const sgd_rows *rows, int nets, const real *x,
                                     weft_predictions *out, weft_arena *mem);
/* The joint measure of one network on rows. Collective. */
double sgd_measure(const sgd_task *sgd, weft_measure measure, const sgd_model *model,
                   const sgd_rows *rows, const real *x);
/* How well the means over the networks of the folds are on rows: the scores behind loss and
 * error, confusion and fit, owned by mem; nothing where there is not one answer a row.
 * Collective. */
void sgd_judge(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
               const real *x, weft_scores *out, weft_arena *mem);

#endif
