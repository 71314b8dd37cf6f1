/* Bayesian optimisation with a Gaussian process (gauss.h) as model of the losses. Proposed
 * is the configuration of the largest log expected improvement on the least mean of what is
 * known, found from random configurations and from some near the best trials, by a
 * quasi-Newton method on real axes and by trials of other values on the others. Trials in
 * flight, and those stopped before the resource that is learnt from, count with what the
 * process predicts for them (kriging believer). With many in flight, results are chosen for
 * several proposals at a time, to which the process adds each of these, and fewer of them.
 * Snoek, Larochelle, Adams, "Practical Bayesian optimization of machine learning
 * algorithms", NIPS 2012; Ament et al., NeurIPS 2023 (the logarithm); Garrido-Merchan,
 * Hernandez-Lobato, "Dealing with categorical and integer-valued variables in Bayesian
 * optimization with Gaussian processes", Neurocomputing 380, 2020 (covariances of rounded
 * values); Ginsbourger, Le Riche, Carraro, 2010 (trials in flight). */
#include "gauss.h"
#include "learn.h"
#include "weft/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct gp_result {
    int64_t trial; /* index in past.trial */
    double resource;
} gp_result;

typedef struct gp_sampler {
    weft_past past;
    uint64_t seed;
    int *levels; /* [dim] levels of a category; 0: a number */
    char *rules; /* [dim] 1: other axes exist by its value */
    int64_t ntold, roomtold;
    gp_result *told; /* [ntold] in the order in which they came */
    /* the process, which is kept from one proposal to the next, and the same as if it were
     * made anew */
    weft_gauss gauss;
    int64_t roomrow;
    int64_t *row;        /* [gauss.n] trials of its points */
    double fit_resource; /* what theta was learnt from: */
    int64_t fit_results; /* the first results of that resource */
    /* what it learns from, chosen when there were `chosen` trials; those since are added */
    int64_t chosen, begun; /* trials then, and those that it has seen */
    int64_t known, ntrial; /* results, and all: the others are believed */
    int64_t *trial;        /* [ntrial] */
    double *y;             /* [ntrial] values */
    weft_arena *kept;
    /* options */
    int64_t design;
} gp_sampler;

/* Results of which a process consists, from which theta is learnt, and trials in flight
 * that count; of more results those chosen by choose_results, anew after so many. */
enum { MOST = 1000, MOST_FIT = 150, MOST_BELIEVED = 200, PART = 100 };
/* Up to so many results theta is learnt anew with each, then when there are so many times
 * as many. */
enum { EACH = 100 };
static const double anew = 1.2, anew_crowded = 1.5;

static const weft_opt gp_opts[] = {
    WEFT_LONG_OPT("design", gp_sampler, design, "10", 2, 1e6,
                  "number of initial trials, a Latin hypercube; also the number of results "
                  "that a resource must have to be learnt from"),
    {0},
};

/* ---- setup and results ---- */

static weft_status gp_setup(void *self, const weft_space *space, uint64_t seed,
                            weft_arena *mem)
{
    gp_sampler *gp = self;
    gp->seed = weft_hash("gp", 2, seed);
    weft_past_setup(&gp->past, space, mem);
    gp->levels = WEFT_NEW(mem, int, space->dim);
    gp->rules = WEFT_NEW(mem, char, space->dim);
    for (int a = 0; a < space->dim; a++) {
        const weft_axis *axis = &space->axis[a];
        if (gp->past.type[a] == WEFT_AXIS_CATEGORY) gp->levels[a] = axis->nvalue;
        for (int i = 0; i < axis->nwhen; i++) gp->rules[axis->when[i].axis] = 1;
    }
    gp->kept = weft_arena_within(mem);
    weft_gauss_setup(&gp->gauss, space->dim, gp->levels, gp->kept);
    gp->trial = WEFT_NEW(mem, int64_t, MOST + MOST_BELIEVED + WEFT_MOST_TURNS);
    gp->y = WEFT_NEW(mem, double, MOST + MOST_BELIEVED + WEFT_MOST_TURNS);
    return WEFT_OK;
}

