/* Bayesian optimisation with a random forest as surrogate model of the losses. The mean and
 * the variance over its trees give an acquisition function, and an evolution strategy for
 * real numbers, integers and categories finds the configuration that maximises it. The
 * forest learns the losses' ranks, as 0 .. 1, or, as in MiP-EGO, the losses scaled to 0 ..
 * 1; trials in flight count with what the forest predicts for them. van Stein, Wang, Back,
 * "Automatic configuration of deep neural networks with parallel efficient global
 * optimization", IJCNN 2019 (MiP-EGO); Hader, thesis on tuning text CNNs with it; Hutter,
 * Hoos, Leyton-Brown, "Sequential model-based optimization for general algorithm
 * configuration", LION 2011. */
#include "durations.h"
#include "gain.h"
#include "leaves.h"
#include "mies.h"
#include "trees.h"

#include <math.h>
#include <string.h>

typedef struct forest {
    /* options */
    int64_t design, trees, leaf, generations, steps;
    double features, t, spread, t_last;
    int categories, criterion, cooling, liar, per_cost, scale;
    /* state */
    uint64_t seed;
    weft_arena *mem;
    weft_past past;
    int conditional;      /* 1: some axes do not exist in all configurations */
    weft_axis_type *type; /* [dim] */
    weft_gene *gene;      /* [dim] */
    int *values;          /* [dim] number of values of an axis that is not real */
    int *levels; /* [dim] levels of a category, including one for a missing axis; 0: a
                    number */
} forest;

enum { OFF, BELIEVER };
enum { LINEAR, RANK };
enum { ORDERED, ONEHOT };
/* Of the evolution strategy, as in Hader's thesis; generations without improvement after
 * which it restarts. */
enum { PARENTS = 4, CHILDREN = 10, STALL = 50 };

static const weft_opt forest_opts[] = {
    WEFT_LONG_OPT("design", forest, design, "10", 1, 1e6,
                  "number of initial trials, a Latin hypercube; also the number of results "
                  "that a resource must have to be learnt from"),
    WEFT_LONG_OPT("trees", forest, trees, "110", 2, 10000, "trees of the forest"),
    WEFT_REAL_OPT("features", forest, features, "0.8333333333333334", 0, 1,
                  "share of the axes that are candidates for a split, rounded up"),
    WEFT_LONG_OPT("leaf", forest, leaf, "2", 1, 1e6, "least number of results in a leaf"),
    WEFT_CHOICE_OPT(
        "categories", forest, categories, "ordered", "ordered|onehot",
        "splits of a category: any set of its levels against the rest, found in the order "
        "of their mean losses (ordered), or one level against all others (onehot)"),
    WEFT_CHOICE_OPT("criterion", forest, criterion, "mgfi", "ei|pi|mgfi",
                    "acquisition: expected improvement, its probability, or its "
                    "moment-generating function"),
    WEFT_REAL_OPT("t", forest, t, "1", 1e-3, 22.36,
                  "initial temperature of mgfi: a larger one explores more; logarithmic "
                  "cooling has its own"),
    WEFT_REAL_OPT(
        "spread", forest, spread, "0.5", 0, 3,
        "standard deviation of log t over proposals, so that parallel proposals differ"),
    WEFT_CHOICE_OPT("cooling", forest, cooling, "none",
                    "none|exponential|linear|logarithmic", "of t, from `t` to `t_last`"),
    WEFT_REAL_OPT("t_last", forest, t_last, "0.1", 1e-3, 22.36, "temperature at the end"),
    WEFT_LONG_OPT("steps", forest, steps, "0", 0, 1e9,
                  "proposals until t_last; auto: space.configs without the design",
                  .words = "auto"),
    WEFT_CHOICE_OPT("liar", forest, liar, "believer", "off|believer",
                    "trials in flight: count with the loss that the forest predicts "
                    "(believer), or not (off)"),
    WEFT_CHOICE_OPT("scale", forest, scale, "rank", "linear|rank",
                    "of losses before a fit, to 0 .. 1: by their order alone, so that a "
                    "few large ones do not hide the differences between the good ones "
                    "(rank), or linear, as in MiP-EGO"),
    WEFT_LONG_OPT(
        "generations", forest, generations, "500", 1, 1e6,
        "generations of the evolution strategy that maximises the acquisition function"),
    WEFT_BOOL_OPT("per_cost", forest, per_cost, "no",
                  "divide the acquisition function by the predicted virtual seconds of the "
                  "configuration, or by its operations where the virtual seconds of a job "
                  "are its resource"),
    {0},
};

