/* Predictions of a forest by a table; see leaves.h. The leaves of a tree are the bits of a
 * word, from left to right. Each row of an axis has those that its interval or level does
 * not exclude: where a node sends it right, not the ones on the left. The first leaf that
 * no axis of a point excludes is the point's. Lucchese, Nardini, Orlando, Perego,
 * Tonellotto, Venturini, "QuickScorer: a fast algorithm to rank documents with additive
 * ensembles of regression trees", SIGIR 2015, where rows are made anew for each point. */
#include "leaves.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_LEAVES = 64,     /* of a tree */
    MAX_WORDS = 1 << 20, /* of a table: 8 MB */
    SIDE = 4             /* points whose predictions are summed together */
};

struct weft_leaves {
    const weft_trees *trees; /* borrowed */
    int *first;    /* [dim + 1] first row of an axis: a number has one more than cuts, a
                      category one for each level */
    uint64_t *cut; /* [rows] of a number, between the row and the next one */
    uint64_t *row; /* [rows][ntree] 1: the leaf is possible */
    double *value; /* [ntree][MAX_LEAVES] of leaves, less that of the first tree's root */
};

/* ---- the table ---- */

/* A node with children. */
struct split {
    uint64_t cut, left; /* the leaves below the left child */
    int feature, tree;
};

struct maker {
    weft_leaves *leaves;
    struct split *split; /* [splits] */
    int splits;
    int *count; /* [nodes] leaves below a node */
    int *first; /* [nodes] the first one's number in its tree */
};

/* Numbers the leaves of a tree and appends its splits; nodes come before their children. */
static void list_splits(struct maker *maker, int tree)
{
    const weft_trees *trees = maker->leaves->trees;
    int root = trees->start[tree], end = trees->start[tree + 1];
    for (int i = end - 1; i >= root; i--) {
        int child = trees->node[i].child;
        maker->count[i] = child == i ? 1 : maker->count[child] + maker->count[child + 1];
    }
    for (int i = root; i < end; i++) {
        int child = trees->node[i].child, first = maker->first[i],
            last = first + maker->count[child];
        if (child == i) {
            maker->leaves->value[tree * MAX_LEAVES + first] =
                trees->value[i] - trees->value[trees->start[0]];
            continue;
        }
        uint64_t left = (((uint64_t)1 << (last - first)) - 1) << first;
        maker->first[child] = first;
        maker->first[child + 1] = last;
        maker->split[maker->splits++] =
            (struct split){trees->node[i].cut, left, trees->node[i].feature, tree};
    }
}

static int by_axis(const void *left, const void *right)
{
    const struct split *a = left, *b = right;
    if (a->feature != b->feature) return a->feature - b->feature;
    return (a->cut > b->cut) - (a->cut < b->cut);
}

/* Sets where the rows of axes begin, which are counted by their sorted splits. */
static int count_rows(struct maker *maker)
{
    const weft_trees *trees = maker->leaves->trees;
    int rows = 0, at = 0;
    for (int a = 0; a < trees->dim; a++) {
        maker->leaves->first[a] = rows;
        rows += trees->levels[a] > 0 ? trees->levels[a] : 1;
        for (int from = at; at < maker->splits && maker->split[at].feature == a; at++)
            rows += trees->levels[a] == 0 &&
                    (at == from || maker->split[at].cut > maker->split[at - 1].cut);
    }
    return maker->leaves->first[trees->dim] = rows;
}

/* Fills the rows of an axis with its n sorted splits. */
static void fill_rows(const weft_leaves *leaves, int axis, int n, const struct split *split)
{
    size_t wide = (size_t)leaves->trees->ntree, bytes = wide * sizeof *leaves->row;
    int levels = leaves->trees->levels[axis];
    uint64_t *row = leaves->row + (size_t)leaves->first[axis] * wide;
    memset(row, -1, bytes * (size_t)(levels > 0 ? levels : 1));
    for (int i = 0; i < n; i++) {
        for (int v = 0; v < levels; v++)
            if (!(split[i].cut >> v & 1))
                row[(size_t)v * wide + (size_t)split[i].tree] &= ~split[i].left;
        if (levels > 0) continue;
        if (i == 0 || split[i].cut > split[i - 1].cut) {
            leaves->cut[(size_t)(row - leaves->row) / wide] = split[i].cut;
            memcpy(row + wide, row, bytes);
            row += wide;
        }
        row[split[i].tree] &= ~split[i].left;
    }
}

