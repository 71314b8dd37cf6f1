/* Bayesian optimisation with a random forest as surrogate model of the losses. The mean and
 * the variance over its trees give an acquisition function, and an evolution strategy for
 * real numbers, integers and categories finds the configuration that maximises it. The
 * forest learns the losses' ranks, as 0 .. 1, or, as in MiP-EGO, the losses scaled to 0 ..
 * 1; trials in flight count with what the forest predicts for them. With many of these a
 * forest serves several proposals, each of which its leaves take up. van Stein, Wang, Back,
 * "Automatic configuration of deep neural networks with parallel efficient global
 * optimization", IJCNN 2019 (MiP-EGO); Hader, thesis on tuning text CNNs with it; Hutter,
 * Hoos, Leyton-Brown, "Sequential model-based optimization for general algorithm
 * configuration", LION 2011. */
#include "forest.h"
#include "learn.h"

#include <math.h>

typedef struct forest_sampler {
    weft_past past;
    uint64_t seed;
    int conditional; /* 1: some axes do not exist in all configurations */
    weft_gene *gene; /* [dim] */
    int *values;     /* [dim] number of values of an axis that is not real */
    int *levels;     /* [dim] levels of a category, including one for a missing axis; 0: a
                        number */
    /* the forest, in an arena of its own, which serves until the next one is grown */
    weft_arena *kept;
    weft_trees model;
    double resource; /* of its results */
    int64_t grown;   /* trials when it was grown; 0: there is none */
    int64_t taken;   /* trials that it has: its leaves took up those after `grown` */
    /* options */
    int64_t design, trees, generations;
    int scale;
} forest_sampler;

enum { LINEAR, RANK };
/* Of the evolution strategy, as in Hader's thesis; generations without improvement after
 * which it restarts. */
enum { PARENTS = 4, CHILDREN = 10, STALL = 50 };
/* Of the trees, as in MiP-EGO: the share of the axes that are candidates for a split,
 * rounded up, and the least number of results in a leaf. */
static const double features = 5. / 6;
enum { LEAF = 2 };
/* Where a forest serves several proposals: most results that it learns from. */
enum { MOST = 500 };
/* Standard deviation of the logarithm of the temperature over proposals, so that parallel
 * proposals differ. */
static const double spread = 0.5;

static const weft_opt forest_opts[] = {
    WEFT_LONG_OPT("design", forest_sampler, design, "10", LEAF, 1e6,
                  "number of initial trials, a Latin hypercube; also the number of results "
                  "that a resource must have to be learnt from"),
    WEFT_LONG_OPT("trees", forest_sampler, trees, "110", 2, 10000, "trees of the forest"),
    WEFT_CHOICE_OPT(
        "scale", forest_sampler, scale, "rank", "linear|rank",
        "how losses become 0 .. 1 before a fit. rank: by their order alone, so that a few "
        "large ones do not hide differences between good ones. linear: as in MiP-EGO"),
    WEFT_LONG_OPT(
        "generations", forest_sampler, generations, "500", 1, 1e6,
        "generations of the evolution strategy that maximises the acquisition function"),
    {0},
};

/* ---- axes ---- */

static void see_axis(forest_sampler *forest, int a)
{
    const weft_axis *axis = &forest->past.space->axis[a];
    forest->conditional |= axis->nwhen > 0;
    forest->gene[a] = WEFT_GENE_REAL;
    if (forest->past.type[a] == WEFT_AXIS_REAL) return;
    forest->values[a] = axis->nvalue ? axis->nvalue : (int)(axis->hi - axis->lo + 1);
    if (forest->past.type[a] == WEFT_AXIS_CATEGORY) {
        forest->gene[a] = WEFT_GENE_LEVEL;
        /* trees divide longer lists by places in them */
        if (axis->nvalue < WEFT_TREE_LEVELS) forest->levels[a] = axis->nvalue + 1;
    } else if (!axis->log) {
        forest->gene[a] = WEFT_GENE_WHOLE;
    }
}

/* The feature of the trees for a value of axis a. */
static double feature_of(const forest_sampler *forest, int a, double value)
{
    double nowhere = forest->past.type[a] == WEFT_AXIS_CATEGORY ? forest->values[a] : -1;
    return isnan(value) ? nowhere : weft_past_place(&forest->past, a, value);
}

static double value_of(const forest_sampler *forest, int a, double gene)
{
    double at =
        forest->gene[a] == WEFT_GENE_WHOLE ? (gene + 0.5) / forest->values[a] : gene;
    return weft_past_value(&forest->past, a, at);
}

static double feature_of_gene(const forest_sampler *forest, int a, double gene)
{
    if (forest->gene[a] == WEFT_GENE_WHOLE) return (gene + 0.5) / forest->values[a];
    if (forest->gene[a] == WEFT_GENE_REAL && forest->past.type[a] == WEFT_AXIS_DISCRETE)
        return feature_of(forest, a, value_of(forest, a, gene));
    return gene;
}

