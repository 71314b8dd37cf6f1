/* The sampler gp: searches on functions whose least value is known, finite spaces,
 * proposals that are the same if it was asked before or not, many results, and losses of
 * any size. RUN: np=1 */
#include "functions.h"

static const char by_gp[] = "[run]\nsampler = gp\n";

/* Of `runs` searches those whose regret is below `enough` after the trials. */
static int reached(const char *name, int trials, int workers, int runs, double enough)
{
    double *last = WEFT_NEW(mem, double, runs);
    int n = 0;
    last_regrets(name, by_gp, trials, workers, runs, 100, last);
    for (int i = 0; i < runs; i++) n += last[i] < enough;
    return n;
}

static void test_functions(void)
{
    int n = reached("branin", 60, 1, 20, 1e-4);
    shows(n >= 18, "Branin's function in 60 trials to 1e-4: %d of 20", n);
    n = reached("branin", 100, 1, 5, 3e-7);
    shows(n >= 4, "in 100 trials to 3e-7, which noise does not hide: %d of 5", n);
    n = reached("hartmann6", 100, 1, 20, .02);
    shows(n >= 10, "Hartmann's of six axes in 100 trials to 0.02: %d of 20", n);
    n = reached("branin", 80, 8, 10, 1e-2);
    shows(n >= 9, "Branin's, eight at a time, in 80 trials to 0.01: %d of 10", n);
    n = reached("tree", 100, 1, 10, 1e-3);
    shows(n >= 8, "axes that exist by another one, to 0.001: %d of 10", n);
    n = reached("mixed8", 100, 1, 10, .11);
    shows(n >= 8, "axes of all kinds, to 0.11: %d of 10", n);
}

/* ---- finite spaces ---- */

static void test_finite(void)
{
    enum { ALL = 24, MORE = 30, AXES = 3 };
    struct function function = {"", "i0 = 1 .. 4\na = p | q | r\nb = p | q\n", NULL, 0, 0};
    struct minimizer *minimizer = minimizer_new(function.axes, by_gp, MORE, 2);
    double conf[MORE * AXES];
    int twice = 0, again = 0;
    for (int i = 0; i < MORE; i++) {
        double *own = conf + i * AXES;
        sampler_proposes(minimizer, i, own);
        sampler_sees(minimizer, i, own, own[0] + own[1] * own[2]);
        for (int j = 0; j < i && j < ALL; j++) {
            int same = memcmp(own, conf + j * AXES, AXES * sizeof *own) == 0;
            twice += same && i < ALL;
            again += same && i >= ALL;
        }
    }
    ok(twice == 0, "no configuration comes twice while others are left");
    ok(again == MORE - ALL, "then they do");
}

/* Draws seldom meet the last of so many values, and steps of 1, 2, 4, 8 in their list do
 * not reach it. */
static void test_last(void)
{
    enum { ALL = 400 };
    char axes[8 * ALL] = "i0 = 0";
    for (int i = 1; i < ALL; i++) snprintf(axes + strlen(axes), 8, " | %d", i * 77 % ALL);
    strcat(axes, "\n");
    for (int left = 0; left < ALL; left += 150) {
        struct minimizer *minimizer = minimizer_new(axes, by_gp, ALL, 2);
        double conf;
        for (int i = 0; i < ALL - 1; i++) {
            conf = (left + 1 + i) % ALL;
            sampler_sees(minimizer, i, &conf, fabs(conf - 7));
        }
        sampler_proposes(minimizer, ALL - 1, &conf);
        ok(fabs(conf - left) < .5, "of %d values in no order the last is found: %g is %d",
           ALL, conf, left);
    }
}

/* ---- what proposals depend on ---- */

/* Proposal n of one that sees n - 1 results of draws, and is asked after each `every`. */
static void after(int n, int every, double scale, double *conf)
{
    struct minimizer *minimizer = minimizer_new("x0 = 0 .. 1\nx1 = 0 .. 1\n", by_gp, n, 4);
    for (int i = 0; i < n; i++) {
        double at[2] = {uniform_of(8, i, 0), uniform_of(8, i, 1)};
        if (i % every == 0) sampler_proposes(minimizer, i, conf);
        sampler_sees(minimizer, i, at, at[0] > .8 ? INFINITY : scale * bowl(at));
    }
    sampler_proposes(minimizer, n, conf);
}

static void test_asked(void)
{
    static const int n[4] = {12, 99, 130, 1130};
    check_asked(after, n);
    check_sizes(after, 1.7e308);
}

/* ---- trials in flight ---- */

static void test_in_flight(void)
{
    enum { N = 30, FLYING = 12 };
    struct minimizer *minimizer = minimizer_new("x0 = 0 .. 1\nx1 = 0 .. 1\n", by_gp, 99, 4);
    double conf[2 * FLYING], nearest = INFINITY;
    for (int i = 0; i < N; i++) {
        double at[2] = {uniform_of(8, i, 0), uniform_of(8, i, 1)};
        sampler_sees(minimizer, i, at, bowl(at));
    }
    for (int i = 0; i < FLYING; i++) {
        sampler_proposes(minimizer, N + i, conf + 2 * i);
        sampler_sees(minimizer, N + i, conf + 2 * i, NAN);
        for (int j = 0; j < i; j++)
            nearest = fmin(nearest, hypot(conf[2 * i] - conf[2 * j],
                                          conf[2 * i + 1] - conf[2 * j + 1]));
    }
    ok(nearest > 1e-4, "those in flight are apart: %.2g", nearest);
}

MAIN(alone, test_functions, test_finite, test_last, test_asked, test_in_flight)
