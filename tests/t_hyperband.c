/* Hyperband and its brackets of successive halving: the published tables, the same jobs
 * for any number of workers, and which trials are promoted.
 * RUN: np=1 */
#include "workers.h"

static double shuffled(struct sim *sim, const sim_job *job)
{
    return floor(16 * sim_unit(sim, job, 0));
}

static double diverging(struct sim *sim, const sim_job *job)
{
    double loss = shuffled(sim, job);
    return loss < 14 ? INFINITY : loss;
}

static struct sim sim_of(const char *options, int workers)
{
    return (struct sim){.tuner = &weft_tuner_hyperband,
                        .options = options,
                        .configs = 64,
                        .workers = workers,
                        .max_jobs = 2000,
                        .watch = 1,
                        .seed = 3,
                        .loss = shuffled};
}

/* ---- tables ---- */

static const struct {
    int max, eta, trials;
    double restarting, resuming;
    const char *brackets; /* trials x resource of every rung */
} tables[] = {
    {81, 3, 143, 1902, 1581,
     "81x1 27x3 9x9 3x27 1x81; 34x3 11x9 3x27 1x81; 15x9 5x27 1x81; 8x27 2x81; 5x81"},
    {27, 3, 49, 423, 357, "27x1 9x3 3x9 1x27; 12x3 4x9 1x27; 6x9 2x27; 4x27"},
    {243, 3, 415, 8457, 6831,
     "243x1 81x3 27x9 9x27 3x81 1x243; 98x3 32x9 10x27 3x81 1x243; 41x9 13x27 4x81 1x243; "
     "18x27 6x81 2x243; 9x81 3x243; 6x243"},
    {256, 4, 378, 6000, 5232,
     "256x1 64x4 16x16 4x64 1x256; 80x4 20x16 5x64 1x256; 27x16 6x64 1x256; 10x64 2x256; "
     "5x256"},
    {16, 2, 43, 372, 278,
     "16x1 8x2 4x4 2x8 1x16; 10x2 5x4 2x8 1x16; 7x4 3x8 1x16; 5x8 2x16; 5x16"},
    /* ends that are no power of eta: rungs are rounded down, the last is full */
    {20, 3, 28, 0, 0, "9x2 3x6 1x20; 5x6 1x20; 3x20"},
};

/* What was run, bracket by bracket: one begins where trials begin at another resource. */
static const char *brackets_of(const struct sim *sim, double *restarting)
{
    const char *text = "";
    double first = 0;
    *restarting = 0;
    for (int64_t i = 0; i < sim->n; i++) {
        const sim_job *job = &sim->sim_job[i];
        *restarting += job->resource;
        int fresh = job->job.index == 0 && fabs(job->resource - first) > 0;
        if (fresh) first = job->resource;
        if (i > 0 && !fresh && !(fabs(job->resource - sim->sim_job[i - 1].resource) > 0))
            continue;
        int64_t n = 1;
        while (i + n < sim->n && sim->sim_job[i + n].job.index == job->job.index &&
               !(fabs(sim->sim_job[i + n].resource - job->resource) > 0))
            n++;
        text = printed("%s%s%lldx%g", text,
                       !*text  ? ""
                       : fresh ? "; "
                               : " ",
                       (long long)n, job->resource);
    }
    return text;
}

static void test_tables(void)
{
    for (size_t i = 0; i < LEN(tables); i++) {
        int low = tables[i].max == 20 ? 2 : 1;
        struct sim sim = sim_of(printed("reduction = %d\nmin_resource = %d\n"
                                        "max_resource = %d",
                                        tables[i].eta, low, tables[i].max),
                                1);
        if (tables[i].max == 20) sim.options = "min_resource = 2\nmax_resource = 20";
        sim_run(&sim, NULL);
        double restarting;
        const char *brackets = brackets_of(&sim, &restarting);
        ok(!sim.fault, "R = %d, eta = %d: %s", tables[i].max, tables[i].eta,
           sim_said(&sim));
        ok(strcmp(brackets, tables[i].brackets) == 0, "its brackets: %s", brackets);
        if (tables[i].restarting > 0) {
            ok(sim.trials == tables[i].trials, "its %d trials", tables[i].trials);
            is_near(restarting, tables[i].restarting, 0, "what restarting would cost");
            is_near(sim.spent, tables[i].resuming, 0, "what it costs: %g", sim.spent);
            is_near(sim.end, sim.spent, 0, "by one worker");
        }
        int last = 1;
        for (int64_t j = 0; j < sim.n; j++)
            last &= sim.sim_job[j].job.last ==
                        (sim.sim_job[j].resource > tables[i].max - 0.5) &&
                    sim.sim_job[j].job.eligibility == WEFT_WINS_RESOURCE;
        ok(last, "trials are at their last job where they have all resource");
    }
}

