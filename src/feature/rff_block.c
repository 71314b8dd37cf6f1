/* Random matrices in blocks of features, generated from their key. Blocks are kept in a
 * pool; where it is full they are generated again in each pass.
 *
 * Bytes are multiplied by integers: an entry of the random matrix, times the scale of its
 * input, is rounded to an integer of magnitude at most 16. A sum over many inputs stays
 * normal by the central limit theorem, with the right variance because what rounding adds
 * is subtracted beforehand. Cauchy entries have no variance, and their heavy tail
 * determines the kernel: the part beyond 16, in 2 % of the entries, is stored as a list and
 * added in floating point. The shift of the inputs becomes the first term of every feature.
 * Inputs that are not bytes, too few, or too different in scale are multiplied as floats.
 */
#include "rff.h"
#include "weft/gemm.h"

#include <math.h>
#include <string.h>

enum {
    INT_COLUMNS = 3840,   /* features of a block of integers, which fits the third-level
                             cache */
    FLOAT_COLUMNS = 1024, /* features of a block of floats */
    SHARE = 16            /* features whose entries a rank generates for all */
};

/* Standard deviation of the largest normal entries, and quartile of Cauchy ones, in units
 * of the integers. Normal entries are clipped at 16, which is four deviations and happens
 * to 6 in 100,000; rounding changes the kernel by at most 1/(6 d). */
static const double normal_unit = 4, cauchy_unit = 0.5;

int rff_family(int type)
{
    return type / RFF_VIEWS;
}

const rff_view *rff_view_of(const rff_shared *shared, int type)
{
    return &shared->view[type % RFF_VIEWS];
}

int rff_is_exact(const rff_shared *shared, int type)
{
    return rff_view_of(shared, type)->exact && rff_family(type) != RFF_HADAMARD;
}

int rff_is_int(const rff_shared *shared, int type)
{
    return rff_is_exact(shared, type) && rff_family(type) == RFF_NORMAL;
}

/* Value of 1 in the integer matrix. */
static double integer_unit(const rff_shared *shared, int type)
{
    double width = rff_family(type) == RFF_NORMAL ? normal_unit : cauchy_unit;
    return rff_view_of(shared, type)->largest / width;
}

double rff_turns(const rff_shared *shared, const rff *arm, int type)
{
    double pi = 3.14159265358979323846;
    double unit = rff_is_exact(shared, type) ? integer_unit(shared, type) : 1;
    double width = arm->kernel == RFF_GAUSSIAN ? sqrt(2 * arm->gamma) : arm->gamma;
    return width * unit / (2 * pi);
}

int rff_block_columns(const rff_shared *shared, int type, int64_t j0, int64_t d)
{
    int most = rff_is_exact(shared, type)         ? INT_COLUMNS
               : rff_family(type) == RFF_HADAMARD ? shared->padded
                                                  : FLOAT_COLUMNS;
    return d - j0 < most ? (int)(d - j0) : most;
}

/* ---- memory ---- */

/* A block that is to be made. */
typedef struct draft {
    rff_shared *shared;
    int type, columns;
    int64_t j0;
    int keep; /* 1: all ranks make it, to keep it in the pool */
    weft_arena *tmp;
} draft;

/* The block with room for `bytes` after it: in tmp; or in the pool, NULL where that is full
 * on some rank. Collective if it is to be kept. */
static rff_block *block_new(const draft *t, size_t bytes, char **room)
{
    rff_shared *shared = t->shared;
    size_t head = (sizeof(rff_block) + 63) / 64 * 64, all = head + (bytes + 63) / 64 * 64;
    rff_block *block;
    if (t->keep) {
        double full = shared->pool_used + all > shared->pool_size;
        weft_max_f64(shared->data->team, &full, 1);
        if (full > 0) return NULL;
        block = (void *)(shared->pool + shared->pool_used);
        shared->pool_used += all;
    } else
        block = weft_arena_alloc(t->tmp, 1, all);
    *block = (rff_block){.type = t->type, .j0 = t->j0, .columns = t->columns};
    if (t->keep) {
        block->next = shared->blocks;
        shared->blocks = block;
    }
    *room = (char *)block + head;
    return block;
}

/* ---- shares of ranks ---- */

int rff_share_from(int columns, int r, int size)
{
    int64_t units = (columns + SHARE - 1) / SHARE, from = units * r / size * SHARE;
    return from < columns ? (int)from : columns;
}

/* Columns [*from, *end) of the block, which rank r generates. */
static void share_of(const draft *t, int r, int *from, int *end)
{
    int size = t->shared->data->team->size;
    *from = t->keep ? rff_share_from(t->columns, r, size) : 0;
    *end = t->keep ? rff_share_from(t->columns, r + 1, size) : t->columns;
}

