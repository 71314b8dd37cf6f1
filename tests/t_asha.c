/* Asynchronous successive halving: traces worked out by hand from the published algorithm,
 * the same jobs as a direct implementation of it, when trials end, and the cost of a call.
 * RUN: np=1 */
#include "workers.h"

/* ---- losses ---- */

static double best_last(struct sim *sim, const sim_job *job)
{
    (void)sim;
    return 1 - (double)(job->job.trial + 1) / 100;
}

static double best_first(struct sim *sim, const sim_job *job)
{
    (void)sim;
    return (double)(job->job.trial + 1) / 100;
}

static double shuffled(struct sim *sim, const sim_job *job)
{
    (void)sim;
    return (double)((37 * job->job.trial + 11) % 101) / 101;
}

/* Few values, so that many are equal, and some that diverged. */
static double rough(struct sim *sim, const sim_job *job)
{
    double u = sim_unit(sim, job, 0);
    return u < 0.1 ? INFINITY : floor(12 * u);
}

/* ---- traces ---- */

struct known {
    const char *about, *options;
    double (*loss)(struct sim *c, const sim_job *s);
    int configs, workers, times;
    double end;
    const char *trace, *rungs;
};

static const struct known traces[] = {
    {"best last", "max_resource = 9", best_last, 9, 1, 1, 53,
     "0:0@1 1:1@1 2:2@1 3:2@3 5:3@1 6:3@3 8:4@1 9:4@3 11:4@9 17:5@1 18:5@3 20:5@9 "
     "26:6@1 27:6@3 29:6@9 35:7@1 36:7@3 38:7@9 44:8@1 45:8@3 47:8@9",
     "9,7,5"},
    {"best last", "max_resource = 9", best_last, 9, 3, 1, 21,
     "0:0@1 0:1@1 0:2@1 1:3@1 1:4@1 1:2@3 2:3@3 2:4@3 3:5@1 4:6@1 4:4@9 4:5@3 5:6@3 "
     "6:5@9 7:6@9 10:7@1 11:7@3 12:8@1 13:7@9 13:8@3 15:8@9",
     "9,7,5"},
    {"best last", "max_resource = 27", best_last, 27, 1, 0, 593, NULL, "27,25,23,21"},
    {"best last", "max_resource = 27", best_last, 27, 3, 0, 201, NULL, "27,25,23,21"},
    {"best last", "max_resource = 27", best_last, 27, 10, 0, 81, NULL, "27,25,23,21"},
    {"best last", "max_resource = 27", best_last, 27, 27, 0, 27, NULL, "27,25,23,21"},
    {"best first", "max_resource = 9", best_first, 9, 1, 0, 21,
     "0@1 1@1 2@1 0@3 3@1 4@1 5@1 1@3 6@1 7@1 8@1 2@3 0@9", "9,3,1"},
    {"best first", "max_resource = 27", best_first, 27, 1, 0, 81, NULL, "27,9,3,1"},
    {"best first", "max_resource = 27", best_first, 27, 3, 0, 44, NULL, "27,9,3,1"},
    {"best first", "max_resource = 27", best_first, 27, 10, 0, 30, NULL, "27,9,3,1"},
    {"best first", "max_resource = 27", best_first, 27, 27, 0, 27, NULL, "27,9,3,1"},
    {"crossing curves", "max_resource = 9", crossing, 9, 1, 0, 21,
     "0@1 1@1 2@1 0@3 3@1 4@1 5@1 5@3 6@1 7@1 8@1 1@3 0@9", "9,3,1"},
    {"crossing curves", "max_resource = 27", crossing, 27, 1, 0, 81, NULL, "27,9,3,1"},
    {"crossing curves", "max_resource = 27", crossing, 27, 3, 0, 44, NULL, "27,9,3,1"},
    {"crossing curves", "max_resource = 27", crossing, 27, 10, 0, 31, NULL, "27,9,3,1"},
    {"crossing curves", "max_resource = 27", crossing, 27, 27, 0, 27, NULL, "27,9,3,1"},
    {"no bound", "reduction = 4\ntrials = 0\njobs = 2000", shuffled, 1, 1, 0, 5820, NULL,
     "1503,375,94,23,5"},
    {"no bound", "reduction = 4\ntrials = 0\njobs = 2000", shuffled, 1, 25, 0, 377, NULL,
     "1507,375,92,22,4"},
    {"no bound", "reduction = 4\ntrials = 0\njobs = 2000", shuffled, 1, 100, 0, 84, NULL,
     "1525,373,87,15"},
    /* the first goes on as long as there is nobody to compare it with */
    {"stopping, best first", "max_resource = 9\nvariant = stopping", best_first, 9, 1, 0,
     17, "0@1 0@3 0@9 1@1 2@1 3@1 4@1 5@1 6@1 7@1 8@1", "9,1,1"},
    {"stopping, best last", "max_resource = 9\nvariant = stopping", best_last, 3, 1, 0, 27,
     "0@1 0@3 0@9 1@1 1@3 1@9 2@1 2@3 2@9", "3,3,3"},
    /* all three are the best so far when they are told; then the fourth of four */
    {"stopping, three workers", "max_resource = 9\nvariant = stopping", best_last, 4, 3, 1,
     18, "0:0@1 0:1@1 0:2@1 1:0@3 1:1@3 1:2@3 3:0@9 3:1@9 3:2@9 9:3@1 10:3@3 12:3@9", NULL},
    {"stopping, three workers", "max_resource = 9\nvariant = stopping", best_first, 6, 3, 1,
     9, "0:0@1 0:1@1 0:2@1 1:0@3 1:3@1 1:4@1 2:5@1 3:0@9", NULL},
};

