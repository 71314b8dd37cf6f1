/* JSON of LEAF with a single user. Included by t_leaf*.c. */
#ifndef WEFT_TEST_LEAF_H
#define WEFT_TEST_LEAF_H

#include "packing.h"

/* samples: its num_samples; x, y: their elements. */
#define ONE(samples, x, y)                                                                 \
    "{\"users\": [\"ann\"], \"num_samples\": [" samples "], \"user_data\": {\"ann\": "     \
    "{\"x\": [" x "], \"y\": [" y "]}}}"

/* Packs LEAF's JSON and opens it. */
static inline int taken(const char *source, const char *options)
{
    return packed(&weft_reader_leaf, source, options);
}

#endif
