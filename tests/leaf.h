/* JSON of LEAF with a single user. Included by t_leaf*.c. */
#ifndef WEFT_TEST_LEAF_H
#define WEFT_TEST_LEAF_H

#include "scratch.h"

/* samples: its num_samples; x, y: their elements. */
#define ONE(samples, x, y)                                                                 \
    "{\"users\": [\"ann\"], \"num_samples\": [" samples "], \"user_data\": {\"ann\": "     \
    "{\"x\": [" x "], \"y\": [" y "]}}}"

#endif
