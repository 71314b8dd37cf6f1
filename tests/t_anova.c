/* Shares of variance: of trees beside sums over all cells, of functions beside closed forms
 * and Optuna's; divergences of good points beside Optuna's. RUN: np=1 */
#include "tap.h"
#include "weft/math/anova.h"

static double unit_at(int i, int prime)
{
    return fmod((i + 1) * sqrt(prime), 1);
}

static double share_of(const weft_anova *anova, const double *row)
{
    double mean, low, high;
    weft_anova_share(anova, row, &mean, &low, &high, mem);
    return mean;
}

static const double *row_of(const weft_anova *anova, int a, int b)
{
    return a == b ? anova->one + a * anova->ntree
                  : anova->two + weft_anova_pair(a, b) * anova->ntree;
}

/* ---- one tree ---- */

/* x0 <= .25: 4; else a category in {1, 3}: 8, else 0. */
static void test_by_hand(void)
{
    static const int levels[2] = {0, 4};
    int start[2] = {0, 5};
    double value[5] = {0, 4, 0, 8, 0}, x[3] = {-1.5, 0, .25};
    weft_tree_node node[5] = {{.feature = 0, .child = 1},
                              {UINT64_MAX, 0, 1},
                              {.cut = 0xa, .feature = 1, .child = 3},
                              {UINT64_MAX, 0, 3},
                              {UINT64_MAX, 0, 4}};
    for (int i = 0; i < 3; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        node[0].cut = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
        ok(!(weft_trees_cut(node[0].cut) < x[i]) && !(weft_trees_cut(node[0].cut) > x[i]),
           "the number of a cut is %g", x[i]);
    }
    weft_trees trees = {2, 1, levels, start, node, value, NULL};
    weft_anova anova;
    weft_anova_find(&anova, &trees, 1, mem);
    /* the mean is 4 on both sides of the cut, so that x0 is of no use alone */
    is_near(anova.whole[0], 12, 1e-14, "variance of a tree");
    is_near(anova.one[0], 0, 1e-14, "of its number");
    is_near(anova.one[1], 9, 1e-14, "of its category");
    is_near(anova.two[0], 3, 1e-14, "of both together");
    static const double at[4] = {0, .25, .26, 1}, level[4] = {0, 1, 2, 3};
    double curve[4][3];
    node[2].cut = 2;
    weft_anova_curve(&trees, 0, 4, at, curve, mem);
    for (int i = 0; i < 4; i++)
        is_near(curve[i][0], i < 2 ? 4 : 2, 1e-14, "its mean at %g", at[i]);
    weft_anova_curve(&trees, 1, 4, level, curve, mem);
    for (int i = 0; i < 4; i++)
        is_near(curve[i][0], i == 1 ? 7 : 1, 1e-14, "and at level %d", i);
}

enum { DIM = 4, FEW = 14, CELLS = 40 };

/* The middles and widths of the cells of an axis, between all cuts of a tree. */
static int cells_of(const weft_trees *trees, int tree, int axis, double *at, double *width)
{
    double edge[CELLS] = {0, 1};
    int n = 2;
    if (trees->levels[axis] > 0) {
        for (int j = 0; j < trees->levels[axis]; j++) {
            at[j] = j;
            width[j] = 1. / trees->levels[axis];
        }
        return trees->levels[axis];
    }
    for (int i = trees->start[tree]; i < trees->start[tree + 1]; i++)
        if (trees->node[i].child != i && trees->node[i].feature == axis) {
            double cut = weft_trees_cut(trees->node[i].cut);
            int j = n++;
            for (; edge[j - 1] > cut; j--) edge[j] = edge[j - 1];
            edge[j] = cut;
        }
    for (int j = 0; j < n - 1; j++) {
        at[j] = (edge[j] + edge[j + 1]) / 2;
        width[j] = edge[j + 1] - edge[j];
    }
    return n - 1;
}

