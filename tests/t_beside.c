/* Samplers beside the programs whose methods they are: 20 searches here against the 20 of
 * Optuna, hyperopt, HpBandSter and SMAC in analysis/samplers.tsv, which jobs/samplers.sh
 * and tests/gold/samplers.py made with other seeds.
 * RUN: np=1 */
#include "functions.h"

enum { RUNS = 20, TRIALS = 100, LINE = 256 };

/* Of every comparison here and in analysis/samplers.md together. */
static const double level = .01 / 92;

/* Regrets of that program after all trials; returns how many. */
static int regrets_of(const char *program, const char *name, int workers, double *regret)
{
    FILE *table = fopen("analysis/samplers.tsv", "r");
    weft_check(table, "no analysis/samplers.tsv");
    char line[LINE], by[32], on[32];
    int n = 0, w;
    double last;
    while (fgets(line, sizeof line, table))
        if (sscanf(line, "%31s %*s %31s %d %*d %*f %*f %lf", by, on, &w, &last) == 4 &&
            w == workers && n < RUNS && strcmp(by, program) == 0 && strcmp(on, name) == 0)
            regret[n++] = last;
    fclose(table);
    return n;
}

struct method {
    const char *program, *options;
};

static const struct method methods[] = {
    {"optuna", "[run]\nsampler = tpe\n"},
    {"hyperopt", "[run]\nsampler = tpe\n[tpe]\nform = hyperopt\n"},
    {"bohb", "[run]\nsampler = kde\n"}};
static const struct method forest = {"smac", "[run]\nsampler = forest\n"};
static const char *const names[] = {"branin",      "hartmann3", "hartmann6",  "ackley5",
                                    "rosenbrock4", "text",      "tree",       "noisy",
                                    "mixed8",      "levy5",     "styblinski4"};

static void beside(const struct method *method, const char *name, int workers)
{
    double own[RUNS], other[RUNS];
    int n = regrets_of(method->program, name, workers, other);
    last_regrets(name, method->options, TRIALS, workers, RUNS, 3000, own);
    double p = smaller(n, other, RUNS, own);
    shows(n == RUNS && p > level, "%s, %d workers: not worse than %s, p = %.2g", name,
          workers, method->program, p);
}

/* What would be found if a sampler did nothing. */
static void test_power(void)
{
    double random[RUNS], other[RUNS];
    last_regrets("ackley5", "", TRIALS, 1, RUNS, 3000, random);
    for (int i = 0; i < 3; i++) {
        int n = regrets_of(methods[i].program, "ackley5", 1, other);
        double p = smaller(n, other, RUNS, random);
        shows(n == RUNS && p < level, "random search is worse than %s, p = %.2g",
              methods[i].program, p);
    }
}

int main(void)
{
    tap_begin();
    for (int workers = 1; workers <= 10; workers += 9)
        for (int i = 0; i < 11; i++)
            for (int k = 0; k < 3; k++) beside(&methods[k], names[i], workers);
    beside(&forest, "hartmann3", 1); /* where it is nearest to be worse in the table */
    test_power();
    return tap_end();
}
