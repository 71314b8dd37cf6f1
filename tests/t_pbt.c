/* Population based training: the toy problem of the paper, which members copy which, how a
 * copy's configuration is changed, and when trials end.
 * RUN: np=1 */
#include "workers.h"

/* ---- the toy problem ---- */

enum { TRIALS = 1000 };

/* Weights theta go down h1 theta1^2 + h2 theta2^2 with rate 0.01; what counts is
 * Q = 1.2 - theta1^2 - theta2^2. Without both options a member cannot come near 1.2. */
struct toy {
    double theta[TRIALS][2], told[TRIALS][2]; /* in flight, after the last told job */
    double h[TRIALS][2];
};

static double toy_loss(struct sim *sim, const sim_job *job)
{
    struct toy *toy = sim->own;
    int64_t i = job->job.trial;
    if (job->job.index == 0 && job->job.from < 0) {
        toy->h[i][0] = i == 0 ? 0 : i == 1 ? 1 : toy->h[i][0];
        toy->h[i][1] = i == 0 ? 1 : i == 1 ? 0 : toy->h[i][1];
        if (i > 1) weft_space_config(sim->space, i, toy->h[i]);
        toy->theta[i][0] = toy->theta[i][1] = 0.9;
    } else if (job->job.index == 0) {
        sim->tuner->explore(sim->self, i, toy->h[job->job.from], toy->h[i]);
        memcpy(toy->theta[i], toy->told[job->job.from], sizeof toy->theta[i]);
    }
    double loss = -1.2;
    for (int a = 0; a < 2; a++) {
        for (int step = 0; step < job->job.resource; step++)
            toy->theta[i][a] -= 0.01 * 2 * toy->h[i][a] * toy->theta[i][a];
        loss += toy->theta[i][a] * toy->theta[i][a];
    }
    return loss;
}

static void toy_told(struct sim *sim, const sim_job *job)
{
    struct toy *toy = sim->own;
    memcpy(toy->told[job->job.trial], toy->theta[job->job.trial], sizeof toy->told[0]);
}

/* The best Q of any job. */
static double toy_best(const char *options, uint64_t seed, int workers, const char **fault)
{
    size_t mark = weft_arena_mark(mem);
    struct sim sim = {.tuner = &weft_tuner_pbt,
                      .options = options,
                      .configs = 2,
                      .workers = workers,
                      .max_jobs = TRIALS,
                      .seed = seed,
                      .watch = 1,
                      .loss = toy_loss,
                      .told = toy_told,
                      .own = WEFT_NEW(mem, struct toy, 1)};
    sim_run(&sim, "[knobs]\nx = 0 .. 1\ny = 0 .. 1");
    if (sim.fault) *fault = sim.fault;
    double best = -INFINITY;
    for (int64_t i = 0; i < sim.n; i++) best = fmax(best, -sim.sim_job[i].loss);
    weft_arena_reset(mem, mark);
    return best;
}

static void test_toy(void)
{
    enum { SEEDS = 20 };
    static const struct {
        const char *about, *options;
        double median, least;
    } ways[] = {
        {"two members", "population = 2", 1.19, 1.1},
        {"ten members", "population = 10", 1.19, 1.19},
    };
    const char *fault = NULL;
    for (size_t i = 0; i < LEN(ways); i++) {
        const char *options =
            printed("%s\ninterval = 4\nmax_resource = 200", ways[i].options);
        double q[SEEDS];
        for (int s = 0; s < SEEDS; s++) q[s] = toy_best(options, (uint64_t)s, 10, &fault);
        weft_sort_f64(SEEDS, q);
        double median = (q[SEEDS / 2 - 1] + q[SEEDS / 2]) / 2;
        ok(median > ways[i].median && q[0] > ways[i].least,
           "the toy problem, %s: median %.4f, least %.4f", ways[i].about, median, q[0]);
    }
    double none = toy_best("population = 2\ninterval = 4\nmax_resource = 200\nquantile = 0",
                           1, 2, &fault);
    is_near(none, 1.2 - .81 - .81 * pow(.98, 400), 1e-12, "without copies Q is %.4f", none);
    ok(fabs(none - .3897) < 5e-5, "as published");
    ok(!fault, "on the way: %s", fault ? fault : "no fault");
}

/* ---- who copies whom ---- */

/* A population whose members are told by hand. */
struct hand {
    const weft_tuner *tuner;
    void *self;
    weft_arena *mem;
};

static struct hand hand_new(const char *options)
{
    struct sim sim = {.tuner = &weft_tuner_pbt, .options = options, .configs = 4};
    must(sim_setup(&sim, NULL));
    return (struct hand){sim.tuner, sim.self, mem};
}

static weft_job ask(struct hand *hand, weft_asked expected)
{
    weft_job job = {.trial = -1, .from = -1};
    weft_asked asked = hand->tuner->ask(hand->self, &job);
    if (asked != expected) job = (weft_job){.trial = -2, .from = -2};
    return job;
}

