/* Least squares in its principal directions: the effect of gradient flow, gradient descent
 * and ridge regression on each of them, and the risk. Private to task flow, and to its
 * test. Letters are those of the paper: S = X^T X / n = V diag(s) V^T, beta_0 the
 * coefficients that made the responses y = X beta_0 + noise of variance sigma^2. Ali,
 * Kolter, Tibshirani, "A continuous-time view of early stopping for least squares", AISTATS
 * 2019. */
#ifndef WEFT_TASK_FLOW_FLOW_H
#define WEFT_TASK_FLOW_FLOW_H

#include "weft/task/task.h"

/* The problem. */
typedef struct flow_problem {
    int64_t p, n;    /* features, samples */
    int m;           /* principal directions: p, or min(p, n) of data */
    double *s;       /* [m] eigenvalues of S, falling; below rounding: 0 */
    double *c;       /* [m] (v_i^T beta_0)^2; 0 where s is, on data */
    double variance; /* sigma^2 */
    double weight;   /* of a direction in the loss: 0: 1, estimation; 1: s_i, prediction */
} flow_problem;

typedef enum flow_method { FLOW_FLOW, FLOW_DESCENT, FLOW_RIDGE } flow_method;

/* A configuration. */
typedef struct flow_setting {
    int method;       /* flow_method */
    double step;      /* e */
    double lambda;    /* penalty */
    int64_t features; /* principal directions that are fitted, the largest s first; 0: all
                       */
} flow_setting;

/* Training rows of a packed data set, with centred columns, in the basis of its principal
 * directions. */
typedef struct flow_data {
    const weft_data *data;
    weft_team *team;
    int64_t d;        /* columns of the data */
    int64_t response; /* column that is the response; -1: the label */
    int64_t p, n;
    int dual;       /* 1: n < p, eigenvectors of X X^T */
    double largest; /* magnitude of a feature */
    double *mean;   /* [d] of the columns, and of the response: */
    double mean_y;
    double unit;    /* s_1, before all are divided by it */
    double *vector; /* [m][m], rows are eigenvectors; rank 0 of the team only */
    double *z;      /* [m] v_i^T X^T y / n */
} flow_data;

/* ---- path.c: gains and risks along the path of a training ---- */

/* Gains g_i of the directions, the coefficients being g_i v_i^T S^+ X^T y / n, after r
 * units of training from gains `base`: g_i = f_i base_i + (1 - f_i) s_i / (s_i + lambda),
 * with f_i = exp(-r e (s_i + lambda)) of the flow, (1 - e (s_i + lambda))^r of descent,
 * 0 of ridge (1 where r = 0); g_i = 0 beyond the features that are fitted and where s_i =
 * 0. base, gain  [m], may be the same. Not finite where descent diverged. Cost O(m). */
void flow_train(const flow_problem *problem, const flow_setting *set, double r,
                const double *base, double *gain);
/* Risk of gains, the mean over the noise:
 *     sum_i w_i (c_i (1 - g_i)^2 + sigma^2 / n g_i^2 / s_i)
 * with w_i = 1, E|b - beta_0|^2, or s_i, E|X (b - beta_0)|^2 / n. INFINITY where not
 * finite. Cost O(m). */
double flow_risk(const flow_problem *problem, const double *gain);
/* Mean over the noise of |y - X b|^2 / n. Cost O(m). */
double flow_training_loss(const flow_problem *problem, const double *gain);
/* Distance of gains from those at the end of training, relative to these. */
double flow_residual(const flow_problem *problem, const flow_setting *set,
                     const double *gain);
/* Minimum of the risk over all configurations trained from the start with 1, 2 ... `most`
 * units: those of a list or grid, or those in the box of the axes of [flow], up to
 * rounding. `set` has the values of options that are not axes. NAN if that needs more than
 * 1e10 gains, or if an axis of the box has a condition. */
double flow_optimum(const flow_problem *problem, const weft_space *space,
                    const flow_setting *set, double most, weft_arena *tmp);
/* Replaces values of `set` by those of the configuration. */
flow_setting flow_setting_of(const weft_space *space, const double *conf,
                             const flow_setting *set);

/* ---- data.c: training rows in the basis of their principal directions ---- */

/* Computes n, p, s, c, and the variance of the noise if *variance < 0, by one
 * eigendecomposition. S is divided by its largest eigenvalue. The same bits on
 * any number of ranks: sums over rows are exact, of products of WEFT_BLOCK rows each. ECONF
 * no such response, or no samples left to estimate the variance; ELIMIT beyond order 8000
 * or the memory. Collective over team. Cost n p m + 9 m^3. */
WEFT_CHECKED weft_status flow_data_open(flow_data *data, const weft_env *env,
                                        const char *response, flow_problem *problem);
/* Coefficients of the columns, [d] (0 for the response's), for rows as they are in the
 * file, and *intercept. Collective over team. */
void flow_data_weights(flow_data *data, const flow_problem *problem, const double *gain,
                       double *weight, double *intercept);
/* Mean squared error of these on a part. Collective over team. */
double flow_data_score(const flow_data *data, weft_part part, const real *weight,
                       double intercept, weft_arena *tmp);

#endif
