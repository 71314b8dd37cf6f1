/* Block conjugate gradients on the centred normal equations of ridge.h: all classes share
 * one search space, so that 10 classes take about 2.5 times fewer products than 10 separate
 * solves on random Fourier features. The directions are orthonormalised in each iteration
 * and dependent ones dropped, so that nothing breaks down when classes converge or depend
 * on each other. An iteration multiplies all directions by F^T F in one pass over F. No
 * preconditioner: the diagonal gained nothing, neither for random Fourier features nor for
 * n-grams. O'Leary, "The block conjugate gradient algorithm and related methods", Linear
 * Algebra Appl. 29, 1980; Ji, Li, "A breakdown-free block conjugate gradient method", BIT
 * 57, 2017. */
#include "ridge.h"

#include <math.h>
#include <string.h>

/* ---- the centred system, summed in a fixed order ---- */

double ridge_target(const ridge_system *system, int64_t i, int j)
{
    const weft_answers *answers = system->y;
    return answers->target          ? answers->target[i * answers->classes + j]
           : answers->label[i] == j ? 1
                                    : -1;
}

double ridge_dot(int64_t n, const double *a, const double *b)
{
    double s[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) s[k] += a[i + k] * b[i + k];
    for (; i < n; i++) s[0] += a[i] * b[i];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

void ridge_round(const ridge_system *system, double *x)
{
    for (int64_t i = 0; i < system->c * system->matrix->d; i++) x[i] = (double)(real)x[i];
}

/* q += alpha v - n (m . v) m in the columns first .. end-1, which makes q = F^T F v that
 * product; along = m . v. */
static void centre(const ridge_system *system, int64_t first, int64_t end, double along,
                   const double *v, double *q)
{
    double shift = system->total * along;
    for (int64_t k = first; k < end; k++)
        q[k] += system->alpha * v[k] - shift * system->mean[k];
}

/* q = (F_c^T F_c + alpha I) v for p <= c vectors, v[p][d] rounded to reals. Collective. */
static void multiply_vectors(ridge_system *system, int p, const double *v, double *q)
{
    int64_t d = system->matrix->d;
    for (int64_t i = 0; i < p * d; i++) system->rounded[i] = (real)v[i];
    system->matrix->normal(system->matrix, p, system->rounded, system->weight, 0, q);
    system->passes++;
    for (int j = 0; j < p; j++)
        centre(system, 0, d, ridge_dot(d, system->mean, v + j * d), v + j * d, q + j * d);
}

double ridge_norm(const ridge_system *system, const double *x)
{
    int64_t d = system->matrix->d;
    double sum = 0;
    for (int64_t k = 0; k < d; k++) {
        double last = 0;
        for (int j = 0; j < system->c; j++) {
            sum += x[j * d + k] * x[j * d + k];
            last -= x[j * d + k];
        }
        sum += last * last;
    }
    return sqrt(sum);
}

double ridge_residual(ridge_system *system, const double *w, double *r)
{
    multiply_vectors(system, system->c, w, r);
    for (int64_t i = 0; i < system->c * system->matrix->d; i++)
        r[i] = system->rhs[i] - r[i];
    return ridge_norm(system, r) / system->scale;
}

/* ---- block vectors, dealt to ranks by columns ---- */

/* Of fewer blocks of columns each rank computes all. */
enum { DEALT = 64 };

/* A vector whose length after orthogonalisation is less than this share is rounding error,
 * since products are rounded to `real`. */
static const double min_length = 1e-6;

/* Vectors are orthogonal to about 1e-15 over the square of the least such share; below this
 * square they are orthonormalised once more. */
static const double enough = 1e-6;

static int64_t blocks_of(int64_t d)
{
    return (d + WEFT_BLOCK - 1) / WEFT_BLOCK;
}

block_space block_space_new(weft_team *team, int64_t d, weft_arena *tmp)
{
    block_space space = {.d = d, .end = d, .team = team, .tmp = tmp};
    space.dealt = team->size > 1 && blocks_of(d) >= DEALT;
    if (!space.dealt) return space;
    int64_t count;
    weft_deal(d, team->rank, team->size, &space.first, &count);
    space.end = space.first + count;
    return space;
}

/* Columns of the own block that begins at k. */
static int64_t width(const block_space *space, int64_t k)
{
    return space->end - k < WEFT_BLOCK ? space->end - k : WEFT_BLOCK;
}

block_sums block_sums_new(const block_space *space, int n)
{
    return (block_sums){.n = n,
                        .of = WEFT_NEW(space->tmp, double, blocks_of(space->d) * n)};
}

void block_inner(const block_space *space, block_sums *sums, int at, int p, const double *a,
                 int c, const double *b)
{
    for (int64_t k = space->first; k < space->end; k += WEFT_BLOCK) {
        double *sum = sums->of + k / WEFT_BLOCK * sums->n + at;
        for (int i = 0; i < p; i++)
            for (int j = 0; j < c; j++)
                sum[i * c + j] =
                    ridge_dot(width(space, k), a + i * space->d + k, b + j * space->d + k);
    }
}

void block_classes(const block_space *space, block_sums *sums, int at, int c,
                   const double *a, const double *b)
{
    double x[WEFT_BLOCK], y[WEFT_BLOCK];
    for (int64_t k = space->first; k < space->end; k += WEFT_BLOCK) {
        double *sum = sums->of + k / WEFT_BLOCK * sums->n + at;
        memset(x, 0, sizeof x);
        memset(y, 0, sizeof y);
        for (int j = 0; j < c; j++) {
            const double *aj = a + j * space->d + k, *bj = b + j * space->d + k;
            sum[j] = ridge_dot(width(space, k), aj, bj);
            for (int64_t i = 0; i < width(space, k); i++) {
                x[i] += aj[i];
                y[i] += bj[i];
            }
        }
        sum[c] = ridge_dot(width(space, k), x, y);
    }
}

/* All ranks get all of x, of which each has `n` numbers for each of its columns, or for
 * each of its blocks of them. */
static void join(const block_space *space, int blocks, int64_t n, double *x)
{
    WEFT_REWIND(space->tmp);
    size_t *bytes = WEFT_NEW(space->tmp, size_t, space->team->size);
    for (int r = 0; r < space->team->size; r++) {
        int64_t first, count;
        weft_deal(space->d, r, space->team->size, &first, &count);
        bytes[r] = (size_t)((blocks ? blocks_of(count) : count) * n) * sizeof *x;
    }
    weft_join_bytes(space->team, x, bytes);
}

void block_total(const block_space *space, const block_sums *sums, double *total)
{
    int64_t blocks = blocks_of(space->d), n = sums->n;
    if (space->dealt) join(space, 1, n, sums->of);
    memset(total, 0, (size_t)n * sizeof *total);
    for (int64_t k = 0; k < blocks; k++)
        for (int64_t i = 0; i < n; i++) total[i] += sums->of[k * n + i];
}

void block_combine(const block_space *space, int p, double sign, const double *g,
                   const double *x, int c, double *y)
{
    for (int64_t k = space->first; k < space->end; k += WEFT_BLOCK)
        for (int j = 0; j < c; j++)
            for (int i = 0; i < p; i++) {
                double scale = sign * g[i * c + j], *to = y + j * space->d + k;
                if (scale == 0) continue;
                const double *from = x + i * space->d + k;
                for (int64_t l = 0; l < width(space, k); l++) to[l] += scale * from[l];
            }
}

void block_share(const block_space *space, int c, double *x)
{
    for (int j = 0; space->dealt && j < c; j++) join(space, 0, 1, x + j * space->d);
}

/* Pivoted Cholesky factorization of the Gram matrix g[c][c] of vectors z, scaled to length
 * 1. Rows of t[c][c], as many as returned: t z is orthonormal. *least: the smallest squared
 * share of its length that a vector kept. */
static int factor_gram(int c, const double *g, double *t, double *least, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    double *scale = WEFT_NEW(tmp, double, c), *rest = WEFT_NEW(tmp, double, c);
    double *l = WEFT_NEW(tmp, double, c *c);
    for (int i = 0; i < c; i++) {
        double square = g[i * c + i];
        rest[i] = square > 0 && isfinite(square);
        scale[i] = rest[i] > 0 ? 1 / sqrt(square) : 0;
    }
    *least = 1;
    int n = 0;
    for (; n < c; n++) {
        int i = 0;
        for (int j = 1; j < c; j++)
            if (rest[j] > rest[i]) i = j;
        if (!(rest[i] > min_length * min_length)) break;
        *least = fmin(*least, rest[i]);
        double root = sqrt(rest[i]), *row = t + n * c;
        memset(row, 0, (size_t)c * sizeof *row);
        row[i] = scale[i] / root;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < c; j++) row[j] -= l[i * c + k] / root * t[k * c + j];
        rest[i] = 0;
        for (int j = 0; j < c; j++) {
            if (!(rest[j] > 0)) continue;
            double sum = scale[i] * g[i * c + j] * scale[j];
            for (int k = 0; k < n; k++) sum -= l[i * c + k] * l[j * c + k];
            l[j * c + n] = sum / root;
            rest[j] -= l[j * c + n] * l[j * c + n];
        }
    }
    return n;
}

