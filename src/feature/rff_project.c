/* Products of rows with random matrices, and the bytes of features that they become. A
 * random matrix is generated from its key in blocks of features and never stored as a
 * whole.
 *
 * Bytes are multiplied by integers: an entry of the random matrix, times the scale of its
 * input, is rounded to an integer of magnitude at most 16. A sum over many inputs stays
 * normal by the central limit theorem, with the right variance because what rounding adds
 * is subtracted beforehand. Cauchy entries have no variance, and their heavy tail
 * determines the kernel: the part beyond 16, in 2 % of the entries, is stored as a list and
 * added in floating point. The shift of the inputs becomes the first term of every feature.
 * Inputs that are not bytes, too few, or too different in scale are multiplied as floats.
 * Which rows are multiplied together depends on ranks, memory and the cache, so a row's
 * product must depend on that row alone, which BLAS does not guarantee. */
#include "rff.h"

#include <math.h>
#include <string.h>

enum {
    INT_COLUMNS = 3840,   /* features of a block of integers, which fits the third-level
                             cache */
    FLOAT_COLUMNS = 1024, /* features of a block of floats */
    LANES = 16            /* rows that the tail is added to at a time */
};

/* Standard deviation of the largest normal entries, and quartile of Cauchy ones, in units
 * of the integers. Normal entries are clipped at 16, which is four deviations and happens
 * to 6 in 100,000; rounding changes the kernel by at most 1/(6 d). */
static const double normal_unit = 4, cauchy_unit = 0.5;

/* Features [j0, j0 + columns) of the random matrix of one type. */
typedef struct block {
    int type, columns;
    int64_t j0;
    weft_s8 packed;
    int64_t *first;  /* [columns+1] the tail of a column: entries from first[j] on */
    uint32_t *input; /* of the tail */
    float *value;
    real *dense;          /* [d][columns], packed */
    float *sign, *radius; /* [3][padded], [padded] */
    struct block *next;   /* list of the blocks that are kept */
} block;

/* Up to WEFT_BLOCK rows of one type that lie in one block of the part. */
typedef struct chunk {
    int n;
    int64_t row[WEFT_BLOCK]; /* local rows of the part */
    int consecutive;         /* 1: they are consecutive */
} chunk;

static int family_of(int type)
{
    return type / RFF_VIEWS;
}

static const rff_view *view_of(const rff_shared *shared, int type)
{
    return &shared->view[type % RFF_VIEWS];
}

static int is_exact(const rff_shared *shared, int type)
{
    return view_of(shared, type)->exact && family_of(type) != RFF_HADAMARD;
}

int rff_is_int(const rff_shared *shared, int type)
{
    return is_exact(shared, type) && family_of(type) == RFF_NORMAL;
}

/* Value of 1 in the integer matrix. */
static double integer_unit(const rff_shared *shared, int type)
{
    double width = family_of(type) == RFF_NORMAL ? normal_unit : cauchy_unit;
    return view_of(shared, type)->largest / width;
}

double rff_turns(const rff_shared *shared, const rff *arm, int type)
{
    double pi = 3.14159265358979323846;
    double unit = is_exact(shared, type) ? integer_unit(shared, type) : 1;
    double width = arm->kernel == RFF_GAUSSIAN ? sqrt(2 * arm->gamma) : arm->gamma;
    return width * unit / (2 * pi);
}

/* ---- blocks of the random matrix ----------------------------------------------------- */

/* A column as integers, and the excess of large Cauchy entries as floats; returns their
 * number. */
static int64_t round_column(const rff_shared *shared, int type, const float *z,
                            const float *scale, int8_t *p, uint32_t *input, float *value)
{
    int64_t tail = 0;
    for (int i = 0; i < shared->d; i++) {
        float x = z[i] * scale[i];
        float most = WEFT_S8_MAX, cut = x > most ? most : x < -most ? -most : x;
        p[i] = (int8_t)lrintf(cut);
    }
    if (family_of(type) == RFF_NORMAL) return 0;
    for (int i = 0; i < shared->d; i++)
        if (fabsf(z[i] * scale[i]) > WEFT_S8_MAX) {
            input[tail] = (uint32_t)i;
            value[tail++] = z[i] * scale[i] - p[i];
        }
    return tail;
}

/* Factors of the columns' entries before rounding. Rounding adds 1/12 to a variance. */
static float *scales(const rff_shared *shared, int type, weft_arena *tmp)
{
    const rff_view *v = view_of(shared, type);
    float *scale = WEFT_NEW(tmp, float, shared->d);
    for (int i = 0; i < shared->d; i++) {
        double s = (double)v->scale[i] / integer_unit(shared, type);
        scale[i] = (float)(family_of(type) == RFF_NORMAL ? sqrt(s * s - 1.0 / 12) : s);
    }
    return scale;
}

