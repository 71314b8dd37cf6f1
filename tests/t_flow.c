/* Task flow against closed forms, an independent table, and exhaustive search.
 * RUN: np=1 np=2 np=4 */
#include "flow_stand.h"

/* ---- a table of an independent program ---- */

static void test_table(void)
{
    static const struct {
        double t, flow, ridge;
    } row[] = {{0.1, .98305692, .98331245},
               {1, .89702471, .90069078},
               {10, 1.73833387, 1.42143900},
               {100, 11.25205976, 7.36950102},
               {1000, 12.74999999, 11.93857062}};
    for (int i = 0; i < 5; i++) {
        is_near(loss_at(flow_of(row[i].t, "method = flow"), 1), row[i].flow, 5.1e-9,
                "gradient flow at t = %g", row[i].t);
        const char *ridge = printed("[flow]\nmethod=ridge\nlambda=%.17g\n", 1 / row[i].t);
        is_near(loss_at(ridge, 1), row[i].ridge, 5.1e-9, "ridge at lambda = 1 / %g",
                row[i].t);
    }
    static const struct {
        double e, off;
    } descent[] = {{0.5, 1.1e-2}, {0.1, 2.1e-3}, {0.01, 2.1e-4}};
    double exact = loss_at(flow_of(1, "method = flow"), 20);
    for (int i = 0; i < 3; i++) {
        double e = descent[i].e, found = loss_at(flow_of(e, ""), floor(20 / e + 0.5));
        is_near(fabs(found / exact - 1), descent[i].off, 0.06 * descent[i].off,
                "descent of step %g is %.2g off the flow", e, fabs(found / exact - 1));
    }
}

/* Ratio of the risks of flow at t and of ridge at 1 / t. */
static double ratio(double t, const char *more)
{
    const char *flow = flow_of(t, printed("method = flow\n%s", more));
    const char *ridge = printed("[flow]\nmethod=ridge\nlambda=%.17g\n%s\n", 1 / t, more);
    return loss_at(flow, 1) / loss_at(ridge, 1);
}

/* The largest ratio between two times, by golden section. */
static double sup_ratio(double a, double b, const char *more, double *at)
{
    double golden = (sqrt(5) - 1) / 2;
    for (int i = 0; i < 60; i++) {
        double l = b - golden * (b - a), r = a + golden * (b - a);
        if (ratio(l, more) > ratio(r, more))
            b = r;
        else
            a = l;
    }
    *at = (a + b) / 2;
    return ratio(*at, more);
}

static void test_bound(void)
{
    double at;
    double sup = sup_ratio(1, 3, "p = 1\nsigma = 1e8", &at);
    is_near(sup, 1.6859090583, 5.1e-11, "flow is at most 1.6859 times as risky as ridge");
    is_near(at, 1.7932821, 2e-7, "where t s = 1.7932821");
    double own = sup_ratio(10, 200, "", &at);
    is_near(own, 1.584, 5e-4, "of 50 features the largest ratio is 1.584");
    is_near(at, 59, 1, "near t = 59");
    int below = 1;
    for (int e = -20; e <= 30; e++)
        for (int loss = 0; loss < 2; loss++)
            below &=
                ratio(pow(10, e / 5.0), loss ? "loss = prediction" : "decay = 3") < 1.6862;
    ok(below, "it is below the bound at all times, for both losses");
}

/* ---- the optimum of a space ---- */

static double optimum(const char *options, double most)
{
    const struct stand *stand = stand_up(options, NULL);
    return task->winner.optimum(stand->self, most);
}

/* The least loss of the first n configurations after up to so many rounds. */
static double least_of(struct stand *stand, int64_t n, int rounds)
{
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        weft_space_config(&stand->space, i, stand->job.mix.conf);
        afresh(stand);
        for (int r = 1; r <= rounds; r++) least = fmin(least, train(stand, 1));
    }
    return least;
}

static void test_optimum(void)
{
    is_near(optimum("[flow]\nmethod = ridge\nlambda = log 0.01 .. 10\n", 5), .87847824,
            5.1e-9, "the best ridge");
    is_near(loss_at("[flow]\nmethod = ridge\nlambda = 0.5\n", 1),
            optimum("[flow]\nmethod = ridge\nlambda = log 0.01 .. 10\n", 5), 1e-15,
            "is at lambda = 0.5");
    is_near(optimum("[flow]\nmethod = flow\nstep = log 0.1 .. 10\n", 1), .88004536416644,
            5.1e-13, "the best flow");
    is_near(loss_at(flow_of(1.76031787, "method = flow"), 1),
            optimum("[flow]\nmethod = flow\nstep = log 0.1 .. 10\n", 1), 1e-12,
            "is at t = 1.7603");
    /* Brute force on another grid never beats it, and comes near. */
    static const char *const space[] = {
        "[flow]\nmethod = descent\nstep = log 0.01 .. 1.9\n",
        "[flow]\nmethod = flow | descent\nstep = log 0.01 .. 1.9\nlambda = 0 .. 2\n",
        ("[flow]\nmethod = descent\nstep = log 0.01 .. 1.9\nfeatures = 3 .. 40\n"
         "loss = prediction\nsignal_decay = 1\n")};
    for (int k = 0; k < 3; k++) {
        struct stand *stand = stand_up(space[k], NULL);
        double best = task->winner.optimum(stand->self, 12);
        double least = least_of(stand, 3000, 12);
        ok(best <= least && least < best * 1.01,
           "space %d: none of 36,000 points is below the optimum %.8f, the best is %.8f", k,
           best, least);
    }
    struct stand *stand =
        stand_up("[space]\nsource = grid\nlevels = 4\nconfigs = 0\n[flow]\n"
                 "method = flow | descent | ridge\nstep = log 0.01 .. 1\n"
                 "features = 1 .. 50\n",
                 NULL);
    is_near(task->winner.optimum(stand->self, 9), least_of(stand, stand->space.count, 9), 0,
            "the optimum of a grid is its best point");
}