/* ---- setup and results ---- */

static weft_status forest_setup(void *self, const weft_space *space, uint64_t seed,
                                weft_arena *mem)
{
    forest_sampler *forest = self;
    forest->seed = weft_hash("forest", 6, seed);
    weft_past_setup(&forest->past, space, mem);
    forest->gene = WEFT_NEW(mem, weft_gene, space->dim);
    forest->values = WEFT_NEW(mem, int, space->dim);
    forest->levels = WEFT_NEW(mem, int, space->dim);
    for (int a = 0; a < space->dim; a++) see_axis(forest, a);
    forest->kept = weft_arena_within(mem);
    return WEFT_OK;
}

static int64_t forest_enough(const void *self, const char **option)
{
    const forest_sampler *forest = self;
    *option = "design";
    return forest->design;
}

/* ---- the model ---- */

/* What proposal points are judged by. */
struct model {
    const forest_sampler *own;
    double t;
    double *x;    /* [children][dim] scratch */
    double *conf; /* [dim] scratch */
    double *mean, *variance;
};

static void fill_row(const forest_sampler *forest, int64_t trial, double *row)
{
    for (int a = 0; a < forest->past.space->dim; a++)
        row[a] = feature_of(forest, a, forest->past.trial[trial].conf[a]);
}

/* Which of n results, the best first, it learns from: of more than `most` the best half of
 * these, and of the others every so manieth. */
static int is_learnt(int64_t i, int64_t n, int64_t most)
{
    int64_t half = most / 2, rest = n - half, at = i - half;
    if (n <= most || at < 0) return 1;
    return at * half / rest != (at + 1) * half / rest;
}

/* Appends the trials in flight that have no result at this resource to x[n][dim]. */
static int add_in_flight(const forest_sampler *forest, const weft_past_level *level, int n,
                         double *x)
{
    char *known = WEFT_NEW(forest->past.mem, char, forest->past.n);
    for (int64_t i = 0; i < level->n; i++) known[level->result[i].id] = 1;
    for (int64_t i = 0; i < forest->past.n; i++)
        if (!known[i] && forest->past.trial[i].in_flight)
            fill_row(forest, i, x + (size_t)n++ * (size_t)forest->past.space->dim);
    return n;
}

static weft_trees_rule rule_of(const forest_sampler *forest)
{
    return (weft_trees_rule){
        .trees = (int)forest->trees,
        .tries = (int)fmax(1, ceil(features * forest->past.space->dim - 1e-9)),
        .leaf = LEAF};
}

static void grow(forest_sampler *forest, const weft_past_level *level, int64_t number,
                 int64_t turns)
{
    weft_trees_rule rule = rule_of(forest);
    weft_arena *mem = forest->past.mem;
    int dim = forest->past.space->dim, n = 0;
    int64_t most = turns > 1 ? MOST : INT64_MAX, last = forest->past.n;
    uint64_t seed = weft_hash(&number, sizeof number, forest->seed);
    double *x = WEFT_NEW(mem, double, (size_t)forest->past.n *(size_t)dim);
    double *y = WEFT_NEW(mem, double, forest->past.n);
    (forest->scale == RANK ? weft_past_ranked : weft_past_scaled)(level, y);
    for (int64_t i = 0; i < level->n; i++) {
        if (!is_learnt(i, level->n, most)) continue;
        y[n] = y[i];
        fill_row(forest, level->result[i].id, x + (size_t)n++ * (size_t)dim);
    }
    weft_arena_reset(forest->kept, 0);
    weft_trees_grow(&forest->model, &rule, n, dim, forest->levels, x, y, seed,
                    forest->kept);
    forest->resource = level->resource;
    forest->grown = last;
    forest->taken = last;
    if (turns > 1) return;
    int all = add_in_flight(forest, level, n, x);
    if (all > n)
        weft_trees_believe(&forest->model, &rule, n, all, x, y, seed, forest->kept);
}

/* Leaves take up the trials since it was grown, which are in flight; with those before
 * them, too, trees agreed where many are, and a search found less. */
static void take_up(forest_sampler *forest)
{
    double *row = WEFT_NEW(forest->past.mem, double, forest->past.space->dim);
    for (; forest->taken < forest->past.n; forest->taken++) {
        if (!forest->past.trial[forest->taken].in_flight) continue;
        fill_row(forest, forest->taken, row);
        weft_trees_add(&forest->model, row, forest->past.mem);
    }
}

static void learn(forest_sampler *forest, const weft_past_level *level, int64_t number)
{
    int64_t turns = weft_past_turns(&forest->past);
    if (turns == 1 || forest->grown == 0 || forest->past.n - forest->grown >= turns ||
        fabs(level->resource - forest->resource) > 0)
        grow(forest, level, number, turns);
    if (turns > 1) take_up(forest);
}