/* A block with room for `bytes` after it: in the pool, or in tmp where the pool is full. */
static block *block_new(rff_shared *shared, int type, int64_t j0, int columns, size_t bytes,
                        char **room, weft_arena *tmp)
{
    size_t head = (sizeof(block) + 63) / 64 * 64, all = head + (bytes + 63) / 64 * 64;
    int keep = shared->pool_used + all <= shared->pool_size;
    block *b =
        keep ? (void *)(shared->pool + shared->pool_used) : weft_arena_alloc(tmp, 1, all);
    *b = (block){.type = type, .j0 = j0, .columns = columns};
    *room = (char *)b + head;
    if (keep) {
        b->next = shared->blocks;
        shared->blocks = b;
        shared->pool_used += all;
    }
    return b;
}

static const block *make_integers(rff_shared *shared, int type, int64_t j0, int columns,
                                  weft_arena *tmp)
{
    int d = shared->d;
    const rff_view *v = view_of(shared, type);
    const float *scale = scales(shared, type, tmp);
    int64_t most = family_of(type) == RFF_NORMAL ? 0 : (int64_t)columns * (d / 8 + 64) + d;
    int8_t *p = WEFT_NEW(tmp, int8_t, (size_t)columns * d);
    int32_t *start = WEFT_NEW(tmp, int32_t, columns);
    int64_t *first = WEFT_NEW(tmp, int64_t, columns + 1);
    float *z = WEFT_NEW(tmp, float, d), *value = WEFT_NEW(tmp, float, most);
    uint32_t *input = WEFT_NEW(tmp, uint32_t, most);
    for (int j = 0; j < columns; j++) {
        int8_t *column = p + (size_t)j * d;
        int64_t at = first[j];
        weft_check(most == 0 || at + d <= most, "the tail of a random matrix is too long");
        rff_column(shared, family_of(type), j0 + j, z);
        first[j + 1] =
            at + round_column(shared, type, z, scale, column, input + at, value + at);
        double sum = 0;
        for (int i = 0; i < d; i++) sum += (double)column[i] * (double)v->shift[i];
        start[j] = (int32_t)-lrint(sum);
    }
    size_t packed = weft_s8_bytes(d, columns), tail = (size_t)first[columns];
    size_t firsts = ((size_t)columns + 1) * sizeof *first;
    char *room;
    block *b =
        block_new(shared, type, j0, columns,
                  packed + firsts + tail * (sizeof *value + sizeof *input), &room, tmp);
    weft_s8_pack(&b->packed, d, columns, p, (size_t)d, start, room);
    b->first = memcpy(room + packed, first, firsts);
    b->value = memcpy(room + packed + firsts, value, tail * sizeof *value);
    b->input = memcpy(b->value + tail, input, tail * sizeof *input);
    return b;
}

static const block *make_signs(rff_shared *shared, int type, int64_t j0, int columns,
                               weft_arena *tmp)
{
    char *room;
    block *b = block_new(shared, type, j0, columns,
                         4 * (size_t)shared->padded * sizeof(float), &room, tmp);
    b->sign = (float *)room;
    b->radius = b->sign + 3 * shared->padded;
    rff_signs(shared, j0, b->sign, b->radius);
    return b;
}

static const block *make_floats(rff_shared *shared, int type, int64_t j0, int columns,
                                weft_arena *tmp)
{
    int d = shared->d;
    float *z = WEFT_NEW(tmp, float, d);
    real *some = WEFT_NEW(tmp, real, (size_t)WEFT_WHOLE * d); /* [WEFT_WHOLE][d] */
    char *room;
    block *b =
        block_new(shared, type, j0, columns, weft_packed_bytes(d, columns), &room, tmp);
    b->dense = (real *)(void *)room;
    for (int j = 0; j < columns; j += WEFT_WHOLE) {
        int n = columns - j < WEFT_WHOLE ? columns - j : WEFT_WHOLE;
        for (int e = 0; e < n; e++) {
            rff_column(shared, family_of(type), j0 + j + e, z);
            for (int i = 0; i < d; i++) some[(size_t)e * d + i] = (real)z[i];
        }
        weft_deep_pack(d, columns, j, n, some, (size_t)d, b->dense);
    }
    return b;
}

static const block *make_block(rff_shared *shared, int type, int64_t j0, int columns,
                               weft_arena *tmp)
{
    if (is_exact(shared, type)) return make_integers(shared, type, j0, columns, tmp);
    if (family_of(type) == RFF_HADAMARD) return make_signs(shared, type, j0, columns, tmp);
    return make_floats(shared, type, j0, columns, tmp);
}