static void gp_told(void *self, int64_t number, const weft_observation *observed)
{
    gp_sampler *gp = self;
    weft_past_told(&gp->past, number, observed);
    gp->told =
        weft_grow(gp->past.mem, gp->told, sizeof *gp->told, gp->ntold, &gp->roomtold);
    gp->told[gp->ntold++] = (gp_result){number - gp->past.first, observed->resource};
}

static int64_t gp_enough(const void *self, const char **option)
{
    const gp_sampler *gp = self;
    *option = "design";
    return gp->design;
}

/* ---- losses ---- */

/* The mean and the deviation of y[n] become 0 and 1; all 0 where they are equal. */
static void standardise(int64_t n, double *y)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += y[i] / (double)n;
    for (int64_t i = 0; i < n; i++) square += (y[i] - mean) * (y[i] - mean) / (double)n;
    double sd = sqrt(square);
    for (int64_t i = 0; i < n; i++) y[i] = sd > 0 ? (y[i] - mean) / sd : 0;
}

/* The transform of Yeo and Johnson, "A new family of power transformations to improve
 * normality or symmetry", Biometrika 87, 2000. */
static double bend(double y, double power)
{
    double by = y < 0 ? 2 - power : power, size = log1p(fabs(y));
    double to = fabs(by) > 0 ? expm1(by * size) / by : size;
    return y < 0 ? -to : to;
}

/* The logarithm of the likelihood of a power, for values that are normal once bent. */
static double bent_likelihood(int64_t n, const double *y, double power)
{
    double mean = 0, square = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) mean += bend(y[i], power) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double off = bend(y[i], power) - mean, size = log1p(fabs(y[i]));
        square += off * off / (double)n;
        sum += y[i] < 0 ? -size : size;
    }
    return -(double)n / 2 * log(square) + (power - 1) * sum;
}

/* The most likely power of 0 .. 2, to 0.01. */
static double power_of(int64_t n, const double *y)
{
    double lo = 0, hi = 2, golden = 0.61803398874989485;
    double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo);
    double at_a = bent_likelihood(n, y, a), at_b = bent_likelihood(n, y, b);
    while (hi - lo > 0.01) {
        if (at_a > at_b) {
            hi = b;
            b = a;
            at_b = at_a;
            a = hi - golden * (hi - lo);
            at_a = bent_likelihood(n, y, a);
        } else {
            lo = a;
            a = b;
            at_a = at_b;
            b = lo + golden * (hi - lo);
            at_b = bent_likelihood(n, y, b);
        }
    }
    return (lo + hi) / 2;
}

/* Values that the process learns: those of diverged trials are the worst other, then all
 * are scaled, bent to be nearly normal, and scaled. */
static void scale_losses(int64_t n, double *y)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(y[i])) continue;
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    double half = high / 2 - low / 2; /* a difference may overflow */
    for (int64_t i = 0; i < n; i++)
        y[i] = half > 0 ? (fmin(y[i], high) / 2 - low / 2) / half : 0;
    standardise(n, y);
    if (!(half > 0)) return;
    double power = power_of(n, y);
    for (int64_t i = 0; i < n; i++) y[i] = bend(y[i], power);
    standardise(n, y);
}

/* ---- the model ---- */

/* Results of one resource, in the order in which they came. */
struct results {
    int64_t n;
    weft_rank *result; /* [n] id: the trial */
};

