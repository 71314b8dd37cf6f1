/* Dual variables of logistic regression, those of one row for several outputs in the lanes
 * of a vector: model/loss.c has the formulas for one. Written once for all widths; included
 * by the kernel_*.c after kernel_double.h. */

/* The next t, given the derivative g there: Newton's step, which changes t where the
 * quadratic term dominates the derivative, else its odds t / u, by a factor near exp(-r)
 * that is positive. */
INLINE D dual_newton(double c, double q, D t, D g, D *r)
{
    const D u = c - t, v = t * u, move = g / (c + q * v);
    *r = c * move;
    const D size = wide_abs(*r), ratio = 1 + size + 0.5 * size * size;
    const DBITS down = (DBITS)(g > 0);
    const D a = wide_pick(down, t, t * ratio), b = wide_pick(down, u * ratio, u);
    return wide_pick((DBITS)(q * v > c), t - move * v, c * a / (a + b));
}

/* DW dual variables, as weft_logistic_best. A lane that has ended is left alone, so that
 * its bits do not depend on the others'. */
INLINE void best_part(double c, double q, const double *margin, double *a, double *share)
{
    enum { STEPS = 60 };
    const double edge = 1e-14 * c;
    const D m = wide_load(margin), before = wide_load(a), e = wide_exp(m);
    const DBITS old = (DBITS)(before > 0);
    D lo = wide_all(edge), hi = wide_all(c - edge);
    D t = wide_pick(old, before, c / (1 + e + c * q / (1 + wide_abs(m))));
    t = wide_cut(t, lo, hi);
    DBITS open = ~(DBITS){0};
    for (int k = 0; k < STEPS && wide_any(open); k++) {
        const D g = q * (t - before) + m + wide_log(t / (c - t));
        if (k == 0) {
            const D part = wide_pick(old, 0.5 * (t - c / (1 + e)) * g, wide_all(c));
            memcpy(share, &part, sizeof part);
        }
        hi = wide_pick((DBITS)(g > 0), t, hi);
        lo = wide_pick((DBITS)(g > 0), lo, t);
        D r, next = dual_newton(c, q, t, g, &r);
        const DBITS inside = (DBITS)(next > lo) & (DBITS)(next < hi);
        next = wide_pick(inside, next, 0.5 * (lo + hi));
        const D near = 1e-8 * wide_least(t, c - t);
        const DBITS ends =
            (inside & (DBITS)(wide_abs(r) <= 1e-4)) | (DBITS)(wide_abs(next - t) <= near);
        t = wide_pick(open, next, t);
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
        const D mk = wide_load(m + k);
        const D t = wide_cut(wide_load(a + k), wide_all(edge), wide_all(c - edge));
        const D p = t / c, less = wide_pick((DBITS)(mk < 0), -mk, wide_all(0));
        const D conjugate = t * wide_log(p) + (c - t) * wide_log(1 - p);
        const D l = c * (less + wide_log(1 + wide_exp(-wide_abs(mk))));
        memcpy(conj + k, &conjugate, sizeof conjugate);
        memcpy(loss + k, &l, sizeof l);
    }
}
