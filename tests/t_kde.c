/* Kernel densities of the best and the worst results: against statsmodels
 * (tests/gold/kde.py), which results they use, and the regret of searches.
 * RUN: np=1 */
#include "functions.h"
#include "sampler/learn.h"

enum { DIM = 4, POINTS = 9, ALL = 14 };

static void test_density(void)
{
    FILE *gold = gold_of("kde.txt");
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

static void test_regrets(void)
{
    static const char *const name[] = {"hartmann6", "ackley5", "mixed8"};
    for (int i = 0; i < 3; i++) {
        double random[RUNS], own[RUNS], ten[RUNS];
        last_regrets(name[i], "", TRIALS, 1, RUNS, 1000, random);
        last_regrets(name[i], usual, TRIALS, 1, RUNS, 1000, own);
        last_regrets(name[i], usual, TRIALS, 10, RUNS, 1000, ten);
        shows(smaller(RUNS, own, RUNS, random) < .01, "%s: better than at random", name[i]);
        shows(smaller(RUNS, ten, RUNS, random) < .01, "%s: by ten workers, too", name[i]);
    }
}

/* Without results, or where it must be, a configuration is that of random search. */
static void test_random(void)
{
    double regret[TRIALS], own[2 * TRIALS], random[2 * TRIALS];
    int same = 0, first = 0;
    minimizer_run(function_named("branin"), "", TRIALS, 1, 5, regret, random);
    minimizer_run(function_named("branin"), usual, TRIALS, 1, 5, regret, own);
    for (int i = 0; i < TRIALS; i++) {
        int alike = memcmp(own + 2 * i, random + 2 * i, 2 * sizeof *own) == 0;
        same += alike;
        first += alike && i < 5;
    }
    ok(first == 5, "the first configurations are at random");
    ok(same > 20 && same < 55, "a third of the others is: %d", same - first);
}

/* BOHB: hyperband's later brackets begin where those before did well. */
static void test_bohb(void)
{
    static const char *const schedule[] = {"hyperband", "asha"};
    for (int i = 0; i < 2; i++) {
        const char *options = printed("[run]\nsampler = kde\ntuner = %s\n[kde]\nrandom = "
                                      "0\n[%s]\nmax_resource = 27\n",
                                      schedule[i], schedule[i]);
        struct minimizer *minimizer =
            minimizer_new("x0 = 0 .. 1\nx1 = 0 .. 1\n", options, 200, 1);
        double sum = 0;
        weft_job job;
        int64_t n = 0;
        while (weft_search_ask(&minimizer->search, &job) == WEFT_JOB) {
            const double *v = job.mix.conf, x = v[0] - .3, y = v[1] - .7;
            double at = minimizer->search.trial[job.trial].resource;
            if (job.index == 0 && job.trial >= 30) {
                sum += sqrt(x * x + y * y);
                n++;
            }
            minimizer_tell(minimizer, &job, x * x + y * y + .1 / at, job.resource);
        }
        ok(n > 0 && sum / (double)n < .25,
           "%s: later trials begin near the best, %.3g away", schedule[i], sum / (double)n);
    }
}

/* It goes on learning when the brackets are repeated. */
static void test_repeats(void)
{
    enum { ONCE = 17, REPEATS = 6 };
    const char *const options = "[run]\nsampler = kde\ntuner = hyperband\n[hyperband]\n"
                                "max_resource = 9\nrepeats = 6\n";
    struct minimizer *minimizer =
        minimizer_new("x0 = 0 .. 1\nx1 = 0 .. 1\n", options, 200, 1);
    weft_job job;
    double far[REPEATS] = {0};
    while (weft_search_ask(&minimizer->search, &job) == WEFT_JOB) {
        const double *v = job.mix.conf, x = v[0] - .3, y = v[1] - .7;
        if (job.index == 0) far[job.trial / ONCE] += sqrt(x * x + y * y) / ONCE;
        minimizer_tell(minimizer, &job, x * x + y * y, job.resource);
    }
    ok(minimizer->search.trials == REPEATS * ONCE && far[REPEATS - 1] < .6 * far[0],
       "each repetition learns from those before: %.2g away, not %.2g", far[REPEATS - 1],
       far[0]);
}

/* ---- the two sets ---- */

/* Eight results and densities of six: the good ones are the six best, the bad ones the six
 * worst. Of the six worst five have level q, so that p is better; of the two that are not
 * good one has it, so that by those alone q would be. */
static void test_overlap(void)
{
    enum { MANY = 50 };
    static const char level[] = "ppqqqqpq";
    struct minimizer *minimizer = minimizer_new(
        "b = p | q\n", "[run]\nsampler = kde\n[kde]\nrandom = 0\npoints = 6\n", 10000, 1);
    double conf;
    int good = 0;
    for (int i = 0; level[i]; i++) {
        conf = level[i] == 'q';
        sampler_sees(minimizer, i, &conf, i);
    }
    for (int i = 0; i < MANY; i++) {
        sampler_proposes(minimizer, 8 + i, &conf);
        good += !(conf > 0);
    }
    ok(good == MANY, "the bad set is as large as a density needs: %d of %d", good, MANY);
}

MAIN(alone, test_density, test_regrets, test_random, test_bohb, test_repeats, test_overlap)
