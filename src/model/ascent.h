/* The state of a fit by dual coordinate ascent: dual_epoch.c does epochs, dual.c decides
 * when it ends. Private to these. */
#ifndef WEFT_MODEL_ASCENT_H
#define WEFT_MODEL_ASCENT_H

#include "dual.h"

enum {
    ASCENT_SUMS = 5, /* over rows */
    ASCENT_FLAT = 16 /* [d][wide] is read by so many: a multiple of every `wide` */
};

/* One output. Numbers of the ascent, and how it stands. */
typedef struct output {
    const margin_output *of;
    int which;         /* of those that the caller gave */
    int done;          /* 1: at its optimum; 2: given up */
    double b;          /* intercept */
    double b0, t0;     /* intercept and sum_i a_i y_i before its last step */
    double low, high;  /* between which the intercept is known to be */
    double enough;     /* gain of one row that is worth a visit */
    double shrink_tol; /* a visit is worth it above 1 / shrink_tol of a row's share of tol
                        */
    double shared;     /* |w|^2 over the columns of x */
    double square;     /* and over all */
    double objective;  /* primal */
    double gap;        /* as a share of the gain */
    double before;     /* it, TRIAL epochs ago */
} output;

/* One fit of `wide` outputs. Rows are those of x; states of rows that are elsewhere do not
 * occur. What has an element for each row or column and output has those of one row or
 * column together: [x.n][wide], [d][wide], at i wide + k. */
typedef struct ascent {
    const margin_problem *p;
    const dual_rows *x;
    output out[DUAL_WIDE];
    int outputs, wide;    /* in use; with those that pad a vector */
    int64_t flat;         /* d wide, and what rounds it up to ASCENT_FLAT */
    real *w, *moved;      /* [d][wide] weights; sum of the partitions' changes */
    real *copy;           /* [partitions of this rank][d][wide] weights of each partition */
    int32_t *change;      /* [d][wide] scratch */
    int coupled;          /* 1: one group of rows; the intercept moves with every visit */
    double *a, *step;     /* [x.n][wide] dual variables, 0..c; change in this epoch */
    double *norm2;        /* [x.n] |x_i|^2, and 1 where the intercept is coupled */
    double *margin;       /* [x.n][wide] when last visited */
    int *due, *shrinking; /* [x.n][wide] sweep of the next visit; visits in a row that
                           changed little */
    int *sweep;           /* [partitions of this rank] sweeps made */
    int64_t *turn;        /* [x.n] order of a group's visits, scratch */
    double (*partition)[ASCENT_SUMS]; /* [partitions] sums over each partition's rows,
                                         scratch */
} ascent;

/* y_i of output k: 1 or -1. */
static inline double ascent_sign(const ascent *s, int64_t i, int k)
{
    return s->x->label[i] == s->out[k].of->one ? 1 : -1;
}

/* |x_i|^2 over columns that no other row has, whose weights are a_i y_i x_ij. */
static inline double ascent_own(const ascent *s, int64_t i)
{
    return s->x->own ? s->x->own[i] : 0;
}

/* Visits all partitions, adds their changes to w and a. Collective. */
void ascent_epoch(ascent *s);

/* sum[DUAL_WIDE] <- dot product of each output's part of a and b, [d][wide]. Local. */
void ascent_dots(const ascent *s, const real *a, const real *b, double *sum);

/* Adds what row i brings to output k, given the common step t, to sum[ASCENT_SUMS]. */
typedef void (*ascent_row_sum)(const ascent *s, int64_t i, int k, double t, double *sum);

/* Sums over all rows: per partition, which one rank holds whole, then in the order of
 * partitions. Collective. */
void ascent_sum(ascent *s, int k, ascent_row_sum add, double t, double *sum);

#endif
