/* The options of all samplers: values out of bounds and contradictions are refused by a
 * message that names the option and what is allowed, and every option changes the proposals
 * from the trial on at which it begins to count. RUN: np=1 */
#include "functions.h"

enum { TRIALS = 48, WORKERS = 4, MOST = 64 };

/* ---- proposals ---- */

static const char eight[] =
    "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = log 1e-6 .. 1\nx3 = log 1e-4 .. 10\n"
    "i0 = 1 .. 100\ni1 = 1 .. 12\nb = p | q\nd = p | q | r | s\n";
enum { DIM = 8 };

/* Longer for larger x0, by no more than a factor of 20. */
static double cost_of(const double *v)
{
    return exp(3 * v[0]);
}

/* The proposals conf[TRIALS][DIM] of a search in which results come in another order than
 * asked for. ECONF if the options are refused. */
static weft_status propose(const char *options, double *conf)
{
    struct minimizer minimizer;
    weft_job job[WORKERS];
    TRY(minimizer_begin(&minimizer, eight, options, TRIALS, 7));
    for (int i = 0; i < TRIALS; i += WORKERS) {
        for (int j = 0; j < WORKERS; j++) {
            weft_check(weft_search_ask(&minimizer.search, &job[j]) == WEFT_JOB, "no trial");
            memcpy(conf + (i + j) * DIM, job[j].mix.conf, DIM * sizeof *conf);
            if (j == 1) /* the others are in flight when trial j + 1 is asked for */
                minimizer_tell(&minimizer, &job[0], mixed8(job[0].mix.conf),
                               cost_of(job[0].mix.conf));
        }
        for (int j = WORKERS - 1; j > 0; j--)
            minimizer_tell(&minimizer, &job[j], mixed8(job[j].mix.conf),
                           cost_of(job[j].mix.conf));
    }
    return WEFT_OK;
}

/* The first trial of which two searches propose different configurations; TRIALS: none. */
static int first_different(const double *a, const double *b)
{
    int i = 0;
    while (i < TRIALS && memcmp(a + i * DIM, b + i * DIM, DIM * sizeof *a) == 0) i++;
    return i;
}

/* ---- every option counts ---- */

/* An option of a sampler with a value that is not its default: the first proposals that may
 * differ are those of trial `from`. `with`: other options, of both searches. */
struct row {
    const char *sampler, *option, *value, *with;
    int from;
};

static const char quick[] = "trees = 12\ngenerations = 30\n";

/* tpe learns from 10 results on, kde (eight axes) from 11, forest from 10; of the trials of
 * four workers the first is told before the third is asked for, so that 9 results are known
 * to trial 10 and 12 to trial 12. */
static const struct row rows[] = {
    {"tpe", "form", "joint", "", 12},
    {"tpe", "form", "hyperopt", "startup = 10\n", 12},
    {"tpe", "startup", "6", "", 8},
    {"tpe", "gamma", "0.3", "", 12},
    {"tpe", "gamma", "0.3", "form = hyperopt\nstartup = 10\n", 12},
    {"tpe", "kernels", "normal", "", 12},
    {"tpe", "kernels", "normal", "form = joint\n", 12},
    {"tpe", "kernels", "equal", "form = hyperopt\n", 20},
    {"tpe", "per_cost", "yes", "", 12},
    {"kde", "random", "0", "", 12},
    {"kde", "points", "5", "", 8},
    {"kde", "per_cost", "yes", "", 12},
    {"forest", "design", "6", quick, 0},
    {"forest", "trees", "13", "generations = 30\n", 12},
    {"forest", "scale", "linear", quick, 12},
    {"forest", "criterion", "ei", quick, 12},
    {"forest", "criterion", "pi", quick, 12},
    {"forest", "t", "5", quick, 12},
    {"forest", "liar", "off", quick, 12},
    {"forest", "generations", "60", "trees = 12\n", 12},
    {"forest", "per_cost", "yes", quick, 12},
};
enum { ROWS = LEN(rows) };

static const char *search_of(const struct row *row, int changed)
{
    return printed("[run]\nsampler = %s\n[%s]\n%s%s%s%s\n", row->sampler, row->sampler,
                   row->with, changed ? row->option : "", changed ? " = " : "",
                   changed ? row->value : "");
}

