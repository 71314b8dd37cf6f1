/* Private to src/model: losses of the margin, and the solvers of
 *     min 1/2 |w|^2 + 1/2 b^2 + C sum_i loss(y_i (x_i . w + b)),   y_i = +1 or -1,
 * dual coordinate ascent for sparse rows and a Newton method for any matrix, or with |w|_1
 * + |b| in place of the squares; sums over answers; gains of a descent. */
#ifndef WEFT_MODEL_MODEL_H
#define WEFT_MODEL_MODEL_H

#include "weft/model/model.h"

/* ---- loss.c: answers, gains, losses ---- */

/* Sum of the weights of all rows. Collective. */
double answers_total(const weft_matrix *matrix, const weft_answers *answers);
/* The same of the rows of each class: count[answers->classes]. Collective. */
void answers_count(const weft_matrix *matrix, const weft_answers *answers, double *count,
                   weft_arena *tmp);
/* Mean and variance of the numbers: [answers->classes]. Collective. */
void answers_moments(const weft_matrix *matrix, const weft_answers *answers, double *mean,
                     double *variance, weft_arena *tmp);

/* Objectives are sums in double: a gain below this share of the objective of the best
 * constant model is rounding. */
#define DESCENT_MIN_GAIN 1e-12

enum { DESCENT_WINDOW = 16, DESCENT_HISTORY = 2 * DESCENT_WINDOW + 1 };

/* Starts at zeros. */
struct descent {
    double gained[DESCENT_HISTORY]; /* total after step i at i modulo DESCENT_HISTORY */
    int steps;
};

/* A step lowered the objective by `less`. */
void descent_add(struct descent *descent, double less);
double descent_gained(const struct descent *descent);
/* Estimate of what all further steps will gain: the gains of the last third of the steps
 * (at most WINDOW) and of as many before them, continued as a geometric series. In
 * conjugate gradients these sums are squared errors in the energy norm (Hestenes, Stiefel,
 * 1952; Strakos, Tichy, ETNA 13, 2002). INFINITY before the second step and where gains do
 * not fall. */
double descent_remaining(const struct descent *descent);

typedef enum margin_kind { MARGIN_LOGISTIC, MARGIN_HINGE, MARGIN_SQUARED } margin_kind;

typedef struct margin_problem {
    margin_kind kind;
    /* options, MARGIN_OPTS */
    double c;   /* weight of the losses */
    double tol; /* share of the gain over the best constant that a fit may lack */
    int limit;  /* epochs or Newton steps */
    int partitions;
    int l1; /* 1: the penalty is |w|_1 + |b|, of logistic loss only: l1.c */
} margin_problem;

/* The options, for the table of a model whose instance has a member `margin`. */
#define MARGIN_OPTS(object, tolerance)                                                     \
    WEFT_REAL_OPT("C", object, margin.c, "1", 1e-9, 1e9,                                   \
                  "weight of the losses against the penalty", .role = WEFT_PER_TRIAL),     \
        WEFT_REAL_OPT("tol", object, margin.tol, tolerance, 1e-9, 1,                       \
                      "share of the optimum's gain over a constant that a fit may lack",   \
                      .role = WEFT_PER_TRIAL),                                             \
        WEFT_INT_OPT("limit", object, margin.limit, "1000", 1, 1e9,                        \
                     "largest number of epochs"),                                          \
        WEFT_INT_OPT(                                                                      \
            "partitions", object, margin.partitions, "2", 1, 4096,                         \
            "groups of feature maps fitted at the same time (ranks that take part)")

/* Loss at a margin y s, of one sample. */
double margin_loss(margin_kind kind, double margin);
double margin_slope(margin_kind kind, double margin); /* its derivative, at most 0 */

/* Conjugate of C loss at -a, finite for 0 <= a, and a <= C except for the squared hinge;
 * its first and second derivative in a. */
double margin_conj(const margin_problem *problem, double a);
double margin_conj_slope(const margin_problem *problem, double a);
double margin_conj_curve(const margin_problem *problem, double a);
/* argmin over t of 1/2 q (t - a)^2 + m (t - a) + conj(t): the best new value of the dual
 * variable a of a sample with |x|^2 = q and margin m. */
double margin_best(const margin_problem *problem, double q, double m, double a);

/* One output: class `one` against the rest, and its best constant score b. The gain of a
 * fit is the decrease of the objective from that of b. */
typedef struct margin_output {
    int one;
    int constant; /* 1: no sample or every sample is of the class: the fit is the best
                     constant */
    double b, objective; /* best constant and its objective, with the penalty on b */
} margin_output;

/* Exact sum over all ranks' rows of x[n], the same in any order; NaN where one is not
 * finite. Collective. */
double margin_sum(const weft_matrix *matrix, const double *x);
/* The same of x[c][n] into sum[c], in one message. Collective. */
void margin_sums(const weft_matrix *matrix, int c, const double *x, double *sum);
/* above / gain: the gap `above` between a fit's objective and the optimum as a share of the
 * optimum's gain over the best constant, whose objective is `best`. Gains below the
 * rounding error count as DESCENT_MIN_GAIN, so that fits to features without information
 * end. */
double margin_relative_gap(const margin_problem *problem, double best, double objective,
                           double above);

/* y[n]: 1 where the label is `one`, else -1. */
void margin_signs(int64_t n, const int32_t *label, int one, double *y);
/* C times what each row counts, [n]. */
double *margin_weights(const margin_problem *problem, const weft_answers *answers,
                       int64_t n, weft_arena *mem);
/* order[n] <- row[n], NULL: 0 .. n-1, in a random order keyed by (group, now). */
void margin_shuffle(const int64_t *row, int64_t n, int group, int now, int64_t *order);

