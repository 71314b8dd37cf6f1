/* Training rows of a packed data set, in the basis of its principal directions. */
#ifndef WEFT_TASK_FLOW_DATA_H
#define WEFT_TASK_FLOW_DATA_H

#include "flow.h"
#include "weft/task.h"

/* Computes n, p, s, c, and the variance of the noise if *variance < 0, by one
 * eigendecomposition. normalize 1: S is divided by its largest eigenvalue
 * The same bits on any number of ranks: sums over rows are exact, of products of WEFT_BLOCK
 * rows each. ECONF no such response, or no samples left to estimate the variance; ELIMIT
 * beyond order 8000 or `memory` bytes. Collective over team. Cost n p m + 9 m^3. */
WEFT_CHECKED weft_status flow_data_open(flow_data *data, const weft_env *env,
                                        const char *response, int normalize,
                                        flow_problem *problem);
/* Coefficients of the columns, [d] (0 for the response's), for rows as they are in the
 * file, and *intercept. Collective over team. */
void flow_data_weights(flow_data *data, const flow_problem *problem, const double *gain,
                       double *weight, double *intercept);
/* Mean squared error of these on a part. Collective over team. */
double flow_data_score(const flow_data *data, weft_part part, const real *weight,
                       double intercept, weft_arena *tmp);

#endif