weft_leaves *weft_leaves_new(const weft_trees *trees, weft_arena *mem)
{
    int nodes = trees->start[trees->ntree];
    for (int t = 0; t < trees->ntree; t++)
        if (trees->start[t + 1] - trees->start[t] > 2 * MAX_LEAVES - 1) return NULL;
    weft_leaves *leaves = WEFT_NEW(mem, weft_leaves, 1);
    *leaves = (weft_leaves){.trees = trees,
                            .first = WEFT_NEW(mem, int, trees->dim + 1),
                            .value = WEFT_NEW(mem, double, trees->ntree *MAX_LEAVES)};
    struct maker maker = {.leaves = leaves,
                          .split = WEFT_NEW(mem, struct split, nodes),
                          .count = WEFT_NEW(mem, int, nodes),
                          .first = WEFT_NEW(mem, int, nodes)};
    for (int t = 0; t < trees->ntree; t++) list_splits(&maker, t);
    qsort(maker.split, (size_t)maker.splits, sizeof *maker.split, by_axis);
    int rows = count_rows(&maker), at = 0;
    if (rows > MAX_WORDS / trees->ntree) return NULL;
    leaves->cut = WEFT_NEW(mem, uint64_t, rows);
    leaves->row = WEFT_NEW(mem, uint64_t, (size_t)rows * (size_t)trees->ntree);
    for (int a = 0, from; a < trees->dim; a++) {
        for (from = at; at < maker.splits && maker.split[at].feature == a;) at++;
        fill_rows(leaves, a, at - from, maker.split + from);
    }
    return leaves;
}

/* ---- predictions ---- */

/* How many of n increasing cuts are below a number. */
static int cuts_below(int n, const uint64_t *cut, uint64_t number)
{
    int low = 0;
    for (; n > 1; n -= n / 2) low += n / 2 & -(cut[low + n / 2 - 1] < number);
    return low + (n == 1 && cut[low] < number);
}

/* The rows of a point, one of each axis: row[dim]. */
static void find_rows(const weft_leaves *leaves, const double *x, const uint64_t **row)
{
    for (int a = 0; a < leaves->trees->dim; a++) {
        int at = leaves->first[a], cuts = leaves->first[a + 1] - 1 - at;
        at += leaves->trees->levels[a] > 0
                  ? (int)x[a]
                  : cuts_below(cuts, leaves->cut + at, weft_trees_increasing(x[a]));
        row[a] = leaves->row + (size_t)at * (size_t)leaves->trees->ntree;
    }
}

/* The predictions of a point by each tree: out[ntree][SIDE]; possible[ntree] is scratch. */
static void find_leaves(const weft_leaves *leaves, const uint64_t *const *row,
                        uint64_t *possible, double *out)
{
    int ntree = leaves->trees->ntree;
    memcpy(possible, row[0], (size_t)ntree * sizeof *possible);
    for (int a = 1; a < leaves->trees->dim; a++)
        for (int t = 0; t < ntree; t++) possible[t] &= row[a][t];
    for (int t = 0; t < ntree; t++)
        out[t * SIDE] = leaves->value[t * MAX_LEAVES + __builtin_ctzll(possible[t])];
}

void weft_leaves_ask(const weft_leaves *leaves, int m, const double *x, double *mean,
                     double *variance, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp), dim = (size_t)leaves->trees->dim;
    const uint64_t **row = WEFT_NEW(tmp, const uint64_t *, dim);
    uint64_t *possible = WEFT_NEW(tmp, uint64_t, leaves->trees->ntree);
    double *out = WEFT_NEW(tmp, double, leaves->trees->ntree *SIDE);
    for (int from = 0; from < m; from += SIDE) {
        int n = m - from < SIDE ? m - from : SIDE;
        double sum[SIDE] = {0}, square[SIDE] = {0};
        for (int i = 0; i < n; i++) {
            find_rows(leaves, x + (size_t)(from + i) * dim, row);
            find_leaves(leaves, row, possible, out + i);
        }
        for (int t = 0; t < leaves->trees->ntree; t++)
            for (int i = 0; i < SIDE; i++) {
                double v = out[t * SIDE + i];
                sum[i] += v;
                square[i] += v * v;
            }
        for (int i = 0; i < n; i++)
            weft_trees_moments(leaves->trees, sum[i], square[i], &mean[from + i],
                               &variance[from + i]);
    }
    weft_arena_reset(tmp, mark);
}
