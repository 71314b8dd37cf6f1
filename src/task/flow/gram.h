/* Gram matrices of centred data rows. Private to task flow. */
#ifndef WEFT_TASK_FLOW_GRAM_H
#define WEFT_TASK_FLOW_GRAM_H

#include "flow.h"

/* Column j of row i of a part held here: bytes in 0..1, numbers in the unit of the source,
 * less the shift of the column, which centring removes. */
double flow_value(const flow_data *data, const weft_rows *rows, int64_t i, int64_t j);
/* Column of the data that is feature j: those but for the response. */
int64_t flow_column(const flow_data *data, int64_t j);
/* sum[p] = X_c^T a over all ranks, a[n here], times 1 for a NULL and then not centred;
 * exact, so that it does not depend on the ranks. Collective. */
void flow_columns_sum(const flow_data *data, const double *a, double *sum, weft_arena *tmp);
/* The matrix X_c^T X_c, or X_c X_c^T where data->dual, [m][m], on rank 0 of the team (NULL
 * elsewhere; rank 0's lower triangle is filled). Collective. */
void flow_gram(const flow_data *data, int m, double *gram, weft_arena *tmp);

#endif