static struct sim sim_of(const struct known *known)
{
    const char *options = strstr(known->options, "reduction") ? "" : "reduction = 3\n";
    return (struct sim){.tuner = &weft_tuner_asha,
                        .options = printed("%s%s", options, known->options),
                        .configs = known->configs,
                        .workers = known->workers,
                        .max_jobs = 4000,
                        .watch = known->configs > 1,
                        .loss = known->loss};
}

static void test_traces(void)
{
    for (size_t i = 0; i < LEN(traces); i++) {
        const struct known *known = &traces[i];
        struct sim sim = sim_of(known);
        sim_run(&sim, NULL);
        const char *trace = sim_trace(&sim, known->times);
        const char *rungs = sim_rungs(&sim, 1, strstr(known->options, "= 4") ? 4 : 3);
        ok(!sim.fault, "%s of %d by %d: %s", known->about, known->configs, known->workers,
           sim_said(&sim));
        ok(!known->trace || strcmp(trace, known->trace) == 0, "its jobs: %s",
           known->trace ? trace : "too many");
        ok(!known->rungs || strcmp(rungs, known->rungs) == 0, "its rungs: %s", rungs);
        is_near(sim.end, known->end, 0, "it ends at %g", known->end);
    }
}

static void test_winner(void)
{
    for (size_t i = 0; i < LEN(traces); i++) {
        if (traces[i].loss != crossing || traces[i].configs != 27) continue;
        struct sim sim = sim_of(&traces[i]);
        sim_run(&sim, NULL);
        const sim_job *top = NULL;
        int eligible = 1, last = 1;
        for (int64_t j = 0; j < sim.n; j++) {
            const sim_job *job = &sim.sim_job[j];
            if (job->resource > 26) top = job;
            eligible &= job->job.eligibility == WEFT_WINS_RESOURCE;
            last &= job->job.last == (job->resource > 26);
        }
        ok(top && top->job.trial == 5, "of crossing curves the fifth wins");
        is_near(top ? top->loss : 0, 1 + 8. / 27, 1e-15, "with its loss");
        ok(eligible, "any may win, by the most resource");
        ok(last, "jobs of the last rung are last");
    }
}

/* ---- a plain reading of the algorithm ---- */

enum { MAX_TRIALS = 3000, RUNGS = 5 };

struct plain {
    int reduction, n;
    int64_t begun, open;
    double loss[RUNGS][MAX_TRIALS]; /* of a trial in a rung; NAN: not there */
    int promoted[RUNGS][MAX_TRIALS];
    int rung[MAX_TRIALS]; /* aimed at */
    int leader, leads_at; /* trial with the best result of the highest rung; -1: none */
    int crowned;
};

static const weft_opt plain_opts[] = {
    WEFT_INT_OPT("reduction", struct plain, reduction, "4", 2, 9, "eta"),
    WEFT_INT_OPT("trials", struct plain, n, "0", 0, MAX_TRIALS, "0: no end"),
    {0},
};

static weft_status plain_setup(void *self, const weft_space *space, uint64_t seed,
                               weft_arena *own)
{
    struct plain *plain = self;
    (void)space, (void)seed, (void)own;
    for (int k = 0; k < RUNGS; k++)
        for (int i = 0; i < MAX_TRIALS; i++) plain->loss[k][i] = NAN;
    plain->leader = -1;
    return WEFT_OK;
}

