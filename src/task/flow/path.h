/* Gains and risks along the path of a training. */
#ifndef WEFT_TASK_FLOW_PATH_H
#define WEFT_TASK_FLOW_PATH_H

#include "flow.h"

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

#endif
