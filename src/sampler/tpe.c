/* Tree-structured Parzen estimators. The trials with results are divided into a few good
 * ones and the rest, to which those in flight are added. With densities l of the good ones
 * and g of the others, each axis gets the value that solves
 *     maximise l(x) / g(x), of 24 candidates x drawn from l,
 * because the expected improvement increases with this ratio. Axes are treated
 * independently, or jointly with one kernel per trial. Bergstra, Bardenet, Bengio, Kegl,
 * "Algorithms for hyper-parameter optimization", NeurIPS 2011; Bergstra, Yamins, Cox,
 * "Making a science of model search", ICML 2013 (hyperopt); Akiba, Sano, Yanase, Ohta,
 * Koyama, "Optuna", KDD 2019, whose kernels are the default. Trials in flight as bad ones:
 * Ginsbourger, Le Riche, Carraro, "Kriging is well-suited to parallelize optimization",
 * 2010 (constant liar). With several objectives the good ones are those of
 * weft_front_choose (motpe: Ozaki et al. 2022). */
#include "learn.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES = 24 }; /* of which the best is proposed */

typedef enum tpe_form { INDEPENDENT, JOINT, HYPEROPT } tpe_form;

/* A trial with its position on a numeric axis. */
typedef struct tpe_place {
    double at; /* position in 0 .. 1 */
    int64_t trial;
} tpe_place;

typedef struct tpe_axis {
    int64_t missing; /* trials without this axis */
    int64_t n, room;
    tpe_place *place; /* [n] increasing: the trials that have the axis, if it is numeric */
} tpe_axis;

typedef enum tpe_set { NEITHER, GOOD, BAD } tpe_set;

typedef struct tpe_sampler {
    weft_past past;
    tpe_axis *axis; /* [dim] */
    uint64_t seed;
    /* options */
    int form;
    int64_t startup;
} tpe_sampler;

/* What a proposal is made from. */
struct step {
    const tpe_sampler *tpe;
    int64_t number; /* of the trial */
    tpe_set *set;   /* [trials] */
};

static const weft_opt tpe_opts[] = {
    WEFT_CHOICE_OPT("form", tpe_sampler, form, "independent", "independent|joint|hyperopt",
                    "independent: axes one by one; joint: one kernel per trial; hyperopt: "
                    "one by one, with its weights and shares"),
    WEFT_LONG_OPT("startup", tpe_sampler, startup, "0", 0, 1e9,
                  "number of initial random trials, and of results that a resource must "
                  "have to be learnt from; auto: 10, hyperopt 20",
                  .words = "auto"),
    {0},
};

static weft_status tpe_setup(void *self, const weft_space *space, uint64_t seed,
                             weft_arena *mem)
{
    tpe_sampler *tpe = self;
    if (tpe->startup == 0) tpe->startup = tpe->form == HYPEROPT ? 20 : 10;
    tpe->seed = weft_hash("tpe", 3, seed);
    weft_past_setup(&tpe->past, space, mem);
    tpe->axis = WEFT_NEW(mem, tpe_axis, space->dim);
    return WEFT_OK;
}

/* ---- setup and results ---- */

static void place_trial(tpe_sampler *tpe, int a, int64_t trial, double value)
{
    tpe_axis *axis = &tpe->axis[a];
    axis->missing += isnan(value) != 0;
    if (tpe->past.type[a] == WEFT_AXIS_CATEGORY || isnan(value)) return;
    double at = weft_axis_unit(&tpe->past.space->axis[a], value);
    WEFT_GROW(tpe->past.mem, axis->place, axis->n, &axis->room);
    int64_t i = axis->n++;
    for (; i > 0 && axis->place[i - 1].at > at; i--) axis->place[i] = axis->place[i - 1];
    axis->place[i] = (tpe_place){at, trial};
}

