/* The sampler of a random forest: criteria of improvement, the evolution strategy, and
 * searches. RUN: np=1 */
#include "functions.h"
#include "sampler/forest.h"
#include "sampler/learn.h"

static double unit_at(uint64_t i, int word)
{
    return weft_rng_unit(weft_rng_at(11, WEFT_RNG_TEST, i, 0, 0).v[word]);
}

/* ---- criteria ---- */

static void test_gain(void)
{
    /* mean sd t MGFI */
    static const double rows[6][4] = {{.2, .1, 2, .00332537}, {.5, .3, 1, .02004090},
                                      {0, 1, 1, .51030138},   {-.1, .05, .5, .62415645},
                                      {.2, .1, 5, .00018765}, {.2, .1, .1, .02066226}};
    double off = 0;
    for (int i = 0; i < 6; i++) {
        const double *r = rows[i];
        off = worse(off, fabs(exp(weft_gain_log(r[0], r[1], r[2])) - r[3]));
    }
    is_near(off, 0, 1e-8, "MGFI");
    ok(weft_gain_log(-1, 0, 1) < -1e300, "no deviation, no gain");
    double near = weft_gain_log(1, 1 / 29.999, 1e-9);
    double far = weft_gain_log(1, 1 / 30.001, 1e-9);
    is_near(near - far, 30 * .002, 1e-3, "far tails go on as near ones");
}

/* Quantiles of exp N(0, 1/4). */
static void test_spread(void)
{
    enum { DRAWS = 20000 };
    static const double share[3] = {.05, .5, .95}, of[3] = {.439, 1, 2.276};
    static double t[DRAWS];
    int bounded = 1;
    for (uint64_t i = 0; i < DRAWS; i++) {
        weft_rng4 rng = weft_rng_at(5, WEFT_RNG_TEST, i, 0, 0);
        t[i] = weft_gain_spread(.5, &rng);
        bounded &= weft_gain_spread(3, &rng) <= 22.36;
        if (i == 0) is_near(weft_gain_spread(0, &rng), 1, 1e-15, "one t without spread");
    }
    for (int i = 0; i < 3; i++) /* 3 standard errors of a quantile */
        is_near(quantile(DRAWS, t, share[i]) / of[i], 1, .025,
                "share %g of t is below %g of the middle", share[i], of[i]);
    ok(bounded, "no t is larger than MGFI allows");
}

/* ---- evolution strategy ---- */

static void test_steps(void)
{
    static const double x[4] = {-3, 12, 23, -14}, folded[4] = {3, 8, 3, 6};
    double off = 0;
    for (int i = 0; i < 4; i++)
        for (int lo = -5; lo <= 5; lo += 5)
            off = worse(off,
                        fabs(weft_mies_reflect(x[i] + lo, lo, lo + 10) - lo - folded[i]));
    is_near(off, 0, 1e-12, "what leaves the range is folded back");
    static const double q[3] = {1, .25, 2}, still[3] = {.414214, .780776, .236068};
    enum { DRAWS = 100000 };
    for (int i = 0; i < 3; i++) {
        double size = 0, zero = 0, mean = 0;
        for (uint64_t j = 0; j < DRAWS; j++) {
            double step = weft_mies_step(q[i], unit_at(j, 0), unit_at(j, 1));
            size += fabs(step) / DRAWS;
            mean += step / DRAWS;
            zero += !(fabs(step) > 0) ? 1. / DRAWS : 0;
        }
        is_near(size, q[i], .02 * q[i] + .004, "steps of integers have mean size %g", q[i]);
        is_near(zero, still[i], .007, "and so often none");
        is_near(mean, 0, .03, "and no side");
    }
}

/* The best is .3, 17, level 2 of five, level 0 of three; a lower hill lies elsewhere. */
static void hills(void *own, int m, const double *x, double *value)
{
    (void)own;
    for (int i = 0; i < m; i++) {
        const double *v = x + 4 * i;
        double near = (v[0] - .3) * (v[0] - .3) + 1e-3 * (v[1] - 17) * (v[1] - 17) +
                      (fabs(v[2] - 2) > 0) * .3 + (v[3] > 0) * .2;
        double trap = .1 + 10 * (v[0] - .8) * (v[0] - .8) + (fabs(v[2] - 4) > 0);
        value[i] = -fmin(near, trap);
    }
}

static void test_mies(void)
{
    static const weft_gene gene[4] = {WEFT_GENE_REAL, WEFT_GENE_WHOLE, WEFT_GENE_LEVEL,
                                      WEFT_GENE_LEVEL};
    static const int levels[4] = {0, 100, 5, 3};
    int found = 0, again = 1;
    for (uint64_t key = 0; key < 20; key++) {
        weft_mies mies = {4, gene, levels, 4, 10, 500, 50, 1, key, hills, NULL};
        double best[4], other[4];
        found += weft_mies_run(&mies, best, mem) > -1e-3;
        weft_mies_run(&mies, other, mem);
        again &= memcmp(best, other, sizeof best) == 0;
    }
    ok(found >= 18, "the evolution strategy finds the highest hill: %d of 20", found);
    ok(again, "and does so again");
}

