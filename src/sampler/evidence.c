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
    WEFT_REWIND(tmp);
    size_t dim = (size_t)box->dim;
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
    int nkind;          /* of resources; 0: no curves */
    int *of;            /* [n] which one */
    double *kind;
    double *factor, *common;     /* [nkind][nkind] weft_gauss_share */
    double *byfactor, *bycommon; /* derivatives by these */
};

/* Priors of theta. */
struct normal {
    double mean, variance, lo, hi;
};

static struct normal prior_of(int dim, int a)
{
    static const struct normal other[] = {
        {0, 2.25, -4, 6},    {-9, 9, -25, 0},  {0, 1, -4, 6},   {-2.3, 2.25, -4, 6},
        {-1.4, 2.25, -4, 6}, {0, 2.25, -4, 6}, {0, 0.25, -1, 1}};
    return a < dim ? (struct normal){-0.7, 1, -4, 6} : other[a - dim];
}

static int size_of(const weft_gauss_data *data)
{
    return weft_gauss_size(data->dim, data->curves);
}

/* The resources of the points. */
static void see_kinds(struct evidence *evidence, weft_arena *tmp)
{
    const weft_gauss_data *data = evidence->data;
    int64_t width = data->dim + data->curves;
    evidence->kind = WEFT_NEW(tmp, double, data->n);
    evidence->of = WEFT_NEW(tmp, int, data->n);
    for (int64_t i = 0; i < data->n; i++)
        evidence->of[i] = weft_gauss_kind(data->x[i * width + data->dim], &evidence->nkind,
                                          evidence->kind);
    int64_t pairs = (int64_t)evidence->nkind * evidence->nkind;
    evidence->factor = WEFT_NEW(tmp, double, 4 * pairs);
    evidence->common = evidence->factor + pairs;
    evidence->byfactor = evidence->common + pairs;
    evidence->bycommon = evidence->byfactor + pairs;
}

/* Which pair of resources two points have. */
static int64_t pair_of(const struct evidence *evidence, int64_t i, int64_t j)
{
    return (int64_t)evidence->of[i] * evidence->nkind + evidence->of[j];
}

static struct evidence see(const weft_gauss_data *data, weft_arena *tmp)
{
    int64_t n = data->n, dim = data->dim, npair = n * (n - 1) / 2;
    int64_t width = dim + data->curves;
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
            weft_gauss_gaps(data->levels[a], i, data->x + a, width, data->x[i * width + a],
                            evidence->gap + a * npair + i * (i - 1) / 2);
    if (data->curves) see_kinds(evidence, tmp);
    return all;
}

/* The covariance of points i and j, of which M is that of configurations. */
static double covariance(const struct evidence *evidence, double signal, double m,
                         int64_t i, int64_t j)
{
    if (evidence->nkind == 0) return signal * m;
    int64_t pair = pair_of(evidence, i, j);
    return signal * m * evidence->factor[pair] + evidence->common[pair];
}