static void tpe_pending(void *self, int64_t number, const double *conf, double resource)
{
    tpe_sampler *tpe = self;
    int64_t known = tpe->past.n;
    weft_past_pending(&tpe->past, number, conf, resource);
    if (tpe->past.n == known) return;
    for (int a = 0; a < tpe->past.space->dim; a++)
        place_trial(tpe, a, tpe->past.n - 1, conf[a]);
}

static int64_t tpe_enough(const void *self, const char **option)
{
    const tpe_sampler *tpe = self;
    *option = "startup";
    return tpe->startup;
}

/* ---- good and bad trials ---- */

static void divide(struct step *step, const weft_past_level *level)
{
    const tpe_sampler *tpe = step->tpe;
    tpe_set *set = step->set;
    int64_t in_flight = 0;
    for (int64_t i = 0; i < level->n; i++) set[level->result[i].id] = BAD;
    for (int64_t i = 0; i < tpe->past.n; i++)
        if (set[i] == NEITHER && tpe->past.trial[i].in_flight) {
            set[i] = BAD;
            in_flight++;
        }
    int64_t good = weft_parzen_good(level->n, in_flight, tpe->form == HYPEROPT);
    int m = tpe->past.space->objectives;
    weft_point *point = WEFT_NEW(tpe->past.mem, weft_point, level->n);
    if (m > 1) memcpy(point, level->point, (size_t)level->n * sizeof *point);
    if (m > 1) weft_front_choose(level->n, point, m, good);
    for (int64_t i = 0; i < good; i++)
        set[m > 1 ? point[i].id : level->result[i].id] = GOOD;
}

/* 1: trial i is of the set and has axis a. */
static int counts(const tpe_sampler *tpe, const tpe_set *set, tpe_set which, int a,
                  int64_t i)
{
    return set[i] == which &&
           (tpe->axis[a].missing == 0 || !isnan(tpe->past.trial[i].conf[a]));
}

/* The number of trials of a set that have axis a, and their weights by age. */
static int64_t weigh(const tpe_sampler *tpe, const tpe_set *set, tpe_set which, int a,
                     double *weight)
{
    int64_t n = 0, rank = 0;
    for (int64_t i = 0; i < tpe->past.n; i++) n += counts(tpe, set, which, a, i);
    for (int64_t i = 0; i < tpe->past.n; i++)
        if (counts(tpe, set, which, a, i)) weight[i] = weft_parzen_weight(rank++, n);
    return n;
}

/* ---- independent axes ---- */

static weft_parzen fit(const tpe_sampler *tpe, int a, const tpe_set *set, tpe_set which)
{
    const tpe_axis *axis = &tpe->axis[a];
    double *weight = WEFT_NEW(tpe->past.mem, double, tpe->past.n);
    int64_t n = weigh(tpe, set, which, a, weight);
    double *at = WEFT_NEW(tpe->past.mem, double, 2 * n), *own = at + n;
    for (int64_t i = 0, j = 0; i < axis->n; i++)
        if (set[axis->place[i].trial] == which) {
            at[j] = axis->place[i].at;
            own[j++] = weight[axis->place[i].trial];
        }
    return weft_parzen_new(n, at, own, tpe->form == HYPEROPT, tpe->past.mem);
}

static weft_rng4 draw_at(const tpe_sampler *tpe, int64_t number, int a, int64_t draw)
{
    return weft_rng_at(tpe->seed, WEFT_RNG_TUNER, (uint64_t)number,
                       weft_axis_key(&tpe->past.space->axis[a]), (uint64_t)draw);
}

static double compare(const weft_axis *axis, weft_axis_type type, double value, double at,
                      const weft_parzen *l, const weft_parzen *g)
{
    double lo = 0, hi = 1;
    if (type == WEFT_AXIS_REAL) return weft_parzen_log(l, at) - weft_parzen_log(g, at);
    weft_axis_cell(axis, value, &lo, &hi);
    return weft_parzen_log_mass(l, lo, hi) - weft_parzen_log_mass(g, lo, hi);
}

