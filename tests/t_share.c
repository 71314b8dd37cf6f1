/* Weight-sharing tuners against closed forms: schedules, survivors, gradients.
 * RUN: np=1 */
#include "tuner_case.h"

/* ---- halving ---- */

/* The numbers of maps alive in the jobs of a search, "64 32 1". */
static const char *schedule(int k, const char *options, int64_t train)
{
    tuner_case example = {&weft_tuner_ws_sha, options, k, FULL, 100, 1, 1, NULL, train};
    job_log jobs = all_jobs(&example);
    const char *text = "";
    for (int i = 0; i < jobs.n; i++)
        text = printed("%s%s%d", text, i ? " " : "", weft_mix_alive(&jobs.job[i].mix));
    return text;
}

static void test_schedules(void)
{
    static const struct {
        int k;
        const char *options, *want;
    } all[] = {
        {64, "switch = 1", "64 32 16 8 4 2 1"},
        {5, "switch = 1", "5 3 2 1"},
        {3, "switch = 1", "3 2 1"},
        {2, "switch = 1", "2 1"},
        {1, "switch = 1", "1"},
        {100, "switch = 1", "100 50 25 13 7 4 2 1"},
        {64, "switch = 1\nkeep = 0.25", "64 16 4 1"},
        {100, "switch = 1\nkeep = 0.07", "100 7 1"},
        {4, "switch = 1\nkeep = 0.9", "4 3 2 1"},
        {64, "switch = 4", "64 32 16 8 1 1 1 1"},
        {3, "switch = 4", "1 1 1"},
    };
    for (size_t e = 0; e < LEN(all); e++) {
        const char *found = schedule(all[e].k, all[e].options, 0);
        ok(strcmp(found, all[e].want) == 0, "%d maps, %s: %s", all[e].k, all[e].options,
           found);
    }
}

/* `switch` by itself: 1.3 times the fits of halving to the end, or 2,000 training samples
 * a map. */
static void test_budget(void)
{
    static const struct {
        int k;
        int64_t train;
        const char *options, *want;
    } all[] = {
        {64, 0, "", "64 32 16 8 4 2 1"},                 /* nothing is known of the fits */
        {64, 25000, "", "64 32 16 8 1 1 1 1 1"},         /* 9 fits */
        {64, 13654, "", "64 32 16 8 1 1 1 1 1 1"},       /* 10 */
        {64, 10000, "", "64 32 16 1 1 1 1 1 1 1 1 1 1"}, /* 13 */
        {64, 8000, "", "64 32 16 1 1 1 1 1 1 1 1 1 1 1 1 1"}, /* 16 */
        {256, 100000, "", "256 128 64 32 16 8 1 1 1 1 1"},    /* 11 */
        {8, 4000, "", "8 1 1 1 1"},                           /* 5 */
        {8, 2000, "", "1 1 1 1 1 1 1 1"}, /* as many as there are maps: the sweep */
        {8, 2400, "", "1 1 1 1 1 1 1 1"}, /* 7 are nearly as many */
        {8, 2800, "", "8 1 1 1 1 1"},
        {3, 1000000, "", "1 1 1"},
        {1, 1000000, "", "1"},
        {64, 1000000, "keep = 0.25", "64 16 4 1 1"},
    };
    for (size_t e = 0; e < LEN(all); e++) {
        const char *found = schedule(all[e].k, all[e].options, all[e].train);
        ok(strcmp(found, all[e].want) == 0, "%d maps, %d samples, %s: %s", all[e].k,
           (int)all[e].train, *all[e].options ? all[e].options : "as it comes", found);
    }
}

/* Maps that err in 25 to 35 %. In rounds so many samples are divided among them, a share of
 * which is answered wrongly by chance; fits of their own say how a map errs. How much more
 * than the best the winner errs, mean over seeds. */
static double mean_gap(const char *options, int64_t train, int valid)
{
    enum { SEEDS = 200, MAPS = 64 };
    double gap = 0;
    tuner_case example = {
        &weft_tuner_ws_sha, options, MAPS, SPLIT, valid, 1, 0, NULL, train};
    for (; example.seed < SEEDS; example.seed++) {
        size_t mark = weft_arena_mark(mem);
        test_search search = test_search_new(&example);
        weft_job job;
        double won = 0, least = INFINITY, best = 1;
        while (ask(&search, &job) == WEFT_JOB) {
            weft_result res = weft_result_new(job.mix.k, 0, mem);
            double wrong = 0;
            res.by_error = 1;
            for (int s = 0; s < valid; s++) {
                int i = weft_mix_draw(&job.mix, noise(&example, &job, s, 0));
                double error = .25 + .1 * job.mix.conf[i];
                double bad = job.mix.k == 1 ? error : noise(&example, &job, s, 1) < error;
                res.arm_count[i] += 1;
                res.arm_wrong[i] += bad;
                wrong += bad;
                best = fmin(best, error);
            }
            res.loss = wrong / valid;
            if (job.mix.k == 1 && res.loss < least) {
                least = res.loss;
                won = .25 + .1 * job.mix.conf[0];
            }
            tell(&search, &res);
        }
        gap += (won - best) / SEEDS;
        weft_arena_reset(mem, mark);
    }
    return gap;
}

