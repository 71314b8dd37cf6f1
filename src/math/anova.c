/* The variance of trees by variables, and the divergence of good points from all. A leaf of
 * a tree is a box: an interval of each number and a set of the levels of each category. The
 * cuts of a number, and the levels of a category, make cells, of which a leaf covers runs;
 * means over other variables are added to the ends of runs, and summed over cells once. */
#include "weft/math/anova.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_RUNS = 32 }; /* of a set of 64 levels */

/* What a leaf covers of an axis: from lo to hi of a number, a set of levels. */
struct span {
    double lo, hi;
    uint64_t set;
    int from, to; /* of a number: its cells from .. to - 1 */
};

/* A tree as boxes. */
struct boxes {
    const weft_trees *trees;
    int dim, leaves;
    struct span *span;      /* [leaves][dim] */
    double *value, *volume; /* [leaves] less the mean; of the box */
    double mean;            /* of the tree */
    struct span *at;        /* [dim] of the node that is visited */
    double **edge;          /* [dim][cells + 1] */
    int *cells;             /* [dim] */
};

struct run {
    int from, to;
};

int weft_anova_pair(int a, int b)
{
    return b * (b - 1) / 2 + a;
}

/* ---- boxes ---- */

static double span_width(const struct boxes *boxes, const struct span *span, int axis)
{
    int levels = boxes->trees->levels[axis], n = 0;
    if (levels == 0) return span->hi - span->lo;
    for (uint64_t left = span->set; left; left &= left - 1) n++;
    return (double)n / levels;
}

static void boxes_add(struct boxes *boxes, double value)
{
    struct span *span = boxes->span + (size_t)boxes->leaves * (size_t)boxes->dim;
    double volume = 1;
    for (int a = 0; a < boxes->dim; a++) {
        span[a] = boxes->at[a];
        volume *= span_width(boxes, &span[a], a);
    }
    if (!(volume > 0)) return;
    boxes->value[boxes->leaves] = value;
    boxes->volume[boxes->leaves++] = volume;
}

/* Adds the leaves below a node, whose box is boxes->at; at most 60 deep. */
static void boxes_visit(struct boxes *boxes, int number)
{
    const weft_trees *trees = boxes->trees;
    const weft_tree_node *node = &trees->node[number];
    if (node->child == number) {
        boxes_add(boxes, trees->value[number]);
        return;
    }
    struct span *at = &boxes->at[node->feature], before = *at;
    int category = trees->levels[node->feature] > 0;
    double cut = category ? 0 : fmin(fmax(weft_trees_cut(node->cut), at->lo), at->hi);
    at->hi = category ? at->hi : cut;
    at->set &= category ? node->cut : at->set;
    boxes_visit(boxes, node->child);
    *at = before;
    at->lo = category ? at->lo : cut;
    at->set &= category ? ~node->cut : at->set;
    boxes_visit(boxes, node->child + 1);
    *at = before;
}

static int place_of(const double *edge, int n, double x)
{
    const double *at = bsearch(&x, edge, (size_t)n, sizeof *edge, weft_rising_f64);
    return (int)(at - edge);
}

/* Finds the edges of the cells of an axis, and the cells of all leaves. */
static void boxes_divide(struct boxes *boxes, int axis, weft_arena *mem)
{
    int levels = boxes->trees->levels[axis], n = 0, m = 0;
    int most = levels > 0 ? levels + 1 : 2 * boxes->leaves;
    double *edge = boxes->edge[axis] = WEFT_NEW(mem, double, most);
    for (int j = 0; j <= levels && levels > 0; j++) edge[n++] = (double)j / levels;
    boxes->cells[axis] = n - 1;
    if (levels > 0) return;
    for (int i = 0; i < boxes->leaves; i++) {
        const struct span *span = boxes->span + (size_t)i * (size_t)boxes->dim + axis;
        edge[n++] = span->lo;
        edge[n++] = span->hi;
    }
    weft_sort_f64(n, edge);
    for (int i = 0; i < n; i++)
        if (m == 0 || edge[i] > edge[m - 1]) edge[m++] = edge[i];
    boxes->cells[axis] = m - 1;
    for (int i = 0; i < boxes->leaves; i++) {
        struct span *span = boxes->span + (size_t)i * (size_t)boxes->dim + axis;
        span->from = place_of(edge, m, span->lo);
        span->to = place_of(edge, m, span->hi);
    }
}

