/* The sampler of BOHB: from the results of the largest resource that has enough of them,
 * one kernel density is fitted to the best and one to the worst. Of some candidates drawn
 * around the best, that with the largest ratio of the two densities is proposed. With
 * hyperband this is BOHB, with asha an asynchronous variant. Falkner, Klein, Hutter, "BOHB:
 * robust and efficient hyperparameter optimization at scale", ICML 2018, section 3.1; the
 * kernels are those of its program, HpBandSter, by statsmodels' normal reference rule.
 * Differs from that program where the paper does: the bad set is never smaller than a
 * density needs. */
#include "learn.h"

#include <math.h>
#include <string.h>

typedef struct kde_sampler {
    weft_past past;
    uint64_t seed;
    /* options */
    double random;
    int64_t points;
} kde_sampler;

/* As in HpBandSter: the share of the results that counts as the best; how many candidates
 * are drawn, from kernels so many times as wide; the least width of a kernel, in units of
 * the axis's length. */
static const double best = 0.15, widen = 3, narrowest = 1e-3;
enum { CANDIDATES = 64 };

static const weft_opt kde_opts[] = {
    WEFT_REAL_OPT("random", kde_sampler, random, "0.3333333333333333", 0, 1,
                  "share of the configurations that are drawn at random in any case"),
    WEFT_LONG_OPT("points", kde_sampler, points, "0", 0, 1e9,
                  "least number of results of a density; auto: number of axes + 1",
                  .words = "auto"),
    {0},
};

static weft_status kde_setup(void *self, const weft_space *space, uint64_t seed,
                             weft_arena *mem)
{
    kde_sampler *kde = self;
    if (kde->points == 0) kde->points = space->dim + 1;
    kde->seed = weft_hash("kde", 3, seed);
    weft_past_setup(&kde->past, space, mem);
    return WEFT_OK;
}

/* Results from which on there are two densities. */
static int64_t enough(const kde_sampler *kde)
{
    return kde->points + 2;
}

static int64_t kde_enough(const void *self, const char **option)
{
    *option = "points";
    return enough(self);
}

/* ---- densities ---- */

enum { DRAW_CHOICE, DRAW_KERNEL, DRAW_AXIS, DRAW_FILL }; /* purposes of random numbers */

static weft_rng4 random_at(const kde_sampler *kde, int64_t number, int what, int a,
                           int64_t draw)
{
    uint64_t key =
        what < DRAW_AXIS ? (uint64_t)what : weft_axis_key(&kde->past.space->axis[a]) + what;
    return weft_rng_at(kde->seed, WEFT_RNG_TUNER, (uint64_t)number, key, (uint64_t)draw);
}

/* Positions mu[n] of the trials on axis a. A trial without the axis gets the position of
 * another one, drawn at random, or a random one if no trial has the axis. */
static void place_all(const kde_sampler *kde, int a, int64_t n, const int64_t *trial,
                      double *mu)
{
    const weft_past_trial *all = kde->past.trial;
    int64_t *has = WEFT_NEW(kde->past.mem, int64_t, n), m = 0;
    for (int64_t j = 0; j < n; j++)
        if (!isnan(all[trial[j]].conf[a])) has[m++] = trial[j];
    for (int64_t j = 0; j < n; j++) {
        double value = all[trial[j]].conf[a];
        double unit = weft_rng_unit(random_at(kde, trial[j], DRAW_FILL, a, 0).v[0]);
        if (isnan(value) && m > 0) value = all[has[(int64_t)(unit * (double)m)]].conf[a];
        if (isnan(value)) value = weft_space_resample(kde->past.space, a, unit);
        mu[j] = weft_past_place(&kde->past, a, value);
    }
}

static weft_product fit(const kde_sampler *kde, int64_t n, const int64_t *trial)
{
    const weft_space *space = kde->past.space;
    weft_product product = weft_product_new(space->dim, n, kde->past.mem);
    for (int a = 0; a < space->dim; a++) {
        weft_product_axis *axis = &product.axis[a];
        place_all(kde, a, n, trial, axis->mu);
        axis->levels = kde->past.type[a] == WEFT_AXIS_CATEGORY ? space->axis[a].nvalue : 0;
    }
    weft_product_reference(&product, narrowest);
    return product;
}

