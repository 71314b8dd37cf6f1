/* Gaussian processes: evidence and predictions beside scikit-learn's, expected improvement
 * beside mpmath's (tests/gold/gauss.py), derivatives by finite differences, points added
 * one by one, the minimiser in a box, and fits. RUN: np=1 */
#include "sampler/gauss.h"
#include "tap.h"

enum { N = 23, DIM = 4, ASKED = 5, SETS = 2 };
static const int levels[DIM] = {0, 0, 0, 3};

static double part(double x)
{
    return x - floor(x);
}

/* Point i of gold/gauss.py. */
static void gauss_point(int i, double *x)
{
    x[0] = part(0.37 + 0.618033988749895 * i);
    x[1] = part(0.11 + 0.7548776662466927 * i);
    x[2] = i % 5 == 2 ? (double)NAN : part(0.59 + 0.5698402909980532 * i);
    x[3] = i % 4 == 3 ? (double)NAN : i % 4;
}

static double gauss_value(int i)
{
    static const double by[4] = {0.3, -0.2, 0.5, 0};
    double x[DIM];
    gauss_point(i, x);
    return sin(5 * x[0]) + x[1] * x[1] - (isnan(x[2]) ? 0 : x[2]) + by[i % 4] * x[0];
}

static void gauss_data(double *x, double *y)
{
    for (int i = 0; i < N; i++) {
        gauss_point(i, x + DIM * i);
        y[i] = gauss_value(i);
    }
}

static weft_gauss *process_of(const double *theta, double *x, double *y)
{
    weft_gauss *gauss = WEFT_NEW(mem, weft_gauss, 1);
    gauss_data(x, y);
    weft_gauss_setup(gauss, DIM, 0, levels, weft_arena_within(mem));
    weft_gauss_set(gauss, theta);
    for (int i = 0; i < N; i++) weft_gauss_add(gauss, x + DIM * i);
    weft_gauss_learn(gauss, N, y, mem);
    return gauss;
}

/* ---- the same with learning curves ---- */

enum { WIDE = DIM + 1, THETA = DIM + 7 };
static const double slow[THETA] = {-1, 0.3, -0.5, 0.2, 0.4, -5, 0.3, -1.5, -0.8, 0.1, 0.6};

static void curve_data(double *x, double *y)
{
    static const double resource[3] = {1. / 9, 1. / 3, 1};
    for (int i = 0; i < N; i++) {
        gauss_point(i, x + WIDE * i);
        x[WIDE * i + DIM] = resource[i % 3];
        y[i] = gauss_value(i) + .5 * exp(-3 * resource[i % 3]);
    }
}

static void curve_point(int i, double *x)
{
    static const double later[ASKED] = {.05, 1. / 3, 1, 1, 2};
    gauss_point(i + 100, x);
    x[DIM] = later[i];
}

static weft_gauss *curves_of(const double *theta, double *x, double *y)
{
    weft_gauss *gauss = WEFT_NEW(mem, weft_gauss, 1);
    curve_data(x, y);
    weft_gauss_setup(gauss, DIM, 1, levels, weft_arena_within(mem));
    weft_gauss_set(gauss, theta);
    for (int i = 0; i < N; i++) weft_gauss_add(gauss, x + WIDE * i);
    weft_gauss_learn(gauss, N, y, mem);
    return gauss;
}

/* What gauss.h says that the priors add. */
static double penalty(int dim, const double *theta)
{
    double sum = 0, usual = -0.7;
    for (int a = 0; a < dim; a++) sum += (theta[a] - usual) * (theta[a] - usual) / 2;
    sum += theta[dim] * theta[dim] / 4.5;
    return sum + (theta[dim + 1] + 9) * (theta[dim + 1] + 9) / 18;
}

static double curve_penalty(int dim, const double *theta)
{
    static const double mean[5] = {0, -2.3, -1.4, 0, 0}, of[5] = {1, 2.25, 2.25, 2.25, .25};
    double sum = penalty(dim, theta);
    for (int a = 0; a < 5; a++) {
        double off = theta[dim + 2 + a] - mean[a];
        sum += off * off / (2 * of[a]);
    }
    return sum;
}