/* x, of which each rank has the columns of its share, at[j] numbers of `width` bytes before
 * column j, for all ranks. Collective if the block is to be kept. */
static void join(const draft *t, const int64_t *at, size_t width, void *x)
{
    weft_team *team = t->shared->data->team;
    if (!t->keep) return;
    size_t *count = WEFT_NEW(t->tmp, size_t, team->size);
    for (int r = 0; r < team->size; r++) {
        int from, end;
        share_of(t, r, &from, &end);
        count[r] = (size_t)(at[end] - at[from]) * width;
    }
    weft_join_bytes(team, x, count);
}

/* The same with `each` bytes of a column. */
static void join_columns(const draft *t, size_t each, void *x)
{
    int64_t *at = WEFT_NEW(t->tmp, int64_t, t->columns + 1);
    for (int j = 0; j <= t->columns; j++) at[j] = j;
    join(t, at, each, x);
}

/* ---- blocks ---- */

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
    if (rff_family(type) == RFF_NORMAL) return 0;
    for (int i = 0; i < shared->d; i++)
        if (fabsf(z[i] * scale[i]) > WEFT_S8_MAX) {
            input[tail] = (uint32_t)i;
            value[tail++] = z[i] * scale[i] - p[i];
        }
    return tail;
}

/* Factors of the columns' entries before rounding. Rounding adds 1/12 to a variance. */
static float *scales(const draft *t)
{
    const rff_shared *shared = t->shared;
    const rff_view *view = rff_view_of(shared, t->type);
    float *scale = WEFT_NEW(t->tmp, float, shared->d);
    for (int i = 0; i < shared->d; i++) {
        double s = (double)view->scale[i] / integer_unit(shared, t->type);
        scale[i] = (float)(rff_family(t->type) == RFF_NORMAL ? sqrt(s * s - 1.0 / 12) : s);
    }
    return scale;
}

/* The integers of a block, by columns. */
typedef struct integers {
    int8_t *p;       /* [columns][d] */
    int32_t *start;  /* [columns] */
    int64_t *first;  /* [columns+1] tail of a column */
    uint32_t *input; /* of the tail */
    float *value;
} integers;

/* This rank's share of them; first[j + 1] is the length of the tail of column j. */
static void draw(const draft *t, integers *x)
{
    const rff_shared *shared = t->shared;
    const float *scale = scales(t), *shift = rff_view_of(shared, t->type)->shift;
    int d = shared->d, normal = rff_family(t->type) == RFF_NORMAL, from, end;
    share_of(t, shared->data->team->rank, &from, &end);
    int64_t most = normal ? 0 : (int64_t)(end - from) * (d / 8 + 64) + d, at = 0;
    float *z = WEFT_NEW(t->tmp, float, d);
    *x = (integers){.p = WEFT_NEW(t->tmp, int8_t, (size_t)t->columns * d),
                    .start = WEFT_NEW(t->tmp, int32_t, t->columns),
                    .first = WEFT_NEW(t->tmp, int64_t, t->columns + 1),
                    .input = WEFT_NEW(t->tmp, uint32_t, most),
                    .value = WEFT_NEW(t->tmp, float, most)};
    for (int j = from; j < end; j++) {
        int8_t *column = x->p + (size_t)j * d;
        weft_check(normal || at + d <= most, "the tail of a random matrix is too long");
        rff_column(shared, rff_family(t->type), t->j0 + j, z);
        x->first[j + 1] =
            round_column(shared, t->type, z, scale, column, x->input + at, x->value + at);
        at += x->first[j + 1];
        double sum = 0;
        for (int i = 0; i < d; i++) sum += (double)column[i] * (double)shift[i];
        x->start[j] = (int32_t)-lrint(sum);
    }
}

/* x[n] numbers of 4 bytes at place `at` of `all`, the tail of this rank's share. */
static void *join_tail(const draft *t, const integers *x, const void *own)
{
    int from, end;
    share_of(t, t->shared->data->team->rank, &from, &end);
    uint32_t *all = WEFT_NEW(t->tmp, uint32_t, x->first[t->columns]);
    size_t n = (size_t)(x->first[end] - x->first[from]);
    memcpy(all + x->first[from], own, n * sizeof *all);
    join(t, x->first, sizeof *all, all);
    return all;
}

