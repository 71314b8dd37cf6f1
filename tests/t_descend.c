/* Steps of Adam, Adadelta and SGD and the schedules of their rate against PyTorch's values
 * (tests/gold/descend.py), and on vectors longer than a loop.
 * RUN: np=1 */
#include "tap.h"
#include "weft/math.h"

#include <string.h>

enum { N = 7, STEPS = 6, LONG = 3001 };

/* Single precision takes 1e-7 at each of a few operations, which Adadelta's first steps,
 * quotients of small roots, enlarge. */
static const double tolerance = sizeof(real) == 4 ? 1e-5 : 2e-11;

/* As in gold/descend.py. */
static const struct {
    const char *name;
    weft_descent d;
} cases[] = {
    {"adam",
     {.optimizer = WEFT_DESCENT_ADAM,
      .lr = 0.05,
      .beta1 = 0.9,
      .beta2 = 0.99,
      .epsilon = 1e-3}},
    {"adam-decay",
     {.optimizer = WEFT_DESCENT_ADAM,
      .lr = 0.05,
      .beta1 = 0.8,
      .beta2 = 0.999,
      .epsilon = 1e-6,
      .weight_decay = 0.1}},
    {"adadelta",
     {.optimizer = WEFT_DESCENT_ADADELTA, .lr = 1, .rho = 0.95, .epsilon = 1e-6}},
    {"adadelta-decay",
     {.optimizer = WEFT_DESCENT_ADADELTA,
      .lr = 0.5,
      .rho = 0.9,
      .epsilon = 1e-3,
      .weight_decay = 0.1}},
    {"momentum", {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05}},
    {"exponential", {.lr = 0.1, .schedule = WEFT_RATE_EXPONENTIAL, .decay = 0.1}},
    {"inverse", {.lr = 0.1, .schedule = WEFT_RATE_INVERSE, .decay = 0.1}},
    {"linear", {.lr = 0.1, .schedule = WEFT_RATE_LINEAR, .horizon = 4}},
    {"cosine", {.lr = 0.1, .schedule = WEFT_RATE_COSINE, .horizon = 4}},
};

static double gradient_at(int i, int step, double w)
{
    return (i + 1) * w * w * w / 2 + (i - 3 + step) / 4.0;
}

/* Largest distance from PyTorch over the weights of all steps; INFINITY: no values. */
static double distance(FILE *in, const char *name, const weft_descent *d)
{
    real w[N], g[N], slots[2 * N] = {0};
    for (int i = 0; i < N; i++) w[i] = (real)((i - 3) / 4.0);
    double worst = 0;
    for (int step = 0; step < STEPS; step++) {
        char found[32];
        int number = -1;
        if (fscanf(in, "%31s %d", found, &number) != 2 || strcmp(found, name) != 0 ||
            number != step)
            return INFINITY;
        for (int i = 0; i < N; i++) g[i] = (real)gradient_at(i, step, (double)w[i]);
        weft_descent_step(d, step, step, N, w, g, slots);
        for (int i = 0; i < N; i++) {
            double gold;
            if (fscanf(in, "%lf", &gold) != 1) return INFINITY;
            worst = worse(worst, fabs((double)w[i] - gold));
        }
    }
    return worst;
}

static void test_pytorch(void)
{
    FILE *in = fopen("tests/gold/descend.txt", "r");
    weft_check(in, "run the test in the top directory");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double off = distance(in, cases[i].name, &cases[i].d);
        is_near(off, 0, tolerance, "%s: the steps are PyTorch's", cases[i].name);
    }
    fclose(in);
}

/* Every number of a long vector moves as one of a short one. */
static void test_long(void)
{
    static real w[LONG], g[LONG], slots[2 * LONG];
    for (size_t i = 0; i < 5; i++) {
        real one = 1, d = 0, own[2] = {0};
        for (int j = 0; j < LONG; j++) w[j] = 1;
        memset(slots, 0, sizeof slots);
        for (int step = 0; step < 3; step++) {
            for (int j = 0; j < LONG; j++) g[j] = (real)(step + 0.3);
            d = (real)(step + 0.3);
            weft_descent_step(&cases[i].d, step, step, LONG, w, g, slots);
            weft_descent_step(&cases[i].d, step, step, 1, &one, &d, own);
        }
        int same = 1;
        for (int j = 0; j < LONG; j++) same &= memcmp(&w[j], &one, sizeof one) == 0;
        ok(same, "%s: a number does not depend on its place", cases[i].name);
    }
}

int main(void)
{
    test_pytorch();
    test_long();
    return tap_done();
}