/* p <- n orthonormal vectors that span z[c][d]; returns n. Collective. */
static int orthonormalise(const block_space *space, int c, const double *z, double *p,
                          double *least)
{
    WEFT_REWIND(space->tmp);
    double *g = WEFT_NEW(space->tmp, double, c *c), *t = WEFT_NEW(space->tmp, double, c *c);
    block_sums sums = block_sums_new(space, c * c);
    block_inner(space, &sums, 0, c, z, c, z);
    block_total(space, &sums, g);
    int n = factor_gram(c, g, t, least, space->tmp);
    for (int i = 0; i < c; i++) /* transposed, for block_combine */
        for (int k = 0; k < n; k++) g[i * n + k] = t[k * c + i];
    for (int k = 0; k < n; k++)
        memset(p + k * space->d + space->first, 0,
               (size_t)(space->end - space->first) * sizeof *p);
    block_combine(space, c, 1, g, z, n, p);
    return n;
}

/* Cholesky QR of the Gram matrix, repeated where vectors nearly depend on each other. */
int block_basis(const block_space *space, int c, double *z, double *p, real *rounded)
{
    double least;
    size_t own = (size_t)(space->end - space->first);
    int n = orthonormalise(space, c, z, p, &least);
    if (least < enough) {
        for (int k = 0; k < n; k++)
            memcpy(z + k * space->d + space->first, p + k * space->d + space->first,
                   own * sizeof *z);
        n = orthonormalise(space, n, z, p, &least);
    }
    for (int j = 0; j < n; j++)
        for (int64_t k = j * space->d + space->first; k < j * space->d + space->end; k++) {
            rounded[k] = (real)p[k];
            p[k] = (double)rounded[k];
        }
    if (!space->dealt || n == 0) return n;
    weft_parts_buffer(space->team, (size_t)(n * space->d) * sizeof *rounded);
    weft_parts_join(space->team, rounded, n, (size_t)space->d);
    return n;
}

