/* Quantiles of Student's distribution. */
#include "weft/student.h"

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