/* 1: the search has as many trials as it says, and as many of them, at most, have a result
 * of the same resource. */
static int has_extent(const struct sim *sim)
{
    weft_extent said = {0};
    int64_t most = 0;
    sim->tuner->extent(sim->self, &said);
    for (int64_t i = 0; i < sim->n; i++) {
        int64_t n = 0;
        for (int64_t j = 0; j < sim->n; j++)
            n += !(fabs(sim->sim_job[j].resource - sim->sim_job[i].resource) > 0);
        most = n > most ? n : most;
    }
    return said.trials == sim->trials && said.results == most;
}

/* The tables some times over. */
static void test_repeats(void)
{
    enum { REPEATS = 3 };
    for (size_t i = 0; i < LEN(tables); i++) {
        const char *options =
            printed("reduction = %d\nmin_resource = %d\nmax_resource = %d\n", tables[i].eta,
                    tables[i].max == 20 ? 2 : 1, tables[i].max);
        struct sim once = sim_of(options, 1);
        struct sim sim = sim_of(printed("%srepeats = %d\n", options, REPEATS), 1);
        sim_run(&once, NULL);
        sim_run(&sim, NULL);
        double restarting;
        const char *brackets = brackets_of(&sim, &restarting), *one = tables[i].brackets;
        const char *all = printed("%s; %s; %s", one, one, one);
        ok(!sim.fault && strcmp(brackets, all) == 0 && sim.trials == REPEATS * once.trials,
           "R = %d, eta = %d: %d times: %s", tables[i].max, tables[i].eta, REPEATS,
           sim.fault ? sim.fault : "all brackets");
        ok(sim.n == REPEATS * once.n && sim.tuner->jobs(sim.self) == sim.n &&
               !(fabs(sim.spent - REPEATS * once.spent) > 0),
           "its %lld jobs cost as many times as much", (long long)sim.n);
        ok(has_extent(&once) && has_extent(&sim), "it says how many trials there are");
    }
}

/* ---- who goes on ---- */

/* 1: a ranks before b. */
static int ranks_before(const sim_job *a, const sim_job *b)
{
    return a->loss < b->loss || (!(a->loss > b->loss) && a->job.trial < b->job.trial);
}

/* Resource with which the trial of a job began, where eta is 3. */
static double begun_at(const sim_job *job)
{
    return job->resource / pow(3, job->job.index);
}

/* A trial of a rung goes on if and only if it is one of the best by (loss, trial), as many
 * as its bracket plans, and did not diverge. */
static int goes_on(const struct sim *sim, const sim_job *s)
{
    int64_t better = 0, planned = 0;
    for (int64_t j = 0; j < sim->n; j++) {
        const sim_job *o = &sim->sim_job[j];
        if (fabs(begun_at(o) - begun_at(s)) > 1e-9) continue;
        planned += o->job.index == 0;
        better += o->job.index == s->job.index && ranks_before(o, s);
    }
    for (int k = 0; k <= s->job.index; k++) planned /= 3;
    return better < planned && isfinite(s->loss) && s->resource < 80;
}

static int the_best_went_on(const struct sim *sim)
{
    int good = 1;
    for (int64_t i = 0; i < sim->n; i++) {
        const sim_job *job = &sim->sim_job[i];
        int went_on = sim->checked.trial[job->job.trial].jobs > job->job.index + 1;
        good &= went_on == goes_on(sim, job);
    }
    return good;
}

/* Jobs as a set: the sum of their hashes. */
static uint64_t set_of(const struct sim *sim)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < sim->n; i++) {
        const weft_job *job = &sim->sim_job[i].job;
        const int64_t whole[5] = {job->trial, job->from, job->index, job->last,
                                  job->eligibility};
        sum += weft_hash(whole, sizeof whole,
                         weft_hash(&job->resource, sizeof job->resource, 0));
    }
    return sum;
}

static void test_workers(void)
{
    struct sim one = sim_of("", 1);
    sim_run(&one, NULL);
    ok(the_best_went_on(&one), "the best of each rung go on, of equals the lower trial");
    static const int workers[] = {3, 10, 64, 1000};
    int same = 1, faster = 1, sound = 1;
    double end = one.end;
    for (int i = 0; i < 4; i++) {
        struct sim c = sim_of("", workers[i]);
        sim_run(&c, NULL);
        same &= set_of(&c) == set_of(&one);
        faster &= c.end < end;
        end = c.end;
        struct sim d = sim_of("", workers[i]);
        d.cost = uneven;
        sim_run(&d, NULL);
        same &= set_of(&d) == set_of(&one);
        sound &= !c.fault && !d.fault;
    }
    struct sim alone = sim_of("repeats = 3", 1);
    sim_run(&alone, NULL);
    for (int i = 0; i < 4; i++) {
        struct sim c = sim_of("repeats = 3", workers[i]);
        c.cost = uneven;
        sim_run(&c, NULL);
        same &= !c.fault && set_of(&c) == set_of(&alone);
    }
    ok(same, "the jobs are the same for any number of workers, and any durations");
    ok(faster && sound, "more of them end earlier, as brackets wait by themselves");
    is_near(end, 81, 0, "enough of them as early as a trial can");
}