/* Trials beyond limits count as diverged ones. */
static struct results results_of(const gp_sampler *gp, const weft_past_level *level)
{
    struct results all = {.result = WEFT_NEW(gp->past.mem, weft_rank, gp->ntold)};
    double *loss = WEFT_NEW(gp->past.mem, double, gp->past.n);
    for (int64_t i = 0; i < level->n; i++) {
        const weft_rank *result = &level->result[i];
        loss[result->id] = result->excess > 0 ? INFINITY : result->loss;
    }
    for (int64_t i = 0; i < gp->ntold; i++) {
        const gp_result *told = &gp->told[i];
        if (told->resource < level->resource || told->resource > level->resource) continue;
        all.result[all.n++] = weft_rank_of(loss[told->trial], 0, told->trial);
    }
    return all;
}

/* Of the first n results at most `most`, in their order, into pick[most]: all, or the best
 * half, the newest quarter, and draws of the others; these are chosen from all but the last
 * n % part, which are taken, so that most of them stay for some time. */
static int64_t choose_results(const gp_sampler *gp, const struct results *all, int64_t n,
                              int64_t most, int64_t part, weft_rank *pick)
{
    char *taken = WEFT_NEW(gp->past.mem, char, n);
    int64_t base = n > most ? n - n % part : 0, room = most - part, count = 0;
    weft_rank *sorted = WEFT_NEW(gp->past.mem, weft_rank, base);
    int64_t *order = WEFT_NEW(gp->past.mem, int64_t, base);
    for (int64_t i = base; i < n; i++) taken[i] = 1;
    for (int64_t i = 0; i < base; i++) sorted[i] = weft_rank_of(all->result[i].loss, 0, i);
    if (base > 0) {
        qsort(sorted, (size_t)base, sizeof *sorted, weft_rank_compare);
        weft_shuffle(base, gp->seed + (uint64_t)base, order, gp->past.mem);
    }
    for (int64_t i = 0; i < base && count < room / 2; i++, count++) taken[sorted[i].id] = 1;
    for (int64_t i = base - 1; i >= 0 && count < room * 3 / 4; i--)
        if (!taken[i]) count += taken[i] = 1;
    for (int64_t i = 0; i < base && count < room; i++)
        if (!taken[order[i]]) count += taken[order[i]] = 1;
    int64_t picked = 0;
    for (int64_t i = 0; i < n; i++)
        if (taken[i]) pick[picked++] = all->result[i];
    return picked;
}

static void fill_point(const gp_sampler *gp, const double *conf, double *x)
{
    for (int a = 0; a < gp->past.space->dim; a++)
        x[a] = isnan(conf[a]) ? conf[a] : weft_past_place(&gp->past, a, conf[a]);
}

/* The number of first results that theta is learnt from: of n up to EACH all, else the
 * largest of the sequence EACH, more EACH ... */
static int64_t to_fit(int64_t n, double more)
{
    int64_t last = n < EACH ? n : EACH, next = last;
    for (; next <= n && last >= EACH; next = (int64_t)ceil((double)last * more))
        last = next;
    return last;
}

static void fit(gp_sampler *gp, const struct results *all, double resource, double more)
{
    int dim = gp->past.space->dim;
    weft_arena *tmp = gp->past.mem;
    int64_t n = to_fit(all->n, more);
    if (n == gp->fit_results && !(fabs(resource - gp->fit_resource) > 0)) return;
    weft_rank *pick = WEFT_NEW(tmp, weft_rank, n);
    int64_t m = choose_results(gp, all, n, MOST_FIT, 1, pick);
    double *x = WEFT_NEW(tmp, double, m *dim), *y = WEFT_NEW(tmp, double, m);
    double *theta = WEFT_NEW(tmp, double, dim + 2);
    for (int64_t i = 0; i < m; i++) {
        fill_point(gp, gp->past.trial[pick[i].id].conf, x + i * dim);
        y[i] = pick[i].loss;
    }
    scale_losses(m, y);
    weft_gauss_data data = {dim, gp->levels, m, x, y};
    weft_gauss_fit(&data, gp->seed + (uint64_t)n, theta, tmp);
    weft_gauss_set(&gp->gauss, theta);
    gp->fit_resource = resource;
    gp->fit_results = n;
}

