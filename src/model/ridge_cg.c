/* Block conjugate gradients on the centred normal equations: all classes share one search
 * space, so that 10 classes take about 2.5 times fewer products than 10 separate solves on
 * random Fourier features. The directions are orthonormalised in each iteration and
 * dependent ones dropped, so that nothing breaks down when classes converge or depend on
 * each other. An iteration multiplies all directions by F^T F in one pass over F. No
 * preconditioner: the diagonal gained nothing, neither for random Fourier features nor for
 * n-grams. O'Leary, "The block conjugate gradient algorithm and related methods", Linear
 * Algebra Appl. 29, 1980; Ji, Li, "A breakdown-free block conjugate gradient method", BIT
 * 57, 2017. Called by ridge.c. */
#include "descent.h"
#include "ridge.h"

#include <math.h>
#include <string.h>

/* Columns are worked on in strips, for the cache. Ranks deal the strips of products out,
 * and add their sums in the order of the strips, so that the bits do not depend on ranks;
 * of fewer strips than DEALT each rank computes all. */
enum { STRIP = 1024, DEALT = 16 };

/* A direction whose length after orthogonalisation is less than this share is rounding
 * error, since products are rounded to `real`. */
static const double min_length = 1e-6;

/* Largest ratio of the true to the recursive residual at which the latter is accepted. */
static const double max_drift = 1.1;

/* A residual below this share of the right-hand side is rounding error. */
static const double min_residual = 1e-12;

/* ---- few long vectors, [p][d] -------------------------------------------------------- */

static void axpy(int64_t n, double a, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

static int64_t strips_of(const ridge_system *s)
{
    return (s->f->d + STRIP - 1) / STRIP;
}

static int is_dealt(const ridge_system *s)
{
    return s->f->team->size > 1 && strips_of(s) >= DEALT;
}

/* The columns first .. end-1 that this rank works on: whole strips. */
static void own_columns(const ridge_system *s, int64_t *first, int64_t *end)
{
    const weft_team *t = s->f->team;
    *first = is_dealt(s) ? STRIP * (strips_of(s) * t->rank / t->size) : 0;
    *end = is_dealt(s) ? STRIP * (strips_of(s) * (t->rank + 1) / t->size) : s->f->d;
    if (*end > s->f->d) *end = s->f->d;
}

/* g[p][c] = a b^T of a[p][d] and b[c][d]. Collective. */
static void inner(const ridge_system *s, int p, const double *a, int c, const double *b,
                  double *g)
{
    int64_t d = s->f->d, n = p * c, first, end;
    size_t mark = weft_arena_mark(s->tmp);
    double *sum = WEFT_NEW(s->tmp, double, strips_of(s) * n);
    own_columns(s, &first, &end);
    for (int64_t k = first; k < end; k += STRIP) {
        int64_t m = d - k < STRIP ? d - k : STRIP;
        for (int i = 0; i < p; i++)
            for (int j = 0; j < c; j++)
                sum[k / STRIP * n + i * c + j] = ridge_dot(m, a + i * d + k, b + j * d + k);
    }
    if (is_dealt(s)) weft_join_f64(s->f->team, sum, (size_t)(strips_of(s) * n));
    memset(g, 0, (size_t)n * sizeof *g);
    for (int64_t k = 0; k < strips_of(s); k++)
        for (int64_t i = 0; i < n; i++) g[i] += sum[k * n + i];
    weft_arena_reset(s->tmp, mark);
}

/* y[c][d] += sign g^T x of g[p][c] and x[p][d], in the columns first .. end-1; first is
 * that of a strip. */
static void combine_columns(int64_t d, int64_t first, int64_t end, int p, double sign,
                            const double *g, const double *x, int c, double *y)
{
    for (int64_t k = first; k < end; k += STRIP) {
        int64_t n = end - k < STRIP ? end - k : STRIP;
        for (int j = 0; j < c; j++)
            for (int i = 0; i < p; i++)
                axpy(n, sign * g[i * c + j], x + i * d + k, y + j * d + k);
    }
}

static void combine(int64_t d, int p, double sign, const double *g, const double *x, int c,
                    double *y)
{
    combine_columns(d, 0, d, p, sign, g, x, c, y);
}

/* Gives all ranks the columns of x[c][d] that the others keep. Collective. */
static void share_columns(const ridge_system *s, double *x)
{
    int64_t d = s->f->d, first, end;
    if (!is_dealt(s)) return;
    own_columns(s, &first, &end);
    for (int j = 0; j < s->c; j++) {
        memset(x + j * d, 0, (size_t)first * sizeof *x);
        memset(x + j * d + end, 0, (size_t)(d - end) * sizeof *x);
    }
    weft_join_f64(s->f->team, x, (size_t)(s->c * d));
}

/* Orthonormal directions p that span z[c][d], which is used up: Gram-Schmidt, twice.
 * Returns their number. Entries are rounded to reals, so that products see what the
 * recursion sees. */
static int directions(int64_t d, int c, double *z, double *p)
{
    int found = 0;
    for (int j = 0; j < c; j++) {
        double *v = z + j * d, *to = p + found * d;
        double length = sqrt(ridge_dot(d, v, v));
        if (!(length > 0)) continue;
        for (int twice = 0; twice < 2; twice++)
            for (int i = 0; i < found; i++)
                axpy(d, -ridge_dot(d, p + i * d, v), p + i * d, v);
        double left = sqrt(ridge_dot(d, v, v));
        if (!(left > min_length * length)) continue;
        for (int64_t k = 0; k < d; k++) to[k] = (double)(real)(v[k] / left);
        found++;
    }
    return found;
}

/* ---- small dense systems ------------------------------------------------------------- */

/* g[p][p] = L L^T in place, lower. Returns 0 if g is not positive definite. */
static int factor(int p, double *g)
{
    for (int j = 0; j < p; j++) {
        for (int k = 0; k < j; k++)
            for (int i = j; i < p; i++) g[i * p + j] -= g[i * p + k] * g[j * p + k];
        if (!(g[j * p + j] > 0)) return 0;
        double root = sqrt(g[j * p + j]);
        for (int i = j; i < p; i++) g[i * p + j] /= root;
    }
    return 1;
}

/* b[p][c] <- (L L^T)^-1 b. */
static void solve(int p, const double *l, int c, double *b)
{
    for (int i = 0; i < p; i++) {
        for (int k = 0; k < i; k++) axpy(c, -l[i * p + k], b + k * c, b + i * c);
        for (int j = 0; j < c; j++) b[i * c + j] /= l[i * p + i];
    }
    for (int i = p; i-- > 0;) {
        for (int k = i + 1; k < p; k++) axpy(c, -l[k * p + i], b + k * c, b + i * c);
        for (int j = 0; j < c; j++) b[i * c + j] /= l[i * p + i];
    }
}

/* ---- convergence --------------------------------------------------------------------- */

/* sum over k of a_j[k] b_j[k], a[n][ld] and b[n][ld] by rows k; class j = c is minus the
 * sum of the others. */
static double class_dot(int c, int j, int64_t n, int64_t row, int64_t column,
                        const double *a, const double *b)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        double x = 0, y = 0;
        for (int i = j < c ? j : 0; i < (j < c ? j + 1 : c); i++) {
            x += a[k * row + i * column];
            y += b[k * row + i * column];
        }
        sum += x * y;
    }
    return sum;
}

