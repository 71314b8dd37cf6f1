/* The measurements in the notes of results. */
#ifndef WEFT_RESULT_METRICS_H
#define WEFT_RESULT_METRICS_H

#include "history.h"

/* Writes /metrics, one dataset for each name in the notes of results, if there are notes.
 */
WEFT_CHECKED weft_status weft_put_metrics(weft_h5 *file, const weft_history *history);

#endif