/* The process has the points of trial[n]; of these, the first that it has already stay. */
static void set_rows(gp_sampler *gp, int64_t n, const int64_t *trial)
{
    double *x = WEFT_NEW(gp->past.mem, double, gp->past.space->dim);
    int64_t same = 0;
    while (same < n && same < gp->gauss.n && gp->row[same] == trial[same]) same++;
    weft_gauss_keep(&gp->gauss, same);
    for (int64_t i = same; i < n; i++) {
        fill_point(gp, gp->past.trial[trial[i]].conf, x);
        weft_gauss_add(&gp->gauss, x);
        gp->row = weft_regrow(gp->kept, gp->row, sizeof *gp->row, i, &gp->roomrow);
        gp->row[i] = trial[i];
    }
}

/* Appends the last trials, at most `most`, that have no result at this resource: those in
 * flight, and those that were stopped before, which would be proposed again and again
 * otherwise. */
static void add_believed(gp_sampler *gp, const struct results *all, int64_t most)
{
    char *known = WEFT_NEW(gp->past.mem, char, gp->past.n);
    for (int64_t i = 0; i < all->n; i++) known[all->result[i].id] = 1;
    int64_t first = gp->past.n, count = 0;
    while (first > 0 && count < most) {
        first--;
        count += !known[first];
    }
    for (int64_t i = first; i < gp->past.n; i++)
        if (!known[i]) gp->trial[gp->ntrial++] = i;
}

/* Chooses what it learns from: less of it the more workers wait, as a try costs the square
 * of it. */
static void choose(gp_sampler *gp, const weft_past_level *level, int64_t turns)
{
    struct results all = results_of(gp, level);
    double share = turns > 1 ? sqrt(2 / (double)turns) : 1;
    int64_t most = (int64_t)(share * MOST), part = turns > 1 ? 1 : PART;
    weft_rank *pick = WEFT_NEW(gp->past.mem, weft_rank, all.n);
    fit(gp, &all, level->resource, turns > 1 ? anew_crowded : anew);
    gp->known = gp->ntrial = choose_results(gp, &all, all.n, most, part, pick);
    for (int64_t i = 0; i < gp->known; i++) {
        gp->trial[i] = pick[i].id;
        gp->y[i] = pick[i].loss;
    }
    scale_losses(gp->known, gp->y);
    add_believed(gp, &all, (int64_t)(fmax(share, 0.25) * MOST_BELIEVED));
    gp->chosen = gp->begun = gp->past.n;
}

/* Sets the points of the process: those of the last choice and the trials since, or of a
 * new one. */
static void learn(gp_sampler *gp, const weft_past_level *level)
{
    int64_t turns = weft_past_turns(&gp->past);
    if (turns == 1 || gp->ntrial == 0 || gp->past.n - gp->chosen >= turns ||
        fabs(level->resource - gp->fit_resource) > 0)
        choose(gp, level, turns);
    while (gp->begun < gp->past.n) gp->trial[gp->ntrial++] = gp->begun++;
    set_rows(gp, gp->ntrial, gp->trial);
}

/* ---- the acquisition function ---- */

/* A search for a proposal. */
struct search {
    const gp_sampler *gp;
    int64_t number; /* of the trial */
    uint64_t drawn; /* numbers its draws */
    double goal;    /* the least mean of what is known */
    int64_t nbest;
    int64_t *best; /* [nbest] the trials of the least means */
    double *conf;  /* [dim] the best configuration that no trial has */
    double value;  /* its; -INFINITY: there is none */
};

static weft_rng4 draw(struct search *search)
{
    return weft_rng_at(search->gp->seed, WEFT_RNG_TUNER, (uint64_t)search->number, 1,
                       search->drawn++);
}