/* The logarithms of the sizes of the steps of one generation from a single parent in the
 * middle of all axes, from first step sizes of `first`. */
struct steps {
    int dim, n;
    double first, least; /* steps of 0 count as `least` */
    double x[4], *log;   /* [n][dim] */
};

static void watch_steps(void *own, int m, const double *x, double *value)
{
    struct steps *steps = own;
    for (int i = 0; i < m; i++) value[i] = 0;
    if (m == 1) memcpy(steps->x, x, (size_t)steps->dim * sizeof *x);
    for (int i = 0; m > 1 && i < m * steps->dim; i++)
        steps->log[i] =
            log(fmax(fabs(x[i] - steps->x[i % steps->dim]), steps->least) / steps->first);
}

/* A key by which the parent is in the middle. */
static uint64_t middle_key(weft_mies *mies, const struct steps *steps, double length)
{
    mies->children = 1;
    mies->generations = 1;
    for (mies->key = 0;; mies->key++) {
        double best[4];
        int inside = 1;
        weft_mies_run(mies, best, mem);
        for (int a = 0; a < steps->dim; a++) inside &= fabs(best[a] / length - .5) < .1;
        if (inside) return mies->key;
    }
}

/* Covariance of the logarithms on axes a and b. */
static double covariance(const struct steps *steps, int a, int b)
{
    double mean[2] = {0}, sum = 0;
    for (int i = 0; i < steps->n; i++) {
        mean[0] += steps->log[i * steps->dim + a] / steps->n;
        mean[1] += steps->log[i * steps->dim + b] / steps->n;
    }
    for (int i = 0; i < steps->n; i++)
        sum += (steps->log[i * steps->dim + a] - mean[0]) *
               (steps->log[i * steps->dim + b] - mean[1]);
    return sum / steps->n;
}

/* log |step| is tau N + tau' N_i and the logarithm of a normal number, which has variance
 * pi^2 / 8, or of a geometric one, nearly exponential on both sides, pi^2 / 6. */
static void test_rates(void)
{
    enum { CHILDREN = 40000 };
    static const weft_gene gene[2][4] = {
        {WEFT_GENE_REAL, WEFT_GENE_REAL, WEFT_GENE_REAL, WEFT_GENE_REAL},
        {WEFT_GENE_WHOLE, WEFT_GENE_WHOLE, WEFT_GENE_WHOLE, WEFT_GENE_WHOLE}};
    static const int levels[4] = {200001, 200001, 200001, 200001};
    double square = 3.14159265358979323846 * 3.14159265358979323846;
    struct steps steps = {.n = CHILDREN, .log = WEFT_NEW(mem, double, CHILDREN * 4)};
    for (int whole = 0; whole < 2; whole++)
        for (steps.dim = 1; steps.dim <= 4; steps.dim += 3) {
            double n = steps.dim, common = 1 / (2 * n), own = n > 1 ? 1 / (2 * sqrt(n)) : 0;
            weft_mies mies = {steps.dim, gene[whole], levels, 1,           CHILDREN, 2,
                              0,         1,           0,      watch_steps, &steps};
            double best[4], shared = 0;
            steps.first = whole ? 1e4 : .05;
            steps.least = whole ? .5 : 1e-9;
            mies.key = middle_key(&mies, &steps, whole ? 2e5 : 1);
            mies.children = CHILDREN;
            mies.generations = 2;
            weft_mies_run(&mies, best, mem);
            is_near(covariance(&steps, 0, 0), common + own + square / (whole ? 6 : 8), .07,
                    "%d %s: variance of log step sizes", steps.dim,
                    whole ? "integers" : "numbers");
            for (int a = 1; a < steps.dim; a++)
                shared += covariance(&steps, 0, a) / (n - 1);
            if (steps.dim > 1)
                is_near(shared, common, .03, "of which all axes share %.3g", common);
        }
}

/* ---- sampler ---- */

enum { RUNS = 10, TRIALS = 100 };

/* Upper quartiles of 10 runs of another program of the same method: the median is to be
 * below 1.5 of it. */
static const struct {
    const char *name;
    double quartile;
} bounds[] = {{"branin", .097}, {"hartmann6", .32}, {"text", .0005}};

static void test_regrets(void)
{
    static const char *const scale[] = {"linear", "rank"};
    for (int i = 0; i < 6; i++) {
        const char *name = bounds[i / 2].name;
        const char *options = printed("[run]\nsampler = forest\n[forest]\ntrees = 60\n"
                                      "generations = 40\nscale = %s\n",
                                      scale[i % 2]);
        double own[RUNS];
        last_regrets(name, options, TRIALS, 1, RUNS, 1000, own);
        double median = quantile(RUNS, own, .5), most = 1.5 * bounds[i / 2].quartile;
        shows(median < most, "%s, scale %s: regret %.3g below %.3g", name, scale[i % 2],
              median, most);
    }
}

static const char quick[] =
    "[run]\nsampler = forest\n[forest]\ndesign = 5\ntrees = 10\ngenerations = 20\n";