/* ---- beside other programs ---- */

static void beside_asked(FILE *gold, const double *theta)
{
    double x[N * DIM], y[N], points[ASKED * DIM], mean[ASKED], variance[ASKED], off = 0;
    weft_gauss *gauss = process_of(theta, x, y);
    for (int i = 0; i < ASKED; i++) gauss_point(i + 100, points + DIM * i);
    weft_gauss_ask(gauss, ASKED, points, mean, variance, mem);
    for (int i = 0; i < ASKED; i++) {
        double m, v;
        must(fscanf(gold, " ask %lf %lf", &m, &v) == 2 ? WEFT_OK : WEFT_ECONF);
        off = worse(off, fabs(mean[i] - m));
        off = worse(off, fabs(variance[i] - v));
    }
    is_near(off, 0, 1e-11, "means and variances beside scikit-learn");
}

static void test_gold(void)
{
    FILE *gold = gold_of("gauss.txt");
    double t[DIM + 2], value, x[N * DIM], y[N], slope[DIM + 2], off = 0, steep = 0, z, to;
    gauss_data(x, y);
    weft_gauss_data data = {DIM, 0, levels, N, x, y};
    for (int s = 0; s < SETS; s++) {
        int n = fscanf(gold, " fit %lf %lf %lf %lf %lf %lf %lf", t, t + 1, t + 2, t + 3,
                       t + 4, t + 5, &value);
        weft_check(n == 7, "gauss.txt");
        double own = weft_gauss_evidence(&data, t, slope, mem);
        is_near(own, value + penalty(DIM, t), 1e-10, "evidence beside scikit-learn, %d", s);
        beside_asked(gold, t);
    }
    int rows = 0;
    for (; fscanf(gold, " gain %lf %lf %lf", &z, &value, &to) == 3; rows++) {
        double own, gain = weft_gauss_gain(z, &own);
        off = worse(off, fabs(gain - value) / fmax(1, fabs(value)));
        steep = worse(steep, fabs(own / to - 1));
    }
    fclose(gold);
    ok(rows == 12, "all rows are read: %d", rows);
    is_near(off, 0, 1e-13, "log expected improvement beside mpmath");
    is_near(steep, 0, 1e-12, "and its derivative");
}

static void test_curves(void)
{
    FILE *gold = gold_of("gauss.txt");
    double t[THETA], value, x[N * WIDE], y[N], slope[THETA], m, v, off = 0;
    double points[ASKED * WIDE], mean[ASKED], variance[ASKED];
    char line[512];
    int sets = 0, asked = 0;
    curve_data(x, y);
    weft_gauss_data data = {DIM, 1, levels, N, x, y};
    for (int i = 0; i < ASKED; i++) curve_point(i, points + WIDE * i);
    while (fgets(line, sizeof line, gold)) {
        if (sscanf(line, "curve %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", t, t + 1,
                   t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10,
                   &value) == THETA + 1) {
            double own = weft_gauss_evidence(&data, t, slope, mem);
            is_near(own, value + curve_penalty(DIM, t), 1e-9, "curves: evidence, %d",
                    sets++);
            weft_gauss_ask(curves_of(t, x, y), ASKED, points, mean, variance, mem);
            asked = 0;
        } else if (sscanf(line, "at %lf %lf", &m, &v) == 2) {
            off = worse(off, fabs(mean[asked] - m) + fabs(variance[asked] - v));
            asked++;
        }
    }
    fclose(gold);
    ok(sets == SETS && asked == ASKED, "all rows are read: %d, %d", sets, asked);
    is_near(off, 0, 1e-10, "curves: means and variances beside quadrature");
}

/* ---- derivatives ---- */

static const double usual[DIM + 2] = {-1, 0.3, -0.5, 0.2, 0.4, -5};