/* The value of axis a behind those of the axes before it, in conf; NAN: all candidates are
 * forbidden beside them. */
static double propose_number(const struct step *step, int a, double *conf)
{
    const tpe_sampler *tpe = step->tpe;
    const weft_axis *axis = &tpe->past.space->axis[a];
    weft_axis_type type = tpe->past.type[a];
    weft_parzen l = fit(tpe, a, step->set, GOOD), g = fit(tpe, a, step->set, BAD);
    double *tried = WEFT_NEW(tpe->past.mem, double, CANDIDATES), best = NAN,
           most = -INFINITY;
    for (int64_t c = 0; c < CANDIDATES; c++) {
        weft_rng4 rng = draw_at(tpe, step->number, a, c);
        double at = weft_parzen_draw(&l, weft_rng_unit(rng.v[0]), weft_rng_unit(rng.v[1]));
        int64_t e = 0;
        tried[c] = weft_axis_value(axis, at);
        while (fabs(tried[e] - tried[c]) > 0) e++;
        if (e < c) continue; /* the same value as an earlier candidate */
        conf[a] = tried[c];
        if (weft_space_forbids(tpe->past.space, conf)) continue;
        double gain = compare(axis, type, tried[c], at, &l, &g);
        if (!isnan(best) && !(gain > most)) continue;
        most = gain;
        best = tried[c];
    }
    return best;
}

/* Probabilities p[levels] of a category's levels in a set. */
static void fit_levels(const tpe_sampler *tpe, int a, const tpe_set *set, tpe_set which,
                       double *p)
{
    const weft_axis *axis = &tpe->past.space->axis[a];
    double *weight = WEFT_NEW(tpe->past.mem, double, tpe->past.n);
    double *sum = WEFT_NEW(tpe->past.mem, double, axis->nvalue);
    int64_t n = weigh(tpe, set, which, a, weight);
    for (int64_t i = 0; i < tpe->past.n; i++)
        if (weight[i] > 0)
            sum[weft_axis_index(axis, tpe->past.trial[i].conf[a])] += weight[i];
    weft_parzen_levels(n, axis->nvalue, sum, tpe->form == HYPEROPT, p);
}

static double propose_level(const struct step *step, int a, double *conf)
{
    const tpe_sampler *tpe = step->tpe;
    const weft_axis *axis = &tpe->past.space->axis[a];
    double *l = WEFT_NEW(tpe->past.mem, double, axis->nvalue);
    double *g = WEFT_NEW(tpe->past.mem, double, axis->nvalue);
    fit_levels(tpe, a, step->set, GOOD, l);
    fit_levels(tpe, a, step->set, BAD, g);
    int64_t best = -1;
    for (int64_t c = 0; c < CANDIDATES; c++) {
        weft_rng4 rng = draw_at(tpe, step->number, a, c);
        int64_t at = weft_parzen_pick(axis->nvalue, l, weft_rng_unit(rng.v[0]));
        conf[a] = axis->value[at];
        if (weft_space_forbids(tpe->past.space, conf)) continue;
        if (best < 0 || l[at] * g[best] > l[best] * g[at]) best = at;
    }
    return best < 0 ? (double)NAN : axis->value[best];
}

/* ---- all axes jointly, one kernel per trial ---- */

static weft_product join(const tpe_sampler *tpe, const tpe_set *set, tpe_set which)
{
    const weft_past *past = &tpe->past;
    int64_t n = 0;
    for (int64_t i = 0; i < past->n; i++) n += set[i] == which;
    weft_product product = weft_product_new(past->space->dim, n + 1, tpe->past.mem);
    for (int a = 0; a < product.dim; a++) {
        weft_product_axis *kernels = &product.axis[a];
        int category = past->type[a] == WEFT_AXIS_CATEGORY;
        kernels->levels = category ? past->space->axis[a].nvalue : 0;
        for (int64_t i = 0, j = 0; i < past->n; i++) {
            double value = past->trial[i].conf[a];
            if (set[i] != which) continue;
            kernels->mu[j++] = isnan(value) ? NAN : weft_past_place(past, a, value);
        }
    }
    weft_product_joint(&product);
    return product;
}