static void test_counts(void)
{
    double usual[TRIALS * DIM], again[TRIALS * DIM], own[TRIALS * DIM];
    int same = 1;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        size_t mark = weft_arena_mark(mem);
        int taken = propose(search_of(row, 0), usual) == WEFT_OK &&
                    propose(search_of(row, 1), own) == WEFT_OK;
        weft_check(taken && propose(search_of(row, 0), again) == WEFT_OK, "%s",
                   weft_error());
        int first = first_different(usual, own);
        same &= first_different(usual, again) == TRIALS;
        ok(first >= row->from && first < TRIALS,
           "%s.%s = %s changes the proposals from trial %d on, which is not before %d",
           row->sampler, row->option, row->value, first, row->from);
        weft_arena_reset(mem, mark);
    }
    ok(same, "a search is repeated");
}

/* 1: the table above has the option. */
static int has_row(const char *sampler, const weft_opt *opt)
{
    int found = 0;
    for (int i = 0; i < ROWS; i++)
        found |= strcmp(rows[i].sampler, sampler) == 0 && weft_opt_is(opt, rows[i].option);
    return found;
}

/* ---- refused ---- */

/* 1: the value is refused, and the message names the option, the value and what is allowed.
 */
static int is_refused(const char *sampler, const char *option, const char *value,
                      const char *allowed)
{
    struct minimizer minimizer;
    const char *text =
        printed("[run]\nsampler = %s\n[%s]\n%s = %s\n", sampler, sampler, option, value);
    const char *name = printed("%s.%s = %s", sampler, option, value);
    if (minimizer_begin(&minimizer, eight, text, TRIALS, 7) != WEFT_ECONF) return 0;
    const char *said = weft_error();
    return strstr(said, name) && strstr(said, allowed) && !strchr(said, '\n');
}

static void test_bounds(void)
{
    for (int s = 0; weft_samplers[s]; s++) {
        const weft_kind *kind = &weft_samplers[s]->kind;
        int n = 0, refused = 1, known = 1;
        for (const weft_opt *opt = kind->opts; opt->name; opt++, n++) {
            char name[MOST];
            weft_opt_name(opt, name, sizeof name);
            known &= has_row(kind->name, opt);
            if (opt->type == WEFT_CHOICE || opt->type == WEFT_BOOL) {
                const char *allowed =
                    opt->type == WEFT_BOOL ? "neither yes nor no" : "did you mean";
                refused &= is_refused(kind->name, name, "perhaps", allowed);
                continue;
            }
            const char *below = printed("%.17g", opt->lo - 1);
            const char *above = printed("%.17g", opt->hi + 1);
            const char *allowed = printed("from %.15g to %.15g", opt->lo, opt->hi);
            refused &= is_refused(kind->name, name, below, allowed) &&
                       is_refused(kind->name, name, above, allowed) &&
                       is_refused(kind->name, name, "nan", "is not a");
        }
        ok(refused, "%s: values out of bounds of all %d options are refused", kind->name,
           n);
        ok(known, "%s: each option is in the table of this test", kind->name);
    }
}

static void test_contradictions(void)
{
    static const struct {
        const char *sampler, *options, *message, *remedy;
    } bad[] = {
        {"forest", "trees = 1\n", "forest.trees = 1", "from 2 to"},
        {"forest", "design = 1\n", "forest.design = 1", "from 2 to"},
    };
    for (size_t i = 0; i < LEN(bad); i++) {
        struct minimizer minimizer;
        const char *text = printed("[run]\nsampler = %s\n[%s]\n%s\n", bad[i].sampler,
                                   bad[i].sampler, bad[i].options);
        weft_status st = minimizer_begin(&minimizer, eight, text, TRIALS, 7);
        const char *said = st == WEFT_OK ? "nothing" : weft_error();
        ok(st == WEFT_ECONF && strstr(said, bad[i].message) && strstr(said, bad[i].remedy),
           "refused: %s", said);
    }
}

/* ---- what the ends of the bounds mean ---- */

