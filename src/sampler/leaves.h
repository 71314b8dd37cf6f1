/* The leaves of a forest as a table, for many predictions. */
#ifndef WEFT_SAMPLER_LEAVES_H
#define WEFT_SAMPLER_LEAVES_H

#include "trees.h"

/* The leaves of all trees that a value of an axis leaves possible, by intervals between the
 * cuts of numbers and by levels of categories. */
typedef struct weft_leaves weft_leaves;

/* Makes the table of a forest, which it keeps borrowed; NULL if a tree has more than 64
 * leaves or the table would have more than 2^20 words. Owned by mem. Cost O(nodes (trees
 * + log nodes)). */
weft_leaves *weft_leaves_new(const weft_trees *trees, weft_arena *mem);
/* As weft_trees_ask, with the same bits. Cost O(m trees dim). */
void weft_leaves_ask(const weft_leaves *leaves, int m, const double *x, double *mean,
                     double *variance, weft_arena *tmp);

#endif
