/* Renyi divergences of releases of sums with Gaussian noise, and the epsilon that follows.
 * With z ~ N(0, s^2), s the noise, and r(z) = exp((2 z - 1) / (2 s^2)), the ratio of the
 * densities of N(1, s^2) and N(0, s^2), all of them are moments
 *     E (1 - q + q r)^a    (Poisson),    E |r - 1|^l, l even    (without replacement),
 * whose integrands are smooth: the trapezoidal rule has them to rounding. */
#include "privacy/privacy.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* The orders that bounds are taken at: 1.1, 1.2 .. 10.9, 11 .. 63, 128 .. 1024. */
enum { TENTHS = 99, WHOLES = 53, NORDER = TENTHS + WHOLES + 4 };
/* Without replacement, moments up to this order are summed; beyond, their bound is. */
enum { EVEN_MOST = 256 };

static double order_of(int i)
{
    if (i < TENTHS) return 1 + (i + 1) / 10.0;
    if (i < TENTHS + WHOLES) return 11 + (i - TENTHS);
    return 128 << (i - TENTHS - WHOLES);
}

static double log_add(double a, double b)
{
    const double most = fmax(a, b);
    return most == -INFINITY ? most : most + log1p(exp(fmin(a, b) - most));
}

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* log E |1 - q + q r(z)|^a of 0 < q <= 1; q = 0: log E |r(z) - 1|^a. Both ends of the
 * integral are 12 s.d. behind its two humps, at 0 and at a. */
static double log_moment(double q, double noise, double a)
{
    const double step = noise / 16, two = 2 * noise * noise;
    double sum = -INFINITY;
    for (double z = -12 * noise; z <= a + 12 * noise; z += step) {
        const double ratio = (2 * z - 1) / two;
        const double value = q > 0       ? weft_loss_at(q, noise, z)
                             : ratio > 0 ? ratio + log(-expm1(-ratio))
                                         : log(-expm1(ratio));
        sum = log_add(sum, a * value - z * z / two);
    }
    return sum + log(1 / 16.0) - 0.5 * log(2 * pi);
}

/* (a - 1) times the divergence of order a of one release without replacement, for whole a;
 * even[l / 2] has log E |r - 1|^l for even l. */
static double log_fixed(const weft_release *release, int a, const double *even)
{
    const double two = 2 * release->noise * release->noise, first = 2 / two;
    double sum = 0;
    for (int i = 2; i <= a; i++) {
        double term = log(2) + i * (i - 1.0) / two;
        if (i == 2)
            term = fmin(term, log(4) + first + log(-expm1(-first)));
        else if (a <= EVEN_MOST)
            term = fmin(term, log(4) + 0.5 * (even[i / 2] + even[(i + 1) / 2]));
        sum = log_add(sum, i * log(release->share) + log_choose(a, i) + term);
    }
    return sum;
}

static void add_fixed(const weft_release *release, double *curve)
{
    double even[EVEN_MOST / 2 + 1] = {0};
    for (int l = 2; l <= EVEN_MOST; l += 2) even[l / 2] = log_moment(0, release->noise, l);
    for (int i = 0; i < NORDER; i++) {
        const double a = order_of(i), part = a - floor(a);
        const double low = log_fixed(release, (int)floor(a), even);
        const double high = part > 0 ? log_fixed(release, (int)ceil(a), even) : low;
        curve[i] += (double)release->times * ((1 - part) * low + part * high) / (a - 1);
    }
}

/* Adds the divergences of all orders to curve[NORDER]. */
static void add_release(const weft_release *release, double *curve)
{
    if (release->times == 0 ||
        (release->sampling != WEFT_SAMPLED_TREE && release->share <= 0))
        return;
    if (release->sampling == WEFT_SAMPLED_FIXED && release->share < 1 &&
        release->noise > 0) {
        add_fixed(release, curve);
        return;
    }
    const double two = 2 * release->noise * release->noise;
    /* the sums of a tree that a client moves: one on each level */
    const double levels =
        release->sampling == WEFT_SAMPLED_TREE ? ceil(log2((double)release->steps + 1)) : 1;
    const int all = release->sampling == WEFT_SAMPLED_TREE || release->share >= 1;
    for (int i = 0; i < NORDER; i++) {
        const double a = order_of(i);
        double one = INFINITY;
        if (release->noise > 0)
            one = all ? levels * a / two
                      : log_moment(release->share, release->noise, a) / (a - 1);
        curve[i] += (double)release->times * fmax(one, 0);
    }
}

static double epsilon_of(const double *curve, double delta)
{
    double least = INFINITY;
    for (int i = 0; i < NORDER; i++) {
        const double a = order_of(i), r = curve[i];
        /* total variation is at most sqrt(1 - exp(-KL)), and KL at most r */
        if (delta * delta + expm1(-r) > 0) return 0;
        least = fmin(least, r + log1p(-1 / a) - log(delta * a) / (a - 1));
    }
    return fmax(least, 0);
}

double weft_epsilon_renyi(int n, const weft_release *release, double delta)
{
    double curve[NORDER] = {0};
    for (int k = 0; k < n; k++) add_release(&release[k], curve);
    return epsilon_of(curve, delta);
}

double weft_epsilon(int n, const weft_release *release, double delta, weft_arena *tmp)
{
    int poisson = 1, noisy = 1;
    for (int k = 0; k < n; k++) {
        poisson &= release[k].sampling == WEFT_SAMPLED_EACH;
        noisy &= release[k].noise > 0 || release[k].times == 0;
    }
    if (!noisy) return INFINITY;
    const double exact = poisson ? weft_epsilon_loss(n, release, delta, tmp) : NAN;
    return isnan(exact) ? weft_epsilon_renyi(n, release, delta) : exact;
}
