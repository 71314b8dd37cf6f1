/* Products of rows with random matrices, and the bytes of features that they become. Which
 * rows are multiplied together depends on ranks, memory and the cache, so a row's product
 * must depend on that row alone, which BLAS does not guarantee. */
#include "rff.h"

#include <math.h>
#include <string.h>

enum { LANES = 16 }; /* rows that the tail is added to at a time */

/* Up to WEFT_BLOCK rows of one type. */
typedef struct chunk {
    int n;
    int64_t row[WEFT_BLOCK]; /* local rows of the part */
    int consecutive;         /* 1: they are consecutive */
} chunk;

/* ---- products ---- */

/* The rows of a chunk as bytes [n][d]. */
static const uint8_t *bytes_of(const rff_matrix *m, const chunk *c, weft_arena *tmp)
{
    size_t d = (size_t)m->shared->d;
    const uint8_t *x = m->shared->data->part[m->part].byte;
    if (c->consecutive) return x + (size_t)c->row[0] * d;
    uint8_t *copy = WEFT_NEW(tmp, uint8_t, (size_t)c->n * d);
    for (int r = 0; r < c->n; r++) memcpy(copy + r * d, x + (size_t)c->row[r] * d, d);
    return copy;
}

/* One row through its view, to[d]. */
static void view_row(const rff_matrix *m, const rff_view *v, int64_t row, float *to)
{
    int d = m->shared->d;
    const weft_rows *rows = &m->shared->data->part[m->part];
    if (rows->byte)
        for (int i = 0; i < d; i++)
            to[i] = ((float)rows->byte[row * d + i] - v->shift[i]) * v->scale[i];
    else
        for (int i = 0; i < d; i++)
            to[i] = (rows->value[row * d + i] - v->shift[i]) * v->scale[i];
}

/* y[n][ld]: converts the integer products to float and adds those with the tail, LANES rows
 * at a time. */
static void add_tail(const rff_matrix *m, const rff_block *b, const uint8_t *x, int n,
                     float *y, size_t ld, weft_arena *tmp)
{
    int d = m->shared->d;
    const float *shift = rff_view_of(m->shared, b->type)->shift;
    float *transposed = WEFT_NEW(tmp, float, (size_t)d *LANES); /* [d][LANES] */
    for (int r = 0; r < n; r += LANES) {
        int rows = n - r < LANES ? n - r : LANES;
        for (int i = 0; i < d; i++)
            for (int l = 0; l < rows; l++)
                transposed[i * LANES + l] = (float)x[(size_t)(r + l) * d + i] - shift[i];
        for (int j = 0; j < b->columns; j++) {
            float sum[LANES] = {0};
            int64_t at = b->first[j];
            weft_gather16((int)(b->first[j + 1] - at), b->input + at, b->value + at,
                          transposed, sum);
            for (int l = 0; l < rows; l++) {
                float *to = y + (size_t)(r + l) * ld + j;
                int32_t whole;
                memcpy(&whole, to, sizeof whole);
                *to = (float)whole + sum[l];
            }
        }
    }
}

static void product_integers(const rff_matrix *m, const rff_block *b, const chunk *c,
                             void *y, int ld, weft_arena *tmp)
{
    const uint8_t *x = bytes_of(m, c, tmp);
    weft_u8s8(c->n, x, m->shared->d, &b->packed, y, ld);
    if (rff_family(b->type) == RFF_CAUCHY) add_tail(m, b, x, c->n, y, (size_t)ld, tmp);
}

/* The leading dimension is an odd number of cache lines, so that rows do not share cache
 * sets. */
static void product_floats(const rff_matrix *m, const rff_block *b, const chunk *c,
                           float *y, int ld, weft_arena *tmp)
{
    size_t d = (size_t)m->shared->d, line = 64 / sizeof(real);
    size_t ldx = ((d + line - 1) / line | 1) * line, ldp = (size_t)b->columns;
    int same = sizeof(real) == sizeof *y; /* y and p have the same type */
    float *row = WEFT_NEW(tmp, float, d);
    real *x = WEFT_NEW(tmp, real, (size_t)c->n * ldx);
    real *p = same ? (real *)(void *)y : WEFT_NEW(tmp, real, (size_t)c->n * ldp);
    for (int r = 0; r < c->n; r++) {
        view_row(m, rff_view_of(m->shared, b->type), c->row[r], row);
        for (size_t i = 0; i < d; i++) x[(size_t)r * ldx + i] = (real)row[i];
    }
    weft_deep_times(c->n, x, ldx, m->shared->d, b->columns, b->dense, p,
                    same ? (size_t)ld : ldp);
    for (int r = 0; r < c->n && !same; r++)
        for (size_t j = 0; j < ldp; j++) y[(size_t)r * ld + j] = (float)p[r * ldp + j];
}

