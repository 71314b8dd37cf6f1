/* Several objectives by gp, on problems whose fronts are known in closed form. RUN: np=1 */
#include "functions.h"
#include "weft/space/front.h"

static const char by_gp[] = "[run]\nsampler = gp\n";

/* A search of two variables in 0 .. 1: fills aims[m] of a configuration and returns the
 * excess of its limits; INFINITY: it diverged. */
typedef double problem_fn(const double *v, double *aims);

/* ((x0)^2, (1 - x0)^2 + x1): the front is x1 = 0. */
static double line(const double *v, double *aims)
{
    aims[0] = v[0] * v[0];
    aims[1] = (1 - v[0]) * (1 - v[0]) + v[1];
    return 0;
}

/* (x0, 1 - x0^2 + x1), whose front no weighted sum of the two finds but for its ends. */
static double concave(const double *v, double *aims)
{
    aims[0] = v[0];
    aims[1] = 1 - v[0] * v[0] + v[1];
    return 0;
}

/* The second objective in other units, of which every digit stays. */
static double large(const double *v, double *aims)
{
    line(v, aims);
    aims[1] *= 0x1p20;
    return 0;
}

static double limited(const double *v, double *aims)
{
    line(v, aims);
    return fmax(0, .5 - v[0]);
}

static double diverging(const double *v, double *aims)
{
    line(v, aims);
    return v[1] > .7 ? INFINITY : 0;
}

/* Squares of the distances to three points: the front is the triangle between them. */
static const double corner[3][2] = {{.1, .1}, {.9, .2}, {.4, .8}};
static double triangle(const double *v, double *aims)
{
    for (int j = 0; j < 3; j++) {
        double x = v[0] - corner[j][0], y = v[1] - corner[j][1];
        aims[j] = x * x + y * y;
    }
    return 0;
}

/* n proposals, one after the other, into conf[n][2] and point[n]. */
static void search(problem_fn *problem, int m, int n, uint64_t seed, double *conf,
                   weft_point *point)
{
    struct minimizer *minimizer =
        minimizer_new("x0 = 0 .. 1\nx1 = 0 .. 1\n", by_gp, n, seed);
    const weft_sampler *sampler = minimizer->search.sampler;
    void *self = minimizer->search.sampler_self;
    minimizer->space.objectives = m;
    for (int i = 0; i < n; i++) {
        double *aims = WEFT_NEW(mem, double, m), *v = conf + (size_t)2 * i;
        sampler->propose(self, i, v);
        sampler->pending(self, i, v, 1);
        double excess = problem(v, aims);
        weft_result res = {.loss = isfinite(excess) ? aims[0] : INFINITY,
                           .aims = {m, aims, excess}};
        weft_observation seen = {.conf = v, .resource = 1, .loss = res.loss, .res = &res};
        sampler->told(self, i, &seen);
        point[i] = (weft_point){.id = i, .excess = excess, .x = aims};
    }
}

enum { N = 40, SEEDS = 5 };
static double conf[4 * N], again[4 * N];
static weft_point point[2 * N];

/* The share of the volume up to (1, 1) that the front dominates. */
static double share(problem_fn *problem, double whole, uint64_t seed)
{
    static const double reference[2] = {1, 1};
    search(problem, 2, N, seed, conf, point);
    return weft_front_volume(N, point, 2, reference) / whole;
}

static void test_volume(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double of = share(line, 5. / 6, seed);
        ok(of > .93 && of < 1, "40 trials dominate %.4f of the volume", of);
    }
    double of = share(diverging, 5. / 6, 1);
    ok(of > .92, "%.4f with trials that diverge", of);
    of = share(concave, 1. / 3, 1);
    ok(of > .85 && of < 1, "%.4f where the front is concave", of);
}

static void test_units(void)
{
    search(line, 2, N, 3, conf, point);
    search(large, 2, N, 3, again, point);
    ok(memcmp(conf, again, (size_t)2 * N * sizeof *conf) == 0,
       "other units of an objective change no proposal");
    search(line, 2, N, 4, again, point);
    ok(memcmp(conf, again, (size_t)2 * N * sizeof *conf) != 0, "another seed does");
}

/* Within x0 >= 1/2 the front dominates, up to (1, 1), what is above u = x0^2 in 1/4 .. 1:
 * 3/4 - integral (1 - sqrt u)^2 = 3/4 - 5/96 = 67/96. */
static void test_limits(void)
{
    double of = share(limited, 67. / 96, 5);
    int beyond = 0;
    for (int i = N / 2; i < N; i++) beyond += point[i].excess > 0;
    ok(beyond <= N / 8, "%d of the last 20 trials are beyond a limit", beyond);
    ok(of > .91 && of < 1, "they dominate %.4f of the volume within it", of);
}

static void test_three(void)
{
    search(triangle, 3, 2 * N, 6, conf, point);
    for (int j = 0; j < 3; j++) {
        double nearest = INFINITY;
        for (int i = 0; i < 2 * N; i++) nearest = fmin(nearest, point[i].x[j]);
        ok(sqrt(nearest) < .1, "corner %d is as near as %.4f", j, sqrt(nearest));
    }
    double middle[2] = {1.4 / 3, 1.1 / 3}, nearest = INFINITY;
    for (int i = 0; i < 2 * N; i++)
        nearest =
            fmin(nearest, hypot(conf[2 * i] - middle[0], conf[2 * i + 1] - middle[1]));
    ok(nearest < .1, "the middle of the front is as near as %.4f", nearest);
}

MAIN(alone, test_volume, test_units, test_limits, test_three)
