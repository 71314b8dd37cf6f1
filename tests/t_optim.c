/* Local SGD against PyTorch's values, the server's optimizers against steps by hand, both
 * also on vectors longer than a vector loop.
 * RUN: np=1 */
#include "tap.h"
#include "weft/math/optim.h"

enum { N = 7, STEPS = 5, LONG = 3001 };

/* Single precision takes 1e-7 at each of a few operations on numbers up to 3. */
static const double tolerance = sizeof(real) == 4 ? 3e-6 : 2e-11;

/* As in gold/optim.py. */
static const struct {
    const char *name;
    weft_sgd sgd;
} cases[] = {{"plain", {0.1, 0, 0, 0, 0}},      {"momentum", {0.1, 0.9, 0, 0, 0}},
             {"decay", {0.1, 0.9, 0.05, 0, 0}}, {"clip", {0.1, 0.9, 0.05, 0, 2.3}},
             {"prox", {0.1, 0, 0, 0.7, 0}},     {"all", {0.1, 0.5, 0.05, 0.7, 0.8}}};

static double start(int i)
{
    return (i - 3) / 4.0;
}

static double gradient_at(int i, int step, double w)
{
    return (i + 1) * w * w * w / 2 + (i - 3 + step) / 4.0;
}

/* Reads the line of a step: norm and weights. 1 if it is there. */
static int read_step(FILE *in, const char *name, int step, double value[1 + N])
{
    char found[32];
    int number = -1, n = fscanf(in, "%31s %d", found, &number);
    if (n != 2 || strcmp(found, name) != 0 || number != step) return 0;
    for (int i = 0; i <= N; i++)
        if (fscanf(in, "%lf", &value[i]) != 1) return 0;
    return 1;
}

/* Largest distance from PyTorch over the weights of all steps; INFINITY: no values.
 */
static double distance(FILE *in, const char *name, const weft_sgd *sgd)
{
    real w[N], g[N], velocity[N], anchor[N];
    for (int i = 0; i < N; i++) w[i] = anchor[i] = (real)start(i);
    for (int i = 0; i < N; i++) velocity[i] = (real)NAN; /* is not read at first */
    double worst = 0;
    for (int step = 0; step < STEPS; step++) {
        double gold[1 + N];
        if (!read_step(in, name, step, gold)) return INFINITY;
        for (int i = 0; i < N; i++) g[i] = (real)gradient_at(i, step, (double)w[i]);
        if (!weft_sgd_step(sgd, N, step == 0, w, g, sgd->momentum > 0 ? velocity : NULL,
                           sgd->mu > 0 ? anchor : NULL))
            return INFINITY;
        for (int i = 0; i < N; i++) worst = worse(worst, fabs((double)w[i] - gold[1 + i]));
    }
    return worst;
}

static void test_pytorch(void)
{
    FILE *in = gold_of("optim.txt");
    for (size_t c = 0; c < LEN(cases); c++) {
        double worst = distance(in, cases[c].name, &cases[c].sgd);
        is_near(worst, 0, tolerance, "five steps of SGD are PyTorch's: %s", cases[c].name);
    }
    ok(in != NULL, "PyTorch's values are there");
    if (in) fclose(in);
}

/* One step on a vector of several pieces and a tail, against the formula. */
static void test_long(void)
{
    weft_sgd sgd = {0.1, 0.9, 0.01, 0.5, 1};
    static real w[LONG], g[LONG], velocity[LONG], anchor[LONG];
    static double expected[LONG];
    double square = 0;
    for (int i = 0; i < LONG; i++) {
        w[i] = (real)(i % 17 - 8) / 8;
        g[i] = (real)(i % 13 - 6) / 16;
        velocity[i] = (real)(i % 11 - 5) / 8;
        anchor[i] = (real)(i % 5 - 2) / 2;
        expected[i] = (double)g[i] + sgd.mu * ((double)w[i] - (double)anchor[i]);
        square += expected[i] * expected[i];
    }
    for (int i = 0; i < LONG; i++) {
        double d = expected[i] * sgd.clip / (sqrt(square) + 1e-6) +
                   sgd.weight_decay * (double)w[i];
        expected[i] = (double)w[i] - sgd.lr * (sgd.momentum * (double)velocity[i] + d);
    }
    int sound = weft_sgd_step(&sgd, LONG, 0, w, g, velocity, anchor);
    double worst = 0;
    for (int i = 0; i < LONG; i++) worst = worse(worst, fabs((double)w[i] - expected[i]));
    ok(sound, "a step of finite numbers is sound");
    is_near(worst, 0, tolerance, "every weight of a long vector moves by the formula");
}

static void test_diverged(void)
{
    weft_sgd plain = {.lr = 0.1}, clipped = {.lr = 0.1, .clip = 1};
    real w[LONG] = {0}, g[LONG] = {0};
    real wrong[] = {(real)INFINITY, -(real)INFINITY, (real)NAN};
    for (int i = 0; i < 3; i++) {
        g[i * LONG / 3] = wrong[i];
        ok(!weft_sgd_step(&plain, LONG, 1, w, g, NULL, NULL), "%g in a gradient is told of",
           (double)wrong[i]);
        ok(!weft_sgd_step(&clipped, LONG, 1, w, g, NULL, NULL), "also where it is clipped");
        g[i * LONG / 3] = 0;
    }
    g[0] = WEFT_REAL_MAX;
    ok(weft_sgd_step(&plain, LONG, 1, w, g, NULL, NULL), "the largest number is finite");
    g[0] = WEFT_REAL_MAX;
    ok(!weft_sgd_step(&clipped, LONG, 1, w, g, NULL, NULL), "but a norm beyond it is not");
}