/* Of all elements of theta[size], by differences. */
static double slopes_off(const weft_gauss_data *data, int size, const double *theta)
{
    double t[THETA], slope[THETA], none[THETA], off = 0, h = 1e-5;
    memcpy(t, theta, (size_t)size * sizeof *t);
    weft_gauss_evidence(data, t, slope, mem);
    for (int a = 0; a < size; a++) {
        t[a] = theta[a] + h;
        double up = weft_gauss_evidence(data, t, none, mem);
        t[a] = theta[a] - h;
        double down = weft_gauss_evidence(data, t, none, mem);
        t[a] = theta[a];
        off = worse(off, fabs((up - down) / (2 * h) - slope[a]) / (1 + fabs(slope[a])));
    }
    return off;
}

static void test_evidence_slopes(void)
{
    double x[N * WIDE], y[N];
    gauss_data(x, y);
    weft_gauss_data data = {DIM, 0, levels, N, x, y};
    is_near(slopes_off(&data, DIM + 2, usual), 0, 1e-7, "derivatives of the evidence");
    curve_data(x, y);
    data.curves = 1;
    is_near(slopes_off(&data, THETA, slow), 0, 1e-7, "with curves");
}

/* The largest difference of slope[2][DIM] at a point and differences of mean and variance.
 */
static double position_slopes_off(const weft_gauss *gauss, const double *at,
                                  const double *slope)
{
    double near[2 * WIDE], m[2], v[2], off = 0, h = 1e-6;
    size_t width = (size_t)gauss->width;
    for (int a = 0; a < 3 && !isnan(at[a]); a++) {
        memcpy(near, at, width * sizeof *at);
        memcpy(near + width, at, width * sizeof *at);
        near[a] += h;
        near[width + (size_t)a] -= h;
        weft_gauss_ask(gauss, 2, near, m, v, mem);
        off = worse(off, fabs((m[0] - m[1]) / (2 * h) - slope[a]));
        off = worse(off, fabs((v[0] - v[1]) / (2 * h) - slope[DIM + a]));
    }
    return off;
}

/* Positions move a curve's mean and variance as its derivatives say, at any resource. */
static void test_curve_slopes(void)
{
    double x[N * WIDE], y[N], mean, variance, slope[2 * DIM], off = 0;
    weft_gauss *gauss = curves_of(slow, x, y);
    for (int i = 0; i < ASKED; i++) {
        double at[WIDE];
        curve_point(i, at);
        weft_gauss_slopes(gauss, at, &mean, &variance, slope, mem);
        off = worse(off, position_slopes_off(gauss, at, slope));
    }
    is_near(off, 0, 1e-7, "derivatives of means and variances of curves");
}

static void test_slopes(void)
{
    double x[N * DIM], y[N], mean, variance, slope[2 * DIM], m[2], v[2], off = 0;
    weft_gauss *gauss = process_of(usual, x, y);
    int still = 1;
    for (int i = 0; i < 8; i++) {
        double at[DIM];
        gauss_point(50 + i, at);
        weft_gauss_slopes(gauss, at, &mean, &variance, slope, mem);
        weft_gauss_ask(gauss, 1, at, m, v, mem);
        off = worse(off, fabs(mean - m[0]) + fabs(variance - v[0]));
        still &= !(fabs(slope[3]) > 0) && !(fabs(slope[DIM + 3]) > 0);
        still &= !isnan(at[2]) || !(fabs(slope[2]) > 0);
        off = worse(off, position_slopes_off(gauss, at, slope));
    }
    is_near(off, 0, 1e-7, "derivatives of means and variances");
    ok(still, "categories and axes that are not there have none");
    double z = -4, one, two, low = weft_gauss_gain(z - 1e-9, &one);
    is_near(weft_gauss_gain(z + 1e-9, &two) - low, 2e-9 * one, 1e-12,
            "no step where the formulas of the gain meet");
}

/* ---- points ---- */