static void test_diverged(void)
{
    struct sim sim = sim_of("", 4);
    sim.loss = diverging;
    sim_run(&sim, NULL);
    ok(!sim.fault && the_best_went_on(&sim), "one that diverged does not go on: %s",
       sim_said(&sim));
    ok(sim.n < 206, "rungs have fewer trials where many diverged");
}

/* ---- one bracket: successive halving ---- */

/* The trials that went on from a rung, best first. */
static const char *went_on(const struct sim *sim, double resource)
{
    const char *text = "";
    for (const sim_job *last = NULL, *next;; last = next) {
        next = NULL;
        for (int64_t i = 0; i < sim->n; i++) {
            const sim_job *job = &sim->sim_job[i];
            if (fabs(job->resource - resource) < 0.5 &&
                sim->checked.trial[job->job.trial].jobs > job->job.index + 1 &&
                (!last || ranks_before(last, job)) && (!next || ranks_before(job, next)))
                next = job;
        }
        if (!next) return text;
        text = printed("%s%s%lld", text, *text ? " " : "", (long long)next->job.trial);
    }
}

static void test_halving(void)
{
    static const struct {
        int configs;
        const char *options, *rungs;
        double restarting, resuming;
    } halvings[] = {
        {27, "max_resource = 27", "27x1 9x3 3x9 1x27", 108, 81},
        {256, "reduction = 4\nmax_resource = 256", "256x1 64x4 16x16 4x64 1x256", 5 * 256,
         4 * 256},
        {27, "max_resource = 80\nmin_resource = 6", "27x6 9x18 3x54 1x80", 486 + 80,
         27 * 6 + 9 * 12 + 3 * 36 + 26},
        {10, "max_resource = 27", "10x1 3x3 1x9 1x27", 28 + 27, 10 + 6 + 6 + 18},
        {6, "reduction = 6\nmin_resource = 10\nmax_resource = 450", "6x10 1x60 1x450", 570,
         60 + 50 + 390},
    };
    for (size_t i = 0; i < LEN(halvings); i++) {
        struct sim sim = sim_of(printed("rungs = geometric\n%s", halvings[i].options), 3);
        sim.tuner = &weft_tuner_sha;
        sim.configs = halvings[i].configs;
        sim.loss = crossing;
        sim_run(&sim, NULL);
        double restarting;
        const char *rungs = brackets_of(&sim, &restarting);
        ok(!sim.fault && strcmp(rungs, halvings[i].rungs) == 0, "halving: %s", rungs);
        ok(sim.spent == halvings[i].resuming && restarting == halvings[i].restarting,
           "costs %g, restarting %g", sim.spent, restarting);
        if (i > 0) continue;
        ok(strcmp(went_on(&sim, 1), "0 16 5 12 21 1 8 17 6") == 0 &&
               strcmp(went_on(&sim, 3), "0 16 5") == 0 &&
               strcmp(went_on(&sim, 9), "5") == 0,
           "of crossing curves: %s; %s; %s", went_on(&sim, 1), went_on(&sim, 3),
           went_on(&sim, 9));
    }
}

static void test_refused(void)
{
    static const char *const all[][3] = {
        {"min_resource = 82", NULL, "min_resource"},
        {"max_resource = 1000000000", NULL, "1000000 trials"},
        {"repeats = 7000", NULL, "fewer hyperband.repeats"},
        {"max_resource = 3\nrepeats = 2", "source = grid\n[knobs]\nx = 0 .. 1",
         "trains 10 trials"},
        {"", "source = grid\n[knobs]\nx = 0 .. 1", "5 configurations"}};
    for (size_t i = 0; i < LEN(all); i++)
        sim_refused(&weft_tuner_hyperband, all[i][0], all[i][1], all[i][2]);
    sim_refused(&weft_tuner_sha, "rungs = geometric\nmin_resource = 15\nmax_resource = 9",
                NULL, "min_resource");
}

MAIN(alone, test_tables, test_repeats, test_workers, test_diverged, test_halving,
     test_refused)
