/* Successive halving: which trials are eliminated and when, total resource, winner; and
 * jobs with the mixings FedEx and multiplicative weights.
 * RUN: np=1 */
#include "scratch.h"
#include "tuner_case.h"

/* "27x89 9x177 3x268 1x800": trials that came so far in each rung. */
static const char *rungs(const job_log *jobs)
{
    const char *text = "";
    double done[1000] = {0};
    for (int i = 0; i < jobs->n;) {
        double until = done[jobs->job[i].trial] += jobs->job[i].resource;
        int trials = 1;
        for (i++; i < jobs->n; i++) {
            double at = done[jobs->job[i].trial] + jobs->job[i].resource;
            if (fabs(at - until) > 0) break;
            done[jobs->job[i].trial] = at;
            trials++;
        }
        text = printed("%s%s%dx%g", text, *text ? " " : "", trials, until);
    }
    return text;
}

static void spends(const weft_tuner *tuner, int k, const char *options,
                   const char *schedule, double total)
{
    tuner_case example = {tuner, options, k, FULL, 100, 1, 1, NULL, 0};
    job_log jobs = all_jobs(&example);
    const char *found = rungs(&jobs);
    ok(strcmp(found, schedule) == 0, "%s of %d: %s", tuner->kind.name, k, found);
    is_near(jobs.spent, total, 0, "spends %g", total);
}

/* Options of a tuner with a mixing of that name, and the mixing's. */
static const char *mixed(const char *tuner, const char *mixing, const char *options)
{
    return printed("%s\n[run]\nmixing = %s\n[%s]\n%s", tuner, mixing, mixing, options);
}

static void test_schedules(void)
{
    /* the published settings */
    const weft_tuner *sha = &weft_tuner_sha;
    const char *fedex = mixed("", "fedex", "");
    spends(sha, 27, "", "27x89 9x177 3x268 1x800", 4000);
    spends(sha, 27, "max_resource = 50\nbudget = 450", "27x11 9x22 3x35 1x50", 450);
    spends(sha, 27, "max_resource = 200\nbudget = 2000", "27x50 9x100 3x150 1x200", 2000);
    spends(sha, 27, "eliminations = 0", "5x800", 4000);
    spends(sha, 27, fedex, "27x89 9x177 3x268 1x800", 4000);
    spends(sha, 27, mixed("eliminations = 0", "fedex", ""), "5x800", 4000);
    spends(sha, 27, "eliminations = 0\nmax_resource = 50\nbudget = 450", "9x50", 450);
    /* by hand: 5 * 10 + 15 a = 95 */
    spends(sha, 20, "reduction = 4\neliminations = 1\nmax_resource = 10\nbudget = 95",
           "20x3 5x10", 95);
    spends(sha, 64, "", "64x28 21x55 7x85 2x800", 3999);
    spends(&weft_tuner_random, 7, "resource = 12", "7x12", 84);
    spends(&weft_tuner_random, 7, mixed("resource = 12", "fedex", ""), "7x12", 84);
    spends(&weft_tuner_ws_one, 7, mixed("resource = 12", "mw", ""), "1x12", 12);
}

static weft_status setup(const weft_tuner *tuner, int k, const char *axes,
                         const char *options)
{
    test_search search;
    return test_search_read(&search, tuner,
                            printed("[space]\nconfigs = %d\n%s\n[%s]\n%s\n", k, axes,
                                    tuner->kind.name, options),
                            1, 0);
}

static void refused(const weft_tuner *tuner, int k, const char *axes, const char *options,
                    const char *word)
{
    weft_status st = setup(tuner, k, axes, options);
    ok(st == WEFT_ECONF && says(word), "refused: %s", weft_error());
}

