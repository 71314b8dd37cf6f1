/* What is known before a search: losses of other data are merged by ranks; beliefs about
 * axes ("near") are followed, help where they are right, and are forgotten where they are
 * wrong. RUN: np=1 */
#include "functions.h"

/* ---- losses of other data ---- */

/* Tells tpe `n` results at x, losses of the data `other` scaled by `scale`. */
static void tell(struct minimizer *minimizer, int64_t first, int n, int other, double scale)
{
    for (int i = 0; i < n; i++) {
        double x = (i * 7 % n + 0.5) / n;
        weft_observation seen = {.conf = &x,
                                 .resource = 1,
                                 .loss = scale * (x - 0.3) * (x - 0.3),
                                 .other = other};
        minimizer->search.sampler->pending(minimizer->search.sampler_self, first + i, &x,
                                           1);
        minimizer->search.sampler->told(minimizer->search.sampler_self, first + i, &seen);
    }
}

static void test_other_data(void)
{
    const char *axes = "x0 = 0 .. 1\n", *tpe = "[run]\nsampler = tpe\n[tpe]\nstartup = 4\n";
    double plain, scaled, hidden;
    for (int64_t trial = 32; trial < 36; trial++) {
        struct minimizer *one = minimizer_new(axes, tpe, 100, 1);
        struct minimizer *two = minimizer_new(axes, tpe, 100, 1);
        struct minimizer *raw = minimizer_new(axes, tpe, 100, 1);
        tell(one, 0, 16, 1, 1);
        tell(one, 16, 16, 0, 1);
        tell(two, 0, 16, 1, 1e-3);
        tell(two, 16, 16, 0, 1);
        tell(raw, 0, 16, 0, 1e-3);
        tell(raw, 16, 16, 0, 1);
        sampler_proposes(one, trial, &plain);
        sampler_proposes(two, trial, &scaled);
        sampler_proposes(raw, trial, &hidden);
        ok(!(fabs(plain - scaled) > 0),
           "the unit of losses of other data makes no difference to trial %lld",
           (long long)trial);
        ok(fabs(plain - hidden) > 0, "that of losses of the same data does (%g, %g)", plain,
           hidden);
    }
}

/* ---- beliefs ---- */

static void test_near(void)
{
    enum { N = 40000 };
    struct minimizer *own = minimizer_new(
        "x0 = log 0.01 .. 100 near 10\nx1 = 0 .. 1\ni0 = 1 .. 9 near 9\n", "", 100, 3);
    const weft_space *space = &own->space;
    double conf[3], share = 0, inside = 0, sum = 0;
    weft_job job;
    weft_check(weft_search_ask(&own->search, &job) == WEFT_JOB, "no trial");
    ok(fabs(job.mix.conf[0] - 10) < 1e-12 && fabs(job.mix.conf[2] - 9) < 1e-12,
       "the first proposal is what is believed");
    for (int i = 0; i < N; i++) {
        conf[0] = 0.0123;
        conf[1] = 0.5;
        conf[2] = 2;
        weft_sampler_believe(space, 15, 1, (uint64_t)i, conf);
        int follows = fabs(conf[0] - 0.0123) > 0;
        share += follows;
        if (!follows) continue;
        double u = weft_axis_unit(&space->axis[0], conf[0]);
        inside += fabs(u - 0.75) < 0.25;
        sum += u;
    }
    /* N(3/4, 1/16) on 0 .. 1: P(|u - 3/4| < 1/4) = 0.68269 / (Phi(1) - Phi(-3)) = 0.81273,
     * mean 3/4 - (phi(1) - phi(3)) / 4 / (Phi(1) - Phi(-3)) = 0.67931 */
    ok(fabs(share / N - 0.25) < 0.01, "after 15 trials a quarter follows beliefs (%g)",
       share / N);
    ok(fabs(inside / share - 0.81273) < 0.012, "by a normal distribution (%g)",
       inside / share);
    ok(fabs(sum / share - 0.67931) < 0.006, "that is truncated (mean %g)", sum / share);
    ok(fabs(conf[1] - 0.5) < 1e-12, "axes without belief keep their values");
    char text[128];
    weft_axis_show(space, 0, text, sizeof text);
    ok(strcmp(text, "log 0.01 .. 100 near 10") == 0, "a range shows its belief: %s", text);
}

static void test_refused(void)
{
    static const char *const wrong[][2] = {
        {"x0 = 0 .. 1 near 2\n", "value of the range"},
        {"x0 = 0 .. 1 near\n", "near"},
        {"x0 = 0 .. 1 near here\n", "near here"},
        {"b = p | q near q\n", "q near q"},
    };
    for (int i = 0; i < (int)LEN(wrong); i++) {
        struct minimizer minimizer;
        weft_status st = minimizer_begin(&minimizer, wrong[i][0], "", 4, 1);
        ok(st == WEFT_ECONF && strstr(weft_error(), wrong[i][1]), "refused: %s",
           st == WEFT_OK ? wrong[i][0] : weft_error());
    }
}

/* Means over 20 seeds of the regret after 10 and 60 trials, without a belief, with one near
 * the minimum, and with one at the far end. */