static void test_ends(void)
{
    double random[TRIALS * DIM], own[TRIALS * DIM];
    static const char *const never[] = {
        "[run]\nsampler = kde\n[kde]\nrandom = 1\n",
        "[run]\nsampler = tpe\n[tpe]\nstartup = 48\n",
        "[run]\nsampler = kde\n[kde]\nrandom = 0\npoints = 47\n"};
    static const char *const said[] = {"kde.random = 1", "tpe.startup is all trials",
                                       "kde.points is too many"};
    must(propose("", random));
    for (int i = 0; i < 3; i++) {
        must(propose(never[i], own));
        ok(first_different(random, own) == TRIALS, "random search: %s", said[i]);
    }
}

/* ---- operations in place of seconds ---- */

/* Ten times as many where x0 is above 1/2. */
static double ten_times(const void *own, const weft_job *job)
{
    (void)own;
    return job->mix.conf[0] > .5 ? 10 : 1;
}

/* The share of the trials after the first ten that cost ten times as much, of a function
 * that has equal minima on both sides; all take equally long. */
static double costly(const char *sampler, int told)
{
    enum { ALL = 60, SEEDS = 6 };
    double share = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        weft_job job;
        const char *options =
            printed("[run]\nsampler = %s\n[%s]\nper_cost = yes\n%s", sampler, sampler,
                    strcmp(sampler, "forest") == 0 ? quick : "");
        struct minimizer *minimizer =
            minimizer_new("x0 = 0 .. 1\nx1 = 0 .. 1\n", options, ALL, seed);
        if (told) minimizer->search.operations = ten_times;
        while (weft_search_ask(&minimizer->search, &job) == WEFT_JOB) {
            const double *v = job.mix.conf, x = fabs(v[0] - .5) - .25, y = v[1] - .7;
            share += job.trial >= 10 && v[0] > .5 ? 1. / (ALL - 10) / SEEDS : 0;
            minimizer_tell(minimizer, &job, x * x + y * y, 1);
        }
    }
    return share;
}

static void test_operations(void)
{
    static const char *const sampler[] = {"tpe", "kde", "forest"};
    for (int i = 0; i < 3; i++) {
        double usual = costly(sampler[i], 0), own = costly(sampler[i], 1);
        ok(own < .7 * usual,
           "%s: what takes more operations is proposed less often: %.2g, not %.2g",
           sampler[i], own, usual);
    }
}

/* ---- what every sampler does ---- */

/* Each with the options that make it learn early. `runs`: searches whose costs are
 * compared; 0: it has no other options for costs than the row before. */
static const struct {
    const char *sampler, *options;
    int runs;
} kinds[] = {
    {"tpe", "startup = 10\n", 20},
    {"tpe", "startup = 10\nform = joint\n", 20},
    {"tpe", "startup = 10\nform = hyperopt\n", 20},
    {"tpe", "startup = 1\nform = hyperopt\n", 0},
    {"kde", "random = 0\n", 20},
    {"forest", "design = 10\ntrees = 30\ngenerations = 50\n", 3},
    {"forest", "design = 5\ntrees = 10\ngenerations = 20\ncriterion = ei\nper_cost = yes\n",
     0},
    {"forest",
     "design = 5\ntrees = 10\ngenerations = 20\ncriterion = pi\nper_cost = yes\nliar = "
     "off\n",
     0},
};

static const char *run_of(size_t kind, const char *more)
{
    return printed("[run]\nsampler = %s\n[%s]\n%s%s", kinds[kind].sampler,
                   kinds[kind].sampler, kinds[kind].options, more);
}

static double diverged(const double *v)
{
    (void)v;
    return INFINITY;
}

static double half_diverged(const double *v)
{
    return v[1] > .5 ? INFINITY : v[1];
}

