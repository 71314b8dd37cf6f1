/* Exact sums over a team of numbers whose bound is not known beforehand: first their
 * largest magnitude is determined, then they are converted to integers (math/numbers.c). A
 * term that is not finite makes the sum NAN. */
#include "weft/exact.h"
#include "weft/team.h"

#include <math.h>

static double larger(double most, double x)
{
    double size = fabs(x);
    if (size <= most) return most;
    return isfinite(size) ? size : INFINITY;
}

double weft_largest(weft_team *team, const real *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = larger(most, (double)x[i]);
    weft_max_f64(team, &most, 1);
    return most;
}

double weft_largest_f64(weft_team *team, const double *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = larger(most, x[i]);
    weft_max_f64(team, &most, 1);
    return most;
}

void weft_sum_whole(weft_team *team, int64_t *x, size_t n, int scale, double bound,
                    double *sum)
{
    weft_sum_i64(team, x, n);
    for (size_t i = 0; i < n; i++) sum[i] = isfinite(bound) ? weft_unfix(x[i], scale) : NAN;
}