/* Largest ratio of the true to the recursive residual at which the latter is accepted. */
static const double max_drift = 1.1;

/* A residual below this share of the right-hand side is rounding error. */
static const double min_residual = 1e-12;

/* ---- small dense systems ---- */

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

/* y[c] -= a x. */
static void subtract(int c, double a, const double *x, double *y)
{
    for (int j = 0; j < c; j++) y[j] -= a * x[j];
}

/* b[p][c] <- (L L^T)^-1 b. */
static void solve(int p, const double *l, int c, double *b)
{
    for (int i = 0; i < p; i++) {
        for (int k = 0; k < i; k++) subtract(c, l[i * p + k], b + k * c, b + i * c);
        for (int j = 0; j < c; j++) b[i * c + j] /= l[i * p + i];
    }
    for (int i = p; i-- > 0;) {
        for (int k = i + 1; k < p; k++) subtract(c, l[k * p + i], b + k * c, b + i * c);
        for (int j = 0; j < c; j++) b[i * c + j] /= l[i * p + i];
    }
}

/* ---- convergence ---- */

/* sum over k of a_j[k] b_j[k] of the rows k of a[n][c] and b[n][c]; class j = c is minus
 * the sum of the others. */
static double class_dot(int c, int j, int n, const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < n; k++) {
        double x = 0, y = 0;
        for (int i = j < c ? j : 0; i < (j < c ? j + 1 : c); i++) {
            x += a[k * c + i];
            y += b[k * c + i];
        }
        sum += x * y;
    }
    return sum;
}

/* Of each class, x . (rhs + r): what x gains over zeros, given its residual r. Collective.
 */
static void class_gains(const ridge_system *system, const block_space *space,
                        const double *x, const double *r, double *gain)
{
    int n = system->c + 1;
    WEFT_REWIND(system->tmp);
    double *total = WEFT_NEW(system->tmp, double, 2 * n);
    block_sums sums = block_sums_new(space, 2 * n);
    block_classes(space, &sums, 0, system->c, x, system->rhs);
    block_classes(space, &sums, n, system->c, x, r);
    block_total(space, &sums, total);
    for (int j = 0; j < n; j++) gain[j] = total[j] + total[n + j];
}