/* Axes of one value, of lists and of levels: x0 x1 x2 i0 i1 d. */
static void test_edges(size_t kind, double (*loss)(const double *), const char *what)
{
    enum { ALL = 40, AXES = 6, AT_ONCE = 4 };
    struct function function = {"",
                                "x0 = 1 .. 1\ni0 = 3 .. 3\na = q\nx1 = 0 .. 1\n"
                                "i1 = log 1 .. 1000\nx2 = 0.1 | 0.2 | 0.4\nd = p | q\n",
                                loss, 0, 0};
    double regret[ALL], conf[ALL * AXES];
    int inside = 1, alike = 0;
    minimizer_run(&function, run_of(kind, ""), ALL, AT_ONCE, 1, regret, conf);
    for (int i = 0; i < ALL; i++) {
        const double *v = conf + AXES * i;
        inside &= v[0] >= 1 && v[0] <= 1 && v[1] >= 0 && v[1] <= 1 && v[2] >= .1 &&
                  v[2] <= .4 && v[3] >= 3 && v[3] <= 3 && v[4] >= 1 && v[4] <= 1000;
        for (int j = 0; j < i / AT_ONCE * AT_ONCE; j++)
            alike += memcmp(v, conf + AXES * j, AXES * sizeof *v) == 0;
    }
    ok(inside, "%s: axes of one value, and trials %s", kinds[kind].sampler, what);
    if (strcmp(kinds[kind].sampler, "forest") == 0)
        ok(alike == 0, "no configuration is told twice where there are enough");
}

static void test_kinds(void)
{
    enum { ALL = 100, FEW = 60 };
    double regret[ALL], conf[5 * ALL], same[2][2 * FEW];
    for (size_t k = 0; k < LEN(kinds); k++) {
        const char *name = kinds[k].sampler;
        test_edges(k, diverged, "that all diverge");
        test_edges(k, half_diverged, "that diverge");
        minimizer_run(function_named("tree"), run_of(k, ""), ALL, 4, 3, regret, conf);
        ok(tree_is_kept(conf, ALL), "%s: a configuration has the axes that others call for",
           name);
        if (kinds[k].runs == 0) continue;
        const char *plain = run_of(k, "per_cost = no\n"),
                   *per = run_of(k, "per_cost = yes\n");
        double usual = costly_share(plain, 10, kinds[k].runs, NULL);
        double own = costly_share(per, 10, kinds[k].runs, NULL);
        ok(own < .5 * usual, "%s, per cost: the cheap half is preferred: %.2g, not %.2g",
           name, own, usual);
        costly_share(plain, 1, 1, same[0]);
        costly_share(per, 1, 1, same[1]);
        if (strcmp(name, "tpe") == 0)
            ok(memcmp(same[0], same[1], sizeof same[0]) == 0,
               "%s, per cost: no difference where all take equally long", name);
    }
}

/* Results of rungs: the largest resource that has enough of them is learnt from, though
 * smaller ones have more. Only the last rung is right, that .8 is best. */
static void test_rungs(void)
{
    static const struct {
        const char *sampler, *options;
        int highest;
    } all[] = {{"tpe", "startup = 6", 1},
               {"kde", "random = 0\npoints = 6", 1},
               {"kde", "random = 0\npoints = 150", 0}};
    for (size_t r = 0; r < LEN(all); r++) {
        weft_job job;
        int64_t late = 0, near = 0;
        struct minimizer *minimizer =
            minimizer_new("x0 = 0 .. 1\n",
                          printed("[run]\nsampler = %s\ntuner = asha\n[%s]\n%s\n[asha]\n"
                                  "reduction = 2\nmax_resource = 4\n",
                                  all[r].sampler, all[r].sampler, all[r].options),
                          300, 1);
        while (weft_search_ask(&minimizer->search, &job) == WEFT_JOB) {
            double x = job.mix.conf[0], at = minimizer->search.trial[job.trial].resource;
            if (job.trial >= 200 && job.index == 0) {
                late++;
                near += fabs(x - .8) < .1;
            }
            double far = fabs(x - .8), low = fmin(fabs(x - .2), far + .02);
            minimizer_tell(minimizer, &job, at < 4 ? low : far, 1);
        }
        double share = (double)near / (double)late;
        ok(all[r].highest ? share > .5 : share < .2, "%s: it learns from a %s rung: %.2g",
           all[r].sampler, all[r].highest ? "high" : "lower", share);
    }
}

int main(void)
{
    tap_begin();
    return TESTS(test_bounds, test_contradictions, test_counts, test_ends, test_operations,
                 test_kinds, test_rungs);
}