/* The variance of the mean over all axes but a and b, by sums over all cells. */
static double by_cells(const weft_trees *trees, int tree, int a, int b)
{
    static double sum[CELLS * CELLS], part[CELLS * CELLS];
    double at[DIM][CELLS], width[DIM][CELLS], mean = 0, square = 0, rest;
    int n[DIM], start[2] = {trees->start[tree], trees->start[tree + 1]};
    weft_trees one = {DIM, 1, trees->levels, start, trees->node, trees->value, NULL};
    for (int i = 0; i < DIM; i++) n[i] = cells_of(trees, tree, i, at[i], width[i]);
    memset(sum, 0, sizeof sum);
    memset(part, 0, sizeof part);
    for (int i = 0; i < n[0] * n[1] * n[2] * n[3]; i++) {
        int j[DIM], left = i;
        double x[DIM], value, volume = 1;
        for (int k = 0; k < DIM; k++, left /= n[k - 1]) {
            j[k] = left % n[k];
            x[k] = at[k][j[k]];
            volume *= width[k][j[k]];
        }
        weft_trees_ask(&one, 1, x, &value, &rest, mem);
        sum[j[a] * CELLS + j[b]] += volume * value;
        part[j[a] * CELLS + j[b]] += volume;
        mean += volume * value;
    }
    for (int i = 0; i < CELLS * CELLS; i++)
        if (part[i] > 0) square += sum[i] * sum[i] / part[i];
    return square - mean * mean;
}

/* The mean of a curve over an axis less that of a tree, and the variance along it. */
static void along(const weft_trees *trees, int tree, int axis, double found[2])
{
    double at[CELLS], width[CELLS], curve[CELLS][3], square = 0;
    int start[2] = {trees->start[tree], trees->start[tree + 1]};
    weft_trees one = {DIM, 1, trees->levels, start, trees->node, trees->value, NULL};
    int n = cells_of(trees, tree, axis, at, width);
    weft_anova_curve(&one, axis, n, at, curve, mem);
    found[0] = 0;
    for (int j = 0; j < n; j++) {
        found[0] += width[j] * curve[j][0];
        square += width[j] * curve[j][0] * curve[j][0];
    }
    found[1] = square - found[0] * found[0];
}

static void test_cells(void)
{
    static const int levels[DIM] = {0, 5, 0, 3};
    enum { TREES = 6 };
    double x[FEW * DIM], y[FEW], one = 0, two = 0, largest = 0, curve = 0, mean = 0;
    for (int i = 0; i < FEW; i++) {
        for (int a = 0; a < DIM; a++) {
            double u = unit_at(i, 2 + a + (a > 1));
            x[i * DIM + a] = levels[a] > 0 ? floor(levels[a] * u) : u;
        }
        y[i] = x[i * DIM] * (x[i * DIM + 1] > 2) + sin(9 * x[i * DIM + 2]) * x[i * DIM + 3];
    }
    weft_trees_rule rule = {TREES, DIM, 1};
    weft_trees trees;
    weft_anova anova;
    weft_trees_grow(&trees, &rule, FEW, DIM, levels, x, y, 3, mem);
    weft_anova_find(&anova, &trees, 1, mem);
    for (int t = 0; t < TREES; t++)
        for (int b = 0; b < DIM; b++) {
            double own = by_cells(&trees, t, b, b), found[2], first[2];
            along(&trees, t, b, found);
            along(&trees, t, 0, first);
            curve = worse(curve, fabs(found[1] - own));
            mean = worse(mean, fabs(found[0] - first[0]));
            one = worse(one, fabs(anova.one[b * TREES + t] - own));
            for (int a = 0; a < b; a++) {
                double both = by_cells(&trees, t, a, b) - own - by_cells(&trees, t, a, a);
                double pair = anova.two[weft_anova_pair(a, b) * TREES + t];
                two = worse(two, fabs(pair - fmax(both, 0)));
                largest = fmax(largest, both);
            }
        }
    is_near(one, 0, 1e-13, "variances of single axes are sums over all cells");
    is_near(two, 0, 1e-13, "and so are those of pairs");
    is_near(curve, 0, 1e-13, "curves have these variances");
    is_near(mean, 0, 1e-13, "around one mean");
    ok(largest > .01, "of which some are not 0: %g", largest);
}

/* ---- functions ---- */

enum { ADDED, PRODUCT, MIXED, NFUNCTION, NUMBERS = 3 };

static double function_at(int function, const double *x)
{
    if (function == ADDED) return 3 * x[0] + 2 * x[1];
    if (function == PRODUCT) return x[0] * x[1];
    return (x[0] - .5) * (x[2] > .3) + .2 * x[1];
}

