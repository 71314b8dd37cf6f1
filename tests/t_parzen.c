/* Parzen estimators: densities against Optuna's, the number of good results, draws against
 * their densities.
 * RUN: np=1 */
#include "functions.h"
#include "sampler/learn.h"

/* ---- densities ---- */

/* Mixtures of Optuna 3.1.0 by its _ParzenEstimator: n values on [0, 1] of an axis (in
 * logarithms where it is log), where the density is asked for, its logarithm. */
struct gold {
    const char *what;
    int n;
    double at[3], sigma[3];
    int m;
    double x[5], expected[5], cell;
};

static const struct gold golds[] = {
    {"three values",
     3,
     {.1, .5, .55},
     {.4, .4, .2},
     4,
     {0, .3, .5, 1},
     {-0.787717, -0.573874, -0.530659, -1.173329},
     0},
    {"one value", 1, {.2}, {1. / 3}, 2, {.2, .9}, {-0.253625, -0.670382}, 0},
    {"nothing", 0, {0}, {0}, 2, {.2, .9}, {-0.0040, -0.0390}, 0},
    {"a log axis",
     3,
     {.25, .5, .9247425010840047},
     {.25, .25, .4247425010840047},
     3,
     {0, .5, 1},
     {-1.100245, -0.605422, -0.862675},
     0},
    {"integers",
     3,
     {.1, .3, .3},
     {.2, .2, .2},
     5,
     {.1, .3, .5, .7, .9},
     {-1.151957, -1.068285, -1.592265, -2.457891, -2.969960},
     .1},
};

static void test_densities(void)
{
    for (size_t i = 0; i < LEN(golds); i++) {
        const struct gold *gold = &golds[i];
        const double weight[3] = {1, 1, 1};
        weft_parzen parzen = weft_parzen_new(gold->n, gold->at, weight, 0, mem);
        double sigma = 0, density = 0;
        for (int j = 0; j + 1 < parzen.n; j++) {
            int e = 0;
            while (fabs(gold->at[e] - parzen.mu[j]) > 0) e++;
            sigma = worse(sigma, fabs(parzen.sigma[j] - gold->sigma[e]));
        }
        for (int j = 0; j < gold->m; j++) {
            double found = gold->cell > 0
                               ? weft_parzen_log_mass(&parzen, gold->x[j] - gold->cell,
                                                      gold->x[j] + gold->cell)
                               : weft_parzen_log(&parzen, gold->x[j]);
            density = worse(density, fabs(found - gold->expected[j]));
        }
        is_near(sigma, 0, 1e-9, "%s: widths of kernels", gold->what);
        is_near(density, 0, gold->n ? 1e-6 : 1e-4, "%s: density", gold->what);
    }
    const double sum[3] = {2, 0, 1};
    double p[3];
    weft_parzen_levels(3, 3, sum, 0, p);
    is_near(worse(fabs(log(p[0]) + 0.741937),
                  worse(fabs(log(p[1]) + 1.658228), fabs(log(p[2]) + 1.098612))),
            0, 1e-6, "levels of a category");
}

/* Kernels that are densities integrate to 1, whatever they are on. */
static void test_integral(void)
{
    enum { N = 40, STEPS = 20000 };
    double at[N], weight[N], off = 0;
    for (int n = 0; n < N; n += 13) {
        for (int j = 0; j < n; j++) {
            at[j] = pow((j + .5) / n, 3);
            weight[j] = weft_parzen_weight(j, n);
        }
        weft_parzen parzen = weft_parzen_new(n, at, weight, 1, mem);
        double sum = 0;
        for (int i = 0; i < STEPS; i++)
            sum += exp(weft_parzen_log(&parzen, (i + .5) / STEPS)) / STEPS;
        off = worse(off, fabs(sum - 1));
        for (int whole = 0; whole < 2; whole++) {
            parzen = weft_parzen_new(n, at, weight, whole, mem);
            off = worse(off, fabs(weft_parzen_log_mass(&parzen, 0, 1)));
        }
    }
    is_near(off, 0, 1e-6, "densities integrate to 1");
    const double rising[5] = {1. / 30, .275, .516667, .758333, 1};
    double weights = 0;
    for (int j = 0; j < 30; j++)
        weights = worse(weights, fabs(weft_parzen_weight(j, 30) - (j < 5 ? rising[j] : 1)));
    is_near(weights, 0, 1e-6, "weights of thirty values by age");
}

/* The least whole number that is no less than a / b. */
static int64_t up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static void test_good(void)
{
    static const int64_t n[8] = {10, 11, 20, 21, 50, 100, 250, 300};
    static const int64_t good[8] = {1, 2, 2, 3, 5, 10, 25, 25};
    int usual_rule = 1, hyperopt = 1;
    for (int i = 0; i < 8; i++) usual_rule &= weft_parzen_good(n[i], 0, 0) == good[i];
    for (int64_t m = 1; m <= 400; m++) {
        int64_t tenth = up(m, 10), quarter = 1; /* the least with (4 quarter)^2 >= m */
        usual_rule &= weft_parzen_good(m, 7, 0) == (tenth < 25 ? tenth : 25);
        while (16 * quarter * quarter < m + 3) quarter++;
        hyperopt &= weft_parzen_good(m, 3, 1) == (quarter < m ? quarter : m);
    }
    hyperopt &= weft_parzen_good(10001, 0, 1) == 25 && weft_parzen_good(3, 300, 1) == 3;
    ok(usual_rule, "a tenth of the results is good, at most 25");
    ok(hyperopt, "a quarter of the square root by hyperopt's rule, at most 25");
}