static void test_noise(void)
{
    double plain = mean_gap("switch = 1", 7690, 960);
    double some = mean_gap("", 7690, 960), more = mean_gap("", 1923, 240);
    ok(plain > .01, "with 15 samples a map halving picks %.2f points off", 100 * plain);
    ok(some < .005, "own fits make that %.2f", 100 * some);
    ok(more < .002, "and %.2f with a quarter of the samples, for more of them", 100 * more);
}

static void test_trials(void)
{
    tuner_case example = {&weft_tuner_ws_sha, "switch = 1", 8, FULL, 100, 1, 1, NULL, 0};
    job_log jobs = all_jobs(&example);
    const weft_job *job = jobs.job;
    ok(jobs.n == 4, "eight maps take four jobs");
    ok(job[0].trial == 0 && job[2].trial == 0 && job[2].index == 2 && !job[2].last,
       "the rounds go on with one trial");
    ok(job[3].trial == 1 && job[3].from == 0 && job[3].resource == 1 && job[3].last,
       "the last fit copies its weights");

    example.k = 1;
    jobs = all_jobs(&example);
    ok(jobs.n == 1 && jobs.job[0].resource == 1, "one map is fitted always");
}

static void test_sweep(void)
{
    tuner_case example = {&weft_tuner_random, "", 8, FULL, 100, 1, 1, NULL, 0};
    job_log jobs = all_jobs(&example);
    const weft_job *job = jobs.job;
    ok(jobs.n == 8, "a sweep of eight maps takes eight jobs");
    int good = 1;
    for (int i = 0; i < 8; i++)
        good &= job[i].mix.k == 1 && job[i].mix.id[0] == i && job[i].trial == i &&
                job[i].from == -1 && job[i].resource == 1 && job[i].last;
    ok(good, "each a trial of its own that ends with it");
}

/* Asks a round of ws_sha, tells these error rates over 100 samples each (count 0 where
 * negative), and returns the mixture asked next. */
static weft_mix tell_scores(test_search *search, const double *error, double loss)
{
    weft_job job;
    weft_check(ask(search, &job) == WEFT_JOB, "no job");
    weft_result res = weft_result_new(job.mix.k, 0, mem);
    res.by_error = 1;
    res.loss = loss;
    for (int i = 0; i < res.k; i++) {
        res.arm_count[i] = error[i] < 0 ? 0 : 100;
        res.arm_wrong[i] = error[i] < 0 ? 0 : 100 * error[i];
    }
    tell(search, &res);
    weft_check(ask(search, &job) == WEFT_JOB, "no job");
    return job.mix;
}

static int is_alive(const weft_mix *mix, int i)
{
    return mix->logp[i] > -INFINITY;
}

static void test_survivors(void)
{
    tuner_case example = {&weft_tuner_ws_sha, "switch = 1", 4, FULL, 0, 1, 1, NULL, 0};
    test_search search = test_search_new(&example);
    weft_mix mix = tell_scores(&search, (const double[]){.3, .2, .2, .2}, .2);
    ok(is_alive(&mix, 1) && is_alive(&mix, 2) && weft_mix_alive(&mix) == 2,
       "of equal scores the lower ids survive");
    is_near(exp(mix.logp[1]), .5, 1e-15, "survivors are equally probable");

    search = test_search_new(&example);
    mix = tell_scores(&search, (const double[]){.1, .9, -1, .8}, .5);
    ok(is_alive(&mix, 0) && is_alive(&mix, 2),
       "a map without samples ranks by the mean of the mixture");
    search = test_search_new(&example);
    mix = tell_scores(&search, (const double[]){.1, .4, -1, .8}, .5);
    ok(is_alive(&mix, 0) && is_alive(&mix, 1), "and no better than that");
    search = test_search_new(&example);
    mix = tell_scores(&search, (const double[]){NAN, .9, .95, NAN}, .9);
    ok(is_alive(&mix, 1) && is_alive(&mix, 2), "a diverged map ranks last");
    search = test_search_new(&example);
    mix = tell_scores(&search, (const double[]){.9, .8, .1, .2}, INFINITY);
    ok(is_alive(&mix, 0) && is_alive(&mix, 1),
       "the scores of a diverged fit count for nothing");
}

