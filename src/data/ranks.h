/* Columns that are replaced by their ranks. Private to data. */
#ifndef WEFT_DATA_RANKS_H
#define WEFT_DATA_RANKS_H

#include "weft/data.h"

/* The quantiles of the columns of the training rows, in the numbers of the source: as many
 * as there are rows, at most 1000. Not of a federation. Owned by data->mem. Collective.
 * Cost: every rank sorts its share of the columns; memory: a column. */
weft_ranks weft_ranks_of(const weft_data *data);
/* Replaces all rows, whose columns are in the order of the ranks, by these; column j was
 * column column_of[j] of the file (NULL: j). Memory: a copy of this rank's rows. */
void weft_ranks_take(weft_data *data, const weft_ranks *ranks, const int64_t *column_of);

#endif
