/* Sums that do not depend on the order of their terms. */
#ifndef WEFT_EXACT_H
#define WEFT_EXACT_H

#include "weft/real.h"

#include <stdint.h>

/* Sums that do not depend on the order of their terms: numbers are added as 64-bit integers
 * in units of 2^-scale. `bound` must be at least the sum of all magnitudes over all ranks.
 */
int weft_fix_scale(double bound);      /* 62 - ceil(log2 bound); bound 0: 0 */
int64_t weft_fix(double x, int scale); /* nearest integer to x 2^scale */
double weft_unfix(int64_t x, int scale);

/* The same for long vectors, faster: sum[i] += nearest integer to x[i] 2^scale, which is
 * exact as long as `bound` is at least the sum of magnitudes. (int64_t)sum[i] is then the
 * integer to be summed over ranks. */
int weft_exact_scale(double bound); /* 51 - ceil(log2 bound) */
void weft_exact_add(int64_t n, const real *x, int scale, double *sum);

#endif