/* 1: each class misses at most the tolerance of its gain, and each number to predict of
 * what is not explained, if that is less: as estimated from the steps so far or, since A -
 * alpha I is positive semidefinite, bounded by its residual, of which norm2[c+1] are the
 * squared norms. */
static int is_converged(const ridge_system *system, const double *norm2,
                        const double *first, const struct descent *done)
{
    for (int j = 0; j < system->outputs; j++) {
        double left = fmin(norm2[j] / system->alpha, descent_remaining(&done[j]));
        double gain = first[j] + descent_gained(&done[j]) + left;
        double whole = system->total * system->variance[j];
        if (system->y->target) gain = fmin(gain, whole - gain);
        double rounding = DESCENT_MIN_GAIN * whole;
        if (!isfinite(left) || left > fmax(system->tol * gain, rounding)) return 0;
    }
    return 1;
}

/* ---- the iteration ---- */

/* Directions p[np][d] and what an iteration needs. */
struct search {
    ridge_system *system;
    block_space blocks;
    int np;
    double *p, *q;    /* [c][d] directions; their products, then the next ones */
    double *g, *step; /* [c][c] the factor of P^T Q; of r along q */
    double *along;    /* [np][c] P^T r, then [np] P^T m */
    double *norm2;    /* [c+1] squared norms of the residual */
};

/* p: memory of the directions. */
static struct search search_new(ridge_system *system, double *p)
{
    int c = system->c;
    struct search search = {
        .system = system,
        .blocks = block_space_new(system->matrix->team, system->matrix->d, system->tmp),
        .p = p};
    search.q = WEFT_NEW(system->tmp, double, c * system->matrix->d);
    search.g = WEFT_NEW(system->tmp, double, c *c);
    search.step = WEFT_NEW(system->tmp, double, c *c);
    search.along = WEFT_NEW(system->tmp, double, c *(c + 1));
    search.norm2 = WEFT_NEW(system->tmp, double, c + 1);
    return search;
}

/* q = (F_c^T F_c + alpha I) p; and P^T r. Collective. */
static void multiply_directions(struct search *search, const double *r)
{
    ridge_system *system = search->system;
    int np = search->np, c = system->c;
    WEFT_REWIND(system->tmp);
    block_sums sums = block_sums_new(&search->blocks, np * (c + 1));
    block_inner(&search->blocks, &sums, 0, np, search->p, c, r);
    block_inner(&search->blocks, &sums, np * c, np, search->p, 1, system->mean);
    block_total(&search->blocks, &sums, search->along);
    system->matrix->normal(system->matrix, np, system->rounded, system->weight,
                           search->blocks.dealt, search->q);
    system->passes++;
    system->iterations++;
    for (int j = 0; j < np; j++)
        centre(system, search->blocks.first, search->blocks.end, search->along[np * c + j],
               search->p + j * system->matrix->d, search->q + j * system->matrix->d);
}

/* One iteration along the directions updates x and its residual r; search->along and
 * search->step hold the products that give its gain. Returns 0 and does nothing where the
 * system is not positive definite along them. Collective. */
static int advance(struct search *search, double *x, double *r)
{
    int np = search->np, c = search->system->c;
    size_t mark = weft_arena_mark(search->system->tmp);
    multiply_directions(search, r);
    block_sums sums = block_sums_new(&search->blocks, np * np);
    block_inner(&search->blocks, &sums, 0, np, search->p, np, search->q);
    block_total(&search->blocks, &sums, search->g);
    weft_arena_reset(search->system->tmp, mark);
    if (!factor(np, search->g)) return 0;
    memcpy(search->step, search->along, (size_t)(np * c) * sizeof *search->step);
    solve(np, search->g, c, search->step);
    block_combine(&search->blocks, np, 1, search->step, search->p, c, x);
    block_combine(&search->blocks, np, -1, search->step, search->q, c, r);
    return 1;
}

/* The next directions span r - P G^-1 Q^T r, of no P those of steepest descent; also the
 * norms of r. Collective. */
