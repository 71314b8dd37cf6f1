/* What logistic.c and svm.c share: two-class losses, and two solvers of
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
#define MARGIN_OPT(type, opt, kind, member, preset, least, most, text, role)               \
    {                                                                                      \
        opt, kind, offsetof(type, margin.member), preset, least, most, NULL, text, role    \
    }
#define MARGIN_OPTS(type, tolerance)                                                       \
    MARGIN_OPT(type, "C", WEFT_REAL, c, "1", 1e-9, 1e9,                                    \
               "weight of the losses against the penalty", WEFT_PER_TRIAL),                \
        MARGIN_OPT(type, "tol", WEFT_REAL, tol, tolerance, 1e-9, 1,                        \
                   "share of the optimum's gain over a constant that a fit may lack",      \
                   WEFT_PER_TRIAL),                                                        \
        MARGIN_OPT(type, "limit", WEFT_INT, limit, "1000", 1, 1e9, "epochs at most",       \
                   WEFT_FIXED),                                                            \
        MARGIN_OPT(                                                                        \
            type, "partitions", WEFT_INT, partitions, "2", 1, 4096,                        \
            "groups of feature maps fitted at the same time (ranks that take part)",       \
            WEFT_FIXED)

/* Loss at a margin y s, of one sample. */
double margin_loss(margin_kind kind, double margin);
double margin_slope(margin_kind kind, double margin); /* its derivative, at most 0 */

/* C loss's conjugate at -a, which is finite for 0 <= a (<= C); its first and second
 * derivative in a. */
double margin_conj(const margin_problem *p, double a);
double margin_conj_slope(const margin_problem *p, double a);
double margin_conj_curve(const margin_problem *p, double a);
/* argmin over t of 1/2 q (t - a)^2 + m (t - a) + conj(t): the best dual variable of a
 * sample with |x|^2 = q and margin m where it is a. */
double margin_best(const margin_problem *p, double q, double m, double a);

/* Sum over all ranks' rows of x[n], in any order the same; NaN where one is not finite.
 * Collective. */
double margin_sum(const weft_matrix *f, const double *x);
/* Fits all outputs (one against the rest) and their intercepts. Collective. */
void margin_fit(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                int classes, real *w, weft_fitted *out, weft_arena *tmp);
/* Score of one sample for weft_model: sum of the losses of all outputs, and what the
 * largest score says. */
double margin_score(margin_kind kind, int classes, const double *s, int y, int *wrong);
int margin_outputs(int classes);

/* One output: labels `one` against the rest, and the best constant score b for them: what
 * it has above the optimum is what a fit can gain. */
typedef struct margin_output {
    int one;
    int alike; /* 1: no sample is of it, or all are: the best constant is the fit */
    double b, objective; /* of the best constant, the penalty on b included */
} margin_output;

/* Penalty on a weight or intercept. */
double margin_penalty(const margin_problem *p, double w);

/* The output of class `one` with `own` samples, and `others` of other classes. Local. */
margin_output margin_output_of(const margin_problem *p, int one, double own, double others);

/* Share of the gain over the best constant, whose objective is `best`, that a fit of this
 * objective lacks if it is `above` the optimum. A gain that is rounding counts as one that
 * can just be told from it, so that fits to what carries no information end. */
double margin_share(const margin_problem *p, double best, double objective, double above);

/* Fit one output; out->objective is the sum over samples. */
typedef struct dual_rows dual_rows;
dual_rows *dual_rows_of(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                        int outputs, weft_arena *mem);
enum { DUAL_WIDE = WEFT_SPARSE_WIDE }; /* outputs that dual_fit takes */
void dual_fit(const margin_problem *p, const dual_rows *x, int outputs,
              const margin_output *of, int64_t d, real *w, real *intercept,
              weft_fitted *out, weft_arena *tmp);
void newton_fit(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                const margin_output *k, real *w, real *intercept, weft_fitted *out,
                weft_arena *tmp);
/* Rows dealt to partitions: a partition is visited row by row by one rank, different
 * partitions at the same time. A group of rows (of one feature map) is in one partition;
 * which, depends on the groups' sizes only, so neither partitions nor the order in them
 * depend on the number of ranks.
 */
struct dual_rows {
    weft_team *team;
    int64_t d, total;       /* columns; rows over all ranks */
    int groups, partitions; /* groups of rows; partitions in use */
    int first, last;        /* this rank's partitions [first, last) */
    int *segment;           /* [last-first+1] partition's groups: segment .. next - 1 */
    int64_t *start;         /* [groups+1] group's rows: order[start] .. order[next - 1] */
    int *group;             /* [groups] names, for random numbers */
    int64_t *order;         /* rows of x */
    weft_sparse x;
    /* Of fits of many outputs; NULL: x has all columns as they are. */
    uint32_t *column;     /* [d] columns of x as the matrix names them */
    weft_sparse lone;     /* entries in columns of one row, which x lacks */
    double *own;          /* [x.n] sum of their squares */
    const int32_t *label; /* [x.n] */
};

/* Sets apart the columns of one row and numbers the others anew. Collective. */
void dual_columns(dual_rows *d, const weft_matrix *f, weft_arena *mem);

/* Rank that visits a partition. */
int dual_owner(const weft_team *t, int partitions, int partition);

#endif
