/* The state of a fit by dual coordinate ascent: dual_epoch.c runs epochs, dual.c decides
 * when the fit ends. Private to these. */
#ifndef WEFT_MODEL_ASCENT_H
#define WEFT_MODEL_ASCENT_H

#include "dual.h"

enum {
    ASCENT_SUMS = 5,              /* sums over rows that ascent_sum computes */
    ASCENT_PERIOD = 4 * DUAL_WIDE /* largest `period` */
};

/* Whether an output's ascent goes on, reached its optimum, or stopped without. */
enum { ASCENT_GOES_ON, ASCENT_DONE, ASCENT_STOPPED };

/* One output: parameters and state of its ascent. */
struct output {
    const margin_output *asked;
    int index;           /* in the caller's arrays */
    int done;            /* ASCENT_GOES_ON ... */
    double b;            /* intercept */
    double b0, t0;       /* intercept and sum_i a_i y_i before its last step */
    double low, high;    /* bracket of the intercept */
    double min_worth;    /* worth of a visit below which a row is shrunk */
    double shrink_tol;   /* min_worth is a row's share of tol over this */
    double norm2_shared; /* |w|^2 over the columns of x */
    double norm2;        /* over all columns */
    double objective;    /* primal */
    double gap;          /* duality gap as a share of the gain */
    double trial_gap;    /* gap TRIAL_EPOCHS ago */
};

/* One fit of `wide` outputs, with the state of the local rows. Arrays over rows or
 * columns and outputs, [rows][wide] and [d][wide], have the element of output k at i wide +
 * k. */
struct ascent {
    const margin_problem *problem;
    const dual_rows *rows;
    struct output out[DUAL_WIDE];
    int32_t one[DUAL_WIDE]; /* [wide] class of each output; -1: pads */
    int outputs, wide;      /* outputs in use; including those that pad a vector */
    int period;       /* [d][wide] is read in pieces of this length, a multiple of wide */
    int64_t padded;   /* d wide, rounded up to a multiple of period */
    real *w, *delta;  /* [d][wide] weights; sum of the partitions' changes */
    real *copy;       /* [partitions of this rank][d][wide] weights of each partition */
    int32_t *change;  /* [d][wide] scratch */
    int coupled;      /* 1: one group of rows, so that the intercept is updated with
                         every visit */
    double *a, *step; /* [rows][wide] dual variables, 0 .. C times the row's weight; change
                         in this epoch */
    double *norm2;    /* [rows] |x_i|^2, plus 1 where the intercept is coupled */
    double *margin;   /* [rows][wide] when last visited */
    int *due, *shrinking; /* [rows] sweep of the next visit; number of consecutive visits of
                             little worth */
    int *sweep;           /* [partitions of this rank] sweeps done */
    int64_t *visits;      /* [rows] order of a group's visits, scratch */
    double (*partition)[ASCENT_SUMS]; /* [partitions][outputs] sums over each partition's
                                         rows, scratch */
};

/* y_i of output k: 1 or -1. */
static inline double ascent_sign(const struct ascent *ascent, int64_t i, int k)
{
    return ascent->rows->label[i] == ascent->one[k] ? 1 : -1;
}

/* |x_i|^2 over single columns, those that no other row has; their weights are a_i y_i
 * x_ij. */
static inline double ascent_single_norm2(const struct ascent *ascent, int64_t i)
{
    return ascent->rows->single_norm2 ? ascent->rows->single_norm2[i] : 0;
}

/* The problem of row i, which is *own where the row has a weight. */
static inline const margin_problem *ascent_problem(const struct ascent *ascent, int64_t i,
                                                   margin_problem *own)
{
    if (!ascent->rows->weight) return ascent->problem;
    *own = *ascent->problem;
    own->c *= ascent->rows->weight[i];
    return own;
}

/* One epoch over all partitions; adds their changes to w and a. Collective. */
void ascent_epoch(struct ascent *ascent);

/* sum[DUAL_WIDE] <- dot product of each output's part of a and b, [d][wide]. */
void ascent_dots(const struct ascent *ascent, const real *a, const real *b, double *sum);

/* Adds the terms of row i for the n outputs k[n], output k at the step t[k], to sum[n]. */
typedef void (*ascent_row_sum)(const struct ascent *ascent, int64_t i, int n, const int *k,
                               const double *t, double (*sum)[ASCENT_SUMS]);

/* Conjugate of the loss at the dual variable, and C times the loss at the stored margin, of
 * row i for all outputs. */
void ascent_terms(const struct ascent *ascent, int64_t i, double *conj, double *loss);

/* 1: for an output that runs, row i has so large a part of the gap that it is to be visited
 * again in the next sweep; share[wide] has its part of each gap. */
int ascent_matters(const struct ascent *ascent, const double *share);

/* sum[outputs] <- sums over all rows, of the n outputs k[n], output k at the step t[k]:
 * over each partition on its rank, then over partitions in their order. Collective. */
void ascent_sum(struct ascent *ascent, int n, const int *k, ascent_row_sum add,
                const double *t, double (*sum)[ASCENT_SUMS]);

#endif
