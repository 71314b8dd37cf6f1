/* How likely values are by a Gaussian process, the lengths and the noise for which they are
 * most likely, and the minimiser that finds them; see gauss.h. */
#include "gauss.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

/* ---- a minimiser in a box ---- */

struct descent {
    const weft_box *box;
    double value;
    double *x, *slope;        /* [dim] where it is */
    double *next, *nextslope; /* [dim] where it may go */
    double *way, *turn;       /* [dim] scratch */
    double *inverse;          /* [dim][dim] of the Hessian */
    char *held;               /* [dim] 1: by a bound */
    int fresh;                /* 1: the inverse is still a multiple of 1 */
};

static void clip(const weft_box *box, double *x)
{
    for (int i = 0; i < box->dim; i++) x[i] = fmin(fmax(x[i], box->lo[i]), box->hi[i]);
}

/* A first step moves no variable by more than a tenth of its range. */
static void begin_anew(struct descent *descent)
{
    const weft_box *box = descent->box;
    size_t dim = (size_t)box->dim;
    double scale = INFINITY, share = 0.1;
    for (size_t i = 0; i < dim; i++)
        if (fabs(descent->slope[i]) > 0)
            scale =
                fmin(scale, share * (box->hi[i] - box->lo[i]) / fabs(descent->slope[i]));
    memset(descent->inverse, 0, dim * dim * sizeof *descent->inverse);
    for (size_t i = 0; i < dim; i++) descent->inverse[i * dim + i] = fmin(scale, 1e100);
    descent->fresh = 1;
}

/* The step way[dim]; returns the slope along it. */
static double choose_way(struct descent *descent)
{
    const weft_box *box = descent->box;
    int dim = box->dim;
    double along = 0;
    for (int i = 0; i < dim; i++) {
        double slope = descent->slope[i], x = descent->x[i];
        descent->held[i] = (x <= box->lo[i] && slope > 0) || (x >= box->hi[i] && slope < 0);
    }
    for (int i = 0; i < dim; i++) {
        descent->way[i] = 0;
        for (int j = 0; j < dim && !descent->held[i]; j++)
            if (!descent->held[j])
                descent->way[i] -= descent->inverse[i * dim + j] * descent->slope[j];
        along += descent->way[i] * descent->slope[i];
    }
    return along;
}

/* 1: a step of 1, 1/3, 1/9 ... of the way lowers the value enough; it is in next. */
static int search_line(struct descent *descent, double *value)
{
    enum { TRIES = 20 };
    const weft_box *box = descent->box;
    double enough = 1e-4, t = 1;
    for (int k = 0; k < TRIES; k++, t /= 3) {
        double along = 0;
        for (int i = 0; i < box->dim; i++)
            descent->next[i] = descent->x[i] + t * descent->way[i];
        clip(box, descent->next);
        for (int i = 0; i < box->dim; i++)
            along += descent->slope[i] * (descent->next[i] - descent->x[i]);
        if (!(along < 0)) return 0;
        *value = box->value(box->own, descent->next, descent->nextslope);
        if (*value <= descent->value + enough * along) return 1;
    }
    return 0;
}

/* The formula of Broyden, Fletcher, Goldfarb and Shanno, of the variables that moved. */
static void learn_curve(struct descent *descent)
{
    int dim = descent->box->dim;
    double *s = descent->way, *y = descent->turn, *h = descent->inverse;
    double sy = 0, yy = 0, yhy = 0;
    for (int i = 0; i < dim; i++) {
        s[i] = descent->next[i] - descent->x[i];
        y[i] = fabs(s[i]) > 0 ? descent->nextslope[i] - descent->slope[i] : 0;
        sy += s[i] * y[i];
        yy += y[i] * y[i];
    }
    if (!(sy > 1e-12 * yy) || !(yy > 0)) return;
    for (int i = 0; i < dim && descent->fresh; i++) h[i * dim + i] = sy / yy;
    descent->fresh = 0;
    double *hy = descent->nextslope; /* is copied before */
    memcpy(descent->slope, hy, (size_t)dim * sizeof *hy);
    for (int i = 0; i < dim; i++) {
        hy[i] = 0;
        for (int j = 0; j < dim; j++) hy[i] += h[i * dim + j] * y[j];
        yhy += y[i] * hy[i];
    }
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            h[i * dim + j] +=
                (1 + yhy / sy) * s[i] * s[j] / sy - (hy[i] * s[j] + s[i] * hy[j]) / sy;
    memcpy(descent->nextslope, descent->slope, (size_t)dim * sizeof *hy);
}