static void test_refused(void)
{
    const char *x = "[client]\nx = 0 .. 1", *y = "[server]\ny = 0 .. 1";
    const weft_tuner *sha = &weft_tuner_sha, *one = &weft_tuner_ws_one;
    refused(sha, 26, x, "eliminations = 3", "at least 27");
    refused(sha, 27, x, "budget = 835", "at least 836");
    ok(setup(sha, 27, x, "budget = 836") == WEFT_OK, "a round a rung is enough");
    refused(sha, 27, x, "budget = 100000", "can use");
    refused(sha, 27, x, "eliminations = 0\nbudget = 799", "0 trials");
    refused(sha, 27, y, mixed("", "fedex", ""), "no option that may differ");
    refused(sha, 27, x, mixed("", "fedex", "levels = 1"), "at least 2");
    refused(one, 27, y, mixed("", "mw", ""), "server.y");
    refused(one, 27, x, mixed("", "mw", "racing = yes\nliteral = yes"), "mw.literal");
    refused(one, 27, x, mixed("", "mw", "k = 3"), "mw.k");
    refused(one, 27, x, mixed("", "fedex", "levels = 3"), "fedex.levels");
    refused(one, 27, x, "", "run.mixing = mw or fedex");
    refused(&weft_tuner_ws_sha, 27, x, mixed("", "fedex", ""), "run.mixing = none");
    refused(&weft_tuner_ws_eg, 27, y, "", "server.y");
}

/* What is spent where neither eliminations nor budget are given. */
static void test_usual(void)
{
    static const struct {
        int k;
        const char *options;
        double spent;
    } usual[] = {
        {27, "", 4000}, /* as published */
        {9, "", 3460},  /* 800 + (8 + 2) 266: two eliminations, equal rungs */
        {3, "", 1600},  /* 800 + 2 400 */
        {2, "", 1600},  /* no elimination */
        {64, "", 3999}, /* 1600 + 86 27 + 78: all that can be used */
        {200, "max_resource = 4", 295}, /* 28 + 267: a round a rung, for 20 were too few */
        {27, "max_resource = 2", 36},   /* one elimination: 18 + 18 */
        {9, "eliminations = 0", 4000},
    };
    for (size_t i = 0; i < LEN(usual); i++) {
        tuner_case example = {
            &weft_tuner_sha, usual[i].options, usual[i].k, FULL, 9, 1, 1, NULL, 0};
        job_log jobs = all_jobs(&example);
        is_near(jobs.spent, usual[i].spent, 0, "the usual budget of %d trials", usual[i].k);
    }
}

/* ---- who goes on ---- */

/* Asks all there is, tells loss[trial] to each from the last to the first, or from the
 * first; returns the number of jobs and writes their trials. */
static int rung_of(test_search *search, const double *loss, int backward, int *trial)
{
    enum { MOST = 100 };
    weft_job job;
    int n = 0;
    for (; n < MOST && ask(search, &job) == WEFT_JOB; n++) trial[n] = (int)job.trial;
    for (int i = 0; i < n; i++) {
        weft_result res = weft_result_new(1, 0, mem);
        res.trial = trial[backward ? n - 1 - i : i];
        res.loss = loss[res.trial];
        tell(search, &res);
    }
    return n;
}

static void test_elimination(void)
{
    tuner_case example = {
        &weft_tuner_sha, "reduction = 2\nbudget = 2000", 8, FULL, 0, 1, 1, NULL, 0};
    const double loss[8] = {INFINITY, .4, INFINITY, .3, .4, .4, -INFINITY, 1e300};
    for (int backward = 0; backward < 2; backward++) {
        test_search search = test_search_new(&example);
        int t[100];
        ok(rung_of(&search, loss, backward, t) == 8, "all begin");
        ok(rung_of(&search, loss, backward, t) == 4 && t[0] == 1 && t[1] == 3 &&
               t[2] == 4 && t[3] == 6,
           "the lowest losses go on, of equals the lower ids");
        ok(ended(&search, 0) && ended(&search, 5) && !ended(&search, 3),
           "the others are ended");
        ok(rung_of(&search, loss, backward, t) == 2 && t[0] == 3 && t[1] == 6, "again");
        ok(rung_of(&search, loss, backward, t) == 1 && t[0] == 6, "one is left");
        ok(rung_of(&search, loss, backward, t) == 0, "and that is all");
    }
    weft_job job;
    const double none[8] = {INFINITY, INFINITY, INFINITY, INFINITY,
                            INFINITY, INFINITY, INFINITY, INFINITY};
    test_search search = test_search_new(&example);
    int t[100];
    rung_of(&search, none, 0, t);
    ok(rung_of(&search, none, 0, t) == 0 && ask(&search, &job) == WEFT_DONE,
       "one that diverged does not go on");
}