/* Of rung k the first of the floor(size / reduction) best that may go on; -1: none. */
static int plain_best(const struct plain *plain, int k)
{
    int size = 0, first = -1, better = 0;
    for (int i = 0; i < plain->begun; i++) {
        if (isnan(plain->loss[k][i])) continue;
        size++;
        if (plain->promoted[k][i] || isinf(plain->loss[k][i])) continue;
        if (first < 0 || plain->loss[k][i] < plain->loss[k][first]) first = i;
    }
    for (int i = 0; first >= 0 && i < plain->begun; i++)
        better += plain->loss[k][i] < plain->loss[k][first] ||
                  (i < first && !(plain->loss[k][i] > plain->loss[k][first]) &&
                   !isnan(plain->loss[k][i]));
    return first >= 0 && better < size / plain->reduction ? first : -1;
}

static weft_asked plain_job(struct plain *plain, int trial, int rung, weft_job *job)
{
    double before = 0, at = 1;
    for (int k = 0; k < rung; k++, at *= plain->reduction) before = at;
    plain->rung[trial] = rung;
    plain->open++;
    *job = weft_job_new(trial, at - before, NULL);
    job->index = rung;
    job->last = rung == RUNGS - 1;
    return WEFT_JOB;
}

static weft_asked plain_ask(void *self, weft_job *job)
{
    struct plain *plain = self;
    for (int k = RUNGS - 2; k >= 0; k--) {
        int c = plain_best(plain, k);
        if (c < 0) continue;
        plain->promoted[k][c] = 1;
        return plain_job(plain, c, k + 1, job);
    }
    if (plain->begun < plain->n) return plain_job(plain, (int)plain->begun++, 0, job);
    if (plain->open > 0) return WEFT_WAIT;
    if (plain->crowned++ || plain->leader < 0 || plain->leads_at == RUNGS - 1)
        return WEFT_DONE;
    plain_job(plain, plain->leader, RUNGS - 1, job);
    job->resource =
        pow(plain->reduction, RUNGS - 1) - pow(plain->reduction, plain->leads_at);
    job->index = plain->leads_at + 1;
    return WEFT_JOB;
}

static void plain_tell(void *self, const weft_result *res)
{
    struct plain *plain = self;
    int trial = (int)res->trial, rung = plain->rung[trial], leader = plain->leader;
    plain->open--;
    plain->loss[rung][trial] = res->loss;
    if (isinf(res->loss)) {
        if (trial == leader) plain->leader = -1;
        return;
    }
    double best = leader < 0 ? 0 : plain->loss[plain->leads_at][leader];
    int better = res->loss < best || (!(res->loss > best) && trial < leader);
    if (leader >= 0 && rung <= plain->leads_at && (rung < plain->leads_at || !better))
        return;
    plain->leader = trial;
    plain->leads_at = rung;
}

static int64_t plain_jobs(const void *self)
{
    (void)self;
    return 0;
}

static const weft_tuner plain_tuner = {.kind =
                                           WEFT_KIND("plain", struct plain, plain_opts, ""),
                                       .setup = plain_setup,
                                       .ask = plain_ask,
                                       .tell = plain_tell,
                                       .jobs = plain_jobs};

static int same_jobs(const struct sim *a, const struct sim *b)
{
    int same = a->n == b->n;
    for (int64_t i = 0; same && i < a->n; i++) {
        const weft_job *x = &a->sim_job[i].job, *y = &b->sim_job[i].job;
        same = x->trial == y->trial && x->index == y->index && x->last == y->last &&
               !(fabs(x->resource - y->resource) > 0) &&
               !(fabs(a->sim_job[i].start - b->sim_job[i].start) > 0);
    }
    return same;
}

static void test_plain(void)
{
    static const int sizes[] = {1, 2, 3, 7, 64, 300}, workers[] = {1, 3, 10, 64};
    int same = 1, sound = 1, freed = 0;
    for (size_t e = 0; e < LEN(sizes); e++)
        for (size_t w = 0; w < LEN(workers); w++)
            for (int eta = 2; eta <= 4; eta++) {
                size_t mark = weft_arena_mark(mem);
                int n = sizes[e], top = eta * eta * eta * eta;
                struct sim a = {.tuner = &weft_tuner_asha,
                                .options =
                                    printed("reduction = %d\nmax_resource = %d", eta, top),
                                .configs = n,
                                .workers = workers[w],
                                .max_jobs = 5 * n,
                                .watch = 1,
                                .seed = (uint64_t)(100 * eta + n),
                                .loss = rough,
                                .cost = uneven};
                struct sim b = a;
                b.tuner = &plain_tuner;
                b.watch = 0;
                b.options = printed("reduction = %d\ntrials = %d", eta, n);
                sim_run(&a, NULL);
                sim_run(&b, NULL);
                same &= same_jobs(&a, &b);
                sound &= !a.fault;
                if (a.fault) note("%d trials, %d workers: %s", n, a.workers, a.fault);
                freed += n == 300 && a.held < n / eta + workers[w] + 100;
                weft_arena_reset(mem, mark);
            }
    ok(same, "it asks what a plain reading of the algorithm asks, ties and infinite losses "
             "included");
    ok(sound, "and its trials end when and only when they can");
    ok(freed == 12, "so that most states can go before the end");
}

