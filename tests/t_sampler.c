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
    {"kde", "random", "0", "", 12},
    {"kde", "points", "5", "", 8},
    {"forest", "design", "6", quick, 0},
    {"forest", "trees", "13", "generations = 30\n", 12},
    {"forest", "scale", "linear", quick, 12},
    {"forest", "generations", "60", "trees = 12\n", 12},
    {"gp", "design", "6", "", 0},
    {"mobster", "design", "6", "", 0},
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
        {"gp", "design = 1\n", "gp.design = 1", "from 2 to"},
        {"mobster", "design = 1\n", "mobster.design = 1", "from 2 to"},
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

/* ---- what every sampler does ---- */

/* Each with the options that make it learn early. */
static const struct {
    const char *sampler, *options;
} kinds[] = {
    {"tpe", "startup = 10\n"},
    {"tpe", "startup = 10\nform = joint\n"},
    {"tpe", "startup = 10\nform = hyperopt\n"},
    {"tpe", "startup = 1\nform = hyperopt\n"},
    {"kde", "random = 0\n"},
    {"forest", "design = 10\ntrees = 30\ngenerations = 50\n"},
    {"gp", "design = 10\n"},
    {"mobster", "design = 10\n"},
};

static const char *run_of(size_t kind)
{
    return printed("[run]\nsampler = %s\n[%s]\n%s", kinds[kind].sampler,
                   kinds[kind].sampler, kinds[kind].options);
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
    minimizer_run(&function, run_of(kind), ALL, AT_ONCE, 1, regret, conf);
    for (int i = 0; i < ALL; i++) {
        const double *v = conf + AXES * i;
        inside &= v[0] >= 1 && v[0] <= 1 && v[1] >= 0 && v[1] <= 1 && v[2] >= .1 &&
                  v[2] <= .4 && v[3] >= 3 && v[3] <= 3 && v[4] >= 1 && v[4] <= 1000;
        for (int j = 0; j < i / AT_ONCE * AT_ONCE; j++)
            alike += memcmp(v, conf + AXES * j, AXES * sizeof *v) == 0;
    }
    ok(inside, "%s: axes of one value, and trials %s", kinds[kind].sampler, what);
    if (strcmp(kinds[kind].sampler, "forest") == 0 ||
        strcmp(kinds[kind].sampler, "gp") == 0 ||
        strcmp(kinds[kind].sampler, "mobster") == 0)
        ok(alike == 0, "no configuration is told twice where there are enough");
}

static void test_kinds(void)
{
    enum { ALL = 60 };
    double regret[ALL], conf[5 * ALL];
    for (size_t k = 0; k < LEN(kinds); k++) {
        const char *name = kinds[k].sampler;
        test_edges(k, diverged, "that all diverge");
        test_edges(k, half_diverged, "that diverge");
        minimizer_run(function_named("tree"), run_of(k), ALL, 4, 3, regret, conf);
        ok(tree_is_kept(conf, ALL), "%s: a configuration has the axes that others call for",
           name);
    }
}

/* Results of rungs: the largest resource that has enough of them is learnt from, though
 * smaller ones have more. Only the last rung is right, that .8 is best. */
static void test_rungs(void)
{
    enum { ALL = 100, SOME = 60 };
    static const struct {
        const char *sampler, *options;
        int highest;
    } all[] = {{"tpe", "startup = 6", 1},
               {"kde", "random = 0\npoints = 6", 1},
               {"kde", "random = 0\npoints = 50", 0},
               {"gp", "design = 6", 1},
               {"mobster", "design = 6", 1},
               {"gp", "design = 50", 0}};
    for (size_t r = 0; r < LEN(all); r++) {
        weft_job job;
        int64_t here = 0, there = 0;
        struct minimizer *minimizer =
            minimizer_new("x0 = 0 .. 1\n",
                          printed("[run]\nsampler = %s\ntuner = asha\n[%s]\n%s\n[asha]\n"
                                  "reduction = 2\nmax_resource = 4\n",
                                  all[r].sampler, all[r].sampler, all[r].options),
                          ALL, 1);
        while (weft_search_ask(&minimizer->search, &job) == WEFT_JOB) {
            double x = job.mix.conf[0], at = minimizer->search.trial[job.trial].resource;
            if (job.trial >= SOME && job.index == 0) {
                here += fabs(x - .8) < .1;
                there += fabs(x - .2) < .1;
            }
            double far = fabs(x - .8), low = fmin(fabs(x - .2), far + .02);
            minimizer_tell(minimizer, &job, at < 4 ? low : far, 1);
        }
        ok(all[r].highest ? here > 2 * there : there > here,
           "%s: it learns from a %s rung: %d at its best, %d at the other's",
           all[r].sampler, all[r].highest ? "high" : "lower",
           (int)(all[r].highest ? here : there), (int)(all[r].highest ? there : here));
    }
}

MAIN(alone, test_bounds, test_contradictions, test_counts, test_ends, test_kinds,
     test_rungs)
