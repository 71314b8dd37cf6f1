/* Random forests; see trees.h. Our own code: ranger is a C++ program and an R package,
 * mlpack is C++ with bindings for Python, Julia, Go and R; LightGBM has a C interface, but
 * grows trees on histograms of binned values, for data that are large, where here there are
 * some hundreds of points, and each tree must depend on (seed, tree) alone. */
#include "trees.h"
#include "weft/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 64, MAX_DEPTH = 60 };

/* A point in the bootstrap sample of a tree: how often it was drawn, sum of its values. */
typedef struct drawn {
    double sum;
    int times;
} drawn;

/* A node to be grown: elements first .. last-1 of a tree's lists belong to it, of the
 * first lists at even depth, of the second ones at odd depth. */
typedef struct task {
    int node, first, last, depth;
} task;

typedef struct split {
    double gain; /* sum over both parts of (sum of y)^2 / count: a larger one means less
                    residual variance */
    int feature, count; /* count: draws that go left */
    double most;
    uint64_t left;
} split;

/* Data needed while a forest is grown. */
typedef struct grower {
    const weft_trees_rule *rule;
    weft_trees *f;
    int n;
    const double *x; /* [dim][n] */
    const double *y; /* [n] */
    int *order;      /* [dim][n] all points by each feature */
    int *list[2];    /* [dim][n] the bootstrap sample by each feature, node by node */
    drawn *draw;     /* [n] */
    double *inverse; /* [n + 1] 1 / count */
    char *right;     /* [n] */
    int *shuffle;    /* [dim] */
    task *stack;     /* [nodes] */
    int nodes;
    uint64_t seed;
} grower;

/* ---- orders ---- */

typedef struct ranked {
    double x;
    int at;
} ranked;

static int by_value(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->x < b->x || a->x > b->x) return a->x < b->x ? -1 : 1;
    return a->at - b->at;
}

static void sort_points(grower *g, weft_arena *mem)
{
    size_t mark = weft_arena_mark(mem);
    ranked *r = WEFT_NEW(mem, ranked, g->n);
    for (int a = 0; a < g->f->dim; a++) {
        for (int i = 0; i < g->n; i++)
            r[i] = (ranked){g->x[(size_t)a * (size_t)g->n + (size_t)i], i};
        qsort(r, (size_t)g->n, sizeof *r, by_value);
        for (int i = 0; i < g->n; i++)
            g->order[(size_t)a * (size_t)g->n + (size_t)i] = r[i].at;
    }
    weft_arena_reset(mem, mark);
}

/* ---- splits ---- */

/* The points of a node in the order of a feature. */
static int *list_of(const grower *g, int feature, const task *t)
{
    return g->list[t->depth % 2] + (size_t)feature * (size_t)g->n;
}

static void split_number(const grower *g, int feature, const task *t, double sum, int count,
                         split *best)
{
    const int *list = list_of(g, feature, t);
    const double *x = g->x + (size_t)feature * (size_t)g->n;
    double left = 0, next = x[list[t->first]];
    int n = 0;
    if (!(x[list[t->last - 1]] > next)) return;
    for (int i = t->first; i + 1 < t->last; i++) {
        const drawn *d = &g->draw[list[i]];
        double here = next;
        left += d->sum;
        n += d->times;
        next = x[list[i + 1]];
        if (!(next > here) || n < g->rule->leaf) continue;
        if (count - n < g->rule->leaf) return;
        double right = sum - left;
        double gain = left * left * g->inverse[n] + right * right * g->inverse[count - n];
        if (!(gain > best->gain)) continue;
        double middle = here + (next - here) / 2;
        *best = (split){gain, feature, n, middle < next ? middle : here, 0};
    }
}

/* Inserts a level into by[m], which is sorted by value, then by number; levels come in the
 * order of their numbers. */
static void insert(ranked *by, int m, ranked it)
{
    for (; m > 0 && by[m - 1].x > it.x; m--) by[m] = by[m - 1];
    by[m] = it;
}

static void split_category(const grower *g, int feature, const task *t, double sum,
                           int count, split *best)
{
    const int *list = list_of(g, feature, t);
    const double *x = g->x + (size_t)feature * (size_t)g->n;
    int m = 0, n = 0;
    drawn of[MAX_LEVELS];
    ranked by[MAX_LEVELS];
    double left = 0;
    uint64_t set = 0;
    for (int i = t->first; i < t->last;) { /* points of a level stand together */
        double level = x[list[i]];
        drawn all = {0};
        for (; i < t->last && !(x[list[i]] > level); i++) {
            all.sum += g->draw[list[i]].sum;
            all.times += g->draw[list[i]].times;
        }
        of[(int)level] = all;
        insert(by, m++, (ranked){all.sum / all.times, (int)level});
    }
    for (int i = 0; i < m; i++) {
        if (g->rule->alone) {
            left = n = 0;
            set = 0;
        }
        left += of[by[i].at].sum;
        n += of[by[i].at].times;
        set |= (uint64_t)1 << by[i].at;
        if (n < g->rule->leaf || count - n < g->rule->leaf) continue; /* all levels, too */
        double right = sum - left;
        double gain = left * left * g->inverse[n] + right * right * g->inverse[count - n];
        if (gain > best->gain) *best = (split){gain, feature, n, 0, set};
    }
}