/* Sets the features of the axes that a point does not have. */
static void hide_missing(const forest_sampler *forest, struct model *model,
                         const double *gene, double *row)
{
    const weft_space *space = forest->past.space;
    for (int a = 0; a < space->dim; a++) model->conf[a] = value_of(forest, a, gene[a]);
    weft_past_prune(space, model->conf);
    for (int a = 0; a < space->dim; a++)
        if (isnan(model->conf[a])) row[a] = feature_of(forest, a, NAN);
}

static int is_forbidden(const forest_sampler *forest, const struct model *model,
                        const double *gene)
{
    const weft_space *space = forest->past.space;
    if (space->nforbid == 0) return 0;
    for (int a = 0; a < space->dim; a++) model->conf[a] = value_of(forest, a, gene[a]);
    weft_past_prune(space, model->conf);
    return weft_space_forbids(space, model->conf) != NULL;
}

/* Acquisition function of n points of the evolution strategy. */
static void acquire(void *own, int n, const double *gene, double *value)
{
    struct model *model = own;
    const forest_sampler *forest = model->own;
    int dim = forest->past.space->dim;
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)i * (size_t)dim;
        for (int a = 0; a < dim; a++)
            model->x[at + (size_t)a] = feature_of_gene(forest, a, gene[at + (size_t)a]);
        if (forest->conditional) hide_missing(forest, model, gene + at, model->x + at);
    }
    weft_trees_ask(&forest->model, n, model->x, model->mean, model->variance,
                   forest->past.mem);
    for (int i = 0; i < n; i++)
        value[i] = is_forbidden(forest, model, gene + (size_t)i * (size_t)dim)
                       ? -INFINITY
                       : weft_gain_log(model->mean[i], sqrt(model->variance[i]), model->t);
}

static double temperature(const forest_sampler *forest, int64_t number)
{
    weft_rng4 rng = weft_rng_at(forest->seed, WEFT_RNG_TUNER, (uint64_t)number, 0, 1);
    return weft_gain_spread(spread, &rng);
}

/* ---- proposals ---- */

/* Fewer where many workers wait for proposals. */
static int64_t generations_of(const forest_sampler *forest)
{
    int64_t all = 128; /* trials in flight beside which there were time for all */
    if (weft_past_turns(&forest->past) == 1) return forest->generations;
    return forest->generations * all / forest->past.flying + 1;
}

static void propose_from(forest_sampler *forest, const weft_past_level *level,
                         int64_t number, double *conf)
{
    int dim = forest->past.space->dim;
    size_t most = CHILDREN;
    struct model model = {.own = forest,
                          .t = temperature(forest, number),
                          .x = WEFT_NEW(forest->past.mem, double, most *(size_t)dim),
                          .conf = WEFT_NEW(forest->past.mem, double, dim),
                          .mean = WEFT_NEW(forest->past.mem, double, 2 * most)};
    model.variance = model.mean + most;
    learn(forest, level, number);
    weft_mies search = {.dim = dim,
                        .gene = forest->gene,
                        .levels = forest->values,
                        .parents = PARENTS,
                        .children = CHILDREN,
                        .generations = generations_of(forest),
                        .stall = STALL,
                        .seed = forest->seed + 1,
                        .key = (uint64_t)number,
                        .value = acquire,
                        .own = &model};
    double *best = WEFT_NEW(forest->past.mem, double, dim);
    weft_mies_run(&search, best, forest->past.mem);
    for (int a = 0; a < dim; a++) conf[a] = value_of(forest, a, best[a]);
    weft_past_prune(forest->past.space, conf);
    if (weft_past_knows(&forest->past, conf))
        weft_space_config(forest->past.space, number, conf);
}

static void forest_propose(void *self, int64_t number, double *conf)
{
    forest_sampler *forest = self;
    const weft_space *space = forest->past.space;
    const weft_past_level *level = weft_past_highest(&forest->past, forest->design);
    WEFT_REWIND(forest->past.mem);
    if (space->dim > 0 && forest->past.n < forest->design)
        weft_past_design(&forest->past, forest->seed, forest->past.n, forest->design, conf);
    else if (space->dim > 0 && level)
        propose_from(forest, level, number, conf);
    else
        weft_space_config(space, number, conf);
    if (weft_space_forbids(space, conf)) weft_space_config(space, number, conf);
}

WEFT_PLUGIN(sampler, forest) = {
    .kind =
        WEFT_KIND("forest", forest_sampler, forest_opts,
                  "random forest and evolution strategy: MiP-EGO, for spaces of all kinds"),
    .setup = forest_setup,
    .propose = forest_propose,
    .told = weft_past_told,
    .pending = weft_past_pending,
    .enough = forest_enough,
};
