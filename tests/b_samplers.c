/* Cost of proposals: sampler,options,axes,trials,seconds of one core, of searches in which
 * every trial is told before the next is asked for. Arguments: the name of a sampler, then
 * the number of trials, then options of the sampler: `forest 303 design=300` has three
 * proposals from a forest on 300 trials. RUN: np=1 */
#include "functions.h"

#include <stdio.h>
#include <time.h>

static double many(const double *v)
{
    double sum = 0;
    for (int j = 0; j < 8; j++) sum += (v[j] - .1 * j) * (v[j] - .1 * j);
    for (int j = 8; j < 11; j++) sum += 1e-4 * (v[j] - 40) * (v[j] - 40);
    return sum + (v[11] > 0) * .1 + (v[12] > 0) * .1 + (v[13] < 1) * .1 + .1 * v[14];
}

static const struct {
    const char *sampler, *options;
    int axes;
    struct function f;
    int64_t trials;
} rows[] = {
    {"tpe",
     "",
     8,
     {"",
      "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = log 1e-6 .. 1\nx3 = log 1e-4 .. 10\n"
      "i0 = 1 .. 100\ni1 = 1 .. 12\nb = p | q\nd = p | q | r | s\n",
      mixed8, 0, 0},
     1000},
    {"tpe", "", 2, {"", "x0 = -5 .. 10\nx1 = 0 .. 15\n", branin, 0, 0}, 10000},
    {"tpe",
     "form = joint",
     8,
     {"",
      "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = log 1e-6 .. 1\nx3 = log 1e-4 .. 10\n"
      "i0 = 1 .. 100\ni1 = 1 .. 12\nb = p | q\nd = p | q | r | s\n",
      mixed8, 0, 0},
     1000},
    {"kde",
     "",
     8,
     {"",
      "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = log 1e-6 .. 1\nx3 = log 1e-4 .. 10\n"
      "i0 = 1 .. 100\ni1 = 1 .. 12\nb = p | q\nd = p | q | r | s\n",
      mixed8, 0, 0},
     1000},
    {"forest",
     "",
     15,
     {"",
      "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\nx3 = 0 .. 1\nx4 = 0 .. 1\nx5 = 0 .. 1\n"
      "x6 = 0 .. 1\nx7 = 0 .. 1\ni0 = 1 .. 100\ni1 = 1 .. 100\ni2 = 1 .. 15\n"
      "a = p | q | r\nb = p | q\nc = p | q\nd = p | q | r | s\n",
      many, 0, 0},
     1000},
};

int main(int argc, char **argv)
{
    weft_arena *mem = weft_arena_new();
    printf("sampler,options,axes,trials,seconds\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (argc > 1 && strcmp(argv[1], rows[i].sampler) != 0) continue;
        size_t mark = weft_arena_mark(mem);
        int64_t trials = argc > 2 ? atoll(argv[2]) : rows[i].trials;
        double *regret = WEFT_NEW(mem, double, trials);
        const char *options =
            weft_arena_text(mem, "[run]\nsampler = %s\n[%s]\n%s\n", rows[i].sampler,
                            rows[i].sampler, argc > 3 ? argv[3] : rows[i].options);
        clock_t start = clock();
        minimizer_run(&rows[i].f, options, trials, 1, 1, regret, NULL, mem);
        printf("%s,%s,%d,%lld,%.3g\n", rows[i].sampler, rows[i].options, rows[i].axes,
               (long long)trials, (double)(clock() - start) / CLOCKS_PER_SEC);
        fflush(stdout);
        weft_arena_reset(mem, mark);
    }
    weft_arena_free(mem);
    return 0;
}
