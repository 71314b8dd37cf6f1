/* Products of rows with random matrices, and the bytes of features that they become. Which
 * rows are multiplied together depends on ranks, memory and the cache, so a row's product
 * must depend on that row alone, which BLAS does not guarantee.
 *
 * Products are cached between requests. A search requests the same rows many times with
 * different maps, whose products differ only where kernel or view differ: a row is not
 * multiplied by the same random matrix again while the product is cached. */
#include "rff.h"
#include "weft/math/kernels.h"

#include <math.h>
#include <string.h>

/* ---- cached products ---- */

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

/* Where the products of a row from column j0 on are cached; NULL: the row is not cached. */
static void *cached_products(const rff_matrix *matrix, int64_t row, int64_t j0)
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

enum { LANES = 16 }; /* rows that the tail is added to at a time */

/* Up to WEFT_BLOCK rows of one type. */
struct chunk {
    int n;
    int64_t row[WEFT_BLOCK]; /* local rows of the part */
    int consecutive;         /* 1: they are consecutive */
};

/* ---- products ---- */

/* The rows of a chunk as bytes [n][d]. */
static const uint8_t *bytes_of(const rff_matrix *matrix, const struct chunk *chunk,
                               weft_arena *tmp)
{
    size_t d = (size_t)matrix->shared->d;
    const uint8_t *x = matrix->shared->data->part[matrix->part].byte;
    if (chunk->consecutive) return x + (size_t)chunk->row[0] * d;
    uint8_t *copy = WEFT_NEW(tmp, uint8_t, (size_t)chunk->n * d);
    for (int r = 0; r < chunk->n; r++)
        memcpy(copy + r * d, x + (size_t)chunk->row[r] * d, d);
    return copy;
}

/* One row through its view, to[d]. */
static void view_row(const rff_matrix *matrix, const rff_view *view, int64_t row, float *to)
{
    int d = matrix->shared->d;
    const weft_rows *rows = &matrix->shared->data->part[matrix->part];
    if (rows->byte)
        for (int i = 0; i < d; i++)
            to[i] = ((float)rows->byte[row * d + i] - view->shift[i]) * view->scale[i];
    else
        for (int i = 0; i < d; i++)
            to[i] = (rows->value[row * d + i] - view->shift[i]) * view->scale[i];
}

/* y[n][ld]: converts the integer products to float and adds those with the tail, LANES rows
 * at a time. */
static void add_tail(const rff_matrix *matrix, const rff_block *block, const uint8_t *x,
                     int n, float *y, size_t ld, weft_arena *tmp)
{
    int d = matrix->shared->d;
    const float *shift = rff_view_of(matrix->shared, block->type)->shift;
    float *transposed = WEFT_NEW(tmp, float, (size_t)d *LANES); /* [d][LANES] */
    for (int r = 0; r < n; r += LANES) {
        int rows = n - r < LANES ? n - r : LANES;
        for (int i = 0; i < d; i++)
            for (int l = 0; l < rows; l++)
                transposed[i * LANES + l] = (float)x[(size_t)(r + l) * d + i] - shift[i];
        for (int j = 0; j < block->columns; j++) {
            float sum[LANES] = {0};
            int64_t at = block->first[j];
            weft_gather16((int)(block->first[j + 1] - at), block->input + at,
                          block->value + at, transposed, sum);
            for (int l = 0; l < rows; l++) {
                float *to = y + (size_t)(r + l) * ld + j;
                int32_t whole;
                memcpy(&whole, to, sizeof whole);
                *to = (float)whole + sum[l];
            }
        }
    }
}

static void product_integers(const rff_matrix *matrix, const rff_block *block,
                             const struct chunk *chunk, void *y, int ld, weft_arena *tmp)
{
    const uint8_t *x = bytes_of(matrix, chunk, tmp);
    weft_u8s8(chunk->n, x, matrix->shared->d, &block->packed, y, ld);
    if (rff_family(block->type) == RFF_CAUCHY)
        add_tail(matrix, block, x, chunk->n, y, (size_t)ld, tmp);
}

/* The leading dimension is an odd number of cache lines, so that rows do not share cache
 * sets. */
static void product_floats(const rff_matrix *matrix, const rff_block *block,
                           const struct chunk *chunk, float *y, int ld, weft_arena *tmp)
{
    size_t d = (size_t)matrix->shared->d, line = 64 / sizeof(real);
    size_t ldx = ((d + line - 1) / line | 1) * line, ldp = (size_t)block->columns;
    int same = sizeof(real) == sizeof *y; /* y and p have the same type */
    float *row = WEFT_NEW(tmp, float, d);
    real *x = WEFT_NEW(tmp, real, (size_t)chunk->n * ldx);
    real *p = same ? (real *)(void *)y : WEFT_NEW(tmp, real, (size_t)chunk->n * ldp);
    for (int r = 0; r < chunk->n; r++) {
        view_row(matrix, rff_view_of(matrix->shared, block->type), chunk->row[r], row);
        for (size_t i = 0; i < d; i++) x[(size_t)r * ldx + i] = (real)row[i];
    }
    weft_deep_times(chunk->n, x, ldx, matrix->shared->d, block->columns, block->dense, p,
                    same ? (size_t)ld : ldp);
    for (int r = 0; r < chunk->n && !same; r++)
        for (size_t j = 0; j < ldp; j++) y[(size_t)r * ld + j] = (float)p[r * ldp + j];
}