/* The acquisition function of a mean and a variance, and its derivatives by these. */
static double gain(const struct search *search, double mean, double variance,
                   double slope[2])
{
    double sd = sqrt(variance), z = (search->goal - mean) / sd, by;
    double value = log(sd) + weft_gauss_gain(z, &by);
    slope[0] = -by / sd;
    slope[1] = (1 - by * z) / (2 * variance);
    return value;
}

/* Values of m <= WEFT_GAUSS_BATCH configurations, of which the best is remembered. */
static void judge(struct search *search, int m, const double *conf, double *value)
{
    const gp_sampler *gp = search->gp;
    weft_arena *tmp = gp->past.mem;
    size_t mark = weft_arena_mark(tmp);
    int dim = gp->past.space->dim;
    double *x = WEFT_NEW(tmp, double, m *dim), slope[2];
    double mean[WEFT_GAUSS_BATCH], variance[WEFT_GAUSS_BATCH];
    for (int i = 0; i < m; i++) fill_point(gp, conf + i * dim, x + i * dim);
    weft_gauss_ask(&gp->gauss, m, x, mean, variance, tmp);
    for (int i = 0; i < m; i++) {
        value[i] = gain(search, mean[i], variance[i], slope);
        if (!(value[i] > search->value) || weft_past_knows(&gp->past, conf + i * dim) ||
            weft_space_forbids(gp->past.space, conf + i * dim))
            continue;
        search->value = value[i];
        memcpy(search->conf, conf + i * dim, (size_t)dim * sizeof *conf);
    }
    weft_arena_reset(tmp, mark);
}

/* ---- numbers: a quasi-Newton method ---- */

/* Whole numbers of more values move as if they were real, and are rounded afterwards. */
enum { FEW = 16 };

static int64_t values_of(const gp_sampler *gp, int a)
{
    const weft_axis *axis = &gp->past.space->axis[a];
    return axis->nvalue ? axis->nvalue : (int64_t)(axis->hi - axis->lo) + 1;
}

static int moves(const gp_sampler *gp, const double *conf, int a)
{
    if (isnan(conf[a]) || gp->rules[a]) return 0;
    if (gp->past.type[a] == WEFT_AXIS_REAL) return 1;
    return gp->past.type[a] == WEFT_AXIS_DISCRETE && values_of(gp, a) > FEW;
}

struct climb {
    const struct search *search;
    int *axis; /* [moving] */
    int moving;
    double *x;      /* [dim] */
    double *slopes; /* [2][dim] */
};

/* Minus the acquisition function of the positions u[moving]. */
static double climb_value(void *own, const double *u, double *slope)
{
    struct climb *climb = own;
    const gp_sampler *gp = climb->search->gp;
    int dim = gp->past.space->dim;
    double mean, variance, by[2];
    for (int i = 0; i < climb->moving; i++) climb->x[climb->axis[i]] = u[i];
    weft_gauss_slopes(&gp->gauss, climb->x, &mean, &variance, climb->slopes, gp->past.mem);
    double value = gain(climb->search, mean, variance, by);
    for (int i = 0; i < climb->moving; i++) {
        int a = climb->axis[i];
        slope[i] = -by[0] * climb->slopes[a] - by[1] * climb->slopes[dim + a];
    }
    return -value;
}

/* Takes the better of two configurations. */
static int accept(struct search *search, const double *next, double *conf, double *value)
{
    double own;
    judge(search, 1, next, &own);
    if (!(own > *value)) return 0;
    *value = own;
    memcpy(conf, next, (size_t)search->gp->past.space->dim * sizeof *conf);
    return 1;
}

