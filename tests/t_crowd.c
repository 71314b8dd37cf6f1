/* The samplers forest and gp with many trials in flight: how many operations a proposal
 * takes, that proposals are a function of what came before and apart from each other, and
 * that results are learnt. RUN: np=1 */
#include "sampler/forest.h"
#include "sampler/process.h"

#include <math.h>

static double operations, growths;

/* ---- the samplers with counters of operations ---- */

static void grow_counted(weft_trees *trees, const weft_trees_rule *rule, int n, int dim,
                         const int *levels, const double *x, const double *y, uint64_t seed,
                         weft_arena *own)
{
    operations += (double)rule->trees * rule->tries * n * log2(n);
    growths++;
    weft_trees_grow(trees, rule, n, dim, levels, x, y, seed, own);
}

static void ask_counted(const weft_trees *trees, int m, const double *x, double *mean,
                        double *variance, weft_arena *tmp)
{
    double nodes = (double)trees->start[trees->ntree] / trees->ntree;
    operations += (double)m * trees->ntree * log2(nodes + 1);
    weft_trees_ask(trees, m, x, mean, variance, tmp);
}

static void believe_counted(weft_trees *trees, const weft_trees_rule *rule, int n, int all,
                            const double *x, double *y, uint64_t seed, weft_arena *own)
{
    operations += (double)rule->trees * rule->tries * all * log2(all);
    growths++;
    weft_trees_believe(trees, rule, n, all, x, y, seed, own);
}

static void add_counted(weft_gauss *gauss, const double *x)
{
    operations += (double)gauss->n * (double)gauss->n / 2;
    weft_gauss_add(gauss, x);
}

static void judge_counted(const weft_gauss *gauss, int m, const double *x, double *mean,
                          double *variance, weft_arena *tmp)
{
    operations += WEFT_GAUSS_BATCH * (double)gauss->n * (double)gauss->n / 2;
    weft_gauss_ask(gauss, m, x, mean, variance, tmp);
}

static void slopes_counted(const weft_gauss *gauss, const double *x, double *mean,
                           double *variance, double *slopes, weft_arena *tmp)
{
    operations += (double)gauss->n * (double)gauss->n;
    weft_gauss_slopes(gauss, x, mean, variance, slopes, tmp);
}

#define weft_trees_grow     grow_counted
#define weft_trees_ask      ask_counted
#define weft_trees_believe  believe_counted
#define weft_gauss_add      add_counted
#define weft_gauss_ask      judge_counted
#define weft_gauss_slopes   slopes_counted
#define weft_sampler_forest counted_forest
#define weft_sampler_gp     counted_gp
#define propose_from        forest_propose_from
#define learn               forest_learn
#define MOST                FOREST_MOST
#include "sampler/forest.c"
#undef propose_from
#undef learn
#undef MOST
#include "sampler/gp.c"
#include "sampler/process.c"
#define draw gp_draw
#include "sampler/propose.c"
#undef draw
#undef weft_sampler_forest
#undef weft_sampler_gp
#include "functions.h"

/* ---- searches ---- */

static const char *const names[2] = {"forest", "gp"};

static struct minimizer *begin(int sampler, const char *axes, int64_t trials)
{
    struct minimizer *minimizer =
        minimizer_new(axes, printed("[run]\nsampler = %s\n", names[sampler]), trials, 4);
    minimizer->search.sampler = sampler == 0 ? &counted_forest : &counted_gp;
    return minimizer;
}

/* `flying` trials at random are in flight behind `told` that are told. */
static void fill_sky(struct minimizer *minimizer, int told, int flying)
{
    int dim = minimizer->space.dim;
    double *at = WEFT_NEW(mem, double, dim);
    for (int i = 0; i < told + flying; i++) {
        weft_space_config(&minimizer->space, i, at);
        sampler_sees(minimizer, i, at, i < told ? bowl(at) : NAN);
    }
}

/* Proposals conf[n][dim], before each of which the oldest trial in flight is told. */
static void go_on(struct minimizer *minimizer, int told, int flying, int n, double *conf)
{
    int dim = minimizer->space.dim;
    double *at = WEFT_NEW(mem, double, dim);
    for (int i = 0; i < n; i++) {
        weft_space_config(&minimizer->space, told + i, at);
        weft_observation seen = {.conf = at, .resource = 1, .loss = bowl(at)};
        minimizer->search.sampler->told(minimizer->search.sampler_self, told + i, &seen);
        sampler_proposes(minimizer, told + flying + i, conf + i * dim);
        sampler_sees(minimizer, told + flying + i, conf + i * dim, NAN);
    }
}

static void test_turns(void)
{
    static const int64_t flying[5] = {0, 511, 512, 1919, 100000},
                         turns[5] = {1, 1, 16, 59, 64};
    for (int i = 0; i < 5; i++) {
        weft_past past = {.flying = flying[i]};
        ok(weft_past_turns(&past) == turns[i], "%lld in flight: a choice serves %lld",
           (long long)flying[i], (long long)turns[i]);
    }
}

/* 192 proposals a second, each of which may take 5.2 ms. */
static void test_operations(void)
{
    enum { TOLD = 1500, FLYING = 1919, SERVED = 59, N = 2 * SERVED + 1 };
    static const double most[2] = {1.5e6, 6e6};
    const char *axes = function_named("fifteen")->axes;
    for (int s = 0; s < 2; s++) {
        struct minimizer *minimizer = begin(s, axes, TOLD + FLYING + N);
        double *conf = WEFT_NEW(mem, double, N * minimizer->space.dim);
        fill_sky(minimizer, TOLD, FLYING);
        operations = growths = 0;
        go_on(minimizer, TOLD, FLYING, N, conf);
        ok(operations < most[s] * N,
           "%s: a proposal beside %d in flight takes %.3g operations", names[s], FLYING,
           operations / N);
        if (s == 0) is_near(growths, 3, 0, "a forest serves %d of them", SERVED);
    }
}

/* ---- proposals ---- */

enum { TOLD = 60, FLYING = 600, N = 40 };

static void test_proposals(void)
{
    const char *axes = "x0 = 0 .. 1\nx1 = 0 .. 1\n";
    for (int s = 0; s < 2; s++) {
        double one[2 * N], two[2 * N], nearest = INFINITY, mean = 0;
        struct minimizer *minimizer = begin(s, axes, TOLD + FLYING + N);
        fill_sky(minimizer, TOLD, FLYING);
        go_on(minimizer, TOLD, FLYING, N, one);
        minimizer = begin(s, axes, TOLD + FLYING + N);
        fill_sky(minimizer, TOLD, FLYING);
        go_on(minimizer, TOLD, FLYING, N, two);
        ok(memcmp(one, two, sizeof one) == 0, "%s: told the same, it proposes the same",
           names[s]);
        for (int i = 0; i < N; i++) {
            mean += bowl(one + 2 * i) / N;
            for (int j = 0; j < i; j++)
                nearest = fmin(nearest, hypot(one[2 * i] - one[2 * j],
                                              one[2 * i + 1] - one[2 * j + 1]));
        }
        ok(nearest > 1e-9, "proposals by one choice are apart: %.2g", nearest);
        ok(mean < .12, "and better than at random, 0.19: %.2g", mean);
    }
}

MAIN(alone, test_turns, test_operations, test_proposals)
