/* Samples whose classes and columns are told by name. Private to data. */
#ifndef WEFT_DATA_MATCH_H
#define WEFT_DATA_MATCH_H

#include "federation.h"

/* label[n] by their new numbers class_of[], in mem. */
const int32_t *weft_match_labels(const int32_t *label, int64_t n, const int32_t *class_of,
                                 weft_arena *mem);
/* x[n][d] whose column j is column column_of[j] of before (NULL: j), moved by move[j]
 * (NULL: not), in mem. */
const float *weft_match_columns(const float *x, int64_t n, int64_t d,
                                const int64_t *column_of, const weft_move *move,
                                weft_arena *mem);

#endif