/* H D1 H D2 H D3 x, then the lengths of the rows. */
static void product_structured(const rff_matrix *m, const rff_block *b, const chunk *c,
                               float *y, int ld, weft_arena *tmp)
{
    int d = m->shared->d, n = m->shared->padded;
    float *x = WEFT_NEW(tmp, float, n);
    for (int r = 0; r < c->n; r++) {
        view_row(m, rff_view_of(m->shared, b->type), c->row[r], x);
        memset(x + d, 0, (size_t)(n - d) * sizeof *x);
        for (int s = 0; s < 3; s++) {
            const float *sign = b->sign + (size_t)s * n;
            for (int i = 0; i < n; i++) x[i] *= sign[i];
            weft_fwht(n, x);
        }
        for (int j = 0; j < b->columns; j++) y[(size_t)r * ld + j] = x[j] * b->radius[j];
    }
}

/* y[n][ld], int32_t or float. */
static void product(const rff_matrix *m, const rff_block *b, const chunk *c, void *y,
                    int ld, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    if (rff_is_exact(m->shared, b->type))
        product_integers(m, b, c, y, ld, tmp);
    else if (b->dense)
        product_floats(m, b, c, y, ld, tmp);
    else
        product_structured(m, b, c, y, ld, tmp);
    weft_arena_reset(tmp, mark);
}

/* ---- features ---- */

/* Bytes of features [j0, j0 + columns) of a row from its products. */
static void cosines(const rff_matrix *m, int64_t row, int64_t j0, int columns,
                    const void *y, uint8_t *q)
{
    double turns = m->turns[row];
    const float *offset = m->shared->offset + j0;
    if (rff_is_int(m->shared, m->type[row]))
        weft_cos_u8_i32(columns, y, turns, offset, q + j0);
    else
        weft_cos_u8_f32(columns, y, turns, offset, q + j0);
}

/* The next rows of a type among [*i, i1) whose products are missing; *i becomes the row
 * after the last of them. Returns their number. */
static int missing_rows(const rff_matrix *m, int type, int64_t *i, int64_t i1, chunk *c)
{
    c->n = 0;
    for (; *i < i1 && c->n < WEFT_BLOCK; ++*i)
        if (m->type[*i] == type && !rff_is_cached(m, *i)) c->row[c->n++] = *i;
    c->consecutive = c->n && c->row[c->n - 1] - c->row[0] == c->n - 1;
    return c->n;
}

/* Features of a chunk for one block of columns. Products are computed in the cache, or in
 * `tile` and copied. */
static void make_chunk(const rff_matrix *m, const rff_block *b, const chunk *c, int64_t i0,
                       float *tile, uint8_t *q, weft_arena *tmp)
{
    const rff_cache *kept = &m->shared->cache[m->part];
    int direct = c->consecutive && c->row[c->n - 1] < kept->rows;
    float *y = direct ? rff_cache_products(m, c->row[0], b->j0) : tile;
    int64_t ld = direct ? kept->slots * kept->room : b->columns;
    product(m, b, c, y, (int)ld, tmp);
    for (int r = 0; r < c->n; r++) {
        int64_t row = c->row[r];
        const float *from = y + r * ld;
        void *to = direct ? NULL : rff_cache_products(m, row, b->j0);
        if (to) memcpy(to, from, (size_t)b->columns * sizeof *from);
        cosines(m, row, b->j0, b->columns, from, q + (size_t)(row - i0) * m->ldq);
    }
}

/* Features of the rows of a type among [i0, i1) whose products are missing. */
static void make_type(const rff_matrix *m, int type, int64_t i0, int64_t i1, uint8_t *q,
                      weft_arena *tmp)
{
    chunk *c = WEFT_NEW(tmp, chunk, 1);
    size_t mark = weft_arena_mark(tmp);
    for (int64_t j0 = 0; j0 < m->d;) {
        int columns = rff_block_columns(m->shared, type, j0, m->d);
        const rff_block *b = rff_block_at(m->shared, type, j0, columns, tmp);
        float *tile = WEFT_NEW(tmp, float, WEFT_BLOCK *(size_t)columns);
        for (int64_t i = i0; missing_rows(m, type, &i, i1, c) > 0;)
            make_chunk(m, b, c, i0, tile, q, tmp);
        weft_arena_reset(tmp, mark);
        j0 += columns;
    }
}

void rff_make_bytes(const rff_matrix *m, int64_t i0, int64_t i1, uint8_t *q)
{
    int64_t missing[RFF_TYPES] = {0};
    for (int64_t i = i0; i < i1; i++) {
        if (rff_is_cached(m, i))
            cosines(m, i, 0, (int)m->d, rff_cache_products(m, i, 0),
                    q + (size_t)(i - i0) * m->ldq);
        else
            missing[m->type[i]]++;
    }
    weft_arena *tmp = weft_arena_new();
    for (int type = 0; type < RFF_TYPES; type++)
        if (missing[type]) make_type(m, type, i0, i1, q, tmp);
    weft_arena_free(tmp);
    rff_cache_set_filled(m, i0, i1);
}