/* ---- draws ---- */

enum { DRAWS = 10000 };

static void test_draws(void)
{
    const double at[4] = {.02, .3, .32, .9}, weight[4] = {.5, 1, 1, 1};
    double critical = 1.63; /* of Kolmogorov and Smirnov's sqrt(n) D, at 1 % */
    for (int whole = 0; whole < 2; whole++) {
        weft_parzen parzen = weft_parzen_new(4, at, weight, whole, mem);
        double *x = WEFT_NEW(mem, double, DRAWS), off = 0;
        for (int i = 0; i < DRAWS; i++) {
            weft_rng4 rng = weft_rng_at(3, WEFT_RNG_TEST, (uint64_t)i, 0, 0);
            x[i] =
                weft_parzen_draw(&parzen, weft_rng_unit(rng.v[0]), weft_rng_unit(rng.v[1]));
        }
        qsort(x, DRAWS, sizeof *x, rising);
        for (int i = 0; i < DRAWS; i++) {
            double cdf = exp(weft_parzen_log_mass(&parzen, 0, x[i]));
            off = worse(off,
                        worse(fabs(cdf - (i + 1.) / DRAWS), fabs(cdf - i / (double)DRAWS)));
        }
        ok(off * sqrt(DRAWS) < critical, "draws have the distribution that they are from");
    }
    double off = 0;
    for (double p = 1e-12; p < 1; p *= 1.7)
        off = worse(off, fabs(weft_normal_cdf(weft_normal_quantile(p)) / p - 1));
    is_near(off, 0, 1e-12, "quantiles of the normal distribution");
    double exponential[700];
    for (int i = 0; i < 700; i++) exponential[i] = -i - i / 700.;
    weft_exp_all(700, exponential);
    for (int i = 0; i < 699; i++)
        off = worse(off, fabs(exponential[i] / exp(-i - i / 700.) - 1));
    is_near(off, 0, 1e-12, "exponentials");
}

/* Pearson's chi-square of counts n[k] of DRAWS draws with log probabilities. */
static double chi_square(int k, const int *n, const double *log_p)
{
    double sum = 0;
    for (int i = 0; i < k; i++) {
        double expected = DRAWS * exp(log_p[i]);
        sum += (n[i] - expected) * (n[i] - expected) / expected;
    }
    return sum;
}

/* Integers are drawn by their cells' masses, levels of a category by their shares. */
static void test_levels(void)
{
    enum { MOST = 8 };
    const double weight[4] = {.5, 1, 1, 1}, seen[4] = {1, 2, 2, 5};
    static const int values[2] = {5, MOST};
    static const double critical[2] = {13.277, 18.475}; /* 1 %, 4 and 7 degrees */
    const struct minimizer *minimizer =
        minimizer_new("i0 = 1 .. 5\ni1 = log 1 .. 8\n", "", 1, 1);
    for (int whole = 0; whole < 2; whole++)
        for (int a = 0; a < 2; a++) {
            const weft_axis *axis = &minimizer->space.axis[a];
            double at[4], log_p[MOST], sum = 0, lo, hi;
            int n[MOST] = {0};
            for (int i = 0; i < 4; i++) at[i] = weft_axis_unit(axis, seen[i]);
            weft_parzen parzen = weft_parzen_new(4, at, weight, whole, mem);
            for (int v = 0; v < values[a]; v++) {
                weft_axis_cell(axis, v + 1, &lo, &hi);
                log_p[v] = weft_parzen_log_mass(&parzen, lo, hi);
                sum += exp(log_p[v]);
            }
            for (uint64_t i = 0; i < DRAWS; i++) {
                weft_rng4 rng = weft_rng_at(4, WEFT_RNG_TEST, i, 0, 0);
                double x = weft_parzen_draw(&parzen, weft_rng_unit(rng.v[0]),
                                            weft_rng_unit(rng.v[1]));
                n[(int)weft_axis_value(axis, x) - 1]++;
            }
            is_near(sum, 1, 1e-12, "masses of %d integers add up to 1", values[a]);
            double found = chi_square(values[a], n, log_p);
            ok(found < critical[a], "and they are drawn so often: chi-square %.3g", found);
        }
    const double sums[3] = {2, 0, 1};
    for (int whole = 0; whole < 2; whole++) {
        double p[3], log_p[3];
        int n[3] = {0};
        weft_parzen_levels(3, 3, sums, whole, p);
        for (int c = 0; c < 3; c++) log_p[c] = log(p[c]);
        for (uint64_t i = 0; i < DRAWS; i++)
            n[weft_parzen_pick(3, p, uniform_of(6, i, 0))]++;
        double found = chi_square(3, n, log_p), most = 9.210; /* 1 %, 2 degrees */
        ok(found < most, "levels are drawn by their shares: chi-square %.3g", found);
    }
}

