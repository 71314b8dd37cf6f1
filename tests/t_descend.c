/* Steps of Adam, Adadelta and SGD and the schedules of their rates against PyTorch's
 * values (tests/gold/descend.py), also on vectors longer than a vector loop.
 * RUN: np=1 */
#include "tap.h"
#include "weft/math/optim.h"

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
    {"step", {.lr = 0.1, .schedule = WEFT_RATE_STEP, .horizon = 4, .reductions = 2}},
};

static double gradient_at(int i, int step, double w)
{
    return (i + 1) * w * w * w / 2 + (i - 3 + step) / 4.0;
}

/* Largest distance from PyTorch over the weights of all steps; INFINITY: no values. */
static double distance(FILE *in, const char *name, const weft_descent *descent)
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
        weft_pace pace = weft_descent_pace(descent, step, step);
        weft_descent_step(descent, &pace, N, w, g, slots, N);
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
    FILE *in = gold_of("descend.txt");
    for (size_t i = 0; i < LEN(cases); i++) {
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
            weft_pace pace = weft_descent_pace(&cases[i].d, step, step);
            weft_descent_step(&cases[i].d, &pace, LONG, w, g, slots, LONG);
            weft_descent_step(&cases[i].d, &pace, 1, &one, &d, own, 1);
        }
        int same = 1;
        for (int j = 0; j < LONG; j++) same &= memcmp(&w[j], &one, sizeof one) == 0;
        ok(same, "%s: a number does not depend on its place", cases[i].name);
    }
}

/* A gradient in steps `first`, 3, 4, 9 and 30 of 40. */
static int busy(int step, int first)
{
    return step == first || step == 3 || step == 4 || step == 9 || step == 30;
}

/* Weights that take the steps without a gradient together have the bits of those that take
 * each. */
static void test_idle(void)
{
    enum { ALL = 200, COUNT = 40 };
    for (size_t c = 0; c < LEN(cases); c++)
        for (int first = 0; first < 2; first++) {
            const weft_descent *descent = &cases[c].d;
            real w[2][ALL], slots[2][2 * ALL] = {{0}}, g[2][ALL];
            weft_pace pace[COUNT];
            int done = 0, same = 1;
            for (int i = 0; i < ALL; i++) w[0][i] = w[1][i] = (real)((i - 3) / 4.0);
            for (int step = 0; step < COUNT; step++) {
                pace[step] = weft_descent_pace(descent, step / 7.0, step);
                for (int i = 0; i < ALL; i++)
                    g[0][i] = g[1][i] =
                        busy(step, first) ? (real)gradient_at(i % 9 + 1, step, 0.2) : 0;
                weft_descent_step(descent, &pace[step], ALL, w[0], g[0], slots[0], ALL);
                if (!busy(step, first) && step + 1 < COUNT) continue;
                int last = !busy(step, first);
                weft_descent_idle(descent, pace + done, step + last - done, ALL, w[1],
                                  slots[1], ALL);
                if (!last)
                    weft_descent_step(descent, &pace[step], ALL, w[1], g[1], slots[1], ALL);
                done = step + 1;
                same &= memcmp(w[0], w[1], sizeof *w) == 0;
            }
            int slot = weft_descent_slots(descent);
            same &= memcmp(slots[0], slots[1], ALL * (size_t)slot * sizeof(real)) == 0;
            ok(same, "%s: steps without a gradient may be taken later", cases[c].name);
        }
}

enum { OWED = 6000, WIDE = 150 };

/* Weights and an optimizer's numbers of all sizes, which one gradient left behind. */
static void after_gradient(const weft_descent *descent, const weft_pace *pace, real *w,
                           real *slots)
{
    real g[WIDE];
    memset(slots, 0, 2 * WIDE * sizeof *slots);
    for (int i = 0; i < WIDE; i++) {
        w[i] = i % 7 == 0 ? 0 : (real)((i % 2 ? 1 : -1) * ldexp(1 + i / 150.0, -i % 40));
        g[i] = i % 5 == 0 ? 0 : (real)((i % 3 ? 1 : -1) * ldexp(1 + i / 100.0, -i / 3));
    }
    weft_descent_step(descent, pace, WIDE, w, g, slots, WIDE);
}

/* So many steps that what an optimizer remembers becomes smaller than any normal number:
 * the same bits, and none takes much longer for that. */
static void test_long_idle(void)
{
    static const weft_descent plain = {.lr = 0.1, .momentum = 0.9};
    static weft_pace pace[OWED + 1];
    for (size_t c = 0; c < 6; c++) {
        const weft_descent *descent = c < 5 ? &cases[c].d : &plain;
        real w[2][WIDE], slots[2][2 * WIDE];
        int same = 1;
        for (int s = 0; s <= OWED; s++) pace[s] = weft_descent_pace(descent, s / 7.0, s);
        for (int i = 0; i < 2; i++) after_gradient(descent, pace, w[i], slots[i]);
        for (int done = 1; same && done < OWED;) {
            int n = done < 1000 ? 333 : 1667;
            for (int s = done; s < done + n; s++) {
                real none[WIDE] = {0};
                weft_descent_step(descent, &pace[s], WIDE, w[0], none, slots[0], WIDE);
            }
            weft_descent_idle(descent, pace + done, n, WIDE, w[1], slots[1], WIDE);
            same &= memcmp(w[0], w[1], sizeof *w) == 0;
            same &= memcmp(slots[0], slots[1],
                           WIDE * (size_t)weft_descent_slots(descent) * sizeof(real)) == 0;
            done += n;
        }
        ok(same, "%s: and thousands of them", c < 5 ? cases[c].name : "no decay");
    }
}

/* Seconds of `steps` steps without a gradient, the least of some tries. */
static double seconds_of(const weft_descent *descent, const weft_pace *pace, int steps)
{
    double least = INFINITY;
    for (int try = 0; try < 9; try++) {
        real w[WIDE], slots[2 * WIDE];
        after_gradient(descent, pace, w, slots);
        double begin = weft_now();
        weft_descent_idle(descent, pace + 1, steps, WIDE, w, slots, WIDE);
        least = fmin(least, weft_now() - begin);
    }
    return least;
}

static void test_idle_time(void)
{
    static weft_pace pace[OWED + 1];
    const char *loaded = getenv("LD_PRELOAD");
    if (loaded && strstr(loaded, "vgpreload")) {
        skip(2, "valgrind takes equally long for all numbers");
        return;
    }
    for (size_t c = 0; c < 3; c += 2) {
        const weft_descent *descent = &cases[c].d;
        for (int s = 0; s <= OWED; s++) pace[s] = weft_descent_pace(descent, s / 7.0, s);
        double few = seconds_of(descent, pace, OWED / 20),
               many = seconds_of(descent, pace, OWED);
        ok(many < 300 * few, "%s: 20 times the steps take at most 300 times as long: %.0f",
           cases[c].name, many / few);
    }
}

MAIN(alone, test_pytorch, test_long, test_idle, test_long_idle, test_idle_time)
