/* The rounds of all jobs. */
#ifndef WEFT_RESULT_ROUNDS_H
#define WEFT_RESULT_ROUNDS_H

#include "history.h"

/* Writes /rounds and /mix if jobs consist of rounds. */
WEFT_CHECKED weft_status weft_put_rounds(weft_h5 *file, const weft_history *history);

#endif
