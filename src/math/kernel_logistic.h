/* Dual variables of logistic regression, those of one row for several outputs in the lanes
 * of a vector: model/loss.c has the formulas for one. Written once for all widths; included
 * by the kernel_*.c, which define FW, the floats of a vector. Only operations that round
 * the same way on all CPUs: no fused ones. */

enum { DW = FW / 2 };
typedef double D __attribute__((vector_size(8 * DW)));
typedef uint64_t DBITS __attribute__((vector_size(8 * DW)));

/* 1.5 2^52: the last bits of a sum with it are a whole number. */
#define WHOLE 0x1.8p52
/* log 2 in two parts; products of the first with exponents are exact. */
#define LOG2_HIGH 0x1.62e42feep-1
#define LOG2_LOW  0x1.a39ef35793c76p-33

INLINE D dual_all(double x)
{
    return x - (D){0};
}

INLINE D dual_load(const double *p)
{
    D v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Where a lane of `which` is all ones a, else b. */
INLINE D dual_pick(DBITS which, D a, D b)
{
    return (D)((which & (DBITS)a) | (~which & (DBITS)b));
}

INLINE D dual_abs(D x)
{
    return (D)((DBITS)x & (UINT64_MAX >> 1));
}

INLINE D dual_least(D a, D b)
{
    return dual_pick((DBITS)(a < b), a, b);
}

/* x cut to lo .. hi. */
INLINE D dual_cut(D x, D lo, D hi)
{
    x = dual_pick((DBITS)(x > lo), x, lo);
    return dual_least(x, hi);
}

/* x > 0, not subnormal: x = 2^e f, 1/sqrt(2) <= f < sqrt(2), log f = 2 artanh s with s = (f
 * - 1) / (f + 1), whose terms from s^21 on are below 1e-16 of it. */
INLINE D dual_log(D x)
{
    const uint64_t least = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
    const DBITS i = (DBITS)x + (one - least);
    const D e = (D)((i >> 52) + (DBITS)dual_all(WHOLE)) - (WHOLE + 1023);
    const D f = (D)((i & (UINT64_MAX >> 12)) + least);
    const D s = (f - 1) / (f + 1), s2 = s * s;
    D sum = dual_all(2.0 / 19);
    UNROLL_ROWS
    for (int k = 17; k >= 3; k -= 2) sum = sum * s2 + 2.0 / k;
    return e * LOG2_HIGH + (e * LOG2_LOW + (2 * s + s * (s2 * sum)));
}

/* x is cut to +-700. Taylor's series at |r| <= log(2)/2, whose terms from r^13 on are below
 * 2e-16. */
INLINE D dual_exp(D x)
{
    x = dual_cut(x, dual_all(-700), dual_all(700));
    const D whole = x * 0x1.71547652b82fep0 + WHOLE, n = whole - WHOLE;
    const D r = x - n * LOG2_HIGH - n * LOG2_LOW;
    D sum = dual_all(1);
    UNROLL_ROWS
    for (int k = 12; k >= 1; k--) sum = sum * r * (1.0 / k) + 1;
    return (D)((DBITS)sum + ((DBITS)whole << 52));
}

/* The next t, given the derivative g there: Newton's step, which changes t where the
 * quadratic term dominates the derivative, else its odds t / u, by a factor near exp(-r)
 * that is positive. */
INLINE D dual_newton(double c, double q, D t, D g, D *r)
{
    const D u = c - t, v = t * u, move = g / (c + q * v);
    *r = c * move;
    const D size = dual_abs(*r), ratio = 1 + size + 0.5 * size * size;
    const DBITS down = (DBITS)(g > 0);
    const D a = dual_pick(down, t, t * ratio), b = dual_pick(down, u * ratio, u);
    return dual_pick((DBITS)(q * v > c), t - move * v, c * a / (a + b));
}

INLINE int dual_any(DBITS which)
{
    uint64_t any = 0;
    for (int k = 0; k < DW; k++) any |= which[k];
    return any != 0;
}

/* DW dual variables, as weft_logistic_best. A lane that has ended is left alone, so that
 * its bits do not depend on the others'. */
INLINE void best_part(double c, double q, const double *margin, double *a, double *share)
{
    enum { STEPS = 60 };
    const double edge = 1e-14 * c;
    const D m = dual_load(margin), before = dual_load(a), e = dual_exp(m);
    const DBITS old = (DBITS)(before > 0);
    D lo = dual_all(edge), hi = dual_all(c - edge);
    D t = dual_pick(old, before, c / (1 + e + c * q / (1 + dual_abs(m))));
    t = dual_cut(t, lo, hi);
    DBITS open = ~(DBITS){0};
    for (int k = 0; k < STEPS && dual_any(open); k++) {
        const D g = q * (t - before) + m + dual_log(t / (c - t));
        if (k == 0) {
            const D part = dual_pick(old, 0.5 * (t - c / (1 + e)) * g, dual_all(c));
            memcpy(share, &part, sizeof part);
        }
        hi = dual_pick((DBITS)(g > 0), t, hi);
        lo = dual_pick((DBITS)(g > 0), lo, t);
        D r, next = dual_newton(c, q, t, g, &r);
        const DBITS inside = (DBITS)(next > lo) & (DBITS)(next < hi);
        next = dual_pick(inside, next, 0.5 * (lo + hi));
        const D near = 1e-8 * dual_least(t, c - t);
        const DBITS ends =
            (inside & (DBITS)(dual_abs(r) <= 1e-4)) | (DBITS)(dual_abs(next - t) <= near);
        t = dual_pick(open, next, t);
        open &= ~ends;
    }
    memcpy(a, &t, sizeof t);
}

static void logistic_best(int n, double c, double q, const double *m, double *a,
                          double *share)
{
    for (int k = 0; k < n; k += DW) best_part(c, q, m + k, a + k, share + k);
}

static void logistic_terms(int n, double c, const double *m, const double *a, double *conj,
                           double *loss)
{
    const double edge = 1e-14 * c;
    for (int k = 0; k < n; k += DW) {
        const D mk = dual_load(m + k);
        const D t = dual_cut(dual_load(a + k), dual_all(edge), dual_all(c - edge));
        const D p = t / c, less = dual_pick((DBITS)(mk < 0), -mk, dual_all(0));
        const D conjugate = t * dual_log(p) + (c - t) * dual_log(1 - p);
        const D l = c * (less + dual_log(1 + dual_exp(-dual_abs(mk))));
        memcpy(conj + k, &conjugate, sizeof conjugate);
        memcpy(loss + k, &l, sizeof l);
    }
}