/* H D1 H D2 H D3 x, then the lengths of the rows. */
static void product_structured(const rff_matrix *matrix, const rff_block *block,
                               const struct chunk *chunk, float *y, int ld, weft_arena *tmp)
{
    int d = matrix->shared->d, n = matrix->shared->padded;
    float *x = WEFT_NEW(tmp, float, n);
    for (int r = 0; r < chunk->n; r++) {
        view_row(matrix, rff_view_of(matrix->shared, block->type), chunk->row[r], x);
        memset(x + d, 0, (size_t)(n - d) * sizeof *x);
        for (int s = 0; s < 3; s++) {
            const float *sign = block->sign + (size_t)s * n;
            for (int i = 0; i < n; i++) x[i] *= sign[i];
            weft_fwht(n, x);
        }
        for (int j = 0; j < block->columns; j++)
            y[(size_t)r * ld + j] = x[j] * block->radius[j];
    }
}

/* y[n][ld], int32_t or float. */
static void product(const rff_matrix *matrix, const rff_block *block,
                    const struct chunk *chunk, void *y, int ld, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    if (rff_is_exact(matrix->shared, block->type))
        product_integers(matrix, block, chunk, y, ld, tmp);
    else if (block->dense)
        product_floats(matrix, block, chunk, y, ld, tmp);
    else
        product_structured(matrix, block, chunk, y, ld, tmp);
}

/* ---- features ---- */

/* Bytes of features [j0, j0 + columns) of a row from its products. */
static void cosines(const rff_matrix *matrix, int64_t row, int64_t j0, int columns,
                    const void *y, uint8_t *q)
{
    double turns = matrix->turns[row];
    const float *offset = matrix->shared->offset + j0;
    if (rff_is_int(matrix->shared, matrix->type[row]))
        weft_cos_u8_i32(columns, y, turns, offset, q + j0);
    else
        weft_cos_u8_f32(columns, y, turns, offset, q + j0);
}

/* The next rows of a type among [*i, i1) whose products are missing; *i becomes the row
 * after the last of them. Returns their number. */
static int missing_rows(const rff_matrix *matrix, int type, int64_t *i, int64_t i1,
                        struct chunk *chunk)
{
    chunk->n = 0;
    for (; *i < i1 && chunk->n < WEFT_BLOCK; ++*i)
        if (matrix->type[*i] == type && !rff_is_cached(matrix, *i))
            chunk->row[chunk->n++] = *i;
    chunk->consecutive =
        chunk->n && chunk->row[chunk->n - 1] - chunk->row[0] == chunk->n - 1;
    return chunk->n;
}

/* Features of a chunk for one block of columns. Products are computed in the cache, or in
 * `tile` and copied. */
static void make_chunk(const rff_matrix *matrix, const rff_block *block,
                       const struct chunk *chunk, int64_t i0, float *tile, uint8_t *q,
                       weft_arena *tmp)
{
    const rff_cache *kept = &matrix->shared->cache[matrix->part];
    int direct = chunk->consecutive && chunk->row[chunk->n - 1] < kept->rows;
    float *y = direct ? cached_products(matrix, chunk->row[0], block->j0) : tile;
    int64_t ld = direct ? kept->slots * kept->room : block->columns;
    product(matrix, block, chunk, y, (int)ld, tmp);
    for (int r = 0; r < chunk->n; r++) {
        int64_t row = chunk->row[r];
        const float *from = y + r * ld;
        void *to = direct ? NULL : cached_products(matrix, row, block->j0);
        if (to) memcpy(to, from, (size_t)block->columns * sizeof *from);
        cosines(matrix, row, block->j0, block->columns, from,
                q + (size_t)(row - i0) * matrix->ldq);
    }
}

/* Features of the rows of a type among [i0, i1) whose products are missing. */
static void make_type(const rff_matrix *matrix, int type, int64_t i0, int64_t i1,
                      uint8_t *q, weft_arena *tmp)
{
    struct chunk *chunk = WEFT_NEW(tmp, struct chunk, 1);
    for (int64_t j0 = 0; j0 < matrix->d;) {
        WEFT_REWIND(tmp);
        int columns = rff_block_columns(matrix->shared, type, j0, matrix->d);
        const rff_block *block = rff_block_at(matrix->shared, type, j0, columns, tmp);
        float *tile = WEFT_NEW(tmp, float, WEFT_BLOCK *(size_t)columns);
        for (int64_t i = i0; missing_rows(matrix, type, &i, i1, chunk) > 0;)
            make_chunk(matrix, block, chunk, i0, tile, q, tmp);
        j0 += columns;
    }
}

void rff_make_bytes(const rff_matrix *matrix, int64_t i0, int64_t i1, uint8_t *q)
{
    int64_t missing[RFF_TYPES] = {0};
    for (int64_t i = i0; i < i1; i++) {
        if (rff_is_cached(matrix, i))
            cosines(matrix, i, 0, (int)matrix->d, cached_products(matrix, i, 0),
                    q + (size_t)(i - i0) * matrix->ldq);
        else
            missing[matrix->type[i]]++;
    }
    weft_arena *tmp = weft_arena_new();
    for (int type = 0; type < RFF_TYPES; type++)
        if (missing[type]) make_type(matrix, type, i0, i1, q, tmp);
    weft_arena_free(tmp);
    rff_cache_set_filled(matrix, i0, i1);
}