static weft_anova anova_of(int function, int n, uint64_t seed, weft_trees *trees)
{
    static const int levels[NUMBERS] = {0}, prime[NUMBERS] = {2, 3, 5};
    double *x = WEFT_NEW(mem, double, n *NUMBERS), *y = WEFT_NEW(mem, double, n);
    for (int i = 0; i < n; i++) {
        for (int a = 0; a < NUMBERS; a++) x[i * NUMBERS + a] = unit_at(i, prime[a]);
        y[i] = function_at(function, x + i * NUMBERS);
    }
    weft_trees_rule rule = {64, NUMBERS, 1};
    weft_anova anova;
    weft_trees_grow(trees, &rule, n, NUMBERS, levels, x, y, seed, mem);
    weft_anova_find(&anova, trees, 1, mem);
    return anova;
}

static void test_closed_forms(void)
{
    weft_trees trees;
    weft_anova added = anova_of(ADDED, 2000, 1, &trees);
    is_near(share_of(&added, row_of(&added, 0, 0)), 9. / 13, .01, "3 x + 2 y: x has 9/13");
    is_near(share_of(&added, row_of(&added, 1, 1)), 4. / 13, .01, "y 4/13");
    is_near(share_of(&added, row_of(&added, 2, 2)), 0, .002, "z nothing");
    is_near(share_of(&added, row_of(&added, 0, 1)), 0, .01, "nor x and y together");
    static const double at[3] = {.1, .5, .9};
    double curve[3][3];
    weft_anova_curve(&trees, 0, 3, at, curve, mem);
    for (int i = 0; i < 3; i++) {
        is_near(curve[i][0], 3 * at[i] + 1, .05, "at x = %g the mean is 3 x + 1", at[i]);
        ok(curve[i][1] < curve[i][0] && curve[i][0] < curve[i][2] &&
               curve[i][2] < curve[i][1] + .1,
           "between %.3f and %.3f of trees", curve[i][1], curve[i][2]);
    }
    weft_anova product = anova_of(PRODUCT, 2000, 1, &trees);
    is_near(share_of(&product, row_of(&product, 0, 0)), 3. / 7, .015, "x y: x has 3/7");
    is_near(share_of(&product, row_of(&product, 1, 1)), 3. / 7, .015, "y 3/7");
    is_near(share_of(&product, row_of(&product, 0, 1)), 1. / 7, .015, "both 1/7");
    digest(weft_hash(product.two, 3 * 64 * sizeof *product.two, 0));
}

/* Means over forests are Optuna's, but for what single forests differ by there. */
static void test_optuna(FILE *gold)
{
    enum { FORESTS = 8 };
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int function = 0; function < NFUNCTION; function++) {
        double own[6] = {0}, off = 0;
        for (uint64_t seed = 0; seed < FORESTS; seed++) {
            weft_trees trees;
            weft_anova anova = anova_of(function, 120, seed, &trees);
            for (int i = 0; i < 6; i++)
                own[i] +=
                    share_of(&anova, row_of(&anova, pair[i][0], pair[i][1])) / FORESTS;
        }
        for (int i = 0; i < 6; i++) {
            double mean, sd;
            weft_check(fscanf(gold, "%lf %lf", &mean, &sd) == 2, "anova.txt is too short");
            off = worse(off, fabs(own[i] - mean) / (sd + .005));
        }
        ok(off < 2, "function %d: shares are Optuna's within %.2f of its spread", function,
           off);
    }
}

/* ---- explained, and limits ---- */

static void test_unseen(void)
{
    enum { N = 60, TREES = 40 };
    static const int levels[1] = {0};
    double x[N], y[N], mean[N], one[N];
    for (int i = 0; i < N; i++) {
        x[i] = unit_at(i, 2);
        y[i] = 3 * x[i];
    }
    weft_trees_rule rule = {TREES, 1, 1}, single = {1, 1, 1};
    weft_trees trees;
    weft_trees_grow(&trees, &rule, N, 1, levels, x, y, 5, mem);
    weft_trees_unseen(&trees, N, x, 5, mean, mem);
    double off = 0, seen = 0;
    int missing = 0;
    for (int i = 0; i < N; i++) {
        double among, spread;
        weft_trees_ask(&trees, 1, x + i, &among, &spread, mem);
        off = worse(off, fabs(mean[i] - y[i]));
        seen += fabs(mean[i] - y[i]) - fabs(among - y[i]);
    }
    ok(off < .4, "points are predicted by trees without them, to %.2f of 3", off);
    ok(seen > 0, "which is harder than by all");
    weft_trees_grow(&trees, &single, N, 1, levels, x, y, 5, mem);
    weft_trees_unseen(&trees, N, x, 5, one, mem);
    for (int i = 0; i < N; i++) {
        double own = NAN, spread;
        weft_trees_ask(&trees, 1, x + i, &own, &spread, mem);
        missing += isnan(one[i]);
        if (!isnan(one[i])) seen = worse(0, fabs(own - one[i]));
    }
    ok(missing > N / 2 && missing < 3 * N / 4,
       "by one tree, those that it was not grown on: %d of 60 were drawn", missing);
    is_near(seen, 0, 1e-15, "by its leaves");
}