static rff_block *make_integers(const draft *t)
{
    integers x;
    int d = t->shared->d, columns = t->columns;
    draw(t, &x);
    join_columns(t, (size_t)d, x.p);
    join_columns(t, sizeof *x.start, x.start);
    join_columns(t, sizeof *x.first, x.first + 1);
    for (int j = 0; j < columns; j++) x.first[j + 1] += x.first[j];
    size_t packed = weft_s8_bytes(d, columns), tail = (size_t)x.first[columns];
    size_t firsts = ((size_t)columns + 1) * sizeof *x.first;
    if (tail > 0) {
        x.input = join_tail(t, &x, x.input);
        x.value = join_tail(t, &x, x.value);
    }
    char *room;
    rff_block *block =
        block_new(t, packed + firsts + tail * (sizeof *x.value + sizeof *x.input), &room);
    if (!block) return NULL;
    weft_s8_pack(&block->packed, d, columns, x.p, (size_t)d, x.start, room);
    block->first = memcpy(room + packed, x.first, firsts);
    block->value = memcpy(room + packed + firsts, x.value, tail * sizeof *x.value);
    block->input = memcpy(block->value + tail, x.input, tail * sizeof *x.input);
    return block;
}

static rff_block *make_signs(const draft *t)
{
    char *room;
    size_t n = (size_t)t->shared->padded;
    rff_block *block = block_new(t, 4 * n * sizeof(float), &room);
    if (!block) return NULL;
    block->sign = (float *)(void *)room;
    block->radius = block->sign + 3 * n;
    rff_signs(t->shared, t->j0, block->sign, block->radius);
    return block;
}

/* Columns [from, end) of the block, z[end - from][d]. */
static void draw_floats(const draft *t, int from, int end, float *z)
{
    size_t d = (size_t)t->shared->d;
    for (int j = from; j < end; j++)
        rff_column(t->shared, rff_family(t->type), t->j0 + j, z + (size_t)(j - from) * d);
}

/* Columns are packed WEFT_WHOLE at a time; those that ranks share are all there before. */
static rff_block *make_floats(const draft *t)
{
    int d = t->shared->d, from, end;
    char *room;
    rff_block *block = block_new(t, weft_packed_bytes(d, t->columns), &room);
    if (!block) return NULL;
    block->dense = (real *)(void *)room;
    real *some = WEFT_NEW(t->tmp, real, (size_t)WEFT_WHOLE * d); /* [WEFT_WHOLE][d] */
    float *z = WEFT_NEW(t->tmp, float, (size_t)(t->keep ? t->columns : WEFT_WHOLE) * d);
    share_of(t, t->shared->data->team->rank, &from, &end);
    if (t->keep) {
        draw_floats(t, from, end, z + (size_t)from * d);
        join_columns(t, (size_t)d * sizeof *z, z);
    }
    for (int j = 0; j < t->columns; j += WEFT_WHOLE) {
        int n = t->columns - j < WEFT_WHOLE ? t->columns - j : WEFT_WHOLE;
        const float *own = t->keep ? z + (size_t)j * d : z;
        if (!t->keep) draw_floats(t, j, j + n, z);
        for (size_t i = 0; i < (size_t)n * d; i++) some[i] = (real)own[i];
        weft_deep_pack(d, t->columns, j, n, some, (size_t)d, block->dense);
    }
    return block;
}

static rff_block *make_block(const draft *t)
{
    if (rff_is_exact(t->shared, t->type)) return make_integers(t);
    if (rff_family(t->type) == RFF_HADAMARD) return make_signs(t);
    return make_floats(t);
}

/* ---- the pool ---- */

/* A block that is kept; NULL: there is none. */
static const rff_block *kept(const rff_shared *shared, int type, int64_t j0, int columns)
{
    const rff_block *block = shared->blocks;
    while (block && !(block->type == type && block->j0 == j0 && block->columns == columns))
        block = block->next;
    return block;
}

const rff_block *rff_block_at(rff_shared *shared, int type, int64_t j0, int columns,
                              weft_arena *tmp)
{
    const rff_block *block = kept(shared, type, j0, columns);
    draft t = {.shared = shared, .type = type, .columns = columns, .j0 = j0, .tmp = tmp};
    return block ? block : make_block(&t);
}

/* The blocks of a type, until the pool is full. */
static void keep_type(rff_shared *shared, int type, int64_t d, weft_arena *tmp)
{
    draft t = {.shared = shared, .type = type, .keep = 1, .tmp = tmp};
    for (; t.j0 < d; t.j0 += t.columns) {
        size_t mark = weft_arena_mark(tmp);
        t.columns = rff_block_columns(shared, type, t.j0, d);
        int there = kept(shared, type, t.j0, t.columns) || make_block(&t);
        weft_arena_reset(tmp, mark);
        if (!there) return;
    }
}

void rff_blocks_keep(rff_shared *shared, const double *need, int64_t d)
{
    double any[RFF_TYPES];
    memcpy(any, need, sizeof any);
    weft_max_f64(shared->data->team, any, RFF_TYPES);
    weft_arena *tmp = weft_arena_new();
    for (int type = 0; type < RFF_TYPES; type++)
        if (any[type] > 0) keep_type(shared, type, d, tmp);
    weft_arena_free(tmp);
}