/* ---- what ends ---- */

enum { SAMPLES = 2304 }; /* errors of guesses, 0.9, have 1.96 standard errors of 0.01225 */

static void tell(struct sim *sim, int64_t trial, double loss)
{
    weft_result res = weft_result_new(1, 0, mem);
    res.trial = trial;
    res.loss = loss;
    res.by_error = sim->guess > 0;
    res.arm_count[0] = SAMPLES;
    sim->tuner->tell(sim->self, &res);
}

static void test_ended(void)
{
    struct sim sim = {.tuner = &weft_tuner_asha,
                      .options = "reduction = 3\nmax_resource = 9",
                      .configs = 9};
    must(sim_setup(&sim, NULL));
    weft_job job;
    for (int i = 0; i < 9; i++) sim.tuner->ask(sim.self, &job);
    ok(sim.tuner->ask(sim.self, &job) == WEFT_WAIT, "all begin, then it waits");
    tell(&sim, 3, .3);
    tell(&sim, 0, .4);
    tell(&sim, 8, .4);
    ok(!sim.tuner->ended(sim.self, 8), "the third best of nine may go on");
    tell(&sim, 1, .2);
    ok(sim.tuner->ended(sim.self, 8) && !sim.tuner->ended(sim.self, 0) &&
           !sim.tuner->ended(sim.self, 2),
       "once it is the fourth it ended; of equals the lower trial stays");
    ok(sim.tuner->ask(sim.self, &job) == WEFT_JOB && job.trial == 1 && job.index == 1,
       "the best goes on");
    tell(&sim, 2, INFINITY);
    ok(sim.tuner->ended(sim.self, 2), "one that diverged ended");
    tell(&sim, 1, INFINITY);
    ok(sim.tuner->ended(sim.self, 1), "in any rung");
    for (int i = 4; i < 8; i++) tell(&sim, i, INFINITY);
    int more[9] = {0};
    while (sim.tuner->ask(sim.self, &job) == WEFT_JOB) more[job.trial]++;
    ok(more[3] == 1 && more[0] == 1 && more[8] == 0, "three of nine go on in all");
    tell(&sim, 3, .1);
    tell(&sim, 0, .2);
    ok(sim.tuner->ask(sim.self, &job) == WEFT_JOB && job.trial == 3 && job.last &&
           job.resource == 6,
       "one that diverged counts in its rung");
    ok(sim.tuner->ask(sim.self, &job) == WEFT_WAIT, "and is not followed");
    tell(&sim, 3, .5);
    ok(sim.tuner->ask(sim.self, &job) == WEFT_DONE && sim.tuner->jobs(sim.self) == 13 &&
           sim.tuner->ended(sim.self, 0),
       "at the end all ended");
}

/* The trials that go on from a first rung of nine with these error rates, as they are asked
 * for, a digit each. */
static const char *goes_on(const weft_tuner *tuner, const char *options,
                           const double *error)
{
    struct sim sim = {.tuner = tuner, .options = options, .configs = 9, .guess = 0.9};
    must(sim_setup(&sim, NULL));
    weft_job job;
    for (int i = 0; i < 9; i++) sim.tuner->ask(sim.self, &job);
    for (int i = 0; i < 9; i++) tell(&sim, i, error[i]);
    const char *text = "";
    while (sim.tuner->ask(sim.self, &job) == WEFT_JOB && job.index == 1)
        text = printed("%s%lld", text, (long long)job.trial);
    return text;
}

