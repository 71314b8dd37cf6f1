/* Small numerical functions: exact sums, numbers that are not finite, quantiles of
 * Student's distribution, eigenvalues. */
#include "weft/base/base.h"
#include "weft/math/linear.h"

#include <float.h>
#include <math.h>

/* ---- sums that do not depend on their order ---- */

/* Numbers are rounded to integers in a unit that a bound on the sum of magnitudes gives
 * beforehand. */

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

/* ---- numbers that are not finite ---- */

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

/* ---- Student's distribution ---- */

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

/* ---- eigenvalues ---- */

/* By divide and conquer (LAPACK's dsyevd), on this rank only. */

void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
             double *w, double *work, const int *lwork, int *iwork, const int *liwork,
             int *info);

double weft_eigen_bytes(int n)
{
    double m = n;
    return 8 * (1 + 6 * m + 2 * m * m) + 4 * (3 + 5 * m);
}

void weft_eigen(int n, double *a, double *value, weft_arena *tmp)
{
    if (n == 0) return;
    WEFT_REWIND(tmp);
    int ask = -1;
    double room;
    int iroom, info;
    dsyevd_("V", "U", &n, a, &n, value, &room, &ask, &iroom, &ask, &info);
    int most = (int)room;
    double *work = WEFT_NEW(tmp, double, most);
    int *iwork = WEFT_NEW(tmp, int, iroom);
    dsyevd_("V", "U", &n, a, &n, value, work, &most, iwork, &iroom, &info);
    weft_check(info == 0, "dsyevd of order %d ends with %d", n, info);
}