/* Of five equal parts of each axis every one once, of three levels each once or twice. */
static void test_design(void)
{
    double regret[TRIALS], conf[4 * TRIALS];
    struct function function = {
        "", "x0 = 0 .. 1\nx1 = log 1 .. 1e5\ni0 = 1 .. 5\na = p | q | r\n", branin, 0, 0};
    int part[4][5] = {{0}}, good = 1;
    minimizer_run(&function, quick, 6, 1, 3, regret, conf);
    for (int i = 0; i < 5; i++) {
        const double *v = conf + 4 * i;
        part[0][(int)(v[0] * 5)]++;
        part[1][(int)(log10(v[1]) * .999999999)]++;
        part[2][(int)v[2] - 1]++;
        part[3][(int)v[3]]++;
    }
    for (int i = 0; i < 5; i++)
        good &= part[0][i] == 1 && part[1][i] == 1 && part[2][i] == 1 &&
                (i > 2 || part[3][i] == 1 || part[3][i] == 2);
    ok(good, "the design is a Latin hypercube");
}

/* A trial that diverged counts as the worst that did not. */
static void test_scale(void)
{
    static const double loss[5] = {3, INFINITY, 1, INFINITY, 2},
                        scaled[5] = {0, .5, 1, 1, 1}, ranked[5] = {0, 1 / 3., 1, 1, 1};
    for (int none = 0; none < 2; none++) {
        weft_past past;
        double y[5], off = 0, conf = .5;
        weft_past_setup(&past, &minimizer_new("x0 = 0 .. 1\n", "", 5, 1)->space, mem);
        for (int i = 0; i < 5; i++) {
            weft_observation seen = {
                .conf = &conf, .resource = 1, .loss = none ? (double)INFINITY : loss[i]};
            weft_past_pending(&past, i, &conf, 1);
            weft_past_told(&past, i, &seen);
        }
        weft_past_scaled(weft_past_highest(&past, 5), y);
        for (int i = 0; i < 5; i++) off = worse(off, fabs(y[i] - (none ? 0 : scaled[i])));
        is_near(off, 0, 1e-15, "losses are scaled, %s",
                none ? "to 0 if all diverged" : "infinite ones to the worst other");
        weft_past_ranked(weft_past_highest(&past, 5), y);
        off = 0;
        for (int i = 0; i < 5; i++) off = worse(off, fabs(y[i] - (none ? 0 : ranked[i])));
        is_near(off, 0, 1e-15, "%s",
                none ? "and ranked" : "losses are ranked, equal ones alike");
    }
}

static double dish(const double *v)
{
    return (v[0] - .4) * (v[0] - .4) + (v[1] - .6) * (v[1] - .6);
}

/* The mean distance of each of ten proposals in flight from the nearest one before it. */
static double apart(void)
{
    enum { SEEN = 20, ALL = 30, SEEDS = 10 };
    double sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double conf[ALL][2];
        const char *text = "[run]\nsampler = forest\n[forest]\ngenerations = 100\n";
        struct minimizer *minimizer =
            minimizer_new("x0 = 0 .. 1\nx1 = 0 .. 1\n", text, ALL, seed);
        for (int i = 0; i < ALL; i++) {
            double near = INFINITY;
            if (i < SEEN) weft_space_config(&minimizer->space, i, conf[i]);
            if (i >= SEEN) sampler_proposes(minimizer, i, conf[i]);
            for (int j = SEEN; j < i; j++)
                near = fmin(near, hypot(conf[i][0] - conf[j][0], conf[i][1] - conf[j][1]));
            if (i > SEEN) sum += near / (ALL - SEEN - 1) / SEEDS;
            sampler_sees(minimizer, i, conf[i], i < SEEN ? dish(conf[i]) : NAN);
        }
    }
    return sum;
}

static void test_in_flight(void)
{
    double own = apart(), without = .05; /* without what the forest predicts of them */
    ok(own > 1.5 * without, "proposals avoid those in flight: %.2g apart, not %.2g", own,
       without);
}

static void test_tree(void)
{
    double last[RUNS], random[RUNS];
    const char *const options =
        "[run]\nsampler = forest\n[forest]\ntrees = 60\ngenerations = 40\n";
    last_regrets("tree", options, TRIALS, 1, RUNS, 1000, last);
    last_regrets("tree", "", TRIALS, 1, RUNS, 1000, random);
    shows(smaller(RUNS, last, RUNS, random) < .05, "a tree of axes: better than at random");
}

static void test_cost(void)
{
    enum { MANY = 100 };
    int slack = 10; /* of a machine that does other things, too */
    double *regret = WEFT_NEW(mem, double, MANY);
    double start = processor_seconds();
    minimizer_run(function_named("fifteen"), "[run]\nsampler = forest\n", MANY, 1, 1,
                  regret, NULL);
    double seconds = processor_seconds() - start;
    ok(seconds < .06 * MANY * slack, "%d proposals on fifteen axes take %.3g s", MANY,
       seconds);
}

MAIN(alone, test_gain, test_spread, test_steps, test_mies, test_rates, test_regrets,
     test_design, test_scale, test_in_flight, test_tree, test_cost)