/* ---- server ---- */

/* Applies three rounds of deltas on one weight that starts at 1, with neighbours that have
 * other deltas, and returns the weight. */
static double rounds_of(const weft_server *server, const double delta[3])
{
    real w[3] = {0, 1, 0}, slots[6];
    for (int i = 0; i < 6; i++) slots[i] = (real)NAN; /* need no preparation */
    for (int t = 0; t < 3; t++) {
        const real d[3] = {2, (real)delta[t], -1};
        weft_server_step(server, t, 3, w, d, slots);
    }
    return (double)w[1];
}

static void test_server_sgd(void)
{
    const double delta[3] = {0.5, -0.25, 1};
    weft_server average = {.optimizer = WEFT_SGD, .lr = 1};
    is_near(rounds_of(&average, delta), 2.25, tolerance,
            "plain averaging adds the mean of the changes");
    /* lr 0.5, 0.4, 0.32; m = 0.5, 0.2, 1.18 */
    weft_server moved = {.optimizer = WEFT_SGD, .lr = 0.5, .momentum = 0.9, .decay = 0.2};
    is_near(rounds_of(&moved, delta), 1 + 0.25 + 0.08 + 0.3776, tolerance,
            "momentum and decay: three rounds by hand");
    ok(weft_server_slots(&average) == 0 && weft_server_slots(&moved) == 1,
       "SGD keeps a vector where it has momentum");
}

static void test_server_adaptive(void)
{
    /* beta1 = 0.5, beta2 = 0.75, tau = 0.5, so v starts at 0.25. Deltas 0.5, -1, 0.25.
     * m    = 0.25, -0.375, -0.0625
     * Adam: v = 0.75 v + 0.25 delta^2 = 0.25, 0.4375, 0.34375
     * Yogi: v - delta^2 = 0 at first, so v = 0.25; then negative: 0.25 + 0.25 = 0.5; then
     * positive: 0.5 - 0.25 / 16 = 0.484375 */
    const double delta[3] = {0.5, -1, 0.25}, m[3] = {0.25, -0.375, -0.0625};
    const double adam[3] = {0.25, 0.4375, 0.34375}, yogi[3] = {0.25, 0.5, 0.484375};
    double by_adam = 1, by_yogi = 1;
    for (int t = 0; t < 3; t++) by_adam += 0.1 * m[t] / (sqrt(adam[t]) + 0.5);
    for (int t = 0; t < 3; t++) by_yogi += 0.1 * m[t] / (sqrt(yogi[t]) + 0.5);
    weft_server server = {.lr = 0.1, .beta1 = 0.5, .beta2 = 0.75, .tau = 0.5};
    server.optimizer = WEFT_ADAM;
    is_near(rounds_of(&server, delta), by_adam, tolerance, "Adam: three rounds by hand");
    server.optimizer = WEFT_YOGI;
    is_near(rounds_of(&server, delta), by_yogi, tolerance, "Yogi: three rounds by hand");
    ok(weft_server_slots(&server) == 2, "Adam and Yogi keep two vectors");
    server.decay = 1;
    is_near(rounds_of(&server, delta), 1 + 0.025, tolerance, "their rate decays too");
}

/* Of weights 1, 4, 2, 8. */
static double averaged(const weft_server *server)
{
    const real w[4] = {1, 4, 2, 8};
    real average[1] = {(real)NAN}; /* needs no preparation */
    for (int t = 0; t < 4; t++) weft_server_average(server, t, 1, w + t, average);
    return (double)average[0];
}

static void test_server_average(void)
{
    weft_server server = {.average = WEFT_EXPONENTIAL, .newest = 0.01};
    is_near(averaged(&server), 15.0 / 4, tolerance, "an average begins as the mean");
    server.newest = 0.5; /* from the second round on: 1, 2.5, 2.25, 5.125 */
    is_near(averaged(&server), 5.125, tolerance, "newer weights count more, by newest");
    server = (weft_server){.average = WEFT_TAIL, .tail = 1};
    is_near(averaged(&server), 15.0 / 4, tolerance, "the tail of all is the mean");
    /* h = 2: shares 3/4, 3/5, 3/6: 1, 3.25, 2.5, 5.25 */
    server.tail = 0.5;
    is_near(averaged(&server), 5.25, tolerance, "the tail of a half by hand");
    /* ages of weights after many rounds, by an average of their numbers */
    real number = 0, mean = 0;
    for (int t = 0; t < 10000; t++) {
        number = (real)t;
        weft_server_average(&server, t, 1, &number, &mean);
    }
    is_near((10000 - (double)mean) / 10000, 0.25, 1e-3,
            "the mean age of its weights is half of it");
    server.average = WEFT_LAST;
    ok(isnan(averaged(&server)), "the last weights need no average");
}

MAIN(alone, test_pytorch, test_long, test_diverged, test_server_sgd, test_server_adaptive,
     test_server_average)