/* The best split of a node on randomly chosen features. */
static split find_split(grower *g, int tree, const task *t, double sum, int count)
{
    int dim = g->f->dim;
    double least = 1 + 1e-12; /* a smaller gain may be rounding error */
    split best = {sum * sum * g->inverse[count] * least + 1e-300, -1, 0, 0, 0};
    weft_rng4 rng = {{0}};
    for (int a = 0; a < dim; a++) g->shuffle[a] = a;
    for (int i = 0; i < g->rule->tries && i < dim; i++) {
        if (i % 4 == 0)
            rng = weft_rng_at(g->seed, WEFT_RNG_TUNER, (uint64_t)tree + 1,
                              (uint64_t)t->node, (uint64_t)(i / 4));
        int j = i + (int)(weft_rng_unit(rng.v[i % 4]) * (dim - i)), a = g->shuffle[j];
        g->shuffle[j] = g->shuffle[i];
        g->shuffle[i] = a;
        if (g->f->levels[a] > 0)
            split_category(g, a, t, sum, count, &best);
        else
            split_number(g, a, t, sum, count, &best);
    }
    return best;
}

/* Marks the points of a node that go right; returns how many these are. */
static int mark_right(grower *g, const task *t, const split *s)
{
    const int *list = list_of(g, s->feature, t);
    const double *x = g->x + (size_t)s->feature * (size_t)g->n;
    int levels = g->f->levels[s->feature], right = 0;
    for (int i = t->first; i < t->last; i++) {
        double at = x[list[i]];
        int go = levels > 0 ? !(s->left >> (int)at & 1) : at > s->most;
        g->right[list[i]] = (char)go;
        right += go;
    }
    return right;
}

/* Writes the first `lists` lists of a node, divided in two parts that keep its order, to
 * those of the next depth. Returns where the right part begins. */
static int part(grower *g, const task *t, const split *s, int lists)
{
    task below = {.depth = t->depth + 1};
    int middle = t->last - mark_right(g, t, s);
    for (int a = 0; a < lists; a++) {
        const int *from = list_of(g, a, t);
        int *to = list_of(g, a, &below), right = middle;
        for (int i = t->first; i < t->last; i++) {
            int at = from[i], go = g->right[at], left = i - right + middle;
            to[left + ((right - left) & -go)] = at; /* without a branch */
            right += go;
        }
    }
    return middle;
}

/* ---- trees ---- */

/* Draws n points with replacement and lists them in each feature's order. Returns the
 * number of distinct ones. */
static int draw_points(grower *g, int tree)
{
    int m = 0;
    memset(g->draw, 0, (size_t)g->n * sizeof *g->draw);
    weft_rng4 rng = {{0}};
    for (int i = 0; i < g->n; i++) {
        if (i % 4 == 0)
            rng =
                weft_rng_at(g->seed, WEFT_RNG_TUNER, 0, (uint64_t)tree, (uint64_t)(i / 4));
        g->draw[(int)(weft_rng_unit(rng.v[i % 4]) * g->n)].times++;
    }
    for (int i = 0; i < g->n; i++) g->draw[i].sum = g->y[i] * g->draw[i].times;
    for (int a = 0; a < g->f->dim; a++) {
        const int *order = g->order + (size_t)a * (size_t)g->n;
        int *list = g->list[0] + (size_t)a * (size_t)g->n;
        m = 0;
        for (int i = 0; i < g->n; i++) {
            list[m] = order[i];
            m += g->draw[order[i]].times > 0;
        }
    }
    return m;
}

/* Sets the mean of a node, and splits it if that reduces the variance. */
static void grow_node(grower *g, int tree, const task *t, int *waiting)
{
    weft_trees *trees = g->f;
    weft_tree_node *node = &trees->node[t->node];
    const int *list = list_of(g, 0, t);
    double sum = 0, first = g->y[list[t->first]];
    int count = 0, vary = 0;
    for (int i = t->first; i < t->last; i++) {
        const drawn *d = &g->draw[list[i]];
        sum += d->sum;
        count += d->times;
        vary |= fabs(g->y[list[i]] - first) > 0;
    }
    trees->value[t->node] = sum * g->inverse[count];
    *node = (weft_tree_node){.cut = UINT64_MAX, .child = t->node};
    if (count < 2 * g->rule->leaf || !vary || t->depth == MAX_DEPTH) return;
    split s = find_split(g, tree, t, sum, count);
    if (s.feature < 0) return;
    node->feature = s.feature;
    node->cut = trees->levels[s.feature] > 0 ? s.left : weft_trees_increasing(s.most);
    node->child = g->nodes;
    g->nodes += 2;
    /* no list but the first is read in leaves */
    int both = g->rule->leaf * 2, more = s.count >= both || count - s.count >= both;
    int middle = part(g, t, &s, more ? trees->dim : 1);
    int depth = t->depth + 1, child = node->child;
    g->stack[(*waiting)++] = (task){child + 1, middle, t->last, depth};
    g->stack[(*waiting)++] = (task){child, t->first, middle, depth};
}

