/* Intervals for scores of a population of clients of unequal size. See interval.h. */
#include "interval.h"
#include "weft/student.h"

#include <math.h>

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