/* 1: each class misses at most the tolerance of its gain, as estimated from the steps so
 * far or, since A - alpha I is positive semidefinite, bounded by its residual. */
static int is_converged(const ridge_system *s, const double *r, const double *first,
                        const descent *done)
{
    for (int j = 0; j <= s->c; j++) {
        double bound = class_dot(s->c, j, s->f->d, 1, s->f->d, r, r) / s->alpha;
        double left = fmin(bound, descent_remaining(&done[j]));
        double gain = first[j] + descent_gained(&done[j]) + left;
        double y = s->target_mean[j];
        double rounding = DESCENT_MIN_GAIN * (double)s->f->total * (1 - y * y);
        if (!isfinite(left) || left > fmax(s->tol * gain, rounding)) return 0;
    }
    return 1;
}

/* ---- the iteration ------------------------------------------------------------------- */

/* Scratch of an iteration. */
typedef struct scratch {
    double *q, *g, *step, *along; /* [c][d], [c][c] each */
} scratch;

static scratch scratch_new(const ridge_system *s)
{
    int64_t d = s->f->d;
    int c = s->c;
    scratch w;
    w.q = WEFT_NEW(s->tmp, double, c *d);
    w.g = WEFT_NEW(s->tmp, double, c *c);
    w.step = WEFT_NEW(s->tmp, double, c *c);
    w.along = WEFT_NEW(s->tmp, double, c *c);
    return w;
}

/* Directions of steepest descent from residual r. */
static int first_directions(const ridge_system *s, const double *r, double *p, scratch *w)
{
    int64_t d = s->f->d;
    memcpy(w->q, r, (size_t)(s->c * d) * sizeof *w->q);
    return directions(d, s->c, w->q, p);
}

