/* Shared by logistic.c and svm.c: two-class losses, and two solvers of
 *     min 1/2 |w|^2 + 1/2 b^2 + C sum_i loss(y_i (x_i . w + b)),   y_i = +1 or -1,
 * dual coordinate ascent for sparse rows and a Newton method for any matrix. Private to
 * src/model. */
#ifndef WEFT_MODEL_DUAL_H
#define WEFT_MODEL_DUAL_H

#include "weft/model.h"

typedef enum margin_kind { MARGIN_LOGISTIC, MARGIN_HINGE, MARGIN_SQUARED } margin_kind;

typedef struct margin_problem {
    margin_kind kind;
    /* options, MARGIN_OPTS */
    double c;   /* weight of the losses */
    double tol; /* share of the gain over the best constant that a fit may lack */
    int limit;  /* epochs or Newton steps */
    int partitions;
    int l1; /* 1: the penalty is |w|_1 + |b|, of logistic loss only: l1.h */
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

/* Exact sum over all ranks' rows of x[n], the same in any order; NaN where one is not
 * finite. Collective. */
double margin_sum(const weft_matrix *matrix, const double *x);
/* Fits all outputs (one against the rest) and their intercepts. Collective. */
void margin_fit(const margin_problem *problem, const weft_matrix *matrix,
                const weft_answers *answers, real *w, weft_fitted *out, weft_arena *tmp);
/* Loss of one sample for weft_model: the sum over all outputs; *wrong: 1 if the class of
 * the largest score is not y. */
double margin_score(margin_kind kind, int classes, const double *s, int y, int *wrong);
int margin_outputs(int classes);

/* One output: class `one` against the rest, and its best constant score b. The gain of a
 * fit is the decrease of the objective from that of b. */
typedef struct margin_output {
    int one;
    int constant; /* 1: no sample or every sample is of the class: the fit is the best
                     constant */
    double b, objective; /* best constant and its objective, with the penalty on b */
} margin_output;

/* Penalty on a weight or intercept. */
double margin_penalty(const margin_problem *problem, double w);

/* The output of class `one`, with so many samples of it and of all other classes. */
margin_output margin_output_of(const margin_problem *problem, int one, double positives,
                               double negatives);

/* above / gain: the gap `above` between a fit's objective and the optimum as a share of the
 * optimum's gain over the best constant, whose objective is `best`. Gains below the
 * rounding error count as DESCENT_MIN_GAIN, so that fits to features without information
 * end. */
double margin_relative_gap(const margin_problem *problem, double best, double objective,
                           double above);

/* Fits of several outputs by dual ascent, and by Newton's method, which leaves out those
 * that are constant; out[outputs]->objective is the sum over samples. */
typedef struct dual_rows dual_rows;
dual_rows *dual_rows_of(const margin_problem *problem, const weft_matrix *matrix,
                        const weft_answers *answers, int outputs, weft_arena *mem);
enum { DUAL_WIDE = WEFT_SPARSE_WIDE }; /* outputs that dual_fit takes */
void dual_fit(const margin_problem *problem, const dual_rows *rows, int outputs,
              const margin_output *output, int64_t d, real *w, real *intercept,
              weft_fitted *out, weft_arena *tmp);
/* Outputs that newton_fit takes: as many as need little memory beside the matrix. */
int newton_wide(const weft_matrix *matrix);
void newton_fit(const margin_problem *problem, const weft_matrix *matrix,
                const weft_answers *answers, int outputs, const margin_output *output,
                real *w, real *intercept, weft_fitted *out, weft_arena *tmp);
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

/* Separates the columns that only one row has and renumbers the others. Collective. */
void dual_columns(dual_rows *rows, const weft_matrix *matrix, weft_arena *mem);

/* Rank that visits a partition. */
int dual_owner(const weft_team *team, int partitions, int partition);

#endif
