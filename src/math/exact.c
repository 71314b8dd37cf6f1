/* Sums that do not depend on their order: numbers rounded to integers in a unit that a
 * bound on the sum of magnitudes gives beforehand. */
#include "weft/exact.h"
#include "kernel.h"

#include <math.h>

int weft_fix_scale(double bound)
{
    if (!(bound > 0) || isinf(bound)) return 0;
    return 62 - (int)ceil(log2(bound));
}

int64_t weft_fix(double x, int scale)
{
    return llrint(ldexp(x, scale));
}

double weft_unfix(int64_t x, int scale)
{
    return ldexp((double)x, -scale);
}

/* A double takes 53 bits, so that sums of whole numbers below 2^52 are exact in doubles,
 * and adding 1.5 2^52 rounds to whole numbers: both run in vectors, as conversions to
 * 64-bit integers do not. */
enum { EXACT_BITS = 51 };

int weft_exact_scale(double bound)
{
    return weft_fix_scale(bound) - (62 - EXACT_BITS);
}

void weft_exact_add(int64_t n, const real *x, int scale, double *sum)
{
    weft_kernel_best()->exact_add(n, x, ldexp(1, scale), sum);
}
