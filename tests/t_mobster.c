/* The sampler mobster: what it learns from rungs, proposals that are the same if it was
 * asked before or not, many results, trials in flight, finite spaces, and searches on
 * learning curves beside random ones. RUN: np=1 */
#include "functions_curves.h"

static const char by_mobster[] = "[run]\nsampler = mobster\n[mobster]\ndesign = 6\n";
static const char line[] = "x0 = 0 .. 1\n", square[] = "x0 = 0 .. 1\nx1 = 0 .. 1\n";

/* Trial n, of that configuration, has got that resource, and the loss if it is not NAN. */
static void sees(struct minimizer *minimizer, int64_t n, const double *conf,
                 double resource, double loss)
{
    weft_observation seen = {.conf = conf, .resource = resource, .loss = loss};
    const weft_sampler *sampler = minimizer->search.sampler;
    sampler->pending(minimizer->search.sampler_self, n, conf, resource);
    if (!isnan(loss)) sampler->told(minimizer->search.sampler_self, n, &seen);
}

static double falls(double best, double at, double r)
{
    return (at - best) * (at - best) + .5 / r;
}

/* ---- what is learnt ---- */

/* Only the left half has results of the last rung, but the first rung says that the best is
 * in the right one. */
static void test_all_rungs(void)
{
    enum { LEFT = 8, ALL = 16 };
    struct minimizer *minimizer = minimizer_new(line, by_mobster, 99, 4);
    double conf;
    for (int i = 0; i < ALL; i++) {
        double at = (i + .5) / ALL;
        sees(minimizer, i, &at, 1, falls(.8, at, 1));
        if (i < LEFT) sees(minimizer, i, &at, 9, falls(.8, at, 9));
    }
    sampler_proposes(minimizer, ALL, &conf);
    ok(fabs(conf - .8) < .04, "a low rung says where the best is: %.3g is near .8", conf);
}

/* The first rung prefers what is worse in the end. */
static void test_crossing(void)
{
    enum { ALL = 24 };
    struct minimizer *minimizer = minimizer_new(line, by_mobster, 99, 4);
    double conf, far = 0;
    for (int i = 0; i < ALL; i++) {
        double at = (i * 7 % ALL + .5) / ALL;
        sees(minimizer, i, &at, 1, falls(.8, at, 1));
        if (i % 2 == 0) sees(minimizer, i, &at, 9, falls(.3, at, 9));
    }
    for (int i = 0; i < 3; i++) {
        sampler_proposes(minimizer, ALL + i, &conf);
        far = worse(far, fabs(conf - .3));
        sees(minimizer, ALL + i, &conf, 1, falls(.8, conf, 1));
    }
    ok(far < .1, "the largest resource decides: proposals are near .3, by %.2g", far);
}

/* ---- what proposals depend on ---- */

/* Proposal n of one that sees n trials of draws at one, two or three rungs, and is asked
 * after each `every`. */
static void after(int n, int every, double scale, double *conf)
{
    struct minimizer *minimizer = minimizer_new(square, by_mobster, n, 4);
    for (int i = 0; i < n; i++) {
        double at[2] = {uniform_of(8, i, 0), uniform_of(8, i, 1)};
        if (i % every == 0) sampler_proposes(minimizer, i, conf);
        for (int r = 1; r <= (i % 9 == 0 ? 9 : i % 3 == 0 ? 3 : 1); r *= 3)
            sees(minimizer, i, at, r, at[0] > .8 ? INFINITY : scale * (bowl(at) + .5 / r));
    }
    sampler_proposes(minimizer, n, conf);
}

static void test_asked(void)
{
    static const int n[4] = {12, 67, 90, 800}; /* 1,156 results are more than 1,000 */
    check_asked(after, n);
    check_sizes(after, 1.2e308);
}

