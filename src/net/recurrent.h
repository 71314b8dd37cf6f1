/* Private to net/: layers of LSTM over sequences of unequal length, without padding. */
#ifndef WEFT_RECURRENT_H
#define WEFT_RECURRENT_H

#include "weft/arena.h"
#include "weft/gemm.h"

/* n sequences by decreasing length. Rows are in the order of the steps: step t has rows
 * first[t] .. first[t + 1] - 1, those of the first sequences, which are all that are longer
 * than t. */
typedef struct net_steps {
    int n, longest;
    int *first;  /* [longest + 1] */
    int *length; /* [n] */
} net_steps;
/* For up to `most` sequences of up to `longest` steps. */
net_steps net_steps_new(int most, int longest, weft_arena *mem);
/* Sets `first` by n and length[n]. */
void net_steps_count(net_steps *steps);
int net_steps_at(const net_steps *steps,
                 int t);                    /* sequences at step t; 0 beyond the last */
int net_steps_rows(const net_steps *steps); /* rows of all steps */

/* Packed weights and the memory they are in. */
typedef struct net_matrix {
    weft_packed packed;
    void *mem;
} net_matrix;
net_matrix net_matrix_new(int k, int m, weft_arena *mem);
/* b[k][ldb], or its transpose, into the matrix. */
void net_matrix_pack(net_matrix *matrix, const real *b, size_t ldb, int trans);
/* A leading dimension of an odd number of cache lines, so that the rows of a tile do not
 * share cache sets. */
size_t net_stride(int64_t n);

/* Dropout of the units of one sample at one place of a network. */
typedef struct net_drop {
    int share; /* rate, in 1/NET_DROP_SCALE; 0: none */
    uint64_t key, place, sample;
} net_drop;
enum { NET_DROP_SCALE = 1 << 16 };
/* y[n] = x[n] with units set to 0 at random, the others scaled up; y may be x. */
void net_drop_units(const net_drop *drop, int n, const real *x, real *y);

/* A layer in one direction. */
typedef struct net_recurrent {
    int in, h, reverse;                  /* reverse 1: from each sequence's end on */
    size_t ldx, ld, ldz;                 /* leading dimensions */
    net_matrix ih, hh, ih_back, hh_back; /* k = in, h, 4h, 4h; m = 4h, 4h, in, h */
    const real *bias;                    /* [4h] */
    real *x;                             /* [rows][ldx] inputs */
    real *z, *c, *y, *last; /* [rows] gates [ldz]; cells, outputs, outputs of the step
                               before [ld] */
    const real *c0, *y0;    /* [n][ld] before the first step; NULL: zeros */
    real *dy;               /* [rows][ld] gradient with respect to y */
    real *dc;               /* [n][ld] with respect to the cells of the step at hand */
    const real **plus;      /* [n] */
    real **into;            /* [n] */
} net_recurrent;
/* With room for `most` sequences and `rows` rows. */
net_recurrent net_recurrent_new(int in, int h, int reverse, int most, int rows,
                                weft_arena *mem);
/* ih[4h][in], hh[4h][h]; bias[4h] is borrowed. `back`: for the backward pass, too. */
void net_recurrent_pack(net_recurrent *layer, const real *ih, const real *hh,
                        const real *bias, int back);
/* The part of the gates that comes from the inputs, of rows [row, row + n). */
void net_recurrent_input(net_recurrent *layer, int row, int n);
/* Step t, whose gates have that part; in the order of the layer's direction. */
void net_recurrent_step(net_recurrent *layer, const net_steps *steps, int t);
/* Backward pass of step t, in the reverse of that order: dy + what comes from the step that
 * followed; z becomes the gradient with respect to the sums before sigmoid and tanh; adds
 * the gradient of the bias to dbias[4h]. Before the first one dc is the gradient with
 * respect to the last cells; after the last one that with respect to c0. */
void net_recurrent_step_back(net_recurrent *layer, const net_steps *steps, int t,
                             real *dbias);
/* After the first step's backward pass: dy0[n][ld] = gradient with respect to y0. */
void net_recurrent_first_back(const net_recurrent *layer, const net_steps *steps,
                              real *dy0);
/* dx[n][lddx], that with respect to the inputs of rows [row, row + n); add 1: +=. */
void net_recurrent_input_back(const net_recurrent *layer, int row, int n, int add, real *dx,
                              size_t lddx);
/* ih and hh [4h][..] += their gradients, of all rows. */
void net_recurrent_weights_back(const net_recurrent *layer, int rows, real *ih, real *hh,
                                weft_arena *tmp);

#endif