static const weft_when forest_when[] = {
    {"t", "criterion", "mgfi"},
    {"t", "cooling", "none|exponential|linear"},
    {"spread", "criterion", "mgfi"},
    {"cooling", "criterion", "mgfi"},
    {"t_last", "criterion", "mgfi"},
    {"t_last", "cooling", "exponential|linear|logarithmic"},
    {"steps", "criterion", "mgfi"},
    {"steps", "cooling", "exponential|linear|logarithmic"},
    {0}};

/* ---- axes ---- */

static void see_axis(forest *t, int a)
{
    const weft_axis *axis = &t->past.space->axis[a];
    t->conditional |= axis->nwhen > 0;
    t->type[a] = weft_axis_type_of(axis);
    t->gene[a] = WEFT_GENE_REAL;
    if (t->type[a] == WEFT_AXIS_REAL) return;
    t->values[a] = axis->nvalue ? axis->nvalue : (int)(axis->hi - axis->lo + 1);
    if (t->type[a] == WEFT_AXIS_CATEGORY) {
        t->gene[a] = WEFT_GENE_LEVEL;
        t->levels[a] = axis->nvalue + 1;
    } else if (!axis->log) {
        t->gene[a] = WEFT_GENE_WHOLE;
    }
}

/* The feature of the trees for a value of axis a. */
static double feature_of(const forest *t, int a, double value)
{
    const weft_axis *axis = &t->past.space->axis[a];
    double nowhere = -1;
    if (t->type[a] == WEFT_AXIS_CATEGORY)
        return isnan(value) ? axis->nvalue : weft_axis_index(axis, value);
    return isnan(value) ? nowhere : weft_axis_unit(axis, value);
}

/* The value of axis a that a gene encodes. */
static double value_of(const forest *t, int a, double gene)
{
    const weft_axis *axis = &t->past.space->axis[a];
    if (t->gene[a] == WEFT_GENE_LEVEL) return axis->value[(int)gene];
    if (t->gene[a] == WEFT_GENE_WHOLE)
        return weft_axis_value(axis, (gene + 0.5) / t->values[a]);
    return weft_axis_value(axis, gene);
}

/* The feature of the trees for a gene of axis a. */
static double feature_of_gene(const forest *t, int a, double gene)
{
    if (t->gene[a] == WEFT_GENE_WHOLE) return (gene + 0.5) / t->values[a];
    if (t->gene[a] == WEFT_GENE_REAL && t->type[a] == WEFT_AXIS_DISCRETE)
        return feature_of(t, a, value_of(t, a, gene));
    return gene;
}

/* ---- setup and results ---- */

static weft_status forest_setup(void *self, const weft_space *space, uint64_t seed,
                                weft_arena *mem)
{
    forest *t = self;
    if (t->leaf > t->design)
        return weft_fail(WEFT_ECONF,
                         "forest.leaf = %lld is more than forest.design = %lld, the "
                         "results of the first forest, whose trees would not be divided; "
                         "expected a smaller leaf or a larger design",
                         (long long)t->leaf, (long long)t->design);
    if (t->steps == 0 && space->count > t->design) t->steps = space->count - t->design;
    t->mem = mem;
    t->seed = weft_hash("forest", 6, seed);
    weft_past_setup(&t->past, space, mem);
    t->type = WEFT_NEW(mem, weft_axis_type, space->dim);
    t->gene = WEFT_NEW(mem, weft_gene, space->dim);
    t->values = WEFT_NEW(mem, int, space->dim);
    t->levels = WEFT_NEW(mem, int, space->dim);
    for (int a = 0; a < space->dim; a++) see_axis(t, a);
    return WEFT_OK;
}

static void forest_pending(void *self, int64_t number, const double *conf, double resource)
{
    forest *t = self;
    (void)resource;
    weft_past_pending(&t->past, number, conf);
}

static void forest_told(void *self, int64_t number, const weft_observation *observed)
{
    forest *t = self;
    weft_past_told(&t->past, number, observed);
}

static int64_t forest_enough(const void *self, const char **option)
{
    const forest *t = self;
    *option = "design";
    return t->design;
}

/* ---- design ---- */

