/* All rows of a matrix of n-grams on one rank, for fits that run on a single rank: several
 * ranks then do one fit each at the same time. Called through the matrix by task fmap. */
#include <string.h>

#include "ngram.h"

/* Numbers of all ranks, [ranks], given this rank's. Collective. */
static const int64_t *counts(weft_team *t, int64_t own, weft_arena *tmp)
{
    int64_t *n = WEFT_NEW(tmp, int64_t, t->size);
    n[t->rank] = own;
    weft_sum_i64(t, n, (size_t)t->size);
    return n;
}

/* All ranks' items of `size` bytes, count[ranks] of them, on rank owner in the order of
 * ranks. Collective. */
static void *collect(weft_team *t, int owner, const void *items, const int64_t *count,
                     size_t size, weft_arena *mem)
{
    size_t *to = WEFT_NEW(mem, size_t, t->size), *from = WEFT_NEW(mem, size_t, t->size);
    size_t all = 0;
    to[owner] = (size_t)count[t->rank] * size;
    for (int r = 0; r < t->size && t->rank == owner; r++) {
        from[r] = (size_t)count[r] * size;
        all += from[r];
    }
    void *whole = weft_arena_alloc(mem, all, 1);
    weft_exchange(t, items, to, whole, from);
    return whole;
}

const int32_t *ngram_gather(const weft_matrix *f, const int32_t *label, int owner,
                            weft_team *alone, weft_matrix *whole, weft_arena *mem)
{
    weft_team *t = f->team;
    const weft_sparse *x = f->rows;
    const int64_t *rows = counts(t, x->n, mem), *entries = counts(t, x->first[x->n], mem);
    int64_t *length = WEFT_NEW(mem, int64_t, x->n);
    for (int64_t i = 0; i < x->n; i++) length[i] = x->first[i + 1] - x->first[i];
    const int64_t *all = collect(t, owner, length, rows, sizeof *all, mem);
    int64_t n = t->rank == owner ? f->total : 0;
    int64_t *first = WEFT_NEW(mem, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++) first[i + 1] = first[i] + all[i];
    weft_sparse *y = WEFT_NEW(mem, weft_sparse, 1);
    *y = (weft_sparse){.n = n, .first = first};
    y->column = collect(t, owner, x->column, entries, sizeof *x->column, mem);
    y->value = collect(t, owner, x->value, entries, sizeof *x->value, mem);
    double *bound = WEFT_NEW(mem, double, 1); /* as in ngram_matrix */
    memcpy(bound, f->self, sizeof *bound);
    *whole = *f;
    whole->n = whole->total = n;
    whole->team = alone;
    whole->rows = y;
    whole->group = NULL;
    whole->self = bound;
    return collect(t, owner, label, rows, sizeof *label, mem);
}