static void test_worth(void)
{
    enum { SEEDS = 20, TRIALS = 60, EARLY = 10 };
    static const struct {
        const char *name, *axes[3];
    } rows[] = {
        {"branin",
         {"x0 = -5 .. 10\nx1 = 0 .. 15\n", "x0 = -5 .. 10 near 3.5\nx1 = 0 .. 15 near 3\n",
          "x0 = -5 .. 10 near -5\nx1 = 0 .. 15 near 0\n"}},
        {"hartmann3",
         {"x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\n",
          "x0 = 0 .. 1 near 0.2\nx1 = 0 .. 1 near 0.5\nx2 = 0 .. 1 near 0.8\n",
          "x0 = 0 .. 1 near 1\nx1 = 0 .. 1 near 0\nx2 = 0 .. 1 near 0\n"}}};
    static const char *const samplers[] = {"space", "tpe"};
    for (int i = 0; i < (int)LEN(rows); i++)
        for (int p = 0; p < (int)LEN(samplers); p++) {
            const char *sampler = printed("[run]\nsampler = %s\n", samplers[p]);
            double early[3][SEEDS], late[3][SEEDS], regret[TRIALS];
            for (int k = 0; k < 3; k++)
                for (int s = 0; s < SEEDS; s++) {
                    struct function function = *function_named(rows[i].name);
                    function.axes = rows[i].axes[k];
                    minimizer_run(&function, sampler, TRIALS, 1, (uint64_t)s + 1, regret,
                                  NULL);
                    early[k][s] = regret[EARLY - 1];
                    late[k][s] = regret[TRIALS - 1];
                }
            double none[2] = {quantile(SEEDS, early[0], .5), quantile(SEEDS, late[0], .5)};
            double right[2] = {quantile(SEEDS, early[1], .5), quantile(SEEDS, late[1], .5)};
            double wrong[2] = {quantile(SEEDS, early[2], .5), quantile(SEEDS, late[2], .5)};
            printf("# %s %s: median regret after 10, 60: none %.3g %.3g, right %.3g %.3g, "
                   "wrong %.3g %.3g\n",
                   rows[i].name, samplers[p], none[0], none[1], right[0], right[1],
                   wrong[0], wrong[1]);
            ok(smaller(SEEDS, early[1], SEEDS, early[0]) < 0.01,
               "%s, %s: a right belief helps in 10 trials", rows[i].name, samplers[p]);
            ok(smaller(SEEDS, late[0], SEEDS, late[2]) > 0.01,
               "%s, %s: a wrong one costs nothing that 20 seeds show after 60",
               rows[i].name, samplers[p]);
        }
}

/* ---- finite spaces ---- */

/* The number of different configurations among the first `trials` of a search. */
static int distinct(const char *axes, const char *sampler, int trials)
{
    struct minimizer *minimizer =
        minimizer_new(axes, printed("[run]\nsampler = %s\n", sampler), trials, 5);
    int dim = minimizer->space.dim, n = 0;
    double *conf = WEFT_NEW(mem, double, trials *dim);
    for (int i = 0; i < trials; i++) {
        weft_job job;
        weft_check(weft_search_ask(&minimizer->search, &job) == WEFT_JOB, "no trial");
        memcpy(conf + i * dim, job.mix.conf, (size_t)dim * sizeof *conf);
        int seen = 0;
        for (int j = 0; j < i; j++)
            seen |= memcmp(conf + i * dim, conf + j * dim, (size_t)dim * sizeof *conf) == 0;
        n += !seen;
        minimizer_tell(minimizer, &job, job.mix.conf[0], 1);
    }
    return n;
}

static void test_finite(void)
{
    static const char *const samplers[] = {"space", "tpe", "kde", "forest"};
    for (int p = 0; p < (int)LEN(samplers); p++) {
        ok(distinct("i0 = 1 .. 6\nb = p | q\nd = p | q | r\n", samplers[p], 36) == 36,
           "%s: 36 trials of 36 configurations are all of them", samplers[p]);
        ok(distinct("i0 = 1 .. 6 when b = p\nb = p | q\nd = p | q | r\n", samplers[p],
                    30) == 21,
           "%s: 21 where an axis is of half of them, then they come again", samplers[p]);
    }
}

static void test_nearest(void)
{
    struct minimizer *own = minimizer_new("i0 = 1 .. 9\nb = p | q\n", "", 4, 1);
    const weft_space *space = &own->space;
    char used[18] = {0};
    double conf[2] = {5, 1};
    ok(weft_space_points(space) == 18, "a space has 18 points");
    weft_space_unused(space, used, conf, mem);
    ok(fabs(conf[0] - 5) < 1e-12 && fabs(conf[1] - 1) < 1e-12, "one that is new stays");
    weft_space_unused(space, used, conf, mem);
    ok(fabs(conf[0] - 4) < 1e-12 && fabs(conf[1] - 1) < 1e-12, "or becomes the nearest");
    conf[0] = 5;
    weft_space_unused(space, used, conf, mem);
    ok(fabs(conf[0] - 6) < 1e-12 && fabs(conf[1] - 1) < 1e-12, "on the other side");
    memset(used, 1, sizeof used);
    used[0] = 0;
    ok(weft_space_unused(space, used, conf, mem) && conf[0] < 1.5 && conf[1] < 0.5 &&
           !weft_space_unused(space, used, conf, mem) && conf[0] < 1.5,
       "up to the last one, which then comes again");
    ok(weft_space_points(&minimizer_new("i0 = 1 .. 9\nx0 = 0 .. 1\n", "", 4, 1)->space) ==
           0,
       "a space with a real axis is not finite");
}

MAIN(alone, test_other_data, test_near, test_refused, test_worth, test_finite, test_nearest)