static struct boxes boxes_of(const weft_trees *trees, int tree, weft_arena *mem)
{
    int dim = trees->dim, most = (trees->start[tree + 1] - trees->start[tree] + 1) / 2;
    struct boxes boxes = {.trees = trees,
                          .dim = dim,
                          .span = WEFT_NEW(mem, struct span, (size_t)most * (size_t)dim),
                          .value = WEFT_NEW(mem, double, most),
                          .volume = WEFT_NEW(mem, double, most),
                          .at = WEFT_NEW(mem, struct span, dim),
                          .edge = WEFT_NEW(mem, double *, dim),
                          .cells = WEFT_NEW(mem, int, dim)};
    for (int a = 0; a < dim; a++) {
        int levels = trees->levels[a];
        uint64_t all = levels == 0 ? 0 : UINT64_MAX >> (64 - levels);
        boxes.at[a] = (struct span){.lo = 0, .hi = 1, .set = all};
    }
    boxes_visit(&boxes, trees->start[tree]);
    for (int i = 0; i < boxes.leaves; i++) boxes.mean += boxes.volume[i] * boxes.value[i];
    for (int i = 0; i < boxes.leaves; i++) boxes.value[i] -= boxes.mean;
    return boxes;
}

/* The runs of cells of an axis that a leaf covers; returns their number. */
static int runs_of(const struct boxes *boxes, int leaf, int axis, struct run run[MAX_RUNS])
{
    const struct span *span = boxes->span + (size_t)leaf * (size_t)boxes->dim + axis;
    int levels = boxes->trees->levels[axis], n = 0;
    if (levels == 0) {
        run[0] = (struct run){span->from, span->to};
        return 1;
    }
    for (int j = 0; j < levels; j++) {
        if (!(span->set >> j & 1)) continue;
        if (n == 0 || run[n - 1].to < j) run[n++] = (struct run){j, j};
        run[n - 1].to = j + 1;
    }
    return n;
}

/* ---- variances ---- */

static double whole_of(const struct boxes *boxes)
{
    double sum = 0;
    for (int i = 0; i < boxes->leaves; i++)
        sum += boxes->volume[i] * boxes->value[i] * boxes->value[i];
    return sum;
}

/* The value of a leaf times the part of its volume that is not of the axes a and b; b may
 * be a. */
static double weight_of(const struct boxes *boxes, int leaf, int a, int b)
{
    const struct span *span = boxes->span + (size_t)leaf * (size_t)boxes->dim;
    double width = span_width(boxes, &span[a], a);
    if (b != a) width *= span_width(boxes, &span[b], b);
    return boxes->value[leaf] * (boxes->volume[leaf] / width);
}

/* The means over all other axes in the cells of an axis, less that of the tree. */
static const double *means_of(const struct boxes *boxes, int axis, weft_arena *mem)
{
    double *step = WEFT_NEW(mem, double, boxes->cells[axis] + 1);
    struct run run[MAX_RUNS];
    for (int i = 0; i < boxes->leaves; i++) {
        double weight = weight_of(boxes, i, axis, axis);
        for (int r = 0, n = runs_of(boxes, i, axis, run); r < n; r++) {
            step[run[r].from] += weight;
            step[run[r].to] -= weight;
        }
    }
    for (int j = 1; j < boxes->cells[axis]; j++) step[j] += step[j - 1];
    return step;
}

static double one_of(const struct boxes *boxes, int axis, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    const double *edge = boxes->edge[axis], *mean = means_of(boxes, axis, tmp);
    double sum = 0;
    for (int j = 0; j < boxes->cells[axis]; j++)
        sum += (edge[j + 1] - edge[j]) * mean[j] * mean[j];
    return sum;
}

/* Adds the leaves to the corners of what they cover, step[cells of a + 1][cells of b + 1].
 */
