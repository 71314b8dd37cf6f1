/* Intervals for scores of a population of clients of unequal size. See interval.h. */
#include "interval.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* P(|T| < sqrt(degrees) tan angle). Abramowitz, Stegun, "Handbook of Mathematical
 * Functions", 26.7.3 and 26.7.4. */
static double within(double angle, int degrees)
{
    int odd = degrees % 2;
    double c = cos(angle), s = sin(angle);
    double term = odd ? c : 1, sum = degrees == 1 ? 0 : term;
    for (int i = odd ? 3 : 2; i < degrees; i += 2) {
        term *= c * c * (i - 1) / i;
        sum += term;
    }
    return odd ? 2 / pi * (angle + s * sum) : s * sum;
}

double weft_student(int degrees)
{
    double lo = 0, hi = pi / 2;
    for (int i = 0; i < 60; i++) { /* to the last bit */
        double middle = (lo + hi) / 2;
        if (within(middle, degrees) < 0.95)
            lo = middle;
        else
            hi = middle;
    }
    return sqrt(degrees) * tan(lo);
}

weft_interval weft_interval_of(int drawn, double x, double q, double score, double around,
                               weft_population all)
{
    weft_interval interval = {score, INFINITY};
    if (drawn == 0) return interval;
    double drop = 1 / x - 1 / all.sum;
    double share = drop * drop * q + (all.square - q) / (all.sum * all.sum);
    if (!(share > 0)) interval.half = 0;
    if (!(share > 0) || drawn < 2) return interval;
    double spread = sqrt(around / (x - q / x));
    interval.half = weft_student(drawn - 1) * spread * sqrt(share);
    return interval;
}
