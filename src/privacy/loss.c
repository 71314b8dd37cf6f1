/* Privacy loss distributions of sums with Poisson sampling and Gaussian noise on a grid, by
 * connecting the dots: the mass between two points of the grid is given to both so that its
 * weight under both neighbours stays, which bounds delta from above at every epsilon and is
 * exact at the points (Doroshenko et al. 2022). Releases are composed by powers of Fourier
 * transforms (Koskela, Jaelkoe, Honkela 2020). */
#include "privacy/privacy.h"

#include <complex.h>
#include <math.h>

static const double pi = 3.14159265358979323846, root2 = 1.41421356237309504880;
static const double FINEST = 1e-4; /* step of the grid of losses, */
static const double COARSEST = 1;  /* doubled until the grid has at most MOST points */
static const double TAIL = 1e-16;  /* probability that is cut off at either end */
static const double SPREAD = 8.3;  /* s.d. beyond which a normal has TAIL */
enum { MOST = 1 << 20 };

/* Masses of losses (first + i) step, i = 0 .. n-1, and of an unbounded loss. */
struct pmf {
    double step;
    int64_t first, n;
    double *p; /* [n] */
    double infinite;
};

static double loss_of(const struct pmf *one, int64_t i)
{
    return (double)(one->first + i) * one->step;
}

/* The grid from one loss to another. */
static struct pmf grid_between(double low, double high, double step)
{
    struct pmf out = {.step = step, .first = (int64_t)floor(low / step)};
    out.n = (int64_t)ceil(high / step) - out.first + 1;
    return out;
}

/* The neighbours of a release are N(0, s^2) and the mixture (1 - q) N(0, s^2) + q N(1,
 * s^2). Under the mixture the loss log(1 - q + q r(x)) grows with x, r(x) = exp((2 x - 1) /
 * (2 s^2)); under the other it is the negative of that. */
struct neighbours {
    double q, noise;
    int plain; /* 1: the loss under N(0, s^2) */
};

double weft_loss_at(double q, double noise, double x)
{
    const double ratio = (2 * x - 1) / (2 * noise * noise);
    if (ratio > 0) return ratio + log(q + (1 - q) * exp(-ratio));
    return log1p(q * expm1(ratio));
}

/* The x at which the mixture has that loss; -INFINITY: at none, it is larger at all. */
static double place_of(const struct neighbours *pair, double loss)
{
    const double excess = expm1(loss) / pair->q; /* r - 1 */
    return excess <= -1 ? -INFINITY : pair->noise * pair->noise * log1p(excess) + 0.5;
}

/* P(a < N(mean, s^2) <= b), exact in both tails */
static double normal_between(double a, double b, double mean, double s)
{
    const double from = (a - mean) / (s * root2), to = (b - mean) / (s * root2);
    return from > 0 ? 0.5 * (erfc(from) - erfc(to)) : 0.5 * (erfc(-to) - erfc(-from));
}

/* The grid between the losses that each tail of TAIL lies beyond. */
static struct pmf grid_of(const struct neighbours *pair, double step)
{
    const double from = weft_loss_at(pair->q, pair->noise, -SPREAD * pair->noise);
    const double to =
        weft_loss_at(pair->q, pair->noise, SPREAD * pair->noise + (pair->plain ? 0 : 1));
    return pair->plain ? grid_between(-to, -from, step) : grid_between(from, to, step);
}

/* Fills the masses of a grid. */
static void fill_masses(const struct neighbours *pair, struct pmf *out)
{
    const double q = pair->q, s = pair->noise, sign = pair->plain ? -1 : 1;
    double x = -sign * INFINITY; /* the end of the interval before */
    for (int64_t i = 0; i <= out->n; i++) {
        const double next =
            i < out->n ? place_of(pair, sign * loss_of(out, i)) : sign * INFINITY;
        const double a = fmin(x, next), b = fmax(x, next);
        const double plain = normal_between(a, b, 0, s);
        const double mixed = (1 - q) * plain + q * normal_between(a, b, 1, s);
        const double mass = pair->plain ? plain : mixed,
                     other = pair->plain ? mixed : plain;
        x = next;
        if (i == out->n) {
            out->infinite = mass;
        } else if (i == 0) { /* what is below the grid */
            out->p[0] = mass;
        } else {
            /* u exp(-loss) + (mass - u) exp(step - loss) = other */
            const double u =
                (mass - exp(loss_of(out, i - 1) + log(other))) / -expm1(-out->step);
            out->p[i] = fmin(fmax(u, 0), mass);
            out->p[i - 1] += mass - out->p[i];
        }
    }
}

/* log E exp(rate loss) */
static double log_mean_exp(const struct pmf *one, double rate)
{
    const double end = loss_of(one, rate > 0 ? one->n - 1 : 0);
    double sum = 0;
    for (int64_t i = 0; i < one->n; i++)
        sum += one->p[i] * exp(rate * (loss_of(one, i) - end));
    return log(sum) + rate * end;
}

/* The part of the grid outside of which the composed loss has at most TAIL on either side:
 * Chernoff's bounds. */
