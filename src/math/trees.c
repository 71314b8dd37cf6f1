/* Random forests for regression on configurations: growth and predictions; see trees.h.
 * Our own code, as LightGBM, the one library with a C interface, grows trees on histograms
 * of binned values, and each tree must depend on (seed, tree) alone. */
#include "weft/math/trees.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 60 };

/* A point in the bootstrap sample of a tree: how often it was drawn, sum of its values. */
struct drawn {
    double sum;
    int times;
};

/* A node to be grown: elements first .. last-1 of a tree's lists belong to it, of the
 * first lists at even depth, of the second ones at odd depth. */
struct segment {
    int node, first, last, depth;
};

struct split {
    double gain; /* sum over both parts of (sum of y)^2 / count: a larger one means less
                    residual variance */
    int feature, count; /* count: draws that go left */
    double most;
    uint64_t left;
};

/* Data needed while a forest is grown. */
struct grower {
    const weft_trees_rule *rule;
    weft_trees *trees;
    int n;
    const double *x;       /* [dim][n] */
    const double *y;       /* [n] */
    int *order;            /* [dim][n] all points by each feature */
    int *list[2];          /* [dim][n] the bootstrap sample by each feature, node by node */
    struct drawn *draw;    /* [n] */
    double *inverse;       /* [n + 1] 1 / count */
    char *right;           /* [n] */
    int64_t *shuffle;      /* [dim] */
    struct segment *stack; /* [nodes] */
    int nodes;
    uint64_t seed;
};

/* ---- orders ---- */

