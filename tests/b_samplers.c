/* Cost of proposals: sampler,options,axes,trials,seconds of one core, of searches in which
 * every trial is told before the next is asked for. Arguments: the name of a sampler, then
 * the number of trials, then options of the sampler: `forest 303 design=300` has three
 * proposals from a forest on 300 trials. RUN: np=1 */
#include "functions.h"

static const struct {
    const char *sampler, *options;
    int axes;
    const char *function;
    int64_t trials;
} rows[] = {{"tpe", "", 8, "mixed8", 1000},
            {"tpe", "", 2, "branin", 10000},
            {"tpe", "form = joint", 8, "mixed8", 1000},
            {"kde", "", 8, "mixed8", 1000},
            {"forest", "", 15, "fifteen", 1000},
            {"gp", "", 8, "mixed8", 300},
            {"mobster", "", 8, "mixed8", 300}};

int main(int argc, char **argv)
{
    mem = weft_arena_new();
    printf("sampler,options,axes,trials,seconds\n");
    for (size_t i = 0; i < LEN(rows); i++) {
        if (argc > 1 && strcmp(argv[1], rows[i].sampler) != 0) continue;
        size_t mark = weft_arena_mark(mem);
        int64_t trials = argc > 2 ? atoll(argv[2]) : rows[i].trials;
        double *regret = WEFT_NEW(mem, double, trials);
        const char *options =
            printed("[run]\nsampler = %s\n[%s]\n%s\n", rows[i].sampler, rows[i].sampler,
                    argc > 3 ? argv[3] : rows[i].options);
        clock_t start = clock();
        minimizer_run(function_named(rows[i].function), options, trials, 1, 1, regret,
                      NULL);
        printf("%s,%s,%d,%lld,%.3g\n", rows[i].sampler, rows[i].options, rows[i].axes,
               (long long)trials, (double)(clock() - start) / CLOCKS_PER_SEC);
        fflush(stdout);
        weft_arena_reset(mem, mark);
    }
    weft_arena_free(mem);
    return 0;
}