static void grow_tree(grower *g, int tree)
{
    int waiting = 0;
    g->f->start[tree] = g->nodes++;
    g->stack[waiting++] = (task){g->f->start[tree], 0, draw_points(g, tree), 0};
    while (waiting > 0) {
        task t = g->stack[--waiting];
        grow_node(g, tree, &t, &waiting);
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
                          .value = WEFT_NEW(mem, double, most)};
    grower g = {.rule = rule,
                .f = trees,
                .n = n,
                .x = column,
                .y = y,
                .order = WEFT_NEW(mem, int, all),
                .list = {WEFT_NEW(mem, int, all), WEFT_NEW(mem, int, all)},
                .draw = WEFT_NEW(mem, drawn, n),
                .inverse = WEFT_NEW(mem, double, n + 1),
                .right = WEFT_NEW(mem, char, n),
                .shuffle = WEFT_NEW(mem, int, dim),
                .stack = WEFT_NEW(mem, task, 2 * n + 1),
                .seed = seed};
    for (int i = 0; i < n; i++)
        for (int a = 0; a < dim; a++)
            column[(size_t)a * (size_t)n + (size_t)i] =
                x[(size_t)i * (size_t)dim + (size_t)a];
    for (int i = 1; i <= n; i++) g.inverse[i] = 1. / i;
    sort_points(&g, mem);
    for (int t = 0; t < rule->trees; t++) grow_tree(&g, t);
    trees->start[rule->trees] = g.nodes;
}

/* ---- predictions ---- */

/* A feature of a point, so that one comparison serves numbers and categories: the point
 * goes right if (cut & mask) < value. */
typedef struct asked {
    uint64_t mask;  /* number: all ones; category: 1 << level */
    uint64_t value; /* number: made to increase; category: the mask */
} asked;

static void prepare(const weft_trees *trees, int m, const double *x, asked *out)
{
    for (int i = 0; i < m; i++)
        for (int a = 0; a < trees->dim; a++) {
            double v = x[(size_t)i * (size_t)trees->dim + (size_t)a];
            uint64_t level = trees->levels[a] > 0 ? (uint64_t)1 << (int)v : 0;
            out[(size_t)i * (size_t)trees->dim + (size_t)a] =
                trees->levels[a] > 0 ? (asked){level, level}
                                     : (asked){UINT64_MAX, weft_trees_increasing(v)};
        }
}

/* One node down a tree; in a leaf nowhere. */
static const weft_tree_node *below(const weft_tree_node *all, const weft_tree_node *node,
                                   const asked *x)
{
    const asked *v = x + node->feature;
    return all + node->child + ((node->cut & v->mask) < v->value);
}

/* Moves m points two nodes down a tree. Returns 0 if all are in leaves. */
static int descend(const weft_tree_node *all, int dim, int m, const asked *x,
                   const weft_tree_node **at)
{
    int moved = 0;
    for (int i = 0; i < m; i++, x += dim) {
        const weft_tree_node *node = below(all, at[i], x);
        at[i] = below(all, node, x);
        moved |= at[i] != node;
    }
    return moved;
}

void weft_trees_moments(const weft_trees *trees, double sum, double square, double *mean,
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
    size_t mark = weft_arena_mark(tmp);
    asked *point = WEFT_NEW(tmp, asked, SIDE * (size_t)trees->dim);
    for (int from = 0; from < m; from += SIDE) {
        int n = m - from < SIDE ? m - from : SIDE;
        double sum[SIDE] = {0}, square[SIDE] = {0};
        prepare(trees, n, x + (size_t)from * (size_t)trees->dim, point);
        for (int t = 0; t < trees->ntree; t++) {
            const weft_tree_node *at[SIDE];
            for (int i = 0; i < n; i++) at[i] = trees->node + trees->start[t];
            while (descend(trees->node, trees->dim, n, point, at)) {}
            for (int i = 0; i < n; i++) {
                double v =
                    trees->value[at[i] - trees->node] - trees->value[trees->start[0]];
                sum[i] += v;
                square[i] += v * v;
            }
        }
        for (int i = 0; i < n; i++)
            weft_trees_moments(trees, sum[i], square[i], &mean[from + i],
                               &variance[from + i]);
    }
    weft_arena_reset(tmp, mark);
}

void weft_trees_believe(weft_trees *trees, const weft_trees_rule *rule, int n, int all,
                        const double *x, double *y, uint64_t seed, weft_arena *mem)
{
    int more = all - n, dim = trees->dim;
    double *variance = WEFT_NEW(mem, double, more);
    weft_trees_ask(trees, more, x + (size_t)n * (size_t)dim, y + n, variance, mem);
    weft_trees_grow(trees, rule, all, dim, trees->levels, x, y, seed, mem);
}