static void test_points(void)
{
    double x[N * DIM], y[N], own[N];
    weft_gauss *all = process_of(usual, x, y), *again = process_of(usual, x, y);
    int same = 1;
    weft_gauss_keep(again, 7);
    weft_gauss_add(again, x);
    weft_gauss_keep(again, 7);
    for (int i = 7; i < N; i++) weft_gauss_add(again, x + DIM * i);
    for (int i = 0; i < N * (N + 1) / 2; i++)
        same &= memcmp(all->root + i, again->root + i, sizeof *all->root) == 0;
    ok(same && again->n == N, "points that come one by one give the same bits");
    double mean[3], variance[3], old[3], more[3];
    weft_gauss_keep(again, 20);
    memcpy(own, y, sizeof y);
    weft_gauss_learn(again, 20, own, mem);
    weft_gauss_ask(again, 3, x + 20 * DIM, old, more, mem);
    for (int i = 20; i < N; i++) weft_gauss_add(again, x + DIM * i);
    weft_gauss_learn(again, 20, own, mem);
    weft_gauss_ask(again, 3, x + 20 * DIM, mean, variance, mem);
    double off = 0;
    int less = 1;
    for (int i = 0; i < 3; i++) {
        off = worse(off, fabs(mean[i] - old[i]) + fabs(own[20 + i] - old[i]));
        less &= variance[i] < more[i] / 4;
    }
    is_near(off, 0, 1e-12, "what is believed is what was predicted, and moves no mean");
    ok(less, "but lowers the variance");
    weft_gauss_keep(again, 0);
    for (int i = 0; i < 3; i++) weft_gauss_add(again, x);
    weft_gauss_learn(again, 3, own, mem);
    weft_gauss_ask(again, 1, x, mean, variance, mem);
    double noise = exp(usual[5]), signal = exp(usual[4]);
    is_near(variance[0], signal * noise / (noise + 3 * signal), 1e-13,
            "three results at one point: the closed form");
}

/* Points of curves that are kept give the bits of those that are added anew, though the
 * resources come in another order at first. */
static void test_curve_points(void)
{
    double x[N * WIDE], y[N], mean[2], variance[2];
    weft_gauss *all = curves_of(slow, x, y), *again = curves_of(slow, x, y);
    for (int keep = 0; keep < 4; keep++) {
        weft_gauss_keep(again, keep);
        weft_gauss_add(again, x + WIDE * (N - 1 - keep));
        weft_gauss_keep(again, keep);
        for (int i = keep; i < N; i++) weft_gauss_add(again, x + WIDE * i);
        weft_gauss_learn(again, N, y, mem);
        weft_gauss_ask(all, 1, x, mean, variance, mem);
        weft_gauss_ask(again, 1, x, mean + 1, variance + 1, mem);
        size_t size = sizeof *all->root * N * (N + 1) / 2;
        ok(memcmp(all->root, again->root, size) == 0 && all->nkind == again->nkind &&
               memcmp(mean, mean + 1, sizeof *mean) == 0 &&
               memcmp(variance, variance + 1, sizeof *mean) == 0,
           "curves: %d points stay, and others come, with the same bits", keep);
    }
}

/* ---- the minimiser ---- */

/* Rosenbrock's of two axes and a slope in a third. */
static double valley(void *own, const double *x, double *slope)
{
    double a = 1 - x[0], b = x[1] - x[0] * x[0];
    ++*(int *)own;
    slope[0] = -2 * a - 400 * x[0] * b;
    slope[1] = 200 * b;
    slope[2] = 1;
    return a * a + 100 * b * b + x[2];
}

static void test_box(void)
{
    const double lo[3] = {-2, -1, -3}, wide[3] = {2, 2, 4}, tight[3] = {.5, 2, 4};
    int calls = 0;
    double x[3] = {-9, 1.5, 0};
    weft_box box = {3, lo, wide, valley, &calls, 200, 0};
    double least = weft_box_lower(&box, x, mem);
    is_near(least, -3, 1e-12, "the least value in a box");
    ok(fabs(x[0] - 1) < 1e-5 && fabs(x[1] - 1) < 1e-5 && x[2] <= -3,
       "where it is, at one bound");
    ok(calls < 120, "in %d calls", calls);
    box.hi = tight;
    least = weft_box_lower(&box, x, mem);
    is_near(least, .25 - 3, 1e-10, "at two bounds");
    is_near(x[1], .25, 1e-6, "the free variable has its best value");
    box.most = 0;
    x[0] = -1.2;
    x[1] = 1;
    is_near(weft_box_lower(&box, x, mem), 24.2 - 3, 1e-12, "no step, no move");
}

