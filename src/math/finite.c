/* The first of x[n] that is not a finite number. */
#include "weft/finite.h"

#include <math.h>

int64_t weft_not_finite(const float *x, int64_t n)
{
    int64_t i = 0;
    while (i < n && isfinite(x[i])) i++;
    return i;
}