static void test_winner(void)
{
    tuner_case example = {&weft_tuner_sha, "", 27, FULL, 100, 1, 1, NULL, 0};
    job_log jobs = all_jobs(&example);
    const weft_job *end = &jobs.job[jobs.n - 1];
    int best = 1, last = 1;
    for (int i = 0; i < jobs.n; i++) {
        best &= jobs.job[i].mix.conf[0] >= end->mix.conf[0];
        last &= jobs.job[i].last == (i == jobs.n - 1) &&
                jobs.job[i].eligibility == WEFT_WINS_RESOURCE;
    }
    ok(best, "without noise the best of all is the last survivor");
    ok(last, "only its last job ends a trial for sure");
    ok(end->index == 3 && end->trial == end->mix.id[0], "it went on with its own weights");
}

/* ---- mixtures ---- */

static const char fed[] = "n = 1 .. 5\n[server]\ny = 0 .. 1\n";

/* Server axes, centre, ids of every mixture of a search. */
static void mixes_are_sound(const job_log *jobs, const weft_space *space, int k,
                            const char *about)
{
    int sizes = 1, server = 1, centre = 1, ids = 1, moved = 0;
    for (int i = 0; i < jobs->n; i++) {
        const weft_mix *mix = &jobs->job[i].mix;
        double own[MAX_DIM];
        weft_space_config(space, jobs->job[i].trial, own);
        sizes &= mix->k == k;
        centre &= mix->nblock > 1 || memcmp(mix->conf, own, sizeof own) == 0;
        for (int e = 0; e < mix->k; e++) {
            server &= mix->conf[MAX_DIM * e + 2] == own[2];
            ids &= mix->id[e] == jobs->job[i].trial * k + e;
            moved += fabs(mix->conf[MAX_DIM * e] - own[0]) > 0;
        }
    }
    ok(sizes, "%s: mixtures of %d", about, k);
    ok(server, "all of them with the server's options of the centre");
    ok(centre, "which comes first");
    ok(ids && moved > 0, "each entry with an id of its own");
}

static void test_fedex(void)
{
    tuner_case example = {
        &weft_tuner_sha, mixed("", "fedex", ""), 27, FULL, 9, 1, 1, fed, 0};
    test_search search = test_search_new(&example);
    job_log sha = all_jobs(&example);
    mixes_are_sound(&sha, search.space, 27, "in halving");
    const weft_job *end = &sha.job[sha.n - 1], *begin = &sha.job[end->trial];
    ok(end->mix.id[0] == begin->mix.id[0] &&
           fabs(end->mix.logp[0] - begin->mix.logp[0]) > 0,
       "a trial goes on with its mixture");
    example.options = mixed("eliminations = 0", "fedex", "");
    job_log random = all_jobs(&example);
    mixes_are_sound(&random, search.space, 5, "in random search");
    is_near(random.spent, sha.spent, 0, "both spend the same");
    example.options = mixed("", "fedex", "levels = 4");
    job_log grid = all_jobs(&example);
    mixes_are_sound(&grid, search.space, 8, "on grids of 4");
    const weft_mix *mix = &grid.job[0].mix;
    ok(mix->nblock == 2 && mix->off[1] == 4 && mix->axis[0] == 0 && mix->axis[1] == 1,
       "a grid has a block an axis of the clients");
    is_near(mix->conf[MAX_DIM * 1], 1. / 3, 1e-15, "numbers are spread evenly");
    ok(mix->conf[MAX_DIM * 4 + 1] == 1 && mix->conf[MAX_DIM * 7 + 1] == 5,
       "integers from end to end");
}

