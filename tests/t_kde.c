/* Kernel densities of the best and the worst results: against statsmodels
 * (tests/gold/kde.py), which results they use, and the regret of searches.
 * RUN: np=1 */
#include "functions.h"
#include "sampler/learn.h"
#include "tap.h"

enum { DIM = 4, POINTS = 9, ALL = 14 };

static void test_density(weft_arena *mem)
{
    FILE *gold = fopen("tests/gold/kde.txt", "r");
    weft_check(gold != NULL, "tests/gold/kde.txt: run tests in the top directory");
    weft_product product = weft_product_new(DIM, POINTS, mem);
    weft_product_point point[ALL][DIM] = {{{0, 0, 0}}};
    double expected[ALL], off = 0;
    for (int i = 0; i < ALL; i++) {
        weft_check(fscanf(gold, "%lf %lf %lf %lf %lf", &point[i][0].at, &point[i][1].at,
                          &point[i][2].at, &point[i][3].at, &expected[i]) == DIM + 1,
                   "tests/gold/kde.txt");
        for (int a = 0; a < DIM && i < POINTS; a++) product.axis[a].mu[i] = point[i][a].at;
    }
    fclose(gold);
    product.axis[2].levels = 3;
    product.axis[3].levels = 2;
    weft_product_reference(&product, 1e-3);
    for (int i = 0; i < ALL; i++)
        off = worse(off, fabs(exp(weft_product_log(&product, point[i])) / expected[i] - 1));
    is_near(off, 0, 1e-12, "densities of numbers and categories are statsmodels'");
    const weft_product_point far[DIM] = {{1e9, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    ok(isfinite(weft_product_log(&product, far)), "a density is never 0");
}

enum { RUNS = 20, TRIALS = 100 };

static const char usual[] = "[run]\nsampler = kde\n";

static void test_regrets(weft_arena *mem)
{
    static const char *const name[] = {"hartmann6", "ackley5", "mixed8"};
    for (int i = 0; i < 3; i++) {
        double random[RUNS], own[RUNS], ten[RUNS];
        last_regrets(name[i], "", TRIALS, 1, RUNS, 1000, random, mem);
        last_regrets(name[i], usual, TRIALS, 1, RUNS, 1000, own, mem);
        last_regrets(name[i], usual, TRIALS, 10, RUNS, 1000, ten, mem);
        ok(smaller(RUNS, own, RUNS, random) < .01, "%s: better than at random", name[i]);
        ok(smaller(RUNS, ten, RUNS, random) < .01, "%s: by ten workers, too", name[i]);
    }
}

/* Without results, or where it must be, a configuration is that of random search. */
static void test_random(weft_arena *mem)
{
    double regret[TRIALS], own[2 * TRIALS], random[2 * TRIALS];
    int same = 0, first = 0;
    minimizer_run(function_named("branin"), "", TRIALS, 1, 5, regret, random, mem);
    minimizer_run(function_named("branin"), usual, TRIALS, 1, 5, regret, own, mem);
    for (int i = 0; i < TRIALS; i++) {
        int alike = memcmp(own + 2 * i, random + 2 * i, 2 * sizeof *own) == 0;
        same += alike;
        first += alike && i < 5;
    }
    ok(first == 5, "the first configurations are at random");
    ok(same > 20 && same < 55, "a third of the others is: %d", same - first);
}

/* BOHB: hyperband's later brackets begin where those before did well. */
static void test_bohb(weft_arena *mem)
{
    static const char *const schedule[] = {"hyperband", "asha"};
    for (int i = 0; i < 2; i++) {
        const char *options =
            weft_arena_text(mem,
                            "[run]\nsampler = kde\ntuner = %s\n[kde]\nrandom = "
                            "0\n[%s]\nmax_resource = 27\n",
                            schedule[i], schedule[i]);
        struct minimizer minimizer;
        weft_check(minimizer_begin(&minimizer, "x0 = 0 .. 1\nx1 = 0 .. 1\n", options, 200,
                                   1, mem) == 0,
                   "%s", weft_error());
        double sum = 0;
        weft_job job;
        int64_t n = 0;
        while (weft_search_ask(&minimizer.search, &job) == WEFT_JOB) {
            const double *v = job.mix.conf, x = v[0] - .3, y = v[1] - .7;
            double at = minimizer.search.trial[job.trial].resource;
            if (job.index == 0 && job.trial >= 30) {
                sum += sqrt(x * x + y * y);
                n++;
            }
            minimizer_tell(&minimizer, &job, x * x + y * y + .1 / at, job.resource);
        }
        ok(n > 0 && sum / (double)n < .25,
           "%s: later trials begin near the best, %.3g away", schedule[i], sum / (double)n);
    }
}

/* It goes on learning when the brackets are repeated. */
static void test_repeats(weft_arena *mem)
{
    enum { ONCE = 17, REPEATS = 6 };
    const char *const options = "[run]\nsampler = kde\ntuner = hyperband\n[hyperband]\n"
                                "max_resource = 9\nrepeats = 6\n";
    struct minimizer minimizer;
    weft_job job;
    double far[REPEATS] = {0};
    weft_check(minimizer_begin(&minimizer, "x0 = 0 .. 1\nx1 = 0 .. 1\n", options, 200, 1,
                               mem) == 0,
               "%s", weft_error());
    while (weft_search_ask(&minimizer.search, &job) == WEFT_JOB) {
        const double *v = job.mix.conf, x = v[0] - .3, y = v[1] - .7;
        if (job.index == 0) far[job.trial / ONCE] += sqrt(x * x + y * y) / ONCE;
        minimizer_tell(&minimizer, &job, x * x + y * y, job.resource);
    }
    ok(minimizer.search.trials == REPEATS * ONCE && far[REPEATS - 1] < .6 * far[0],
       "each repetition learns from those before: %.2g away, not %.2g", far[REPEATS - 1],
       far[0]);
}

static double diverged(const double *v)
{
    (void)v;
    return INFINITY;
}

static void test_edges(weft_arena *mem)
{
    struct function function = {
        "",
        "x0 = 1 .. 1\ni0 = 3 .. 3\na = q\nx1 = 0 .. 1\ni1 = log 1 .. 1000\n"
        "x2 = 0.1 | 0.2 | 0.4\nd = p | q\n",
        diverged, 0, 0};
    double regret[40], conf[40 * 6];
    int inside = 1;
    minimizer_run(&function, "[run]\nsampler = kde\n", 40, 3, 1, regret, conf, mem);
    for (int i = 0; i < 40; i++) {
        const double *v = conf + 6 * i; /* x0 x1 x2 i0 i1 d */
        inside &= v[0] >= 1 && v[0] <= 1 && v[1] >= 0 && v[1] <= 1 && v[2] >= .1 &&
                  v[2] <= .4 && v[3] >= 3 && v[3] <= 3 && v[4] >= 1 && v[4] <= 1000;
    }
    ok(inside, "axes of one value, and trials that all diverge");
}

/* ---- the two sets ---- */

static void begin(struct minimizer *minimizer, const char *axes, const char *options,
                  weft_arena *mem)
{
    const char *text =
        weft_arena_text(mem, "[run]\nsampler = kde\n[kde]\nrandom = 0\n%s", options);
    weft_check(minimizer_begin(minimizer, axes, text, 10000, 1, mem) == WEFT_OK, "%s",
               weft_error());
}

/* Eight results and densities of six: the good ones are the six best, the bad ones the six
 * worst. Of the six worst five have level q, so that p is better; of the two that are not
 * good one has it, so that by those alone q would be. */
static void test_overlap(weft_arena *mem)
{
    enum { MANY = 50 };
    static const char level[] = "ppqqqqpq";
    struct minimizer minimizer;
    double conf;
    int good = 0;
    begin(&minimizer, "b = p | q\n", "points = 6\n", mem);
    for (int i = 0; level[i]; i++) {
        conf = level[i] == 'q';
        sampler_sees(&minimizer, i, &conf, i);
    }
    for (int i = 0; i < MANY; i++) {
        sampler_proposes(&minimizer, 8 + i, &conf);
        good += !(conf > 0);
    }
    ok(good == MANY, "the bad set is as large as a density needs: %d of %d", good, MANY);
}

/* It learns from the largest resource that has enough results, though smaller ones have
 * more. */
static void test_rungs(weft_arena *mem)
{
    const char *const options = "[run]\nsampler = kde\ntuner = asha\n[kde]\nrandom = 0\n"
                                "points = %d\n[asha]\nreduction = 2\nmax_resource = 4\n";
    double share[2];
    for (int lowest = 0; lowest < 2; lowest++) {
        struct minimizer minimizer;
        weft_job job;
        int64_t late = 0, near = 0;
        const char *own = weft_arena_text(mem, options, lowest ? 150 : 6);
        weft_check(minimizer_begin(&minimizer, "x0 = 0 .. 1\n", own, 300, 1, mem) ==
                       WEFT_OK,
                   "%s", weft_error());
        while (weft_search_ask(&minimizer.search, &job) == WEFT_JOB) {
            double x = job.mix.conf[0], at = minimizer.search.trial[job.trial].resource;
            if (job.trial >= 200 && job.index == 0) {
                late++;
                near += fabs(x - .8) < .1;
            }
            double far = fabs(x - .8), low = fmin(fabs(x - .2), far + .02);
            minimizer_tell(&minimizer, &job, at < 4 ? low : far,
                           1); /* only the last rung is right */
        }
        share[lowest] = (double)near / (double)late;
    }
    ok(share[0] > .5, "it learns from the highest rung with enough results: %.2g",
       share[0]);
    ok(share[1] < .2, "from a lower one while that has too few: %.2g", share[1]);
}

/* Axes that only some configurations have. */
static void test_when(weft_arena *mem)
{
    static const char *const options[] = {usual};
    double regret[TRIALS], conf[5 * TRIALS];
    int good = 1;
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        minimizer_run(function_named("tree"), options[o], TRIALS, 4, 3, regret, conf, mem);
        good &= tree_is_kept(conf, TRIALS);
    }
    ok(good, "a configuration has the axes that its others call for");
}

int main(void)
{
    weft_arena *mem = weft_arena_new();
    test_density(mem);
    test_regrets(mem);
    test_random(mem);
    test_bohb(mem);
    test_repeats(mem);
    test_rungs(mem);
    test_overlap(mem);
    test_edges(mem);
    test_when(mem);
    weft_arena_free(mem);
    return tap_done();
}