static struct pmf composed_grid(int n, const struct pmf *one, const weft_release *release)
{
    double low = 0, high = 0;
    for (int k = 0; k < n; k++) {
        low += (double)release[k].times * loss_of(&one[k], 0);
        high += (double)release[k].times * loss_of(&one[k], one[k].n - 1);
    }
    for (double rate = 1.0 / 16; rate < 3000; rate *= 2) {
        double up = -log(TAIL), down = up;
        for (int k = 0; k < n; k++) {
            up += (double)release[k].times * log_mean_exp(&one[k], rate);
            down += (double)release[k].times * log_mean_exp(&one[k], -rate);
        }
        high = fmin(high, up / rate);
        low = fmax(low, -down / rate);
    }
    return grid_between(low, high, one->step);
}

/* x[n] -> its discrete Fourier transform (sign -1) or n times the inverse (1), n a power of
 * two. root[n / 2]: exp(2 pi i j / n). */
static void transform(int64_t n, double complex *x, const double complex *root, int sign)
{
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n / 2;
        for (; j & bit; bit /= 2) j ^= bit;
        j ^= bit;
        if (i < j) {
            const double complex keep = x[i];
            x[i] = x[j];
            x[j] = keep;
        }
    }
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t at = 0; at < n; at += 2 * half)
            for (int64_t j = 0; j < half; j++) {
                const double complex r = root[j * (n / 2 / half)];
                const double complex odd = x[at + half + j] * (sign > 0 ? r : conj(r));
                x[at + half + j] = x[at + j] - odd;
                x[at + j] += odd;
            }
}

static double complex power(double complex base, int64_t n)
{
    double complex out = 1;
    for (; n; n /= 2, base *= base)
        if (n % 2) out *= base;
    return out;
}

/* Fills the masses of `out`, whose grid is set, with those of all releases together. */
static void compose(int n, const struct pmf *one, const weft_release *release,
                    struct pmf *out, weft_arena *tmp)
{
    int64_t size = 2;
    while (size < out->n) size *= 2;
    double complex *root = WEFT_NEW(tmp, double complex, size / 2);
    double complex *x = WEFT_NEW(tmp, double complex, size);
    double complex *all = WEFT_NEW(tmp, double complex, size);
    for (int64_t j = 0; j < size / 2; j++)
        root[j] = cexp(2 * pi * I * (double)j / (double)size);
    for (int64_t j = 0; j < size; j++) all[j] = 1;
    double finite = 0; /* log of the probability of a bounded loss */
    for (int k = 0; k < n; k++) {
        for (int64_t j = 0; j < size; j++) x[j] = 0;
        for (int64_t i = 0; i < one[k].n; i++)
            x[(one[k].first + i) & (size - 1)] += one[k].p[i];
        transform(size, x, root, -1);
        for (int64_t j = 0; j < size; j++) all[j] *= power(x[j], release[k].times);
        finite += (double)release[k].times * log1p(-one[k].infinite);
    }
    transform(size, all, root, 1);
    out->p = WEFT_NEW(tmp, double, out->n);
    for (int64_t i = 0; i < out->n; i++)
        out->p[i] = fmax(creal(all[(out->first + i) & (size - 1)]) / (double)size, 0);
    out->infinite = -expm1(finite) + TAIL;
}

/* The least epsilon >= 0 with delta(epsilon) <= delta, where
 *     delta(e) = infinite + sum over losses l > e of p (1 - exp(e - l)). */
static double epsilon_at(const struct pmf *all, double delta)
{
    if (all->infinite > delta) return INFINITY;
    double above = all->infinite, weighed = 0; /* sums of p, of p exp(e - l) */
    double e = loss_of(all, all->n - 1);
    for (int64_t i = all->n - 1; i >= 0 && e > 0; i--) {
        e = loss_of(all, i);
        if (i < all->n - 1) weighed *= exp(-all->step);
        if (above - weighed > delta) break;
        above += all->p[i];
        weighed += all->p[i];
    }
    /* from here delta(x) = above - weighed exp(x - e) */
    return above <= delta ? 0 : fmax(e + log((above - delta) / weighed), 0);
}

/* NAN: the grid of this step is too large. */
static double epsilon_seen(int n, const weft_release *release, double delta, int plain,
                           double step, weft_arena *tmp)
{
    struct pmf *one = WEFT_NEW(tmp, struct pmf, n);
    for (int k = 0; k < n; k++) {
        const struct neighbours pair = {fmin(release[k].share, 1), release[k].noise, plain};
        one[k] = grid_of(&pair, step);
        if (one[k].n > MOST) return NAN;
        one[k].p = WEFT_NEW(tmp, double, one[k].n);
        fill_masses(&pair, &one[k]);
    }
    struct pmf all = composed_grid(n, one, release);
    if (all.n > MOST) return NAN;
    compose(n, one, release, &all, tmp);
    return epsilon_at(&all, delta);
}

double weft_epsilon_loss(int n, const weft_release *release, double delta, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    weft_release *made = WEFT_NEW(tmp, weft_release, n);
    int kinds = 0;
    for (int k = 0; k < n; k++)
        if (release[k].times > 0 && release[k].share > 0) made[kinds++] = release[k];
    double out = kinds == 0 ? 0 : NAN;
    for (double step = FINEST; isnan(out) && step <= COARSEST; step *= 2) {
        const double plain = epsilon_seen(kinds, made, delta, 1, step, tmp);
        const double mixed =
            isnan(plain) ? NAN : epsilon_seen(kinds, made, delta, 0, step, tmp);
        if (!isnan(mixed)) out = fmax(plain, mixed);
    }
    return out;
}