static void add_corners(const struct boxes *boxes, int a, int b, double *step)
{
    size_t row = (size_t)boxes->cells[b] + 1;
    struct run of_a[MAX_RUNS], of_b[MAX_RUNS];
    for (int i = 0; i < boxes->leaves; i++) {
        double weight = weight_of(boxes, i, a, b);
        int n = runs_of(boxes, i, a, of_a), m = runs_of(boxes, i, b, of_b);
        for (int r = 0; r < n; r++)
            for (int s = 0; s < m; s++) {
                double *from = step + (size_t)of_a[r].from * row;
                double *to = step + (size_t)of_a[r].to * row;
                from[of_b[s].from] += weight;
                from[of_b[s].to] -= weight;
                to[of_b[s].from] -= weight;
                to[of_b[s].to] += weight;
            }
    }
}

/* V(f_ab). */
static double both_of(const struct boxes *boxes, int a, int b, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    size_t row = (size_t)boxes->cells[b] + 1;
    const double *along = boxes->edge[a], *across = boxes->edge[b];
    double *step = WEFT_NEW(tmp, double, ((size_t)boxes->cells[a] + 1) * row);
    double *line = WEFT_NEW(tmp, double, row), sum = 0;
    add_corners(boxes, a, b, step);
    for (int i = 0; i < boxes->cells[a]; i++) {
        double mean = 0, part = 0;
        for (int j = 0; j < boxes->cells[b]; j++) {
            line[j] += step[(size_t)i * row + (size_t)j];
            mean += line[j];
            part += (across[j + 1] - across[j]) * mean * mean;
        }
        sum += (along[i + 1] - along[i]) * part;
    }
    return sum;
}

void weft_anova_find(weft_anova *anova, const weft_trees *trees, int pairs, weft_arena *mem)
{
    size_t dim = (size_t)trees->dim, n = (size_t)trees->ntree;
    *anova = (weft_anova){.dim = trees->dim,
                          .ntree = trees->ntree,
                          .whole = WEFT_NEW(mem, double, n),
                          .one = WEFT_NEW(mem, double, dim *n),
                          .two = pairs ? WEFT_NEW(mem, double, dim *dim *n) : NULL};
    for (int t = 0; t < trees->ntree; t++) {
        WEFT_REWIND(mem);
        size_t tree = (size_t)t;
        struct boxes boxes = boxes_of(trees, t, mem);
        for (int a = 0; a < trees->dim; a++) boxes_divide(&boxes, a, mem);
        anova->whole[t] = whole_of(&boxes);
        for (int b = 0; b < trees->dim; b++) {
            anova->one[(size_t)b * n + tree] = one_of(&boxes, b, mem);
            for (int a = 0; a < b && pairs; a++)
                anova->two[(size_t)weft_anova_pair(a, b) * n + tree] =
                    fmax(0, both_of(&boxes, a, b, mem) - anova->one[(size_t)a * n + tree] -
                                anova->one[(size_t)b * n + tree]);
        }
    }
}

/* The mean of n numbers, which are sorted, and their quantiles; NAN: there are none. */
static void spread_of(double *x, int n, double *mean, double *low, double *high)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    *mean = *low = *high = NAN;
    if (n == 0) return;
    weft_sort_f64(n, x);
    *mean = sum / n;
    *low = x[(int)(0.05 * (n - 1) + 0.5)];
    *high = x[(int)(0.95 * (n - 1) + 0.5)];
}

int weft_anova_share(const weft_anova *anova, const double *row, double *mean, double *low,
                     double *high, weft_arena *tmp)
{
    double *share = WEFT_NEW(tmp, double, anova->ntree);
    int n = 0;
    for (int t = 0; t < anova->ntree; t++)
        if (anova->whole[t] > 0) share[n++] = row[t] / anova->whole[t];
    spread_of(share, n, mean, low, high);
    return n;
}

/* The cell of an axis in which x is; of a number one that it is the upper end of, as it
 * goes left at a cut. */