/* ---- all axes jointly ---- */

/* The same three values by Optuna 3.1.0, of whose kernels the least width is 0.2; more of
 * them are narrower. */
static void test_joint(void)
{
    enum { MANY = 60 };
    static const double at[3] = {.1, .5, .55}, x[4] = {0, .3, .5, 1};
    static const double expected[4] = {-1.010906, -0.797606, -0.735789, -1.417360};
    weft_product product = weft_product_new(1, 4, mem);
    double off = 0;
    memcpy(product.axis[0].mu, at, sizeof at);
    weft_product_joint(&product);
    for (int i = 0; i < 4; i++) {
        weft_product_point point = {x[i], 0, 0};
        off = worse(off, fabs(weft_product_log(&product, &point) - log(WEFT_SQRT_2PI) -
                              expected[i]));
    }
    is_near(off, 0, 1e-6, "three values, kernels of one width: density");
    for (int dim = 1; dim < 9; dim += 7) {
        double width = 0, share = 0, all = 1;
        product = weft_product_new(dim, MANY + 1, mem);
        for (int j = 0; j < MANY; j++) all += weft_parzen_weight(j, MANY);
        weft_product_joint(&product);
        for (int j = 0; j < MANY; j++) {
            for (int a = 0; a < dim; a++)
                width = worse(width, fabs(product.axis[a].sigma[j] -
                                          .2 * pow(MANY, -1. / (dim + 4))));
            share =
                worse(share, fabs(product.share[j] - weft_parzen_weight(j, MANY) / all));
        }
        is_near(width, 0, 1e-15, "%d axes: the width of kernels on %d values", dim, MANY);
        is_near(product.axis[dim - 1].sigma[MANY], 1, 0, "and of the wide one");
        is_near(share, 0, 1e-15, "and their shares, by age");
    }
}

/* The largest distance of a distribution of draws from its own, on one axis. */
static double off_joint(weft_product *product, double *x)
{
    size_t mark = weft_arena_mark(mem);
    double *own = WEFT_NEW(mem, double, DRAWS), off = 0;
    memcpy(own, x, DRAWS * sizeof *x);
    qsort(own, DRAWS, sizeof *own, rising);
    for (int i = 0; i < DRAWS; i++) {
        weft_product_point below = {own[i], 0, own[i]};
        double cdf = exp(weft_product_log(product, &below));
        off =
            worse(off, worse(fabs(cdf - (i + 1.) / DRAWS), fabs(cdf - i / (double)DRAWS)));
    }
    weft_arena_reset(mem, mark);
    return off;
}

/* Draws of a number and a level together, some of whose trials lack one of the two. */
static void test_joint_draws(void)
{
    enum { N = 6, LEVELS = 3 };
    static const double at[N] = {.02, .3, NAN, .32, .9, .9};
    static const double level[N] = {0, 2, 2, NAN, 0, 0};
    double critical = 1.63, most = 15.086; /* at 1 %: of sqrt(n) D; of 5 degrees */
    weft_product number = weft_product_new(1, N + 1, mem);
    weft_product both = weft_product_new(2, N + 1, mem);
    double *x = WEFT_NEW(mem, double, DRAWS), log_p[2 * LEVELS];
    int n[2 * LEVELS] = {0};
    memcpy(number.axis[0].mu, at, sizeof at);
    memcpy(both.axis[0].mu, at, sizeof at);
    memcpy(both.axis[1].mu, level, sizeof level);
    both.axis[1].levels = LEVELS;
    weft_product_joint(&number);
    weft_product_joint(&both);
    for (uint64_t i = 0; i < DRAWS; i++) {
        weft_rng4 s = weft_rng_at(8, WEFT_RNG_TEST, i, 1, 0);
        weft_rng4 t = weft_rng_at(8, WEFT_RNG_TEST, i, 2, 0);
        int64_t j = weft_parzen_pick(both.n, both.share, uniform_of(8, i, 0));
        x[i] = weft_product_draw(&number.axis[0], j, &s);
        double of = weft_product_draw(&both.axis[0], j, &s);
        int c = (int)weft_product_draw(&both.axis[1], j, &t);
        n[2 * c + (of > .5)]++;
    }
    for (int k = 0; k < 2 * LEVELS; k++) {
        double half = .5 * (k % 2);
        const weft_product_point cell[2] = {{.25, half, half + .5}, {k / 2, 0, 0}};
        log_p[k] = weft_product_log(&both, cell);
    }
    double off = off_joint(&number, x), found = chi_square(2 * LEVELS, n, log_p);
    ok(off * sqrt(DRAWS) < critical, "draws of a number have the joint density: D = %.2g",
       off);
    ok(found < most, "and so have those of a number and a level: chi-square %.3g", found);
}

MAIN(alone, test_densities, test_integral, test_good, test_draws, test_levels, test_joint,
     test_joint_draws)