/* ---- margin.c ---- */

/* Fits all outputs (one against the rest) and their intercepts. Collective. */
void margin_fit(const margin_problem *problem, const weft_matrix *matrix,
                const weft_answers *answers, real *w, weft_fitted *out, weft_arena *tmp);
/* Loss of one sample for weft_model: the sum over all outputs; *wrong: 1 if the class of
 * the largest score is not y. */
double margin_score(margin_kind kind, int classes, const double *s, int y, int *wrong);
int margin_outputs(int classes);

/* ---- solvers ---- */

/* Outputs that are fitted together, and where their fits go. */
typedef struct margin_fits {
    const margin_problem *problem;
    const weft_matrix *matrix;
    const weft_answers *answers;
    int n;                       /* outputs */
    const margin_output *output; /* [n] */
    real *w, *intercept;         /* [n][d], [n] */
    weft_fitted *out;            /* [n] whose objectives are sums over samples */
} margin_fits;

/* Fits of up to DUAL_WIDE outputs by dual ascent, and by Newton's method, which leaves out
 * those that are constant. Collective. */
typedef struct dual_rows dual_rows;
dual_rows *dual_rows_of(const margin_problem *problem, const weft_matrix *matrix,
                        const weft_answers *answers, int outputs, weft_arena *mem);
enum { DUAL_WIDE = WEFT_SPARSE_WIDE };
void dual_fit(const margin_fits *fits, const dual_rows *rows, weft_arena *tmp);
/* The entry of a column that only one row has. */
typedef struct dual_single {
    uint32_t row;
    float value;
} dual_single;

/* A column of the matrix that no row of this rank has, or has alone. */
#define DUAL_NONE UINT32_MAX

/* Rows assigned to partitions: one rank visits a partition row by row, and partitions are
 * visited at the same time. A group of rows (of one feature map) is in one partition,
 * chosen by the groups' sizes only, so that neither partitions nor the order in them depend
 * on the number of ranks. */
struct dual_rows {
    weft_team *team;
    int64_t d, total;       /* columns; rows over all ranks */
    int groups, partitions; /* groups of rows; partitions in use */
    int first, last;        /* this rank's partitions [first, last) */
    int *segment;           /* [last-first+1] groups of partition k: segment[k] ..
                               segment[k+1] - 1 */
    int64_t *start;         /* [groups+1] rows of group g: order[start[g]] ..
                               order[start[g+1] - 1] */
    int *group;             /* [groups] number of the group in the matrix, for random
                               numbers */
    int64_t *order;         /* rows of x */
    weft_sparse x;
    /* For fits of many outputs; NULL: x has all columns of the matrix. */
    uint32_t *place;      /* [columns of the matrix] column of x; d + an entry of single; or
                             DUAL_NONE */
    dual_single *single;  /* entries in columns that only one row has, which are not in x */
    double *single_norm2; /* [x.n] sum of their squares */
    const int32_t *label; /* [x.n] */
    const double *weight; /* [x.n] of the losses of rows, beside C; NULL: 1 */
};

/* The columns of a matrix of sparse rows that occur in a row of some rank, as a matrix: its
 * column j is (*column)[j] of the other, rising. Owned by mem; borrows values. Its
 * products take up to `outputs` <= DUAL_WIDE vectors (trans: any number), and one at a
 * time. Collective. Cost: a count for every column and every entry. */
weft_matrix compact_new(const weft_matrix *matrix, int outputs, uint32_t **column,
                        weft_arena *mem);
/* As its member trans, of the squares of its entries. Collective. */
void compact_squares(const weft_matrix *matrix, int c, const real *z, double *g);
/* Outputs that newton_fit takes: as many as need little memory beside the matrix. */
int newton_wide(const weft_matrix *matrix);
/* A matrix of rows must be compact. */
void newton_fit(const margin_fits *fits, weft_arena *tmp);
typedef struct l1_columns l1_columns;
/* The columns of the rows, which have `d`, with sum_i C_i |x_ij| > 1, C_i being C times the
 * weight of a row: all others have weight 0, since no a_i is more than C_i. Cost: sorts as
 * many hashes as there are columns. */
l1_columns *l1_columns_of(const margin_problem *problem, const dual_rows *rows, int64_t d,
                          weft_arena *mem);
/* Fits one output to all rows, starting from zero. Cost: a Newton step reads all columns
 * once and those of the working set ten times, more often where C is large: then 20 to 100
 * times, and there are 30 to 100 steps. */
void l1_fit(const margin_fits *fit, const l1_columns *columns, const int32_t *label,
            weft_arena *tmp);
/* The same on any matrix, by products, starting from w. Collective. */
void l1_products_fit(const margin_fits *fit, weft_arena *tmp);

/* ---- dual.c: the state of a fit by dual coordinate ascent ---- */

enum {
    ASCENT_SUMS = 5,              /* sums over rows, of each output */
    ASCENT_PERIOD = 4 * DUAL_WIDE /* largest `period` */
};

/* Whether an output's ascent goes on, reached its optimum, or stopped without. */
enum { ASCENT_GOES_ON, ASCENT_DONE, ASCENT_STOPPED };

/* One output: parameters and state of its ascent. */
struct ascent_output {
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
    struct ascent_output out[DUAL_WIDE];
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

/* Adds the terms of row i for the n outputs k[n], output k at the step t[k], to sum[n]. */
typedef void (*row_sum)(const struct ascent *ascent, int64_t i, int n, const int *k,
                        const double *t, double (*sum)[ASCENT_SUMS]);

#endif