static void divide(const kde_sampler *kde, const weft_past_level *level, weft_product *good,
                   weft_product *bad)
{
    double share = floor(best * (double)level->n);
    int64_t ngood = share > (double)kde->points ? (int64_t)share : kde->points;
    int64_t nbad = level->n - ngood > kde->points ? level->n - ngood : kde->points;
    int64_t *trial = WEFT_NEW(kde->past.mem, int64_t, level->n);
    for (int64_t i = 0; i < level->n; i++) trial[i] = level->result[i].id;
    *good = fit(kde, ngood, trial);
    for (int64_t i = 0; i < nbad; i++) trial[i] = level->result[level->n - nbad + i].id;
    *bad = fit(kde, nbad, trial);
}

/* ---- proposals ---- */

/* Draws candidate c around kernel j into x[dim]. */
static void draw(const kde_sampler *kde, int64_t number, int64_t c, int64_t j,
                 const weft_product *product, weft_product_point *point)
{
    for (int a = 0; a < product->dim; a++) {
        const weft_product_axis *axis = &product->axis[a];
        weft_rng4 rng = random_at(kde, number, DRAW_AXIS, a, c);
        double unit = weft_rng_unit(rng.v[0]);
        point[a] = (weft_product_point){axis->mu[j], 0, 0};
        if (axis->levels == 0)
            point[a].at = weft_normal_between(axis->mu[j], widen * axis->sigma[j], unit);
        else if (weft_rng_unit(rng.v[1]) >= axis->same)
            point[a].at = floor(unit * axis->levels);
    }
}

static void value_of(const kde_sampler *kde, const weft_product_point *point, double *conf)
{
    const weft_space *space = kde->past.space;
    for (int a = 0; a < space->dim; a++)
        conf[a] = weft_past_value(&kde->past, a, point[a].at);
    weft_past_prune(space, conf);
}

static void propose_from(const kde_sampler *kde, int64_t number,
                         const weft_past_level *level, double *conf)
{
    double least = log(1e-32);
    const weft_space *space = kde->past.space;
    weft_product good, bad;
    divide(kde, level, &good, &bad);
    weft_product_point *point = WEFT_NEW(kde->past.mem, weft_product_point, space->dim);
    double *own = WEFT_NEW(kde->past.mem, double, space->dim), most = 0;
    int found = 0;
    for (int64_t c = 0; c < CANDIDATES; c++) {
        weft_rng4 rng = random_at(kde, number, DRAW_KERNEL, 0, c);
        draw(kde, number, c, (int64_t)(weft_rng_unit(rng.v[0]) * (double)good.n), &good,
             point);
        double gain = fmax(weft_product_log(&good, point), least) -
                      fmax(weft_product_log(&bad, point), least);
        if (found && !(gain > most)) continue;
        value_of(kde, point, own);
        if (weft_space_forbids(space, own)) continue;
        most = gain;
        found = 1;
        memcpy(conf, own, (size_t)space->dim * sizeof *conf);
    }
    if (!found) weft_space_config(space, number, conf);
}

static void kde_propose(void *self, int64_t number, double *conf)
{
    const kde_sampler *kde = self;
    const weft_space *space = kde->past.space;
    const weft_past_level *level = weft_past_highest(&kde->past, enough(kde));
    weft_rng4 rng = random_at(kde, number, DRAW_CHOICE, 0, 0);
    if (!level || space->dim == 0 || weft_rng_unit(rng.v[0]) < kde->random) {
        weft_space_config(space, number, conf);
        return;
    }
    WEFT_REWIND(kde->past.mem);
    propose_from(kde, number, level, conf);
}

WEFT_PLUGIN(sampler, kde) = {
    .kind = WEFT_KIND("kde", kde_sampler, kde_opts,
                      "kernel densities of the best and the worst: BOHB, with hyperband"),
    .setup = kde_setup,
    .propose = kde_propose,
    .told = weft_past_told,
    .pending = weft_past_pending,
    .enough = kde_enough,
};