static void tell(struct hand *hand, int64_t trial, double loss)
{
    weft_result res = weft_result_new(1, 0, hand->mem);
    res.trial = trial;
    res.loss = loss;
    hand->tuner->tell(hand->self, &res);
}

static int ended(const struct hand *hand, int64_t trial)
{
    return hand->tuner->ended(hand->self, trial);
}

/* From the fifth result on. */
static void test_later(struct hand *hand)
{
    tell(hand, 3, INFINITY);
    weft_job job = ask(hand, WEFT_JOB);
    ok(job.trial == 5 && job.from == 0, "one that diverged is the worst");
    tell(hand, 0, .7);
    job = ask(hand, WEFT_JOB);
    ok(job.trial == 0 && job.from == -1 && !ended(hand, 0),
       "others still count by their latest");
    tell(hand, 4, .4);
    ok(ended(hand, 1) && !ended(hand, 4), "then the old trial ended");
    job = ask(hand, WEFT_JOB);
    ok(job.trial == 4 && job.index == 1, "and the copy goes on");
    tell(hand, 2, .8);
    job = ask(hand, WEFT_JOB);
    ok(job.trial == 2 && job.from == -1, "the second worst of four goes on");
    tell(hand, 5, .9);
    ok(ended(hand, 3), "a trial that diverged ended, too");
    job = ask(hand, WEFT_JOB);
    ok(job.eligibility == WEFT_WINS_LAST, "members compete at their end");
    ok(job.trial == 6 && job.from == 4, "the best by its latest result is copied");
    tell(hand, 0, .1);
    job = ask(hand, WEFT_JOB);
    ok(job.trial == 0 && job.index == 3 && job.resource == 5,
       "the last interval is what is left");
    ok(job.eligibility == WEFT_WINS_LOSS, "its result may win");
}

static void test_asynchronous(void)
{
    struct hand hand = hand_new("population = 4\ninterval = 10\nmax_resource = 35");
    for (int i = 0; i < 4; i++) {
        weft_job job = ask(&hand, WEFT_JOB);
        ok(job.trial == i && job.from == -1 && job.index == 0 && job.resource == 10 &&
               !job.last,
           "member %d begins", i);
    }
    ok(ask(&hand, WEFT_WAIT).trial == -1, "then it waits");
    tell(&hand, 2, .5);
    weft_job job = ask(&hand, WEFT_JOB);
    ok(job.trial == 2 && job.from == -1 && job.index == 1,
       "one that is known alone goes on");
    tell(&hand, 0, .5);
    job = ask(&hand, WEFT_JOB);
    ok(job.trial == 0 && job.from == -1, "of equals the lower trial is the better");
    tell(&hand, 1, .9);
    job = ask(&hand, WEFT_JOB);
    ok(job.trial == 4 && job.from == 0 && job.index == 0 && job.resource == 10,
       "the worst of three copies the best, in a new trial");
    ok(!ended(&hand, 1), "what it was is kept until its first result");
    test_later(&hand);
}

static void test_share(void)
{
    struct hand hand =
        hand_new("population = 5\ninterval = 10\nmax_resource = 30\nquantile = 0.3");
    for (int i = 0; i < 5; i++) ask(&hand, WEFT_JOB);
    for (int i = 0; i < 4; i++) tell(&hand, (int[]){4, 2, 1, 0}[i], .5 - .1 * i);
    tell(&hand, 3, .45);
    weft_job job = ask(&hand, WEFT_JOB);
    ok(job.trial == 5 && (job.from == 0 || job.from == 1),
       "of five members a share of 1.5 is two");
    hand = hand_new("population = 2\ninterval = 10\nmax_resource = 20");
    for (int i = 0; i < 2; i++) ask(&hand, WEFT_JOB);
    tell(&hand, 0, .1);
    tell(&hand, 1, .9);
    job = ask(&hand, WEFT_JOB);
    ok(job.trial == 2 && job.from == 0, "a copy may have a single interval left");
}

/* How long trials are trained, with what they copied. */
struct lengths {
    double asked[TRIALS], told[TRIALS], most;
};

static double random_loss(struct sim *sim, const sim_job *job)
{
    struct lengths *lengths = sim->own;
    double *asked = &lengths->asked[job->job.trial];
    if (job->job.from >= 0) *asked = lengths->told[job->job.from];
    *asked += job->job.resource;
    lengths->most = fmax(lengths->most, *asked);
    weft_rng4 rng = weft_rng_at(sim->seed, WEFT_RNG_TEST, (uint64_t)job->job.trial,
                                (uint64_t)job->job.index, 0);
    return rng.v[1] % 8 == 0 ? NAN : floor(16 * weft_rng_unit(rng.v[0]));
}

static void note_length(struct sim *sim, const sim_job *job)
{
    struct lengths *lengths = sim->own;
    lengths->told[job->job.trial] = lengths->asked[job->job.trial];
}

