/* Perturbed configurations, in published spaces of options of federated tuning: distances,
 * bounds, and what they depend on.
 * RUN: np=1 */
#include "tap.h"

struct client {
    double lr, momentum, weight_decay, mu, dropout;
    int batch, epochs;
};

static const weft_opt client_opts[] = {
    WEFT_REAL_OPT("lr", struct client, lr, "1", 0, 1e9, "rate", .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("momentum", struct client, momentum, "0", 0, 1, "momentum",
                  .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("weight_decay", struct client, weight_decay, "0", 0, 1, "L2",
                  .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("mu", struct client, mu, "0", 0, 1, "proximal", .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("dropout", struct client, dropout, "0", 0, 1, "share",
                  .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("batch", struct client, batch, "1", 1, 1e6, "samples",
                 .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("epochs", struct client, epochs, "1", 1, 1e6, "passes",
                 .role = WEFT_PER_SAMPLE),
    {0},
};
static const weft_kind client_kind =
    WEFT_KIND("client", struct client, client_opts, "a client");
struct server {
    double lr;
};
static const weft_opt server_opts[] = {
    WEFT_REAL_OPT("lr", struct server, lr, "1", 0, 1e9, "rate", .role = WEFT_PER_TRIAL),
    {0},
};
static const weft_kind server_kind =
    WEFT_KIND("server", struct server, server_opts, "a server");

static const char boxes[] =
    "[server]\nlr = log 0.1 .. 10\n[client]\nlr = log 1e-4 .. 1\nmomentum = 0 .. 1\n"
    "weight_decay = log 1e-5 .. 1e-1\nmu = log 1e-5 .. 1\ndropout = 0 .. 0.5\n"
    "batch = 8 | 16 | 32 | 64 | 128\nepochs = 1 .. 5\n";
/* Order of the axes: that of the option tables. */
enum { NAXIS = 8, FIRST_CLIENT = 1, BATCH = 6, EPOCHS = 7 };

/* How far x lies from the centre, in the measure of the published program. */
static double away(int axis, double x, double centre)
{
    if (axis == BATCH) return log2(x) - log2(centre);
    return axis == 1 || axis == 3 || axis == 4 ? log10(x) - log10(centre) : x - centre;
}

static const double middle[NAXIS] = {2, 1e-2, .5, 1e-3, 1e-2, .25, 32, 3};
static const uint64_t seed = 5;

static void test_reach(const weft_space *space)
{
    const double reach[NAXIS] = {0, .4, .1, .4, .5, .05, 1, 1}; /* as published: eps = .1 */
    int n = 20000;
    double x[NAXIS], least[NAXIS] = {0}, most[NAXIS] = {0}, mean[NAXIS] = {0};
    int down = 0, up = 0;
    for (int i = 1; i <= n; i++) {
        weft_space_perturb(space, middle, .1, seed, i, x);
        for (int a = 0; a < NAXIS; a++) {
            double d = away(a, x[a], middle[a]);
            least[a] = fmin(least[a], d);
            most[a] = worse(most[a], d);
            mean[a] += d / n;
        }
        down += x[EPOCHS] < 3;
        up += x[EPOCHS] > 3;
    }
    for (int a = 0; a < NAXIS; a++) {
        /* all of n uniform draws miss the last 10 / n of the interval with e^-10; the mean
         * has a standard error below reach / sqrt n */
        is_near(least[a], -reach[a], 20 * reach[a] / n, "axis %d goes down so far", a);
        is_near(most[a], reach[a], 20 * reach[a] / n, "axis %d goes up so far", a);
        is_near(mean[a], 0, 5 * reach[a] / sqrt(n), "axis %d goes both ways alike", a);
    }
    /* five standard errors */
    is_near(down, n / 3., 5 * sqrt(n * 2. / 9), "a third of the integers goes down");
    is_near(up, n / 3., 5 * sqrt(n * 2. / 9), "a third goes up");
}

static void test_box(const weft_space *space)
{
    const double corner[NAXIS] = {2, 1, 0, 1e-5, 1, .5, 8, 5};
    double x[NAXIS];
    int inside = 1, ends = 1;
    for (int i = 1; i <= 1000; i++) {
        weft_space_perturb(space, corner, .1, seed, i, x);
        for (int a = 0; a < NAXIS; a++)
            inside &=
                a == BATCH || (x[a] >= space->axis[a].lo && x[a] <= space->axis[a].hi);
        ends &= (x[BATCH] == 8 || x[BATCH] == 16) && (x[EPOCHS] == 4 || x[EPOCHS] == 5);
    }
    ok(inside && ends, "neighbours are clipped to the box");
}

static void test_function(const weft_space *space)
{
    double x[NAXIS], y[NAXIS], z[NAXIS], centre[NAXIS];
    int alike = 1, fixed = 1;
    for (int i = 1; i <= 100; i++) {
        weft_space_perturb(space, middle, .1, seed, i, x);
        weft_space_perturb(space, middle, .1, seed, 101 - i, y);
        weft_space_perturb(space, middle, .1, seed, i, y);
        alike &= memcmp(x, y, sizeof x) == 0;
        fixed &= x[0] == 2;
    }
    ok(alike, "a neighbour is a function of seed, centre and number");
    ok(fixed, "options of other sections stay as the centre has them");
    weft_space_perturb(space, middle, .1, seed, 0, z);
    ok(memcmp(z, middle, sizeof z) == 0, "the first is the centre");
    weft_space_perturb(space, middle, .1, seed + 1, 100, z);
    ok(fabs(z[1] - x[1]) > 0, "another seed gives other neighbours");
    memcpy(centre, middle, sizeof centre);
    centre[0] = 3;
    weft_space_perturb(space, centre, .1, seed, 100, z);
    ok(fabs(z[1] - x[1]) > 0, "and so does another centre");
    weft_space_perturb(space, middle, 0, seed, 9, z);
    double off = 0;
    for (int a = 0; a < NAXIS; a++) off = worse(off, fabs(z[a] / middle[a] - 1));
    is_near(off, 0, 1e-15, "eps = 0 gives the centre");
}

/* Integers on a logarithmic axis move by a factor, to the whole number beyond it. */
static void test_log_integers(void)
{
    weft_space space;
    const weft_kind *const one[] = {&client_kind};
    ok(axes_of(&space, "[client]\nbatch = log 1 .. 100\n", one, 1, 1) == WEFT_OK,
       "a logarithmic axis of integers");
    double centre = 10;
    double x, least = centre, most = centre;
    int whole = 1;
    for (int i = 1; i <= 1000; i++) {
        weft_space_perturb(&space, &centre, .1, seed, i, &x);
        least = fmin(least, x);
        most = worse(most, x);
        whole &= x == round(x);
    }
    ok(whole && least == 6 && most == 16, "10 / 1.58 .. 10 * 1.58 is 6 .. 16");
}

int main(void)
{
    tap_begin();
    weft_space space;
    const weft_kind *const both[] = {&server_kind, &client_kind};
    ok(axes_of(&space, boxes, both, 2, 1) == WEFT_OK && space.dim == NAXIS,
       "the published boxes are read");
    test_reach(&space);
    test_box(&space);
    test_function(&space);
    test_log_integers();
    return tap_end();
}
