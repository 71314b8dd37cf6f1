/* Numbers that are not finite. */
#ifndef WEFT_FINITE_H
#define WEFT_FINITE_H

#include <stdint.h>

/* Index of the first of x[n] that is not finite, or n. Cost O(n). */
int64_t weft_not_finite(const float *x, int64_t n);

#endif
