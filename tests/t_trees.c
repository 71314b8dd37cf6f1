/* Random forests: against scikit-learn's, and their splits of numbers and of categories.
 * RUN: np=1 */
#include "functions.h"
#include "sampler/forest.h"

static double unit_at(uint64_t i, int word)
{
    return weft_rng_unit(weft_rng_at(11, WEFT_RNG_TEST, i, 0, 0).v[word]);
}

static void test_variance(void)
{
    static const int levels[1] = {0};
    int start[4] = {0, 1, 2, 3};
    double value[3] = {.2, .3, .7}, mean, variance;
    double x = 0;
    weft_tree_node node[3] = {{UINT64_MAX, 0, 0}, {UINT64_MAX, 0, 1}, {UINT64_MAX, 0, 2}};
    weft_trees trees = {1, 3, levels, start, node, value, NULL};
    weft_trees_ask(&trees, 1, &x, &mean, &variance, mem);
    is_near(mean, .4, 1e-15, "mean of trees");
    is_near(variance, .07, 1e-15, "their sample variance");
}

/* A point counts once more in its leaf of each tree, with the mean of 0.4. */
static void test_add(void)
{
    static const int levels[1] = {0};
    int start[4] = {0, 1, 2, 3}, count[3] = {1, 1, 3};
    double value[3] = {.2, .3, .7}, x = 0;
    weft_tree_node node[3] = {{UINT64_MAX, 0, 0}, {UINT64_MAX, 0, 1}, {UINT64_MAX, 0, 2}};
    weft_trees trees = {1, 3, levels, start, node, value, count};
    weft_trees_add(&trees, &x, mem);
    is_near(value[0], .3, 1e-15, "a leaf of one moves half the way to the mean");
    is_near(value[2], .625, 1e-15, "one of three a quarter");
    weft_trees_add(&trees, &x, mem);
    is_near(value[0], .3 + .125 / 3, 1e-15, "another point moves it by a third");
}

enum { POINTS = 600, LEARNT = 300, DIM = 10 };

/* Friedman's first function on points of Kronecker's sequences. */
static void fill(double *x, double *y)
{
    static const int prime[DIM] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29};
    double pi = 3.14159265358979323846;
    for (int i = 0; i < POINTS; i++) {
        double *v = x + i * DIM;
        for (int a = 0; a < DIM; a++) v[a] = fmod((i + 1) * sqrt(prime[a]), 1);
        y[i] = 10 * sin(pi * v[0] * v[1]) + 20 * (v[2] - .5) * (v[2] - .5) + 10 * v[3] +
               5 * v[4];
    }
}

static void test_regression(void)
{
    static const int levels[DIM] = {0};
    double gold_error = 5.5195, gold_spread = 7.4901; /* tests/gold/trees.py */
    double *x = WEFT_NEW(mem, double, POINTS *DIM), *y = WEFT_NEW(mem, double, POINTS);
    double *mean = WEFT_NEW(mem, double, 2 * POINTS), *variance = mean + POINTS;
    double error = 0, spread = 0;
    weft_trees trees = {0}, few;
    fill(x, y);
    weft_trees_rule rule = {110, 9, 2}, short_rule = {20, 9, 2};
    int m = POINTS - LEARNT;
    for (uint64_t seed = 0; seed < 5; seed++) {
        weft_trees_grow(&trees, &rule, LEARNT, DIM, levels, x, y, seed, mem);
        weft_trees_ask(&trees, m, x + LEARNT * DIM, mean, variance, mem);
        for (int i = 0; i < m; i++) {
            double off = mean[i] - y[LEARNT + i];
            error += off * off / m / 5;
            spread += variance[i] / m / 5;
        }
    }
    is_near(error / gold_error, 1, .07, "the error is that of scikit-learn's forest");
    is_near(spread / gold_spread, 1, .07, "and so is the variance of its trees");
    weft_trees_grow(&few, &short_rule, LEARNT, DIM, levels, x, y, 4, mem);
    size_t nodes = (size_t)few.start[few.ntree];
    ok(nodes > 100 && memcmp(trees.node, few.node, nodes * sizeof *trees.node) == 0 &&
           memcmp(trees.value, few.value, nodes * sizeof *trees.value) == 0,
       "a tree does not depend on how many there are");
    int same = 1;
    for (int i = 0; i < m; i++) {
        double one[2];
        weft_trees_ask(&trees, 1, x + (LEARNT + i) * DIM, &one[0], &one[1], mem);
        same &= memcmp(&one[0], &mean[i], sizeof *mean) == 0 &&
                memcmp(&one[1], &variance[i], sizeof *mean) == 0;
    }
    ok(same, "a point among others is predicted as alone");
}