static void test_rules(void)
{
    const char *once = "eliminations = 0\nmax_resource = 1\nbudget = 1000";
    tuner_case example = {
        &weft_tuner_sha, mixed(once, "fedex", "k = 2"), 1000, FULL, 9, 1, 1, NULL, 0};
    job_log jobs = all_jobs(&example);
    double sum = 0, squares = 0;
    for (int i = 0; i < jobs.n; i++) {
        double d = jobs.job[i].update.discount;
        sum += d / jobs.n;
        squares += d * d / jobs.n;
    }
    /* five standard errors of uniform draws */
    is_near(sum, .5, 5 * sqrt(1. / 12 / 1000), "discounts are drawn from 0 .. 1: mean");
    is_near(squares, 1. / 3, 5 * sqrt(4. / 45 / 1000), "and square");
    const weft_mix_update *update = &jobs.job[0].update;
    ok(update->schedule == WEFT_UPDATE_AGGRESSIVE && update->eta <= 0 &&
           update->floor <= 0 && !update->diff,
       "defaults are those of the released scripts");
    example.k = 3;
    example.options =
        mixed("eliminations = 0", "fedex", "sched = auto\neta = 2\ndiff = yes");
    update = &all_jobs(&example).job[2].update;
    ok(update->schedule == WEFT_UPDATE_ROOT && update->eta == 2 && update->diff == 1,
       "options come through");
}

static void test_mw_rules(void)
{
    tuner_case example = {&weft_tuner_ws_one, NULL, 3, FULL, 9, 1, 1, NULL, 0};
    example.options = mixed("resource = 50", "mw", "");
    const weft_mix_update *update = &all_jobs(&example).job[0].update;
    ok(update->schedule == WEFT_UPDATE_HORIZON && update->horizon == 50 &&
           update->discount == 1 && update->floor == .01 && update->eta <= 0,
       "multiplicative weights are corrected by default");
    example.options = mixed("", "mw", "literal = yes");
    update = &all_jobs(&example).job[0].update;
    ok(update->schedule == WEFT_UPDATE_AS_PUBLISHED && update->horizon == 800,
       "or to the letter");
    example.tuner = &weft_tuner_sha;
    example.options = mixed("max_resource = 40", "mw", "k = 5");
    const weft_job *job = &all_jobs(&example).job[0];
    ok(job->update.horizon == 40 && job->mix.k == 5,
       "in halving their horizon is the longest trial, their mixture a neighbourhood");
}

/* Settings that people chose: a list, trained one by one or as the centres of mixtures. */
static void test_list(void)
{
    tuner_case example = {&weft_tuner_random, "resource = 30", 0, FULL, 9, 1, 1, NULL, 0};
    example.axes = printed("[space]\nsource = list\nfile = %s\n",
                           write_text("list", "server.y\tclient.x\n1\t0.5\n0.25\t0.75\n"));
    job_log l = all_jobs(&example);
    const double *a = l.job[0].mix.conf, *b = l.job[1].mix.conf;
    ok(l.n == 2 && l.job[1].mix.k == 1 && a[0] == 1 && a[1] == .5 && b[0] == .25 &&
           b[1] == .75 && l.spent == 60,
       "listed settings are trained as they are");
    example.options = mixed("", "fedex", "k = 50\neps = 0.2");
    job_log f = all_jobs(&example);
    int good = f.n == 2, moved = 0;
    for (int i = 0; i < 50; i++) {
        const double *conf = f.job[0].mix.conf + (size_t)2 * i;
        good &= conf[0] == 1 && fabs(conf[1] - .5) <= .2;
        moved += fabs(conf[1] - .5) > .1;
    }
    ok(good && moved > 0, "or with neighbours in the box of the range beside the list");
}

MAIN(files, test_schedules, test_refused, test_usual, test_elimination, test_winner,
     test_fedex, test_rules, test_mw_rules, test_list)
