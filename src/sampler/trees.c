/* Random forests; see trees.h. Our own code: ranger is a C++ program and an R package,
 * mlpack is C++ with bindings for Python, Julia, Go and R; LightGBM has a C interface, but
 * grows trees on histograms of binned values, for data that are large, where here there are
 * some hundreds of points, and each tree must depend on (seed, tree) alone. Called by
 * forest.c. */
#include "trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 64, MAX_DEPTH = 60 };

/* A point in the bootstrap sample of a tree. */
typedef struct drawn {
    double y;
    int times;
} drawn;

/* A node to be grown: elements first .. last-1 of a tree's lists belong to it. */
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
    int *list;       /* [dim][n] the bootstrap sample by each feature, node by node */
    int *spare;      /* [n] */
    drawn *draw;     /* [n] */
    double *inverse; /* [n + 1] 1 / count */
    char *right;     /* [n] */
    int *shuffle;    /* [dim] */
    task *stack;     /* [nodes] */
    int nodes;
    uint64_t seed;
} grower;

/* ---- orders ------------------------------------------------------------------------- */

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

/* ---- splits ------------------------------------------------------------------------- */

static void split_number(const grower *g, int feature, const task *t, double sum, int count,
                         split *best)
{
    const int *list = g->list + (size_t)feature * (size_t)g->n;
    const double *x = g->x + (size_t)feature * (size_t)g->n;
    double left = 0;
    int n = 0;
    for (int i = t->first; i + 1 < t->last; i++) {
        const drawn *d = &g->draw[list[i]];
        left += d->y * d->times;
        n += d->times;
        double here = x[list[i]], next = x[list[i + 1]];
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
    const int *list = g->list + (size_t)feature * (size_t)g->n;
    const double *x = g->x + (size_t)feature * (size_t)g->n;
    double of[MAX_LEVELS], left = 0;
    int times[MAX_LEVELS], levels = g->f->levels[feature], m = 0, n = 0;
    ranked by[MAX_LEVELS];
    uint64_t set = 0;
    for (int c = 0; c < levels; c++) of[c] = times[c] = 0;
    for (int i = t->first; i < t->last; i++) {
        const drawn *d = &g->draw[list[i]];
        of[(int)x[list[i]]] += d->y * d->times;
        times[(int)x[list[i]]] += d->times;
    }
    for (int c = 0; c < levels; c++)
        if (times[c] > 0) insert(by, m++, (ranked){of[c] / times[c], c});
    for (int i = 0; i + 1 < m; i++) {
        left += of[by[i].at];
        n += times[by[i].at];
        set |= (uint64_t)1 << by[i].at;
        if (n < g->rule->leaf || count - n < g->rule->leaf) continue;
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
    weft_rng4 r = {{0}};
    for (int a = 0; a < dim; a++) g->shuffle[a] = a;
    for (int i = 0; i < g->rule->tries && i < dim; i++) {
        if (i % 4 == 0)
            r = weft_rng_at(g->seed, WEFT_RNG_TUNER, (uint64_t)tree + 1, (uint64_t)t->node,
                            (uint64_t)(i / 4));
        int j = i + (int)(weft_rng_unit(r.v[i % 4]) * (dim - i)), a = g->shuffle[j];
        g->shuffle[j] = g->shuffle[i];
        g->shuffle[i] = a;
        if (g->f->levels[a] > 0)
            split_category(g, a, t, sum, count, &best);
        else
            split_number(g, a, t, sum, count, &best);
    }
    return best;
}

static int goes_right(const weft_tree_node *node, int levels, double x)
{
    return levels > 0 ? !(node->cut.left >> (int)x & 1) : x > node->cut.most;
}

/* Partitions the first `lists` lists of a node, keeping their order; that of a number which
 * is split is in order already. Returns where the right part begins. */
static int part(grower *g, const task *t, const weft_tree_node *node, int lists)
{
    size_t n = (size_t)g->n;
    int levels = g->f->levels[node->feature];
    const double *x = g->x + (size_t)node->feature * n;
    int middle = t->first;
    for (int i = t->first; i < t->last; i++) {
        int at = g->list[(size_t)node->feature * n + (size_t)i];
        g->right[at] = (char)goes_right(node, levels, x[at]);
    }
    for (int a = 0; a < lists; a++) {
        int *list = g->list + (size_t)a * n, left = t->first, right = 0;
        if (a == node->feature && levels == 0 && a > 0) continue;
        for (int i = t->first; i < t->last; i++) {
            int at = list[i], go = g->right[at];
            g->spare[right] = at;
            list[left] = at;
            right += go;
            left += !go;
        }
        memcpy(list + left, g->spare, (size_t)right * sizeof *list);
        middle = left;
    }
    return middle;
}

/* ---- trees -------------------------------------------------------------------------- */

/* Draws n points with replacement and lists them in each feature's order. Returns the
 * number of distinct ones. */
static int draw_points(grower *g, int tree)
{
    int m = 0;
    memset(g->draw, 0, (size_t)g->n * sizeof *g->draw);
    weft_rng4 r = {{0}};
    for (int i = 0; i < g->n; i++) {
        if (i % 4 == 0)
            r = weft_rng_at(g->seed, WEFT_RNG_TUNER, 0, (uint64_t)tree, (uint64_t)(i / 4));
        g->draw[(int)(weft_rng_unit(r.v[i % 4]) * g->n)].times++;
    }
    for (int i = 0; i < g->n; i++) g->draw[i].y = g->y[i];
    for (int a = 0; a < g->f->dim; a++) {
        size_t at = (size_t)a * (size_t)g->n;
        m = 0;
        for (int i = 0; i < g->n; i++)
            if (g->draw[g->order[at + (size_t)i]].times > 0)
                g->list[at + (size_t)m++] = g->order[at + (size_t)i];
    }
    return m;
}

/* Sets the mean of a node, and splits it if that reduces the variance. */
static void grow_node(grower *g, int tree, const task *t, int *waiting)
{
    weft_trees *f = g->f;
    weft_tree_node *node = &f->node[t->node];
    double sum = 0, low = INFINITY, high = -INFINITY;
    int count = 0;
    for (int i = t->first; i < t->last; i++) {
        const drawn *d = &g->draw[g->list[i]];
        sum += d->y * d->times;
        count += d->times;
        low = fmin(low, d->y);
        high = fmax(high, d->y);
    }
    f->value[t->node] = sum * g->inverse[count];
    *node = (weft_tree_node){.cut = {.most = INFINITY}, .child = t->node};
    if (f->levels[0] > 0) node->cut.left = UINT64_MAX;
    if (count < 2 * g->rule->leaf || !(high > low) || t->depth == MAX_DEPTH) return;
    split s = find_split(g, tree, t, sum, count);
    if (s.feature < 0) return;
    node->feature = s.feature;
    if (f->levels[s.feature] > 0)
        node->cut.left = s.left;
    else
        node->cut.most = s.most;
    node->child = g->nodes;
    g->nodes += 2;
    /* no list but the first is read in leaves */
    int both = g->rule->leaf * 2, more = s.count >= both || count - s.count >= both;
    int middle = part(g, t, node, more ? f->dim : 1);
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

void weft_trees_grow(weft_trees *f, const weft_trees_rule *rule, int n, int dim,
                     const int *levels, const double *x, const double *y, uint64_t seed,
                     weft_arena *mem)
{
    size_t most = (size_t)rule->trees * (2 * (size_t)(n / rule->leaf) + 1);
    size_t all = (size_t)dim * (size_t)n;
    double *column = WEFT_NEW(mem, double, all);
    *f = (weft_trees){.dim = dim,
                      .ntree = rule->trees,
                      .levels = levels,
                      .start = WEFT_NEW(mem, int, rule->trees + 1),
                      .node = WEFT_NEW(mem, weft_tree_node, most),
                      .value = WEFT_NEW(mem, double, most)};
    grower g = {.rule = rule,
                .f = f,
                .n = n,
                .x = column,
                .y = y,
                .order = WEFT_NEW(mem, int, all),
                .list = WEFT_NEW(mem, int, all),
                .spare = WEFT_NEW(mem, int, n),
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
    f->start[rule->trees] = g.nodes;
}

/* ---- predictions ------------------------------------------------------------------ */

/* A feature of a point, of which one of two comparisons is always false, so that no branch
 * depends on its kind. */
typedef struct asked {
    double x;     /* a number; NAN for a category */
    uint64_t bit; /* 1 << level; 0 for a number */
} asked;

static void prepare(const weft_trees *f, int m, const double *x, asked *out)
{
    for (int i = 0; i < m; i++)
        for (int a = 0; a < f->dim; a++) {
            double v = x[(size_t)i * (size_t)f->dim + (size_t)a];
            out[(size_t)i * (size_t)f->dim + (size_t)a] =
                f->levels[a] > 0 ? (asked){NAN, (uint64_t)1 << (int)v} : (asked){v, 0};
        }
}

/* Moves m points one node down a tree; those in a leaf stay there. Returns 0 if all are. */
static int descend(const weft_tree_node *all, int dim, int m, const asked *x,
                   const weft_tree_node **at)
{
    int moved = 0;
    for (int i = 0; i < m; i++, x += dim) {
        const weft_tree_node *node = at[i];
        const asked *v = x + node->feature;
        at[i] = all + node->child +
                ((v->x > node->cut.most) | ((node->cut.left & v->bit) < v->bit));
        moved |= at[i] != node;
    }
    return moved;
}

/* Several points descend a tree together, so that their memory accesses overlap. */
void weft_trees_ask(const weft_trees *f, int m, const double *x, double *mean,
                    double *variance, weft_arena *tmp)
{
    enum { SIDE = 16 };
    size_t mark = weft_arena_mark(tmp);
    asked *point = WEFT_NEW(tmp, asked, SIDE * (size_t)f->dim);
    for (int from = 0; from < m; from += SIDE) {
        int n = m - from < SIDE ? m - from : SIDE;
        double sum[SIDE] = {0}, square[SIDE] = {0};
        prepare(f, n, x + (size_t)from * (size_t)f->dim, point);
        for (int t = 0; t < f->ntree; t++) {
            const weft_tree_node *at[SIDE];
            for (int i = 0; i < n; i++) at[i] = f->node + f->start[t];
            while (descend(f->node, f->dim, n, point, at)) {}
            for (int i = 0; i < n; i++) {
                double v = f->value[at[i] - f->node] - f->value[f->start[0]];
                sum[i] += v;
                square[i] += v * v;
            }
        }
        for (int i = 0; i < n; i++) {
            double b = f->ntree, centre = sum[i] / b;
            mean[from + i] = f->value[f->start[0]] + centre;
            variance[from + i] =
                f->ntree > 1 ? fmax(square[i] - b * centre * centre, 0) / (b - 1) : 0;
        }
    }
    weft_arena_reset(tmp, mark);
}