/* Levels 1, 2 and 4 of six are high. */
static void test_category(void)
{
    enum { N = 300 };
    static const int levels[2] = {0, 6};
    weft_trees_rule rule = {20, 2, 2};
    double x[2 * N], y[N];
    for (int i = 0; i < N; i++) {
        int level = i % 6;
        x[2 * i] = unit_at((uint64_t)i, 2);
        x[2 * i + 1] = level;
        y[i] = (level == 1 || level == 2 || level == 4) + .1 * unit_at((uint64_t)i, 3);
    }
    weft_trees trees;
    weft_trees_grow(&trees, &rule, N, 2, levels, x, y, 1, mem);
    int found = 0;
    for (int t = 0; t < rule.trees; t++) {
        const weft_tree_node *root = &trees.node[trees.start[t]];
        found += root->feature == 1 && root->cut == (1 << 0 | 1 << 3 | 1 << 5);
    }
    ok(found == rule.trees, "levels of a category are split by their means");
    const double one[2] = {.5, 0}, flat[3] = {1, 1, 1};
    double mean, variance;
    weft_trees_grow(&trees, &rule, 3, 2, levels, x, flat, 1, mem);
    weft_trees_ask(&trees, 1, one, &mean, &variance, mem);
    ok(fabs(mean - 1) < 1e-15 && variance < 1e-30, "equal values give no tree");
}

/* Four values of a number, ten points each: every tree has them all. */
static void test_signs(void)
{
    enum { N = 40 };
    static const int levels[1] = {0};
    static const double value[5] = {-3, -1, 0, 2, -0.}, between[4] = {-2.1, -1.9, -.1, 9};
    weft_trees_rule rule = {20, 1, 2};
    double x[N], mean[5], variance[5], off = 0;
    for (int i = 0; i < N; i++) x[i] = value[i % 4];
    weft_trees trees;
    weft_trees_grow(&trees, &rule, N, 1, levels, x, x, 1, mem);
    weft_trees_ask(&trees, 5, value, mean, variance, mem);
    for (int i = 0; i < 5; i++) off = worse(off, fabs(mean[i] - value[i]));
    weft_trees_ask(&trees, 4, between, mean, variance, mem);
    for (int i = 0; i < 4; i++) off = worse(off, fabs(mean[i] - value[i]));
    is_near(off, 0, 1e-14, "numbers of either sign are compared, -0 as 0");
}

/* What is in flight gets the values that a forest on the rest predicts. */
static void test_believe(void)
{
    enum { MORE = 10 };
    static const int levels[DIM] = {0};
    weft_trees_rule rule = {20, 9, 2};
    double *x = WEFT_NEW(mem, double, POINTS *DIM), *y = WEFT_NEW(mem, double, POINTS);
    double own[MORE], mean[MORE], again[MORE], variance[MORE];
    weft_trees f, g;
    fill(x, y);
    weft_trees_grow(&f, &rule, LEARNT, DIM, levels, x, y, 3, mem);
    weft_trees_ask(&f, MORE, x + LEARNT * DIM, own, variance, mem);
    weft_trees_believe(&f, &rule, LEARNT, LEARNT + MORE, x, y, 3, mem);
    ok(memcmp(y + LEARNT, own, sizeof own) == 0,
       "points in flight have the values that the forest predicts");
    weft_trees_grow(&g, &rule, LEARNT + MORE, DIM, levels, x, y, 3, mem);
    weft_trees_ask(&f, MORE, x + LEARNT * DIM, mean, variance, mem);
    weft_trees_ask(&g, MORE, x + LEARNT * DIM, again, variance, mem);
    ok(memcmp(mean, again, sizeof mean) == 0 && memcmp(mean, own, sizeof mean) != 0,
       "and the forest on all points has learnt them");
}

