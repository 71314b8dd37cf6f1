/* What the files of task sgd share: its options, its samples and folds, the state between
 * epochs. */
#ifndef WEFT_TASK_SGD_SGD_H
#define WEFT_TASK_SGD_SGD_H

#include "task/halt.h"
#include "task/words.h"
#include "weft/context.h"
#include "weft/descend.h"
#include "weft/measure.h"
#include "weft/translations.h"

enum { SGD_KEEP_BEST, SGD_KEEP_LAST };     /* sgd.keep */
enum { SGD_LAST_SYMBOL, SGD_ALL_SYMBOLS }; /* sgd.target */
enum { SGD_LAYERS = 4 };                   /* train.l2_1 .. l2_4 */

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

typedef struct sgd_task {
    const char *net_name;
    weft_word_keys words;
    int score, keep, parts, literal, target; /* score: weft_measure */
    int64_t steps, patience, folds, fold;
    double dev;
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
    weft_pair_rows pairs; /* of NULL: no sentences */
    weft_context_options context;
    int nfold;                     /* networks of a trial */
    sgd_fold *at;                  /* [nfold]; NULL where env.scoring */
    int64_t first[WEFT_NPART + 1]; /* numbers of the first rows of the parts; all */
    int warned;
    int64_t each; /* steps between two looks whether the run is to stop */
    double asked; /* as in halt.h */
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

/* Work space of a rank. */
typedef struct sgd_work {
    void *net;
    int most;                     /* largest number of samples in a call of the network */
    const float **x;              /* [most] */
    float *row;                   /* [most][d] of bytes */
    const uint8_t **text;         /* [most] */
    const uint32_t **word;        /* [most] */
    int *length;                  /* [most] */
    const uint32_t **translation; /* [most], as in weft_batch */
    int *translated;              /* [most] */
    uint32_t *named; /* [most][d] sources with a language's name, or with less words */
    real *theta;     /* weights of the network for the context of the last batch */
    int32_t *label;  /* [most] */
    const double **target; /* [most] */
    double *weight;        /* [most] */
    weft_arena *tmp;
} sgd_work;

#endif