/* 1: it may go on. */
static int take_step(struct descent *descent)
{
    double value, along = choose_way(descent), moved = 0;
    int dim = descent->box->dim;
    if (!(along < 0) || !search_line(descent, &value)) {
        if (descent->fresh) return 0;
        begin_anew(descent);
        return 1;
    }
    double fallen = descent->value - value;
    for (int i = 0; i < dim; i++)
        moved = fmax(moved, fabs(descent->next[i] - descent->x[i]));
    learn_curve(descent);
    memcpy(descent->x, descent->next, (size_t)dim * sizeof *descent->x);
    memcpy(descent->slope, descent->nextslope, (size_t)dim * sizeof *descent->slope);
    descent->value = value;
    return fallen > descent->box->least && moved > descent->box->least;
}

double weft_box_lower(const weft_box *box, double *x, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp), dim = (size_t)box->dim;
    double *all = WEFT_NEW(tmp, double, dim *(5 + dim));
    struct descent descent = {.box = box,
                              .x = x,
                              .slope = all,
                              .next = all + dim,
                              .nextslope = all + 2 * dim,
                              .way = all + 3 * dim,
                              .turn = all + 4 * dim,
                              .inverse = all + 5 * dim,
                              .held = WEFT_NEW(tmp, char, dim)};
    clip(box, x);
    descent.value = box->value(box->own, x, descent.slope);
    begin_anew(&descent);
    for (int i = 0; i < box->most && isfinite(descent.value) && take_step(&descent);) i++;
    weft_arena_reset(tmp, mark);
    return descent.value;
}

/* ---- the evidence ---- */

/* Values at points, and all gaps of these. Pairs i > j are in the order of packed rows
 * without the diagonal. */
struct evidence {
    const weft_gauss_data *data;
    int64_t n, npair;
    double *gap;        /* [dim][npair] */
    double *square;     /* [npair] */
    double *k, *fall;   /* [npair] */
    double *root;       /* packed */
    double *turned;     /* [n][n] rows of root'^-1, row i from its place i on */
    double *z, *weight; /* [n] root^-1 y, the inverse of the covariances times y */
};

/* Priors of theta. */
struct normal {
    double mean, variance, lo, hi;
};

static struct normal prior_of(int dim, int a)
{
    if (a < dim) return (struct normal){-0.7, 1, -4, 6};
    if (a == dim) return (struct normal){0, 2.25, -4, 6};
    return (struct normal){-9, 9, -25, 0};
}

static struct evidence see(const weft_gauss_data *data, weft_arena *tmp)
{
    int64_t n = data->n, dim = data->dim, npair = n * (n - 1) / 2;
    struct evidence all = {.data = data, .n = n, .npair = npair}, *evidence = &all;
    evidence->gap = WEFT_NEW(tmp, double, dim *npair);
    evidence->square = WEFT_NEW(tmp, double, 3 * npair);
    evidence->k = evidence->square + npair;
    evidence->fall = evidence->k + npair;
    evidence->root = WEFT_NEW(tmp, double, npair + n);
    evidence->turned = WEFT_NEW(tmp, double, n *n);
    evidence->z = WEFT_NEW(tmp, double, 2 * n);
    evidence->weight = evidence->z + n;
    for (int64_t a = 0; a < dim; a++)
        for (int64_t i = 1; i < n; i++)
            weft_gauss_gaps(data->levels[a], i, data->x + a, dim, data->x[i * dim + a],
                            evidence->gap + a * npair + i * (i - 1) / 2);
    return all;
}

/* The factor, and the sum of the logarithms of its diagonal. */
static double factor(struct evidence *evidence, const double *theta)
{
    int dim = evidence->data->dim;
    double signal = exp(theta[dim]), noise = exp(theta[dim + 1]), sum = 0;
    memset(evidence->square, 0, (size_t)evidence->npair * sizeof *evidence->square);
    for (int a = 0; a < dim; a++) {
        const double *gap = evidence->gap + a * evidence->npair;
        double narrow = exp(-2 * theta[a]);
        for (int64_t p = 0; p < evidence->npair; p++)
            evidence->square[p] += narrow * gap[p];
    }
    weft_gauss_matern(evidence->npair, evidence->square, evidence->k, evidence->fall);
    for (int64_t i = 0, p = 0; i < evidence->n; i++) {
        double *row = weft_gauss_row(evidence->root, i);
        for (int64_t j = 0; j < i; j++) row[j] = signal * evidence->k[p++];
        row[i] = signal + noise;
        weft_gauss_root(evidence->root, i);
        sum += log(row[i]);
    }
    return sum;
}

/* Row i of root'^-1, which is column i of root^-1. */
static void turn_row(struct evidence *evidence, int64_t i)
{
    double *own = evidence->turned + i * evidence->n;
    for (int64_t k = i; k < evidence->n; k++) {
        const double *row = weft_gauss_row(evidence->root, k);
        own[k] = ((k == i) - weft_gauss_dot(k - i, row + i, own + i)) / row[k];
    }
}

