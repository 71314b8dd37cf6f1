/* The first of x[n] that is not a finite number. */
#include "weft/finite.h"

#include <float.h>
#include <math.h>

int64_t weft_not_finite(const float *x, int64_t n)
{
    enum { BLOCK = 64 }; /* without branches, so that vectors do it */
    int64_t i = 0;
    for (int odd = 0; n - i >= BLOCK; i += BLOCK) {
        for (int k = 0; k < BLOCK; k++) odd |= !(fabsf(x[i + k]) <= FLT_MAX);
        if (odd) break;
    }
    while (i < n && isfinite(x[i])) i++;
    return i;
}