static void test_contract(void)
{
    static const char *const options[] = {"", "quantile = 0",
                                          "quantile = 0.5\nwinner = best"};
    static const int population[] = {1, 2, 3, 20}, workers[] = {1, 3, 50};
    const char *fault = NULL;
    int most = 0, held = 1;
    double trained = 0, spent = 0;
    for (int o = 0; o < 3; o++)
        for (int p = 0; p < 4; p++) {
            for (int w = 0; w < 3; w++) {
                struct sim sim = {
                    .tuner = &weft_tuner_pbt,
                    .options = printed("%s\npopulation = %d", options[o], population[p]),
                    .configs = 1,
                    .workers = workers[w],
                    .max_jobs = 200,
                    .watch = 1,
                    .seed = (uint64_t)o,
                    .loss = random_loss,
                    .told = note_length,
                    .own = WEFT_NEW(mem, struct lengths, 1),
                    .cost = uneven};
                sim_run(&sim, NULL);
                if (sim.fault) fault = sim.fault;
                most += (int)(sim.trials - population[p]);
                held &= sim.held <= 2 * population[p];
                trained = fmax(trained, ((struct lengths *)sim.own)->most);
                spent = fmax(spent, sim.spent / population[p]);
            }
        }
    ok(!fault, "for any population, way and number of workers: %s",
       fault ? fault : "no fault");
    ok(held && most > 500, "a member has at most two states at a time");
    ok(!(trained > 100), "no trial is trained beyond max_resource, with what it copied");
    ok(!(spent > 100), "no member has more than that");
}

/* ---- explore ---- */

/* A schedule with axes of all kinds, whose function `explore` is tested. */
static struct sim explorer(void)
{
    struct sim sim = {.tuner = &weft_tuner_pbt, .options = "", .configs = 1, .seed = 5};
    const char *axes = "[knobs]\nx = log 0.01 .. 1\ny = 4 | 1 | 2\nn = 1 .. 50\nc = p | q "
                       "| r\nsize = 1 .. 9";
    must(sim_setup(&sim, axes));
    return sim;
}

static void test_explore(void)
{
    enum { N = 4000 };
    struct sim sim = explorer();
    const double from[5] = {.1, 2, 2, 1, 7};
    int times[3] = {0}, listed[3] = {0}, whole[3] = {0}, choice[3] = {0}, inside = 1;
    double pairs = 0;
    for (int i = 0; i < N; i++) {
        double conf[5], again[5];
        sim.tuner->explore(sim.self, i, from, conf);
        sim.tuner->explore(sim.self, i, from, again);
        inside &= memcmp(conf, again, sizeof conf) == 0 && conf[0] >= .01 && conf[0] <= 1 &&
                  conf[2] >= 1 && conf[2] <= 50 && conf[4] == 7;
        int up = fabs(conf[0] - .12) < 1e-12, down = fabs(conf[0] - .08) < 1e-12;
        times[up ? 2 : down ? 0 : 1]++;
        listed[conf[1] > 3 ? 2 : conf[1] > 1.5 ? 1 : 0]++;
        whole[conf[2] > 2.5 ? (conf[2] < 3.5 ? 2 : 1) : conf[2] < 1.5 ? 0 : 1]++;
        choice[(int)conf[3]]++;
        pairs += (double)((up || down) && conf[2] > 3.5) / N;
    }
    /* five standard errors of N draws */
    double tol = 5 * sqrt(.25 / N);
    ok(inside,
       "a copy's options are a function of its trial, in their ranges, its size the same");
    is_near((double)times[0] / N, .375, tol, "numbers times 0.8");
    is_near((double)times[2] / N, .375, tol, "or 1.2");
    is_near((double)times[1] / N, .25, tol, "or drawn anew");
    is_near((double)listed[0] / N, .375 + .25 / 3, tol, "lists of numbers: the next below");
    is_near((double)listed[2] / N, .375 + .25 / 3, tol, "or above");
    is_near((double)whole[0] / N, .375 + .25 / 50, tol, "integers move by one at least");
    is_near((double)whole[2] / N, .375 + .25 / 50, tol, "either way");
    is_near((double)choice[0] / N, 1. / 3, tol, "choices are drawn anew");
    is_near(pairs, .75 * .25 * 47 / 50, tol, "each option on its own");
}

static void test_explore_ends(void)
{
    struct sim sim = explorer();
    const double ends[5] = {1, 4, 50, 0, 7};
    int clipped = 1, other = 0;
    for (int i = 0; i < 100; i++) {
        double conf[5];
        sim.tuner->explore(sim.self, i, ends, conf);
        clipped &= conf[0] <= 1 && conf[1] <= 4 && conf[2] <= 50;
        other += conf[0] < 1;
    }
    ok(clipped && other > 30, "and none leaves its range");
}

int main(void)
{
    tap_begin();
    test_toy();
    test_asynchronous();
    test_share();
    test_contract();
    test_explore();
    test_explore_ends();
    sim_refused(&weft_tuner_pbt, "interval = 101", NULL, "pbt.interval");
    sim_refused(&weft_tuner_pbt, "", "source = grid\n[knobs]\nx = 0 .. 1",
                "5 configurations");
    return tap_end();
}
