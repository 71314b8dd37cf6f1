/* Searches on the functions of functions.h, for comparison with other programs
 * (tests/gold/samplers.py prints such lines, too):
 *     b_regret NAME OPTIONS WORKERS FUNCTION ...
 * prints name, version, function, workers, seed, the regret of what looked best after 25,
 * 50 and 100 trials, and milliseconds of a proposal, for SEEDS seeds of the environment,
 * else 20, from FIRST on, else from 1000; without arguments random search on one function.
 * On the learning curves of functions_curves.h the regrets are those after a quarter, a
 * half and all of a resource of FULL full trainings, else 6. RUN: np=1 */
#include "functions_curves.h"

enum { SEEDS = 20, TRIALS = 100, FULL = 6 };

/* A whole number of the environment, or the other one. */
static int number_of(const char *name, int other)
{
    return getenv(name) ? atoi(getenv(name)) : other;
}

static void curve_runs(const char *name, const char *options, int workers,
                       const struct curve *curve)
{
    enum { PARTS = 4 };
    int first = number_of("FIRST", 1000), seeds = number_of("SEEDS", SEEDS);
    double all = LONGEST * number_of("FULL", FULL);
    for (int s = first; s < first + seeds; s++) {
        double r[PARTS];
        clock_t start = clock();
        int64_t trials = curve_run(curve, options, all, workers, (uint64_t)s, PARTS, r);
        double ms = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)trials;
        printf("%s\t%s\t%s\t%d\t%d\t%.6g\t%.6g\t%.6g\t%.3f\n", name, WEFT_VERSION,
               curve->name, workers, s, r[0], r[1], r[PARTS - 1], ms);
    }
}

static void runs(const char *name, const char *options, int workers,
                 const char *function_name)
{
    const struct curve *curve = curve_named(function_name);
    int first = number_of("FIRST", 1000), seeds = number_of("SEEDS", SEEDS);
    if (curve) {
        curve_runs(name, options, workers, curve);
        return;
    }
    for (int s = first; s < first + seeds; s++) {
        double r[TRIALS];
        clock_t start = clock();
        minimizer_run(function_named(function_name), options, TRIALS, workers, (uint64_t)s,
                      r, NULL);
        double ms = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC / TRIALS;
        printf("%s\t%s\t%s\t%d\t%d\t%.6g\t%.6g\t%.6g\t%.3f\n", name, WEFT_VERSION,
               function_name, workers, s, r[24], r[49], r[99], ms);
    }
}

int main(int argc, char **argv)
{
    mem = weft_arena_new();
    if (argc < 5) runs("random", "", 1, "branin");
    for (int i = 4; i < argc; i++) runs(argv[1], argv[2], atoi(argv[3]), argv[i]);
    weft_arena_free(mem);
    return 0;
}