/* What is believed of a trial in flight is not taken for its first result. */
static void test_believed(void)
{
    enum { ALL = 55 }; /* so many results that theta stays with the next */
    double conf[2];
    for (int asked = 0; asked < 2; asked++) {
        struct minimizer *minimizer = minimizer_new(line, by_mobster, 99, 4);
        double at;
        for (int i = 0; i < ALL; i++) {
            at = (i * 7 % ALL + .5) / ALL;
            for (int r = 1; r <= 9; r += 8)
                sees(minimizer, i, &at, r, falls(.5, at, r) + .02 * normal_of(9, i, r, 0));
        }
        at = .4;
        sees(minimizer, ALL, &at, 1, (double)NAN);
        if (asked) sampler_proposes(minimizer, ALL + 1, &conf[asked]);
        sees(minimizer, ALL, &at, 1, falls(.5, at, 1) - .1);
        sampler_proposes(minimizer, ALL + 1, &conf[asked]);
    }
    ok(memcmp(&conf[0], &conf[1], sizeof conf[0]) == 0,
       "a proposal while a trial was in flight makes no difference");
}

/* ---- trials in flight, and stopped ones ---- */

static void test_in_flight(void)
{
    enum { N = 30, FLYING = 12 };
    for (int stopped = 0; stopped < 2; stopped++) {
        struct minimizer *minimizer = minimizer_new(square, by_mobster, 99, 4);
        double conf[2 * FLYING], nearest = INFINITY;
        for (int i = 0; i < N; i++) {
            double at[2] = {uniform_of(8, i, 0), uniform_of(8, i, 1)};
            for (int r = 1; r <= (i % 3 == 0 ? 9 : 1); r *= 3)
                sees(minimizer, i, at, r, bowl(at) + .5 / r + .05 * normal_of(9, i, r, 0));
        }
        for (int i = 0; i < FLYING; i++) {
            double *own = conf + 2 * i;
            sampler_proposes(minimizer, N + i, own);
            sees(minimizer, N + i, own, 1, stopped ? bowl(own) + .5 : (double)NAN);
            for (int j = 0; j < i; j++)
                nearest =
                    fmin(nearest, hypot(own[0] - conf[2 * j], own[1] - conf[2 * j + 1]));
        }
        ok(nearest > 1e-4, "those %s are apart: %.2g",
           stopped ? "stopped in the first rung" : "in flight", nearest);
    }
}

static void test_finite(void)
{
    enum { ALL = 24, AXES = 3 };
    struct minimizer *minimizer =
        minimizer_new("i0 = 1 .. 4\na = p | q | r\nb = p | q\n", by_mobster, 30, 2);
    double conf[ALL * AXES];
    int twice = 0;
    for (int i = 0; i < ALL; i++) {
        double *own = conf + i * AXES;
        sampler_proposes(minimizer, i, own);
        sees(minimizer, i, own, 1, own[0] + own[1] * own[2]);
        if (i % 3 == 0) sees(minimizer, i, own, 3, own[0] + own[1] * own[2] - 1);
        for (int j = 0; j < i; j++)
            twice += memcmp(own, conf + j * AXES, AXES * sizeof *own) == 0;
    }
    ok(twice == 0, "no configuration comes twice while others are left");
}

/* ---- searches ---- */

static void regrets(const char *name, const char *sampler, const char *tuner, int runs,
                    double *last)
{
    for (int s = 0; s < runs; s++)
        curve_run(curve_named(name),
                  printed("[run]\nsampler = %s\ntuner = %s\n", sampler, tuner), 4 * LONGEST,
                  4, 300 + (uint64_t)s, 1, &last[s]);
}

static void test_searches(void)
{
    enum { RUNS = 5 };
    static const char *const tuners[] = {"asha", "hyperband"};
    double own[RUNS], random[RUNS];
    for (int t = 0; t < 2; t++) {
        regrets("mfh3", "mobster", tuners[t], RUNS, own);
        regrets("mfh3", "space", tuners[t], RUNS, random);
        double mine = quantile(RUNS, own, .5), other = quantile(RUNS, random, .5);
        ok(mine < other / 2, "%s: median regret %.2g, of random configurations %.2g",
           tuners[t], mine, other);
    }
}

MAIN(alone, test_all_rungs, test_crossing, test_asked, test_believed, test_in_flight,
     test_finite, test_searches)