static void test_guesses(void)
{
    const char *known = "reduction = 3\nmax_resource = 9";
    const struct {
        const weft_tuner *tuner;
        const char *options, *few, *best;
    } all[] = {{&weft_tuner_asha, known, "43", "410"},
               {&weft_tuner_sha, "rungs = geometric\nmax_resource = 9", "34", "014"},
               {&weft_tuner_hyperband, known, "34", "014"}};
    const double one[] = {.9, .9, .9, .88, .5, .9, .8879, .9, INFINITY},
                 two[] = {.9, .9, .9, .8877, .5, .9, .8878, .9, INFINITY},
                 none[] = {.9, .89, .9, .91, .888, .9, .9, .9, .95};
    for (size_t i = 0; i < LEN(all); i++) {
        const weft_tuner *tuner = all[i].tuner;
        const char *few = goes_on(tuner, all[i].options, one);
        const char *more = goes_on(tuner, all[i].options, two);
        const char *guesses = goes_on(tuner, all[i].options, none);
        ok(strcmp(few, all[i].few) == 0 && strcmp(more, all[i].few) == 0,
           "%s: beside what has learnt no guesses go on: %s, %s", tuner->kind.name, few,
           more);
        ok(strcmp(guesses, all[i].best) == 0, "%s: where none has learnt the best do: %s",
           tuner->kind.name, guesses);
    }
    const char *at_once = "reduction = 2\nmax_resource = 9\nvariant = stopping";
    const double late[] = {.5, .9, .9, .89, .9, .9, .9, .9, .9};
    const char *stopping = goes_on(&weft_tuner_asha, at_once, late);
    ok(strcmp(stopping, "0") == 0, "asha, stopping: no guesses go on: %s", stopping);
}

/* Workers that ask late find trials to go on in two rungs. */
static void test_highest(void)
{
    struct sim sim = {.tuner = &weft_tuner_asha,
                      .options = "reduction = 3\nmax_resource = 9",
                      .configs = 12};
    must(sim_setup(&sim, NULL));
    weft_job job;
    for (int i = 0; i < 12; i++) sim.tuner->ask(sim.self, &job);
    for (int i = 0; i < 9; i++) tell(&sim, i, i);
    for (int i = 0; i < 3; i++) sim.tuner->ask(sim.self, &job);
    for (int i = 0; i < 3; i++) tell(&sim, i, i);
    for (int i = 9; i < 12; i++) tell(&sim, i, -i);
    ok(sim.tuner->ask(sim.self, &job) == WEFT_JOB && job.trial == 0 && job.resource == 6,
       "the highest rung goes first");
    ok(sim.tuner->ask(sim.self, &job) == WEFT_JOB && job.trial == 11 && job.resource == 2,
       "then the best of the rung below");
}

static void test_budget(void)
{
    struct sim sim = {.tuner = &weft_tuner_asha,
                      .options = "trials = 0\nbudget = 1000",
                      .configs = 1,
                      .workers = 7,
                      .max_jobs = 1000,
                      .watch = 1,
                      .loss = rough,
                      .cost = uneven};
    sim_run(&sim, NULL);
    ok(!sim.fault && sim.spent <= 1000 && sim.spent > 1000 - 192, "a budget ends it: %g",
       sim.spent);
    sim = (struct sim){.tuner = &weft_tuner_asha,
                       .options = "trials = 50\njobs = 40",
                       .configs = 1,
                       .workers = 7,
                       .max_jobs = 1000,
                       .watch = 1,
                       .loss = rough};
    sim_run(&sim, NULL);
    ok(!sim.fault && sim.n == 40, "or a number of jobs");
}

static void test_refused(void)
{
    static const char *const all[][3] = {
        {"trials = 0", NULL, "asha.trials = 0"},
        {"min_resource = 300", NULL, "min_resource"},
        {"trials = 0\nbudget = 3\nmin_resource = 4", NULL, "asha.budget"},
        {"trials = 6", "source = grid\n[knobs]\nx = 0 .. 1", "5 configurations"}};
    for (size_t i = 0; i < LEN(all); i++)
        sim_refused(&weft_tuner_asha, all[i][0], all[i][1], all[i][2]);
}

/* ---- time ---- */

static void test_time(void)
{
    enum { RESULTS = 100000 };
    struct sim sim = {.tuner = &weft_tuner_asha,
                      .options = printed("trials = 0\njobs = %d", RESULTS),
                      .configs = 1,
                      .workers = 1,
                      .max_jobs = RESULTS,
                      .loss = rough};
    double start = processor_seconds();
    sim_run(&sim, NULL);
    double each = (processor_seconds() - start) / RESULTS;
    ok(!sim.fault && sim.n == RESULTS && each < 1e-4,
       "at 100,000 results ask and tell take less than 0.1 ms: %.3g ms", 1e3 * each);
}

MAIN(alone, test_traces, test_winner, test_plain, test_ended, test_guesses, test_highest,
     test_budget, test_refused, test_time)
