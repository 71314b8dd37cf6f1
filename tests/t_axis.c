/* One axis of a search space: positions of values, steps from one value to the next, draws.
 * RUN: np=1 */
#include "space/axes.h"
#include "two_kinds.h"

static weft_space all_kinds(void)
{
    weft_space space;
    ok(read_space(
           &space,
           "[map]\nmethod = remove | treebank\norder = 1 .. 4\nalpha = log 1e-2 .. 1\n"
           "[model]\nC = 0 .. 4\nsteps = log 1 .. 100\nalpha = 1 | 0.1 | 10\n",
           1) == WEFT_OK &&
           space.dim == 6,
       "axes of every kind");
    return space;
}

static void test_units(void)
{
    weft_space space = all_kinds();
    const weft_axis *cut = &space.axis[0], *order = &space.axis[1], *alpha = &space.axis[2],
                    *axis = &space.axis[3], *steps = &space.axis[4];
    is_near(weft_axis_unit(axis, 1), .25, 0, "a number lies between the ends");
    is_near(weft_axis_value(axis, .75), 3, 0, "and back");
    is_near(weft_axis_unit(alpha, .1), .5, 1e-15, "log axes: by its logarithm");
    is_near(weft_axis_value(alpha, .5), .1, 1e-16, "and back");
    is_near(weft_axis_unit(order, 1), .125, 0, "an integer in the middle of its interval");
    ok(weft_axis_value(order, .24) == 1 && weft_axis_value(order, .26) == 2 &&
           weft_axis_value(order, 0) == 1 && weft_axis_value(order, 1) == 4,
       "which is that of 1/2 below and above");
    is_near(weft_axis_unit(steps, 10), log(20) / log(201), 1e-15, "log integers alike");
    is_near(weft_axis_unit(cut, 2), .75, 0, "of two choices the second");
    int back = 1, inside = 1;
    for (int a = 0; a < space.dim; a++)
        for (int i = 0; i <= 1000; i++) {
            double v = weft_axis_value(&space.axis[a], i / 1000.);
            double u = weft_axis_unit(&space.axis[a], v);
            back &= fabs(weft_axis_value(&space.axis[a], u) - v) <= 1e-14 * v;
            inside &= u >= 0 && u <= 1 && v == fmin(fmax(v, space.axis[a].lo), INFINITY);
        }
    ok(back && inside, "every value comes back");
}

static void test_axis_steps(void)
{
    weft_space space = all_kinds();
    const weft_axis *cut = &space.axis[0], *order = &space.axis[1], *axis = &space.axis[3],
                    *listed = &space.axis[5];
    ok(weft_axis_is_ordered(listed) && weft_axis_is_ordered(order) &&
           !weft_axis_is_ordered(cut),
       "numbers have an order, choices have not");
    weft_opt word = {.type = WEFT_WORDS};
    ok(!weft_axis_is_ordered(&(weft_axis){.opt = &word, .nvalue = 3}),
       "nor have words, such as the values of a program's parameter");
    ok(weft_axis_step(listed, 1, 1) == 10 && weft_axis_step(listed, 1, 0) == .1 &&
           weft_axis_step(listed, 10, 1) == 10 && weft_axis_step(listed, .1, 0) == .1,
       "steps on a list go by value, up to its ends");
    ok(weft_axis_step(order, 3, 1) == 4 && weft_axis_step(order, 4, 1) == 4 &&
           weft_axis_step(order, 1, 0) == 1 && weft_axis_step(axis, 2, 1) == 2,
       "on integers to the next; on real axes there are none");
    double conf[6];
    int same = 1;
    for (int i = 0; i < 100; i++) {
        weft_space_config(&space, i, conf);
        for (int a = 0; a < space.dim; a++) {
            weft_rng4 rng = weft_rng_at(space.seed, WEFT_RNG_SPACE, (uint64_t)i,
                                        weft_axis_key(&space.axis[a]), 0);
            same &= weft_space_resample(&space, a, weft_rng_unit(rng.v[0])) == conf[a];
        }
    }
    ok(same, "an axis alone is drawn as in a configuration");
}

/* The points at 0, 1/4 .. 1 of an axis whose ends have a ratio or a difference that no
 * double holds are point[5], by each function. */
static void test_wide(const char *name, const weft_axis *axis, const double *point)
{
    int drawn = 1, grid = 1, unit = 1, value = 1, near = 1;
    for (int i = 0; i < 5; i++) {
        double u = i / 4., most = fabs(point[i]) * 1e-12;
        drawn &= fabs(weft_axis_draw(axis, u) - point[i]) <= most;
        grid &= fabs(weft_axis_point(axis, i, 5) - point[i]) <= most;
        value &= fabs(weft_axis_value(axis, u) - point[i]) <= most;
        unit &= fabs(weft_axis_unit(axis, point[i]) - u) < 1e-12;
        near &= fabs(weft_axis_near(axis, point[2], 0.5, u) - point[i]) <= most;
        near &= fabs(weft_axis_near(axis, point[i], 0, u) - point[i]) <= most;
        double clipped = weft_axis_near(axis, point[i], 1, 0.999);
        near &= i == 0 || fabs(clipped - axis->hi) <= axis->hi * 1e-12;
    }
    ok(drawn, "%s: draws", name);
    ok(grid, "%s: points of a grid", name);
    ok(value, "%s: values of positions", name);
    ok(unit, "%s: positions of values", name);
    ok(near, "%s: neighbours", name);
}

static void test_all_wide(void)
{
    const weft_opt number = {.type = WEFT_REAL};
    const double from_0[] = {-1.5e308, -.75e308, 0, .75e308, 1.5e308},
                 log_10[] = {1e-200, 1e-100, 1, 1e100, 1e200},
                 wide_up[] = {1e-150, 1e-75, 1, 1e75, 1e150};
    test_wide("-1.5e308 .. 1.5e308",
              &(weft_axis){.opt = &number, .lo = -1.5e308, .hi = 1.5e308}, from_0);
    test_wide("log 1e-200 .. 1e200",
              &(weft_axis){.opt = &number, .lo = 1e-200, .hi = 1e200, .log = 1}, log_10);
    test_wide("log 1e-150 .. 1e150, a ratio that is finite",
              &(weft_axis){.opt = &number, .lo = 1e-150, .hi = 1e150, .log = 1}, wide_up);
    const weft_axis listed = {
        .opt = &number, .nvalue = 3, .value = (double[]){-1.5e308, 1.5e308, 1e308}};
    ok(weft_axis_step(&listed, -1.5e308, 1) == 1e308 &&
           weft_axis_step(&listed, 1e308, 0) == -1.5e308,
       "steps on a list as wide go to the next");
}

MAIN(alone, test_units, test_axis_steps, test_all_wide)