/* ---- fits ---- */

static void test_fit(void)
{
    enum { MANY = 60, AXES = 3 };
    static const int numbers[AXES] = {0, 0, 0};
    double x[MANY * AXES], y[MANY], theta[AXES + 2], again[AXES + 2], slope[AXES + 2];
    for (int i = 0; i < MANY; i++) {
        for (int a = 0; a < AXES; a++) x[AXES * i + a] = uniform_of(3, i, a);
        y[i] = 2 * sin(6 * x[AXES * i]) + x[AXES * i + 1] + .1 * normal_of(4, i, 0, 0);
    }
    weft_gauss_data data = {AXES, 0, numbers, MANY, x, y};
    weft_gauss_fit(&data, 5, theta, mem);
    weft_gauss_fit(&data, 5, again, mem);
    ok(memcmp(theta, again, sizeof theta) == 0, "a fit is repeated");
    ok(theta[0] < theta[1] && theta[1] < theta[2], "lengths: %.2g, %.2g, %.2g",
       exp(theta[0]), exp(theta[1]), exp(theta[2]));
    is_near(exp(theta[4] / 2), .1, .03, "the deviation of the noise is learnt");
    double at = weft_gauss_evidence(&data, theta, slope, mem);
    double steep = 0;
    for (int a = 0; a < AXES + 2; a++) steep = worse(steep, fabs(slope[a]));
    is_near(steep, 0, .05, "its derivatives vanish");
    static const double other[AXES + 2] = {-.7, .7, 1.5, 0, -5};
    ok(at <= weft_gauss_evidence(&data, other, slope, mem), "others are less likely");
}

/* A minimum inside of the box, by a slanted parabola. */
static double slanted(void *own, const double *u, double *slope)
{
    double a = u[0] - .3, b = u[1] - .6;
    (void)own;
    slope[0] = 2 * a + b;
    slope[1] = 2 * b + a;
    return a * a + b * b + a * b;
}

static void test_corners(void)
{
    static const double lo[2] = {0, 0}, hi[2] = {1, 1};
    weft_box box = {2, lo, hi, slanted, NULL, 60, 1e-12};
    for (int corner = 0; corner < 4; corner++) {
        double u[2] = {corner % 2, corner / 2};
        weft_box_lower(&box, u, mem);
        ok(hypot(u[0] - .3, u[1] - .6) < 1e-5, "from corner %d to the minimum inside",
           corner);
    }
}

static double unlikely(void *own, const double *theta, double *slope)
{
    return weft_gauss_evidence(own, theta, slope, mem);
}

/* A fit is the best of its starts, of which the first is at the means of the priors. */
static void test_starts(void)
{
    enum { FEW = 16, SIZE = 3 };
    static const int number[1] = {0};
    static const double lo[SIZE] = {-4, -4, -25}, hi[SIZE] = {6, 6, 0};
    double x[FEW], y[FEW], slope[SIZE];
    int no_worse = 1;
    for (int set = 0; set < 40; set++) {
        for (int i = 0; i < FEW; i++) {
            x[i] = (i + .5) / FEW;
            y[i] = sin((set + 1) * x[i]) + .5 * normal_of(7, set, i, 0);
        }
        weft_gauss_data data = {1, 0, number, FEW, x, y};
        weft_box box = {SIZE, lo, hi, unlikely, &data, 50, 1e-4};
        double theta[SIZE], own[SIZE] = {-.7, 0, -9};
        weft_gauss_fit(&data, (uint64_t)set, theta, mem);
        double first = weft_box_lower(&box, own, mem);
        no_worse &= weft_gauss_evidence(&data, theta, slope, mem) <= first + 1e-9;
    }
    ok(no_worse, "40 fits are no worse than from the means of the priors");
}

MAIN(alone, test_gold, test_curves, test_evidence_slopes, test_slopes, test_curve_slopes,
     test_points, test_curve_points, test_box, test_fit, test_corners, test_starts)