static void climb_numbers(struct search *search, int steps, double *conf, double *value)
{
    const gp_sampler *gp = search->gp;
    int dim = gp->past.space->dim;
    weft_arena *tmp = gp->past.mem;
    size_t mark = weft_arena_mark(tmp);
    double *all = WEFT_NEW(tmp, double, 7 * dim), *u = all, *lo = all + dim,
           *hi = all + 2 * dim, *next = all + 3 * dim;
    struct climb climb = {.search = search,
                          .axis = WEFT_NEW(tmp, int, dim),
                          .x = all + 4 * dim,
                          .slopes = all + 5 * dim};
    fill_point(gp, conf, climb.x);
    for (int a = 0; a < dim; a++)
        if (moves(gp, conf, a)) {
            hi[climb.moving] = 1;
            u[climb.moving] = climb.x[a];
            climb.axis[climb.moving++] = a;
        }
    if (climb.moving > 0) {
        weft_box box = {climb.moving, lo, hi, climb_value, &climb, steps, 1e-7};
        weft_box_lower(&box, u, tmp);
        memcpy(next, conf, (size_t)dim * sizeof *conf);
        for (int i = 0; i < climb.moving; i++)
            next[climb.axis[i]] = weft_past_value(&gp->past, climb.axis[i], u[i]);
        accept(search, next, conf, value);
    }
    weft_arena_reset(tmp, mark);
}

/* ---- other values ---- */

/* Sets axis a, and draws the axes that exist by that. */
static void set_axis(struct search *search, int a, double to, double *conf)
{
    const gp_sampler *gp = search->gp;
    conf[a] = to;
    if (gp->rules[a])
        weft_space_settle(gp->past.space, draw(search).v[0], (uint64_t)search->number,
                          conf);
}

/* Value i of those that are tried in place of `value` on axis a; 0: there is none. All of a
 * category or of few numbers; else those that are 1, 2, 4, 8 places away. */
static int other_value(const gp_sampler *gp, int a, double value, int64_t i, double *to)
{
    enum { REACH = 4 };
    const weft_axis *axis = &gp->past.space->axis[a];
    int64_t values = values_of(gp, a);
    if (values <= FEW || gp->past.type[a] == WEFT_AXIS_CATEGORY) {
        if (i >= values) return 0;
        *to = weft_axis_point(axis, i, values);
        return 1;
    }
    if (i >= 2 * REACH) return 0;
    *to = value;
    for (int64_t k = 0; k < (int64_t)1 << i / 2; k++)
        *to = weft_axis_step(axis, *to, (int)(i % 2));
    return 1;
}

/* Tries other values of axis a; 1: one is better. */
static int try_axis(struct search *search, int a, double *conf, double *value)
{
    const gp_sampler *gp = search->gp;
    size_t dim = (size_t)gp->past.space->dim, mark = weft_arena_mark(gp->past.mem);
    double *all = WEFT_NEW(gp->past.mem, double, WEFT_GAUSS_BATCH *dim);
    double own[WEFT_GAUSS_BATCH], to, was = conf[a], best = *value;
    double *found = WEFT_NEW(gp->past.mem, double, dim);
    int m = 0, more = 1;
    for (int64_t i = 0; more; i++) {
        more = other_value(gp, a, was, i, &to);
        if (more && fabs(to - was) > 0) {
            memcpy(all + (size_t)m * dim, conf, dim * sizeof *conf);
            set_axis(search, a, to, all + (size_t)m++ * dim);
        }
        if (m == 0 || (more && m < WEFT_GAUSS_BATCH)) continue;
        judge(search, m, all, own);
        for (int j = 0; j < m; j++)
            if (own[j] > best) {
                best = own[j];
                memcpy(found, all + (size_t)j * dim, dim * sizeof *found);
            }
        m = 0;
    }
    int better = best > *value;
    if (better) memcpy(conf, found, dim * sizeof *conf);
    *value = best;
    weft_arena_reset(gp->past.mem, mark);
    return better;
}