static void test_constant(void)
{
    static const int levels[1] = {0};
    double x[3] = {.1, .5, .9}, y[3] = {2, 2, 2}, mean, low, high;
    weft_trees_rule rule = {4, 1, 1};
    weft_trees trees;
    weft_anova anova;
    weft_trees_grow(&trees, &rule, 3, 1, levels, x, y, 0, mem);
    weft_anova_find(&anova, &trees, 1, mem);
    ok(weft_anova_share(&anova, anova.one, &mean, &low, &high, mem) == 0 && isnan(mean) &&
           isnan(low) && isnan(high),
       "a constant has no shares");
    anova.whole[2] = 4;
    anova.one[2] = 1;
    ok(weft_anova_share(&anova, anova.one, &mean, &low, &high, mem) == 1,
       "trees without a variance do not count");
    is_near(mean, .25, 0, "in the mean");
    double whole[41], one[41];
    for (int t = 0; t < 41; t++) {
        whole[t] = 2;
        one[t] = t * 11 % 41;
    }
    weft_anova many = {.dim = 1, .ntree = 41, .whole = whole, .one = one};
    weft_anova_share(&many, one, &mean, &low, &high, mem);
    is_near(low, 1, 0, "of 41 trees two are below the lower end");
    is_near(high, 19, 0, "and two above the upper");
}

/* ---- good points ---- */

enum { MANY = 200, PLACES = 50 };

static void test_good(FILE *gold)
{
    static const char *const name[] = {"real", "whole", "word", "last", "half"};
    static const int steps[] = {PLACES, 10, 4, PLACES, PLACES}, prime[] = {2, 3, 5, 7, 11};
    double u[5][MANY], y[MANY];
    char good[MANY];
    for (int i = 0; i < MANY; i++) {
        for (int a = 0; a < 5; a++) u[a][i] = unit_at(i, prime[a]);
        y[i] = (u[0][i] - .3) * (u[0][i] - .3) + .2 * (u[1][i] - .8) * (u[1][i] - .8) +
               .1 * (floor(4 * u[2][i]) > 1 && u[2][i] < .75) + .05 * u[3][i];
    }
    for (int i = 0; i < MANY; i++) {
        int before = 0;
        for (int j = 0; j < MANY; j++) before += y[j] < y[i];
        good[i] = before < MANY / 10;
    }
    for (int a = 0; a < 5; a++) {
        int place[MANY];
        double want;
        for (int i = 0; i < MANY; i++) {
            double at = a == 4 ? 2 * u[a][i] : u[a][i];
            place[i] = steps[a] < PLACES ? (int)(steps[a] * at)
                                         : (int)ceil(at * (PLACES - 1) - .5);
            if (at >= 1) place[i] = -1;
        }
        weft_check(fscanf(gold, "%lf", &want) == 1, "anova.txt is too short");
        double own = weft_anova_good(MANY, place, good, steps[a], a == 2, mem);
        is_near(own / want, 1, 1e-7, "the divergence of a %s is Optuna's", name[a]);
    }
}

static void test_few_good(void)
{
    int place[4] = {0, 1, 2, -1}, lone[4] = {-1, 2, -1, -1};
    char none[4] = {0}, last[4] = {0, 0, 0, 1}, all[4] = {1, 1, 1, 1};
    is_near(weft_anova_good(4, place, none, 3, 0, mem), 0, 0, "without good ones nothing");
    is_near(weft_anova_good(4, place, last, 3, 0, mem), 0, 0, "nor if none has it");
    is_near(weft_anova_good(4, lone, all, 3, 0, mem), 0, 0, "nor if one point has it");
    is_near(weft_anova_good(3, place, all, 3, 1, mem), 0, 1e-15, "nor if all are good");
}

int main(void)
{
    tap_begin();
    FILE *gold = gold_of("anova.txt");
    test_by_hand();
    test_cells();
    test_closed_forms();
    test_optuna(gold);
    test_good(gold);
    fclose(gold);
    test_unseen();
    test_constant();
    test_few_good();
    return tap_end();
}