/* The block of a type from column j0 on, from the pool or generated now. */
static const block *block_at(rff_shared *shared, int type, int64_t j0, int columns,
                             weft_arena *tmp)
{
    for (const block *b = shared->blocks; b; b = b->next)
        if (b->type == type && b->j0 == j0 && b->columns == columns) return b;
    return make_block(shared, type, j0, columns, tmp);
}

/* ---- products ------------------------------------------------------------------------ */

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
static void add_tail(const rff_matrix *m, const block *b, const uint8_t *x, int n, float *y,
                     size_t ld, weft_arena *tmp)
{
    int d = m->shared->d;
    const float *shift = view_of(m->shared, b->type)->shift;
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

static void product_integers(const rff_matrix *m, const block *b, const chunk *c, void *y,
                             int ld, weft_arena *tmp)
{
    const uint8_t *x = bytes_of(m, c, tmp);
    weft_u8s8(c->n, x, m->shared->d, &b->packed, y, ld);
    if (family_of(b->type) == RFF_CAUCHY) add_tail(m, b, x, c->n, y, (size_t)ld, tmp);
}

/* The leading dimension is an odd number of cache lines, so that rows do not share cache
 * sets. */
static void product_floats(const rff_matrix *m, const block *b, const chunk *c, float *y,
                           int ld, weft_arena *tmp)
{
    size_t d = (size_t)m->shared->d, line = 64 / sizeof(real);
    size_t ldx = ((d + line - 1) / line | 1) * line, ldp = (size_t)b->columns;
    int same = sizeof(real) == sizeof *y; /* y and p have the same type */
    float *row = WEFT_NEW(tmp, float, d);
    real *x = WEFT_NEW(tmp, real, (size_t)c->n * ldx);
    real *p = same ? (real *)(void *)y : WEFT_NEW(tmp, real, (size_t)c->n * ldp);
    for (int r = 0; r < c->n; r++) {
        view_row(m, view_of(m->shared, b->type), c->row[r], row);
        for (size_t i = 0; i < d; i++) x[(size_t)r * ldx + i] = (real)row[i];
    }
    weft_deep_times(c->n, x, ldx, m->shared->d, b->columns, b->dense, p,
                    same ? (size_t)ld : ldp);
    for (int r = 0; r < c->n && !same; r++)
        for (size_t j = 0; j < ldp; j++) y[(size_t)r * ld + j] = (float)p[r * ldp + j];
}

/* H D1 H D2 H D3 x, then the lengths of the rows. */
static void product_structured(const rff_matrix *m, const block *b, const chunk *c,
                               float *y, int ld, weft_arena *tmp)
{
    int d = m->shared->d, n = m->shared->padded;
    float *x = WEFT_NEW(tmp, float, n);
    for (int r = 0; r < c->n; r++) {
        view_row(m, view_of(m->shared, b->type), c->row[r], x);
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
static void product(const rff_matrix *m, const block *b, const chunk *c, void *y, int ld,
                    weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    if (is_exact(m->shared, b->type))
        product_integers(m, b, c, y, ld, tmp);
    else if (b->dense)
        product_floats(m, b, c, y, ld, tmp);
    else
        product_structured(m, b, c, y, ld, tmp);
    weft_arena_reset(tmp, mark);
}

/* ---- features ------------------------------------------------------------------------ */

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

/* The rows of a type among [i0, i1), which lie in one block, whose products are missing. */
static void missing_rows(const rff_matrix *m, int type, int64_t i0, int64_t i1, chunk *c)
{
    c->n = 0;
    for (int64_t i = i0; i < i1; i++)
        if (m->type[i] == type && !rff_is_cached(m, i)) c->row[c->n++] = i;
    c->consecutive = c->n && c->row[c->n - 1] - c->row[0] == c->n - 1;
}

static int block_columns(const rff_matrix *m, int type, int64_t j0)
{
    int most = is_exact(m->shared, type)         ? INT_COLUMNS
               : family_of(type) == RFF_HADAMARD ? m->shared->padded
                                                 : FLOAT_COLUMNS;
    return m->d - j0 < most ? (int)(m->d - j0) : most;
}

/* Features of a chunk for one block of columns. Products are computed in the cache, or in
 * `tile` and copied. */
static void make_chunk(const rff_matrix *m, const block *b, const chunk *c, int64_t i0,
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
        int columns = block_columns(m, type, j0);
        const block *b = block_at(m->shared, type, j0, columns, tmp);
        float *tile = WEFT_NEW(tmp, float, WEFT_BLOCK *(size_t)columns);
        for (int64_t at = 0; at < m->blocks; at++) {
            if (m->start[at] < i0 || m->start[at] >= i1) continue;
            missing_rows(m, type, m->start[at], m->start[at + 1], c);
            if (c->n > 0) make_chunk(m, b, c, i0, tile, q, tmp);
        }
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
