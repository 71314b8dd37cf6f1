/* What releases cost: against another accountant, tests/gold/accounting.py, and closed
 * forms. RUN: np=1 */
#include "weft/privacy/accounting.h"

#include <string.h>

#include "tap.h"

/* A line of tests/gold/accounting.tsv. */
typedef struct gold {
    weft_release release;
    double delta, renyi, loss;
} gold;

static int read_line(FILE *file, gold *out)
{
    char how[16];
    weft_release *release = &out->release;
    memset(out, 0, sizeof *out);
    if (fscanf(file, "%15s %lf %lf %" SCNd64 " %" SCNd64 " %lf %lf %lf", how,
               &release->share, &release->noise, &release->times, &release->steps,
               &out->delta, &out->renyi, &out->loss) != 8)
        return 0;
    release->sampling = how[0] == 'p'   ? WEFT_SAMPLED_EACH
                        : how[0] == 'f' ? WEFT_SAMPLED_FIXED
                                        : WEFT_SAMPLED_TREE;
    return 1;
}

static void test_gold(void)
{
    FILE *file = fopen("tests/gold/accounting.tsv", "r");
    double renyi = 0, loss = 0;
    int n = 0, poisson = 0;
    gold line;
    char names[256];
    if (!file || !fgets(names, sizeof names, file)) exit(1);
    while (read_line(file, &line)) {
        const weft_release *one = &line.release;
        n++;
        renyi = worse(renyi, fabs(weft_epsilon_renyi(1, one, line.delta) - line.renyi));
        const double tight = weft_epsilon(1, one, line.delta, mem);
        if (one->sampling == WEFT_SAMPLED_EACH) {
            loss = worse(loss, fabs(tight - line.loss));
            poisson++;
        } else {
            loss = worse(loss, fabs(tight - line.renyi));
        }
    }
    fclose(file);
    ok(n == 200, "200 settings are compared");
    ok(poisson == 140, "140 of them with Poisson sampling");
    ok(renyi < 1e-3, "Renyi divergences give the other's epsilon to 0.001 (%g)", renyi);
    ok(loss < 1e-3, "so do distributions of the privacy loss (%g)", loss);
}

/* delta(epsilon) of a Gaussian release whose sum moves by `mean` s.d.: Balle, Wang 2018. */
static double gaussian_delta(double mean, double epsilon)
{
    const double root = sqrt(2), a = epsilon / mean, b = mean / 2;
    return 0.5 * erfc((a - b) / root) - exp(epsilon) * 0.5 * erfc((a + b) / root);
}

static void test_gaussian(void)
{
    const double noise[] = {0.6, 1, 4, 30};
    const int64_t times[] = {1, 7, 60, 2000};
    for (int i = 0; i < 4; i++) {
        const weft_release all = {WEFT_SAMPLED_EACH, 1, noise[i], times[i], 0};
        const double epsilon = weft_epsilon(1, &all, 1e-6, mem);
        const double delta = gaussian_delta(sqrt((double)times[i]) / noise[i], epsilon);
        ok(fabs(delta / 1e-6 - 1) < 0.01,
           "%d sums over all clients have the Gaussian's delta (%g)", (int)times[i], delta);
    }
}

static void test_together(void)
{
    const weft_release whole = {WEFT_SAMPLED_EACH, 0.02, 1.1, 1000, 0};
    weft_release parts[3] = {whole, whole, {WEFT_SAMPLED_EACH, 0.02, 1.1, 0, 0}};
    parts[0].times = 400;
    parts[1].times = 600;
    const double one = weft_epsilon(1, &whole, 1e-6, mem);
    ok(fabs(weft_epsilon(3, parts, 1e-6, mem) - one) < 1e-9,
       "two parts cost what the whole does");
    parts[2].times = 1000;
    parts[2].noise = 8;
    const double more = weft_epsilon(3, parts, 1e-6, mem);
    ok(more > one && more < one * 1.1, "scores under much noise add a little");
    parts[2].noise = 0;
    ok(isinf(weft_epsilon(3, parts, 1e-6, mem)), "a release without noise has no bound");
    parts[2].times = 0;
    ok(!isinf(weft_epsilon(3, parts, 1e-6, mem)), "unless there is none of it");
    const weft_release fixed = {WEFT_SAMPLED_FIXED, 0.02, 1.1, 1000, 0};
    ok(weft_epsilon(1, &fixed, 1e-6, mem) > one,
       "a fixed number of clients has a bound of its own");
    const weft_release mixed[2] = {whole, {WEFT_SAMPLED_TREE, 1, 5, 1, 100}};
    const double sum = weft_epsilon(2, mixed, 1e-6, mem);
    ok(sum > one && !isinf(sum), "trees and samples are added by their divergences");
    ok(weft_epsilon(0, NULL, 1e-6, mem) == 0, "nothing costs nothing");
}

MAIN(alone, test_gold, test_gaussian, test_together)