/* One iteration along the np directions p updates x, in the rank's own columns only, and
 * its residual r; w->along and w->step hold the products that give its gain. Returns 0 and
 * does nothing where the system is not positive definite along them. Collective. */
static int advance(ridge_system *s, double *x, double *r, int np, double *p, scratch *w)
{
    int64_t d = s->f->d;
    int c = s->c;
    ridge_product(s, np, p, w->q);
    s->iterations++;
    inner(s, np, p, np, w->q, w->g);
    if (!factor(np, w->g)) return 0;
    inner(s, np, p, c, r, w->along);
    memcpy(w->step, w->along, (size_t)(np * c) * sizeof *w->step);
    solve(np, w->g, c, w->step);
    int64_t first, end;
    own_columns(s, &first, &end);
    combine_columns(d, first, end, np, 1, w->step, p, c, x);
    combine(d, np, -1, w->step, w->q, c, r);
    return 1;
}

/* The next directions, r - P G^-1 Q^T r, made in q. Returns their number. Collective. */
static int next_directions(const ridge_system *s, const double *r, int np, double *p,
                           scratch *w)
{
    int64_t d = s->f->d;
    int c = s->c;
    inner(s, np, w->q, c, r, w->step);
    solve(np, w->g, c, w->step);
    memcpy(w->q, r, (size_t)(c * d) * sizeof *w->q);
    combine(d, np, -1, w->step, p, c, w->q);
    return directions(d, c, w->q, p);
}

/* Iterates from x with residual r until all classes have converged. Collective. */
static void iterate(ridge_system *s, double *x, double *r)
{
    size_t mark = weft_arena_mark(s->tmp);
    int64_t d = s->f->d;
    int c = s->c;
    double *p = WEFT_NEW(s->tmp, double, c *d), *first = WEFT_NEW(s->tmp, double, c + 1);
    scratch w = scratch_new(s);
    descent *done = WEFT_NEW(s->tmp, descent, c + 1);
    for (int j = 0; j <= c; j++)
        first[j] = class_dot(c, j, d, 1, d, x, s->rhs) + class_dot(c, j, d, 1, d, x, r);
    int np = first_directions(s, r, p, &w);
    while (np > 0 && s->iterations < s->limit && !is_converged(s, r, first, done)) {
        if (!advance(s, x, r, np, p, &w)) break;
        for (int j = 0; j <= c; j++)
            descent_add(&done[j], class_dot(c, j, np, c, 1, w.along, w.step));
        np = next_directions(s, r, np, p, &w);
    }
    share_columns(s, x);
    weft_arena_reset(s->tmp, mark);
}

/* The start: x, or zeros where these have the smaller objective. Collective. */
static void start(ridge_system *s, double *x, double *r)
{
    int64_t n = s->c * s->f->d;
    double length = ridge_norm(s, x);
    if (length > 0 && isfinite(length)) {
        ridge_residual(s, x, r);
        double gain = 0;
        for (int j = 0; j <= s->c; j++)
            gain += class_dot(s->c, j, s->f->d, 1, s->f->d, x, s->rhs) +
                    class_dot(s->c, j, s->f->d, 1, s->f->d, x, r);
        if (gain > 0) return;
    }
    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(r, s->rhs, (size_t)n * sizeof *r);
}

double ridge_cg(ridge_system *s, double *x, double *r)
{
    start(s, x, r);
    double residual = INFINITY, before, recursive;
    do {
        before = residual;
        iterate(s, x, r);
        recursive = ridge_norm(s, r) / s->scale;
        ridge_round(s, x);
        if (!isfinite(ridge_norm(s, x))) return NAN;
        residual = ridge_residual(s, x, r);
    } while (residual > max_drift * recursive && residual < before / 2 &&
             s->iterations < s->limit);
    return residual;
}

int ridge_cg_continue(ridge_system *s, int iterations, double *x, double *r, int np,
                      double *p)
{
    size_t mark = weft_arena_mark(s->tmp);
    scratch w = scratch_new(s);
    if (np < 0) {
        start(s, x, r);
        np = first_directions(s, r, p, &w);
    }
    while (np > 0 && s->iterations < iterations &&
           ridge_norm(s, r) > min_residual * s->scale)
        np = advance(s, x, r, np, p, &w) ? next_directions(s, r, np, p, &w) : 0;
    share_columns(s, x);
    weft_arena_reset(s->tmp, mark);
    return np;
}