static void share_kinds(struct evidence *evidence, const double *theta)
{
    int n = evidence->nkind;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            weft_gauss_share(theta + evidence->data->dim + 2, evidence->kind[i],
                             evidence->kind[j], evidence->factor + i * n + j,
                             evidence->common + i * n + j);
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
    share_kinds(evidence, theta);
    for (int64_t i = 0, p = 0; i < evidence->n; i++) {
        double *row = weft_gauss_row(evidence->root, i);
        for (int64_t j = 0; j < i; j++)
            row[j] = covariance(evidence, signal, evidence->k[p++], i, j);
        row[i] = covariance(evidence, signal, 1, i, i) + noise;
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

/* Derivatives by what resources share, in place of pull by pull times factor. */
static void share_pull(struct evidence *evidence, double signal, int64_t i, double own,
                       double *pull)
{
    const double *k = evidence->k + i * (i - 1) / 2;
    for (int64_t j = 0; j <= i; j++) {
        int64_t pair = pair_of(evidence, i, j);
        double by = j < i ? pull[j] : own / 2;
        evidence->byfactor[pair] += by * signal * (j < i ? k[j] : 1);
        evidence->bycommon[pair] += by;
        if (j < i) pull[j] *= evidence->factor[pair];
    }
}

/* Derivatives by theta[5] of curves, from those by what resources share. */
static void curve_slopes(const struct evidence *evidence, const double *theta,
                         double *slope)
{
    int n = evidence->nkind;
    double shape = exp(theta[0]), scale = exp(theta[1]), own = exp(theta[2]);
    double common = exp(theta[3]), tie = theta[4];
    for (int a = 0; a < 5; a++) slope[a] = 0;
    for (int p = 0; p < n * n; p++) {
        double r[3] = {evidence->kind[p / n], evidence->kind[p % n]}, kappa[3];
        double f = evidence->byfactor[p], c = evidence->bycommon[p];
        r[2] = r[0] + r[1];
        for (int i = 0; i < 3; i++) {
            kappa[i] = exp(-shape * log1p(r[i] / scale));
            double by = i < 2 ? -tie * f : (tie * tie + own) * f + common * c;
            slope[0] -= by * kappa[i] * shape * log1p(r[i] / scale);
            slope[1] += by * kappa[i] * shape * r[i] / (scale + r[i]);
        }
        slope[2] += f * own * kappa[2];
        slope[3] += c * common * kappa[2];
        slope[4] += f * (2 * tie * kappa[2] - kappa[0] - kappa[1]);
    }
}

/* The derivatives of half the quadratic form and half the logarithm of the determinant. */
static void slopes_of(struct evidence *evidence, const double *theta, double *slope)
{
    int dim = evidence->data->dim, n = evidence->nkind;
    double signal = exp(theta[dim]), noise = exp(theta[dim + 1]), own = 0, signals = 0;
    double *pull = evidence->square;
    for (int i = 0; i < 2 * n * n; i++) evidence->byfactor[i] = 0;
    for (int64_t i = 0; i < evidence->n; i++) {
        double *row = pull + i * (i - 1) / 2, last = pull_of(evidence, i, i);
        for (int64_t j = 0; j < i; j++) row[j] = pull_of(evidence, i, j);
        if (n > 0) share_pull(evidence, signal, i, last, row);
        own += last;
        signals += n > 0 ? last * evidence->factor[pair_of(evidence, i, i)] : last;
    }
    double rest = weft_gauss_dot(evidence->npair, pull, evidence->k);
    slope[dim] = signal * (rest + signals / 2);
    slope[dim + 1] = noise * own / 2;
    for (int64_t p = 0; p < evidence->npair; p++) pull[p] *= evidence->fall[p];
    for (int a = 0; a < dim; a++)
        slope[a] =
            5. / 3 * signal * exp(-2 * theta[a]) *
            weft_gauss_dot(evidence->npair, pull, evidence->gap + a * evidence->npair);
    if (n > 0) curve_slopes(evidence, theta + dim + 2, slope + dim + 2);
}

static double value_of(void *own, const double *theta, double *slope)
{
    struct evidence *evidence = own;
    double log_2pi = 1.83787706640934548356;
    double value =
        factor(evidence, theta) + weigh(evidence) / 2 + (double)evidence->n / 2 * log_2pi;
    slopes_of(evidence, theta, slope);
    for (int a = 0; a < size_of(evidence->data); a++) {
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
    WEFT_REWIND(tmp);
    struct evidence evidence = see(data, tmp);
    return value_of(&evidence, theta, slope);
}

/* ---- fits ---- */

/* Start 0 is the priors' means; the others are draws around it. */
static void start_at(const weft_gauss_data *data, int start, uint64_t seed, double *theta)
{
    double spread = 1;
    for (int a = 0; a < size_of(data); a++) {
        double z[2];
        weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_TUNER, (uint64_t)start, (uint64_t)a, 0);
        weft_rng_normal_pair(&rng, z);
        theta[a] = prior_of(data->dim, a).mean;
        if (start > 0) theta[a] += spread * z[0];
    }
}

void weft_gauss_fit(const weft_gauss_data *data, uint64_t seed, double *theta,
                    weft_arena *tmp)
{
    enum { MANY = 100, STEPS = 50 };
    WEFT_REWIND(tmp);
    int size = size_of(data), starts = data->n > MANY ? 1 : 2;
    double *lo = WEFT_NEW(tmp, double, 3 * size), *hi = lo + size, *own = hi + size;
    double best = INFINITY, least = 1e-4;
    for (int a = 0; a < size; a++) lo[a] = prior_of(data->dim, a).lo;
    for (int a = 0; a < size; a++) hi[a] = prior_of(data->dim, a).hi;
    struct evidence evidence = see(data, tmp);
    weft_box box = {size, lo, hi, value_of, &evidence, STEPS, least};
    start_at(data, 0, seed, theta);
    for (int s = 0; s < starts; s++) {
        start_at(data, s, seed, own);
        double value = weft_box_lower(&box, own, tmp);
        if (!(value < best)) continue;
        best = value;
        memcpy(theta, own, (size_t)size * sizeof *theta);
    }
}