/* Point `at` of a Latin hypercube: each axis is divided into as many equal intervals as the
 * design has points, and each interval has one point; the levels of a category occur
 * equally often, as far as possible. */
static void propose_design(const forest *t, int64_t at, double *conf)
{
    const weft_space *space = t->past.space;
    int64_t *order = WEFT_NEW(t->mem, int64_t, t->design);
    for (int a = 0; a < space->dim; a++) {
        uint64_t key = weft_axis_key(&space->axis[a]);
        weft_rng4 rng = weft_rng_at(t->seed, WEFT_RNG_TUNER, (uint64_t)at, key, 0);
        weft_shuffle(t->design, t->seed + key, order, t->mem);
        double unit = t->type[a] == WEFT_AXIS_CATEGORY ? 0.5 : weft_rng_unit(rng.v[0]);
        conf[a] = weft_axis_value(&space->axis[a],
                                  ((double)order[at] + unit) / (double)t->design);
    }
    weft_past_prune(space, conf);
}

/* ---- the model ---- */

/* A forest for losses and one for the logarithms of seconds. */
typedef struct model {
    const forest *own;
    weft_trees loss, seconds;
    weft_leaves *loss_leaves, *seconds_leaves; /* NULL: too many */
    double t;
    double *x;    /* [children][dim] scratch */
    double *conf; /* [dim] scratch */
    double *mean, *variance, *cost;
} model;

static void fill_row(const forest *t, int64_t trial, double *row)
{
    for (int a = 0; a < t->past.space->dim; a++)
        row[a] = feature_of(t, a, t->past.trial[trial].conf[a]);
}

/* Appends the trials in flight that have no result at this resource to x[n][dim]. */
static int add_in_flight(const forest *t, const weft_past_level *level, int n, double *x)
{
    char *known = WEFT_NEW(t->mem, char, t->past.n);
    for (int64_t i = 0; i < level->n; i++) known[level->result[i].rank.id] = 1;
    for (int64_t i = 0; i < t->past.n; i++)
        if (!known[i] && t->past.trial[i].in_flight)
            fill_row(t, i, x + (size_t)n++ * (size_t)t->past.space->dim);
    return n;
}

static weft_trees_rule rule_of(const forest *t)
{
    return (weft_trees_rule){
        .trees = (int)t->trees,
        .tries = (int)fmax(1, ceil(t->features * t->past.space->dim - 1e-9)),
        .leaf = (int)t->leaf,
        .alone = t->categories == ONEHOT};
}

static void learn(const forest *t, const weft_past_level *level, int64_t number, model *m)
{
    weft_trees_rule rule = rule_of(t);
    int dim = t->past.space->dim, n = (int)level->n;
    uint64_t seed = weft_hash(&number, sizeof number, t->seed);
    double *x = WEFT_NEW(t->mem, double, (size_t)t->past.n *(size_t)dim);
    double *y = WEFT_NEW(t->mem, double, t->past.n);
    for (int i = 0; i < n; i++)
        fill_row(t, level->result[i].rank.id, x + (size_t)i * (size_t)dim);
    if (t->per_cost) {
        weft_durations_observed(level, y);
        weft_trees_grow(&m->seconds, &rule, n, dim, t->levels, x, y, seed + 1, t->mem);
        m->seconds_leaves = weft_leaves_new(&m->seconds, t->mem);
    }
    if (t->scale == RANK)
        weft_past_ranked(level, y);
    else
        weft_past_scaled(level, y);
    weft_trees_grow(&m->loss, &rule, n, dim, t->levels, x, y, seed, t->mem);
    int all = t->liar == BELIEVER ? add_in_flight(t, level, n, x) : n;
    if (all > n) weft_trees_believe(&m->loss, &rule, n, all, x, y, seed, t->mem);
    m->loss_leaves = weft_leaves_new(&m->loss, t->mem);
}

/* Predicts n points m->x. */
static void ask(const model *m, const weft_trees *trees, const weft_leaves *leaves, int n,
                double *mean)
{
    if (leaves)
        weft_leaves_ask(leaves, n, m->x, mean, m->variance, m->own->mem);
    else
        weft_trees_ask(trees, n, m->x, mean, m->variance, m->own->mem);
}