/* From one configuration to a better one, by turns. */
static void refine(struct search *search, int steps, double *conf, double value)
{
    const gp_sampler *gp = search->gp;
    const weft_space *space = gp->past.space;
    int rounds = weft_past_turns(&gp->past) > 1 ? 1 : 4;
    for (int k = 0, better = 1; k < rounds && better; k++) {
        climb_numbers(search, steps, conf, &value);
        better = 0;
        for (int i = 0; i < space->dim; i++) {
            int a = space->order[i];
            if (!isnan(conf[a]) && gp->past.type[a] != WEFT_AXIS_REAL)
                better |= try_axis(search, a, conf, &value);
        }
    }
}

/* ---- where a search begins ---- */

static void draw_anywhere(struct search *search, double *conf)
{
    const weft_space *space = search->gp->past.space;
    for (int a = 0; a < space->dim; a++)
        conf[a] = weft_axis_value(&space->axis[a], weft_rng_unit(draw(search).v[0]));
    weft_past_prune(space, conf);
}

/* Near one of the best trials: half of the axes move, by 2^-8 to 1 / 2 of their length. */
static void draw_near(struct search *search, double *conf)
{
    const gp_sampler *gp = search->gp;
    const weft_space *space = gp->past.space;
    weft_rng4 rng = draw(search);
    int64_t which = (int64_t)(weft_rng_unit(rng.v[0]) * (double)search->nbest);
    double reach = exp2(-1 - 7 * weft_rng_unit(rng.v[1]));
    memcpy(conf, gp->past.trial[search->best[which]].conf,
           (size_t)space->dim * sizeof *conf);
    for (int i = 0; i < space->dim; i++) {
        int a = space->order[i];
        double z[2];
        rng = draw(search);
        if (isnan(conf[a]) || weft_rng_unit(rng.v[2]) < 0.5) continue;
        weft_rng_normal_pair(&rng, z);
        double at = weft_axis_unit(&space->axis[a], conf[a]) + reach * z[0];
        if (gp->past.type[a] == WEFT_AXIS_CATEGORY) at = weft_rng_unit(rng.v[3]);
        set_axis(search, a, weft_axis_value(&space->axis[a], fmin(fmax(at, 0), 1)), conf);
    }
}

/* Starts of refinements, the best first. */
struct starts {
    int n;
    double *conf, *value; /* [n][dim], [n] */
};

static void keep_start(struct starts *starts, size_t dim, const double *conf, double value)
{
    int at = starts->n - 1;
    if (!(value > starts->value[at])) return;
    for (; at > 0 && value > starts->value[at - 1]; at--) {
        starts->value[at] = starts->value[at - 1];
        memcpy(starts->conf + (size_t)at * dim, starts->conf + (size_t)(at - 1) * dim,
               dim * sizeof *conf);
    }
    starts->value[at] = value;
    memcpy(starts->conf + (size_t)at * dim, conf, dim * sizeof *conf);
}

/* Refines the best of what is drawn. With a larger process less is tried, as each try costs
 * n^2, and with more workers that wait. */
static void seek(struct search *search, void (*draw_one)(struct search *, double *),
                 int from)
{
    enum { SEEN = 256, LEAST = 32, FEWER = 300 };
    const gp_sampler *gp = search->gp;
    weft_arena *tmp = gp->past.mem;
    size_t dim = (size_t)gp->past.space->dim;
    int64_t turns = weft_past_turns(&gp->past);
    double n = (double)gp->gauss.n, work = 1.25e7 / (double)turns, own[WEFT_GAUSS_BATCH];
    int seen = (int)fmin(SEEN, fmax(LEAST, work / (n * n)));
    int few = n > FEWER || turns > 1, steps = few ? 12 : 40;
    struct starts starts = {few ? 1 : from, WEFT_NEW(tmp, double, (size_t)from *dim),
                            WEFT_NEW(tmp, double, from)};
    double *all = WEFT_NEW(tmp, double, WEFT_GAUSS_BATCH *dim);
    for (int s = 0; s < starts.n; s++) starts.value[s] = -INFINITY;
    for (int i = 0; i < seen; i += WEFT_GAUSS_BATCH) {
        for (int j = 0; j < WEFT_GAUSS_BATCH; j++) draw_one(search, all + (size_t)j * dim);
        judge(search, WEFT_GAUSS_BATCH, all, own);
        for (int j = 0; j < WEFT_GAUSS_BATCH; j++)
            keep_start(&starts, dim, all + (size_t)j * dim, own[j]);
    }
    for (int s = 0; s < starts.n; s++)
        if (isfinite(starts.value[s]))
            refine(search, steps, starts.conf + (size_t)s * dim, starts.value[s]);
}

