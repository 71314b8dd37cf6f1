/* Cache of products of rows with random matrices between requests. A search requests the
 * same rows many times with different maps, whose products differ only where kernel or view
 * differ: a row is not multiplied by the same random matrix again while the product is
 * cached. */
#include "rff.h"

#include <math.h>

/* A tenth of the memory is left to solvers. Random matrices may take a quarter of what the
 * features and the data leave; Cauchy entries in the tail, 2 %, take 8 bytes more. */
void rff_cache_setup(rff_shared *shared, int products)
{
    const weft_rows *part = shared->data->part;
    double cell = shared->data->form == WEFT_BYTES ? 1 : sizeof(float);
    double columns = (double)shared->columns, row = columns * sizeof(int32_t);
    double max_rows = 0, data = 0;
    for (int p = 0; p < WEFT_NPART; p++) {
        max_rows = fmax(max_rows, (double)part[p].n);
        data += cell * (double)(part[p].n * part[p].d);
    }
    double room = fmax(0.9 * shared->memory - data - max_rows * (columns + 64), 0);
    double entry = cell > 1 ? sizeof(real) : 1.2;
    shared->pool_size =
        (size_t)fmin(room / 4, 2 * RFF_VIEWS * entry * shared->d * columns + 1e6);
    shared->pool = weft_arena_alloc(shared->mem, 1, shared->pool_size);
    shared->kept = (double)shared->pool_size;
    room -= shared->kept;
    double all = fmax((double)(part[WEFT_TRAIN].n + part[WEFT_VALID].n), 1);
    int slots = (int)fmax(1, fmin(floor(room / (all * row)), 2 * RFF_VIEWS));
    for (int p = WEFT_TRAIN; products && p <= WEFT_VALID; p++) {
        rff_cache *kept = &shared->cache[p];
        kept->rows = (int64_t)fmin(room / row, (double)part[p].n);
        kept->room = shared->columns;
        kept->slots = slots;
        int64_t cells = kept->rows * slots;
        kept->type = WEFT_NEW(shared->mem, uint8_t, cells);
        kept->filled = WEFT_NEW(shared->mem, int64_t, cells);
        kept->product =
            weft_arena_alloc(shared->mem, (size_t)(cells * kept->room), sizeof(int32_t));
        shared->kept += (double)cells * row;
        room -= (double)cells * row;
    }
}

void rff_cache_clear(rff_shared *shared)
{
    shared->blocks = NULL;
    shared->pool_used = 0;
    for (int part = 0; part < WEFT_NPART; part++) {
        const rff_cache *kept = &shared->cache[part];
        for (int64_t i = 0; i < kept->rows * kept->slots; i++) kept->filled[i] = 0;
    }
}

/* Index of the slot of a cached row. */
static int64_t slot_of(const rff_matrix *matrix, int64_t row)
{
    const rff_cache *kept = &matrix->shared->cache[matrix->part];
    return row * kept->slots + matrix->shared->order[matrix->type[row]] % kept->slots;
}

void *rff_cache_products(const rff_matrix *matrix, int64_t row, int64_t j0)
{
    const rff_cache *kept = &matrix->shared->cache[matrix->part];
    if (row >= kept->rows) return NULL;
    int64_t at = slot_of(matrix, row) * kept->room + j0;
    return (char *)kept->product + (size_t)at * sizeof(int32_t);
}

int rff_is_cached(const rff_matrix *matrix, int64_t row)
{
    const rff_cache *kept = &matrix->shared->cache[matrix->part];
    if (row >= kept->rows) return 0;
    int64_t at = slot_of(matrix, row);
    return kept->type[at] == matrix->type[row] && kept->filled[at] >= matrix->d;
}

void rff_cache_set_filled(const rff_matrix *matrix, int64_t i0, int64_t i1)
{
    const rff_cache *kept = &matrix->shared->cache[matrix->part];
    for (int64_t i = i0; i < i1 && i < kept->rows; i++) {
        int64_t at = slot_of(matrix, i);
        if (kept->type[at] != matrix->type[i] || kept->filled[at] < matrix->d)
            kept->filled[at] = matrix->d;
        kept->type[at] = matrix->type[i];
    }
}