/* ---- states ---- */

static void test_split(void)
{
    static const char *const method[] = {"flow", "descent", "ridge"};
    for (int k = 0; k < 3; k++) {
        const char *options = printed(
            "[flow]\nmethod = %s\nstep = 0.3\nlambda = 0.1\nnoise = 0.1\n", method[k]);
        struct stand *one = stand_up(options, NULL), *many = stand_up(options, NULL);
        train(one, 24);
        for (int i = 0; i < 6; i++) train(many, 4);
        ok(weft_state_hash(&one->state) == weft_state_hash(&many->state) &&
               !(fabs(one->res.loss - many->res.loss) > 0),
           "%s: six jobs have the bits of one", method[k]);
        digest(weft_state_hash(&one->state));
    }
}

/* A copy goes on from the weights with another setting, as real descent would. */
static void test_copy(void)
{
    struct stand *stand =
        stand_up("[flow]\nstep = log 0.1 .. 1\nlambda = 0 .. 1\np = 5\n", NULL);
    double *conf = stand->job.mix.conf, g[5] = {0}, risk = 0;
    static const double step[2] = {0.9, 0.2}, lambda[2] = {0, 0.7};
    for (int e = 0; e < 2; e++) {
        conf[0] = step[e];
        conf[1] = lambda[e];
        train(stand, 3);
        for (int r = 0; r < 3; r++)
            for (int i = 0; i < 5; i++) {
                double v = 1.0 / (i + 1);
                g[i] -= step[e] * ((v + lambda[e]) * g[i] - v);
            }
    }
    for (int i = 0; i < 5; i++)
        risk += (1 - g[i]) * (1 - g[i]) / 5 + g[i] * g[i] * (i + 1) / 100;
    is_near(stand->res.loss, risk, 1e-14,
            "a trial whose setting changes goes on from itself");
}

static void test_diverged(void)
{
    ok(isinf(loss_at(flow_of(3, ""), 2000)), "descent of step 3 diverges");
    ok(loss_at(flow_of(1.9, ""), 2000) < 14, "of step 1.9 it does not");
    is_near(loss_at(flow_of(1, "features = 1\nsigma = 0"), 1), 0.98, 1e-15,
            "features that are not fitted keep their signal");
    is_near(loss_at(flow_of(1, "method = ridge\nn = 10\nsigma = 0"), 1), 0.8, 1e-14,
            "so do those that samples do not tell apart");
}

/* ---- virtual seconds and noise ---- */

static void test_noise(void)
{
    enum { TRIALS = 4000 };
    struct stand *stand = stand_up("[flow]\nnoise = 0.5\nspread = 1\n", NULL);
    double sum[2] = {0}, square[2] = {0};
    int split = 1;
    for (int i = 0; i < TRIALS; i++) {
        stand->job.trial = i;
        afresh(stand);
        train(stand, 4);
        const double x[2] = {stand->res.loss - measured(task, &stand->res, "valid_loss"),
                             log(stand->res.cost / 4)};
        for (int k = 0; k < 2; k++) {
            sum[k] += x[k] / TRIALS;
            square[k] += x[k] * x[k] / TRIALS;
        }
        double all = stand->res.cost;
        train(stand, 2);
        split &= fabs(stand->res.cost / all - 0.5) < 1e-15;
    }
    is_near(sum[0], 0, 3 * 0.5 / sqrt(TRIALS), "noise of the loss has mean 0");
    is_near(sqrt(square[0]), 0.5, 3 * 0.5 / sqrt(2 * TRIALS), "and its deviation");
    is_near(sum[1], -0.5, 3 / sqrt(TRIALS), "seconds of a unit have mean 1");
    is_near(square[1] - sum[1] * sum[1], 1, 3 * sqrt(2.0 / TRIALS), "and their spread");
    ok(split, "a trial is as fast in its next job");
    is_near(train(stand_up("[flow]\n", NULL), 7) -
                measured(task, &stand->res, "valid_loss"),
            0, 1, "without noise");
    struct stand *plain = stand_up("[flow]\n", NULL);
    train(plain, 7);
    ok(!(fabs(plain->res.loss - measured(task, &plain->res, "valid_loss")) > 0) &&
           !(fabs(plain->res.cost - 7) > 0),
       "by default the loss is exact and a unit takes a second");
}

MAIN(ranks, test_table, test_bound, test_optimum, test_split, test_copy, test_diverged,
     test_noise)