/* ---- exponentiated gradient ---- */

/* Two rounds of three maps, told how many samples each scored and how many wrongly;
 * p[round] are the probabilities after each. */
static void gradient_rounds(const char *options, const double count[2][3],
                            const double wrong[2][3], double p[2][3])
{
    tuner_case example = {&weft_tuner_ws_eg, options, 3, SPLIT, 0, 1, 1, NULL, 0};
    test_search search = test_search_new(&example);
    weft_job job;
    for (int round = 0; round < 2; round++) {
        weft_check(ask(&search, &job) == WEFT_JOB && job.mix.k == 3, "no round");
        for (int i = 0; round > 0 && i < 3; i++) p[round - 1][i] = exp(job.mix.logp[i]);
        weft_result res = weft_result_new(3, 0, mem);
        res.by_error = 1;
        double n = 0, all = 0;
        for (int i = 0; i < 3; i++) {
            res.arm_count[i] = count[round][i];
            res.arm_wrong[i] = wrong[round][i];
            if (isnan(wrong[round][i])) continue;
            n += count[round][i];
            all += wrong[round][i];
        }
        res.loss = all / n;
        tell(&search, &res);
    }
    weft_check(ask(&search, &job) == WEFT_JOB && job.mix.k == 3, "no third round");
    for (int i = 0; i < 3; i++) p[1][i] = exp(job.mix.logp[i]);
}

/* p <- p exp(-eta g), normalised. */
static void move(double *p, double eta, const double *g)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += p[i] * exp(-eta * g[i]);
    for (int i = 0; i < 3; i++) p[i] *= exp(-eta * g[i]) / sum;
}

static double distance(const double *p, const double *q)
{
    return worse(fabs(p[0] - q[0]), worse(fabs(p[1] - q[1]), fabs(p[2] - q[2])));
}

static void test_gradient(void)
{
    const double split[2][3] = {{50, 30, 20}, {60, 40, 0}};
    const double wrong[2][3] = {{20, 9, 4}, {30, 8, 0}};
    double third = 1. / 3;
    double p[2][3], q[3] = {third, third, third};

    gradient_rounds("eta = 2", split, wrong, p);
    move(q, 2, (const double[]){.4 * .5 / third, .3 * .3 / third, .2 * .2 / third});
    is_near(distance(p[0], q), 0, 1e-12, "gradients are weighted by n_i / (n p_i)");
    move(q, 2, (const double[]){.5 * .6 / q[0], .2 * .4 / q[1], 0});
    is_near(distance(p[1], q), 0, 1e-12, "and 0 where nothing was scored");

    const double full[2][3] = {{100, 100, 100}, {100, 100, 100}};
    const double errors[2][3] = {{40, 30, 20}, {50, NAN, 10}};
    for (int i = 0; i < 3; i++) q[i] = third;
    gradient_rounds("eta = 0.5", full, errors, p);
    move(q, .5, (const double[]){.4, .3, .2});
    is_near(distance(p[0], q), 0, 1e-12, "full validation needs no weights");
    move(q, .5, (const double[]){.5, .5, .1});
    is_near(distance(p[1], q), 0, 1e-12,
            "a diverged map counts as the worst of the others");
}

static void test_gradient_jobs(void)
{
    tuner_case example = {&weft_tuner_ws_eg, "", 64, FULL, 100, 1, 1, NULL, 0};
    job_log jobs = all_jobs(&example);
    const weft_job *job = jobs.job;
    ok(jobs.n == 6, "exponentiated gradient takes five rounds and a fit");
    ok(job[4].trial == 0 && job[4].index == 4 && weft_mix_alive(&job[4].mix) == 64,
       "the rounds go on with one trial and all maps");
    ok(job[5].trial == 1 && job[5].from == 0 && job[5].mix.k == 1,
       "the last is a new trial");
    example.options = "switch = 4";
    jobs = all_jobs(&example);
    job = jobs.job;
    ok(jobs.n == 9 && job[5].mix.k == 1 && job[8].mix.k == 1 &&
           job[5].mix.id[0] != job[8].mix.id[0],
       "with switch = 4 the four most probable maps are fitted one by one");
    example.k = 1;
    ok(all_jobs(&example).n == 1, "one map takes one job");
}

MAIN(alone, test_sweep, test_schedules, test_budget, test_noise, test_trials,
     test_survivors, test_gradient, test_gradient_jobs)