static void redirect(struct search *search, const double *r)
{
    const ridge_system *system = search->system;
    int np = search->np, c = system->c;
    WEFT_REWIND(system->tmp);
    size_t own = (size_t)(search->blocks.end - search->blocks.first);
    double *total = WEFT_NEW(system->tmp, double, np *c + c + 1);
    block_sums sums = block_sums_new(&search->blocks, np * c + c + 1);
    block_inner(&search->blocks, &sums, 0, np, search->q, c, r);
    block_classes(&search->blocks, &sums, np * c, c, r, r);
    block_total(&search->blocks, &sums, total);
    memcpy(search->norm2, total + np * c, (size_t)(c + 1) * sizeof *total);
    solve(np, search->g, c, total);
    for (int64_t at = search->blocks.first; at < c * system->matrix->d;
         at += system->matrix->d)
        memcpy(search->q + at, r + at, own * sizeof *r);
    block_combine(&search->blocks, np, -1, total, search->p, c, search->q);
    search->np = block_basis(&search->blocks, c, search->q, search->p, system->rounded);
}

/* Frobenius norm of the residual, with the last class. */
static double norm_of(const struct search *search)
{
    double sum = 0;
    for (int j = 0; j <= search->system->c; j++) sum += search->norm2[j];
    return sqrt(sum);
}

/* Iterates from x with residual r until all classes have converged; returns the norm of the
 * recursive residual. Collective. */
static double iterate(ridge_system *system, double *x, double *r)
{
    WEFT_REWIND(system->tmp);
    int c = system->c;
    double *first = WEFT_NEW(system->tmp, double, c + 1);
    struct search search =
        search_new(system, WEFT_NEW(system->tmp, double, c * system->matrix->d));
    struct descent *done = WEFT_NEW(system->tmp, struct descent, c + 1);
    class_gains(system, &search.blocks, x, r, first);
    redirect(&search, r);
    while (search.np > 0 && system->iterations < system->limit &&
           !is_converged(system, search.norm2, first, done)) {
        if (!advance(&search, x, r)) break;
        for (int j = 0; j <= c; j++)
            descent_add(&done[j], class_dot(c, j, search.np, search.along, search.step));
        redirect(&search, r);
    }
    block_share(&search.blocks, c, x);
    return norm_of(&search);
}

/* The start: x, or zeros where these have the smaller objective. Collective. */
static void start(ridge_system *system, double *x, double *r)
{
    int64_t n = system->c * system->matrix->d;
    double length = ridge_norm(system, x);
    if (length > 0 && isfinite(length)) {
        WEFT_REWIND(system->tmp);
        block_space space =
            block_space_new(system->matrix->team, system->matrix->d, system->tmp);
        double *class = WEFT_NEW(system->tmp, double, system->c + 1), gain = 0;
        ridge_residual(system, x, r);
        class_gains(system, &space, x, r, class);
        for (int j = 0; j < system->outputs; j++) gain += class[j];
        if (gain > 0) return;
    }
    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(r, system->rhs, (size_t)n * sizeof *r);
}

double ridge_cg(ridge_system *system, double *x, double *r)
{
    start(system, x, r);
    double residual = INFINITY, before, recursive;
    do {
        before = residual;
        recursive = iterate(system, x, r) / system->scale;
        ridge_round(system, x);
        if (!isfinite(ridge_norm(system, x))) return NAN;
        residual = ridge_residual(system, x, r);
    } while (residual > max_drift * recursive && residual < before / 2 &&
             system->iterations < system->limit);
    return residual;
}

/* Goes on from the directions p[np][d] of residual r, complete on all ranks. Collective. */
static void resume(struct search *search, int np, const double *r)
{
    ridge_system *system = search->system;
    WEFT_REWIND(system->tmp);
    search->np = np;
    for (int64_t i = 0; i < np * system->matrix->d; i++)
        system->rounded[i] = (real)search->p[i];
    block_sums sums = block_sums_new(&search->blocks, system->c + 1);
    block_classes(&search->blocks, &sums, 0, system->c, r, r);
    block_total(&search->blocks, &sums, search->norm2);
}

int ridge_cg_continue(ridge_system *system, int iterations, double *x, double *r, int np,
                      double *p)
{
    WEFT_REWIND(system->tmp);
    if (np < 0) start(system, x, r);
    struct search search = search_new(system, p);
    if (np < 0)
        redirect(&search, r);
    else
        resume(&search, np, r);
    while (search.np > 0 && system->iterations < iterations &&
           norm_of(&search) > min_residual * system->scale)
        if (advance(&search, x, r))
            redirect(&search, r);
        else
            search.np = 0;
    block_share(&search.blocks, system->c, x);
    block_share(&search.blocks, system->c, r);
    for (int64_t i = 0; i < search.np * system->matrix->d; i++)
        p[i] = (double)system->rounded[i];
    return search.np;
}