/* The quadratic form of y. */
static double weigh(struct evidence *evidence)
{
    int64_t n = evidence->n;
    for (int64_t i = 0; i < n; i++) {
        const double *row = weft_gauss_row(evidence->root, i);
        evidence->z[i] =
            (evidence->data->y[i] - weft_gauss_dot(i, row, evidence->z)) / row[i];
    }
    for (int64_t i = 0; i < n; i++) turn_row(evidence, i);
    for (int64_t i = 0; i < n; i++)
        evidence->weight[i] =
            weft_gauss_dot(n - i, evidence->turned + i * n + i, evidence->z + i);
    return weft_gauss_dot(n, evidence->z, evidence->z);
}

/* inverse - weight weight' of points i >= j. */
static double pull_of(const struct evidence *evidence, int64_t i, int64_t j)
{
    int64_t n = evidence->n;
    const double *one = evidence->turned + i * n + i, *two = evidence->turned + j * n + i;
    return weft_gauss_dot(n - i, one, two) - evidence->weight[i] * evidence->weight[j];
}

/* The derivatives of half the quadratic form and half the logarithm of the determinant. */
static void slopes_of(struct evidence *evidence, const double *theta, double *slope)
{
    int dim = evidence->data->dim;
    double signal = exp(theta[dim]), noise = exp(theta[dim + 1]), own = 0, rest = 0;
    double *pull = evidence->square;
    for (int64_t i = 0, p = 0; i < evidence->n; i++) {
        for (int64_t j = 0; j < i; j++) pull[p++] = pull_of(evidence, i, j);
        own += pull_of(evidence, i, i);
    }
    rest = weft_gauss_dot(evidence->npair, pull, evidence->k);
    slope[dim] = signal * (rest + own / 2);
    slope[dim + 1] = noise * own / 2;
    for (int64_t p = 0; p < evidence->npair; p++) pull[p] *= evidence->fall[p];
    for (int a = 0; a < dim; a++)
        slope[a] =
            5. / 3 * signal * exp(-2 * theta[a]) *
            weft_gauss_dot(evidence->npair, pull, evidence->gap + a * evidence->npair);
}

static double value_of(void *own, const double *theta, double *slope)
{
    struct evidence *evidence = own;
    double log_2pi = 1.83787706640934548356;
    double value =
        factor(evidence, theta) + weigh(evidence) / 2 + (double)evidence->n / 2 * log_2pi;
    slopes_of(evidence, theta, slope);
    for (int a = 0; a < evidence->data->dim + 2; a++) {
        struct normal prior = prior_of(evidence->data->dim, a);
        double off = theta[a] - prior.mean;
        value += off * off / (2 * prior.variance);
        slope[a] += off / prior.variance;
    }
    return isfinite(value) ? value : INFINITY;
}

double weft_gauss_evidence(const weft_gauss_data *data, const double *theta, double *slope,
                           weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    struct evidence evidence = see(data, tmp);
    double value = value_of(&evidence, theta, slope);
    weft_arena_reset(tmp, mark);
    return value;
}

/* ---- fits ---- */

/* Start 0 is the priors' means; the others are draws around it. */
static void start_at(int dim, int start, uint64_t seed, double *theta)
{
    double spread = 1;
    for (int a = 0; a < dim + 2; a++) {
        double z[2];
        weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_TUNER, (uint64_t)start, (uint64_t)a, 0);
        weft_rng_normal_pair(&rng, z);
        theta[a] = prior_of(dim, a).mean;
        if (start > 0) theta[a] += spread * z[0];
    }
}

void weft_gauss_fit(const weft_gauss_data *data, uint64_t seed, double *theta,
                    weft_arena *tmp)
{
    enum { MANY = 100, STEPS = 50 };
    size_t mark = weft_arena_mark(tmp);
    int size = data->dim + 2, starts = data->n > MANY ? 1 : 2;
    double *lo = WEFT_NEW(tmp, double, 3 * size), *hi = lo + size, *own = hi + size;
    double best = INFINITY, least = 1e-4;
    for (int a = 0; a < size; a++) lo[a] = prior_of(data->dim, a).lo;
    for (int a = 0; a < size; a++) hi[a] = prior_of(data->dim, a).hi;
    struct evidence evidence = see(data, tmp);
    weft_box box = {size, lo, hi, value_of, &evidence, STEPS, least};
    start_at(data->dim, 0, seed, theta);
    for (int s = 0; s < starts; s++) {
        start_at(data->dim, s, seed, own);
        double value = weft_box_lower(&box, own, tmp);
        if (!(value < best)) continue;
        best = value;
        memcpy(theta, own, (size_t)size * sizeof *theta);
    }
    weft_arena_reset(tmp, mark);
}