/* Sets the features of the axes that a point does not have. */
static void hide_missing(const forest *t, model *m, const double *gene, double *row)
{
    const weft_space *space = t->past.space;
    for (int a = 0; a < space->dim; a++) m->conf[a] = value_of(t, a, gene[a]);
    weft_past_prune(space, m->conf);
    for (int a = 0; a < space->dim; a++)
        if (isnan(m->conf[a])) row[a] = feature_of(t, a, NAN);
}

/* Acquisition function of n points of the evolution strategy. */
static void acquire(void *own, int n, const double *gene, double *value)
{
    model *m = own;
    const forest *t = m->own;
    int dim = t->past.space->dim;
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)i * (size_t)dim;
        for (int a = 0; a < dim; a++)
            m->x[at + (size_t)a] = feature_of_gene(t, a, gene[at + (size_t)a]);
        if (t->conditional) hide_missing(t, m, gene + at, m->x + at);
    }
    ask(m, &m->loss, m->loss_leaves, n, m->mean);
    for (int i = 0; i < n; i++)
        value[i] = weft_gain_log((weft_gain)t->criterion, m->mean[i], sqrt(m->variance[i]),
                                 0, m->t);
    if (!t->per_cost) return;
    ask(m, &m->seconds, m->seconds_leaves, n, m->cost);
    for (int i = 0; i < n; i++) value[i] -= m->cost[i];
}

/* The temperature of a proposal. */
static double temperature(const forest *t, int64_t number)
{
    weft_rng4 rng = weft_rng_at(t->seed, WEFT_RNG_TUNER, (uint64_t)number, 0, 1);
    double cooled = weft_gain_cooled((weft_cooling)t->cooling, t->t, t->t_last,
                                     (double)(t->past.n - t->design), (double)t->steps);
    return weft_gain_spread(cooled, t->spread, &rng);
}

/* ---- proposals ---- */

static int is_known(const forest *t, const double *conf)
{
    int dim = t->past.space->dim;
    for (int64_t i = 0; i < t->past.n; i++) {
        int a = 0;
        for (; a < dim; a++) {
            double b = t->past.trial[i].conf[a];
            if (fabs(conf[a] - b) > 0 || isnan(conf[a]) != isnan(b)) break;
        }
        if (a == dim) return 1;
    }
    return 0;
}

static void propose_from(const forest *t, const weft_past_level *level, int64_t number,
                         double *conf)
{
    int dim = t->past.space->dim;
    size_t most = CHILDREN;
    model m = {.own = t,
               .t = temperature(t, number),
               .x = WEFT_NEW(t->mem, double, most *(size_t)dim),
               .conf = WEFT_NEW(t->mem, double, dim),
               .mean = WEFT_NEW(t->mem, double, 3 * most)};
    m.variance = m.mean + most;
    m.cost = m.variance + most;
    learn(t, level, number, &m);
    weft_mies search = {.dim = dim,
                        .gene = t->gene,
                        .levels = t->values,
                        .parents = PARENTS,
                        .children = CHILDREN,
                        .generations = t->generations,
                        .stall = STALL,
                        .seed = t->seed + 1,
                        .key = (uint64_t)number,
                        .value = acquire,
                        .own = &m};
    double *best = WEFT_NEW(t->mem, double, dim);
    weft_mies_run(&search, best, t->mem);
    for (int a = 0; a < dim; a++) conf[a] = value_of(t, a, best[a]);
    weft_past_prune(t->past.space, conf);
    if (is_known(t, conf)) weft_space_config(t->past.space, number, conf);
}

static void forest_propose(void *self, int64_t number, double *conf)
{
    const forest *t = self;
    const weft_space *space = t->past.space;
    const weft_past_level *level = weft_past_highest(&t->past, t->design);
    size_t mark = weft_arena_mark(t->mem);
    if (space->dim > 0 && t->past.n < t->design)
        propose_design(t, t->past.n, conf);
    else if (space->dim > 0 && level)
        propose_from(t, level, number, conf);
    else
        weft_space_config(space, number, conf);
    weft_arena_reset(t->mem, mark);
}

extern const weft_sampler weft_sampler_forest;
const weft_sampler weft_sampler_forest = {
    .kind = {.name = "forest",
             .about =
                 "random forest and evolution strategy: MiP-EGO, for spaces of all kinds",
             .size = sizeof(forest),
             .opts = forest_opts,
             .when = forest_when},
    .setup = forest_setup,
    .propose = forest_propose,
    .told = forest_told,
    .pending = forest_pending,
    .enough = forest_enough,
};