static int cell_of(const struct boxes *boxes, int axis, double x)
{
    const double *edge = boxes->edge[axis];
    int low = 0, high = boxes->cells[axis] - 1;
    if (boxes->trees->levels[axis] > 0) return (int)x;
    while (low < high) {
        int middle = (low + high) / 2;
        if (x <= edge[middle + 1])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void weft_anova_curve(const weft_trees *trees, int axis, int n, const double *x,
                      double (*y)[3], weft_arena *tmp)
{
    size_t many = (size_t)trees->ntree;
    double *all = WEFT_NEW(tmp, double, (size_t)n *many); /* [n][ntree] */
    for (int t = 0; t < trees->ntree; t++) {
        WEFT_REWIND(tmp);
        struct boxes boxes = boxes_of(trees, t, tmp);
        boxes_divide(&boxes, axis, tmp);
        const double *mean = means_of(&boxes, axis, tmp);
        for (int j = 0; j < n; j++)
            all[(size_t)j * many + (size_t)t] =
                boxes.mean + mean[cell_of(&boxes, axis, x[j])];
    }
    for (int j = 0; j < n; j++)
        spread_of(all + (size_t)j * many, trees->ntree, &y[j][0], &y[j][1], &y[j][2]);
}

/* ---- good points ---- */

/* Phi(b) - Phi(a), a <= b. */
static double normal_between(double a, double b)
{
    double root = sqrt(2);
    if (a > 0) return (erfc(a / root) - erfc(b / root)) / 2;
    return (erfc(-b / root) - erfc(-a / root)) / 2;
}

/* The width of the kernels on places with counts[steps], total of them: 1.059 n^(-1/5)
 * times the smaller of standard deviation and quartile range / 1.34, at least 0.5 / 1.64.
 * Scott, "Multivariate density estimation", 1992. */
static double scott_width(const int *count, int steps, int total)
{
    double mean = 0, square = 0;
    int below = 0, last = -1, first = -1, third = -1;
    for (int j = 0; j < steps; j++) mean += (double)count[j] * j / total;
    for (int j = 0; j < steps; j++) {
        if (count[j] == 0) continue;
        square += count[j] * (j - mean) * (j - mean);
        below += count[j];
        last = j;
        if (first < 0 && below >= total / 4) first = j;
        if (third < 0 && below > (int64_t)total * 3 / 4) third = j;
    }
    double range = (third < 0 ? last : third) - first;
    double sd = sqrt(square / (total > 2 ? total - 1 : 1));
    return fmax(1.059 * fmin(range / 1.34, sd) * pow(total, -0.2), 0.5 / 1.64);
}

/* Adds share times a kernel at mu, of N(mu, sigma^2) on the places 0 .. steps - 1. */
static void add_normal(double mu, double sigma, double share, int steps, double *p)
{
    double whole = normal_between((-0.5 - mu) / sigma, (steps - 0.5 - mu) / sigma);
    for (int j = 0; j < steps; j++)
        p[j] +=
            share / whole * normal_between((j - 0.5 - mu) / sigma, (j + 0.5 - mu) / sigma);
}

/* Densities p[steps] of places with counts[steps]. */
static void density(const int *count, int steps, int category, double *p)
{
    int total = 0, kernels = 1;
    for (int j = 0; j < steps; j++) {
        total += count[j];
        kernels += count[j] > 0;
        p[j] = 1e-12;
    }
    double share = 1. / (total + 1),
           width = category ? 0 : scott_width(count, steps, total);
    double whole = 1 + (double)steps / kernels;
    for (int j = 0; j < steps && category; j++)
        p[j] += share * (count[j] + (double)total / kernels) / whole + share / steps;
    if (category) return;
    for (int j = 0; j < steps; j++)
        if (count[j] > 0) add_normal(j, width, share * count[j], steps, p);
    add_normal((steps - 1) / 2., steps, share, steps, p);
}

double weft_anova_good(int n, const int *x, const char *good, int steps, int category,
                       weft_arena *tmp)
{
    int *all = WEFT_NEW(tmp, int, steps), *best = WEFT_NEW(tmp, int, steps);
    int have = 0, goods = 0, both = 0;
    for (int i = 0; i < n; i++) {
        goods += good[i] != 0;
        if (x[i] < 0) continue;
        have++;
        all[x[i]]++;
        both += good[i] != 0;
        best[x[i]] += good[i] != 0;
    }
    if (both == 0 || have < 2 || steps < 2) return 0;
    double *p = WEFT_NEW(tmp, double, steps), *q = WEFT_NEW(tmp, double, steps), sum = 0;
    density(all, steps, category, p);
    density(best, steps, category, q);
    for (int j = 0; j < steps; j++) sum += p[j] * (q[j] / p[j] - 1) * (q[j] / p[j] - 1);
    double alpha = (double)both / goods, beta = (double)have / n;
    return alpha * alpha / beta * sum;
}