/* Both, each with its own starts: where a minimum is found, those near it are a little
 * better than all others, and hide what a step away from there gains. One or the other, by
 * turns, where a choice of results serves several proposals. */
static void maximise(struct search *search)
{
    int one = weft_past_turns(&search->gp->past) > 1, odd = search->number % 2 != 0;
    if (!one || odd) seek(search, draw_near, 2);
    if (!one || !odd) seek(search, draw_anywhere, 4);
}

/* ---- proposals ---- */

/* The goal, and the trials of the least means. */
static void find_best(struct search *search, int64_t known, const double *y)
{
    enum { BEST = 5 };
    const gp_sampler *gp = search->gp;
    int64_t n = gp->gauss.n;
    double noise = exp(gp->gauss.theta[gp->past.space->dim + 1]);
    weft_rank *mean = WEFT_NEW(gp->past.mem, weft_rank, n);
    for (int64_t i = 0; i < n; i++)
        mean[i] = weft_rank_of(y[i] - (i < known ? noise * gp->gauss.weight[i] : 0), 0,
                               gp->row[i]);
    qsort(mean, (size_t)n, sizeof *mean, weft_rank_compare);
    search->goal = mean[0].loss;
    search->nbest = n < BEST ? n : BEST;
    search->best = WEFT_NEW(gp->past.mem, int64_t, BEST);
    for (int64_t i = 0; i < search->nbest; i++) search->best[i] = mean[i].id;
}

/* 1: there is a configuration that no trial has, and it is in search->conf. */
static int propose_from(gp_sampler *gp, const weft_past_level *level, struct search *search)
{
    learn(gp, level);
    weft_gauss_learn(&gp->gauss, gp->known, gp->y, gp->past.mem);
    find_best(search, gp->known, gp->y);
    maximise(search);
    return search->value > -INFINITY;
}

static void gp_propose(void *self, int64_t number, double *conf)
{
    gp_sampler *gp = self;
    const weft_space *space = gp->past.space;
    size_t mark = weft_arena_mark(gp->past.mem), size = (size_t)space->dim * sizeof *conf;
    const weft_past_level *level = weft_past_highest(&gp->past, gp->design);
    struct search search = {.gp = gp,
                            .number = number,
                            .conf = WEFT_NEW(gp->past.mem, double, space->dim),
                            .value = -INFINITY};
    if (space->dim == 0 || number < space->listed)
        weft_space_config(space, number, conf);
    else if (gp->past.n < gp->design)
        weft_past_design(&gp->past, gp->seed, gp->past.n, gp->design, conf);
    else if (level && propose_from(gp, level, &search))
        memcpy(conf, search.conf, size);
    else
        weft_space_config(space, number, conf);
    if (weft_space_forbids(space, conf)) weft_space_config(space, number, conf);
    weft_arena_reset(gp->past.mem, mark);
}

extern const weft_sampler weft_sampler_gp;
const weft_sampler weft_sampler_gp = {
    .kind = {.name = "gp",
             .about = "Gaussian process and expected improvement: for few axes and smooth "
                      "losses",
             .size = sizeof(gp_sampler),
             .opts = gp_opts},
    .setup = gp_setup,
    .propose = gp_propose,
    .told = gp_told,
    .pending = weft_past_pending,
    .enough = gp_enough,
};
