/* All rows of a matrix of n-grams on one rank, for fits that run on a single rank: several
 * ranks then do one fit each at the same time. Called through the matrix by task fmap. */
#include <string.h>

#include "ngram.h"

/* Numbers of all ranks, [ranks], given this rank's. Collective. */
static const int64_t *counts(weft_team *team, int64_t own, weft_arena *tmp)
{
    int64_t *n = WEFT_NEW(tmp, int64_t, team->size);
    n[team->rank] = own;
    weft_sum_i64(team, n, (size_t)team->size);
    return n;
}

/* All ranks' items of `size` bytes, count[ranks] of them, on rank owner in the order of
 * ranks. Collective. */
static void *collect(weft_team *team, int owner, const void *items, const int64_t *count,
                     size_t size, weft_arena *mem)
{
    size_t *to = WEFT_NEW(mem, size_t, team->size),
           *from = WEFT_NEW(mem, size_t, team->size);
    size_t all = 0;
    to[owner] = (size_t)count[team->rank] * size;
    for (int r = 0; r < team->size && team->rank == owner; r++) {
        from[r] = (size_t)count[r] * size;
        all += from[r];
    }
    void *whole = weft_arena_alloc(mem, all, 1);
    weft_exchange(team, items, to, whole, from);
    return whole;
}

const int32_t *ngram_gather(const weft_matrix *matrix, const int32_t *label, int owner,
                            weft_team *alone, weft_matrix *whole, weft_arena *mem)
{
    weft_team *team = matrix->team;
    const weft_sparse *x = matrix->rows;
    const int64_t *rows = counts(team, x->n, mem),
                  *entries = counts(team, x->first[x->n], mem);
    int64_t *length = WEFT_NEW(mem, int64_t, x->n);
    for (int64_t i = 0; i < x->n; i++) length[i] = x->first[i + 1] - x->first[i];
    const int64_t *all = collect(team, owner, length, rows, sizeof *all, mem);
    int64_t n = team->rank == owner ? matrix->total : 0;
    int64_t *first = WEFT_NEW(mem, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++) first[i + 1] = first[i] + all[i];
    weft_sparse *y = WEFT_NEW(mem, weft_sparse, 1);
    *y = (weft_sparse){.n = n, .first = first};
    y->column = collect(team, owner, x->column, entries, sizeof *x->column, mem);
    y->value = collect(team, owner, x->value, entries, sizeof *x->value, mem);
    double *bound = WEFT_NEW(mem, double, 1); /* as in ngram_matrix */
    memcpy(bound, matrix->self, sizeof *bound);
    *whole = *matrix;
    whole->n = whole->total = n;
    whole->team = alone;
    whole->rows = y;
    whole->group = NULL;
    whole->self = bound;
    return collect(team, owner, label, rows, sizeof *label, mem);
}