/* An integer that increases with a number; the same for 0 and -0. */
static uint64_t increasing(double x)
{
    uint64_t bits, sign = (uint64_t)1 << 63;
    x += 0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

double weft_trees_cut(uint64_t cut)
{
    double x;
    uint64_t sign = (uint64_t)1 << 63, bits = cut & sign ? cut & ~sign : ~cut;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void sort_points(struct grower *grower, weft_arena *mem)
{
    WEFT_REWIND(mem);
    weft_placed *ranked = WEFT_NEW(mem, weft_placed, grower->n);
    for (int a = 0; a < grower->trees->dim; a++) {
        for (int i = 0; i < grower->n; i++)
            ranked[i] =
                (weft_placed){grower->x[(size_t)a * (size_t)grower->n + (size_t)i], i};
        weft_sort_rising(grower->n, ranked);
        for (int i = 0; i < grower->n; i++)
            grower->order[(size_t)a * (size_t)grower->n + (size_t)i] = (int)ranked[i].at;
    }
}

/* ---- splits ---- */

/* The points of a node in the order of a feature. */
static int *list_of(const struct grower *grower, int feature, const struct segment *segment)
{
    return grower->list[segment->depth % 2] + (size_t)feature * (size_t)grower->n;
}

static void split_number(const struct grower *grower, int feature,
                         const struct segment *segment, double sum, int count,
                         struct split *best)
{
    const int *list = list_of(grower, feature, segment);
    const double *x = grower->x + (size_t)feature * (size_t)grower->n;
    double left = 0, next = x[list[segment->first]];
    int n = 0;
    if (!(x[list[segment->last - 1]] > next)) return;
    for (int i = segment->first; i + 1 < segment->last; i++) {
        const struct drawn *drawn = &grower->draw[list[i]];
        double here = next;
        left += drawn->sum;
        n += drawn->times;
        next = x[list[i + 1]];
        if (!(next > here) || n < grower->rule->leaf) continue;
        if (count - n < grower->rule->leaf) return;
        double right = sum - left;
        double gain =
            left * left * grower->inverse[n] + right * right * grower->inverse[count - n];
        if (!(gain > best->gain)) continue;
        double middle = here + (next - here) / 2;
        *best = (struct split){gain, feature, n, middle < next ? middle : here, 0};
    }
}

/* Inserts a level into ranked[m], which is sorted by value, then by number; levels come in
 * the order of their numbers. */
static void insert_level(weft_placed *ranked, int m, weft_placed one)
{
    for (; m > 0 && ranked[m - 1].value > one.value; m--) ranked[m] = ranked[m - 1];
    ranked[m] = one;
}

static void split_category(const struct grower *grower, int feature,
                           const struct segment *segment, double sum, int count,
                           struct split *best)
{
    const int *list = list_of(grower, feature, segment);
    const double *x = grower->x + (size_t)feature * (size_t)grower->n;
    int m = 0, n = 0;
    struct drawn drawn[WEFT_TREE_LEVELS];
    weft_placed ranked[WEFT_TREE_LEVELS];
    double left = 0;
    uint64_t set = 0;
    /* points of a level stand together */
    for (int i = segment->first; i < segment->last;) {
        double level = x[list[i]];
        struct drawn all = {0};
        for (; i < segment->last && !(x[list[i]] > level); i++) {
            all.sum += grower->draw[list[i]].sum;
            all.times += grower->draw[list[i]].times;
        }
        drawn[(int)level] = all;
        insert_level(ranked, m++, (weft_placed){all.sum / all.times, (int64_t)level});
    }
    for (int i = 0; i < m; i++) {
        left += drawn[ranked[i].at].sum;
        n += drawn[ranked[i].at].times;
        set |= (uint64_t)1 << ranked[i].at;
        if (n < grower->rule->leaf || count - n < grower->rule->leaf)
            continue; /* all levels, too */
        double right = sum - left;
        double gain =
            left * left * grower->inverse[n] + right * right * grower->inverse[count - n];
        if (gain > best->gain) *best = (struct split){gain, feature, n, 0, set};
    }
}

/* The best split of a node on randomly chosen features. */
static struct split find_split(struct grower *grower, int tree,
                               const struct segment *segment, double sum, int count)
{
    int dim = grower->trees->dim;
    double least = 1 + 1e-12; /* a smaller gain may be rounding error */
    struct split best = {sum * sum * grower->inverse[count] * least + 1e-300, -1, 0, 0, 0};
    int tries = grower->rule->tries < dim ? grower->rule->tries : dim;
    weft_rng_row key = {grower->seed, WEFT_RNG_TUNER, (uint64_t)tree + 1,
                        (uint64_t)segment->node, 0};
    for (int a = 0; a < dim; a++) grower->shuffle[a] = a;
    weft_shuffle_first(tries, dim, &key, grower->shuffle);
    for (int i = 0; i < tries; i++) {
        int a = (int)grower->shuffle[i];
        if (grower->trees->levels[a] > 0)
            split_category(grower, a, segment, sum, count, &best);
        else
            split_number(grower, a, segment, sum, count, &best);
    }
    return best;
}

/* Marks the points of a node that go right; returns how many these are. */
static int mark_right(struct grower *grower, const struct segment *segment,
                      const struct split *split)
{
    const int *list = list_of(grower, split->feature, segment);
    const double *x = grower->x + (size_t)split->feature * (size_t)grower->n;
    int levels = grower->trees->levels[split->feature], right = 0;
    for (int i = segment->first; i < segment->last; i++) {
        double at = x[list[i]];
        int go = levels > 0 ? !(split->left >> (int)at & 1) : at > split->most;
        grower->right[list[i]] = (char)go;
        right += go;
    }
    return right;
}

/* Writes the first `lists` lists of a node, divided in two parts that keep its order, to
 * those of the next depth. Returns where the right part begins. */
static int part_lists(struct grower *grower, const struct segment *segment,
                      const struct split *split, int lists)
{
    struct segment below = {.depth = segment->depth + 1};
    int middle = segment->last - mark_right(grower, segment, split);
    for (int a = 0; a < lists; a++) {
        const int *from = list_of(grower, a, segment);
        int *to = list_of(grower, a, &below), right = middle;
        for (int i = segment->first; i < segment->last; i++) {
            int at = from[i], go = grower->right[at], left = i - right + middle;
            to[left + ((right - left) & -go)] = at; /* without a branch */
            right += go;
        }
    }
    return middle;
}

/* ---- trees ---- */

/* How often each of n points is drawn for a tree, n draws with replacement; added to the
 * zeros of draw[n]. */
static void count_draws(uint64_t seed, int tree, int n, struct drawn *draw)
{
    weft_rng4 rng = {{0}};
    for (int i = 0; i < n; i++) {
        if (i % 4 == 0)
            rng = weft_rng_at(seed, WEFT_RNG_TUNER, 0, (uint64_t)tree, (uint64_t)(i / 4));
        draw[(int)(weft_rng_unit(rng.v[i % 4]) * n)].times++;
    }
}

/* Draws n points with replacement and lists them in each feature's order. Returns the
 * number of distinct ones. */
static int draw_points(struct grower *grower, int tree)
{
    int m = 0;
    memset(grower->draw, 0, (size_t)grower->n * sizeof *grower->draw);
    count_draws(grower->seed, tree, grower->n, grower->draw);
    for (int i = 0; i < grower->n; i++)
        grower->draw[i].sum = grower->y[i] * grower->draw[i].times;
    for (int a = 0; a < grower->trees->dim; a++) {
        const int *order = grower->order + (size_t)a * (size_t)grower->n;
        int *list = grower->list[0] + (size_t)a * (size_t)grower->n;
        m = 0;
        for (int i = 0; i < grower->n; i++) {
            list[m] = order[i];
            m += grower->draw[order[i]].times > 0;
        }
    }
    return m;
}

/* Sets the mean of a node, and splits it if that reduces the variance. */
static void grow_node(struct grower *grower, int tree, const struct segment *segment,
                      int *waiting)
{
    weft_trees *trees = grower->trees;
    weft_tree_node *node = &trees->node[segment->node];
    const int *list = list_of(grower, 0, segment);
    double sum = 0, first = grower->y[list[segment->first]];
    int count = 0, vary = 0;
    for (int i = segment->first; i < segment->last; i++) {
        const struct drawn *drawn = &grower->draw[list[i]];
        sum += drawn->sum;
        count += drawn->times;
        vary |= fabs(grower->y[list[i]] - first) > 0;
    }
    trees->value[segment->node] = sum * grower->inverse[count];
    trees->count[segment->node] = count;
    *node = (weft_tree_node){.cut = UINT64_MAX, .child = segment->node};
    if (count < 2 * grower->rule->leaf || !vary || segment->depth == MAX_DEPTH) return;
    struct split split = find_split(grower, tree, segment, sum, count);
    if (split.feature < 0) return;
    node->feature = split.feature;
    node->cut = trees->levels[split.feature] > 0 ? split.left : increasing(split.most);
    node->child = grower->nodes;
    grower->nodes += 2;
    /* no list but the first is read in leaves */
    int both = grower->rule->leaf * 2,
        more = split.count >= both || count - split.count >= both;
    int middle = part_lists(grower, segment, &split, more ? trees->dim : 1);
    int depth = segment->depth + 1, child = node->child;
    grower->stack[(*waiting)++] = (struct segment){child + 1, middle, segment->last, depth};
    grower->stack[(*waiting)++] = (struct segment){child, segment->first, middle, depth};
}

static void grow_tree(struct grower *grower, int tree)
{
    int waiting = 0;
    grower->trees->start[tree] = grower->nodes++;
    grower->stack[waiting++] =
        (struct segment){grower->trees->start[tree], 0, draw_points(grower, tree), 0};
    while (waiting > 0) {
        struct segment segment = grower->stack[--waiting];
        grow_node(grower, tree, &segment, &waiting);
    }
}

void weft_trees_grow(weft_trees *trees, const weft_trees_rule *rule, int n, int dim,
                     const int *levels, const double *x, const double *y, uint64_t seed,
                     weft_arena *mem)
{
    size_t most = (size_t)rule->trees * (2 * (size_t)(n / rule->leaf) + 1);
    size_t all = (size_t)dim * (size_t)n;
    double *column = WEFT_NEW(mem, double, all);
    *trees = (weft_trees){.dim = dim,
                          .ntree = rule->trees,
                          .levels = levels,
                          .start = WEFT_NEW(mem, int, rule->trees + 1),
                          .node = WEFT_NEW(mem, weft_tree_node, most),
                          .value = WEFT_NEW(mem, double, most),
                          .count = WEFT_NEW(mem, int, most)};
    struct grower grower = {.rule = rule,
                            .trees = trees,
                            .n = n,
                            .x = column,
                            .y = y,
                            .order = WEFT_NEW(mem, int, all),
                            .list = {WEFT_NEW(mem, int, all), WEFT_NEW(mem, int, all)},
                            .draw = WEFT_NEW(mem, struct drawn, n),
                            .inverse = WEFT_NEW(mem, double, n + 1),
                            .right = WEFT_NEW(mem, char, n),
                            .shuffle = WEFT_NEW(mem, int64_t, dim),
                            .stack = WEFT_NEW(mem, struct segment, 2 * n + 1),
                            .seed = seed};
    for (int i = 0; i < n; i++)
        for (int a = 0; a < dim; a++)
            column[(size_t)a * (size_t)n + (size_t)i] =
                x[(size_t)i * (size_t)dim + (size_t)a];
    for (int i = 1; i <= n; i++) grower.inverse[i] = 1. / i;
    sort_points(&grower, mem);
    for (int t = 0; t < rule->trees; t++) grow_tree(&grower, t);
    trees->start[rule->trees] = grower.nodes;
}

/* ---- predictions by trees ---- */

/* A feature of a point, so that one comparison serves numbers and categories: the point
 * goes right if (cut & mask) < value. */
struct asked {
    uint64_t mask;  /* number: all ones; category: 1 << level */
    uint64_t value; /* number: made to increase; category: the mask */
};

static void prepare_points(const weft_trees *trees, int m, const double *x,
                           struct asked *out)
{
    for (int i = 0; i < m; i++)
        for (int a = 0; a < trees->dim; a++) {
            double v = x[(size_t)i * (size_t)trees->dim + (size_t)a];
            uint64_t level = trees->levels[a] > 0 ? (uint64_t)1 << (int)v : 0;
            out[(size_t)i * (size_t)trees->dim + (size_t)a] =
                trees->levels[a] > 0 ? (struct asked){level, level}
                                     : (struct asked){UINT64_MAX, increasing(v)};
        }
}

/* One node down a tree; in a leaf nowhere. */
static const weft_tree_node *node_below(const weft_tree_node *all,
                                        const weft_tree_node *node,
                                        const struct asked *asked)
{
    const struct asked *feature = asked + node->feature;
    return all + node->child + ((node->cut & feature->mask) < feature->value);
}

/* Moves m points two nodes down a tree. Returns 0 if all are in leaves. */
static int descend_twice(const weft_tree_node *all, int dim, int m,
                         const struct asked *asked, const weft_tree_node **at)
{
    int moved = 0;
    for (int i = 0; i < m; i++, asked += dim) {
        const weft_tree_node *node = node_below(all, at[i], asked);
        at[i] = node_below(all, node, asked);
        moved |= at[i] != node;
    }
    return moved;
}

/* Mean and sample variance of the trees' predictions from their sum and their sum of
 * squares, both less the value of the first tree's root. */
static void moments(const weft_trees *trees, double sum, double square, double *mean,
                    double *variance)
{
    double b = trees->ntree, centre = sum / b;
    *mean = trees->value[trees->start[0]] + centre;
    *variance = trees->ntree > 1 ? fmax(square - b * centre * centre, 0) / (b - 1) : 0;
}

/* Several points descend a tree together, so that their memory accesses overlap. */
void weft_trees_ask(const weft_trees *trees, int m, const double *x, double *mean,
                    double *variance, weft_arena *tmp)
{
    enum { SIDE = 16 };
    WEFT_REWIND(tmp);
    struct asked *point = WEFT_NEW(tmp, struct asked, SIDE * (size_t)trees->dim);
    for (int from = 0; from < m; from += SIDE) {
        int n = m - from < SIDE ? m - from : SIDE;
        double sum[SIDE] = {0}, square[SIDE] = {0};
        prepare_points(trees, n, x + (size_t)from * (size_t)trees->dim, point);
        for (int t = 0; t < trees->ntree; t++) {
            const weft_tree_node *at[SIDE];
            for (int i = 0; i < n; i++) at[i] = trees->node + trees->start[t];
            while (descend_twice(trees->node, trees->dim, n, point, at)) {}
            for (int i = 0; i < n; i++) {
                double v =
                    trees->value[at[i] - trees->node] - trees->value[trees->start[0]];
                sum[i] += v;
                square[i] += v * v;
            }
        }
        for (int i = 0; i < n; i++)
            moments(trees, sum[i], square[i], &mean[from + i], &variance[from + i]);
    }
}

void weft_trees_believe(weft_trees *trees, const weft_trees_rule *rule, int n, int all,
                        const double *x, double *y, uint64_t seed, weft_arena *mem)
{
    int more = all - n, dim = trees->dim;
    double *variance = WEFT_NEW(mem, double, more);
    weft_trees_ask(trees, more, x + (size_t)n * (size_t)dim, y + n, variance, mem);
    weft_trees_grow(trees, rule, all, dim, trees->levels, x, y, seed, mem);
}

/* The leaf of a point in tree t. */
static int64_t leaf_of(const weft_trees *trees, int t, const struct asked *point)
{
    const weft_tree_node *at = trees->node + trees->start[t];
    while (at->child != at - trees->node) at = node_below(trees->node, at, point);
    return at - trees->node;
}

void weft_trees_add(weft_trees *trees, const double *x, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    struct asked *point = WEFT_NEW(tmp, struct asked, trees->dim);
    double mean, variance;
    weft_trees_ask(trees, 1, x, &mean, &variance, tmp);
    prepare_points(trees, 1, x, point);
    for (int t = 0; t < trees->ntree; t++) {
        int64_t leaf = leaf_of(trees, t, point);
        trees->value[leaf] += (mean - trees->value[leaf]) / ++trees->count[leaf];
    }
}

void weft_trees_unseen(const weft_trees *trees, int n, const double *x, uint64_t seed,
                       double *mean, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    size_t dim = (size_t)trees->dim;
    struct asked *point = WEFT_NEW(tmp, struct asked, (size_t)n * dim);
    struct drawn *draw = WEFT_NEW(tmp, struct drawn, n);
    int *count = WEFT_NEW(tmp, int, n);
    prepare_points(trees, n, x, point);
    memset(mean, 0, (size_t)n * sizeof *mean);
    for (int t = 0; t < trees->ntree; t++) {
        memset(draw, 0, (size_t)n * sizeof *draw);
        count_draws(seed, t, n, draw);
        for (int i = 0; i < n; i++) {
            if (draw[i].times > 0) continue;
            mean[i] += trees->value[leaf_of(trees, t, point + (size_t)i * dim)];
            count[i]++;
        }
    }
    for (int i = 0; i < n; i++) mean[i] = count[i] > 0 ? mean[i] / count[i] : (double)NAN;
}