static weft_product_point point_of(const weft_past *past, int a, double value)
{
    weft_product_point point = {weft_past_place(past, a, value), 0, 0};
    if (past->type[a] == WEFT_AXIS_DISCRETE)
        weft_axis_cell(&past->space->axis[a], value, &point.lo, &point.hi);
    return point;
}

static void propose_jointly(const struct step *step, double *conf)
{
    const tpe_sampler *tpe = step->tpe;
    const weft_space *space = tpe->past.space;
    weft_product l = join(tpe, step->set, GOOD), g = join(tpe, step->set, BAD);
    weft_product_point *point = WEFT_NEW(tpe->past.mem, weft_product_point, space->dim);
    double *own = WEFT_NEW(tpe->past.mem, double, space->dim), most = 0;
    int found = 0;
    for (int64_t c = 0; c < CANDIDATES; c++) {
        weft_rng4 which =
            weft_rng_at(tpe->seed, WEFT_RNG_TUNER, (uint64_t)step->number, 0, (uint64_t)c);
        int64_t j = weft_parzen_pick(l.n, l.share, weft_rng_unit(which.v[0]));
        for (int i = 0; i < space->dim; i++) {
            int a = space->order[i];
            weft_rng4 rng = draw_at(tpe, step->number, a, c);
            own[a] = NAN;
            point[a] = (weft_product_point){NAN, 0, 0};
            if (!weft_space_is_active(space, own, a)) continue;
            own[a] = weft_past_value(&tpe->past, a, weft_product_draw(&l.axis[a], j, &rng));
            point[a] = point_of(&tpe->past, a, own[a]);
        }
        double gain = weft_product_log(&l, point) - weft_product_log(&g, point);
        if ((found && !(gain > most)) || weft_space_forbids(space, own)) continue;
        most = gain;
        found = 1;
        memcpy(conf, own, (size_t)space->dim * sizeof *conf);
    }
}

/* ---- vtable ---- */

static void tpe_propose(void *self, int64_t number, double *conf)
{
    const tpe_sampler *tpe = self;
    const weft_space *space = tpe->past.space;
    const weft_past_level *level = weft_past_highest(&tpe->past, tpe->startup);
    if (!level || space->dim == 0) {
        weft_space_config(space, number, conf);
        return;
    }
    WEFT_REWIND(tpe->past.mem);
    struct step step = {
        .tpe = tpe, .number = number, .set = WEFT_NEW(tpe->past.mem, tpe_set, tpe->past.n)};
    divide(&step, level);
    for (int a = 0; a < space->dim; a++) conf[a] = NAN;
    if (tpe->form == JOINT) propose_jointly(&step, conf);
    for (int i = 0; tpe->form != JOINT && i < space->dim; i++) {
        int a = space->order[i];
        if (weft_space_is_active(space, conf, a))
            conf[a] = tpe->past.type[a] == WEFT_AXIS_CATEGORY
                          ? propose_level(&step, a, conf)
                          : propose_number(&step, a, conf);
    }
    if (space->nforbid > 0 && weft_space_misfit(space, conf) >= 0)
        weft_space_config(space, number, conf); /* all candidates were forbidden */
}

WEFT_PLUGIN(sampler, tpe) = {
    .kind = WEFT_KIND("tpe", tpe_sampler, tpe_opts,
                      "tree-structured Parzen estimators: what the best trials share"),
    .setup = tpe_setup,
    .propose = tpe_propose,
    .told = weft_past_told,
    .pending = tpe_pending,
    .enough = tpe_enough,
    .fronts = 1,
};