/* The number whose bits, made to increase with it, are a cut. */
static double number_of_cut(uint64_t cut)
{
    uint64_t sign = (uint64_t)1 << 63, bits = cut & sign ? cut ^ sign : ~cut;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The prediction of one tree, node by node. */
static double by_nodes(const weft_trees *trees, int tree, const double *x)
{
    int at = trees->start[tree];
    while (trees->node[at].child != at) {
        const weft_tree_node *node = &trees->node[at];
        double v = x[node->feature];
        int right = trees->levels[node->feature] > 0 ? !(node->cut >> (int)v & 1)
                                                     : v > number_of_cut(node->cut);
        at = node->child + right;
    }
    return trees->value[at];
}

/* 1: mean and variance of m points are those of their predictions one by one, to the bit.
 */
static int exact(const weft_trees *trees, int m, const double *x)
{
    double *mean = WEFT_NEW(mem, double, 2 * m), *variance = mean + m, b = trees->ntree;
    int same = 1;
    weft_trees_ask(trees, m, x, mean, variance, mem);
    for (int i = 0; i < m; i++) {
        double sum = 0, square = 0, root = trees->value[trees->start[0]];
        for (int t = 0; t < trees->ntree; t++) {
            double v = by_nodes(trees, t, x + i * trees->dim) - root;
            sum += v;
            square += v * v;
        }
        double centre = sum / b, middle = root + centre;
        double spread = fmax(square - b * centre * centre, 0) / (b - 1);
        same &= memcmp(&mean[i], &middle, sizeof middle) == 0 &&
                memcmp(&variance[i], &spread, sizeof spread) == 0;
    }
    return same;
}

/* Two numbers, the first with few values and of either sign, and categories of six and 64
 * levels. */
static void test_exact(void)
{
    enum { N = 400, AXES = 4, ASKED = 1001 };
    static const int levels[AXES] = {0, 0, 6, 64}, points[4] = {12, 88, 100, N};
    double *x = WEFT_NEW(mem, double, N *AXES), *y = WEFT_NEW(mem, double, N);
    double *asked = WEFT_NEW(mem, double, ASKED *AXES);
    for (int i = 0; i < N; i++) {
        double u[4];
        for (int k = 0; k < 4; k++) u[k] = unit_at((uint64_t)i, k);
        double v[AXES] = {floor(9 * u[0]) - 4, u[1], floor(6 * u[2]), floor(64 * u[3])};
        memcpy(x + i * AXES, v, sizeof v);
        y[i] = v[0] * v[1] + fabs(v[2] - 2) + fmod(v[3], 7) * .3 + u[0];
    }
    for (int c = 0; c < 8; c++) {
        weft_trees_rule rule = {50, 3, 1 + c % 2};
        weft_trees trees;
        int m = points[c / 2];
        weft_trees_grow(&trees, &rule, m, AXES, levels, x, y, 7, mem);
        for (int i = 0; i < ASKED; i++) { /* half of the numbers are cuts of the trees */
            double *v = asked + i * AXES;
            const weft_tree_node *node = &trees.node[i % trees.start[trees.ntree]];
            memcpy(v, x + i % N * AXES, AXES * sizeof *v);
            v[1] = unit_at((uint64_t)i + N, 0);
            v[3] = floor(64 * unit_at((uint64_t)i + N, 1));
            if (i % 2 && node->feature < 2 && &trees.node[node->child] != node)
                v[node->feature] = number_of_cut(node->cut);
        }
        ok(exact(&trees, ASKED, asked),
           "%d points, leaves of %d: predictions are those of the nodes", m, rule.leaf);
    }
}

MAIN(alone, test_variance, test_add, test_regression, test_category, test_believe,
     test_signs, test_exact)
